//! What a file is, by its first bytes and not by its name.

use c2cnet::internal::{array_names, open_plain};
use c2cnet::{Error, Result};
use std::io::Read;
use std::path::Path;

/// What this program can make, and everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Model,
    /// Inputs, perhaps with outputs.
    Data,
    /// Outputs alone.
    Prediction,
    Other,
}

impl FileKind {
    /// # Errors
    /// If the file cannot be read.
    pub fn of(path: &Path) -> Result<Self> {
        let (file, _) = open_plain(path)?;
        let mut start = Vec::new();
        let read = file.take(9).read_to_end(&mut start);
        read.map_err(|e| Error::io(path, e))?;
        if start.starts_with(b"PK") {
            // A damaged archive may be data that can be repaired.
            let keys = array_names(path).unwrap_or_default();
            let is = |stem: &str| keys.iter().any(|key| key.split('.').next() == Some(stem));
            let prediction = (is("u") || is("q")) && !is("f") && !is("p");
            return Ok(if prediction {
                FileKind::Prediction
            } else {
                FileKind::Data
            });
        }
        Ok(match start.get(8) {
            Some(b'{') => FileKind::Model,
            _ => FileKind::Other,
        })
    }

    /// In words, with an article.
    pub fn words(self) -> &'static str {
        match self {
            FileKind::Model => "a model",
            FileKind::Data => "data",
            FileKind::Prediction => "a prediction",
            FileKind::Other => "a file",
        }
    }
}
