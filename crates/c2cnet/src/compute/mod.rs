//! Where heavy arithmetic runs: on the CPU, or on a GPU.
//!
//! * [`Device`]: what a user asks for. It is not part of a model or a plan: the same fit may run on any device.
//! * `job`: a stage of training as plain data, and `Trainer`, which carries it out.
//! * `program`: a step of training as a list of operations on buffers, which becomes a CUDA graph; `layered`:
//!   that of layers in a basis.
//! * `cuda`: operations and buffers on an NVIDIA GPU. Driver, NVRTC and cuBLAS are loaded when a GPU is asked
//!   for, so that the same binary runs on machines without one.
//!
//! * `dense`: dense algebra and kernel regression in double precision, where maps in closed form spend their time:
//!   `Cpu`, or cuBLAS and cuSOLVER.
//!
//! Networks on the CPU need none of this: their engine is in `map::mlp`, and `open` returns `None` for it.

mod cuda;
mod dense;
mod device;
pub(crate) mod exponential;
mod gradients;
mod job;
pub(crate) mod kernel_function;
mod layered;
mod layout;
mod program;

#[cfg(test)]
mod interpreter;

#[cfg(test)]
pub(crate) use interpreter::Interpreter;

pub(crate) use cuda::Real;
#[cfg(test)]
pub(crate) use dense::Cpu;
pub(crate) use dense::{Dense, Sweep, dense};
pub use device::{Device, DeviceReport, devices};
pub(crate) use exponential::exp_of_negative;
pub(crate) use gradients::{Effort, Gradients};
pub(crate) use job::{
    Band, Batches, Constants, Curve, Factor, Job, LayerSizes, Layers, LossWeights, StepResult,
    StepSettings, Targets, Trainer, Weights,
};
pub(crate) use kernel_function::{
    KernelFunction, PassSettings, each_column, squared_distances, squared_distances_within,
    to_kernel, to_kernel_within,
};
pub(crate) use program::padded;

use crate::Result;
use std::sync::Arc;

/// A device that is not the CPU.
pub(crate) struct Opened(Arc<cuda::Gpu>);

/// The device, ready for work; `None` if it is the CPU.
///
/// # Errors
/// [`crate::Error::Device`] if a GPU was asked for and cannot be used.
pub(crate) fn open(device: Device) -> Result<Option<Opened>> {
    Ok(device.gpu()?.map(Opened))
}

/// Takes the warnings of the device since the last call: about work that stayed on the CPU.
pub(crate) fn take_warnings(device: Device) -> Vec<String> {
    match device.gpu() {
        Ok(Some(gpu)) => gpu.take_warnings(),
        _ => Vec::new(),
    }
}

impl Opened {
    /// Something that carries out `job`.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if there is too little memory, or the GPU fails.
    pub(crate) fn trainer<T: Real>(&self, job: &Job<'_, T>) -> Result<Box<dyn Trainer<T>>> {
        Ok(Box::new(cuda::CudaTrainer::new(&self.0, job)?))
    }
}
