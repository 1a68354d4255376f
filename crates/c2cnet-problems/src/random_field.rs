//! Gaussian random fields from a covariance function.
//!
//! With a factor $K \approx LL^\top$ of the covariance matrix $K_{ij} = k(x_i, x_j)$, a draw is
//! $L z$, $z \sim N(0, I_r)$.
//!
//! The factor is a pivoted Cholesky factorisation that stops at the rank $r$ where no point has more
//! than $10^{-12}$ of the largest variance left. Smooth covariances are numerically of low rank (the
//! squared exponential of length 0.04 on 2,000 points has rank 97), so it costs $O(n r^2)$ where an
//! eigendecomposition costs $O(n^3)$. The cut drops a part of the field of relative size $10^{-6}$ at
//! most. Going lower would not help: column $j$ carries rounding of $10^{-16}$ over the root of the
//! variance left, so a cut at $\epsilon$ adds roughness of about $10^{-16} / \sqrt\epsilon$.

use crate::sample_stream;
use c2cnet::data::Points;
use c2cnet::{Error, Result, linalg};
use faer::{Mat, MatMut, MatRef};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// The variance, relative to the largest, below which a point counts as determined by the others.
const CUT: f64 = 1e-12;

/// A Gaussian random field on a point set.
#[derive(Debug, Clone)]
pub struct RandomField {
    factor: Mat<f64>,
}

impl RandomField {
    /// How many samples [`RandomField::block`] makes at once.
    ///
    /// The width of a product can decide in which order it adds. A fixed one makes a sample the same
    /// whatever the number of samples.
    pub const BLOCK: usize = 32;

    /// The field of mean zero and the given covariance at `points`.
    ///
    /// # Errors
    /// If the covariance is not finite, or a variance is negative or all are zero.
    pub fn new(points: &Points, covariance: impl Fn(&[f64], &[f64]) -> f64) -> Result<Self> {
        let n = points.len();
        let mut left: Vec<f64> = points.iter().map(|x| covariance(x, x)).collect();
        let largest = left.iter().copied().fold(0.0, f64::max);
        if !(largest > 0.0 && left.iter().all(|v| v.is_finite() && *v >= 0.0)) {
            return Err(Error::Numerical(
                "a covariance must be finite, nonnegative and not all zero where both points agree"
                    .into(),
            ));
        }
        let mut columns: Vec<Vec<f64>> = Vec::new();
        while columns.len() < n {
            let pivot = first_largest(&left);
            if left[pivot] <= CUT * largest {
                break;
            }
            // l = (k(., p) - sum_j l_j l_j[p]) / sqrt(left[p])
            let at = points.point(pivot);
            let mut column: Vec<f64> = points.iter().map(|x| covariance(x, at)).collect();
            for earlier in &columns {
                let weight = earlier[pivot];
                for (c, e) in column.iter_mut().zip(earlier) {
                    *c -= weight * e;
                }
            }
            let root = left[pivot].sqrt();
            for (c, v) in column.iter_mut().zip(&mut left) {
                *c /= root;
                *v -= *c * *c;
            }
            // Exactly, so that rounding never makes it the pivot again.
            left[pivot] = 0.0;
            columns.push(column);
        }
        if columns.iter().flatten().any(|c| !c.is_finite()) {
            return Err(Error::Numerical(
                "a covariance between two points is not finite".into(),
            ));
        }
        let factor = Mat::from_fn(n, columns.len(), |i, j| columns[j][i]);
        Ok(RandomField { factor })
    }

    /// The number of normal variates that a draw takes.
    pub fn rank(&self) -> usize {
        self.factor.ncols()
    }

    /// Samples `first` to `first + BLOCK` under `seed`, one per column, on the calling thread.
    pub fn block(&self, seed: u64, first: u64) -> Mat<f64> {
        self.draws(Self::normals(seed, first, self.rank()).as_ref())
    }

    /// The first `count` normal numbers of samples `first` to `first + BLOCK` under `seed`, one sample per column.
    pub fn normals(seed: u64, first: u64, count: usize) -> Mat<f64> {
        let mut normals = Mat::zeros(count, Self::BLOCK);
        for j in 0..Self::BLOCK {
            let rng = sample_stream(seed, first + j as u64);
            let numbers = rng.sample_iter::<f64, _>(StandardNormal);
            for (z, number) in normals.col_mut(j).iter_mut().zip(numbers) {
                *z = number;
            }
        }
        normals
    }

    /// The draws $L z$, for normal numbers $z$ in columns, as many as the [rank](Self::rank); on the
    /// calling thread. Two independent fields of a sample take one stream's numbers in turn.
    pub fn draws(&self, normals: MatRef<'_, f64>) -> Mat<f64> {
        linalg::mul_seq(self.factor.as_ref(), normals)
    }

    /// The field $M g$ for this field $g$ and a linear map $M$, given by its action on columns.
    ///
    /// A linear equation with random data is solved once for each column of $L$, that is [rank](Self::rank)
    /// times, however many samples are drawn.
    ///
    /// # Errors
    /// The errors of `map`.
    pub fn image(&self, map: impl FnOnce(MatRef<'_, f64>) -> Result<Mat<f64>>) -> Result<Self> {
        Ok(RandomField {
            factor: map(self.factor.as_ref())?,
        })
    }

    /// Samples `0` to `count` under `seed`, one per column.
    pub fn samples(&self, seed: u64, count: usize) -> Mat<f64> {
        let mut out = Mat::zeros(self.factor.nrows(), count);
        let fill = |first: usize, mut columns: MatMut<'_, f64>| {
            let block = self.block(seed, first as u64);
            columns.copy_from(block.as_ref().subcols(0, columns.ncols()));
        };
        linalg::par_column_chunks(out.as_mut(), Self::BLOCK, fill);
        out
    }
}

/// The index of the largest value, the first of equals.
fn first_largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (i, v) in values.iter().enumerate() {
        if *v > values[best] {
            best = i;
        }
    }
    best
}

/// How a squared-exponential covariance takes its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelForm {
    /// $\exp(-d^2 / \ell^2)$, as the paper prints it
    #[default]
    Printed,
    /// $\exp(-d^2 / (2 \ell^2))$, the common form, which earlier generators of these data use
    Half,
}

/// The covariance $\sigma^2 \exp(-d^2 / \ell^2)$, or with $2 \ell^2$, of two points at distance $d$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredExponential {
    /// How the length enters.
    pub form: KernelForm,
    /// The length $\ell$.
    pub length: f64,
    /// The standard deviation $\sigma$.
    pub sigma: f64,
}

impl SquaredExponential {
    /// The covariance of the values at `a` and `b`.
    pub fn at(&self, a: &[f64], b: &[f64]) -> f64 {
        let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        let scale = match self.form {
            KernelForm::Printed => self.length * self.length,
            KernelForm::Half => 2.0 * self.length * self.length,
        };
        self.sigma * self.sigma * (-squared / scale).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: SquaredExponential = SquaredExponential {
        form: KernelForm::Printed,
        length: 0.04,
        sigma: 1.0,
    };

    #[test]
    fn the_forms_are_as_written() {
        let half = SquaredExponential {
            form: KernelForm::Half,
            sigma: 3.0,
            ..KERNEL
        };
        assert!((KERNEL.at(&[0.1], &[0.14]) - (-1f64).exp()).abs() < 1e-15);
        assert!((half.at(&[0.1], &[0.14]) - 9.0 * (-0.5f64).exp()).abs() < 1e-14);
        assert!((half.at(&[0.0, 0.0], &[0.04, 0.04]) - 9.0 * (-1f64).exp()).abs() < 1e-14);
    }

    #[test]
    fn the_factor_gives_the_covariance_back() {
        let points = Points::linspace(0.0, 1.0, 2000);
        let field = RandomField::new(&points, |a, b| KERNEL.at(a, b)).unwrap();
        assert!((90..105).contains(&field.rank()), "rank {}", field.rank());
        let rows: Vec<usize> = (0..2000).step_by(13).collect();
        let part = linalg::select_rows(field.factor.as_ref(), &rows);
        let product = linalg::mul(part.as_ref(), part.transpose());
        for (i, &p) in rows.iter().enumerate() {
            for (j, &q) in rows.iter().enumerate() {
                let target = KERNEL.at(points.point(p), points.point(q));
                assert!((product[(i, j)] - target).abs() < 2e-12, "{p} {q}");
            }
        }
    }

    #[test]
    fn draws_are_smooth_to_rounding_over_the_root_of_the_cut() {
        // The sixth difference of a smooth field is of order (h / l)^6, here 1e-13; what exceeds it is
        // roughness, amplified by about 100 (30 for its deviation, 4 for the largest of many).
        let points = Points::linspace(0.0, 1.0, 8001);
        let field = RandomField::new(&points, |a, b| KERNEL.at(a, b)).unwrap();
        let f = field.block(3, 0);
        let binomial = [1.0, -6.0, 15.0, -20.0, 15.0, -6.0, 1.0];
        let mut worst = 0f64;
        for i in 0..8001 - 6 {
            let difference: f64 = (0..7).map(|j| binomial[j] * f[(i + j, 0)]).sum();
            worst = worst.max(difference.abs());
        }
        assert!(worst < 1e-7, "roughness {worst:e}");
    }

    #[test]
    fn the_sample_covariance_is_the_target_within_sampling_error() {
        let points = Points::linspace(0.0, 0.12, 13);
        let kernel = SquaredExponential {
            sigma: 2.0,
            ..KERNEL
        };
        let field = RandomField::new(&points, |a, b| kernel.at(a, b)).unwrap();
        let count = 20_000;
        let f = field.samples(11, count);
        for i in 0..13 {
            let mean: f64 = (0..count).map(|k| f[(i, k)]).sum::<f64>() / count as f64;
            assert!(
                mean.abs() < 4.5 * 2.0 / (count as f64).sqrt(),
                "mean {mean}"
            );
            for j in 0..=i {
                let found = (0..count).map(|k| f[(i, k)] * f[(j, k)]).sum::<f64>() / count as f64;
                let target = kernel.at(points.point(i), points.point(j));
                // Var(f_i f_j) = k_ii k_jj + k_ij^2
                let deviation = ((16.0 + target * target) / count as f64).sqrt();
                assert!(
                    (found - target).abs() < 4.5 * deviation,
                    "{i} {j}: {found} {target}"
                );
            }
        }
    }

    #[test]
    fn samples_do_not_depend_on_their_number() {
        let points = Points::linspace(0.0, 1.0, 300);
        let field = RandomField::new(&points, |a, b| KERNEL.at(a, b)).unwrap();
        let many = field.samples(5, 70);
        for count in [1, 2, 31, 33, 64] {
            let few = field.samples(5, count);
            assert!(few.as_ref() == many.as_ref().subcols(0, count), "{count}");
        }
        assert!(field.samples(6, 1).col(0) != many.col(0));
        assert!(many.col(0) != many.col(32));
    }

    #[test]
    fn a_covariance_that_is_none_is_refused() {
        let points = Points::linspace(0.0, 1.0, 3);
        assert!(RandomField::new(&points, |_, _| 0.0).is_err());
        assert!(RandomField::new(&points, |_, _| f64::NAN).is_err());
        let off = |a: &[f64], b: &[f64]| if a == b { 1.0 } else { f64::INFINITY };
        assert!(RandomField::new(&points, off).is_err());
    }
}
