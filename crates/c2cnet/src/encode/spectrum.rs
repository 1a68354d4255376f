//! The singular value decomposition $\Phi = U\,\mathrm{diag}(\sigma)\,V^\top$ of a design matrix,
//! with $U$ stored in a form whose cost is proportional to the nonzeros of $\Phi$.
//!
//! Blocks of rows that share columns are compressed first: a cell with more points than functions
//! is replaced by its triangular factor, $\Phi_{\rm cell} = Q_{\rm cell}R_{\rm cell}$. Neighbouring
//! $R_{\rm cell}$ are then stacked and compressed again, until about as many rows are left as
//! there are functions; their dense QR and the SVD of its $R$ give the rest. Normal equations, which square the condition
//! number, are formed only where a cut of thousands of functions stands far above what that loses (`large`).

mod axes;

use super::Regularisation;
use super::clusters;
use super::large;
use super::orthogonal::orthogonal_norms;
use super::orthonormal::{Cell, Orthonormal, leading_columns};
use crate::basis::{Block, Blocks, Design};
use crate::observe::unless;
use crate::{Result, linalg};
use axes::from_separable;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// A factored design matrix, cut at its numerical rank.
#[derive(Debug)]
pub struct Spectrum {
    left: Orthonormal,
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

/// Factorisations of this many functions take seconds to minutes, so cancellation is polled.
pub(super) const LONG: usize = 1500;

impl Spectrum {
    /// Factors a design matrix and drops singular values at rounding level.
    ///
    /// # Errors
    /// If the singular value decomposition does not converge.
    pub fn new(design: Design) -> Result<Self> {
        Self::new_unless(design, &|| false)
    }

    /// As [`Spectrum::new`]; stops waiting for a factorisation that takes minutes if `cancelled` asks for it.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`], or as [`Spectrum::new`].
    pub(crate) fn new_unless(design: Design, cancelled: &dyn Fn() -> bool) -> Result<Self> {
        let mut spectrum = Self::of_one_fit(design, cancelled)?;
        spectrum.left.form();
        Ok(spectrum)
    }

    /// As [`Spectrum::new_unless`], for an encoder of which `regularisation` is known: of thousands of functions only the
    /// triplets that it keeps are computed.
    ///
    /// # Errors
    /// As [`Spectrum::new_unless`].
    pub(crate) fn for_encoder(
        design: Design,
        regularisation: Option<Regularisation>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self> {
        match (design, regularisation) {
            (Design::Dense(dense), Some(known)) if large::is_large(&dense) => {
                let mut spectrum = unless(cancelled, move || {
                    match large::above(dense.as_ref(), known)? {
                        Some(spectrum) => Ok(spectrum),
                        None => Self::factored(Design::Dense(dense)),
                    }
                })??;
                spectrum.left.form();
                Ok(spectrum)
            }
            (design, _) => Self::new_unless(design, cancelled),
        }
    }

    /// As [`Spectrum::new_unless`], but faster, for a factorisation that is applied to all samples at once and
    /// dropped: its result for a sample may depend, by rounding, on how many others there are.
    ///
    /// # Errors
    /// As [`Spectrum::new_unless`].
    pub(crate) fn of_one_fit(design: Design, cancelled: &dyn Fn() -> bool) -> Result<Self> {
        let (n, m) = (design.nrows(), design.ncols());
        match n.min(m) >= LONG {
            true => unless(cancelled, move || Self::factored(design))?,
            false => Self::factored(design),
        }
    }

    fn factored(design: Design) -> Result<Self> {
        let (n, m) = (design.nrows(), design.ncols());
        let full = match design {
            Design::Blocks(blocks) if has_one_column_per_block(&blocks) => selection(&blocks),
            Design::Blocks(blocks) => from_blocks(blocks)?,
            Design::Dense(dense) => from_dense(dense)?,
            Design::Separable(separable) => from_separable(separable)?,
        };
        Ok(full.above_rounding(n.max(m)))
    }

    /// The triplets that are more than rounding in a matrix of this `size`.
    pub(super) fn above_rounding(self, size: usize) -> Self {
        let noise = f64::EPSILON * size as f64;
        let rank = self.rank_above(noise * self.sigma.first().copied().unwrap_or(0.0));
        self.truncated(rank)
    }

    /// Of $\Phi$, where this is the decomposition of $\Phi V_k$ for orthonormal columns $V_k$ that hold all of its right
    /// vectors.
    pub(super) fn turned_by(self, columns: MatRef<'_, f64>) -> Self {
        let right = match self.right {
            Right::Dense(v) => Right::Dense(linalg::mul(columns, v.as_ref())),
            Right::Permutation { order, .. } => {
                Right::Dense(linalg::select_columns(columns, &order))
            }
        };
        Spectrum { right, ..self }
    }

    /// The singular values above rounding level, descending.
    pub fn singular_values(&self) -> &[f64] {
        &self.sigma
    }

    /// How many singular values are kept.
    pub(crate) fn rank(&self) -> usize {
        self.sigma.len()
    }

    /// The number of points.
    pub(crate) fn nrows(&self) -> usize {
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
    pub(crate) fn truncated(mut self, rank: usize) -> Self {
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
    pub(crate) fn project(&self, f: MatRef<'_, f64>) -> Mat<f64> {
        self.project_leading(f, self.rank())
    }

    /// The first `rank` rows of [`Spectrum::project`], without computing the others.
    pub(crate) fn project_leading(&self, f: MatRef<'_, f64>, rank: usize) -> Mat<f64> {
        assert_eq!(f.nrows(), self.nrows());
        assert!(rank <= self.rank());
        self.left.project(f, rank)
    }

    /// $U C$: values at the points from orthonormal coordinates.
    #[cfg(test)]
    pub(crate) fn expand(&self, c: MatRef<'_, f64>) -> Mat<f64> {
        assert_eq!(c.nrows(), self.rank());
        self.left.expand(c)
    }

    /// $\|f - UU^\top f\|^2$ for each sample, from the values and their coordinates, accurate to a
    /// few digits even where it is tiny; rows where `skip` is true do not count.
    pub(crate) fn residuals_squared(
        &self,
        f: MatRef<'_, f64>,
        c: MatRef<'_, f64>,
        skip: Option<&[bool]>,
    ) -> Vec<f64> {
        self.left.residuals_squared(f, c, skip)
    }

    /// $T = V\Sigma^{-1}$: coefficients from orthonormal coordinates.
    pub(crate) fn inverse_transform(&self) -> Mat<f64> {
        match &self.right {
            Right::Dense(v) => {
                let mut t = v.clone();
                for (j, s) in self.sigma.iter().enumerate() {
                    let inverse = 1.0 / s;
                    t.col_mut(j).iter_mut().for_each(|v| *v *= inverse);
                }
                t
            }
            Right::Permutation { order, nrows } => {
                let mut t = Mat::zeros(*nrows, order.len());
                for (j, (&i, s)) in order.iter().zip(&self.sigma).enumerate() {
                    t[(i, j)] = 1.0 / s;
                }
                t
            }
        }
    }

    /// $V\,\mathrm{diag}(g)\,C$: coefficients from the leading coordinates under a filter $g$.
    pub(crate) fn coefficients(&self, filter: &[f64], mut c: Mat<f64>) -> Mat<f64> {
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

fn from_dense(dense: Mat<f64>) -> Result<Spectrum> {
    let (n, m) = dense.shape();
    if let Some(norms) = orthogonal_norms(dense.as_ref()) {
        return Ok(from_orthogonal(dense, &norms));
    }
    if n <= m {
        let svd = linalg::thin_svd(dense.as_ref())?;
        return Ok(Spectrum {
            left: Orthonormal::Dense(svd.u),
            sigma: svd.s,
            right: Right::Dense(svd.v),
        });
    }
    from_qr(linalg::Qr::new(dense))
}

/// The decomposition of $QR$ by that of $R$.
pub(super) fn from_qr(qr: linalg::Qr) -> Result<Spectrum> {
    let svd = linalg::thin_svd(qr.r().as_ref())?;
    Ok(Spectrum {
        left: Orthonormal::Reflections { q: qr, mix: svd.u },
        sigma: svd.s,
        right: Right::Dense(svd.v),
    })
}

/// $\Phi = U\operatorname{diag}(\sigma)$ up to the order of the columns, whose `norms` are given.
fn from_orthogonal(columns: Mat<f64>, norms: &[f64]) -> Spectrum {
    let mut order: Vec<usize> = (0..norms.len()).collect();
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]).then(a.cmp(&b)));
    let sigma: Vec<f64> = order.iter().map(|&j| norms[j]).collect();
    let mut left = linalg::select_columns(columns.as_ref(), &order);
    linalg::par_column_chunks(left.as_mut(), 1, |j, mut column| {
        column *= faer::Scale(1.0 / sigma[j]);
    });
    Spectrum {
        left: Orthonormal::Dense(left),
        sigma,
        right: Right::Permutation {
            order,
            nrows: norms.len(),
        },
    }
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
        left: Orthonormal::Cells {
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
        left: Orthonormal::Selection {
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
    use super::super::orthonormal::SLAB;
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
            let Orthonormal::Cells { core, .. } = &sparse.left else {
                panic!("cells")
            };
            assert!(matches!(**core, Orthonormal::Cells { .. }), "no clusters");
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

    /// Cosines and sines, polynomials; all products of some functions, and those of smallest frequency.
    #[test]
    fn axes_of_a_grid_give_the_dense_decomposition() {
        let domain = Bounds::unit(2);
        let points = Points::grid(&domain, &[47, 43]);
        let n = points.len();
        let f = Mat::from_fn(n, 40, |i, k| ((i * (k + 3)) as f64 * 0.01).sin());
        let holes: Vec<bool> = (0..n).map(|i| i * 7 % 10 == 4).collect();
        for spec in [
            serde_json::json!({"family": "fourier", "kind": "cosine", "functions": 120}),
            serde_json::json!({"family": "fourier", "kind": "sine", "functions": 60}),
            serde_json::json!({"family": "fourier", "kind": "cosine", "modes": [7, 12]}),
            serde_json::json!({"family": "polynomial", "functions": 91}),
        ] {
            let spec: crate::basis::BasisSpec = serde_json::from_value(spec).unwrap();
            let basis = spec.build(BuildContext::on(&domain)).unwrap();
            for skip in [None, Some(&holes)] {
                let mut design = basis.evaluate(&points).unwrap();
                if let Some(skip) = skip {
                    design = design.without_rows(skip);
                }
                assert!(matches!(design, Design::Separable(_)));
                let phi = design.to_dense();
                let dense = Spectrum::new(Design::Dense(phi.clone())).unwrap();
                let axes = Spectrum::new(design).unwrap();
                assert!(matches!(axes.left, Orthonormal::Separable { .. }));
                assert_eq!(axes.rank(), dense.rank());
                for (a, b) in axes.sigma.iter().zip(&dense.sigma) {
                    assert!((a - b).abs() < 1e-13 * dense.sigma[0], "{a} {b}");
                }
                let c = axes.project(f.as_ref());
                let off =
                    axes.expand(c.as_ref()) - dense.expand(dense.project(f.as_ref()).as_ref());
                assert!(off.norm_max() < 1e-12, "{:e}", off.norm_max());
                let again = axes.project(axes.expand(c.as_ref()).as_ref()) - &c;
                assert!(again.norm_max() < 1e-11, "{:e}", again.norm_max());
                // Orthonormal coordinates become values by way of coefficients.
                let b = linalg::mul(axes.inverse_transform().as_ref(), c.as_ref());
                let off = linalg::mul(phi.as_ref(), b.as_ref()) - axes.expand(c.as_ref());
                assert!(off.norm_max() < 1e-11, "{:e}", off.norm_max());
                let residuals =
                    axes.residuals_squared(f.as_ref(), c.as_ref(), skip.map(|s| &s[..]));
                let expected = dense.project(f.as_ref());
                let expected =
                    dense.residuals_squared(f.as_ref(), expected.as_ref(), skip.map(|s| &s[..]));
                // By Pythagoras: as accurate as the squared norms.
                let norms = linalg::column_norms_squared(f.as_ref());
                for ((a, b), norm) in residuals.iter().zip(&expected).zip(norms) {
                    assert!((a - b).abs() < 1e-13 * norm, "{a} {b}");
                }
                let short = axes.truncated(7).project(f.as_ref());
                assert!((short - c.as_ref().subrows(0, 7)).norm_max() < 1e-11);
            }
        }
    }
}
