//! `c2cnet report`: one page about a run or a model, and the main figures of a run as Markdown.

use super::evaluate::samples_of;
use crate::file_kind::FileKind;
use crate::label_args::LabelArgs;
use crate::outputs::{self, Force};
use crate::reading::{Reading, of_file};
use crate::training;
use c2cnet::{C2CNet, Error};
use c2cnet_experiments::report::{self, Subject};
use c2cnet_experiments::terminal::{Progress, counted, print_line};
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  c2cnet report model.c2c data.npz
  c2cnet report model.c2c data.npz --metrics metrics.jsonl -o page.html
  c2cnet report reproduction -o page.html --results RESULTS.md

For a model: errors by component, samples from the best to the worst, errors over the points, what was
chosen and why, training curves (--metrics, which `fit --metrics` writes), and what to try next. RUN is
a folder written by `c2cnet reproduce`; missing or damaged experiments are listed with the reason. The
page needs no other file and no network.";

/// Write a self-contained HTML page about a model, or about a run of the paper's experiments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The model file, or the folder of a run.
    #[arg(value_name = "MODEL or RUN")]
    subject: PathBuf,

    /// The data on which the model is judged.
    data: Option<PathBuf>,

    /// Where to write the page [default: MODEL.html here, or report.html in RUN].
    #[arg(short, long, value_name = "HTML")]
    output: Option<PathBuf>,

    /// Which samples of the data: train, test, all, or the name of a set in the file.
    #[arg(long, default_value = "test", value_name = "SET")]
    on: String,

    /// The metrics of the model's training, for its curves.
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,

    /// Also write the headline table and each experiment's main table of a run as Markdown.
    #[arg(long, value_name = "MD")]
    results: Option<PathBuf>,

    #[command(flatten)]
    labels: LabelArgs,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    force: Force,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let is_run = args.subject.is_dir();
    match (&args.data, is_run) {
        (None, true) => of_run(args),
        (Some(data), false) => of_model(args, data),
        (None, false) => {
            check_exists(&args.subject)?;
            Err(Error::Config(format!(
            "{} is not a run folder; for a model, also give the data on which to judge it: c2cnet report MODEL DATA",
            args.subject.display()
        ))
        .into())
        }
        (Some(_), true) => Err(Error::Config(format!(
            "{} is the folder of a run, which needs no data",
            args.subject.display()
        ))
        .into()),
    }
}

fn check_exists(subject: &Path) -> c2cnet::Result<()> {
    if subject.exists() {
        return Ok(());
    }
    let reason = "does not exist; give a model file and data, or the folder of a run";
    let missing = std::io::Error::new(std::io::ErrorKind::NotFound, reason);
    Err(Error::io(subject, missing))
}

fn of_run(args: &Args) -> anyhow::Result<()> {
    let page = args.output.clone();
    let page = page.unwrap_or_else(|| args.subject.join("report.html"));
    let markdown = (args.results.as_deref()).map(|path| (path, FileKind::Other));
    let writes: Vec<_> = [(page.as_path(), FileKind::Page)]
        .into_iter()
        .chain(markdown)
        .collect();
    let reads = report::files(&args.subject);
    outputs::check(args.force, reads.iter().map(PathBuf::as_path), &writes)?;
    report::write(&args.subject, &page)?;
    print_line(format_args!("wrote {}", page.display()))?;
    if let Some(markdown) = &args.results {
        report::write_results(&args.subject, markdown)?;
        print_line(format_args!("wrote {}", markdown.display()))?;
    }
    Ok(())
}

fn of_model(args: &Args, data_file: &Path) -> anyhow::Result<()> {
    if args.results.is_some() {
        return Err(Error::Config("--results is for the folder of a run".into()).into());
    }
    let page = args.output.clone().unwrap_or_else(|| {
        let name = args.subject.file_stem().unwrap_or(args.subject.as_os_str());
        PathBuf::from(name).with_extension("html")
    });
    let reads = [&*args.subject, data_file];
    let reads = reads.into_iter().chain(args.metrics.as_deref());
    outputs::check(args.force, reads, &[(&page, FileKind::Page)])?;
    check_exists(&args.subject)?;
    let progress = Progress::start("reading the model and the data");
    let model = C2CNet::load(&args.subject)?;
    let data = args.reading.read_pairs_for(&model, data_file)?;
    let (on, numbers) = samples_of(&data, &args.on, &model)?;
    let metrics = args.metrics.as_deref().map(training::read_metrics);
    let metrics = metrics.transpose()?.unwrap_or_default();
    progress.step(format!("predicting {}", counted(numbers.len(), "sample")));
    let chosen = data.select(&numbers);
    let errors = model.evaluate(&chosen).map_err(|e| of_file(data_file, e))?;
    progress.step("drawing");
    let subject = Subject {
        model: &model,
        data: &chosen,
        numbers: &numbers,
        on: &on,
        report: &errors,
        labels: &args.labels.of(&data)?,
        model_file: &args.subject,
        data_file,
        reading: args.reading.flags(),
        training: training::curves(&metrics),
    };
    report::write_model(&subject, &page)?;
    drop(progress);
    print_line(format_args!("wrote {}", page.display()))?;
    Ok(())
}
