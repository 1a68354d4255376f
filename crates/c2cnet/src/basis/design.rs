//! The design matrix $\Phi_{ij} = \varphi_j(x_i)$, dense or by blocks of rows that share columns.
//!
//! Windowed random features, finite elements and compactly supported radial functions have few
//! nonzeros a row, and points in one cell (an element, an intersection of patches) share their
//! columns. [`Blocks`] stores one small dense matrix per cell, so that evaluating, factoring and
//! decoding cost what the nonzeros cost.

use crate::linalg;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// A design matrix.
#[derive(Debug, Clone)]
pub enum Design {
    /// Every entry stored.
    Dense(Mat<f64>),
    /// Entries outside the blocks are zero.
    Blocks(Blocks),
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

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// How many entries are stored.
    pub fn stored(&self) -> usize {
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
        }
    }

    /// How many functions.
    pub fn ncols(&self) -> usize {
        match self {
            Design::Dense(m) => m.ncols(),
            Design::Blocks(b) => b.ncols,
        }
    }

    /// Every entry, zeros included.
    pub fn to_dense(&self) -> Mat<f64> {
        match self {
            Design::Dense(m) => m.clone(),
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
    pub fn densify_if_full(self) -> Design {
        match &self {
            Design::Blocks(b) if 2 * b.stored() > b.nrows * b.ncols => {
                Design::Dense(self.to_dense())
            }
            _ => self,
        }
    }

    /// Fields at the points from coefficients: $\Phi B$, one column a sample.
    pub fn mul(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(self.ncols(), coefficients.nrows());
        let samples = coefficients.ncols();
        match self {
            Design::Dense(m) => linalg::mul(m.as_ref(), coefficients),
            Design::Blocks(b) => {
                let mut out = Mat::zeros(b.nrows, samples);
                linalg::par_column_chunks(out.as_mut(), COLUMN_CHUNK, |start, out| {
                    b.mul_chunk(coefficients.subcols(start, out.ncols()), out);
                });
                out
            }
        }
    }

    /// The rows at `indices`, in that order.
    pub fn select_rows(&self, indices: &[usize]) -> Design {
        match self {
            Design::Dense(m) => Design::Dense(Mat::from_fn(indices.len(), m.ncols(), |i, j| {
                m[(indices[i], j)]
            })),
            Design::Blocks(b) => {
                let mut new_row = vec![usize::MAX; b.nrows];
                for (new, &old) in indices.iter().enumerate() {
                    new_row[old] = new;
                }
                let blocks = b
                    .blocks
                    .iter()
                    .filter_map(|block| {
                        let kept: Vec<usize> = (0..block.rows.len())
                            .filter(|&r| new_row[block.rows[r]] != usize::MAX)
                            .collect();
                        (!kept.is_empty()).then(|| Block {
                            rows: kept.iter().map(|&r| new_row[block.rows[r]]).collect(),
                            cols: block.cols.clone(),
                            values: Mat::from_fn(kept.len(), block.cols.len(), |i, j| {
                                block.values[(kept[i], j)]
                            }),
                        })
                    })
                    .collect();
                Design::Blocks(Blocks::new(indices.len(), b.ncols, blocks))
            }
        }
    }

    /// Stacks designs with equal columns below each other.
    ///
    /// # Panics
    /// If the columns differ in number or there is no design.
    pub fn stack(parts: Vec<Design>) -> Design {
        let ncols = parts[0].ncols();
        assert!(parts.iter().all(|p| p.ncols() == ncols));
        if parts.len() == 1 {
            return parts.into_iter().next().expect("one part");
        }
        let nrows = parts.iter().map(Design::nrows).sum();
        if parts.iter().any(|p| matches!(p, Design::Dense(_))) {
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
        let samples = coefficients.ncols();
        for block in &self.blocks {
            let gathered = Mat::from_fn(block.cols.len(), samples, |r, k| {
                coefficients[(block.cols[r], k)]
            });
            let product = linalg::mul_seq(block.values.as_ref(), gathered.as_ref());
            for k in 0..samples {
                for (r, &i) in block.rows.iter().enumerate() {
                    out[(i, k)] = product[(r, k)];
                }
            }
        }
    }
}

/// Groups `keys[i]` (the cell of point `i`) into lists of points, in order of first appearance
/// of the sorted keys; the order depends on the keys alone.
pub fn group_by_cell<K: Ord + Copy>(keys: &[K]) -> Vec<(K, Vec<usize>)> {
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
pub fn build_blocks<K: Send + Sync + Copy>(
    nrows: usize,
    ncols: usize,
    groups: Vec<(K, Vec<usize>)>,
    build: impl Fn(K, &[usize]) -> (Vec<usize>, Mat<f64>) + Sync,
) -> Design {
    let blocks = groups
        .into_par_iter()
        .map(|(key, rows)| {
            let (cols, values) = build(key, &rows);
            Block { rows, cols, values }
        })
        .collect();
    Design::Blocks(Blocks::new(nrows, ncols, blocks))
}
