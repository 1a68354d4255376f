//! Writing arrays into an `.npz` file.

use super::deferred_error::{DeferredError, Failure};
use crate::Result;
use crate::storage::write_atomically;
use npyz::{AutoSerialize, DType, Serialize, WriterBuilder};
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Writes an `.npz` file atomically: `write` adds the arrays, and the target is replaced
/// only once all of them are written.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) naming `path`; the target is untouched.
pub fn write_npz(
    path: &Path,
    write: impl FnOnce(&mut NpzWriter<&mut BufWriter<&mut File>>) -> io::Result<()>,
) -> Result<()> {
    write_atomically(path, |out| {
        let mut npz = NpzWriter::new(out);
        write(&mut npz)?;
        npz.finish()?;
        Ok(())
    })
}

/// Adds named arrays to an `.npz` archive, uncompressed and dated 1980, so that the same arrays give
/// the same bytes.
#[derive(Debug)]
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<DeferredError<W>>,
    failure: Failure,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// An archive on `out`.
    pub fn new(out: W) -> Self {
        let failure = Failure::default();
        NpzWriter {
            zip: ZipWriter::new(DeferredError::new(out, failure.clone())),
            failure,
        }
    }

    /// Adds an array of 8-byte floats; `values` are in C order.
    ///
    /// # Errors
    /// If the number of values does not match `shape`, the name is taken, or writing fails.
    pub fn put_f64(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) -> io::Result<()> {
        self.put(name, shape, f64::default_dtype(), values)
    }

    /// Adds an array of 16-byte complex numbers; `parts` are alternating real and imaginary parts, in C order.
    ///
    /// # Errors
    /// As [`NpzWriter::put_f64`], or if the number of parts is odd.
    pub fn put_complex(
        &mut self,
        name: &str,
        shape: &[usize],
        parts: impl IntoIterator<Item = f64>,
    ) -> io::Result<()> {
        let count = 2 * shape.iter().product::<usize>();
        let mut out = self.entry(name, 8 * count as u64)?;
        out.write_all(&complex_header(shape))?;
        let mut written = 0;
        for part in parts {
            out.write_all(&part.to_le_bytes())?;
            written += 1;
        }
        if written != count {
            let words = format!("{written} parts for {count} of the shape {shape:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
        out.flush()?;
        drop(out);
        self.failure.check()
    }

    /// Adds an array of 8-byte integers; `values` are in C order.
    ///
    /// # Errors
    /// As [`NpzWriter::put_f64`].
    pub fn put_i64(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = i64>,
    ) -> io::Result<()> {
        self.put(name, shape, i64::default_dtype(), values)
    }

    /// Adds one string, as `np.savez(name="text")` does.
    ///
    /// # Errors
    /// As [`NpzWriter::put_f64`].
    pub fn put_str(&mut self, name: &str, text: &str) -> io::Result<()> {
        let length = text.chars().count().max(1);
        let dtype = format!("<U{length}").parse().map_err(io::Error::other)?;
        self.put(name, &[], DType::new_scalar(dtype), [text.to_string()])
    }

    /// Writes the archive's directory and returns the underlying writer.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> io::Result<W> {
        let out = self.zip.finish()?;
        self.failure.check()?;
        Ok(out.into_inner())
    }

    fn put<T: Serialize>(
        &mut self,
        name: &str,
        shape: &[usize],
        dtype: DType,
        values: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        let width = dtype.num_bytes().unwrap_or(1) as u64;
        let axes: Vec<u64> = shape.iter().map(|&s| s as u64).collect();
        let mut out = self.entry(name, width * axes.iter().product::<u64>())?;
        let mut npy = npyz::WriteOptions::new()
            .dtype(dtype)
            .shape(&axes)
            .writer(&mut out)
            .begin_nd()?;
        npy.extend(values)?;
        npy.finish()?;
        out.flush()?;
        drop(out);
        self.failure.check()
    }

    /// A new array of `bytes` bytes, to be written.
    fn entry(
        &mut self,
        name: &str,
        bytes: u64,
    ) -> io::Result<BufWriter<&mut ZipWriter<DeferredError<W>>>> {
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(0o644)
            // With space for the header; zip needs to know beforehand whether 32 bits hold the size.
            .large_file(bytes > u64::from(u32::MAX) - (1 << 16));
        self.zip.start_file(format!("{name}.npy"), options)?;
        // Numbers arrive one by one; the archive is faster in bulk.
        Ok(BufWriter::with_capacity(1 << 16, &mut self.zip))
    }
}

/// The header of an array of 16-byte complex numbers. (npyz writes such arrays too, with another crate's type.)
fn complex_header(shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut text = format!("{{'descr': '<c16', 'fortran_order': False, 'shape': ({axes}), }}");
    let before = 10;
    let length = (before + text.len() + 1).next_multiple_of(64) - before;
    text += &" ".repeat(length - text.len() - 1);
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header.push(b'\n');
    header
}
