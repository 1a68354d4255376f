//! Integrals of products of the functions and of their gradients on triangles, and derivatives at points.

use super::elements::Mesh;
use super::{Degree, FAMILY, FiniteElements};
use crate::basis::Basis;
use crate::data::Points;
use crate::domain::TriangleMesh;
use crate::{Error, Result};
use faer::sparse::Triplet;

/// An entry of a sparse matrix; those at the same place are added.
pub(in crate::basis) type Entry = Triplet<usize, usize, f64>;

/// Functions that do not vanish at a point, with their gradients.
pub(in crate::basis) type AtPoint = Vec<(usize, [f64; 2])>;

/// Lower halves of $K_{ij} = \int\nabla\varphi_i\cdot\nabla\varphi_j$ and $M_{ij} = \int\varphi_i\varphi_j$.
pub(in crate::basis) struct Forms {
    pub stiffness: Vec<Entry>,
    pub mass: Vec<Entry>,
}

/// A triangle's area and the gradients of its barycentric coordinates.
struct Geometry {
    area: f64,
    gradients: [[f64; 2]; 3],
}

impl Geometry {
    fn of(mesh: &TriangleMesh, t: usize) -> Self {
        let [a, b, c] = mesh.corners(t);
        let twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let across = |p: [f64; 2], q: [f64; 2]| [(p[1] - q[1]) / twice, (q[0] - p[0]) / twice];
        Geometry {
            area: 0.5 * twice,
            gradients: [across(b, c), across(c, a), across(a, b)],
        }
    }

    /// Gradients of the functions of `degree` at barycentric coordinates, in the order of [`Mesh::shape`].
    fn shape_gradients(&self, degree: Degree, lambda: [f64; 3]) -> [[f64; 2]; 6] {
        let g = &self.gradients;
        let mut all = [[0.0; 2]; 6];
        for k in 0..3 {
            let next = (k + 1) % 3;
            for d in 0..2 {
                match degree {
                    Degree::Linear => all[k][d] = g[k][d],
                    Degree::Quadratic => {
                        all[k][d] = (4.0 * lambda[k] - 1.0) * g[k][d];
                        all[3 + k][d] = 4.0 * (lambda[k] * g[next][d] + lambda[next] * g[k][d]);
                    }
                }
            }
        }
        all
    }

    /// $\int\nabla\varphi_i\cdot\nabla\varphi_j$ over the triangle; the middles of edges are exact for degree 2.
    fn stiffness(&self, degree: Degree) -> [[f64; 6]; 6] {
        let mut all = [[0.0; 6]; 6];
        for middle in [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]] {
            let g = self.shape_gradients(degree, middle);
            for i in 0..6 {
                for j in 0..6 {
                    all[i][j] += self.area / 3.0 * (g[i][0] * g[j][0] + g[i][1] * g[j][1]);
                }
            }
        }
        all
    }

    /// $\int\varphi_i\varphi_j$ over the triangle.
    fn mass(&self, degree: Degree) -> [[f64; 6]; 6] {
        let mut all = [[0.0; 6]; 6];
        for i in 0..3 {
            for j in 0..3 {
                let same = i == j;
                match degree {
                    Degree::Linear => all[i][j] = if same { 2.0 } else { 1.0 } / 12.0,
                    Degree::Quadratic => {
                        all[i][j] = if same { 6.0 } else { -1.0 } / 180.0;
                        all[3 + i][3 + j] = if same { 32.0 } else { 16.0 } / 180.0;
                        // Edge j runs from corner j to the next one; corner j + 2 is opposite.
                        let opposite = if i == (j + 2) % 3 { -4.0 / 180.0 } else { 0.0 };
                        all[i][3 + j] = opposite;
                        all[3 + j][i] = opposite;
                    }
                }
            }
        }
        all.map(|row| row.map(|v| v * self.area))
    }
}

impl FiniteElements {
    fn mesh_in_the_plane(&self) -> Result<&TriangleMesh> {
        self.triangles().ok_or_else(|| {
            Error::Config(
                "finite elements: integrals are taken on triangles, not on intervals".into(),
            )
        })
    }

    /// The integrals of all pairs of functions.
    ///
    /// # Errors
    /// On an interval.
    pub(in crate::basis) fn forms(&self) -> Result<Forms> {
        let mesh = self.mesh_in_the_plane()?;
        let degree = self.settings.degree;
        let mut forms = Forms {
            stiffness: Vec::new(),
            mass: Vec::new(),
        };
        for t in 0..mesh.triangles().len() {
            let geometry = Geometry::of(mesh, t);
            let (stiffness, mass) = (geometry.stiffness(degree), geometry.mass(degree));
            let functions = self.element_functions(t);
            for (a, i) in functions.iter().enumerate() {
                for (b, j) in functions.iter().enumerate() {
                    if let (&Some(i), &Some(j)) = (i, j)
                        && i >= j
                    {
                        forms.stiffness.push(Triplet::new(i, j, stiffness[a][b]));
                        forms.mass.push(Triplet::new(i, j, mass[a][b]));
                    }
                }
            }
        }
        Ok(forms)
    }

    /// For each point the functions that do not vanish there, with their gradients. On an edge, where they jump,
    /// those of one of its triangles.
    ///
    /// # Errors
    /// If a point lies outside the mesh, or on an interval.
    pub(in crate::basis) fn gradients(&self, points: &Points) -> Result<Vec<AtPoint>> {
        let mesh = self.mesh_in_the_plane()?;
        self.domain().check(points, FAMILY)?;
        let at = |i: usize| {
            let Mesh::Triangles(_, locator) = &self.mesh else {
                unreachable!("a mesh in the plane");
            };
            let p = points.point(i);
            let (t, lambda) = locator
                .locate([p[0], p[1]])
                .ok_or_else(|| self.domain().outside(points, i, FAMILY))?;
            let g = Geometry::of(mesh, t).shape_gradients(self.settings.degree, lambda);
            let functions = self.element_functions(t).into_iter().enumerate();
            Ok(functions.filter_map(|(k, f)| Some((f?, g[k]))).collect())
        };
        (0..points.len()).map(at).collect()
    }
}
