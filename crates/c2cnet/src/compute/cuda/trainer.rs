//! A stage of training on a GPU: the program of a step recorded as one CUDA graph, and replayed.

use super::arguments::{Batches, UpdateInput};
use super::buffers::{Buffers, Heap, address};
use super::lanes::{Lane, Lanes};
use super::{Gpu, Real};
use crate::compute::job::{Constants, Curve, Job, StepResult, Trainer, Weights};
use crate::compute::layout::Layout;
use crate::compute::program::{self, Buffer, Op, Program, View};
use crate::{Error, Result};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaEvent, CudaFunction, CudaGraph, CudaSlice, LaunchConfig, PushKernelArg};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

/// Steps that may be under way before their losses are read.
const LOG: usize = 1024;

/// Partial sums of the gradient's squares: a constant, so that bits do not depend on the GPU's size.
const PARTS: u32 = 256;

const THREADS: u32 = 256;

/// Words of the control block, as in `kernels.cu`: the next step, the current one, the failed one and one.
const FAILED: usize = 2;

pub(crate) struct CudaTrainer<T> {
    gpu: Arc<Gpu>,
    graph: Option<CudaGraph>,
    kernels: Kernels,
    layout: Layout,
    curve: i32,
    constants: Constants<T>,
    /// Parameters and gradient.
    shared: BTreeMap<Buffer, CudaSlice<T>>,
    first: CudaSlice<T>,
    second: CudaSlice<T>,
    /// Four numbers for every step.
    steps: CudaSlice<T>,
    control: CudaSlice<u64>,
    log: CudaSlice<f64>,
    parts: CudaSlice<f64>,
    order: CudaSlice<u32>,
    training: Buffers<T>,
    validation: Option<Buffers<T>>,
    judged: CudaSlice<f64>,
    /// The step that is taken next, and how many were taken since results were read.
    next: usize,
    pending: usize,
    /// Last, so that everything on these streams is gone when they go to another training.
    lanes: Lanes,
}

struct Kernels {
    gather: CudaFunction,
    gather_points: CudaFunction,
    activate: CudaFunction,
    slope: CudaFunction,
    loss: CudaFunction,
    total: CudaFunction,
    squares: CudaFunction,
    update: CudaFunction,
}

impl Kernels {
    fn load<T: Real>(gpu: &Gpu) -> Result<Self> {
        let module = gpu.module::<T>()?;
        let kernel = |name: &str| gpu.kernel(&module, name);
        Ok(Kernels {
            gather: kernel("gather")?,
            gather_points: kernel("gather_points")?,
            activate: kernel("activate")?,
            slope: kernel("slope")?,
            loss: kernel("loss")?,
            total: kernel("total")?,
            squares: kernel("squares")?,
            update: kernel("update")?,
        })
    }
}

impl<T: Real> CudaTrainer<T> {
    pub(crate) fn new(gpu: &Arc<Gpu>, job: &Job<'_, T>) -> Result<Self> {
        gpu.context.bind_to_thread().map_err(|e| gpu.fault(e))?;
        let _alone = gpu.preparing.lock().unwrap_or_else(PoisonError::into_inner);
        let kernels = Kernels::load::<T>(gpu)?;
        let lanes = Lanes::of(gpu)?;
        let heap = Heap {
            gpu,
            stream: &lanes[0].stream,
        };
        let layout = Layout::of_job(job);
        let outputs = job.outputs();
        let mut shared = BTreeMap::new();
        shared.insert(Buffer::Parameters, heap.zeros(layout.len())?);
        shared.insert(Buffer::Gradient, heap.zeros(layout.len())?);
        let buffers = |program, targets, batches| {
            let mut buffers = Buffers::new(heap, program, targets, batches, &job.loss, outputs)?;
            if let Some(layers) = &job.layers {
                buffers.furnish(heap, layers)?;
            }
            Ok::<_, Error>(buffers)
        };
        let training = buffers(Program::training(job), &job.training, job.batches)?;
        let validation = match &job.validation {
            Some(targets) => {
                let batches = program::whole(targets);
                Some(buffers(
                    Program::evaluation(job, targets),
                    targets,
                    batches,
                )?)
            }
            None => None,
        };
        let settings = job.steps.iter();
        let steps: Vec<T> = settings.flat_map(|s| [s.size, s.root, s.shrink]).collect();
        let mut trainer = CudaTrainer {
            gpu: gpu.clone(),
            graph: None,
            kernels,
            curve: number(job.curve),
            constants: job.constants,
            shared,
            first: heap.zeros(layout.len())?,
            second: heap.zeros(layout.len())?,
            steps: heap.copy(&steps)?,
            control: heap.zeros(4)?,
            log: heap.zeros(3 * LOG)?,
            parts: heap.zeros(PARTS as usize)?,
            order: heap.zeros(job.batches.samples)?,
            training,
            validation,
            judged: heap.zeros(3)?,
            next: 0,
            pending: 0,
            layout,
            lanes,
        };
        trainer.record()?;
        Ok(trainer)
    }

    /// Runs the programs once without updates, so that every kernel is loaded, and records that of a step.
    fn record(&mut self) -> Result<()> {
        let buffers = &self.training;
        let mut events = Vec::new();
        for (lane, op) in &buffers.program.ops {
            if !matches!(op, Op::Total { .. } | Op::Update) {
                events.extend(self.issue(buffers, *lane, op)?);
            }
        }
        if let Some(buffers) = &self.validation {
            for (lane, op) in &buffers.program.ops {
                events.extend(self.issue(buffers, *lane, op)?);
            }
        }
        self.synchronize()?;
        let fault = |e| self.gpu.fault(e);
        let stream = &self.lanes[0].stream;
        // Other threads may allocate meanwhile.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).map_err(fault)?;
        let mut issued = Ok(());
        for (lane, op) in &buffers.program.ops {
            match self.issue(buffers, *lane, op) {
                Ok(event) => events.extend(event),
                Err(e) => {
                    issued = Err(e);
                    break;
                }
            }
        }
        let graph = stream.end_capture(CUgraphInstantiate_flags(0));
        issued?;
        let graph = graph.map_err(fault)?;
        let graph = graph.ok_or_else(|| Error::Device("an empty CUDA graph".into()))?;
        self.graph = Some(graph);
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        for lane in self.lanes.iter() {
            lane.stream.synchronize().map_err(|e| self.gpu.fault(e))?;
        }
        Ok(())
    }

    fn heap(&self) -> Heap<'_> {
        Heap {
            gpu: &self.gpu,
            stream: &self.lanes[0].stream,
        }
    }

    fn at(&self, buffers: &Buffers<T>, buffer: Buffer) -> u64 {
        match self.shared.get(&buffer) {
            Some(slice) => address(slice),
            None => buffers.address(buffer),
        }
    }

    fn matrix(&self, buffers: &Buffers<T>, view: View) -> u64 {
        self.at(buffers, view.buffer) + (view.offset * size_of::<T>()) as u64
    }

    /// Gives an operation to its lane; a wait is an event, which a recording needs until it ends.
    fn issue(&self, buffers: &Buffers<T>, lane: usize, op: &Op) -> Result<Option<CudaEvent>> {
        let on = &self.lanes[lane];
        match *op {
            Op::Wait { other } => return on.wait(&self.gpu, &self.lanes[other]).map(Some),
            Op::Product {
                shape,
                a: (a, ta),
                b: (b, tb),
                c,
                add,
            } => {
                let at = |view| self.matrix(buffers, view);
                // SAFETY: the program's buffers hold its matrices; its tests run all of them.
                unsafe {
                    on.product::<T>(
                        &self.gpu,
                        shape,
                        (at(a), a.ld, ta),
                        (at(b), b.ld, tb),
                        (at(c), c.ld, add),
                    )?;
                }
            }
            Op::Products {
                count,
                shape,
                a: (a, ta),
                b: (b, tb),
                c,
                add,
                strides,
            } => {
                let of = |view: View, stride| (self.matrix(buffers, view), view.ld, stride);
                let matrices = [of(a, strides[0]), of(b, strides[1]), of(c, strides[2])];
                // SAFETY: as above.
                unsafe { on.products::<T>(&self.gpu, count, shape, [ta, tb], (matrices, add))? }
            }
            Op::Gather { first, columns, ld } => self.gather(buffers, on, first, columns, ld)?,
            Op::GatherPoints {
                first,
                samples,
                points,
                ld,
            } => self.gather_points(buffers, on, first, (samples, points, ld))?,
            Op::Activate {
                curved,
                layer,
                width,
                ld,
                columns,
            } => {
                let curve = if curved { self.curve } else { NO_CURVE };
                self.activate(buffers, on, (layer, curve), (width, ld, columns))?;
            }
            Op::Slope { layer, len } => self.slope(buffers, on, layer, len)?,
            Op::Loss {
                compared,
                first,
                columns,
            } => self.loss(buffers, on, (compared, first, columns))?,
            Op::Total { count } => self.total(buffers, on, count)?,
            Op::Squares => self.squares(on)?,
            Op::Update => self.update(on)?,
        }
        Ok(None)
    }

    fn gather(
        &self,
        buffers: &Buffers<T>,
        on: &Lane,
        first: usize,
        columns: usize,
        ld: usize,
    ) -> Result<()> {
        let (inputs, batch) = (
            buffers.address(Buffer::Inputs),
            buffers.address(Buffer::Batch),
        );
        let (order, control) = (address(&self.order), address(&self.control));
        let batches = Batches::from(buffers.batches);
        let (ld, first, width) = (ld as u32, first as u32, columns as u32);
        let mut launch = on.stream.launch_builder(&self.kernels.gather);
        launch.arg(&inputs).arg(&batch).arg(&ld).arg(&batches);
        launch.arg(&order).arg(&control).arg(&first).arg(&width);
        self.launched(unsafe { launch.launch(by_columns(ld as usize, columns)) })
    }

    fn gather_points(
        &self,
        buffers: &Buffers<T>,
        on: &Lane,
        first: usize,
        (samples, points, ld): (usize, usize, usize),
    ) -> Result<()> {
        let (inputs, batch) = (
            buffers.address(Buffer::Inputs),
            buffers.address(Buffer::Batch),
        );
        let (order, control) = (self.order_of(buffers), address(&self.control));
        let batches = Batches::from(buffers.batches);
        let grid = by_columns(ld, samples * points);
        let [ld, first, samples, points] = [ld, first, samples, points].map(|n| n as u32);
        let mut launch = on.stream.launch_builder(&self.kernels.gather_points);
        launch.arg(&inputs).arg(&batch).arg(&ld).arg(&batches);
        launch.arg(&order).arg(&control).arg(&first);
        launch.arg(&samples).arg(&points);
        self.launched(unsafe { launch.launch(grid) })
    }

    /// The address of the order of samples; null if they are taken in their own order.
    fn order_of(&self, buffers: &Buffers<T>) -> u64 {
        match buffers.batches.count {
            1 => 0,
            _ => address(&self.order),
        }
    }

    fn activate(
        &self,
        buffers: &Buffers<T>,
        on: &Lane,
        (layer, curve): (usize, i32),
        (width, ld, columns): (usize, usize, usize),
    ) -> Result<()> {
        let values = buffers.address(Buffer::Hidden(layer));
        let slopes = buffers.address(Buffer::Slopes(layer));
        let sizes = [width as u32, ld as u32, columns as u32];
        let mut launch = on.stream.launch_builder(&self.kernels.activate);
        launch.arg(&values).arg(&slopes);
        sizes.iter().for_each(|size| {
            launch.arg(size);
        });
        launch.arg(&curve);
        self.launched(unsafe { launch.launch(by_columns(ld, columns)) })
    }

    fn slope(&self, buffers: &Buffers<T>, on: &Lane, layer: usize, len: usize) -> Result<()> {
        let delta = buffers.address(Buffer::Delta(layer));
        let slopes = buffers.address(Buffer::Slopes(layer));
        let numbers = len as u64;
        let mut launch = on.stream.launch_builder(&self.kernels.slope);
        launch.arg(&delta).arg(&slopes).arg(&numbers);
        self.launched(unsafe { launch.launch(by_fours(len)) })
    }

    fn loss(
        &self,
        buffers: &Buffers<T>,
        on: &Lane,
        (compared, first, columns): (View, usize, usize),
    ) -> Result<()> {
        let order = self.order_of(buffers);
        let input = buffers.loss_input(compared, first, address(&self.control), order);
        let mut launch = on.stream.launch_builder(&self.kernels.loss);
        launch.arg(&input);
        self.launched(unsafe { launch.launch(blocks(columns as u32, 128)) })
    }

    fn total(&self, buffers: &Buffers<T>, on: &Lane, count: bool) -> Result<()> {
        let (losses, relatives) = (address(&buffers.losses), address(&buffers.relatives));
        let batches = Batches::from(buffers.batches);
        let control = address(&self.control);
        let (log, length) = match count {
            true => (address(&self.log), LOG as u64),
            false => (address(&self.judged), 1),
        };
        let count = i32::from(count);
        let mut launch = on.stream.launch_builder(&self.kernels.total);
        launch.arg(&losses).arg(&relatives).arg(&batches);
        launch.arg(&control).arg(&log).arg(&length).arg(&count);
        self.launched(unsafe { launch.launch(blocks(1, 512)) })
    }

    fn squares(&self, on: &Lane) -> Result<()> {
        let gradient = address(&self.shared[&Buffer::Gradient]);
        let (len, parts) = (self.layout.len() as u64, address(&self.parts));
        let mut launch = on.stream.launch_builder(&self.kernels.squares);
        launch.arg(&gradient).arg(&len).arg(&parts);
        self.launched(unsafe { launch.launch(blocks(PARTS, THREADS)) })
    }

    fn update(&self, on: &Lane) -> Result<()> {
        let c = &self.constants;
        let input = UpdateInput {
            parameters: address(&self.shared[&Buffer::Parameters]),
            first: address(&self.first),
            second: address(&self.second),
            gradient: address(&self.shared[&Buffer::Gradient]),
            parts: address(&self.parts),
            steps: address(&self.steps),
            control: address(&self.control),
            log: address(&self.log),
            len: self.layout.len() as u64,
            log_length: LOG as u64,
            clip: c.clip.unwrap_or(-1.0),
            l2: c.l2,
            keep1: c.keep1,
            beta2: c.beta2,
            keep2: c.keep2,
            epsilon: c.epsilon,
            part_count: PARTS,
        };
        let mut launch = on.stream.launch_builder(&self.kernels.update);
        launch.arg(&input);
        self.launched(unsafe { launch.launch(by_fours(self.layout.len())) })
    }

    fn launched<R>(
        &self,
        result: std::result::Result<R, cudarc::driver::DriverError>,
    ) -> Result<()> {
        result.map(drop).map_err(|e| self.gpu.fault(e))
    }

    fn put(&mut self, buffer: Buffer, plain: &[T]) -> Result<()> {
        let values = self.layout.pad(plain);
        let (gpu, stream) = (&self.gpu, &self.lanes[0].stream);
        let to = self.shared.get_mut(&buffer).expect("a buffer of weights");
        Heap { gpu, stream }.fill(to, &values)
    }

    fn get(&self, from: &CudaSlice<T>) -> Result<Vec<T>> {
        Ok(self.layout.strip(&self.heap().fetch(from)?))
    }
}

impl<T: Real> Trainer<T> for CudaTrainer<T> {
    fn most(&self) -> usize {
        LOG
    }

    fn load(&mut self, weights: &Weights<T>, step: usize) -> Result<()> {
        self.put(Buffer::Parameters, &weights.parameters)?;
        let (gpu, stream) = (&self.gpu, &self.lanes[0].stream);
        let heap = Heap { gpu, stream };
        heap.fill(&mut self.first, &self.layout.pad(&weights.first))?;
        heap.fill(&mut self.second, &self.layout.pad(&weights.second))?;
        heap.fill(&mut self.control, &[step as u64, step as u64, 0, 0])?;
        (self.next, self.pending) = (step, 0);
        Ok(())
    }

    fn order(&mut self, order: &[usize]) -> Result<()> {
        let order: Vec<u32> = order.iter().map(|&k| k as u32).collect();
        let (gpu, stream) = (&self.gpu, &self.lanes[0].stream);
        Heap { gpu, stream }.fill(&mut self.order, &order)
    }

    fn run(&mut self, steps: usize) -> Result<()> {
        debug_assert!(self.pending + steps <= LOG);
        let graph = self.graph.as_ref().expect("a recorded graph");
        for _ in 0..steps {
            graph.launch().map_err(|e| self.gpu.fault(e))?;
        }
        self.next += steps;
        self.pending += steps;
        Ok(())
    }

    fn results(&mut self) -> Result<Vec<StepResult>> {
        let log = self.heap().fetch(&self.log)?;
        let failed = self.heap().fetch(&self.control)?[FAILED] as usize;
        let first = self.next - std::mem::take(&mut self.pending);
        let end = if failed > 0 { failed } else { self.next };
        let entry = |step: usize| &log[3 * (step % LOG)..][..3];
        let results = (first..end).map(entry).map(|e| StepResult {
            loss: e[0],
            relative: e[1],
            norm: e[2],
        });
        Ok(results.collect())
    }

    fn evaluate(&mut self) -> Result<Option<(f64, f64)>> {
        let Some(buffers) = &self.validation else {
            return Ok(None);
        };
        for (lane, op) in &buffers.program.ops {
            self.issue(buffers, *lane, op)?;
        }
        let judged = self.heap().fetch(&self.judged)?;
        Ok(Some((judged[0], judged[1])))
    }

    fn weights(&mut self) -> Result<Weights<T>> {
        Ok(Weights {
            parameters: self.get(&self.shared[&Buffer::Parameters])?,
            first: self.get(&self.first)?,
            second: self.get(&self.second)?,
        })
    }
}

/// The number that `source` gives to "no activation".
const NO_CURVE: i32 = 5;

/// The number that `source` gives to an activation.
fn number(curve: Curve) -> i32 {
    match curve {
        Curve::Gelu => 0,
        Curve::GeluTanh => 1,
        Curve::Tanh => 2,
        Curve::Relu => 3,
        Curve::Silu => 4,
    }
}

fn blocks(count: u32, threads: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (count, 1, 1),
        block_dim: (threads, 1, 1),
        shared_mem_bytes: 0,
    }
}

/// One thread per four numbers.
fn by_fours(len: usize) -> LaunchConfig {
    blocks(len.div_ceil(4 * THREADS as usize) as u32, THREADS)
}

/// One thread per four rows of a column; `ld` is a multiple of four.
fn by_columns(ld: usize, columns: usize) -> LaunchConfig {
    let (x, y) = (32, THREADS / 32);
    LaunchConfig {
        grid_dim: (
            (ld / 4).div_ceil(x as usize) as u32,
            columns.div_ceil(y as usize) as u32,
            1,
        ),
        block_dim: (x, y, 1),
        shared_mem_bytes: 0,
    }
}
