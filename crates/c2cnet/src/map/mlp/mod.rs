//! The neural coefficient map: a fully connected network trained on the error of the decoded field.
//!
//! * [`Network`] and [`Activation`]: the network, its parameters in one slice.
//! * `objective` and [`Loss`]: the error at all output points from a few coordinates per sample, exactly.
//! * `engine`: loss and gradient of a batch in a fixed number of shards; $R$ folded into the last layer.
//! * [`Optimiser`], [`Schedule`], `train`: stages, checkpoints.
//! * `steps`: the steps of a stage, taken here; `on_device`: taken by a device of `crate::compute`.
//! * `head`: raw coefficients (recipe `paper`) or principal coordinates (recipe `fast`).
//! * [`MlpSpec`]: settings; [`MlpMap::fit`]: all of it.

pub(in crate::map) mod activation;
pub(in crate::map) mod engine;
mod fit;
mod head;
pub(in crate::map) mod loss;
mod network;
pub(in crate::map) mod objective;
pub(in crate::map) mod on_device;
mod optimiser;
pub(in crate::map) mod scalar;
mod schedule;
mod spec;
pub(in crate::map) mod state;
pub(in crate::map) mod steps;
pub(in crate::map) mod train;
pub(in crate::map) mod vector;

#[cfg(test)]
mod tests;

pub use activation::Activation;
pub use fit::{TrainingData, TrainingReport};
pub use loss::Loss;
pub use network::Network;
pub use optimiser::{Optimiser, OptimiserKind};
pub use scalar::Precision;
pub use schedule::Schedule;
pub use spec::{BatchSize, MlpSpec, Recipe, StageSpec};
pub use train::{Plan, Stage};

use super::{CoefficientMap, LinearMap};
use crate::storage::{restore_settled, tensor};
use crate::{Result, linalg};
use faer::{Mat, MatRef, Par};
use head::{Entry, Head, damaged};
use network::Scratch;
use serde::{Deserialize, Serialize};

/// A trained network between input coefficients and output coordinates.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct MlpMap {
    network: Network,
    /// The parameters as trained, widened to `f64` without loss.
    #[serde(with = "tensor")]
    parameters: Vec<f64>,
    entry: Entry,
    head: Head,
    recipe: Recipe,
    precision: Precision,
    #[serde(skip)]
    inputs: usize,
    #[serde(skip)]
    outputs: usize,
}

restore_settled!(MlpMap);

/// Samples that are predicted together.
const PREDICT_BATCH: usize = 128;

impl MlpMap {
    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Its parameters.
    #[cfg(test)]
    pub(crate) fn network_parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The raw output coefficients $b$, if those are the network's outputs (recipe `paper`).
    ///
    /// A decoder with an ill-conditioned basis should use these rather than recover them from $Rb$.
    pub fn raw_coefficients(&self, coefficients: MatRef<'_, f64>) -> Option<Mat<f64>> {
        match self.head {
            Head::Raw { scale, .. } => {
                Some(self.network_outputs(coefficients) * faer::Scale(scale))
            }
            Head::Principal { .. } => None,
        }
    }

    fn network_outputs(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let x = self.entry.apply(coefficients);
        let mut out = Mat::zeros(self.network.outputs(), x.ncols());
        if x.ncols() == 1 {
            // One sample is a matrix-vector product: nothing to split.
            let y = self
                .network
                .evaluate_one(&self.parameters, x.col_as_slice(0));
            out.col_as_slice_mut(0).copy_from_slice(&y);
            return out;
        }
        let scratch = || Scratch::new(&self.network, PREDICT_BATCH, true);
        let work = |scratch: &mut Scratch<f64>, start: usize, mut to: faer::MatMut<'_, f64>| {
            let columns = to.ncols();
            for j in 0..columns {
                let column = scratch.activations[0].col_as_slice_mut(j);
                column[..x.nrows()].copy_from_slice(x.col_as_slice(start + j));
            }
            self.network
                .forward(&self.parameters, scratch, None, columns, Par::Seq);
            to.copy_from(scratch.outputs.as_ref().subcols(0, columns));
        };
        linalg::par_column_chunks_with(out.as_mut(), PREDICT_BATCH, scratch, work);
        out
    }

    fn settle(&mut self) -> Result<()> {
        if !self.network.fits(self.parameters.len()) {
            return Err(damaged());
        }
        let (network, entry) = (&self.network, self.entry.0.as_ref());
        self.inputs = entry.map_or(network.inputs(), |e| e.mean.len());
        let outputs = self.head.coordinates_of(network.outputs());
        self.outputs = outputs.ok_or_else(damaged)?;
        let linear = |l: &LinearMap| (l.inputs(), l.outputs()) == (self.inputs, self.outputs);
        match entry.is_none_or(|e| e.axes.ncols() == network.inputs())
            && self.head.linear().is_none_or(linear)
        {
            true => Ok(()),
            false => Err(damaged()),
        }
    }
}

impl CoefficientMap for MlpMap {
    fn kind(&self) -> &'static str {
        "mlp"
    }

    fn predict(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let outputs = self.network_outputs(coefficients);
        self.head.coordinates(outputs, coefficients)
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn parameters(&self) -> usize {
        self.parameters.len()
    }

    fn describe(&self) -> String {
        let residual = matches!(
            &self.head,
            Head::Principal {
                linear: Some(_),
                ..
            }
        );
        format!(
            "network {:?}, {} parameters, recipe {}{}",
            self.network.widths(),
            self.parameters.len(),
            self.recipe.name(),
            if residual {
                ", added to the linear map"
            } else {
                ""
            },
        )
    }
}
