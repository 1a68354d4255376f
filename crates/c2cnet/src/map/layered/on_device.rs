//! The data that a device needs to train layers.

use super::engine::Samples;
use super::network::Frozen;
use crate::compute::{self, Device, Job, LayerSizes, Layers, Trainer};
use crate::map::mlp::on_device::{Compared, Given, OnDevice};
use crate::map::mlp::scalar::Scalar;
use crate::map::mlp::state::State;
use crate::map::mlp::steps::Run;
use crate::{Error, Result};
use faer::Mat;

/// The most samples times points of a step: a limit of the grids in which kernels run.
const MOST_PLACES: usize = 500_000;

/// Layers, and samples as a device gets them.
pub(super) struct Packed<'a, T> {
    frozen: &'a Frozen<T>,
    functions: Mat<T>,
    /// As every term brings them to their places, over the number of points.
    means: Mat<T>,
    widths: [usize; 2],
    training: (Mat<T>, &'a Samples<T>),
    validation: Option<(Mat<T>, &'a Samples<T>)>,
}

impl<'a, T: Scalar> Packed<'a, T> {
    pub(super) fn new(
        frozen: &'a Frozen<T>,
        training: &'a Samples<T>,
        validation: Option<&'a Samples<T>>,
    ) -> Self {
        let pack = |samples: &'a Samples<T>| (frozen.packed(&samples.inputs), samples);
        let functions = frozen.functions(0);
        let (points, members) = functions.shape();
        let mean = T::from_f64(1.0 / points as f64);
        let mut means = Mat::zeros(points, members * frozen.terms());
        for term in 0..frozen.terms() {
            let functions = frozen.functions(term);
            let to = means.as_mut().subcols_mut(term * members, members);
            { to }.copy_from(&functions * faer::Scale(mean));
        }
        Packed {
            means,
            functions,
            widths: [frozen.shape.inputs, frozen.projection().nrows()],
            training: pack(training),
            validation: validation.map(pack),
            frozen,
        }
    }

    /// The steps of `run`; `None` if `device` is the processor.
    ///
    /// # Errors
    /// If the device cannot be used, or a step has too many samples for it.
    pub(super) fn steps(
        &self,
        run: Run<'a>,
        state: &State<T>,
        device: Device,
    ) -> Result<Option<OnDevice<'a, T>>> {
        match compute::open(device)? {
            Some(gpu) => self.with(run, state, |job| gpu.trainer(job)).map(Some),
            None => Ok(None),
        }
    }

    /// By what `trainer` makes of the job.
    pub(super) fn with(
        &self,
        run: Run<'a>,
        state: &State<T>,
        trainer: impl FnOnce(&Job<'_, T>) -> Result<Box<dyn Trainer<T>>>,
    ) -> Result<OnDevice<'a, T>> {
        let (shape, points) = (&self.frozen.shape, self.functions.nrows());
        if run.largest() * points > MOST_PLACES {
            return Err(Error::Device(format!(
                "layered: {} samples per step at {points} points are too many for a device: their product must be at most \
                 {MOST_PLACES}; lower map.layered.batch, or use --device cpu",
                run.largest()
            )));
        }
        let given = Given {
            widths: &self.widths,
            layers: Some(Layers {
                sizes: LayerSizes {
                    points,
                    inputs: shape.inputs,
                    channels: shape.channels,
                    functions: shape.matrices,
                    terms: self.frozen.terms(),
                    layers: shape.layers,
                    hidden: shape.hidden,
                    outputs: shape.outputs,
                },
                functions: self.functions.as_ref(),
                means: self.means.as_ref(),
                projection: self.frozen.projection(),
            }),
            activation: shape.activation,
            training: compared(&run, &self.training)?,
            validation: (self.validation.as_ref())
                .map(|v| compared(&run, v))
                .transpose()?,
        };
        OnDevice::of(run, &given, state, trainer)
    }
}

fn compared<'b, T: Scalar>(
    run: &Run<'_>,
    (inputs, samples): &'b (Mat<T>, &'b Samples<T>),
) -> Result<Compared<'b, T>> {
    Compared::new(run, inputs.as_ref(), &samples.objective, false)
}
