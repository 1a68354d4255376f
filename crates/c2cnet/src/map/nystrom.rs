//! Kernel regression on chosen centres, for more samples than a dense kernel matrix can hold.
//!
//! $$\min_\beta \|K_{NM}\beta - C^\top\|^2 + \nu\,\beta^\top K_{MM}\beta$$
//! is solved in the features $B = K_{NM}L^{-\top}$, $K_{MM} + \epsilon I = LL^\top$, by
//! $(B^\top B + \nu I)\gamma = B^\top C^\top$ accumulated over blocks of samples, $\beta = L^{-\top}\gamma$.

use super::PassSettings;
use super::kernel::{RAISES, does_not_factor};
use super::kernel_function::{
    squared_distances, squared_distances_within, to_kernel, to_kernel_within,
};
use crate::{Result, linalg};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// Keeps $K_{MM}$ positive definite to rounding.
const JITTER: f64 = 1e-12;

/// Samples whose features are held at the same time.
const BLOCK: usize = 2048;

/// The Cholesky factor of `a` with `diagonal` added to its diagonal, ten times as much where that is too little.
fn raised(a: Mat<f64>, diagonal: f64) -> Option<Mat<f64>> {
    (0..=RAISES).find_map(|raise| {
        let mut l = a.clone();
        for i in 0..l.nrows() {
            l[(i, i)] += diagonal * 10f64.powi(raise);
        }
        linalg::cholesky_in_place(l.as_mut()).then_some(l)
    })
}

/// Centres (a seeded random choice of samples) and weights $\beta^\top$, outputs by centres.
pub(super) fn fit(
    z: MatRef<'_, f64>,
    c: MatRef<'_, f64>,
    pass: PassSettings,
    centres: usize,
    seed: u64,
) -> Result<(Mat<f64>, Mat<f64>)> {
    let n = z.ncols();
    let mut chosen: Vec<usize> = (0..n).collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    chosen.shuffle(&mut rng);
    chosen.truncate(centres);
    chosen.sort_unstable();
    let centres = linalg::select_columns(z, &chosen);
    let m = centres.ncols();

    let mut kernel = squared_distances_within(centres.as_ref());
    to_kernel_within(&mut kernel, pass.kernel, pass.length);
    let l = raised(kernel, JITTER).ok_or_else(|| does_not_factor(pass))?;

    let mut gram = Mat::zeros(m, m);
    let mut right = Mat::zeros(m, c.nrows());
    for start in (0..n).step_by(BLOCK) {
        let take = BLOCK.min(n - start);
        // Columns of `b` are samples: b = L^{-1} K_{MN}.
        let mut b = squared_distances(centres.as_ref(), z.subcols(start, take));
        to_kernel(&mut b, pass.kernel, pass.length);
        solve_lower_triangular_in_place(l.as_ref(), b.as_mut(), linalg::par());
        linalg::add_gram(gram.as_mut(), b.as_ref());
        let targets = c.subcols(start, take);
        linalg::mul_add(right.as_mut(), b.as_ref(), targets.transpose(), 1.0);
    }
    let nugget = pass.nugget.max(JITTER * n as f64);
    let factor = raised(gram, nugget).ok_or_else(|| does_not_factor(pass))?;
    linalg::cholesky_solve_in_place(factor.as_ref(), right.as_mut());
    solve_upper_triangular_in_place(l.transpose(), right.as_mut(), linalg::par());
    Ok((centres, right.transpose().to_owned()))
}
