//! Radial kernels with $k(0) = 1$, and kernel matrices.

use super::exponential::exp_of_negative;
use crate::linalg;
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use pulp::{Arch, NullaryFnOnce};
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
    #[inline(always)]
    pub(crate) fn value(self, q: f64) -> f64 {
        match self {
            KernelFunction::Matern52 => {
                let s = (5.0 * q).sqrt();
                (1.0 + s + s * s / 3.0) * exp_of_negative(-s)
            }
            KernelFunction::InverseMultiquadric => 1.0 / (1.0 + q).sqrt(),
            KernelFunction::Gaussian => exp_of_negative(-0.5 * q),
        }
    }

    /// $w$ in $\nabla_x k(x, z) = w\,(x - z)/\ell^2$, from $r^2/\ell^2$.
    #[inline(always)]
    pub(crate) fn slope(self, q: f64) -> f64 {
        match self {
            KernelFunction::Matern52 => {
                let s = (5.0 * q).sqrt();
                -(5.0 / 3.0) * (1.0 + s) * exp_of_negative(-s)
            }
            KernelFunction::InverseMultiquadric => -1.0 / ((1.0 + q) * (1.0 + q).sqrt()),
            KernelFunction::Gaussian => -exp_of_negative(-0.5 * q),
        }
    }

    /// Replaces each $r^2$ by $k(r)$, `inverse` being $1/\ell^2$.
    fn values(self, squared: &mut [f64], inverse: f64) {
        // Each kernel has a loop of its own, which vectorises.
        macro_rules! each {
            ($kernel:ident) => {
                Arch::new().dispatch(Each(
                    squared,
                    #[inline(always)]
                    |r| KernelFunction::$kernel.value(r * inverse),
                ))
            };
        }
        match self {
            KernelFunction::Matern52 => each!(Matern52),
            KernelFunction::InverseMultiquadric => each!(InverseMultiquadric),
            KernelFunction::Gaussian => each!(Gaussian),
        }
    }

    /// Replaces each $r^2$ by $w/\ell^2$, `inverse` being $1/\ell^2$.
    pub(super) fn slopes(self, squared: &mut [f64], inverse: f64) {
        macro_rules! each {
            ($kernel:ident) => {
                Arch::new().dispatch(Each(
                    squared,
                    #[inline(always)]
                    |r| inverse * KernelFunction::$kernel.slope(r * inverse),
                ))
            };
        }
        match self {
            KernelFunction::Matern52 => each!(Matern52),
            KernelFunction::InverseMultiquadric => each!(InverseMultiquadric),
            KernelFunction::Gaussian => each!(Gaussian),
        }
    }
}

/// Applies a function to every number of a slice, in place.
struct Each<'a, F>(&'a mut [f64], F);

impl<F: Fn(f64) -> f64> NullaryFnOnce for Each<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for v in self.0 {
            *v = (self.1)(*v);
        }
    }
}

/// The parameters of one kernel regression.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
/// rounding, and that of a kernel of length at least one no more than its own rounding. At the shortest length that is
/// tried, a sixteenth, it is about 5e-14.
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
        kernel.values(column, inverse);
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
        kernel.values(&mut column[j..], inverse);
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

    /// Vectorised loops agree with single evaluations and with the definition.
    #[test]
    fn many_values_are_those_of_each() {
        let squared: Vec<f64> = (0..1000).map(|i| f64::from(i).powi(2) * 1e-3).collect();
        let length: f64 = 1.7;
        let inverse = 1.0 / (length * length);
        for kernel in [
            KernelFunction::Matern52,
            KernelFunction::InverseMultiquadric,
            KernelFunction::Gaussian,
        ] {
            let (mut values, mut slopes) = (squared.clone(), squared.clone());
            kernel.values(&mut values, inverse);
            kernel.slopes(&mut slopes, inverse);
            for (i, r) in squared.iter().enumerate() {
                let q = r * inverse;
                assert!((values[i] - kernel.value(q)).abs() <= 4e-16 * values[i]);
                assert!((slopes[i] - inverse * kernel.slope(q)).abs() <= 4e-16 * slopes[i].abs());
            }
        }
        let gaussian = KernelFunction::Gaussian.value(3.0);
        assert!((gaussian - (-1.5f64).exp()).abs() < 1e-16);
    }

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
