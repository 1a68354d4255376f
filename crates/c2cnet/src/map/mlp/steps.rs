//! The steps of a stage: the interface for the training loop, on any device, and its implementation on the CPU.

use super::engine::{Batch, Engine, Samples};
use super::loss::LossSum;
use super::network::Network;
use super::on_device::OnDevice;
use super::optimiser::Moments;
use super::scalar::Scalar;
use super::state::State;
use super::train::{Begin, Plan, Stage};
use crate::compute::StepResult;
use crate::{Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// Takes the steps of a stage.
pub(in crate::map) trait Steps<T> {
    /// Takes at least one and at most `most` steps, and counts them in the state's cursor; returns loss and rate
    /// of the last one. The state's other numbers may lag behind.
    fn advance(&mut self, state: &mut State<T>, most: usize) -> Result<(f64, f64)>;

    /// The loss of the validation samples, if there are any.
    fn judge(&mut self, state: &State<T>) -> Result<Option<LossSum>>;

    /// Brings all of the state up to date.
    fn settle(&mut self, state: &mut State<T>) -> Result<()>;
}

/// A stage of a plan, for this many samples.
#[derive(Clone, Copy)]
pub(in crate::map) struct Run<'a> {
    pub(in crate::map) plan: &'a Plan,
    pub(in crate::map) stage: &'a Stage,
    /// The stage's, from 0.
    pub(in crate::map) number: usize,
    pub(in crate::map) samples: usize,
}

/// What a stage works on.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a, T> {
    pub(super) network: &'a Network,
    pub(super) run: Run<'a>,
    pub(super) samples: &'a Samples<T>,
    pub(super) validation: Option<&'a Samples<T>>,
}

/// Loss and gradient of a model whose parameters are one slice.
pub(in crate::map) trait Differentiate<T> {
    /// The mean loss of `batch`; its gradient is then in [`Differentiate::gradient`].
    fn differentiate(&mut self, parameters: &[T], batch: Batch<'_>) -> LossSum;

    /// The mean loss of all samples.
    fn evaluate(&mut self, parameters: &[T]) -> LossSum;

    /// The gradient with respect to the parameters.
    fn gradient(&self) -> &[T];

    /// Its Euclidean norm, summed in a fixed order.
    fn gradient_norm(&self) -> f64;
}

/// How the stages of a network's training begin.
pub(super) fn of_network<'a, T: Scalar>(
    network: &'a Network,
    samples: &'a Samples<T>,
    validation: Option<&'a Samples<T>>,
) -> Box<Begin<'a, T>> {
    Box::new(move |run, state, device| {
        let setting = Setting {
            network,
            run,
            samples,
            validation,
        };
        Ok(match OnDevice::new(setting, state, device)? {
            Some(steps) => Box::new(steps),
            None => Box::new(on_cpu(setting)?),
        })
    })
}

impl Run<'_> {
    /// The most samples of a step.
    pub(in crate::map) fn largest(&self) -> usize {
        let all = self.samples;
        self.stage.batch.unwrap_or(all).clamp(1, all)
    }

    pub(super) fn order(&self) -> Order {
        Order::new(self.samples, self.largest(), self.plan.seed, self.number)
    }

    /// The rate of a step of the stage.
    pub(super) fn rate(&self, step: usize) -> f64 {
        let stage = self.stage;
        stage.schedule.rate(step, stage.steps, stage.rate)
    }

    /// The error when loss or gradient of the step after `state` are not finite.
    pub(super) fn diverged<T>(&self, state: &State<T>, result: &StepResult) -> Error {
        Error::Numerical(format!(
            "training diverged at step {} of {} (stage {}, learning rate {:.3e}): loss {}, norm of \
             the gradient {}; lower `rate`, or set `clip`",
            state.cursor.steps_done + 1,
            self.plan.steps(),
            state.cursor.stage + 1,
            self.rate(state.cursor.step),
            result.loss,
            result.norm,
        ))
    }
}

/// Steps on the CPU, one at a time.
pub(in crate::map) struct OnCpu<'a, E> {
    run: Run<'a>,
    engine: E,
    judge: Option<E>,
    order: Order,
}

impl<'a, E> OnCpu<'a, E> {
    /// Steps by `engine`; `judge` has the validation samples.
    pub(in crate::map) fn new(run: Run<'a>, engine: E, judge: Option<E>) -> Self {
        OnCpu {
            order: run.order(),
            run,
            engine,
            judge,
        }
    }
}

pub(super) fn on_cpu<'a, T: Scalar>(setting: Setting<'a, T>) -> Result<OnCpu<'a, Engine<'a, T>>> {
    let run = setting.run;
    let engine = |samples: &'a Samples<T>, largest: usize| {
        let (network, loss) = (setting.network, &run.stage.loss);
        Engine::new(network, samples, loss, largest, run.plan.shards)
    };
    let judge = setting.validation.map(|v| engine(v, v.len())).transpose()?;
    Ok(OnCpu::new(
        run,
        engine(setting.samples, run.largest())?,
        judge,
    ))
}

impl<T: Scalar, E: Differentiate<T>> Steps<T> for OnCpu<'_, E> {
    fn advance(&mut self, state: &mut State<T>, _: usize) -> Result<(f64, f64)> {
        let (plan, stage) = (self.run.plan, self.run.stage);
        let step = state.cursor.step;
        let rate = self.run.rate(step);
        let batch = self.order.batch(step);
        let LossSum { loss, relative } = self.engine.differentiate(&state.parameters, batch);
        let norm = self.engine.gradient_norm();
        let result = StepResult {
            loss,
            relative,
            norm,
        };
        if !result.finite() {
            return Err(self.run.diverged(state, &result));
        }
        // PyTorch's rule, including its guard against zero.
        let factor = plan
            .clip
            .map_or(1.0, |clip| (clip / (norm + 1e-6)).min(1.0));
        let moments = Moments {
            first: &mut state.first,
            second: &mut state.second,
        };
        stage.optimiser.update(
            &mut state.parameters,
            moments,
            self.engine.gradient(),
            &stage.optimiser.coefficients(factor, rate, step + 1),
        );
        state.cursor.count(&result);
        Ok((loss, rate))
    }

    fn judge(&mut self, state: &State<T>) -> Result<Option<LossSum>> {
        let judge = self.judge.as_mut();
        Ok(judge.map(|judge| judge.evaluate(&state.parameters)))
    }

    fn settle(&mut self, _: &mut State<T>) -> Result<()> {
        Ok(())
    }
}

/// Which samples each step of a stage sees; a function of the step, so that a resumed run sees the same.
pub(super) struct Order {
    samples: usize,
    /// Batches per pass over all samples, whose sizes differ by at most one.
    pub(super) batches: usize,
    seed: u64,
    stage: usize,
    /// The pass whose order is in `order`.
    pass: Option<usize>,
    order: Vec<usize>,
}

impl Order {
    fn new(samples: usize, largest: usize, seed: u64, stage: usize) -> Self {
        Order {
            samples,
            batches: samples.div_ceil(largest),
            seed,
            stage,
            pass: None,
            order: (0..samples).collect(),
        }
    }

    /// The order of samples in the pass of `step`, if that is another one than last time.
    pub(super) fn enter(&mut self, step: usize) -> Option<&[usize]> {
        let pass = step / self.batches;
        if self.batches == 1 || self.pass == Some(pass) {
            return None;
        }
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(((self.stage as u64 + 1) << 40) + pass as u64);
        self.order.iter_mut().enumerate().for_each(|(i, k)| *k = i);
        self.order.shuffle(&mut rng);
        self.pass = Some(pass);
        Some(&self.order)
    }

    fn batch(&mut self, step: usize) -> Batch<'_> {
        if self.batches == 1 {
            return Batch::All;
        }
        self.enter(step);
        let b = step % self.batches;
        let at = |b: usize| self.samples * b / self.batches;
        Batch::Some(&self.order[at(b)..at(b + 1)])
    }
}
