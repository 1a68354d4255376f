//! Finite elements of degree 1 and 2 on intervals and triangle meshes.
//!
//! On an interval's element, with $t \in [0, 1]$ from node to node,
//! $$ P_1:\ 1 - t,\ t; \qquad P_2:\ (1-t)(1-2t),\ t(2t-1),\ 4t(1-t), $$
//! and on a triangle, with barycentric coordinates $\lambda_1, \lambda_2, \lambda_3$,
//! $$ P_1:\ \lambda_i; \qquad P_2:\ \lambda_i(2\lambda_i - 1),\ 4\lambda_i\lambda_j. $$
//! Each function is 1 at its own node or midpoint and 0 at all others, so coefficients are values
//! there. Functions of nodes come first, in the nodes' order, then those of midpoints, in the
//! order of the elements (interval) or edges (triangles).
//!
//! A row has at most six nonzeros and the points of an element share their columns, so the design
//! matrix is stored by blocks, one per element.

mod adaptive;
mod elements;
mod forms;
mod mesh_size;
mod spec;

pub(in crate::basis) use forms::{Entry, Forms};
pub use spec::{AdaptiveStart, Boundary, Degree, FiniteElementsSpec, MeshSpec};

use super::{Basis, BasisFamily, BuildContext, Design, build_blocks, group_by_cell};
use crate::data::{Bounds, Points};
use crate::domain::{IntervalMesh, Locator, TriangleMesh};
use crate::{Error, Result};
use elements::{Mesh, StoredMesh};
use faer::Mat;
use mesh_size::Fineness;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const FAMILY: &str = FiniteElementsSpec::NAME;

/// A finite-element basis on a mesh.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct FiniteElements {
    #[serde(skip)]
    domain: Bounds,
    settings: Settings,
    mesh: Mesh,
    /// The function of each node and then of each midpoint; `None` where it is left out.
    #[serde(skip)]
    functions: Vec<Option<usize>>,
    #[serde(skip)]
    len: usize,
}

#[derive(Deserialize)]
struct Stored {
    settings: Settings,
    mesh: StoredMesh<IntervalMesh, TriangleMesh>,
}

impl TryFrom<Stored> for FiniteElements {
    type Error = Error;
    fn try_from(stored: Stored) -> Result<Self> {
        match stored.mesh {
            StoredMesh::Interval(mesh) => {
                Self::from_settings(Mesh::Interval(mesh), stored.settings)
            }
            StoredMesh::Triangles(mesh) => Self::from_triangles(mesh, stored.settings),
        }
    }
}

/// What shapes the functions on a given mesh.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    degree: Degree,
    boundary: Boundary,
    slack: f64,
}

impl FiniteElements {
    /// The basis that `spec` asks for.
    ///
    /// # Errors
    /// If the settings contradict each other (see [`FiniteElementsSpec`]), do not fit the dimension
    /// of the domain, or the mesh is unusable.
    pub fn new(spec: &FiniteElementsSpec, context: BuildContext<'_>) -> Result<Self> {
        let settings = Settings {
            degree: spec.degree,
            boundary: spec.boundary,
            slack: spec.slack,
        };
        let given = !matches!(
            spec.mesh,
            MeshSpec::Box | MeshSpec::Polygon(_) | MeshSpec::Adaptive(_)
        );
        if given && (spec.functions.is_some() || spec.size.is_some()) {
            return Err(Error::Config(
                "finite elements: a given mesh decides how many functions there are; remove `functions` and `size`"
                    .into(),
            ));
        }
        match (&spec.mesh, context.domain.dim()) {
            (MeshSpec::Adaptive(start), 1 | 2) => match Fineness::new(spec.functions, spec.size)? {
                Fineness::Functions(wanted) => adaptive::build(start, wanted, settings, context),
                Fineness::Size(_) => Err(Error::Config(
                    "finite elements: an adaptive mesh has elements of many sizes; \
                         give `functions` instead of `size`"
                        .into(),
                )),
            },
            (_, 1) => Self::from_settings(Mesh::Interval(interval_mesh(spec, context)?), settings),
            (_, 2) => Self::from_triangles(triangle_mesh(spec, context)?, settings),
            (mesh, dim) => Err(cannot_mesh(mesh, dim)),
        }
    }

    #[cfg(test)]
    fn on_interval(
        mesh: crate::domain::IntervalMesh,
        degree: Degree,
        boundary: Boundary,
    ) -> Result<Self> {
        let settings = Settings {
            degree,
            boundary,
            slack: 0.0,
        };
        Self::from_settings(Mesh::Interval(mesh), settings)
    }

    /// The basis on a triangle mesh; for `slack` see [`Locator::new`].
    ///
    /// # Errors
    /// If no function is left after removing those of the boundary, or `slack` is not in `[0, 1]`.
    #[doc(hidden)] // for the example of adaptive meshes
    pub fn on_triangles(
        mesh: TriangleMesh,
        degree: Degree,
        boundary: Boundary,
        slack: f64,
    ) -> Result<Self> {
        let settings = Settings {
            degree,
            boundary,
            slack,
        };
        Self::from_triangles(mesh, settings)
    }

    fn from_triangles(mesh: TriangleMesh, settings: Settings) -> Result<Self> {
        let locator = Locator::new(&mesh, settings.slack)?;
        Self::from_settings(Mesh::Triangles(mesh, Box::new(locator)), settings)
    }

    /// Numbers the functions.
    fn from_settings(mesh: Mesh, settings: Settings) -> Result<Self> {
        if matches!(mesh, Mesh::Interval(_)) && settings.slack != 0.0 {
            return Err(Error::Config(format!(
                "finite elements: slack = {} has no effect on an interval; remove it",
                settings.slack
            )));
        }
        let domain = mesh.bounds(settings.slack)?;
        let mut len = 0;
        let functions = mesh
            .on_boundary(settings.degree)
            .into_iter()
            .map(|on| {
                (settings.boundary == Boundary::Keep || !on).then(|| {
                    len += 1;
                    len - 1
                })
            })
            .collect();
        if len == 0 {
            return Err(Error::Config(
                "finite elements: every function belongs to the boundary, none is left; \
                 refine the mesh or keep the boundary"
                    .into(),
            ));
        }
        Ok(FiniteElements {
            domain,
            settings,
            mesh,
            functions,
            len,
        })
    }

    /// The triangle mesh, where there is one.
    pub fn triangles(&self) -> Option<&TriangleMesh> {
        match &self.mesh {
            Mesh::Triangles(mesh, _) => Some(mesh),
            Mesh::Interval(_) => None,
        }
    }

    /// The points that the functions belong to: function $j$ is 1 at point $j$, the others 0.
    pub fn nodes(&self) -> Points {
        let all = self.mesh.places(self.settings.degree);
        let kept = all.iter().zip(&self.functions).filter(|(_, f)| f.is_some());
        let coords = kept.flat_map(|(p, _)| p.iter().copied()).collect();
        Points::new(self.domain.dim(), coords).expect("finite nodes of one dimension")
    }

    /// The functions of an element in the order of [`Mesh::shape`].
    fn element_functions(&self, element: usize) -> Vec<Option<usize>> {
        let places = self.mesh.element_places(self.settings.degree, element);
        places.into_iter().map(|p| self.functions[p]).collect()
    }
}

/// The mesh of an interval.
fn interval_mesh(spec: &FiniteElementsSpec, context: BuildContext<'_>) -> Result<IntervalMesh> {
    let (degree, boundary, domain) = (spec.degree, spec.boundary, context.domain);
    match &spec.mesh {
        MeshSpec::Box => {
            let fineness = Fineness::new(spec.functions, spec.size)?;
            mesh_size::interval(domain, fineness, degree, boundary)
        }
        MeshSpec::Cells(cells) => {
            mesh_size::check_cells(cells, degree, domain)?;
            IntervalMesh::uniform(domain.lower(0), domain.upper(0), cells[0])
        }
        MeshSpec::Nodes(nodes) => IntervalMesh::new(nodes.clone()),
        MeshSpec::Data => IntervalMesh::new(data_points(context)?.coords().to_vec()),
        mesh => Err(cannot_mesh(mesh, 1)),
    }
}

/// The mesh of a domain in the plane.
fn triangle_mesh(spec: &FiniteElementsSpec, context: BuildContext<'_>) -> Result<TriangleMesh> {
    let (degree, boundary, domain) = (spec.degree, spec.boundary, context.domain);
    let fineness = || Fineness::new(spec.functions, spec.size);
    match &spec.mesh {
        MeshSpec::Box => mesh_size::rectangle(domain, fineness()?, degree, boundary),
        MeshSpec::Cells(cells) => {
            mesh_size::check_cells(cells, degree, domain)?;
            TriangleMesh::rectangle(domain, cells[0], cells[1])
        }
        MeshSpec::Polygon(polygon) => mesh_size::polygon(polygon, fineness()?, degree, boundary),
        MeshSpec::Triangles { nodes, triangles } => {
            TriangleMesh::new(nodes.clone(), triangles.clone())
        }
        MeshSpec::Data => data_triangles(context),
        mesh => Err(cannot_mesh(mesh, 2)),
    }
}

fn cannot_mesh(mesh: &MeshSpec, dim: usize) -> Error {
    Error::Config(format!(
        "finite elements: {} cannot mesh a domain of dimension {dim}; \
         dimensions 1 (adaptive, box, cells, data, nodes) and 2 (adaptive, box, cells, data, polygon, \
         triangles) are supported",
        match mesh {
            MeshSpec::Adaptive(_) => "refinement",
            MeshSpec::Box | MeshSpec::Cells(_) => "a box",
            MeshSpec::Data => "the data",
            MeshSpec::Polygon(_) => "a polygon",
            MeshSpec::Nodes(_) => "a list of nodes",
            MeshSpec::Triangles { .. } => "a list of triangles",
        }
    ))
}

/// The data's points as a mesh needs them.
fn data_points(context: BuildContext<'_>) -> Result<&Points> {
    let dim = context.domain.dim();
    let points = context.points.ok_or_else(|| {
        Error::Config(
            "finite elements: mesh = \"data\" needs points shared by all samples; \
             these samples have points of their own, so give `functions` or `size`"
                .into(),
        )
    })?;
    if points.dim() != dim {
        return Err(Error::shape(
            "points of the finite elements' mesh",
            format!("(n, {dim})"),
            format!("({}, {})", points.len(), points.dim()),
        ));
    }
    Ok(points)
}

/// The data's own triangles.
fn data_triangles(context: BuildContext<'_>) -> Result<TriangleMesh> {
    let points = data_points(context)?;
    let triangles = context.triangles.ok_or_else(|| {
        Error::Config(
            "finite elements: mesh = \"data\" needs `triangles` in the data, on the very \
             points of this field; add them, or give a polygon or a box"
                .into(),
        )
    })?;
    let nodes = points.iter().map(|p| [p[0], p[1]]).collect();
    TriangleMesh::new(nodes, triangles.to_vec())
}

impl Basis for FiniteElements {
    fn family(&self) -> &'static str {
        FAMILY
    }

    fn len(&self) -> usize {
        self.len
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, FAMILY)?;
        let located: Vec<Option<(usize, [f64; 3])>> = (0..points.len())
            .into_par_iter()
            .map(|i| self.mesh.locate(points.point(i)))
            .collect();
        let mut elements = Vec::with_capacity(points.len());
        let mut shapes = Vec::with_capacity(points.len());
        for (index, found) in located.into_iter().enumerate() {
            let Some((element, local)) = found else {
                return Err(self.domain.outside(points, index, FAMILY));
            };
            elements.push(element);
            shapes.push(self.mesh.shape(self.settings.degree, local));
        }
        // Rows of elements without functions (all removed) belong to no block: they are zero.
        let mut groups = group_by_cell(&elements);
        groups.retain(|(e, _)| self.element_functions(*e).iter().any(Option::is_some));
        Ok(build_blocks(points.len(), self.len, groups, |e, rows| {
            let functions = self.element_functions(e);
            let kept: Vec<usize> = (0..functions.len())
                .filter(|&k| functions[k].is_some())
                .collect();
            let cols = functions.into_iter().flatten().collect();
            let values = Mat::from_fn(rows.len(), kept.len(), |r, c| shapes[rows[r]][kept[c]]);
            (cols, values)
        }))
    }

    fn describe(&self) -> String {
        let elements = match &self.mesh {
            Mesh::Interval(mesh) => format!("{} intervals", mesh.elements()),
            Mesh::Triangles(mesh, _) => format!("{} triangles", mesh.triangles().len()),
        };
        format!(
            "{} finite elements of degree {} on {elements}{}",
            self.len,
            u8::from(self.settings.degree),
            match self.settings.boundary {
                Boundary::Keep => "",
                Boundary::Remove => ", zero on the boundary",
            }
        )
    }
}

#[cfg(test)]
mod tests;
