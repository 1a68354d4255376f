//! Radial kernels with $k(0) = 1$, and kernel matrices.

use crate::linalg;
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// A kernel as a function of the squared distance over the squared length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelFunction {
    /// $(1 + s + s^2/3)e^{-s}$, $s = \sqrt5\,r/\ell$
    #[serde(rename = "matern-5/2")]
    Matern52,
    /// $e^{-r^2/(2\ell^2)}$
    Gaussian,
}

impl KernelFunction {
    /// $k(r)$ from $r^2/\ell^2$.
    #[inline]
    pub fn value(self, q: f64) -> f64 {
        match self {
            KernelFunction::Matern52 => {
                let s = (5.0 * q).sqrt();
                (1.0 + s + s * s / 3.0) * (-s).exp()
            }
            KernelFunction::Gaussian => (-0.5 * q).exp(),
        }
    }

    /// $w$ in $\nabla_x k(x, z) = w\,(x - z)/\ell^2$, from $r^2/\ell^2$.
    #[inline]
    pub fn slope(self, q: f64) -> f64 {
        match self {
            KernelFunction::Matern52 => {
                let s = (5.0 * q).sqrt();
                -(5.0 / 3.0) * (1.0 + s) * (-s).exp()
            }
            KernelFunction::Gaussian => -(-0.5 * q).exp(),
        }
    }
}

/// Squared distances between the columns of `a` and of `b`.
///
/// By the Gram matrix: points have norm about one, so a squared distance is off by a few units of
/// rounding, and a kernel of length at least one by no more than its own rounding.
pub fn squared_distances(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let (na, nb) = (
        linalg::column_norms_squared(a),
        linalg::column_norms_squared(b),
    );
    let mut out = linalg::mul(a.transpose(), b);
    linalg::par_column_chunks(out.as_mut(), 32, |start, mut chunk| {
        for k in 0..chunk.ncols() {
            for (v, n) in chunk.rb_mut().col_mut(k).iter_mut().zip(&na) {
                *v = (n + nb[start + k] - 2.0 * *v).max(0.0);
            }
        }
    });
    out
}

/// [`squared_distances`] of the columns of `a` among themselves, exactly symmetric with a zero
/// diagonal.
pub fn squared_distances_within(a: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = squared_distances(a, a);
    for j in 0..out.ncols() {
        out[(j, j)] = 0.0;
        for i in j + 1..out.nrows() {
            out[(j, i)] = out[(i, j)];
        }
    }
    out
}

/// The kernel at given squared distances.
pub fn kernel_matrix(
    distances_squared: MatRef<'_, f64>,
    kernel: KernelFunction,
    length: f64,
) -> Mat<f64> {
    let inverse = 1.0 / (length * length);
    let mut out = Mat::zeros(distances_squared.nrows(), distances_squared.ncols());
    linalg::par_column_chunks(out.as_mut(), 32, |start, mut chunk| {
        for k in 0..chunk.ncols() {
            let from = distances_squared.col(start + k);
            for (v, d) in chunk.rb_mut().col_mut(k).iter_mut().zip(from.iter()) {
                *v = kernel.value(d * inverse);
            }
        }
    });
    out
}
