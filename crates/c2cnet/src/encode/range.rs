//! Orthonormal coordinates of the space that some combinations of functions span.

use super::orthonormal::Orthonormal;
use crate::basis::Separable;
use crate::linalg;
use faer::{Mat, MatRef};

/// $\Phi T = QR$ for products over the axes of a grid: $\Phi = \hat Q\hat R$ by axes, $\hat RT = \tilde QR$ small,
/// $Q = \hat Q\tilde Q$.
#[derive(Debug)]
pub(crate) struct Range {
    columns: Orthonormal,
    r: Mat<f64>,
}

impl Range {
    pub(crate) fn new(design: &Separable, transform: MatRef<'_, f64>) -> Self {
        let (q, r) = design.axis_factors();
        let products = design.with_factors(q);
        let all: Vec<usize> = (0..products.ncols()).collect();
        let triangle = products.product_of(&r, &all);
        let qr = linalg::Qr::new(linalg::mul(triangle.as_ref(), transform));
        let r = qr.r();
        let rank = r.nrows();
        let mix = qr.q_mul(Mat::<f64>::identity(rank, rank).as_ref());
        Range {
            columns: Orthonormal::Separable {
                products,
                mix: Some(mix),
            },
            r,
        }
    }

    /// $Q^\top F$, one column per sample.
    pub(crate) fn project(&self, f: MatRef<'_, f64>) -> Mat<f64> {
        self.columns.project(f, self.r.nrows())
    }

    /// $\|f - QQ^\top f\|^2$ of each sample, given $Q^\top F$.
    pub(crate) fn residuals_squared(&self, f: MatRef<'_, f64>, c: MatRef<'_, f64>) -> Vec<f64> {
        self.columns.residuals_squared(f, c, None)
    }

    /// $R$.
    pub(crate) fn into_factor(self) -> Mat<f64> {
        self.r
    }
}
