//! Sizes by which fields are first divided, so that components in small units are learned as accurately as the others.

use crate::data::{Dataset, Field, Fields};
use crate::metrics::mean;
use crate::plan::Plan;
use crate::report::{Choice, Subject};
use crate::settings::{FitConfig, PerComponent, PerComponentWord};
use crate::{Error, Result};

/// Components of one output whose root mean squares differ by more than this count equally.
const UNEVEN: f64 = 100.0;

/// A component whose deviation is below this fraction of its size is constant: the rest is rounding.
const CONSTANT: f64 = 1e-12;

/// For each input and each output the sizes of its components; empty if it is not scaled.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    pub inputs: Vec<Vec<f64>>,
    pub outputs: Vec<Vec<f64>>,
    pub choices: Vec<Choice>,
}

impl Sizes {
    /// Determines the sizes from the settings and the training samples. The paper's recipe does not scale values.
    ///
    /// # Errors
    /// If a size or a weight is not positive, or there is not one for each component.
    pub(crate) fn choose(train: &Dataset, config: &FitConfig) -> Result<Self> {
        let mut sizes = Sizes::default();
        let raw = config.map.takes_raw_coefficients();
        let parts = train.inputs.iter().map(|(_, field)| field.components());
        let alone = parts.sum::<usize>() == 1;
        for (name, field) in &train.inputs {
            let setting = &config.input_named(name).scale;
            check("input", name, "scale", setting, field)?;
            sizes.inputs.push(match setting {
                PerComponent::Each(sizes) => sizes.clone(),
                PerComponent::Word(PerComponentWord::None) => Vec::new(),
                // Vectors are standardised by their encoder.
                _ if raw || alone || field.is_vector() => Vec::new(),
                _ => (0..field.components())
                    .map(|c| input_size(field, c))
                    .collect(),
            });
        }
        let several = train.outputs.len() > 1;
        for (name, field) in &train.outputs {
            let setting = &config.output_named(name).weights;
            check("output", name, "weights", setting, field)?;
            sizes.outputs.push(match setting {
                PerComponent::Each(weights) => weighted(&norms(field), weights),
                PerComponent::Word(PerComponentWord::None) => Vec::new(),
                _ if raw => Vec::new(),
                _ => output_sizes(field, several),
            });
        }
        sizes.explain(&train.inputs, &train.outputs, config);
        Ok(sizes)
    }

    /// Writes the sizes into the plan chosen for the divided data, and puts their choices before the others.
    pub(crate) fn into_plan(self, plan: &mut Plan, choices: &mut Vec<Choice>) {
        for (plan, sizes) in plan.inputs.iter_mut().zip(self.inputs) {
            plan.sizes = sizes;
        }
        for (plan, sizes) in plan.outputs.iter_mut().zip(self.outputs) {
            plan.sizes = sizes;
        }
        choices.splice(0..0, self.choices);
    }

    /// The choices that say what was scaled, where it matters.
    fn explain(&mut self, inputs: &Fields, outputs: &Fields, config: &FitConfig) {
        let all: Vec<f64> = self.inputs.iter().flatten().copied().collect();
        if spread(&all) > UNEVEN {
            self.choices.push(Choice {
                subject: Subject::InputScale,
                field: String::new(),
                candidates: Vec::new(),
                chosen: "scaled to one size".into(),
                why: format!(
                    "{} vary by {}; scale = \"none\" leaves them as they are",
                    if inputs.len() > 1 {
                        "inputs"
                    } else {
                        "components"
                    },
                    listed(&all)
                ),
            });
        }
        let chosen = |name: &str| config.output_named(name).weights == PerComponent::default();
        for ((name, field), sizes) in outputs.iter().zip(&self.outputs) {
            let sizes_differ = spread(sizes) > 1.0;
            if sizes_differ && chosen(name) {
                self.choices.push(Choice {
                    subject: Subject::OutputWeights,
                    field: name.clone(),
                    candidates: Vec::new(),
                    chosen: "components count equally".into(),
                    why: format!(
                        "their rms values are {}; weights = \"none\" weights them by size",
                        listed(&rms(field))
                    ),
                });
            }
        }
        if outputs.len() > 1 && self.outputs.iter().all(|s| !s.is_empty()) {
            self.choices.push(Choice {
                subject: Subject::OutputWeights,
                field: String::new(),
                candidates: Vec::new(),
                chosen: "outputs count equally".into(),
                why: "by their relative errors; weights = \"none\" weights them by size".into(),
            });
        }
    }
}

/// How much a component of an input varies from sample to sample, as a power of two, so that division by it is exact.
fn input_size(field: &Field, c: usize) -> f64 {
    let samples = field.samples();
    let squares = |k: usize| field.component_of(k, c).iter().map(|v| v * v).sum::<f64>();
    let count: usize = (0..samples).map(|k| field.points_of(k).len()).sum();
    let mean_square = (0..samples).map(squares).sum::<f64>() / count as f64;
    let centre = centre(field, c);
    let off = |k: usize| {
        let values = field.component_of(k, c);
        let pairs = values.iter().zip(centre.iter().cycle());
        pairs.map(|(v, m)| (v - m).powi(2)).sum::<f64>()
    };
    let deviation = ((0..samples).map(off).sum::<f64>() / count as f64).sqrt();
    let size = match deviation > CONSTANT * mean_square.sqrt() {
        true => deviation,
        false => mean_square.sqrt(),
    };
    match size > 0.0 {
        true => size.log2().round().exp2(),
        false => 1.0,
    }
}

/// The mean over samples at each point, or one for all points where samples have their own.
fn centre(field: &Field, c: usize) -> Vec<f64> {
    let samples = field.samples();
    match field.shared_points() {
        Some(points) => {
            let mut sum = vec![0.0; points.len()];
            for k in 0..samples {
                let values = field.component_of(k, c);
                sum.iter_mut().zip(values.iter()).for_each(|(s, v)| *s += v);
            }
            sum.iter().map(|s| s / samples as f64).collect()
        }
        None => {
            let means: Vec<f64> = (0..samples)
                .map(|k| mean(&field.component_of(k, c)))
                .collect();
            vec![mean(&means)]
        }
    }
}

/// The root mean square over samples of the norm of each component; for a zero component, that of the largest one.
fn norms(field: &Field) -> Vec<f64> {
    let norm = |c: usize| {
        let squares = |k: usize| field.component_of(k, c).iter().map(|v| v * v).sum::<f64>();
        let all: Vec<f64> = (0..field.samples()).map(squares).collect();
        mean(&all).sqrt()
    };
    let mut norms: Vec<f64> = (0..field.components()).map(norm).collect();
    let largest = norms.iter().copied().fold(0.0, f64::max);
    let instead = if largest > 0.0 { largest } else { 1.0 };
    norms
        .iter_mut()
        .filter(|n| **n == 0.0)
        .for_each(|n| *n = instead);
    norms
}

/// The root mean square of each component.
fn rms(field: &Field) -> Vec<f64> {
    let points: Vec<f64> = (0..field.samples())
        .map(|k| field.points_of(k).len() as f64)
        .collect();
    let root = mean(&points).sqrt();
    norms(field).iter().map(|n| n / root).collect()
}

/// Divided by these, an output's squared norm is 1 on average; its components' norms are made equal if they differ much.
fn output_sizes(field: &Field, several: bool) -> Vec<f64> {
    let norms = norms(field);
    if spread(&norms) > UNEVEN {
        return weighted(&norms, &vec![1.0; norms.len()]);
    }
    let whole = norms.iter().map(|n| n * n).sum::<f64>().sqrt();
    match several {
        true => vec![whole; norms.len()],
        false => Vec::new(),
    }
}

/// Divided by these, the squared norm of each component is on average its share of the weights.
fn weighted(norms: &[f64], weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let pairs = norms.iter().zip(weights);
    pairs
        .map(|(norm, weight)| norm * (total / weight).sqrt())
        .collect()
}

/// The ratio of the largest to the smallest.
fn spread(sizes: &[f64]) -> f64 {
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    if sizes.is_empty() {
        1.0
    } else {
        largest / smallest
    }
}

fn listed(sizes: &[f64]) -> String {
    let words: Vec<String> = sizes.iter().map(|s| format!("{s:.1e}")).collect();
    words.join(", ")
}

fn check(kind: &str, name: &str, setting: &str, given: &PerComponent, field: &Field) -> Result<()> {
    let PerComponent::Each(numbers) = given else {
        return Ok(());
    };
    let positive = numbers.iter().all(|v| v.is_finite() && *v > 0.0);
    match positive && numbers.len() == field.components() {
        true => Ok(()),
        false => Err(Error::Config(format!(
            "{}: {setting} = {numbers:?}; give a positive number for each of the {} components",
            format!("{kind} {name}").trim_end(),
            field.components()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use faer::Mat;
    use serde_json::json;

    fn field(sizes: &[f64]) -> Field {
        let values = |c: usize| {
            Mat::from_fn(8, 5, |i, k| {
                sizes[c] * (i as f64 + (k * (c + 1)) as f64).sin()
            })
        };
        let components = (0..sizes.len()).map(values).collect();
        Field::shared(Points::linspace(0.0, 1.0, 8), components).unwrap()
    }

    fn chosen(data: &Dataset, config: serde_json::Value) -> Result<Sizes> {
        Sizes::choose(data, &serde_json::from_value(config).unwrap())
    }

    #[test]
    fn one_of_each_stays_as_it_is() {
        let data = Dataset::new(field(&[3.0]), field(&[1.0, 20.0])).unwrap();
        let sizes = chosen(&data, json!({})).unwrap();
        assert!(sizes.inputs[0].is_empty() && sizes.outputs[0].is_empty());
        assert!(sizes.choices.is_empty());
    }

    #[test]
    fn uneven_components_count_equally_and_say_so() {
        let data = Dataset::new(field(&[2e12, 1e-6]), field(&[1.0, 1e6])).unwrap();
        let sizes = chosen(&data, json!({})).unwrap();
        let inputs = data.inputs[0].1.divided(&sizes.inputs[0]);
        let outputs = data.outputs[0].1.divided(&sizes.outputs[0]);
        assert!((0..2).all(|c| input_size(&inputs, c) == 1.0));
        assert!(norms(&outputs).iter().all(|n| (n * n - 0.5).abs() < 1e-9));
        let words: Vec<String> = sizes.choices.iter().map(ToString::to_string).collect();
        assert!(words[0].contains("scaled to one size"), "{words:?}");
        assert!(words[1].contains("components count equally"), "{words:?}");
        let paper = json!({"map": {"kind": "mlp", "mlp": {"recipe": "paper"}}});
        let sizes = chosen(&data, paper).unwrap();
        assert!(sizes.inputs[0].is_empty() && sizes.outputs[0].is_empty());
        let off = json!({"input": {"scale": "none"}, "output": {"weights": "none"}});
        let sizes = chosen(&data, off).unwrap();
        assert!(sizes.inputs[0].is_empty() && sizes.outputs[0].is_empty());
    }

    #[test]
    fn weights_are_shares_and_bad_ones_are_named() {
        let data = Dataset::new(field(&[1.0]), field(&[1.0, 5.0])).unwrap();
        let sizes = chosen(&data, json!({"output": {"weights": [3.0, 1.0]}})).unwrap();
        let norms = norms(&data.outputs[0].1.divided(&sizes.outputs[0]));
        assert!((norms[0].powi(2) - 0.75).abs() < 1e-9, "{norms:?}");
        for weights in [json!([1.0]), json!([1.0, 0.0]), json!([1.0, -2.0])] {
            let error = chosen(&data, json!({"output": {"weights": weights}})).unwrap_err();
            assert!(
                error.to_string().contains("each of the 2 components"),
                "{error}"
            );
        }
    }

    #[test]
    fn named_outputs_count_equally() {
        let mut data = Dataset::new(field(&[1.0]), field(&[1.0])).unwrap();
        data.outputs = Fields::from([("a", field(&[1.0])), ("b", field(&[7.0, 9.0]))]);
        let sizes = chosen(&data, json!({})).unwrap();
        for ((_, field), sizes) in data.outputs.iter().zip(&sizes.outputs) {
            let squares = field.divided(sizes).norms_squared();
            assert!((mean(&squares) - 1.0).abs() < 1e-9);
        }
    }
}
