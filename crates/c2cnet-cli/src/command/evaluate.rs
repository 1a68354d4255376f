//! `c2cnet evaluate`: errors of a model on samples with known outputs.

use super::errors;
use crate::file_kind::FileKind;
use crate::label_args::LabelArgs;
use crate::outputs::{self, Force};
use crate::reading::Reading;
use c2cnet::C2CNet;
use c2cnet::data::Dataset;
use c2cnet::operator::EvaluationReport;
use c2cnet::{Error, Result};
use c2cnet_experiments::output_path;
use c2cnet_experiments::picture::{self, Shown, Which};
use c2cnet_experiments::terminal::{self, Progress, counted, say};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

const AFTER_HELP: &str = "\
Examples:
  c2cnet evaluate model.c2c data.npz
  c2cnet evaluate model.c2c data.npz --on all --per-sample errors.csv
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

    /// The data file.
    data: PathBuf,

    /// Which samples: train, test, all, or the name of a set in the file.
    #[arg(long, default_value = "test", value_name = "SET")]
    on: String,

    /// Write the error of each sample to this CSV file.
    #[arg(long, value_name = "CSV")]
    per_sample: Option<PathBuf>,

    /// Draw the best, the median and the worst sample into this file (.svg or .png).
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    labels: LabelArgs,

    #[command(flatten)]
    force: Force,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let writes = [&args.per_sample, &args.figure].into_iter().flatten();
    let writes: Vec<_> = writes
        .map(|path| (path.as_path(), FileKind::Other))
        .collect();
    outputs::check(args.force, [&*args.model, &*args.data], &writes)?;
    let progress = Progress::start("reading the model and the data");
    let model = C2CNet::load(&args.model)?;
    let data = args.reading.read(&args.data)?;
    let (on, indices) = samples_of(&data, &args.on, &model)?;
    drop(progress);
    let progress = Progress::start(format!("predicting {}", counted(indices.len(), "sample")));
    let chosen = data.select(&indices);
    let clock = Instant::now();
    let mut report = model.evaluate(&chosen)?;
    let seconds = clock.elapsed().as_secs_f64();
    // Drawn before samples get their numbers in the file; a figure that fails takes nothing else with it.
    let figure = args.figure.as_ref().map(|path| {
        let rows = rows(args, &model, &chosen, &report, &indices)?;
        let title = format!("{} on {}", args.model.display(), args.data.display());
        output_path::write_figure(path, &picture::draw(&title, &rows, &chosen).to_svg())
    });
    // Samples are numbered as in the file.
    report.worst_sample = indices[report.worst_sample];
    if let Some(path) = &args.per_sample {
        let mut csv = String::from("sample,rl2e\n");
        for (k, e) in indices.iter().zip(&report.relative) {
            let _ = writeln!(csv, "{k},{e:e}");
        }
        output_path::write(path, &csv)?;
    }
    drop(progress);
    if args.json {
        let mut object = errors::object(&report, &on, seconds);
        object.insert(
            "withheld_at_fit".into(),
            serde_json::json!(withheld_at_fit(&model)),
        );
        terminal::say_json(&object.into())?;
        return Ok(figure.unwrap_or(Ok(()))?);
    }
    if on == "train" {
        say(
            "The model was fitted to these samples: on others its errors are larger. `c2cnet fit --test-fraction 0.2` sets\n\
             some apart.\n",
        )?;
    }
    say(format_args!(
        "errors on {} ({on}), predicted in {seconds:.3} s",
        counted(report.n_samples, "sample")
    ))?;
    say(errors::table(&report, true))?;
    if let Some(error) = withheld_at_fit(&model) {
        say(format_args!(
            "\nAt output points that no space had seen, held-out training samples had an RL2E of {}; those points \n\
             returned for the final fit.",
            terminal::error(error)
        ))?;
    }
    let drawn = args
        .figure
        .as_ref()
        .filter(|_| matches!(figure, Some(Ok(()))));
    for path in args.per_sample.as_ref().into_iter().chain(drawn) {
        say(format_args!("wrote {}", path.display()))?;
    }
    Ok(figure.unwrap_or(Ok(()))?)
}

/// The error at withheld points, as measured before these returned for the final fit.
fn withheld_at_fit(model: &C2CNet) -> Option<f64> {
    model.info()["validation"]["withheld_rl2e"].as_f64()
}

/// The samples meant by `on`, and what they are.
pub fn samples_of(data: &Dataset, on: &str, model: &C2CNet) -> Result<(String, Vec<usize>)> {
    let split = data.split.is_some() || data.n_train.is_some_and(|n| n < data.samples());
    let (name, indices) = match on {
        "all" => ("all", (0..data.samples()).collect()),
        "train" => ("train", data.train_indices()),
        "test" => {
            // Where nothing was set apart, the same file holds training samples only.
            let seen = model.info()["data"]["fingerprint"] == data.fingerprint().as_str();
            match model.info()["data"]["test"].as_array() {
                // Set apart by the fit itself.
                Some(apart) if !split && seen => {
                    let apart = apart.iter().filter_map(|k| Some(k.as_u64()? as usize));
                    ("test", apart.filter(|k| *k < data.samples()).collect())
                }
                _ if !split && seen => ("train", data.test_indices()),
                _ => ("test", data.test_indices()),
            }
        }
        other => (other, data.indices_of(other)),
    };
    if indices.is_empty() {
        let mut names = vec!["train".to_string(), "test".into(), "all".into()];
        names.extend(data.split.iter().flatten().cloned());
        names.sort_unstable();
        names.dedup();
        return Err(Error::Config(format!(
            "--on {on}: the data has no such sample; its sets are {}",
            names.join(", ")
        )));
    }
    Ok((name.to_string(), indices))
}

/// The best, the median and the worst sample, to be drawn.
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
        ("best", order[0]),
        ("median", order[order.len() / 2]),
        ("worst", order[order.len() - 1]),
    ];
    let mut rows: Vec<Shown> = Vec::new();
    for (n, (what, sample)) in picks.into_iter().enumerate() {
        if picks[..n].iter().any(|(_, before)| *before == sample) {
            continue;
        }
        let which = Which {
            sample,
            what: format!("{what}: sample {}", numbers[sample]),
            rl2e: report.relative[sample],
        };
        rows.extend(Shown::rows(model, data, &labels, &which)?);
    }
    Ok(rows)
}
