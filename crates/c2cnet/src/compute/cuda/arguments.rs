//! Arguments of kernels, as `kernels.cu` declares them. Pointers are numbers; 0 is null.

use super::Real;
use crate::compute::job;
use cudarc::driver::DeviceRepr;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Batches {
    pub(super) samples: u64,
    pub(super) count: u64,
}

impl From<job::Batches> for Batches {
    fn from(batches: job::Batches) -> Self {
        Batches {
            samples: batches.samples as u64,
            count: batches.count as u64,
        }
    }
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct LossInput {
    pub(super) compared: u64,
    pub(super) targets: u64,
    pub(super) outside_squared: u64,
    pub(super) norms: u64,
    pub(super) counts: u64,
    pub(super) order: u64,
    pub(super) control: u64,
    pub(super) losses: u64,
    pub(super) relatives: u64,
    pub(super) factors: u64,
    pub(super) factor_starts: u64,
    pub(super) factor_rows: u64,
    pub(super) outputs: u64,
    pub(super) band_starts: u64,
    pub(super) band_points: u64,
    pub(super) band_outside: u64,
    pub(super) modes: u64,
    pub(super) residuals: u64,
    pub(super) batches: Batches,
    pub(super) scale: f64,
    pub(super) relative: f64,
    pub(super) mean_square: f64,
    pub(super) band: f64,
    pub(super) epsilon: f64,
    pub(super) inside: f64,
    pub(super) outside: f64,
    pub(super) rows: u32,
    pub(super) ld: u32,
    pub(super) target_ld: u32,
    pub(super) outputs_width: u32,
    pub(super) outputs_ld: u32,
    pub(super) modes_ld: u32,
    pub(super) band_longest: u32,
    pub(super) first: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct UpdateInput<T> {
    pub(super) parameters: u64,
    pub(super) first: u64,
    pub(super) second: u64,
    pub(super) gradient: u64,
    pub(super) parts: u64,
    pub(super) steps: u64,
    pub(super) control: u64,
    pub(super) log: u64,
    pub(super) len: u64,
    pub(super) log_length: u64,
    pub(super) clip: f64,
    pub(super) l2: T,
    pub(super) keep1: T,
    pub(super) beta2: T,
    pub(super) keep2: T,
    pub(super) epsilon: T,
    pub(super) part_count: u32,
}

// SAFETY: plain numbers in C's layout.
unsafe impl DeviceRepr for Batches {}
// SAFETY: as above.
unsafe impl DeviceRepr for LossInput {}
// SAFETY: as above.
unsafe impl<T: Real> DeviceRepr for UpdateInput<T> {}
