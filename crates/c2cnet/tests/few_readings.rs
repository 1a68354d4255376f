//! Outputs that are few readings, at points that differ from sample to sample.

use c2cnet::data::{Dataset, Field, Points, Scattered};
use c2cnet::{C2CNet, FitConfig, Silent, fit, fit_plan, plan};
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;

/// Random functions $\sum_j a_j\cos(\pi jx)$, smooth because the $a_j$ decay.
const TERMS: usize = 8;

fn coefficients(samples: usize) -> Vec<[f64; TERMS]> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut one = |j: usize| rng.random_range(-1.0..1.0) * 0.6f64.powi(j as i32);
    (0..samples)
        .map(|_| std::array::from_fn(&mut one))
        .collect()
}

/// $\int_0^y f$.
fn antiderivative(a: &[f64; TERMS], y: f64) -> f64 {
    let term = |j: usize| match j {
        0 => a[0] * y,
        j => a[j] * (PI * j as f64 * y).sin() / (PI * j as f64),
    };
    (0..TERMS).map(term).sum()
}

/// Functions at 40 shared sensors.
fn sensors(all: &[[f64; TERMS]]) -> Field {
    let points = Points::linspace(0.0, 1.0, 40);
    let value = |x: f64, a: &[f64; TERMS]| -> f64 {
        (0..TERMS).map(|j| a[j] * (PI * j as f64 * x).cos()).sum()
    };
    let values = Mat::from_fn(40, all.len(), |i, k| value(i as f64 / 39.0, &all[k]));
    Field::shared(points, vec![values]).unwrap()
}

/// The output of a sample at a point.
type Output = dyn Fn(&[f64; TERMS], f64) -> f64;

/// `outputs` of each sample at `readings` random points of its own.
fn scattered(all: &[[f64; TERMS]], readings: usize, outputs: &[&Output]) -> Field {
    let mut rng = ChaCha8Rng::seed_from_u64(readings as u64);
    let mut sample = |a: &[f64; TERMS]| {
        let y: Vec<f64> = (0..readings).map(|_| rng.random_range(0.0..1.0)).collect();
        let values = outputs.iter().flat_map(|u| y.iter().map(|&y| u(a, y)));
        Scattered {
            values: values.collect(),
            points: Points::new(1, y.clone()).unwrap(),
        }
    };
    Field::per_sample(outputs.len(), all.iter().map(&mut sample).collect()).unwrap()
}

fn dataset(inputs: Field, outputs: Field) -> Dataset {
    let mut data = Dataset::new(inputs, outputs).unwrap();
    data.n_train = Some(data.samples() - TEST);
    data
}

const TEST: usize = 100;

/// Antiderivatives at `readings` points of each training sample.
fn integrals(training: usize, readings: usize) -> Dataset {
    let all = coefficients(training + TEST);
    dataset(sensors(&all), scattered(&all, readings, &[&antiderivative]))
}

/// Maps in closed form alone, which are what these tests are about.
fn settings() -> FitConfig {
    serde_json::from_value(serde_json::json!({"map": {"budget": 0}})).unwrap()
}

/// All readings of the test samples together: a sample with one reading may be zero there.
fn error(model: &C2CNet, data: &Dataset) -> f64 {
    let test = data.select(&data.test_indices());
    let output = &test.outputs[0].1;
    let (mut off, mut norm) = (0.0, 0.0);
    for k in 0..output.samples() {
        let one = test.select(&[k]);
        let found = model.predict(&one.inputs, output.points_of(k)).unwrap();
        let found = found
            .iter()
            .flat_map(|c| c.col(0).iter().copied().collect::<Vec<_>>());
        for (f, u) in found.zip(output.values_of(k)) {
            off += (f - u).powi(2);
            norm += u * u;
        }
    }
    (off / norm).sqrt()
}

fn fitted(data: &Dataset) -> (C2CNet, Vec<String>) {
    let (model, report) = fit(data, &settings(), &Silent).unwrap();
    let choices = report.choices.iter().map(ToString::to_string).collect();
    (model, choices)
}

#[test]
fn one_reading_per_sample_determines_a_linear_operator() {
    let data = integrals(1000, 1);
    let (model, choices) = fitted(&data);
    let found = error(&model, &data);
    assert!(found < 1e-4, "{found}: {choices:#?}");
    assert!(
        choices.iter().any(|c| c.contains("1 reading, too few")),
        "{choices:#?}"
    );
}

#[test]
fn few_readings_per_sample_determine_a_linear_operator() {
    for (training, readings) in [(300, 3), (200, 10), (150, 30)] {
        let data = integrals(training, readings);
        let (model, choices) = fitted(&data);
        let found = error(&model, &data);
        assert!(found < 1e-4, "{readings} readings: {found}: {choices:#?}");
    }
}

#[test]
fn errors_are_those_at_the_readings() {
    let data = integrals(300, 3);
    let (model, report) = fit(&data, &settings(), &Silent).unwrap();
    let test = data.select(&data.test_indices());
    let told = model.evaluate(&test).unwrap();
    let output = &test.outputs[0].1;
    let each = (0..output.samples()).map(|k| {
        let one = test.select(&[k]);
        let found = model.predict(&one.inputs, output.points_of(k)).unwrap();
        let truth = output.values_of(k);
        let off = found[0].col(0).iter().zip(&truth);
        let off: f64 = off.map(|(f, u)| (f - u).powi(2)).sum();
        (off / truth.iter().map(|u| u * u).sum::<f64>()).sqrt()
    });
    let each: Vec<f64> = each.collect();
    let mean = each.iter().sum::<f64>() / each.len() as f64;
    assert!(
        (told.rl2e - mean).abs() < 1e-6 * mean + 1e-12,
        "{} {mean}",
        told.rl2e
    );
    // What was held out of the training samples tells what to expect of others.
    let held_out = report.validation.rl2e;
    assert!(
        held_out < 20.0 * mean && mean < 20.0 * held_out,
        "{held_out} {mean}"
    );
}

/// Ten readings per sample.
#[test]
fn a_kernel_map_learns_a_nonlinear_operator_from_few_readings() {
    let all = coefficients(500);
    let pendulum =
        |a: &[f64; TERMS], y: f64| (2.0 * antiderivative(a, y)).sin() * (1.0 + a[1] * a[1]);
    let data = dataset(sensors(&all), scattered(&all, 10, &[&pendulum]));
    let (model, choices) = fitted(&data);
    let found = error(&model, &data);
    assert!(found < 4e-2, "{found}: {choices:#?}");
    assert_eq!(model.summary().map.kind, "kernel", "{choices:#?}");
}

#[test]
fn components_and_parameters() {
    let all = coefficients(400);
    let derivative = |a: &[f64; TERMS], y: f64| -> f64 {
        (0..TERMS).map(|j| a[j] * (PI * j as f64 * y).cos()).sum()
    };
    let output = scattered(&all, 3, &[&antiderivative, &derivative]);
    let parameters = Mat::from_fn(TERMS, all.len(), |j, k| all[k][j]);
    let data = dataset(Field::vector(parameters.as_ref()).unwrap(), output);
    let (model, choices) = fitted(&data);
    let found = error(&model, &data);
    assert!(found < 1e-3, "{found}: {choices:#?}");
}

#[test]
fn threads_plans_and_files_change_nothing() {
    let data = integrals(100, 3);
    let basis = serde_json::json!({"family": "polynomial", "kind": "legendre", "functions": 10});
    for kind in ["linear", "kernel"] {
        let config: FitConfig = serde_json::from_value(serde_json::json!({
            "input": {"basis": basis},
            "output": {"basis": basis},
            "map": {"kind": kind, "kernel": {"kernel": "gaussian", "passes": 0}},
        }))
        .unwrap();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            pool.install(|| fit(&data, &config, &Silent).unwrap().0)
        };
        let model = with(1);
        let predicted = |model: &C2CNet| model.predict_coordinates(&data.inputs).unwrap();
        let first = predicted(&model);
        assert_eq!(first, predicted(&with(2)));
        let (plan, _) = plan(&data, &config, &Silent).unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        let plan = serde_json::from_str(&text).unwrap();
        let planned = fit_plan(&data, &plan, &Silent).unwrap().0;
        assert_eq!(first, predicted(&planned));
        let again = C2CNet::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(first, predicted(&again));
    }
}
