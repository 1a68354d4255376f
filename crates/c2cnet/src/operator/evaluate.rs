//! Errors of coefficient maps against true outputs.

use super::direct::{Direct, ErrorsAtPoints};
use super::model::{check_fit, check_kind, field_named};
use super::{ComponentErrors, EvaluationReport, OutputErrors, QuantityError};
use crate::data::Fields;
use crate::decode::{Evaluation, FieldDecoder, VectorDecoder, Withheld};
use crate::map::{CoefficientMap, LinearMap};
use crate::metrics::{Errors, mean, mean_relative};
use crate::{Error, Result};
use faer::{Mat, MatRef};

/// A map, the linear map that it is compared with, and how their coordinates become outputs.
pub(crate) struct MapsToEvaluate<'a> {
    pub decoders: &'a [(String, FieldDecoder)],
    pub map: &'a dyn CoefficientMap,
    /// The map as one that evaluates outputs at their points itself, if it does.
    pub direct: Option<Direct<'a>>,
    pub linear: &'a LinearMap,
}

impl MapsToEvaluate<'_> {
    /// Errors of both maps and of the training mean, beside the floor; if `withheld`, also at points that the decoders
    /// have not seen.
    pub(crate) fn evaluate(
        &self,
        coefficients: MatRef<'_, f64>,
        truth: &Fields,
        withheld: bool,
    ) -> Result<EvaluationReport> {
        let samples = coefficients.ncols();
        let mean = self.linear.output_mean();
        let predictions = Predictions {
            map: self.map.predict(coefficients),
            linear: self.linear.predict(coefficients),
            mean: Mat::from_fn(mean.len(), samples, |i, _| mean[i]),
        };
        let mut sums = Sums::new(samples);
        let mut start = 0;
        for (place, (name, decoder)) in self.decoders.iter().enumerate() {
            let field = field_named(truth, name, "output")?;
            if field.samples() != samples {
                return Err(Error::shape(
                    format!("output {name:?}"),
                    format!("{samples} samples, as the inputs"),
                    format!("{}", field.samples()),
                ));
            }
            let values = decoder.vector().map(VectorDecoder::values);
            check_kind("output", name, values, field)?;
            check_fit("output", name, decoder.basis(), field)?;
            field.check_outputs(format!("output {name}").trim_end())?;
            let none = Withheld::none();
            let withheld = if withheld { decoder.withheld() } else { &none };
            let evaluation = Evaluation::new(decoder, field, withheld)
                .map_err(|e| e.at_points_of("output", name))?;
            let of_output = predictions.rows(start, decoder.rank());
            let errors = match self.direct.filter(|_| !evaluation.is_vector()) {
                Some(direct) => {
                    let divided = decoder.sizes().len() == field.components();
                    let divided = divided.then(|| field.divided(decoder.sizes()));
                    let field = divided.as_ref().unwrap_or(field);
                    let errors = direct.errors(coefficients, place, field, withheld);
                    errors.map_err(|e| e.at_points_of("output", name))?
                }
                None => in_space(&evaluation, of_output.map),
            };
            sums.add(name, &evaluation, &of_output, errors);
            start += decoder.rank();
        }
        let mut report = sums.report();
        report.in_units(self.decoders.iter().map(|(_, decoder)| decoder.sizes()));
        Ok(report)
    }
}

/// Coordinates, one column per sample.
struct Predictions<M> {
    map: M,
    linear: M,
    mean: M,
}

impl Predictions<Mat<f64>> {
    /// Those of one output.
    fn rows(&self, start: usize, count: usize) -> Predictions<MatRef<'_, f64>> {
        Predictions {
            map: self.map.subrows(start, count),
            linear: self.linear.subrows(start, count),
            mean: self.mean.subrows(start, count),
        }
    }
}

/// Sums over outputs, one entry per sample: squared errors and norms.
#[derive(Default)]
struct Sums {
    map: Vec<f64>,
    linear: Vec<f64>,
    mean: Vec<f64>,
    floor: Vec<f64>,
    norm: Vec<f64>,
    counts: Vec<usize>,
    withheld: Option<WithheldSums>,
    outputs: Vec<OutputErrors>,
    quantities: Vec<QuantityError>,
}

/// The same at withheld points.
#[derive(Clone)]
struct WithheldSums {
    map: Vec<f64>,
    norm: Vec<f64>,
    floor: Vec<f64>,
}

impl Sums {
    fn new(samples: usize) -> Self {
        let zero = || vec![0.0; samples];
        Sums {
            map: zero(),
            linear: zero(),
            mean: zero(),
            floor: zero(),
            norm: zero(),
            counts: vec![0; samples],
            ..Sums::default()
        }
    }

    fn add(
        &mut self,
        name: &str,
        evaluation: &Evaluation,
        predictions: &Predictions<MatRef<'_, f64>>,
        errors: ErrorsAtPoints,
    ) {
        let map = errors.all;
        let mean = evaluation.errors_squared(predictions.mean);
        add(&mut self.map, &map);
        add(
            &mut self.linear,
            &evaluation.errors_squared(predictions.linear),
        );
        add(&mut self.mean, &mean);
        let norms = &evaluation.norm_squared;
        let values: usize = evaluation.counts.iter().sum();
        self.outputs.push(OutputErrors {
            output: name.to_string(),
            rl2e: mean_relative(&map, norms),
            floor: mean_relative(&evaluation.floor_squared, norms),
            mean_rl2e: mean_relative(&mean, norms),
            rms: (norms.iter().sum::<f64>() / values as f64).sqrt(),
            values,
            withheld_points: evaluation.withheld_points,
            components: component_errors(evaluation, predictions, &errors.components),
        });
        add(&mut self.floor, &evaluation.floor_squared);
        add(&mut self.norm, &evaluation.norm_squared);
        let counts = self.counts.iter_mut().zip(&evaluation.counts);
        counts.for_each(|(sum, count)| *sum += count);
        let entries = evaluation.entry_errors(predictions.map).into_iter();
        let quantity = |(column, (rmse, deviation))| QuantityError {
            output: name.to_string(),
            column,
            rmse,
            deviation,
        };
        self.quantities.extend(entries.enumerate().map(quantity));
        let at_withheld = evaluation.withheld_errors_squared(predictions.map);
        if let (Some((_, norm)), Some(floor)) = (at_withheld, &evaluation.withheld_floor_squared) {
            let map = errors.withheld;
            let zero = || vec![0.0; map.len()];
            let sums = self.withheld.get_or_insert_with(|| WithheldSums {
                map: zero(),
                norm: zero(),
                floor: zero(),
            });
            add(&mut sums.map, &map);
            add(&mut sums.norm, &norm);
            add(&mut sums.floor, floor);
        }
    }

    fn report(self) -> EvaluationReport {
        let all = Errors::new(&self.map, &self.norm, &self.counts);
        let (worst_sample, worst_rl2e) = all.worst();
        let values: usize = self.counts.iter().sum();
        let withheld = self.withheld.as_ref();
        EvaluationReport {
            rl2e: all.rl2e,
            mse: all.mse,
            floor: mean_relative(&self.floor, &self.norm),
            worst_rl2e,
            worst_sample,
            mean_rl2e: mean_relative(&self.mean, &self.norm),
            linear_rl2e: mean_relative(&self.linear, &self.norm),
            withheld_rl2e: withheld.map(|w| mean_relative(&w.map, &w.norm)),
            withheld_floor: withheld.map(|w| mean_relative(&w.floor, &w.norm)),
            rms: (self.norm.iter().sum::<f64>() / values as f64).sqrt(),
            n_samples: self.norm.len(),
            outputs: self.outputs,
            quantities: self.quantities,
            relative: all.relative,
        }
    }
}

/// Errors of the function of the output space that has these coordinates.
fn in_space(evaluation: &Evaluation, coordinates: MatRef<'_, f64>) -> ErrorsAtPoints {
    let withheld = evaluation.withheld_errors_squared(coordinates);
    ErrorsAtPoints {
        all: evaluation.errors_squared(coordinates),
        components: evaluation.component_errors_squared(coordinates),
        withheld: withheld.map_or(Vec::new(), |(errors, _)| errors),
    }
}

fn component_errors(
    evaluation: &Evaluation,
    predictions: &Predictions<MatRef<'_, f64>>,
    map: &[Vec<f64>],
) -> Vec<ComponentErrors> {
    let of_mean = evaluation.component_errors_squared(predictions.mean);
    let norms = &evaluation.component_norms_squared;
    let all = map.iter().zip(&of_mean).zip(norms);
    let values = evaluation.counts.iter().sum::<usize>() / norms.len();
    let per_value = |sums: &[f64]| sums.iter().sum::<f64>() / values as f64;
    all.map(|((map, of_mean), norms)| {
        let relative = |errors: &[f64]| match evaluation.is_vector() {
            true => (mean(errors) / mean(norms)).sqrt(),
            false => mean_relative(errors, norms),
        };
        ComponentErrors {
            rl2e: relative(map),
            mean_rl2e: relative(of_mean),
            mse: per_value(map),
            rms: per_value(norms).sqrt(),
        }
    })
    .collect()
}

fn add(sum: &mut [f64], from: &[f64]) {
    sum.iter_mut().zip(from).for_each(|(s, f)| *s += f);
}
