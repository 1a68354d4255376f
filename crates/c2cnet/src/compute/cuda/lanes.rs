//! Streams of one training, each with its own cuBLAS handle and workspace: handles that shared a workspace would
//! give different bits from run to run. Streams and handles are passed from one training to the next, because destroying a
//! handle synchronises the whole GPU, which can break trainings running alongside.

use super::{Gpu, Real};
use crate::Result;
use crate::compute::program::LANES;
use cudarc::cublas::CudaBlas;
use cudarc::cublas::sys::{self, cublasOperation_t};
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DevicePtr};
use std::ops::Deref;
use std::sync::{Arc, PoisonError};

/// What NVIDIA advises for Hopper; older GPUs need less.
const WORKSPACE: usize = 32 << 20;

pub(super) struct Lane {
    pub(super) stream: Arc<CudaStream>,
    blas: CudaBlas,
    _workspace: CudaSlice<u8>,
}

/// The lanes of a training; the next one gets them afterwards.
pub(super) struct Lanes {
    gpu: Arc<Gpu>,
    all: Vec<Lane>,
}

impl Lanes {
    pub(super) fn of(gpu: &Arc<Gpu>) -> Result<Self> {
        let idle = gpu
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let all = match idle {
            Some(lanes) => lanes,
            None => (0..LANES).map(|_| Lane::new(gpu)).collect::<Result<_>>()?,
        };
        let gpu = gpu.clone();
        Ok(Lanes { gpu, all })
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        let mut idle = self.gpu.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(std::mem::take(&mut self.all));
    }
}

impl Deref for Lanes {
    type Target = [Lane];

    fn deref(&self) -> &[Lane] {
        &self.all
    }
}

impl Lane {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let stream = gpu.context.new_stream().map_err(|e| gpu.fault(e))?;
        let blas = CudaBlas::new(stream.clone()).map_err(|e| gpu.product_failed(e))?;
        let workspace = stream
            .alloc_zeros::<u8>(WORKSPACE)
            .map_err(|e| gpu.fault(e))?;
        let pointer = workspace.device_ptr(&stream).0;
        // SAFETY: the workspace lives as long as the handle.
        let set = unsafe {
            sys::cublasSetWorkspace_v2(*blas.handle(), pointer as _, WORKSPACE)
                .result()
                // Full f32: no TF32, whatever the default becomes.
                .and_then(|()| {
                    sys::cublasSetMathMode(*blas.handle(), sys::cublasMath_t::CUBLAS_DEFAULT_MATH)
                        .result()
                })
        };
        set.map_err(|e| gpu.product_failed(e))?;
        Ok(Lane {
            stream,
            blas,
            _workspace: workspace,
        })
    }

    /// This lane continues after what `other` was given so far. The event must outlive the recording of a graph.
    pub(super) fn wait(&self, gpu: &Gpu, other: &Lane) -> Result<CudaEvent> {
        let event = other.stream.record_event(None).map_err(|e| gpu.fault(e))?;
        self.stream.wait(&event).map_err(|e| gpu.fault(e))?;
        Ok(event)
    }

    /// $C = AB$, or added to $C$: pointers with leading dimensions, and whether each is given transposed.
    ///
    /// # Safety
    /// They must be matrices of these shapes on the GPU.
    pub(super) unsafe fn product<T: Real>(
        &self,
        gpu: &Gpu,
        (m, n, k): (usize, usize, usize),
        (a, lda, ta): (u64, usize, bool),
        (b, ldb, tb): (u64, usize, bool),
        (c, ldc, add): (u64, usize, bool),
    ) -> Result<()> {
        let done = unsafe {
            T::product(
                *self.blas.handle(),
                [transposed(ta), transposed(tb)],
                [m as i32, n as i32, k as i32],
                (a, lda as i32),
                (b, ldb as i32),
                if add { 1.0 } else { 0.0 },
                (c, ldc as i32),
            )
        };
        done.map_err(|e| gpu.product_failed(e))
    }

    /// Products $C = AB$, or added to $C$, each matrix (pointer, leading dimension) one stride after the previous one.
    ///
    /// # Safety
    /// They must be matrices of these shapes on the GPU.
    pub(super) unsafe fn products<T: Real>(
        &self,
        gpu: &Gpu,
        count: usize,
        (m, n, k): (usize, usize, usize),
        transpose: [bool; 2],
        (matrices, add): ([(u64, usize, usize); 3], bool),
    ) -> Result<()> {
        let done = unsafe {
            T::products(
                *self.blas.handle(),
                transpose.map(transposed),
                [m as i32, n as i32, k as i32],
                matrices.map(|(at, ld, stride)| (at, ld as i32, stride as i64)),
                if add { 1.0 } else { 0.0 },
                count as i32,
            )
        };
        done.map_err(|e| gpu.product_failed(e))
    }
}

fn transposed(yes: bool) -> cublasOperation_t {
    match yes {
        true => cublasOperation_t::CUBLAS_OP_T,
        false => cublasOperation_t::CUBLAS_OP_N,
    }
}
