//! `c2cnet completions`: what a shell needs to complete the command's arguments.

use clap_complete::Shell;
use std::io::Write;

const AFTER_HELP: &str = "\
Examples:
  source <(c2cnet completions bash)
  c2cnet completions bash > ~/.local/share/bash-completion/completions/c2cnet
  c2cnet completions zsh > ~/.zfunc/_c2cnet
  c2cnet completions fish > ~/.config/fish/completions/c2cnet.fish";

/// Print a script with which a shell completes the arguments of this command.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    let mut command = crate::command();
    clap_complete::generate(args.shell, &mut command, "c2cnet", &mut script);
    // Not line by line as `print_line` does: a script must be written byte for byte.
    std::io::stdout()
        .write_all(&script)
        .map_err(|e| c2cnet::Error::io("standard output", e))?;
    Ok(())
}
