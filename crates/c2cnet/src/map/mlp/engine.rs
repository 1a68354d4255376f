//! Loss and gradient of a batch: samples are split into a fixed number of shards, whatever the
//! number of threads, and their results are added in order.
//!
//! Raw coefficients $b = Wh + \beta$ are compared as $Rb = (RW)h + R\beta$. Where it costs less, $R$ is
//! multiplied into the last layer once per step and the step runs on that network; the gradient of
//! $[W\ \beta]$ is $R^\top$ times that of $R[W\ \beta]$. Same parameters, same iterates.

use super::loss::{Loss, LossScratch, LossSum, PreparedLoss};
use super::network::{Network, Scratch};
use super::objective::{Factor, Objective};
use super::scalar::Scalar;
use super::steps::Differentiate;
use super::vector::{add_into, add_multiple, dot};
use crate::Result;
use crate::linalg::{self, matmul, triangular_matmul};
use faer::linalg::matmul::triangular::BlockStructure;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// A shard takes at most this many samples at once, to bound memory.
const BLOCK: usize = 1024;

/// Fewer samples than this are not worth a shard.
const SMALLEST_SHARD: usize = 16;

/// Loops over parameters are split into parts of this many.
const CHUNK: usize = 1 << 12;

/// Inputs with a row of ones below, and their targets.
#[derive(Debug)]
pub(super) struct Samples<T> {
    pub(super) inputs: Mat<T>,
    pub(super) objective: Objective<T>,
}

impl<T: Scalar> Samples<T> {
    /// From inputs without the row of ones.
    pub(super) fn new(inputs: MatRef<'_, f64>, objective: Objective<T>) -> Self {
        let rows = inputs.nrows();
        Samples {
            inputs: Mat::from_fn(rows + 1, inputs.ncols(), |i, j| {
                T::from_f64(if i < rows { inputs[(i, j)] } else { 1.0 })
            }),
            objective,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.inputs.ncols()
    }

    /// Whether a factor is multiplied into the last layer, for batches of up to `largest` samples.
    pub(super) fn folds(&self, network: &Network, largest: usize) -> bool {
        match &self.objective.factor {
            Factor::Shared(r) => self.objective.may_fold && folding_pays(network, r, largest),
            Factor::None | Factor::PerSample(_) => false,
        }
    }
}

/// Everything that a step needs, allocated once.
pub(super) struct Engine<'a, T> {
    /// The network whose outputs are compared: the given one, or the one with $R$ folded in.
    compared: Network,
    fold: Option<Fold<'a, T>>,
    samples: &'a Samples<T>,
    loss: PreparedLoss<'a, T>,
    shards: Vec<Shard<T>>,
    gradient: Vec<T>,
    /// The squared norms of its parts of `CHUNK` numbers.
    squares: Vec<f64>,
}

struct Shard<T> {
    scratch: Scratch<T>,
    loss_scratch: LossScratch<T>,
    /// With respect to the parameters of the compared network.
    gradient: Vec<T>,
    sum: LossSum,
}

/// The last layer of `network` times $R$.
struct Fold<'a, T> {
    network: Network,
    factor: &'a Mat<T>,
    shape: BlockStructure,
    /// Parameters of the compared network, and the gradient with respect to them.
    parameters: Vec<T>,
    gradient: Vec<T>,
}

/// Which samples a step sees.
#[derive(Debug, Clone, Copy)]
pub(in crate::map) enum Batch<'a> {
    All,
    Some(&'a [usize]),
}

impl<'a, T: Scalar> Engine<'a, T> {
    /// For batches of up to `largest` samples.
    ///
    /// # Errors
    /// If the loss needs data that the samples do not have.
    pub(super) fn new(
        network: &Network,
        samples: &'a Samples<T>,
        loss: &Loss,
        largest: usize,
        shards: usize,
    ) -> Result<Self> {
        let fold = match &samples.objective.factor {
            Factor::Shared(r) if samples.folds(network, largest) => Some(Fold::new(network, r)),
            _ => None,
        };
        let compared = match &fold {
            Some(fold) => network.with_outputs(fold.factor.nrows()),
            None => network.clone(),
        };
        let loss = PreparedLoss::new(loss, &samples.objective, fold.is_some())?;
        let block = largest.div_ceil(shards).clamp(SMALLEST_SHARD, BLOCK);
        let gather = largest < samples.len();
        let shard = || Shard {
            scratch: Scratch::new(&compared, block, gather),
            loss_scratch: loss.scratch(block),
            gradient: Vec::new(),
            sum: LossSum::default(),
        };
        let shards = (0..shards).map(|_| shard()).collect();
        Ok(Engine {
            compared,
            fold,
            samples,
            loss,
            shards,
            gradient: Vec::new(),
            squares: Vec::new(),
        })
    }

    #[cfg(test)]
    pub(super) fn folds(&self) -> bool {
        self.fold.is_some()
    }

    /// The mean loss, and how many shards were used.
    fn pass(&mut self, parameters: &[T], batch: Batch<'_>, backward: bool) -> (LossSum, usize) {
        let parameters = match &mut self.fold {
            Some(fold) => fold.fold(&self.compared, parameters),
            None => parameters,
        };
        let n = match batch {
            Batch::All => self.samples.len(),
            Batch::Some(indices) => indices.len(),
        };
        let active = (n / SMALLEST_SHARD).clamp(1, self.shards.len());
        let par = if active == 1 { linalg::par() } else { Par::Seq };
        let (network, samples, loss) = (&self.compared, self.samples, &self.loss);
        let work = |(s, shard): (usize, &mut Shard<T>)| {
            let range = n * s / active..n * (s + 1) / active;
            shard.sum = LossSum::default();
            let block = shard.scratch.outputs.ncols();
            for start in range.clone().step_by(block) {
                let columns = block.min(range.end - start);
                let block = Block {
                    start,
                    columns,
                    first: start == range.start,
                    of: n,
                };
                shard.run(
                    network,
                    parameters,
                    (samples, loss, batch),
                    block,
                    backward,
                    par,
                );
            }
        };
        let shards = &mut self.shards[..active];
        match shards {
            [shard] => work((0, shard)),
            _ => shards.par_iter_mut().enumerate().for_each(work),
        }
        let mut sum = LossSum::default();
        shards.iter().for_each(|s| sum += s.sum);
        let mean = LossSum {
            loss: sum.loss / n as f64,
            relative: sum.relative / n as f64,
        };
        (mean, active)
    }
}

impl<T: Scalar> Differentiate<T> for Engine<'_, T> {
    fn differentiate(&mut self, parameters: &[T], batch: Batch<'_>) -> LossSum {
        let size = self.compared.parameters();
        if self.gradient.is_empty() {
            self.gradient = vec![T::default(); parameters.len()];
            self.shards
                .iter_mut()
                .for_each(|s| s.gradient = vec![T::default(); size]);
        }
        let (sum, active) = self.pass(parameters, batch, true);
        let total = match &mut self.fold {
            Some(fold) => &mut fold.gradient,
            None => &mut self.gradient,
        };
        add_up(&mut self.shards[..active], total, &mut self.squares);
        if let Some(fold) = &self.fold {
            fold.unfold(&self.compared, &mut self.gradient);
            squares(&self.gradient, &mut self.squares);
        }
        sum
    }

    fn evaluate(&mut self, parameters: &[T]) -> LossSum {
        self.pass(parameters, Batch::All, false).0
    }

    fn gradient(&self) -> &[T] {
        &self.gradient
    }

    fn gradient_norm(&self) -> f64 {
        self.squares.iter().sum::<f64>().sqrt()
    }
}

/// Consecutive samples of a batch.
struct Block {
    start: usize,
    columns: usize,
    /// Whether it is its shard's first.
    first: bool,
    /// The size of the batch.
    of: usize,
}

impl<T: Scalar> Shard<T> {
    fn run(
        &mut self,
        network: &Network,
        parameters: &[T],
        (samples, loss, batch): (&Samples<T>, &PreparedLoss<'_, T>, Batch<'_>),
        block: Block,
        backward: bool,
        par: Par,
    ) {
        let Block {
            start,
            columns,
            first,
            of,
        } = block;
        let weight = 1.0 / of as f64;
        let (scratch, loss_scratch) = (&mut self.scratch, &mut self.loss_scratch);
        let inputs = match batch {
            Batch::All => Some(samples.inputs.as_ref().subcols(start, columns)),
            Batch::Some(indices) => {
                for (j, &k) in indices[start..start + columns].iter().enumerate() {
                    let column = scratch.activations[0].col_as_slice_mut(j);
                    column.copy_from_slice(samples.inputs.col_as_slice(k));
                }
                None
            }
        };
        network.forward(parameters, scratch, inputs, columns, par);
        self.sum += match batch {
            Batch::All => loss.gradient(
                &mut scratch.outputs,
                start..start + columns,
                weight,
                loss_scratch,
                par,
            ),
            Batch::Some(indices) => {
                let samples = indices[start..start + columns].iter().copied();
                loss.gradient(&mut scratch.outputs, samples, weight, loss_scratch, par)
            }
        };
        if backward {
            let accum = if first { Accum::Replace } else { Accum::Add };
            let gradient = (&mut self.gradient[..], accum);
            network.backward(parameters, scratch, inputs, columns, gradient, par);
        }
    }
}

/// The sum of the shards' gradients into `total` (its old contents are lost), with the squared norms
/// of its parts, computed while they are in the cache.
fn add_up<T: Scalar>(shards: &mut [Shard<T>], total: &mut Vec<T>, norms: &mut Vec<f64>) {
    if let [only] = shards {
        std::mem::swap(total, &mut only.gradient);
        return squares(total, norms);
    }
    let part = |(c, total): (usize, &mut [T])| {
        let range = c * CHUNK..c * CHUNK + total.len();
        let part = |s: usize| &shards[s].gradient[range.clone()];
        add_into(total, part(0), part(1));
        for s in 2..shards.len() {
            add_multiple(total, part(s), T::from_f64(1.0));
        }
        dot(total, total).to_f64()
    };
    let parts = total.par_chunks_mut(CHUNK).enumerate();
    parts.map(part).collect_into_vec(norms);
}

/// The squared norms of parts of `CHUNK` numbers.
fn squares<T: Scalar>(values: &[T], norms: &mut Vec<f64>) {
    let parts = values.par_chunks(CHUNK);
    parts
        .map(|part| dot(part, part).to_f64())
        .collect_into_vec(norms);
}

/// Whether multiplications with $R$ folded in are fewer than those without, for a batch of `n`.
fn folding_pays<T>(network: &Network, r: &Mat<T>, n: usize) -> bool {
    let (rows, m) = r.shape();
    let h = network.widths()[network.layers() - 1] + 1;
    2 * rows * m * h + 3 * n * rows * h < 2 * n * rows * m + 3 * n * m * h
}

impl<'a, T: Scalar> Fold<'a, T> {
    fn new(network: &Network, factor: &'a Mat<T>) -> Self {
        let size = network.with_outputs(factor.nrows()).parameters();
        let triangular = factor.nrows() == factor.ncols()
            && (0..factor.ncols()).all(|j| {
                let below = &factor.col_as_slice(j)[j + 1..];
                below.iter().all(|v| *v == T::default())
            });
        Fold {
            network: network.clone(),
            factor,
            shape: match triangular {
                true => BlockStructure::TriangularUpper,
                false => BlockStructure::Rectangular,
            },
            parameters: vec![T::default(); size],
            gradient: vec![T::default(); size],
        }
    }

    /// The parameters of the compared network.
    fn fold(&mut self, compared: &Network, parameters: &[T]) -> &[T] {
        let last = compared.layers() - 1;
        let start = compared.range(last).start;
        self.parameters[..start].copy_from_slice(&parameters[..start]);
        let into = compared.layer_mut(&mut self.parameters, last);
        let from = self.network.layer(parameters, last);
        multiply(into, self.factor.as_ref(), self.shape, from);
        &self.parameters
    }

    /// The gradient with respect to the parameters of the network itself.
    fn unfold(&self, compared: &Network, gradient: &mut [T]) {
        let last = compared.layers() - 1;
        let start = compared.range(last).start;
        gradient[..start].copy_from_slice(&self.gradient[..start]);
        let from = compared.layer(&self.gradient, last);
        let into = self.network.layer_mut(gradient, last);
        let shape = match self.shape {
            BlockStructure::TriangularUpper => BlockStructure::TriangularLower,
            other => other,
        };
        multiply(into, self.factor.transpose(), shape, from);
    }
}

/// $AB$, where $A$ may be triangular.
fn multiply<T: Scalar>(
    into: MatMut<'_, T>,
    a: MatRef<'_, T>,
    shape: BlockStructure,
    b: MatRef<'_, T>,
) {
    let one = T::from_f64(1.0);
    match shape {
        BlockStructure::Rectangular => {
            matmul(into, Accum::Replace, a, b, one, linalg::par());
        }
        _ => {
            let (into, b) = (
                (into, BlockStructure::Rectangular),
                (b, BlockStructure::Rectangular),
            );
            triangular_matmul(into, Accum::Replace, (a, shape), b, one, linalg::par());
        }
    }
}
