//! Samples as a network sees them: they cannot be summed, so their coefficients are kept.

use super::judges::Judges;
use crate::decode::Targets;
use crate::storage::tensor;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Coefficients and targets of samples, one sample after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    #[serde(with = "tensor")]
    coefficients: Vec<f64>,
    #[serde(with = "tensor")]
    coordinates: Vec<f64>,
    #[serde(with = "tensor")]
    outside_squared: Vec<f64>,
    #[serde(with = "tensor")]
    norm_squared: Vec<f64>,
}

impl Kept {
    /// The samples with these coefficients and targets, one column each.
    pub(super) fn of(coefficients: &Mat<f64>, targets: &Targets) -> Self {
        let columns = |m: &Mat<f64>| {
            (0..m.ncols())
                .flat_map(|k| m.col_as_slice(k).to_vec())
                .collect()
        };
        Kept {
            coefficients: columns(coefficients),
            coordinates: columns(&targets.coordinates),
            outside_squared: targets.outside_squared.clone(),
            norm_squared: targets.norm_squared.clone(),
        }
    }

    /// No samples.
    pub(super) fn none() -> Self {
        Kept {
            coefficients: Vec::new(),
            coordinates: Vec::new(),
            outside_squared: Vec::new(),
            norm_squared: Vec::new(),
        }
    }

    pub(super) fn samples(&self) -> usize {
        self.norm_squared.len()
    }

    /// Adds other samples behind these.
    pub(super) fn append(&mut self, other: &Kept) {
        self.coefficients.extend(&other.coefficients);
        self.coordinates.extend(&other.coordinates);
        self.outside_squared.extend(&other.outside_squared);
        self.norm_squared.extend(&other.norm_squared);
    }

    /// Whether these are `samples` samples with this many coefficients and coordinates.
    pub(super) fn fit(&self, samples: usize, inputs: usize, outputs: usize) -> bool {
        self.samples() == samples
            && self.outside_squared.len() == samples
            && self.coefficients.len() == samples * inputs
            && self.coordinates.len() == samples * outputs
    }

    /// Coefficients and targets of these samples, followed by those of the judges.
    pub(super) fn followed_by(&self, judges: &Judges) -> (Mat<f64>, Targets) {
        let chain = |own: &[f64], more: &[f64]| own.iter().chain(more).copied().collect();
        let targets = Targets {
            coordinates: behind(&self.coordinates, judges.targets.coordinates.as_ref()),
            outside_squared: chain(&self.outside_squared, &judges.targets.outside_squared),
            norm_squared: chain(&self.norm_squared, &judges.targets.norm_squared),
            withheld_floor: None,
            readings: None,
        };
        (
            behind(&self.coefficients, judges.coefficients.as_ref()),
            targets,
        )
    }
}

/// The columns of `more` behind those that are stored in `columns`.
fn behind(columns: &[f64], more: MatRef<'_, f64>) -> Mat<f64> {
    let rows = more.nrows();
    let own = columns.len() / rows.max(1);
    let mut all = Mat::zeros(rows, own + more.ncols());
    all.as_mut()
        .subcols_mut(0, own)
        .copy_from(MatRef::from_column_major_slice(columns, rows, own));
    all.as_mut().subcols_mut(own, more.ncols()).copy_from(more);
    all
}
