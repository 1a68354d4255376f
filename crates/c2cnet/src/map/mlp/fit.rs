//! From coefficients and targets to a trained map.

use super::engine::Samples;
use super::head::{Entry, Head, Principal};
use super::network::Network;
use super::objective::{Frame, Objective, OutputData};
use super::scalar::Scalar;
use super::spec::{MlpSpec, Recipe};
use super::state::State;
use super::steps;
use super::train::{Plan, Training, train};
use super::{MlpMap, Precision};
use crate::decode::{SampleTarget, Targets};
use crate::map::{CoefficientMap, LinearMap, Split};
use crate::metrics::mean;
use crate::observe::{Metric, Observer};
use crate::storage::Fingerprint;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The data that a network is trained on.
#[derive(Debug, Clone, Copy)]
pub struct TrainingData<'a> {
    /// Input coefficients, one column per sample.
    pub coefficients: MatRef<'a, f64>,
    /// Orthonormal output coordinates and what lies outside them.
    pub targets: &'a Targets,
    /// The number of values of an output: points times components.
    pub count: usize,
    /// $R$ (coordinates by coefficients) with $c = Rb$; the recipe `paper` needs it.
    pub factor: Option<MatRef<'a, f64>>,
    /// $Q$ (values by coordinates) and $u$ (one column per sample); the band loss needs them.
    pub field: Option<(MatRef<'a, f64>, MatRef<'a, f64>)>,
    /// Samples with their own points: their targets, in raw coefficients for the recipe
    /// `paper` and in coordinates otherwise. The network is then trained on these, and
    /// `targets` only gives its output axes.
    pub per_sample: Option<&'a [SampleTarget]>,
}

/// How training proceeded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrainingReport {
    /// Widths of the network.
    pub widths: Vec<usize>,
    /// The number of parameters.
    pub parameters: usize,
    /// The plan that was carried out.
    pub plan: Plan,
    /// The precision.
    pub precision: Precision,
    /// Steps taken.
    pub steps: usize,
    /// Seconds of this run; a resumed run counts only its own.
    pub seconds: f64,
    /// Training samples and validation samples.
    pub samples: (usize, usize),
    /// RL2E of the result on the validation samples.
    pub validation_rl2e: Option<f64>,
    /// The records.
    pub history: Vec<Metric>,
}

impl TrainingData<'_> {
    pub(in crate::map) fn outputs(&self) -> OutputData<'_> {
        match self.per_sample {
            Some(samples) => OutputData::PerSample(samples),
            None => OutputData::Shared {
                coordinates: self.targets.coordinates.as_ref(),
                outside_squared: &self.targets.outside_squared,
                norm_squared: &self.targets.norm_squared,
                count: self.count,
                field: self.field,
            },
        }
    }

    /// RL2E of `map` on held-out samples, if there are any and their outputs are known.
    pub(in crate::map) fn held_out_error(
        &self,
        map: &dyn CoefficientMap,
        held: &[usize],
    ) -> Option<f64> {
        if held.is_empty() || (self.per_sample.is_some() && self.targets.readings.is_none()) {
            return None;
        }
        let coefficients = linalg::select_columns(self.coefficients, held);
        let predicted = map.predict(coefficients.as_ref());
        let errors = self.targets.relative_errors(predicted.as_ref(), held);
        Some(mean(&errors))
    }

    pub(in crate::map) fn check(&self, split: &Split) -> Result<()> {
        let Split { train, validation } = split;
        let n = self.coefficients.ncols();
        self.outputs().check(n)?;
        if self.targets.coordinates.ncols() != n {
            return Err(Error::shape(
                "target coordinates",
                format!("{n} samples"),
                self.targets.coordinates.ncols().to_string(),
            ));
        }
        if train.len() < 2 {
            return Err(Error::Data(format!(
                "a network cannot be trained on {} samples; give at least 2 (and many more for a useful one)",
                train.len()
            )));
        }
        match train.iter().chain(validation).find(|&&k| k >= n) {
            Some(k) => Err(Error::Data(format!("there is no sample {k} among {n}"))),
            None => Ok(()),
        }
    }
}

impl MlpMap {
    /// Trains a map on the samples that `split` does not hold out; held-out samples are for the report only.
    ///
    /// If the observer has a checkpoint of the same run, training continues from it and ends with the same bits.
    ///
    /// # Errors
    /// If settings or data cannot be used, training diverges, or the observer asks to stop
    /// ([`Error::Interrupted`]).
    pub fn fit(
        data: &TrainingData<'_>,
        split: &Split,
        spec: &MlpSpec,
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

fn fit_with<T: Scalar>(
    data: &TrainingData<'_>,
    split: &Split,
    spec: &MlpSpec,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(MlpMap, TrainingReport)> {
    let begin = Instant::now();
    let frames = frames(data, &split.train, spec)?;
    let seen = NetworkSamples::<T>::new(data, split, &frames);
    let mut widths = vec![seen.training.inputs.nrows() - 1];
    widths.extend(spec.hidden());
    widths.push(seen.width);
    let network = Network::new(widths, spec.activation)?;
    let plan = spec.plan(split.train.len(), seed);
    let settings = serde_json::json!([network.widths(), spec, plan]);
    let mark = data.mark(split, &settings);
    let mut state = match observer.resume(&mark)? {
        Some(archive) => State::load(archive, network.parameters(), &mark)?,
        None => State::new(network.initialise::<T>(seed)),
    };
    let training = Training {
        plan: &plan,
        samples: seen.training.len(),
        begin: steps::of_network(&network, &seen.training, seen.validation.as_ref()),
        mark: &mark,
    };
    train(training, &mut state, observer)?;

    let map = MlpMap {
        inputs: data.coefficients.nrows(),
        outputs: frames
            .head
            .coordinates_of(seen.width)
            .expect("shapes that fit"),
        parameters: state.parameters.iter().map(|p| p.to_f64()).collect(),
        network,
        entry: frames.entry,
        head: frames.head,
        recipe: spec.recipe,
        precision: T::PRECISION,
    };
    let report = TrainingReport {
        widths: map.network.widths().to_vec(),
        parameters: map.parameters.len(),
        plan,
        precision: T::PRECISION,
        steps: state.cursor.steps_done,
        seconds: begin.elapsed().as_secs_f64(),
        samples: (split.train.len(), split.validation.len()),
        validation_rl2e: data.held_out_error(&map, &split.validation),
        history: state.cursor.history,
    };
    Ok((map, report))
}

/// The samples as presented to the network.
struct NetworkSamples<T> {
    training: Samples<T>,
    validation: Option<Samples<T>>,
    /// The number of the network's outputs.
    width: usize,
}

impl<T: Scalar> NetworkSamples<T> {
    fn new(data: &TrainingData<'_>, split: &Split, frames: &Frames) -> Self {
        let x = frames.entry.apply(data.coefficients);
        let outputs = data.outputs();
        let (frame, factor, width) = match &frames.head {
            Head::Raw { factor, scale } => {
                let rows = factor.as_ref().map_or(outputs.rows(), Mat::ncols);
                // A shared factor already holds the scale; per-sample factors apply to raw coefficients.
                let frame = Frame {
                    scale: if data.per_sample.is_some() {
                        *scale
                    } else {
                        1.0
                    },
                    ..Frame::IDENTITY
                };
                (frame, factor.as_ref().map(Mat::as_ref), rows)
            }
            Head::Principal { frame, .. } => (
                Frame {
                    axes: Some(frame.axes.as_ref()),
                    scale: frame.scale,
                    offsets: Some(frames.offsets.as_ref()),
                },
                None,
                frame.axes.ncols(),
            ),
        };
        let samples = |indices: &[usize]| {
            Samples::<T>::new(
                linalg::select_columns(x.as_ref(), indices).as_ref(),
                Objective::new(&outputs, indices, &frame, factor),
            )
        };
        let held = &split.validation;
        NetworkSamples {
            training: samples(&split.train),
            validation: (!held.is_empty()).then(|| samples(held)),
            width,
        }
    }
}

/// Principal axes with a deviation below this fraction of the largest are left out: for inputs and for outputs.
const INPUT_CUT: f64 = 1e-7;
const OUTPUT_CUT: f64 = 1e-5;

/// The transforms before and after the network.
struct Frames {
    entry: Entry,
    head: Head,
    /// What is added to the network's contribution to the coordinates, one column per sample.
    offsets: Mat<f64>,
}

fn frames(data: &TrainingData<'_>, train: &[usize], spec: &MlpSpec) -> Result<Frames> {
    let a = linalg::select_columns(data.coefficients, train);
    if spec.recipe == Recipe::Paper {
        let rms = mean(&data.targets.select(train).norm_squared) / data.count as f64;
        // Without a factor there are no coefficients to scale.
        let scale = match spec.scaled && rms > 0.0 && data.factor.is_some() {
            true => rms.sqrt(),
            false => 1.0,
        };
        let entry = match spec.scaled {
            true => Some(Principal::new(a.as_ref(), 0.0)?),
            false => None,
        };
        return Ok(Frames {
            entry: Entry(entry),
            head: Head::Raw {
                factor: data.factor.map(|r| r * faer::Scale(scale)),
                scale,
            },
            offsets: Mat::new(),
        });
    }
    let fold = data.targets.select(train);
    let (linear, mut rest) = match spec.residual {
        true => {
            let linear = LinearMap::fit(a.as_ref(), &fold)?;
            let predicted = linear.predict(data.coefficients);
            (Some(linear), predicted)
        }
        false => {
            let (r, n) = data.targets.coordinates.shape();
            (None, Mat::zeros(r, n))
        }
    };
    let offsets = linalg::select_columns(rest.as_ref(), train);
    let all: Vec<usize> = (0..train.len()).collect();
    let residual = &fold.completed(offsets.as_ref(), &all)?.coordinates - &offsets;
    let frame = Principal::new(residual.as_ref(), OUTPUT_CUT)?;
    for k in 0..rest.ncols() {
        let column = rest.col_as_slice_mut(k);
        column
            .iter_mut()
            .zip(&frame.mean)
            .for_each(|(o, m)| *o += m);
    }
    Ok(Frames {
        entry: Entry(Some(Principal::new(a.as_ref(), INPUT_CUT)?)),
        head: Head::Principal { frame, linear },
        offsets: rest,
    })
}

impl TrainingData<'_> {
    /// Identifies a run: its settings, and the data to the last bit.
    pub(in crate::map) fn mark(&self, split: &Split, settings: &serde_json::Value) -> String {
        let mut fingerprint = Fingerprint::default();
        for matrix in [self.coefficients, self.targets.coordinates.as_ref()] {
            for k in 0..matrix.ncols() {
                fingerprint.numbers(matrix.col(k).iter().copied());
            }
        }
        for list in [&split.train, &split.validation] {
            fingerprint.word(list.len() as u64);
            list.iter().for_each(|&k| fingerprint.word(k as u64));
        }
        fingerprint.text(&settings.to_string());
        fingerprint.finish()
    }
}
