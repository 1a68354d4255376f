//! Data that cannot be, and odd data that can.

use super::toy::{fitted, line_data, line_inputs};
use super::{check, said, scalar, settings};
use c2cnet::data::{Bounds, Dataset, Field, Points, Scattered};
use faer::Mat;
use serde_json::{Value, json};

#[test]
fn data_that_cannot_be() {
    let line = || Points::linspace(0.0, 1.0, 4);
    let with = |v: f64| {
        let mut values = Mat::zeros(4, 3);
        values[(2, 1)] = v;
        said(Field::shared(line(), vec![values]))
    };
    let one = |values: Vec<f64>| Scattered {
        points: line(),
        values,
    };
    let good = line_data(6, 1);
    let altered = |change: &dyn Fn(&mut Dataset)| {
        let mut data = good.clone();
        change(&mut data);
        said(data.check())
    };
    check(&[
        ("NaN value", with(f64::NAN), &["NaN", "sample 1", "point 2"]),
        ("infinite value", with(f64::INFINITY), &["inf", "sample 1"]),
        (
            "negative infinity",
            with(f64::NEG_INFINITY),
            &["-inf", "repair"],
        ),
        (
            "NaN point",
            said(Points::new(2, vec![0.0, 1.0, f64::NAN, 0.0])),
            &["point 1", "coordinate 0"],
        ),
        ("no dimension", said(Points::new(0, vec![1.0])), &["d >= 1"]),
        (
            "odd coordinates",
            said(Points::new(2, vec![1.0; 3])),
            &["3 numbers", "d = 2"],
        ),
        (
            "other count of points",
            said(Field::shared(line(), vec![Mat::zeros(5, 3)])),
            &["component 0", "4 points", "5 points"],
        ),
        (
            "components of different samples",
            said(Field::shared(
                line(),
                vec![Mat::zeros(4, 3), Mat::zeros(4, 2)],
            )),
            &["component 1", "3 samples", "2 samples"],
        ),
        (
            "no component",
            said(Field::shared(line(), vec![])),
            &["0 components"],
        ),
        (
            "no sample",
            said(Field::shared(line(), vec![Mat::zeros(4, 0)])),
            &["0 samples"],
        ),
        (
            "no point",
            said(Field::shared(
                Points::linspace(0.0, 1.0, 0),
                vec![Mat::zeros(0, 3)],
            )),
            &["0 points"],
        ),
        (
            "no scattered sample",
            said(Field::per_sample(1, vec![])),
            &["at least one sample"],
        ),
        (
            "ragged sample",
            said(Field::per_sample(
                1,
                vec![one(vec![0.0; 4]), one(vec![0.0; 3])],
            )),
            &["sample 1", "4 points", "3 values"],
        ),
        (
            "scattered sample without a point",
            said(Field::per_sample(
                1,
                vec![Scattered {
                    points: Points::linspace(0.0, 1.0, 0),
                    values: vec![],
                }],
            )),
            &["sample 0", "no point"],
        ),
        (
            "NaN in a scattered sample",
            said(Field::per_sample(
                1,
                vec![one(vec![0.0, 1.0, f64::NAN, 0.0])],
            )),
            &["sample 0", "point 2"],
        ),
        (
            "samples of other dimension",
            said(Field::per_sample(
                1,
                vec![
                    one(vec![0.0; 4]),
                    Scattered {
                        points: Points::new(2, vec![0.0; 4]).unwrap(),
                        values: vec![0.0; 2],
                    },
                ],
            )),
            &["sample 1", "dimensions"],
        ),
        (
            "reversed domain",
            said(Bounds::new(vec![[0.0, 1.0], [2.0, 1.0]])),
            &["side 1", "[2, 1]"],
        ),
        (
            "domain without sides",
            said(Bounds::new(vec![])),
            &["at least one side"],
        ),
        (
            "different samples",
            said(Dataset::new(
                scalar(line(), Mat::zeros(4, 3)),
                scalar(line(), Mat::zeros(4, 2)),
            )),
            &["output", "3 samples", "2 samples"],
        ),
        (
            "no input",
            altered(&|d| d.inputs = Default::default()),
            &["no input"],
        ),
        (
            "n_train beyond",
            altered(&|d| d.n_train = Some(7)),
            &["n_train = 7", "6"],
        ),
        (
            "n_train zero",
            altered(&|d| d.n_train = Some(0)),
            &["n_train = 0"],
        ),
        (
            "short split",
            altered(&|d| d.split = Some(vec!["train".into()])),
            &["split", "6 entries"],
        ),
        (
            "two splits",
            altered(&|d| {
                d.n_train = Some(3);
                d.split = Some(vec!["train".into(); 6]);
            }),
            &["not both"],
        ),
    ]);
}

/// Odd data that is nevertheless good.
#[test]
fn odd_data_that_fits() {
    let points = Points::linspace(0.0, 1.0, 41);
    let line = line_data(12, 1);
    let all_finite = |report: &c2cnet::operator::EvaluationReport| {
        let text = serde_json::to_string(report).unwrap();
        // JSON writes NaN as null; only the withheld errors may be missing.
        let value: Value = serde_json::from_str(&text).unwrap();
        for (key, value) in value.as_object().unwrap() {
            assert!(
                !value.is_null() || key.starts_with("withheld"),
                "{key} in {text}"
            );
        }
    };

    // Constant outputs: the linear map predicts them.
    let mut constant = line.clone();
    constant.outputs[0].1 = scalar(points.clone(), Mat::full(41, 12, 2.0));
    let (model, report) = fitted(&constant, settings(json!({"map": {"kind": "auto"}})));
    assert_eq!(model.summary().map.kind, "linear");
    assert!(report.validation.rl2e < 1e-12);
    all_finite(&report.validation);
    all_finite(&model.evaluate(&constant).unwrap());

    // Constant inputs: all that can be predicted is the mean.
    let mut same = line.clone();
    same.inputs[0].1 = scalar(points.clone(), Mat::full(41, 12, 1.0));
    let (model, report) = fitted(&same, settings(json!({"map": {"kind": "auto"}})));
    all_finite(&report.validation);
    let report = model.evaluate(&same).unwrap();
    assert!((report.rl2e - report.mean_rl2e).abs() < 1e-9);

    // Outputs that vanish: one sample, and all of them.
    for (zeros, kind) in [(1, "auto"), (1, "kernel"), (12, "auto")] {
        let mut silent = line.clone();
        let u = Mat::from_fn(41, 12, |i, k| {
            if k < zeros {
                0.0
            } else {
                line.outputs[0].1.values_of(k)[i]
            }
        });
        silent.outputs[0].1 = scalar(points.clone(), u);
        let (model, report) = fitted(&silent, settings(json!({"map": {"kind": kind}})));
        all_finite(&report.validation);
        let report = model.evaluate(&silent).unwrap();
        all_finite(&report);
        assert!(report.relative.iter().all(|e| e.is_finite()));
    }

    // Repeated sensors, with the default ridge and with a given one.
    let repeated = {
        let coords: Vec<f64> = (0..41).map(|i| (i / 2) as f64 / 20.0).collect();
        let points = Points::new(1, coords).unwrap();
        let (f, _) = line_inputs(&points, 12, 3);
        let u = Mat::from_fn(41, 12, |i, k| f[(i, k)] * 2.0 + 1.0);
        Dataset::new(scalar(points.clone(), f), scalar(points, u)).unwrap()
    };
    for encoder in [json!({}), json!({"lambda": 1e-8}), json!({"method": "svd"})] {
        let changes = json!({"input": {"encoder": encoder, "basis": {"kind": "sine"}}, "output": {"basis": {"kind": "cosine", "functions": 12}}});
        let (model, _) = fitted(&repeated, settings(changes));
        let report = model.evaluate(&repeated).unwrap();
        all_finite(&report);
        assert!(report.rl2e < 0.05, "{}", report.rl2e);
    }

    // Two samples that are the same, with every map.
    for kind in ["linear", "kernel", "auto"] {
        let mut indices: Vec<usize> = (0..12).collect();
        indices.extend([0, 0, 5]);
        let (model, _) = fitted(
            &line.select(&indices),
            settings(json!({"map": {"kind": kind}})),
        );
        all_finite(&model.evaluate(&line).unwrap());
    }

    // Fewer sensors than functions, where the encoder says how to choose among them.
    let few = settings(json!({"input": {"basis": {"functions": 60}, "encoder": {"lambda": 1e-6}}}));
    let (model, _) = fitted(&line, few);
    all_finite(&model.evaluate(&line).unwrap());

    // Nodal elements at withheld nodes: every point is needed, none is withheld.
    let mut nodal = settings(json!({"withhold": 0.5}));
    nodal["output"]["basis"] = json!({"family": "point-values"});
    let (model, report) = fitted(&line, nodal);
    assert!(report.validation.withheld_rl2e.is_none());
    assert!(model.evaluate(&line).unwrap().floor < 1e-12);
}
