//! The training loop.

use super::loss::Loss;
use super::optimiser::Optimiser;
use super::scalar::Scalar;
use super::schedule::Schedule;
use super::state::State;
use super::steps::{Run, Steps};
use crate::compute::Device;
use crate::observe::{Event, Metric, Observer, Progress};
use crate::{Error, Result};
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
    /// Stages in sequence, each with fresh moments from where the last one ended.
    pub stages: Vec<Stage>,
    /// Determines the order of samples.
    pub seed: u64,
    /// The number of parts of a batch, whatever the number of threads.
    pub shards: usize,
    /// The largest gradient norm; longer gradients are scaled down to it.
    pub clip: Option<f64>,
    /// How often a stage is evaluated and recorded.
    pub evaluations: usize,
}

impl Plan {
    /// Steps of all stages.
    pub fn steps(&self) -> usize {
        self.stages.iter().map(|s| s.steps).sum()
    }
}

/// The steps of a stage that starts or continues from a state.
pub(in crate::map) type Begin<'a, T> =
    dyn Fn(Run<'a>, &State<T>, Device) -> Result<Box<dyn Steps<T> + 'a>> + 'a;

/// A training run: everything that determines it except the initial state.
pub(in crate::map) struct Training<'a, T> {
    pub(in crate::map) plan: &'a Plan,
    /// The number of training samples.
    pub(in crate::map) samples: usize,
    pub(in crate::map) begin: Box<Begin<'a, T>>,
    /// Identifies it in checkpoints.
    pub(in crate::map) mark: &'a str,
}

/// Trains from `state` to the end of the plan; afterwards `state.parameters` are the result.
///
/// # Errors
/// [`Error::Interrupted`] if the observer asks to stop, after a checkpoint; [`Error::Numerical`] if loss or
/// gradient stop being finite, with `state` as it was before that step.
pub(in crate::map) fn train<T: Scalar>(
    training: Training<'_, T>,
    state: &mut State<T>,
    observer: &dyn Observer,
) -> Result<()> {
    let Training {
        plan,
        samples,
        begin,
        mark,
    } = training;
    let mut clock = Clock::new(observer);
    while let Some(stage) = plan.stages.get(state.cursor.stage) {
        let run = Run {
            plan,
            stage,
            number: state.cursor.stage,
            samples,
        };
        let mut steps = begin(run, state, observer.device())?;
        while state.cursor.step < stage.steps {
            let cancelled = observer.cancelled();
            if cancelled || clock.checkpoint_due() {
                steps.settle(state)?;
                observer.checkpoint(mark, &state.save(mark)?)?;
            }
            if cancelled {
                return Err(Error::Interrupted);
            }
            let most = steps_to_record(plan, stage, state.cursor.step);
            let (loss, rate) = steps.advance(state, most)?;
            let recorded = steps_to_record(plan, stage, state.cursor.step - 1) == 1;
            if recorded {
                record(steps.as_mut(), state, rate)?;
            }
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
        steps.settle(state)?;
        state.finish_stage();
    }
    // A fit may train several networks; finished ones are not trained again.
    if observer.checkpoint_every().is_some() {
        observer.checkpoint(mark, &state.save(mark)?)?;
    }
    Ok(())
}

/// How many steps after `step` of them end with a record.
fn steps_to_record(plan: &Plan, stage: &Stage, step: usize) -> usize {
    let every = stage.steps.div_ceil(plan.evaluations.max(1));
    (every - step % every).min(stage.steps - step)
}

/// Evaluates, and adds to the history.
fn record<T: Scalar>(steps: &mut dyn Steps<T>, state: &mut State<T>, rate: f64) -> Result<()> {
    let judged = steps.judge(state)?;
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
    Ok(())
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
