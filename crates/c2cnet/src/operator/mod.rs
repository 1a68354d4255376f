//! The whole operator: encoder, coefficient map, decoder.

mod direct;
mod evaluate;
mod model;
mod moving_nodes;
mod prediction;
mod report;
mod stored;
mod summary;
mod trained_on;

pub(crate) use direct::Direct;
pub(crate) use evaluate::MapsToEvaluate;
pub use model::C2CNet;
pub(crate) use model::{field_named, stack, vector_label};
pub(crate) use moving_nodes::MovingNodes;
pub use prediction::Prediction;
pub use report::{ComponentErrors, EvaluationReport, OutputErrors, QuantityError};
pub use summary::{InputSummary, MapSummary, OutputSummary, Summary};
pub use trained_on::Known;
pub(crate) use trained_on::trained_on;
