//! Dense algebra on a GPU: products by cuBLAS, factorisations by cuSOLVER, kernel matrices by kernels of our own.
//!
//! One stream for all: callers take turns. Nothing that rayon splits may happen while a turn is held, since a thread
//! that waits for its parts could be given work that waits for the turn.

use super::average::Average;
use super::stream_guard::{DeviceMatrix, Kernels, StreamGuard, StreamHandles};
use super::{Gpu, INSTEAD, gibibytes};
use crate::compute::dense::{Cpu, Dense, Sweep};
use crate::compute::{Effort, Gradients, KernelFunction, PassSettings};
use crate::{Error, Result, linalg};
use cudarc::cusolver::sys;
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

const SOURCE: &str = include_str!("dense.cu");

/// The radial kernels by the numbers that `dense.cu` knows them by.
pub(super) const RADIAL: [(&str, KernelFunction); 3] = [
    ("MATERN", KernelFunction::Matern52),
    ("MULTIQUADRIC", KernelFunction::InverseMultiquadric),
    ("GAUSSIAN", KernelFunction::Gaussian),
];

/// With fewer rows the CPU is done before a GPU has started.
const SMALL: usize = 512;

/// The fraction of the free memory that may be used.
const SHARE: f64 = 0.9;

/// The GPU's dense algebra.
pub(crate) struct CudaDense {
    gpu: Arc<Gpu>,
    handles: Mutex<StreamHandles>,
    kernels: Kernels,
}

/// The source, preceded by the numbers of the radial kernels.
pub(super) fn source() -> String {
    let define = |(number, (name, _)): (usize, &(&str, _))| format!("#define {name} {number}\n");
    let numbers: String = RADIAL.iter().enumerate().map(define).collect();
    numbers + SOURCE
}

/// A matrix as a GPU takes it, copied by all threads.
pub(super) fn flat(a: MatRef<'_, f64>) -> Vec<f64> {
    const BATCH_COLUMNS: usize = 32;
    let rows = a.nrows().max(1);
    let mut values = vec![0.0; a.nrows() * a.ncols()];
    let chunks = values.par_chunks_mut(rows * BATCH_COLUMNS).enumerate();
    chunks.for_each(|(chunk, to)| {
        for (k, column) in to.chunks_mut(rows).enumerate() {
            let from = a.col(chunk * BATCH_COLUMNS + k);
            column
                .iter_mut()
                .zip(from.iter())
                .for_each(|(v, f)| *v = *f);
        }
    });
    values
}

/// Back into a matrix; `values` are whole columns.
fn shaped(values: &[f64], rows: usize, columns: usize) -> Mat<f64> {
    let mut all = Mat::zeros(rows, columns);
    linalg::par_column_chunks(all.as_mut(), 32, |start, mut chunk| {
        let width = chunk.ncols();
        let from = &values[start * rows..(start + width) * rows];
        chunk.copy_from(MatRef::from_column_major_slice(from, rows, width));
    });
    all
}

impl CudaDense {
    pub(super) fn new(gpu: &Arc<Gpu>) -> Result<Self> {
        // SAFETY: only looks for the library.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::Device(format!(
                "the library libcusolver of the CUDA toolkit (12 or 13) was not found, or one that it needs \
                 (libcusparse, libnvJitLink): install it, or name its folder in LD_LIBRARY_PATH; {INSTEAD}"
            )));
        }
        gpu.context.bind_to_thread().map_err(|e| gpu.fault(e))?;
        Ok(CudaDense {
            gpu: gpu.clone(),
            kernels: Kernels::load(gpu)?,
            handles: Mutex::new(StreamHandles::new(gpu)?),
        })
    }

    /// Waits for the caller's turn.
    fn stream(&self) -> Result<StreamGuard<'_>> {
        let handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        let bound = self.gpu.context.bind_to_thread();
        bound.map_err(|e| self.gpu.fault(e))?;
        Ok(StreamGuard::new(&self.gpu, &self.kernels, handles))
    }

    /// Whether this many numbers fit into the memory of the GPU.
    pub(super) fn holds(&self, numbers: usize) -> bool {
        let bytes = 8.0 * numbers as f64;
        match self.gpu.memory() {
            Some((_, free)) if bytes > SHARE * free as f64 => {
                self.gpu.warn(format!(
                    "{} of matrices stayed on the CPU: {} has {} free",
                    gibibytes(bytes as u64),
                    self.gpu.name(),
                    gibibytes(free)
                ));
                false
            }
            _ => true,
        }
    }
}

impl Dense for CudaDense {
    fn mul(&self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let (m, k) = a.shape();
        let n = b.ncols();
        if m.min(n).min(k) * 8 < SMALL || !self.holds(m * k + k * n + m * n) {
            return Cpu.mul(a, b);
        }
        let (left, right) = (flat(a), flat(b));
        let values = {
            let stream = self.stream()?;
            let (a, b) = (stream.send(&left, m, k)?, stream.send(&right, k, n)?);
            stream.fetch(&stream.product((&a, false), (&b, false))?)?
        };
        Ok(shaped(&values, m, n))
    }

    fn gram(&self, a: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let (n, k) = a.shape();
        if n < SMALL || !self.holds(n * (n + k)) {
            return Cpu.gram(a);
        }
        let all = flat(a);
        let values = {
            let stream = self.stream()?;
            let a = stream.send(&all, n, k)?;
            stream.fetch(&stream.product((&a, false), (&a, true))?)?
        };
        Ok(shaped(&values, n, n))
    }

    fn symmetric_eigen(&self, a: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
        let n = a.nrows();
        if n < SMALL || !self.holds(4 * n * n) {
            return Cpu.symmetric_eigen(a);
        }
        let all = flat(a);
        let found = {
            let stream = self.stream()?;
            let a = stream.send(&all, n, n)?;
            stream.eigen(&a)?
        };
        match found {
            Some((values, vectors)) => Ok((values, shaped(&vectors, n, n))),
            None => Cpu.symmetric_eigen(a),
        }
    }

    fn solve(&self, a: Mat<f64>, nugget: f64, b: MatRef<'_, f64>) -> Result<Option<Mat<f64>>> {
        let (n, columns) = b.shape();
        if n < SMALL || !self.holds(2 * n * n + n * columns) {
            return Cpu.solve(a, nugget, b);
        }
        let mut left = flat(a.as_ref());
        drop(a);
        left.iter_mut().step_by(n + 1).for_each(|v| *v += nugget);
        let right = flat(b);
        let solution = {
            let stream = self.stream()?;
            let (a, b) = (stream.send(&left, n, n)?, stream.send(&right, n, columns)?);
            match stream.solve_in_place(&a, &b)? {
                true => Some(stream.fetch(&b)?),
                false => None,
            }
        };
        Ok(solution.map(|values| shaped(&values, n, columns)))
    }

    fn sweep<'a>(
        &'a self,
        z: MatRef<'_, f64>,
        held: MatRef<'_, f64>,
        c: MatRef<'a, f64>,
    ) -> Result<Box<dyn Sweep + 'a>> {
        let (n, h) = (z.ncols(), held.ncols());
        let numbers = 2 * n * (n + h) + c.nrows() * (2 * n + h) + z.nrows() * (n + h);
        if n < SMALL || !self.holds(numbers) {
            return Cpu.sweep(z, held, c);
        }
        let norms = |a| linalg::column_norms_squared(a);
        let (own, others) = ((flat(z), norms(z)), (flat(held), norms(held)));
        // As on the CPU: solved for whichever has fewer columns, the targets or the held-out samples.
        let few_targets = c.nrows() < h;
        let targets = if few_targets {
            flat(c.transpose())
        } else {
            flat(c)
        };
        let (rows, columns) = if few_targets {
            (n, c.nrows())
        } else {
            (c.nrows(), n)
        };
        let stream = self.stream()?;
        let z = stream.send(&own.0, z.nrows(), n)?;
        let held = stream.send(&others.0, held.nrows(), h)?;
        Ok(Box::new(CudaSweep {
            within: stream.distances((&z, &own.1), (&z, &own.1), true)?,
            across: stream.distances((&z, &own.1), (&held, &others.1), false)?,
            c: stream.send(&targets, rows, columns)?,
            k: stream.zeros(n, n)?,
            k_held: stream.zeros(n, h)?,
            alpha: match few_targets {
                true => Some(Mutex::new(stream.zeros(rows, columns)?)),
                false => None,
            },
            dense: self,
        }))
    }

    fn outer_product(&self, gradients: &Gradients<'_>, effort: Effort) -> Result<Mat<f64>> {
        let (q, n) = gradients.z.shape();
        let average = Average::new(gradients, effort);
        if n < SMALL || !self.holds(average.numbers()) {
            return Cpu.outer_product(gradients, effort);
        }
        let there = average.flat();
        let values = average.sum(&self.stream()?, &there)?;
        Ok(shaped(&values, q, q) * faer::Scale(average.share()))
    }
}

struct CudaSweep<'a> {
    dense: &'a CudaDense,
    /// Squared distances.
    within: DeviceMatrix,
    across: DeviceMatrix,
    /// Targets, transposed if there are fewer of them than held-out samples.
    c: DeviceMatrix,
    /// Kernel matrices, and weights where they are solved for.
    k: DeviceMatrix,
    k_held: DeviceMatrix,
    alpha: Option<Mutex<DeviceMatrix>>,
}

impl Sweep for CudaSweep<'_> {
    fn predictions(&self, pass: PassSettings) -> Result<Option<Mat<f64>>> {
        let stream = self.dense.stream()?;
        stream.kernel(&self.within, pass, Some(pass.nugget), &self.k)?;
        stream.kernel(&self.across, pass, None, &self.k_held)?;
        // Never contended: a turn belongs to one thread.
        let mut alpha =
            (self.alpha.as_ref()).map(|alpha| alpha.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(alpha) = &mut alpha {
            stream.copy(&self.c, alpha)?;
        }
        let unknown = alpha.as_deref().unwrap_or(&self.k_held);
        if !stream.solve_in_place(&self.k, unknown)? {
            return Ok(None);
        }
        let predicted = match alpha.as_deref() {
            Some(alpha) => stream.product((alpha, true), (&self.k_held, false))?,
            None => stream.product((&self.c, false), (&self.k_held, false))?,
        };
        let values = stream.fetch(&predicted)?;
        drop(stream);
        Ok(Some(shaped(&values, predicted.rows, predicted.columns)))
    }
}
