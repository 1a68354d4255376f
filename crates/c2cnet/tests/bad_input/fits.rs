//! Fits that the data do not allow.

use super::toy::{line_data, plane_data, random, scattered_data};
use super::{build_input, check, fit_says, fourier, said, scalar};
use c2cnet::data::{Bounds, Dataset, Field, Points};
use c2cnet::{FitConfig, Silent, fit};
use faer::Mat;
use serde_json::{Value, json};

#[test]
fn fits_that_cannot_be() {
    let line = line_data(12, 1);
    let (plane, own) = (plane_data(12, 2), scattered_data(12, 3));
    let mut no_outputs = line.clone();
    no_outputs.outputs = Default::default();
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
            &["1 training sample is too few", "at least 5"],
        ),
        (
            "no outputs",
            fit_says(&no_outputs, json!({})),
            &["no outputs", "`u`"],
        ),
        (
            "no training sample",
            fit_says(&no_train, json!({})),
            &["no training sample", "its sets are [\"test\"]"],
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
            &["[0.1]", "no image", "symmetries"],
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
            &["2 sides", "the points have 1 dimension"],
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
