//! One safetensors file: arrays, and everything else as JSON in its metadata.
//!
//! Nothing in it is executable. It is written to a temporary file beside the target and renamed,
//! so that the target is always either the old file or the whole new one.

use crate::{Error, Result};
use faer::{Mat, MatRef};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The version of the layout of model files; raised when an older reader could misread one.
pub const FORMAT_VERSION: u32 = 1;

/// Named arrays and one JSON document.
#[derive(Debug, Default, Clone)]
pub struct Archive {
    arrays: BTreeMap<String, Array>,
    /// What is not an array.
    pub document: serde_json::Value,
}

#[derive(Debug, Clone)]
struct Array {
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Archive {
    /// Stores a matrix (column-major inside; the shape on file is transposed accordingly).
    pub fn put_matrix(&mut self, name: impl Into<String>, matrix: MatRef<'_, f64>) {
        let mut values = Vec::with_capacity(matrix.nrows() * matrix.ncols());
        for k in 0..matrix.ncols() {
            values.extend(matrix.col(k).iter());
        }
        let shape = vec![matrix.ncols(), matrix.nrows()];
        self.arrays.insert(name.into(), Array { shape, values });
    }

    /// Stores a vector.
    pub fn put_vector(&mut self, name: impl Into<String>, values: &[f64]) {
        self.arrays.insert(
            name.into(),
            Array {
                shape: vec![values.len()],
                values: values.to_vec(),
            },
        );
    }

    /// The matrix stored as `name`.
    ///
    /// # Errors
    /// If it is missing or not a matrix.
    pub fn matrix(&self, name: &str) -> Result<Mat<f64>> {
        let array = self.array(name)?;
        let &[ncols, nrows] = array.shape.as_slice() else {
            return Err(Error::Data(format!(
                "array {name} of the model has shape {:?}, a matrix was expected",
                array.shape
            )));
        };
        Ok(Mat::from_fn(nrows, ncols, |i, j| {
            array.values[j * nrows + i]
        }))
    }

    /// The vector stored as `name`.
    ///
    /// # Errors
    /// If it is missing.
    pub fn vector(&self, name: &str) -> Result<Vec<f64>> {
        Ok(self.array(name)?.values.clone())
    }

    /// Names and shapes of the arrays.
    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.arrays
            .iter()
            .map(|(name, a)| (name.as_str(), a.shape.as_slice()))
    }

    /// Shape and numbers of the array stored as `name`, the last axis running fastest.
    ///
    /// # Errors
    /// If it is missing.
    pub fn shaped(&self, name: &str) -> Result<(&[usize], &[f64])> {
        let array = self.array(name)?;
        Ok((&array.shape, &array.values))
    }

    fn array(&self, name: &str) -> Result<&Array> {
        self.arrays
            .get(name)
            .ok_or_else(|| Error::Data(format!("the model has no array {name}")))
    }

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
    /// If the parts cannot be put together.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes: BTreeMap<&str, Vec<u8>> = self
            .arrays
            .iter()
            .map(|(name, a)| {
                let bytes = a.values.iter().flat_map(|v| v.to_le_bytes()).collect();
                (name.as_str(), bytes)
            })
            .collect();
        let views: Vec<(&str, TensorView<'_>)> = self
            .arrays
            .iter()
            .map(|(name, a)| {
                let view = TensorView::new(Dtype::F64, a.shape.clone(), &bytes[name.as_str()])
                    .expect("shape and bytes agree");
                (name.as_str(), view)
            })
            .collect();
        let metadata = HashMap::from([("c2cnet".to_string(), self.document.to_string())]);
        safetensors::serialize(views, Some(metadata))
            .map_err(|e| Error::Data(format!("the model cannot be put together: {e}")))
    }

    /// Reads a file written by [`Archive::write`].
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, [`Error::Format`] if it is damaged, foreign or newer.
    pub fn read(path: &Path) -> Result<Archive> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::from_bytes(&bytes, path)
    }

    /// Reads what [`Archive::to_bytes`] gave; `path` is what messages call it.
    ///
    /// # Errors
    /// [`Error::Format`] if it is damaged, foreign or newer.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Archive> {
        let foreign = |e: &dyn std::fmt::Display| {
            Error::format(
                path,
                format!("not a c2cnet model, or a damaged one ({e}); fit it again"),
            )
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| foreign(&e))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| foreign(&e))?;
        let text = header
            .metadata()
            .as_ref()
            .and_then(|m| m.get("c2cnet"))
            .ok_or_else(|| foreign(&"safetensors file without c2cnet metadata"))?;
        let document: serde_json::Value = serde_json::from_str(text).map_err(|e| foreign(&e))?;
        let version = document.get("format").and_then(serde_json::Value::as_u64);
        if version != Some(u64::from(FORMAT_VERSION)) {
            return Err(Error::format(
                path,
                format!(
                    "model format {} is not the format {FORMAT_VERSION} that this version reads",
                    version.map_or("unknown".into(), |v| v.to_string())
                ),
            ));
        }
        let mut arrays = BTreeMap::new();
        for (name, view) in tensors.tensors() {
            if view.dtype() != Dtype::F64 {
                return Err(foreign(&format!("array {name} is not of 64-bit floats")));
            }
            let values: Vec<f64> = view
                .data()
                .chunks_exact(8)
                .map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")))
                .collect();
            if let Some(v) = values.iter().find(|v| !v.is_finite()) {
                return Err(foreign(&format!("array {name} holds {v}")));
            }
            let shape = view.shape().to_vec();
            arrays.insert(name, Array { shape, values });
        }
        Ok(Archive { arrays, document })
    }
}

/// Writes a file through a temporary one in the same folder and a rename.
///
/// # Errors
/// [`Error::Io`] naming `path`; the temporary file is removed and the target untouched.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> std::io::Result<()>,
) -> Result<()> {
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let io = |e| Error::io(path, e);
    let mut file = tempfile::Builder::new()
        .prefix(".c2cnet-")
        .tempfile_in(folder)
        .map_err(io)?;
    {
        let mut buffered = BufWriter::new(file.as_file_mut());
        write(&mut buffered).map_err(io)?;
        buffered.flush().map_err(io)?;
    }
    // Temporary files are private; give the result the permissions of an ordinary new file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).map_or(0o644, |m| m.permissions().mode());
        file.as_file()
            .set_permissions(std::fs::Permissions::from_mode(mode))
            .map_err(io)?;
    }
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(())
}
