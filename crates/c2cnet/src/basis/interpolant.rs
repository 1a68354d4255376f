//! Interpolation of values at data points: how learned functions continue between them.
//!
//! - On a grid (any order of the points; single ones may be missing), along each axis through the four nearest lines by the cubic Lagrange
//!   polynomial, error $O(h^4)$, where that predicts the data's own lines better than straight lines do; else
//!   multilinear. In one dimension every set of points is a grid.
//! - On a mesh, or scattered in the plane, on its triangles or those of the Delaunay triangulation: by blended polynomials of
//!   second degree, error $O(h^3)$, where such polynomials predict the data's own nodes with at most half the error of
//!   those of first degree; else linear.
//! - Scattered in more dimensions: the value of the nearest point.
//!
//! At the data points themselves (found by the bits of their coordinates) values are reproduced exactly.

use super::nodal_polynomials::NodalPolynomials;
use super::point_values::bits;
use super::{Basis, PointValues};
use crate::data::{Bounds, Points};
use crate::domain::TriangleMesh;
use crate::storage::restore_settled;
use crate::{Result, linalg};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Interpolates values at fixed points.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct Interpolant {
    /// The points, and the interpolation off a grid.
    values: PointValues,
    /// Whether polynomials of higher degree are better than straight lines: cubic ones on a grid, quadratic ones on
    /// triangles.
    #[serde(rename = "cubic")]
    smooth: bool,
    #[serde(skip)]
    grid: Option<Grid>,
    /// On triangles, where these are smooth.
    #[serde(skip)]
    nodal: Option<NodalPolynomials>,
}

restore_settled!(Interpolant);

/// Points that are the crossings of some lines, all or nearly all.
#[derive(Debug)]
struct Grid {
    /// Coordinates along each axis, ascending.
    axes: Vec<Vec<f64>>,
    /// The period of each axis that has one.
    periods: Vec<Option<f64>>,
    /// The row of each crossing, the last axis running fastest; [`MISSING`] where there is no point.
    rows: Vec<usize>,
    /// What stands in for crossings without a point, by linear and by cubic interpolation along one axis.
    filled: HashMap<usize, [Stencil; 2]>,
}

const MISSING: usize = usize::MAX;

/// A grid may miss this part of its crossings: those that a fit withholds.
const MOST_MISSING: f64 = 0.3;

/// Neighbours along an axis that stand in for a missing crossing lie within this many lines.
const REACH: usize = 4;

/// Weights of rows.
pub(super) type Stencil = Vec<(usize, f64)>;

/// More dimensions would need too many neighbours for cubic polynomials.
const MOST_CUBIC: usize = 3;

/// Lines along each axis and samples that decide between cubic and linear.
const PROBE_LINES: usize = 16;
const PROBE_SAMPLES: usize = 32;

/// The relative error between the points of a grid that interpolation of `values` there (one column per sample) is
/// expected to have: that between every other point, which falls with the second or fourth power of the spacing.
/// `None` off a grid.
pub(crate) fn expected_error(
    domain: &Bounds,
    points: &Points,
    values: MatRef<'_, f64>,
) -> Option<f64> {
    let grid = Grid::new(domain, points)?;
    let [linear, cubic, norm] = grid.every_other_errors(values);
    let relative = |error: f64| (error / norm).sqrt();
    let linear = relative(linear) / 4.0;
    let error = match grid.axes.len() <= MOST_CUBIC {
        true => linear.min(relative(cubic) / 16.0),
        false => linear,
    };
    Some(error).filter(|e| e.is_finite())
}

impl Interpolant {
    /// For `values` (one column per sample) at `points`, which `triangles` may connect to a mesh.
    ///
    /// # Errors
    /// If two points are the same.
    pub(super) fn new(
        domain: Bounds,
        points: &Points,
        values: MatRef<'_, f64>,
        triangles: Option<&[[usize; 3]]>,
    ) -> Result<Self> {
        let grid = Grid::new(&domain, points);
        let values_at = match triangles {
            Some(triangles) if grid.is_none() && points.dim() == 2 => {
                let nodes = points.iter().map(|p| [p[0], p[1]]).collect();
                let mesh = TriangleMesh::with_all_nodes(nodes, triangles.to_vec())?;
                PointValues::on_mesh(domain, points.clone(), mesh)?
            }
            _ => PointValues::new(domain, points.clone())?,
        };
        let smooth = match (&grid, values_at.mesh()) {
            (Some(grid), _) => grid.axes.len() <= MOST_CUBIC && grid.prefers_cubic(values),
            (None, Some((mesh, _))) => NodalPolynomials::predict_better(points, mesh, values),
            (None, None) => false,
        };
        let mut interpolant = Interpolant {
            values: values_at,
            smooth,
            grid,
            nodal: None,
        };
        interpolant.nodal = interpolant.nodal_polynomials();
        Ok(interpolant)
    }

    fn settle(&mut self) -> Result<()> {
        self.grid = Grid::new(self.values.domain(), self.values.points());
        self.nodal = self.nodal_polynomials();
        Ok(())
    }

    fn nodal_polynomials(&self) -> Option<NodalPolynomials> {
        let (mesh, _) = self.values.mesh()?;
        let wanted = self.smooth && self.grid.is_none();
        wanted.then(|| NodalPolynomials::new(self.points(), mesh))
    }

    pub(super) fn points(&self) -> &Points {
        self.values.points()
    }

    pub(super) fn domain(&self) -> &Bounds {
        self.values.domain()
    }

    /// In a few words.
    pub(super) fn describe(&self) -> &'static str {
        match (&self.grid, self.smooth) {
            (Some(_), true) => "cubic between them",
            (Some(_), false) => "linear between them",
            (None, true) => "quadratic on triangles between them",
            (None, false) if self.points().dim() <= 2 => "linear on triangles between them",
            (None, _) => "nearest between them",
        }
    }

    /// The functions with values `at_points` (one column each) at `points`.
    pub(super) fn evaluate(&self, at_points: MatRef<'_, f64>, points: &Points) -> Result<Mat<f64>> {
        if self.grid.is_none() && self.nodal.is_none() {
            return Ok(self.values.evaluate(points)?.mul(at_points));
        }
        self.domain().check(points, "hybrid")?;
        let rows = self.values.index_of();
        let stencils: Vec<Stencil> = (0..points.len())
            .into_par_iter()
            .map(|i| match rows.get(&bits(points.point(i))) {
                Some(&row) => vec![(row, 1.0)],
                None => self.stencil(points.point(i)),
            })
            .collect();
        let mut out = Mat::zeros(points.len(), at_points.ncols());
        linalg::par_column_chunks(out.as_mut(), 8, |start, mut chunk| {
            for j in 0..chunk.ncols() {
                let column = at_points.col(start + j);
                for (value, stencil) in chunk.rb_mut().col_mut(j).iter_mut().zip(&stencils) {
                    *value = stencil.iter().map(|(row, w)| w * column[*row]).sum();
                }
            }
        });
        Ok(out)
    }

    /// The weights at a point that is none of the data's.
    fn stencil(&self, point: &[f64]) -> Stencil {
        if let Some(grid) = &self.grid {
            return grid.stencil(point, self.smooth);
        }
        let mut stencil = Vec::new();
        let mut add = |node: usize, share: f64| {
            let nodal = self.nodal.as_ref().expect("evaluated without stencils");
            nodal.add(self.points(), node, point, share, &mut stencil);
        };
        let found = self.values.mesh().and_then(|(mesh, locator)| {
            let (triangle, lambda) = locator.locate([point[0], point[1]])?;
            Some((mesh.triangles()[triangle], lambda))
        });
        match found {
            Some((corners, lambda)) => {
                for (node, share) in corners.into_iter().zip(lambda) {
                    add(node, share);
                }
            }
            None => add(self.values.nearest(point), 1.0),
        }
        stencil
    }
}

impl Grid {
    /// The grid of whose crossings `points` are all, but for single ones; `None` if they are not.
    fn new(domain: &Bounds, points: &Points) -> Option<Self> {
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
        let mut grid = Grid {
            periods: (0..dim).map(period).collect(),
            axes,
            rows,
            filled: HashMap::new(),
        };
        for place in (0..crossings).filter(|&p| grid.rows[p] == MISSING) {
            grid.filled.insert(place, grid.fill(place)?);
        }
        Some(grid)
    }

    /// What stands in for a missing crossing: points on both sides of it along the axis on which they are nearest.
    /// `None` if there are none, as outside of a domain that does not fill its box.
    fn fill(&self, place: usize) -> Option<[Stencil; 2]> {
        let mut best: Option<((usize, usize), [Stencil; 2])> = None;
        let mut stride = self.rows.len();
        for along in &self.axes {
            stride /= along.len();
            let i = place / stride % along.len();
            let row = |j: usize| self.rows[place + j * stride - i * stride];
            let present = |j: &usize| row(*j) != MISSING;
            let before = (i.saturating_sub(REACH)..i).rev().filter(present);
            let after = (i + 1..(i + 1 + REACH).min(along.len())).filter(present);
            let (before, after): (Vec<_>, Vec<_>) =
                (before.take(2).collect(), after.take(2).collect());
            if before.is_empty() || after.is_empty() {
                continue;
            }
            // Four points make a cubic polynomial; near ones a better one.
            let lacking = 4 - before.len() - after.len();
            let score = (lacking, after[after.len() - 1] - before[before.len() - 1]);
            let stencil = |nodes: Vec<usize>| -> Stencil {
                let at: Vec<f64> = nodes.iter().map(|&j| along[j]).collect();
                let weights = lagrange(&at, along[i]);
                nodes.iter().map(|&j| row(j)).zip(weights).collect()
            };
            let both = [
                stencil(vec![before[0], after[0]]),
                stencil(before.iter().chain(&after).copied().collect()),
            ];
            if best.as_ref().is_none_or(|b| score < b.0) {
                best = Some((score, both));
            }
        }
        best.map(|(_, both)| both)
    }

    /// A crossing in terms of points.
    fn crossing(&self, place: usize, cubic: bool) -> Stencil {
        match self.rows[place] {
            MISSING => self.filled[&place][usize::from(cubic)].clone(),
            row => vec![(row, 1.0)],
        }
    }

    /// The weights at a point: a product over the axes.
    fn stencil(&self, point: &[f64], cubic: bool) -> Stencil {
        let mut stencil = vec![(0, 1.0)];
        for ((x, along), period) in point.iter().zip(&self.axes).zip(&self.periods) {
            let weights = match period {
                Some(period) => ring_weights(along, *period, *x, cubic),
                None => line_weights(along, *x, cubic),
            };
            stencil = stencil
                .iter()
                .flat_map(|&(place, w)| {
                    let next = weights.iter();
                    next.map(move |&(i, v)| (place * along.len() + i, w * v))
                })
                .collect();
        }
        if self.filled.is_empty() {
            return stencil.iter().map(|&(p, w)| (self.rows[p], w)).collect();
        }
        stencil
            .iter()
            .flat_map(|&(place, w)| {
                let crossing = self.crossing(place, cubic).into_iter();
                crossing.map(move |(row, v)| (row, w * v))
            })
            .collect()
    }

    /// Whether cubic polynomials through every other point of some lines come closer to the points between
    /// than straight lines do.
    fn prefers_cubic(&self, values: MatRef<'_, f64>) -> bool {
        let [linear, cubic, _] = self.every_other_errors(values);
        cubic < linear
    }

    /// Squared errors of linear and cubic interpolation from every other point of some lines at the points between,
    /// and the squared norm of the values there.
    fn every_other_errors(&self, values: MatRef<'_, f64>) -> [f64; 3] {
        let samples = values.ncols().min(PROBE_SAMPLES);
        let mut errors = [0.0, 0.0];
        let mut norm = 0.0;
        for (k, along) in self.axes.iter().enumerate() {
            let every_other: Vec<f64> = along.iter().copied().step_by(2).collect();
            if every_other.len() < 4 {
                continue;
            }
            let weights = |cubic: bool, i: usize| line_weights(&every_other, along[i], cubic);
            for line in self.lines(k) {
                // A line that misses points is judged by the others.
                let complete = |i: usize| {
                    let neighbours = weights(true, i);
                    line[i] != MISSING && neighbours.iter().all(|(j, _)| line[2 * j] != MISSING)
                };
                for i in (1..along.len()).step_by(2).filter(|&i| complete(i)) {
                    norm += (0..samples)
                        .map(|s| values[(line[i], s)].powi(2))
                        .sum::<f64>();
                    for (cubic, error) in [false, true].into_iter().zip(&mut errors) {
                        let weights = weights(cubic, i);
                        for s in 0..samples {
                            let found: f64 = weights
                                .iter()
                                .map(|(j, w)| w * values[(line[2 * j], s)])
                                .sum();
                            *error += (found - values[(line[i], s)]).powi(2);
                        }
                    }
                }
            }
        }
        [errors[0], errors[1], norm]
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

/// The weights of the points `along` a line at `x`: linear, or cubic through the four nearest. Beyond the
/// outermost points the polynomial of the outermost ones continues.
fn line_weights(along: &[f64], x: f64, cubic: bool) -> Vec<(usize, f64)> {
    let size = if cubic { 4 } else { 2 }.min(along.len());
    let after = along.partition_point(|y| *y <= x);
    let first = after.saturating_sub(size / 2).min(along.len() - size);
    let nodes = &along[first..first + size];
    (first..).zip(lagrange(nodes, x)).collect()
}

/// The same on a line whose end is its beginning, so that every point has neighbours on both sides.
fn ring_weights(along: &[f64], period: f64, x: f64, cubic: bool) -> Vec<(usize, f64)> {
    let n = along.len() as isize;
    let size = if cubic { 4 } else { 2 }.min(n);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn errors_on(n: usize, f: &dyn Fn(&[f64]) -> f64, dim: usize) -> f64 {
        let points = Points::grid(&Bounds::unit(dim), &vec![n; dim]);
        let values = Mat::from_fn(points.len(), 1, |i, _| f(points.point(i)));
        let interpolant =
            Interpolant::new(Bounds::unit(dim), &points, values.as_ref(), None).unwrap();
        let finer = Points::grid(&Bounds::unit(dim), &vec![4 * n - 3; dim]);
        let found = interpolant.evaluate(values.as_ref(), &finer).unwrap();
        let exact = |i: usize| f(finer.point(i));
        (0..finer.len())
            .map(|i| (found[(i, 0)] - exact(i)).abs())
            .fold(0.0, f64::max)
    }

    #[test]
    fn smooth_functions_converge_with_the_fourth_order() {
        let f = |p: &[f64]| p.iter().map(|x| (3.0 * x + 0.4).sin()).product::<f64>();
        for dim in 1..=2 {
            let [coarse, fine] = [17, 33].map(|n| errors_on(n, &f, dim));
            let order = (coarse / fine).log2();
            assert!(order > 3.6, "order {order} in {dim} dimensions");
        }
    }

    #[test]
    fn a_ring_is_interpolated_across_its_end() {
        let ring = Bounds::unit(1).with_periods(&[true]).unwrap();
        let points = Points::new(1, (0..32).map(|i| f64::from(i) / 32.0).collect()).unwrap();
        let f = |x: f64| (std::f64::consts::TAU * x + 0.3).sin();
        let values = Mat::from_fn(32, 1, |i, _| f(points.point(i)[0]));
        let interpolant = Interpolant::new(ring, &points, values.as_ref(), None).unwrap();
        let asked = Points::new(1, vec![0.99, 0.975, 0.005, 0.5]).unwrap();
        let found = interpolant.evaluate(values.as_ref(), &asked).unwrap();
        for i in 0..4 {
            let off = (found[(i, 0)] - f(asked.point(i)[0])).abs();
            assert!(off < 1e-4, "{off} at {:?}", asked.point(i));
        }
    }

    /// Nodes of a grid, moved a little, so that they are none.
    fn moved(n: usize) -> Points {
        let step = 1.0 / (n - 1) as f64;
        let coords = (0..n * n).flat_map(|k| {
            let place = [k / n, k % n];
            let inner = place.map(|i| f64::from(u8::from(i > 0 && i + 1 < n)));
            let by = |a: usize| 0.3 * ((k * (7 + 4 * a)) as f64 * 0.618).sin() * inner[a];
            [0, 1].map(|a| (place[a] as f64 + by(a)) * step)
        });
        Points::new(2, coords.collect()).unwrap()
    }

    /// The largest and the root mean square error.
    fn errors_at(points: &Points, f: &dyn Fn(&[f64]) -> f64) -> ([f64; 2], &'static str) {
        let values = Mat::from_fn(points.len(), 1, |i, _| f(points.point(i)));
        let interpolant = Interpolant::new(Bounds::unit(2), points, values.as_ref(), None).unwrap();
        let finer = Points::grid(&Bounds::unit(2), &[57, 61]);
        let found = interpolant.evaluate(values.as_ref(), &finer).unwrap();
        let errors = (0..finer.len()).map(|i| (found[(i, 0)] - f(finer.point(i))).abs());
        let squares: f64 = errors.clone().map(|e| e * e).sum();
        let largest = errors.fold(0.0, f64::max);
        let errors = [largest, (squares / finer.len() as f64).sqrt()];
        (errors, interpolant.describe())
    }

    #[test]
    fn smooth_functions_on_triangles_converge_with_the_third_order() {
        let f = |p: &[f64]| (3.0 * p[0] + 0.4).sin() * (2.0 * p[1]).cos();
        let [coarse, fine] = [17, 65].map(|n| errors_at(&moved(n), &f));
        assert_eq!(fine.1, "quadratic on triangles between them");
        let order = (coarse.0[1] / fine.0[1]).log2() / 2.0;
        assert!(order > 2.7, "order {order}: {coarse:?}, {fine:?}");
        let square = |p: &[f64]| 1.0 + p[0] - 2.0 * p[1] + p[0] * p[1] - 3.0 * p[1] * p[1];
        assert!(errors_at(&moved(9), &square).0[0] < 1e-11);
        // A jump stays as it is between two nodes.
        let jump = |p: &[f64]| if p[0] < 0.43 { 0.0 } else { 1.0 };
        let (errors, how) = errors_at(&moved(17), &jump);
        assert!(errors[0] <= 1.0 + 1e-12 && how == "linear on triangles between them");
    }

    #[test]
    fn smooth_functions_on_triangles_are_stored_and_reach_beyond_them() {
        let f = |p: &[f64]| (3.0 * p[0] + 0.4).sin() * (2.0 * p[1]).cos();
        let points = moved(17);
        let inner: Vec<usize> = (0..points.len())
            .filter(|&i| points.point(i).iter().all(|x| *x < 0.99))
            .collect();
        let points = points.select(&inner);
        let values = Mat::from_fn(points.len(), 1, |i, _| f(points.point(i)));
        let interpolant =
            Interpolant::new(Bounds::unit(2), &points, values.as_ref(), None).unwrap();
        let asked = Points::new(2, vec![1.0, 0.5, 0.97, 0.99, 0.31, 0.32]).unwrap();
        let found = interpolant.evaluate(values.as_ref(), &asked).unwrap();
        for i in 0..3 {
            let off = (found[(i, 0)] - f(asked.point(i))).abs();
            assert!(off < 2e-2, "{off} at {:?}", asked.point(i));
        }
        let stored = crate::storage::Archive::of(&interpolant).unwrap();
        let again: Interpolant = stored.restore("interpolant").unwrap();
        assert!(again.evaluate(values.as_ref(), &asked).unwrap() == found);
    }

    #[test]
    fn a_jump_is_not_overshot() {
        let f = |p: &[f64]| if p[0] < 0.43 { 0.0 } else { 1.0 };
        let points = Points::linspace(0.0, 1.0, 41);
        let values = Mat::from_fn(41, 1, |i, _| f(points.point(i)));
        let interpolant =
            Interpolant::new(Bounds::unit(1), &points, values.as_ref(), None).unwrap();
        let finer = Points::linspace(0.0, 1.0, 401);
        let found = interpolant.evaluate(values.as_ref(), &finer).unwrap();
        assert!(
            found
                .col(0)
                .iter()
                .all(|v| (-1e-12..=1.0 + 1e-12).contains(v))
        );
    }

    #[test]
    fn shuffled_grids_and_their_own_points_are_found() {
        let grid = Points::grid(&Bounds::unit(2), &[6, 5]);
        let order: Vec<usize> = (0..30).map(|i| (7 * i) % 30).collect();
        let points = grid.select(&order);
        let values = Mat::from_fn(30, 2, |i, k| (i * (k + 1)) as f64 + 0.1);
        let interpolant =
            Interpolant::new(Bounds::unit(2), &points, values.as_ref(), None).unwrap();
        assert!(interpolant.evaluate(values.as_ref(), &points).unwrap() == values);
        assert!(interpolant.grid.is_some());
        // The last of the shuffled points is an inner one, the first a corner.
        let holed = points.select(&(0..29).collect::<Vec<_>>());
        assert!(Grid::new(&Bounds::unit(2), &holed).is_some_and(|g| g.filled.len() == 1));
        let cut = points.select(&(1..30).collect::<Vec<_>>());
        assert!(Grid::new(&Bounds::unit(2), &cut).is_none());
    }

    #[test]
    fn withheld_points_of_a_grid_are_interpolated_between_their_neighbours() {
        let f = |p: &[f64]| (3.0 * p[0] + 0.4).sin() * (2.0 * p[1]).cos();
        let grid = Points::grid(&Bounds::unit(2), &[33, 33]);
        let withheld: Vec<usize> = (40..1040).step_by(17).collect();
        let kept: Vec<usize> = (0..1089).filter(|i| !withheld.contains(i)).collect();
        let points = grid.select(&kept);
        let values = Mat::from_fn(points.len(), 1, |i, _| f(points.point(i)));
        let interpolant =
            Interpolant::new(Bounds::unit(2), &points, values.as_ref(), None).unwrap();
        assert_eq!(interpolant.describe(), "cubic between them");
        let asked = grid.select(&withheld);
        let found = interpolant.evaluate(values.as_ref(), &asked).unwrap();
        for i in 0..asked.len() {
            let off = (found[(i, 0)] - f(asked.point(i))).abs();
            assert!(off < 2e-5, "{off}");
        }
    }
}
