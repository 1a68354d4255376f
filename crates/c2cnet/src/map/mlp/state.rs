//! The state of training between steps, and how it is saved in a checkpoint and restored.

use super::network::Network;
use super::scalar::Scalar;
use super::train::Plan;
use crate::compute::StepResult;
use crate::observe::Metric;
use crate::storage::{Archive, tensor};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The state of training between steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "T: tensor::Element")]
pub(super) struct State<T> {
    #[serde(with = "tensor")]
    pub(super) parameters: Vec<T>,
    /// Means of gradients and of their squares.
    #[serde(with = "tensor")]
    pub(super) first: Vec<T>,
    #[serde(with = "tensor")]
    pub(super) second: Vec<T>,
    /// The moving average of the parameters, if the plan asks for one.
    #[serde(with = "tensor")]
    pub(super) average: Option<Vec<T>>,
    /// The parameters with the smallest validation loss of the stage, if the plan keeps them.
    #[serde(with = "tensor")]
    pub(super) best: Option<Vec<T>>,
    pub(super) cursor: Cursor,
}

/// Its scalars.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Cursor {
    pub(super) stage: usize,
    /// Steps taken in the stage, and in all stages.
    pub(super) step: usize,
    pub(super) steps_done: usize,
    /// Sums since the last record.
    pub(super) loss_sum: f64,
    pub(super) relative_sum: f64,
    pub(super) summed: usize,
    pub(super) gradient_norm: f64,
    /// The smallest validation loss of the stage, and how many evaluations ago.
    pub(super) best_loss: Option<f64>,
    pub(super) waited: usize,
    /// Whether patience ended the stage.
    pub(super) over: bool,
    pub(super) stopped_early: bool,
    pub(super) history: Vec<Metric>,
}

impl Cursor {
    /// A step was taken.
    pub(super) fn count(&mut self, result: &StepResult) {
        self.step += 1;
        self.steps_done += 1;
        self.loss_sum += result.loss;
        self.relative_sum += result.relative;
        self.summed += 1;
        self.gradient_norm = result.norm;
    }

    pub(super) fn improves(&self, loss: f64) -> bool {
        self.best_loss.is_none_or(|best| loss < best)
    }

    /// Records a validation loss.
    pub(super) fn judge(&mut self, loss: f64, patience: Option<usize>) {
        if self.improves(loss) {
            self.best_loss = Some(loss);
            self.waited = 0;
        } else {
            self.waited += 1;
        }
        self.over = patience.is_some_and(|p| self.waited >= p);
        self.stopped_early |= self.over;
    }
}

/// A state in a file.
#[derive(Serialize, Deserialize)]
struct Checkpoint<S> {
    kind: String,
    /// Tells runs apart.
    mark: String,
    state: S,
}

const KIND: &str = "mlp-checkpoint";

impl<T: Scalar> State<T> {
    pub(super) fn new(parameters: Vec<T>, plan: &Plan) -> Self {
        State {
            first: vec![T::default(); parameters.len()],
            second: vec![T::default(); parameters.len()],
            average: plan.ema.map(|_| parameters.clone()),
            best: None,
            parameters,
            cursor: Cursor::default(),
        }
    }

    /// The parameters that are judged: the average where there is one.
    pub(super) fn current(&self) -> &[T] {
        self.average.as_ref().unwrap_or(&self.parameters)
    }

    /// The stage's result becomes the parameters, from which the next stage starts with fresh moments.
    pub(super) fn finish_stage(&mut self) {
        if let Some(best) = self.best.take() {
            self.parameters = best;
        } else if let Some(average) = &self.average {
            self.parameters.copy_from_slice(average);
        }
        if let Some(average) = &mut self.average {
            average.copy_from_slice(&self.parameters);
        }
        self.first.fill(T::default());
        self.second.fill(T::default());
        self.cursor = Cursor {
            stage: self.cursor.stage + 1,
            steps_done: self.cursor.steps_done,
            stopped_early: self.cursor.stopped_early,
            history: std::mem::take(&mut self.cursor.history),
            ..Cursor::default()
        };
    }

    /// `mark` identifies the run: [`State::load`] refuses any other.
    pub(super) fn save(&self, mark: &str) -> Result<Archive> {
        Archive::of(&Checkpoint {
            kind: KIND.into(),
            mark: mark.into(),
            state: self,
        })
    }

    /// The inverse of [`State::save`].
    ///
    /// # Errors
    /// If the archive is not a checkpoint, is damaged, or belongs to another run.
    pub(super) fn load(
        archive: Archive,
        network: &Network,
        plan: &Plan,
        mark: &str,
    ) -> Result<Self> {
        if archive.document["kind"].as_str() != Some(KIND) {
            return Err(Error::Data(
                "the file is not a checkpoint of training".into(),
            ));
        }
        if archive.document["mark"].as_str() != Some(mark) {
            return Err(Error::Data(
                "the checkpoint belongs to a run with other data or settings; resume with the same ones, or start again"
                    .into(),
            ));
        }
        let damaged = |why: &str| Error::Data(format!("the checkpoint is damaged: {why}"));
        let state = archive.restore::<Checkpoint<Self>>("checkpoint")?.state;
        let all = [
            Some(&state.parameters),
            Some(&state.first),
            Some(&state.second),
            state.average.as_ref(),
            state.best.as_ref(),
        ];
        for values in all.into_iter().flatten() {
            if values.len() != network.parameters() {
                return Err(damaged(&format!("{} values", values.len())));
            }
        }
        if plan.ema.is_some() != state.average.is_some() {
            return Err(damaged("the moving average does not fit the settings"));
        }
        Ok(state)
    }
}
