//! What a fit found. It is kept beside the model, so that an experiment that was interrupted, or whose file has
//! changed, repeats only the fits that are missing.

use c2cnet::FitReport;
use c2cnet::operator::EvaluationReport;
use serde::{Deserialize, Serialize};

/// Everything that the fit of a run with one seed found, except the model.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    /// The hash of everything that determines the result.
    pub fingerprint: String,
    /// When.
    pub date: String,
    /// How long fit and evaluations took.
    pub seconds: f64,
    pub report: FitReport,
    pub train: EvaluationReport,
    pub test: EvaluationReport,
    /// Errors on further sets; of the first seed alone.
    pub more: Vec<(String, EvaluationReport)>,
}

impl Found {
    /// The error at output points that no fit saw: of test samples where there are such points, else of held-out
    /// training samples before withheld points returned for the final fit.
    pub fn withheld_rl2e(&self) -> Option<f64> {
        let before = self.report.validation.withheld_rl2e;
        self.test.withheld_rl2e.or(before)
    }
}
