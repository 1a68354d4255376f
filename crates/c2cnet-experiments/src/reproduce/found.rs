//! What a fit found. It is kept beside the model, so that an experiment that was interrupted, or whose file has
//! changed, does only the fits that it has not done.

use c2cnet::FitReport;
use c2cnet::operator::EvaluationReport;
use serde::{Deserialize, Serialize};

/// All that the fit of a run with one seed found, but for the model.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    /// Of all that decides what is found.
    pub fingerprint: String,
    /// When.
    pub date: String,
    /// How long fit and evaluations took.
    pub seconds: f64,
    pub report: FitReport,
    pub train: EvaluationReport,
    pub test: EvaluationReport,
    /// The relative error of each test sample; `test` has none, for it leaves them out of files.
    pub relative: Vec<f64>,
    /// Errors on further sets; of the first seed alone.
    pub more: Vec<(String, EvaluationReport)>,
}
