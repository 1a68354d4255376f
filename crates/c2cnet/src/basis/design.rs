//! The design matrix $\Phi_{ij} = \varphi_j(x_i)$: dense, by blocks of rows that share columns, or by the axes of a
//! grid.
//!
//! Windowed random features, finite elements and compactly supported radial functions have few
//! nonzeros per row, and points in one cell (an element, an intersection of patches) share their
//! columns. [`Blocks`] stores one small dense matrix per cell, so that evaluating, factoring and
//! decoding cost what the nonzeros cost.

use super::Separable;
use crate::linalg;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// A design matrix.
#[derive(Debug, Clone)]
pub enum Design {
    /// Every entry stored.
    Dense(Mat<f64>),
    /// Entries outside the blocks are zero.
    Blocks(Blocks),
    /// Products over the axes of a tensor grid.
    #[doc(hidden)] // the bases of the crate alone have it
    Separable(Separable),
}

/// A sparse matrix whose rows are grouped into dense blocks.
#[derive(Debug, Clone)]
pub struct Blocks {
    nrows: usize,
    ncols: usize,
    blocks: Vec<Block>,
}

/// Rows that share their nonzero columns.
#[derive(Debug, Clone)]
pub struct Block {
    /// Rows of the whole matrix; a row belongs to one block at most.
    pub rows: Vec<usize>,
    /// Columns of the whole matrix, without repetition.
    pub cols: Vec<usize>,
    /// The entries, `rows.len()` by `cols.len()`.
    pub values: Mat<f64>,
}

/// Samples decoded together: fixed, so that results do not depend on the number of threads.
const COLUMN_CHUNK: usize = 64;

impl Blocks {
    /// Takes blocks with disjoint rows; rows in no block are zero.
    ///
    /// # Panics
    /// If a row or column is out of range or repeated where it must not be.
    pub fn new(nrows: usize, ncols: usize, blocks: Vec<Block>) -> Self {
        let mut seen = vec![false; nrows];
        for block in &blocks {
            assert_eq!(block.values.shape(), (block.rows.len(), block.cols.len()));
            assert!(block.cols.iter().all(|&j| j < ncols));
            for &i in &block.rows {
                assert!(!std::mem::replace(&mut seen[i], true), "row {i} repeated");
            }
        }
        Blocks {
            nrows,
            ncols,
            blocks,
        }
    }

    /// How many points.
    pub(crate) fn nrows(&self) -> usize {
        self.nrows
    }

    /// How many functions.
    pub(crate) fn ncols(&self) -> usize {
        self.ncols
    }

    /// The blocks.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The blocks, given away.
    pub(crate) fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// How many entries are stored.
    pub(crate) fn stored(&self) -> usize {
        self.blocks
            .iter()
            .map(|b| b.rows.len() * b.cols.len())
            .sum()
    }
}

impl Design {
    /// How many points.
    pub fn nrows(&self) -> usize {
        match self {
            Design::Dense(m) => m.nrows(),
            Design::Blocks(b) => b.nrows,
            Design::Separable(s) => s.nrows(),
        }
    }

    /// How many functions.
    pub fn ncols(&self) -> usize {
        match self {
            Design::Dense(m) => m.ncols(),
            Design::Blocks(b) => b.ncols,
            Design::Separable(s) => s.ncols(),
        }
    }

    /// Every entry, zeros included.
    pub fn to_dense(&self) -> Mat<f64> {
        match self {
            Design::Dense(m) => m.clone(),
            Design::Separable(s) => s.dense_rows(&(0..s.nrows()).collect::<Vec<_>>()),
            Design::Blocks(b) => {
                let mut dense = Mat::zeros(b.nrows, b.ncols);
                for block in &b.blocks {
                    for (c, &j) in block.cols.iter().enumerate() {
                        for (r, &i) in block.rows.iter().enumerate() {
                            dense[(i, j)] = block.values[(r, c)];
                        }
                    }
                }
                dense
            }
        }
    }

    /// Turns blocks that save little into a dense matrix, where products are faster.
    pub(crate) fn densify_if_full(self) -> Design {
        match &self {
            Design::Blocks(b) if 2 * b.stored() > b.nrows * b.ncols => {
                Design::Dense(self.to_dense())
            }
            _ => self,
        }
    }

    /// Fields at the points from coefficients: $\Phi B$, one column per sample.
    pub fn mul(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(self.ncols(), coefficients.nrows());
        let samples = coefficients.ncols();
        match self {
            Design::Dense(m) => linalg::mul(m.as_ref(), coefficients),
            Design::Separable(s) => s.mul(coefficients),
            Design::Blocks(b) => {
                let mut out = Mat::zeros(b.nrows, samples);
                linalg::par_column_chunks(out.as_mut(), COLUMN_CHUNK, |start, out| {
                    b.mul_chunk(coefficients.subcols(start, out.ncols()), out);
                });
                out
            }
        }
    }

    /// The rows at `indices`, in that order, every entry stored.
    pub(crate) fn dense_rows(&self, indices: &[usize]) -> Mat<f64> {
        match self {
            Design::Dense(m) => linalg::select_rows(m.as_ref(), indices),
            Design::Separable(s) => s.dense_rows(indices),
            Design::Blocks(b) => {
                let mut new_row = vec![usize::MAX; b.nrows];
                for (new, &old) in indices.iter().enumerate() {
                    new_row[old] = new;
                }
                let mut out = Mat::zeros(indices.len(), b.ncols);
                for block in &b.blocks {
                    for (r, &i) in block.rows.iter().enumerate() {
                        if new_row[i] != usize::MAX {
                            for (c, &j) in block.cols.iter().enumerate() {
                                out[(new_row[i], j)] = block.values[(r, c)];
                            }
                        }
                    }
                }
                out
            }
        }
    }

    /// The same matrix with the rows where `skip` is true set to zero: points that are not fitted
    /// need no copy of the data without them.
    pub(crate) fn without_rows(self, skip: &[bool]) -> Design {
        match self {
            Design::Dense(mut m) => {
                for j in 0..m.ncols() {
                    for (v, &s) in m.col_mut(j).iter_mut().zip(skip) {
                        if s {
                            *v = 0.0;
                        }
                    }
                }
                Design::Dense(m)
            }
            Design::Separable(s) => Design::Separable(s.without_rows(skip)),
            Design::Blocks(b) => {
                let blocks = b
                    .blocks
                    .into_iter()
                    .filter_map(|block| {
                        let kept: Vec<usize> = (0..block.rows.len())
                            .filter(|&r| !skip[block.rows[r]])
                            .collect();
                        match kept.len() {
                            0 => None,
                            n if n == block.rows.len() => Some(block),
                            _ => Some(Block {
                                rows: kept.iter().map(|&r| block.rows[r]).collect(),
                                values: linalg::select_rows(block.values.as_ref(), &kept),
                                cols: block.cols,
                            }),
                        }
                    })
                    .collect();
                Design::Blocks(Blocks::new(b.nrows, b.ncols, blocks))
            }
        }
    }

    /// For each function, whether it is nonzero at some row that is not skipped.
    pub(crate) fn seen_columns(&self, skip: &[bool]) -> Vec<bool> {
        let mut seen = vec![false; self.ncols()];
        match self {
            Design::Separable(s) => return s.seen_columns(skip),
            Design::Dense(m) => {
                for (j, s) in seen.iter_mut().enumerate() {
                    *s = m.col(j).iter().zip(skip).any(|(v, &k)| !k && *v != 0.0);
                }
            }
            Design::Blocks(b) => {
                for block in &b.blocks {
                    for (c, &j) in block.cols.iter().enumerate() {
                        seen[j] |= block
                            .rows
                            .iter()
                            .enumerate()
                            .any(|(r, &i)| !skip[i] && block.values[(r, c)] != 0.0);
                    }
                }
            }
        }
        seen
    }

    /// Stacks designs with equal columns below each other.
    ///
    /// # Panics
    /// If the columns differ in number or there is no design.
    pub(crate) fn stack(parts: Vec<Design>) -> Design {
        let ncols = parts[0].ncols();
        assert!(parts.iter().all(|p| p.ncols() == ncols));
        if parts.len() == 1 {
            return parts.into_iter().next().expect("one part");
        }
        let nrows = parts.iter().map(Design::nrows).sum();
        if !parts.iter().all(|p| matches!(p, Design::Blocks(_))) {
            let mut dense = Mat::zeros(nrows, ncols);
            let mut offset = 0;
            for part in parts {
                let rows = part.nrows();
                dense
                    .as_mut()
                    .subrows_mut(offset, rows)
                    .copy_from(&part.to_dense());
                offset += rows;
            }
            return Design::Dense(dense);
        }
        let mut blocks = Vec::new();
        let mut offset = 0;
        for part in parts {
            if let Design::Blocks(b) = part {
                blocks.extend(b.blocks.into_iter().map(|mut block| {
                    block.rows.iter_mut().for_each(|i| *i += offset);
                    block
                }));
                offset += b.nrows;
            }
        }
        Design::Blocks(Blocks::new(nrows, ncols, blocks))
    }
}

impl Blocks {
    fn mul_chunk(&self, coefficients: MatRef<'_, f64>, mut out: MatMut<'_, f64>) {
        for block in &self.blocks {
            let gathered = linalg::select_rows(coefficients, &block.cols);
            let product = linalg::mul_seq(block.values.as_ref(), gathered.as_ref());
            linalg::scatter_rows(out.rb_mut(), product.as_ref(), &block.rows);
        }
    }
}

/// Groups `keys[i]` (the cell of point `i`) into lists of points, in order of first appearance
/// of the sorted keys; the order depends on the keys alone.
pub(crate) fn group_by_cell<K: Ord + Copy>(keys: &[K]) -> Vec<(K, Vec<usize>)> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&i| (keys[i], i));
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for i in order {
        match groups.last_mut() {
            Some((key, members)) if *key == keys[i] => members.push(i),
            _ => groups.push((keys[i], vec![i])),
        }
    }
    groups
}

/// Builds the blocks of `groups` in parallel with `build(cell, rows) -> (cols, values)`.
pub(crate) fn build_blocks<K: Send + Sync + Copy>(
    nrows: usize,
    ncols: usize,
    groups: Vec<(K, Vec<usize>)>,
    build: impl Fn(K, &[usize]) -> (Vec<usize>, Mat<f64>) + Sync,
) -> Design {
    let build = |(key, rows): (K, Vec<usize>)| {
        let (cols, values) = build(key, &rows);
        Block { rows, cols, values }
    };
    // Few points are one sample's, and samples run beside each other.
    let blocks = if nrows < 1000 {
        groups.into_iter().map(build).collect()
    } else {
        groups.into_par_iter().map(build).collect()
    };
    Design::Blocks(Blocks::new(nrows, ncols, blocks))
}
