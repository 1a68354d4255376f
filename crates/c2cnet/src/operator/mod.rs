//! The whole operator: encoder, coefficient map, decoder.

mod evaluate;
mod model;
mod report;

pub(crate) use evaluate::MapsToEvaluate;
pub use model::C2CNet;
pub(crate) use model::{stack, vector_label};
pub use report::{ComponentErrors, EvaluationReport, OutputErrors, QuantityError};
