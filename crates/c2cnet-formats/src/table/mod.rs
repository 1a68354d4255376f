//! Tables (CSV): a row for each reading.
//!
//! | Column | What |
//! |---|---|
//! | `sample` | which sample the row belongs to, as a number or a name; without it all rows are one sample |
//! | `x`; `x`, `y`; `x`, `y`, `z`; or `x0`, `x1`, ... | coordinates of the point |
//! | `f`, or `f[0]`, `f[1]`, ... | the input there, one or several components |
//! | `u`, or `u[0]`, ... | the output there |
//! | `y0`, `y1`, ... | coordinates of the output's point, where it is not that of the input |
//! | `p`, `q`, or `p[0]`, ... | parameters and quantities of the sample, in its first row at least |
//! | `split` | the set of the sample, such as `train` and `test` |
//!
//! Functions may have names: `f.NAME`, `u.NAME[0]`. An empty cell is no reading, so that inputs and outputs may have
//! different numbers of points, and each sample its own. A table without coordinates has a row for each sample.
//!
//! Columns may be in capitals. `NaN` is refused like any text, unless it stands for a reading that is missing.
//!
//! The separator is a comma, a semicolon or a tab, whichever occurs in the first line. Lines that begin with `#` are
//! skipped.

mod advice;
mod columns;
mod points;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use points::points;
pub(crate) use read::{ignored, read, read_prediction};
pub(crate) use write::write;

/// Keys of functions and of vectors, of the inputs and of the outputs.
const SIDES: [(&str, &str); 2] = [("f", "p"), ("u", "q")];
