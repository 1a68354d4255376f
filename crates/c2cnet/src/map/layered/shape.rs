//! The sizes of a layered network, and where its parts stand among the parameters.

use super::{Latent, LayeredSpec};
use crate::map::mlp::Activation;
use crate::map::mlp::scalar::Scalar;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The sizes of a layered network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    /// Values that enter at each point.
    pub inputs: usize,
    pub channels: usize,
    /// Channel matrices of a layer: one per function, and for members that a group lacks.
    #[serde(alias = "functions")]
    pub matrices: usize,
    pub layers: usize,
    pub hidden: usize,
    /// Values that leave at each point.
    pub outputs: usize,
    pub activation: Activation,
}

/// A matrix and a bias behind it among the parameters.
#[derive(Debug, Clone)]
pub(super) struct Affine {
    pub rows: usize,
    pub columns: usize,
    start: usize,
}

impl Affine {
    pub(super) fn weights(&self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }

    pub(super) fn bias(&self) -> Range<usize> {
        self.weights().end..self.weights().end + self.rows
    }

    fn end(&self) -> usize {
        self.bias().end
    }
}

/// Where each part stands among the parameters.
pub(super) struct Places {
    pub lift: Affine,
    /// Each with its channel matrices.
    pub layers: Vec<(Affine, Range<usize>)>,
    pub inner: Affine,
    pub outer: Affine,
}

impl Shape {
    /// Of the layers that `spec` describes.
    pub(super) fn new(spec: &LayeredSpec, latent: &Latent) -> Self {
        Shape {
            inputs: latent.channels(),
            channels: spec.channels,
            matrices: latent.functions().groups().matrices(),
            layers: spec.layers,
            hidden: spec.hidden,
            outputs: latent.components(),
            activation: spec.activation,
        }
    }

    pub(super) fn places(&self) -> Places {
        let (c, m) = (self.channels, self.matrices);
        let affine = |rows, columns, start| Affine {
            rows,
            columns,
            start,
        };
        let lift = affine(c, self.inputs, 0);
        let mut end = lift.end();
        let mut layers = Vec::with_capacity(self.layers);
        for _ in 0..self.layers {
            let local = affine(c, c, end);
            let modes = local.end()..local.end() + m * c * c;
            end = modes.end;
            layers.push((local, modes));
        }
        let inner = affine(self.hidden, c, end);
        let outer = affine(self.outputs, self.hidden, inner.end());
        Places {
            lift,
            layers,
            inner,
            outer,
        }
    }

    pub(super) fn parameters(&self) -> usize {
        self.places().outer.end()
    }

    /// The number of parameters of a shape that a file claims.
    pub(super) fn checked_parameters(&self) -> Option<usize> {
        let modes = (self.channels.checked_pow(2)?).checked_mul(self.matrices.checked_add(1)?)?;
        let layer = modes.checked_add(self.channels)?;
        let lift = self.inputs.checked_add(1)?.checked_mul(self.channels)?;
        let inner = self.channels.checked_add(1)?.checked_mul(self.hidden)?;
        let outer = self.hidden.checked_add(1)?.checked_mul(self.outputs)?;
        let sums = [layer.checked_mul(self.layers)?, lift, inner, outer];
        sums.into_iter().try_fold(0usize, usize::checked_add)
    }

    /// Uniform weights that preserve magnitudes; the last ones are zero, so that the network adds nothing at first.
    pub(super) fn initialise<T: Scalar>(&self, seed: u64) -> Vec<T> {
        let places = self.places();
        let mut all = vec![T::default(); self.parameters()];
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(1 << 32);
        let mut fill = |range: Range<usize>, fan_in: usize| {
            let bound = 1.0 / (fan_in as f64).sqrt();
            for value in &mut all[range] {
                *value = T::from_f64(bound * (2.0 * rng.random::<f64>() - 1.0));
            }
        };
        fill(places.lift.start..places.lift.end(), self.inputs);
        for (local, modes) in &places.layers {
            fill(local.start..local.end(), self.channels);
            fill(modes.clone(), self.channels);
        }
        fill(places.inner.start..places.inner.end(), self.channels);
        all
    }
}
