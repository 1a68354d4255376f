//! How data files are read, where users may choose.

use c2cnet::Result;
use c2cnet::data::{Dataset, Missing};
use c2cnet_formats::Names;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

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
        c2cnet_formats::read_named(path, &Names::default(), self.missing())
    }

    /// The data of files with one sample each, under other names.
    pub fn collect(self, paths: &[PathBuf], names: &Names) -> Result<Dataset> {
        c2cnet_formats::collect(paths, names, self.missing())
    }

    fn missing(self) -> Missing {
        match self.missing {
            MissingFlag::Refuse => Missing::Refuse,
            MissingFlag::Nan => Missing::Nan,
        }
    }
}
