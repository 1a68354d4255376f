//! The whole operator: encoder, coefficient map, decoder.

mod model;
mod report;

pub use model::C2CNet;
pub(crate) use model::{evaluate_maps, stack, vector_label};
pub use report::{EvaluationReport, QuantityError};
