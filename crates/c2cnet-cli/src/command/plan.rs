//! `c2cnet plan`: what a fit would do, to read and edit.

use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::reading::{Reading, of_file};
use crate::settings::FitFlags;
use c2cnet_experiments::output_path;
use c2cnet_experiments::terminal::{Progress, interrupt, print_line};
use std::path::PathBuf;

const AFTER_HELP: &str = "\
For each field, a plan names the basis and how the field is encoded or decoded, and it names the map between
coefficients. `fit` makes a plan and carries it out; `plan` only makes it.

Examples:
  c2cnet plan data.npz -o plan.toml
  $EDITOR plan.toml
  c2cnet fit data.npz --plan plan.toml -o model.c2c";

/// Write what a fit would do to a TOML file that can be read, edited and given to `fit --plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The data file.
    data: PathBuf,

    /// Where to write the plan; standard output if not given.
    #[arg(short, long, value_name = "PLAN")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    settings: FitFlags,

    #[command(flatten)]
    force: Force,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let config = args.settings.resolve()?;
    let reads = [&*args.data].into_iter().chain(args.settings.file());
    let writes = args
        .output
        .iter()
        .map(|path| (path.as_path(), FileKind::Other));
    outputs::check(args.force, reads, &writes.collect::<Vec<_>>())?;
    let progress = Progress::start("reading the data");
    let data = args.reading.read_pairs(&args.data)?;
    let (plan, choices) = interrupt::patiently(|| c2cnet::plan(&data, &config, &progress))
        .map_err(|e| of_file(&args.data, e))?;
    drop(progress);
    let mut text = format!(
        "# c2cnet fit {} --plan THIS -o model.c2c{}\n",
        args.data.display(),
        args.reading.flags()
    );
    for choice in &choices {
        text += &format!("# {choice}\n");
    }
    text += "\n";
    text += &toml::to_string(&plan)?;
    match &args.output {
        None => print_line(text)?,
        Some(path) => {
            output_path::write(path, &text)?;
            print_line(format_args!("wrote {}", path.display()))?;
        }
    }
    Ok(())
}
