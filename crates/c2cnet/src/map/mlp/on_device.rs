//! Steps that a device takes: what it is given, and what comes back.

use super::activation::Activation;
use super::engine::Samples;
use super::loss::{LossSum, PreparedLoss};
use super::objective;
use super::scalar::Scalar;
use super::state::State;
use super::steps::{Order, Setting, Steps};
use crate::Result;
use crate::compute::{
    self, Band, Batches, Constants, Curve, Device, Factor, Job, LossWeights, StepSettings, Targets,
    Trainer, Weights,
};
use std::time::{Duration, Instant};

/// How long a device works before anyone looks: progress and Ctrl-C wait no longer.
const TOGETHER: Duration = Duration::from_millis(50);

/// Steps of a stage, taken many at a time.
pub(super) struct OnDevice<'a, T> {
    setting: Setting<'a, T>,
    trainer: Box<dyn Trainer<T>>,
    order: Order,
    /// Steps that take about [`TOGETHER`].
    pace: usize,
}

impl<'a, T: Scalar> OnDevice<'a, T> {
    /// `None` if `device` is the processor.
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
        let order = setting.run.order();
        let prepare = |samples: &'a Samples<T>, largest: usize| {
            let folded = samples.folds(setting.network, largest);
            let loss = PreparedLoss::new(&setting.run.stage.loss, &samples.objective, folded);
            loss.map(|loss| Compared {
                samples,
                loss,
                folded,
            })
        };
        let training = prepare(setting.samples, setting.run.largest())?;
        let validation = setting
            .validation
            .map(|v| prepare(v, v.len()))
            .transpose()?;
        let job = Job {
            widths: setting.network.widths(),
            curve: curve(setting.network.activation()),
            loss: training.weights(),
            training: training.targets(),
            validation: validation.as_ref().map(Compared::targets),
            batches: Batches {
                samples: setting.samples.len(),
                count: order.batches,
            },
            constants: constants(&setting),
            steps: (0..setting.run.stage.steps)
                .map(|step| step_settings(&setting, step))
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
            setting,
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
                return Err(self.setting.run.diverged(state, result));
            }
            state.cursor.count(result);
            loss = result.loss;
        }
        if steps == self.pace {
            let faster = TOGETHER.as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-6);
            self.pace = ((self.pace as f64 * faster.min(4.0)) as usize).max(1);
        }
        Ok((loss, self.setting.run.rate(state.cursor.step - 1)))
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
struct Compared<'a, T> {
    samples: &'a Samples<T>,
    loss: PreparedLoss<'a, T>,
    folded: bool,
}

impl<T: Scalar> Compared<'_, T> {
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
        let o = &self.samples.objective;
        let band = self.loss.band.as_ref().zip(o.field.as_ref());
        Targets {
            inputs: self.samples.inputs.as_ref(),
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

fn constants<T: Scalar>(setting: &Setting<'_, T>) -> Constants<T> {
    let c = setting.run.stage.optimiser.coefficients::<T>(1.0, 0.0, 1);
    Constants {
        l2: c.l2,
        keep1: c.keep1,
        beta2: c.beta2,
        keep2: c.keep2,
        epsilon: c.epsilon,
        clip: setting.run.plan.clip,
    }
}

/// The numbers that the processor would compute before the same step.
fn step_settings<T: Scalar>(setting: &Setting<'_, T>, step: usize) -> StepSettings<T> {
    let rate = setting.run.rate(step);
    let c = setting
        .run
        .stage
        .optimiser
        .coefficients::<T>(1.0, rate, step + 1);
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
