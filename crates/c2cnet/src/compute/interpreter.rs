//! The program of a step, carried out operation by operation in plain loops: what the kernels should compute, and
//! whether lanes wait where they must.

use super::job::{
    Batches, Constants, Curve, Factor, Job, Layers, LossWeights, StepResult, StepSettings, Targets,
    Trainer, Weights,
};
use super::layout::Layout;
use super::program::{Buffer, LANES, Op, Program, View, padded, whole};
use crate::Result;
use faer::Mat;
use std::collections::BTreeMap;

type Buffers = BTreeMap<Buffer, Vec<f64>>;

/// Points, and $u_i - U_ic$ at them.
type Points = Vec<(u32, f64)>;

pub(crate) struct Interpreter {
    layout: Layout,
    curve: Curve,
    loss: LossWeights,
    constants: Constants<f64>,
    steps: Vec<StepSettings<f64>>,
    shared: Buffers,
    moments: [Vec<f64>; 2],
    /// For training, and for validation if there are samples for it.
    workspaces: [Option<Workspace>; 2],
    order: Vec<usize>,
    next: usize,
    squares: f64,
    log: Vec<StepResult>,
    judged: (f64, f64),
}

struct Workspace {
    program: Program,
    batches: Batches,
    buffers: Buffers,
    losses: Vec<(f64, f64)>,
    coordinates: Mat<f64>,
    scale: f64,
    /// $\|u - QQ^\top u\|^2$, $\|u\|$, the number of values.
    constants: Vec<(f64, f64, f64)>,
    factors: Vec<Mat<f64>>,
    /// The points of each sample's band; then the modes.
    band: Option<(Vec<Points>, Mat<f64>)>,
}

impl Workspace {
    fn new(
        program: Program,
        targets: &Targets<'_, f64>,
        batches: Batches,
        layers: Option<&Layers<'_, f64>>,
    ) -> Self {
        let mut buffers: Buffers = program
            .sizes
            .iter()
            .map(|(&b, &len)| (b, vec![0.0; len]))
            .collect();
        let mut put = |buffer: Buffer, a: faer::MatRef<'_, f64>| {
            let (into, ld) = (buffers.get_mut(&buffer).unwrap(), padded(a.nrows()));
            for j in 0..a.ncols() {
                for i in 0..a.nrows() {
                    into[j * ld + i] = a[(i, j)];
                }
            }
        };
        put(Buffer::Inputs, targets.inputs);
        if let Factor::Shared { r, .. } = targets.factor {
            put(Buffer::Factor, r);
        }
        if let Some(layers) = layers {
            put(Buffer::Functions, layers.functions);
            put(Buffer::Means, layers.means);
            put(Buffer::Projection, layers.projection);
        }
        let samples = 0..targets.norms.len();
        let band = targets.band.as_ref().map(|band| {
            let of = |k: usize| {
                let range = band.starts[k]..band.starts[k + 1];
                let points = band.points[range.clone()].iter().copied();
                points.zip(band.outside[range].iter().copied()).collect()
            };
            (samples.clone().map(of).collect(), band.modes.to_owned())
        });
        let constants = |k: usize| {
            let count = targets.counts[k] as f64;
            (targets.outside_squared[k], targets.norms[k], count)
        };
        Workspace {
            losses: vec![(f64::NAN, f64::NAN); program.columns],
            program,
            batches,
            buffers,
            coordinates: targets.coordinates.to_owned(),
            scale: targets.scale,
            constants: samples.map(constants).collect(),
            factors: match targets.factor {
                Factor::PerSample(all) => all.to_vec(),
                _ => Vec::new(),
            },
            band,
        }
    }
}

impl Interpreter {
    pub(crate) fn new(job: &Job<'_, f64>) -> Self {
        let layout = Layout::of_job(job);
        let layers = job.layers.as_ref();
        let zeros = || vec![0.0; layout.len()];
        let mut shared = Buffers::new();
        shared.insert(Buffer::Parameters, zeros());
        shared.insert(Buffer::Gradient, zeros());
        let validation = job.validation.as_ref().map(|targets| {
            let program = Program::evaluation(job, targets);
            Workspace::new(program, targets, whole(targets), layers)
        });
        let program = Program::training(job);
        let training = Workspace::new(program, &job.training, job.batches, layers);
        check_order(&training.program);
        Interpreter {
            curve: job.curve,
            loss: job.loss,
            constants: job.constants,
            steps: job.steps.clone(),
            shared,
            moments: [zeros(), zeros()],
            workspaces: [Some(training), validation],
            order: (0..job.batches.samples).collect(),
            next: 0,
            squares: 0.0,
            log: Vec::new(),
            judged: (f64::NAN, f64::NAN),
            layout,
        }
    }

    fn perform(&mut self, workspace: usize) {
        let mut inside = self.workspaces[workspace]
            .take()
            .expect("a workspace with a program");
        let mut at = inside.buffers.clone();
        at.append(&mut self.shared.clone());
        for (_, op) in inside.program.ops.clone() {
            self.op(&mut inside, &mut at, &op);
        }
        for (buffer, values) in at {
            match buffer.shared() {
                true => self.shared.insert(buffer, values),
                false => inside.buffers.insert(buffer, values),
            };
        }
        self.workspaces[workspace] = Some(inside);
    }

    fn op(&mut self, workspace: &mut Workspace, at: &mut Buffers, op: &Op) {
        match *op {
            Op::Wait { .. } => {}
            Op::Product {
                shape,
                a,
                b,
                c,
                add,
            } => product(at, shape, a, b, c, add),
            Op::Products {
                count,
                shape,
                a: (a, ta),
                b: (b, tb),
                c,
                add,
                strides,
            } => {
                for i in 0..count {
                    let further = |view: View, stride: usize| View {
                        offset: view.offset + i * stride,
                        ..view
                    };
                    let (a, b) = (further(a, strides[0]), further(b, strides[1]));
                    let c = further(c, strides[2]);
                    product(at, shape, (a, ta), (b, tb), c, add);
                }
            }
            Op::GatherPoints {
                first,
                samples,
                points,
                ld,
            } => {
                let (start, size) = self.batch(workspace);
                let from = |j: usize| {
                    let (point, place) = (j / samples, first + j % samples);
                    let k = || self.sample(workspace, start + place);
                    (place < size).then(|| k() * points + point)
                };
                gather(at, samples * points, ld, from);
            }
            Op::Gather { first, columns, ld } => {
                let (start, size) = self.batch(workspace);
                let from = |j: usize| (first + j < size).then(|| self.order[start + first + j]);
                gather(at, columns, ld, from);
            }
            Op::Activate {
                curved,
                layer,
                width,
                ld,
                columns,
            } => {
                let curve = curved.then_some(self.curve);
                activate(at, curve, layer, (width, ld, columns));
            }
            Op::Slope { layer, len } => {
                for i in 0..len {
                    let slope = at[&Buffer::Slopes(layer)][i];
                    at.get_mut(&Buffer::Delta(layer)).unwrap()[i] *= slope;
                }
            }
            Op::Loss {
                compared,
                first,
                columns,
            } => (0..columns).for_each(|j| self.loss(workspace, at, compared, first, j)),
            Op::Total { count } => self.total(workspace, count),
            Op::Squares => self.squares = at[&Buffer::Gradient].iter().map(|g| g * g).sum(),
            Op::Update => self.update(at),
        }
    }

    fn batch(&self, workspace: &Workspace) -> (usize, usize) {
        let Batches { samples, count } = workspace.batches;
        let b = self.next % count;
        let start = samples * b / count;
        (start, samples * (b + 1) / count - start)
    }

    /// The sample at a place of the order.
    fn sample(&self, workspace: &Workspace, place: usize) -> usize {
        match workspace.batches.count {
            1 => place,
            _ => self.order[place],
        }
    }

    fn loss(
        &self,
        workspace: &mut Workspace,
        at: &mut Buffers,
        compared: View,
        first: usize,
        j: usize,
    ) {
        let (start, size) = self.batch(workspace);
        let place = first + j;
        let range = j * compared.ld..(j + 1) * compared.ld;
        let outputs = &at[&Buffer::Outputs];
        let outputs_ld = outputs.len() / (at[&compared.buffer].len() / compared.ld);
        let own = j * outputs_ld..(j + 1) * outputs_ld;
        if place >= size {
            at.get_mut(&compared.buffer).unwrap()[range].fill(0.0);
            at.get_mut(&Buffer::Outputs).unwrap()[own].fill(0.0);
            workspace.losses[place] = (0.0, 0.0);
            return;
        }
        let k = self.sample(workspace, start + place);
        let mut c = at[&compared.buffer][range.clone()].to_vec();
        let factor = workspace.factors.get(k);
        if let Some(r) = factor {
            let b = &outputs[own.clone()];
            for (i, c) in c.iter_mut().enumerate().take(r.nrows()) {
                *c = (0..r.ncols()).map(|q| r[(i, q)] * b[q]).sum();
            }
        }
        let rows = factor.map_or(workspace.coordinates.nrows(), Mat::nrows);
        for (i, c) in c.iter_mut().enumerate() {
            *c = match i < rows {
                true => *c - workspace.coordinates[(i, k)],
                false => 0.0,
            };
        }
        workspace.losses[place] = self.slopes(workspace, k, &mut c[..rows], size);
        if let Some(r) = factor {
            let b = &mut at.get_mut(&Buffer::Outputs).unwrap()[own];
            for (q, b) in b.iter_mut().enumerate() {
                *b = match q < r.ncols() {
                    true => (0..rows).map(|i| r[(i, q)] * c[i]).sum(),
                    false => 0.0,
                };
            }
        }
        at.get_mut(&compared.buffer).unwrap()[range].copy_from_slice(&c);
    }

    /// Loss and relative error of sample `k`; the gradient replaces its errors.
    fn slopes(&self, workspace: &Workspace, k: usize, e: &mut [f64], size: usize) -> (f64, f64) {
        let (w, s) = (&self.loss, workspace.scale);
        let (outside_squared, norm, count) = workspace.constants[k];
        let squared = s * s * e.iter().map(|e| e * e).sum::<f64>() + outside_squared;
        let (root, by_norm) = (squared.sqrt(), 1.0 / (norm + w.epsilon));
        let mut loss = w.relative * root * by_norm + w.mean_square * squared / count;
        let mut slope = w.mean_square / count;
        if w.relative > 0.0 && root > 0.0 {
            slope += 0.5 * w.relative * by_norm / root;
        }
        let mut added = vec![0.0; e.len()];
        if let Some((points, modes)) = &workspace.band {
            let inside = points[k].len() as f64;
            let total = w.inside * inside + w.outside * (count - inside);
            let extra = w.band * (w.inside - w.outside) / total;
            for &(i, outside) in &points[k] {
                let u = modes.col_as_slice(i as usize);
                let r = s * u.iter().zip(&*e).map(|(u, e)| u * e).sum::<f64>() - outside;
                loss += extra * r * r;
                let both = added.iter_mut().zip(u);
                both.for_each(|(a, u)| *a += 2.0 * s / size as f64 * extra * r * u);
            }
            loss += w.band * w.outside * squared / total;
            slope += w.band * w.outside / total;
        }
        let both = e.iter_mut().zip(added);
        both.for_each(|(e, a)| *e = 2.0 * s * s / size as f64 * slope * *e + a);
        (loss, if norm > 0.0 { root / norm } else { root })
    }

    fn total(&mut self, workspace: &Workspace, count: bool) {
        let (_, size) = self.batch(workspace);
        let mut mean = (0.0, 0.0);
        for (loss, relative) in &workspace.losses[..size] {
            mean.0 += loss / size as f64;
            mean.1 += relative / size as f64;
        }
        match count {
            false => self.judged = mean,
            true => self.log.push(StepResult {
                loss: mean.0,
                relative: mean.1,
                norm: f64::NAN,
            }),
        }
    }

    fn update(&mut self, at: &mut Buffers) {
        let norm = self.squares.sqrt();
        let entry = self.log.last_mut().expect("a total before the update");
        entry.norm = norm;
        assert!(entry.finite(), "divergence is tested elsewhere");
        let (c, step) = (&self.constants, self.steps[self.next]);
        let factor = c.clip.map_or(1.0, |clip| (clip / (norm + 1e-6)).min(1.0));
        let [first, second] = &mut self.moments;
        for i in 0..first.len() {
            let p = at[&Buffer::Parameters][i];
            let g = at[&Buffer::Gradient][i] * factor + c.l2 * p;
            first[i] += c.keep1 * (g - first[i]);
            second[i] = c.beta2 * second[i] + c.keep2 * g * g;
            let off = first[i] / (second[i].sqrt() * step.root + c.epsilon);
            let p = p * step.shrink - step.size * off;
            at.get_mut(&Buffer::Parameters).unwrap()[i] = p;
        }
        self.next += 1;
    }
}

impl Trainer<f64> for Interpreter {
    fn most(&self) -> usize {
        7
    }

    fn load(&mut self, weights: &Weights<f64>, step: usize) -> Result<()> {
        let pad = |values: &[f64]| self.layout.pad(values);
        self.moments = [pad(&weights.first), pad(&weights.second)];
        let parameters = pad(&weights.parameters);
        self.shared.insert(Buffer::Parameters, parameters);
        self.next = step;
        Ok(())
    }

    fn order(&mut self, order: &[usize]) -> Result<()> {
        self.order = order.to_vec();
        Ok(())
    }

    fn run(&mut self, steps: usize) -> Result<()> {
        (0..steps).for_each(|_| self.perform(0));
        Ok(())
    }

    fn results(&mut self) -> Result<Vec<StepResult>> {
        Ok(std::mem::take(&mut self.log))
    }

    fn evaluate(&mut self) -> Result<Option<(f64, f64)>> {
        if self.workspaces[1].is_none() {
            return Ok(None);
        }
        self.perform(1);
        Ok(Some(self.judged))
    }

    fn weights(&mut self) -> Result<Weights<f64>> {
        let strip = |values: &[f64]| {
            let plain = self.layout.strip(values);
            assert_eq!(self.layout.pad(&plain), values, "padding stays zero");
            plain
        };
        Ok(Weights {
            parameters: strip(&self.shared[&Buffer::Parameters]),
            first: strip(&self.moments[0]),
            second: strip(&self.moments[1]),
        })
    }
}

/// Fills columns of the batch with those of the inputs that `from` names; where it names none, with zeros.
fn gather(at: &mut Buffers, columns: usize, ld: usize, from: impl Fn(usize) -> Option<usize>) {
    for j in 0..columns {
        let column = match from(j) {
            Some(k) => at[&Buffer::Inputs][k * ld..(k + 1) * ld].to_vec(),
            None => vec![0.0; ld],
        };
        let batch = at.get_mut(&Buffer::Batch).unwrap();
        batch[j * ld..(j + 1) * ld].copy_from_slice(&column);
    }
}

/// Values and slopes of a layer; straight without a curve.
fn activate(
    at: &mut Buffers,
    curved: Option<Curve>,
    layer: usize,
    (width, ld, columns): (usize, usize, usize),
) {
    for place in 0..ld * columns {
        let x = at[&Buffer::Hidden(layer)][place];
        let (value, slope) = match (place % ld).cmp(&width) {
            std::cmp::Ordering::Less => curved.map_or((x, 1.0), |shape| curve(shape, x)),
            std::cmp::Ordering::Equal => (1.0, 0.0),
            std::cmp::Ordering::Greater => (0.0, 0.0),
        };
        at.get_mut(&Buffer::Hidden(layer)).unwrap()[place] = value;
        at.get_mut(&Buffer::Slopes(layer)).unwrap()[place] = slope;
    }
}

fn product(
    at: &mut Buffers,
    (m, n, k): (usize, usize, usize),
    (a, ta): (View, bool),
    (b, tb): (View, bool),
    c: View,
    add: bool,
) {
    let pick = |values: &[f64], view: View, transposed: bool, i: usize, j: usize| {
        let (i, j) = if transposed { (j, i) } else { (i, j) };
        assert!(i < view.ld, "row {i} of {view:?}");
        values[view.offset + j * view.ld + i]
    };
    let mut result = Vec::with_capacity(m * n);
    for j in 0..n {
        for i in 0..m {
            let (x, y) = (&at[&a.buffer], &at[&b.buffer]);
            let terms = (0..k).map(|q| pick(x, a, ta, i, q) * pick(y, b, tb, q, j));
            result.push(terms.sum::<f64>());
        }
    }
    let into = at.get_mut(&c.buffer).unwrap();
    assert!(m <= c.ld, "{m} rows in {c:?}");
    for (place, value) in result.into_iter().enumerate() {
        let old = &mut into[c.offset + place / m * c.ld + place % m];
        *old = if add { *old + value } else { value };
    }
}

/// Value and derivative, as in `kernels.cu` with the system's functions.
fn curve(kind: Curve, x: f64) -> (f64, f64) {
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    match kind {
        Curve::Gelu => {
            let phi = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
            let density = 0.398_942_280_401_432_7 * (-0.5 * x * x).exp();
            (x * phi, phi + x * density)
        }
        Curve::GeluTanh => {
            let (square, c) = (x * x, 1.595_769_121_605_730_8);
            let s = logistic(c * x * (1.0 + 0.044_715 * square));
            let inner = c * (1.0 + 0.134_145 * square);
            (x * s, s + x * ((s - s * s) * inner))
        }
        Curve::Tanh => (x.tanh(), 1.0 - x.tanh() * x.tanh()),
        Curve::Relu if x <= 0.0 => (0.0, 0.0),
        Curve::Relu => (x, 1.0),
        Curve::Silu => {
            let s = logistic(x);
            (x * s, s * (1.0 + x * (1.0 - s)))
        }
    }
}

/// Whenever two operations of different lanes use the same numbers and one of them changes them, the later one
/// waits for the earlier one; the update waits for all.
fn check_order(program: &Program) {
    let mut clocks = [[0usize; LANES]; LANES];
    let mut uses: Vec<(Buffer, usize, bool, usize, usize)> = Vec::new();
    for (lane, op) in &program.ops {
        if let Op::Wait { other } = *op {
            let seen = clocks[other];
            let both = clocks[*lane].iter_mut().zip(seen);
            both.for_each(|(clock, seen)| *clock = seen.max(*clock));
            continue;
        }
        clocks[*lane][*lane] += 1;
        if matches!(op, Op::Squares | Op::Update) {
            let latest: Vec<usize> = (0..LANES).map(|l| clocks[l][l]).collect();
            assert_eq!(clocks[*lane][..], latest, "{op:?} waits for all lanes");
        }
        for (buffer, offset, writes) in touched(op) {
            for &(b, o, w, l, time) in &uses {
                // Layers lie side by side in these; elsewhere an offset begins a block of samples.
                let apart = buffer.shared() && o != offset;
                if b == buffer && !apart && (w || writes) {
                    assert!(
                        clocks[*lane][l] >= time,
                        "{op:?} does not wait for lane {l}"
                    );
                }
            }
            uses.push((buffer, offset, writes, *lane, clocks[*lane][*lane]));
        }
    }
}

/// Buffers and offsets that an operation uses, and whether it changes them.
fn touched(op: &Op) -> Vec<(Buffer, usize, bool)> {
    let whole = |buffer, writes| (buffer, 0, writes);
    match *op {
        Op::Wait { .. } | Op::Total { .. } => Vec::new(),
        Op::Gather { .. } | Op::GatherPoints { .. } => {
            vec![whole(Buffer::Inputs, false), whole(Buffer::Batch, true)]
        }
        Op::Product {
            a: (a, _),
            b: (b, _),
            c,
            ..
        }
        | Op::Products {
            a: (a, _),
            b: (b, _),
            c,
            ..
        } => vec![
            (a.buffer, a.offset, false),
            (b.buffer, b.offset, false),
            (c.buffer, c.offset, true),
        ],
        Op::Activate { layer, .. } => vec![
            whole(Buffer::Hidden(layer), true),
            whole(Buffer::Slopes(layer), true),
        ],
        Op::Slope { layer, .. } => vec![
            whole(Buffer::Slopes(layer), false),
            whole(Buffer::Delta(layer), true),
        ],
        Op::Loss { compared, .. } => {
            vec![
                (compared.buffer, compared.offset, true),
                whole(Buffer::Outputs, true),
            ]
        }
        // They wait for everything.
        Op::Squares | Op::Update => Vec::new(),
    }
}
