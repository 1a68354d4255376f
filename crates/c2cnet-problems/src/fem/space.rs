//! The functions of an element on all triangles of a mesh, continuous across edges.

use super::{Element, Geometry, Quadrature};
use c2cnet::domain::TriangleMesh;
use c2cnet::internal::Locator;
use c2cnet::{Error, Result};

/// Finite-element functions on a mesh, each belonging to a node.
///
/// Nodes are the mesh's own and then, for [`Element::P2`], the midpoints of its edges, in order.
#[derive(Debug)]
pub struct Space {
    mesh: TriangleMesh,
    element: Element,
    nodes: Vec<[f64; 2]>,
    on_boundary: Vec<bool>,
    element_nodes: Vec<[usize; Element::MOST]>,
    geometry: Vec<Geometry>,
    rule: Quadrature,
    shapes: Vec<[f64; Element::MOST]>,
}

impl Space {
    /// The functions of `element` on `mesh`.
    pub fn new(mesh: TriangleMesh, element: Element) -> Self {
        let corners = mesh.nodes().len();
        let mut nodes = mesh.nodes().to_vec();
        let mut on_boundary = mesh.on_boundary();
        let mut element_nodes = vec![[usize::MAX; Element::MOST]; mesh.triangles().len()];
        for (to, from) in element_nodes.iter_mut().zip(mesh.triangles()) {
            to[..3].copy_from_slice(from);
        }
        if element == Element::P2 {
            for &[i, j] in mesh.edges() {
                nodes.push([0, 1].map(|d| 0.5 * (nodes[i][d] + nodes[j][d])));
            }
            on_boundary.resize(nodes.len(), false);
            for &e in mesh.boundary_edges() {
                on_boundary[corners + e] = true;
            }
            for (to, from) in element_nodes.iter_mut().zip(mesh.triangle_edges()) {
                to[3..].copy_from_slice(&from.map(|e| corners + e));
            }
        }
        let geometry = (0..mesh.triangles().len())
            .map(|t| Geometry::new(mesh.corners(t)))
            .collect();
        // Exact for products of two functions, and of two gradients and a function.
        let rule = Quadrature::exact_to(2 * element.degree());
        let shapes = rule.points.iter().map(|l| element.values(*l)).collect();
        Space {
            mesh,
            element,
            nodes,
            on_boundary,
            element_nodes,
            geometry,
            rule,
            shapes,
        }
    }

    /// How many functions there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no function; never, as a mesh has a triangle.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// The element.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Where the functions' nodes are.
    pub fn nodes(&self) -> &[[f64; 2]] {
        &self.nodes
    }

    /// For each node, whether it lies on the boundary.
    pub fn on_boundary(&self) -> &[bool] {
        &self.on_boundary
    }

    /// How many triangles there are.
    pub fn triangles(&self) -> usize {
        self.element_nodes.len()
    }

    /// The nodes of triangle `t`, in the order of [`Element::values`].
    pub fn element_nodes(&self, t: usize) -> &[usize] {
        &self.element_nodes[t][..self.element.functions()]
    }

    /// The geometry of triangle `t`.
    pub fn geometry(&self, t: usize) -> &Geometry {
        &self.geometry[t]
    }

    /// The rule, exact for products of two functions, and of two gradients and a function.
    pub fn rule(&self) -> &Quadrature {
        &self.rule
    }

    /// The functions' values at the points of [`Space::rule`].
    pub fn shapes(&self) -> &[[f64; Element::MOST]] {
        &self.shapes
    }

    /// The place of barycentric coordinates $\lambda$ in triangle `t`.
    pub fn position(&self, t: usize, lambda: [f64; 3]) -> [f64; 2] {
        let corners = self.mesh.corners(t);
        [0, 1].map(|d| (0..3).map(|k| lambda[k] * corners[k][d]).sum())
    }

    /// Calls `visit(nodes, corners)` for each boundary edge whose ends satisfy `on`: its end nodes, then
    /// for P2 its midpoint.
    pub fn for_each_boundary_edge(
        &self,
        on: impl Fn([f64; 2]) -> bool,
        mut visit: impl FnMut(&[usize], [[f64; 2]; 2]),
    ) {
        for &e in self.mesh.boundary_edges() {
            let [i, j] = self.mesh.edges()[e];
            let ends = [self.nodes[i], self.nodes[j]];
            if ends.into_iter().all(&on) {
                let nodes = [i, j, self.mesh.nodes().len() + e];
                visit(&nodes[..1 + self.element.degree()], ends);
            }
        }
    }

    /// How to evaluate functions at `points`.
    ///
    /// # Errors
    /// [`Error::Data`] if a point is outside the mesh by more than rounding.
    pub fn sampling(&self, points: &[[f64; 2]]) -> Result<Sampling> {
        let locator = Locator::new(&self.mesh, 0.0)?;
        let rows = points
            .iter()
            .enumerate()
            .map(|(i, &point)| {
                let (t, lambda) = locator.locate(point).ok_or_else(|| {
                    Error::Data(format!("point {i} = {point:?} lies outside the mesh"))
                })?;
                Ok((self.element_nodes[t], self.element.values(lambda)))
            })
            .collect::<Result<_>>()?;
        Ok(Sampling {
            rows,
            functions: self.element.functions(),
        })
    }
}

/// The sparse matrix that takes coefficients to values at points.
#[derive(Debug, Clone)]
pub struct Sampling {
    rows: Vec<([usize; Element::MOST], [f64; Element::MOST])>,
    functions: usize,
}

impl Sampling {
    /// The number of points.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The value at point `i` of the function whose coefficient at node `j` is `coefficient(j)`.
    pub fn value(&self, i: usize, coefficient: impl Fn(usize) -> f64) -> f64 {
        let (nodes, weights) = &self.rows[i];
        (0..self.functions)
            .map(|k| weights[k] * coefficient(nodes[k]))
            .sum()
    }
}
