//! The singular value decomposition $\Phi = U\,\mathrm{diag}(\sigma)\,V^\top$ of a design matrix,
//! with $U$ stored in a form whose cost is proportional to the nonzeros of $\Phi$.
//!
//! Blocks of rows that share columns are compressed first: a cell with more points than functions
//! is replaced by its triangular factor, $\Phi_{\rm cell} = Q_{\rm cell}R_{\rm cell}$. Neighbouring
//! $R_{\rm cell}$ are then stacked and compressed again, until about as many rows are left as
//! there are functions; their dense QR and the SVD of its $R$ give the rest. There are no normal equations
//! anywhere, so the condition number is not squared.

use super::clusters;
use crate::basis::{Block, Blocks, Design};
use crate::{Result, linalg};
use faer::prelude::ReborrowMut;
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
        core: Box<Left>,
        nrows: usize,
    },
    /// At most one nonzero per row: $U_{i,j(i)} = w_i$.
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
const COLUMN_CHUNK: usize = 32;

/// Samples whose compressed values exist at the same time.
const SLAB: usize = 16 * COLUMN_CHUNK;

/// Residuals below this fraction of the norm lose more than half of their digits in a difference.
const PYTHAGORAS: f64 = 1e-8;

impl Spectrum {
    /// Factors a design matrix and drops singular values at rounding level.
    ///
    /// # Errors
    /// If the singular value decomposition does not converge.
    pub fn new(design: Design) -> Result<Self> {
        let (n, m) = (design.nrows(), design.ncols());
        let full = match design {
            Design::Blocks(blocks) if has_one_column_per_block(&blocks) => selection(&blocks),
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

    /// The number of points.
    pub fn nrows(&self) -> usize {
        self.left.nrows()
    }

    /// How many singular values are at least `cut`.
    pub(crate) fn rank_above(&self, cut: f64) -> usize {
        self.sigma
            .iter()
            .take_while(|&&s| s >= cut && s > 0.0)
            .count()
    }

    /// The leading `rank` singular triplets.
    pub fn truncated(mut self, rank: usize) -> Self {
        if rank < self.sigma.len() {
            self.sigma.truncate(rank);
            match &mut self.right {
                Right::Dense(v) => *v = leading_columns(v, rank),
                Right::Permutation { order, .. } => order.truncate(rank),
            }
            self.left.truncate(rank);
        }
        self
    }

    /// $U^\top F$ for values `f` at the points, one column per sample.
    pub fn project(&self, f: MatRef<'_, f64>) -> Mat<f64> {
        self.project_leading(f, self.rank())
    }

    /// The first `rank` rows of [`Spectrum::project`], without computing the others.
    pub(crate) fn project_leading(&self, f: MatRef<'_, f64>, rank: usize) -> Mat<f64> {
        assert_eq!(f.nrows(), self.nrows());
        assert!(rank <= self.rank());
        match &self.left {
            left @ Left::Cells { .. } if f.ncols() > SLAB => {
                let mut out = Mat::zeros(rank, f.ncols());
                for start in (0..f.ncols()).step_by(SLAB) {
                    let width = (f.ncols() - start).min(SLAB);
                    out.as_mut()
                        .subcols_mut(start, width)
                        .copy_from(left.project(f.subcols(start, width), rank));
                }
                out
            }
            left => left.project(f, rank),
        }
    }

    /// $U C$: values at the points from orthonormal coordinates.
    pub fn expand(&self, c: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(c.nrows(), self.rank());
        self.left.expand(c)
    }

    /// $\|f - UU^\top f\|^2$ for each sample, from the values and their coordinates, accurate to a
    /// few digits even where it is tiny; rows where `skip` is true do not count.
    pub fn residuals_squared(
        &self,
        f: MatRef<'_, f64>,
        c: MatRef<'_, f64>,
        skip: Option<&[bool]>,
    ) -> Vec<f64> {
        let norm_squared = |k: usize| -> f64 {
            let column = f.col(k).iter();
            match skip {
                None => column.map(|v| v * v).sum(),
                Some(skip) => (column.zip(skip).filter(|(_, s)| !**s))
                    .map(|(v, _)| v * v)
                    .sum(),
            }
        };
        let norms: Vec<f64> = (0..f.ncols()).into_par_iter().map(norm_squared).collect();
        // By Pythagoras, where enough digits are left.
        let mut residuals: Vec<f64> = (norms.iter())
            .zip(linalg::column_norms_squared(c))
            .map(|(norm, inside)| norm - inside)
            .collect();
        let lost: Vec<usize> = (0..f.ncols())
            .filter(|&k| residuals[k] < PYTHAGORAS * norms[k])
            .collect();
        // In chunks, so that the fitted values of all samples never exist at once.
        for some in lost.chunks(8 * COLUMN_CHUNK) {
            let fitted = self.expand(linalg::select_columns(c, some).as_ref());
            let squares: Vec<f64> = (some.par_iter().enumerate())
                .map(|(column, &k)| {
                    let off = fitted.col(column).iter().zip(f.col(k).iter());
                    let seen = |i: usize| skip.is_none_or(|skip| !skip[i]);
                    off.enumerate()
                        .filter(|(i, _)| seen(*i))
                        .map(|(_, (a, b))| (a - b) * (a - b))
                        .sum()
                })
                .collect();
            some.iter()
                .zip(squares)
                .for_each(|(&k, r)| residuals[k] = r);
        }
        residuals
    }

    /// $V\,\mathrm{diag}(g)\,C$: coefficients from the leading coordinates under a filter $g$.
    pub fn coefficients(&self, filter: &[f64], mut c: Mat<f64>) -> Mat<f64> {
        for k in 0..c.ncols() {
            for (v, g) in c.col_mut(k).iter_mut().zip(filter) {
                *v *= g;
            }
        }
        match &self.right {
            Right::Dense(v) => linalg::mul(v.as_ref().subcols(0, c.nrows()), c.as_ref()),
            Right::Permutation { order, nrows } => {
                let mut out = Mat::zeros(*nrows, c.ncols());
                for k in 0..c.ncols() {
                    for (&to, v) in order.iter().zip(c.col(k).iter()) {
                        out[(to, k)] = *v;
                    }
                }
                out
            }
        }
    }
}

impl Left {
    fn nrows(&self) -> usize {
        match self {
            Left::Dense(u) => u.nrows(),
            Left::Cells { nrows, .. } => *nrows,
            Left::Selection { entries, .. } => entries.len(),
        }
    }

    fn truncate(&mut self, rank: usize) {
        match self {
            Left::Dense(u) => *u = leading_columns(u, rank),
            Left::Cells { core, .. } => core.truncate(rank),
            Left::Selection { entries, ncols } => {
                *ncols = rank;
                for entry in entries {
                    *entry = entry.filter(|e| e.0 < rank);
                }
            }
        }
    }

    /// The first `rank` rows of $U^\top F$.
    fn project(&self, f: MatRef<'_, f64>, rank: usize) -> Mat<f64> {
        match self {
            Left::Dense(u) => linalg::mul(u.as_ref().subcols(0, rank).transpose(), f),
            Left::Cells {
                order, cells, core, ..
            } => {
                let mut small = Mat::zeros(core.nrows(), f.ncols());
                let scratch = || Mat::zeros(order.len(), COLUMN_CHUNK);
                let work = |sorted: &mut Mat<f64>, start, mut small: MatMut<'_, f64>| {
                    let f = f.subcols(start, small.ncols());
                    let mut sorted = sorted.as_mut().subcols_mut(0, f.ncols());
                    linalg::gather_rows(sorted.rb_mut(), f, order);
                    for cell in cells {
                        let rows = sorted.as_ref().subrows(cell.start, cell.len);
                        let to = small.rb_mut().subrows_mut(cell.offset, cell.compressed());
                        assign_product(to, cell.q.as_ref().map(|q| q.transpose()), rows);
                    }
                };
                linalg::par_column_chunks_with(small.as_mut(), COLUMN_CHUNK, scratch, work);
                core.project(small.as_ref(), rank)
            }
            Left::Selection { entries, .. } => {
                let mut out = Mat::zeros(rank, f.ncols());
                for k in 0..f.ncols() {
                    for (entry, v) in entries.iter().zip(f.col(k).iter()) {
                        if let &Some((j, w)) = entry
                            && j < rank
                        {
                            out[(j, k)] += w * v;
                        }
                    }
                }
                out
            }
        }
    }

    /// $U C$.
    fn expand(&self, c: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Left::Dense(u) => linalg::mul(u.as_ref(), c),
            Left::Cells {
                order,
                cells,
                core,
                nrows,
            } => {
                let small = core.expand(c);
                let mut out = Mat::zeros(*nrows, c.ncols());
                let scratch = || Mat::zeros(order.len(), COLUMN_CHUNK);
                let work = |sorted: &mut Mat<f64>, start, out: MatMut<'_, f64>| {
                    let small = small.as_ref().subcols(start, out.ncols());
                    let mut sorted = sorted.as_mut().subcols_mut(0, out.ncols());
                    for cell in cells {
                        let from = small.subrows(cell.offset, cell.compressed());
                        let to = sorted.rb_mut().subrows_mut(cell.start, cell.len);
                        assign_product(to, cell.q.as_ref().map(Mat::as_ref), from);
                    }
                    linalg::scatter_rows(out, sorted.as_ref(), order);
                };
                linalg::par_column_chunks_with(out.as_mut(), COLUMN_CHUNK, scratch, work);
                out
            }
            Left::Selection { entries, .. } => Mat::from_fn(entries.len(), c.ncols(), |i, k| {
                entries[i].map_or(0.0, |(j, w)| w * c[(j, k)])
            }),
        }
    }
}

impl Cell {
    /// The number of rows of `core` that represent the cell.
    fn compressed(&self) -> usize {
        self.q.as_ref().map_or(self.len, Mat::ncols)
    }
}

fn leading_columns(m: &Mat<f64>, count: usize) -> Mat<f64> {
    m.as_ref().subcols(0, count).to_owned()
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
    let compressed: Vec<(Vec<usize>, Option<Mat<f64>>, Block)> = blocks
        .into_blocks()
        .into_par_iter()
        .map(|block| {
            let Block { rows, cols, values } = block;
            let (q, values) = if rows.len() > cols.len() {
                let qr = linalg::Qr::new_seq(values);
                (Some(qr.thin_q_seq()), qr.r())
            } else {
                (None, values)
            };
            let block = Block {
                rows: Vec::new(),
                cols,
                values,
            };
            (rows, q, block)
        })
        .collect();
    let mut order = Vec::with_capacity(nrows);
    let mut cells = Vec::with_capacity(compressed.len());
    let mut stacked = Vec::with_capacity(compressed.len());
    let mut offset = 0;
    for (rows, q, mut block) in compressed {
        cells.push(Cell {
            start: order.len(),
            len: rows.len(),
            offset,
            q,
        });
        order.extend_from_slice(&rows);
        let below = offset + block.values.nrows();
        block.rows = (offset..below).collect();
        stacked.push(block);
        offset = below;
    }
    let stacked = Blocks::new(offset, ncols, stacked);
    let Spectrum { left, sigma, right } = match clusters::merge(&stacked) {
        Some(coarser) => from_blocks(coarser)?,
        None => from_dense(Design::Blocks(stacked).to_dense())?,
    };
    Ok(Spectrum {
        left: Left::Cells {
            order,
            cells,
            core: Box::new(left),
            nrows,
        },
        sigma,
        right,
    })
}

fn has_one_column_per_block(blocks: &Blocks) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, BuildContext, FiniteElements, FiniteElementsSpec};
    use crate::basis::{RandomFeatures, RandomFeaturesSpec};
    use crate::data::{Bounds, Points};

    fn sparse_bases() -> Vec<Box<dyn Basis>> {
        let domain = Bounds::unit(2);
        let features: RandomFeaturesSpec =
            serde_json::from_str(r#"{"functions": 100, "partitions": [5, 5], "scale": 2}"#)
                .unwrap();
        let elements: FiniteElementsSpec = serde_json::from_str(r#"{"functions": 120}"#).unwrap();
        let context = BuildContext::on(&domain);
        vec![
            Box::new(RandomFeatures::new(domain.clone(), features).unwrap()),
            Box::new(FiniteElements::new(&elements, context).unwrap()),
        ]
    }

    /// More samples than a slab, so that every path through `project` is taken.
    #[test]
    fn cells_and_clusters_give_the_dense_decomposition() {
        let points = Points::grid(&Bounds::unit(2), &[47, 43]);
        let n = points.len();
        let f = Mat::from_fn(n, SLAB + 5, |i, k| ((i * (k + 3)) as f64 * 0.01).sin());
        for basis in sparse_bases() {
            let design = basis.evaluate(&points).unwrap();
            assert!(matches!(design, Design::Blocks(_)));
            let dense = Spectrum::new(Design::Dense(design.to_dense())).unwrap();
            let sparse = Spectrum::new(design).unwrap();
            let Left::Cells { core, .. } = &sparse.left else {
                panic!("cells")
            };
            assert!(matches!(**core, Left::Cells { .. }), "no clusters");
            let largest = dense.sigma[0];
            assert_eq!(sparse.rank(), dense.rank());
            for (a, b) in sparse.sigma.iter().zip(&dense.sigma) {
                assert!((a - b).abs() < 1e-13 * largest, "{a} {b}");
            }
            // Singular vectors may rotate; the projection onto their span is unique.
            let c = sparse.project(f.as_ref());
            let off = sparse.expand(c.as_ref()) - dense.expand(dense.project(f.as_ref()).as_ref());
            assert!(off.norm_max() < 1e-11, "{:e}", off.norm_max());
            let again = sparse.project(sparse.expand(c.as_ref()).as_ref()) - &c;
            assert!(again.norm_max() < 1e-11, "{:e}", again.norm_max());
            let leading = sparse.project_leading(f.as_ref(), 7);
            let difference = leading - c.as_ref().subrows(0, 7);
            assert!(difference.norm_max() < 1e-11);
            let short = sparse.truncated(7).project(f.as_ref());
            assert!((short - c.as_ref().subrows(0, 7)).norm_max() < 1e-11);
        }
    }
}
