//! From input fields to one coefficient vector per sample.

use super::frame::Frame;
use super::other_points::{AtOtherPoints, Expected};
use super::prior::Prior;
use super::regularise::{self, Factored, check_count, choose_regularisation, factor, learn};
use super::stacked::stack_components;
use super::training_range::{OutOfRange, TrainingRange};
use super::{
    Encoder, EncoderSpec, Method, Regularisation, SampleEncoder, Spectrum, VectorEncoder,
    VectorSpec,
};
use crate::basis::FieldBasis;
use crate::data::{Field, Observations, Points, Scattered};
use crate::error::in_order;
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// How an input is transformed before and after its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transform {
    /// Nothing.
    #[default]
    None,
    /// The logarithm of the values, for positive fields.
    Log,
    /// Each coefficient minus its training mean, over its training standard deviation.
    #[serde(alias = "standardize")]
    Standardise,
    /// Both.
    #[serde(alias = "log-standardize")]
    LogStandardise,
}

impl Transform {
    /// Whether values are replaced by their logarithm.
    pub(crate) fn takes_log(self) -> bool {
        matches!(self, Transform::Log | Transform::LogStandardise)
    }

    /// Whether coefficients are standardised.
    pub(crate) fn standardises(self) -> bool {
        matches!(self, Transform::Standardise | Transform::LogStandardise)
    }
}

/// Deviations below this fraction of a coefficient's size are rounding: such a coefficient is
/// constant and is only centred.
const CONSTANT_BELOW: f64 = 1e-12;

/// The encoder of one input field: basis, regularisation of each part, transform.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct FieldEncoder {
    basis: FieldBasis,
    /// Empty if a prior takes their place.
    regularisations: Vec<Regularisation>,
    prior: Option<Prior>,
    transform: Transform,
    /// The size by which each component is divided; empty if they are not scaled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<f64>,
    /// Where coefficients are standardised.
    standard: Option<Standard>,
    frame: Frame,
    /// Takes the place of least squares for a vector without points.
    vector: Option<VectorEncoder>,
    /// The range of the training samples; empty in models of older versions.
    #[serde(default)]
    seen: TrainingRange,
    /// What to expect of coefficients where fields are observed at other points than those of the fit, unless least
    /// squares are used there as well.
    #[serde(default)]
    expected: Option<Expected>,
    /// The factorisation at the points encoded last: most predictions use the same sensors.
    #[serde(skip)]
    cache: Mutex<Option<Factored>>,
    /// The same for points other than those of the fit, where coefficients are expected.
    #[serde(skip)]
    other_points: Mutex<Option<Arc<AtOtherPoints>>>,
}

restore_settled!(FieldEncoder);

/// Mean and standard deviation of each coefficient.
#[derive(Debug, Serialize, Deserialize)]
struct Standard {
    #[serde(with = "tensor")]
    mean: Vec<f64>,
    #[serde(with = "tensor")]
    deviation: Vec<f64>,
}

/// Samples whose values are transformed at the same time.
const TRANSFORM_SLAB: usize = 256;

/// A parameter is chosen from the factorisations of at most this many samples.
const CHOICE_SAMPLES: usize = 64;

/// A component of a function at points, from coefficients.
pub(crate) struct ComponentAt {
    /// The first of its coefficients.
    pub first: usize,
    /// Values from coefficients.
    pub values: Mat<f64>,
    /// What is added.
    pub offsets: Vec<f64>,
}

impl FieldEncoder {
    /// Fits the encoder to training samples and encodes them. Coefficients of nearly dependent
    /// functions are replaced by coordinates in which distances are those of the functions ($Ra$ in
    /// place of $a$; the recipe `paper` keeps $a$), unless they are standardised.
    ///
    /// # Errors
    /// If the data does not fit the basis, the log of a value that is not positive is needed, or there are
    /// fewer points than functions and no parameter was given.
    pub fn fit(
        basis: FieldBasis,
        spec: &EncoderSpec,
        transform: Transform,
        field: &Field,
    ) -> Result<(Self, Mat<f64>)> {
        Self::fit_unless(basis, spec, transform, field, false, &|| false)
    }

    /// As [`FieldEncoder::fit`], but keeps the coefficients as they are.
    ///
    /// # Errors
    /// As [`FieldEncoder::fit`].
    pub fn fit_raw(
        basis: FieldBasis,
        spec: &EncoderSpec,
        transform: Transform,
        field: &Field,
    ) -> Result<(Self, Mat<f64>)> {
        Self::fit_unless(basis, spec, transform, field, true, &|| false)
    }

    /// As [`FieldEncoder::fit`], or, if `raw`, with the coefficients as they are; stops if `cancelled` asks for it while a prior is learned or a large basis is factored.
    pub(crate) fn fit_unless(
        basis: FieldBasis,
        spec: &EncoderSpec,
        transform: Transform,
        given: &Field,
        raw: bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(Self, Mat<f64>)> {
        let (regularisations, prior, cache) = match spec.method {
            Method::Prior => {
                let field = transformed(given, transform)?;
                let prior = learn(&basis, spec, &field, cancelled)?;
                (Vec::new(), Some(prior), None)
            }
            Method::Ridge | Method::Svd => {
                let some: Vec<usize> = (0..given.samples().min(CHOICE_SAMPLES)).collect();
                let field = given.select(&some);
                let field = transformed(&field, transform)?;
                let (regularisations, cache) =
                    choose_regularisation(&basis, spec, &field, cancelled)?;
                (regularisations, None, cache)
            }
        };
        let mut encoder = FieldEncoder {
            frame: Frame::none(&basis),
            basis,
            regularisations,
            prior,
            transform,
            sizes: Vec::new(),
            standard: None,
            vector: None,
            seen: TrainingRange::of(given),
            expected: None,
            cache: Mutex::new(cache),
            other_points: Mutex::default(),
        };
        let mut coefficients = encoder.encode_values(given)?;
        if transform.standardises() {
            encoder.standard = Some(statistics(coefficients.as_ref()));
            encoder.standardise(&mut coefficients);
        } else if !raw {
            encoder.frame = Frame::new(&encoder.basis, given, encoder.prior.is_some())?;
            if encoder.frame.is_none() && spec.method == Method::Ridge {
                encoder.expected = encoder.expect(given, coefficients.as_ref())?;
            }
            coefficients = encoder.frame.apply(&encoder.basis, coefficients);
        }
        Ok((encoder, coefficients))
    }

    #[cfg(test)]
    pub(super) fn expect_nothing(&mut self) {
        self.expected = None;
    }

    /// What to expect of coefficients, from those of the training samples at shared points.
    fn expect(&self, given: &Field, coefficients: MatRef<'_, f64>) -> Result<Option<Expected>> {
        let some: Vec<usize> = (0..given.samples().min(CHOICE_SAMPLES)).collect();
        let field = given.select(&some);
        let field = transformed(&field, self.transform)?;
        let Observations::Shared { points, values } = field.observations() else {
            return Ok(None);
        };
        let encoders = self.encoders_at(points)?;
        Expected::new(&self.basis, (points, &encoders), values, coefficients).map(Some)
    }

    /// Fits the encoder of vectors without points to training samples and encodes them. Coefficients are always
    /// standardised, whatever `transform` says of that.
    ///
    /// # Errors
    /// If `field` is a function, as [`VectorEncoder::fit`], or if the log of a value that is not positive is
    /// needed.
    pub(crate) fn fit_vector(
        spec: &VectorSpec,
        transform: Transform,
        field: &Field,
    ) -> Result<(Self, Mat<f64>)> {
        let transform = match transform.takes_log() {
            true => Transform::Log,
            false => Transform::None,
        };
        let values = vectors_of(&*transformed(field, transform)?)?;
        let vector = VectorEncoder::fit(spec, values.as_ref())?;
        let coefficients = vector.encode(values.as_ref())?;
        let basis = FieldBasis::of_vector(vector.coefficients());
        let encoder = FieldEncoder {
            frame: Frame::none(&basis),
            regularisations: vec![Regularisation::Ridge { lambda: 0.0 }; basis.len()],
            basis,
            prior: None,
            transform,
            sizes: Vec::new(),
            standard: None,
            vector: Some(vector),
            seen: TrainingRange::of(field),
            expected: None,
            cache: Mutex::default(),
            other_points: Mutex::default(),
        };
        Ok((encoder, coefficients))
    }

    /// The same encoder for fields that were divided by these sizes when it was fitted.
    pub(crate) fn in_sizes(self, sizes: Vec<f64>) -> Self {
        FieldEncoder { sizes, ..self }
    }

    /// The points that training samples shared, or would have shared if no reading had been missing.
    pub fn points(&self) -> Option<&Points> {
        self.seen.points()
    }

    /// Samples of `field` that are far outside the range of the training samples.
    pub(crate) fn out_of_range(&self, field: &Field) -> Option<OutOfRange> {
        let sizes = Some(&self.sizes).filter(|sizes| sizes.len() == field.components());
        let Some(sizes) = sizes else {
            return self.seen.out_of_range(field);
        };
        let mut out_of_range = self.seen.out_of_range(&field.divided(sizes))?;
        let size = sizes[out_of_range.component];
        out_of_range.value *= size;
        out_of_range.seen = out_of_range.seen.map(|v| v * size);
        Some(out_of_range)
    }

    /// The coefficients of `field`, one column per sample.
    ///
    /// # Errors
    /// If the number of components or dimensions differs, or a point lies outside the domain; if an entry of a
    /// vector does not fit its kind.
    pub fn encode(&self, field: &Field) -> Result<Mat<f64>> {
        let divided = (self.sizes.len() == field.components()).then(|| field.divided(&self.sizes));
        let field = divided.as_ref().unwrap_or(field);
        if let Some(vector) = &self.vector {
            let field = transformed(field, self.transform)?;
            return vector.encode(vectors_of(&field)?.as_ref());
        }
        let mut coefficients = self.encode_values(field)?;
        self.standardise(&mut coefficients);
        Ok(self.frame.apply(&self.basis, coefficients))
    }

    /// The basis.
    pub fn basis(&self) -> &FieldBasis {
        &self.basis
    }

    /// How a vector without points becomes coefficients; `None` for a function.
    pub(crate) fn vector(&self) -> Option<&VectorEncoder> {
        self.vector.as_ref()
    }

    /// How many components the field has; of a vector, how many values.
    pub fn components(&self) -> usize {
        let values = self.vector.as_ref().map(VectorEncoder::values);
        values.unwrap_or_else(|| self.basis.components())
    }

    /// How observations become coefficients, in a few words.
    pub fn describe(&self) -> String {
        if let Some(vector) = &self.vector {
            return vector.describe();
        }
        match &self.prior {
            Some(prior) => format!("learned prior, noise {:.1e}", prior.noise()),
            None => {
                let mut parts: Vec<String> = self
                    .regularisations
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                parts.dedup();
                parts.join("; ")
            }
        }
    }

    /// The regularisation of each part; none if a learned prior takes their place.
    pub fn regularisations(&self) -> &[Regularisation] {
        &self.regularisations
    }

    /// The largest factor by which noise in readings at `points` is amplified; `None` if a prior was learned.
    ///
    /// # Errors
    /// If the dimension differs or a point lies outside the domain.
    pub(crate) fn amplification(&self, points: &Points) -> Result<Option<f64>> {
        let Some(&regularisation) = self.regularisations.first() else {
            return Ok(None);
        };
        let design = self.basis.parts()[0].evaluate(points)?;
        let encoder = Encoder::new(Spectrum::new(design)?, regularisation);
        Ok(Some(encoder.amplification()))
    }

    /// For each component, its values at `points` from what [`FieldEncoder::encode`] gives. Logarithms where the
    /// transform takes them.
    ///
    /// # Errors
    /// If the dimension differs or a point lies outside the domain.
    pub(crate) fn components_at(&self, points: &Points) -> Result<Vec<ComponentAt>> {
        let n = points.len();
        let mut all = Vec::new();
        let mut first = 0;
        for (p, (part, range)) in self.basis.ranges().enumerate() {
            let at = self.frame.undo(p, part.evaluate(points)?.to_dense());
            for c in 0..range.len() {
                let mut values = at.as_ref().subrows(c * n, n).to_owned();
                let offsets = self.take_deviations(&mut values, first);
                all.push(ComponentAt {
                    first,
                    values,
                    offsets,
                });
            }
            first += at.ncols();
        }
        Ok(all)
    }

    /// From functions to what standardised coefficients multiply, the first of which is number `first`; returns what is
    /// added.
    fn take_deviations(&self, values: &mut Mat<f64>, first: usize) -> Vec<f64> {
        let mut offsets = vec![0.0; values.nrows()];
        let Some(Standard { mean, deviation }) = &self.standard else {
            return offsets;
        };
        for j in 0..values.ncols() {
            let (mean, deviation) = (mean[first + j], deviation[first + j]);
            let varies = deviation > CONSTANT_BELOW * mean.abs();
            let by = if varies { deviation } else { 0.0 };
            let of_function = values.col_as_slice_mut(j).iter_mut();
            for (v, offset) in of_function.zip(&mut offsets) {
                *offset += *v * mean;
                *v *= by;
            }
        }
        offsets
    }

    /// The transform.
    pub fn transform(&self) -> Transform {
        self.transform
    }

    fn standardise(&self, coefficients: &mut Mat<f64>) {
        if let Some(Standard { mean, deviation }) = &self.standard {
            for k in 0..coefficients.ncols() {
                let column = coefficients.col_mut(k).iter_mut();
                for (v, (m, s)) in column.zip(mean.iter().zip(deviation)) {
                    *v = if *s > CONSTANT_BELOW * m.abs() {
                        (*v - m) / s
                    } else {
                        0.0
                    };
                }
            }
        }
    }

    /// Coefficients as the basis has them. Transformed values are never held for all samples at once.
    fn encode_values(&self, field: &Field) -> Result<Mat<f64>> {
        if !self.transform.takes_log() {
            return self.encode_transformed(field);
        }
        // Which names the sample among all of them.
        field.check_positive()?;
        let samples: Vec<usize> = (0..field.samples()).collect();
        let mut out = Mat::zeros(self.basis.len(), samples.len());
        for part in samples.chunks(TRANSFORM_SLAB) {
            let values = field.select(part).into_logarithm()?;
            out.as_mut()
                .subcols_mut(part[0], part.len())
                .copy_from(self.encode_transformed(&values)?);
        }
        Ok(out)
    }

    fn encode_transformed(&self, field: &Field) -> Result<Mat<f64>> {
        if field.components() != self.basis.components() {
            return Err(Error::shape(
                "input",
                format!("{} components", self.basis.components()),
                format!("{}", field.components()),
            ));
        }
        if let (Some(prior), Observations::Shared { points, values }) =
            (&self.prior, field.observations())
        {
            return prior.encode_shared(&self.basis, points, values);
        }
        if let (Some(expected), Observations::Shared { points, values }) =
            (&self.expected, field.observations())
            && self.seen.points() != Some(points)
        {
            let other_points = self.other_points(expected, points)?;
            return Ok(expected.encode(&self.basis, &other_points, values));
        }
        let mut out = Mat::zeros(self.basis.len(), field.samples());
        match field.observations() {
            Observations::Shared { points, values } => {
                let encoders = self.encoders_at(points)?;
                let mut start = 0;
                for ((part, range), encoder) in self.basis.ranges().zip(encoders.iter()) {
                    let stacked = stack_components(&values[range]);
                    out.as_mut()
                        .subrows_mut(start, part.len())
                        .copy_from(encoder.encode(stacked.as_ref()));
                    start += part.len();
                }
            }
            Observations::PerSample(samples) => {
                let columns = in_order(samples.par_iter().enumerate().map_init(
                    SampleEncoder::default,
                    |encoder, (k, sample)| {
                        match &self.prior {
                            Some(prior) => prior.encode(&self.basis, sample),
                            None => self.encode_scattered(sample, encoder),
                        }
                        .map_err(|e| e.of_sample("input", k))
                    },
                ))?;
                for (k, column) in columns.iter().enumerate() {
                    for (v, c) in out.col_mut(k).iter_mut().zip(column) {
                        *v = *c;
                    }
                }
            }
        }
        Ok(out)
    }

    fn encode_scattered(
        &self,
        sample: &Scattered,
        encoder: &mut SampleEncoder,
    ) -> Result<Vec<f64>> {
        let n = sample.points.len();
        let mut out = Vec::with_capacity(self.basis.len());
        let parts: Vec<_> = self.basis.ranges().zip(&self.regularisations).collect();
        // Components with the same basis and strength are solved together.
        for together in parts.chunk_by(|((a, _), g), ((b, _), h)| b.shares_with(a) && g == h) {
            let ((part, first), regularisation) = &together[0];
            let ((_, last), _) = &together[together.len() - 1];
            check_count(n * first.len(), part.len(), Some(**regularisation))?;
            let design = part.evaluate(&sample.points)?.to_dense();
            let values = &sample.values[first.start * n..last.end * n];
            out.extend(encoder.encode(design.as_ref(), values, **regularisation)?);
        }
        Ok(out)
    }

    fn encoders_at(&self, points: &Points) -> Result<Arc<Vec<Encoder>>> {
        let mut cache = self.cache.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((cached, encoders)) = &*cache
            && cached == points
        {
            return Ok(encoders.clone());
        }
        let given = self.regularisations.iter().copied().map(Some);
        let spectra = factor(&self.basis, points, given, &|| false)?;
        let encoders = Arc::new(regularise::encoders(
            &self.basis,
            spectra,
            &self.regularisations,
        )?);
        *cache = Some((points.clone(), encoders.clone()));
        Ok(encoders)
    }

    fn other_points(&self, expected: &Expected, points: &Points) -> Result<Arc<AtOtherPoints>> {
        let mut cache = self.other_points.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = cache.as_ref().filter(|known| known.points == *points) {
            return Ok(known.clone());
        }
        let new = Arc::new(expected.at(&self.basis, points, &self.regularisations)?);
        *cache = Some(new.clone());
        Ok(new)
    }

    fn settle(&mut self) -> Result<()> {
        let size = self.basis.len();
        let standard = match &self.standard {
            Some(s) => s.mean.len() == size && s.deviation.len() == size,
            None => !self.transform.standardises(),
        };
        let settled =
            self.prior.is_some() || self.regularisations.len() == self.basis.parts().len();
        let vector = match &self.vector {
            Some(vector) => self.basis.is_vector() && vector.is_complete(size),
            None => !self.basis.is_vector(),
        };
        let sizes = self.sizes.is_empty() || self.sizes.len() == self.components();
        if !settled || !standard || !vector || !sizes {
            return Err(Error::Data("the model's encoder is incomplete".into()));
        }
        if let Some(prior) = &self.prior {
            prior.check(&self.basis)?;
        }
        if let Some(expected) = &self.expected {
            expected.check(&self.basis)?;
        }
        self.frame.check(&self.basis)
    }
}

fn vectors_of(field: &Field) -> Result<Mat<f64>> {
    field.vectors().ok_or_else(|| {
        Error::Data("parameters are vectors without points; this input is a function".into())
    })
}

fn transformed(field: &Field, transform: Transform) -> Result<std::borrow::Cow<'_, Field>> {
    if transform.takes_log() {
        Ok(std::borrow::Cow::Owned(field.logarithm()?))
    } else {
        Ok(std::borrow::Cow::Borrowed(field))
    }
}

fn statistics(coefficients: MatRef<'_, f64>) -> Standard {
    let mean = linalg::column_mean(coefficients);
    let mut variance = vec![0.0; mean.len()];
    for k in 0..coefficients.ncols() {
        for (s, (v, m)) in variance
            .iter_mut()
            .zip(coefficients.col(k).iter().zip(&mean))
        {
            *s += (v - m) * (v - m);
        }
    }
    let deviation = variance
        .iter()
        .map(|s| (s / coefficients.ncols() as f64).sqrt())
        .collect();
    Standard { mean, deviation }
}
