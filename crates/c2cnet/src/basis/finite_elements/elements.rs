//! Elements of a mesh: their places (nodes and midpoints), and the polynomials on them.

use super::spec::Degree;
use crate::Result;
use crate::data::Bounds;
use crate::domain::{IntervalMesh, Locator, TriangleMesh};
use serde::{Deserialize, Serialize, Serializer};

/// A mesh of an interval or in the plane.
///
/// A place is where a function belongs: first all nodes, then, for degree 2, the midpoints of
/// elements (interval) or edges (triangles).
#[derive(Debug)]
pub(super) enum Mesh {
    Interval(IntervalMesh),
    Triangles(TriangleMesh, Box<Locator>),
}

/// A mesh as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoredMesh<I, T> {
    Interval(I),
    Triangles(T),
}

impl Serialize for Mesh {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Mesh::Interval(mesh) => StoredMesh::Interval(mesh),
            Mesh::Triangles(mesh, _) => StoredMesh::Triangles(mesh),
        }
        .serialize(serializer)
    }
}

impl Mesh {
    /// The box on which the functions are defined.
    pub(super) fn bounds(&self, slack: f64) -> Result<Bounds> {
        match self {
            Mesh::Interval(mesh) => Bounds::new(vec![[mesh.lower(), mesh.upper()]]),
            Mesh::Triangles(mesh, _) => {
                let tolerance = slack * mesh.longest_edge();
                let sides = mesh
                    .bounding_box()
                    .map(|[l, u]| [l - tolerance, u + tolerance]);
                Bounds::new(sides.to_vec())
            }
        }
    }

    /// The places' coordinates.
    pub(super) fn places(&self, degree: Degree) -> Vec<Vec<f64>> {
        let quadratic = degree == Degree::Quadratic;
        let mut all: Vec<Vec<f64>> = Vec::new();
        match self {
            Mesh::Interval(mesh) => {
                all.extend(mesh.nodes().iter().map(|&x| vec![x]));
                if quadratic {
                    let middles = mesh.nodes().windows(2).map(|w| vec![0.5 * (w[0] + w[1])]);
                    all.extend(middles);
                }
            }
            Mesh::Triangles(mesh, _) => {
                let nodes = mesh.nodes();
                all.extend(nodes.iter().map(|p| p.to_vec()));
                if quadratic {
                    all.extend(mesh.edges().iter().map(|&[i, j]| {
                        let middle = |k: usize| 0.5 * (nodes[i][k] + nodes[j][k]);
                        vec![middle(0), middle(1)]
                    }));
                }
            }
        }
        all
    }

    /// For each place, whether it lies on the boundary.
    pub(super) fn on_boundary(&self, degree: Degree) -> Vec<bool> {
        let quadratic = degree == Degree::Quadratic;
        match self {
            Mesh::Interval(mesh) => {
                let nodes = mesh.nodes().len();
                let mut on = vec![false; nodes + if quadratic { mesh.elements() } else { 0 }];
                on[0] = true;
                on[nodes - 1] = true;
                on
            }
            Mesh::Triangles(mesh, _) => {
                let mut on = mesh.on_boundary();
                if quadratic {
                    let nodes = on.len();
                    on.resize(nodes + mesh.edges().len(), false);
                    for &e in mesh.boundary_edges() {
                        on[nodes + e] = true;
                    }
                }
                on
            }
        }
    }

    /// The element of a point and its local coordinates there: $(t, 0, 0)$, or $\lambda$.
    pub(super) fn locate(&self, point: &[f64]) -> Option<(usize, [f64; 3])> {
        match self {
            Mesh::Interval(mesh) => mesh
                .locate(point[0])
                .map(|(element, t)| (element, [t, 0.0, 0.0])),
            Mesh::Triangles(_, locator) => locator.locate([point[0], point[1]]),
        }
    }

    /// The places of an element, in the order of [`Mesh::shape`].
    pub(super) fn element_places(&self, degree: Degree, element: usize) -> Vec<usize> {
        let quadratic = degree == Degree::Quadratic;
        let mut places = Vec::with_capacity(6);
        match self {
            Mesh::Interval(mesh) => {
                places.extend([element, element + 1]);
                if quadratic {
                    places.push(mesh.nodes().len() + element);
                }
            }
            Mesh::Triangles(mesh, _) => {
                places.extend(mesh.triangles()[element]);
                if quadratic {
                    places.extend(mesh.triangle_edges()[element].map(|e| mesh.nodes().len() + e));
                }
            }
        }
        places
    }

    /// The element's polynomials at local coordinates; unused entries are zero.
    pub(super) fn shape(&self, degree: Degree, local: [f64; 3]) -> [f64; 6] {
        let mut shape = [0.0; 6];
        match (self, degree) {
            (Mesh::Interval(_), Degree::Linear) => {
                let t = local[0];
                shape[..2].copy_from_slice(&[1.0 - t, t]);
            }
            (Mesh::Interval(_), Degree::Quadratic) => {
                let t = local[0];
                shape[0] = (1.0 - t) * (1.0 - 2.0 * t);
                shape[1] = t * (2.0 * t - 1.0);
                shape[2] = 4.0 * t * (1.0 - t);
            }
            (Mesh::Triangles(..), Degree::Linear) => shape[..3].copy_from_slice(&local),
            (Mesh::Triangles(..), Degree::Quadratic) => {
                for k in 0..3 {
                    let (here, next) = (local[k], local[(k + 1) % 3]);
                    shape[k] = here * (2.0 * here - 1.0);
                    shape[3 + k] = 4.0 * here * next;
                }
            }
        }
        shape
    }
}
