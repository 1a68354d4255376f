//! Orthonormal columns, stored in forms whose cost is that of the matrix they come from.

use crate::basis::Separable;
use crate::linalg::{self, Qr};
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// $U$, `n` x `r`, $U^\top U = I$.
#[derive(Debug)]
pub(super) enum Orthonormal {
    Dense(Mat<f64>),
    /// $Q$ `mix`, with $Q$ as the reflections of a factorisation: to form it costs more than to apply it to a few samples.
    Reflections {
        q: Qr,
        mix: Mat<f64>,
    },
    Cells {
        /// Rows of $\Phi$ cell after cell; rows outside every cell are zero.
        order: Vec<usize>,
        cells: Vec<Cell>,
        /// $U = \mathrm{diag}(Q_{\rm cell})\cdot$ `core`.
        core: Box<Orthonormal>,
        nrows: usize,
    },
    /// At most one nonzero per row: $U_{i,j(i)} = w_i$.
    Selection {
        entries: Vec<Option<(usize, f64)>>,
        ncols: usize,
    },
    /// Orthonormal products over the axes of a grid, times `mix`, if there is one. Where rows of the grid are left out,
    /// the product of the two is orthonormal.
    Separable {
        products: Separable,
        mix: Option<Mat<f64>>,
    },
}

#[derive(Debug)]
pub(super) struct Cell {
    /// First of the cell's rows in `order`, and how many.
    pub(super) start: usize,
    pub(super) len: usize,
    /// First of the cell's rows in `core`.
    pub(super) offset: usize,
    /// `None` where the cell has too few rows to compress.
    pub(super) q: Option<Mat<f64>>,
}

/// Samples encoded together: fixed, so that results do not depend on the number of threads.
const COLUMN_CHUNK: usize = 32;

/// Samples whose compressed values exist at the same time.
pub(super) const SLAB: usize = 16 * COLUMN_CHUNK;

/// Reflections are applied one by one to at most this many samples per function; to more, as their product.
const FEW: usize = 2;

/// Residuals below this fraction of the norm lose more than half of their digits in a difference.
const PYTHAGORAS: f64 = 1e-8;

impl Orthonormal {
    pub(super) fn nrows(&self) -> usize {
        match self {
            Orthonormal::Dense(u) => u.nrows(),
            Orthonormal::Reflections { q, .. } => q.nrows(),
            Orthonormal::Cells { nrows, .. } => *nrows,
            Orthonormal::Selection { entries, .. } => entries.len(),
            Orthonormal::Separable { products, .. } => products.nrows(),
        }
    }

    /// Multiplies reflections out, so that the result for a sample does not depend on the others.
    pub(super) fn form(&mut self) {
        match self {
            Orthonormal::Reflections { q, mix } => {
                *self = Orthonormal::Dense(q.q_mul(mix.as_ref()));
            }
            Orthonormal::Cells { core, .. } => core.form(),
            _ => {}
        }
    }

    /// The leading `rank` columns.
    pub(super) fn truncate(&mut self, rank: usize) {
        match self {
            Orthonormal::Dense(u) => *u = leading_columns(u, rank),
            Orthonormal::Reflections { mix, .. } => *mix = leading_columns(mix, rank),
            Orthonormal::Cells { core, .. } => core.truncate(rank),
            Orthonormal::Separable { mix: Some(mix), .. } => *mix = leading_columns(mix, rank),
            Orthonormal::Separable { products, .. } => {
                *products = products.select_products(&(0..rank).collect::<Vec<_>>());
            }
            Orthonormal::Selection { entries, ncols } => {
                *ncols = rank;
                for entry in entries {
                    *entry = entry.filter(|e| e.0 < rank);
                }
            }
        }
    }

    /// The first `rank` rows of $U^\top F$.
    pub(super) fn project(&self, f: MatRef<'_, f64>, rank: usize) -> Mat<f64> {
        if !matches!(self, Orthonormal::Cells { .. }) || f.ncols() <= SLAB {
            return self.project_slab(f, rank);
        }
        let mut out = Mat::zeros(rank, f.ncols());
        for start in (0..f.ncols()).step_by(SLAB) {
            let width = (f.ncols() - start).min(SLAB);
            out.as_mut()
                .subcols_mut(start, width)
                .copy_from(self.project_slab(f.subcols(start, width), rank));
        }
        out
    }

    fn project_slab(&self, f: MatRef<'_, f64>, rank: usize) -> Mat<f64> {
        match self {
            Orthonormal::Dense(u) => linalg::mul(u.as_ref().subcols(0, rank).transpose(), f),
            Orthonormal::Reflections { q, mix } => {
                let mix = mix.as_ref().subcols(0, rank);
                if f.ncols() > FEW * mix.nrows() {
                    return linalg::mul(q.q_mul(mix).transpose(), f);
                }
                let turned = q.qt_mul(f);
                let leading = turned.as_ref().subrows(0, mix.nrows());
                linalg::mul(mix.transpose(), leading)
            }
            Orthonormal::Separable { products, mix } => {
                let c = products.transpose_mul(f);
                match mix {
                    Some(mix) => linalg::mul(mix.as_ref().subcols(0, rank).transpose(), c.as_ref()),
                    None => c.as_ref().subrows(0, rank).to_owned(),
                }
            }
            Orthonormal::Cells {
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
                core.project_slab(small.as_ref(), rank)
            }
            Orthonormal::Selection { entries, .. } => {
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
    pub(super) fn expand(&self, c: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Orthonormal::Dense(u) => linalg::mul(u.as_ref(), c),
            Orthonormal::Reflections { q, mix } => q.q_mul(linalg::mul(mix.as_ref(), c).as_ref()),
            Orthonormal::Separable { products, mix } => match mix {
                Some(mix) => products.mul(linalg::mul(mix.as_ref(), c).as_ref()),
                None => products.mul(c),
            },
            Orthonormal::Cells {
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
            Orthonormal::Selection { entries, .. } => {
                Mat::from_fn(entries.len(), c.ncols(), |i, k| {
                    entries[i].map_or(0.0, |(j, w)| w * c[(j, k)])
                })
            }
        }
    }

    /// $\|f - UU^\top f\|^2$ for each sample, from the values and their coordinates, accurate to a
    /// few digits even where it is tiny; rows where `skip` is true do not count.
    pub(super) fn residuals_squared(
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
}

impl Cell {
    /// The number of rows of `core` that represent the cell.
    pub(super) fn compressed(&self) -> usize {
        self.q.as_ref().map_or(self.len, Mat::ncols)
    }
}

pub(super) fn leading_columns(m: &Mat<f64>, count: usize) -> Mat<f64> {
    m.as_ref().subcols(0, count).to_owned()
}

/// `to` = `a` `b`, or `b` where `a` is the identity.
fn assign_product(mut to: MatMut<'_, f64>, a: Option<MatRef<'_, f64>>, b: MatRef<'_, f64>) {
    match a {
        None => to.copy_from(b),
        Some(a) => crate::linalg::matmul(to, faer::Accum::Replace, a, b, 1.0, faer::Par::Seq),
    }
}
