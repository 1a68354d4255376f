//! `c2cnet reproduce`: the paper's experiments.

use crate::device::DeviceFlag;
use c2cnet::internal::Claim;
use c2cnet::{Device, Error};
use c2cnet_experiments::reproduce::experiment::Column;
use c2cnet_experiments::reproduce::library::{Choice, Library, Steps};
use c2cnet_experiments::reproduce::{self, Effort, Order, Outcome};
use c2cnet_experiments::terminal::{Table, print_line};
use c2cnet_experiments::{output_path, report};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const AFTER_HELP: &str = "\
Examples:
  c2cnet reproduce --list
  c2cnet reproduce poisson-holes
  c2cnet reproduce --all --quick            a first look, small and rough
  c2cnet reproduce --all --recipe auto      only the default settings
  c2cnet reproduce kdv-burgers --steps full the paper's 30,000 steps
  c2cnet reproduce --all --device cuda --jobs 8   in full, eight fits at a time

Everything is written to a folder, by default `reproduction` (with --quick `reproduction-quick`): for
each experiment its settings as resolved (config.toml), its errors, tables and curves (result.json),
figures and models. Networks with the paper's recipe are trained in two readings of it, plain (nothing
scaled) and scaled. Data are made once and shared. An experiment that was run with the same
settings is not run again; an interrupted one continues, and the fits that it had finished
are not repeated, even if their models (*.c2c) stayed elsewhere. The page report.html shows all of it; `c2cnet report` writes it again.";

/// Run experiments of the paper, from data to figures.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Which experiments; --list names them.
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "list"])]
    names: Vec<String>,

    /// All of them.
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// Small data and short training: to check that everything works, not to compare errors.
    #[arg(long)]
    quick: bool,

    /// The run folder [default: reproduction, or reproduction-quick with --quick].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Which fits to run: the paper's recipe (plain and scaled), well-trained networks, default settings.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["paper", "fast", "auto"])]
    recipe: Vec<RecipeFlag>,

    /// Steps of networks with the paper's recipe: a number, or `full` for its 30,000 with all samples in each
    /// [default: full with --device cuda, else as the experiment's file says, fewer].
    #[arg(long, value_name = "N", value_parser = steps)]
    steps: Option<Steps>,

    /// Run experiments and all their fits again, even if they were run before.
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    device: DeviceFlag,

    /// How many fits of an experiment run at the same time: small networks do not fill a GPU.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,

    /// Start no new fit after this many seconds: the results name what is missing, and the same command continues later.
    #[arg(long, value_name = "SECONDS")]
    within: Option<u64>,

    /// A folder of experiments (NAME.toml) to use instead of the built-in ones.
    #[arg(long, value_name = "DIR")]
    experiments: Option<PathBuf>,

    /// Name and describe the experiments.
    #[arg(long, conflicts_with_all = ["names", "all"])]
    list: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum RecipeFlag {
    /// The paper's recipe in both readings, perhaps with fewer steps.
    Paper,
    /// The paper's recipe, nothing scaled.
    Plain,
    /// The paper's recipe, inputs and outputs scaled.
    Scaled,
    /// Networks that are trained well, to compare inputs by.
    Fast,
    /// The default settings.
    Auto,
}

impl RecipeFlag {
    fn columns(self) -> &'static [Column] {
        match self {
            RecipeFlag::Paper => &[Column::Plain, Column::Scaled],
            RecipeFlag::Plain => &[Column::Plain],
            RecipeFlag::Scaled => &[Column::Scaled],
            RecipeFlag::Fast => &[Column::Fast],
            RecipeFlag::Auto => &[Column::Auto],
        }
    }
}

fn steps(text: &str) -> Result<Steps, String> {
    match (text, text.parse()) {
        ("full", _) => Ok(Steps::Full),
        (_, Ok(n)) if n > 0 => Ok(Steps::Given(n)),
        _ => Err("give a positive number of steps, or `full`".into()),
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let library = Library {
        folder: args.experiments.clone(),
    };
    let columns = args.recipe.iter().flat_map(|flag| flag.columns());
    let columns: Vec<Column> = columns.copied().collect();
    // What takes a day on a CPU takes an hour on a GPU.
    let on_gpu = matches!(args.device.device, Device::Cuda(_)) && !args.quick;
    let choice = Choice {
        quick: args.quick,
        steps: args.steps.or(on_gpu.then_some(Steps::Full)),
        columns: &columns,
    };
    if args.list {
        let mut table = Table::default();
        for name in library.names()? {
            let (experiment, _) = library.load(&name, &choice)?;
            table.row([name, experiment.title, experiment.label]);
        }
        print_line(table)?;
        return Ok(());
    }
    let names = match args.all {
        true => library.names()?,
        false => args.names.clone(),
    };
    // Mistakes in any file are reported before long work.
    for name in &names {
        library.load(name, &choice)?;
    }
    args.device.check()?;
    let out = args.out.clone().unwrap_or_else(|| {
        PathBuf::from(match args.quick {
            true => "reproduction-quick",
            false => "reproduction",
        })
    });
    output_path::folder(&out)?;
    let _claim = Claim::new(&out.join("run.json"))?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let command = format!("c2cnet {}", words.join(" "));
    reproduce::describe(&out, args.quick, &command, args.device.device)?;
    let order = Order {
        library: &library,
        choice,
        run: &out,
        force: args.force,
        command: &command,
        effort: Effort {
            device: args.device.device,
            jobs: args.jobs.into(),
            until: args.within.map(|s| Instant::now() + Duration::from_secs(s)),
        },
    };
    let (mut broken, mut failed) = (Vec::new(), 0);
    for name in &names {
        match reproduce::reproduce(name, &order) {
            Ok(Outcome::Known) => {}
            Ok(Outcome::Done { failed: checks }) => failed += checks,
            Err(e @ Error::Interrupted) => return Err(e.into()),
            // The others do not depend on it.
            Err(e) if names.len() > 1 => {
                print_line(format_args!("{name}: failed: {e}"))?;
                broken.push(name.as_str());
            }
            Err(e) => return Err(e.into()),
        }
    }
    if failed > 0 {
        print_line(format_args!("{failed} checks failed; see result.json"))?;
    }
    let page = out.join("report.html");
    report::write(&out, &page)?;
    print_line(format_args!("results are in {}", out.display()))?;
    print_line(format_args!("open {}", page.display()))?;
    if !broken.is_empty() {
        anyhow::bail!("failed: {}", broken.join(", "));
    }
    Ok(())
}
