//! The state of training between steps, and how it is saved in a checkpoint and restored.

use super::scalar::Scalar;
use crate::compute::StepResult;
use crate::observe::Metric;
use crate::storage::{Archive, tensor};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The state of training between steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "T: crate::storage::leaf::Element")]
pub(in crate::map) struct State<T> {
    #[serde(with = "tensor")]
    pub(in crate::map) parameters: Vec<T>,
    /// Means of gradients and of their squares.
    #[serde(with = "tensor")]
    pub(super) first: Vec<T>,
    #[serde(with = "tensor")]
    pub(super) second: Vec<T>,
    pub(in crate::map) cursor: Cursor,
}

/// Its scalars.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(in crate::map) struct Cursor {
    pub(super) stage: usize,
    /// Steps taken in the stage, and in all stages.
    pub(in crate::map) step: usize,
    pub(in crate::map) steps_done: usize,
    /// Sums since the last record.
    pub(super) loss_sum: f64,
    pub(super) relative_sum: f64,
    pub(super) summed: usize,
    pub(super) gradient_norm: f64,
    pub(in crate::map) history: Vec<Metric>,
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
}

/// A state in a file.
#[derive(Serialize, Deserialize)]
struct Checkpoint<S> {
    kind: String,
    /// Identifies the run.
    mark: String,
    state: S,
}

const KIND: &str = "mlp-checkpoint";

impl<T: Scalar> State<T> {
    pub(in crate::map) fn new(parameters: Vec<T>) -> Self {
        State {
            first: vec![T::default(); parameters.len()],
            second: vec![T::default(); parameters.len()],
            parameters,
            cursor: Cursor::default(),
        }
    }

    /// The next stage starts from the parameters with fresh moments.
    pub(super) fn finish_stage(&mut self) {
        self.first.fill(T::default());
        self.second.fill(T::default());
        self.cursor = Cursor {
            stage: self.cursor.stage + 1,
            steps_done: self.cursor.steps_done,
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
    pub(in crate::map) fn load(archive: Archive, parameters: usize, mark: &str) -> Result<Self> {
        if archive.document["kind"].as_str() != Some(KIND) {
            return Err(Error::Data("the file is not a training checkpoint".into()));
        }
        if archive.document["mark"].as_str() != Some(mark) {
            return Err(Error::Data(
                "the checkpoint belongs to a run with other data or settings; resume with the same ones, or start again"
                    .into(),
            ));
        }
        let state = archive.restore::<Checkpoint<Self>>("checkpoint")?.state;
        for values in [&state.parameters, &state.first, &state.second] {
            if values.len() != parameters {
                return Err(Error::Data(format!(
                    "the checkpoint is damaged: {} values for {parameters} parameters",
                    values.len(),
                )));
            }
        }
        Ok(state)
    }
}
