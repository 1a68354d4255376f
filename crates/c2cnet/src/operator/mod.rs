//! The whole operator: encoder, coefficient map, decoder.

mod auto_map;
mod between;
mod config;
mod fit;
mod images;
mod lesson;
mod model;
mod network;
mod ranking;
mod report;
mod search;
mod spaces;

pub use config::{
    Components, FitConfig, InputConfig, MapConfig, MapKind, OutputConfig, SearchConfig,
    TransformChoice,
};
pub use fit::fit;
pub use model::C2CNet;
pub use report::{
    Candidate, EvaluationReport, FitReport, NetworkReport, Observer, Seconds, Silent,
};
