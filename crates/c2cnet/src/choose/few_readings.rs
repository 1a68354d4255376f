//! Output bases for samples with few readings, each at its own points.
//!
//! Readings at three points say nothing about how well eight functions represent a sample, but all samples together
//! do: a linear map from the inputs is fitted to all their readings at once, and then the covariance of its residuals
//! ([`Residuals`]). A basis is judged on held-out samples: each reading is predicted from the sample's input and its
//! other readings, and the error includes what the functions cannot represent.

use crate::basis::FieldBasis;
use crate::compute;
use crate::data::{Dataset, Field};
use crate::decode::{FieldDecoder, Residuals, Withheld};
use crate::fit::{Context, encode_inputs};
use crate::map::joint::{Effort, fit_linear};
use crate::map::{CoefficientMap, Mirrors, Split};
use crate::plan::InputPlan;
use crate::{Error, Result, linalg};
use faer::Mat;

/// Samples with fewer readings than this cannot be fitted individually.
const FEW: usize = 48;

/// With this many readings, search samples are as informative as if they were known everywhere; with fewer, the search
/// uses more samples.
const ENOUGH_READINGS: usize = 40;

/// The search uses at most this many times as many samples.
const MOST_FACTOR: usize = 4;

/// The most readings with which bases are compared.
const READINGS: usize = 8000;

/// The most principal components of the inputs with which bases are compared.
const INPUTS: usize = 48;

/// A basis has at most one function per this many readings of all samples.
const PER_FUNCTION: usize = 8;

/// The fewest readings of a sample of the output, if too few to fit each sample individually.
pub(super) fn few_readings(field: &Field) -> Option<usize> {
    if field.shared_points().is_some() {
        return None;
    }
    let counts = (0..field.samples()).map(|k| field.points_of(k).len());
    counts.min().filter(|&n| n < FEW)
}

/// How many times as many samples a search needs.
pub(super) fn more_samples(data: &Dataset) -> usize {
    let few = data
        .outputs
        .iter()
        .filter_map(|(_, f)| few_readings(f))
        .min();
    few.map_or(1, |n| (ENOUGH_READINGS / n.max(1)).clamp(1, MOST_FACTOR))
}

/// The comparison of bases for an output with few readings of each sample.
pub(crate) struct FewReadings {
    field: Field,
    /// Principal components of the inputs, one column per sample.
    inputs: Mat<f64>,
    split: Split,
    seed: u64,
}

/// An output in a basis.
pub(super) struct Judged {
    pub decoder: FieldDecoder,
    /// The predictions of the linear map.
    pub coordinates: Mat<f64>,
    /// The error at a reading, predicted from the input and the sample's other readings.
    pub error: f64,
}

impl FewReadings {
    /// The comparison for output `i` of the training samples, whose inputs are encoded by `plans`.
    ///
    /// # Errors
    /// If the inputs cannot be encoded with these plans.
    pub(super) fn new(context: &Context<'_>, plans: &[InputPlan], i: usize) -> Result<Self> {
        let whole = &context.train.outputs[i].1;
        let readings = few_readings(whole).unwrap_or(1).max(1);
        let count = (READINGS / readings).clamp(20, 3000).min(whole.samples());
        let chosen: Vec<usize> = (0..count).collect();
        let some = context.train.select(&chosen);
        let some_context = context.without_images(&some);
        let mut coefficients = encode_inputs(&some_context, plans, false)?.coefficients;
        let mean = linalg::column_mean(coefficients.as_ref());
        linalg::subtract_from_columns(&mut coefficients, &mean);
        let dense = compute::dense(context.observer.device())?;
        let most = INPUTS.min(count / 4 + 1);
        let inputs = dense.principal_coordinates(coefficients.as_ref(), most)?;
        Ok(FewReadings {
            field: some.outputs[i].1.clone(),
            inputs,
            split: some_context.split.clone(),
            seed: context.protocol.seed,
        })
    }

    /// The most functions that the readings can determine.
    pub(super) fn largest(&self) -> usize {
        let count: usize = (0..self.field.samples())
            .map(|k| self.field.points_of(k).len())
            .sum();
        (count / PER_FUNCTION).max(1)
    }

    pub(super) fn field(&self) -> &Field {
        &self.field
    }

    /// Judges a basis.
    ///
    /// # Errors
    /// If the output cannot be represented in it.
    pub(super) fn judge(&self, basis: FieldBasis) -> Result<Judged> {
        let none = Withheld::none();
        let (decoder, targets) = FieldDecoder::fit(basis, &self.field, &none, &[], self.seed)?;
        let Split { train, validation } = &self.split;
        let fitted = targets.select(train).readings;
        let fitted =
            fitted.ok_or_else(|| Error::Data("too many readings to fit in memory".into()))?;
        let inputs = linalg::select_columns(self.inputs.as_ref(), train);
        let mirrors = Mirrors::none(inputs.nrows());
        let map = fit_linear(inputs.as_ref(), &fitted, mirrors, Effort::COMPARE)?;
        let predicted = map.predict(inputs.as_ref());
        let all: Vec<usize> = (0..train.len()).collect();
        let residuals = Residuals::learn(&fitted, predicted.as_ref(), &all)?;
        let held = linalg::select_columns(self.inputs.as_ref(), validation);
        let readings = targets.select(validation).readings.unwrap_or_default();
        let predicted = map.predict(held.as_ref());
        let errors = residuals.left_out_squared(&readings, predicted.as_ref())?;
        let norm: f64 = readings.iter().map(|r| r.norm_squared).sum();
        Ok(Judged {
            decoder,
            coordinates: map.predict(self.inputs.as_ref()),
            error: (errors.iter().sum::<f64>() / norm.max(f64::MIN_POSITIVE)).sqrt(),
        })
    }
}
