//! How data files are read, where users may choose.

use c2cnet::data::{Dataset, Missing, Points};
use c2cnet::{C2CNet, Error, Result};
use c2cnet_formats::{Format, Names};
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
    /// A missing reading: samples keep the points that they have.
    Nan,
}

impl Reading {
    /// The data of a file.
    pub fn read(self, path: &Path) -> Result<Dataset> {
        c2cnet_formats::read_named(path, &Names::default(), self.missing())
    }

    /// The data of a file, or the prediction if it has only outputs.
    pub fn read_any(self, path: &Path) -> Result<Dataset> {
        let data = self.read(path);
        data.or_else(|e| c2cnet_formats::read_prediction(path).map_err(|_| e))
    }

    /// The inputs of a file for a model, which knows their points where an `.npz` file lacks them.
    pub fn read_for(self, model: &C2CNet, path: &Path) -> Result<Dataset> {
        match Format::of(path)? {
            Format::Npz => Dataset::read_npz_inputs(path, self.missing(), known_points(model)),
            _ => {
                let names = Names {
                    inputs_alone: true,
                    ..Names::default()
                };
                c2cnet_formats::read_named(path, &names, self.missing())
            }
        }
    }

    /// The data of a file with outputs, as a fit needs.
    pub fn read_pairs(self, path: &Path) -> Result<Dataset> {
        with_outputs(path, self.read(path)?)
    }

    /// The data of a file with outputs that judge a model, which knows the points of its inputs where an `.npz` file
    /// lacks them.
    pub fn read_pairs_for(self, model: &C2CNet, path: &Path) -> Result<Dataset> {
        let data = match Format::of(path)? {
            Format::Npz => Dataset::read_npz_at(path, self.missing(), known_points(model)),
            _ => self.read(path),
        };
        with_outputs(path, data?)
    }

    /// The data of files with one sample each, under other names.
    pub fn collect(self, paths: &[PathBuf], names: &Names) -> Result<Dataset> {
        c2cnet_formats::collect(paths, names, self.missing())
    }

    /// As typed, for commands that messages suggest.
    pub fn flags(self) -> &'static str {
        match self.missing {
            MissingFlag::Refuse => "",
            MissingFlag::Nan => " --missing nan",
        }
    }

    fn missing(self) -> Missing {
        match self.missing {
            MissingFlag::Refuse => Missing::Refuse,
            MissingFlag::Nan => Missing::Nan,
        }
    }
}

/// The points of a model's inputs, by name.
fn known_points(model: &C2CNet) -> Vec<(String, Points)> {
    let known = model.summary().inputs.into_iter();
    let known = known.filter_map(|i| Some((i.name.to_string(), i.points?.clone())));
    known.collect()
}

/// Data that has outputs.
fn with_outputs(path: &Path, data: Dataset) -> Result<Dataset> {
    match data.outputs.is_empty() {
        false => Ok(data),
        true => Err(Error::Data(format!(
            "{}: has only inputs; outputs are needed here, `u` at points `y` or quantities `q`",
            path.display()
        ))),
    }
}

/// An error about data, with the name of the file added if it lacks it.
pub fn of_file(path: &Path, error: Error) -> Error {
    let file = path.display().to_string();
    match error {
        Error::Data(_) | Error::Shape { .. } | Error::OutsideDomain { .. }
            if !error.to_string().contains(&file) =>
        {
            Error::Data(format!("{file}: {error}"))
        }
        other => other,
    }
}
