//! First and second moments of coefficients and coordinates: all that a linear map needs to know about its samples.
//!
//! With fixed shifts subtracted from $a$ and $c$, $N$, $\sum a$, $\sum c$, $\sum aa^\top$ and $\sum ca^\top$ are sums
//! over samples: they can be computed over parts of the samples, anywhere, and added. From centred sums,
//! $W = C A^\top (AA^\top + \tau I)^{-1}$ by the eigenvectors of $AA^\top$.

use super::LinearMap;
use crate::decode::Targets;
use crate::metrics::mean;
use crate::storage::tensor;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Samples whose products are computed together.
const BLOCK: usize = 8192;

/// Eigenvalues below this fraction of the largest are rounding errors of the sums.
const ROUNDING: f64 = 1e-14;

/// Strengths tried, as fractions of the largest eigenvalue. Below $10^{-13}$ they drown in the rounding of the sums.
fn strengths() -> impl Iterator<Item = f64> {
    (0..=13).map(|k| 10f64.powi(-k))
}

/// Sums over samples of shifted values; the shifts must be the same for all sums that are to be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moments {
    samples: usize,
    #[serde(with = "tensor")]
    inputs: Vec<f64>,
    #[serde(with = "tensor")]
    outputs: Vec<f64>,
    /// The lower half of $\sum aa^\top$.
    #[serde(with = "tensor")]
    gram: Mat<f64>,
    /// $\sum ca^\top$.
    #[serde(with = "tensor")]
    cross: Mat<f64>,
}

/// What is subtracted from values before they are summed: about their means, so that sums of squares do not cancel.
#[derive(Clone, Copy)]
pub(crate) struct Shift<'a> {
    pub inputs: &'a [f64],
    pub outputs: &'a [f64],
}

impl Moments {
    /// The sums over samples with these coefficients and coordinates.
    pub(crate) fn of(a: MatRef<'_, f64>, c: MatRef<'_, f64>, shift: Shift<'_>) -> Self {
        let mut moments = Moments {
            samples: a.ncols(),
            inputs: vec![0.0; a.nrows()],
            outputs: vec![0.0; c.nrows()],
            gram: Mat::zeros(a.nrows(), a.nrows()),
            cross: Mat::zeros(c.nrows(), a.nrows()),
        };
        for start in (0..a.ncols()).step_by(BLOCK) {
            let take = BLOCK.min(a.ncols() - start);
            let mut a = a.subcols(start, take).to_owned();
            linalg::subtract_from_columns(&mut a, shift.inputs);
            let mut c = c.subcols(start, take).to_owned();
            linalg::subtract_from_columns(&mut c, shift.outputs);
            add_columns(&mut moments.inputs, a.as_ref());
            add_columns(&mut moments.outputs, c.as_ref());
            linalg::add_gram(moments.gram.as_mut(), a.as_ref());
            linalg::mul_add(moments.cross.as_mut(), c.as_ref(), a.transpose(), 1.0);
        }
        moments
    }

    /// The number of samples in the sums.
    pub(crate) fn samples(&self) -> usize {
        self.samples
    }

    /// Adds the sums over other samples.
    pub(crate) fn add(&mut self, other: &Moments) {
        self.samples += other.samples;
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(t, f)| *t += f);
        add(&mut self.inputs, &other.inputs);
        add(&mut self.outputs, &other.outputs);
        self.gram += &other.gram;
        self.cross += &other.cross;
    }

    /// Whether the sums of `other` can be added to these.
    pub(crate) fn is_like(&self, other: &Moments) -> bool {
        other.fit(self.inputs.len(), self.outputs.len())
    }

    /// Whether the sums are over this many coefficients and coordinates.
    pub(crate) fn fit(&self, inputs: usize, outputs: usize) -> bool {
        self.inputs.len() == inputs
            && self.outputs.len() == outputs
            && self.gram.shape() == (inputs, inputs)
            && self.cross.shape() == (outputs, inputs)
    }

    /// The linear maps fitted to these samples, for every strength.
    ///
    /// # Errors
    /// If there are fewer than two samples, or the eigenvectors do not converge.
    pub(crate) fn regression(&self, shift: Shift<'_>) -> Result<Regression> {
        if self.samples < 2 {
            return Err(Error::Data(format!(
                "a map cannot be fitted to {} samples; give at least 2 (and many more for a useful one)",
                self.samples
            )));
        }
        let n = self.samples as f64;
        let (inputs, outputs) = (&self.inputs, &self.outputs);
        let mut gram = self.gram.clone();
        for j in 0..gram.ncols() {
            for i in j..gram.nrows() {
                gram[(i, j)] -= inputs[i] * inputs[j] / n;
            }
        }
        let mut cross = self.cross.clone();
        for j in 0..cross.ncols() {
            for i in 0..cross.nrows() {
                cross[(i, j)] -= outputs[i] * inputs[j] / n;
            }
        }
        let (values, vectors) = linalg::symmetric_eigen(gram.as_ref())?;
        let largest = values.last().copied().unwrap_or(0.0).max(0.0);
        let kept = values.iter().filter(|&&v| v > ROUNDING * largest).count();
        let axes = vectors.as_ref().subcols(values.len() - kept, kept);
        let mean = |shift: &[f64], sums: &[f64]| -> Vec<f64> {
            shift.iter().zip(sums).map(|(s, v)| s + v / n).collect()
        };
        Ok(Regression {
            effects: linalg::mul(cross.as_ref(), axes),
            axes: axes.to_owned(),
            values: values[values.len() - kept..].to_vec(),
            largest,
            input_mean: mean(shift.inputs, inputs),
            output_mean: mean(shift.outputs, outputs),
        })
    }
}

/// Linear maps for all strengths.
pub(crate) struct Regression {
    /// Eigenvectors of $AA^\top$.
    axes: Mat<f64>,
    /// Their eigenvalues.
    values: Vec<f64>,
    /// $CA^\top$ times the eigenvectors.
    effects: Mat<f64>,
    largest: f64,
    input_mean: Vec<f64>,
    output_mean: Vec<f64>,
}

impl Regression {
    /// The strength whose map has the smallest error on samples outside the sums, and that error.
    pub(crate) fn choose(&self, coefficients: MatRef<'_, f64>, targets: &Targets) -> (f64, f64) {
        let all: Vec<usize> = (0..coefficients.ncols()).collect();
        let error = |strength: f64| {
            let map = self.map(strength, 0.0);
            let predicted = super::CoefficientMap::predict(&map, coefficients);
            mean(&targets.relative_errors(predicted.as_ref(), &all))
        };
        let mut best = (1.0, f64::INFINITY);
        for strength in strengths() {
            let error = error(strength);
            if error < best.1 {
                best = (strength, error);
            }
        }
        best
    }

    /// The map of one strength, given its error on the samples that chose it.
    pub(crate) fn map(&self, strength: f64, error: f64) -> LinearMap {
        let tau = strength * self.largest;
        let mut scaled = self.effects.clone();
        for (j, value) in self.values.iter().enumerate() {
            let g = 1.0 / (value + tau);
            scaled.col_mut(j).iter_mut().for_each(|v| *v *= g);
        }
        let weights = linalg::mul(scaled.as_ref(), self.axes.transpose());
        let means = (self.input_mean.clone(), self.output_mean.clone());
        LinearMap::of_sums(weights, means, strength, error)
    }
}

fn add_columns(sums: &mut [f64], values: MatRef<'_, f64>) {
    for k in 0..values.ncols() {
        let column = sums.iter_mut().zip(values.col(k).iter());
        column.for_each(|(s, v)| *s += v);
    }
}
