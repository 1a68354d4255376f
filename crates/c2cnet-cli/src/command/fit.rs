//! `c2cnet fit`: from samples to a model file.

use super::report;
use crate::output::{self, counted, say};
use crate::progress::Progress;
use crate::settings::FitFlags;
use crate::{interrupt, output_path};
use c2cnet::data::Dataset;
use c2cnet::operator::{FitReport, fit};
use serde_json::json;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
DATA is an .npz file, as np.savez writes it, with
  x   input points, (n1, d), or (N, n1, d) if each sample has its own
  f   input values, (N, n1) or (N, n1, components)
  y   output points, u   output values, likewise
and, if you like, n_train: the first so many samples train, the rest are left for `evaluate`.

Examples:
  c2cnet fit data.npz -o model.c2c
  c2cnet fit data.npz -o model.c2c --map linear --seed 3
  c2cnet fit data.npz -o model.c2c \\
      --input-basis 'family=\"random-features\", functions=256, partitions=[16]' \\
      --output-basis 'family=\"fourier\", kind=\"sine\", functions=128'
  c2cnet fit data.npz -o model.c2c --config fit.toml --set input.basis.functions=512

fit.toml may hold what the flags say and more:
  seed = 3
  symmetries = \"interval\"
  [input]
  transform = \"none\"
  basis = { family = \"random-features\", functions = 256, partitions = [16] }
  encoder = { method = \"svd\", relative_cut = 1e-8 }
  [map]
  kind = \"kernel\"

Errors shown are on training samples that were held out; the samples after n_train are not
looked at.";

/// Fit a model to the training samples of a data file.
///
/// What is not given (bases, regularisation, transform, map) is chosen on held-out training
/// samples.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The data file.
    data: PathBuf,

    /// Where to write the model.
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,

    #[command(flatten)]
    settings: FitFlags,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let config = args.settings.resolve()?;
    output_path::check(&args.output)?;
    let progress = Progress::start("reading the data");
    let data = Dataset::read_npz(&args.data)?;
    let (model, report) = interrupt::patiently(|| fit(&data, &config, &progress))?;
    interrupt::patiently(|| model.save(&args.output))?;
    drop(progress);
    if args.json {
        say_json(args, &report, model.map().describe())?;
    } else {
        say_text(args, &report)?;
    }
    Ok(())
}

fn say_json(args: &Args, report: &FitReport, map: String) -> c2cnet::Result<()> {
    let mut object = report::object(&report.validation, "validation", report.seconds.total);
    // Its number among the held-out samples would tell nobody anything.
    object.remove("worst_sample");
    object.insert("model".into(), json!(args.output));
    object.insert("map".into(), json!(map));
    object.insert("choices".into(), json!(report.choices));
    object.insert("candidates".into(), json!(report.candidates));
    object.insert("n_train".into(), json!(report.n_train));
    object.insert("timings".into(), json!(report.seconds));
    output::say_json(&object.into())
}

fn say_text(args: &Args, report: &FitReport) -> c2cnet::Result<()> {
    say("choices")?;
    for choice in &report.choices {
        say(format_args!("  {choice}"))?;
    }
    let seconds = &report.seconds;
    say(format_args!(
        "\nerrors on {} held out while choosing",
        counted(report.validation.n_samples, "training sample")
    ))?;
    say(report::table(&report.validation, false))?;
    say(format_args!(
        "\nfitted to {} in {:.2} s (search {:.2}, encoding {:.2}, map {:.2})",
        counted(report.n_train, "sample"),
        seconds.total,
        seconds.search,
        seconds.encoding,
        seconds.training
    ))?;
    say(format_args!("wrote {}", args.output.display()))
}
