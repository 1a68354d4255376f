//! Vectors that are not functions: parameters in, quantities out, alone and beside functions, with default
//! settings unless a test is about a setting.

mod toy;

use c2cnet::data::{Dataset, Field, Fields, Points};
use c2cnet::{C2CNet, FitConfig, Plan, Silent, fit, fit_plan, plan};
use faer::Mat;
use rand::RngExt;
use serde_json::{Value, json};
use toy::{fitted, random, rng};

const PI: f64 = std::f64::consts::PI;

fn line(n: usize) -> Points {
    Points::linspace(0.0, 1.0, n)
}

fn function(n: usize, samples: usize, value: impl Fn(usize, f64) -> f64) -> Field {
    let points = line(n);
    let values = Mat::from_fn(n, samples, |i, k| value(k, points.point(i)[0]));
    Field::shared(points, vec![values]).unwrap()
}

fn dataset(inputs: Vec<(&str, Field)>, outputs: Vec<(&str, Field)>) -> Dataset {
    let named = |fields: Vec<(&str, Field)>| {
        let fields = fields.into_iter();
        fields
            .map(|(name, field)| (name.to_string(), field))
            .collect()
    };
    let mut data = Dataset::new(inputs[0].1.clone(), outputs[0].1.clone()).unwrap();
    (data.inputs, data.outputs) = (named(inputs), named(outputs));
    let samples = data.inputs[0].1.samples();
    data.n_train = Some(samples - samples / 4);
    data
}

/// Modulus of 100 to 300 GPa, radius of 1 to 3 cm.
fn moduli_and_radii(samples: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed);
    Mat::from_fn(2, samples, |i, _| match i {
        0 => rng.random_range(1e11..3e11),
        _ => rng.random_range(0.01..0.03),
    })
}

/// Deflection that falls with the modulus and grows with the radius.
fn deflection(p: &Mat<f64>, k: usize, y: f64) -> f64 {
    let (e, r) = (p[(0, k)] / 1e11, p[(1, k)] / 0.01);
    (PI * y).sin() * r / e + 0.3 * (3.0 * PI * y).sin() * r * r
}

fn parameters_to_a_field(samples: usize) -> Dataset {
    let p = moduli_and_radii(samples, 1);
    let u = function(41, samples, |k, y| deflection(&p, k, y));
    dataset(
        vec![("", Field::vector(p.as_ref()).unwrap())],
        vec![("", u)],
    )
}

/// A velocity, and drag of 1e-3 and lift of 10, both quadratic in it.
fn field_to_quantities(samples: usize) -> Dataset {
    let a = random(3, samples, 2);
    let f = function(41, samples, |k, x| {
        (0..3)
            .map(|j| a[(j, k)] * ((j + 1) as f64 * PI * x).cos())
            .sum()
    });
    let q = Mat::from_fn(2, samples, |i, k| match i {
        0 => 1e-3 * (1.0 + 0.3 * a[(0, k)] + 0.1 * a[(1, k)] * a[(2, k)]),
        _ => 10.0 * (a[(1, k)] + 0.2 * a[(2, k)].powi(2)),
    });
    dataset(
        vec![("", f)],
        vec![("", Field::vector(q.as_ref()).unwrap())],
    )
}

fn train_of(data: &Dataset) -> Dataset {
    data.select(&data.train_indices())
}

fn test_of(data: &Dataset) -> Dataset {
    data.select(&data.test_indices())
}

#[track_caller]
fn says(result: c2cnet::Result<impl Sized>, parts: &[&str]) {
    let message = match result {
        Ok(_) => panic!("this must fail"),
        Err(e) => e.to_string(),
    };
    for part in parts {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

fn settings(json: Value) -> FitConfig {
    serde_json::from_value(json).unwrap()
}

#[test]
fn two_parameters_to_a_field() {
    let data = parameters_to_a_field(120);
    let (model, report) = fitted(&data, json!({}));
    let errors = model.evaluate(&test_of(&data)).unwrap();
    assert!(errors.rl2e < 2e-3, "{}", errors.rl2e);
    assert!(errors.quantities.is_empty());
    assert!(
        report
            .choices
            .iter()
            .any(|c| c.to_string().contains("2 values, standardised"))
    );
    let bytes = model.to_bytes().unwrap();
    let again = C2CNet::from_bytes(&bytes).unwrap();
    let inputs = test_of(&data).inputs;
    let at = line(7);
    let predicted = model.predict(&inputs, &at).unwrap();
    assert_eq!(again.predict(&inputs, &at).unwrap(), predicted);
    assert_eq!(again.to_bytes().unwrap(), bytes);
}

/// Both quantities are learned though one is 10,000 times as large, and errors are in their own units.
#[test]
fn a_field_to_quantities_of_different_sizes() {
    let data = field_to_quantities(160);
    let (model, _) = fitted(&data, json!({}));
    let test = test_of(&data);
    let report = model.evaluate(&test).unwrap();
    let truth = test.outputs[0].1.vectors().unwrap();
    let predicted = model.predict(&test.inputs, &Points::origin()).unwrap();
    assert_eq!(report.quantities.len(), 2);
    assert_eq!((report.floor, report.withheld_rl2e), (0.0, None));
    for (i, quantity) in report.quantities.iter().enumerate() {
        assert!(quantity.rmse < 0.02 * quantity.deviation, "{quantity:?}");
        let squares = (0..truth.ncols()).map(|k| (predicted[i][(0, k)] - truth[(i, k)]).powi(2));
        let rmse = (squares.sum::<f64>() / truth.ncols() as f64).sqrt();
        assert!((rmse / quantity.rmse - 1.0).abs() < 1e-9);
    }
    let again = C2CNet::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(
        again.predict(&test.inputs, &Points::origin()).unwrap(),
        predicted
    );
}

/// Units and sizes change nothing.
#[test]
fn units_do_not_matter() {
    let data = parameters_to_a_field(60);
    let mut scaled = data.clone();
    let mut p = scaled.inputs[0].1.vectors().unwrap();
    for k in 0..p.ncols() {
        p[(0, k)] *= 1e-11;
        p[(1, k)] *= 1e2;
    }
    scaled.inputs[0].1 = Field::vector(p.as_ref()).unwrap();
    let error = |data: &Dataset| {
        let (model, _) = fitted(data, json!({}));
        model.evaluate(&test_of(data)).unwrap().rl2e
    };
    let (a, b) = (error(&data), error(&scaled));
    // Rounding differs, which the nearly singular systems of wide kernels amplify.
    assert!((a / b - 1.0).abs() < 0.05, "{a} {b}");
}

/// A load and a modulus, and the deflection beside its largest value: the map weighs a number against the
/// coefficients of a function, whatever the size of the function.
#[test]
fn parameters_beside_a_field_and_quantities_beside_another() {
    for size in [1e-4, 1.0, 1e4] {
        let samples = 160;
        let (a, p) = (random(3, samples, 3), moduli_and_radii(samples, 4));
        let load = function(31, samples, |k, x| {
            let waves = (0..3).map(|j| a[(j, k)] * ((j + 1) as f64 * PI * x).sin());
            size * waves.sum::<f64>()
        });
        let u = function(31, samples, |k, y| {
            let waves = (0..3).map(|j| {
                let m = (j + 1) as f64;
                a[(j, k)] / (m * m) * (m * PI * y).sin()
            });
            waves.sum::<f64>() * 1e11 / p[(0, k)]
        });
        let q = Mat::from_fn(1, samples, |_, k| 1e6 * a[(0, k)] * 1e11 / p[(0, k)] + 3e7);
        let data = dataset(
            vec![("", load), ("p", Field::vector(p.as_ref()).unwrap())],
            vec![("", u), ("q", Field::vector(q.as_ref()).unwrap())],
        );
        let (model, _) = fitted(&data, json!({}));
        let report = model.evaluate(&test_of(&data)).unwrap();
        let q = &report.quantities[0];
        assert_eq!((q.output.as_str(), q.column), ("q", 0));
        assert!(q.rmse < 0.03 * q.deviation, "size {size}: {q:?}");
        let test = test_of(&data);
        let predicted = &model.predict_output("", &test.inputs, &line(31)).unwrap()[0];
        let truth = function_values(&test.outputs[0].1);
        let off = (predicted - &truth).norm_l2() / truth.norm_l2();
        assert!(off < 0.03, "size {size}: {off}");
    }
}

fn function_values(field: &Field) -> Mat<f64> {
    let n = field.points_of(0).len();
    let columns: Vec<Vec<f64>> = (0..field.samples()).map(|k| field.values_of(k)).collect();
    Mat::from_fn(n, field.samples(), |i, k| columns[k][i])
}

/// An angle, a viscosity over six decades and a material: each kind helps, and a plan keeps them.
#[test]
fn kinds_of_parameters() {
    let samples = 240;
    let mut rng = rng(5);
    let p = Mat::from_fn(3, samples, |i, _| match i {
        0 => rng.random_range(-360.0..360.0),
        1 => 10f64.powf(rng.random_range(-3.0..3.0)),
        _ => [2.0, 5.0, 9.0][rng.random_range(0..3)],
    });
    let u = function(31, samples, |k, y| {
        let angle = p[(0, k)].to_radians();
        let material = [(2.0, 1.0), (5.0, -0.7), (9.0, 0.4)];
        let strength = material.iter().find(|m| m.0 == p[(2, k)]).unwrap().1;
        angle.cos() * (PI * y).sin() + p[(1, k)].ln() * y / 5.0 + strength * (1.0 + y)
    });
    let data = dataset(
        vec![("", Field::vector(p.as_ref()).unwrap())],
        vec![("", u)],
    );
    let kinds = json!([{"periodic": 360.0}, "positive", "categorical"]);
    let error = |config: Value| {
        let (model, _) = fitted(&data, config);
        model.evaluate(&test_of(&data)).unwrap().rl2e
    };
    let plain = error(json!({}));
    let known = error(json!({"input": {"kinds": kinds}}));
    assert!(known < 1e-3 && known < plain / 10.0, "{known} {plain}");

    let config = settings(json!({"input": {"kinds": kinds}, "map": {"kind": "linear"}}));
    let (planned, _) = plan(&data, &config, &Silent).unwrap();
    let text = serde_json::to_string(&planned).unwrap();
    let planned: Plan = serde_json::from_str(&text).unwrap();
    let (a, _) = fit_plan(&data, &planned, &Silent).unwrap();
    let (b, _) = fit(&data, &config, &Silent).unwrap();
    let inputs = &data.inputs;
    assert_eq!(a.encode(inputs).unwrap().nrows(), 6);
    assert_eq!(
        a.predict(inputs, &line(5)).unwrap(),
        b.predict(inputs, &line(5)).unwrap()
    );

    let with = |row: usize, value: f64| {
        let mut p = p.subcols(0, 4).to_owned();
        p[(row, 3)] = value;
        Fields::from(Field::vector(p.as_ref()).unwrap())
    };
    says(
        a.encode(&with(2, 7.0)),
        &[
            "input p",
            "sample 3 has the category 7 in column 2",
            "2, 5, 9",
        ],
    );
    says(
        a.encode(&with(1, -1.0)),
        &["input p", "sample 3 has -1 in column 1", "positive"],
    );
}

/// Quantities over six decades: with their logarithm small ones are as right as large ones.
#[test]
fn positive_quantities() {
    let samples = 160;
    let mut rng = rng(6);
    let p: Mat<f64> = Mat::from_fn(2, samples, |_, _| rng.random_range(-1.0..1.0));
    let q = Mat::from_fn(1, samples, |_, k| (7.0 * p[(0, k)] + p[(1, k)].sin()).exp());
    let data = dataset(
        vec![("", Field::vector(p.as_ref()).unwrap())],
        vec![("", Field::vector(q.as_ref()).unwrap())],
    );
    let (model, _) = fitted(&data, json!({"output": {"kinds": ["positive"]}}));
    let test = test_of(&data);
    let predicted = &model.predict(&test.inputs, &Points::origin()).unwrap()[0];
    let truth = test.outputs[0].1.vectors().unwrap();
    for k in 0..truth.ncols() {
        let relative = predicted[(0, k)] / truth[(0, k)] - 1.0;
        assert!(relative.abs() < 0.02, "sample {k}: {relative}");
    }
}

#[test]
fn constant_parameters_and_quantities_are_harmless() {
    let mut data = parameters_to_a_field(80);
    let p = data.inputs[0].1.vectors().unwrap();
    let three = Mat::from_fn(3, p.ncols(), |i, k| if i == 2 { 2.5 } else { p[(i, k)] });
    data.inputs[0].1 = Field::vector(three.as_ref()).unwrap();
    let q = Mat::from_fn(
        2,
        p.ncols(),
        |i, k| if i == 1 { 0.0 } else { 1.0 / p[(0, k)] },
    );
    data.outputs.push("q", Field::vector(q.as_ref()).unwrap());
    let (model, _) = fitted(&data, json!({}));
    let report = model.evaluate(&test_of(&data)).unwrap();
    assert!(report.rl2e < 1e-2, "{}", report.rl2e);
    assert!(report.quantities[1].rmse < 1e-12);
}

#[test]
fn several_named_vectors() {
    let data = parameters_to_a_field(80);
    let p = data.inputs[0].1.vectors().unwrap();
    let one = |i: usize| Field::vector(p.subrows(i, 1)).unwrap();
    let data = dataset(
        vec![("modulus", one(0)), ("radius", one(1))],
        vec![("", data.outputs[0].1.clone())],
    );
    let config = json!({"inputs": {"modulus": {"kinds": ["positive"]}}});
    let (model, _) = fitted(&data, config);
    let errors = model.evaluate(&test_of(&data)).unwrap();
    assert!(errors.rl2e < 5e-3, "{}", errors.rl2e);
    assert_eq!(
        model.summary().inputs[0].encoder,
        "1 value, standardised: positive (log)"
    );
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let data = field_to_quantities(80);
    let model = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| fitted(&data, json!({})).0.to_bytes().unwrap())
    };
    assert!(model(1) == model(3));
}

#[test]
fn vectors_that_cannot_be() {
    let data = train_of(&parameters_to_a_field(40));
    let attempt = |config: Value| fit(&data, &settings(config), &Silent);
    says(
        attempt(json!({"input": {"kinds": ["plain"]}})),
        &["input p", "kinds has 1 entries", "2 values per sample"],
    );
    says(
        attempt(json!({"input": {"kinds": ["plain", {"periodic": -1.0}]}})),
        &["input p", "column 1", "periodic = -1"],
    );
    says(
        attempt(json!({"input": {"kinds": ["categorical", "plain"]}})),
        &["input p", "column 0", "a category of its own"],
    );
    says(
        attempt(json!({"output": {"kinds": ["plain"]}})),
        &["output", "kinds are for vectors"],
    );
    let quantities = train_of(&field_to_quantities(40));
    let attempt = |config: Value| fit(&quantities, &settings(config), &Silent);
    says(
        attempt(json!({"output": {"kinds": ["plain", "positive"]}})),
        &["output q", "column 1", "positive"],
    );
    says(
        attempt(json!({"output": {"kinds": ["plain", "categorical"]}})),
        &["output q", "column 1", "cannot be categorical"],
    );
    says(
        attempt(json!({"input": {"basis": {"family": "single-value"}}})),
        &["single-value", "another one for a function"],
    );
    says(
        attempt(json!({"map": {"kind": "mlp", "mlp": {"loss": {"kind": "band"}}}})),
        &["a loss that weighs points", "a function"],
    );
    let (model, _) = fitted(&data, json!({"map": {"kind": "linear"}}));
    let vector = |rows: usize| Field::vector(Mat::<f64>::full(rows, 2, 1.0).as_ref()).unwrap();
    let encode = |field: Field| model.encode(&field.into());
    says(
        encode(vector(3)),
        &["input p: 3 values per sample, the model was fitted to 2"],
    );
    says(
        encode(function(5, 2, |_, x| x)),
        &["input p: a function", "without points"],
    );
    let inputs = vector(2).into();
    says(
        model.predict(&inputs, &Points::linspace(0.0, 2.0, 3)),
        &["outside"],
    );
}
