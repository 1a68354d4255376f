//! What a coefficient map learns from.

use crate::data::{Field, Observations};
use crate::decode::{FieldDecoder, Targets};
use crate::error::in_order;
use crate::map::Mirrors;
use crate::map::mlp::{MlpSpec, Recipe, SampleTarget, TrainingData};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Input coefficients, targets, and what networks need beyond those.
pub(super) struct Lesson<'a> {
    pub coefficients: MatRef<'a, f64>,
    pub targets: &'a Targets,
    /// Reflections that the samples come with.
    pub mirrors: &'a Mirrors,
    pub outputs: &'a OutputFrame,
}

impl Lesson<'_> {
    /// The same for a network.
    pub(super) fn for_network(&self) -> TrainingData<'_> {
        TrainingData {
            coefficients: self.coefficients,
            targets: self.targets,
            count: self.outputs.count,
            factor: self.outputs.factor.as_ref().map(Mat::as_ref),
            field: (self.outputs.field.as_ref()).map(|(q, u)| (q.as_ref(), u.as_ref())),
            per_sample: self.outputs.per_sample.as_deref(),
        }
    }
}

/// How coordinates, coefficients and values at points hang together, as far as a network's recipe
/// and losses ask.
#[derive(Default)]
pub(super) struct OutputFrame {
    /// How many values a sample has.
    count: usize,
    /// $R$ with $c = Rb$.
    factor: Option<Mat<f64>>,
    /// $Q$ and $u$ at the fitted points.
    field: Option<(Mat<f64>, Mat<f64>)>,
    per_sample: Option<Vec<SampleTarget>>,
}

impl OutputFrame {
    /// # Errors
    /// If a loss that weighs points cannot be computed for these outputs.
    pub(super) fn new(
        decoders: &[(String, FieldDecoder)],
        fields: &[(String, Field)],
        spec: &MlpSpec,
        withhold: f64,
        seed: u64,
    ) -> Result<Self> {
        let raw = spec.recipe == Recipe::Paper;
        let count = decoders
            .iter()
            .zip(fields)
            .map(|((_, d), (_, f))| {
                let points = d.fitted_points().unwrap_or(f.points_of(0));
                points.len() * f.components()
            })
            .sum();
        let field = match spec.weighs_points() {
            true => Some(field_at_points(decoders, fields)?),
            false => None,
        };
        // Several outputs at points of their own share the ridge fits that are their targets.
        let per_sample = match (decoders, fields) {
            ([(_, decoder)], [(_, field)]) => match field.observations() {
                Observations::PerSample(samples) => {
                    let target = |k: usize| {
                        let (design, values) =
                            decoder.local_problem(samples, k, withhold, seed, raw)?;
                        SampleTarget::new(design.as_ref(), &values)
                    };
                    Some(in_order((0..samples.len()).into_par_iter().map(target))?)
                }
                Observations::Shared { .. } => None,
            },
            _ => None,
        };
        Ok(OutputFrame {
            count,
            factor: raw.then(|| block_diagonal(decoders)),
            field,
            per_sample,
        })
    }
}

fn block_diagonal(decoders: &[(String, FieldDecoder)]) -> Mat<f64> {
    let blocks: Vec<Mat<f64>> = decoders.iter().map(|(_, d)| d.factor()).collect();
    let rows = blocks.iter().map(Mat::nrows).sum();
    let columns = blocks.iter().map(Mat::ncols).sum();
    let mut all = Mat::zeros(rows, columns);
    let (mut row, mut column) = (0, 0);
    for block in &blocks {
        all.as_mut()
            .submatrix_mut(row, column, block.nrows(), block.ncols())
            .copy_from(block);
        row += block.nrows();
        column += block.ncols();
    }
    all
}

fn field_at_points(
    decoders: &[(String, FieldDecoder)],
    fields: &[(String, Field)],
) -> Result<(Mat<f64>, Mat<f64>)> {
    let refuse = |why: &str| {
        Error::Config(format!(
            "a loss that weighs points needs one output field {why}"
        ))
    };
    let ([(_, decoder)], [(_, field)]) = (decoders, fields) else {
        return Err(refuse("alone"));
    };
    let Observations::Shared { values, .. } = field.observations() else {
        return Err(refuse("at points that all samples share"));
    };
    let ([values], Some(fitted), Some(points)) = (
        values.as_slice(),
        decoder.fitted_indices(field),
        decoder.fitted_points(),
    ) else {
        return Err(refuse("of one component"));
    };
    let [q] = &mut decoder.retained(points)?[..] else {
        return Err(refuse("of one component"));
    };
    let u = linalg::select_rows(values.as_ref(), &fitted);
    Ok((std::mem::replace(q, Mat::new()), u))
}
