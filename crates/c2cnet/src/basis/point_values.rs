//! Point values: the identity basis, one function for each of the data's points.
//!
//! $$\varphi_j(x_i) = \delta_{ij}$$
//!
//! at the points themselves (found by the bits of their coordinates), so that coefficients are the
//! values there: with it the method's encoder or decoder is the identity (the paper's P2C and C2P).
//! Elsewhere the functions interpolate:
//!
//! - $d = 1$: piecewise linear between neighbouring points, constant beyond the outermost;
//! - $d = 2$: piecewise linear on the Delaunay triangulation, the nearest point's value outside the
//!   convex hull (and everywhere, if all points lie on a line);
//! - $d \ge 3$: the nearest point's value.

use super::{Basis, BasisFamily, BuildContext, Design, build_blocks, group_by_cell};
use crate::data::{Bounds, Points};
use crate::domain::{Locator, TriangleMesh};
use crate::storage::tensor;
use crate::{Error, Result};
use documented::Documented;
use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::HashMap;

/// A place in a row with nothing in it.
const NONE: usize = usize::MAX;

/// Settings of a point-value basis: none, the data's points decide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointValuesSpec {}

impl BasisFamily for PointValuesSpec {
    const NAME: &'static str = "point-values";
    const DOCUMENTATION: &'static str = Self::DOCS;
    type Basis = PointValues;

    fn build(&self, context: BuildContext<'_>) -> Result<PointValues> {
        PointValues::from_context(context)
    }

    fn noun(&self) -> String {
        "point value".into()
    }
}

/// Functions that are 1 at one point and 0 at the others, interpolated between.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Stored")]
pub struct PointValues {
    domain: Bounds,
    points: Points,
    index_of: HashMap<Vec<u64>, usize>,
    between: Interpolation,
}

/// How values between the points come about.
#[derive(Debug)]
enum Interpolation {
    /// The points' indices in increasing order of the one coordinate.
    Sorted(Vec<usize>),
    Triangles(TriangleMesh, Box<Locator>),
    Nearest,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    domain: Bounds,
    points: Points,
    /// By value: of points on a circle, such as a grid's cells, there are several triangulations.
    #[serde(with = "tensor")]
    triangles: Option<Vec<[usize; 3]>>,
}

impl Serialize for PointValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let stored = Stored {
            domain: self.domain.clone(),
            points: self.points.clone(),
            triangles: match &self.between {
                Interpolation::Triangles(mesh, _) => Some(mesh.triangles().to_vec()),
                _ => None,
            },
        };
        stored.serialize(serializer)
    }
}

impl TryFrom<Stored> for PointValues {
    type Error = Error;
    fn try_from(stored: Stored) -> Result<Self> {
        let points = stored.points;
        let between = match (points.dim(), stored.triangles) {
            (1, None) => Interpolation::sorted(&points),
            (2, Some(triangles)) => {
                let nodes = points.iter().map(|p| [p[0], p[1]]).collect();
                Interpolation::triangles(TriangleMesh::with_all_nodes(nodes, triangles)?)?
            }
            (_, None) => Interpolation::Nearest,
            (dim, Some(_)) => {
                return Err(Error::Data(format!(
                    "the model's point values have triangles in {dim} dimensions"
                )));
            }
        };
        Self::with(stored.domain, points, between)
    }
}

/// At most three functions and their values at a point.
type Row = ([usize; 3], [f64; 3]);

impl PointValues {
    /// The basis of `points`, evaluable on the smallest box around them and `domain`.
    ///
    /// # Errors
    /// If there is no point, the dimensions differ, or two points are the same (naming both).
    pub fn new(domain: Bounds, points: Points) -> Result<Self> {
        let between = match points.dim() {
            1 => Interpolation::sorted(&points),
            2 => {
                let nodes: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1]]).collect();
                // Repeated points are reported below, in every dimension; points on a line remain.
                match TriangleMesh::delaunay(&nodes) {
                    Ok(mesh) => Interpolation::triangles(mesh)?,
                    Err(_) => Interpolation::Nearest,
                }
            }
            _ => Interpolation::Nearest,
        };
        Self::with(domain, points, between)
    }

    fn with(domain: Bounds, points: Points, between: Interpolation) -> Result<Self> {
        let Some(own) = points.bounding_box().filter(|b| b.dim() == domain.dim()) else {
            return Err(Error::shape(
                "points of the point-values basis",
                format!("(n, {}) with n >= 1", domain.dim()),
                format!("({}, {})", points.len(), points.dim()),
            ));
        };
        let mut index_of = HashMap::with_capacity(points.len());
        for (i, point) in points.iter().enumerate() {
            if let Some(j) = index_of.insert(bits(point), i) {
                return Err(Error::Data(format!(
                    "points {j} and {i} are both {point:?}; the point-values and pca bases need each point once"
                )));
            }
        }
        Ok(PointValues {
            domain: domain.union(&own),
            points,
            index_of,
            between,
        })
    }

    pub(super) fn from_context(context: BuildContext<'_>) -> Result<Self> {
        let points = context.points.ok_or_else(|| {
            Error::Config(
                "the point-values basis needs points shared by all samples; these samples have points \
                 of their own, so choose a basis that does not depend on them, such as random-features"
                    .into(),
            )
        })?;
        Self::new(context.domain.clone(), points.clone())
    }

    /// Linear on the triangles of a mesh with all `points` as nodes.
    ///
    /// # Errors
    /// As [`PointValues::new`].
    pub(super) fn on_mesh(domain: Bounds, points: Points, mesh: TriangleMesh) -> Result<Self> {
        Self::with(domain, points, Interpolation::triangles(mesh)?)
    }

    /// Which point has these bits.
    pub(super) fn index_of(&self) -> &HashMap<Vec<u64>, usize> {
        &self.index_of
    }

    /// The points.
    pub fn points(&self) -> &Points {
        &self.points
    }

    fn row(&self, point: &[f64]) -> Row {
        if let Some(&i) = self.index_of.get(&bits(point)) {
            return one(i);
        }
        match &self.between {
            Interpolation::Sorted(order) => self.row_between_neighbours(order, point[0]),
            Interpolation::Triangles(mesh, locator) => match locator.locate([point[0], point[1]]) {
                Some((t, lambda)) => (mesh.triangles()[t], lambda),
                None => one(self.nearest(point)),
            },
            Interpolation::Nearest => one(self.nearest(point)),
        }
    }

    fn row_between_neighbours(&self, order: &[usize], x: f64) -> Row {
        let at = |k: usize| self.points.point(order[k])[0];
        let after = order.partition_point(|&i| self.points.point(i)[0] <= x);
        if after == 0 {
            return one(order[0]);
        }
        if after == order.len() {
            return one(order[after - 1]);
        }
        let t = (x - at(after - 1)) / (at(after) - at(after - 1));
        ([order[after - 1], order[after], NONE], [1.0 - t, t, 0.0])
    }

    /// The triangles between the points, if there are any.
    pub(super) fn mesh(&self) -> Option<(&TriangleMesh, &Locator)> {
        match &self.between {
            Interpolation::Triangles(mesh, locator) => Some((mesh, locator)),
            Interpolation::Sorted(_) | Interpolation::Nearest => None,
        }
    }

    /// The nearest point, the first of several.
    pub(super) fn nearest(&self, x: &[f64]) -> usize {
        let mut best = (f64::INFINITY, 0);
        for (i, point) in self.points.iter().enumerate() {
            let distance = point.iter().zip(x).map(|(a, b)| (a - b).powi(2)).sum();
            if distance < best.0 {
                best = (distance, i);
            }
        }
        best.1
    }
}

impl Interpolation {
    fn sorted(points: &Points) -> Self {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&i, &j| points.point(i)[0].total_cmp(&points.point(j)[0]));
        Interpolation::Sorted(order)
    }

    fn triangles(mesh: TriangleMesh) -> Result<Self> {
        let locator = Box::new(Locator::new(&mesh, 0.0)?);
        Ok(Interpolation::Triangles(mesh, locator))
    }
}

fn one(i: usize) -> Row {
    ([i, NONE, NONE], [1.0, 0.0, 0.0])
}

/// The coordinates' bits; adding zero makes -0 and 0 the same.
pub(super) fn bits(point: &[f64]) -> Vec<u64> {
    point.iter().map(|x| (x + 0.0).to_bits()).collect()
}

impl Basis for PointValues {
    fn family(&self) -> &'static str {
        PointValuesSpec::NAME
    }

    fn len(&self) -> usize {
        self.points.len()
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, PointValuesSpec::NAME)?;
        let rows: Vec<Row> = (0..points.len())
            .into_par_iter()
            .map(|i| self.row(points.point(i)))
            .collect();
        let keys: Vec<[usize; 3]> = rows.iter().map(|r| r.0).collect();
        let groups = group_by_cell(&keys);
        Ok(build_blocks(points.len(), self.len(), groups, |key, of| {
            let cols: Vec<usize> = key.into_iter().filter(|&j| j != NONE).collect();
            let values = Mat::from_fn(of.len(), cols.len(), |r, c| rows[of[r]].1[c]);
            (cols, values)
        }))
    }

    fn describe(&self) -> String {
        let between = match self.between {
            Interpolation::Sorted(_) | Interpolation::Triangles(..) => "linear between them",
            Interpolation::Nearest => "nearest between them",
        };
        format!("values at {} points, {between}", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::conformance;
    use rand::{RngExt, SeedableRng};

    fn scattered(dim: usize, n: usize) -> Points {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        Points::new(dim, (0..n * dim).map(|_| rng.random()).collect()).unwrap()
    }

    #[test]
    fn conforms_in_every_dimension() {
        for dim in 1..=4 {
            let basis = PointValues::new(Bounds::unit(dim), scattered(dim, 40)).unwrap();
            conformance::check(&basis, <[f64]>::to_vec);
        }
        let grid = Points::grid(&Bounds::unit(2), &[5, 6]);
        conformance::check(
            &PointValues::new(Bounds::unit(2), grid).unwrap(),
            <[f64]>::to_vec,
        );
        let line = Points::new(2, vec![0.0, 0.0, 0.5, 0.5, 1.0, 1.0]).unwrap();
        conformance::check(
            &PointValues::new(Bounds::unit(2), line).unwrap(),
            <[f64]>::to_vec,
        );
        let single = Points::new(1, vec![0.5]).unwrap();
        conformance::check(
            &PointValues::new(Bounds::unit(1), single).unwrap(),
            <[f64]>::to_vec,
        );
    }

    #[test]
    fn is_the_identity_at_its_points() {
        for dim in 1..=3 {
            let points = scattered(dim, 30);
            let basis = PointValues::new(Bounds::unit(dim), points.clone()).unwrap();
            let design = basis.evaluate(&points).unwrap();
            assert!(design.to_dense() == Mat::<f64>::identity(30, 30));
            let Design::Blocks(blocks) = design else {
                panic!("dense")
            };
            assert!(blocks.blocks().iter().all(|b| b.cols.len() == 1));
        }
    }

    #[test]
    fn linear_functions_are_interpolated_exactly_inside_the_hull() {
        for dim in 1..=2 {
            let mut coords = scattered(dim, 60).coords().to_vec();
            let corners = Points::grid(&Bounds::unit(dim), &vec![2; dim]);
            coords.extend(corners.coords());
            let points = Points::new(dim, coords).unwrap();
            let linear =
                |p: &[f64]| 0.5 + p.iter().zip([2.0, -3.0]).map(|(x, w)| x * w).sum::<f64>();
            let values = Mat::from_fn(points.len(), 1, |i, _| linear(points.point(i)));
            let basis = PointValues::new(Bounds::unit(dim), points).unwrap();
            let at = Points::grid(&Bounds::unit(dim), &vec![17; dim]);
            let found = basis.evaluate(&at).unwrap().mul(values.as_ref());
            for (i, p) in at.iter().enumerate() {
                assert!((found[(i, 0)] - linear(p)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn outside_the_hull_the_nearest_point_counts() {
        let points = Points::new(2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        let basis = PointValues::new(Bounds::unit(2), points).unwrap();
        let at = Points::new(2, vec![0.95, 0.6]).unwrap();
        let row = basis.evaluate(&at).unwrap().to_dense();
        assert_eq!([row[(0, 0)], row[(0, 1)], row[(0, 2)]], [0.0, 1.0, 0.0]);
    }

    #[test]
    fn impossible_points_are_errors() {
        for dim in 1..=3 {
            let mut coords = scattered(dim, 6).coords().to_vec();
            coords.extend(coords[dim..2 * dim].to_vec());
            let twice = Points::new(dim, coords).unwrap();
            let message = PointValues::new(Bounds::unit(dim), twice)
                .unwrap_err()
                .to_string();
            assert!(message.contains("points 1 and 6"), "{message}");
        }
        assert!(PointValues::new(Bounds::unit(2), scattered(1, 5)).is_err());
        assert!(PointValues::new(Bounds::unit(1), scattered(1, 0)).is_err());
        let domain = Bounds::unit(1);
        let context = BuildContext::on(&domain);
        assert!(PointValues::from_context(context).is_err());
    }
}
