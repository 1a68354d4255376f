//! The targets of a coefficient map.

use crate::linalg;
use crate::metrics::{mean_relative, relative};
use crate::storage::tensor;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// What a coefficient map is trained on: coordinates, and the part of the error that no coordinates can change.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Targets {
    /// Orthonormal coordinates, one column per sample.
    #[serde(with = "tensor")]
    pub coordinates: Mat<f64>,
    /// $\|u - UU^\top u\|^2$ at the fitted points.
    #[serde(with = "tensor")]
    pub outside_squared: Vec<f64>,
    /// $\|u\|^2$ at the fitted points.
    #[serde(with = "tensor")]
    pub norm_squared: Vec<f64>,
    /// The mean relative error, at points kept out of the fit, of the best approximation at the
    /// others; measured on some of the samples, `None` if no point was kept out.
    pub withheld_floor: Option<f64>,
}

impl Targets {
    /// The relative error of predicted coordinates for the samples `indices` of these targets.
    pub fn relative_errors(&self, predicted: MatRef<'_, f64>, indices: &[usize]) -> Vec<f64> {
        indices
            .iter()
            .enumerate()
            .map(|(column, &k)| {
                let off: f64 = predicted
                    .col(column)
                    .iter()
                    .zip(self.coordinates.col(k).iter())
                    .map(|(p, c)| (p - c) * (p - c))
                    .sum();
                relative(off + self.outside_squared[k], self.norm_squared[k])
            })
            .collect()
    }

    /// The floor: the mean relative error of perfect coordinates.
    pub fn floor(&self) -> f64 {
        mean_relative(&self.outside_squared, &self.norm_squared)
    }

    /// The variance of the coordinates over the samples, summed.
    pub(crate) fn variance(&self) -> f64 {
        let coordinates = self.coordinates.as_ref();
        let mean = linalg::column_mean(coordinates);
        let squares: f64 = linalg::column_norms_squared(coordinates).iter().sum();
        let mean_square: f64 = mean.iter().map(|m| m * m).sum();
        squares / coordinates.ncols() as f64 - mean_square
    }

    /// The targets of several fields as one.
    pub fn stack(parts: Vec<Targets>) -> Targets {
        let rows = parts.iter().map(|p| p.coordinates.nrows()).sum();
        let samples = parts[0].norm_squared.len();
        let mut all = Targets {
            coordinates: Mat::zeros(rows, samples),
            outside_squared: vec![0.0; samples],
            norm_squared: vec![0.0; samples],
            // The worst of several parts counts.
            withheld_floor: parts
                .iter()
                .filter_map(|p| p.withheld_floor)
                .reduce(f64::max),
        };
        let mut start = 0;
        for part in parts {
            let rows = part.coordinates.nrows();
            all.coordinates
                .as_mut()
                .subrows_mut(start, rows)
                .copy_from(&part.coordinates);
            for k in 0..samples {
                all.outside_squared[k] += part.outside_squared[k];
                all.norm_squared[k] += part.norm_squared[k];
            }
            start += rows;
        }
        all
    }

    /// The targets of the samples `indices`.
    pub fn select(&self, indices: &[usize]) -> Targets {
        let pick = |v: &[f64]| indices.iter().map(|&k| v[k]).collect();
        Targets {
            coordinates: linalg::select_columns(self.coordinates.as_ref(), indices),
            outside_squared: pick(&self.outside_squared),
            norm_squared: pick(&self.norm_squared),
            withheld_floor: self.withheld_floor,
        }
    }
}
