//! Eigenfunctions of the Laplacian: the waves of a domain.
//!
//! $$-\Delta\varphi_j = \lambda_j\varphi_j,\qquad \int\varphi_i\varphi_j = \delta_{ij},\qquad
//! \lambda_1 \le \lambda_2 \le \dots,$$
//!
//! with $\partial_n\varphi_j = 0$ (Neumann) or $\varphi_j = 0$ (Dirichlet) on the boundary. What cosines and sines
//! are on a box, these are on any domain: the smoothest functions that are orthonormal in $L^2$. On boxes they are
//! known, and follow periodic sides; on polygons and meshes they are computed with quadratic finite elements.

mod eigen;
mod on_box;
mod on_mesh;

use super::{Basis, BasisFamily, BuildContext, Design, Separable};
use crate::cite::{self, Reference};
use crate::data::{Bounds, Points};
use crate::domain::Polygon;
use crate::{Error, Result};
use documented::Documented;
use faer::Mat;
use on_box::OnBox;
use on_mesh::OnMesh;
use serde::{Deserialize, Serialize};

/// Settings of a basis of eigenfunctions of the Laplacian.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `functions` | | how many functions, those of the smallest eigenvalues | at least 1; on a mesh at most half of its elements |
/// | `condition` | `neumann` | on the boundary: no slope across it, or zero | `neumann`, `dirichlet` |
/// | `mesh` | `box` | the domain | `box`, `data`, `{ polygon = ... }`, `{ triangles = ... }` ([`LaplaceMesh`]) |
/// | `elements` | 16 times `functions`, at least 2000 | about how many quadratic elements fill a polygon | at least twice `functions` |
/// | `slack` | 0 | how far outside a mesh points may lie, in sizes of an element | 0 to 1 |
///
/// On a box, in any dimension, the functions are products of cosines or sines in closed form. On a polygon or a mesh
/// eigenvalues are those of finite elements: a little too large, the more the closer `functions` is to `elements`.
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaplaceSpec {
    /// How many functions.
    pub functions: usize,
    /// What holds on the boundary.
    #[serde(default)]
    pub condition: Condition,
    /// The domain.
    #[serde(default)]
    pub mesh: LaplaceMesh,
    /// About how many finite elements fill a polygon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<usize>,
    /// How far outside a mesh points may lie, in sizes of an element.
    #[serde(default)]
    pub slack: f64,
}

/// What holds on the boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    /// $\partial_n\varphi = 0$.
    #[default]
    Neumann,
    /// $\varphi = 0$.
    Dirichlet,
}

/// The domain whose eigenfunctions are meant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum LaplaceMesh {
    /// The box of the data.
    #[default]
    Box,
    /// What the data's triangles fill.
    Data,
    /// A polygon with holes.
    Polygon(Polygon),
    /// These triangles.
    Triangles {
        /// The nodes.
        nodes: Vec<[f64; 2]>,
        /// Three nodes per triangle, counted from 0.
        triangles: Vec<[usize; 3]>,
    },
}

impl LaplaceSpec {
    /// This many eigenfunctions of the box, with zero slope on its boundary.
    pub fn new(functions: usize) -> Self {
        Self::on(LaplaceMesh::Box, functions)
    }

    /// The same for another domain.
    pub fn on(mesh: LaplaceMesh, functions: usize) -> Self {
        LaplaceSpec {
            functions,
            condition: Condition::Neumann,
            mesh,
            elements: None,
            slack: 0.0,
        }
    }

    fn build_on_box(&self, domain: &Bounds) -> Result<OnBox> {
        let useless = |setting: String| {
            Error::Config(format!(
                "laplace: {setting} has no effect on a box, where the eigenfunctions have a closed form; remove it"
            ))
        };
        match (self.elements, self.slack) {
            (Some(elements), _) => Err(useless(format!("elements = {elements}"))),
            (None, 0.0) => OnBox::new(domain.clone(), self.condition, self.functions),
            (None, slack) => Err(useless(format!("slack = {slack}"))),
        }
    }
}

/// On boxes the search has these functions as `fourier` (cosines and sines), and it knows no boundary of others:
/// this family is built by name.
impl BasisFamily for LaplaceSpec {
    const NAME: &'static str = "laplace";
    const DOCUMENTATION: &'static str = Self::DOCS;
    type Basis = Laplace;

    fn build(&self, context: BuildContext<'_>) -> Result<Laplace> {
        let place = match &self.mesh {
            LaplaceMesh::Box => Place::Box(self.build_on_box(context.domain)?),
            _ => Place::Mesh(OnMesh::new(self, context)?),
        };
        Ok(Laplace {
            condition: self.condition,
            place,
        })
    }

    fn noun(&self) -> String {
        "Laplace eigenfunction".into()
    }

    fn references(&self) -> Vec<Reference> {
        vec![cite::LAPLACE_EIGENFUNCTIONS]
    }
}

/// Eigenfunctions of the Laplacian on a domain.
#[derive(Debug, Serialize, Deserialize)]
pub struct Laplace {
    condition: Condition,
    place: Place,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    Box(OnBox),
    Mesh(OnMesh),
}

impl Laplace {
    /// The eigenvalues, increasing.
    pub fn eigenvalues(&self) -> Vec<f64> {
        match &self.place {
            Place::Box(place) => place.eigenvalues(),
            Place::Mesh(place) => place.eigenvalues.clone(),
        }
    }

    /// Derivatives along each axis: $\partial_k\varphi_j(x_i)$, one matrix per axis, one row per point.
    ///
    /// On a mesh they jump across edges; there, those of one side are taken.
    ///
    /// # Errors
    /// As [`Basis::evaluate`].
    pub fn gradient(&self, points: &Points) -> Result<Vec<Mat<f64>>> {
        match &self.place {
            Place::Box(place) => (0..place.domain.dim())
                .map(|k| place.derivative(points, k))
                .collect(),
            Place::Mesh(place) => place.gradient(points),
        }
    }
}

impl Basis for Laplace {
    fn family(&self) -> &'static str {
        LaplaceSpec::NAME
    }

    fn len(&self) -> usize {
        match &self.place {
            Place::Box(place) => place.len(),
            Place::Mesh(place) => place.eigenvalues.len(),
        }
    }

    fn domain(&self) -> &Bounds {
        match &self.place {
            Place::Box(place) => &place.domain,
            Place::Mesh(place) => place.elements().domain(),
        }
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        match &self.place {
            Place::Box(place) => place.evaluate(points),
            Place::Mesh(place) => place.evaluate(points),
        }
    }

    fn by_axes(&self, points: &Points) -> Result<Option<Separable>> {
        match &self.place {
            Place::Box(place) => place.by_axes(points),
            Place::Mesh(_) => Ok(None),
        }
    }

    fn describe(&self) -> String {
        let condition = match self.condition {
            Condition::Neumann => "without slope",
            Condition::Dirichlet => "zero",
        };
        let place = match &self.place {
            Place::Box(_) => "a box".to_string(),
            Place::Mesh(place) => place.elements().describe(),
        };
        format!(
            "{} eigenfunctions of the Laplacian, {condition} on the boundary, on {place}",
            self.len()
        )
    }
}

#[cfg(test)]
mod tests;
