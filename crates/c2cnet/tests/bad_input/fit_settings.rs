//! Settings of a fit that no data allow.

use super::toy::line_data;
use super::{build_input, check, fit_says, said};
use c2cnet::basis::BasisSpec;
use serde_json::{Value, json};

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
            &[
                "`wavelets` is unknown",
                "random-features",
                "c2cnet::basis::register",
            ],
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
