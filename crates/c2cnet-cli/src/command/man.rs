//! `c2cnet man`: the manual pages, made from the command's help.

use c2cnet::Error;
use c2cnet_experiments::terminal::print_line;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Examples:
  c2cnet man -o ~/.local/share/man/man1
  man c2cnet-fit";

/// Write the manual pages, one for the command and one for each of its subcommands.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The folder for the pages, created if needed; pages of the same name are replaced.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    let command = crate::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, folder).map_err(|e| Error::io(folder, e))?;
    print_line(format_args!(
        "wrote c2cnet.1 and the pages of the subcommands to {}",
        folder.display()
    ))?;
    Ok(())
}
