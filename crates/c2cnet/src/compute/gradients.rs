//! The average gradient outer product of a kernel map.

use super::PassSettings;
use crate::linalg;
use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// The most training points at which gradients are averaged.
const POINTS: usize = 4000;

/// About how many multiplications one average may take: as many as some factorisations of the kernel matrix, which the
/// search for its parameters takes as well, within bounds. Larger problems take random combinations of the output directions
/// in place of all of them.
const FACTORISATIONS: usize = 60;
const WORK: std::ops::RangeInclusive<usize> = 1_000_000_000..=50_000_000_000;

/// The fewest combinations at a point: beyond that, points are left out.
const COMBINATIONS: usize = 8;

/// Rows of Jacobians that are computed together.
const ROWS: usize = 64;

/// Parts of the average that are summed separately; fixed, so that the sum has the same bits on
/// any number of threads.
const PARTS: usize = 16;

/// At how many points gradients are taken, and of how many output directions or combinations of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    pub(super) points: usize,
    pub(super) rows: usize,
}

impl Effort {
    /// For `d` output directions, `q` features and `n` samples.
    pub(crate) fn new(d: usize, q: usize, n: usize) -> Self {
        let each = (q * (n + q)).max(1);
        let work = (FACTORISATIONS * n.pow(3) / 3).clamp(*WORK.start(), *WORK.end());
        let points = n.min(POINTS);
        let rows = d.min((work / (each * points)).max(COMBINATIONS));
        let affordable = (work / (each * rows.max(1))).max(ROWS);
        Effort {
            points: points.min(affordable),
            rows,
        }
    }
}

/// What the gradients of a kernel map are computed from:
/// $J_j = \sum_i w_{ij}\,\alpha_i\,(z_j - z_i)^\top$, $\nabla k = w\,(z_j - z_i)$.
pub(crate) struct Gradients<'a> {
    /// Features, one column per sample.
    pub z: MatRef<'a, f64>,
    /// $\alpha^\top$, output directions by samples.
    pub weights: Mat<f64>,
    /// Squared, in the lower half.
    pub distances: MatRef<'a, f64>,
    pub pass: PassSettings,
    /// Of the random signs.
    pub seed: u64,
}

impl Gradients<'_> {
    /// $\frac1n\sum_j J_j^\top J_j$.
    ///
    /// For rows $\xi$ of random signs the mean of $(\xi J)^\top\xi J$ is $J^\top J$: a few of them at every point carry
    /// as much information as all directions at few points.
    pub(super) fn outer_product(&self, effort: Effort) -> Mat<f64> {
        let (q, n) = self.z.shape();
        let Effort { points, rows } = effort;
        let combined = rows < self.weights.nrows();
        let share = 1.0 / (points * if combined { rows } else { 1 }) as f64;
        let together = (ROWS / rows.max(1)).max(1);
        let part = |part: usize| {
            let mut g = Mat::zeros(q, q);
            let mut weighted = Mat::<f64>::zeros(rows * together, n);
            let mine: Vec<usize> = (part..points).step_by(PARTS).collect();
            for batch in mine.chunks(together) {
                let batch: Vec<usize> = batch.iter().map(|p| p * n / points).collect();
                let jacobian = self.jacobians(&batch, rows, &mut weighted);
                crate::linalg::matmul(
                    g.as_mut(),
                    faer::Accum::Add,
                    jacobian.transpose(),
                    jacobian.as_ref(),
                    share,
                    faer::Par::Seq,
                );
            }
            g
        };
        let parts: Vec<Mat<f64>> = (0..PARTS).into_par_iter().map(part).collect();
        let mut total = Mat::zeros(q, q);
        for part in parts {
            total += part;
        }
        total
    }

    /// $J_j$, or `rows` combinations of its rows, for each of the samples `batch`, stacked.
    fn jacobians(&self, batch: &[usize], rows: usize, weighted: &mut Mat<f64>) -> Mat<f64> {
        let (d, n) = self.weights.shape();
        let inverse = 1.0 / (self.pass.length * self.pass.length);
        let mut sums = vec![0.0; rows * batch.len()];
        for (slot, &j) in batch.iter().enumerate() {
            let combined = (rows < d).then(|| {
                let signs = signs(rows, d, self.seed.wrapping_add(j as u64));
                linalg::mul_seq(signs.as_ref(), self.weights.as_ref())
            });
            let weights = combined.as_ref().unwrap_or(&self.weights);
            let sum = &mut sums[slot * rows..(slot + 1) * rows];
            let squared = |i: usize| self.distances[(i.max(j), i.min(j))];
            let mut slopes: Vec<f64> = (0..n).map(squared).collect();
            self.pass.kernel.slopes(&mut slopes, inverse);
            for (i, w) in slopes.into_iter().enumerate() {
                let to = weighted.col_mut(i).subrows_mut(slot * rows, rows);
                let to = to.iter_mut().zip(weights.col(i).iter());
                for ((t, a), s) in to.zip(&mut *sum) {
                    *t = w * a;
                    *s += *t;
                }
            }
        }
        // J = sum z_j^T - weighted Z^T
        let weighted = weighted.as_ref().subrows(0, sums.len());
        let mut jacobian = linalg::mul_seq(weighted, self.z.transpose());
        for b in 0..jacobian.ncols() {
            for (a, s) in sums.iter().enumerate() {
                jacobian[(a, b)] = s * self.z[(b, batch[a / rows])] - jacobian[(a, b)];
            }
        }
        jacobian
    }
}

/// Rows of random signs.
pub(super) fn signs(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| match rng.random::<bool>() {
        true => 1.0,
        false => -1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{KernelFunction, squared_distances_within};

    #[test]
    fn a_few_combinations_tell_as_much_as_all_directions() {
        let (q, n, d) = (6, 400, 30);
        let z = Mat::from_fn(q, n, |i, k| {
            ((i + 1) as f64 * (k as f64 * 0.7 + i as f64)).sin()
        });
        let weights = Mat::from_fn(d, n, |a, k| {
            ((a + 2) as f64 * k as f64 * 0.31).cos() / (1 + a) as f64
        });
        let distances = squared_distances_within(z.as_ref());
        let gradients = Gradients {
            z: z.as_ref(),
            weights,
            distances: distances.as_ref(),
            pass: PassSettings {
                kernel: KernelFunction::Gaussian,
                length: 1.0,
                nugget: 1e-6,
            },
            seed: 3,
        };
        let of = |points, rows| gradients.outer_product(Effort { points, rows });
        let exact = of(n, d);
        let off = |g: Mat<f64>| (g - &exact).norm_l2() / exact.norm_l2();
        let combined = off(of(n, COMBINATIONS));
        assert!(combined < 0.05, "{combined}");
        // The same work spent on all directions at fewer points is less accurate, and small problems are exact.
        assert!(combined < off(of(n * COMBINATIONS / d, d)) + 0.02);
        let Effort { points, rows } = Effort::new(d, q, n);
        assert_eq!((points, rows), (n, d));
    }
}
