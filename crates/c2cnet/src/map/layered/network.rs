//! The layers: values at latent points, forward and backward.
//!
//! Values of a batch are stored channel by channel, then sample by sample, then point by point. The same memory is
//! a matrix of channels by (samples and points), for what happens at each point, and one of (channels and samples) by
//! points, whose product with the basis functions is all coefficients of the batch at once.

use super::latent::Latent;
use super::shape::{Affine, Shape};
use super::transform::{Scratch, Transform};
use crate::compute;
use crate::linalg::{self, matmul};
use crate::map::mlp::Activation;
use crate::map::mlp::objective::cast;
use crate::map::mlp::scalar::Scalar;
use crate::map::mlp::vector::{add_multiple, multiply_by};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Numbers processed at a time.
const CHUNK: usize = 1 << 14;

/// Parts of a sum over samples and points, whatever the number of threads.
const PARTS: usize = 8;

/// What does not change during training, in its precision.
pub(super) struct Frozen<T> {
    pub shape: Shape,
    points: usize,
    /// Coordinates of the points, one column per point.
    coordinates: Mat<T>,
    transform: Transform<T>,
    /// To what is compared: coordinates, or values at some of the points.
    projection: Mat<T>,
}

impl<T: Scalar> Frozen<T> {
    /// Values at the latent points are compared as what `projection` makes of them.
    pub(super) fn new(shape: Shape, latent: &Latent, projection: &Mat<f64>) -> Self {
        Frozen {
            shape,
            points: latent.points(),
            coordinates: cast(latent.coordinates().as_ref()),
            transform: Transform::new(latent.functions()),
            projection: cast(projection.as_ref()),
        }
    }
}

impl<T: Scalar> Frozen<T> {
    /// Sets of axes along which functions have partners; see [`Groups`](super::groups::Groups).
    pub(super) fn terms(&self) -> usize {
        self.transform.groups().terms()
    }

    /// $\psi_j$ at the points, one column per member of a group, as term `term` brings them there.
    pub(super) fn functions(&self, term: usize) -> Mat<T> {
        self.transform.to_dense(term)
    }

    pub(super) fn projection(&self) -> MatRef<'_, T> {
        self.projection.as_ref()
    }

    /// The inputs at each point with a one below, point after point, padded with zeros; one column per sample.
    pub(super) fn packed(&self, inputs: &Inputs<T>) -> Mat<T> {
        let width = self.shape.inputs;
        let ld = compute::padded(width + 1);
        let mut all = Mat::zeros(ld * self.points, inputs.len());
        let mut entering = vec![T::default(); width * self.points];
        for k in 0..inputs.len() {
            self.enter(inputs, &[k], &mut entering);
            let columns = all.col_as_slice_mut(k).chunks_exact_mut(ld);
            for (column, values) in columns.zip(entering.chunks_exact(width)) {
                column[..width].copy_from_slice(values);
                column[width] = T::from_f64(1.0);
            }
        }
        all
    }
}

/// Fields and constants of samples.
#[derive(Debug)]
pub(super) struct Inputs<T> {
    /// Field after field at the points, one column per sample.
    fields: Mat<T>,
    constants: Mat<T>,
}

impl<T: Scalar> Inputs<T> {
    pub(super) fn new(latent: &Latent, coefficients: MatRef<'_, f64>) -> Self {
        Inputs {
            fields: cast(latent.field_values(coefficients).as_ref()),
            constants: cast(latent.constant_values(coefficients).as_ref()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.fields.ncols()
    }
}

/// Memory of a pass for at most this many samples.
pub(super) struct Workspace<T> {
    entering: Vec<T>,
    /// Values before each layer, and after the last.
    values: Vec<Vec<T>>,
    /// What is activated after each layer but the last, then the slopes of the activation.
    slopes: Vec<Vec<T>>,
    /// Coefficients of the values before each layer.
    coefficients: Vec<Vec<T>>,
    mixed: Vec<T>,
    scratch: Scratch<T>,
    hidden: Vec<T>,
    hidden_slopes: Vec<T>,
    leaving: Vec<T>,
    /// Coordinates, one column per sample; before the backward pass gradients by them.
    pub outputs: Mat<T>,
    backward: Option<Backward<T>>,
}

struct Backward<T> {
    by_values: Vec<T>,
    next: Vec<T>,
    by_hidden: Vec<T>,
    modes: Vec<T>,
    parts: Vec<T>,
}

impl<T: Scalar> Workspace<T> {
    pub(super) fn new(frozen: &Frozen<T>, samples: usize, backward: bool) -> Self {
        let Shape {
            inputs,
            channels,
            layers,
            hidden,
            outputs,
            ..
        } = frozen.shape;
        let coefficients = channels * samples * frozen.transform.coefficients();
        let n = samples * frozen.points;
        let zeros = |count: usize| vec![T::default(); count];
        let largest = channels.max(inputs).max(outputs) * channels.max(hidden);
        Workspace {
            entering: zeros(inputs * n),
            values: (0..=layers).map(|_| zeros(channels * n)).collect(),
            slopes: (0..layers).map(|_| zeros(channels * n)).collect(),
            coefficients: (0..layers).map(|_| zeros(coefficients)).collect(),
            mixed: zeros(coefficients),
            scratch: Scratch::default(),
            hidden: zeros(hidden * n),
            hidden_slopes: zeros(hidden * n),
            leaving: zeros(outputs * n),
            outputs: Mat::zeros(frozen.projection.nrows(), samples),
            backward: backward.then(|| Backward {
                by_values: zeros(channels * n),
                next: zeros(channels * n),
                by_hidden: zeros(hidden * n),
                modes: zeros(coefficients),
                parts: zeros(PARTS * largest),
            }),
        }
    }
}

/// Columns of `rows` numbers.
pub(super) fn view<T>(values: &[T], rows: usize, columns: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice(&values[..rows * columns], rows, columns)
}

pub(super) fn view_mut<T>(values: &mut [T], rows: usize, columns: usize) -> MatMut<'_, T> {
    MatMut::from_column_major_slice_mut(&mut values[..rows * columns], rows, columns)
}

pub(super) fn product<T: Scalar>(
    to: MatMut<'_, T>,
    accum: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    scale: f64,
) {
    matmul(to, accum, a, b, T::from_f64(scale), linalg::par());
}

/// $WX + b$ of `n` columns.
pub(super) fn affine<T: Scalar>(place: &Affine, parameters: &[T], x: &[T], to: &mut [T], n: usize) {
    let bias = &parameters[place.bias()];
    let to = &mut to[..place.rows * n];
    to.par_chunks_mut(place.rows * CHUNK.div_ceil(place.rows))
        .for_each(|chunk| {
            chunk
                .chunks_exact_mut(place.rows)
                .for_each(|column| column.copy_from_slice(bias));
        });
    let weights = view(&parameters[place.weights()], place.rows, place.columns);
    let x = view(x, place.columns, n);
    product(view_mut(to, place.rows, n), Accum::Add, weights, x, 1.0);
}

/// The gradients of [`affine`] by weights and bias, from those by its values.
fn affine_gradient<T: Scalar>(
    place: &Affine,
    by_values: &[T],
    x: &[T],
    (n, parts): (usize, &mut [T]),
    gradient: &mut [T],
) {
    let (rows, columns) = (place.rows, place.columns);
    let size = rows * columns;
    let range = |part: usize| n * part / PARTS..n * (part + 1) / PARTS;
    let mut biases = vec![T::default(); PARTS * rows];
    parts[..PARTS * size]
        .par_chunks_exact_mut(size)
        .zip(biases.par_chunks_exact_mut(rows))
        .enumerate()
        .for_each(|(part, (weights, bias))| {
            let range = range(part);
            let g = &by_values[range.start * rows..range.end * rows];
            let x = &x[range.start * columns..range.end * columns];
            let (g_view, x) = (view(g, rows, range.len()), view(x, columns, range.len()));
            let to = view_mut(weights, rows, columns);
            let one = T::from_f64(1.0);
            matmul(to, Accum::Replace, g_view, x.transpose(), one, Par::Seq);
            for column in g.chunks_exact(rows) {
                add_multiple(bias, column, one);
            }
        });
    let one = T::from_f64(1.0);
    let (weights, bias) = (place.weights(), place.bias());
    gradient[weights.clone()].copy_from_slice(&parts[..size]);
    gradient[bias.clone()].copy_from_slice(&biases[..rows]);
    for part in 1..PARTS {
        add_multiple(
            &mut gradient[weights.clone()],
            &parts[part * size..(part + 1) * size],
            one,
        );
        add_multiple(
            &mut gradient[bias.clone()],
            &biases[part * rows..(part + 1) * rows],
            one,
        );
    }
}

impl<T: Scalar> Frozen<T> {
    /// Coordinates of the samples `chosen` into the workspace's outputs.
    pub(super) fn forward(
        &self,
        parameters: &[T],
        inputs: &Inputs<T>,
        chosen: &[usize],
        work: &mut Workspace<T>,
    ) {
        let shape = &self.shape;
        let places = shape.places();
        let (batch, n) = (chosen.len(), chosen.len() * self.points);
        self.enter(inputs, chosen, &mut work.entering);
        affine(
            &places.lift,
            parameters,
            &work.entering,
            &mut work.values[0],
            n,
        );
        for (l, (local, modes)) in places.layers.iter().enumerate() {
            let (before, after) = work.values.split_at_mut(l + 1);
            let (before, after) = (&before[l], &mut after[0]);
            let last = l + 1 == shape.layers;
            let raw = &mut work.slopes[l];
            affine(local, parameters, before, raw, n);
            let coefficients = &mut work.coefficients[l];
            let rows = shape.channels * batch;
            let mean = 1.0 / self.points as f64;
            let scratch = &mut work.scratch;
            (self.transform).analyse((before, rows), mean, coefficients, scratch);
            self.mix(
                &parameters[modes.clone()],
                false,
                coefficients,
                &mut work.mixed,
                batch,
            );
            (self.transform).synthesise((&work.mixed, rows), 1.0, raw, &mut work.scratch);
            if last {
                std::mem::swap(raw, after);
            } else {
                let count = shape.channels * n;
                activate(shape.activation, &mut raw[..count], &mut after[..count]);
            }
        }
        let last = &work.values[shape.layers];
        affine(&places.inner, parameters, last, &mut work.hidden_slopes, n);
        let count = shape.hidden * n;
        let (slopes, values) = (&mut work.hidden_slopes[..count], &mut work.hidden[..count]);
        activate(shape.activation, slopes, values);
        self.leave(&places.outer, parameters, batch, work);
    }

    /// Fields, constants and coordinates at the points.
    fn enter(&self, inputs: &Inputs<T>, chosen: &[usize], to: &mut [T]) {
        let (width, batch) = (self.shape.inputs, chosen.len());
        let fields = inputs.fields.nrows() / self.points;
        let constants = inputs.constants.nrows();
        to[..width * batch * self.points]
            .par_chunks_exact_mut(width * batch)
            .enumerate()
            .for_each(|(p, at_point)| {
                for (to, &k) in at_point.chunks_exact_mut(width).zip(chosen) {
                    let of_sample = inputs.fields.col_as_slice(k);
                    for (f, to) in to[..fields].iter_mut().enumerate() {
                        *to = of_sample[f * self.points + p];
                    }
                    to[fields..fields + constants]
                        .copy_from_slice(inputs.constants.col_as_slice(k));
                    to[fields + constants..].copy_from_slice(self.coordinates.col_as_slice(p));
                }
            });
    }

    /// Coefficients times channel matrices, or transposed ones; zeros at places without a function.
    fn mix(&self, modes: &[T], transposed: bool, from: &[T], to: &mut [T], batch: usize) {
        let c = self.shape.channels;
        let size = c * batch;
        let groups = self.transform.groups();
        to[..groups.places() * size]
            .par_chunks_exact_mut(size)
            .enumerate()
            .for_each(|(place, to)| {
                let mut accum = Accum::Replace;
                for term in groups.terms_at(place, transposed) {
                    let matrix = view(&modes[term.matrix * c * c..], c, c);
                    let matrix = match transposed {
                        true => matrix.transpose(),
                        false => matrix,
                    };
                    let from = view(&from[term.place * size..], c, batch);
                    let sign = T::from_f64(if term.negative { -1.0 } else { 1.0 });
                    let to = view_mut(to, c, batch);
                    matmul(to, accum, matrix, from, sign, Par::Seq);
                    accum = Accum::Add;
                }
                if accum == Accum::Replace {
                    to.fill(T::default());
                }
            });
    }

    /// What layer `l` adds to the coefficients of all channels and samples of the last pass, place after place.
    pub(super) fn mixed<'w>(
        &self,
        l: usize,
        parameters: &[T],
        batch: usize,
        work: &'w mut Workspace<T>,
    ) -> &'w [T] {
        let (_, modes) = &self.shape.places().layers[l];
        let from = &work.coefficients[l];
        self.mix(
            &parameters[modes.clone()],
            false,
            from,
            &mut work.mixed,
            batch,
        );
        &work.mixed
    }

    /// Values at the points by the last weights, and their coordinates.
    fn leave(&self, outer: &Affine, parameters: &[T], batch: usize, work: &mut Workspace<T>) {
        let n = batch * self.points;
        let bias = &parameters[outer.bias()];
        // One column per component here: samples by points in memory.
        for (column, bias) in work.leaving[..outer.rows * n].chunks_exact_mut(n).zip(bias) {
            column.fill(*bias);
        }
        let weights = view(&parameters[outer.weights()], outer.rows, outer.columns);
        let hidden = view(&work.hidden, outer.columns, n);
        let to = view_mut(&mut work.leaving, n, outer.rows);
        product(to, Accum::Add, hidden.transpose(), weights.transpose(), 1.0);
        for (k, values) in work.leaving[..outer.rows * n].chunks_exact(n).enumerate() {
            let projection = self
                .projection
                .as_ref()
                .subcols(k * self.points, self.points);
            let values = view(values, batch, self.points);
            let accum = if k == 0 { Accum::Replace } else { Accum::Add };
            let to = work.outputs.as_mut().subcols_mut(0, batch);
            product(to, accum, projection, values.transpose(), 1.0);
        }
    }

    /// The gradient by all parameters, from that by the outputs, which the workspace holds.
    pub(super) fn backward(
        &self,
        parameters: &[T],
        batch: usize,
        work: &mut Workspace<T>,
        gradient: &mut [T],
    ) {
        let shape = &self.shape;
        let places = shape.places();
        let n = batch * self.points;
        let Some(mut back) = work.backward.take() else {
            unreachable!("a workspace for gradients");
        };
        self.leave_backward(
            &places.outer,
            parameters,
            batch,
            (work, &mut back),
            gradient,
        );
        multiply(&mut back.by_hidden[..shape.hidden * n], &work.hidden_slopes);
        let last = &work.values[shape.layers];
        affine_gradient(
            &places.inner,
            &back.by_hidden,
            last,
            (n, &mut back.parts),
            gradient,
        );
        let weights = view(
            &parameters[places.inner.weights()],
            shape.hidden,
            shape.channels,
        );
        let by_values = view_mut(&mut back.by_values, shape.channels, n);
        let by_hidden = view(&back.by_hidden, shape.hidden, n);
        product(
            by_values,
            Accum::Replace,
            weights.transpose(),
            by_hidden,
            1.0,
        );
        for l in (0..shape.layers).rev() {
            self.layer_backward(l, parameters, batch, (work, &mut back), gradient);
        }
        affine_gradient(
            &places.lift,
            &back.by_values,
            &work.entering,
            (n, &mut back.parts),
            gradient,
        );
        work.backward = Some(back);
    }

    /// Through layer `l`, from gradients by the values after it to those by the values before it.
    fn layer_backward(
        &self,
        l: usize,
        parameters: &[T],
        batch: usize,
        (work, back): (&mut Workspace<T>, &mut Backward<T>),
        gradient: &mut [T],
    ) {
        let shape = &self.shape;
        let (channels, n) = (shape.channels, batch * self.points);
        let (local, modes) = &shape.places().layers[l];
        if l + 1 < shape.layers {
            multiply(&mut back.by_values[..channels * n], &work.slopes[l]);
        }
        let parts = (n, &mut back.parts[..]);
        affine_gradient(local, &back.by_values, &work.values[l], parts, gradient);
        let rows = channels * batch;
        let scratch = &mut work.scratch;
        (self.transform).analyse((&back.by_values, rows), 1.0, &mut back.modes, scratch);
        let of_modes = &mut gradient[modes.clone()];
        self.mode_gradient(&back.modes, &work.coefficients[l], batch, of_modes);
        let matrices = &parameters[modes.clone()];
        self.mix(matrices, true, &back.modes, &mut work.mixed, batch);
        let weights = view(&parameters[local.weights()], channels, channels);
        let by_values = view(&back.by_values, channels, n);
        let next = view_mut(&mut back.next, channels, n);
        product(next, Accum::Replace, weights.transpose(), by_values, 1.0);
        let mean = 1.0 / self.points as f64;
        (self.transform).synthesise((&work.mixed, rows), mean, &mut back.next, &mut work.scratch);
        std::mem::swap(&mut back.by_values, &mut back.next);
    }

    /// Through [`Frozen::leave`], to the values of the hidden layer.
    fn leave_backward(
        &self,
        outer: &Affine,
        parameters: &[T],
        batch: usize,
        (work, back): (&mut Workspace<T>, &mut Backward<T>),
        gradient: &mut [T],
    ) {
        let n = batch * self.points;
        let by_outputs = work.outputs.as_ref().subcols(0, batch);
        let bias = outer.bias();
        for (k, values) in work.leaving[..outer.rows * n]
            .chunks_exact_mut(n)
            .enumerate()
        {
            let projection = self
                .projection
                .as_ref()
                .subcols(k * self.points, self.points);
            let to = view_mut(values, batch, self.points);
            product(to, Accum::Replace, by_outputs.transpose(), projection, 1.0);
            let mut sum = T::default();
            values.iter().for_each(|v| sum += *v);
            gradient[bias.start + k] = sum;
        }
        let by_leaving = view(&work.leaving, n, outer.rows);
        let hidden = view(&work.hidden, outer.columns, n);
        let to = view_mut(&mut gradient[outer.weights()], outer.rows, outer.columns);
        product(
            to,
            Accum::Replace,
            by_leaving.transpose(),
            hidden.transpose(),
            1.0,
        );
        let weights = view(&parameters[outer.weights()], outer.rows, outer.columns);
        let to = view_mut(&mut back.by_hidden, outer.columns, n);
        product(
            to,
            Accum::Replace,
            weights.transpose(),
            by_leaving.transpose(),
            1.0,
        );
    }

    fn mode_gradient(&self, by_mixed: &[T], coefficients: &[T], batch: usize, to: &mut [T]) {
        let c = self.shape.channels;
        let size = c * batch;
        to.par_chunks_exact_mut(c * c)
            .enumerate()
            .for_each(|(matrix, to)| {
                let mut accum = Accum::Replace;
                for (made, from, negative) in self.transform.groups().uses(matrix) {
                    let g = view(&by_mixed[made * size..], c, batch);
                    let x = view(&coefficients[from * size..], c, batch);
                    let sign = T::from_f64(if negative { -1.0 } else { 1.0 });
                    let to = view_mut(to, c, c);
                    matmul(to, accum, g, x.transpose(), sign, Par::Seq);
                    accum = Accum::Add;
                }
                if accum == Accum::Replace {
                    to.fill(T::default());
                }
            });
    }
}

pub(super) fn activate<T: Scalar>(activation: Activation, inputs: &mut [T], values: &mut [T]) {
    let chunks = inputs
        .par_chunks_mut(CHUNK)
        .zip(values.par_chunks_mut(CHUNK));
    chunks.for_each(|(x, y)| activation.apply_to(x, y));
}

fn multiply<T: Scalar>(values: &mut [T], by: &[T]) {
    let chunks = values.par_chunks_mut(CHUNK).zip(by.par_chunks(CHUNK));
    chunks.for_each(|(v, b)| multiply_by(v, b));
}
