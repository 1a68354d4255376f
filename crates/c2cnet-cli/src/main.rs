//! The command `c2cnet`: operator learning from the shell.
//!
//! `main` parses what was typed, [`command`] runs it, [`exit`] turns what happened into a code.

mod command;
mod device;
mod exit;
mod file_kind;
mod outputs;
mod reading;
mod settings;
mod training;

use c2cnet_experiments::terminal::{interrupt, shown};
use clap::Parser;
use std::num::NonZeroUsize;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Start here:
  c2cnet demo                               everything once, explained, in seconds
  c2cnet generate darcy1d -o data.npz       or bring your own data: c2cnet fit --help
  c2cnet plot data.npz                      look at a sample
  c2cnet fit data.npz -o model.c2c
  c2cnet evaluate model.c2c data.npz
  c2cnet predict model.c2c data.npz --at points.csv -o prediction.npz
  c2cnet compare data.npz --peers fno       beside other methods
  c2cnet reproduce --list                   the experiments of the paper

Exit codes:
  0    success
  1    any other failure
  2    wrong usage or settings
  3    data that cannot be used: shapes, NaN, points outside the domain
  4    a file that cannot be read or written, is damaged or is not what it should be
  5    a computation that did not succeed
  6    memory that does not suffice
  130  interrupted (Ctrl-C; a second Ctrl-C stops at once)";

/// Learn operators between function spaces in prescribed bases: encode input functions as basis
/// coefficients, learn the map between coefficients, decode outputs at any points.
#[derive(Debug, Parser)]
#[command(name = "c2cnet", version, after_help = AFTER_HELP)]
struct Cli {
    /// How many threads may work, at most one per core; results do not depend on it [default: one per core].
    #[arg(long, global = true, value_name = "N")]
    threads: Option<NonZeroUsize>,

    #[command(subcommand)]
    command: command::Command,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Help that goes into a closed pipe is nobody's problem.
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
    // Here and not by the first who needs them: threads that cannot be started are then an error.
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads(cli.threads))
        .build_global()?;
    cli.command.run()
}

/// As many threads as asked for, but no more than there are cores; 0: one per core.
fn threads(wanted: Option<NonZeroUsize>) -> usize {
    let cores = std::thread::available_parallelism().map_or(usize::MAX, NonZeroUsize::get);
    wanted.map_or(0, |wanted| wanted.get().min(cores))
}
