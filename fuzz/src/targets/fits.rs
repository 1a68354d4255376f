//! Tiny fits to strange data with strange settings; what comes out can be stored and read.

use super::Target;
use crate::mutate;
use c2cnet::data::{Dataset, Field, Points, Scattered};
use c2cnet::{C2CNet, FitConfig, Observer, fit};
use faer::Mat;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Settings may ask for long trainings; a fit that does not stop when it is asked to has hung.
struct Impatient(Instant);

impl Observer for Impatient {
    fn cancelled(&self) -> bool {
        self.0.elapsed() > Duration::from_millis(500)
    }
}

pub fn targets() -> Vec<Target> {
    vec![Target {
        name: "fits",
        run: Box::new(|rng| {
            let Some(data) = data(rng) else {
                return false;
            };
            let Ok(config) = serde_json::from_value::<FitConfig>(settings(rng)) else {
                return false;
            };
            let Ok((model, report)) = fit(&data, &config, &Impatient(Instant::now())) else {
                return false;
            };
            assert!(report.validation.rl2e.is_finite(), "the fit failed");
            let bytes = model.to_bytes().expect("a model can be stored");
            let again = C2CNet::from_bytes(&bytes).expect("and read");
            let there = |model: &C2CNet| model.predict_coordinates(&data.inputs).ok();
            assert_eq!(there(&model), there(&again), "and is the same");
            true
        }),
    }]
}

fn data(rng: &mut ChaCha8Rng) -> Option<Dataset> {
    let samples = rng.random_range(3..16);
    Dataset::new(field(rng, samples)?, field(rng, samples)?).ok()
}

fn field(rng: &mut ChaCha8Rng, samples: usize) -> Option<Field> {
    let (n, dim) = (rng.random_range(1..9), rng.random_range(1..3));
    let components = if rng.random_bool(0.2) { 2 } else { 1 };
    let strange = if rng.random_bool(0.3) { 0.1 } else { 0.0 };
    let value = |rng: &mut ChaCha8Rng| match strange > 0.0 && rng.random_bool(strange) {
        true => mutate::float(rng),
        false => rng.random_range(-1.0..1.0),
    };
    let field = match rng.random_range(0..10) {
        0..6 => {
            let points = Points::new(dim, (0..n * dim).map(|_| value(rng)).collect()).ok()?;
            let mut matrix = || Mat::from_fn(n, samples, |_, _| value(rng));
            Field::shared(points, (0..components).map(|_| matrix()).collect())
        }
        6..8 => {
            let mut sample = || {
                let points = (0..n * dim).map(|_| value(rng)).collect();
                let points = Points::new(dim, points).ok()?;
                let values = (0..n * components).map(|_| value(rng)).collect();
                Some(Scattered { points, values })
            };
            let all: Option<Vec<Scattered>> = (0..samples).map(|_| sample()).collect();
            Field::per_sample(components, all?)
        }
        _ => Field::vector(Mat::from_fn(n, samples, |_, _| value(rng)).as_ref()),
    };
    field.ok()
}

/// Takes out sizes that a machine can do in an hour: to ask for an hour's work is no attack.
fn without_honest_work(settings: &mut Value) {
    match settings {
        Value::Object(fields) => fields.values_mut().for_each(without_honest_work),
        Value::Array(list) => list.iter_mut().for_each(without_honest_work),
        Value::Number(n) if n.as_u64().is_some_and(|n| (300..100_000_000).contains(&n)) => {
            *settings = json!(300);
        }
        _ => {}
    }
}

fn settings(rng: &mut ChaCha8Rng) -> Value {
    let functions = rng.random_range(1..12);
    let bases = [
        Value::Null,
        json!({"family": "fourier", "functions": functions}),
        json!({"family": "fourier", "kind": "sine", "functions": functions}),
        json!({"family": "polynomial", "functions": functions}),
        json!({"family": "random-features", "functions": functions}),
        json!({"family": "radial", "functions": functions}),
        json!({"family": "finite-elements", "functions": functions}),
        json!({"family": "point-values"}),
        json!({"family": "pca", "functions": functions}),
        json!({"family": "hybrid"}),
    ];
    let maps = [
        json!({"kind": "linear"}),
        json!({"kind": "linear"}),
        json!({"kind": "kernel"}),
        json!({"kind": "mlp", "mlp": {"steps": 3, "hidden": [3]}}),
    ];
    let mut all = json!({
        "seed": rng.random_range(0..9),
        "map": maps[rng.random_range(0..maps.len())],
        "search": {"max_functions": 12},
    });
    for side in ["input", "output"] {
        let basis = bases[rng.random_range(0..bases.len())].clone();
        if !basis.is_null() {
            all[side] = json!({ "basis": basis });
        }
    }
    if rng.random_bool(0.2) {
        mutate::json(rng, &mut all);
        without_honest_work(&mut all);
    }
    all
}
