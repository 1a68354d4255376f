//! Loss and gradient of a batch.

use super::network::{Frozen, Inputs, Workspace};
use crate::Result;
use crate::map::mlp::Loss;
use crate::map::mlp::engine::Batch;
use crate::map::mlp::loss::{LossScratch, LossSum, PreparedLoss};
use crate::map::mlp::objective::Objective;
use crate::map::mlp::scalar::Scalar;
use crate::map::mlp::steps::Differentiate;
use crate::map::mlp::vector::dot;
use faer::Par;
use rayon::prelude::*;

/// Norms are summed in parts of this many numbers.
const CHUNK: usize = 1 << 14;

/// Inputs of samples and the objective for their outputs.
pub(super) struct Samples<T> {
    pub inputs: Inputs<T>,
    pub objective: Objective<T>,
}

/// Everything that a step needs, allocated once.
pub(super) struct Engine<'a, T> {
    frozen: &'a Frozen<T>,
    samples: &'a Samples<T>,
    loss: PreparedLoss<'a, T>,
    scratch: LossScratch<T>,
    work: Workspace<T>,
    /// Samples of a pass, at most.
    largest: usize,
    gradient: Vec<T>,
}

impl<'a, T: Scalar> Engine<'a, T> {
    /// For batches of up to `largest` samples, with gradients or without.
    ///
    /// # Errors
    /// If the loss needs data that the samples do not have.
    pub(super) fn new(
        frozen: &'a Frozen<T>,
        samples: &'a Samples<T>,
        loss: &Loss,
        largest: usize,
        backward: bool,
    ) -> Result<Self> {
        let loss = PreparedLoss::new(loss, &samples.objective, false)?;
        let parameters = if backward {
            frozen.shape.parameters()
        } else {
            0
        };
        Ok(Engine {
            scratch: loss.scratch(largest),
            work: Workspace::new(frozen, largest, backward),
            gradient: vec![T::default(); parameters],
            frozen,
            samples,
            loss,
            largest,
        })
    }

    /// The summed loss of `chosen`; gradients by outputs, times `weight`, replace these.
    fn pass(&mut self, parameters: &[T], chosen: &[usize], weight: f64) -> LossSum {
        let (inputs, work) = (&self.samples.inputs, &mut self.work);
        self.frozen.forward(parameters, inputs, chosen, work);
        let samples = chosen.iter().copied();
        self.loss.gradient(
            &mut work.outputs,
            samples,
            weight,
            &mut self.scratch,
            Par::Seq,
        )
    }
}

impl<T: Scalar> Differentiate<T> for Engine<'_, T> {
    fn differentiate(&mut self, parameters: &[T], batch: Batch<'_>) -> LossSum {
        let all: Vec<usize>;
        let chosen = match batch {
            Batch::Some(chosen) => chosen,
            Batch::All => {
                all = (0..self.samples.inputs.len()).collect();
                &all
            }
        };
        let weight = 1.0 / chosen.len() as f64;
        let sum = self.pass(parameters, chosen, weight);
        let (work, gradient) = (&mut self.work, &mut self.gradient);
        self.frozen
            .backward(parameters, chosen.len(), work, gradient);
        LossSum {
            loss: sum.loss * weight,
            relative: sum.relative * weight,
        }
    }

    fn evaluate(&mut self, parameters: &[T]) -> LossSum {
        let all: Vec<usize> = (0..self.samples.inputs.len()).collect();
        let mut sum = LossSum::default();
        for chosen in all.chunks(self.largest) {
            sum += self.pass(parameters, chosen, 1.0);
        }
        LossSum {
            loss: sum.loss / all.len() as f64,
            relative: sum.relative / all.len() as f64,
        }
    }

    fn gradient(&self) -> &[T] {
        &self.gradient
    }

    fn gradient_norm(&self) -> f64 {
        let parts = self.gradient.par_chunks(CHUNK);
        let squares: Vec<f64> = parts.map(|part| dot(part, part).to_f64()).collect();
        squares.iter().sum::<f64>().sqrt()
    }
}
