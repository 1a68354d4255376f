//! Encoding one sample at its own points.

use super::Regularisation;
use crate::{Result, linalg};
use faer::{Mat, MatRef};

/// Coefficients of one sample: `design` at its points, `values` there.
///
/// Ridge goes through the QR factorisation of $\binom{\Phi}{\sqrt{n\lambda}\,I}$, cut-offs through
/// the SVD; both on the calling thread, because samples run beside each other.
///
/// # Errors
/// If the singular value decomposition does not converge.
pub fn encode_sample(
    design: MatRef<'_, f64>,
    values: &[f64],
    regularisation: Regularisation,
) -> Result<Vec<f64>> {
    let (n, m) = design.shape();
    match regularisation {
        Regularisation::Ridge { lambda } if lambda > 0.0 => {
            let root = (n as f64 * lambda).sqrt();
            let mut stacked = Mat::zeros(n + m, m + 1);
            stacked.as_mut().submatrix_mut(0, 0, n, m).copy_from(design);
            for j in 0..m {
                stacked[(n + j, j)] = root;
            }
            for (i, v) in values.iter().enumerate() {
                stacked[(i, m)] = *v;
            }
            Ok(augmented_least_squares(stacked))
        }
        _ => {
            let svd = linalg::thin_svd_seq(design)?;
            let filter = regularisation.filter(&svd.s, n);
            let noise = f64::EPSILON * n.max(m) as f64 * svd.s.first().copied().unwrap_or(0.0);
            let mut coefficients = vec![0.0; m];
            for (j, g) in filter.iter().enumerate() {
                if svd.s[j] <= noise {
                    break;
                }
                let u = svd.u.col(j);
                let weight = g * u.iter().zip(values).map(|(u, v)| u * v).sum::<f64>();
                for (c, v) in coefficients.iter_mut().zip(svd.v.col(j).iter()) {
                    *c += weight * v;
                }
            }
            Ok(coefficients)
        }
    }
}

/// Solves $\min \|Ac - f\|$ for `stacked` $= [A, f]$ with $A$ of full column rank: the last column
/// of the triangular factor of $[A, f]$ is $Q^\top f$, so no separate product is needed.
fn augmented_least_squares(stacked: Mat<f64>) -> Vec<f64> {
    let m = stacked.ncols() - 1;
    let r = linalg::Qr::new_seq(stacked).r();
    let mut solution: Vec<f64> = (0..m).map(|i| r[(i, m)]).collect();
    for j in (0..m).rev() {
        solution[j] /= r[(j, j)];
        let s = solution[j];
        for i in 0..j {
            solution[i] -= s * r[(i, j)];
        }
    }
    solution
}
