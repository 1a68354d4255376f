//! Data files: `.npz` archives of NumPy arrays, keys as in the paper's notation.
//!
//! | Key | Shape | What |
//! |---|---|---|
//! | `x` | $(n_1, d)$ or $(n_1,)$; $(N, n_1, d)$ | input points, shared; of each sample |
//! | `f` | $(N, n_1)$ or $(N, n_1, c)$ | input values, one or $c$ components |
//! | `y`, `u` | likewise | output points and values; a file without `u` is for prediction |
//! | `x_count`, `y_count` | $(N,)$ integers | how many of a sample's points are real; the rest are padding |
//! | `n_train` | one integer | this many leading samples are for training, the rest for testing |
//! | `split` | $(N,)$ integers or strings | the set of each sample; integers index `split_names` of `meta` |
//! | `triangles` | $(T, 3)$ integers | triangles on the shared output points |
//! | `meta` | one string | JSON: how the data was made |
//!
//! Several inputs or outputs are named: `x.NAME`, `f.NAME`, `x_count.NAME`, and so on; a named field
//! without its own points uses `x` (or `y`). Any other key is an error, so that a misspelt one
//! is never ignored. Two axes of `x` always mean $(n_1, d)$: one-dimensional points of each sample
//! need the third axis, $(N, n_1, 1)$.
//!
//! Arrays may be stored or deflated, in C or Fortran order, of either byte order, of 4- or 8-byte
//! floats or of integers. C order is faster: $(N, n)$ on file is the $n \times N$ matrix,
//! column after column, that a [`Field`](super::Field) holds. Nothing pickled is read.

mod archive;
mod array;
mod read;
mod write;
mod writer;

#[cfg(test)]
mod tests;

pub(super) use archive::NpzFile;
pub(super) use array::Array;
pub use writer::{NpzWriter, write_npz};

use crate::Result;
use std::path::Path;

/// Names and shapes of the arrays of any `.npz` file, in file order.
///
/// # Errors
/// If it cannot be read, is damaged, or holds something that is not an array of numbers or text.
pub fn array_shapes(path: &Path) -> Result<Vec<(String, Vec<usize>)>> {
    let mut npz = NpzFile::open(path)?;
    let mut shapes = Vec::new();
    for key in npz.keys.clone() {
        if let Some(array) = npz.array(&key)? {
            shapes.push((key, array.shape));
        }
    }
    Ok(shapes)
}

/// Splits `f.NAME` into `("f", "NAME")`, and `f` into `("f", "")`.
fn split_key(key: &str) -> (&str, &str) {
    key.split_once('.').unwrap_or((key, ""))
}

/// The key of the array `stem` for the field called `name`; the opposite of [`split_key`].
fn join_key(stem: &str, name: &str) -> String {
    if name.is_empty() {
        stem.to_string()
    } else {
        format!("{stem}.{name}")
    }
}
