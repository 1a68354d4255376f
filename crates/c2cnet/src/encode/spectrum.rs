//! The singular value decomposition $\Phi = U\,\mathrm{diag}(\sigma)\,V^\top$ of a design matrix,
//! with $U$ stored in a form whose cost is proportional to the nonzeros of $\Phi$.
//!
//! Blocks of rows that share columns are compressed first: a cell with more points than functions
//! is replaced by its triangular factor, $\Phi_{\rm cell} = Q_{\rm cell}R_{\rm cell}$. Neighbouring
//! $R_{\rm cell}$ are then stacked and compressed again, until about as many rows are left as
//! there are functions; their dense QR and the SVD of its $R$ give the rest. There are no normal equations
//! anywhere, so the condition number is not squared.
//!
//! Products over the axes of a grid, $\Phi = (A^1\otimes\dots\otimes A^d)_S$ with the products in $S$, have the triangular
//! factor $(R^1\otimes\dots\otimes R^d)_{SS}$ of their axes, $A^k = Q^kR^k$. If $S$ has all products, singular values and
//! vectors are products as well. Points left out of the grid, rows $W$ of $Q = (Q^1\otimes\dots\otimes Q^d)_S$, leave
//! $I - W^\top W = LL^\top$ of its Gram matrix, whose condition has nothing to do with that of $\Phi$: with few of them
//! $QL^{-\top}$ is orthonormal to rounding at the others.

use super::Regularisation;
use super::clusters;
use super::large;
use super::orthonormal::{Cell, Orthonormal, leading_columns};
use crate::basis::{Block, Blocks, Design, Separable};
use crate::error::in_order;
use crate::observe::unless;
use crate::{Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::collections::BTreeMap;

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

/// Points left out of a grid may carry all but this fraction of a function.
const LEAST_LEFT: f64 = 0.01;

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

fn from_separable(design: Separable) -> Result<Spectrum> {
    let (q, r) = design.axis_factors();
    match design.skipped() {
        Some(skip) => match with_holes(&design.with_factors(q), &r, skip)? {
            Some(spectrum) => Ok(spectrum),
            None => from_dense(Design::Separable(design).to_dense()),
        },
        None if design.has_all_products() => from_axes(&design, &q, &r),
        None => from_groups(design.with_factors(q), &r),
    }
}

/// Products fall into groups that are orthogonal to each other, even and odd ones on a symmetric grid: each has its own
/// decomposition.
fn from_groups(products: Separable, r: &[Mat<f64>]) -> Result<Spectrum> {
    let groups = orthogonal_groups(&products, r);
    let m = products.ncols();
    let decompose = |group: &Vec<usize>| {
        let triangle = products.product_of(r, group);
        match group.len() == m {
            true => linalg::thin_svd(triangle.as_ref()),
            false => linalg::thin_svd_seq(triangle.as_ref()),
        }
    };
    let parts = in_order(groups.par_iter().map(decompose))?;
    let mut order: Vec<(usize, usize)> = (0..groups.len())
        .flat_map(|g| (0..groups[g].len()).map(move |c| (g, c)))
        .collect();
    let sigma = |&(g, c): &(usize, usize)| parts[g].s[c];
    order.sort_by(|a, b| sigma(b).total_cmp(&sigma(a)).then(a.cmp(b)));
    let sigma = order.iter().map(sigma).collect();
    if groups.len() == m {
        let order: Vec<usize> = order.iter().map(|&(g, _)| groups[g][0]).collect();
        return Ok(Spectrum {
            left: Orthonormal::Separable {
                products: products.select_products(&order),
                mix: None,
            },
            sigma,
            right: Right::Permutation { order, nrows: m },
        });
    }
    let assemble = |of: fn(&linalg::Svd) -> &Mat<f64>| {
        let mut all = Mat::zeros(m, m);
        for (column, &(g, c)) in order.iter().enumerate() {
            for (row, &j) in groups[g].iter().enumerate() {
                all[(j, column)] = of(&parts[g])[(row, c)];
            }
        }
        all
    };
    Ok(Spectrum {
        left: Orthonormal::Separable {
            mix: Some(assemble(|svd| &svd.u)),
            products,
        },
        sigma,
        right: Right::Dense(assemble(|svd| &svd.v)),
    })
}

/// Groups of products that are orthogonal to all of other groups.
fn orthogonal_groups(products: &Separable, r: &[Mat<f64>]) -> Vec<Vec<usize>> {
    let labels: Vec<Vec<usize>> = r.iter().map(components).collect();
    let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for j in 0..products.ncols() {
        let along = products.index(j).iter().zip(&labels);
        let label = along.map(|(&i, labels)| labels[i as usize]).collect();
        groups.entry(label).or_default().push(j);
    }
    groups.into_values().collect()
}

/// A label for each column of a triangular factor; columns with different ones are orthogonal to rounding.
fn components(r: &Mat<f64>) -> Vec<usize> {
    let mut labels: Vec<usize> = (0..r.ncols()).collect();
    for j in 0..r.ncols() {
        let rounding = f64::EPSILON * r.ncols().max(64) as f64 * r.col(j).norm_l2();
        for i in (0..j).filter(|&i| r[(i, j)].abs() > rounding) {
            let (a, b) = (labels[i], labels[j]);
            for label in labels.iter_mut().filter(|label| **label == a.max(b)) {
                *label = a.min(b);
            }
        }
    }
    labels
}

/// At points of a grid of which some are left out; `None` if these are too many or too important.
fn with_holes(products: &Separable, r: &[Mat<f64>], skip: &[bool]) -> Result<Option<Spectrum>> {
    let Some(l) = gram_factor(products, skip) else {
        return Ok(None);
    };
    let all: Vec<usize> = (0..products.ncols()).collect();
    let triangle = products.product_of(r, &all);
    let svd = linalg::thin_svd(linalg::mul(l.transpose(), triangle.as_ref()).as_ref())?;
    let mut mix = svd.u;
    linalg::solve_upper(l.transpose(), mix.as_mut());
    Ok(Some(Spectrum {
        left: Orthonormal::Separable {
            products: products.clone().without_rows(skip),
            mix: Some(mix),
        },
        sigma: svd.s,
        right: Right::Dense(svd.v),
    }))
}

/// All products: those of the decompositions $R^k = U^k\Sigma^kV^{k\top}$ of the axes.
fn from_axes(design: &Separable, q: &[Mat<f64>], r: &[Mat<f64>]) -> Result<Spectrum> {
    let axes = r.iter().map(|r| linalg::thin_svd_seq(r.as_ref()));
    let axes = axes.collect::<Result<Vec<_>>>()?;
    let turned = q.iter().zip(&axes);
    let turned = turned.map(|(q, svd)| linalg::mul_seq(q.as_ref(), svd.u.as_ref()));
    let (sigmas, right): (Vec<_>, Vec<_>) = axes.iter().map(|a| (a.s.clone(), a.v.clone())).unzip();
    let sigma = design.products(&sigmas);
    let all: Vec<usize> = (0..sigma.len()).collect();
    let mut order = all.clone();
    order.sort_by(|&a, &b| sigma[b].total_cmp(&sigma[a]).then(a.cmp(&b)));
    let products = design.with_factors(turned.collect());
    Ok(Spectrum {
        left: Orthonormal::Separable {
            products: products.select_products(&order),
            mix: None,
        },
        sigma: order.iter().map(|&j| sigma[j]).collect(),
        right: Right::Dense(linalg::select_columns(
            design.product_of(&right, &all).as_ref(),
            &order,
        )),
    })
}

/// $L$ with $LL^\top$ the Gram matrix of orthonormal columns at the rows that are left; `None` if those that are not
/// carry so much that digits would be lost.
fn gram_factor(orthonormal: &Separable, skip: &[bool]) -> Option<Mat<f64>> {
    let rows: Vec<usize> = (0..skip.len()).filter(|&i| skip[i]).collect();
    let w = orthonormal.dense_rows(&rows);
    let m = w.ncols();
    let mut gram = Mat::zeros(m, m);
    linalg::add_gram(gram.as_mut(), w.transpose());
    gram = Mat::<f64>::identity(m, m) - gram;
    if !linalg::cholesky_in_place(gram.as_mut()) {
        return None;
    }
    let smallest = (0..m).map(|i| gram[(i, i)]).fold(f64::INFINITY, f64::min);
    let lower = |i: usize, j: usize| if i >= j { gram[(i, j)] } else { 0.0 };
    (smallest * smallest > LEAST_LEFT).then(|| Mat::from_fn(m, m, lower))
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
