//! What a file is, by its first bytes and not by its name.

use c2cnet::internal::{SIGNATURE, array_names, is_model, open_plain};
use c2cnet::{Error, Result};
use c2cnet_experiments::output_path;
use c2cnet_formats::Format;
use std::io::Read;
use std::path::Path;

/// What this program can make, and everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Model,
    /// Inputs, perhaps with outputs.
    Data,
    /// Only outputs.
    Prediction,
    /// Only for files to be made: an existing one is [`FileKind::Other`].
    Figure,
    Page,
    Other,
}

impl FileKind {
    /// # Errors
    /// If the file cannot be read.
    pub fn of(path: &Path) -> Result<Self> {
        let (file, _) = open_plain(path)?;
        let mut start = Vec::new();
        let read = file.take(SIGNATURE as u64).read_to_end(&mut start);
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
        Ok(match is_model(&start) {
            true => FileKind::Model,
            false => FileKind::Other,
        })
    }

    /// Refuses a name whose ending does not match the kind of file.
    ///
    /// # Errors
    /// Lists the endings.
    pub fn check_ending(self, path: &Path) -> Result<()> {
        match self {
            FileKind::Data | FileKind::Prediction => Format::named(path).map(drop),
            FileKind::Figure => output_path::check_ending(path, "a figure", &output_path::FIGURES),
            FileKind::Page => output_path::check_ending(path, "a page", &["html", "htm"]),
            FileKind::Model | FileKind::Other => Ok(()),
        }
    }

    /// In words, with an article.
    pub fn words(self) -> &'static str {
        match self {
            FileKind::Model => "a model",
            FileKind::Data => "data",
            FileKind::Prediction => "a prediction",
            FileKind::Figure => "a figure",
            FileKind::Page => "a page",
            FileKind::Other => "a file",
        }
    }
}
