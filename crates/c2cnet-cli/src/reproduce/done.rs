//! Whether an experiment or a run was done before, with the same inputs.

use super::data;
use super::experiment::Experiment;
use crate::run_files;
use c2cnet::Result;
use std::path::Path;

/// FNV-1a, which is the same on every machine and in every version.
#[derive(Debug, Clone, Copy)]
pub struct Hash(u64);

impl Hash {
    pub fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// The hash with `text` added, and an end that no text has.
    pub fn add(mut self, text: &str) -> Self {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Raised when the same settings would give other results.
const RUNNER: &str = "2";

/// Of all data sets of an experiment.
pub fn data_fingerprint(experiment: &Experiment, resolved: &toml::Table) -> Result<String> {
    let specs = resolved.get("data").map(ToString::to_string);
    let hash = Hash::new().add(&specs.unwrap_or_default());
    let keys = data::keys(experiment)?;
    Ok(keys
        .iter()
        .fold(hash, |hash, key| hash.add(key))
        .to_string())
}

/// Of settings, the fingerprint of the data they are for, and the version of the program.
pub fn fingerprint(settings: &str, data: &str) -> String {
    Hash::new()
        .add(settings)
        .add(data)
        .add(env!("CARGO_PKG_VERSION"))
        .add(RUNNER)
        .to_string()
}

/// Whether `folder` holds a result with this fingerprint; a damaged one counts as none.
pub fn found(folder: &Path, fingerprint: &str) -> bool {
    let result = run_files::read::<run_files::Experiment>(&folder.join("result.json"));
    result.is_ok_and(|result| result.fingerprint == fingerprint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_tells_texts_and_their_borders_apart() {
        let hash = |parts: &[&str]| {
            let all = parts.iter().fold(Hash::new(), |hash, part| hash.add(part));
            all.to_string()
        };
        assert_eq!(hash(&["a", "b"]), hash(&["a", "b"]));
        assert_ne!(hash(&["a", "b"]), hash(&["ab"]));
        assert_ne!(hash(&["a", "b"]), hash(&["b", "a"]));
        assert_eq!(hash(&["a"]).len(), 16);
    }
}
