//! Matrices on a GPU and operations on them, by one caller at a time.

use super::Gpu;
use super::buffers::{Heap, address};
use super::dense::{RADIAL, source};
use super::lanes::Lane;
use crate::compute::{KernelFunction, PassSettings};
use crate::{Error, Result};
use cudarc::cusolver::sys::{self, cublasFillMode_t, cusolverEigMode_t};
use cudarc::cusolver::{CusolverError, DnHandle};
use cudarc::driver::{CudaFunction, CudaSlice, LaunchConfig, PushKernelArg};
use std::sync::{Arc, MutexGuard};

const LOWER: cublasFillMode_t = cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

/// A stream with the handles of its libraries.
pub(super) struct StreamHandles {
    lane: Lane,
    solver: DnHandle,
}

pub(super) struct Kernels {
    distances: CudaFunction,
    kernel_values: CudaFunction,
    weigh: CudaFunction,
    jacobians: CudaFunction,
}

impl StreamHandles {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let lane = Lane::new(gpu)?;
        let solver = DnHandle::new(lane.stream.clone()).map_err(|e| not_solved(gpu, e))?;
        Ok(StreamHandles { lane, solver })
    }
}

impl Kernels {
    pub(super) fn load(gpu: &Arc<Gpu>) -> Result<Self> {
        let module = gpu.compiled("dense", source)?;
        let kernel = |name: &str| gpu.kernel(&module, name);
        Ok(Kernels {
            distances: kernel("distances")?,
            kernel_values: kernel("kernel_values")?,
            weigh: kernel("weigh")?,
            jacobians: kernel("jacobians")?,
        })
    }
}

/// A matrix on the GPU, its columns one after another.
pub(super) struct DeviceMatrix {
    values: CudaSlice<f64>,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl DeviceMatrix {
    pub(super) fn address(&self) -> u64 {
        address(&self.values)
    }

    pub(super) fn len(&self) -> usize {
        self.rows * self.columns
    }
}

fn number(kernel: KernelFunction) -> i32 {
    let handles = RADIAL.iter().position(|(_, k)| *k == kernel);
    handles.expect("every kernel has a number") as i32
}

/// One thread per number.
fn for_each(len: usize) -> LaunchConfig {
    const THREADS: usize = 256;
    LaunchConfig {
        grid_dim: (len.div_ceil(THREADS).max(1) as u32, 1, 1),
        block_dim: (THREADS as u32, 1, 1),
        shared_mem_bytes: 0,
    }
}

fn not_solved(gpu: &Gpu, error: CusolverError) -> Error {
    Error::Device(format!("{}: cuSOLVER failed: {:?}", gpu.name(), error.0))
}

/// The right to use the stream, held by one caller at a time.
pub(super) struct StreamGuard<'a> {
    gpu: &'a Gpu,
    kernels: &'a Kernels,
    handles: MutexGuard<'a, StreamHandles>,
}

impl<'a> StreamGuard<'a> {
    pub(super) fn new(
        gpu: &'a Gpu,
        kernels: &'a Kernels,
        handles: MutexGuard<'a, StreamHandles>,
    ) -> Self {
        StreamGuard {
            gpu,
            kernels,
            handles,
        }
    }

    fn heap(&self) -> Heap<'_> {
        Heap {
            gpu: self.gpu,
            stream: &self.handles.lane.stream,
        }
    }

    pub(super) fn zeros(&self, rows: usize, columns: usize) -> Result<DeviceMatrix> {
        let values = self.heap().zeros(rows * columns)?;
        Ok(DeviceMatrix {
            values,
            rows,
            columns,
        })
    }

    pub(super) fn send(&self, values: &[f64], rows: usize, columns: usize) -> Result<DeviceMatrix> {
        let values = self.heap().copy(values)?;
        Ok(DeviceMatrix {
            values,
            rows,
            columns,
        })
    }

    /// $B \leftarrow A$.
    pub(super) fn copy(&self, a: &DeviceMatrix, b: &mut DeviceMatrix) -> Result<()> {
        let stream = &self.handles.lane.stream;
        let copied = stream.memcpy_dtod(&a.values, &mut b.values);
        copied.map_err(|e| self.gpu.fault(e))
    }

    pub(super) fn fetch(&self, a: &DeviceMatrix) -> Result<Vec<f64>> {
        self.heap().fetch(&a.values)
    }

    /// $AB$, each transposed if its flag says so.
    pub(super) fn product(
        &self,
        a: (&DeviceMatrix, bool),
        b: (&DeviceMatrix, bool),
    ) -> Result<DeviceMatrix> {
        let rows = if a.1 { a.0.columns } else { a.0.rows };
        let columns = if b.1 { b.0.rows } else { b.0.columns };
        let c = self.zeros(rows, columns)?;
        self.add_product(a, b, &c)?;
        Ok(c)
    }

    /// $C \leftarrow C + AB$.
    pub(super) fn add_product(
        &self,
        (a, ta): (&DeviceMatrix, bool),
        (b, tb): (&DeviceMatrix, bool),
        c: &DeviceMatrix,
    ) -> Result<()> {
        let inner = if ta { a.rows } else { a.columns };
        let shape = (c.rows, c.columns, inner);
        let (left, right) = ((a.address(), a.rows, ta), (b.address(), b.rows, tb));
        // SAFETY: shapes agree, and all three are on this GPU.
        unsafe {
            let to = (c.address(), c.rows, true);
            self.handles
                .lane
                .product::<f64>(self.gpu, shape, left, right, to)
        }
    }

    /// Squared distances between the columns of two matrices, which come with the squares of their norms.
    pub(super) fn distances(
        &self,
        (a, a_norms): (&DeviceMatrix, &[f64]),
        (b, b_norms): (&DeviceMatrix, &[f64]),
        within: bool,
    ) -> Result<DeviceMatrix> {
        let gram = self.product((a, true), (b, false))?;
        let (a, b) = (self.heap().copy(a_norms)?, self.heap().copy(b_norms)?);
        let (to, a, b) = (gram.address(), address(&a), address(&b));
        let (rows, columns) = (gram.rows as u32, gram.columns as u32);
        let within = i32::from(within);
        let mut launch = (self.handles.lane.stream).launch_builder(&self.kernels.distances);
        launch.arg(&to).arg(&a).arg(&b);
        launch.arg(&rows).arg(&columns).arg(&within);
        // SAFETY: the arguments are those of the kernel.
        let launched = unsafe { launch.launch(for_each(gram.len())) };
        launched.map_err(|e| self.gpu.fault(e))?;
        // The norms must outlive the kernel.
        self.wait()?;
        Ok(gram)
    }

    /// Kernel values of squared distances into `to`, with a nugget on the diagonal if there is one.
    pub(super) fn kernel(
        &self,
        squared: &DeviceMatrix,
        pass: PassSettings,
        nugget: Option<f64>,
        to: &DeviceMatrix,
    ) -> Result<()> {
        let (from, to) = (squared.address(), to.address());
        let (rows, columns) = (squared.rows as u32, squared.columns as u32);
        let (kind, inverse) = (number(pass.kernel), inverse(pass));
        let nugget = nugget.unwrap_or(0.0);
        let mut launch = (self.handles.lane.stream).launch_builder(&self.kernels.kernel_values);
        launch.arg(&from).arg(&to).arg(&rows).arg(&columns);
        launch.arg(&kind).arg(&inverse).arg(&nugget);
        // SAFETY: the arguments are those of the kernel.
        let launched = unsafe { launch.launch(for_each(squared.len())) };
        launched.map(drop).map_err(|e| self.gpu.fault(e))
    }

    /// $B \leftarrow A^{-1}B$ by the Cholesky factor of the lower half of `a`, which is overwritten; whether it factors.
    pub(super) fn solve_in_place(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Result<bool> {
        let (solver, n) = (self.handles.solver.cu(), a.rows as i32);
        let failed = |e| not_solved(self.gpu, e);
        let (factor, right) = (a.address() as *mut f64, b.address() as *mut f64);
        let mut size = 0;
        // SAFETY: `a` is n by n, `b` has n rows.
        let asked =
            unsafe { sys::cusolverDnDpotrf_bufferSize(solver, LOWER, n, factor, n, &mut size) };
        asked.result().map_err(failed)?;
        let (work, info) = (self.zeros(size as usize, 1)?, self.heap().zeros::<i32>(1)?);
        let (scratch, status) = (work.address() as *mut f64, address(&info) as *mut i32);
        // SAFETY: as above, with as much scratch memory as was asked for.
        let factored =
            unsafe { sys::cusolverDnDpotrf(solver, LOWER, n, factor, n, scratch, size, status) };
        factored.result().map_err(failed)?;
        if self.heap().fetch(&info)?[0] != 0 {
            return Ok(false);
        }
        let columns = b.columns as i32;
        // SAFETY: as above.
        let solved = unsafe {
            sys::cusolverDnDpotrs(solver, LOWER, n, columns, factor, n, right, n, status)
        };
        solved.result().map_err(failed)?;
        self.wait()?;
        Ok(true)
    }

    /// Eigenvalues and eigenvectors of the lower half of `a`, which is overwritten; `None` if they do not converge.
    pub(super) fn eigen(&self, a: &DeviceMatrix) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
        let (solver, n) = (self.handles.solver.cu(), a.rows as i32);
        let failed = |e| not_solved(self.gpu, e);
        let vectors = cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR;
        let values = self.zeros(a.rows, 1)?;
        let (to, found) = (a.address() as *mut f64, values.address() as *mut f64);
        let mut size = 0;
        // SAFETY: `a` is n by n, `values` has n numbers.
        let asked = unsafe {
            sys::cusolverDnDsyevd_bufferSize(solver, vectors, LOWER, n, to, n, found, &mut size)
        };
        asked.result().map_err(failed)?;
        let (work, info) = (self.zeros(size as usize, 1)?, self.heap().zeros::<i32>(1)?);
        let (scratch, status) = (work.address() as *mut f64, address(&info) as *mut i32);
        // SAFETY: as above, with as much scratch memory as was asked for.
        let done = unsafe {
            sys::cusolverDnDsyevd(
                solver, vectors, LOWER, n, to, n, found, scratch, size, status,
            )
        };
        done.result().map_err(failed)?;
        match self.heap().fetch(&info)?[0] {
            0 => Ok(Some((self.fetch(&values)?, self.fetch(a)?))),
            _ => Ok(None),
        }
    }

    /// Rows of $\alpha$, or of combinations of them, weighted by the slopes of the kernel between the samples and
    /// `points`, `each` rows per point: `weighted` itself holds combinations, or is filled from $\alpha$ `from`.
    pub(super) fn weigh(
        &self,
        weighted: &DeviceMatrix,
        from: Option<&DeviceMatrix>,
        squared: &DeviceMatrix,
        (points, each): (&CudaSlice<u32>, usize),
        pass: PassSettings,
    ) -> Result<()> {
        let (to, squared) = (weighted.address(), squared.address());
        let from = from.map_or(0, DeviceMatrix::address);
        let (points, each) = (address(points), each as u32);
        let (rows, samples) = (weighted.rows as u32, weighted.columns as u32);
        let (kind, inverse) = (number(pass.kernel), inverse(pass));
        let mut launch = (self.handles.lane.stream).launch_builder(&self.kernels.weigh);
        launch.arg(&to).arg(&from).arg(&squared).arg(&points);
        launch.arg(&each).arg(&rows).arg(&samples);
        launch.arg(&kind).arg(&inverse);
        // SAFETY: the arguments are those of the kernel.
        let launched = unsafe { launch.launch(for_each(weighted.len())) };
        launched.map(drop).map_err(|e| self.gpu.fault(e))
    }

    /// $J \leftarrow s z_j^\top - J$, `each` rows for each of `points`.
    pub(super) fn jacobians(
        &self,
        jacobian: &DeviceMatrix,
        sums: &DeviceMatrix,
        z: &DeviceMatrix,
        (points, each): (&CudaSlice<u32>, usize),
    ) -> Result<()> {
        let (to, sums, z) = (jacobian.address(), sums.address(), z.address());
        let (points, each) = (address(points), each as u32);
        let (rows, features) = (jacobian.rows as u32, jacobian.columns as u32);
        let mut launch = (self.handles.lane.stream).launch_builder(&self.kernels.jacobians);
        launch.arg(&to).arg(&sums).arg(&z).arg(&points);
        launch.arg(&each).arg(&rows).arg(&features);
        // SAFETY: the arguments are those of the kernel.
        let launched = unsafe { launch.launch(for_each(jacobian.len())) };
        launched.map(drop).map_err(|e| self.gpu.fault(e))
    }

    pub(super) fn numbers(&self, values: &[u32]) -> Result<CudaSlice<u32>> {
        self.heap().copy(values)
    }

    pub(super) fn wait(&self) -> Result<()> {
        let done = self.handles.lane.stream.synchronize();
        done.map_err(|e| self.gpu.fault(e))
    }
}

fn inverse(pass: PassSettings) -> f64 {
    1.0 / (pass.length * pass.length)
}
