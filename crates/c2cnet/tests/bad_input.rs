//! Bad input is answered by an error that names what is wrong; nothing panics, no file is left.

mod toy;

use c2cnet::basis::BasisSpec;
use c2cnet::data::npz::write_npz;
use c2cnet::data::{Bounds, Dataset, Field, Points, Scattered, read_points};
use c2cnet::model_file::{Archive, FORMAT_VERSION};
use c2cnet::operator::{C2CNet, FitConfig, Silent, fit};
use faer::Mat;
use serde_json::{Value, json};
use std::fmt::Display;
use std::path::Path;
use toy::{fitted, line_data, plane_data, random, scattered_data};

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

fn line_model() -> (C2CNet, Dataset) {
    let data = line_data(12, 1);
    let (model, _) = fitted(&data, settings(json!({})));
    (model, data)
}

fn scalar(points: Points, values: Mat<f64>) -> Field {
    Field::shared(points, vec![values]).unwrap()
}

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
        ("no input", altered(&|d| d.inputs.clear()), &["no input"]),
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

#[test]
fn fits_that_cannot_be() {
    let line = line_data(12, 1);
    let (plane, own) = (plane_data(12, 2), scattered_data(12, 3));
    let mut no_outputs = line.clone();
    no_outputs.outputs.clear();
    let mut no_train = line.clone();
    no_train.split = Some(vec!["test".into(); 12]);
    let lopsided = {
        let points = Points::new(1, vec![0.0, 0.1, 0.5, 0.6, 0.7, 0.8, 1.0]).unwrap();
        let field = scalar(points, random(7, 12, 4));
        Dataset::new(field.clone(), field).unwrap()
    };
    let repeated = {
        let points = Points::new(1, vec![0.0, 0.5, 0.5, 1.0, 0.25, 0.75]).unwrap();
        let field = scalar(points, random(6, 12, 5));
        Dataset::new(field.clone(), field).unwrap()
    };
    let vector = {
        let points = Points::linspace(0.0, 1.0, 11);
        let field = Field::shared(points, vec![random(11, 12, 6), random(11, 12, 7)]).unwrap();
        Dataset::new(field.clone(), field).unwrap()
    };
    let constant = {
        let mut data = line.clone();
        data.outputs[0].1 = scalar(Points::linspace(0.0, 1.0, 41), Mat::full(41, 12, 2.0));
        data
    };
    let mut meshed = plane.clone();
    meshed.triangles = Some(vec![[0, 1, 9], [1, 10, 9]]);
    meshed.inputs[0].1 = {
        let points = Points::grid(&Bounds::new(vec![[0.0, 2.0], [0.0, 1.0]]).unwrap(), &[9, 9]);
        scalar(points, random(81, 12, 8))
    };
    let data_mesh = json!({"family": "finite-elements", "mesh": "data"});
    let invisible = json!({"family": "radial", "kernel": "wendland", "functions": 3,
        "centres": {"boxes": [{"bounds": [[0.501, 0.502], [0.501, 0.502]]}]}, "width": 1e-6});
    let input = |v: Value| json!({"input": v});
    let output = |v: Value| json!({"output": v});
    let unit = json!([[0, 1], [0, 1]]);
    let plane_basis = json!({"family": "polynomial", "total_degree": 2, "functions": null});
    let own_with = |changes: Value| {
        let mut all = json!({
            "input": {"basis": plane_basis, "domain": unit, "encoder": {"lambda": 1e-8}},
            "output": {"basis": plane_basis, "domain": unit},
        });
        for (side, entries) in changes.as_object().unwrap() {
            for (key, value) in entries.as_object().unwrap() {
                all[side][key] = value.clone();
            }
        }
        all["map"] = json!({"kind": "linear"});
        let config: Result<FitConfig, _> = serde_json::from_value(all);
        match config {
            Ok(config) => said(fit(&own, &config, &Silent)),
            Err(e) => Some(e.to_string()),
        }
    };
    check(&[
        (
            "one sample",
            fit_says(&line.select(&[0]), json!({})),
            &["1 training samples", "at least 5"],
        ),
        (
            "no outputs",
            fit_says(&no_outputs, json!({})),
            &["no outputs", "`u`"],
        ),
        (
            "no training sample",
            fit_says(&no_train, json!({})),
            &["no training sample"],
        ),
        (
            "fewer sensors than functions",
            fit_says(&line, input(json!({"basis": {"functions": 42}}))),
            &["41 observations", "42 coefficients", "`lambda`"],
        ),
        (
            "functions of point values",
            fit_says(
                &line,
                input(json!({"basis": {"family": "point-values", "functions": null}})),
            ),
            &["unknown field", "functions"],
        ),
        (
            "unknown input",
            fit_says(&line, json!({"inputs": {"g": {}}})),
            &["input \"g\"", "does not have"],
        ),
        (
            "unknown output",
            fit_says(&line, json!({"outputs": {"w": {}}})),
            &["output \"w\""],
        ),
        (
            "log of a negative",
            fit_says(&line, input(json!({"transform": "log"}))),
            &["positive values", "sample", "transform = \"none\""],
        ),
        (
            "asymmetric points",
            fit_says(&lopsided, json!({"symmetries": "interval"})),
            &["[0.1]", "no image", "symmetric"],
        ),
        (
            "square symmetries of a line",
            fit_says(&line, json!({"symmetries": "square"})),
            &["2-dimensional", "have 1"],
        ),
        (
            "symmetries of vectors",
            fit_says(&vector, json!({"symmetries": "interval"})),
            &["2 components"],
        ),
        (
            "symmetries of scattered samples",
            fit_says(&own, json!({"symmetries": "square"})),
            &["shared by all samples"],
        ),
        (
            "too many bases",
            fit_says(
                &vector,
                json!({"input": {"basis": null, "bases": [fourier(), fourier(), fourier()]}}),
            ),
            &["3 bases", "2 components"],
        ),
        (
            "basis and bases",
            fit_says(&vector, input(json!({"bases": [fourier(), fourier()]}))),
            &["not both"],
        ),
        (
            "joint basis of unequal parts",
            fit_says(
                &vector,
                json!({"output": {"basis": null, "components": "joint", "bases": [fourier(), {"family": "fourier", "functions": 4}]}}),
            ),
            &["component 1", "4 functions", "equal counts"],
        ),
        (
            "domain of other dimension",
            fit_says(&line, input(json!({"domain": [[0, 1], [0, 1]]}))),
            &["2 sides", "1 dimensions"],
        ),
        (
            "data outside the domain",
            fit_says(&line, output(json!({"domain": [[0, 0.5]]}))),
            &["outside the domain [0, 0.5]", "larger `domain`"],
        ),
        (
            "constant outputs, kernel",
            fit_says(&constant, json!({"map": {"kind": "kernel"}})),
            &["same output", "constant"],
        ),
        (
            "absolute cut above all",
            fit_says(
                &line,
                input(json!({"encoder": {"method": "svd", "cut": 1e6}})),
            ),
            &["keeps none of its 5 functions", "cut"],
        ),
        (
            "repeated sensors, point values",
            said(build_input(&repeated, json!({"family": "point-values"}))),
            &["points 1 and 2", "each point once"],
        ),
        (
            "principal directions beyond the data",
            said(build_input(
                &line,
                json!({"family": "pca", "functions": 40}),
            )),
            &["independent directions", "40"],
        ),
        (
            "triangles of other points",
            said(build_input(&meshed, data_mesh)),
            &["triangles", "very points"],
        ),
        (
            "own points, point values",
            own_with(json!({"output": {"basis": {"family": "point-values"}}})),
            &["point-values", "shared"],
        ),
        (
            "own points outside the domain",
            own_with(json!({"output": {"domain": [[0, 1], [0, 0.9]]}})),
            &["outside the domain"],
        ),
        (
            "own input points outside the domain",
            own_with(json!({"input": {"domain": [[0, 1], [0, 0.9]]}})),
            &["input sample 0", "outside the domain"],
        ),
        (
            "own points that see no function",
            own_with(json!({"output": {"basis": invisible}})),
            &["all 3 output functions are zero"],
        ),
        (
            "own points, too few",
            own_with(
                json!({"input": {"basis": {"family": "polynomial", "functions": 80}, "encoder": {}}}),
            ),
            &["input sample 0", "80 coefficients"],
        ),
    ]);
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

#[test]
fn settings_that_cannot_be() {
    let line = line_data(12, 1);
    let encoder = |v: Value| fit_says(&line, json!({"input": {"encoder": v}}));
    let kernel = |v: Value| fit_says(&line, json!({"map": {"kernel": v}}));
    let basis = |v: Value| said(serde_json::from_value::<BasisSpec>(v));
    let built = |basis: Value| said(build_input(&line, basis));
    let features = |key: &str, v: Value| {
        let mut spec = json!({"family": "random-features", "functions": 4});
        spec[key] = v;
        said(build_input(&line, spec))
    };
    check(&[
        (
            "unknown key",
            fit_says(&line, json!({"sead": 1})),
            &["unknown field `sead`", "seed"],
        ),
        (
            "unknown key of an input",
            fit_says(&line, json!({"input": {"lambda": 1}})),
            &["unknown field `lambda`"],
        ),
        (
            "unknown key of an output",
            fit_says(&line, json!({"output": {"transform": "log"}})),
            &["unknown field `transform`"],
        ),
        (
            "unknown key of an encoder",
            encoder(json!({"lamda": 1})),
            &["unknown field `lamda`"],
        ),
        (
            "unknown key of a kernel",
            kernel(json!({"lenght": 1})),
            &["unknown field `lenght`"],
        ),
        (
            "unknown key of a basis",
            basis(json!({"family": "fourier", "mods": [3]})),
            &["unknown field `mods`"],
        ),
        (
            "unknown family",
            basis(json!({"family": "wavelets"})),
            &["unknown variant `wavelets`", "random-features"],
        ),
        (
            "unknown activation",
            basis(json!({"family": "random-features", "functions": 3, "activation": "relu"})),
            &["unknown variant `relu`"],
        ),
        (
            "missing functions",
            basis(json!({"family": "radial"})),
            &["missing field `functions`"],
        ),
        (
            "unknown map",
            fit_says(&line, json!({"map": {"kind": "network"}})),
            &["unknown variant `network`"],
        ),
        (
            "reversed domain",
            fit_says(&line, json!({"input": {"domain": [[1, 0]]}})),
            &["[1, 0]", "lower <= upper"],
        ),
        (
            "degree 3",
            basis(json!({"family": "finite-elements", "degree": 3, "functions": 9})),
            &["degree = 3"],
        ),
        (
            "validation",
            fit_says(&line, json!({"validation": 0.5})),
            &["validation = 0.5"],
        ),
        (
            "withhold",
            fit_says(&line, json!({"withhold": 0.6})),
            &["withhold = 0.6"],
        ),
        (
            "output cut",
            fit_says(&line, json!({"output": {"cut": 1.0}})),
            &["cut = 1", "between 0 and 1"],
        ),
        (
            "negative lambda",
            encoder(json!({"lambda": -1})),
            &["lambda = -1", "at least 0"],
        ),
        (
            "cut of a ridge",
            encoder(json!({"cut": 0.1})),
            &["`cut`", "svd"],
        ),
        (
            "lambda of a cut-off",
            encoder(json!({"method": "svd", "lambda": 0.1})),
            &["`lambda`", "ridge"],
        ),
        (
            "two cuts",
            encoder(json!({"method": "svd", "cut": 0.1, "relative_cut": 0.1})),
            &["not both"],
        ),
        (
            "relative cut above 1",
            encoder(json!({"method": "svd", "relative_cut": 2})),
            &["relative_cut = 2", "between 0 and 1"],
        ),
        (
            "negative nugget",
            kernel(json!({"nugget": -1e-9})),
            &["nugget", "positive"],
        ),
        ("zero length", kernel(json!({"length": 0})), &["length = 0"]),
        (
            "exponent",
            kernel(json!({"exponent": 3})),
            &["exponent = 3"],
        ),
        ("passes", kernel(json!({"passes": 11})), &["passes = 11"]),
        (
            "centres",
            kernel(json!({"max_centres": 1})),
            &["max_centres = 1"],
        ),
        (
            "memory",
            kernel(json!({"memory_gib": 0})),
            &["memory_gib = 0"],
        ),
        (
            "search",
            fit_says(&line, json!({"search": {"samples": 3}})),
            &["samples = 3"],
        ),
        (
            "partitions of other dimension",
            features("partitions", json!([2, 2])),
            &["partitions = [2, 2]", "1 axes"],
        ),
        (
            "more patches than functions",
            features("partitions", json!([5])),
            &["4 functions", "[5]"],
        ),
        ("scale", features("scale", json!(0.0)), &["scale = 0"]),
        (
            "no modes",
            built(json!({"family": "fourier"})),
            &["modes", "functions"],
        ),
        (
            "zero functions",
            built(json!({"family": "polynomial", "functions": 0})),
            &["at least one function"],
        ),
        (
            "radial width",
            built(json!({"family": "radial", "functions": 4, "width": -1})),
            &["width = -1", "positive"],
        ),
    ]);
}

#[test]
fn predictions_that_cannot_be() {
    let (model, data) = line_model();
    let line = |n| Points::linspace(0.0, 1.0, n);
    let named = |field: Field| vec![(String::new(), field)];
    let predict =
        |inputs: &[(String, Field)], points: &Points| said(model.predict(inputs, 0, points));
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
    no_outputs.outputs.clear();
    let pair = {
        let mut data = data.clone();
        data.inputs[0].0 = "f".into();
        data.inputs.push(("g".into(), data.inputs[0].1.clone()));
        data
    };
    let (pair_model, _) = fitted(&pair, settings(json!({})));
    let uneven = vec![
        pair.inputs[0].clone(),
        ("g".to_string(), pair.inputs[1].1.select(&[0, 1])),
    ];
    let renamed = vec![("h".to_string(), data.inputs[0].1.clone())];
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
            &["input", "1 components", "2"],
        ),
        (
            "input in the plane",
            predict(&plane, &line(3)),
            &["(n, 1)", "(5, 2)"],
        ),
        (
            "sensors outside",
            predict(&wide, &line(3)),
            &["point 21", "outside the domain [0, 1]"],
        ),
        (
            "a sample's sensors outside",
            predict(&own, &line(3)),
            &["input sample 1", "outside the domain"],
        ),
        (
            "points outside",
            predict(&data.inputs, &Points::linspace(-1.0, 1.0, 5)),
            &["point 0 = [-1.0]", "outside the domain"],
        ),
        (
            "points in the plane",
            predict(&data.inputs, &Points::new(2, vec![0.0; 2]).unwrap()),
            &["(n, 1)", "(1, 2)"],
        ),
        (
            "input of another name",
            predict(&renamed, &line(3)),
            &["input \"\"", "\"h\""],
        ),
        ("no input", predict(&[], &line(3)), &["the data has none"]),
        (
            "missing second input",
            said(pair_model.encode(&pair.inputs[..1])),
            &["input \"g\"", "\"f\""],
        ),
        (
            "inputs of different samples",
            said(pair_model.encode(&uneven)),
            &["input \"g\"", "12 samples", "2"],
        ),
        (
            "no such output",
            said(model.predict(&data.inputs, 1, &line(3))),
            &["no output 1", "has 1"],
        ),
        (
            "other coordinates",
            said(model.decode(Mat::zeros(99, 1).as_ref(), 0, &line(3))),
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
            &["output", "1 components", "2"],
        ),
        (
            "outputs of fewer samples",
            evaluate(scalar(line(41), Mat::zeros(41, 3))),
            &["12 samples", "3"],
        ),
        (
            "outputs outside",
            evaluate(scalar(Points::linspace(0.0, 2.0, 5), Mat::zeros(5, 12))),
            &["outside the domain"],
        ),
        (
            "a sample's outputs outside",
            evaluate(sampled(5, 2.0)),
            &["output sample 0", "outside the domain"],
        ),
        (
            "log of zero",
            logged,
            &["positive values", "sample 0", "point 5"],
        ),
    ]);
    // Where nothing is asked for, nothing is predicted.
    let none = model.predict(&data.inputs, 0, &line(0)).unwrap();
    assert_eq!(none[0].shape(), (0, 12));
}

/// Copies a model file, leaving out one array and changing another.
fn altered(model: &Path, leave: &str, change: impl FnOnce(&mut Archive)) -> Option<String> {
    let from = Archive::read(model).unwrap();
    let mut to = Archive::default();
    to.document = from.document.clone();
    for (name, shape) in from.shapes().filter(|(name, _)| *name != leave) {
        match shape.len() {
            1 => to.put_vector(name, &from.vector(name).unwrap()),
            _ => to.put_matrix(name, from.matrix(name).unwrap().as_ref()),
        }
    }
    change(&mut to);
    let path = model.with_extension("altered");
    to.write(&path).unwrap();
    let message = said(C2CNet::load(&path));
    std::fs::remove_file(path).unwrap();
    message
}

#[test]
fn model_files_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let path = at("model.c2c");
    let (line, data) = line_model();
    line.save(&path).unwrap();
    let features = at("features.c2c");
    let mut random = settings(json!({"map": {"kind": "kernel", "kernel": {"passes": 0}}}));
    random["input"] =
        json!({"basis": {"family": "random-features", "functions": 6}, "transform": "standardise"});
    fitted(&data, random).0.save(&features).unwrap();

    let bytes = std::fs::read(&path).unwrap();
    let load = |bytes: &[u8]| {
        std::fs::write(at("damaged.c2c"), bytes).unwrap();
        said(C2CNet::load(&at("damaged.c2c")))
    };
    for cut in [0, 1, 7, 8, 9, 100, bytes.len() / 2, bytes.len() - 1] {
        let message = load(&bytes[..cut]).expect("a truncated file is no model");
        assert!(
            message.contains("damaged") && message.contains("fit it again"),
            "{message}"
        );
    }
    let tensors = |names: &[&str], metadata: Option<std::collections::HashMap<String, String>>| {
        let data = [0u8; 16];
        let views = names.iter().map(|n| {
            let view =
                safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![4], &data);
            (*n, view.unwrap())
        });
        safetensors::serialize(views, metadata).unwrap()
    };
    let document = |text: String| Some([("c2cnet".to_string(), text)].into());
    let this = json!({"format": FORMAT_VERSION}).to_string();
    let nan = Mat::full(3, 3, f64::NAN);
    let small = Mat::<f64>::zeros(2, 2);
    check(&[
        (
            "missing file",
            said(C2CNet::load(&at("none.c2c"))),
            &["none.c2c"],
        ),
        (
            "a folder",
            said(C2CNet::load(folder.path())),
            &["directory"],
        ),
        (
            "text",
            load(b"hello, this is not a model at all"),
            &["damaged.c2c", "not a c2cnet model"],
        ),
        (
            "longer than it says",
            load(&[&bytes[..], b"more"].concat()),
            &["damaged"],
        ),
        (
            "foreign tensors",
            load(&tensors(&["w"], None)),
            &["without c2cnet metadata"],
        ),
        (
            "metadata that is no JSON",
            load(&tensors(&[], document("{".into()))),
            &["not a c2cnet model"],
        ),
        (
            "metadata without a format",
            load(&tensors(&[], document("{}".into()))),
            &["format unknown"],
        ),
        (
            "short floats",
            load(&tensors(&["w"], document(this))),
            &["array w", "64-bit"],
        ),
        (
            "newer format",
            altered(&path, "", |a| {
                a.document["format"] = json!(FORMAT_VERSION + 1)
            }),
            &["model format 2", "format 1"],
        ),
        (
            "NaN inside",
            altered(&path, "", |a| a.put_matrix("map.weights", nan.as_ref())),
            &["map.weights", "NaN"],
        ),
        (
            "missing array",
            altered(&path, "map.weights", |_| ()),
            &["no array map.weights"],
        ),
        (
            "map of another shape",
            altered(&path, "", |a| a.put_matrix("map.weights", small.as_ref())),
            &["linear map is damaged"],
        ),
        (
            "consistent map of another size",
            altered(&path, "", |a| {
                a.put_matrix("map.weights", small.as_ref());
                a.put_vector("map.input_mean", &[0.0; 2]);
                a.put_vector("map.output_mean", &[0.0; 2]);
            }),
            &["2 coefficients to 2 coordinates", "5"],
        ),
        (
            "vector for a matrix",
            altered(&path, "", |a| a.put_vector("map.weights", &[0.0; 4])),
            &["map.weights", "a matrix was expected"],
        ),
        (
            "output space of another shape",
            altered(&path, "", |a| {
                a.put_matrix("output.0.transform.0", small.as_ref())
            }),
            &["disagrees with its basis"],
        ),
        (
            "points cut in half",
            altered(&path, "", |a| {
                a.document["outputs"][0]["decoder"]["point_dim"] = json!(2);
                a.put_vector("output.0.points", &[0.0; 3]);
            }),
            &["points", "d = 2"],
        ),
        (
            "no inputs",
            altered(&path, "", |a| a.document["inputs"] = json!([])),
            &["no inputs"],
        ),
        (
            "unknown family",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["family"] =
                    json!("wavelets")
            }),
            &["wavelets", "unknown"],
        ),
        (
            "unknown map",
            altered(&path, "", |a| a.document["map"]["kind"] = json!("network")),
            &["network", "unknown"],
        ),
        (
            "damaged settings of a basis",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["settings"]["functions"] =
                    json!("many")
            }),
            &["basis record is damaged"],
        ),
        (
            "basis of other domain",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["basis"]["bases"][0]["domain"] = json!([[1, 0]])
            }),
            &["damaged", "lower <= upper"],
        ),
        (
            "parts that are not there",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["basis"]["parts"] = json!([[7]])
            }),
            &["field basis is damaged"],
        ),
        (
            "no regularisation",
            altered(&path, "", |a| {
                a.document["inputs"][0]["encoder"]["regularisations"] = json!([])
            }),
            &["incomplete"],
        ),
        (
            "weights of other features",
            altered(&features, "", |a| {
                a.put_matrix("input.0.basis.0.weights", small.as_ref())
            }),
            &["random features disagree"],
        ),
        (
            "short statistics",
            altered(&features, "", |a| a.put_vector("input.0.mean", &[0.0; 2])),
            &["incomplete"],
        ),
        (
            "kernel centres of another shape",
            altered(&features, "", |a| {
                a.put_matrix("map.centres", small.as_ref())
            }),
            &["kernel map is damaged"],
        ),
        (
            "kernel without a pass",
            altered(&features, "", |a| {
                a.document["map"]["settings"]["passes"] = json!([])
            }),
            &["kernel map is damaged"],
        ),
    ]);
}

#[test]
fn data_files_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let line = line_data(6, 1);
    line.write_npz(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let raw = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        said(Dataset::read_npz(&path))
    };
    let arrays = |all: &[(&str, &[usize], &[f64])]| {
        write_npz(&path, |npz| {
            for (name, shape, values) in all {
                npz.put_f64(name, shape, values.iter().copied())?;
            }
            Ok(())
        })
        .unwrap();
        said(Dataset::read_npz(&path))
    };
    let (x, f): (&[f64], &[f64]) = (&[0.0, 0.5, 1.0], &[1.0; 6]);
    let counted = |counts: &[i64]| {
        write_npz(&path, |npz| {
            npz.put_f64("x", &[2, 3, 1], [0.0, 0.5, 1.0, 0.0, 0.5, 1.0])?;
            npz.put_f64("f", &[2, 3], [1.0; 6])?;
            npz.put_i64("x_count", &[counts.len()], counts.iter().copied())
        })
        .unwrap();
        said(Dataset::read_npz(&path))
    };
    let points = |text: &str| {
        std::fs::write(&path, text).unwrap();
        said(read_points(&path))
    };
    check(&[
        (
            "truncated",
            raw(&bytes[..bytes.len() / 2]),
            &["data.npz", "truncated"],
        ),
        ("empty", raw(b""), &["not an npz file"]),
        ("text", raw(b"x,f\n0,1\n"), &["not an npz file"]),
        (
            "typo",
            arrays(&[("x", &[3], x), ("ff", &[2, 3], f)]),
            &["unknown key `ff`", "known are"],
        ),
        (
            "no values",
            arrays(&[("y", &[3], x)]),
            &["no input values `f`"],
        ),
        (
            "no points",
            arrays(&[("f", &[2, 3], f)]),
            &["`f`", "points `x`"],
        ),
        (
            "other count",
            arrays(&[("x", &[3], x), ("f", &[3, 2], f)]),
            &["`x`", "(3, 2)"],
        ),
        (
            "one axis",
            arrays(&[("x", &[3], x), ("f", &[6], f)]),
            &["`f`", "(samples, points)"],
        ),
        (
            "NaN",
            arrays(&[("x", &[3], x), ("f", &[1, 3], &[0.0, f64::NAN, 0.0])]),
            &["`f`", "NaN", "sample 0, point 1"],
        ),
        (
            "other samples",
            arrays(&[
                ("x", &[3], x),
                ("f", &[2, 3], f),
                ("y", &[3], x),
                ("u", &[1, 3], x),
            ]),
            &["`u`", "1 samples", "`f` has 2"],
        ),
        ("ragged counts", counted(&[2]), &["x_count", "(2,)"]),
        (
            "counts beyond",
            counted(&[2, 4]),
            &["x_count", "4 for sample 1"],
        ),
        (
            "counts of zero",
            counted(&[0, 3]),
            &["x_count", "0 for sample 0"],
        ),
        (
            "ragged points",
            points("0,1\n2\n"),
            &["line 2 has 1 numbers"],
        ),
        (
            "points that are no numbers",
            points("0\nx\n"),
            &["line 2", "\"x\""],
        ),
    ]);
}

#[test]
fn failed_writes_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (model, data) = line_model();
    let missing = folder.path().join("no such folder").join("file");
    let taken = folder.path().join("folder");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("inside"), "kept").unwrap();
    let below_a_file = taken.join("inside").join("file");
    let old = folder.path().join("old.npz");
    std::fs::write(&old, "kept").unwrap();
    let mut wrong = data.clone();
    wrong.n_train = Some(0);
    check(&[
        (
            "model, no folder",
            said(model.save(&missing)),
            &["no such folder"],
        ),
        (
            "data, no folder",
            said(data.write_npz(&missing)),
            &["no such folder"],
        ),
        ("model over a folder", said(model.save(&taken)), &["folder"]),
        (
            "data over a folder",
            said(data.write_npz(&taken)),
            &["folder"],
        ),
        (
            "model below a file",
            said(model.save(&below_a_file)),
            &["inside"],
        ),
        ("wrong data", said(wrong.write_npz(&old)), &["n_train = 0"]),
        (
            "wrong count of values",
            said(write_npz(&old, |npz| npz.put_f64("x", &[3], [1.0]))),
            &["old.npz"],
        ),
        (
            "an array twice",
            said(write_npz(&old, |npz| {
                npz.put_f64("x", &[1], [1.0])?;
                npz.put_f64("x", &[1], [1.0])
            })),
            &["old.npz"],
        ),
        (
            "a writer that fails",
            said(write_npz(&old, |npz| {
                npz.put_f64("x", &[1], [1.0])?;
                Err(std::io::Error::other("disk full"))
            })),
            &["disk full"],
        ),
    ]);
    assert_eq!(std::fs::read(&old).unwrap(), b"kept");
    let mut names = Vec::new();
    for folder in [folder.path(), &taken] {
        for entry in std::fs::read_dir(folder).unwrap() {
            names.push(entry.unwrap().file_name().into_string().unwrap());
        }
    }
    names.sort();
    assert_eq!(names, ["folder", "inside", "old.npz"]);
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
    assert_eq!(model.map().kind(), "linear");
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
        let (f, _) = toy::line_inputs(&points, 12, 3);
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
