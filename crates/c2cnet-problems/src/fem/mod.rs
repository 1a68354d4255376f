//! Finite elements on triangle meshes: the solver behind the problems on domains with holes and corners.
//!
//! Read in order: an [`Element`] and the rules that integrate over it, the degrees of freedom of a mesh.

mod element;

pub use element::{Element, GAUSS_EDGE, Geometry, Quadrature};
