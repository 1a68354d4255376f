//! `c2cnet fit`: from samples to a model file.

mod stream;

use super::{choices, errors};
use crate::device::DeviceFlag;
use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::reading::{Reading, of_file};
use crate::settings::{FitFlags, read_plan};
use crate::shards::{ShardFlags, Shards, Source, parse_bytes, shown_bytes};
use crate::training::{Checkpoints, MetricsFile, Training, with_resume};
use c2cnet::internal::Claim;
use c2cnet::map::TrainingReport;
use c2cnet::plan::MapPlan;
use c2cnet::report::NetworkReport;
use c2cnet::settings::MapKind;
use c2cnet::{C2CNet, Device, Error, FitConfig, FitReport, Plan, fit_owned, fit_plan};
use c2cnet_experiments::explanations;
use c2cnet_experiments::terminal::{self, Progress, Table, counted, interrupt, print_line};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stream::{Fitted, Stream, affordable_centres};

const AFTER_HELP: &str = "\
DATA is an .npz file, as np.savez writes it, with
  x   input points, (n1, d), or (N, n1, d) if each sample has its own
  f   input values, (N, n1) or (N, n1, components), real or complex
  y   output points, and u, output values, in the same shapes
A grid may have its natural shape: f (N, k1, k2) or (N, k1, k2, components) with the axes x0 (k1,) and
x1 (k2,), or with x (k1, k2, 2). Optionally, n_train: that many leading samples are for training, the rest
for `evaluate`.

Many files, a folder of .npz files or a quoted pattern are a stream: shards with the same fields and
points, of which only one is in memory at a time. Bases and map are chosen on leading samples of some
shards, within --memory; then linear and kernel maps are summed over all of them. With --map mlp, the
coefficients of all samples are kept, within --memory, and a network is trained on them. An interrupted
fit continues with --resume.

Examples:
  c2cnet fit data.npz -o model.c2c
  c2cnet fit 'shards/*.npz' -o model.c2c --memory 2GiB
  c2cnet fit 'shards/*.npz' -o model.c2c --memory 8GiB --map mlp
  c2cnet fit data.npz -o model.c2c --map linear --seed 3
  c2cnet fit data.npz -o model.c2c --test-fraction 0.2
  c2cnet fit data.npz -o model.c2c --set 'output.weights=[1.0, 10.0]'
  c2cnet fit data.npz -o model.c2c --set 'output.periodic=[true, false]'
  c2cnet plan data.npz -o plan.toml
  c2cnet fit data.npz --plan plan.toml -o model.c2c
  c2cnet fit data.npz -o model.c2c \\
      --input-basis 'family=\"random-features\", functions=256, partitions=[16]' \\
      --output-basis 'family=\"fourier\", kind=\"sine\", functions=128'
  c2cnet fit data.npz -o model.c2c --config fit.toml --set search.samples=800
  c2cnet fit data.npz -o model.c2c --map mlp --metrics metrics.jsonl
  c2cnet fit data.npz -o model.c2c --map mlp --metrics metrics.jsonl --resume
  c2cnet plot metrics.jsonl -o loss.svg

fit.toml may hold anything that the flags set, and any other of the `c2cnet settings`:
  seed = 3
  symmetries = \"interval\"
  [input]
  transform = \"none\"
  basis = { family = \"fourier\", kind = \"sine\", functions = 128 }
  encoder = { method = \"svd\", relative_cut = 1e-8 }
  [map]
  kind = \"mlp\"
  mlp = { recipe = \"paper\", hidden = [400, 400, 400] }
or, where `auto` chooses among linear, kernel and mlp, what it may spend on a network, in
samples times passes over them:
  [map]
  budget = 1000000

With --device cuda, networks are trained on an NVIDIA GPU; `c2cnet inspect --devices` lists the devices.
A fit that was interrupted on one device may be resumed on another.

While a network trains, checkpoints are written to the folder MODEL.training: every half minute,
on Ctrl-C, and at the end. The same command with --resume continues from there and ends with the same model, bit
for bit, as if uninterrupted. The folder is removed when the model is written.

An existing model is replaced; a data file only with --force; files that the fit reads never.

Errors shown are on training samples that were held out, unless the recipe `paper` trains on all
of them; the samples after n_train are not used.";

/// Fit a model to the training samples of a data file.
///
/// What is not given (bases, regularisation, transform, map) is chosen on held-out training
/// samples.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The data file, or shards: files, a folder, a pattern.
    #[arg(required = true)]
    data: Vec<PathBuf>,

    /// Where to write the model.
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,

    /// Do what this file says instead of choosing; `c2cnet plan` writes such files.
    #[arg(long, value_name = "PLAN", conflicts_with_all = FitFlags::NAMES)]
    plan: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    /// Hold out this fraction of the samples for `evaluate`; for data without n_train.
    #[arg(long, value_name = "PART")]
    test_fraction: Option<f64>,

    #[command(flatten)]
    settings: FitFlags,

    #[command(flatten)]
    device: DeviceFlag,

    /// Continue from the checkpoints of a fit that was interrupted.
    #[arg(long)]
    resume: bool,

    /// Seconds between checkpoints of a network.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    checkpoint_every: f64,

    /// Write the training history as one JSON object per line; `c2cnet plot` draws it.
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,

    /// For shards: memory limit, such as 500MB or 4GiB [default: 2GiB].
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<f64>,

    /// For shards: centres of a kernel map; time per sample grows with their square [default: 4000, or what memory allows].
    #[arg(long, value_name = "N")]
    centres: Option<usize>,

    #[command(flatten)]
    shards: ShardFlags,

    #[command(flatten)]
    force: Force,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        // A year means never, and does not overflow.
        Ok(v) if (0.0..=3.2e7).contains(&v) => Ok(v),
        _ => Err("give seconds, 0 or more (0: after every step)".into()),
    }
}

/// Memory for a fit to shards.
const MEMORY: f64 = (2u64 << 30) as f64;

/// The most centres of a kernel map that is fitted to shards.
const CENTRES: usize = 4000;

pub fn run(args: &Args) -> anyhow::Result<()> {
    let config = args.settings.resolve()?;
    let plan = args.plan.as_deref().map(read_plan).transpose()?;
    let source = Source::of(&args.data)?;
    let mut writes = vec![(args.output.as_path(), FileKind::Model)];
    writes.extend(
        args.metrics
            .iter()
            .map(|path| (path.as_path(), FileKind::Other)),
    );
    let data: Vec<&Path> = match &source {
        Source::File(path) => vec![path],
        Source::Shards(shards) => shards.paths().collect(),
    };
    let reads = data.into_iter().chain(args.plan.as_deref());
    outputs::check(args.force, reads.chain(args.settings.file()), &writes)?;
    let _claim = Claim::new(&args.output)?;
    args.device.check()?;
    match &source {
        Source::File(path) => fit_file(args, path, config, plan.as_ref()),
        Source::Shards(shards) => fit_shards(args, shards, &config, plan.as_ref()),
    }
}

/// A fit to samples in memory.
fn fit_file(
    args: &Args,
    path: &Path,
    config: FitConfig,
    plan: Option<&Plan>,
) -> anyhow::Result<()> {
    let of_shards = args.memory.is_some() || args.centres.is_some() || args.shards.skip_bad;
    if of_shards {
        return Err(Error::Config(format!(
            "--memory, --centres and --skip-bad are for shards, and {} is one file, which is read at once",
            path.display()
        ))
        .into());
    }
    let progress = Progress::start("reading the data").on(args.device.device);
    let mut data = args.reading.read_pairs(path)?;
    if let Some(fraction) = args.test_fraction {
        data.hold_out(fraction, config.seed)?;
    }
    // Before the work, which might be in vain.
    let said = data.warnings();
    said.iter().for_each(|warning| progress.note(warning));
    // A reader of the metrics may stop the fit as soon as they begin, and then learns how it ended.
    let deferred = interrupt::DeferredInterrupt::begin();
    let training = training(args, progress, Checkpoints::beside(&args.output)?)?;
    let (model, report) = interrupt::patiently(|| match plan {
        Some(plan) => fit_plan(&data, plan, &training),
        None => fit_owned(data, &config, &training),
    })
    .map_err(|e| training.explain(of_file(path, e)))?;
    drop(deferred);
    let learned = report.warnings.iter();
    learned
        .filter(|warning| !said.contains(warning))
        .for_each(|warning| training.note(warning));
    save(args, &model)?;
    training.finish()?;
    if args.json {
        print_json(args, &report, model.summary().map.description)?;
    } else {
        print_text(args, &report, &model)?;
    }
    Ok(())
}

/// Watches the networks of a fit.
fn training(args: &Args, progress: Progress, checkpoints: Checkpoints) -> c2cnet::Result<Training> {
    let metrics = args.metrics.as_deref().map(MetricsFile::create);
    Ok(Training::new(
        progress,
        (&args.output, checkpoints),
        Duration::from_secs_f64(args.checkpoint_every),
        args.resume,
        metrics.transpose()?,
    ))
}

/// A fit to shards, read one by one.
fn fit_shards(
    args: &Args,
    shards: &Shards,
    config: &FitConfig,
    plan: Option<&Plan>,
) -> anyhow::Result<()> {
    let network = match plan {
        Some(plan) => matches!(plan.map, MapPlan::Mlp { .. }),
        None => config.map.kind == MapKind::Mlp,
    };
    let no_network = "no network is trained; --map mlp trains one";
    let not_for_shards = [
        (
            "--test-fraction",
            args.test_fraction.is_some(),
            "keep some shards for testing, or write n_train into each",
        ),
        ("--metrics", args.metrics.is_some() && !network, no_network),
        (
            "--device",
            args.device.device != Device::Cpu && !network,
            no_network,
        ),
    ];
    for (flag, given, why) in not_for_shards {
        if given {
            return Err(
                Error::Config(format!("{flag} is not for this fit to shards: {why}")).into(),
            );
        }
    }
    let begin = Instant::now();
    let memory = args.memory.unwrap_or(MEMORY);
    let checkpoints = Checkpoints::beside(&args.output)?;
    let stream = Stream {
        shards,
        reading: args.reading,
        flags: args.shards,
        config,
        plan,
        memory,
        centres: (args.centres).unwrap_or_else(|| affordable_centres(memory).min(CENTRES)),
        checkpoints: &checkpoints,
        checkpoint_every: Duration::from_secs_f64(args.checkpoint_every),
        resume: args.resume,
    };
    let progress = Progress::start("reading the first samples").on(args.device.device);
    for note in shards.notes(args.data.len() > 1) {
        progress.note(note);
    }
    let training = training(args, progress, checkpoints.inside("network"))?;
    let fitted = interrupt::patiently(|| stream.fit(&training)).map_err(|e| match e {
        Error::Interrupted if checkpoints.exist() => anyhow::Error::from(e).context(format!(
            "interrupted; to resume from here:\n  {}",
            with_resume(std::env::args().skip(1))
        )),
        other => other.into(),
    })?;
    save(args, &fitted.model)?;
    checkpoints.inside("network").clear()?;
    checkpoints.clear()?;
    let seconds = begin.elapsed().as_secs_f64();
    drop(training);
    match args.json {
        true => print_shards_json(args, &fitted, seconds)?,
        false => print_shards(args, shards, &fitted, seconds)?,
    }
    Ok(())
}

fn save(args: &Args, model: &C2CNet) -> c2cnet::Result<()> {
    interrupt::patiently(|| {
        model.save(&args.output)?;
        // The file as written is what counts; a device cannot be read back.
        match args.output.is_file() {
            true => C2CNet::load(&args.output).map(drop),
            false => Ok(()),
        }
    })
}

fn print_shards_json(args: &Args, fitted: &Fitted, seconds: f64) -> c2cnet::Result<()> {
    let pace = &fitted.pace;
    let mut object = json!(fitted.report);
    object["model"] = json!(args.output);
    object["map"] = json!(fitted.model.summary().map.description);
    object["choices"] = choices::objects(&fitted.choices).into();
    object["skipped"] = json!(fitted.skipped.list());
    object["seconds"] = json!(seconds);
    object["stream"] = json!({
        "samples": pace.samples,
        "bytes": pace.bytes,
        "seconds": pace.seconds,
        "reading_seconds": pace.reading,
    });
    terminal::print_json(&object)
}

fn print_shards(args: &Args, shards: &Shards, fitted: &Fitted, seconds: f64) -> c2cnet::Result<()> {
    let (report, pace) = (&fitted.report, &fitted.pace);
    print_line("choices")?;
    for choice in &fitted.choices {
        print_line(format_args!("  {choice}"))?;
    }
    print_line(format_args!(
        "\nerrors on {} left out of the sums",
        counted(report.judges, "sample")
    ))?;
    let mut table = Table::default();
    let first = format!(
        "RL2E of {} to {} only",
        match report.network_steps {
            0 => "the fit",
            _ => "a linear fit",
        },
        counted(report.first_samples, "first sample")
    );
    for (name, value, words) in [
        ("RL2E", report.rl2e, explanations::RL2E),
        ("floor", report.floor, explanations::FLOOR),
        ("linear map", report.linear_rl2e, explanations::LINEAR),
        ("training mean", report.mean_rl2e, explanations::MEAN),
        ("first samples", report.first_rl2e, &first),
        ("worst", report.worst_rl2e, explanations::WORST),
    ] {
        table.row([name, &terminal::error(value), words]);
    }
    print_line(table)?;
    print_line(format_args!(
        "\nfitted to {} in {seconds:.2} s with {}; shards: {:.0} samples per second, {} in {:.2} s, {:.2} of them \
         for reading",
        counted(report.samples, "sample"),
        fitted.model.summary().map.description,
        pace.samples as f64 / pace.seconds.max(1e-9),
        shown_bytes(pace.bytes as f64),
        pace.seconds,
        pace.reading,
    ))?;
    if let Some(skipped) = fitted.skipped.summary(shards.len()) {
        print_line(skipped)?;
    }
    print_line(format_args!("wrote {}", args.output.display()))
}

fn print_json(args: &Args, report: &FitReport, map: String) -> c2cnet::Result<()> {
    let on = if report.held_out {
        "validation"
    } else {
        "train"
    };
    let mut object = errors::object(&report.validation, on, report.seconds.total);
    // The number among the held-out samples would mean nothing to a reader.
    object.remove("worst_sample");
    object.insert("held_out".into(), json!(report.held_out));
    object.insert("model".into(), json!(args.output));
    object.insert("map".into(), json!(map));
    object.insert("network".into(), network_object(report.network.as_ref()));
    let choices = choices::objects(&report.choices);
    object.insert("choices".into(), choices.into());
    object.insert("warnings".into(), json!(report.warnings));
    object.insert("candidates".into(), json!(report.candidates));
    object.insert("n_train".into(), json!(report.n_train));
    object.insert("timings".into(), json!(report.seconds));
    terminal::print_json(&object.into())
}

/// Both training runs without their histories, which `--metrics` writes.
fn network_object(network: Option<&NetworkReport>) -> Value {
    let summary = |report: &Option<TrainingReport>| {
        let mut object = json!(report);
        if let Value::Object(fields) = &mut object {
            fields.remove("history");
        }
        object
    };
    network.map_or(
        Value::Null,
        |n| json!({ "judged": summary(&n.judged), "fitted": summary(&n.fitted) }),
    )
}

fn print_text(args: &Args, report: &FitReport, model: &C2CNet) -> c2cnet::Result<()> {
    print_line("choices")?;
    for choice in &report.choices {
        print_line(format_args!("  {choice}"))?;
    }
    if let Some(network) = &report.network {
        print_network(network)?;
    }
    let seconds = &report.seconds;
    let count = counted(report.validation.n_samples, "training sample");
    print_line(match report.held_out {
        true if report.validation.withheld_rl2e.is_some() => format!(
            "\nerrors on {count} held out while choosing, at all output points; the errors above are at those \
             that\nwere not withheld"
        ),
        true => format!("\nerrors on {count} held out while choosing"),
        false => format!(
            "\nerrors on {count} also used for training: this recipe trains on all of them, so none are \
             left for validation;\n`c2cnet evaluate` shows errors on samples not used for training"
        ),
    })?;
    print_line(errors::table(&report.validation, model, None))?;
    print_line(format_args!(
        "\nfitted to {} in {:.2} s (search {:.2}, encoding {:.2}, map {:.2})",
        counted(report.n_train, "sample"),
        seconds.total,
        seconds.search,
        seconds.encoding,
        seconds.training
    ))?;
    print_line(format_args!("wrote {}", args.output.display()))
}

fn print_network(network: &NetworkReport) -> c2cnet::Result<()> {
    let trainings = [
        (&network.judged, ", judged by the rest"),
        (&network.fitted, ""),
    ];
    let mut known = false;
    for (training, purpose) in trainings {
        let Some(t) = training else { continue };
        if !known {
            print_line(format_args!(
                "\nnetwork with widths {:?}, {}",
                t.widths,
                counted(t.parameters, "parameter")
            ))?;
            known = true;
        }
        print_line(format_args!(
            "  {} on {}{purpose} in {:.2} s",
            counted(t.steps, "step"),
            counted(t.samples.0, "sample"),
            t.seconds
        ))?;
    }
    Ok(())
}
