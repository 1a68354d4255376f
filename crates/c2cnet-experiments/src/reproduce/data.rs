//! The data of experiments: made once, kept in the run folder, shared.

use super::derive::derive;
use super::done::Hash;
use super::experiment::{DataSpec, Experiment};
use super::mirror::mirror;
use crate::output_path;
use crate::terminal::{Progress, interrupt};
use c2cnet::data::Dataset;
use c2cnet::{Error, Result};
use c2cnet_problems::problems;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The data of an experiment, and what of it was made or read.
pub struct Store<'a> {
    /// Where data files are kept and looked for; with none, nothing is kept.
    folder: Option<PathBuf>,
    specs: &'a BTreeMap<String, DataSpec>,
    loaded: HashMap<String, Arc<Dataset>>,
}

impl<'a> Store<'a> {
    pub fn new(run: Option<&Path>, experiment: &'a Experiment) -> Self {
        Store {
            folder: run.map(|run| run.join("data")),
            specs: &experiment.data,
            loaded: HashMap::new(),
        }
    }

    /// The hash of everything that determines the data set `name`: how it is derived, and from what.
    pub fn fingerprint(&self, name: &str) -> Result<String> {
        let spec = self.spec(name)?;
        let mut hash = Hash::default().add(&serde_json::json!(spec).to_string());
        if let Some(problem) = &spec.problem {
            hash = hash.add(&key(problem, spec)?);
        }
        if let Some(from) = &spec.from {
            hash = hash.add(&self.fingerprint(from)?);
        }
        Ok(hash.to_string())
    }

    fn spec(&self, name: &str) -> Result<&'a DataSpec> {
        self.specs.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.specs.keys().map(String::as_str).collect();
            Error::Config(format!(
                "there is no data set {name:?}; there are {}",
                names.join(", ")
            ))
        })
    }

    /// The data set called `name`.
    ///
    /// # Errors
    /// If it cannot be made, read or written.
    pub fn get(&mut self, name: &str) -> Result<Arc<Dataset>> {
        if let Some(data) = self.loaded.get(name) {
            return Ok(data.clone());
        }
        let spec = self.spec(name)?;
        let base = match (&spec.from, &spec.problem) {
            (Some(from), _) => self.get(from)?,
            (None, Some(problem)) => Arc::new(self.made(problem, spec)?),
            (None, None) => return Err(Error::Config(format!("data set {name:?} has no source"))),
        };
        let base = match spec.mirror {
            true => Arc::new(mirror(&base)?),
            false => base,
        };
        let plain = spec.train.is_none()
            && spec.input == Default::default()
            && spec.output == Default::default();
        let data = match plain {
            true => base,
            false => Arc::new(derive(&base, spec.train, &spec.input, &spec.output)?),
        };
        self.loaded.insert(name.to_string(), data.clone());
        Ok(data)
    }

    /// From the folder, or made and put there.
    fn made(&self, problem: &str, spec: &DataSpec) -> Result<Dataset> {
        let generated = || {
            let progress = Progress::start(format!("generating {problem}"));
            interrupt::patiently(|| {
                c2cnet_problems::generate(problem, settings(spec)?, spec.seed, &progress)
            })
        };
        let Some(folder) = &self.folder else {
            return generated();
        };
        let key = key(problem, spec)?;
        let path = folder.join(format!("{key}.npz"));
        if path.exists() {
            let _progress = Progress::start(format!("reading {key}"));
            return Dataset::read_npz(&path);
        }
        let data = generated()?;
        output_path::folder(folder)?;
        interrupt::patiently(|| data.write_npz(&path))?;
        Ok(data)
    }
}

fn settings(spec: &DataSpec) -> Result<Value> {
    serde_json::to_value(&spec.settings)
        .map_err(|e| Error::Config(format!("settings of the data: {e}")))
}

/// The name of the file: the problem and a hash of everything that determines its samples.
pub fn key(problem: &str, spec: &DataSpec) -> Result<String> {
    let all = problems();
    let known = all.iter().find(|p| p.name == problem);
    let mut resolved = match known {
        Some(problem) => problem.defaults()?,
        None => return Err(Error::Config(format!("unknown problem {problem:?}"))),
    };
    if let (Value::Object(all), Value::Object(given)) = (&mut resolved, settings(spec)?) {
        all.extend(given);
    }
    let hash = Hash::default()
        .add(problem)
        .add(&resolved.to_string())
        .add(&spec.seed.to_string())
        .add(env!("CARGO_PKG_VERSION"));
    Ok(format!("{problem}-{hash}"))
}

/// The keys of all data of an experiment.
pub fn keys(experiment: &Experiment) -> Result<Vec<String>> {
    let made = experiment.data.values();
    made.filter_map(|spec| Some(key(spec.problem.as_ref()?, spec)))
        .collect()
}
