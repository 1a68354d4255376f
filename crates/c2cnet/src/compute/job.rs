//! A stage of training as plain data, and who carries it out.

use crate::Result;
use faer::{Mat, MatRef};

/// What follows a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    Gelu,
    GeluTanh,
    Tanh,
    Relu,
    Silu,
}

/// One stage: everything but the state it starts from.
pub(crate) struct Job<'a, T> {
    /// Widths of inputs, hidden layers and outputs; of layers in a basis, of inputs and outputs.
    pub(crate) widths: &'a [usize],
    /// Layers in a basis, where they take the place of fully connected ones.
    pub(crate) layers: Option<Layers<'a, T>>,
    pub(crate) curve: Curve,
    pub(crate) training: Targets<'a, T>,
    pub(crate) validation: Option<Targets<'a, T>>,
    pub(crate) loss: LossWeights,
    pub(crate) batches: Batches,
    pub(crate) constants: Constants<T>,
    /// Of every step of the stage.
    pub(crate) steps: Vec<StepSettings<T>>,
}

impl<T> Job<'_, T> {
    /// How many outputs there are.
    pub(crate) fn outputs(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }
}

/// Layers in a basis, as `map::layered` defines them.
#[derive(Clone, Copy)]
pub(crate) struct Layers<'a, T> {
    pub(crate) sizes: LayerSizes,
    /// $\psi_j$ at the points, one column per function.
    pub(crate) functions: MatRef<'a, T>,
    /// The same over the number of points, as every term brings them to their places: those of the first term first.
    pub(crate) means: MatRef<'a, T>,
    /// Coordinates from values at the points, component after component.
    pub(crate) projection: MatRef<'a, T>,
}

/// Sizes of layers in a basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LayerSizes {
    pub(crate) points: usize,
    /// Values that enter at each point.
    pub(crate) inputs: usize,
    pub(crate) channels: usize,
    /// Functions, and channel matrices of a layer.
    pub(crate) functions: usize,
    /// Consecutive functions that make a group, and matrices that act on it together.
    pub(crate) terms: usize,
    pub(crate) layers: usize,
    /// The width of the network at each point behind the layers.
    pub(crate) hidden: usize,
    /// Values that leave at each point.
    pub(crate) outputs: usize,
}

/// Samples and what their outputs are compared with, as `map::mlp::objective` defines it.
pub(crate) struct Targets<'a, T> {
    /// With a row of ones below; where there are layers in a basis, such a column for each point, one below the other.
    pub(crate) inputs: MatRef<'a, T>,
    pub(crate) factor: Factor<'a, T>,
    /// Coordinates, one column per sample.
    pub(crate) coordinates: MatRef<'a, T>,
    pub(crate) scale: f64,
    pub(crate) outside_squared: &'a [f64],
    pub(crate) norms: &'a [f64],
    pub(crate) counts: &'a [usize],
    pub(crate) band: Option<Band<'a, T>>,
}

/// From outputs to coordinates.
#[derive(Clone, Copy)]
pub(crate) enum Factor<'a, T> {
    None,
    /// `fold`: multiplied into the last layer once per step.
    Shared {
        r: MatRef<'a, T>,
        fold: bool,
    },
    PerSample(&'a [Mat<T>]),
}

/// Points that a loss weights: those of sample $k$ are `points[starts[k]..starts[k + 1]]`.
#[derive(Clone, Copy)]
pub(crate) struct Band<'a, T> {
    pub(crate) starts: &'a [usize],
    pub(crate) points: &'a [u32],
    pub(crate) outside: &'a [T],
    pub(crate) longest: usize,
    /// One column per point.
    pub(crate) modes: MatRef<'a, T>,
}

/// Weights of the parts of a loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LossWeights {
    pub(crate) relative: f64,
    pub(crate) mean_square: f64,
    pub(crate) band: f64,
    pub(crate) epsilon: f64,
    pub(crate) inside: f64,
    pub(crate) outside: f64,
}

/// How samples are split: batch `b` of `count` holds the places `samples * b / count` to
/// `samples * (b + 1) / count` of the order of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batches {
    pub(crate) samples: usize,
    pub(crate) count: usize,
}

impl Batches {
    /// The size of the largest.
    pub(crate) fn largest(self) -> usize {
        self.samples.div_ceil(self.count)
    }
}

/// Constants of the update rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Constants<T> {
    /// Decay that is added to the gradient.
    pub(crate) l2: T,
    /// $1-\beta_1$.
    pub(crate) keep1: T,
    pub(crate) beta2: T,
    /// $1-\beta_2$.
    pub(crate) keep2: T,
    pub(crate) epsilon: T,
    /// The largest norm of a gradient.
    pub(crate) clip: Option<f64>,
}

/// What of the update rule changes from step to step, computed before the stage begins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StepSettings<T> {
    /// The rate over $1-\beta_1^t$.
    pub(crate) size: T,
    /// $1/\sqrt{1-\beta_2^t}$.
    pub(crate) root: T,
    /// What is left of a parameter.
    pub(crate) shrink: T,
}

/// The numbers that training changes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weights<T> {
    pub(crate) parameters: Vec<T>,
    pub(crate) first: Vec<T>,
    pub(crate) second: Vec<T>,
}

/// What a step found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct StepResult {
    pub(crate) loss: f64,
    pub(crate) relative: f64,
    /// The norm of the gradient.
    pub(crate) norm: f64,
}

impl StepResult {
    pub(crate) fn finite(&self) -> bool {
        self.loss.is_finite() && self.norm.is_finite()
    }
}

/// Carries out a [`Job`]. The numbers stay where they are computed until they are asked for.
pub(crate) trait Trainer<T> {
    /// At most this many steps may lie between two calls of [`Trainer::results`].
    fn most(&self) -> usize;

    /// Starts from these weights at `step` of the stage.
    fn load(&mut self, weights: &Weights<T>, step: usize) -> Result<()>;

    /// The order of samples in the pass that begins; needed if there is more than one batch.
    fn order(&mut self, order: &[usize]) -> Result<()>;

    /// Takes this many steps; may return before they are done.
    fn run(&mut self, steps: usize) -> Result<()>;

    /// What the steps since the last call found. After one that was not finite nothing changes any more: it is
    /// the last, and the weights are those from before it.
    fn results(&mut self) -> Result<Vec<StepResult>>;

    /// Mean loss and mean relative error of the validation samples.
    fn evaluate(&mut self) -> Result<Option<(f64, f64)>>;

    /// The weights as they are.
    fn weights(&mut self) -> Result<Weights<T>>;
}
