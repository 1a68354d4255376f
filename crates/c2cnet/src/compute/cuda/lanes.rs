//! Streams of one training, each with a cuBLAS handle and a workspace of its own: handles that shared one would
//! give other bits from run to run.

use super::{Gpu, Real};
use crate::Result;
use crate::compute::program::LANES;
use cudarc::cublas::CudaBlas;
use cudarc::cublas::sys::{self, cublasOperation_t};
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DevicePtr};
use std::sync::Arc;

/// What NVIDIA advises for Hopper; older GPUs need less.
const WORKSPACE: usize = 32 << 20;

pub(super) struct Lane {
    pub(super) stream: Arc<CudaStream>,
    blas: CudaBlas,
    _workspace: CudaSlice<u8>,
}

impl Lane {
    fn new(gpu: &Gpu) -> Result<Self> {
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
                    sys::cublasSetMathMode(
                        *blas.handle(),
                        sys::cublasMath_t::CUBLAS_DEFAULT_MATH,
                    )
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

    /// All of them.
    pub(super) fn all(gpu: &Gpu) -> Result<Vec<Self>> {
        (0..LANES).map(|_| Lane::new(gpu)).collect()
    }

    /// This lane goes on after what `other` was given so far. The event must outlive the recording of a graph.
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
        let transposed = |yes: bool| match yes {
            true => cublasOperation_t::CUBLAS_OP_T,
            false => cublasOperation_t::CUBLAS_OP_N,
        };
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
}
