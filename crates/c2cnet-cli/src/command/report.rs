//! `c2cnet report`: one page about a run, and its main figures as Markdown.

use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use c2cnet_experiments::report;
use c2cnet_experiments::terminal::say;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Examples:
  c2cnet report reproduction
  c2cnet report reproduction -o page.html --results RESULTS.md

RUN is what `c2cnet reproduce` wrote. The page needs no other file and no network. An experiment
that is missing or damaged is named with the reason; the others are shown.";

/// Write a self-contained HTML page about a run of the paper's experiments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The folder of the run.
    run: PathBuf,

    /// Where to write the page [default: report.html in the folder].
    #[arg(short, long, value_name = "HTML")]
    output: Option<PathBuf>,

    /// Also write the headline table and each experiment's main table as Markdown.
    #[arg(long, value_name = "MD")]
    results: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let page = args.output.clone();
    let page = page.unwrap_or_else(|| args.run.join("report.html"));
    let writes = [&page].into_iter().chain(&args.results);
    let writes: Vec<_> = writes
        .map(|path| (path.as_path(), FileKind::Other))
        .collect();
    let reads = report::files(&args.run);
    outputs::check(args.force, reads.iter().map(PathBuf::as_path), &writes)?;
    report::write(&args.run, &page)?;
    say(format_args!("wrote {}", page.display()))?;
    if let Some(markdown) = &args.results {
        report::write_results(&args.run, markdown)?;
        say(format_args!("wrote {}", markdown.display()))?;
    }
    Ok(())
}
