//! The domains of functions: intervals, polygons with holes, their meshes, and finding points in them.

pub(crate) mod bisection;
mod delaunay;
mod interval_mesh;
pub(crate) mod locate;
pub(crate) mod polygon;
mod rim;
mod triangulation;

pub(crate) use bisection::RefinableMesh;
pub(crate) use interval_mesh::IntervalMesh;
pub(crate) use locate::Locator;
pub use polygon::Polygon;
#[cfg(test)]
pub(crate) use polygon::{circle_ring, rectangle_ring};
pub use triangulation::TriangleMesh;
