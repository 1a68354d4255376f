//! Interpolation on a grid: along each axis the Lagrange polynomial through the nearest grid lines.
//!
//! The degree $p$ is odd, so that a point has as many lines on one side as on the other; the error is $O(h^{p+1})$. A grid
//! point that is missing, for example because a fit withholds it, is replaced by its neighbours along one axis.

use super::interpolant::Stencil;
use crate::data::{Bounds, Points};
use faer::MatRef;
use std::collections::HashMap;

/// Points that form a grid, all or nearly all of its crossings.
#[derive(Debug)]
pub(super) struct GridPolynomials {
    /// Coordinates along each axis, ascending.
    axes: Vec<Vec<f64>>,
    /// The period of each periodic axis.
    periods: Vec<Option<f64>>,
    /// The row of each crossing, the last axis running fastest; [`MISSING`] where there is no point.
    rows: Vec<usize>,
    degree: usize,
    /// The substitutes for crossings without a point.
    filled: HashMap<usize, Stencil>,
}

const MISSING: usize = usize::MAX;

/// At most this fraction of the crossings may be missing.
const MOST_MISSING: f64 = 0.3;

/// The substitutes for a missing crossing lie within this many lines, or within two more than are needed on each side if
/// that is farther.
const REACH: usize = 4;

/// Odd, because even degrees would be one-sided.
const DEGREES: [usize; 4] = [1, 3, 5, 7];

/// A higher degree is chosen only if its error is below this fraction of the lower degree's.
const WORTH_A_DEGREE: f64 = 0.9;

/// The most points that a value of degree above one may depend on: any degree in 2D, cubic in 3D.
const MOST_TERMS: usize = 64;

/// At most this many lines along each axis and samples are used to choose the degree.
const PROBE_LINES: usize = 16;
const PROBE_SAMPLES: usize = 32;

/// The expected relative error of interpolating `values` (one column per sample) between the points of a grid. `None` if
/// the points are not a grid.
///
/// The errors $e_1,e_2,e_3$ of interpolation from every second, fourth and eighth point to the midpoints are known. With
/// $q_i=e_i/e_{i+1}$ the next one is $e_1q_1\min(1,q_1/q_2)$: an order of convergence that grows, because the grid has only
/// begun to resolve the fields, is assumed to keep growing, up to $p+1$; an order limited by a singularity stays.
pub(crate) fn expected_error(
    domain: &Bounds,
    points: &Points,
    values: MatRef<'_, f64>,
) -> Option<f64> {
    let grid = GridPolynomials::new(domain, points)?;
    let best = grid.best_degree(values);
    let error = |gap: usize| {
        let (errors, norm) = grid.errors_between(values, gap);
        let (_, error) = errors.into_iter().find(|(degree, _)| *degree == best)?;
        Some((error / norm).sqrt()).filter(|e| e.is_finite())
    };
    let quotient = |finer: Option<f64>, coarser: Option<f64>| {
        Some(finer? / coarser?).filter(|quotient| quotient.is_finite())
    };
    let [first, second, third] = [1, 2, 4].map(error);
    let power = |degree: usize| 0.5f64.powi(degree as i32 + 1);
    let next = match (quotient(first, second), quotient(second, third)) {
        (Some(last), Some(before)) => (last * (last / before).min(1.0)).clamp(power(best), 1.0),
        (Some(last), None) => last.clamp(power(best), 1.0),
        // Too few lines to estimate the order.
        (None, _) => power(best.min(3)),
    };
    Some(first? * next)
}

impl GridPolynomials {
    /// Linear interpolation on the grid formed by `points`, of which single ones may be missing; `None` if they form no grid.
    pub(super) fn new(domain: &Bounds, points: &Points) -> Option<Self> {
        let (n, dim) = (points.len(), points.dim());
        let axes: Vec<Vec<f64>> = (0..dim)
            .map(|k| {
                let mut along: Vec<f64> = points.iter().map(|p| p[k]).collect();
                along.sort_unstable_by(f64::total_cmp);
                along.dedup();
                along
            })
            .collect();
        let crossings = axes
            .iter()
            .try_fold(1usize, |c, a| c.checked_mul(a.len()))?;
        if crossings < n || (n as f64) < (1.0 - MOST_MISSING) * crossings as f64 {
            return None;
        }
        let mut rows = vec![MISSING; crossings];
        for (i, point) in points.iter().enumerate() {
            let place = point.iter().zip(&axes).fold(0, |place, (x, along)| {
                place * along.len() + along.partition_point(|y| y < x)
            });
            rows[place] = i;
        }
        let period = |k: usize| domain.is_periodic(k).then(|| domain.width(k));
        let grid = GridPolynomials {
            periods: (0..dim).map(period).collect(),
            axes,
            rows,
            degree: 1,
            filled: HashMap::new(),
        };
        grid.of_degree(1)
    }

    /// Polynomials of this degree on the same grid; `None` if a crossing without a point has no substitute, as
    /// outside a domain that does not fill its box.
    pub(super) fn of_degree(mut self, degree: usize) -> Option<Self> {
        self.degree = degree;
        self.filled = (0..self.rows.len())
            .filter(|&place| self.rows[place] == MISSING)
            .map(|place| Some((place, self.fill(place)?)))
            .collect::<Option<_>>()?;
        Some(self)
    }

    /// The degrees to choose from.
    pub(super) fn degrees(&self) -> impl Iterator<Item = usize> + use<> {
        let dim = self.axes.len() as u32;
        let terms = move |degree: &usize| (degree + 1).checked_pow(dim);
        let affordable = move |d: &usize| *d == 1 || terms(d).is_some_and(|t| t <= MOST_TERMS);
        DEGREES.into_iter().filter(affordable)
    }

    /// The degree that, from every second point of some lines, best predicts the `values` (one column per sample) at the
    /// points between; a higher one only if it is worth it.
    pub(super) fn best_degree(&self, values: MatRef<'_, f64>) -> usize {
        let (errors, _) = self.errors_between(values, 1);
        let mut best = errors[0];
        for next in errors {
            if next.1 < WORTH_A_DEGREE.powi(2) * best.1 {
                best = next;
            }
        }
        best.0
    }

    /// The substitute for a missing crossing: points on both sides of it, along the axis on which they are nearest.
    fn fill(&self, place: usize) -> Option<Stencil> {
        let side = self.degree.div_ceil(2);
        let reach = REACH.max(side + 2);
        let mut best: Option<((usize, usize), Stencil)> = None;
        let mut stride = self.rows.len();
        for along in &self.axes {
            stride /= along.len();
            let i = place / stride % along.len();
            let row = |j: usize| self.rows[place + j * stride - i * stride];
            let present = |j: &usize| row(*j) != MISSING;
            let before = (i.saturating_sub(reach)..i).rev().filter(present);
            let after = (i + 1..(i + 1 + reach).min(along.len())).filter(present);
            let (before, after): (Vec<_>, Vec<_>) =
                (before.take(side).collect(), after.take(side).collect());
            if before.is_empty() || after.is_empty() {
                continue;
            }
            // First as many points as the degree needs, then the nearest ones.
            let lacking = 2 * side - before.len() - after.len();
            let score = (lacking, after[after.len() - 1] - before[before.len() - 1]);
            if best.as_ref().is_none_or(|b| score < b.0) {
                let nodes: Vec<usize> = before.iter().chain(&after).copied().collect();
                let at: Vec<f64> = nodes.iter().map(|&j| along[j]).collect();
                let weights = lagrange(&at, along[i]);
                best = Some((score, nodes.iter().map(|&j| row(j)).zip(weights).collect()));
            }
        }
        best.map(|(_, stencil)| stencil)
    }

    /// The weights at a point: a product over the axes.
    pub(super) fn stencil(&self, point: &[f64]) -> Stencil {
        let mut stencil = vec![(0, 1.0)];
        for ((x, along), period) in point.iter().zip(&self.axes).zip(&self.periods) {
            let weights = match period {
                Some(period) => ring_weights(along, *period, *x, self.degree),
                None => line_weights(along, *x, self.degree),
            };
            stencil = stencil
                .iter()
                .flat_map(|&(place, w)| {
                    let next = weights.iter();
                    next.map(move |&(i, v)| (place * along.len() + i, w * v))
                })
                .collect();
        }
        let mut of_rows = Stencil::with_capacity(stencil.len());
        for (place, w) in stencil {
            match self.rows[place] {
                MISSING => of_rows.extend(self.filled[&place].iter().map(|(row, v)| (*row, w * v))),
                row => of_rows.push((row, w)),
            }
        }
        of_rows
    }

    /// For each degree, the squared error of interpolating some lines from every `2 * gap`-th point to the midpoints; and
    /// the squared norm of the values there.
    fn errors_between(&self, values: MatRef<'_, f64>, gap: usize) -> (Vec<(usize, f64)>, f64) {
        let samples = values.ncols().min(PROBE_SAMPLES);
        let mut errors: Vec<(usize, f64)> = self.degrees().map(|degree| (degree, 0.0)).collect();
        let highest = errors.last().map_or(1, |(degree, _)| *degree);
        let mut norm = 0.0;
        for (k, along) in self.axes.iter().enumerate() {
            let nodes: Vec<f64> = along.iter().copied().step_by(2 * gap).collect();
            if nodes.len() < 4 {
                continue;
            }
            let weights = |degree: usize, i: usize| line_weights(&nodes, along[i], degree);
            for line in self.lines(k) {
                // Midpoints with a missing neighbour are skipped.
                let complete = |i: usize| {
                    let neighbours = weights(highest, i);
                    line[i] != MISSING
                        && neighbours.iter().all(|(j, _)| line[2 * gap * j] != MISSING)
                };
                for i in (gap..along.len()).step_by(2 * gap).filter(|&i| complete(i)) {
                    let truths = (0..samples).map(|s| values[(line[i], s)]);
                    norm += truths.map(|truth| truth.powi(2)).sum::<f64>();
                    for (degree, error) in &mut errors {
                        let weights = weights(*degree, i);
                        for s in 0..samples {
                            let near = weights
                                .iter()
                                .map(|(j, w)| w * values[(line[2 * gap * j], s)]);
                            *error += (near.sum::<f64>() - values[(line[i], s)]).powi(2);
                        }
                    }
                }
            }
        }
        (errors, norm)
    }

    /// Some lines along axis `k`, as rows.
    fn lines(&self, k: usize) -> impl Iterator<Item = Vec<usize>> + '_ {
        let length = self.axes[k].len();
        let inner: usize = self.axes[k + 1..].iter().map(Vec::len).product();
        let count = self.rows.len() / length;
        let step = count.div_ceil(PROBE_LINES);
        (0..count).step_by(step.max(1)).map(move |line| {
            let start = line / inner * inner * length + line % inner;
            (0..length).map(|i| self.rows[start + i * inner]).collect()
        })
    }
}

/// The weights at `x` of the nearest points `along` a line. Beyond the ends the polynomial through the outermost points
/// continues.
fn line_weights(along: &[f64], x: f64, degree: usize) -> Vec<(usize, f64)> {
    let size = (degree + 1).min(along.len());
    let after = along.partition_point(|y| *y <= x);
    let first = after.saturating_sub(size / 2).min(along.len() - size);
    let nodes = &along[first..first + size];
    (first..).zip(lagrange(nodes, x)).collect()
}

/// The same on a periodic line, where every point has neighbours on both sides.
fn ring_weights(along: &[f64], period: f64, x: f64, degree: usize) -> Vec<(usize, f64)> {
    let n = along.len() as isize;
    let size = (degree as isize + 1).min(n);
    let after = along.partition_point(|y| *y <= x) as isize;
    let places = after - size / 2..after - size / 2 + size;
    let (rows, nodes): (Vec<usize>, Vec<f64>) = places
        .map(|j| {
            let row = j.rem_euclid(n) as usize;
            (row, along[row] + period * j.div_euclid(n) as f64)
        })
        .unzip();
    rows.into_iter().zip(lagrange(&nodes, x)).collect()
}

/// The weights at `x` of the polynomial through values at `nodes`.
fn lagrange(nodes: &[f64], x: f64) -> Vec<f64> {
    let weight = |i: usize| {
        let others = nodes.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, y)| (x - y) / (nodes[i] - y)).product()
    };
    (0..nodes.len()).map(weight).collect()
}
