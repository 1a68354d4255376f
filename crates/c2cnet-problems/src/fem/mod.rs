//! Finite elements on triangle meshes: the solver behind the problems on domains with holes and corners.
//!
//! Read in order: an [`Element`] and the rules that integrate over it, the [`Space`] of functions on a mesh,
//! [`mesh_with_nodes`] and [`graded_ring`] to make meshes, the forms and loads of the equations
//! ([`Diffusion`], [`PlaneStress`]), the [`Pattern`] of the matrix after Dirichlet conditions are
//! eliminated, the sparse Cholesky [`Solver`], and [`Darcy`], which has all of it for one equation.

mod darcy;
mod element;
mod forms;
mod mesh;
mod pattern;
mod solve;
mod space;

pub use darcy::Darcy;
pub use element::{Element, GAUSS_EDGE, Geometry, Quadrature};
pub use forms::{Diffusion, Form, LocalMatrix, PlaneStress, edge_points};
pub use mesh::{graded_ring, mesh_with_nodes};
pub use pattern::Pattern;
pub use solve::{Factor, Solver};
pub use space::{Sampling, Space};

#[cfg(test)]
mod tests;
