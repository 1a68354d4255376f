//! A step of training as a list of operations on buffers.
//!
//! The list does not change from step to step (a kernel looks up what does by the number of the step), so that
//! a GPU can record it once and replay it. Operations of one lane follow each other; lanes run side by side, and
//! wait for each other where the list says so: weight gradients are not needed before the update
//! and run alongside the backward pass.
//!
//! Leading dimensions are multiples of [`UNIT`], so that every column begins where wide loads may begin. A layer
//! is the product $[W\ \beta\ 0]$ times $[h; 1; 0]$; rows and columns of padding hold zeros, and stay zero through
//! products, activations and updates.

use super::job::{Batches, Factor, Job, Targets};
use super::layered;
use super::layout::Layout;
use std::collections::BTreeMap;

/// Leading dimensions are multiples of this.
pub(super) const UNIT: usize = 4;

/// The most samples that go through the network together: more would not fill a GPU any better, and would need memory.
const BLOCK: usize = 16_384;

/// `n`, rounded up to whole units.
pub(crate) fn padded(n: usize) -> usize {
    n.next_multiple_of(UNIT)
}

/// Numbers on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Buffer {
    /// All inputs, with rows of ones.
    Inputs,
    /// Inputs of a batch.
    Batch,
    /// Values of hidden layer `l`, with a row of ones; then derivatives of its activation; then the loss's.
    Hidden(usize),
    Slopes(usize),
    Delta(usize),
    /// The network's outputs, then the gradient with respect to them.
    Outputs,
    /// Coordinates of the outputs, where these differ, then the gradient with respect to them.
    Coordinates,
    /// $R$.
    Factor,
    /// $R$ times the last layer, and the gradient with respect to it.
    Folded,
    FoldedGradient,
    Parameters,
    Gradient,
    /// $\psi_j$ at the points, the same over the number of points, and the map from values to coordinates.
    Functions,
    Means,
    Projection,
    /// Coefficients of the values before layer `l`, term after term; gradients by those of the values after it.
    Coefficients(usize),
    Modes(usize),
    /// Coefficients times channel matrices.
    Mixed,
    /// Values at the points, then the gradient with respect to them.
    Leaving,
}

impl Buffer {
    /// Whether training and validation share it.
    pub(super) fn shared(self) -> bool {
        matches!(self, Buffer::Parameters | Buffer::Gradient)
    }
}

/// A matrix in a buffer, column by column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    pub(super) buffer: Buffer,
    pub(super) offset: usize,
    pub(super) ld: usize,
}

/// Operations of one lane follow each other.
pub(super) type Lane = usize;

/// How many lanes there are: the forward and backward pass, and two for what runs alongside.
pub(super) const LANES: usize = 3;

pub(super) const MAIN: Lane = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// This lane continues once everything given to `other` so far is done.
    Wait { other: Lane },
    /// Inputs of places `first..first + columns` of the batch into [`Buffer::Batch`].
    Gather {
        first: usize,
        columns: usize,
        ld: usize,
    },
    /// $C = AB$ or, with `add`, $C + AB$; $A$ and $B$ may be given transposed.
    Product {
        shape: (usize, usize, usize),
        a: (View, bool),
        b: (View, bool),
        c: View,
        add: bool,
    },
    /// Inputs at all points of places `first..first + samples` of the batch into [`Buffer::Batch`], samples running
    /// faster than points.
    GatherPoints {
        first: usize,
        samples: usize,
        points: usize,
        ld: usize,
    },
    /// Products $C = AB$ or, with `add`, $C + AB$, each matrix one stride after the previous one; $A$ and $B$ may be given
    /// transposed.
    Products {
        count: usize,
        shape: (usize, usize, usize),
        a: (View, bool),
        b: (View, bool),
        c: View,
        add: bool,
        strides: [usize; 3],
    },
    /// Arguments in the first `width` rows of [`Buffer::Hidden`] become values, with a one below and then
    /// zeros; derivatives go to [`Buffer::Slopes`], with zeros below. Values of layers that are not `curved` are
    /// their arguments.
    Activate {
        curved: bool,
        layer: usize,
        width: usize,
        ld: usize,
        columns: usize,
    },
    /// [`Buffer::Delta`] times [`Buffer::Slopes`].
    Slope { layer: usize, len: usize },
    /// Losses of places `first..first + columns`, and, in place of what is compared, the gradient with
    /// respect to it. With factors for each sample, [`Buffer::Outputs`] passes through them and back.
    Loss {
        compared: View,
        first: usize,
        columns: usize,
    },
    /// Mean losses of the batch; `count` also counts the step.
    Total { count: bool },
    /// Partial sums of the squares of the gradient.
    Squares,
    /// Clipping and the update rule.
    Update,
}

#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) ops: Vec<(Lane, Op)>,
    pub(super) sizes: BTreeMap<Buffer, usize>,
    /// The most columns of a batch.
    pub(super) columns: usize,
}

/// All samples as one batch.
pub(super) fn whole<T>(targets: &Targets<'_, T>) -> Batches {
    Batches {
        samples: targets.inputs.ncols(),
        count: 1,
    }
}

/// What lies between outputs and coordinates, without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Through {
    Nothing,
    /// A factor with this many rows.
    Folded(usize),
    Shared(usize),
    /// Factors with at most this many rows.
    PerSample(usize),
}

impl Through {
    fn of<T>(targets: &Targets<'_, T>) -> Self {
        match targets.factor {
            Factor::None => Through::Nothing,
            Factor::Shared { r, fold: true } => Through::Folded(r.nrows()),
            Factor::Shared { r, fold: false } => Through::Shared(r.nrows()),
            Factor::PerSample(_) => Through::PerSample(targets.coordinates.nrows()),
        }
    }
}

impl Program {
    pub(super) fn push(&mut self, lane: Lane, op: Op) {
        self.ops.push((lane, op));
    }

    /// `lane` continues once everything given to `other` so far is done.
    pub(super) fn wait(&mut self, lane: Lane, other: Lane) {
        self.push(lane, Op::Wait { other });
    }

    pub(super) fn reserve(&mut self, buffer: Buffer, len: usize) {
        let size = self.sizes.entry(buffer).or_default();
        *size = len.max(*size);
    }

    /// A matrix that is a buffer of its own, of `columns` columns.
    pub(super) fn own(&mut self, buffer: Buffer, rows: usize, columns: usize) -> View {
        let ld = padded(rows);
        self.reserve(buffer, ld * columns);
        View {
            buffer,
            offset: 0,
            ld,
        }
    }

    /// A step of training.
    pub(super) fn training<T>(job: &Job<'_, T>) -> Self {
        if let Some(layers) = &job.layers {
            return layered::training(job, layers);
        }
        let mut builder = Builder::new(job, &job.training, job.batches);
        // The other lanes begin where the first one does.
        (1..LANES).for_each(|lane| builder.wait(lane, MAIN));
        builder.fold(1);
        for block in builder.blocks() {
            builder.forward(&block);
            builder.loss(&block);
            if block.last {
                builder.wait(LANES - 1, MAIN);
                builder.push(LANES - 1, Op::Total { count: true });
            }
            builder.backward(&block);
            (1..LANES).for_each(|lane| builder.wait(MAIN, lane));
        }
        builder.push(MAIN, Op::Squares);
        builder.push(MAIN, Op::Update);
        builder.program
    }

    /// The loss of all of `targets`.
    pub(super) fn evaluation<T>(job: &Job<'_, T>, targets: &Targets<'_, T>) -> Self {
        if let Some(layers) = &job.layers {
            return layered::evaluation(targets, layers);
        }
        let mut builder = Builder::new(job, targets, whole(targets));
        builder.fold(MAIN);
        for block in builder.blocks() {
            builder.forward(&block);
            builder.loss(&block);
        }
        builder.push(MAIN, Op::Total { count: false });
        builder.program
    }
}

/// Consecutive places of a batch.
#[derive(Debug, Clone, Copy)]
struct Block {
    first: usize,
    columns: usize,
    last: bool,
}

struct Builder {
    layout: Layout,
    /// Widths up to the coordinates where $R$ is folded in, else the network's.
    widths: Vec<usize>,
    compared: Layout,
    through: Through,
    gather: bool,
    /// The lane on which $R$ is being folded in.
    folding: Option<Lane>,
    program: Program,
}

impl Builder {
    fn new<T>(job: &Job<'_, T>, targets: &Targets<'_, T>, batches: Batches) -> Self {
        let through = Through::of(targets);
        let mut widths = job.widths.to_vec();
        if let Through::Folded(rows) = through {
            widths.pop();
            widths.push(rows);
        }
        let program = Program {
            ops: Vec::new(),
            sizes: BTreeMap::new(),
            columns: batches.largest(),
        };
        let mut builder = Builder {
            layout: Layout::new(job.widths),
            compared: Layout::new(&widths),
            widths,
            through,
            gather: batches.count > 1,
            folding: None,
            program,
        };
        let inputs = padded(job.widths[0] + 1) * batches.samples;
        builder.reserve(Buffer::Inputs, inputs);
        builder
    }

    fn push(&mut self, lane: Lane, op: Op) {
        self.program.push(lane, op);
    }

    fn wait(&mut self, lane: Lane, other: Lane) {
        self.program.wait(lane, other);
    }

    fn reserve(&mut self, buffer: Buffer, len: usize) {
        self.program.reserve(buffer, len);
    }

    fn blocks(&self) -> Vec<Block> {
        let n = self.program.columns;
        let block = |first: usize| Block {
            first,
            columns: BLOCK.min(n - first),
            last: first + BLOCK >= n,
        };
        (0..n).step_by(BLOCK).map(block).collect()
    }

    fn own(&mut self, buffer: Buffer, rows: usize, columns: usize) -> View {
        self.program.own(buffer, rows, columns)
    }

    /// $[h; 1; 0]$ before a layer.
    fn before(&mut self, layer: usize, block: &Block) -> View {
        let rows = self.widths[layer] + 1;
        match (layer, self.gather) {
            (0, false) => View {
                buffer: Buffer::Inputs,
                offset: padded(rows) * block.first,
                ld: padded(rows),
            },
            (0, true) => self.own(Buffer::Batch, rows, block.columns),
            _ => self.own(Buffer::Hidden(layer), rows, block.columns),
        }
    }

    /// $[W\ \beta\ 0]$ of the compared network.
    fn layer(&self, layer: usize) -> View {
        let folded = matches!(self.through, Through::Folded(_));
        match folded && layer + 1 == self.compared.layers() {
            true => View {
                buffer: Buffer::Folded,
                offset: 0,
                ld: self.compared.shape(layer).0,
            },
            false => self.layout.view(Buffer::Parameters, layer),
        }
    }

    fn last_rows(&self) -> usize {
        self.widths[self.compared.layers()]
    }

    /// $R[W\ \beta]$ of the last layer.
    fn fold(&mut self, lane: Lane) {
        let last = self.compared.layers() - 1;
        if let Through::Folded(rows) = self.through {
            let (inner, columns) = self.layout.shape(last);
            let a = self.own(Buffer::Factor, rows, inner);
            let c = self.own(Buffer::Folded, rows, columns);
            let op = Op::Product {
                shape: (a.ld, columns, inner),
                a: (a, false),
                b: (self.layout.view(Buffer::Parameters, last), false),
                c,
                add: false,
            };
            self.push(lane, op);
            self.folding = Some(lane);
        }
    }

    fn forward(&mut self, block: &Block) {
        if self.gather {
            let x = self.before(0, block);
            let (first, columns) = (block.first, block.columns);
            let ld = x.ld;
            self.push(MAIN, Op::Gather { first, columns, ld });
        }
        let layers = self.compared.layers();
        for layer in 0..layers {
            let last = layer + 1 == layers;
            let h = self.before(layer, block);
            let (rows, inner) = self.compared.shape(layer);
            let width = self.widths[layer + 1];
            let c = match last {
                true => self.own(Buffer::Outputs, width, block.columns),
                false => self.own(Buffer::Hidden(layer + 1), width + 1, block.columns),
            };
            // The last layer is the first to need what was folded beside the others.
            if last && let Some(lane @ 1..) = self.folding.take() {
                self.wait(MAIN, lane);
            }
            let op = Op::Product {
                shape: (rows, block.columns, inner),
                a: (self.layer(layer), false),
                b: (h, false),
                c,
                add: false,
            };
            self.push(MAIN, op);
            if !last {
                self.own(Buffer::Slopes(layer + 1), width + 1, block.columns);
                let op = Op::Activate {
                    curved: true,
                    layer: layer + 1,
                    width,
                    ld: c.ld,
                    columns: block.columns,
                };
                self.push(MAIN, op);
            }
        }
    }

    fn loss(&mut self, block: &Block) {
        let (first, columns) = (block.first, block.columns);
        let width = self.last_rows();
        let outputs = self.own(Buffer::Outputs, width, columns);
        let compared = match self.through {
            Through::Nothing | Through::Folded(_) => outputs,
            Through::Shared(rows) | Through::PerSample(rows) => {
                self.own(Buffer::Coordinates, rows, columns)
            }
        };
        let loss = Op::Loss {
            compared,
            first,
            columns,
        };
        let Through::Shared(rows) = self.through else {
            return self.push(MAIN, loss);
        };
        let r = self.own(Buffer::Factor, rows, padded(width));
        let forth = Op::Product {
            shape: (r.ld, columns, padded(width)),
            a: (r, false),
            b: (outputs, false),
            c: compared,
            add: false,
        };
        let back = Op::Product {
            shape: (padded(width), columns, r.ld),
            a: (r, true),
            b: (compared, false),
            c: outputs,
            add: false,
        };
        self.push(MAIN, forth);
        self.push(MAIN, loss);
        self.push(MAIN, back);
    }

    fn backward(&mut self, block: &Block) {
        let layers = self.compared.layers();
        let add = block.first > 0;
        for layer in (0..layers).rev() {
            let (rows, inner) = self.compared.shape(layer);
            let last = layer + 1 == layers;
            let width = self.widths[layer + 1];
            let delta = match last {
                true => self.own(Buffer::Outputs, width, block.columns),
                false => self.own(Buffer::Delta(layer + 1), width + 1, block.columns),
            };
            // The first layer's gradient is all that is left to do: it needs no lane of its own.
            let lane = if layer == 0 { MAIN } else { 1 + layer % 2 };
            if lane != MAIN {
                self.wait(lane, MAIN);
            }
            let folded = last && matches!(self.through, Through::Folded(_));
            let into = match folded {
                true => self.own(Buffer::FoldedGradient, width, inner),
                false => self.layout.view(Buffer::Gradient, layer),
            };
            let h = self.before(layer, block);
            let op = Op::Product {
                shape: (rows, inner, block.columns),
                a: (delta, false),
                b: (h, true),
                c: into,
                add,
            };
            self.push(lane, op);
            if folded && block.last {
                self.unfold(lane, into);
            }
            if layer > 0 {
                let below = self.own(Buffer::Delta(layer), inner, block.columns);
                let op = Op::Product {
                    shape: (inner, block.columns, rows),
                    a: (self.layer(layer), true),
                    b: (delta, false),
                    c: below,
                    add: false,
                };
                self.push(MAIN, op);
                let len = below.ld * block.columns;
                self.push(MAIN, Op::Slope { layer, len });
            }
        }
    }

    /// $R^\top$ times the gradient with respect to $R[W\ \beta]$.
    fn unfold(&mut self, lane: Lane, from: View) {
        let last = self.layout.layers() - 1;
        let (rows, columns) = self.layout.shape(last);
        let op = Op::Product {
            shape: (rows, columns, from.ld),
            a: (self.factor(), true),
            b: (from, false),
            c: self.layout.view(Buffer::Gradient, last),
            add: false,
        };
        self.push(lane, op);
    }

    fn factor(&self) -> View {
        View {
            buffer: Buffer::Factor,
            offset: 0,
            ld: padded(self.last_rows()),
        }
    }
}
