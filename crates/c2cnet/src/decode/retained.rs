//! The space that a decoder retains, at the points of a field: $\Psi T$, components stacked.

use crate::basis::{Design, Separable};
use crate::encode::Range;
use crate::linalg;
use faer::{Mat, MatRef};

/// $\Psi T$, formed only where it is not a product over the axes of a grid, nor one of thousands of functions that is
/// orthonormal as it stands.
pub(super) enum Retained<'a> {
    Dense(Mat<f64>),
    Separable(Separable, &'a Mat<f64>),
    /// $\Psi$ and $T$ with $(\Psi T)^\top\Psi T = I$: at the points that were fitted.
    Orthonormal(Mat<f64>, &'a Mat<f64>),
}

/// From this many functions on, forming and factoring $\Psi T$ takes a minute: then it is first tried on a few vectors.
const MANY: usize = 1500;

/// Vectors that try it, and how far what comes back may be from them.
const PROBES: usize = 3;
const TOLERANCE: f64 = 1e-7;

/// Values in a retained space $\Psi T = QR$ and outside of it.
pub(super) struct Parts {
    pub r: Mat<f64>,
    /// $Q^\top u$, one column per sample.
    pub inside: Mat<f64>,
    /// $\|u - QQ^\top u\|^2$ of each sample.
    pub outside_squared: Vec<f64>,
}

impl<'a> Retained<'a> {
    pub(super) fn new(design: Design, transform: &'a Mat<f64>) -> Self {
        match design {
            Design::Separable(design) => Retained::Separable(design, transform),
            Design::Dense(design)
                if transform.ncols() >= MANY && is_orthonormal(&design, transform) =>
            {
                Retained::Orthonormal(design, transform)
            }
            design => Retained::Dense(design.mul(transform.as_ref())),
        }
    }

    pub(super) fn nrows(&self) -> usize {
        match self {
            Retained::Dense(space) => space.nrows(),
            Retained::Orthonormal(design, _) => design.nrows(),
            Retained::Separable(design, _) => design.nrows(),
        }
    }

    /// The rows at `indices`.
    pub(super) fn rows(&self, indices: &[usize]) -> Mat<f64> {
        match self {
            Retained::Dense(space) => linalg::select_rows(space.as_ref(), indices),
            Retained::Orthonormal(design, transform) => linalg::mul(
                linalg::select_rows(design.as_ref(), indices).as_ref(),
                transform.as_ref(),
            ),
            Retained::Separable(design, transform) => {
                linalg::mul(design.dense_rows(indices).as_ref(), transform.as_ref())
            }
        }
    }

    /// $(\Psi T)^\top u$ at the rows that are not `withheld`.
    pub(super) fn transpose_mul(&self, values: MatRef<'_, f64>, withheld: &[bool]) -> Mat<f64> {
        match self {
            Retained::Dense(space) => {
                let seen: Vec<usize> = (0..withheld.len()).filter(|&i| !withheld[i]).collect();
                linalg::mul(
                    linalg::select_rows(space.as_ref(), &seen).transpose(),
                    linalg::select_rows(values, &seen).as_ref(),
                )
            }
            Retained::Orthonormal(design, transform) => {
                let mut seen = values.to_owned();
                for (i, _) in withheld.iter().enumerate().filter(|(_, w)| **w) {
                    seen.row_mut(i).fill(0.0);
                }
                turned(design, transform, seen.as_ref())
            }
            Retained::Separable(design, transform) => {
                let seen = design.clone().without_rows(withheld);
                linalg::mul(transform.transpose(), seen.transpose_mul(values).as_ref())
            }
        }
    }

    /// $(\Psi T)^\top u$: the coordinates, where the space is orthonormal.
    pub(super) fn coordinates(&self, values: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Retained::Dense(space) => linalg::mul(space.transpose(), values),
            Retained::Orthonormal(design, transform) => turned(design, transform, values),
            Retained::Separable(design, transform) => {
                linalg::mul(transform.transpose(), design.transpose_mul(values).as_ref())
            }
        }
    }

    pub(super) fn split(self, values: MatRef<'_, f64>) -> Parts {
        match self {
            Retained::Dense(space) => {
                let qr = linalg::Qr::new(space);
                let r = qr.r();
                // Applying the full Q to the values leaves the floor in the rows outside the space, and a thin Q,
                // as expensive as the factorisation, is never formed.
                let turned = qr.qt_mul(values);
                let (inside, off) = turned.as_ref().split_at_row(r.nrows());
                Parts {
                    inside: inside.to_owned(),
                    outside_squared: linalg::column_norms_squared(off),
                    r,
                }
            }
            Retained::Orthonormal(design, transform) => {
                let inside = turned(&design, transform, values);
                let fitted = expanded(&design, transform, inside.as_ref());
                let off = values - fitted;
                Parts {
                    outside_squared: linalg::column_norms_squared(off.as_ref()),
                    r: Mat::identity(inside.nrows(), inside.nrows()),
                    inside,
                }
            }
            Retained::Separable(design, transform) => {
                let range = Range::new(&design, transform.as_ref());
                let inside = range.project(values);
                Parts {
                    outside_squared: range.residuals_squared(values, inside.as_ref()),
                    inside,
                    r: range.into_factor(),
                }
            }
        }
    }
}

/// $\Psi Tc$.
fn expanded(design: &Mat<f64>, transform: &Mat<f64>, c: MatRef<'_, f64>) -> Mat<f64> {
    linalg::mul(design.as_ref(), linalg::mul(transform.as_ref(), c).as_ref())
}

/// $(\Psi T)^\top u$.
fn turned(design: &Mat<f64>, transform: &Mat<f64>, values: MatRef<'_, f64>) -> Mat<f64> {
    let at_functions = linalg::mul(design.transpose(), values);
    linalg::mul(transform.transpose(), at_functions.as_ref())
}

/// Whether $(\Psi T)^\top\Psi Tx = x$ for a few $x$.
fn is_orthonormal(design: &Mat<f64>, transform: &Mat<f64>) -> bool {
    let x = Mat::from_fn(transform.ncols(), PROBES, |i, k| {
        ((i * PROBES + k + 1) as f64 * 0.618_033_988_749_895).fract() - 0.5
    });
    let there = expanded(design, transform, x.as_ref());
    let back = turned(design, transform, there.as_ref());
    let within = |k: usize| {
        let mut pairs = back.col(k).iter().zip(x.col(k).iter());
        pairs.all(|(a, b)| (a - b).abs() <= TOLERANCE)
    };
    (0..PROBES).all(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A design and what makes its columns orthonormal.
    fn orthonormal() -> (Mat<f64>, Mat<f64>) {
        let design = Mat::from_fn(40, 12, |i, j| ((i * 7 + j * j + i * j) as f64 * 0.3).sin());
        let qr = linalg::Qr::new(design.clone());
        let mut inverse = Mat::identity(12, 12);
        linalg::solve_upper(qr.r().as_ref(), inverse.as_mut());
        (design, inverse)
    }

    #[test]
    fn what_is_orthonormal_as_it_stands_is_split_without_a_factorisation() {
        let (design, transform) = orthonormal();
        assert!(is_orthonormal(&design, &transform));
        let scaled = &transform * faer::Scale(1.01);
        assert!(!is_orthonormal(&design, &scaled));
        let values = Mat::from_fn(40, 5, |i, k| ((i * (k + 2)) as f64 * 0.1).cos());
        let formed = linalg::mul(design.as_ref(), transform.as_ref());
        let rows = [3, 8, 20];
        let mut withheld = vec![false; 40];
        rows.iter().for_each(|&i| withheld[i] = true);
        let here = Retained::Orthonormal(design, &transform);
        let there = Retained::Dense(formed);
        let same = |a: Mat<f64>, b: Mat<f64>| assert!((a - b).norm_max() < 1e-11);
        same(here.rows(&rows), there.rows(&rows));
        same(
            here.transpose_mul(values.as_ref(), &withheld),
            there.transpose_mul(values.as_ref(), &withheld),
        );
        same(
            here.coordinates(values.as_ref()),
            there.coordinates(values.as_ref()),
        );
        // Q is known up to signs: what is compared are errors of predictions.
        let predicted = Mat::from_fn(12, 5, |i, k| ((i + k) as f64).sin());
        let errors = |parts: Parts| {
            let off = linalg::mul(parts.r.as_ref(), predicted.as_ref()) - &parts.inside;
            let inside = linalg::column_norms_squared(off.as_ref());
            let both = inside.iter().zip(&parts.outside_squared);
            both.map(|(a, b)| a + b).collect::<Vec<_>>()
        };
        let pairs = [here, there].map(|space| errors(space.split(values.as_ref())));
        for (a, b) in pairs[0].iter().zip(&pairs[1]) {
            assert!((a - b).abs() < 1e-10 * b, "{a} {b}");
        }
    }
}
