//! Errors as the paper defines them (Section 4.1).

use serde::Serialize;

/// Errors of predictions against the truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Errors {
    /// $\mathrm{RL2E} = \frac1N\sum_k \|\hat u_k-u_k\|/\|u_k\|$ over all points and components.
    pub rl2e: f64,
    /// $\mathrm{MSE} = \frac1{N n_2}\sum_k\|\hat u_k-u_k\|^2$, $n_2$ counting all components.
    pub mse: f64,
    /// The relative error of each sample.
    pub relative: Vec<f64>,
}

impl Errors {
    /// From squared error norms, squared norms of the truth and the number of values of each sample.
    ///
    /// A sample that is zero everywhere has no relative error; its absolute error is used, so
    /// that a perfect prediction still counts as 0.
    pub fn new(error_squared: &[f64], norm_squared: &[f64], counts: &[usize]) -> Self {
        let relative: Vec<f64> = error_squared
            .iter()
            .zip(norm_squared)
            .map(|(&e, &n)| relative(e, n))
            .collect();
        let values: usize = counts.iter().sum();
        Errors {
            rl2e: mean(&relative),
            mse: error_squared.iter().sum::<f64>() / values as f64,
            relative,
        }
    }

    /// The sample with the largest relative error, and that error.
    pub fn worst(&self) -> (usize, f64) {
        let (k, e) = self
            .relative
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .expect("at least one sample");
        (k, *e)
    }
}

/// $\sqrt{e/n}$, or $\sqrt e$ where $n = 0$.
pub fn relative(error_squared: f64, norm_squared: f64) -> f64 {
    if norm_squared > 0.0 {
        (error_squared / norm_squared).sqrt()
    } else {
        error_squared.sqrt()
    }
}

/// The arithmetic mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean over samples of [`relative`].
pub fn mean_relative(errors_squared: &[f64], norms_squared: &[f64]) -> f64 {
    let each: Vec<f64> = errors_squared
        .iter()
        .zip(norms_squared)
        .map(|(&e, &n)| relative(e, n))
        .collect();
    mean(&each)
}
