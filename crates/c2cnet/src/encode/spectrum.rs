//! The singular value decomposition $\Phi = U\,\mathrm{diag}(\sigma)\,V^\top$ of a design matrix,
//! with $U$ kept in a form that costs what the nonzeros of $\Phi$ cost.
//!
//! Blocks of rows that share columns are compressed first: a cell with more points than functions
//! is replaced by its triangular factor, $\Phi_{\rm cell} = Q_{\rm cell}R_{\rm cell}$. The stacked
//! $R_{\rm cell}$ have a few rows a function, whatever the number of points; their dense QR and
//! the SVD of its $R$ give the rest. No normal equations anywhere: the condition number is not
//! squared.

use crate::basis::{Blocks, Design};
use crate::{Result, linalg};
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// A factored design matrix, cut at its numerical rank.
#[derive(Debug)]
pub struct Spectrum {
    left: Left,
    sigma: Vec<f64>,
    right: Right,
}

/// $V$, `m` x `r`.
#[derive(Debug)]
enum Right {
    Dense(Mat<f64>),
    /// $V_{p(j),j} = 1$; kept as indices because point values have as many functions as points.
    Permutation {
        order: Vec<usize>,
        nrows: usize,
    },
}

/// $U$, `n` x `r`.
#[derive(Debug)]
enum Left {
    Dense(Mat<f64>),
    Cells {
        /// Rows of $\Phi$ cell after cell; rows outside every cell are zero.
        order: Vec<usize>,
        cells: Vec<Cell>,
        /// $U = \mathrm{diag}(Q_{\rm cell})\cdot$ `core`.
        core: Mat<f64>,
        nrows: usize,
    },
    /// One nonzero a row at most: $U_{i,j(i)} = w_i$.
    Selection {
        entries: Vec<Option<(usize, f64)>>,
        ncols: usize,
    },
}

#[derive(Debug)]
struct Cell {
    /// First of the cell's rows in `order`, and how many.
    start: usize,
    len: usize,
    /// First of the cell's rows in `core`.
    offset: usize,
    /// `None` where the cell has too few rows to compress.
    q: Option<Mat<f64>>,
}

/// Samples encoded together: fixed, so that results do not depend on the number of threads.
const COLUMN_CHUNK: usize = 64;

impl Spectrum {
    /// Factors a design matrix and drops singular values at rounding level.
    ///
    /// # Errors
    /// If the singular value decomposition does not converge.
    pub fn new(design: Design) -> Result<Self> {
        let (n, m) = (design.nrows(), design.ncols());
        let full = match design {
            Design::Blocks(blocks) if has_one_column_a_block(&blocks) => selection(&blocks),
            Design::Blocks(blocks) => from_blocks(blocks)?,
            Design::Dense(dense) => from_dense(dense)?,
        };
        let noise = f64::EPSILON * n.max(m) as f64;
        let rank = full.rank_above(noise * full.sigma.first().copied().unwrap_or(0.0));
        Ok(full.truncated(rank))
    }

    /// The singular values above rounding level, descending.
    pub fn singular_values(&self) -> &[f64] {
        &self.sigma
    }

    /// How many singular values are kept.
    pub fn rank(&self) -> usize {
        self.sigma.len()
    }

    /// How many points.
    pub fn nrows(&self) -> usize {
        match &self.left {
            Left::Dense(u) => u.nrows(),
            Left::Cells { nrows, .. } => *nrows,
            Left::Selection { entries, .. } => entries.len(),
        }
    }

    /// How many singular values are at least `cut`.
    pub fn rank_above(&self, cut: f64) -> usize {
        self.sigma
            .iter()
            .take_while(|&&s| s >= cut && s > 0.0)
            .count()
    }

    /// The leading `rank` singular triplets.
    pub fn truncated(mut self, rank: usize) -> Self {
        let rank = rank.min(self.sigma.len());
        let leading = |m: &Mat<f64>| m.as_ref().subcols(0, rank).to_owned();
        if rank < self.sigma.len() {
            self.sigma.truncate(rank);
            match &mut self.right {
                Right::Dense(v) => *v = leading(v),
                Right::Permutation { order, .. } => order.truncate(rank),
            }
            match &mut self.left {
                Left::Dense(u) => *u = leading(u),
                Left::Cells { core, .. } => *core = leading(core),
                Left::Selection { entries, ncols } => {
                    *ncols = rank;
                    for entry in entries {
                        *entry = entry.filter(|e| e.0 < rank);
                    }
                }
            }
        }
        self
    }

    /// $U^\top F$ for values `f` at the points, one column a sample.
    pub fn project(&self, f: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(f.nrows(), self.nrows());
        match &self.left {
            Left::Dense(u) => linalg::mul(u.transpose(), f),
            Left::Cells {
                order, cells, core, ..
            } => {
                let mut out = Mat::zeros(self.rank(), f.ncols());
                linalg::par_column_chunks(out.as_mut(), COLUMN_CHUNK, |start, mut out| {
                    let f = f.subcols(start, out.ncols());
                    let sorted = Mat::from_fn(order.len(), f.ncols(), |i, k| f[(order[i], k)]);
                    let mut small = Mat::zeros(core.nrows(), f.ncols());
                    for cell in cells {
                        let rows = sorted.as_ref().subrows(cell.start, cell.len);
                        let len = cell.q.as_ref().map_or(cell.len, Mat::ncols);
                        let to = small.as_mut().subrows_mut(cell.offset, len);
                        assign_product(to, cell.q.as_ref().map(|q| q.transpose()), rows);
                    }
                    out.copy_from(linalg::mul_seq(core.transpose(), small.as_ref()));
                });
                out
            }
            Left::Selection { entries, ncols } => {
                let mut out = Mat::zeros(*ncols, f.ncols());
                for k in 0..f.ncols() {
                    for (i, entry) in entries.iter().enumerate() {
                        if let &Some((j, w)) = entry {
                            out[(j, k)] += w * f[(i, k)];
                        }
                    }
                }
                out
            }
        }
    }

    /// $U C$: values at the points from orthonormal coordinates.
    pub fn expand(&self, c: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(c.nrows(), self.rank());
        match &self.left {
            Left::Dense(u) => linalg::mul(u.as_ref(), c),
            Left::Cells {
                order, cells, core, ..
            } => {
                let mut out = Mat::zeros(self.nrows(), c.ncols());
                linalg::par_column_chunks(out.as_mut(), COLUMN_CHUNK, |start, mut out| {
                    let small = linalg::mul_seq(core.as_ref(), c.subcols(start, out.ncols()));
                    let mut sorted = Mat::zeros(order.len(), out.ncols());
                    for cell in cells {
                        let len = cell.q.as_ref().map_or(cell.len, Mat::ncols);
                        let from = small.as_ref().subrows(cell.offset, len);
                        let to = sorted.as_mut().subrows_mut(cell.start, cell.len);
                        assign_product(to, cell.q.as_ref().map(Mat::as_ref), from);
                    }
                    for k in 0..out.ncols() {
                        for (i, &row) in order.iter().enumerate() {
                            out[(row, k)] = sorted[(i, k)];
                        }
                    }
                });
                out
            }
            Left::Selection { entries, .. } => Mat::from_fn(entries.len(), c.ncols(), |i, k| {
                entries[i].map_or(0.0, |(j, w)| w * c[(j, k)])
            }),
        }
    }

    /// $\|f - UU^\top f\|^2$ for each sample, from the values and their coordinates, without
    /// cancellation; rows where `skip` is true do not count.
    pub fn residuals_squared(
        &self,
        f: MatRef<'_, f64>,
        c: MatRef<'_, f64>,
        skip: Option<&[bool]>,
    ) -> Vec<f64> {
        // In chunks, so that the fitted values of all samples never exist at once.
        (0..f.ncols())
            .step_by(4 * COLUMN_CHUNK)
            .flat_map(|start| {
                let width = (f.ncols() - start).min(4 * COLUMN_CHUNK);
                let fitted = self.expand(c.subcols(start, width));
                let mut difference = fitted - f.subcols(start, width);
                if let Some(skip) = skip {
                    for k in 0..width {
                        for (v, _) in difference
                            .col_mut(k)
                            .iter_mut()
                            .zip(skip)
                            .filter(|(_, s)| **s)
                        {
                            *v = 0.0;
                        }
                    }
                }
                linalg::column_norms_squared(difference.as_ref())
            })
            .collect()
    }

    /// $V\,\mathrm{diag}(g)\,C$: coefficients from coordinates under a filter $g$.
    pub fn coefficients(&self, filter: &[f64], mut c: Mat<f64>) -> Mat<f64> {
        for k in 0..c.ncols() {
            for (v, g) in c.col_mut(k).iter_mut().zip(filter) {
                *v *= g;
            }
        }
        match &self.right {
            Right::Dense(v) => linalg::mul(v.as_ref(), c.as_ref()),
            Right::Permutation { order, nrows } => {
                let mut out = Mat::zeros(*nrows, c.ncols());
                for k in 0..c.ncols() {
                    for (j, &to) in order.iter().enumerate() {
                        out[(to, k)] = c[(j, k)];
                    }
                }
                out
            }
        }
    }

    /// The diagonal of $U\,\mathrm{diag}(h)\,U^\top$: the leverage of each point under a
    /// reconstruction filter $h$.
    pub fn leverages(&self, filter: &[f64]) -> Vec<f64> {
        let u = self.expand(Mat::<f64>::identity(self.rank(), self.rank()).as_ref());
        let mut leverage = vec![0.0; u.nrows()];
        for (j, h) in filter.iter().enumerate() {
            for (l, v) in leverage.iter_mut().zip(u.col(j).iter()) {
                *l += h * v * v;
            }
        }
        leverage
    }
}

/// `to` = `a` `b`, or `b` where `a` is the identity.
fn assign_product(mut to: MatMut<'_, f64>, a: Option<MatRef<'_, f64>>, b: MatRef<'_, f64>) {
    match a {
        None => to.copy_from(b),
        Some(a) => {
            faer::linalg::matmul::matmul(to, faer::Accum::Replace, a, b, 1.0, faer::Par::Seq)
        }
    }
}

fn from_dense(dense: Mat<f64>) -> Result<Spectrum> {
    let (n, m) = dense.shape();
    if n <= m {
        let svd = linalg::thin_svd(dense.as_ref())?;
        return Ok(Spectrum {
            left: Left::Dense(svd.u),
            sigma: svd.s,
            right: Right::Dense(svd.v),
        });
    }
    let qr = linalg::Qr::new(dense);
    let svd = linalg::thin_svd(qr.r().as_ref())?;
    Ok(Spectrum {
        left: Left::Dense(qr.q_mul(svd.u.as_ref())),
        sigma: svd.s,
        right: Right::Dense(svd.v),
    })
}

fn from_blocks(blocks: Blocks) -> Result<Spectrum> {
    let (nrows, ncols) = (blocks.nrows(), blocks.ncols());
    let compressed: Vec<(Option<Mat<f64>>, Mat<f64>)> = blocks
        .blocks()
        .par_iter()
        .map(|block| {
            if block.rows.len() > block.cols.len() {
                let qr = linalg::Qr::new_seq(block.values.clone());
                (Some(qr.thin_q_seq()), qr.r())
            } else {
                (None, block.values.clone())
            }
        })
        .collect();
    let stacked_rows = compressed.iter().map(|(_, r)| r.nrows()).sum();
    let mut stacked = Mat::zeros(stacked_rows, ncols);
    let mut order = Vec::with_capacity(nrows);
    let mut cells = Vec::with_capacity(compressed.len());
    let mut offset = 0;
    for (block, (q, r)) in blocks.blocks().iter().zip(compressed) {
        for (c, &j) in block.cols.iter().enumerate() {
            for i in 0..r.nrows() {
                stacked[(offset + i, j)] = r[(i, c)];
            }
        }
        let (start, len) = (order.len(), block.rows.len());
        order.extend_from_slice(&block.rows);
        cells.push(Cell {
            start,
            len,
            offset,
            q,
        });
        offset += r.nrows();
    }
    let Spectrum { left, sigma, right } = from_dense(stacked)?;
    let Left::Dense(core) = left else {
        unreachable!("from_dense gives a dense factor")
    };
    Ok(Spectrum {
        left: Left::Cells {
            order,
            cells,
            core,
            nrows,
        },
        sigma,
        right,
    })
}

fn has_one_column_a_block(blocks: &Blocks) -> bool {
    blocks.blocks().iter().all(|b| b.cols.len() == 1)
}

/// Columns with disjoint supports are orthogonal: their norms are the singular values.
fn selection(blocks: &Blocks) -> Spectrum {
    let mut norms = vec![0.0; blocks.ncols()];
    for block in blocks.blocks() {
        norms[block.cols[0]] += block.values.col(0).iter().map(|v| v * v).sum::<f64>();
    }
    let mut order: Vec<usize> = (0..norms.len()).collect();
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]).then(a.cmp(&b)));
    let mut position = vec![0; norms.len()];
    for (new, &old) in order.iter().enumerate() {
        position[old] = new;
    }
    let sigma: Vec<f64> = order.iter().map(|&j| norms[j].sqrt()).collect();
    let mut entries = vec![None; blocks.nrows()];
    for block in blocks.blocks() {
        let j = position[block.cols[0]];
        for (r, &i) in block.rows.iter().enumerate() {
            if sigma[j] > 0.0 {
                entries[i] = Some((j, block.values[(r, 0)] / sigma[j]));
            }
        }
    }
    Spectrum {
        left: Left::Selection {
            entries,
            ncols: norms.len(),
        },
        sigma,
        right: Right::Permutation {
            order,
            nrows: norms.len(),
        },
    }
}
