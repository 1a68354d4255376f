//! Bad input is answered by an error that names what is wrong; nothing panics, no file is left.

mod data;
mod data_files;
mod fit_settings;
mod fits;
mod model_claims;
mod model_files;
mod predictions;
#[path = "../toy/mod.rs"]
mod toy;
mod writes;

use c2cnet::data::{Dataset, Field, Points};
use c2cnet::{C2CNet, FitConfig, Silent, fit};
use faer::Mat;
use serde_json::{Value, json};
use std::fmt::Display;
use toy::{fitted, line_data};

/// A name, what came of it (`None`: no error), and words that the message must have.
type Case<'a> = (&'a str, Option<String>, &'a [&'a str]);

fn said<T, E: Display>(result: Result<T, E>) -> Option<String> {
    result.err().map(|e| e.to_string())
}

fn check(cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (name, message, words) in cases {
        match message {
            None => wrong.push(format!("{name}: no error")),
            Some(m) => {
                for word in words.iter().filter(|w| !m.contains(**w)) {
                    wrong.push(format!("{name}: no {word:?} in {m:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn fourier() -> Value {
    json!({"family": "fourier", "functions": 5})
}

/// Settings with Fourier bases and a linear map, and `changes` merged over them.
fn settings(changes: Value) -> Value {
    fn merge(to: &mut Value, from: Value) {
        match from {
            Value::Object(entries) if to.is_object() => {
                for (key, value) in entries {
                    merge(&mut to[key], value);
                }
            }
            other => *to = other,
        }
    }
    let mut all = json!({
        "input": {"basis": fourier(), "transform": "none"},
        "output": {"basis": fourier()},
        "map": {"kind": "linear"},
    });
    merge(&mut all, changes);
    all
}

fn fit_says(data: &Dataset, changes: Value) -> Option<String> {
    match serde_json::from_value::<FitConfig>(settings(changes)) {
        Ok(config) => said(fit(data, &config, &Silent)),
        Err(e) => Some(e.to_string()),
    }
}

/// The input basis alone, as a fit builds it.
fn build_input(data: &Dataset, basis: Value) -> c2cnet::Result<()> {
    let config: FitConfig = serde_json::from_value(json!({
        "input": {"basis": basis, "transform": "none", "encoder": {"lambda": 1e-8}},
        "output": {"basis": {"family": "polynomial", "functions": 2}},
        "map": {"kind": "linear"},
    }))
    .unwrap();
    fit(data, &config, &Silent).map(|_| ())
}

fn line_model() -> (C2CNet, Dataset) {
    let data = line_data(12, 1);
    let (model, _) = fitted(&data, settings(json!({})));
    (model, data)
}

fn scalar(points: Points, values: Mat<f64>) -> Field {
    Field::shared(points, vec![values]).unwrap()
}
