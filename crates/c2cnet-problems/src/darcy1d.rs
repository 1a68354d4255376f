//! Nonlinear Darcy flow on an interval (Section 4.1 of the paper).
//!
//! $$(a(u)\,u')' = f \text{ on } (0, 1),\qquad u(0) = u(1) = 0,\qquad a(u) = 0.2 + u^2,$$
//!
//! with $f$ a Gaussian random field. The Kirchhoff transform
//! $K(u) = \int_0^u a = 0.2\,u + u^3/3$ makes it linear: $K'' = f$, $K = 0$ at both ends. A
//! solution therefore takes one linear solve and one real root of a cubic per point.
//!
//! The linear problem is solved by the compact scheme of order four,
//!
//! $$\frac{K_{i-1} - 2K_i + K_{i+1}}{h^2} = \frac{f_{i-1} + 10 f_i + f_{i+1}}{12},$$
//!
//! whose error is $h^4 f''/240$ up to a linear function. The solver's grid has at least 64 points
//! per length $\ell$ and 1,000 in all, and includes every output point. That keeps the
//! error of $u$ under $10^{-9}$ of its largest value, far below what any decoder resolves.

use crate::setting::Check;
use crate::{KernelForm, Problem, RandomField, SquaredExponential, Watcher, fill_blocks};
use c2cnet::Result;
use c2cnet::data::{Dataset, Field, Points};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// Settings of the one-dimensional Darcy problem.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 2000 | equally spaced points of $f$ and $u$, both ends included | 3 to 100000 |
/// | `n_train` | 800 | training samples | at least 1 |
/// | `n_test` | 200 | test samples, after the training samples | any |
/// | `length` | 0.04 | $\ell$ of the covariance of $f$ | at least 0.002 |
/// | `kernel` | `printed` | how $\ell$ enters | `printed`: $e^{-d^2/\ell^2}$, `half`: $e^{-d^2/2\ell^2}$ |
/// | `sigma` | 1 | standard deviation of $f$ | positive |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Darcy1d {
    /// The number of points.
    pub points: usize,
    /// The number of training samples.
    pub n_train: usize,
    /// The number of test samples.
    pub n_test: usize,
    /// The length $\ell$.
    pub length: f64,
    /// How the length enters the covariance.
    pub kernel: KernelForm,
    /// The standard deviation of $f$.
    pub sigma: f64,
}

impl Default for Darcy1d {
    fn default() -> Self {
        Darcy1d {
            points: 2000,
            n_train: 800,
            n_test: 200,
            length: 0.04,
            kernel: KernelForm::Printed,
            sigma: 1.0,
        }
    }
}

/// Intervals of the solver's grid per length of the covariance, at least.
const INTERVALS_PER_LENGTH: f64 = 64.0;
/// More points of an interval are almost certainly a mistake.
const MOST_POINTS: usize = 100_000;
/// Intervals of the solver's grid, at least.
const INTERVALS: f64 = 1000.0;

impl Problem for Darcy1d {
    const NAME: &'static str = "darcy1d";
    const DESCRIPTION: &'static str =
        "nonlinear Darcy flow ((0.2 + u^2) u')' = f on (0, 1), u = 0 at both ends; maps f to u";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let intervals = self.points - 1;
        // Every `stride`-th point of the solver's grid is an output point.
        let needed = (INTERVALS_PER_LENGTH / self.length).max(INTERVALS);
        let stride = (needed / intervals as f64).ceil() as usize;
        let grid = Points::linspace(0.0, 1.0, stride * intervals + 1);
        let kernel = SquaredExponential {
            form: self.kernel,
            length: self.length,
            sigma: self.sigma,
        };
        let field = RandomField::new(&grid, |a, b| kernel.at(a, b))?;
        let count = self.n_train + self.n_test;
        let [mut f, mut u] = [(); 2].map(|()| Mat::zeros(self.points, count));
        let width = RandomField::BLOCK;
        fill_blocks([&mut f, &mut u], width, watcher, |first, [mut f, mut u]| {
            let fine = field.block(seed, first as u64);
            for k in 0..f.ncols() {
                let source: Vec<f64> = fine.col(k).iter().copied().collect();
                let solution = solve(&source);
                for i in 0..self.points {
                    f[(i, k)] = source[stride * i];
                    u[(i, k)] = solution[stride * i];
                }
            }
            Ok(())
        })?;
        let points = Points::linspace(0.0, 1.0, self.points);
        let input = Field::shared(points.clone(), vec![f])?;
        let output = Field::shared(points, vec![u])?;
        let mut dataset = Dataset::new(input, output)?;
        dataset.n_train = Some(self.n_train);
        Ok(dataset)
    }
}

impl Darcy1d {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.within("points", self.points, 3..=MOST_POINTS)?;
        is.at_least("n_train", self.n_train, 1)?;
        is.check_size(&[self.n_train, self.n_test], 2 * self.points)?;
        is.length("length", self.length, 0.002)?;
        is.positive("sigma", self.sigma)
    }
}

/// The solution $u$ on the equally spaced points of $[0, 1]$, both ends included, where `f` is given.
///
/// # Panics
/// If there are fewer than two points.
pub fn solve(f: &[f64]) -> Vec<f64> {
    let mut k = integrate_twice(f);
    for value in &mut k {
        *value = inverse_kirchhoff(*value);
    }
    k
}

/// $K'' = f$, $K(0) = K(1) = 0$, by the compact scheme of order four.
///
/// Summing differences twice and then subtracting a line keeps the rounding error at that of the sums,
/// where a tridiagonal elimination would amplify it by the condition number, $O(n^2)$.
fn integrate_twice(f: &[f64]) -> Vec<f64> {
    let intervals = f.len() - 1;
    let h = 1.0 / intervals as f64;
    let mut k = vec![0.0; f.len()];
    let mut slope = 0.0;
    for i in 1..intervals {
        slope += h * (f[i - 1] + 10.0 * f[i] + f[i + 1]) / 12.0;
        k[i + 1] = k[i] + h * slope;
    }
    let end = k[intervals];
    for (i, value) in k.iter_mut().enumerate() {
        *value -= end * (i as f64 / intervals as f64);
    }
    k
}

/// The $u$ with $0.2\,u + u^3/3 = K$.
///
/// With $s^2 = 0.2$ and $u = 2s\sinh t$ the equation reads $\sinh 3t = 3K / (2s^3)$: no cancellation, one
/// real root, for every $K$.
fn inverse_kirchhoff(k: f64) -> f64 {
    let s = 0.2f64.sqrt();
    2.0 * s * ((1.5 * k / (0.2 * s)).asinh() / 3.0).sinh()
}

#[cfg(test)]
mod tests;
