//! Triangle meshes.

use super::polygon::cross;
use crate::data::Bounds;
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A triangle is degenerate if its area is below this fraction of its longest edge squared.
pub(super) const DEGENERATE: f64 = 1e-13;

/// Triangles that meet in whole edges, corners, or not at all; each counter-clockwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct TriangleMesh {
    #[serde(with = "tensor")]
    nodes: Vec<[f64; 2]>,
    #[serde(with = "tensor")]
    triangles: Vec<[usize; 3]>,
    #[serde(skip)]
    edges: Vec<[usize; 2]>,
    #[serde(skip)]
    triangle_edges: Vec<[usize; 3]>,
    #[serde(skip)]
    boundary_edges: Vec<usize>,
}

restore_settled!(TriangleMesh);

impl TriangleMesh {
    /// Builds a mesh from given nodes and triangles.
    ///
    /// Clockwise triangles are reversed. Nodes of no triangle are removed and the rest renumbered in
    /// order: the function of such a node would vanish everywhere. Nodes in the same
    /// place are not merged, so that a mesh may have a slit.
    ///
    /// # Errors
    /// If there is no triangle, an index is out of range, a coordinate is not finite, a triangle
    /// has no area, an edge has more than two triangles, or two triangles lie on the same side of
    /// their common edge.
    pub fn new(nodes: Vec<[f64; 2]>, triangles: Vec<[usize; 3]>) -> Result<Self> {
        check_indices(&nodes, &triangles)?;
        let mut used = vec![false; nodes.len()];
        triangles.iter().flatten().for_each(|&i| used[i] = true);
        let mut number = vec![usize::MAX; nodes.len()];
        let mut kept = Vec::with_capacity(nodes.len());
        for (i, &p) in nodes.iter().enumerate() {
            if used[i] {
                number[i] = kept.len();
                kept.push(p);
            }
        }
        let triangles = triangles.iter().map(|t| t.map(|i| number[i])).collect();
        Self::with_all_nodes(kept, triangles)
    }

    /// [`TriangleMesh::new`], but nodes of no triangle are kept, so that indices of nodes are those
    /// of a set of points.
    pub(crate) fn with_all_nodes(
        nodes: Vec<[f64; 2]>,
        mut triangles: Vec<[usize; 3]>,
    ) -> Result<Self> {
        check_indices(&nodes, &triangles)?;
        if triangles.is_empty() {
            return Err(Error::Data(
                "a mesh needs at least one triangle, it has none".into(),
            ));
        }
        for (t, triangle) in triangles.iter_mut().enumerate() {
            let corners = triangle.map(|i| nodes[i]);
            let twice_area = cross(corners[0], corners[1], corners[2]);
            if is_degenerate(corners) {
                return Err(Error::Data(format!(
                    "triangle {t} of the mesh, nodes {triangle:?} at {corners:?}, has no area; remove it"
                )));
            }
            if twice_area < 0.0 {
                triangle.swap(1, 2);
            }
        }
        let mut known: HashMap<[usize; 2], usize> = HashMap::new();
        let mut edges = Vec::new();
        // Per edge, how many triangles run along it upwards and downwards in node numbers.
        let mut runs: Vec<[usize; 2]> = Vec::new();
        let mut triangle_edges = Vec::with_capacity(triangles.len());
        for (t, &[a, b, c]) in triangles.iter().enumerate() {
            let mut ids = [0; 3];
            for (id, (p, q)) in ids.iter_mut().zip([(a, b), (b, c), (c, a)]) {
                let edge = [p.min(q), p.max(q)];
                *id = *known.entry(edge).or_insert_with(|| {
                    edges.push(edge);
                    runs.push([0, 0]);
                    edges.len() - 1
                });
                let run = &mut runs[*id][usize::from(p > q)];
                *run += 1;
                // Two counter-clockwise triangles on either side run in opposite directions.
                if *run > 1 {
                    return Err(Error::Data(format!(
                        "triangle {t} of the mesh lies on the same side of the edge between nodes {p} and {q} \
                         as a triangle before it; remove repeated and overlapping triangles"
                    )));
                }
            }
            triangle_edges.push(ids);
        }
        let boundary_edges = (0..edges.len())
            .filter(|&e| runs[e][0] + runs[e][1] == 1)
            .collect();
        Ok(TriangleMesh {
            nodes,
            triangles,
            edges,
            triangle_edges,
            boundary_edges,
        })
    }

    fn settle(&mut self) -> Result<()> {
        let (nodes, triangles) = (&mut self.nodes, &mut self.triangles);
        *self = Self::with_all_nodes(std::mem::take(nodes), std::mem::take(triangles))?;
        Ok(())
    }

    /// A rectangle cut into `nx` by `ny` cells of two triangles; nodes as in
    /// [`Points::grid`](crate::data::Points::grid), the second axis fastest.
    ///
    /// # Errors
    /// If `bounds` is not two-dimensional or is flat, or a count is zero.
    #[doc(hidden)] // for the tests of other crates
    pub fn rectangle(bounds: &Bounds, nx: usize, ny: usize) -> Result<Self> {
        if bounds.dim() != 2 || nx == 0 || ny == 0 {
            return Err(Error::Config(format!(
                "{bounds} cannot be cut into {nx} x {ny} cells; a rectangle and at least 1 x 1 are needed"
            )));
        }
        let grid = crate::data::Points::grid(bounds, &[nx + 1, ny + 1]);
        let nodes = grid.iter().map(|p| [p[0], p[1]]).collect();
        let mut triangles = Vec::with_capacity(2 * nx * ny);
        for i in 0..nx {
            for j in 0..ny {
                let a = i * (ny + 1) + j;
                let b = a + ny + 1;
                triangles.push([a, b, b + 1]);
                triangles.push([a, b + 1, a + 1]);
            }
        }
        Self::new(nodes, triangles)
    }

    /// The nodes.
    pub fn nodes(&self) -> &[[f64; 2]] {
        &self.nodes
    }

    /// The triangles as nodes, counter-clockwise.
    pub fn triangles(&self) -> &[[usize; 3]] {
        &self.triangles
    }

    /// The edges as pairs of nodes, the smaller first, in order of first appearance.
    #[doc(hidden)] // for c2cnet-problems
    pub fn edges(&self) -> &[[usize; 2]] {
        &self.edges
    }

    /// The edges of each triangle: opposite its third, first and second corner.
    #[doc(hidden)] // for c2cnet-problems
    pub fn triangle_edges(&self) -> &[[usize; 3]] {
        &self.triangle_edges
    }

    /// The edges with one triangle.
    #[doc(hidden)] // for c2cnet-problems
    pub fn boundary_edges(&self) -> &[usize] {
        &self.boundary_edges
    }

    /// For each node, whether it ends a boundary edge.
    #[doc(hidden)] // for c2cnet-problems
    pub fn on_boundary(&self) -> Vec<bool> {
        let mut on = vec![false; self.nodes.len()];
        for &e in &self.boundary_edges {
            for i in self.edges[e] {
                on[i] = true;
            }
        }
        on
    }

    /// The nodes on the boundary, in order.
    #[doc(hidden)] // for c2cnet-problems
    pub fn boundary_nodes(&self) -> Vec<usize> {
        let on = self.on_boundary();
        (0..on.len()).filter(|&i| on[i]).collect()
    }

    /// The corners of triangle `t`.
    #[doc(hidden)] // for c2cnet-problems
    pub fn corners(&self, t: usize) -> [[f64; 2]; 3] {
        self.triangles[t].map(|i| self.nodes[i])
    }

    /// The area of each triangle.
    #[doc(hidden)] // for the tests of other crates
    pub fn areas(&self) -> Vec<f64> {
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t);
                0.5 * cross(a, b, c)
            })
            .collect()
    }

    /// The length of the longest edge.
    #[doc(hidden)] // for the tests of other crates
    pub fn longest_edge(&self) -> f64 {
        self.edges
            .iter()
            .map(|&[i, j]| distance_squared(self.nodes[i], self.nodes[j]))
            .fold(0.0, f64::max)
            .sqrt()
    }

    /// The smallest box `[left, right], [bottom, top]` around the nodes.
    pub fn bounding_box(&self) -> [[f64; 2]; 2] {
        let mut sides = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
        for point in &self.nodes {
            for (side, &x) in sides.iter_mut().zip(point) {
                *side = [side[0].min(x), side[1].max(x)];
            }
        }
        sides
    }
}

fn check_indices(nodes: &[[f64; 2]], triangles: &[[usize; 3]]) -> Result<()> {
    if let Some(i) = nodes.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
        let [x, y] = nodes[i];
        return Err(Error::NotFinite {
            what: "mesh".into(),
            place: format!("node {i}"),
            value: if x.is_finite() { y } else { x },
            optional: false,
        });
    }
    for (t, triangle) in triangles.iter().enumerate() {
        if let Some(i) = triangle.iter().find(|&&i| i >= nodes.len()) {
            return Err(Error::Data(format!(
                "triangle {t} of the mesh names node {i}, but there are {} nodes (counted from 0)",
                nodes.len()
            )));
        }
    }
    Ok(())
}

pub(super) fn distance_squared(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}

pub(super) fn is_degenerate([a, b, c]: [[f64; 2]; 3]) -> bool {
    let longest = distance_squared(a, b)
        .max(distance_squared(b, c))
        .max(distance_squared(c, a));
    let area = 0.5 * cross(a, b, c).abs();
    // Coordinates near the largest number overflow to NaN here.
    area.is_nan() || area <= DEGENERATE * longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_has_its_area_edges_and_boundary() {
        let bounds = Bounds::new(vec![[-1.0, 2.0], [0.0, 0.5]]).unwrap();
        let mesh = TriangleMesh::rectangle(&bounds, 5, 3).unwrap();
        assert_eq!((mesh.nodes().len(), mesh.triangles().len()), (24, 30));
        assert_eq!(mesh.boundary_nodes().len(), 16);
        assert_eq!(mesh.boundary_edges().len(), 16);
        assert!((mesh.areas().iter().sum::<f64>() - 1.5).abs() < 1e-12);
        // Euler: nodes - edges + triangles = 1 without holes.
        assert_eq!(24 + 30, mesh.edges().len() + 1);
        assert_eq!(mesh.bounding_box(), [[-1.0, 2.0], [0.0, 0.5]]);
    }

    #[test]
    fn import_turns_triangles_and_removes_unused_nodes() {
        let nodes = vec![[9.0, 9.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let mesh = TriangleMesh::new(nodes, vec![[1, 3, 2]]).unwrap();
        assert_eq!(mesh.nodes().len(), 3);
        assert_eq!(mesh.triangles(), [[0, 1, 2]]);
        assert_eq!(mesh.areas(), [0.5]);
    }

    #[test]
    fn bad_meshes_are_errors() {
        let nodes = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]];
        let cases: [(&str, Vec<[usize; 3]>); 6] = [
            ("no triangle", vec![]),
            ("index out of range", vec![[0, 1, 5]]),
            ("repeated corner", vec![[0, 1, 1]]),
            ("collinear", vec![[0, 1, 4]]),
            ("repeated triangle", vec![[0, 1, 2], [2, 0, 1]]),
            ("overlapping", vec![[0, 1, 2], [0, 1, 3]]),
        ];
        for (name, triangles) in cases {
            assert!(
                TriangleMesh::new(nodes.clone(), triangles).is_err(),
                "{name}"
            );
        }
        let nan = vec![[0.0, 0.0], [1.0, f64::NAN], [0.0, 1.0]];
        assert!(TriangleMesh::new(nan, vec![[0, 1, 2]]).is_err());
        for (bounds, nx) in [(Bounds::unit(1), 1), (Bounds::unit(2), 0)] {
            assert!(TriangleMesh::rectangle(&bounds, nx, 1).is_err());
        }
        let flat = Bounds::new(vec![[0.0, 1.0], [2.0, 2.0]]).unwrap();
        assert!(TriangleMesh::rectangle(&flat, 1, 1).is_err());
    }
}
