//! A step of training of layers in a basis as a list of operations, as `program` has it for fully connected ones.
//!
//! Values of a batch are stored channel by channel, then sample by sample, then point by point: one matrix of channels
//! by samples and points, for what happens at each point, and of channels and samples by points, whose product with the
//! basis functions is all coefficients of the batch. Channels come with a row of ones and padding, as everywhere here;
//! channel matrices see neither, so that their padding can be ignored.

use super::job::{Factor, Job, LayerSizes, Layers, Targets};
use super::layout::{Layout, Part};
use super::program::{Buffer, LANES, Lane, MAIN, Op, Program, View, padded, whole};

/// The most numbers at points that go through the layers in one batch where nothing is learned.
const BATCH_NUMBERS: usize = 1 << 18;

/// Where the parameters are: those of the lift, of each layer the pointwise ones and the channel matrices, and of the two
/// pointwise layers at the end.
pub(super) fn layout(sizes: &LayerSizes) -> Layout {
    let (c, hidden) = (sizes.channels, sizes.hidden);
    let layer = [Part::affine(c, c), Part::column(c * c * sizes.functions)];
    let mut parts = vec![Part::affine(sizes.inputs, c)];
    (0..sizes.layers).for_each(|_| parts.extend(layer));
    parts.extend([Part::affine(c, hidden), Part::affine(hidden, sizes.outputs)]);
    Layout::of(parts)
}

/// A step of training.
pub(super) fn training<T>(job: &Job<'_, T>, layers: &Layers<'_, T>) -> Program {
    let samples = job.batches.largest();
    let mut builder = Builder::new(&job.training, layers, samples);
    builder.program.columns = samples;
    (1..LANES).for_each(|lane| builder.program.wait(lane, MAIN));
    builder.forward(0);
    builder.loss(0);
    builder.program.wait(LANES - 1, MAIN);
    builder.push(LANES - 1, Op::Total { count: true });
    builder.backward();
    (1..LANES).for_each(|lane| builder.program.wait(MAIN, lane));
    builder.push(MAIN, Op::Squares);
    builder.push(MAIN, Op::Update);
    builder.program
}

/// The loss of all of `targets`.
pub(super) fn evaluation<T>(targets: &Targets<'_, T>, layers: &Layers<'_, T>) -> Program {
    let all = whole(targets).samples;
    let together = (BATCH_NUMBERS / layers.sizes.points).clamp(1, all.max(1));
    let mut builder = Builder::new(targets, layers, together);
    builder.program.columns = all;
    for first in (0..all).step_by(together) {
        builder.samples = together.min(all - first);
        builder.forward(first);
        builder.loss(first);
    }
    builder.push(MAIN, Op::Total { count: false });
    builder.program
}

struct Builder {
    sizes: LayerSizes,
    layout: Layout,
    /// Samples that go together.
    samples: usize,
    /// Coordinates, and those that are compared where samples have factors of their own.
    coordinates: usize,
    compared: Option<usize>,
    program: Program,
}

impl Builder {
    fn new<T>(targets: &Targets<'_, T>, layers: &Layers<'_, T>, samples: usize) -> Self {
        let sizes = layers.sizes;
        let mut program = Program::default();
        let inputs = padded(sizes.inputs + 1) * sizes.points;
        program.reserve(Buffer::Inputs, inputs * whole(targets).samples);
        Builder {
            layout: layout(&sizes),
            coordinates: layers.projection.nrows(),
            compared: match targets.factor {
                Factor::PerSample(_) => Some(targets.coordinates.nrows()),
                _ => None,
            },
            sizes,
            samples,
            program,
        }
    }

    fn push(&mut self, lane: Lane, op: Op) {
        self.program.push(lane, op);
    }

    /// Samples and points.
    fn places(&self) -> usize {
        self.samples * self.sizes.points
    }

    fn product(
        &mut self,
        lane: Lane,
        shape: (usize, usize, usize),
        [a, b]: [(View, bool); 2],
        (c, add): (View, bool),
    ) {
        self.push(
            lane,
            Op::Product {
                shape,
                a,
                b,
                c,
                add,
            },
        );
    }

    /// How many values there are behind the pointwise part `step`: the lift, the layers, the first layer at the end.
    fn width(&self, step: usize) -> usize {
        match step <= self.sizes.layers {
            true => self.sizes.channels,
            false => self.sizes.hidden,
        }
    }

    /// The parameters of step `step`.
    fn part(&self, step: usize) -> usize {
        match step <= self.sizes.layers {
            // Lift, pointwise and channel matrices of the first layer, pointwise of the second, ...
            true => (2 * step).saturating_sub(1),
            false => self.sizes.layers + step,
        }
    }

    /// The channel matrices of term `term` in layer `l`, as many as there are groups, each
    /// [`Builder::matrix_stride`] behind the last.
    fn modes(&self, buffer: Buffer, l: usize, term: usize) -> View {
        let view = self.layout.view(buffer, 2 * l + 2);
        let c = self.sizes.channels;
        View {
            ld: c,
            offset: view.offset + term * c * c,
            ..view
        }
    }

    fn matrix_stride(&self) -> usize {
        self.sizes.channels.pow(2) * self.sizes.terms
    }

    fn groups(&self) -> usize {
        self.sizes.functions / self.sizes.terms
    }

    /// Values behind a step, and what else has their shape.
    fn at(&mut self, buffer: fn(usize) -> Buffer, step: usize) -> View {
        let (rows, columns) = (self.width(step) + 1, self.places());
        self.program.own(buffer(step), rows, columns)
    }

    /// All channels and samples below each other: a matrix whose columns are points, or functions.
    fn stacked(&self, view: View) -> View {
        View {
            ld: view.ld * self.samples,
            ..view
        }
    }

    /// Coefficients of all channels and samples.
    fn coefficients(&mut self, buffer: Buffer, terms: usize) -> View {
        let ld = padded(self.sizes.channels + 1);
        let len = ld * self.samples * self.sizes.functions * terms;
        self.program.reserve(buffer, len);
        View {
            buffer,
            offset: 0,
            ld,
        }
    }

    /// Those of one term.
    fn of_term(&self, all: View, term: usize) -> View {
        View {
            offset: all.offset + term * all.ld * self.samples * self.sizes.functions,
            ..all
        }
    }

    /// From the coefficients of one group to those of the next.
    fn group_stride(&self, coefficients: View) -> usize {
        coefficients.ld * self.samples * self.sizes.terms
    }

    /// The functions in `buffer`: as they are, or as every term brings them to their places.
    fn functions(&mut self, buffer: Buffer) -> (View, usize) {
        let (points, functions) = (self.sizes.points, self.sizes.functions);
        let columns = match buffer {
            Buffer::Means => functions * self.sizes.terms,
            _ => functions,
        };
        (self.program.own(buffer, points, columns), columns)
    }

    /// Coefficients `to` of values `from`.
    fn analyse(&mut self, from: View, functions: Buffer, to: View) {
        let (basis, columns) = self.functions(functions);
        let (from, to) = (self.stacked(from), self.stacked(to));
        let shape = (from.ld, columns, self.sizes.points);
        self.product(MAIN, shape, [(from, false), (basis, false)], (to, false));
    }

    /// Adds what coefficients `from` are at the points.
    fn synthesise(&mut self, from: View, functions: Buffer, to: View) {
        let (basis, columns) = self.functions(functions);
        let (from, to) = (self.stacked(from), self.stacked(to));
        let shape = (from.ld, self.sizes.points, columns);
        self.product(MAIN, shape, [(from, false), (basis, true)], (to, true));
    }

    /// The products of the channel matrices of one term with the coefficients of all members of a group.
    fn mix_term(&mut self, matrices: (View, bool), [from, to]: [View; 2], add: bool) {
        let c = self.sizes.channels;
        let op = Op::Products {
            count: self.groups(),
            shape: (c, self.samples * self.sizes.terms, c),
            a: matrices,
            b: (from, false),
            c: to,
            add,
            strides: [
                self.matrix_stride(),
                self.group_stride(from),
                self.group_stride(to),
            ],
        };
        self.push(MAIN, op);
    }

    /// The sum over all terms of channel matrices times coefficients.
    fn mix(&mut self, l: usize, from: View) -> View {
        let to = self.coefficients(Buffer::Mixed, 1);
        for term in 0..self.sizes.terms {
            let matrices = self.modes(Buffer::Parameters, l, term);
            let from = self.of_term(from, term);
            self.mix_term((matrices, false), [from, to], term > 0);
        }
        to
    }

    /// The gradient by the coefficients of every term, from that by their sum.
    fn mix_backward(&mut self, l: usize, from: View) -> View {
        let to = self.coefficients(Buffer::Mixed, self.sizes.terms);
        for term in 0..self.sizes.terms {
            let matrices = self.modes(Buffer::Parameters, l, term);
            self.mix_term((matrices, true), [from, self.of_term(to, term)], false);
        }
        to
    }

    /// From the inputs of the places that begin at `first` to coordinates.
    fn forward(&mut self, first: usize) {
        let (samples, points) = (self.samples, self.sizes.points);
        let rows = self.sizes.inputs + 1;
        let batch = self.program.own(Buffer::Batch, rows, self.places());
        let gather = Op::GatherPoints {
            first,
            samples,
            points,
            ld: batch.ld,
        };
        self.push(MAIN, gather);
        let mut before = batch;
        for step in 0..self.sizes.layers + 2 {
            let to = self.at(Buffer::Hidden, step);
            let weights = self.layout.view(Buffer::Parameters, self.part(step));
            let (rows, inner) = self.layout.shape(self.part(step));
            let shape = (rows, self.places(), inner);
            self.product(
                MAIN,
                shape,
                [(weights, false), (before, false)],
                (to, false),
            );
            if (1..=self.sizes.layers).contains(&step) {
                let coefficients = self.coefficients(Buffer::Coefficients(step), self.sizes.terms);
                self.analyse(before, Buffer::Means, coefficients);
                let mixed = self.mix(step - 1, coefficients);
                self.synthesise(mixed, Buffer::Functions, to);
            }
            self.at(Buffer::Slopes, step);
            let activate = Op::Activate {
                curved: step > 0 && step != self.sizes.layers,
                layer: step,
                width: self.width(step),
                ld: to.ld,
                columns: self.places(),
            };
            self.push(MAIN, activate);
            before = to;
        }
        self.leave(before);
    }

    /// Values of one component at the points, samples by points.
    fn leaving(&mut self, component: usize) -> View {
        let (buffer, size) = (Buffer::Leaving, self.places());
        self.program.reserve(buffer, size * self.sizes.outputs);
        View {
            buffer,
            offset: component * size,
            ld: self.samples,
        }
    }

    /// All of them: samples and points by components.
    fn all_leaving(&mut self) -> View {
        View {
            ld: self.places(),
            ..self.leaving(0)
        }
    }

    /// The way from values of one component to coordinates.
    fn projection(&mut self, component: usize) -> View {
        let points = self.sizes.points;
        let columns = points * self.sizes.outputs;
        let all = self
            .program
            .own(Buffer::Projection, self.coordinates, columns);
        View {
            offset: component * points * all.ld,
            ..all
        }
    }

    fn outputs(&mut self) -> View {
        let (rows, columns) = (self.coordinates, self.samples);
        self.program.own(Buffer::Outputs, rows, columns)
    }

    /// The last weights, and the number of values that they see.
    fn last(&self, buffer: Buffer) -> (View, usize) {
        let part = self.part(self.sizes.layers + 2);
        (self.layout.view(buffer, part), self.layout.shape(part).1)
    }

    fn leave(&mut self, hidden: View) {
        let (weights, inner) = self.last(Buffer::Parameters);
        let (to, places) = (self.all_leaving(), self.places());
        let shape = (places, self.sizes.outputs, inner);
        self.product(MAIN, shape, [(hidden, true), (weights, true)], (to, false));
        let outputs = self.outputs();
        for component in 0..self.sizes.outputs {
            let (projection, values) = (self.projection(component), self.leaving(component));
            let shape = (outputs.ld, self.samples, self.sizes.points);
            let add = component > 0;
            self.product(
                MAIN,
                shape,
                [(projection, false), (values, true)],
                (outputs, add),
            );
        }
    }

    fn loss(&mut self, first: usize) {
        let columns = self.samples;
        let compared = match self.compared {
            Some(rows) => self.program.own(Buffer::Coordinates, rows, columns),
            None => self.outputs(),
        };
        let loss = Op::Loss {
            compared,
            first,
            columns,
        };
        self.push(MAIN, loss);
    }

    /// From the gradient by the coordinates to that by all parameters.
    fn backward(&mut self) {
        let top = self.sizes.layers + 1;
        self.leave_backward(top);
        for step in (0..=top).rev() {
            let delta = self.at(Buffer::Delta, step);
            let len = delta.ld * self.places();
            self.push(MAIN, Op::Slope { layer: step, len });
            let before = match step {
                0 => {
                    let rows = self.sizes.inputs + 1;
                    self.program.own(Buffer::Batch, rows, self.places())
                }
                _ => self.at(Buffer::Hidden, step - 1),
            };
            let part = self.part(step);
            let (rows, inner) = self.layout.shape(part);
            let gradient = self.layout.view(Buffer::Gradient, part);
            // The first gradient is all that is left to do: it needs no lane of its own.
            let lane = if step == 0 { MAIN } else { 1 };
            if lane != MAIN {
                self.program.wait(lane, MAIN);
            }
            let shape = (rows, inner, self.places());
            self.product(
                lane,
                shape,
                [(delta, false), (before, true)],
                (gradient, false),
            );
            if step > 0 {
                let below = self.at(Buffer::Delta, step - 1);
                let weights = self.layout.view(Buffer::Parameters, part);
                let shape = (inner, self.places(), rows);
                self.product(
                    MAIN,
                    shape,
                    [(weights, true), (delta, false)],
                    (below, false),
                );
                if step < top {
                    self.layer_backward(step, delta, below);
                }
            }
        }
    }

    /// Through the coefficients of the layer of `step`.
    fn layer_backward(&mut self, step: usize, delta: View, below: View) {
        let modes = self.coefficients(Buffer::Modes(step), 1);
        self.analyse(delta, Buffer::Functions, modes);
        let coefficients = self.coefficients(Buffer::Coefficients(step), self.sizes.terms);
        let (c, stride) = (self.sizes.channels, self.group_stride(modes));
        self.program.wait(2, MAIN);
        for term in 0..self.sizes.terms {
            let op = Op::Products {
                count: self.groups(),
                shape: (c, c, self.samples * self.sizes.terms),
                a: (modes, false),
                b: (self.of_term(coefficients, term), true),
                c: self.modes(Buffer::Gradient, step - 1, term),
                add: false,
                strides: [stride, stride, self.matrix_stride()],
            };
            self.push(2, op);
        }
        let mixed = self.mix_backward(step - 1, modes);
        self.synthesise(mixed, Buffer::Means, below);
    }

    /// From the gradient by the coordinates to that by the last values before `Leaving`.
    fn leave_backward(&mut self, top: usize) {
        let outputs = self.outputs();
        for component in 0..self.sizes.outputs {
            let (projection, values) = (self.projection(component), self.leaving(component));
            let shape = (self.samples, self.sizes.points, outputs.ld);
            self.product(
                MAIN,
                shape,
                [(outputs, true), (projection, false)],
                (values, false),
            );
        }
        let (leaving, places) = (self.all_leaving(), self.places());
        let (hidden, delta) = (self.at(Buffer::Hidden, top), self.at(Buffer::Delta, top));
        let (gradient, inner) = self.last(Buffer::Gradient);
        self.program.wait(2, MAIN);
        let shape = (self.sizes.outputs, inner, places);
        self.product(
            2,
            shape,
            [(leaving, true), (hidden, true)],
            (gradient, false),
        );
        let (weights, _) = self.last(Buffer::Parameters);
        let shape = (inner, places, self.sizes.outputs);
        self.product(
            MAIN,
            shape,
            [(weights, true), (leaving, true)],
            (delta, false),
        );
    }
}
