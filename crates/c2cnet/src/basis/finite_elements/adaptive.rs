//! Elements that are small where training fields need it: estimate, mark, refine.
//!
//! On the mesh at hand the fields $u_s$ are fitted at the points by least squares. What is left at
//! a point, had the fit not seen it, is $r_i / (1 - h_i)$ with the residual $r_i$ and the leverage
//! $h_i = \varphi(x_i)^\top A^{-1} \varphi(x_i)$: every point is withheld in turn at the cost of one
//! fit. An element is charged with
//! $$ \eta_T = \sum_{x_i \in T} \sum_s \frac{r_{is}^2}{(1 - h_i)^2\, \lVert u_s \rVert^2}, $$
//! the elements with half of the sum are cut in two, and so on. An element whose parts would hold too
//! few points to fit their functions is not cut.

use super::elements::Mesh;
use super::mesh_size::{self, Fineness, mesh_count};
use super::spec::{AdaptiveStart, Degree};
use super::{FiniteElements, Settings};
use crate::basis::{Basis, BuildContext, Design};
use crate::data::{Bounds, Points};
use crate::domain::{IntervalMesh, Polygon, RefinableMesh};
use crate::error::counted;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};

/// The marked elements have this part of the whole estimate (Dörfler's criterion).
const BULK: f64 = 0.5;

/// At least one element in 16 is marked, so that few steps lead to any number of functions.
const FEWEST_MARKED: usize = 16;

/// Samples that are looked at, at equal distances: a few hundred show where residuals are.
const MOST_SAMPLES: usize = 256;

/// The start has about one function in 16.
const START: usize = 16;

/// Differences of an element's coefficients are penalised with this, relative to the mean of the
/// normal matrix's diagonal: functions that no point sees get the mean of those beside them.
const PENALTY: f64 = 1e-9;

/// The least part of a residual that a point may have had no influence on; less is rounding.
const LEAST_UNSEEN: f64 = 1e-6;

/// Squared residuals below this, relative to the fields, are rounding and the penalty's doing.
const ROUNDING: f64 = 1e-18;

/// How far beyond the mesh points may lie at a curved rim, in sizes of an element.
const CURVED_SLACK: f64 = 0.25;

/// The basis with about `wanted` functions, fewer where the data does not support as many.
pub(super) fn build(
    start: &AdaptiveStart,
    wanted: usize,
    mut settings: Settings,
    context: BuildContext<'_>,
) -> Result<FiniteElements> {
    let (Some(points), Some(values)) = (context.points, context.values) else {
        return Err(Error::Config(
            "finite elements: an adaptive mesh is made from training values at points shared by all \
             samples, which this field does not have; give another `mesh`"
                .into(),
        ));
    };
    let fields = scaled_fields(values);
    let mut mesh = starting_mesh(start, wanted, settings, context)?;
    if let Refinable::Triangles(triangles) = &mesh
        && triangles.is_curved()
    {
        settings.slack = settings.slack.max(CURVED_SLACK);
    }
    let mut best: Option<(f64, FiniteElements)> = None;
    loop {
        let basis = mesh.basis(settings)?;
        let estimate = Estimate::new(&basis, points, fields.as_ref())?;
        let full = basis.len() >= wanted;
        let next = estimate.marked(&mesh.refinable(&estimate, settings.degree));
        if best
            .as_ref()
            .is_none_or(|(least, _)| estimate.total < *least)
        {
            best = Some((estimate.total, basis));
        }
        if full || next.is_empty() || estimate.total <= ROUNDING * fields.ncols() as f64 {
            break;
        }
        let Some(refined) = mesh.refined_up_to(&next, wanted, settings)? else {
            break;
        };
        mesh = refined;
    }
    Ok(best.expect("the first mesh was estimated").1)
}

/// Some of the fields, each divided by its norm; those that vanish are left out.
fn scaled_fields(values: MatRef<'_, f64>) -> Mat<f64> {
    let norms = linalg::column_norms_squared(values);
    let nonzero: Vec<usize> = (0..norms.len()).filter(|&s| norms[s] > 0.0).collect();
    let count = nonzero.len().min(MOST_SAMPLES);
    let chosen: Vec<usize> = (0..count)
        .map(|k| nonzero[k * nonzero.len() / count])
        .collect();
    Mat::from_fn(values.nrows(), count, |i, k| {
        values[(i, chosen[k])] / norms[chosen[k]].sqrt()
    })
}

/// A mesh with the means to refine it.
enum Refinable {
    Interval(IntervalMesh),
    Triangles(RefinableMesh),
}

fn starting_mesh(
    start: &AdaptiveStart,
    wanted: usize,
    settings: Settings,
    context: BuildContext<'_>,
) -> Result<Refinable> {
    let Settings {
        degree, boundary, ..
    } = settings;
    // Two elements along an axis have a function inside.
    let few = Fineness::Functions((wanted / START).max(9));
    let dim = context.domain.dim();
    match (start, dim) {
        (AdaptiveStart::Box, 1) => {
            let mesh = mesh_size::interval(context.domain, few, degree, boundary)?;
            Ok(Refinable::Interval(mesh))
        }
        (AdaptiveStart::Box, 2) => {
            let mesh = mesh_size::rectangle(context.domain, few, degree, boundary)?;
            Ok(Refinable::Triangles(RefinableMesh::new(&mesh)?))
        }
        (AdaptiveStart::Data, 1) => {
            let points = context.points.expect("checked before");
            let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
            for p in points.iter() {
                (lower, upper) = (lower.min(p[0]), upper.max(p[0]));
            }
            let domain = Bounds::new(vec![[lower, upper]])?;
            let mesh = mesh_size::interval(&domain, few, degree, boundary)?;
            Ok(Refinable::Interval(mesh))
        }
        (AdaptiveStart::Data, 2) => coarse_polygon(
            &Polygon::filled_by(&super::data_triangles(context)?)?,
            wanted,
            settings,
        ),
        (AdaptiveStart::Polygon(polygon), 2) => coarse_polygon(polygon, wanted, settings),
        _ => Err(Error::Config(format!(
            "finite elements: this adaptive mesh cannot be made in {}; 1 (box, data) and 2 (box, data, polygon) are \
             supported",
            counted(dim, "dimension")
        ))),
    }
}

/// A mesh of few triangles; halving the size until there is a function.
fn coarse_polygon(polygon: &Polygon, wanted: usize, settings: Settings) -> Result<Refinable> {
    let per_function = START as f64 * polygon.area() / wanted as f64;
    let mut size = f64::from(u8::from(settings.degree)) * per_function.sqrt();
    loop {
        let mesh = RefinableMesh::of_polygon(polygon, size)?;
        if mesh_count(mesh.mesh(), settings.degree, settings.boundary) > 0 {
            return Ok(Refinable::Triangles(mesh));
        }
        size *= 0.5;
    }
}

impl Refinable {
    fn basis(&self, settings: Settings) -> Result<FiniteElements> {
        match self {
            Refinable::Interval(mesh) => {
                FiniteElements::from_settings(Mesh::Interval(mesh.clone()), settings)
            }
            Refinable::Triangles(mesh) => {
                FiniteElements::from_triangles(mesh.mesh().clone(), settings)
            }
        }
    }

    fn bisected(&self, marked: &[usize]) -> Result<Self> {
        Ok(match self {
            Refinable::Interval(mesh) => Refinable::Interval(mesh.bisected(marked)?),
            Refinable::Triangles(mesh) => Refinable::Triangles(mesh.bisected(marked)?),
        })
    }

    fn count(
        &self,
        Settings {
            degree, boundary, ..
        }: Settings,
    ) -> usize {
        match self {
            Refinable::Interval(mesh) => mesh_size::row_count(mesh.elements(), degree, boundary),
            Refinable::Triangles(mesh) => mesh_count(mesh.mesh(), degree, boundary),
        }
    }

    /// The elements whose two parts would hold enough points for their functions.
    fn refinable(&self, estimate: &Estimate, degree: Degree) -> Vec<bool> {
        let needed = match (self, degree) {
            (Refinable::Interval(_), Degree::Linear) => 2,
            (Refinable::Interval(_), Degree::Quadratic) => 3,
            (Refinable::Triangles(_), Degree::Linear) => 2,
            (Refinable::Triangles(_), Degree::Quadratic) => 4,
        };
        let enough = |parts: &[usize; 2]| parts.iter().all(|&n| n >= needed);
        estimate.parts.iter().map(enough).collect()
    }

    /// Refines as many of the first `marked` elements as lead to at most `wanted` functions; none if
    /// the first is one too many or nothing can be cut.
    fn refined_up_to(
        &self,
        marked: &[usize],
        wanted: usize,
        settings: Settings,
    ) -> Result<Option<Self>> {
        let all = self.bisected(marked)?;
        if all.count(settings) == self.count(settings) {
            return Ok(None);
        }
        if all.count(settings) <= wanted {
            return Ok(Some(all));
        }
        // More marked elements never give a coarser mesh.
        let (mut fits, mut exceeds) = (0, marked.len());
        let mut best = None;
        while exceeds - fits > 1 {
            let half = (fits + exceeds) / 2;
            let refined = self.bisected(&marked[..half])?;
            if refined.count(settings) <= wanted {
                fits = half;
                best = Some(refined);
            } else {
                exceeds = half;
            }
        }
        Ok(best)
    }
}

/// What a fit leaves, element by element.
struct Estimate {
    /// $\eta_T$.
    elements: Vec<f64>,
    /// How many points lie in either part that bisection would make.
    parts: Vec<[usize; 2]>,
    total: f64,
}

impl Estimate {
    fn new(basis: &FiniteElements, points: &Points, fields: MatRef<'_, f64>) -> Result<Self> {
        let design = basis.evaluate(points)?;
        let left = withheld_residuals(basis, &design, fields)?;
        let count = match &basis.mesh {
            Mesh::Interval(mesh) => mesh.elements(),
            Mesh::Triangles(mesh, _) => mesh.triangles().len(),
        };
        let mut elements = vec![0.0; count];
        let mut parts = vec![[0, 0]; count];
        for (i, point) in points.iter().enumerate() {
            // Every point was found when the functions were evaluated.
            let Some((element, local)) = basis.mesh.locate(point) else {
                continue;
            };
            elements[element] += left[i];
            let second = match &basis.mesh {
                Mesh::Interval(_) => local[0] >= 0.5,
                Mesh::Triangles(..) => local[1] > local[0],
            };
            parts[element][usize::from(second)] += 1;
        }
        Ok(Estimate {
            elements,
            parts,
            total: left.iter().sum(),
        })
    }

    /// Elements to be refined among those that can be, the worst first.
    fn marked(&self, refinable: &[bool]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..refinable.len())
            .filter(|&t| refinable[t] && self.elements[t] > 0.0)
            .collect();
        order.sort_by(|&s, &t| {
            self.elements[t]
                .total_cmp(&self.elements[s])
                .then(s.cmp(&t))
        });
        let whole: f64 = order.iter().map(|&t| self.elements[t]).sum();
        let mut sum = 0.0;
        let bulk = order.iter().take_while(|&&t| {
            let needed = sum < BULK * whole;
            sum += self.elements[t];
            needed
        });
        let count = bulk.count().max(refinable.len().div_ceil(FEWEST_MARKED));
        order.truncate(count);
        order
    }
}

/// $\sum_s r_{is}^2/(1 - h_i)^2$ at each point $i$.
fn withheld_residuals(
    basis: &FiniteElements,
    design: &Design,
    fields: MatRef<'_, f64>,
) -> Result<Vec<f64>> {
    let Design::Blocks(blocks) = design else {
        unreachable!("elements give blocks");
    };
    let m = basis.len();
    let mut normal = Mat::<f64>::zeros(m, m);
    let mut right = Mat::<f64>::zeros(m, fields.ncols());
    for block in blocks.blocks() {
        let gram = linalg::mul_seq(block.values.transpose(), block.values.as_ref());
        let seen = linalg::select_rows(fields, &block.rows);
        let moments = linalg::mul_seq(block.values.transpose(), seen.as_ref());
        for (c, &j) in block.cols.iter().enumerate() {
            for (r, &i) in block.cols.iter().enumerate() {
                normal[(i, j)] += gram[(r, c)];
            }
            for s in 0..fields.ncols() {
                right[(j, s)] += moments[(c, s)];
            }
        }
    }
    let mean = (0..m).map(|j| normal[(j, j)]).sum::<f64>() / m as f64;
    penalise_differences(basis, PENALTY * mean, &mut normal);
    if !linalg::cholesky_in_place(normal.as_mut()) {
        return Err(Error::Numerical(format!(
            "finite elements: fitting {m} functions at {} points to refine the mesh failed; \
             perhaps no point lies in their support",
            design.nrows()
        )));
    }
    linalg::cholesky_solve_in_place(normal.as_ref(), right.as_mut());
    let mut inverse = Mat::<f64>::identity(m, m);
    linalg::cholesky_solve_in_place(normal.as_ref(), inverse.as_mut());
    let mut residuals = fields - design.mul(right.as_ref());
    for block in blocks.blocks() {
        for (r, &i) in block.rows.iter().enumerate() {
            let mut leverage = 0.0;
            for (c, &j) in block.cols.iter().enumerate() {
                for (d, &k) in block.cols.iter().enumerate() {
                    leverage += block.values[(r, c)] * inverse[(j, k)] * block.values[(r, d)];
                }
            }
            let unseen = (1.0 - leverage).max(LEAST_UNSEEN);
            for s in 0..fields.ncols() {
                residuals[(i, s)] /= unseen;
            }
        }
    }
    let squares = |i: usize| residuals.row(i).iter().map(|r| r * r).sum();
    Ok((0..fields.nrows()).map(squares).collect())
}

/// Adds `weight` times $\sum_T \sum_{j \in T} (c_j - \bar c_T)^2$; functions left out have $c = 0$.
fn penalise_differences(basis: &FiniteElements, weight: f64, normal: &mut Mat<f64>) {
    let elements = match &basis.mesh {
        Mesh::Interval(mesh) => mesh.elements(),
        Mesh::Triangles(mesh, _) => mesh.triangles().len(),
    };
    for element in 0..elements {
        let functions = basis.element_functions(element);
        let share = weight / functions.len() as f64;
        for &i in functions.iter().flatten() {
            normal[(i, i)] += weight;
            for &j in functions.iter().flatten() {
                normal[(i, j)] -= share;
            }
        }
    }
}

#[cfg(test)]
mod tests;
