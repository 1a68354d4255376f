//! The samples that judge.

use crate::decode::Targets;
use crate::map::CoefficientMap;
use crate::storage::tensor;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// First samples that are left out of the sums until the end: they choose regularisations and measure the error.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Judges {
    #[serde(with = "tensor")]
    pub(super) coefficients: Mat<f64>,
    pub(super) targets: Targets,
}

impl Judges {
    pub(super) fn count(&self) -> usize {
        self.coefficients.ncols()
    }

    pub(super) fn errors(&self, map: &dyn CoefficientMap) -> Vec<f64> {
        self.errors_of(&map.predict(self.coefficients.as_ref()))
    }

    pub(super) fn errors_of(&self, predicted: &Mat<f64>) -> Vec<f64> {
        let all: Vec<usize> = (0..self.count()).collect();
        self.targets.relative_errors(predicted.as_ref(), &all)
    }
}
