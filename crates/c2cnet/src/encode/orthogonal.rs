//! Columns that are orthogonal as they come: those of learned and hybrid spaces at the points they were learned at.
//!
//! Then $\Phi = U\operatorname{diag}(\sigma)$ with $\sigma_j = \|\varphi_j\|$, and the Gram matrix that shows this takes
//! the place of a QR factorisation, its $Q$ and singular values.

use crate::linalg;
use faer::MatRef;

/// Scalar products this small, relative to the norms, are rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Columns that are compared with all others first: those that are not orthogonal rarely get further.
const PROBES: usize = 4;

/// The norms of the columns if these are orthogonal up to rounding and none is zero.
pub(super) fn orthogonal_norms(a: MatRef<'_, f64>) -> Option<Vec<f64>> {
    let m = a.ncols();
    if m == 0 || m > a.nrows() {
        return None;
    }
    let norms: Vec<f64> = linalg::column_norms_squared(a);
    let norms: Vec<f64> = norms.into_iter().map(f64::sqrt).collect();
    if !norms.iter().all(|n| n.is_finite() && *n > 0.0) {
        return None;
    }
    let orthogonal = |products: MatRef<'_, f64>, columns: &[usize], below: bool| {
        columns.iter().enumerate().all(|(k, &j)| {
            let first = if below { j + 1 } else { 0 };
            (first..m)
                .filter(|&i| i != j)
                .all(|i| products[(i, k)].abs() <= ROUNDING * norms[i] * norms[j])
        })
    };
    let some: Vec<usize> = (0..m).step_by(m.div_ceil(PROBES)).collect();
    let probes = linalg::select_columns(a, &some);
    let products = linalg::mul(a.transpose(), probes.as_ref());
    if !orthogonal(products.as_ref(), &some, false) {
        return None;
    }
    let all: Vec<usize> = (0..m).collect();
    let gram = linalg::lower_gram(a.transpose());
    orthogonal(gram.as_ref(), &all, true).then_some(norms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn orthogonal_columns_are_told_from_others() {
        let a = Mat::from_fn(300, 40, |i, j| ((i * (j + 2) + j * j) as f64 * 0.37).sin());
        assert!(orthogonal_norms(a.as_ref()).is_none());
        let mut q = linalg::Qr::new(a).thin_q_seq();
        for j in 0..40 {
            let size = 10f64.powi(j as i32 % 7 - 3);
            q.col_mut(j).iter_mut().for_each(|v| *v *= size);
        }
        let norms = orthogonal_norms(q.as_ref()).unwrap();
        for (j, norm) in norms.iter().enumerate() {
            let size = 10f64.powi(j as i32 % 7 - 3);
            assert!((norm / size - 1.0).abs() < 1e-13, "{norm} {size}");
        }
        // One pair that no probe sees.
        let leans = q.col(17).to_owned();
        q.col_mut(18)
            .iter_mut()
            .zip(leans.iter())
            .for_each(|(v, l)| *v += 1e-9 * l);
        assert!(orthogonal_norms(q.as_ref()).is_none());
        q.col_mut(5).fill(0.0);
        assert!(orthogonal_norms(q.as_ref()).is_none());
        assert!(orthogonal_norms(Mat::zeros(3, 5).as_ref()).is_none());
    }
}
