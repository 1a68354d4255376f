//! Data files: `.npz` archives of NumPy arrays, keys as in the paper's notation.
//!
//! | Key | Shape | What |
//! |---|---|---|
//! | `x` | $(n_1, d)$ or $(n_1,)$; $(N, n_1, d)$ | input points, shared; of each sample |
//! | `f` | $(N, n_1)$ or $(N, n_1, c)$ | input values, one or $c$ components, real or complex |
//! | `x0`, `x1`, ... | $(k_1,)$, $(k_2,)$, ... | in place of `x`: the axes of a grid, with `f` of shape $(N, k_1, k_2, \dots)$ or with $c$ after that |
//! | `x` | $(k_1, \dots, k_d, d)$ | the same with all points of the grid |
//! | `y`, `u` | likewise | output points and values; a file without outputs is for prediction |
//! | `p`, `q` | $(N, k)$ or $(N,)$ | input parameters and output quantities: vectors without points |
//! | `x_count`, `y_count` | $(N,)$ integers | how many of a sample's points are real; the rest are padding |
//! | `n_train` | one integer | this many leading samples are for training, the rest for testing |
//! | `split` | $(N,)$ integers or strings | the set of each sample; integers index `split_names` of `meta` |
//! | `triangles` | $(T, 3)$ integers | triangles on the shared output points |
//! | `quads` | $(T, 4)$ integers | quadrilaterals on them, corners in order around; each becomes two triangles |
//! | `tetrahedra` | $(T, 4)$ integers | tetrahedra on them |
//! | `meta` | one string | JSON: how the data was made |
//!
//! Several inputs or outputs are named: `x.NAME`, `f.NAME`, `x_count.NAME`, and so on; a named field
//! without its own points uses `x` (or `y`). Vectors may stand alone or beside functions, and may be named
//! too: `p.NAME`, `q.NAME`. `p` beside `f` is called `"p"`, `q` beside `u` is called `"q"`; alone they
//! are called `""`, as `f` and `u` are. Any other key is an error, so that a misspelt one
//! is never ignored. Two axes of `x` always mean $(n_1, d)$: one-dimensional points of each sample
//! need the third axis, $(N, n_1, 1)$.
//!
//! Arrays may be stored or deflated, in C or Fortran order, of either byte order, of 2-, 4- or 8-byte
//! floats or of integers. C order is faster: $(N, n)$ on file is the $n \times N$ matrix,
//! column after column, that a [`Field`] holds. Nothing pickled is read.

mod archive;
mod array;
pub(crate) mod contents;
mod deferred_error;
mod layout;
mod read;
mod sets;
mod write;
pub(crate) mod writer;

#[cfg(test)]
mod tests;

pub(super) use archive::NpzFile;
pub(super) use array::{Array, Header};
pub(super) use layout::{axis_keys, crossings, one_set};
pub(crate) use writer::{NpzWriter, write_npz};

use super::{Field, Fields};

/// Splits `f.NAME` into `("f", "NAME")`, and `f` into `("f", "")`.
fn split_key(key: &str) -> (&str, &str) {
    key.split_once('.').unwrap_or((key, ""))
}

/// The two sides of a data set.
#[derive(Debug, Clone, Copy)]
struct Side {
    /// Keys of points, of values at them, and of vectors without points.
    points: &'static str,
    values: &'static str,
    vectors: &'static str,
}

const INPUTS: Side = Side {
    points: "x",
    values: "f",
    vectors: "p",
};

const OUTPUTS: Side = Side {
    points: "y",
    values: "u",
    vectors: "q",
};

impl Side {
    /// The key of the values of the field called `name` among `fields`.
    fn key_of(&self, fields: &Fields, name: &str, field: &Field) -> String {
        let beside_a_function = || fields.iter().any(|(n, f)| n.is_empty() && !f.is_vector());
        match field.is_vector() {
            false => join_key(self.values, name),
            true if name == self.vectors && beside_a_function() => self.vectors.to_string(),
            true => join_key(self.vectors, name),
        }
    }

    /// The name of the vector with the key `vectors` or `vectors.NAME`, in a file that has an unnamed
    /// function or not; the opposite of [`Side::key_of`].
    fn vector_name<'a>(&'a self, key_name: &'a str, beside_a_function: bool) -> &'a str {
        match key_name {
            "" if beside_a_function => self.vectors,
            name => name,
        }
    }
}

/// The key of the array `stem` for the field called `name`; the opposite of [`split_key`].
fn join_key(stem: &str, name: &str) -> String {
    if name.is_empty() {
        stem.to_string()
    } else {
        format!("{stem}.{name}")
    }
}
