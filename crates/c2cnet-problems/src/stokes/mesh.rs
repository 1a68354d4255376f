//! Meshes of the box $[-3, 3]^2$ less the obstacles, fine at the obstacles and coarser away.
//!
//! The target edge length is
//!
//! $$h(x) = \min\Bigl(h_{\rm far},\ \min_j\,(h_j + g\,\lVert x - y_j\rVert)\Bigr),\qquad
//!   h_j = \min\bigl(h_{\rm near},\ c_1/|\kappa_j|,\ c_2 d_j\bigr),$$
//!
//! over the samples $y_j$ of the boundaries, with their curvature $\kappa_j$ and distance $d_j$ from the
//! other obstacles: edges follow the tips of stars and cut gaps between components in several parts.
//!
//! Boundary nodes lie at steps of $h$ on the curves, or rather just outside them, so that
//! the polygon has the area of the obstacle. Then, in passes (Chew's refinement), the
//! centre $m$ of the circumscribed circle is added for each triangle whose radius exceeds $0.75\,h(m)$,
//! unless another centre of this pass lies within that radius. In the end no circle is larger
//! and no two nodes are much closer, so that angles are about 30 degrees and more.

use super::signed_distance::{Obstacle, Shape};
use c2cnet::domain::{Polygon, TriangleMesh};
use c2cnet::{Error, Result};
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};
use std::f64::consts::TAU;

/// Half the side of the box.
pub const HALF_BOX: f64 = 3.0;

/// The fraction $c_1$ of the radius of curvature that an edge may span.
const CURVATURE_FRACTION: f64 = 0.5;
/// The fraction $c_2$ of a gap between components that an edge may span.
const GAP_FRACTION: f64 = 0.35;
/// How much $h$ grows with the distance, $g$.
const GROWTH: f64 = 0.25;
/// Radius of circumscribed circles to length of edges; below it an equilateral triangle is cut.
const RADIUS_TO_EDGE: f64 = 0.75;
/// Samples with smaller angles are refused.
const SMALLEST_ANGLE_DEGREES: f64 = 15.0;

/// How fine a mesh is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshSize {
    /// Longest edges at the obstacles, $h_{\rm near}$.
    pub near: f64,
    /// Longest edges far from them, $h_{\rm far}$.
    pub far: f64,
}

/// A mesh and the boundary nodes of each obstacle.
#[derive(Debug, Clone)]
pub struct FittedMesh {
    /// The mesh.
    pub mesh: TriangleMesh,
    /// The nodes on the boundary of each obstacle, counter-clockwise.
    pub rings: Vec<Vec<[f64; 2]>>,
}

impl FittedMesh {
    /// The mesh outside `obstacles`; the same for the same arguments.
    ///
    /// # Errors
    /// If obstacles touch each other or the box, or a triangle is too flat.
    pub fn new(obstacles: &[Obstacle], size: MeshSize) -> Result<FittedMesh> {
        let rings: Vec<(Vec<[f64; 2]>, Vec<f64>)> = obstacle_rings(obstacles, size);
        let field = SizeField {
            far: size.far,
            sources: rings
                .iter()
                .flat_map(|(nodes, sizes)| nodes.iter().copied().zip(sizes.iter().copied()))
                .collect(),
        };
        let outer = outer_ring(&field);
        let rings: Vec<Vec<[f64; 2]>> = rings.into_iter().map(|(nodes, _)| nodes).collect();
        let polygon = Polygon::new(outer, rings.clone())?;
        let mesh = refine(&polygon, &field)?;
        let angle = smallest_angle(&mesh).to_degrees();
        if angle < SMALLEST_ANGLE_DEGREES {
            return Err(Error::Numerical(format!(
                "the mesh around {} obstacles has an angle of {angle:.1} degrees, below {SMALLEST_ANGLE_DEGREES}; \
                 choose a smaller mesh_size or a larger separation",
                obstacles.len()
            )));
        }
        Ok(FittedMesh { mesh, rings })
    }
}

/// $h$, from nodes on the obstacles and the sizes there.
struct SizeField {
    far: f64,
    sources: Vec<([f64; 2], f64)>,
}

impl SizeField {
    /// $h(x)$ and the distance to the nearest source.
    fn at(&self, x: [f64; 2]) -> (f64, f64) {
        let mut size = self.far;
        let mut nearest = f64::INFINITY;
        for &(y, h) in &self.sources {
            let distance = ((x[0] - y[0]).powi(2) + (x[1] - y[1]).powi(2)).sqrt();
            size = size.min(h + GROWTH * distance);
            nearest = nearest.min(distance);
        }
        (size, nearest)
    }
}

/// For each obstacle, nodes on its boundary at steps of $h$, and $h$ at them.
fn obstacle_rings(obstacles: &[Obstacle], size: MeshSize) -> Vec<(Vec<[f64; 2]>, Vec<f64>)> {
    let mut samples: Vec<([f64; 2], f64)> = Vec::new();
    for (k, obstacle) in obstacles.iter().enumerate() {
        let n = obstacle.boundary().len();
        for (i, &point) in obstacle.boundary().iter().enumerate() {
            let curvature = obstacle.shape().curvature(TAU * i as f64 / n as f64);
            let others = obstacles.iter().enumerate().filter(|&(j, _)| j != k);
            let gap = others
                .map(|(_, other)| other.signed_distance(point))
                .fold(f64::INFINITY, f64::min);
            let own = (CURVATURE_FRACTION / curvature.abs()).min(GAP_FRACTION * gap);
            // Overlaps have negative gaps; the polygon refuses them.
            samples.push((point, own.clamp(0.05 * size.near, size.near)));
        }
    }
    let raw = SizeField {
        far: size.near,
        sources: samples,
    };
    let ring = |obstacle: &Obstacle| {
        let n = obstacle.boundary().len();
        let shape = obstacle.shape();
        let sizes: Vec<f64> = (0..n).map(|i| raw.at(obstacle.boundary()[i]).0).collect();
        let density: Vec<f64> = (0..=n)
            .map(|i| {
                let [_, [dx, dy], _] = shape.curve(TAU * i as f64 / n as f64);
                dx.hypot(dy) / sizes[i % n]
            })
            .collect();
        // A ring needs enough corners to look like its curve, however coarse the mesh.
        let parameters = quantiles(&density, TAU / n as f64, 8);
        let nodes = balanced_ring(obstacle.shape(), &parameters);
        let sizes = nodes.iter().map(|&x| raw.at(x).0).collect();
        (nodes, sizes)
    };
    obstacles.iter().map(ring).collect()
}

/// The curve's points at `parameters`, each moved along the normal by $\kappa\ell^2/12$, $\ell$ the
/// length of its edges.
///
/// A chord lies that far inside its arc on average; moved this way, the polygon has the area of the
/// obstacle, and the corners hardly affect the flow.
fn balanced_ring(shape: &Shape, parameters: &[f64]) -> Vec<[f64; 2]> {
    let n = parameters.len();
    let curve: Vec<_> = parameters.iter().map(|&t| shape.curve(t)).collect();
    let squared = |i: usize, j: usize| {
        let (p, q) = (curve[i % n][0], curve[j % n][0]);
        (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2)
    };
    (0..n)
        .map(|i| {
            let [[x, y], [dx, dy], _] = curve[i];
            let length_squared = 0.5 * (squared(i, i + 1) + squared(i + n - 1, i));
            let shift = shape.curvature(parameters[i]) * length_squared / 12.0;
            let speed = dx.hypot(dy);
            [x + shift * dy / speed, y - shift * dx / speed]
        })
        .collect()
}

/// Nodes on the sides of the box at steps of $h$.
fn outer_ring(field: &SizeField) -> Vec<[f64; 2]> {
    let samples = 96;
    let step = 2.0 * HALF_BOX / samples as f64;
    let mut ring = Vec::new();
    for side in 0..4 {
        let at = |s: f64| match side {
            0 => [-HALF_BOX + s, -HALF_BOX],
            1 => [HALF_BOX, -HALF_BOX + s],
            2 => [HALF_BOX - s, HALF_BOX],
            _ => [-HALF_BOX, HALF_BOX - s],
        };
        let density: Vec<f64> = (0..=samples)
            .map(|i| 1.0 / field.at(at(step * i as f64)).0)
            .collect();
        ring.extend(quantiles(&density, step, 2).into_iter().map(at));
    }
    ring
}

/// Parameters, from 0 on, between which the density's integral (trapezoidal, from equally spaced
/// samples) is the same, about one; at least `fewest`.
fn quantiles(density: &[f64], step: f64, fewest: usize) -> Vec<f64> {
    let mut integral = vec![0.0];
    for pair in density.windows(2) {
        integral.push(integral[integral.len() - 1] + 0.5 * step * (pair[0] + pair[1]));
    }
    let total = integral[integral.len() - 1];
    let count = (total.round() as usize).max(fewest);
    let mut i = 0;
    (0..count)
        .map(|k| {
            let target = total * k as f64 / count as f64;
            while integral[i + 1] <= target {
                i += 1;
            }
            let part = (target - integral[i]) / (integral[i + 1] - integral[i]);
            step * (i as f64 + part)
        })
        .collect()
}

type Triangles = ConstrainedDelaunayTriangulation<Point2<f64>>;

fn refine(polygon: &Polygon, field: &SizeField) -> Result<TriangleMesh> {
    let mut vertices = Vec::new();
    let mut sides = Vec::new();
    // Which ring a boundary node is on.
    let mut ring_of = Vec::new();
    for (r, ring) in polygon.rings().enumerate() {
        let (start, n) = (vertices.len(), ring.len());
        vertices.extend(ring.iter().map(|&[x, y]| Point2::new(x, y)));
        sides.extend((0..n).map(|i| [start + i, start + (i + 1) % n]));
        ring_of.extend(std::iter::repeat_n(r, n));
    }
    let unusable = |e: &dyn std::fmt::Display| Error::Numerical(format!("meshing failed: {e}"));
    let mut triangles = Triangles::bulk_load_cdt(vertices, sides).map_err(|e| unusable(&e))?;
    // Nothing is added inside holes, so that their triangles have all corners on one ring.
    let in_fluid = |corners: [(usize, [f64; 2]); 3]| {
        let rings = corners.map(|(i, _)| ring_of.get(i).copied().unwrap_or(0));
        let one_ring = rings[0] > 0 && rings[0] == rings[1] && rings[1] == rings[2];
        let middle = [0, 1].map(|k| corners.iter().map(|c| c.1[k]).sum::<f64>() / 3.0);
        !one_ring || polygon.contains(middle)
    };
    let mut passes = 0;
    loop {
        let mut centres: Vec<([f64; 2], f64)> = Vec::new();
        for face in triangles.inner_faces() {
            let corners = face
                .vertices()
                .map(|v| (v.index(), [v.position().x, v.position().y]));
            let (centre, radius_squared) = face.circumcircle();
            let centre = [centre.x, centre.y];
            if centre.iter().any(|c| c.abs() >= HALF_BOX) {
                continue;
            }
            let (size, nearest) = field.at(centre);
            let limit = RADIUS_TO_EDGE * size;
            // Behind an obstacle the circle may be large and its centre still near a node.
            if radius_squared <= limit * limit || nearest < 0.9 * limit {
                continue;
            }
            let crowded = centres.iter().any(|(other, reach)| {
                let squared = (centre[0] - other[0]).powi(2) + (centre[1] - other[1]).powi(2);
                squared < limit.max(*reach).powi(2)
            });
            if !crowded && in_fluid(corners) && polygon.contains(centre) {
                centres.push((centre, limit));
            }
        }
        if centres.is_empty() {
            break;
        }
        for ([x, y], _) in centres {
            triangles
                .insert(Point2::new(x, y))
                .map_err(|e| unusable(&e))?;
        }
        passes += 1;
        if passes > 500 {
            return Err(unusable(&"refinement did not terminate in 500 passes"));
        }
    }
    let nodes = triangles
        .vertices()
        .map(|v| [v.position().x, v.position().y])
        .collect();
    let kept = triangles
        .inner_faces()
        .map(|face| {
            face.vertices()
                .map(|v| (v.index(), [v.position().x, v.position().y]))
        })
        .filter(|&corners| in_fluid(corners))
        .map(|corners| corners.map(|(i, _)| i))
        .collect();
    TriangleMesh::new(nodes, kept)
}

/// The smallest angle of all triangles, in radians.
pub fn smallest_angle(mesh: &TriangleMesh) -> f64 {
    let mut least = f64::INFINITY;
    for t in 0..mesh.triangles().len() {
        let corners = mesh.corners(t);
        for k in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|i| corners[(k + i) % 3]);
            let (u, v) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
            let (cross, dot) = (u[0] * v[1] - u[1] * v[0], u[0] * v[0] + u[1] * v[1]);
            least = least.min(cross.atan2(dot));
        }
    }
    least
}

#[cfg(test)]
mod tests;
