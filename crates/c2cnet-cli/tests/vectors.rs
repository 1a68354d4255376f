//! Parameters in, quantities out: vectors that have no points.

mod support;

use c2cnet::internal::array_shapes;
use c2cnet::internal::write_npz;
use support::Folder;

const SAMPLES: usize = 30;
const POINTS: usize = 21;

/// Two parameters, of which the second is constant where asked.
fn parameters(constant: bool) -> Vec<f64> {
    (0..SAMPLES)
        .flat_map(|k| {
            let second = if constant { 2.5 } else { ((k * k) % 13) as f64 };
            // No two samples are the same.
            [1.0 + ((7 * k) % 11) as f64 + 1e-3 * k as f64, second]
        })
        .collect()
}

fn places() -> Vec<f64> {
    (0..POINTS).map(|i| i as f64 / 20.0).collect()
}

/// $p_1\sin\pi y + p_2 y(1 - y)$.
fn field(p: &[f64]) -> Vec<f64> {
    let at = |p: &[f64], y: f64| p[0] * (std::f64::consts::PI * y).sin() + p[1] * y * (1.0 - y);
    p.chunks(2)
        .flat_map(|p| places().into_iter().map(|y| at(p, y)).collect::<Vec<_>>())
        .collect()
}

/// Sum and product of the parameters: quantities of different sizes.
fn quantities(p: &[f64]) -> Vec<f64> {
    p.chunks(2)
        .flat_map(|p| [p[0] + p[1], 1e4 * (p[0] - p[1])])
        .collect()
}

/// Parameters `p` to the field `u`, and quantities `q` beside it where asked.
fn write(folder: &Folder, name: &str, with_quantities: bool, constant: bool) {
    let p = parameters(constant);
    write_npz(&folder.path(name), |npz| {
        npz.put_f64("p", &[SAMPLES, 2], p.iter().copied())?;
        npz.put_f64("y", &[POINTS], places())?;
        npz.put_f64("u", &[SAMPLES, POINTS], field(&p))?;
        if with_quantities {
            npz.put_f64("q", &[SAMPLES, 2], quantities(&p))?;
        }
        npz.put_i64("n_train", &[], [24])
    })
    .unwrap();
}

/// With a basis named for functions; vectors need none.
fn fit(folder: &Folder, data: &str, basis: [&str; 2]) {
    let fit = ["fit", data, "-o", "model.c2c", "--set", "map.kind=linear"];
    folder.succeed(&[&fit[..], &basis].concat());
}

const OUTPUT_BASIS: [&str; 2] = ["--output-basis", "family='polynomial', functions=12"];

#[test]
fn parameters_to_a_field() {
    let folder = Folder::new();
    write(&folder, "data.npz", false, false);
    fit(&folder, "data.npz", OUTPUT_BASIS);
    let test = folder.succeed_json(&["evaluate", "model.c2c", "data.npz", "--json"]);
    assert!(test["rl2e"].as_f64().unwrap() < 1e-6, "{test}");

    // New parameters need neither points nor outputs.
    write_npz(&folder.path("new.npz"), |npz| {
        npz.put_f64("p", &[3, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    })
    .unwrap();
    std::fs::write(folder.path("points.csv"), "0.25\n0.5\n").unwrap();
    let predict = ["predict", "model.c2c", "new.npz", "-o", "new-u.npz"];
    folder.succeed(&[&predict[..], &["--at", "points.csv"]].concat());
    let shapes = array_shapes(&folder.path("new-u.npz")).unwrap();
    assert_eq!(shapes, [("y".into(), vec![2, 1]), ("u".into(), vec![3, 2])]);
    let inspected = folder.succeed_json(&["inspect", "model.c2c", "--json"]);
    assert_eq!(inspected["inputs"][0]["vector"], true);
    assert_eq!(inspected["outputs"][0]["vector"], false);
    folder.succeed(&["evaluate", "model.c2c", "data.npz", "--figure", "s.svg"]);
    let svg = std::fs::read_to_string(folder.path("s.svg")).unwrap();
    assert_eq!(
        svg.matches(", p = (").count(),
        3,
        "parameters of each sample"
    );
    folder.succeed(&["plot", "data.npz", "-o", "sample.svg"]);
    let svg = std::fs::read_to_string(folder.path("sample.svg")).unwrap();
    assert!(svg.contains("p = (1.000, 0)"), "the parameters are named");
}

#[test]
fn quantities_out_alone_and_beside_a_field() {
    let folder = Folder::new();
    write(&folder, "both.npz", true, false);
    let config = "map.kind = 'linear'\ninput.kinds = ['plain', 'plain']\n\
                  output.basis = { family = 'polynomial', functions = 12 }\n";
    std::fs::write(folder.path("fit.toml"), config).unwrap();
    let fit_both = ["fit", "both.npz", "-o", "both.c2c", "--config", "fit.toml"];
    folder.succeed(&fit_both);
    folder.succeed(&["predict", "both.c2c", "both.npz", "-o", "both-u.npz"]);
    let shapes = array_shapes(&folder.path("both-u.npz")).unwrap();
    let expected = [
        ("y".into(), vec![POINTS, 1]),
        ("u".into(), vec![SAMPLES, POINTS]),
        ("q".into(), vec![SAMPLES, 2]),
    ];
    assert_eq!(shapes, expected);
    let text = folder.succeed(&["inspect", "both-u.npz"]);
    assert!(
        text.contains("outputs u at points y, quantities q"),
        "{text}"
    );

    let p = parameters(false);
    write_npz(&folder.path("alone.npz"), |npz| {
        npz.put_f64("x", &[POINTS], places())?;
        npz.put_f64("f", &[SAMPLES, POINTS], field(&p))?;
        npz.put_f64("q", &[SAMPLES, 2], quantities(&p))
    })
    .unwrap();
    let basis = ["--input-basis", "family='polynomial', functions=8"];
    fit(&folder, "alone.npz", basis);
    let said = folder.succeed(&["predict", "model.c2c", "alone.npz", "-o", "alone-q.npz"]);
    assert!(said.ends_with("30 samples\n"), "{said}");
    let shapes = array_shapes(&folder.path("alone-q.npz")).unwrap();
    assert_eq!(shapes, [("q".into(), vec![SAMPLES, 2])]);
    let text = folder.succeed(&["inspect", "model.c2c"]);
    assert!(text.contains("2 values, standardised"), "{text}");
    let text = folder.succeed(&["evaluate", "model.c2c", "alone.npz"]);
    for part in ["q[0]", "q[1]", "whose standard deviation is"] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    let test = folder.succeed_json(&["evaluate", "model.c2c", "alone.npz", "--json"]);
    assert_eq!(test["quantities"][1]["column"], 1);
    assert!(
        test["quantities"][1]["rmse"].as_f64().unwrap() < 1.0,
        "{test}"
    );
    folder.succeed(&["evaluate", "model.c2c", "alone.npz", "--figure", "q.svg"]);
    let svg = std::fs::read_to_string(folder.path("q.svg")).unwrap();
    for part in ["q[0]", "q[1]", ">truth<", ">prediction<"] {
        assert!(svg.contains(part), "no {part} in the picture of quantities");
    }
}

#[test]
fn inspect_shows_vectors_and_warns_of_constant_ones() {
    let folder = Folder::new();
    write(&folder, "data.npz", true, true);
    let text = folder.succeed(&["inspect", "data.npz"]);
    for part in [
        "input p",
        "output u",
        "output q",
        "none",
        "input p: column 1 is 2.5 in every sample",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    let object = folder.succeed_json(&["inspect", "data.npz", "--json"]);
    let p = &object["fields"][0];
    assert_eq!((&p["vector"], &p["points"]), (&true.into(), &().into()));
    assert_eq!(p["components"].as_array().unwrap().len(), 2);
    assert_eq!(object["fields"][2]["name"], "q");
}

#[test]
fn inputs_of_another_kind_or_width_are_refused() {
    let folder = Folder::new();
    write(&folder, "data.npz", false, false);
    fit(&folder, "data.npz", OUTPUT_BASIS);
    let predict = ["predict", "model.c2c", "new.npz", "-o", "u.npz"];
    write_npz(&folder.path("new.npz"), |npz| {
        npz.put_f64("p", &[2, 3], [0.0; 6])
    })
    .unwrap();
    let wide = "input p: 3 values per sample, the model was fitted to 2";
    folder.fail(&predict, 3, &[wide]);
    write_npz(&folder.path("new.npz"), |npz| {
        npz.put_f64("x", &[2], [0.0, 1.0])?;
        npz.put_f64("f", &[2, 2], [0.0; 4])
    })
    .unwrap();
    folder.fail(&predict, 3, &["input p: a function", "without points"]);
    let alone = folder.path("alone.npz");
    write_npz(&alone, |npz| npz.put_f64("p", &[2, 3], [0.0; 6])).unwrap();
    folder.fail(&["plot", "alone.npz"], 3, &["only vectors", "inspect"]);
}
