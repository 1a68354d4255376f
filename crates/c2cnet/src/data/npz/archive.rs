//! The zip archive around the arrays of an `.npz` file.

use super::array::{Array, Header, Kind, Values, shown};
use crate::data::Points;
use crate::storage::input::MOST_TEXT;
use crate::storage::{SIGNATURE, foreign, open_plain};
use crate::{Error, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::read::ZipFile;

/// The most arrays that a file may hold: more than any data set has, few enough to compare their names.
const MOST_KEYS: usize = 4096;

/// The best compression ratio of DEFLATE, and the slack for a short stream.
const MOST_DEFLATED: u64 = 1032;
const DEFLATE_SLACK: u64 = 1 << 10;

/// An open `.npz` file; arrays are read one at a time, on request.
pub(in crate::data) struct NpzFile {
    pub path: PathBuf,
    /// The keys in the order of the file, without `.npy`.
    pub keys: Vec<String>,
    /// The index of a key's array in the archive.
    places: HashMap<String, usize>,
    archive: ZipArchive<BufReader<File>>,
    /// Points of inputs, by name, that stand in for those that the file lacks.
    pub known: Vec<(String, Points)>,
    /// Whether outputs are read for their points only; their values are then zeros.
    pub inputs_alone: bool,
    /// Bytes of the file.
    size: u64,
}

impl NpzFile {
    /// Opens the file and lists its keys.
    pub fn open(path: &Path) -> Result<NpzFile> {
        let mut start = Vec::new();
        let (file, size) = open_plain(path)?;
        let read = (&file).take(SIGNATURE as u64).read_to_end(&mut start);
        read.map_err(|e| Error::io(path, e))?;
        let archive = ZipArchive::new(BufReader::new(file))
            .map_err(|e| Error::format(path, not_an_archive(&start, &e)))?;
        if archive.len() > MOST_KEYS {
            let reason = format!("holds {} arrays, more than {MOST_KEYS}", archive.len());
            return Err(Error::format(path, reason));
        }
        let damaged = |e| Error::format(path, format!("damaged npz file ({e})"));
        let mut keys = Vec::with_capacity(archive.len());
        for name in archive.file_names() {
            let name = name.map_err(damaged)?;
            // An entry that is not an array keeps its full name and is then an unknown key.
            keys.push(name.strip_suffix(".npy").unwrap_or(&name).to_string());
        }
        let places: HashMap<String, usize> = keys.iter().cloned().zip(0..).collect();
        if archive.has_duplicate_names() || places.len() < keys.len() {
            return Err(Error::format(
                path,
                format!("has duplicate keys; the keys are {}", keys.join(", ")),
            ));
        }
        Ok(NpzFile {
            path: path.to_path_buf(),
            keys,
            places,
            archive,
            known: Vec::new(),
            inputs_alone: false,
            size,
        })
    }

    /// Whether the file has an array `key`.
    pub fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// The array `key`, or `None` if the file has none; `accept` checks its header before it is read.
    pub fn array(
        &mut self,
        key: &str,
        accept: impl FnOnce(&Header) -> std::result::Result<(), String>,
    ) -> Result<Option<Array>> {
        self.entry(key, |entry, header| {
            accept(&header)?;
            Array::read(entry, header)
        })
    }

    /// The shape of the array `key`, or `None`; `whole` if its bytes are also to be checked.
    pub fn shape(&mut self, key: &str, whole: bool) -> Result<Option<Vec<usize>>> {
        self.entry(key, |entry, header| {
            if whole {
                io::copy(entry, &mut io::sink()).map_err(|e| format!("is damaged ({e})"))?;
            }
            Ok(header.shape)
        })
    }

    /// The result of `read` for the array `key`, after its header.
    fn entry<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut dyn Read, Header) -> std::result::Result<T, String>,
    ) -> Result<Option<T>> {
        let Some(&index) = self.places.get(key) else {
            return Ok(None);
        };
        let size = self.size;
        let result = self
            .archive
            .by_index(index)
            .map_err(|e| format!("cannot be read ({e})"))
            .and_then(|mut entry| {
                check_sizes(&entry, size)?;
                let available = entry.size();
                let header = Header::read(&mut entry, available)?;
                read(&mut entry, header)
            });
        result.map(Some).map_err(|reason| self.bad(key, reason))
    }

    /// Shape and floats of the array `key`; it must exist and not be empty.
    pub fn floats(&mut self, key: &str) -> Result<(Vec<usize>, Vec<f64>)> {
        let (shape, values, _) = self.numbers(key, Header::check_numbers)?;
        Ok((shape, values))
    }

    /// Shape and numbers of the array `key`, and whether they are complex: then there are two for each entry, its real
    /// and its imaginary part.
    pub fn values(&mut self, key: &str) -> Result<(Vec<usize>, Vec<f64>, bool)> {
        self.numbers(key, |header| match header.kind {
            Kind::Complex => Ok(()),
            _ => header.check_numbers(),
        })
    }

    fn numbers(
        &mut self,
        key: &str,
        accept: impl FnOnce(&Header) -> std::result::Result<(), String>,
    ) -> Result<(Vec<usize>, Vec<f64>, bool)> {
        let Some(array) = self.array(key, accept)? else {
            return Err(self.bad(key, "is missing"));
        };
        let shape = array.shape.clone();
        if shape.contains(&0) {
            return Err(self.bad(key, format!("has shape {}: it is empty", shown(&shape))));
        }
        let (values, complex) = match array {
            Array {
                values: Values::Complex(pairs),
                ..
            } => (Ok(pairs.into_flattened()), true),
            real => (real.into_floats(), false),
        };
        let values = values.map_err(|reason| self.bad(key, reason))?;
        Ok((shape, values, complex))
    }

    /// Shape and integers of the array `key`, or `None`.
    pub fn integers(&mut self, key: &str) -> Result<Option<(Vec<usize>, Vec<i64>)>> {
        let integers = |header: &Header| match header.kind {
            Kind::Integers => Ok(()),
            Kind::Floats | Kind::Complex => {
                Err("holds floats where integers are needed; use .astype('i8')".to_string())
            }
            Kind::Text => Err("holds text where integers are needed".to_string()),
        };
        let Some(array) = self.array(key, integers)? else {
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
        let one_text = |header: &Header| match header.kind {
            Kind::Text if header.is_one(MOST_TEXT) => Ok(()),
            _ => Err(format!(
                "must be one string of at most {MOST_TEXT} bytes; it has shape {}",
                shown(&header.shape)
            )),
        };
        match self.array(key, one_text)?.map(|array| array.values) {
            Some(Values::Text(mut texts)) => Ok(texts.pop()),
            _ => Ok(None),
        }
    }

    /// An error about the array `key`.
    pub fn bad(&self, key: &str, reason: impl std::fmt::Display) -> Error {
        Error::format(&self.path, format!("`{key}` {reason}"))
    }

    /// An error about the shape of the array `key`.
    pub(crate) fn bad_shape(
        &self,
        key: &str,
        expected: impl Into<String>,
        found: &[usize],
    ) -> Error {
        Error::shape(
            format!("{}: `{key}`", self.path.display()),
            expected,
            format!("shape {}", shown(found)),
        )
    }

    /// Adds the file and the key to an error about values read from it.
    pub fn locate(&self, key: &str, error: Error) -> Error {
        let place = format!("{}: `{key}`", self.path.display());
        match error {
            Error::NotFinite {
                place: at,
                value,
                optional,
                ..
            } => Error::NotFinite {
                what: place,
                place: at,
                value,
                optional,
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

/// Checks the sizes that an archive gives for an entry against the size of the file.
fn check_sizes(entry: &ZipFile<'_, impl Read>, file: u64) -> std::result::Result<(), String> {
    let (size, packed) = (entry.size(), entry.compressed_size());
    let most = packed.saturating_mul(MOST_DEFLATED) + DEFLATE_SLACK;
    match packed <= file && size <= most {
        true => Ok(()),
        false => Err(format!(
            "is damaged (its header claims {size} bytes, packed {packed}, in a file of {file})"
        )),
    }
}

/// Describes a file that is not an archive by its first bytes.
fn not_an_archive(start: &[u8], error: &zip::result::ZipError) -> String {
    if start.is_empty() {
        "the file is empty; write it again".into()
    } else if start.starts_with(b"PK") {
        format!("a damaged or truncated npz file ({error}); copy or write it again")
    } else if let Some((what, advice)) = foreign(start) {
        format!("not an npz file: it is {what}; {advice}")
    } else {
        "not an npz file (a zip archive of arrays, as np.savez writes it)".into()
    }
}
