//! Merges neighbouring blocks of a design matrix.
//!
//! A triangle or an overlap of patches keeps a row for each of its functions, so that a function
//! has one row for each cell where it is nonzero. Adjacent cells have the same functions: stacked, they
//! have more rows than columns and can be compressed again.

use crate::basis::{Block, Blocks};
use faer::Mat;
use std::collections::VecDeque;

/// Columns of a cluster, at most: fewer leave more rows, more make products with the cluster's
/// orthogonal factor more expensive. Encoding 2,400 samples with 512 random features or 555 finite elements,
/// 64 and 128 take the same time within noise; 32 and 256 are slower.
const MAX_COLUMNS: usize = 64;

/// The blocks in clusters, if at least a third of the rows can then be compressed away.
pub(super) fn merge(blocks: &Blocks) -> Option<Blocks> {
    let clusters = clusters(blocks.blocks(), blocks.ncols());
    let left: usize = clusters.iter().map(Cluster::compressed_rows).sum();
    if 3 * left >= 2 * blocks.nrows() {
        return None;
    }
    let mut position = vec![0; blocks.ncols()];
    let merged = clusters
        .into_iter()
        .map(|cluster| {
            for (new, &old) in cluster.cols.iter().enumerate() {
                position[old] = new;
            }
            let mut values = Mat::zeros(cluster.rows, cluster.cols.len());
            let mut rows = Vec::with_capacity(cluster.rows);
            for block in cluster.members.iter().map(|&b| &blocks.blocks()[b]) {
                for (c, &j) in block.cols.iter().enumerate() {
                    values
                        .as_mut()
                        .col_mut(position[j])
                        .subrows_mut(rows.len(), block.rows.len())
                        .copy_from(block.values.col(c));
                }
                rows.extend_from_slice(&block.rows);
            }
            Block {
                rows,
                cols: cluster.cols,
                values,
            }
        })
        .collect();
    Some(Blocks::new(blocks.nrows(), blocks.ncols(), merged))
}

#[derive(Default)]
struct Cluster {
    members: Vec<usize>,
    cols: Vec<usize>,
    rows: usize,
}

impl Cluster {
    fn compressed_rows(&self) -> usize {
        self.rows.min(self.cols.len())
    }
}

/// Grows clusters one after another, each breadth first from the first remaining block: a block
/// joins if the columns that it adds fit. The result depends only on the order of the blocks.
fn clusters(blocks: &[Block], ncols: usize) -> Vec<Cluster> {
    let mut blocks_of = vec![Vec::new(); ncols];
    for (b, block) in blocks.iter().enumerate() {
        for &j in &block.cols {
            blocks_of[j].push(b);
        }
    }
    let mut taken = vec![false; blocks.len()];
    // The cluster in which a column was last seen.
    let mut met = vec![usize::MAX; ncols];
    let mut all = Vec::new();
    for seed in 0..blocks.len() {
        if taken[seed] {
            continue;
        }
        let mut cluster = Cluster::default();
        let mut queue = VecDeque::from([seed]);
        let mut reach = 0;
        while let Some(b) = queue.pop_front() {
            let is_new = |j: &&usize| met[**j] != all.len();
            let added = blocks[b].cols.iter().filter(is_new).count();
            let fits = cluster.members.is_empty() || cluster.cols.len() + added <= MAX_COLUMNS;
            if !taken[b] && fits {
                taken[b] = true;
                cluster.members.push(b);
                cluster.rows += blocks[b].rows.len();
                for &j in &blocks[b].cols {
                    if met[j] != all.len() {
                        met[j] = all.len();
                        cluster.cols.push(j);
                    }
                }
            }
            // All blocks of one column before the next column is considered.
            while queue.is_empty() && reach < cluster.cols.len() {
                let around = &blocks_of[cluster.cols[reach]];
                queue.extend(around.iter().filter(|&&b| !taken[b]));
                reach += 1;
            }
        }
        all.push(cluster);
    }
    all
}
