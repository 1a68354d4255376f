//! The linear map in closed form: ridge regression from coefficients to coordinates.

use super::{CoefficientMap, Mirrors, joint};
use crate::decode::Targets;
use crate::metrics::{mean, relative};
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// $\hat c = \bar c + W(a - \bar a)$, exact for linear PDEs up to floor and encoding.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct LinearMap {
    /// $W$, outputs by inputs.
    #[serde(with = "tensor")]
    pub(super) weights: Mat<f64>,
    #[serde(with = "tensor")]
    pub(super) input_mean: Vec<f64>,
    #[serde(with = "tensor")]
    pub(super) output_mean: Vec<f64>,
    strength: f64,
    loo_error: f64,
    /// The reflections whose images the training samples include.
    #[serde(skip)]
    pub(super) mirrors: Mirrors,
}

restore_settled!(LinearMap);

/// The most samples whose leave-one-out errors choose the strength; the fit itself uses all samples.
const LOO_SAMPLES: usize = 1000;

/// Weaker regularisations are not tried once the error is this many times the smallest.
pub(crate) const GIVE_UP_RATIO: f64 = 2.0;

/// Strengths tried, as fractions of the largest squared singular value of the centred coefficients. The weakest
/// filters nothing that [`RANK`] keeps: where the operator is linear and coefficients decay over many decades, any
/// stronger one would dominate the error.
fn strengths() -> impl Iterator<Item = f64> {
    (0..=28).map(|k| 10f64.powi(-k))
}

/// Weaker strengths than this let a map follow what is close to rounding in its training inputs, and blow up on inputs
/// observed at other points. Each must lower the error by the factor [`RISK_RATIO`], as it does where the operator is
/// linear.
const RISKY_STRENGTH: f64 = 1e-16;
const RISK_RATIO: f64 = 0.96;

/// Weaker strengths are lost in the rounding of a Gram matrix.
const GRAM_ROUNDING: f64 = 1e-13;

/// A sample with leverage this close to 1 is always reproduced.
const LEAST_LEFT: f64 = 1e-6;

/// Singular values below this fraction of the largest are rounding errors.
const RANK: f64 = 1e-14;

impl LinearMap {
    /// Fits the map; its strength minimises the leave-one-out error. Targets with readings are fitted to these
    /// (`joint`), and held-out samples choose the strength.
    ///
    /// With the centred coefficients $A = PSZ^\top$ the fit is $C Z\,\mathrm{diag}(h)Z^\top$,
    /// $h_i = s_i^2/(s_i^2+\tau)$, and leaving sample $k$ out divides its residual by
    /// $1 - 1/N - \sum_i h_i Z_{ki}^2$.
    ///
    /// # Errors
    /// If there are fewer than two samples or the SVD does not converge.
    pub fn fit(coefficients: MatRef<'_, f64>, targets: &Targets) -> Result<Self> {
        Self::fit_mirrored(coefficients, targets, Mirrors::none(coefficients.nrows()))
    }

    /// As [`LinearMap::fit`], faster, for samples that come with all their images under `mirrors`.
    ///
    /// # Errors
    /// As [`LinearMap::fit`].
    pub(crate) fn fit_mirrored(
        coefficients: MatRef<'_, f64>,
        targets: &Targets,
        mirrors: Mirrors,
    ) -> Result<Self> {
        Self::fit_owned(coefficients.to_owned(), targets, mirrors)
    }

    /// [`LinearMap::fit_mirrored`] without a copy of the coefficients.
    ///
    /// # Errors
    /// As [`LinearMap::fit`].
    pub(crate) fn fit_owned(
        coefficients: Mat<f64>,
        targets: &Targets,
        mirrors: Mirrors,
    ) -> Result<Self> {
        let samples = coefficients.ncols();
        if samples < 2 {
            return Err(Error::Data(format!(
                "a map cannot be fitted to {samples} samples; give at least 2 (and many more for a useful one)"
            )));
        }
        if let Some(readings) = &targets.readings {
            let coefficients = coefficients.as_ref();
            return joint::fit_linear(coefficients, readings, mirrors, joint::Effort::FULL);
        }
        let input_mean = linalg::column_mean(coefficients.as_ref());
        let output_mean = linalg::column_mean(targets.coordinates.as_ref());
        let mut a = coefficients;
        linalg::subtract_from_columns(&mut a, &input_mean);
        let svd = mirrors.svd(a.as_ref())?;
        drop(a);
        let mut c = targets.coordinates.clone();
        linalg::subtract_from_columns(&mut c, &output_mean);
        let largest = svd.s.first().copied().unwrap_or(0.0);
        let rank = svd
            .s
            .iter()
            .take_while(|&&s| s > RANK * largest && s > 0.0)
            .count();
        let (s, z) = (&svd.s[..rank], svd.v.as_ref().subcols(0, rank));
        let cz = linalg::mul(c.as_ref(), z);

        let chosen: Vec<usize> = (0..samples)
            .step_by(samples.div_ceil(LOO_SAMPLES))
            .collect();
        let left_out = LeftOut {
            z: linalg::select_rows(z, &chosen),
            chosen,
            cz: &cz,
            s,
            c: c.as_ref(),
        };
        let mut best = (f64::INFINITY, 1.0);
        for strength in strengths() {
            let tau = strength * largest * largest;
            let error = left_out.error(tau, targets);
            let required = if strength < RISKY_STRENGTH {
                RISK_RATIO
            } else {
                1.0
            };
            if error < required * best.0 {
                best = (error, strength);
            }
            if best.0.is_finite() && error > GIVE_UP_RATIO * best.0 {
                break;
            }
        }
        let (loo_error, strength) = best;
        let tau = strength * largest * largest;
        let mut scaled = cz;
        for (j, s) in s.iter().enumerate() {
            let g = s / (s * s + tau);
            scaled.col_mut(j).iter_mut().for_each(|v| *v *= g);
        }
        Ok(LinearMap {
            weights: linalg::mul(scaled.as_ref(), svd.u.as_ref().subcols(0, rank).transpose()),
            input_mean,
            output_mean,
            strength,
            loo_error,
            mirrors,
        })
    }

    /// A map with weights and means of inputs and outputs that were computed from sums over samples.
    pub(super) fn of_sums(
        weights: Mat<f64>,
        (input_mean, output_mean): (Vec<f64>, Vec<f64>),
        strength: f64,
        error: f64,
    ) -> Self {
        LinearMap {
            mirrors: Mirrors::none(input_mean.len()),
            weights,
            input_mean,
            output_mean,
            strength,
            loo_error: error,
        }
    }

    /// The map that predicts the mean of the training targets.
    pub(crate) fn without_slope(mut self) -> Self {
        self.weights.fill(0.0);
        self
    }

    /// Whether the predictions depend on the inputs.
    pub(crate) fn slopes(&self) -> bool {
        (0..self.weights.ncols()).any(|j| self.weights.col(j).iter().any(|w| *w != 0.0))
    }

    /// The same for samples that come with their images under `mirrors`.
    pub(super) fn with_mirrors(self, mirrors: Mirrors) -> Self {
        LinearMap { mirrors, ..self }
    }

    /// The mean of the training inputs.
    pub(crate) fn input_mean(&self) -> &[f64] {
        &self.input_mean
    }

    /// The leave-one-out error of the training samples (at most 1,000 of them) at the chosen strength; of a map from
    /// sums over samples, the error on the samples that chose it.
    pub fn loo_error(&self) -> f64 {
        self.loo_error
    }

    /// What the map would predict for each of its training samples had it been fitted to the others only:
    /// $c_k - r_k/(1 - 1/N - l_k)$ with residuals $r_k$ and leverages $l_k = a_k^\top(AA^\top + \tau I)^{-1}a_k$.
    /// `None` where leverages are 1 to rounding.
    pub(super) fn left_out_predictions(
        &self,
        coefficients: MatRef<'_, f64>,
        truth: MatRef<'_, f64>,
    ) -> Option<Mat<f64>> {
        let mut a = coefficients.to_owned();
        linalg::subtract_from_columns(&mut a, &self.input_mean);
        let largest = linalg::largest_singular_value(a.as_ref());
        let strength = self.strength.max(GRAM_ROUNDING);
        let left = left_of_samples(a.as_ref(), strength * largest * largest)?;
        let mut predicted = self.predict(coefficients);
        for (k, left) in left.into_iter().enumerate() {
            for (p, c) in predicted.col_mut(k).iter_mut().zip(truth.col(k).iter()) {
                *p = c + (*p - c) / left;
            }
        }
        Some(predicted)
    }

    /// The mean of the training targets: the prediction that ignores its input.
    pub fn output_mean(&self) -> &[f64] {
        &self.output_mean
    }

    /// The chosen strength, as a fraction of the largest squared singular value of the centred coefficients.
    #[cfg(test)]
    pub fn strength(&self) -> f64 {
        self.strength
    }

    fn settle(&mut self) -> Result<()> {
        self.mirrors = Mirrors::none(self.input_mean.len());
        match self.weights.shape() == (self.output_mean.len(), self.input_mean.len()) {
            true => Ok(()),
            false => Err(Error::Data("the model's linear map is damaged".into())),
        }
    }
}

/// Samples that are left out one at a time, in terms of the singular value decomposition.
struct LeftOut<'a> {
    chosen: Vec<usize>,
    /// The rows of $Z$ of these samples.
    z: Mat<f64>,
    /// $CZ$.
    cz: &'a Mat<f64>,
    /// Singular values.
    s: &'a [f64],
    /// The centred targets of all samples.
    c: MatRef<'a, f64>,
}

impl LeftOut<'_> {
    /// The mean leave-one-out error with the ridge `tau`.
    fn error(&self, tau: f64, targets: &Targets) -> f64 {
        let samples = self.c.ncols();
        let filter: Vec<f64> = self.s.iter().map(|s| s * s / (s * s + tau)).collect();
        let mut filtered = self.cz.clone();
        for (j, h) in filter.iter().enumerate() {
            filtered.col_mut(j).iter_mut().for_each(|v| *v *= h);
        }
        let fitted = linalg::mul(filtered.as_ref(), self.z.transpose());
        let error_without = |(row, &k): (usize, &usize)| {
            let z = filter.iter().enumerate();
            let leverage = z.map(|(j, h)| h * self.z[(row, j)] * self.z[(row, j)]);
            let left = 1.0 - (1.0 / samples as f64 + leverage.sum::<f64>());
            // A sample that the fit always reproduces has no leave-one-out error.
            if left < 1e-8 {
                return f64::INFINITY;
            }
            let pairs = fitted.col(row).iter().zip(self.c.col(k).iter());
            let off: f64 = pairs.map(|(f, c)| ((f - c) / left).powi(2)).sum();
            relative(off + targets.outside_squared[k], targets.norm_squared[k])
        };
        let errors = self.chosen.iter().enumerate().map(error_without);
        mean(&errors.collect::<Vec<_>>())
    }
}

/// $1 - 1/N - l_k$ for each column of the centred `a`, by the smaller of its Gram matrices. `None` if the value for a
/// sample is zero to rounding, or the matrix is not positive definite to rounding.
fn left_of_samples(a: MatRef<'_, f64>, tau: f64) -> Option<Vec<f64>> {
    let (rows, samples) = a.shape();
    let wide = rows <= samples;
    let mut gram = linalg::lower_gram(if wide { a } else { a.transpose() });
    for i in 0..gram.nrows() {
        gram[(i, i)] += tau;
    }
    if !linalg::cholesky_in_place(gram.as_mut()) {
        return None;
    }
    let mut solved = match wide {
        true => a.to_owned(),
        false => Mat::identity(samples, samples),
    };
    linalg::solve_lower(gram.as_ref(), solved.as_mut());
    let squares = linalg::column_norms_squared(solved.as_ref()).into_iter();
    // $I - A^\top(AA^\top + \tau I)^{-1}A = \tau(A^\top A + \tau I)^{-1}$.
    let without = |square: f64| if wide { 1.0 - square } else { tau * square };
    let left: Vec<f64> = squares.map(|s| without(s) - 1.0 / samples as f64).collect();
    left.iter().all(|l| *l > LEAST_LEFT).then_some(left)
}

impl CoefficientMap for LinearMap {
    fn kind(&self) -> &'static str {
        "linear"
    }

    fn predict(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let mut a = coefficients.to_owned();
        linalg::subtract_from_columns(&mut a, &self.input_mean);
        let mut out = linalg::mul(self.weights.as_ref(), a.as_ref());
        for k in 0..out.ncols() {
            for (v, m) in out.col_mut(k).iter_mut().zip(&self.output_mean) {
                *v += m;
            }
        }
        out
    }

    fn inputs(&self) -> usize {
        self.input_mean.len()
    }

    fn outputs(&self) -> usize {
        self.output_mean.len()
    }

    fn parameters(&self) -> usize {
        (self.inputs() + 1) * self.outputs()
    }

    fn describe(&self) -> String {
        format!(
            "linear, {} to {} coordinates, ridge {:.0e} of the largest squared singular value",
            self.inputs(),
            self.outputs(),
            self.strength
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(rows: usize, columns: usize, pace: f64) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, k| {
            ((i + 1) as f64 * pace * (k * k + 1) as f64).sin() + 0.3 * i as f64
        })
    }

    /// Ridge regression on all columns but one, predicting that one.
    fn without(k: usize, a: &Mat<f64>, c: &Mat<f64>, tau: f64) -> Mat<f64> {
        let others: Vec<usize> = (0..a.ncols()).filter(|j| *j != k).collect();
        let [mut a_others, mut c_others] =
            [a, c].map(|m| linalg::select_columns(m.as_ref(), &others));
        let [a_mean, c_mean] = [&a_others, &c_others].map(|m| linalg::column_mean(m.as_ref()));
        linalg::subtract_from_columns(&mut a_others, &a_mean);
        linalg::subtract_from_columns(&mut c_others, &c_mean);
        let mut gram = &a_others * a_others.transpose();
        (0..gram.nrows()).for_each(|i| gram[(i, i)] += tau);
        assert!(linalg::cholesky_in_place(gram.as_mut()));
        let mut at = Mat::from_fn(a.nrows(), 1, |i, _| a[(i, k)] - a_mean[i]);
        linalg::cholesky_solve_in_place(gram.as_ref(), at.as_mut());
        let slope = &c_others * (a_others.transpose() * at);
        Mat::from_fn(c.nrows(), 1, |i, _| slope[(i, 0)] + c_mean[i])
    }

    #[test]
    fn samples_are_left_out_as_by_fits_without_them() {
        // More samples than coefficients, and fewer.
        for (inputs, samples) in [(5, 20), (30, 12)] {
            let (a, c) = (wave(inputs, samples, 0.37), wave(3, samples, 0.21));
            let targets = Targets {
                norm_squared: linalg::column_norms_squared(c.as_ref()),
                outside_squared: vec![0.0; samples],
                coordinates: c.clone(),
                withheld_floor: None,
                readings: None,
            };
            let mut map = LinearMap::fit(a.as_ref(), &targets).unwrap();
            let mut centred = a.clone();
            linalg::subtract_from_columns(&mut centred, &map.input_mean);
            let largest = linalg::largest_singular_value(centred.as_ref());
            // Another strength, and the resulting weights.
            map.strength = 1e-2;
            let tau = map.strength * largest * largest;
            let mut gram = &centred * centred.transpose();
            (0..inputs).for_each(|i| gram[(i, i)] += tau);
            assert!(linalg::cholesky_in_place(gram.as_mut()));
            let mut moved = c.clone();
            linalg::subtract_from_columns(&mut moved, &map.output_mean);
            let mut weights = &centred * moved.transpose();
            linalg::cholesky_solve_in_place(gram.as_ref(), weights.as_mut());
            map.weights = weights.transpose().to_owned();
            let found = map.left_out_predictions(a.as_ref(), c.as_ref()).unwrap();
            for k in 0..samples {
                let expected = without(k, &a, &c, tau);
                for i in 0..3 {
                    let off = found[(i, k)] - expected[(i, 0)];
                    assert!(off.abs() < 1e-9, "{inputs} {k} {i}: {off:e}");
                }
            }
        }
    }
}
