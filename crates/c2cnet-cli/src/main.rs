//! The command `c2cnet`: operator learning from the shell.
//!
//! `main` parses what was typed, [`command`] runs it, [`exit`] turns what happened into a code.

mod command;
mod device;
mod exit;
mod file_kind;
mod label_args;
mod outputs;
mod reading;
mod settings;
mod shards;
mod training;

use c2cnet_experiments::terminal::{self, interrupt, shown};
use clap::{CommandFactory, FromArgMatches, Parser};
use std::num::NonZeroUsize;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Start here:
  c2cnet demo                            a guided tour of every step, in seconds
  c2cnet generate darcy1d -o data.npz    or your own data: c2cnet fit --help
  c2cnet plot data.npz                   look at a sample
  c2cnet fit data.npz -o model.c2c
  c2cnet evaluate model.c2c data.npz
  c2cnet predict model.c2c data.npz --at points.csv -o prediction.npz
  c2cnet compare data.npz --peers fno    against other methods
  c2cnet reproduce --list                the experiments of the paper

Exit codes:
  0    success
  1    any other failure
  2    wrong usage or settings
  3    data that cannot be used: shapes, NaN, points outside the domain
  4    a file that cannot be read or written, is damaged or of another kind, or whose keys, counts
       or cells do not match
  5    a computation that failed
  6    not enough memory
  130  interrupted (Ctrl-C; a second Ctrl-C stops at once)";

/// Learn operators between function spaces in prescribed bases: encode input functions as basis
/// coefficients, learn the map between coefficients, decode outputs at any points.
#[derive(Debug, Parser)]
#[command(name = "c2cnet", version, after_help = AFTER_HELP)]
struct Cli {
    /// Number of threads to use, at most one per core; results do not depend on it [default: one per core].
    #[arg(long, global = true, value_name = "N", value_parser = count)]
    threads: Option<NonZeroUsize>,

    /// How progress is shown, on standard error.
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "HOW",
        default_value = "auto"
    )]
    progress: ProgressStyle,

    /// Leave a line with the time for every step.
    #[arg(short, long, global = true)]
    verbose: bool,

    #[command(subcommand)]
    command: command::Command,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ProgressStyle {
    /// A moving display on a terminal, nothing elsewhere.
    Auto,
    /// A line for each step, and every few seconds while one lasts.
    Plain,
    /// Nothing.
    Off,
}

/// The command with its subcommands. Prose below the options breaks where the terminal ends, and not where the source
/// code does.
fn command() -> clap::Command {
    Cli::command().mut_subcommands(|command| {
        let after = command.get_after_help().map(ToString::to_string);
        command.after_help(paragraphs(&after.unwrap_or_default()))
    })
}

/// Joins the lines of each paragraph; indented lines and what follows them stay as they are.
fn paragraphs(text: &str) -> String {
    let mut joined = String::new();
    let mut prose = false;
    for line in text.lines() {
        let continues = prose && !line.is_empty() && !line.starts_with(' ');
        joined += if continues { " " } else { "\n" };
        joined += line;
        prose = !line.is_empty() && !line.starts_with(' ');
    }
    joined.trim_start_matches('\n').to_string()
}

fn parse() -> Result<Cli, clap::Error> {
    let mut matches = command().try_get_matches()?;
    Cli::from_arg_matches_mut(&mut matches)
}

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Printing help into a closed pipe is not an error.
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { exit::USAGE } else { 0 });
        }
    };
    exit::quiet_panics();
    exit::speak_when_aborted();
    match std::panic::catch_unwind(|| run(cli)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(e)) => {
            eprintln!("error: {}", shown(exit::message(&e)));
            ExitCode::from(exit::code(&e))
        }
        Err(_) => ExitCode::from(exit::OTHER),
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    interrupt::install()?;
    let style = match cli.progress {
        ProgressStyle::Auto => terminal::Style::Auto,
        ProgressStyle::Plain => terminal::Style::Plain,
        ProgressStyle::Off => terminal::Style::Off,
    };
    terminal::choose(style, cli.verbose);
    // Started here rather than on first use, so that threads that cannot be started are an error.
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads(cli.threads))
        .build_global()?;
    cli.command.run()
}

fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "give a whole number, at least 1".into())
}

/// As many threads as asked for, but no more than there are cores; 0: one per core.
fn threads(wanted: Option<NonZeroUsize>) -> usize {
    let cores = std::thread::available_parallelism().map_or(usize::MAX, NonZeroUsize::get);
    wanted.map_or(0, |wanted| wanted.get().min(cores))
}

#[cfg(test)]
mod tests;
