//! Errors of a model, as data.

use serde::{Deserialize, Serialize};

/// Errors of a model on samples with known outputs, beside what they must be judged by.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Mean relative L2 error at all output points.
    pub rl2e: f64,
    /// Mean squared error.
    pub mse: f64,
    /// The smallest RL2E that the output space allows at these points.
    pub floor: f64,
    /// The relative error of the worst sample.
    pub worst_rl2e: f64,
    /// Which sample that is.
    pub worst_sample: usize,
    /// RL2E of predicting the mean of the training outputs.
    pub mean_rl2e: f64,
    /// RL2E of the linear map.
    pub linear_rl2e: f64,
    /// RL2E at output points that no fit saw; `None` if there is none.
    pub withheld_rl2e: Option<f64>,
    /// The error there of the best approximation at the fitted points: what the decoder does
    /// between its points even with perfect coordinates.
    pub withheld_floor: Option<f64>,
    /// Root mean square of the outputs, to tell how large they are.
    pub rms: f64,
    /// How many samples.
    pub n_samples: usize,
    /// Errors of quantities, output after output; empty if all outputs are functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantities: Vec<QuantityError>,
    /// The relative error of each sample.
    pub relative: Vec<f64>,
}

/// The error of one entry of a vector without points, in its own units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantityError {
    /// The output's name; a single one is called `""`.
    pub output: String,
    /// Which entry, counted from 0.
    pub column: usize,
    /// Root mean square error over the samples.
    pub rmse: f64,
    /// Standard deviation of the truth over the samples: the error of predicting its mean.
    pub deviation: f64,
}
