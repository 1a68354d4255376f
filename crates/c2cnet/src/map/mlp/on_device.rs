//! Steps taken by a device: what it receives and returns.

use super::activation::Activation;
use super::engine::Samples;
use super::loss::{LossSum, PreparedLoss};
use super::objective::{self, Objective};
use super::scalar::Scalar;
use super::state::State;
use super::steps::{Order, Run, Setting, Steps};
use crate::Result;
use crate::compute::{
    self, Band, Batches, Constants, Curve, Device, Factor, Job, Layers, LossWeights, StepSettings,
    Targets, Trainer, Weights,
};
use faer::MatRef;
use std::time::{Duration, Instant};

/// How long a device works between checks for progress and Ctrl-C.
const BATCH_TIME: Duration = Duration::from_millis(50);

/// Steps of a stage, taken many at a time.
pub(in crate::map) struct OnDevice<'a, T> {
    run: Run<'a>,
    trainer: Box<dyn Trainer<T>>,
    order: Order,
    /// The number of steps that take about [`BATCH_TIME`].
    pace: usize,
}

/// What a device is given to train.
pub(in crate::map) struct Given<'a, T> {
    /// As [`Job`] has them.
    pub(in crate::map) widths: &'a [usize],
    pub(in crate::map) layers: Option<Layers<'a, T>>,
    pub(in crate::map) activation: Activation,
    pub(in crate::map) training: Compared<'a, T>,
    pub(in crate::map) validation: Option<Compared<'a, T>>,
}

impl<'a, T: Scalar> OnDevice<'a, T> {
    /// `None` if `device` is the CPU.
    ///
    /// # Errors
    /// If the loss needs data that the samples do not have, or the device cannot be used.
    pub(super) fn new(
        setting: Setting<'a, T>,
        state: &State<T>,
        device: Device,
    ) -> Result<Option<Self>> {
        match compute::open(device)? {
            Some(gpu) => OnDevice::with(setting, state, |job| gpu.trainer(job)).map(Some),
            None => Ok(None),
        }
    }

    /// By what `trainer` makes of the job.
    pub(super) fn with(
        setting: Setting<'a, T>,
        state: &State<T>,
        trainer: impl FnOnce(&Job<'_, T>) -> Result<Box<dyn Trainer<T>>>,
    ) -> Result<Self> {
        let run = setting.run;
        let prepare = |samples: &'a Samples<T>, largest: usize| {
            let folded = samples.folds(setting.network, largest);
            Compared::new(&run, samples.inputs.as_ref(), &samples.objective, folded)
        };
        let given = Given {
            widths: setting.network.widths(),
            layers: None,
            activation: setting.network.activation(),
            training: prepare(setting.samples, run.largest())?,
            validation: setting
                .validation
                .map(|v| prepare(v, v.len()))
                .transpose()?,
        };
        OnDevice::of(run, &given, state, trainer)
    }

    /// The steps of `run` with what is given, by what `trainer` makes of the job.
    ///
    /// # Errors
    /// If the device cannot be used.
    pub(in crate::map) fn of(
        run: Run<'a>,
        given: &Given<'_, T>,
        state: &State<T>,
        trainer: impl FnOnce(&Job<'_, T>) -> Result<Box<dyn Trainer<T>>>,
    ) -> Result<Self> {
        let order = run.order();
        let job = Job {
            widths: given.widths,
            layers: given.layers,
            curve: curve(given.activation),
            loss: given.training.weights(),
            training: given.training.targets(),
            validation: given.validation.as_ref().map(Compared::targets),
            batches: Batches {
                samples: run.samples,
                count: order.batches,
            },
            constants: constants(&run),
            steps: (0..run.stage.steps)
                .map(|step| step_settings(&run, step))
                .collect(),
        };
        let mut trainer = trainer(&job)?;
        let weights = Weights {
            parameters: state.parameters.clone(),
            first: state.first.clone(),
            second: state.second.clone(),
        };
        trainer.load(&weights, state.cursor.step)?;
        Ok(OnDevice {
            run,
            trainer,
            order,
            pace: 16,
        })
    }

    /// Takes `steps` steps, in as many parts as there are passes.
    fn run(&mut self, mut step: usize, steps: usize) -> Result<()> {
        let end = step + steps;
        while step < end {
            if let Some(order) = self.order.enter(step) {
                self.trainer.order(order)?;
            }
            let left = match self.order.batches {
                1 => end - step,
                n => (n - step % n).min(end - step),
            };
            self.trainer.run(left)?;
            step += left;
        }
        Ok(())
    }
}

impl<T: Scalar> Steps<T> for OnDevice<'_, T> {
    fn advance(&mut self, state: &mut State<T>, most: usize) -> Result<(f64, f64)> {
        let begin = Instant::now();
        let steps = most.min(self.pace).min(self.trainer.most());
        self.run(state.cursor.step, steps)?;
        let results = self.trainer.results()?;
        let mut loss = f64::NAN;
        for result in &results {
            if !result.finite() {
                self.settle(state)?;
                return Err(self.run.diverged(state, result));
            }
            state.cursor.count(result);
            loss = result.loss;
        }
        if steps == self.pace {
            let faster = BATCH_TIME.as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-6);
            self.pace = ((self.pace as f64 * faster.min(4.0)) as usize).max(1);
        }
        Ok((loss, self.run.rate(state.cursor.step - 1)))
    }

    fn judge(&mut self, _: &State<T>) -> Result<Option<LossSum>> {
        let judged = self.trainer.evaluate()?;
        Ok(judged.map(|(loss, relative)| LossSum { loss, relative }))
    }

    fn settle(&mut self, state: &mut State<T>) -> Result<()> {
        let weights = self.trainer.weights()?;
        state.parameters = weights.parameters;
        state.first = weights.first;
        state.second = weights.second;
        Ok(())
    }
}

/// Samples with the loss that compares their outputs.
pub(in crate::map) struct Compared<'a, T> {
    /// As [`Targets`] has them.
    inputs: MatRef<'a, T>,
    objective: &'a Objective<T>,
    loss: PreparedLoss<'a, T>,
    folded: bool,
}

impl<'a, T: Scalar> Compared<'a, T> {
    /// # Errors
    /// If the loss needs data that the samples do not have.
    pub(in crate::map) fn new(
        run: &Run<'_>,
        inputs: MatRef<'a, T>,
        objective: &'a Objective<T>,
        folded: bool,
    ) -> Result<Self> {
        Ok(Compared {
            inputs,
            objective,
            loss: PreparedLoss::new(&run.stage.loss, objective, folded)?,
            folded,
        })
    }

    fn weights(&self) -> LossWeights {
        let parts = &self.loss.parts;
        LossWeights {
            relative: parts.relative,
            mean_square: parts.mean_square,
            band: parts.band,
            epsilon: parts.epsilon,
            inside: parts.inside,
            outside: parts.outside,
        }
    }

    fn targets(&self) -> Targets<'_, T> {
        let o = self.objective;
        let band = self.loss.band.as_ref().zip(o.field.as_ref());
        Targets {
            inputs: self.inputs,
            factor: match &o.factor {
                objective::Factor::None => Factor::None,
                objective::Factor::Shared(r) => Factor::Shared {
                    r: r.as_ref(),
                    fold: self.folded,
                },
                objective::Factor::PerSample(all) => Factor::PerSample(all),
            },
            coordinates: o.targets.as_ref(),
            scale: o.scale,
            outside_squared: &o.outside_squared,
            norms: &o.norms,
            counts: &o.counts,
            band: band.map(|(band, field)| Band {
                starts: &band.starts,
                points: &band.points,
                outside: &band.outside,
                longest: band.longest,
                modes: field.modes.as_ref(),
            }),
        }
    }
}

fn constants<T: Scalar>(run: &Run<'_>) -> Constants<T> {
    let c = run.stage.optimiser.coefficients::<T>(1.0, 0.0, 1);
    Constants {
        l2: c.l2,
        keep1: c.keep1,
        beta2: c.beta2,
        keep2: c.keep2,
        epsilon: c.epsilon,
        clip: run.plan.clip,
    }
}

/// The numbers that the CPU would compute before the same step.
fn step_settings<T: Scalar>(run: &Run<'_>, step: usize) -> StepSettings<T> {
    let rate = run.rate(step);
    let c = run.stage.optimiser.coefficients::<T>(1.0, rate, step + 1);
    StepSettings {
        size: c.size,
        root: c.root,
        shrink: c.shrink,
    }
}

fn curve(activation: Activation) -> Curve {
    match activation {
        Activation::Gelu => Curve::Gelu,
        Activation::GeluTanh => Curve::GeluTanh,
        Activation::Tanh => Curve::Tanh,
        Activation::Relu => Curve::Relu,
        Activation::Silu => Curve::Silu,
    }
}
