//! Training compared with PyTorch, from the same weights; its losses come from `bench/training/reference.py`.

use super::super::engine::Samples;
use super::super::objective::{Frame, Objective, OutputData};
use super::super::scalar::Scalar;
use super::super::state::State;
use super::super::steps;
use super::super::train::{Plan, Stage, Training, train};
use super::*;
use crate::map::mlp::{Network, Optimiser, OptimiserKind, Schedule};
use serde_json::Value;

fn rows(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

/// One column per row of the file: samples, or points.
fn columns(value: &Value) -> Mat<f64> {
    let rows = rows(value);
    Mat::from_fn(rows[0].len(), rows.len(), |i, k| rows[k][i])
}

/// Weights column by column, then the bias, for each layer.
fn flat<T: Scalar>(value: &Value) -> Vec<T> {
    let mut all = Vec::new();
    for layer in value.as_array().unwrap().chunks(2) {
        let weights = rows(&layer[0]);
        let bias: Vec<f64> = serde_json::from_value(layer[1].clone()).unwrap();
        for j in 0..weights[0].len() {
            all.extend(weights.iter().map(|row| T::from_f64(row[j])));
        }
        all.extend(bias.into_iter().map(T::from_f64));
    }
    all
}

fn loss(case: &Value) -> Loss {
    let (delta, inside, outside, epsilon) = (0.1, 20.0, 1.0, 1e-12);
    match case["loss"].as_str().unwrap() {
        "relative" => Loss::Relative { epsilon },
        "mean-square" => Loss::MeanSquare,
        "band" => Loss::Band {
            delta,
            inside,
            outside,
        },
        _ => Loss::Weighted {
            alpha: 0.8,
            delta,
            inside,
            outside,
            epsilon,
        },
    }
}

/// The largest relative difference of the losses of all steps.
fn difference<T: Scalar>(file: &Value, case: &Value, theirs: &[f64]) -> f64 {
    let problem = Problem::from(
        columns(&file["inputs"]),
        columns(&file["psi"]).transpose().to_owned(),
        columns(&file["u"]),
    );
    let data = OutputData::Shared {
        coordinates: problem.targets.coordinates.as_ref(),
        outside_squared: &problem.targets.outside_squared,
        norm_squared: &problem.targets.norm_squared,
        count: problem.u.nrows(),
        field: Some((problem.q.as_ref(), problem.u.as_ref())),
    };
    let all: Vec<usize> = (0..problem.samples()).collect();
    let objective = Objective::new(&data, &all, &Frame::IDENTITY, Some(problem.r.as_ref()));
    let samples = Samples::<T>::new(problem.a.as_ref(), objective);
    let widths: Vec<usize> = serde_json::from_value(file["widths"].clone()).unwrap();
    let activation = serde_json::from_value(case["activation"].clone()).unwrap();
    let network = Network::new(widths, activation).unwrap();
    let steps = file["schedule_steps"].as_u64().unwrap() as usize;
    let plan = Plan {
        stages: vec![Stage {
            loss: loss(case),
            optimiser: Optimiser {
                kind: match case["optimiser"].as_str().unwrap() {
                    "adam" => OptimiserKind::Adam,
                    _ => OptimiserKind::AdamW,
                },
                weight_decay: case["weight_decay"].as_f64().unwrap(),
                ..Optimiser::default()
            },
            schedule: match case["schedule"].as_str().unwrap() {
                "paper" => Schedule::Paper,
                _ => Schedule::Constant,
            },
            rate: case["rate"].as_f64().unwrap(),
            steps,
            batch: None,
        }],
        seed: 0,
        shards: 2,
        clip: case["clip"].as_f64(),
        evaluations: steps,
    };
    let mut state = State::new(flat::<T>(&file["parameters"]));
    let training = Training {
        plan: &plan,
        samples: samples.len(),
        begin: steps::of_network(&network, &samples, None),
        mark: "",
    };
    train(training, &mut state, &Silent).unwrap();
    let ours = state.cursor.history.iter().map(|m| m.loss);
    ours.zip(theirs)
        .map(|(o, t)| (o - t).abs() / t)
        .fold(0.0, f64::max)
}

#[test]
fn losses_are_those_of_pytorch() {
    let file: Value = serde_json::from_str(include_str!("pytorch.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let theirs =
            |name: &str| -> Vec<f64> { serde_json::from_value(case[name].clone()).unwrap() };
        let (double, single) = (theirs("f64"), theirs("f32"));
        assert_eq!((double.len(), single.len()), (200, 50));
        let off = difference::<f64>(&file, case, &double);
        let off32 = difference::<f32>(&file, case, &single);
        let name = format!(
            "{} {} {} {}",
            case["activation"], case["loss"], case["optimiser"], case["schedule"]
        );
        println!("{name}: {off:.1e} in f64, {off32:.1e} in f32");
        assert!(off < 1e-9, "{name}: {off:e} in f64");
        assert!(off32 < 1e-5, "{name}: {off32:e} in f32");
    }
}
