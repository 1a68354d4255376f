//! Inputs and places that a model cannot serve.

use super::toy::{fitted, plane_data};
use super::{check, line_model, said, scalar, settings};
use c2cnet::data::{Field, Fields, Points, Scattered};
use faer::Mat;
use serde_json::json;

#[test]
fn predictions_that_cannot_be() {
    let (model, data) = line_model();
    let line = |n| Points::linspace(0.0, 1.0, n);
    let named = |field: Field| Fields::from(field);
    let predict = |inputs: &Fields, points: &Points| said(model.predict(inputs, points));
    let two = named(Field::shared(line(41), vec![Mat::zeros(41, 2), Mat::zeros(41, 2)]).unwrap());
    let plane = named(scalar(
        Points::new(2, vec![0.5; 10]).unwrap(),
        Mat::zeros(5, 2),
    ));
    let wide = named(scalar(Points::linspace(0.0, 2.0, 41), Mat::zeros(41, 2)));
    let own = named(
        Field::per_sample(
            1,
            vec![
                Scattered {
                    points: line(9),
                    values: vec![0.0; 9],
                },
                Scattered {
                    points: Points::linspace(0.0, 3.0, 9),
                    values: vec![0.0; 9],
                },
            ],
        )
        .unwrap(),
    );
    let evaluate = |output: Field| {
        let mut data = data.clone();
        data.outputs[0].1 = output;
        said(model.evaluate(&data))
    };
    let sampled = |n: usize, end: f64| {
        let all = (0..12).map(|_| Scattered {
            points: Points::linspace(0.0, end, n),
            values: vec![1.0; n],
        });
        Field::per_sample(1, all.collect()).unwrap()
    };
    let mut no_outputs = data.clone();
    no_outputs.outputs = Default::default();
    let pair = {
        let mut data = data.clone();
        data.inputs[0].0 = "f".into();
        data.inputs.push("g", data.inputs[0].1.clone());
        data
    };
    let (pair_model, _) = fitted(&pair, settings(json!({})));
    let uneven = Fields::from([
        ("f", pair.inputs[0].1.clone()),
        ("g", pair.inputs[1].1.select(&[0, 1])),
    ]);
    let renamed = Fields::from([("h", data.inputs[0].1.clone())]);
    let logged = {
        let plane = plane_data(12, 2);
        let basis = json!({"family": "polynomial", "total_degree": 3});
        let both = json!({"input": {"basis": basis, "transform": "log"}, "output": {"basis": basis}, "map": {"kind": "linear"}});
        let (model, _) = fitted(&plane, both);
        let mut values = Mat::full(81, 1, 1.0);
        values[(5, 0)] = 0.0;
        let points = plane.inputs[0].1.points_of(0).clone();
        said(model.encode(&named(scalar(points, values))))
    };
    check(&[
        (
            "input of two components",
            predict(&two, &line(3)),
            &["input", "1 component", "2 components"],
        ),
        (
            "input in the plane",
            predict(&plane, &line(3)),
            &["1 coordinate", "2 coordinates"],
        ),
        (
            "sensors outside",
            predict(&wide, &line(3)),
            &["point 21 of x", "outside [0, 1]", "'input.domain=[["],
        ),
        (
            "a sample's sensors outside",
            predict(&own, &line(3)),
            &[
                "input sample 1: point 3 of x",
                "outside [0, 1]",
                "'input.domain=[[",
            ],
        ),
        (
            "points outside",
            predict(&data.inputs, &Points::linspace(-1.0, 1.0, 5)),
            &[
                "point 0 of y = [-1]",
                "outside [0, 1]",
                "'output.domain=[[-1, 1]]'",
            ],
        ),
        (
            "points in the plane",
            predict(&data.inputs, &Points::new(2, vec![0.0; 2]).unwrap()),
            &["(n, 1)", "(1, 2)"],
        ),
        (
            "input of another name",
            predict(&renamed, &line(3)),
            &["input `f`", "\"h\""],
        ),
        (
            "no input",
            predict(&Fields::default(), &line(3)),
            &["the data has none"],
        ),
        (
            "missing second input",
            said(pair_model.encode(&pair.inputs[..1].iter().cloned().collect())),
            &["input \"g\"", "\"f\""],
        ),
        (
            "inputs of different samples",
            said(pair_model.encode(&uneven)),
            &["input \"g\"", "12 samples", "2"],
        ),
        (
            "no such output",
            said(model.predict_output("v", &data.inputs, &line(3))),
            &["no output \"v\"", "has \"\""],
        ),
        (
            "other coordinates",
            said(model.decode(Mat::zeros(99, 1).as_ref(), "", &line(3))),
            &["coordinates", "99"],
        ),
        (
            "evaluation without outputs",
            said(model.evaluate(&no_outputs)),
            &["output", "none"],
        ),
        (
            "outputs of two components",
            evaluate(
                Field::shared(line(41), vec![Mat::zeros(41, 12), Mat::zeros(41, 12)]).unwrap(),
            ),
            &["output", "1 component", "2 components"],
        ),
        (
            "outputs of fewer samples",
            evaluate(scalar(line(41), Mat::zeros(41, 3))),
            &["12 samples", "3"],
        ),
        (
            "outputs outside",
            evaluate(scalar(Points::linspace(0.0, 2.0, 5), Mat::zeros(5, 12))),
            &["point 3 of y = [1.5]", "outside [0, 1]"],
        ),
        (
            "a sample's outputs outside",
            evaluate(sampled(5, 2.0)),
            &["output sample 0: point 3 of y", "'output.domain=[["],
        ),
        (
            "log of zero",
            logged,
            &["positive values", "sample 0", "point 5"],
        ),
    ]);
    // Where nothing is asked for, nothing is predicted.
    let none = model.predict(&data.inputs, &line(0)).unwrap();
    assert_eq!(none[0].shape(), (0, 12));
}
