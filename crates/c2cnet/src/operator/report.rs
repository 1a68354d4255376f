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

impl EvaluationReport {
    /// Adds the errors of other samples.
    pub(crate) fn pool(&mut self, other: EvaluationReport) {
        let (n, m) = (self.n_samples as f64, other.n_samples as f64);
        let mean = |a: f64, b: f64| (n * a + m * b) / (n + m);
        let square = |a: f64, b: f64| mean(a * a, b * b).sqrt();
        let both = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| mean(a, b));
        self.rl2e = mean(self.rl2e, other.rl2e);
        self.mse = mean(self.mse, other.mse);
        self.floor = mean(self.floor, other.floor);
        self.mean_rl2e = mean(self.mean_rl2e, other.mean_rl2e);
        self.linear_rl2e = mean(self.linear_rl2e, other.linear_rl2e);
        self.withheld_rl2e = both(self.withheld_rl2e, other.withheld_rl2e);
        self.withheld_floor = both(self.withheld_floor, other.withheld_floor);
        self.rms = square(self.rms, other.rms);
        if other.worst_rl2e > self.worst_rl2e {
            self.worst_rl2e = other.worst_rl2e;
            self.worst_sample = self.n_samples + other.worst_sample;
        }
        for (q, other) in self.quantities.iter_mut().zip(&other.quantities) {
            q.rmse = square(q.rmse, other.rmse);
            q.deviation = square(q.deviation, other.deviation);
        }
        self.relative.extend(other.relative);
        self.n_samples += other.n_samples;
    }
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
