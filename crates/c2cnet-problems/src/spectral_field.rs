//! Gaussian random fields from spectral coefficients.
//!
//! On the unit interval or square, with the orthonormal eigenfunctions $e_j$ of $-\Delta$ under one kind
//! of boundary condition and their eigenvalues $\lambda_j$,
//!
//! $$\psi = \sum_j c(\lambda_j)\,\xi_j\,e_j,\qquad \xi_j \sim N(0, 1) \text{ independent},$$
//!
//! has the covariance operator $c(-\Delta)^2$: $c(\lambda) = \sigma(\lambda + \tau^2)^{-\alpha/2}$ gives
//! $N(0, \sigma^2(-\Delta + \tau^2)^{-\alpha})$. In one dimension the functions are
//!
//! | modes | $e_j$ | $\lambda_j$ |
//! |---|---|---|
//! | sine | $\sqrt2\sin\pi(j+1)x$ | $\pi^2(j+1)^2$ |
//! | cosine | $1$, then $\sqrt2\cos\pi jx$ | $\pi^2j^2$ |
//! | periodic | $1$, then $\sqrt2\cos2\pi mx$, $\sqrt2\sin2\pi mx$ in turn | $4\pi^2m^2$ |
//!
//! and in two dimensions their products, with sums of eigenvalues. The number $\xi$ of a function does
//! not depend on how many functions there are: a sum of more terms is the same draw, resolved further.

use c2cnet::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use std::f64::consts::{PI, SQRT_2};

/// Which boundary condition the eigenfunctions satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modes {
    /// Zero at the boundary (Dirichlet).
    Sine,
    /// Zero slope across the boundary (Neumann).
    Cosine,
    /// Of period 1.
    Periodic,
}

impl Modes {
    /// Function `j` at `x`, and its eigenvalue.
    fn at(self, j: usize, x: f64) -> (f64, f64) {
        let half = j.div_ceil(2) as f64;
        let (frequency, cosine) = match self {
            Modes::Sine => (PI * (j + 1) as f64, false),
            Modes::Cosine => (PI * j as f64, true),
            Modes::Periodic => (2.0 * PI * half, j == 0 || j % 2 == 1),
        };
        let value = match (frequency == 0.0, cosine) {
            (true, _) => 1.0,
            (false, true) => SQRT_2 * (frequency * x).cos(),
            (false, false) => SQRT_2 * (frequency * x).sin(),
        };
        (value, frequency * frequency)
    }

    fn eigenvalue(self, j: usize) -> f64 {
        self.at(j, 0.0).1
    }
}

/// A Gaussian random field on an interval or a tensor grid.
#[derive(Debug, Clone)]
pub struct SpectralField {
    /// One matrix per axis: the functions at the coordinates, one column each.
    axes: Vec<Mat<f64>>,
    /// $c(\lambda)$: one per function, or the table over pairs of them.
    coefficients: Mat<f64>,
}

impl SpectralField {
    /// The field at `coordinates` (one list per axis, one axis or two) from the first `functions`
    /// functions along each axis.
    ///
    /// # Errors
    /// If there are not one or two axes, no function, or a coefficient is not finite.
    pub fn new(
        modes: Modes,
        functions: usize,
        coordinates: &[&[f64]],
        coefficient: impl Fn(f64) -> f64,
    ) -> Result<Self> {
        if !(1..=2).contains(&coordinates.len()) || functions == 0 {
            return Err(Error::Config(format!(
                "a spectral field needs one or two axes and at least one function; there are {} and {functions}",
                coordinates.len()
            )));
        }
        let second = if coordinates.len() == 2 { functions } else { 1 };
        let coefficients = Mat::from_fn(functions, second, |i, j| {
            let other = if second > 1 { modes.eigenvalue(j) } else { 0.0 };
            coefficient(modes.eigenvalue(i) + other)
        });
        for j in 0..second {
            if let Some(i) = coefficients.col(j).iter().position(|c| !c.is_finite()) {
                return Err(Error::Numerical(format!(
                    "the spectral coefficient of function ({i}, {j}) is {}",
                    coefficients[(i, j)]
                )));
            }
        }
        let axes = coordinates
            .iter()
            .map(|x| Mat::from_fn(x.len(), functions, |i, j| modes.at(j, x[i]).0))
            .collect();
        Ok(SpectralField { axes, coefficients })
    }

    /// One draw, on the calling thread; on a grid the last axis varies fastest.
    pub fn draw(&self, rng: &mut impl Rng) -> Vec<f64> {
        let (functions, second) = self.coefficients.shape();
        let numbers: Vec<f64> = rng
            .sample_iter::<f64, _>(StandardNormal)
            .take(functions * second)
            .collect();
        let xi = Mat::from_fn(functions, second, |i, j| {
            let place = if second == 1 { i } else { shell_order(i, j) };
            self.coefficients[(i, j)] * numbers[place]
        });
        let first = linalg::mul_seq(self.axes[0].as_ref(), xi.as_ref());
        match self.axes.get(1) {
            None => column(first.as_ref()),
            // The transpose, so that the second axis runs fastest.
            Some(axis) => column(linalg::mul_seq(axis.as_ref(), first.transpose()).as_ref()),
        }
    }
}

/// The place of the pair $(i, j)$ among pairs ordered by the larger of the two.
fn shell_order(i: usize, j: usize) -> usize {
    let shell = i.max(j);
    shell * shell + if i == shell { j } else { shell + 1 + i }
}

fn column(matrix: MatRef<'_, f64>) -> Vec<f64> {
    matrix
        .col_iter()
        .flat_map(|c| c.iter().copied().collect::<Vec<f64>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_stream;

    /// Checks means and covariances over many draws against `target(i, j)`.
    fn check_covariance(field: &SpectralField, target: impl Fn(usize, usize) -> f64) {
        let count = 20_000u64;
        let draws: Vec<Vec<f64>> = (0..count)
            .map(|k| field.draw(&mut sample_stream(3, k)))
            .collect();
        let n = draws[0].len();
        for i in 0..n {
            let mean = draws.iter().map(|f| f[i]).sum::<f64>() / count as f64;
            let bound = 4.5 * (target(i, i) / count as f64).sqrt();
            assert!(mean.abs() <= bound + 1e-12, "mean {mean} at {i}");
            for j in 0..=i {
                let found = draws.iter().map(|f| f[i] * f[j]).sum::<f64>() / count as f64;
                let deviation = (target(i, i) * target(j, j) + target(i, j).powi(2)).sqrt();
                let bound = 4.5 * deviation / (count as f64).sqrt();
                let difference = (found - target(i, j)).abs();
                assert!(difference <= bound + 1e-12, "({i}, {j}): {found}");
            }
        }
    }

    /// $1/\sqrt\lambda$, nothing for the constant: the inverse of the Laplacian has a closed form.
    fn inverse_root(lambda: f64) -> f64 {
        if lambda > 0.0 { lambda.powf(-0.5) } else { 0.0 }
    }

    const X: [f64; 6] = [0.0, 0.13, 0.4, 0.5, 0.83, 1.0];

    #[test]
    fn sine_modes_make_the_brownian_bridge() {
        let field = SpectralField::new(Modes::Sine, 200, &[&X], inverse_root).unwrap();
        // The 200 terms leave 1 / (200 pi^2) of variance at most, a tenth of the sampling error.
        check_covariance(&field, |i, j| X[i].min(X[j]) - X[i] * X[j]);
    }

    #[test]
    fn cosine_modes_make_the_neumann_kernel() {
        let field = SpectralField::new(Modes::Cosine, 200, &[&X], inverse_root).unwrap();
        let kernel = |x: f64, y: f64| 1.0 / 3.0 - x.max(y) + (x * x + y * y) / 2.0;
        check_covariance(&field, |i, j| kernel(X[i], X[j]));
    }

    #[test]
    fn periodic_modes_make_the_bernoulli_kernel() {
        let field = SpectralField::new(Modes::Periodic, 201, &[&X], inverse_root).unwrap();
        check_covariance(&field, |i, j| {
            let d = (X[i] - X[j]).abs();
            (d * d - d + 1.0 / 6.0) / 2.0
        });
    }

    #[test]
    fn products_make_fields_on_the_square() {
        // exp(-t lambda) factors: the covariance is the product of two heat kernels.
        let (x, y, t) = ([0.1, 0.7], [0.0, 0.35, 0.6], 0.02);
        for modes in [Modes::Sine, Modes::Cosine, Modes::Periodic] {
            let field =
                SpectralField::new(modes, 24, &[&x, &y], |lambda| (-t * lambda).exp()).unwrap();
            let heat = |a: f64, b: f64| -> f64 {
                // By images of the kernel on the line, not by the modes themselves.
                let line = |d: f64| (-d * d / (8.0 * t)).exp() / (8.0 * PI * t).sqrt();
                (-6..=6)
                    .map(|m| {
                        let m = m as f64;
                        match modes {
                            Modes::Sine => line(a - b - 2.0 * m) - line(a + b - 2.0 * m),
                            Modes::Cosine => line(a - b - 2.0 * m) + line(a + b - 2.0 * m),
                            Modes::Periodic => line(a - b - m),
                        }
                    })
                    .sum()
            };
            check_covariance(&field, |i, j| {
                heat(x[i / 3], x[j / 3]) * heat(y[i % 3], y[j % 3])
            });
        }
    }

    #[test]
    fn more_functions_resolve_the_same_draw() {
        let smooth = |lambda: f64| (-0.02 * lambda).exp();
        for coordinates in [vec![&X[..]], vec![&X[..], &X[1..4]]] {
            let draw = |functions| {
                SpectralField::new(Modes::Cosine, functions, &coordinates, smooth)
                    .unwrap()
                    .draw(&mut sample_stream(1, 0))
            };
            for (few, many) in draw(20).into_iter().zip(draw(33)) {
                assert!((few - many).abs() < 1e-12);
            }
        }
        let mut places: Vec<usize> = (0..49).map(|p| shell_order(p / 7, p % 7)).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..49));
    }

    #[test]
    fn wrong_arguments_are_refused() {
        let field = |functions, axes: &[&[f64]]| {
            SpectralField::new(Modes::Cosine, functions, axes, |lambda| 1.0 / lambda)
        };
        assert!(field(0, &[&X]).is_err());
        assert!(field(3, &[]).is_err());
        let message = field(3, &[&X]).unwrap_err().to_string();
        assert!(message.contains("(0, 0) is inf"), "{message}");
    }
}
