//! The space that a decoder retains, at the points of a field: $\Psi T$, components stacked.

use crate::basis::{Design, Separable};
use crate::encode::Range;
use crate::linalg;
use faer::{Mat, MatRef};

/// $\Psi T$, formed only where it is not a product over the axes of a grid.
pub(super) enum Retained<'a> {
    Dense(Mat<f64>),
    Separable(Separable, &'a Mat<f64>),
}

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
            design => Retained::Dense(design.mul(transform.as_ref())),
        }
    }

    pub(super) fn nrows(&self) -> usize {
        match self {
            Retained::Dense(space) => space.nrows(),
            Retained::Separable(design, _) => design.nrows(),
        }
    }

    /// The rows at `indices`.
    pub(super) fn rows(&self, indices: &[usize]) -> Mat<f64> {
        match self {
            Retained::Dense(space) => linalg::select_rows(space.as_ref(), indices),
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
