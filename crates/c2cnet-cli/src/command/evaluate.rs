//! `c2cnet evaluate`: errors of a model on samples with known outputs.

use super::errors;
use crate::file_kind::FileKind;
use crate::label_args::LabelArgs;
use crate::outputs::{self, Force};
use crate::reading::{Reading, of_file};
use crate::shards::{self, ShardFlags, Shards, Skipped, Source};
use c2cnet::C2CNet;
use c2cnet::data::Dataset;
use c2cnet::operator::{EvaluationReport, Known};
use c2cnet::{Error, Result};
use c2cnet_experiments::picture::{self, PickedSample, Shown};
use c2cnet_experiments::terminal::{self, Progress, counted, print_line};
use c2cnet_experiments::{output_path, over_truths};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

const AFTER_HELP: &str = "\
Examples:
  c2cnet evaluate model.c2c data.npz
  c2cnet evaluate model.c2c data.npz --on all --per-sample errors.csv
  c2cnet evaluate model.c2c 'shards/*.npz'
  c2cnet evaluate model.c2c data.npz --json | jq .rl2e
  c2cnet evaluate model.c2c data.npz --figure samples.svg";

/// Show the errors of a model on the test samples of a data file.
///
/// The data need not lie on the points the model was fitted with.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The model file.
    model: PathBuf,

    /// The data file, or shards: files, a folder, a pattern.
    #[arg(required = true)]
    data: Vec<PathBuf>,

    /// Which samples: train, test, all, or the name of a set in the file.
    #[arg(long, default_value = "test", value_name = "SET")]
    on: String,

    /// Write the error of each sample to this CSV file.
    #[arg(long, value_name = "CSV")]
    per_sample: Option<PathBuf>,

    /// Draw the best, the median and the worst sample into this file (.svg or .png); of
    /// quantities, predictions over truths.
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    shards: ShardFlags,

    #[command(flatten)]
    labels: LabelArgs,

    #[command(flatten)]
    force: Force,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let figure = (args.figure.as_deref()).map(|path| (path, FileKind::Figure));
    let table = (args.per_sample.as_deref()).map(|path| (path, FileKind::Other));
    let writes: Vec<_> = table.into_iter().chain(figure).collect();
    let source = Source::of(&args.data)?;
    let data: Vec<&Path> = match &source {
        Source::File(path) => vec![path],
        Source::Shards(shards) => shards.paths().collect(),
    };
    let reads = [&*args.model].into_iter().chain(data);
    outputs::check(args.force, reads, &writes)?;
    match &source {
        Source::File(path) => evaluate_file(args, path),
        Source::Shards(shards) => evaluate_shards(args, shards),
    }
}

fn evaluate_file(args: &Args, path: &Path) -> anyhow::Result<()> {
    let progress = Progress::start("reading the model and the data");
    let model = C2CNet::load(&args.model)?;
    let data = args.reading.read_pairs_for(&model, path)?;
    let (on, indices) = samples_of(&data, &args.on, &model)?;
    drop(progress);
    let progress = Progress::start(format!("predicting {}", counted(indices.len(), "sample")));
    let chosen = data.select(&indices);
    let clock = Instant::now();
    let report = model.evaluate(&chosen).map_err(|e| of_file(path, e))?;
    let seconds = clock.elapsed().as_secs_f64();
    // A failed figure does not fail the command.
    let figure = args.figure.as_ref().map(|figure| {
        let title = format!("{} on {}", args.model.display(), path.display());
        let picture = match quantities_alone(&model) {
            true => over_truths::draw(&title, &model, &chosen)?,
            false => {
                let rows = rows(args, &model, &chosen, &report, &indices)?;
                picture::draw(&title, &rows, &chosen)
            }
        };
        output_path::write_figure(figure, &picture.to_svg())
    });
    if let Some(path) = &args.per_sample {
        let mut csv = String::from("sample,rl2e\n");
        for (k, e) in indices.iter().zip(&report.relative) {
            let _ = writeln!(csv, "{k},{e:e}");
        }
        output_path::write(path, &csv)?;
    }
    drop(progress);
    let evaluated = Evaluated {
        known: model.known(&chosen.inputs),
        worst_sample: Some(indices[report.worst_sample]),
        report,
        on,
        seconds,
        notes: Vec::new(),
    };
    evaluated.print(args, &model)?;
    let drawn = args
        .figure
        .as_ref()
        .filter(|_| matches!(figure, Some(Ok(()))));
    if !args.json {
        for path in args.per_sample.as_ref().into_iter().chain(drawn) {
            print_line(format_args!("wrote {}", path.display()))?;
        }
    }
    Ok(figure.unwrap_or(Ok(()))?)
}

/// Evaluates shards one by one; their errors are pooled.
fn evaluate_shards(args: &Args, shards: &Shards) -> anyhow::Result<()> {
    if args.figure.is_some() {
        return Err(
            Error::Config("--figure draws samples of one file; give one shard".into()).into(),
        );
    }
    let progress = Progress::start("reading the model");
    let model = C2CNet::load(&args.model)?;
    let mut skipped = Skipped::default();
    let mut pooled: Option<EvaluationReport> = None;
    let mut sets = BTreeSet::new();
    let mut worst = String::new();
    let mut csv = String::from("shard,sample,rl2e\n");
    let (mut seconds, mut bytes) = (0.0, 0);
    for (i, (path, size)) in shards.files().iter().enumerate() {
        let done = pooled.as_ref().map_or(0, |p| p.n_samples);
        let words = format!("shard {} of {}: {done} samples done", i + 1, shards.len());
        progress.amount(&words, bytes, shards.bytes());
        bytes += size;
        let evaluated = args.reading.read_pairs_for(&model, path).and_then(|data| {
            let (on, indices) = samples_of(&data, &args.on, &model)?;
            let clock = Instant::now();
            let report = model.evaluate(&data.select(&indices))?;
            Ok((on, indices, report, clock.elapsed().as_secs_f64()))
        });
        let (on, indices, report, took) = match evaluated {
            Ok(evaluated) => evaluated,
            Err(e) => {
                skipped.keep(shards::about(path, e), args.shards)?;
                continue;
            }
        };
        seconds += took;
        sets.insert(on);
        for (k, e) in indices.iter().zip(&report.relative) {
            let _ = writeln!(csv, "{i},{k},{e:e}");
        }
        if pooled
            .as_ref()
            .is_none_or(|p| report.worst_rl2e > p.worst_rl2e)
        {
            worst = format!(
                "the worst sample is number {} of {}",
                indices[report.worst_sample],
                path.display()
            );
        }
        match &mut pooled {
            Some(pooled) => pooled.pool(report),
            None => pooled = Some(report),
        }
    }
    let report = pooled.ok_or_else(|| {
        Error::Data(format!(
            "no shard can be used: {}",
            skipped.list().join("; ")
        ))
    })?;
    if let Some(path) = &args.per_sample {
        output_path::write(path, &csv)?;
    }
    drop(progress);
    let mut notes = vec![worst];
    notes.extend(skipped.summary(shards.len()));
    let evaluated = Evaluated {
        known: None,
        worst_sample: None,
        report,
        on: sets.into_iter().collect::<Vec<_>>().join(", "),
        seconds,
        notes,
    };
    evaluated.print(args, &model)?;
    match &args.per_sample {
        Some(path) if !args.json => Ok(print_line(format_args!("wrote {}", path.display()))?),
        _ => Ok(()),
    }
}

/// Errors with the notes about them.
struct Evaluated {
    report: EvaluationReport,
    /// Those that the model was fitted to.
    known: Option<Known>,
    /// Its number in the file; of several shards, a note names it.
    worst_sample: Option<usize>,
    /// On which samples.
    on: String,
    seconds: f64,
    notes: Vec<String>,
}

impl Evaluated {
    fn print(&self, args: &Args, model: &C2CNet) -> Result<()> {
        let (report, on, seconds) = (&self.report, &self.on, self.seconds);
        if args.json {
            let mut object = errors::object(report, on, seconds);
            object.insert(
                "withheld_at_fit".into(),
                serde_json::json!(withheld_at_fit(model)),
            );
            match self.worst_sample {
                Some(number) => {
                    let known = self.known.map_or(0, |known| known.count);
                    object.insert("in_training".into(), serde_json::json!(known));
                    object.insert("worst_sample".into(), serde_json::json!(number))
                }
                None => object.insert("notes".into(), serde_json::json!(self.notes)),
            };
            return terminal::print_json(&object.into());
        }
        if on == "train" {
            let fitted = model.info()["data"]["n_train"].as_u64();
            let some = fitted.filter(|n| (*n as usize) < report.n_samples);
            let which = some.map_or(String::new(), |n| format!("{n} of "));
            print_line(format_args!(
                "The model was fitted to {which}these samples: on others its errors are larger.\n\
                 `c2cnet fit --test-fraction 0.2` holds some out.\n"
            ))?;
        } else if let Some(known) = self.known {
            print_line(format_args!("{known}.\n"))?;
        }
        print_line(format_args!(
            "errors on {} ({on}), predicted in {seconds:.3} s",
            counted(report.n_samples, "sample")
        ))?;
        print_line(errors::table(report, model, self.worst_sample))?;
        if let Some(error) = withheld_at_fit(model) {
            print_line(format_args!(
                "\nBetween the fitted points, held-out training samples had an RL2E of {}; the final model is also\n\
                 fitted to these points.",
                terminal::number(error)
            ))?;
        }
        self.notes.iter().try_for_each(print_line)
    }
}

/// The error at withheld points, as measured before these returned for the final fit.
fn withheld_at_fit(model: &C2CNet) -> Option<f64> {
    model.info()["validation"]["withheld_rl2e"].as_f64()
}

/// The samples meant by `on`, and what they are.
pub fn samples_of(data: &Dataset, on: &str, model: &C2CNet) -> Result<(String, Vec<usize>)> {
    let split = data.split.is_some() || data.n_train.is_some_and(|n| n < data.samples());
    // If nothing was held out, the same file holds training samples only.
    if on == "test" && !split && was_fitted_to(model, data) {
        return match model.info()["data"]["test"].as_array() {
            // Held out by the fit itself.
            Some(apart) => {
                let apart = apart.iter().filter_map(|k| Some(k.as_u64()? as usize));
                let apart = apart.filter(|k| *k < data.samples());
                Ok((on.to_string(), apart.collect()))
            }
            None => Ok(("train".to_string(), data.set("all")?)),
        };
    }
    Ok((on.to_string(), data.set(on)?))
}

/// Whether the model was fitted to this very data, as a whole or as one shard of many.
fn was_fitted_to(model: &C2CNet, data: &Dataset) -> bool {
    let of = &model.info()["data"];
    let shards = of["sources"].as_array().into_iter().flatten();
    let mut known = shards
        .chain([&of["fingerprint"]])
        .filter_map(|f| f.as_str())
        .peekable();
    known.peek().is_some() && {
        let fingerprint = data.fingerprint();
        known.any(|f| f == fingerprint)
    }
}

/// Whether no output has points to be drawn at.
fn quantities_alone(model: &C2CNet) -> bool {
    model.summary().outputs.iter().all(|output| output.vector)
}

/// The most lines of panels in a picture: a taller one is of no use.
const MOST_LINES: usize = 12;

/// The best, the median and the worst sample, to be drawn; if each needs many lines, as components in space do, only the
/// worst, or the worst and the median.
fn rows(
    args: &Args,
    model: &C2CNet,
    data: &Dataset,
    report: &EvaluationReport,
    numbers: &[usize],
) -> Result<Vec<Shown>> {
    let labels = args.labels.of(data)?;
    let mut order: Vec<usize> = (0..report.relative.len()).collect();
    order.sort_by(|&a, &b| report.relative[a].total_cmp(&report.relative[b]));
    let picks = [
        ("worst", order[order.len() - 1]),
        ("median", order[order.len() / 2]),
        ("best", order[0]),
    ];
    let mut drawn: Vec<(usize, Vec<Shown>)> = Vec::new();
    let mut lines = 0;
    for (what, sample) in picks {
        if drawn.iter().any(|(before, _)| *before == sample) {
            continue;
        }
        let picked = PickedSample {
            sample,
            what: format!("{what}: sample {}", numbers[sample]),
            rl2e: report.relative[sample],
        };
        let rows = Shown::rows(model, data, &labels, &picked)?;
        lines += rows.iter().map(|r| picture::lines(r, data)).sum::<usize>();
        if lines > MOST_LINES && !drawn.is_empty() {
            break;
        }
        drawn.push((sample, rows));
    }
    Ok(drawn.into_iter().rev().flat_map(|(_, rows)| rows).collect())
}
