//! From coefficients and targets to a trained map.

use super::engine::{Engine, Samples};
use super::goal::{Goal, ValuesAtPoints};
use super::network::{Frozen, Inputs, Workspace};
use super::on_device::Packed;
use super::shape::Shape;
use super::{Latent, LayeredMap, LayeredSpec};
use crate::compute::Device;
use crate::decode::Targets;
use crate::map::mlp::objective::{Frame, Objective};
use crate::map::mlp::scalar::Scalar;
use crate::map::mlp::state::State;
use crate::map::mlp::steps::OnCpu;
use crate::map::mlp::train::{Begin, Training, train};
use crate::map::mlp::{Precision, TrainingData, TrainingReport};
use crate::map::{CoefficientMap, LinearMap, Split};
use crate::metrics::mean;
use crate::observe::Observer;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use std::time::Instant;

/// Samples judged at a time.
const JUDGED_TOGETHER: usize = 32;

/// A linear map has memorised its samples if its leave-one-out error exceeds its training error by this factor ...
const MEMORISED_RATIO: f64 = 1.05;

/// ... and is still useful for new samples if its leave-one-out error is below this share of the mean's error: what it
/// memorised of single samples is noise to the layers.
const USEFUL_SHARE: f64 = 0.05;

/// Errors below this are rounding: such a map is exact for all samples.
const EXACT: f64 = 1e-10;

/// What a layered map is trained on.
#[derive(Debug, Clone, Copy)]
pub struct LayeredData<'a> {
    /// Coefficients and targets.
    pub samples: TrainingData<'a>,
    /// What the layers live on.
    pub latent: &'a Latent,
    /// The truth at the latent points, where layers are trained there.
    pub(crate) values: Option<&'a ValuesAtPoints>,
}

impl LayeredMap {
    /// Trains a map on the samples that `split` does not hold out; held-out ones are for the report only.
    ///
    /// Where the observer has a checkpoint of the same run, training continues from it to the same bits.
    ///
    /// # Errors
    /// If settings or data cannot be used, training diverges, or the observer asks to stop
    /// ([`Error::Interrupted`]).
    pub fn fit(
        data: &LayeredData<'_>,
        split: &Split,
        spec: &LayeredSpec,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<(Self, TrainingReport)> {
        spec.check()?;
        data.check(split)?;
        match spec.precision {
            Precision::F32 => fit_with::<f32>(data, split, spec, seed, observer),
            Precision::F64 => fit_with::<f64>(data, split, spec, seed, observer),
        }
    }
}

impl LayeredData<'_> {
    fn check(&self, split: &Split) -> Result<()> {
        self.samples.check(split)?;
        let found = (
            self.samples.coefficients.nrows(),
            self.samples.targets.coordinates.nrows(),
        );
        let expected = (self.latent.inputs(), self.latent.outputs());
        match found == expected {
            true => Ok(()),
            false => Err(Error::shape(
                "coefficients and coordinates of the latent points",
                format!("{expected:?}"),
                format!("{found:?}"),
            )),
        }
    }
}

fn fit_with<T: Scalar>(
    data: &LayeredData<'_>,
    split: &Split,
    spec: &LayeredSpec,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(LayeredMap, TrainingReport)> {
    let clock = Instant::now();
    let samples = &data.samples;
    let coefficients = linalg::select_columns(samples.coefficients, &split.train);
    let fold = samples.targets.select(&split.train);
    let shifts = data.latent.functions().groups().terms() > 1;
    let (base, of_training) = start(coefficients.as_ref(), &fold, shifts)?;
    let latent = data.latent.clone().standardised(coefficients.as_ref());
    let mut offsets = base.predict(samples.coefficients);
    replace_columns(&mut offsets, &split.train, of_training.as_ref());
    let goal = Goal::new(data, offsets);
    let scale = goal.scale(&split.train);
    let shape = Shape::new(spec, &latent);
    let frozen = Frozen::<T>::new(shape, &latent, &goal.projection);
    let frame = Frame {
        axes: None,
        scale,
        offsets: Some(goal.offsets.as_ref()),
    };
    let compared = TrainingData {
        targets: &goal.targets,
        count: goal.count,
        per_sample: samples.per_sample.filter(|_| data.values.is_none()),
        ..*samples
    };
    let of = |indices: &[usize]| Samples::<T> {
        inputs: Inputs::new(
            &latent,
            linalg::select_columns(samples.coefficients, indices).as_ref(),
        ),
        objective: Objective::new(&compared.outputs(), indices, &frame, None),
    };
    let training = of(&split.train);
    let validation = (!split.validation.is_empty()).then(|| of(&split.validation));
    let plan = spec.plan(split.train.len(), shifts, seed);
    let mark = samples.mark(split, &serde_json::json!([shape, spec, plan]));
    let mut state = match observer.resume(&mark)? {
        Some(archive) => State::load(archive, shape.parameters(), &mark)?,
        None => State::new(shape.initialise::<T>(seed)),
    };
    let run = Training {
        plan: &plan,
        samples: split.train.len(),
        begin: begin(&frozen, &training, validation.as_ref()),
        mark: &mark,
    };
    train(run, &mut state, observer)?;

    let map = LayeredMap {
        parameters: state.parameters.iter().map(|p| p.to_f64()).collect(),
        shape,
        latent,
        base,
        scale,
    };
    let report = TrainingReport {
        widths: map.widths(),
        parameters: map.parameters.len(),
        plan,
        precision: T::PRECISION,
        steps: state.cursor.steps_done,
        seconds: clock.elapsed().as_secs_f64(),
        samples: (split.train.len(), split.validation.len()),
        validation_rl2e: samples.held_out_error(&map, &split.validation),
        history: state.cursor.history,
    };
    Ok((map, report))
}

/// What the layers add to: the linear map, unless its error is much smaller on its own samples than on others. Its
/// training residuals would then differ from those on new samples, and layers would learn to correct the wrong ones. If
/// the map is still useful for new samples, it comes with leave-one-out predictions for the training samples; otherwise
/// layers add to the mean. So do layers that can shift and differentiate fields: the error of an underdetermined linear
/// map is noise that no layers can learn, and they need no such map.
fn start(
    coefficients: MatRef<'_, f64>,
    targets: &Targets,
    shifts: bool,
) -> Result<(LinearMap, Option<Mat<f64>>)> {
    let linear = LinearMap::fit(coefficients, targets)?;
    let all: Vec<usize> = (0..coefficients.ncols()).collect();
    let error = |map: &LinearMap| {
        let predicted = map.predict(coefficients);
        mean(&targets.relative_errors(predicted.as_ref(), &all))
    };
    let left_out = linear.loo_error();
    if left_out <= EXACT || left_out <= MEMORISED_RATIO * error(&linear) {
        return Ok((linear, None));
    }
    let mean = linear.clone().without_slope();
    let useful = !shifts && left_out < USEFUL_SHARE * error(&mean);
    let predictions = match useful {
        true => linear.left_out_predictions(coefficients, targets.coordinates.as_ref()),
        false => None,
    };
    Ok(match predictions {
        Some(predictions) => (linear, Some(predictions)),
        None => (mean, None),
    })
}

/// Writes the columns of `by`, if any, to these places.
fn replace_columns(matrix: &mut Mat<f64>, places: &[usize], by: Option<&Mat<f64>>) {
    for (column, &place) in by.into_iter().flat_map(|m| m.col_iter()).zip(places) {
        matrix.col_mut(place).copy_from(column);
    }
}

fn begin<'a, T: Scalar>(
    frozen: &'a Frozen<T>,
    training: &'a Samples<T>,
    validation: Option<&'a Samples<T>>,
) -> Box<Begin<'a, T>> {
    Box::new(move |run, state, device| {
        if device != Device::Cpu {
            let packed = Packed::new(frozen, training, validation);
            if let Some(steps) = packed.steps(run, state, device)? {
                return Ok(Box::new(steps));
            }
        }
        let loss = &run.stage.loss;
        let engine = Engine::new(frozen, training, loss, run.largest(), true)?;
        let judge = validation
            .map(|v| Engine::new(frozen, v, loss, JUDGED_TOGETHER.min(v.inputs.len()), false))
            .transpose()?;
        Ok(Box::new(OnCpu::new(run, engine, judge)))
    })
}

/// The coordinates that the layers add, one column per sample.
pub(super) fn predict(map: &LayeredMap, coefficients: MatRef<'_, f64>) -> Mat<f64> {
    let frozen = Frozen::<f64>::new(map.shape, &map.latent, map.latent.projection());
    let inputs = Inputs::new(&map.latent, coefficients);
    let all: Vec<usize> = (0..coefficients.ncols()).collect();
    let mut work = Workspace::new(&frozen, JUDGED_TOGETHER.min(all.len()), false);
    let mut out = Mat::zeros(map.latent.outputs(), all.len());
    for chosen in all.chunks(JUDGED_TOGETHER) {
        frozen.forward(&map.parameters, &inputs, chosen, &mut work);
        let to = out.as_mut().subcols_mut(chosen[0], chosen.len());
        { to }.copy_from(work.outputs.as_ref().subcols(0, chosen.len()));
    }
    out
}
