//! The latent points of a layered map, and the basis at them.

use super::spaces::triangles_on;
use super::{Context, Inputs, Outputs};
use crate::basis::{BasisSpec, BuildContext, LaplaceMesh, LaplaceSpec};
use crate::data::{Field, Observations, Points};
use crate::decode::FieldDecoder;
use crate::map::LayeredSpec;
use crate::map::layered::Latent;
use crate::{Error, Result};

/// Points of samples with points of their own, of which the latent ones are chosen: so many times as many.
const CANDIDATES: usize = 8;

/// What the layers that `spec` describes live on, for these inputs and outputs.
///
/// # Errors
/// If an output has no points, or inputs are not defined where outputs are.
pub(super) fn latent(
    context: &Context<'_>,
    inputs: &Inputs,
    outputs: &Outputs,
    spec: &LayeredSpec,
) -> Result<Latent> {
    let ((_, decoder), (_, field)) = (&outputs.decoders[0], &context.train.outputs[0]);
    if field.is_vector() {
        return Err(Error::Config(
            "layered: the first output is a vector without points; layers predict functions: use another map".into(),
        ));
    }
    let points = spread(candidates(field, decoder, spec.points), spec.points);
    let domain = decoder.basis().parts()[0].components()[0].domain();
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
    let at_points = basis.evaluate(&basis.domain().wrapped(&points))?.to_dense();
    Latent::new(&points, at_points, &inputs.encoders, &outputs.decoders)
}

/// The points that the output space was fitted to, or those of the first samples.
fn candidates(field: &Field, decoder: &FieldDecoder, wanted: usize) -> Points {
    match field.observations() {
        Observations::Shared { points, .. } => {
            points.select(&decoder.withheld().fitted(0, points.len()))
        }
        Observations::PerSample(samples) => {
            let coords = samples.iter().flat_map(|s| s.points.coords());
            let most = CANDIDATES
                .saturating_mul(wanted)
                .saturating_mul(field.dim());
            let coords = coords.copied().take(most).collect();
            Points::new(field.dim(), coords).expect("points of samples")
        }
    }
}

/// So many of the points, each as far as possible from those before it; all of them if they are no more.
fn spread(points: Points, wanted: usize) -> Points {
    if points.len() <= wanted {
        return points;
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
    points.select(&chosen)
}
