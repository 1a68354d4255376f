//! Eigenfunctions on triangles, as combinations of quadratic finite elements.

use super::{Condition, LaplaceMesh, LaplaceSpec, eigen};
use crate::basis::finite_elements::{Boundary, Degree, MeshSpec};
use crate::basis::{Basis, BuildContext, Design, FiniteElements, FiniteElementsSpec};
use crate::data::Points;
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// Elements per eigenfunction: about seven nodes per wavelength of the last one.
const ELEMENTS_PER_FUNCTION: usize = 16;

/// Elements at least.
const FEWEST_ELEMENTS: usize = 2000;

/// Combinations $\sum_i V_{ij}\varphi_i$ of finite elements.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct OnMesh {
    elements: FiniteElements,
    /// $V$, orthonormal in the inner product of the mass matrix.
    #[serde(with = "tensor")]
    vectors: Mat<f64>,
    #[serde(with = "tensor")]
    pub(super) eigenvalues: Vec<f64>,
}

restore_settled!(OnMesh);

impl OnMesh {
    pub(super) fn new(spec: &LaplaceSpec, context: BuildContext<'_>) -> Result<Self> {
        let given = |what: &str| match spec.elements {
            None => Ok(None),
            Some(elements) => Err(Error::Config(format!(
                "laplace: {what} decides how many elements there are; remove `elements = {elements}`"
            ))),
        };
        let wanted = spec.elements.unwrap_or_else(|| {
            let enough = ELEMENTS_PER_FUNCTION.saturating_mul(spec.functions);
            enough.max(FEWEST_ELEMENTS)
        });
        let (mesh, functions) = match &spec.mesh {
            LaplaceMesh::Box => unreachable!("boxes need no mesh"),
            LaplaceMesh::Data => (MeshSpec::Data, given("the data's mesh")?),
            LaplaceMesh::Polygon(polygon) => (MeshSpec::Polygon(polygon.clone()), Some(wanted)),
            LaplaceMesh::Triangles { nodes, triangles } => {
                let (nodes, triangles) = (nodes.clone(), triangles.clone());
                (
                    MeshSpec::Triangles { nodes, triangles },
                    given("a list of triangles")?,
                )
            }
        };
        let elements = FiniteElements::new(
            &FiniteElementsSpec {
                functions,
                boundary: match spec.condition {
                    Condition::Neumann => Boundary::Keep,
                    Condition::Dirichlet => Boundary::Remove,
                },
                slack: spec.slack,
                ..FiniteElementsSpec::on(Degree::Quadratic, mesh)
            },
            context,
        )
        .map_err(|e| e.within("laplace"))?;
        let most = elements.len() / 2;
        if spec.functions == 0 || spec.functions > most {
            return Err(Error::Config(format!(
                "laplace: functions = {} must lie between 1 and {most}, half of the mesh's {} quadratic elements: \
                 others are not resolved; ask for fewer, or give a finer mesh",
                spec.functions,
                elements.len()
            )));
        }
        let (eigenvalues, vectors) =
            eigen::smallest(&elements.forms()?, elements.len(), spec.functions)?;
        Ok(OnMesh {
            elements,
            vectors,
            eigenvalues,
        })
    }

    fn settle(&mut self) -> Result<()> {
        let expected = (self.elements.len(), self.eigenvalues.len());
        match self.vectors.shape() == expected && expected.1 > 0 {
            true => Ok(()),
            false => Err(Error::Data("the model's Laplace basis is damaged".into())),
        }
    }

    pub(super) fn elements(&self) -> &FiniteElements {
        &self.elements
    }

    /// The largest entry of $V^\top MV - I$.
    #[cfg(test)]
    pub(super) fn deviation_from_orthonormal(&self) -> f64 {
        let mut gram = -Mat::<f64>::identity(self.vectors.ncols(), self.vectors.ncols());
        for entry in self.elements.forms().expect("triangles").mass {
            let (a, b) = (self.vectors.row(entry.row), self.vectors.row(entry.col));
            gram += a.transpose() * b * faer::Scale(entry.val);
            if entry.row != entry.col {
                gram += b.transpose() * a * faer::Scale(entry.val);
            }
        }
        gram.norm_max()
    }

    pub(super) fn evaluate(&self, points: &Points) -> Result<Design> {
        let elements = self.elements.evaluate(points)?;
        Ok(Design::Dense(elements.mul(self.vectors.as_ref())))
    }

    /// Derivatives along both axes.
    pub(super) fn gradient(&self, points: &Points) -> Result<Vec<Mat<f64>>> {
        let at_points = self.elements.gradients(points)?;
        let along = |d: usize| {
            Mat::from_fn(points.len(), self.vectors.ncols(), |i, j| {
                let terms = at_points[i].iter();
                terms.map(|&(f, g)| g[d] * self.vectors[(f, j)]).sum()
            })
        };
        Ok((0..2).map(along).collect())
    }
}
