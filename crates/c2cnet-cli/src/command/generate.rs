//! `c2cnet generate`: data of a problem.

use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::settings::Source;
use c2cnet::data::Dataset;
use c2cnet::{Error, Result};
use c2cnet_experiments::reproduce;
use c2cnet_experiments::terminal::{self, Progress, Table, counted, interrupt, print_line};
use c2cnet_problems::problems;
use serde_json::{Value, json};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Examples:
  c2cnet generate --list
  c2cnet generate darcy1d -o data.npz
  c2cnet generate darcy1d -o data.npz --seed 3 --set n_train=400
  c2cnet generate both --experiment nonaligned -o scattered.npz

The last one makes a data set as used in one of the paper's experiments, for instance with different points for each
sample, or with noise; `c2cnet reproduce --list` names the experiments.

The same problem, settings and seed give the same file, on any number of threads.";

/// Make the samples of a problem: input and output functions, split into training and test.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The problem; --list describes them. With --experiment, a data set of the experiment.
    #[arg(required_unless_present = "list")]
    problem: Option<String>,

    /// Where to write the data: .npz, .csv, .vtu, .vtk or .msh.
    #[arg(short, long, value_name = "DATA", required_unless_present = "list")]
    output: Option<PathBuf>,

    /// The seed of the samples.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    settings: Source,

    /// Make a data set of this experiment, as its file describes it.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["seed", "config", "pairs"])]
    experiment: Option<String>,

    /// The experiment's small data, as used by `reproduce --quick`.
    #[arg(long, requires = "experiment")]
    quick: bool,

    /// Describe the problems and their settings.
    #[arg(long, conflicts_with_all = ["problem", "output", "seed", "config", "pairs", "experiment"])]
    list: bool,

    #[command(flatten)]
    force: Force,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let (Some(problem), Some(path)) = (&args.problem, &args.output) else {
        return list(args.json);
    };
    outputs::check(args.force, args.settings.file(), &[(path, FileKind::Data)])?;
    let data = match &args.experiment {
        Some(experiment) => reproduce::data_set(experiment, problem, args.quick)?,
        None => of_problem(problem, args)?,
    };
    interrupt::patiently(|| c2cnet_formats::write(path, &data))?;
    let train = data.train_indices().len();
    if args.json {
        terminal::print_json(&json!({
            "data": path,
            "n_samples": data.samples(),
            "n_train": train,
            "meta": data.meta,
        }))?;
        return Ok(());
    }
    print_line(format_args!(
        "wrote {}: {}, of which {train} train",
        path.display(),
        counted(data.samples(), "sample")
    ))?;
    Ok(())
}

fn of_problem(problem: &str, args: &Args) -> Result<Dataset> {
    let settings = args.settings.table()?;
    let settings = serde_json::to_value(settings)
        .map_err(|e| Error::Config(format!("settings of problem {problem}: {e}")))?;
    let progress = Progress::start(format!("generating {problem}"));
    c2cnet_problems::generate(problem, settings, args.seed, &progress)
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let all = problems();
    if as_json {
        let list = all.iter().map(|problem| problem.describe());
        let list = list.collect::<c2cnet::Result<Vec<Value>>>()?;
        terminal::print_json(&json!({ "problems": list }))?;
        return Ok(());
    }
    for problem in &all {
        print_line(format_args!("{}\n  {}", problem.name, problem.description))?;
        let mut table = Table::default();
        if let Value::Object(settings) = problem.defaults()? {
            for (key, value) in settings {
                table.row([key, value.to_string()]);
            }
        }
        print_line("  settings and their defaults, for --set:")?;
        print_line(table)?;
    }
    Ok(())
}
