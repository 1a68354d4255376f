//! Interpolation of values at data points: how learned functions continue between them.
//!
//! - On a grid (any order of the points; single ones may be missing): along each axis Lagrange polynomials through the
//!   nearest lines, of the odd degree $p\le7$ that predicts the data's own lines best; error $O(h^{p+1})$. In one
//!   dimension every set of points is a grid.
//! - On the triangles of a mesh, or of the Delaunay triangulation of points scattered in the plane: blended quadratic
//!   polynomials, error $O(h^3)$, if these predict the data's own nodes with at most half the error of
//!   linear ones; else linear interpolation.
//! - Scattered in more dimensions: planes through the nearest points, error $O(h^2)$, if these predict the data's own points
//!   better than the nearest value does; else the nearest value.
//!
//! At the data points themselves (found by the bits of their coordinates) values are reproduced exactly.

use super::grid_polynomials::GridPolynomials;
use super::local_planes;
use super::nodal_polynomials::NodalPolynomials;
use super::point_values::bits;
use super::{Basis, PointValues};
use crate::data::{Bounds, Points};
use crate::domain::TriangleMesh;
use crate::storage::restore_settled;
use crate::{Error, Result, linalg};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize};

/// Interpolates values at fixed points.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct Interpolant {
    /// The points, and the interpolation off a grid.
    values: PointValues,
    /// The degree of the polynomials: odd on a grid, one or two on triangles, one for planes, zero for the nearest value.
    #[serde(alias = "cubic", deserialize_with = "degree_or_cubic")]
    degree: usize,
    #[serde(skip)]
    grid: Option<GridPolynomials>,
    /// Quadratic polynomials on triangles.
    #[serde(skip)]
    nodal: Option<NodalPolynomials>,
}

restore_settled!(Interpolant);

/// A degree; or whether it is three and not one, as the first model files of format 2 have it.
fn degree_or_cubic<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<usize, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Degree(usize),
        Cubic(bool),
    }
    Ok(match Stored::deserialize(from)? {
        Stored::Degree(degree) => degree,
        Stored::Cubic(cubic) => 1 + 2 * usize::from(cubic),
    })
}

/// Weights of rows.
pub(super) type Stencil = Vec<(usize, f64)>;

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
        let grid = GridPolynomials::new(&domain, points);
        let values_at = match triangles {
            Some(triangles) if grid.is_none() && points.dim() == 2 => {
                let nodes = points.iter().map(|p| [p[0], p[1]]).collect();
                let mesh = TriangleMesh::with_all_nodes(nodes, triangles.to_vec())?;
                PointValues::on_mesh(domain, points.clone(), mesh)?
            }
            _ => PointValues::new(domain, points.clone())?,
        };
        let degree = match (&grid, values_at.mesh()) {
            (Some(grid), _) => grid.best_degree(values),
            (None, Some((mesh, _))) => NodalPolynomials::best_degree(points, mesh, values),
            (None, None) => local_planes::best_degree(points, values),
        };
        let mut interpolant = Interpolant {
            values: values_at,
            degree,
            grid: None,
            nodal: None,
        };
        interpolant.settle()?;
        Ok(interpolant)
    }

    fn settle(&mut self) -> Result<()> {
        let grid = GridPolynomials::new(self.values.domain(), self.values.points());
        let known = match (&grid, self.values.mesh()) {
            (Some(grid), _) => grid.degrees().any(|degree| degree == self.degree),
            (None, Some(_)) => matches!(self.degree, 1 | 2),
            (None, None) => self.degree <= 1,
        };
        if !known {
            return Err(Error::Data(format!(
                "the model's interpolation has degree {}, which its points do not allow",
                self.degree
            )));
        }
        self.nodal = match (&grid, self.values.mesh()) {
            (None, Some((mesh, _))) if self.degree == 2 => {
                Some(NodalPolynomials::new(self.points(), mesh))
            }
            _ => None,
        };
        self.grid = grid.and_then(|grid| grid.of_degree(self.degree));
        Ok(())
    }

    pub(super) fn points(&self) -> &Points {
        self.values.points()
    }

    pub(super) fn domain(&self) -> &Bounds {
        self.values.domain()
    }

    /// In a few words.
    pub(super) fn describe(&self) -> &'static str {
        match (&self.grid, self.degree) {
            (Some(_), 7) => "of seventh degree between them",
            (Some(_), 5) => "of fifth degree between them",
            (Some(_), 3) => "cubic between them",
            (Some(_), _) => "linear between them",
            (None, 2) => "quadratic on triangles between them",
            (None, 1) if self.values.mesh().is_some() => "linear on triangles between them",
            (None, 1) => "planes between them",
            (None, _) => "nearest between them",
        }
    }

    /// The functions with values `at_points` (one column each) at `points`.
    pub(super) fn evaluate(&self, at_points: MatRef<'_, f64>, points: &Points) -> Result<Mat<f64>> {
        if let Some(rows) = self.own_rows(points) {
            return Ok(linalg::select_rows(at_points, &rows));
        }
        let planes = self.values.mesh().is_none() && self.degree == 1;
        if self.grid.is_none() && self.nodal.is_none() && !planes {
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

    /// Which data points these are, if all of them are.
    fn own_rows(&self, points: &Points) -> Option<Vec<usize>> {
        let rows = self.values.index_of();
        points.iter().map(|p| rows.get(&bits(p)).copied()).collect()
    }

    /// The weights at a point that is not a data point.
    fn stencil(&self, point: &[f64]) -> Stencil {
        if let Some(grid) = &self.grid {
            return grid.stencil(point);
        }
        let nearest = || self.values.nearest(point);
        let Some(nodal) = &self.nodal else {
            let plane = local_planes::stencil(self.points(), point, None);
            return plane.unwrap_or_else(|| vec![(nearest(), 1.0)]);
        };
        let mut stencil = Vec::new();
        let mut add = |node: usize, share: f64| {
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
            None => add(nearest(), 1.0),
        }
        stencil
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

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
    fn smooth_functions_converge_with_the_eighth_order_in_the_plane_and_the_fourth_in_space() {
        let f = |p: &[f64]| p.iter().map(|x| (3.0 * x + 0.4).sin()).product::<f64>();
        for (dim, least) in [(1, 7.5), (2, 7.5), (3, 3.6)] {
            let [coarse, fine] = [17, 33].map(|n| errors_on(n, &f, dim));
            let order = (coarse / fine).log2();
            assert!(order > least, "order {order} in {dim} dimensions");
        }
    }

    #[test]
    fn noise_and_jumps_keep_the_first_degree() {
        let points = Points::grid(&Bounds::unit(1), &[41]);
        let degree = |f: &dyn Fn(usize, f64) -> f64| {
            let values = Mat::from_fn(points.len(), 1, |i, _| f(i, points.point(i)[0]));
            let interpolant = Interpolant::new(Bounds::unit(1), &points, values.as_ref(), None);
            interpolant.unwrap().degree
        };
        assert_eq!(degree(&|_, x| f64::from(u8::from(x > 0.43))), 1);
        assert_eq!(degree(&|i, _| ((i * i) as f64 * 0.618).sin()), 1);
        assert_eq!(degree(&|_, x| (6.0 * x).sin()), 7);
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

    /// Nodes of a grid, moved slightly so that they no longer form one.
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
    fn smooth_functions_at_scattered_points_in_space_are_interpolated_by_planes() {
        let f = |p: &[f64]| (2.0 * p[0] + 0.4).sin() * p[1].cos() + p[2] * p[2];
        let drawn = |count: u64, seed: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let coords = (0..3 * count).map(|_| rng.random());
            Points::new(3, coords.collect()).unwrap()
        };
        let asked = drawn(300, 9);
        let error = |count| {
            let points = drawn(count, 1);
            let values = Mat::from_fn(points.len(), 1, |i, _| f(points.point(i)));
            let interpolant = Interpolant::new(Bounds::unit(3), &points, values.as_ref(), None);
            let interpolant = interpolant.unwrap();
            assert_eq!(interpolant.describe(), "planes between them");
            assert!(interpolant.evaluate(values.as_ref(), &points).unwrap() == values);
            let found = interpolant.evaluate(values.as_ref(), &asked).unwrap();
            let squares = (0..asked.len()).map(|i| (found[(i, 0)] - f(asked.point(i))).powi(2));
            (squares.sum::<f64>() / asked.len() as f64).sqrt()
        };
        // Eight times as many points are twice as dense.
        let [coarse, fine] = [500, 4000].map(error);
        let order = (coarse / fine).log2();
        assert!(order > 1.6, "order {order}: {coarse}, {fine}");
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
        assert!(GridPolynomials::new(&Bounds::unit(2), &holed).is_some());
        let cut = points.select(&(1..30).collect::<Vec<_>>());
        assert!(GridPolynomials::new(&Bounds::unit(2), &cut).is_none());
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
        assert_eq!(interpolant.describe(), "of seventh degree between them");
        let asked = grid.select(&withheld);
        let found = interpolant.evaluate(values.as_ref(), &asked).unwrap();
        for i in 0..asked.len() {
            let off = (found[(i, 0)] - f(asked.point(i))).abs();
            assert!(off < 1e-7, "{off}");
        }
    }
}
