//! Delaunay triangulations: of polygons with holes, refined to a size, and of scattered points.

use super::triangulation::{distance_squared, is_degenerate};
use super::{Polygon, TriangleMesh};
use crate::{Error, Result};
use spade::{
    AngleLimit, ConstrainedDelaunayTriangulation, Point2, RefinementParameters, Triangulation,
    mitigate_underflow,
};
use std::collections::{HashMap, HashSet};

/// Angles below this are refined away where the polygon allows it; 30 may not terminate.
const SMALLEST_ANGLE_DEGREES: f64 = 25.0;

/// More triangles than this are a mistake in the size.
const MAX_TRIANGLES: f64 = 5e6;

impl TriangleMesh {
    /// A mesh of `polygon` with edges of about `size`: constrained Delaunay, refined until areas
    /// are at most $\sqrt3/4\,\mathrm{size}^2$ and angles, where the corners allow it, at least 25 degrees.
    ///
    /// Sides longer than `size` are cut into equal parts first, so that the number of nodes
    /// changes gradually with the size; corners closer than `size` are kept and grade the mesh.
    /// The same polygon and size give the same mesh.
    ///
    /// # Errors
    /// If `size` is not positive, is so small that millions of triangles would result, or the
    /// refinement does not terminate.
    #[doc(hidden)] // for the tests of other crates
    pub fn constrained_delaunay(polygon: &Polygon, size: f64) -> Result<Self> {
        let max_area = 0.25 * 3f64.sqrt() * size * size;
        let expected = polygon.area() / max_area;
        if !(size.is_finite() && size > 0.0 && expected <= MAX_TRIANGLES) {
            return Err(Error::Config(format!(
                "a mesh of size {size} on a polygon of area {} would have about {expected:.0} triangles; \
                 give a positive size for at most {MAX_TRIANGLES:.0}",
                polygon.area()
            )));
        }
        let (vertices, sides) = split_sides(polygon, size);
        let corners = vertices.len();
        let mut crossing = None;
        let mut triangulation: ConstrainedDelaunayTriangulation<Point2<f64>> =
            ConstrainedDelaunayTriangulation::try_bulk_load_cdt(vertices, sides, |side| {
                crossing = Some(side);
            })
            .map_err(|e| Error::Config(format!("the polygon cannot be meshed: {e}")))?;
        if let Some([a, b]) = crossing {
            return Err(Error::Config(format!(
                "the polygon cannot be meshed: its side between points {a} and {b} crosses another"
            )));
        }
        let max_nodes = 20.0 * expected + 20.0 * corners as f64 + 1000.0;
        let outcome = triangulation.refine(
            RefinementParameters::new()
                .exclude_outer_faces(true)
                .with_angle_limit(AngleLimit::from_deg(SMALLEST_ANGLE_DEGREES))
                .with_max_allowed_area(max_area)
                .with_max_additional_vertices(max_nodes as usize),
        );
        if !outcome.refinement_complete {
            return Err(Error::Numerical(format!(
                "meshing the polygon with size {size} did not end within {max_nodes:.0} extra nodes; \
                 its rings may come very close to each other or form very sharp corners"
            )));
        }
        let excluded: HashSet<usize> = outcome.excluded_faces.iter().map(|f| f.index()).collect();
        let nodes = triangulation
            .vertices()
            .map(|v| [v.position().x, v.position().y])
            .collect();
        let triangles = triangulation
            .inner_faces()
            .filter(|face| !excluded.contains(&face.fix().index()))
            .map(|face| face.vertices().map(|v| v.fix().index()))
            .collect();
        TriangleMesh::new(nodes, triangles)
    }

    /// The Delaunay triangulation of scattered points: a mesh of their convex hull, whose nodes are
    /// the points in their order.
    ///
    /// # Errors
    /// If there are fewer than three points, all lie on a line, two are the same (the error names
    /// both) or a coordinate is not finite.
    pub(crate) fn delaunay(points: &[[f64; 2]]) -> Result<Self> {
        let mut first_with = HashMap::new();
        for (i, p) in points.iter().enumerate() {
            if !p.iter().all(|c| c.is_finite()) {
                return Err(Error::NotFinite {
                    what: "points to triangulate".into(),
                    place: format!("point {i}"),
                    value: if p[0].is_finite() { p[1] } else { p[0] },
                    optional: false,
                });
            }
            // Adding zero makes -0 and 0 the same.
            if let Some(j) = first_with.insert(p.map(|c| (c + 0.0).to_bits()), i) {
                return Err(Error::Data(format!(
                    "points {j} and {i} are both {p:?}; a triangulation needs each point once"
                )));
            }
        }
        let vertices: Vec<_> = points
            .iter()
            .map(|p| mitigate_underflow(Point2::new(p[0], p[1])))
            .collect();
        let unusable = |reason: &dyn std::fmt::Display| {
            Error::Data(format!(
                "{} points cannot be triangulated: {reason}",
                points.len()
            ))
        };
        let triangulation: ConstrainedDelaunayTriangulation<Point2<f64>> =
            ConstrainedDelaunayTriangulation::bulk_load_cdt(vertices, Vec::new())
                .map_err(|e| unusable(&e))?;
        if triangulation.num_vertices() != points.len() {
            return Err(unusable(
                &"some are closer to each other than numbers resolve",
            ));
        }
        // Points of a hull side, collinear up to rounding, leave slivers there; nothing lies in them.
        let triangles: Vec<[usize; 3]> = triangulation
            .inner_faces()
            .map(|face| face.vertices().map(|v| v.fix().index()))
            .filter(|t| !is_degenerate(t.map(|i| points[i])))
            .collect();
        if triangles.is_empty() {
            return Err(unusable(&"at least 3 that do not lie on a line are needed"));
        }
        TriangleMesh::with_all_nodes(points.to_vec(), triangles)
    }
}

/// The corners and the points that cut long sides, and the sides between them.
fn split_sides(polygon: &Polygon, size: f64) -> (Vec<Point2<f64>>, Vec<[usize; 2]>) {
    let mut vertices = Vec::new();
    let mut sides = Vec::new();
    for ring in polygon.rings() {
        let start = vertices.len();
        for (i, &a) in ring.iter().enumerate() {
            let b = ring[(i + 1) % ring.len()];
            let parts = (distance_squared(a, b).sqrt() / size).ceil().max(1.0);
            for k in 0..parts as usize {
                let t = k as f64 / parts;
                let between = |k: usize| a[k] + t * (b[k] - a[k]);
                vertices.push(mitigate_underflow(Point2::new(between(0), between(1))));
            }
        }
        let end = vertices.len();
        sides.extend((start..end).map(|i| [i, if i + 1 == end { start } else { i + 1 }]));
    }
    (vertices, sides)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bounds;
    use crate::domain::{circle_ring, rectangle_ring};

    fn three_holes() -> Polygon {
        Polygon::new(
            rectangle_ring(&Bounds::unit(2)).unwrap(),
            vec![
                circle_ring([0.25, 0.25], 0.1, 24),
                circle_ring([0.7, 0.3], 0.15, 24),
                circle_ring([0.5, 0.75], 0.12, 24),
            ],
        )
        .unwrap()
    }

    #[test]
    fn a_mesh_fills_its_polygon_and_keeps_its_size() {
        let polygon = three_holes();
        for size in [0.3, 0.1, 0.03] {
            let mesh = TriangleMesh::constrained_delaunay(&polygon, size).unwrap();
            let areas = mesh.areas();
            assert!((areas.iter().sum::<f64>() - polygon.area()).abs() < 1e-12);
            let limit = 0.25 * 3f64.sqrt() * size * size;
            assert!(areas.iter().all(|&a| a <= limit * (1.0 + 1e-12)));
            // Euler with three holes.
            assert_eq!(
                mesh.nodes().len() + mesh.triangles().len() + 2,
                mesh.edges().len()
            );
            let again = TriangleMesh::constrained_delaunay(&polygon, size).unwrap();
            assert_eq!(mesh, again, "the same mesh again");
        }
    }

    #[test]
    fn sharp_corners_end() {
        let needle = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 0.02]];
        let polygon = Polygon::new(needle, vec![]).unwrap();
        let mesh = TriangleMesh::constrained_delaunay(&polygon, 0.05).unwrap();
        assert!((mesh.areas().iter().sum::<f64>() - 0.01).abs() < 1e-14);
    }

    #[test]
    fn impossible_sizes_are_errors() {
        for size in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
            assert!(TriangleMesh::constrained_delaunay(&three_holes(), size).is_err());
        }
    }

    #[test]
    fn scattered_points_fill_their_hull() {
        let points = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.7, 0.9]];
        let mesh = TriangleMesh::delaunay(&points).unwrap();
        assert_eq!(mesh.nodes(), points);
        assert!((mesh.areas().iter().sum::<f64>() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn points_without_a_triangulation_are_errors() {
        let line: Vec<[f64; 2]> = (0..9).map(|i| [0.1 * i as f64, 0.3 * i as f64]).collect();
        let mut twice = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        twice.push(twice[1]);
        let message = TriangleMesh::delaunay(&twice).unwrap_err().to_string();
        assert!(message.contains("points 1 and 3"), "{message}");
        for bad in [
            vec![],
            vec![[0.0, 0.0]],
            vec![[0.0, 0.0], [1.0, 1.0]],
            line,
            vec![[0.0, 0.0], [1.0, f64::NAN], [0.0, 1.0]],
            vec![[0.0, 0.0], [1e300, 0.0], [0.0, 1.0]],
            vec![[0.0, 0.0], [1e-60, 0.0], [0.0, 1.0]],
        ] {
            assert!(TriangleMesh::delaunay(&bad).is_err(), "{bad:?}");
        }
    }
}
