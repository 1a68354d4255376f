//! Dense design matrices of thousands of functions, factored by products that all threads share.
//!
//! A singular value decomposition takes ten times the operations of a QR factorisation, and most of them wait for memory.
//! Two of its users need less than all of it:
//!
//! - An encoder with a cut needs the triplets above it ([`above`]). Where the cut stands so far above what squaring
//!   loses that $\epsilon\sigma_1^2\ll\sigma_{\rm cut}^2$, eigenvectors $V_k$ of $\Phi^\top\Phi$ span their right
//!   vectors, and the decomposition of $\Phi V_k$ by QR gives them with all their digits.
//! - A decoder without a cut needs orthonormal columns and the way back from them ([`Whole`]): $\Phi = QR$ and $R^{-1}$,
//!   where $R$ is well conditioned.

use super::spectrum::{LONG, from_qr};
use super::{Regularisation, Spectrum};
use crate::basis::Design;
use crate::observe::unless;
use crate::{Result, linalg};
use faer::{Mat, MatRef};

/// Rounding of $\Phi^\top\Phi$ and of its eigenvalues, in units of $\epsilon\sigma_1^2$.
const LOST: f64 = 16.0;

/// What it may be of $\sigma_{\rm cut}^2$.
const CUT_PRECISION: f64 = 1e-4;

/// Eigenvalues this much below $\sigma_{\rm cut}^2$ are kept until exact singular values decide.
const MARGIN: f64 = 0.1;

/// The largest condition of $R$, in the Frobenius norm, with which $\Phi R^{-1}$ counts as orthonormal.
const CONDITION: f64 = 1e9;

/// Whether a dense design is worth these ways.
pub(super) fn is_large(dense: &Mat<f64>) -> bool {
    dense.nrows() >= dense.ncols() && dense.ncols() >= LONG
}

/// The singular triplets that a cut keeps, and perhaps a few below; `None` if there is no cut, or too small a one.
///
/// # Errors
/// If a decomposition does not converge.
pub(super) fn above(
    dense: MatRef<'_, f64>,
    regularisation: Regularisation,
) -> Result<Option<Spectrum>> {
    let (cut, relative) = match regularisation {
        Regularisation::Ridge { .. } => return Ok(None),
        Regularisation::CutAbsolute { cut } => (cut, false),
        Regularisation::CutRelative { cut } => (cut, true),
    };
    let largest = linalg::largest_singular_value(dense);
    let cut = if relative { cut * largest } else { cut };
    let threshold = cut * cut;
    if LOST * f64::EPSILON * largest * largest > CUT_PRECISION * threshold {
        return Ok(None);
    }
    let m = dense.ncols();
    let gram = linalg::lower_gram(dense.transpose());
    let (values, vectors) = linalg::symmetric_eigen(gram.as_ref())?;
    let kept = |&i: &usize| values[i] >= (1.0 - MARGIN) * threshold;
    let kept: Vec<usize> = (0..m).rev().take_while(kept).collect();
    if kept.is_empty() {
        return Ok(None);
    }
    let space = linalg::select_columns(vectors.as_ref(), &kept);
    let inside = from_qr(linalg::Qr::new(linalg::mul(dense, space.as_ref())))?;
    Ok(Some(inside.turned_by(space.as_ref())))
}

/// A design matrix of which everything but rounding is kept.
#[derive(Debug)]
pub(crate) enum Whole {
    /// By its triangular factor.
    Triangular(Triangular),
    /// By its singular values, where they are few or differ too much.
    Spectrum(Spectrum),
}

/// $\Phi = QR$ with a well conditioned $R$.
#[derive(Debug)]
pub(crate) struct Triangular {
    q: linalg::Qr,
    inverse: Mat<f64>,
}

impl Whole {
    /// Factors a design matrix for one fit; as [`Spectrum::of_one_fit`] unless it is dense and has thousands of
    /// functions.
    ///
    /// # Errors
    /// As [`Spectrum::of_one_fit`].
    pub(crate) fn of_one_fit(design: Design, cancelled: &dyn Fn() -> bool) -> Result<Self> {
        match design {
            Design::Dense(dense) if is_large(&dense) => {
                unless(cancelled, move || Self::of_dense(dense))?
            }
            design => Spectrum::of_one_fit(design, cancelled).map(Whole::Spectrum),
        }
    }

    fn of_dense(dense: Mat<f64>) -> Result<Self> {
        let (n, m) = dense.shape();
        let q = linalg::Qr::new(dense);
        let r = q.r();
        // A zero on the diagonal gives infinities or NaN: no condition below the limit.
        let mut inverse = Mat::identity(m, m);
        linalg::solve_upper(r.as_ref(), inverse.as_mut());
        if r.norm_l2() * inverse.norm_l2() <= CONDITION {
            return Ok(Whole::Triangular(Triangular { q, inverse }));
        }
        let full = from_qr(q)?;
        Ok(Whole::Spectrum(full.above_rounding(n.max(m))))
    }
}

impl Triangular {
    /// $T = R^{-1}$: coefficients from orthonormal coordinates.
    pub(crate) fn into_inverse_transform(self) -> Mat<f64> {
        self.inverse
    }

    /// $Q^\top F$ and $\|f - QQ^\top f\|^2$ of each column.
    pub(crate) fn split(&self, f: MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>) {
        let turned = self.q.qt_mul(f);
        let (inside, outside) = turned.as_ref().split_at_row(self.inverse.nrows());
        (inside.to_owned(), linalg::column_norms_squared(outside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, RandomFeatures, RandomFeaturesSpec};
    use crate::data::{Bounds, Points};

    /// Random features on one patch, with singular values from 1e2 down to `least` or so.
    fn features(functions: usize, scale: f64) -> Mat<f64> {
        let spec = RandomFeaturesSpec {
            scale,
            ..RandomFeaturesSpec::new(functions)
        };
        let basis = RandomFeatures::new(Bounds::unit(2), spec).unwrap();
        let points = Points::grid(&Bounds::unit(2), &[23, 19]);
        basis.evaluate(&points).unwrap().to_dense()
    }

    fn samples(n: usize) -> Mat<f64> {
        Mat::from_fn(n, 6, |i, k| ((i * (k + 3)) as f64 * 0.01).sin())
    }

    #[test]
    fn triplets_above_a_cut_are_those_of_the_whole_decomposition() {
        let dense = features(60, 3.0);
        let whole = Spectrum::new(Design::Dense(dense.clone())).unwrap();
        let largest = whole.singular_values()[0];
        for cut in [1e-1, 1e-3, 1e-5] {
            for regularisation in [
                Regularisation::CutRelative { cut },
                Regularisation::CutAbsolute { cut: cut * largest },
            ] {
                let found = above(dense.as_ref(), regularisation).unwrap().unwrap();
                let rank = whole.rank_above(cut * largest);
                assert_eq!(found.rank_above(cut * largest), rank, "{cut}");
                assert!(found.rank() < dense.ncols() || rank == dense.ncols());
                let pairs = found.singular_values().iter().zip(whole.singular_values());
                for (a, b) in pairs.take(rank) {
                    assert!((a / b - 1.0).abs() < 1e-9, "{cut}: {a} {b}");
                }
                // Coefficients, which do not depend on signs.
                let f = samples(dense.nrows());
                let encode = |spectrum: Spectrum| {
                    super::super::Encoder::new(spectrum, regularisation).encode(f.as_ref())
                };
                let again = Spectrum::new(Design::Dense(dense.clone())).unwrap();
                let (a, b) = (encode(found), encode(again));
                let off = (&a - &b).norm_max() / b.norm_max();
                assert!(off < 1e-4, "{cut}: {off}");
            }
        }
    }

    #[test]
    fn cuts_that_squaring_would_lose_and_ridges_are_left_to_singular_values() {
        let dense = features(60, 3.0);
        for regularisation in [
            Regularisation::CutRelative { cut: 1e-7 },
            Regularisation::CutAbsolute { cut: 0.0 },
            Regularisation::Ridge { lambda: 1e-2 },
        ] {
            assert!(above(dense.as_ref(), regularisation).unwrap().is_none());
        }
        // A cut above everything keeps nothing.
        let cut = Regularisation::CutAbsolute { cut: 1e9 };
        assert!(above(dense.as_ref(), cut).unwrap().is_none());
    }

    #[test]
    fn triangular_factors_split_as_singular_vectors_do() {
        let dense = features(24, 3.0);
        let f = samples(dense.nrows());
        let Whole::Triangular(found) = Whole::of_dense(dense.clone()).unwrap() else {
            panic!("well conditioned")
        };
        let (c, outside) = found.split(f.as_ref());
        let whole = Spectrum::new(Design::Dense(dense.clone())).unwrap();
        let expected = whole.project(f.as_ref());
        let residuals = whole.residuals_squared(f.as_ref(), expected.as_ref(), None);
        for (a, b) in outside.iter().zip(&residuals) {
            assert!((a - b).abs() < 1e-9 * b, "{a} {b}");
        }
        // The same function, from coordinates by way of coefficients.
        let fitted = |transform: &Mat<f64>, c: &Mat<f64>| {
            let b = linalg::mul(transform.as_ref(), c.as_ref());
            linalg::mul(dense.as_ref(), b.as_ref())
        };
        let ours = fitted(&found.into_inverse_transform(), &c);
        let off = (ours - fitted(&whole.inverse_transform(), &expected)).norm_max();
        assert!(off < 1e-7, "{off}");
    }

    #[test]
    fn dependent_columns_are_left_to_singular_values() {
        let mut dense = features(24, 3.0);
        let copy = dense.col(3).to_owned();
        dense.col_mut(20).copy_from(&copy);
        let Whole::Spectrum(spectrum) = Whole::of_dense(dense).unwrap() else {
            panic!("singular")
        };
        assert_eq!(spectrum.rank(), 23);
    }
}
