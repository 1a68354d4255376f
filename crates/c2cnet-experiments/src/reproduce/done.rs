//! Whether an experiment or a run was done before, with the same inputs.

use super::data::{self, Store};
use super::experiment::{Experiment, RunSpec};
use crate::run_files;
use c2cnet::Result;
use std::path::Path;

/// A digest (BLAKE3) of texts in order.
#[derive(Debug, Default)]
pub struct Hash(blake3::Hasher);

impl Hash {
    /// The hash with `text` added, after its length: where a text ends matters.
    pub fn add(mut self, text: &str) -> Self {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
        self
    }
}

impl std::fmt::Display for Hash {
    /// The digest's first 16 digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.finalize().to_hex()[..16])
    }
}

/// Increased by hand when fits or evaluations with the same settings give other results.
const RUNNER: &str = "3";

/// The hash of everything that determines the result of an experiment: its resolved file, its data and the version of the program.
pub fn fingerprint(experiment: &Experiment, config: &str) -> Result<String> {
    let hash = data::keys(experiment)?
        .iter()
        .fold(versioned(config), |hash, key| hash.add(key));
    Ok(hash.to_string())
}

/// The hash of everything that determines what a run finds with one seed; labels and notes are not part of it.
pub fn run_fingerprint(spec: &RunSpec, seed: u64, store: &Store<'_>) -> Result<String> {
    let settings = serde_json::json!([seed, spec.fit, spec.set, spec.more_sets]);
    let mut hash = versioned(&settings.to_string());
    for name in [Some(&spec.data), spec.test.as_ref()].into_iter().flatten() {
        hash = hash.add(&store.fingerprint(name)?);
    }
    Ok(hash.to_string())
}

fn versioned(settings: &str) -> Hash {
    Hash::default()
        .add(settings)
        .add(env!("CARGO_PKG_VERSION"))
        .add(RUNNER)
}

/// Whether `folder` holds a result with this fingerprint, and nothing is missing in it; a damaged one counts as none.
pub fn is_done(folder: &Path, fingerprint: &str) -> bool {
    let result = run_files::read::<run_files::Experiment>(&folder.join("result.json"));
    result.is_ok_and(|r| r.fingerprint == fingerprint && r.found.missing.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_tells_texts_and_their_borders_apart() {
        let hash = |parts: &[&str]| {
            let all = parts
                .iter()
                .fold(Hash::default(), |hash, part| hash.add(part));
            all.to_string()
        };
        assert_eq!(hash(&["a", "b"]), hash(&["a", "b"]));
        assert_ne!(hash(&["a", "b"]), hash(&["ab"]));
        assert_ne!(hash(&["a", "b"]), hash(&["b", "a"]));
        assert_eq!(hash(&["a"]).len(), 16);
    }
}
