//! Finite elements as users write them.

use super::FiniteElements;
use crate::basis::family::split_product;
use crate::basis::{BasisFamily, BuildContext, Ladder, LadderRequest};
use crate::cite::{self, Reference};
use crate::domain::Polygon;
use crate::{Error, Result};
use documented::Documented;
use serde::{Deserialize, Serialize};

/// Settings of a finite-element basis.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `degree` | 1 | of the polynomials on an element | 1, 2 |
/// | `functions` | | about how many functions; the nearest possible mesh is taken | at least 1 |
/// | `size` | | length of an element's edges, instead of `functions` | positive |
/// | `mesh` | `box` | where elements come from | `box`, `data`, `{ cells = [...] }`, `{ adaptive = ... }`, `{ polygon = ... }`, `{ nodes = [...] }`, `{ triangles = ... }` ([`MeshSpec`]) |
/// | `boundary` | `keep` | `remove` leaves out the functions that belong to the boundary | `keep`, `remove` |
/// | `slack` | 0 | how far outside the mesh points may lie, in sizes of an element | 0 to 1 |
///
/// With a mesh that is given whole (`cells`, `data`, `nodes`, `triangles`) neither `functions` nor `size`
/// is allowed; an adaptive mesh needs `functions`; otherwise exactly one is needed.
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FiniteElementsSpec {
    /// Degree of the polynomials.
    #[serde(default)]
    pub degree: Degree,
    /// About how many functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<usize>,
    /// Length of an element's edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Where the elements come from.
    #[serde(default)]
    pub mesh: MeshSpec,
    /// Whether functions of the boundary belong to the basis.
    #[serde(default)]
    pub boundary: Boundary,
    /// How far outside the mesh points may lie, in sizes of an element.
    #[serde(default)]
    pub slack: f64,
}

impl FiniteElementsSpec {
    /// Linear elements on the domain, `cells` along each axis.
    pub fn p1(cells: impl Into<Vec<usize>>) -> Self {
        Self::on(Degree::Linear, MeshSpec::Cells(cells.into()))
    }

    /// Quadratic elements on the domain, `cells` along each axis.
    pub fn p2(cells: impl Into<Vec<usize>>) -> Self {
        Self::on(Degree::Quadratic, MeshSpec::Cells(cells.into()))
    }

    /// Elements on `mesh`, with the functions of its boundary.
    pub fn on(degree: Degree, mesh: MeshSpec) -> Self {
        FiniteElementsSpec {
            degree,
            functions: None,
            size: None,
            mesh,
            boundary: Boundary::Keep,
            slack: 0.0,
        }
    }
}

impl BasisFamily for FiniteElementsSpec {
    const NAME: &'static str = "finite-elements";
    const DOCUMENTATION: &'static str = Self::DOCS;
    type Basis = FiniteElements;

    fn depends_on_values(&self) -> bool {
        matches!(self.mesh, MeshSpec::Adaptive(_))
    }

    fn build(&self, context: BuildContext<'_>) -> Result<FiniteElements> {
        FiniteElements::new(self, context)
    }

    fn noun(&self) -> String {
        "finite-element function".into()
    }

    fn references(&self) -> Vec<Reference> {
        vec![cite::FINITE_ELEMENTS]
    }

    /// Quadratic elements on the box, unless the domain does not fill it: they would hang in the air.
    fn ladders(request: &LadderRequest<'_>) -> Vec<Ladder> {
        let domain = request.domain;
        if domain.dim() > 2 || request.irregular {
            return Vec::new();
        }
        let on_box = |functions| FiniteElementsSpec {
            functions: Some(functions),
            ..FiniteElementsSpec::on(Degree::Quadratic, MeshSpec::Box)
        };
        let ladder = Ladder::new(move |size| Some(on_box(size).into()));
        if domain.dim() == 1 {
            return vec![ladder];
        }
        let aspect = (domain.width(0), domain.width(1));
        vec![ladder.with_stretch(move |size, stretch| {
            let ratio = stretch * aspect.0 / aspect.1;
            // Quadratic elements: 2n + 1 functions along n cells.
            let functions = split_product(size as f64, ratio)?;
            let cells: Vec<usize> = functions.iter().map(|f| (f / 2).max(1)).collect();
            Some(FiniteElementsSpec::p2(cells).into())
        })]
    }
}

/// Where the elements come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum MeshSpec {
    /// Equal elements on the domain, an interval or a rectangle.
    #[default]
    Box,
    /// The same with this many cells along each axis: each rectangle is cut into two triangles.
    Cells(Vec<usize>),
    /// The data's own points: all of them on an interval, with the data's triangles in the plane.
    Data,
    /// Small where the training values need it: from a few elements on, those with the largest
    /// residuals are cut in two until there are about `functions`, or fewer where the points do not
    /// support as many.
    Adaptive(AdaptiveStart),
    /// Triangles that fill a polygon with holes.
    Polygon(Polygon),
    /// These nodes of an interval.
    Nodes(Vec<f64>),
    /// These triangles.
    Triangles {
        /// The nodes.
        nodes: Vec<[f64; 2]>,
        /// Three nodes a triangle, counted from 0.
        triangles: Vec<[usize; 3]>,
    },
}

/// What the elements of an adaptive mesh fill.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum AdaptiveStart {
    /// The domain, an interval or a rectangle.
    #[default]
    Box,
    /// The interval of the data's points, or what the data's triangles fill in the plane.
    Data,
    /// A polygon with holes.
    Polygon(Polygon),
}

/// Whether the functions that belong to nodes (and, for degree 2, edges) of the boundary are kept.
///
/// Without them every combination of the functions vanishes on the boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    /// They are kept.
    #[default]
    Keep,
    /// They are left out.
    Remove,
}

/// The degree of the polynomials on an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Degree {
    /// 1, with one function per node.
    #[default]
    Linear,
    /// 2, with one function per node and per edge (in one dimension, per element).
    Quadratic,
}

impl TryFrom<u8> for Degree {
    type Error = Error;
    fn try_from(degree: u8) -> Result<Self> {
        match degree {
            1 => Ok(Degree::Linear),
            2 => Ok(Degree::Quadratic),
            _ => Err(Error::Config(format!(
                "finite elements: degree = {degree} must be 1 or 2"
            ))),
        }
    }
}

impl From<Degree> for u8 {
    fn from(degree: Degree) -> u8 {
        match degree {
            Degree::Linear => 1,
            Degree::Quadratic => 2,
        }
    }
}
