//! Readings at each sample's own points: a few equations for the coordinates of an output.
//!
//! Where samples share their points, coordinates are known and the error of a prediction is a distance between
//! coordinates. A sample with its own points may have fewer readings than there are coordinates: it only says that
//! $D_kc_k \approx u_k$, $D_k$ the orthonormal functions at its points. All samples together say much more, so maps
//! are fitted to these equations and judged by them.

use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use std::sync::Arc;

/// The readings of one sample as equations for its coordinates or coefficients, no more of them than unknowns.
#[derive(Debug, Clone)]
pub struct SampleTarget {
    /// $R_k$ of $D_k = Q_kR_k$, or $D_k$ itself where it has no more rows than columns.
    pub(crate) factor: Arc<Mat<f64>>,
    /// $Q_k^\top u_k$, or $u_k$ itself.
    pub(crate) target: Vec<f64>,
    /// $\|u_k - Q_kQ_k^\top u_k\|^2$.
    pub(crate) outside_squared: f64,
    /// $\|u_k\|^2$.
    pub(crate) norm_squared: f64,
    /// How many readings there are.
    pub(crate) count: usize,
}

impl SampleTarget {
    /// Reduces $\|D_kc - u_k\|^2$.
    ///
    /// # Errors
    /// If there is no value, or not one per row.
    pub fn new(design: MatRef<'_, f64>, values: &[f64]) -> Result<Self> {
        let (n, m) = design.shape();
        if values.len() != n || n == 0 {
            return Err(Error::shape(
                "output values of a sample",
                format!("({n}), at least one"),
                format!("({})", values.len()),
            ));
        }
        let norm_squared = values.iter().map(|v| v * v).sum();
        // With no more points than functions a factor is no smaller than the matrix.
        if n <= m {
            return Ok(SampleTarget {
                factor: Arc::new(design.to_owned()),
                target: values.to_vec(),
                outside_squared: 0.0,
                norm_squared,
                count: n,
            });
        }
        let qr = linalg::Qr::new_seq(design.to_owned());
        let mut rotated = Mat::from_fn(n, 1, |i, _| values[i]);
        qr.qt_mul_in_place_seq(rotated.as_mut());
        let rotated = rotated.col_as_slice(0);
        Ok(SampleTarget {
            factor: Arc::new(qr.r()),
            target: rotated[..m].to_vec(),
            outside_squared: rotated[m..].iter().map(|v| v * v).sum(),
            norm_squared,
            count: n,
        })
    }

    /// Coordinates that are known themselves, with what of the sample lies outside them.
    pub(super) fn known(coordinates: Vec<f64>, outside_squared: f64, norm_squared: f64) -> Self {
        let rank = coordinates.len();
        SampleTarget {
            factor: Arc::new(Mat::identity(rank, rank)),
            target: coordinates,
            outside_squared,
            norm_squared,
            count: rank,
        }
    }

    /// The equations of several parts of the coordinates as one.
    pub(super) fn joined(parts: &[SampleTarget]) -> Self {
        let rows = parts.iter().map(|p| p.factor.nrows()).sum();
        let columns = parts.iter().map(|p| p.factor.ncols()).sum();
        let mut factor = Mat::zeros(rows, columns);
        let (mut row, mut column) = (0, 0);
        for part in parts {
            let (m, n) = part.factor.shape();
            let mut block = factor.as_mut().submatrix_mut(row, column, m, n);
            block.copy_from(&*part.factor);
            (row, column) = (row + m, column + n);
        }
        SampleTarget {
            factor: Arc::new(factor),
            target: parts.iter().flat_map(|p| p.target.clone()).collect(),
            outside_squared: parts.iter().map(|p| p.outside_squared).sum(),
            norm_squared: parts.iter().map(|p| p.norm_squared).sum(),
            count: parts.iter().map(|p| p.count).sum(),
        }
    }

    /// $Q_k^\top u_k - R_kc$ of the coordinates in column `k`.
    pub(crate) fn residual(&self, coordinates: MatRef<'_, f64>, k: usize) -> Vec<f64> {
        let fitted = linalg::mul_seq((*self.factor).as_ref(), coordinates.subcols(k, 1));
        let fitted = fitted.col_as_slice(0).iter();
        self.target.iter().zip(fitted).map(|(t, f)| t - f).collect()
    }

    /// $\|D_kc - u_k\|^2$ of the coordinates in column `k`: the squared error at the readings.
    pub(crate) fn error_squared(&self, coordinates: MatRef<'_, f64>, k: usize) -> f64 {
        let residual = self.residual(coordinates, k);
        residual.iter().map(|r| r * r).sum::<f64>() + self.outside_squared
    }
}
