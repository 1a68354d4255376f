//! Re-weighting of features by the average gradient outer product of a fitted kernel map.

use super::kernel::{Features, does_not_factor, solve};
use super::kernel_function::{squared_distances_within, to_kernel_within};
use super::{Mirrors, PassSettings};
use crate::{Result, linalg};
use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Output directions along which gradients are taken.
const DIRECTIONS: usize = 60;

/// Training points at which gradients are averaged, at most.
const POINTS: usize = 4000;

/// About how many multiplications one average may take: larger problems use fewer points.
const WORK: usize = 150_000_000_000;

/// Parts of the average that are summed separately; fixed, so that the sum has the same bits on
/// any number of threads.
const PARTS: usize = 16;

/// Samples of the kernel map whose gradients are averaged, at most: gradients need less
/// data than predictions, and the kernel matrix must fit.
const SAMPLES: usize = 4000;

/// One pass: $z \leftarrow \Lambda^{1/2}E^\top z$, where
/// $G = \frac1n\sum_j J_j^\top J_j = E\Lambda E^\top$ is scaled to unit largest eigenvalue.
pub(super) fn reweight(
    features: &Features,
    coefficients: MatRef<'_, f64>,
    centred: MatRef<'_, f64>,
    pass: PassSettings,
    seed: u64,
) -> Result<Features> {
    let mut chosen: Vec<usize> = (0..coefficients.ncols()).collect();
    if chosen.len() > SAMPLES {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        chosen.shuffle(&mut rng);
        chosen.truncate(SAMPLES);
        chosen.sort_unstable();
    }
    let z = features.apply(linalg::select_columns(coefficients, &chosen).as_ref());
    let c = leading_directions(linalg::select_columns(centred, &chosen).as_ref())?;
    let distances = squared_distances_within(z.as_ref());
    let mut k = distances.clone();
    to_kernel_within(&mut k, pass.kernel, pass.length);
    let alpha = solve(k, pass.nugget, c.transpose()).ok_or_else(|| does_not_factor(pass))?;
    let g = outer_product(z.as_ref(), alpha.as_ref(), distances.as_ref(), pass);
    // Reflections do not mix features of different parity.
    let mut found: Vec<(f64, usize, Vec<f64>)> = Vec::new();
    for (parity, members) in features.mirrors.classes() {
        let part = Mat::from_fn(members.len(), members.len(), |i, j| {
            g[(members[i], members[j])]
        });
        let (values, vectors) = linalg::symmetric_eigen(part.as_ref())?;
        for (i, value) in values.iter().enumerate().rev() {
            let mut direction = vec![0.0; g.ncols()];
            for (j, &member) in members.iter().enumerate() {
                direction[member] = vectors[(j, i)];
            }
            found.push((*value, parity, direction));
        }
    }
    found.sort_by(|x, y| y.0.total_cmp(&x.0));
    let largest = found.first().map_or(0.0, |f| f.0).max(f64::MIN_POSITIVE);
    // Directions without effect only cost time.
    found.retain(|f| f.0 > 1e-14 * largest);
    let m = Mat::from_fn(found.len(), g.ncols(), |i, j| {
        (found[i].0 / largest).sqrt() * found[i].2[j]
    });
    let parity = found.iter().map(|f| f.1).collect();
    let mirrors = Mirrors::new(features.reflections(), parity);
    Ok(features.reweighted(m.as_ref(), mirrors, coefficients))
}

/// The targets along the principal axes in which they vary most.
fn leading_directions(centred: MatRef<'_, f64>) -> Result<Mat<f64>> {
    if centred.nrows() <= DIRECTIONS {
        return Ok(centred.to_owned());
    }
    let svd = linalg::thin_svd(centred)?;
    let axes = svd.u.as_ref().subcols(0, DIRECTIONS.min(svd.u.ncols()));
    Ok(linalg::mul(axes.transpose(), centred))
}

/// $\frac1n\sum_j J_j^\top J_j$ with
/// $J_j = \sum_i w_{ij}\,\alpha_i\,(z_j - z_i)^\top$, $\nabla k = w\,(z_j - z_i)$.
fn outer_product(
    z: MatRef<'_, f64>,
    alpha: MatRef<'_, f64>,
    distances_squared: MatRef<'_, f64>,
    pass: PassSettings,
) -> Mat<f64> {
    let (q, n) = z.shape();
    let d = alpha.ncols();
    let affordable = WORK / (d * q * n).max(1);
    let points = n.min(POINTS).min(affordable.max(64));
    let inverse = 1.0 / (pass.length * pass.length);
    let alpha_t = alpha.transpose().to_owned();
    let parts: Vec<Mat<f64>> = (0..PARTS)
        .into_par_iter()
        .map(|part| {
            let mut g = Mat::zeros(q, q);
            let mut weighted = Mat::<f64>::zeros(d, n);
            for p in (part..points).step_by(PARTS) {
                let j = p * n / points;
                let mut sum = vec![0.0; d];
                for i in 0..n {
                    // Distances are in the lower half.
                    let d2 = distances_squared[(i.max(j), i.min(j))];
                    let w = inverse * pass.kernel.slope(d2 * inverse);
                    let to = weighted.col_mut(i).iter_mut();
                    for ((t, a), s) in to.zip(alpha_t.col(i).iter()).zip(&mut sum) {
                        *t = w * a;
                        *s += *t;
                    }
                }
                // J = sum x_j^T - weighted Z^T
                let mut jacobian = linalg::mul_seq(weighted.as_ref(), z.transpose());
                for b in 0..q {
                    for (a, s) in sum.iter().enumerate() {
                        jacobian[(a, b)] = s * z[(b, j)] - jacobian[(a, b)];
                    }
                }
                faer::linalg::matmul::matmul(
                    g.as_mut(),
                    faer::Accum::Add,
                    jacobian.transpose(),
                    jacobian.as_ref(),
                    1.0 / points as f64,
                    faer::Par::Seq,
                );
            }
            g
        })
        .collect();
    let mut total = Mat::zeros(q, q);
    for part in parts {
        total += part;
    }
    total
}
