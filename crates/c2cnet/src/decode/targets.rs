//! The targets of a coefficient map.

use super::{Residuals, SampleTarget};
use crate::metrics::{mean_relative, relative};
use crate::storage::tensor;
use crate::{Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
    /// The mean relative error, at withheld points, of the best approximation at the others; measured on some of the
    /// samples, `None` if no point was withheld.
    pub withheld_floor: Option<f64>,
    /// Where samples have their own points, the equations that their readings give for their coordinates: maps are fitted
    /// to these and judged by them, and `coordinates` are only estimates from each sample's readings alone. `None` where
    /// coordinates are known, exactly or from many readings of each sample, and where the equations would take too much
    /// memory.
    #[serde(skip)]
    pub readings: Option<Vec<SampleTarget>>,
}

impl Targets {
    /// The relative error of predicted coordinates for the samples `indices` of these targets; where samples have their
    /// own points, at their readings.
    pub fn relative_errors(&self, predicted: MatRef<'_, f64>, indices: &[usize]) -> Vec<f64> {
        let errors = indices.par_iter().enumerate();
        let errors = errors.map(|(column, &k)| {
            let squared = match &self.readings {
                Some(readings) => readings[k].error_squared(predicted, column),
                None => {
                    let pairs = predicted.col(column).iter();
                    let pairs = pairs.zip(self.coordinates.col(k).iter());
                    let off: f64 = pairs.map(|(p, c)| (p - c) * (p - c)).sum();
                    off + self.outside_squared[k]
                }
            };
            relative(squared, self.norm_squared[k])
        });
        errors.collect()
    }

    /// The same targets with coordinates that follow the readings as far as these determine them, and otherwise the
    /// `predicted` ones (one column per sample); the samples `among` all show how the two are combined. Unchanged if
    /// there are no readings.
    ///
    /// # Errors
    /// If the covariance of the residuals is not positive definite to rounding.
    pub(crate) fn completed(
        &self,
        predicted: MatRef<'_, f64>,
        among: &[usize],
    ) -> Result<Cow<'_, Targets>> {
        let Some(readings) = &self.readings else {
            return Ok(Cow::Borrowed(self));
        };
        let residuals = Residuals::learn(readings, predicted, among)?;
        Ok(Cow::Owned(Targets {
            coordinates: residuals.complete(readings, predicted)?,
            ..self.clone()
        }))
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
            readings: stacked_readings(&parts),
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
            readings: (self.readings.as_ref())
                .map(|readings| indices.iter().map(|&k| readings[k].clone()).collect()),
        }
    }
}

/// The equations of all parts, if one of them has any: coordinates of the others are known.
fn stacked_readings(parts: &[Targets]) -> Option<Vec<SampleTarget>> {
    if parts.iter().all(|p| p.readings.is_none()) {
        return None;
    }
    if let [part] = parts {
        return part.readings.clone();
    }
    let of_part = |part: &Targets, k: usize| match &part.readings {
        Some(readings) => readings[k].clone(),
        None => SampleTarget::known(
            part.coordinates.col(k).iter().copied().collect(),
            part.outside_squared[k],
            part.norm_squared[k],
        ),
    };
    let samples = 0..parts[0].norm_squared.len();
    let of_sample =
        |k| SampleTarget::joined(&parts.iter().map(|p| of_part(p, k)).collect::<Vec<_>>());
    Some(samples.map(of_sample).collect())
}
