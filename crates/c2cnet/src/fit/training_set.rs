//! The training data of a coefficient map.

use super::latent::latent;
use super::{Context, Inputs, Outputs, image_outputs};
use crate::data::{Field, Fields, Observations, Scattered};
use crate::decode::{FieldDecoder, SampleTarget, Targets};
use crate::error::in_order;
use crate::map::Mirrors;
use crate::map::layered::{Latent, LayeredData, ValuesAtPoints};
use crate::map::mlp::{MlpSpec, Recipe, TrainingData};
use crate::plan::{MapPlan, NetworkSpec, PlannedMap};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Input coefficients, targets, and what else networks need.
#[derive(Clone, Copy)]
pub(crate) struct MapTrainingSet<'a> {
    pub coefficients: MatRef<'a, f64>,
    pub targets: &'a Targets,
    /// The reflections under which the samples come with images.
    pub mirrors: &'a Mirrors,
    /// Needed by networks only, not by closed-form maps.
    frame: Option<&'a OutputFrame>,
}

impl<'a> MapTrainingSet<'a> {
    pub(crate) fn new(inputs: &'a Inputs, outputs: &'a Outputs, frame: &'a OutputFrame) -> Self {
        MapTrainingSet {
            frame: Some(frame),
            ..Self::closed_form(inputs, &outputs.targets)
        }
    }

    /// For closed-form maps only.
    pub(crate) fn closed_form(inputs: &'a Inputs, targets: &'a Targets) -> Self {
        MapTrainingSet {
            coefficients: inputs.coefficients.as_ref(),
            targets,
            mirrors: &inputs.mirrors,
            frame: None,
        }
    }

    /// The same for a network.
    pub(crate) fn for_network(&self) -> TrainingData<'a> {
        TrainingData {
            coefficients: self.coefficients,
            targets: self.targets,
            count: self
                .frame
                .map_or(self.targets.coordinates.nrows(), |f| f.count),
            factor: self.frame.and_then(|f| f.factor.as_ref()).map(Mat::as_ref),
            field: (self.frame.and_then(|f| f.field.as_ref()))
                .map(|(q, u)| (q.as_ref(), u.as_ref())),
            per_sample: self.frame.and_then(|f| f.per_sample.as_deref()),
        }
    }

    /// The same for layers.
    ///
    /// # Errors
    /// If the frame was made for another map.
    pub(crate) fn for_layers(&self) -> Result<LayeredData<'a>> {
        let latent = self.frame.and_then(|frame| frame.latent.as_ref());
        let (latent, values) = latent.ok_or_else(|| {
            Error::Config("layers cannot be trained on what another map needs".into())
        })?;
        Ok(LayeredData {
            samples: self.for_network(),
            latent,
            values: values.as_ref(),
        })
    }
}

/// How coordinates, coefficients and values at points are related, as far as a network's recipe and losses need it.
#[derive(Default)]
pub(crate) struct OutputFrame {
    /// How many values an output sample has.
    count: usize,
    /// $R$ with $c = Rb$.
    factor: Option<Mat<f64>>,
    /// $Q$ and $u$ at the fitted points.
    field: Option<(Mat<f64>, Mat<f64>)>,
    per_sample: Option<Vec<SampleTarget>>,
    /// What layers live on, and the truth there if they learn it.
    latent: Option<(Latent, Option<ValuesAtPoints>)>,
}

impl OutputFrame {
    /// What the planned map needs: nothing, unless it is a network.
    ///
    /// # Errors
    /// As [`OutputFrame::new`].
    pub(super) fn for_plan(
        context: &Context<'_>,
        inputs: &Inputs,
        outputs: &Outputs,
        plan: &MapPlan,
    ) -> Result<Self> {
        match plan.map() {
            PlannedMap::Network(spec) => Self::new(context, inputs, outputs, &spec),
            PlannedMap::Linear | PlannedMap::Kernel(_) => Ok(OutputFrame::default()),
        }
    }

    /// What a network needs.
    ///
    /// # Errors
    /// If a loss that weighs points cannot be computed for these outputs, or layers cannot live on them.
    pub(crate) fn new(
        context: &Context<'_>,
        inputs: &Inputs,
        outputs: &Outputs,
        spec: &NetworkSpec,
    ) -> Result<Self> {
        match spec {
            NetworkSpec::Mlp(spec) => Self::for_network(context, outputs, spec),
            NetworkSpec::Layered(spec) => {
                let images = image_outputs(context)?;
                let fields = images.as_ref().unwrap_or(&context.train.outputs);
                Ok(OutputFrame {
                    latent: Some(latent(context, inputs, outputs, fields, spec)?),
                    ..Self::for_network(context, outputs, &MlpSpec::default())?
                })
            }
        }
    }

    /// # Errors
    /// If a loss that weighs points cannot be computed for these outputs.
    fn for_network(context: &Context<'_>, outputs: &Outputs, spec: &MlpSpec) -> Result<Self> {
        let images = image_outputs(context)?;
        let fields = images.as_ref().unwrap_or(&context.train.outputs);
        let decoders = &outputs.decoders[..];
        let raw = spec.recipe == Recipe::Paper;
        let count = decoders
            .iter()
            .zip(fields)
            .map(|((_, d), (_, f))| {
                let points = f.points_of(0).len() - d.withheld().of_sample(0).len();
                points * f.components()
            })
            .sum();
        let field = match spec.weighs_points() {
            true => Some(field_at_points(decoders, fields)?),
            false => None,
        };
        let per_sample = match (&outputs.targets.readings, decoders, &fields[..]) {
            (Some(readings), ..) if !raw => Some(readings.clone()),
            // Several outputs at points of their own share the ridge fits that are their targets.
            (_, [(_, decoder)], [(_, field)]) => per_sample_targets(decoder, field, raw)?,
            _ => None,
        };
        Ok(OutputFrame {
            count,
            factor: raw.then(|| block_diagonal(decoders)),
            field,
            per_sample,
            latent: None,
        })
    }
}

/// The targets of each sample with its own points, for coordinates, or for coefficients if `raw`.
fn per_sample_targets(
    decoder: &FieldDecoder,
    field: &Field,
    raw: bool,
) -> Result<Option<Vec<SampleTarget>>> {
    let Observations::PerSample(samples) = field.observations() else {
        return Ok(None);
    };
    let target = |sample: &Scattered| {
        let design = decoder.design_at(&sample.points, raw)?;
        SampleTarget::new(design.as_ref(), &sample.values)
    };
    in_order(samples.par_iter().map(target)).map(Some)
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
    fields: &Fields,
) -> Result<(Mat<f64>, Mat<f64>)> {
    let refuse = |why: &str| {
        Error::Config(format!(
            "a loss that weighs points needs one output field {why}"
        ))
    };
    let ([(_, decoder)], [(_, field)]) = (decoders, &fields[..]) else {
        return Err(refuse("alone"));
    };
    if field.is_vector() {
        return Err(refuse("that is a function"));
    }
    let Observations::Shared { points, values } = field.observations() else {
        return Err(refuse("at points that all samples share"));
    };
    let [values] = values.as_slice() else {
        return Err(refuse("of one component"));
    };
    let fitted = decoder.withheld().fitted(0, points.len());
    let [q] = &mut decoder.retained(&points.select(&fitted))?[..] else {
        return Err(refuse("of one component"));
    };
    let u = linalg::select_rows(values.as_ref(), &fitted);
    Ok((std::mem::replace(q, Mat::new()), u))
}
