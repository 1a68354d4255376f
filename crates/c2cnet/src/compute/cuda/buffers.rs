//! Buffers of a program on the GPU, with the samples that it compares.

use super::arguments::{Batches, LossInput};
use super::{Gpu, Real};
use crate::Result;
use crate::compute::job::{self, Factor, Layers, LossWeights, Targets};
use crate::compute::program::{Buffer, Program, View, padded};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DeviceRepr, ValidAsZeroBits};
use faer::MatRef;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a buffer begins on the GPU.
pub(super) fn address<T>(slice: &CudaSlice<T>) -> u64 {
    slice.device_ptr(slice.stream()).0
}

/// Memory on a stream, with readable errors.
#[derive(Clone, Copy)]
pub(super) struct Heap<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) stream: &'a Arc<CudaStream>,
}

impl Heap<'_> {
    /// At least one number, so that there is an address.
    pub(super) fn zeros<T: DeviceRepr + ValidAsZeroBits>(self, len: usize) -> Result<CudaSlice<T>> {
        let zeros = self.stream.alloc_zeros(len.max(1));
        zeros.map_err(|e| self.gpu.fault(e))
    }

    pub(super) fn copy<T: DeviceRepr + ValidAsZeroBits>(self, from: &[T]) -> Result<CudaSlice<T>> {
        let mut to = self.zeros(from.len())?;
        self.fill(&mut to, from)?;
        Ok(to)
    }

    pub(super) fn fill<T: DeviceRepr>(self, to: &mut CudaSlice<T>, from: &[T]) -> Result<()> {
        let copied = self.stream.memcpy_htod(from, to);
        copied.map_err(|e| self.gpu.fault(e))
    }

    /// Waits for everything before.
    pub(super) fn fetch<T: DeviceRepr>(self, from: &CudaSlice<T>) -> Result<Vec<T>> {
        let values = self
            .stream
            .clone_dtoh(from)
            .map_err(|e| self.gpu.fault(e))?;
        self.stream.synchronize().map_err(|e| self.gpu.fault(e))?;
        Ok(values)
    }
}

/// The columns of a matrix, each filled up with zeros to `ld`.
fn columns<T: Real>(a: MatRef<'_, T>, ld: usize, count: usize) -> Vec<T> {
    let mut all = vec![T::default(); ld * count];
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            all[j * ld + i] = a[(i, j)];
        }
    }
    all
}

pub(super) struct Buffers<T> {
    pub(super) program: Program,
    pub(super) batches: job::Batches,
    buffers: BTreeMap<Buffer, CudaSlice<T>>,
    targets: CudaSlice<T>,
    outside_squared: CudaSlice<f64>,
    norms: CudaSlice<f64>,
    counts: CudaSlice<f64>,
    pub(super) losses: CudaSlice<f64>,
    pub(super) relatives: CudaSlice<f64>,
    factors: Option<Factors<T>>,
    band: Option<Band<T>>,
    /// All of the kernel's input that is not an address.
    plain: LossInput,
}

/// Factors of each sample.
struct Factors<T> {
    values: CudaSlice<T>,
    starts: CudaSlice<u64>,
    rows: CudaSlice<u32>,
}

struct Band<T> {
    starts: CudaSlice<u64>,
    points: CudaSlice<u32>,
    outside: CudaSlice<T>,
    modes: CudaSlice<T>,
    residuals: CudaSlice<T>,
}

impl<T: Real> Buffers<T> {
    pub(super) fn new(
        heap: Heap<'_>,
        program: Program,
        targets: &Targets<'_, T>,
        batches: job::Batches,
        weights: &LossWeights,
        outputs: usize,
    ) -> Result<Self> {
        let mut buffers = BTreeMap::new();
        for (&buffer, &len) in program.sizes.iter().filter(|(b, _)| !b.shared()) {
            let slice = match (buffer, targets.factor) {
                (Buffer::Inputs, _) => {
                    let x = targets.inputs;
                    heap.copy(&columns(x, padded(x.nrows()), x.ncols()))?
                }
                (Buffer::Factor, Factor::Shared { r, .. }) => {
                    heap.copy(&columns(r, padded(r.nrows()), padded(r.ncols())))?
                }
                _ => heap.zeros(len)?,
            };
            debug_assert!(slice.len() >= len, "{buffer:?}");
            buffers.insert(buffer, slice);
        }
        let c = targets.coordinates;
        let counts: Vec<f64> = targets.counts.iter().map(|&n| n as f64).collect();
        let columns_at_once = program.columns;
        let plain = plain(targets, batches, weights, outputs);
        Ok(Buffers {
            buffers,
            targets: heap.copy(&columns(c, padded(c.nrows()), c.ncols()))?,
            outside_squared: heap.copy(targets.outside_squared)?,
            norms: heap.copy(targets.norms)?,
            counts: heap.copy(&counts)?,
            losses: heap.zeros(columns_at_once)?,
            relatives: heap.zeros(columns_at_once)?,
            factors: match targets.factor {
                Factor::PerSample(all) => Some(Factors::new(heap, all)?),
                _ => None,
            },
            band: match &targets.band {
                Some(band) => Some(Band::new(heap, band, columns_at_once)?),
                None => None,
            },
            plain,
            batches,
            program,
        })
    }

    /// Copies in what layers in a basis need.
    pub(super) fn furnish(&mut self, heap: Heap<'_>, layers: &Layers<'_, T>) -> Result<()> {
        let mut put = |buffer: Buffer, a: MatRef<'_, T>| -> Result<()> {
            let values = columns(a, padded(a.nrows()), a.ncols());
            self.buffers.insert(buffer, heap.copy(&values)?);
            Ok(())
        };
        put(Buffer::Functions, layers.functions)?;
        put(Buffer::Means, layers.means)?;
        put(Buffer::Projection, layers.projection)
    }

    /// Where a buffer begins that is not shared with other workspaces.
    pub(super) fn address(&self, buffer: Buffer) -> u64 {
        address(&self.buffers[&buffer])
    }

    /// The arguments of the kernel `loss`.
    pub(super) fn loss_input(
        &self,
        compared: View,
        first: usize,
        control: u64,
        order: u64,
    ) -> LossInput {
        // Both are read four rows at a time.
        debug_assert_eq!(compared.ld, self.plain.target_ld as usize);
        let mut input = LossInput {
            compared: self.address(compared.buffer),
            targets: address(&self.targets),
            outside_squared: address(&self.outside_squared),
            norms: address(&self.norms),
            counts: address(&self.counts),
            order,
            control,
            losses: address(&self.losses),
            relatives: address(&self.relatives),
            ld: compared.ld as u32,
            first: first as u32,
            ..self.plain
        };
        if let Some(factors) = &self.factors {
            input.factors = address(&factors.values);
            input.factor_starts = address(&factors.starts);
            input.factor_rows = address(&factors.rows);
            input.outputs = self.address(Buffer::Outputs);
        }
        if let Some(band) = &self.band {
            input.band_starts = address(&band.starts);
            input.band_points = address(&band.points);
            input.band_outside = address(&band.outside);
            input.modes = address(&band.modes);
            input.residuals = address(&band.residuals);
        }
        input
    }
}

fn plain<T>(
    targets: &Targets<'_, T>,
    batches: job::Batches,
    weights: &LossWeights,
    outputs: usize,
) -> LossInput {
    let band = targets.band.as_ref();
    LossInput {
        compared: 0,
        targets: 0,
        outside_squared: 0,
        norms: 0,
        counts: 0,
        order: 0,
        control: 0,
        losses: 0,
        relatives: 0,
        factors: 0,
        factor_starts: 0,
        factor_rows: 0,
        outputs: 0,
        band_starts: 0,
        band_points: 0,
        band_outside: 0,
        modes: 0,
        residuals: 0,
        batches: Batches::from(batches),
        scale: targets.scale,
        relative: weights.relative,
        mean_square: weights.mean_square,
        band: weights.band,
        epsilon: weights.epsilon,
        inside: weights.inside,
        outside: weights.outside,
        rows: targets.coordinates.nrows() as u32,
        ld: 0,
        target_ld: padded(targets.coordinates.nrows()) as u32,
        outputs_width: outputs as u32,
        outputs_ld: padded(outputs) as u32,
        modes_ld: band.map_or(0, |b| padded(b.modes.nrows())) as u32,
        band_longest: band.map_or(0, |b| b.longest) as u32,
        first: 0,
    }
}

impl<T: Real> Factors<T> {
    fn new(heap: Heap<'_>, all: &[faer::Mat<T>]) -> Result<Self> {
        let (mut values, mut starts, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for factor in all {
            starts.push(values.len() as u64);
            rows.push(factor.nrows() as u32);
            values.extend(columns(factor.as_ref(), factor.nrows(), factor.ncols()));
        }
        Ok(Factors {
            values: heap.copy(&values)?,
            starts: heap.copy(&starts)?,
            rows: heap.copy(&rows)?,
        })
    }
}

impl<T: Real> Band<T> {
    fn new(heap: Heap<'_>, band: &job::Band<'_, T>, columns_at_once: usize) -> Result<Self> {
        let starts: Vec<u64> = band.starts.iter().map(|&s| s as u64).collect();
        let modes = band.modes;
        Ok(Band {
            starts: heap.copy(&starts)?,
            points: heap.copy(band.points)?,
            outside: heap.copy(band.outside)?,
            modes: heap.copy(&columns(modes, padded(modes.nrows()), modes.ncols()))?,
            residuals: heap.zeros(band.longest * columns_at_once)?,
        })
    }
}
