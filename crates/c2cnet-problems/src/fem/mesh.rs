//! Meshes with a given number of nodes, and meshes that are finer near a corner.

use c2cnet::basis::{Boundary, BuildContext, Degree, FiniteElements, FiniteElementsSpec, MeshSpec};
use c2cnet::data::Bounds;
use c2cnet::domain::{Polygon, TriangleMesh};
use c2cnet::{Error, Result};

/// A mesh of `polygon` with about `nodes` nodes: the one that a decoder with that many linear elements gets.
///
/// # Errors
/// If the polygon's corners alone need many more nodes.
pub fn mesh_with_nodes(polygon: &Polygon, nodes: usize) -> Result<TriangleMesh> {
    let spec = FiniteElementsSpec {
        degree: Degree::Linear,
        functions: Some(nodes),
        size: None,
        mesh: MeshSpec::Polygon(polygon.clone()),
        boundary: Boundary::Keep,
        slack: 0.0,
    };
    let basis = FiniteElements::new(&spec, BuildContext::on(&Bounds::unit(2)))?;
    basis
        .triangles()
        .cloned()
        .ok_or_else(|| Error::Numerical("a polygon's mesh has no triangles".into()))
}

/// The ring with points added on both sides of the given corners at distances
/// $r, 2r, 4r, \dots < R$, $r$ = `finest` and $R$ = `reach`.
///
/// A Delaunay mesh keeps points of the ring and grows its triangles from there at a bounded rate, so
/// triangles near such a corner have size $r$. Near a corner where solutions behave like $\rho^\alpha$,
/// $\alpha < 1$, this brings the error down to that of the smooth part.
pub fn graded_ring(ring: &[[f64; 2]], corners: &[usize], finest: f64, reach: f64) -> Vec<[f64; 2]> {
    let n = ring.len();
    let mut out = Vec::new();
    let graded_side = |i: usize, towards: usize| {
        let (a, b) = (ring[i], ring[towards]);
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        let mut points = Vec::new();
        let mut r = finest;
        while r < reach.min(0.45 * length) {
            let t = r / length;
            points.push([0, 1].map(|d| a[d] + t * (b[d] - a[d])));
            r *= 2.0;
        }
        points
    };
    for (i, &corner) in ring.iter().enumerate() {
        if corners.contains(&i) {
            out.extend(graded_side(i, (i + n - 1) % n).into_iter().rev());
            out.push(corner);
            out.extend(graded_side(i, (i + 1) % n));
        } else {
            out.push(corner);
        }
    }
    out
}
