//! A fully connected network: its shape, its parameters in one slice, forward and backward.
//!
//! Layer $l$ maps $h \mapsto \sigma(Wh + \beta)$, the last one without $\sigma$. Its parameters are
//! $W$ column by column and then $\beta$, which is the matrix $[W\ \beta]$ column by column. With a
//! row of ones below $h$ the layer is the one product $[W\ \beta]\begin{bmatrix}h\\1\end{bmatrix}$,
//! and so is the gradient with respect to both.

use super::activation::Activation;
use super::scalar::Scalar;
use super::vector::multiply_by;
use crate::linalg::matmul;
use crate::{Error, Result, memory};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The shape of a network; parameters are stored elsewhere, in one slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    widths: Vec<usize>,
    activation: Activation,
}

impl Network {
    /// From the widths of inputs, hidden layers and outputs.
    ///
    /// # Errors
    /// If there are fewer than two widths, one is zero, or the parameters do not fit in memory.
    pub fn new(widths: Vec<usize>, activation: Activation) -> Result<Self> {
        if widths.len() < 2 || widths.contains(&0) {
            return Err(Error::Config(format!(
                "mlp: the widths {widths:?} must be at least two positive numbers"
            )));
        }
        let network = Network { widths, activation };
        // The parameters, their gradient, and the optimiser's two moments.
        let parameters = network.checked_parameters().unwrap_or(usize::MAX);
        let what = format!("mlp: training a network with widths {:?}", network.widths);
        memory::check_allocation(&what, &[4, parameters])?;
        Ok(network)
    }

    /// Widths of inputs, hidden layers and outputs.
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// The activation.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.widths.len() - 1
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.widths[0]
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.widths[self.layers()]
    }

    /// $\sum_l w_{l+1}(w_l + 1)$.
    pub fn parameters(&self) -> usize {
        self.range(self.layers() - 1).end
    }

    /// Whether a network that was read from a file needs this many `parameters`.
    pub(super) fn fits(&self, parameters: usize) -> bool {
        let whole = self.widths.len() >= 2 && !self.widths.contains(&0);
        whole && self.checked_parameters() == Some(parameters)
    }

    /// [`Network::parameters`], unless they cannot be counted.
    fn checked_parameters(&self) -> Option<usize> {
        let size = |pair: &[usize]| pair[1].checked_mul(pair[0].checked_add(1)?);
        let mut sizes = self.widths.windows(2).map(size);
        sizes.try_fold(0usize, |sum, size| sum.checked_add(size?))
    }

    /// The range of a layer's parameters.
    pub fn range(&self, layer: usize) -> Range<usize> {
        let size = |l: usize| self.widths[l + 1] * (self.widths[l] + 1);
        let start = (0..layer).map(size).sum();
        start..start + size(layer)
    }

    /// The same network with another number of outputs.
    pub(super) fn with_outputs(&self, outputs: usize) -> Network {
        let mut widths = self.widths.clone();
        widths.pop();
        widths.push(outputs);
        Network {
            widths,
            activation: self.activation,
        }
    }

    /// PyTorch's default: weights and biases uniform in $\pm1/\sqrt{w_l}$.
    pub(crate) fn initialise<T: Scalar>(&self, seed: u64) -> Vec<T> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut parameters = Vec::with_capacity(self.parameters());
        for layer in 0..self.layers() {
            let bound = 1.0 / (self.widths[layer] as f64).sqrt();
            parameters.extend(
                self.range(layer)
                    .map(|_| T::from_f64(rng.random_range(-bound..bound))),
            );
        }
        parameters
    }

    /// $[W\ \beta]$ of a layer.
    pub fn layer<'a, T>(&self, parameters: &'a [T], layer: usize) -> MatRef<'a, T> {
        MatRef::from_column_major_slice(
            &parameters[self.range(layer)],
            self.widths[layer + 1],
            self.widths[layer] + 1,
        )
    }

    /// $[W\ \beta]$ of a layer, to write.
    pub(crate) fn layer_mut<'a, T>(&self, parameters: &'a mut [T], layer: usize) -> MatMut<'a, T> {
        MatMut::from_column_major_slice_mut(
            &mut parameters[self.range(layer)],
            self.widths[layer + 1],
            self.widths[layer] + 1,
        )
    }

    /// Outputs for one sample: matrix times vector on the calling thread.
    pub(super) fn evaluate_one<T: Scalar>(&self, parameters: &[T], input: &[T]) -> Vec<T> {
        let mut scratch = Scratch::new(self, 1, true);
        scratch.activations[0].col_as_slice_mut(0)[..input.len()].copy_from_slice(input);
        self.forward(parameters, &mut scratch, None, 1, Par::Seq);
        scratch.outputs.col_as_slice(0).to_vec()
    }

    /// Outputs of the first `columns` samples into `scratch.outputs`. The samples are `inputs` (a row
    /// of ones included) or, if `None`, the columns already in `scratch.activations[0]`.
    pub(super) fn forward<T: Scalar>(
        &self,
        parameters: &[T],
        scratch: &mut Scratch<T>,
        inputs: Option<MatRef<'_, T>>,
        columns: usize,
        par: Par,
    ) {
        let one = T::from_f64(1.0);
        for layer in 0..self.layers() {
            let (before, after) = scratch.activations.split_at_mut(layer + 1);
            let h = match inputs {
                Some(inputs) if layer == 0 => inputs,
                _ => before[layer].as_ref().subcols(0, columns),
            };
            let weights = self.layer(parameters, layer);
            let last = layer + 1 == self.layers();
            let target = if last {
                &mut scratch.outputs
            } else {
                &mut scratch.slopes[layer]
            };
            let product = target.as_mut().subcols_mut(0, columns);
            matmul(product, Accum::Replace, weights, h, one, par);
            if !last {
                self.activation.apply(target, &mut after[0], columns);
            }
        }
    }

    /// The gradient of the parameters, replacing or added to `gradient`, from that of the outputs
    /// in `scratch.outputs`, after [`Network::forward`] of the same samples; overwrites `scratch`.
    pub(super) fn backward<T: Scalar>(
        &self,
        parameters: &[T],
        scratch: &mut Scratch<T>,
        inputs: Option<MatRef<'_, T>>,
        columns: usize,
        (gradient, accum): (&mut [T], Accum),
        par: Par,
    ) {
        let one = T::from_f64(1.0);
        for layer in (0..self.layers()).rev() {
            // The gradient with respect to the layer's outputs overwrites their values, which are no
            // longer needed once the next layer has its gradient.
            let (before, after) = scratch.activations.split_at_mut(layer + 1);
            let output_gradient = match after.first() {
                Some(values) => values.as_ref().subrows(0, self.widths[layer + 1]),
                None => scratch.outputs.as_ref(),
            }
            .subcols(0, columns);
            let h = match inputs {
                Some(inputs) if layer == 0 => inputs,
                _ => before[layer].as_ref().subcols(0, columns),
            };
            let into = self.layer_mut(gradient, layer);
            matmul(into, accum, output_gradient, h.transpose(), one, par);
            if layer == 0 {
                break;
            }
            let width = self.widths[layer];
            let weights = self.layer(parameters, layer).subcols(0, width);
            let values = &mut before[layer];
            let product = values
                .as_mut()
                .subrows_mut(0, width)
                .subcols_mut(0, columns);
            matmul(
                product,
                Accum::Replace,
                weights.transpose(),
                output_gradient,
                one,
                par,
            );
            multiply(values, &scratch.slopes[layer - 1], columns);
        }
    }
}

/// Memory for a forward and a backward pass over a block of samples.
#[derive(Debug)]
pub(super) struct Scratch<T> {
    /// Inputs and values of hidden layers, each with a row of ones below.
    pub(super) activations: Vec<Mat<T>>,
    /// Arguments of the activations of hidden layers, then their derivatives.
    slopes: Vec<Mat<T>>,
    /// Outputs, then the gradient with respect to them.
    pub(super) outputs: Mat<T>,
}

impl<T: Scalar> Scratch<T> {
    /// For blocks of up to `columns` samples; `gather` if inputs are copied here.
    pub(super) fn new(network: &Network, columns: usize, gather: bool) -> Self {
        let hidden = &network.widths[1..network.layers()];
        let with_ones = |width: usize, columns: usize| {
            Mat::from_fn(width + 1, columns, |i, _| {
                T::from_f64(if i == width { 1.0 } else { 0.0 })
            })
        };
        let mut activations = vec![with_ones(
            network.inputs(),
            if gather { columns } else { 0 },
        )];
        activations.extend(hidden.iter().map(|&w| with_ones(w, columns)));
        Scratch {
            activations,
            slopes: hidden.iter().map(|&w| Mat::zeros(w, columns)).collect(),
            outputs: Mat::zeros(network.outputs(), columns),
        }
    }
}

/// The leading rows of `values`, times `slopes`.
fn multiply<T: Scalar>(values: &mut Mat<T>, slopes: &Mat<T>, columns: usize) {
    for j in 0..columns {
        multiply_by(values.col_as_slice_mut(j), slopes.col_as_slice(j));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(widths: &[usize]) -> usize {
        Network::new(widths.to_vec(), Activation::Gelu)
            .unwrap()
            .parameters()
    }

    /// Every row of the paper's performance table that names one network, and its 1D Darcy. All
    /// but one agree: for 2D Darcy it prints 492,864, and the network it prints has 495,608.
    #[test]
    fn parameter_counts_of_the_paper() {
        let rows: [(&[usize], usize); 11] = [
            (&[128, 400, 400, 400, 128], 423_728),
            (&[553, 180, 180, 2059], 504_979),
            (&[512, 210, 210, 1600], 489_640),
            (&[533, 210, 210, 1586], 491_096),
            (&[64, 512, 512], 295_936),
            (&[64, 512, 1080], 587_320),
            (&[512, 256, 256, 1024], 460_288),
            (&[32, 300, 300, 300, 1024], 498_724),
            (&[256, 415, 415, 512], 492_287),
            (&[273, 400, 400, 558], 493_758),
            (&[128, 512, 512, 1024], 854_016),
        ];
        for (widths, printed) in rows {
            assert_eq!(count(widths), printed, "{widths:?}");
        }
        let (printed, counted) = (492_864, 495_608);
        assert_eq!(count(&[512, 180, 180, 2048]), counted);
        assert_ne!(printed, counted);
    }

    #[test]
    fn initial_values_are_seeded_and_bounded() {
        let network = Network::new(vec![16, 9, 4], Activation::Gelu).unwrap();
        let a = network.initialise::<f64>(3);
        assert_eq!(a, network.initialise::<f64>(3));
        assert_ne!(a, network.initialise::<f64>(4));
        assert_eq!(a.len(), network.parameters());
        let bound = |slice: &[f64]| slice.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert!((0.2..=0.25).contains(&bound(&a[network.range(0)])));
        assert!((0.28..=1.0 / 3.0).contains(&bound(&a[network.range(1)])));
    }

    #[test]
    fn widths_are_checked() {
        for bad in [vec![], vec![3], vec![3, 0, 2]] {
            assert!(Network::new(bad, Activation::Gelu).is_err());
        }
    }

    #[test]
    fn one_sample_is_as_many() {
        let network = Network::new(vec![3, 7, 5, 2], Activation::Silu).unwrap();
        let parameters = network.initialise::<f64>(1);
        let one = network.evaluate_one(&parameters, &[0.3, -1.0, 2.0]);
        let mut scratch = Scratch::new(&network, 4, false);
        let inputs = Mat::from_fn(4, 4, |i, _| [0.3, -1.0, 2.0, 1.0][i]);
        network.forward(
            &parameters,
            &mut scratch,
            Some(inputs.as_ref()),
            4,
            Par::Seq,
        );
        for j in 0..4 {
            for (a, b) in one.iter().zip(scratch.outputs.col_as_slice(j)) {
                assert!((a - b).abs() < 1e-15);
            }
        }
    }
}
