//! The zip archive around the arrays of an `.npz` file.

use super::array::{Array, Values, shown};
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// An open `.npz` file; arrays are read one at a time, on request.
pub(in crate::data) struct NpzFile {
    pub path: PathBuf,
    /// The keys in the order of the file, without `.npy`.
    pub keys: Vec<String>,
    archive: ZipArchive<BufReader<File>>,
}

impl NpzFile {
    /// Opens the file and lists its keys.
    pub fn open(path: &Path) -> Result<NpzFile> {
        let io = |e| Error::io(path, e);
        let mut start = Vec::new();
        let file = File::open(path).map_err(io)?;
        (&file).take(6).read_to_end(&mut start).map_err(io)?;
        let archive = ZipArchive::new(BufReader::new(file))
            .map_err(|e| Error::format(path, not_an_archive(&start, &e)))?;
        let damaged = |e| Error::format(path, format!("damaged npz file ({e})"));
        let mut keys = Vec::with_capacity(archive.len());
        for name in archive.file_names() {
            let name = name.map_err(damaged)?;
            // An entry that is not an array keeps its full name and is then an unknown key.
            keys.push(name.strip_suffix(".npy").unwrap_or(&name).to_string());
        }
        if archive.has_duplicate_names() {
            return Err(Error::format(
                path,
                format!("has duplicate keys; the keys are {}", keys.join(", ")),
            ));
        }
        Ok(NpzFile {
            path: path.to_path_buf(),
            keys,
            archive,
        })
    }

    /// Whether the file has an array `key`.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|k| k == key)
    }

    /// The array `key`, or `None` if the file has none.
    pub fn array(&mut self, key: &str) -> Result<Option<Array>> {
        let Some(index) = self.keys.iter().position(|k| k == key) else {
            return Ok(None);
        };
        let read = self
            .archive
            .by_index(index)
            .map_err(|e| format!("cannot be read ({e})"))
            .and_then(|mut entry| Array::read(&mut entry));
        read.map(Some).map_err(|reason| self.bad(key, reason))
    }

    /// Shape and floats of the array `key`; it must exist and not be empty.
    pub fn floats(&mut self, key: &str) -> Result<(Vec<usize>, Vec<f64>)> {
        let Some(array) = self.array(key)? else {
            return Err(self.bad(key, "is missing"));
        };
        let shape = array.shape.clone();
        if shape.contains(&0) {
            return Err(self.bad(key, format!("has shape {}: it is empty", shown(&shape))));
        }
        let values = array
            .into_floats()
            .map_err(|reason| self.bad(key, reason))?;
        Ok((shape, values))
    }

    /// Shape and integers of the array `key`, or `None`.
    pub fn integers(&mut self, key: &str) -> Result<Option<(Vec<usize>, Vec<i64>)>> {
        let Some(array) = self.array(key)? else {
            return Ok(None);
        };
        let shape = array.shape.clone();
        let values = array.into_integers();
        values
            .map(|values| Some((shape, values)))
            .map_err(|reason| self.bad(key, reason))
    }

    /// The one string of the array `key`, or `None`.
    pub fn string(&mut self, key: &str) -> Result<Option<String>> {
        match self.array(key)? {
            None => Ok(None),
            Some(Array {
                values: Values::Text(mut texts),
                ..
            }) if texts.len() == 1 => Ok(texts.pop()),
            Some(array) => Err(self.bad(
                key,
                format!("must be one string; it has shape {}", shown(&array.shape)),
            )),
        }
    }

    /// An error about the array `key`.
    pub fn bad(&self, key: &str, reason: impl std::fmt::Display) -> Error {
        Error::format(&self.path, format!("`{key}` {reason}"))
    }

    /// An error about the shape of the array `key`.
    pub fn bad_shape(&self, key: &str, expected: impl Into<String>, found: &[usize]) -> Error {
        Error::shape(
            format!("{}: `{key}`", self.path.display()),
            expected,
            shown(found),
        )
    }

    /// Adds the file and the key to an error about values read from it.
    pub fn locate(&self, key: &str, error: Error) -> Error {
        let place = format!("{}: `{key}`", self.path.display());
        match error {
            Error::NotFinite {
                place: at, value, ..
            } => Error::NotFinite {
                what: place,
                place: at,
                value,
            },
            Error::Shape {
                what,
                expected,
                found,
            } => Error::shape(format!("{place}, {what}"), expected, found),
            other => Error::format(&self.path, format!("`{key}`: {other}")),
        }
    }
}

/// What the first bytes of a file that is not an archive say about it.
fn not_an_archive(start: &[u8], error: &zip::result::ZipError) -> String {
    if start.starts_with(b"PK") {
        format!("a damaged or truncated npz file ({error}); copy or write it again")
    } else if start.starts_with(b"\x93NUMPY") {
        "a single .npy array, not an npz file; save the arrays by name with np.savez".into()
    } else {
        "not an npz file (a zip archive of arrays, as np.savez writes it)".into()
    }
}
