//! An archive as one safetensors file: arrays, and everything else as JSON in its metadata.
//!
//! The metadata is `{"blake3": digest, "document": {...}}`. The digest is over every byte of the file but its own,
//! so that a file with a changed bit is refused and never half believed. It says that the file is whole, not that it
//! can be trusted: who makes a file can make its digest.

use super::Archive;
use super::array::Array;
use super::input::read_plain;
use super::output::write_atomically;
use super::signature::{self, is_model};
use crate::{Error, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;

/// The version of the layout of files; raised when an older reader could misread one.
pub const FORMAT_VERSION: u32 = 2;

/// What precedes the digest in a file's bytes; quotes inside text are escaped, so it occurs once.
const BEFORE_DIGEST: &[u8] = br#""c2cnet":"{\"blake3\":\""#;

/// Characters of a digest.
const DIGITS: usize = 64;

/// Bytes that a header may have without arrays to describe: parsed, text takes a multiple of its length.
const MOST_HEADER: usize = 1 << 23;

impl Archive {
    /// Writes the file, all or nothing.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be written or the disk is full; the target is untouched.
    pub fn write(&self, path: &Path) -> Result<()> {
        let file = self
            .to_bytes()
            .map_err(|e| Error::format(path, e.to_string()))?;
        write_atomically(path, |out| out.write_all(&file))
    }

    /// What [`Archive::write`] writes.
    ///
    /// # Errors
    /// If the parts cannot be assembled.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let apart =
            |e: &dyn std::fmt::Display| Error::Data(format!("the file cannot be assembled: {e}"));
        let bytes = |a: &Array| a.values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let bytes: Vec<Vec<u8>> = self.arrays.values().map(bytes).collect();
        let views = self.arrays.iter().zip(&bytes).map(|((name, a), bytes)| {
            let view = TensorView::new(Dtype::F64, a.shape.clone(), bytes);
            view.map(|view| (name.as_str(), view))
        });
        let views: Vec<_> = views
            .collect::<std::result::Result<_, _>>()
            .map_err(|e| apart(&e))?;
        let blank = "0".repeat(DIGITS);
        let text = format!(r#"{{"blake3":"{blank}","document":{}}}"#, self.document);
        let metadata = HashMap::from([("c2cnet".to_string(), text)]);
        let mut file = safetensors::serialize(views, Some(metadata)).map_err(|e| apart(&e))?;
        let (place, digest) = digest(&file).ok_or_else(|| apart(&"no place for its digest"))?;
        file[place..place + DIGITS].copy_from_slice(digest.as_bytes());
        Ok(file)
    }

    /// Reads a file written by [`Archive::write`].
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, [`Error::Format`] if it is damaged, foreign, older or newer.
    pub fn read(path: &Path) -> Result<Archive> {
        Self::from_bytes(&read_plain(path)?, path)
    }

    /// Reads what [`Archive::to_bytes`] gave; `path` is what messages call it.
    ///
    /// # Errors
    /// [`Error::Format`] if it is damaged, foreign, older or newer.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Archive> {
        let foreign = |e: &dyn std::fmt::Display| {
            let words = format!("not a c2cnet model, or a damaged one ({e}); fit it again");
            Error::format(path, words)
        };
        if !is_model(bytes)
            && let Some((what, advice)) = signature::foreign(bytes)
        {
            let words = format!("not a c2cnet model: it is {what}; {advice}");
            return Err(Error::format(path, words));
        }
        check_header(bytes).map_err(|words| foreign(&words))?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| foreign(&e))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| foreign(&e))?;
        let text = header.metadata().as_ref().and_then(|m| m.get("c2cnet"));
        let text = text.ok_or_else(|| foreign(&"safetensors file without c2cnet metadata"))?;
        let mut metadata: Json = serde_json::from_str(text).map_err(|e| foreign(&e))?;
        check_format(&metadata).map_err(|words| Error::format(path, words))?;
        let (place, digest) = digest(bytes).ok_or_else(|| foreign(&"it has no digest"))?;
        if &bytes[place..place + DIGITS] != digest.as_bytes() {
            return Err(foreign(
                &"its digest does not match its content: bits have changed",
            ));
        }
        let mut arrays = BTreeMap::new();
        for (name, view) in tensors.tensors() {
            if view.dtype() != Dtype::F64 {
                return Err(foreign(&format!("array {name} is not of 64-bit floats")));
            }
            let numbers = view.data().as_chunks().0;
            let values: Vec<f64> = numbers.iter().map(|b| f64::from_le_bytes(*b)).collect();
            if let Some(v) = values.iter().find(|v| !v.is_finite()) {
                return Err(foreign(&format!("array {name} holds {v}")));
            }
            let shape = view.shape().to_vec();
            let array = Array {
                shape,
                values,
                ..Array::default()
            };
            arrays.insert(name, array);
        }
        let document = metadata["document"].take();
        Ok(Archive { arrays, document })
    }
}

/// Where the digest of a file's bytes is, and what it is; `None` if there is no place for it.
fn digest(bytes: &[u8]) -> Option<(usize, String)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let header = rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let mut windows = header.windows(BEFORE_DIGEST.len());
    let place = 8 + windows.position(|w| w == BEFORE_DIGEST)? + BEFORE_DIGEST.len();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..place]);
    hasher.update(bytes.get(place + DIGITS..)?);
    Some((place, hasher.finalize().to_hex().to_string()))
}

/// A header that is longer than the arrays and than any model needs is not parsed.
fn check_header(bytes: &[u8]) -> std::result::Result<(), String> {
    if bytes.len() >= 8 && !bytes[..8].contains(&0) {
        return Err("it does not begin as one".into());
    }
    let length = bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    match length > MOST_HEADER && length > bytes.len() / 2 {
        true => Err(format!("its header claims {length} bytes")),
        false => Ok(()),
    }
}

fn check_format(metadata: &Json) -> std::result::Result<(), String> {
    let format = |document: &Json| document.get("format").and_then(Json::as_u64);
    match format(&metadata["document"]).or_else(|| format(metadata)) {
        Some(v) if v == u64::from(FORMAT_VERSION) => Ok(()),
        Some(1) => Err("written by version 0.1 (format 1); fit again".into()),
        other => Err(format!(
            "model format {} is not the format {FORMAT_VERSION} that this version reads",
            other.map_or("unknown".into(), |v| v.to_string())
        )),
    }
}
