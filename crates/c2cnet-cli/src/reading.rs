//! How data files are read, where users may choose.

use c2cnet::data::{Dataset, Missing};
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
    pub fn read(self, path: &Path) -> c2cnet::Result<Dataset> {
        let missing = match self.missing {
            MissingFlag::Refuse => Missing::Refuse,
            MissingFlag::Nan => Missing::Nan,
        };
        Dataset::read_npz_with(path, missing)
    }
}
