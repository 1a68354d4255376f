//! The decomposition of functions on a grid from those of its axes.
//!
//! Products over the axes of a grid, $\Phi = (A^1\otimes\dots\otimes A^d)_S$ with the products in $S$, have the triangular
//! factor $(R^1\otimes\dots\otimes R^d)_{SS}$ of their axes, $A^k = Q^kR^k$. If $S$ has all products, singular values and
//! vectors are products as well. Points left out of the grid, rows $W$ of $Q = (Q^1\otimes\dots\otimes Q^d)_S$, leave
//! $I - W^\top W = LL^\top$ of its Gram matrix, whose condition has nothing to do with that of $\Phi$: with few of them
//! $QL^{-\top}$ is orthonormal to rounding at the others.

use super::super::orthonormal::Orthonormal;
use super::{Right, Spectrum, from_dense};
use crate::basis::{Design, Separable};
use crate::error::in_order;
use crate::{Result, linalg};
use faer::Mat;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Points left out of a grid may carry all but this fraction of a function.
const LEAST_LEFT: f64 = 0.01;

/// At the points of a grid, of which some may be left out.
pub(super) fn from_separable(design: Separable) -> Result<Spectrum> {
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
    let mut gram = Mat::<f64>::identity(m, m) - linalg::lower_gram(w.transpose());
    if !linalg::cholesky_in_place(gram.as_mut()) {
        return None;
    }
    let smallest = (0..m).map(|i| gram[(i, i)]).fold(f64::INFINITY, f64::min);
    let lower = |i: usize, j: usize| if i >= j { gram[(i, j)] } else { 0.0 };
    (smallest * smallest > LEAST_LEFT).then(|| Mat::from_fn(m, m, lower))
}
