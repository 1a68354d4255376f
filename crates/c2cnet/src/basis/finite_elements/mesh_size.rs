//! From what a user asks for, a number of functions or a size, to a mesh.

use super::spec::{Boundary, Degree};
use crate::data::Bounds;
use crate::domain::{IntervalMesh, Polygon, TriangleMesh};
use crate::{Error, Result};

/// More functions than this are almost certainly a mistake.
const MOST_FUNCTIONS: usize = 5_000_000;

/// How fine a mesh shall be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fineness {
    /// About this many functions.
    Functions(usize),
    /// Edges of about this length.
    Size(f64),
}

impl Fineness {
    pub(super) fn new(functions: Option<usize>, size: Option<f64>) -> Result<Self> {
        let wrong = |reason: String| Err(Error::Config(format!("finite elements: {reason}")));
        match (functions, size) {
            (Some(n), None) if (1..=MOST_FUNCTIONS).contains(&n) => Ok(Fineness::Functions(n)),
            (Some(n), None) => wrong(format!(
                "functions = {n} must lie between 1 and {MOST_FUNCTIONS}"
            )),
            (None, Some(size)) if size > 0.0 && size.is_finite() => Ok(Fineness::Size(size)),
            (None, Some(size)) => wrong(format!("size = {size} must be positive")),
            (Some(_), Some(_)) => wrong("give `functions` or `size`, not both".into()),
            (None, None) => wrong("give `functions` (about how many) or `size`".into()),
        }
    }
}

/// How many functions `elements` equal elements in a row carry: $pn \pm 1$.
pub(super) fn row_count(elements: usize, degree: Degree, boundary: Boundary) -> usize {
    let inner = elements.saturating_mul(usize::from(u8::from(degree)));
    match boundary {
        Boundary::Keep => inner.saturating_add(1),
        Boundary::Remove => inner - 1,
    }
}

/// How many functions a triangle mesh carries.
pub(super) fn mesh_count(mesh: &TriangleMesh, degree: Degree, boundary: Boundary) -> usize {
    let kept = |all: usize, on_boundary: usize| match boundary {
        Boundary::Keep => all,
        Boundary::Remove => all - on_boundary,
    };
    let nodes = kept(mesh.nodes().len(), mesh.boundary_nodes().len());
    match degree {
        Degree::Linear => nodes,
        Degree::Quadratic => nodes + kept(mesh.edges().len(), mesh.boundary_edges().len()),
    }
}

/// Elements of length `size` along a side, rounded up.
fn elements_of_size(width: f64, size: f64) -> Result<usize> {
    // A size that divides the side up to rounding shall not give one element more.
    let elements = (width / size - 1e-9).ceil().max(1.0);
    if elements > MOST_FUNCTIONS as f64 {
        return Err(Error::Config(format!(
            "finite elements: size = {size} cuts a side of length {width} into {elements:.0} elements; \
             at most {MOST_FUNCTIONS} are allowed"
        )));
    }
    Ok(elements as usize)
}

/// One number of cells per axis, none zero, on a box that is not flat.
pub(super) fn check_cells(cells: &[usize], degree: Degree, domain: &Bounds) -> Result<()> {
    let wrong = |reason: String| Err(Error::Config(format!("finite elements: {reason}")));
    if cells.len() != domain.dim() {
        return wrong(format!(
            "cells = {cells:?} must have an entry for each of the {} axes",
            domain.dim()
        ));
    }
    if cells.contains(&0) {
        return wrong(format!(
            "cells = {cells:?} must be at least 1 along each axis"
        ));
    }
    let along = |n: &usize| row_count(*n, degree, Boundary::Keep);
    if cells.iter().map(along).fold(1, usize::saturating_mul) > MOST_FUNCTIONS {
        return wrong(format!(
            "cells = {cells:?} are too many; at most {MOST_FUNCTIONS} functions are allowed"
        ));
    }
    if (0..domain.dim()).any(|k| domain.width(k) <= 0.0) {
        return wrong(format!("the domain {domain} is flat"));
    }
    Ok(())
}

/// Equal elements on an interval.
pub(super) fn interval(
    domain: &Bounds,
    fineness: Fineness,
    degree: Degree,
    boundary: Boundary,
) -> Result<IntervalMesh> {
    let elements = match fineness {
        Fineness::Size(size) => elements_of_size(domain.width(0), size)?,
        Fineness::Functions(wanted) => nearest_row(wanted as f64, degree, boundary),
    };
    IntervalMesh::uniform(domain.lower(0), domain.upper(0), elements)
}

/// The number of elements whose [`row_count`] is nearest to `wanted`.
fn nearest_row(wanted: f64, degree: Degree, boundary: Boundary) -> usize {
    let first = match boundary {
        Boundary::Keep => wanted - 1.0,
        Boundary::Remove => wanted + 1.0,
    };
    (first / f64::from(u8::from(degree))).round().max(1.0) as usize
}

/// Equal cells on a rectangle.
///
/// For a number of functions the cells minimise
/// $$|\mathrm{count}/\mathrm{wanted} - 1| + \tfrac1{10}\,|\log(h_x/h_y)|,$$
/// so that cells are near squares and the count near the wanted one.
pub(super) fn rectangle(
    domain: &Bounds,
    fineness: Fineness,
    degree: Degree,
    boundary: Boundary,
) -> Result<TriangleMesh> {
    let [width, height] = [domain.width(0), domain.width(1)];
    if !(width > 0.0 && height > 0.0) {
        return Err(Error::Config(format!(
            "finite elements: the domain {domain} is flat; triangles need an area"
        )));
    }
    let (nx, ny) = match fineness {
        Fineness::Size(size) => (
            elements_of_size(width, size)?,
            elements_of_size(height, size)?,
        ),
        Fineness::Functions(wanted) => {
            let wanted = wanted as f64;
            let most = nearest_row(wanted, degree, boundary);
            let mut best = (f64::INFINITY, 1, 1);
            for nx in 1..=most {
                let row = row_count(nx, degree, boundary);
                if row == 0 {
                    continue;
                }
                let ny = nearest_row(wanted / row as f64, degree, boundary);
                let count = row as f64 * row_count(ny, degree, boundary) as f64;
                let aspect = (width / nx as f64 / (height / ny as f64)).ln().abs();
                let cost = (count / wanted - 1.0).abs() + 0.1 * aspect;
                if cost < best.0 {
                    best = (cost, nx, ny);
                }
            }
            (best.1, best.2)
        }
    };
    if nx.saturating_mul(ny) > MOST_FUNCTIONS {
        return Err(Error::Config(format!(
            "finite elements: {nx} x {ny} cells on {domain} are too many; give a larger `size`"
        )));
    }
    TriangleMesh::rectangle(domain, nx, ny)
}

/// Triangles that fill a polygon; for a number of functions the size is found by bisection.
///
/// A polygon with many corners cannot have few functions: more than a tenth too many is an error.
pub(super) fn polygon(
    polygon: &Polygon,
    fineness: Fineness,
    degree: Degree,
    boundary: Boundary,
) -> Result<TriangleMesh> {
    let wanted = match fineness {
        Fineness::Size(size) => return TriangleMesh::constrained_delaunay(polygon, size),
        Fineness::Functions(wanted) => wanted,
    };
    let mut search = Search {
        polygon,
        degree,
        boundary,
        wanted,
        best: None,
    };
    // The count falls as the size grows, up to small jumps.
    let mut size = (polygon.area() / wanted as f64).sqrt() * f64::from(u8::from(degree));
    let (mut small, mut large) = (size, size);
    while search.try_size(large)? > wanted {
        small = large;
        large *= 1.4;
        // Past this the corners alone decide, and the count no longer falls.
        if large * large > 100.0 * polygon.area() {
            break;
        }
    }
    while search.try_size(small)? < wanted {
        large = large.min(small);
        small /= 1.4;
    }
    for _ in 0..40 {
        if search.is_close() {
            break;
        }
        size = (small * large).sqrt();
        if search.try_size(size)? > wanted {
            small = size;
        } else {
            large = size;
        }
    }
    // Jumps can leave the bisection beside the mark; look around it.
    for k in 1..=20 {
        for direction in [-1.0, 1.0] {
            if !search.is_close() {
                search.try_size(size * (1.0 + direction * 0.004 * f64::from(k)))?;
            }
        }
    }
    match search.best {
        Some((count, mesh)) if 10 * count <= 11 * wanted + 10 => Ok(mesh),
        best => Err(Error::Config(format!(
            "finite elements: functions = {wanted} is too few for this polygon, whose {} corners are all nodes: \
             the nearest mesh has {}; ask for that or simplify the rings",
            polygon.rings().map(<[_]>::len).sum::<usize>(),
            best.map_or(0, |b| b.0)
        ))),
    }
}

struct Search<'a> {
    polygon: &'a Polygon,
    degree: Degree,
    boundary: Boundary,
    wanted: usize,
    best: Option<(usize, TriangleMesh)>,
}

impl Search<'_> {
    fn try_size(&mut self, size: f64) -> Result<usize> {
        let mesh = TriangleMesh::constrained_delaunay(self.polygon, size)?;
        let count = mesh_count(&mesh, self.degree, self.boundary);
        let off = |count: usize| count.abs_diff(self.wanted);
        if count > 0 && self.best.as_ref().is_none_or(|b| off(count) < off(b.0)) {
            self.best = Some((count, mesh));
        }
        Ok(count)
    }

    /// Within half a percent.
    fn is_close(&self) -> bool {
        self.best
            .as_ref()
            .is_some_and(|b| 200 * b.0.abs_diff(self.wanted) <= self.wanted)
    }
}
