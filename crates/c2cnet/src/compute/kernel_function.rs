//! Radial kernels with $k(0) = 1$, and kernel matrices.

use crate::linalg;
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};

/// A kernel as a function of the squared distance divided by the squared length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelFunction {
    /// $(1 + s + s^2/3)e^{-s}$, $s = \sqrt5\,r/\ell$
    #[serde(rename = "matern-5/2")]
    Matern52,
    /// $1/\sqrt{1 + r^2/\ell^2}$: smooth like a Gaussian, with a tail that reaches as far as a Matern kernel's
    InverseMultiquadric,
    /// $e^{-r^2/(2\ell^2)}$
    Gaussian,
}

impl KernelFunction {
    /// The name in prose.
    pub(crate) fn name(self) -> &'static str {
        match self {
            KernelFunction::Matern52 => "Matern-5/2",
            KernelFunction::InverseMultiquadric => "inverse multiquadric",
            KernelFunction::Gaussian => "Gaussian",
        }
    }

    /// $k(r)$ from $r^2/\ell^2$.
    #[inline]
    pub fn value(self, q: f64) -> f64 {
        match self {
            KernelFunction::Matern52 => {
                let s = (5.0 * q).sqrt();
                (1.0 + s + s * s / 3.0) * (-s).exp()
            }
            KernelFunction::InverseMultiquadric => 1.0 / (1.0 + q).sqrt(),
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
            KernelFunction::InverseMultiquadric => -1.0 / ((1.0 + q) * (1.0 + q).sqrt()),
            KernelFunction::Gaussian => -(-0.5 * q).exp(),
        }
    }
}

/// The parameters of one kernel regression.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PassSettings {
    /// The kernel.
    pub kernel: KernelFunction,
    /// Its length $\ell$; the features have mean norm 1.
    pub length: f64,
    /// The nugget $\nu$.
    pub nugget: f64,
}

/// Squared distances between the columns of `a` and of `b`.
///
/// By the Gram matrix: points have norm about one, so the error of a squared distance is a few units of
/// rounding, and that of a kernel of length at least one no more than its own rounding.
pub(crate) fn squared_distances(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let (na, nb) = (
        linalg::column_norms_squared(a),
        linalg::column_norms_squared(b),
    );
    let mut out = linalg::mul(a.transpose(), b);
    each_column(out.as_mut(), |j, column| {
        for (v, n) in column.iter_mut().zip(&na) {
            *v = (n + nb[j] - 2.0 * *v).max(0.0);
        }
    });
    out
}

/// [`squared_distances`] of the columns of `a` among themselves: the lower half, with a zero
/// diagonal. A factorisation needs no more.
pub(crate) fn squared_distances_within(a: MatRef<'_, f64>) -> Mat<f64> {
    let norms = linalg::column_norms_squared(a);
    let mut out = Mat::zeros(a.ncols(), a.ncols());
    linalg::add_gram(out.as_mut(), a.transpose());
    each_column(out.as_mut(), |j, column| {
        column[j] = 0.0;
        for (v, n) in column[j + 1..].iter_mut().zip(&norms[j + 1..]) {
            *v = (n + norms[j] - 2.0 * *v).max(0.0);
        }
    });
    out
}

/// Replaces squared distances by kernel values.
pub(crate) fn to_kernel(distances_squared: &mut Mat<f64>, kernel: KernelFunction, length: f64) {
    let inverse = 1.0 / (length * length);
    each_column(distances_squared.as_mut(), |_, column| {
        column
            .iter_mut()
            .for_each(|v| *v = kernel.value(*v * inverse));
    });
}

/// [`to_kernel`] of what [`squared_distances_within`] gives: the lower half.
pub(crate) fn to_kernel_within(
    distances_squared: &mut Mat<f64>,
    kernel: KernelFunction,
    length: f64,
) {
    let inverse = 1.0 / (length * length);
    each_column(distances_squared.as_mut(), |j, column| {
        column[j..]
            .iter_mut()
            .for_each(|v| *v = kernel.value(*v * inverse));
    });
}

/// Runs `work(j, column j)` on all columns, in parallel.
pub(crate) fn each_column(matrix: MatMut<'_, f64>, work: impl Fn(usize, &mut [f64]) + Sync) {
    linalg::par_column_chunks(matrix, 32, |start, mut chunk| {
        for k in 0..chunk.ncols() {
            let column = chunk.rb_mut().col_mut(k).try_as_col_major_mut();
            let column = column.expect("owned matrices have contiguous columns");
            work(start + k, column.as_slice_mut());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::KernelFunction;

    #[test]
    fn slopes_agree_with_finite_differences() {
        for kernel in [
            KernelFunction::Matern52,
            KernelFunction::InverseMultiquadric,
            KernelFunction::Gaussian,
        ] {
            assert_eq!(kernel.value(0.0), 1.0);
            for r in [0.01f64, 0.3, 1.0, 2.5] {
                let k = |r: f64| kernel.value(r * r);
                let h = 1e-5;
                let difference = (k(r + h) - k(r - h)) / (2.0 * h);
                let slope = kernel.slope(r * r) * r;
                assert!((difference - slope).abs() < 1e-9, "{kernel:?} at {r}");
            }
        }
    }
}
