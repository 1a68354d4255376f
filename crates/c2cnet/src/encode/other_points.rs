//! Coefficients from observations at other points than those of the fit.
//!
//! There least squares may no longer determine the coefficients, or may amplify what the functions cannot represent. The
//! training samples show what to expect of each coefficient, its mean $m_j$ and deviation $d_j$, and the size of the
//! rest, its variance $\sigma^2$ at a point. With $D = \operatorname{diag}(d)$ the coefficients are
//!
//! $$a = m + Dz,\qquad z = \arg\min_z \|\Phi(m + Dz) - f\|^2 + \sigma^2\|z\|^2,$$
//!
//! which are the most likely ones if coefficients and rest are independent and normally distributed. Where the functions are
//! about as well determined as at the points of the fit, least squares are used as there.

use super::stacked::stack_components;
use super::{Encoder, Regularisation, Spectrum};
use crate::basis::{Design, FieldBasis, VectorBasis};
use crate::data::Points;
use crate::storage::tensor;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The smallest singular value, over the largest, may be smaller than at the points of the fit by this factor.
const CONDITION_LOSS: f64 = 3.0;

/// The rest is at least this part of the mean square of the values.
const LEAST_NOISE: f64 = 1e-12;

/// What training samples show of coefficients.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Expected {
    #[serde(with = "tensor")]
    mean: Vec<f64>,
    #[serde(with = "tensor")]
    deviation: Vec<f64>,
    /// Of each part of the basis, the variance of what it leaves of the values.
    #[serde(with = "tensor")]
    noise: Vec<f64>,
    /// Of each part, the smallest singular value over the largest, at the points of the fit.
    #[serde(with = "tensor")]
    condition: Vec<f64>,
}

/// Encoders at other points.
#[derive(Debug)]
pub(super) struct AtOtherPoints {
    pub(super) points: Points,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    /// Least squares, as at the points of the fit.
    Same(Encoder),
    /// For $z$ from $f - \Phi m$, with $\Phi m$.
    Expected(Encoder, Vec<f64>),
}

impl Expected {
    /// From the `coefficients` of all training samples and the `values` of some of them at the points of the fit, where
    /// `encoders` apply.
    pub(super) fn new(
        basis: &FieldBasis,
        (points, encoders): (&Points, &[Encoder]),
        values: &[Mat<f64>],
        coefficients: MatRef<'_, f64>,
    ) -> Result<Self> {
        let mean = linalg::column_mean(coefficients);
        let mut deviation = vec![0.0; mean.len()];
        for k in 0..coefficients.ncols() {
            let column = coefficients.col(k).iter();
            for ((d, v), m) in deviation.iter_mut().zip(column).zip(&mean) {
                *d += (v - m).powi(2);
            }
        }
        let samples = coefficients.ncols() as f64;
        deviation
            .iter_mut()
            .for_each(|d| *d = (*d / samples).sqrt());
        let (mut noise, mut condition, mut start) = (Vec::new(), Vec::new(), 0);
        for ((part, range), encoder) in basis.ranges().zip(encoders) {
            let values = stack_components(&values[range]);
            let values = values.as_ref();
            let some = coefficients.submatrix(start, 0, part.len(), values.ncols());
            let rest = values - part.evaluate(points)?.mul(some);
            let square = |m: MatRef<'_, f64>| {
                let all: f64 = linalg::column_norms_squared(m).iter().sum();
                all / (m.nrows() * m.ncols()).max(1) as f64
            };
            noise.push(square(rest.as_ref()).max(LEAST_NOISE * square(values)));
            condition.push(condition_of(&encoder.spectrum, part));
            start += part.len();
        }
        Ok(Expected {
            mean,
            deviation,
            noise,
            condition,
        })
    }

    /// Encoders at `points`; `regularisations` are those of the fit.
    pub(super) fn at(
        &self,
        basis: &FieldBasis,
        points: &Points,
        regularisations: &[Regularisation],
    ) -> Result<AtOtherPoints> {
        let mut start = 0;
        let mut parts = Vec::new();
        for (p, (part, regularisation)) in basis.parts().iter().zip(regularisations).enumerate() {
            parts.push(self.part_at(p, start, part, points, *regularisation)?);
            start += part.len();
        }
        Ok(AtOtherPoints {
            points: points.clone(),
            parts,
        })
    }

    fn part_at(
        &self,
        p: usize,
        start: usize,
        part: &VectorBasis,
        points: &Points,
        regularisation: Regularisation,
    ) -> Result<Part> {
        let design = part.evaluate(points)?;
        if design.nrows() >= part.len() {
            let spectrum = Spectrum::new(design.clone())?;
            if CONDITION_LOSS * condition_of(&spectrum, part) >= self.condition[p] {
                return Ok(Part::Same(Encoder::new(Arc::new(spectrum), regularisation)));
            }
        }
        let own = start..start + part.len();
        let mean = MatRef::from_column_major_slice(&self.mean[own.clone()], part.len(), 1);
        let offset = design.mul(mean).col_as_slice(0).to_vec();
        let mut scaled = design.to_dense();
        for (j, d) in self.deviation[own].iter().enumerate() {
            scaled.col_as_slice_mut(j).iter_mut().for_each(|v| *v *= d);
        }
        let lambda = self.noise[p].max(f64::MIN_POSITIVE) / scaled.nrows() as f64;
        let spectrum = Spectrum::new(Design::Dense(scaled))?;
        let encoder = Encoder::new(Arc::new(spectrum), Regularisation::Ridge { lambda });
        Ok(Part::Expected(encoder, offset))
    }

    /// The coefficients of fields with these values, one column per sample.
    pub(super) fn encode(
        &self,
        basis: &FieldBasis,
        other_points: &AtOtherPoints,
        values: &[Mat<f64>],
    ) -> Mat<f64> {
        let mut out = Mat::zeros(basis.len(), values[0].ncols());
        let mut start = 0;
        for ((part, range), encoder) in basis.ranges().zip(&other_points.parts) {
            let values = stack_components(&values[range]);
            let coefficients = match encoder {
                Part::Same(encoder) => encoder.encode(values.as_ref()),
                Part::Expected(encoder, offset) => {
                    let mut rest = values.as_ref().to_owned();
                    linalg::subtract_from_columns(&mut rest, offset);
                    let z = encoder.encode(rest.as_ref());
                    let (mean, deviation) = (&self.mean[start..], &self.deviation[start..]);
                    Mat::from_fn(z.nrows(), z.ncols(), |j, k| {
                        mean[j] + deviation[j] * z[(j, k)]
                    })
                }
            };
            out.as_mut()
                .subrows_mut(start, part.len())
                .copy_from(coefficients);
            start += part.len();
        }
        out
    }

    /// Checks that it is one for coefficients of `basis`.
    ///
    /// # Errors
    /// With the numbers of both.
    pub(super) fn check(&self, basis: &FieldBasis) -> Result<()> {
        let (size, parts) = (basis.len(), basis.parts().len());
        let valid = |v: &[f64]| v.iter().all(|v| *v >= 0.0 && v.is_finite());
        let fits = (self.mean.len(), self.deviation.len()) == (size, size)
            && (self.noise.len(), self.condition.len()) == (parts, parts)
            && valid(&self.deviation)
            && valid(&self.noise);
        match fits {
            true => Ok(()),
            false => Err(Error::Data(format!(
                "the model's encoder expects {} coefficients of a basis with {size}",
                self.mean.len()
            ))),
        }
    }
}

/// The smallest singular value over the largest, zero if fewer are known than functions.
fn condition_of(spectrum: &Spectrum, part: &VectorBasis) -> f64 {
    let values = spectrum.singular_values();
    match (values.first(), values.last()) {
        (Some(first), Some(last)) if values.len() >= part.len() && *first > 0.0 => last / first,
        _ => 0.0,
    }
}
