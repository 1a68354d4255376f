//! Products by tiles: a result is cut in halves until its parts are small, and each part is computed on one thread.
//!
//! Where it is cut depends on shapes alone, so bits do not depend on the number of threads; whoever is idle takes the
//! next part, so that products run well beside each other and inside of other parallel work.

use super::matmul::{matmul, triangular_matmul};
use faer::linalg::matmul::triangular::BlockStructure::{Rectangular, TriangularLower};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Products with fewer multiplications are left to the calling thread: handing them out costs as much.
const SMALL: usize = 1 << 20;

/// The most rows and columns of a part.
const LARGEST: usize = 256;

/// The fewest, unless the result has fewer.
const LEAST: usize = 64;

/// Parts that a large result is cut into, if that leaves them large enough.
const PARTS: usize = 64;

/// A result that cannot be cut into this many parts is a sum over parts of the inner dimension.
const FEW_PARTS: usize = 8;

/// The shortest of those parts.
const DEPTH: usize = 2048;

/// The most of them.
const SUMMANDS: usize = 16;

/// $C \leftarrow \alpha AB$ or $C \leftarrow C + \alpha AB$.
pub(super) fn product(
    c: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
) {
    let (rows, columns, depth) = (a.nrows(), b.ncols(), a.ncols());
    if rows * columns * depth <= SMALL {
        return matmul(c, accum, a, b, alpha, Par::Seq);
    }
    let tile = tile(rows, columns);
    if parts(rows, columns, tile) < FEW_PARTS && depth >= 2 * DEPTH {
        return sum(c, accum, a, b, alpha);
    }
    by_tiles(c, accum, a, b, alpha, tile);
}

/// The lower half of $C \leftarrow C + \alpha AA^\top$; the upper half is left alone.
pub(super) fn add_gram(c: MatMut<'_, f64>, a: MatRef<'_, f64>, alpha: f64) {
    let (size, depth) = a.shape();
    if size * size * depth <= SMALL {
        return gram_seq(c, a, alpha);
    }
    let tile = tile(size, size);
    if parts(size, size, tile) < FEW_PARTS && depth >= 2 * DEPTH {
        let cuts = cuts(depth);
        let total = add_up(&cuts, |part| {
            let mut gram = Mat::zeros(size, size);
            gram_seq(gram.as_mut(), columns(a, part), alpha);
            gram
        });
        return faer::zip!(c, &total).for_each_triangular_lower(
            faer::linalg::zip::Diag::Include,
            |faer::unzip!(c, t)| {
                *c += t;
            },
        );
    }
    gram_by_tiles(c, a, alpha, tile);
}

/// The side of the parts of a result of this shape.
fn tile(rows: usize, columns: usize) -> usize {
    let mut tile = LARGEST;
    while tile > LEAST && parts(rows, columns, tile) < PARTS {
        tile /= 2;
    }
    tile
}

fn parts(rows: usize, columns: usize, tile: usize) -> usize {
    rows.div_ceil(tile) * columns.div_ceil(tile)
}

/// Where a side longer than a tile is cut: in the middle, at a multiple of the tile.
fn middle(side: usize, tile: usize) -> usize {
    side.div_ceil(2).next_multiple_of(tile)
}

fn by_tiles(
    c: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    alpha: f64,
    tile: usize,
) {
    let (rows, columns) = c.shape();
    if rows.max(columns) <= tile {
        matmul(c, accum, a, b, alpha, Par::Seq);
    } else if rows >= columns {
        let cut = middle(rows, tile);
        let (upper, lower) = c.split_at_row_mut(cut);
        let (a_upper, a_lower) = a.split_at_row(cut);
        rayon::join(
            || by_tiles(upper, accum, a_upper, b, alpha, tile),
            || by_tiles(lower, accum, a_lower, b, alpha, tile),
        );
    } else {
        let cut = middle(columns, tile);
        let (left, right) = c.split_at_col_mut(cut);
        let (b_left, b_right) = b.split_at_col(cut);
        rayon::join(
            || by_tiles(left, accum, a, b_left, alpha, tile),
            || by_tiles(right, accum, a, b_right, alpha, tile),
        );
    }
}

fn gram_by_tiles(c: MatMut<'_, f64>, a: MatRef<'_, f64>, alpha: f64, tile: usize) {
    if c.nrows() <= tile {
        return gram_seq(c, a, alpha);
    }
    let cut = middle(c.nrows(), tile);
    let (first, _, below, last) = c.split_at_mut(cut, cut);
    let (upper, lower) = a.split_at_row(cut);
    rayon::join(
        || by_tiles(below, Accum::Add, lower, upper.transpose(), alpha, tile),
        || {
            rayon::join(
                || gram_by_tiles(first, upper, alpha, tile),
                || gram_by_tiles(last, lower, alpha, tile),
            )
        },
    );
}

fn gram_seq(c: MatMut<'_, f64>, a: MatRef<'_, f64>, alpha: f64) {
    let (c, b) = ((c, TriangularLower), (a.transpose(), Rectangular));
    triangular_matmul(c, Accum::Add, (a, Rectangular), b, alpha, Par::Seq);
}

/// A small product of long matrices.
fn sum(mut c: MatMut<'_, f64>, accum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    let total = add_up(&cuts(a.ncols()), |part| {
        let mut product = Mat::zeros(a.nrows(), b.ncols());
        let rows = columns(b.transpose(), part.clone()).transpose();
        let of = columns(a, part);
        matmul(product.as_mut(), Accum::Replace, of, rows, alpha, Par::Seq);
        product
    });
    match accum {
        Accum::Replace => c.copy_from(&total),
        Accum::Add => c += total,
    }
}

/// The parts of an inner dimension.
fn cuts(depth: usize) -> Vec<std::ops::Range<usize>> {
    let part = depth.div_ceil(SUMMANDS).max(DEPTH);
    let starts = (0..depth).step_by(part);
    starts.map(|s| s..(s + part).min(depth)).collect()
}

/// The sum of what `make` makes of the parts, halves first.
fn add_up(
    parts: &[std::ops::Range<usize>],
    make: impl Fn(std::ops::Range<usize>) -> Mat<f64> + Sync + Copy,
) -> Mat<f64> {
    if let [part] = parts {
        return make(part.clone());
    }
    let (first, second) = parts.split_at(parts.len() / 2);
    let (mut total, other) = rayon::join(|| add_up(first, make), || add_up(second, make));
    total += other;
    total
}

fn columns(a: MatRef<'_, f64>, range: std::ops::Range<usize>) -> MatRef<'_, f64> {
    a.subcols(range.start, range.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| ((i * 7 + j * 13) as f64 * 0.37).sin())
    }

    /// Wide, tall, square, small and long.
    const SHAPES: [[usize; 3]; 6] = [
        [700, 30, 300],
        [30, 900, 300],
        [301, 517, 40],
        [3, 4, 5],
        [20, 30, 9000],
        [129, 1, 20_000],
    ];

    #[test]
    fn parts_make_the_whole() {
        for [m, n, k] in SHAPES {
            let (a, b) = (matrix(m, k), matrix(k, n));
            let whole = &a * &b;
            for accum in [Accum::Replace, Accum::Add] {
                let mut c = matrix(m, n);
                let before = match accum {
                    Accum::Add => c.clone(),
                    Accum::Replace => Mat::zeros(m, n),
                };
                product(c.as_mut(), accum, a.as_ref(), b.as_ref(), -0.5);
                let off = c - (before - &whole * faer::Scale(0.5));
                assert!(off.norm_max() < 1e-13 * k as f64, "{m} {n} {k}");
            }
        }
    }

    #[test]
    fn half_of_a_gram_matrix() {
        for (n, k) in [(5, 3), (700, 20), (130, 64), (40, 9000)] {
            let a = matrix(n, k);
            let mut c = Mat::from_fn(n, n, |_, _| 1.0);
            add_gram(c.as_mut(), a.as_ref(), 2.0);
            let whole = &a * a.transpose();
            for j in 0..n {
                for i in 0..n {
                    let expected = match i >= j {
                        true => 1.0 + 2.0 * whole[(i, j)],
                        false => 1.0,
                    };
                    assert!((c[(i, j)] - expected).abs() < 1e-12 * k as f64, "{n} {k}");
                }
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        for [m, n, k] in SHAPES {
            let (a, b) = (matrix(m, k), matrix(k, n));
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.unwrap().install(|| {
                    let (mut c, mut g) = (Mat::zeros(m, n), Mat::zeros(m, m));
                    product(c.as_mut(), Accum::Add, a.as_ref(), b.as_ref(), 1.0);
                    add_gram(g.as_mut(), a.as_ref(), 1.0);
                    (c, g)
                })
            };
            assert_eq!(on(1), on(7));
        }
    }
}
