//! The latent points of a layered map, and the basis at them.

use super::spaces::triangles_on;
use super::{Context, Inputs, Outputs};
use crate::basis::{BasisSpec, BuildContext, FieldBasis, LaplaceMesh, LaplaceSpec};
use crate::data::{Bounds, Field, Fields, Observations, Points, TensorGrid};
use crate::map::layered::{Elsewhere, Functions, Latent, ValuesAtPoints};
use crate::map::{LayeredOutputs, LayeredSpec};
use crate::operator::stack;
use crate::{Error, Result, linalg};
use faer::Mat;

/// Where samples have their own points, latent points are chosen among this many times as many.
const CANDIDATES: usize = 8;

/// The latent points and basis of the layers that `spec` describes, for these inputs and outputs, and the truth at these
/// points if layers learn it. `fields` are the outputs of all samples and images.
///
/// # Errors
/// If an output has no points, or inputs are not defined where outputs are.
pub(super) fn latent(
    context: &Context<'_>,
    inputs: &Inputs,
    outputs: &Outputs,
    fields: &Fields,
    spec: &LayeredSpec,
) -> Result<(Latent, Option<ValuesAtPoints>)> {
    let ((_, decoder), (_, field)) = (&outputs.decoders[0], &context.train.outputs[0]);
    if field.is_vector() {
        return Err(Error::Config(
            "layered: the first output is a vector without points; layers only predict functions; choose another map".into(),
        ));
    }
    let domain = decoder.basis().parts()[0].components()[0].domain();
    let (points, rows) = latent_points(field, domain, spec.points)?;
    let triangles = triangles_on(context.train, field);
    let basis = spec.basis.clone().unwrap_or_else(|| {
        let mesh = match triangles {
            Some(_) => LaplaceMesh::Data,
            None => LaplaceMesh::Box,
        };
        let functions = spec.functions.min(points.len());
        BasisSpec::from(LaplaceSpec::on(mesh, functions))
    });
    let basis = basis.build(BuildContext {
        domain,
        points: field.shared_points(),
        values: None,
        triangles,
    })?;
    let wrapped = basis.domain().wrapped(&points);
    let by_axes = basis.by_axes(&wrapped)?;
    let functions = match by_axes.as_ref().and_then(Functions::on_grid) {
        Some(functions) => functions,
        None => Functions::at_points(&basis.evaluate(&wrapped)?.to_dense())?,
    };
    let values = match (spec.outputs, rows) {
        (LayeredOutputs::Points, Some(rows)) => values_at(&points, &rows, outputs, fields)?,
        _ => None,
    };
    let elsewhere = match values {
        Some(_) => {
            let basis = FieldBasis::separate(vec![basis])?;
            Some(Elsewhere::new(basis, &functions, &points)?)
        }
        None => None,
    };
    let latent = Latent::new(&points, functions, &inputs.encoders, &outputs.decoders)?;
    let latent = match elsewhere {
        Some(elsewhere) => latent.with_elsewhere(elsewhere),
        None => latent,
    };
    Ok((latent, values))
}

/// The outputs at latent points, which are these `rows` of the points of the first one; `None` if another output is not
/// known there.
fn values_at(
    points: &Points,
    rows: &[usize],
    outputs: &Outputs,
    fields: &Fields,
) -> Result<Option<ValuesAtPoints>> {
    let (mut kept, mut values, mut spaces) = (Vec::new(), Vec::new(), Vec::new());
    let mut components = 0;
    let common = fields[0].1.shared_points();
    for ((_, decoder), (_, field)) in outputs.decoders.iter().zip(fields) {
        let Observations::Shared {
            points: own,
            values: of_output,
        } = field.observations()
        else {
            return Ok(None);
        };
        if decoder.vector().is_some() || Some(own) != common {
            return Ok(None);
        }
        let withheld = decoder.withheld().of_sample(0);
        let fitted: Vec<usize> = (0..rows.len())
            .filter(|&p| withheld.binary_search(&rows[p]).is_err())
            .collect();
        let at: Vec<usize> = fitted.iter().map(|&p| rows[p]).collect();
        for component in of_output {
            kept.extend(fitted.iter().map(|p| components * rows.len() + p));
            values.push(linalg::select_rows(component.as_ref(), &at));
            components += 1;
        }
        spaces.push((decoder.design_at(points, false)?, fitted, of_output.len()));
    }
    Ok(Some(ValuesAtPoints {
        space: diagonal(&spaces, rows.len()),
        rows: kept,
        values: stack(&values),
    }))
}

/// Output spaces at the fitted points among `points`, outputs along the diagonal.
fn diagonal(spaces: &[(Mat<f64>, Vec<usize>, usize)], points: usize) -> Mat<f64> {
    let height =
        |(_, fitted, components): &(Mat<f64>, Vec<usize>, usize)| fitted.len() * components;
    let columns = spaces.iter().map(|(space, ..)| space.ncols()).sum();
    let mut all = Mat::zeros(spaces.iter().map(height).sum(), columns);
    let (mut row, mut column) = (0, 0);
    for (space, fitted, components) in spaces {
        let chosen: Vec<usize> = (0..*components)
            .flat_map(|c| fitted.iter().map(move |p| c * points + p))
            .collect();
        let block = linalg::select_rows(space.as_ref(), &chosen);
        let (n, m) = block.shape();
        { all.as_mut().submatrix_mut(row, column, n, m) }.copy_from(block);
        (row, column) = (row + n, column + m);
    }
    all
}

/// The output's own points, including withheld ones (without their values), because transforms on complete grids work
/// axis by axis. At most `wanted` of them: fewer lines of a grid, else a well-spread subset.
///
/// With their numbers among the points of the output, if all samples share them.
fn latent_points(
    field: &Field,
    domain: &Bounds,
    wanted: usize,
) -> Result<(Points, Option<Vec<usize>>)> {
    let Some(points) = field.shared_points() else {
        let all = points_of_samples(field, wanted)?;
        return Ok((all.select(&spread(&all, wanted)), None));
    };
    let rows = match TensorGrid::new(points) {
        Some(grid) => fewer_lines(points, &grid, domain, wanted),
        None => spread(points, wanted),
    };
    Ok((points.select(&rows), Some(rows)))
}

/// The crossings of some lines along each axis, in order, about as many as wanted at most. Along periodic axes every
/// second line, or third, ..., where that is possible, so that steps stay equal.
fn fewer_lines(points: &Points, grid: &TensorGrid, domain: &Bounds, wanted: usize) -> Vec<usize> {
    let dim = grid.axes.len() as f64;
    let part = (wanted as f64 / points.len() as f64)
        .powf(1.0 / dim)
        .min(1.0);
    let kept: Vec<Vec<usize>> = grid
        .axes
        .iter()
        .enumerate()
        .map(|(k, axis)| {
            let count = ((axis.len() as f64 * part + 1e-9) as usize).clamp(2, axis.len());
            let step = axis.len().div_ceil(count);
            if domain.is_periodic(k) && axis.len().is_multiple_of(step) {
                return (0..axis.len()).step_by(step).collect();
            }
            let line = |i: usize| i * (axis.len() - 1) / (count - 1);
            (0..count).map(line).collect()
        })
        .collect();
    let mut crossings = vec![0];
    for (axis, lines) in grid.axes.iter().zip(&kept) {
        let at = |c: &usize| {
            lines
                .iter()
                .map(move |l| c * axis.len() + l)
                .collect::<Vec<_>>()
        };
        crossings = crossings.iter().flat_map(at).collect();
    }
    let point = |c: usize| grid.order.as_ref().map_or(c, |order| order[c]);
    crossings.into_iter().map(point).collect()
}

/// Points of the first samples.
fn points_of_samples(field: &Field, wanted: usize) -> Result<Points> {
    let most = CANDIDATES
        .saturating_mul(wanted)
        .saturating_mul(field.dim());
    let samples = 0..field.samples();
    let coords = samples.flat_map(|k| field.points_of(k).coords());
    Points::new(field.dim(), coords.copied().take(most).collect())
}

/// This many of the points, each as far as possible from those before it; all of them if there are no more.
fn spread(points: &Points, wanted: usize) -> Vec<usize> {
    if points.len() <= wanted {
        return (0..points.len()).collect();
    }
    let square =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
    let mut distances = vec![f64::INFINITY; points.len()];
    let mut chosen = vec![0];
    while chosen.len() < wanted {
        let last = points.point(chosen[chosen.len() - 1]);
        let mut farthest = (0, -1.0);
        for (i, p) in points.iter().enumerate() {
            distances[i] = distances[i].min(square(p, last));
            if distances[i] > farthest.1 {
                farthest = (i, distances[i]);
            }
        }
        chosen.push(farthest.0);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
