//! `c2cnet cite`: what to cite, as BibTeX.

use c2cnet::cite::{PAPER, Reference};
use c2cnet::{C2CNet, Error, Plan, Result};
use c2cnet_experiments::terminal::print_line;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  c2cnet cite
  c2cnet cite model.c2c > references.bib";

/// Print BibTeX entries: of the paper, and of the methods that a model used.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The model whose bases, encoders and map are cited in addition to the paper.
    model: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let references = match &args.model {
        None => vec![PAPER],
        Some(path) => references(path)?,
    };
    // Lines outside of entries are comments to BibTeX.
    let entries = references
        .iter()
        .map(|r| format!("% {}\n{}", r.method, r.bibtex));
    print_line(entries.collect::<Vec<_>>().join("\n\n"))?;
    Ok(())
}

fn references(path: &Path) -> Result<Vec<Reference>> {
    let model = C2CNet::load(path)?;
    let plan = Plan::of(&model).ok_or_else(|| {
        Error::format(path, "the model does not say how it was fitted; fit again")
    })?;
    Ok(plan.references())
}
