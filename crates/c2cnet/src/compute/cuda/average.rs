//! The average gradient outer product of a kernel map on a GPU.

use super::dense::flat;
use super::stream_guard::StreamGuard;
use crate::Result;
use crate::compute::gradients::signs;
use crate::compute::{Effort, Gradients};
use rayon::prelude::*;

/// Rows of Jacobians that are computed together.
const ROWS: usize = 8192;

/// The average that `gradients` asks for.
pub(super) struct Average<'a> {
    gradients: &'a Gradients<'a>,
    effort: Effort,
}

/// Its matrices as a GPU takes them.
pub(super) struct Flat {
    z: Vec<f64>,
    weights: Vec<f64>,
    distances: Vec<f64>,
    batches: Vec<Batch>,
}

/// Points whose Jacobians are computed together, with the signs of their combinations stacked.
struct Batch {
    points: Vec<u32>,
    signs: Vec<f64>,
}

impl<'a> Average<'a> {
    pub(super) fn new(gradients: &'a Gradients<'a>, effort: Effort) -> Self {
        Average { gradients, effort }
    }

    /// How many values it needs on the GPU.
    pub(super) fn numbers(&self) -> usize {
        let (q, n) = self.gradients.z.shape();
        let d = self.gradients.weights.nrows();
        n * n + (ROWS + d) * (n + q + d) + q * (n + q)
    }

    /// The factor that the sum over points is multiplied by.
    pub(super) fn share(&self) -> f64 {
        let Effort { points, rows } = self.effort;
        1.0 / (points * if self.combined() { rows } else { 1 }) as f64
    }

    fn combined(&self) -> bool {
        self.effort.rows < self.gradients.weights.nrows()
    }

    pub(super) fn flat(&self) -> Flat {
        let (n, Effort { points, rows }) = (self.gradients.z.ncols(), self.effort);
        let chosen: Vec<u32> = (0..points).map(|p| (p * n / points) as u32).collect();
        let together = (ROWS / rows.max(1)).max(1);
        let batches = chosen.par_chunks(together).map(|points| Batch {
            signs: self.signs(points),
            points: points.to_vec(),
        });
        Flat {
            z: flat(self.gradients.z),
            weights: flat(self.gradients.weights.as_ref()),
            distances: flat(self.gradients.distances),
            batches: batches.collect(),
        }
    }

    /// The same signs at each point as on the CPU; none where all directions are taken.
    fn signs(&self, points: &[u32]) -> Vec<f64> {
        if !self.combined() {
            return Vec::new();
        }
        let (rows, d) = (self.effort.rows, self.gradients.weights.nrows());
        let mut all = vec![0.0; points.len() * rows * d];
        for (slot, &point) in points.iter().enumerate() {
            let own = signs(rows, d, self.gradients.seed.wrapping_add(u64::from(point)));
            for c in 0..d {
                let to = (c * points.len() + slot) * rows;
                for (v, sign) in all[to..to + rows].iter_mut().zip(own.col(c).iter()) {
                    *v = *sign;
                }
            }
        }
        all
    }

    /// $\sum_j J_j^\top J_j$.
    pub(super) fn sum(&self, stream: &StreamGuard<'_>, flat: &Flat) -> Result<Vec<f64>> {
        let (q, n) = self.gradients.z.shape();
        let (d, each, pass) = (
            self.gradients.weights.nrows(),
            self.effort.rows,
            self.gradients.pass,
        );
        let z = stream.send(&flat.z, q, n)?;
        let weights = stream.send(&flat.weights, d, n)?;
        let squared = stream.send(&flat.distances, n, n)?;
        let ones = stream.send(&vec![1.0; n], n, 1)?;
        let total = stream.zeros(q, q)?;
        for batch in &flat.batches {
            let rows = each * batch.points.len();
            let (weighted, from) = match self.combined() {
                true => {
                    let signs = stream.send(&batch.signs, rows, d)?;
                    (stream.product((&signs, false), (&weights, false))?, None)
                }
                false => (stream.zeros(rows, n)?, Some(&weights)),
            };
            let points = stream.numbers(&batch.points)?;
            stream.weigh(&weighted, from, &squared, (&points, each), pass)?;
            let sums = stream.product((&weighted, false), (&ones, false))?;
            let jacobian = stream.product((&weighted, false), (&z, true))?;
            stream.jacobians(&jacobian, &sums, &z, (&points, each))?;
            stream.add_product((&jacobian, true), (&jacobian, false), &total)?;
        }
        stream.fetch(&total)
    }
}
