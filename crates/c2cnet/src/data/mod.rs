//! Samples of functions: where they were observed and what was seen there.

mod dataset;
mod field;
mod points;
mod symmetry;

pub use dataset::Dataset;
pub use field::{Field, Observations, Scattered};
pub use points::{Bounds, Points};
pub use symmetry::Symmetries;
