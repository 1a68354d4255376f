//! The training loop.

use super::engine::{Batch, Engine, Samples};
use super::loss::{Loss, LossSum};
use super::network::Network;
use super::optimiser::{Moments, Optimiser};
use super::scalar::Scalar;
use super::schedule::Schedule;
use super::state::State;
use crate::observe::{Event, Metric, Observer, Progress};
use crate::{Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// One stage of training: a loss, how to step, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What is minimised.
    pub loss: Loss,
    /// The update rule.
    pub optimiser: Optimiser,
    /// How the rate changes.
    pub schedule: Schedule,
    /// Its peak.
    pub rate: f64,
    /// The number of steps.
    pub steps: usize,
    /// Samples per step, all if `None`.
    pub batch: Option<usize>,
}

/// Everything that determines training, given network, samples and initial weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// One after the other, each with fresh moments from where the last one ended.
    pub stages: Vec<Stage>,
    /// Determines the order of samples.
    pub seed: u64,
    /// Into how many parts a batch is split, whatever the number of threads.
    pub shards: usize,
    /// The largest norm of a gradient; longer ones are shortened to it.
    pub clip: Option<f64>,
    /// The decay of a moving average of the weights that is used in their place.
    pub ema: Option<f64>,
    /// End a stage after this many evaluations in a row without a smaller validation loss.
    pub patience: Option<usize>,
    /// End a stage at the weights with the smallest validation loss.
    pub keep_best: bool,
    /// How often a stage is evaluated and recorded.
    pub evaluations: usize,
}

impl Plan {
    /// Steps of all stages.
    pub fn steps(&self) -> usize {
        self.stages.iter().map(|s| s.steps).sum()
    }
}

/// Trains from `state` to the end of the plan; afterwards `state.parameters` are the result.
///
/// # Errors
/// [`Error::Interrupted`] if the observer asks to stop, after a checkpoint; [`Error::Numerical`] if loss or
/// gradient stop being finite, with `state` as it was before that step.
pub(super) fn train<T: Scalar>(
    network: &Network,
    plan: &Plan,
    samples: &Samples<T>,
    validation: Option<&Samples<T>>,
    state: &mut State<T>,
    observer: &dyn Observer,
    mark: &str,
) -> Result<()> {
    let mut clock = Clock::new(observer);
    while let Some(stage) = plan.stages.get(state.cursor.stage) {
        let largest = stage.batch.unwrap_or(samples.len()).clamp(1, samples.len());
        let mut run = Run {
            plan,
            stage,
            engine: Engine::new(network, samples, &stage.loss, largest, plan.shards)?,
            judge: validation
                .map(|v| Engine::new(network, v, &stage.loss, v.len(), plan.shards))
                .transpose()?,
            order: Order::new(samples.len(), largest, plan.seed, state.cursor.stage),
        };
        while state.cursor.step < stage.steps && !state.cursor.over {
            if observer.cancelled() {
                observer.checkpoint(mark, &state.save(mark)?)?;
                return Err(Error::Interrupted);
            }
            if clock.checkpoint_due() {
                observer.checkpoint(mark, &state.save(mark)?)?;
            }
            let (loss, rate) = run.step(state)?;
            let recorded = run.record(state, rate);
            if recorded || clock.progress_due() {
                observer.event(&Event::Training(&Progress {
                    step: state.cursor.steps_done,
                    steps: plan.steps(),
                    loss,
                    rate,
                    metric: state.cursor.history.last(),
                    recorded,
                }));
            }
        }
        state.finish_stage();
    }
    // A fit may train several networks; finished ones are not trained again.
    if observer.checkpoint_every().is_some() {
        observer.checkpoint(mark, &state.save(mark)?)?;
    }
    Ok(())
}

/// One stage in progress.
struct Run<'a, T> {
    plan: &'a Plan,
    stage: &'a Stage,
    engine: Engine<'a, T>,
    judge: Option<Engine<'a, T>>,
    order: Order,
}

impl<T: Scalar> Run<'_, T> {
    /// One step; returns its loss and rate.
    fn step(&mut self, state: &mut State<T>) -> Result<(f64, f64)> {
        let (plan, stage) = (self.plan, self.stage);
        let step = state.cursor.step;
        let rate = stage.schedule.rate(step, stage.steps, stage.rate);
        let batch = self.order.batch(step);
        let LossSum { loss, relative } = self.engine.differentiate(&state.parameters, batch);
        let norm = self.engine.gradient_norm();
        if !loss.is_finite() || !norm.is_finite() {
            return Err(Error::Numerical(format!(
                "training diverged at step {} of {} (stage {}, learning rate {rate:.3e}): loss {loss}, norm of \
                 the gradient {norm}; lower `rate`, or set `clip`",
                state.cursor.steps_done + 1,
                plan.steps(),
                state.cursor.stage + 1,
            )));
        }
        // PyTorch's rule, including its guard against zero.
        let factor = plan
            .clip
            .map_or(1.0, |clip| (clip / (norm + 1e-6)).min(1.0));
        let t = step + 1;
        let State {
            parameters,
            first,
            second,
            average,
            cursor,
            ..
        } = state;
        // Early averages forget the start faster.
        let decay = |ema: f64| ema.min((1.0 + t as f64) / (10.0 + t as f64));
        let moments = Moments {
            first,
            second,
            average: average
                .as_deref_mut()
                .zip(plan.ema)
                .map(|(a, ema)| (a, decay(ema))),
        };
        stage
            .optimiser
            .update(parameters, moments, self.engine.gradient(), factor, rate, t);
        cursor.step += 1;
        cursor.steps_done += 1;
        cursor.loss_sum += loss;
        cursor.relative_sum += relative;
        cursor.summed += 1;
        cursor.gradient_norm = norm;
        Ok((loss, rate))
    }

    /// Evaluates and adds to the history at the steps where that is due.
    fn record(&mut self, state: &mut State<T>, rate: f64) -> bool {
        let step = state.cursor.step;
        let every = self.stage.steps.div_ceil(self.plan.evaluations.max(1));
        if !step.is_multiple_of(every) && step != self.stage.steps {
            return false;
        }
        let current = state.average.as_ref().unwrap_or(&state.parameters);
        let judged = self.judge.as_mut().map(|judge| judge.evaluate(current));
        if let Some(judged) = judged {
            if self.plan.keep_best && state.cursor.improves(judged.loss) {
                state.best = Some(current.clone());
            }
            state.cursor.judge(judged.loss, self.plan.patience);
        }
        let cursor = &mut state.cursor;
        let mean = |sum: f64| sum / cursor.summed as f64;
        cursor.history.push(Metric {
            stage: cursor.stage,
            step: cursor.steps_done,
            loss: mean(cursor.loss_sum),
            train_rl2e: mean(cursor.relative_sum),
            validation_loss: judged.map(|j| j.loss),
            validation_rl2e: judged.map(|j| j.relative),
            rate,
            gradient_norm: cursor.gradient_norm,
        });
        (cursor.loss_sum, cursor.relative_sum, cursor.summed) = (0.0, 0.0, 0);
        true
    }
}

/// Which samples each step of a stage sees; a function of the step, so that a resumed run sees the same.
struct Order {
    samples: usize,
    /// Batches per pass over all samples, whose sizes differ by at most one.
    batches: usize,
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

    fn batch(&mut self, step: usize) -> Batch<'_> {
        if self.batches == 1 {
            return Batch::All;
        }
        let (pass, b) = (step / self.batches, step % self.batches);
        if self.pass != Some(pass) {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(((self.stage as u64 + 1) << 40) + pass as u64);
            self.order.iter_mut().enumerate().for_each(|(i, k)| *k = i);
            self.order.shuffle(&mut rng);
            self.pass = Some(pass);
        }
        let at = |b: usize| self.samples * b / self.batches;
        Batch::Some(&self.order[at(b)..at(b + 1)])
    }
}

/// Decides when to report and when to write a checkpoint.
struct Clock {
    reported: Instant,
    saved: Instant,
    save_every: Option<Duration>,
}

impl Clock {
    fn new(observer: &dyn Observer) -> Self {
        Clock {
            reported: Instant::now(),
            saved: Instant::now(),
            save_every: observer.checkpoint_every(),
        }
    }

    fn progress_due(&mut self) -> bool {
        let due = self.reported.elapsed() >= Duration::from_millis(100);
        if due {
            self.reported = Instant::now();
        }
        due
    }

    fn checkpoint_due(&mut self) -> bool {
        let due = self
            .save_every
            .is_some_and(|every| self.saved.elapsed() >= every);
        if due {
            self.saved = Instant::now();
        }
        due
    }
}
