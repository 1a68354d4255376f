//! How data files are read, where users may choose.

use c2cnet::data::{Dataset, Missing};
use c2cnet::{Error, Result};
use c2cnet_formats::Format;
use clap::ValueEnum;
use std::path::Path;

/// The flag of every command that reads values.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Reading {
    /// What NaN among values of functions means.
    #[arg(long, value_enum, default_value = "refuse")]
    missing: MissingFlag,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MissingFlag {
    /// A mistake.
    Refuse,
    /// A reading that is not there: samples keep the points that they have.
    Nan,
}

impl Reading {
    /// The data of a file.
    pub fn read(self, path: &Path) -> Result<Dataset> {
        match (self.missing, Format::of(path)?) {
            (MissingFlag::Refuse, _) => c2cnet_formats::read(path),
            (MissingFlag::Nan, Format::Npz) => Dataset::read_npz_with(path, Missing::Nan),
            (MissingFlag::Nan, _) => Err(Error::Config(format!(
                "{}: --missing nan is for .npz files; in a table leave out the rows of missing readings",
                path.display()
            ))),
        }
    }
}
