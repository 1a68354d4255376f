//! Samples of functions: where they were observed and what was seen there.

mod cells;
mod dataset;
mod field;
mod fields;
mod flat;
mod magnitude;
mod missing;
pub mod npz;
mod outliers;
mod periodic;
mod points;
pub(crate) mod points_file;
mod repeats;
mod suspicions;
mod symmetry;
mod tensor_grid;

pub(crate) use cells::split_quads;
pub use dataset::Dataset;
pub(crate) use field::logarithm;
pub use field::{Field, Observations, Scattered};
pub use fields::Fields;
pub use missing::Missing;
pub use points::{Bounds, Points};
pub use points_file::read_points;
pub use symmetry::Symmetries;
pub(crate) use tensor_grid::TensorGrid;
