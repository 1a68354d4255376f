//! Data as people bring it: what is said of it, and that nothing of it is lost.

mod support;

use c2cnet::data::{Dataset, Points};
use c2cnet::internal::array_shapes;
use c2cnet::internal::write_npz;
use support::Folder;

const SAMPLES: usize = 40;
const POINTS: usize = 32;

/// Phases and sizes of two waves on a ring.
fn wave(k: usize, x: f64) -> f64 {
    let tau = std::f64::consts::TAU;
    (tau * x + k as f64).sin() + 0.5 * (2.0 * tau * x + (k * k) as f64).cos()
}

fn ring() -> Vec<f64> {
    (0..POINTS).map(|i| i as f64 / POINTS as f64).collect()
}

fn values(f: impl Fn(usize, f64) -> Vec<f64>) -> Vec<f64> {
    let samples = (0..SAMPLES).flat_map(|k| ring().into_iter().map(move |x| (k, x)));
    samples.flat_map(|(k, x)| f(k, x)).collect()
}

/// A wave, and the same moved, with its square in another unit beside it.
fn write(folder: &Folder, name: &str, n_train: Option<i64>, repeated: bool) {
    let sample = |k: usize| if repeated { k % 30 } else { k };
    write_npz(&folder.path(name), |npz| {
        npz.put_f64("x", &[POINTS], ring())?;
        npz.put_f64(
            "f",
            &[SAMPLES, POINTS],
            values(|k, x| vec![wave(sample(k), x)]),
        )?;
        npz.put_f64("y", &[POINTS], ring())?;
        let both = |k, x| {
            let moved = wave(sample(k), x + 0.1);
            vec![moved, 1e6 * moved * moved]
        };
        npz.put_f64("u", &[SAMPLES, POINTS, 2], values(both))?;
        n_train.map_or(Ok(()), |n| npz.put_i64("n_train", &[], [n]))
    })
    .unwrap();
}

#[test]
fn components_are_judged_each_and_rings_are_told() {
    let folder = Folder::new();
    write(&folder, "data.npz", Some(30), false);
    let told = folder.succeed(&["inspect", "data.npz"]);
    assert!(told.contains("periodic along axis 0, period 1"), "{told}");
    let told = folder.succeed(&["fit", "data.npz", "-o", "model.c2c", "--map", "linear"]);
    assert!(told.contains("components count equally"), "{told}");
    assert!(
        told.contains("\n  input and output domain: periodic along axis 0 with period 1, the grid"),
        "{told}"
    );
    let table = folder.succeed(&["evaluate", "model.c2c", "data.npz"]);
    assert!(table.contains("u[0]") && table.contains("u[1]"), "{table}");
    let test = folder.succeed_json(&["evaluate", "model.c2c", "data.npz", "--json"]);
    let own = &test["outputs"][0]["components"];
    assert!(own[0]["rl2e"].as_f64().unwrap() < 0.05, "{own}");
    let rms = own[1]["rms"].as_f64().unwrap();
    assert!(rms > 1e5, "in the units of the data: {own}");
    // One step beyond the last point, and a whole turn further.
    std::fs::write(folder.path("at.csv"), "0.99\n1.99\n-0.01\n").unwrap();
    folder.succeed(&[
        "predict",
        "model.c2c",
        "data.npz",
        "--at",
        "at.csv",
        "-o",
        "p.npz",
    ]);
    let walls = ["--set", "output.periodic=[false]", "--map", "linear"];
    folder.succeed(&[&["fit", "data.npz", "-o", "walls.c2c"], &walls[..]].concat());
    let beyond = [
        "predict",
        "walls.c2c",
        "data.npz",
        "--at",
        "at.csv",
        "-o",
        "q.npz",
    ];
    let setting = "--set 'output.domain=[[-0.01, 2]]'";
    folder.fail(
        &beyond,
        3,
        &[
            "at.csv: point 0 of y = [0.99] lies outside [0, 0.9688]",
            setting,
        ],
    );
}

#[test]
fn what_trained_is_said_first_and_a_fraction_can_be_set_apart() {
    let folder = Folder::new();
    write(&folder, "data.npz", None, false);
    let fit = ["fit", "data.npz", "-o", "model.c2c", "--map", "linear"];
    folder.succeed(&fit);
    let told = folder.succeed(&["evaluate", "model.c2c", "data.npz"]);
    assert!(
        told.starts_with("The model was fitted to these samples"),
        "{told}"
    );
    assert!(told.contains("--test-fraction"), "{told}");
    folder.succeed(&[&fit[..], &["--test-fraction", "0.25"]].concat());
    let test = folder.succeed_json(&["evaluate", "model.c2c", "data.npz", "--json"]);
    assert_eq!(
        (&test["on"], &test["n_samples"]),
        (&"test".into(), &10.into())
    );
    folder.fail(
        &[&fit[..], &["--test-fraction", "1.5"]].concat(),
        2,
        &["a test fraction of 1.5", "between 0 and 1"],
    );
    write(&folder, "data.npz", Some(30), false);
    let again = [&fit[..], &["--test-fraction", "0.25"]].concat();
    folder.fail(&again, 3, &["n_train", "omit the fraction"]);
}

#[test]
fn test_samples_from_the_training_file_are_noticed() {
    let folder = Folder::new();
    write(&folder, "data.npz", None, false);
    let all = Dataset::read_npz(&folder.path("data.npz")).unwrap();
    let part = |name: &str, samples: std::ops::Range<usize>| {
        let part = all.select(&samples.collect::<Vec<_>>());
        part.write_npz(&folder.path(name)).unwrap();
    };
    part("train.npz", 0..25);
    part("test.npz", 20..40);
    part("new.npz", 25..40);
    let fit = ["fit", "train.npz", "-o", "model.c2c", "--map", "linear"];
    folder.succeed(&fit);
    let told = folder.succeed(&["evaluate", "model.c2c", "test.npz"]);
    assert!(
        told.starts_with("5 of 20 samples were in the training set: their errors say nothing"),
        "{told}"
    );
    let json = folder.succeed_json(&["evaluate", "model.c2c", "test.npz", "--json"]);
    assert_eq!(json["in_training"], 5);
    let told = folder.succeed(&["evaluate", "model.c2c", "new.npz"]);
    assert!(!told.contains("training set:"), "{told}");
    folder.succeed(&["report", "model.c2c", "test.npz"]);
    let page = std::fs::read_to_string(folder.path("model.html")).unwrap();
    assert!(page.contains("5 of 20 samples were in the training set"));
}

#[test]
fn repeated_samples_and_known_test_samples_are_named() {
    let folder = Folder::new();
    write(&folder, "data.npz", Some(35), true);
    let told = folder.succeed(&["inspect", "data.npz"]);
    assert!(told.contains("5 training samples repeat others"), "{told}");
    assert!(
        told.contains("5 test samples have the same inputs as training samples"),
        "{told}"
    );
    let fit = [
        "fit",
        "data.npz",
        "-o",
        "model.c2c",
        "--map",
        "linear",
        "--json",
    ];
    let out = folder.command(&fit).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(
        out.status.success() && said.contains("sample 30 repeats sample 0"),
        "{said}"
    );
}

#[test]
fn a_fit_that_learned_nothing_says_so() {
    let folder = Folder::new();
    // No wave of one sample has anything to do with that of another.
    let mixed = |k: usize| (17 * k + 5) % SAMPLES;
    write_npz(&folder.path("data.npz"), |npz| {
        npz.put_f64("x", &[POINTS], ring())?;
        npz.put_f64("f", &[SAMPLES, POINTS], values(|k, x| vec![wave(k, x)]))?;
        npz.put_f64("y", &[POINTS], ring())?;
        let u = values(|k, x| vec![wave(mixed(k), x)]);
        npz.put_f64("u", &[SAMPLES, POINTS], u)
    })
    .unwrap();
    let fit = ["fit", "data.npz", "-o", "model.c2c", "--map", "linear"];
    for more in [&[][..], &["--force", "--json"]] {
        let out = folder.command(&[&fit[..], more].concat()).output().unwrap();
        assert!(out.status.success(), "{out:?}");
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(
            said.starts_with("note: ") && said.lines().count() == 1,
            "{said}"
        );
        assert!(
            said.contains("are inputs and outputs in the same order?"),
            "{said}"
        );
    }
}

#[test]
fn grids_and_complex_values_go_through() {
    let folder = Folder::new();
    let (n, m, samples) = (8, 6, 30);
    let axis = |n: usize| (0..n).map(move |i| i as f64 / (n - 1) as f64);
    let at = |k: usize| {
        axis(n).flat_map(move |x| {
            axis(m).flat_map(move |y| {
                let phase = 2.0 * x + y + k as f64;
                [phase.cos() * (1.0 + 0.1 * k as f64), phase.sin()]
            })
        })
    };
    write_npz(&folder.path("data.npz"), |npz| {
        for (key, count) in [("x0", n), ("x1", m), ("y0", n), ("y1", m)] {
            npz.put_f64(key, &[count], axis(count))?;
        }
        npz.put_complex("f", &[samples, n, m], (0..samples).flat_map(at))?;
        npz.put_complex("u", &[samples, n, m], (0..samples).flat_map(at))?;
        npz.put_i64("n_train", &[], [24])
    })
    .unwrap();
    folder.succeed(&["fit", "data.npz", "-o", "model.c2c", "--map", "linear"]);
    let table = folder.succeed(&["evaluate", "model.c2c", "data.npz"]);
    assert!(
        table.contains("Re u ") && table.contains("Im u "),
        "{table}"
    );
    assert!(!table.contains("u[0]"), "{table}");
    let label = [
        "evaluate",
        "model.c2c",
        "data.npz",
        "--figure",
        "p.svg",
        "--label",
    ];
    folder.fail(&[&label[..], &["y=a"]].concat(), 2, &["1 name for 2 axes"]);
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "p.npz"]);
    let shapes = array_shapes(&folder.path("p.npz")).unwrap();
    assert_eq!(
        shapes,
        [
            ("y".into(), vec![n, m, 2]),
            ("u".into(), vec![samples, n, m])
        ]
    );
    let test = folder.succeed_json(&["evaluate", "model.c2c", "data.npz", "--json"]);
    assert!(test["rl2e"].as_f64().unwrap() < 1e-3, "{test}");
}

#[test]
fn readings_that_are_missing_are_no_readings_when_asked() {
    let folder = Folder::new();
    let gap = |k: usize, v: f64| if k.is_multiple_of(7) { f64::NAN } else { v };
    write_npz(&folder.path("gaps.npz"), |npz| {
        npz.put_f64("x", &[POINTS], ring())?;
        let f = values(|k, x| vec![wave(k, x)]);
        let f = f.iter().enumerate().map(|(i, v)| gap(i, *v));
        npz.put_f64("f", &[SAMPLES, POINTS], f)?;
        npz.put_f64("y", &[POINTS], ring())?;
        let u = values(|k, x| vec![wave(k, x + 0.1)]);
        let u = u.iter().enumerate().map(|(i, v)| gap(i + 3, *v));
        npz.put_f64("u", &[SAMPLES, POINTS], u)
    })
    .unwrap();
    let fit = ["fit", "gaps.npz", "-o", "gaps.c2c", "--map", "linear"];
    folder.fail(&fit, 3, &["NaN at sample 0, point 0", "--missing nan"]);
    folder.succeed(&[&fit[..], &["--missing", "nan"]].concat());
    let evaluate = [
        "evaluate",
        "gaps.c2c",
        "gaps.npz",
        "--missing",
        "nan",
        "--json",
    ];
    assert!(folder.succeed_json(&evaluate)["rl2e"].as_f64().unwrap() < 0.1);
    // Predictions fill the gaps: at all points, from the same file and from inputs alone, whose points the model knows.
    write_npz(&folder.path("inputs.npz"), |npz| {
        let f = values(|k, x| vec![wave(k, x)]);
        let f = f.iter().enumerate().map(|(i, v)| gap(i, *v));
        npz.put_f64("f", &[SAMPLES, POINTS], f)
    })
    .unwrap();
    for input in ["gaps.npz", "inputs.npz"] {
        let missing = ["--missing", "nan", "--force", "-o", "filled.npz"];
        folder.succeed(&[&["predict", "gaps.c2c", input][..], &missing].concat());
        let filled = Dataset::read_prediction(&folder.path("filled.npz")).unwrap();
        let points = filled.outputs[0].1.shared_points().map(Points::len);
        assert_eq!(points, Some(POINTS), "{input}");
    }
}

#[test]
fn predictions_need_the_inputs_alone_and_strange_ones_are_named() {
    let folder = Folder::new();
    write(&folder, "data.npz", Some(30), false);
    folder.succeed(&["fit", "data.npz", "-o", "model.c2c", "--map", "linear"]);
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "whole.npz"]);
    let data = Dataset::read_npz(&folder.path("data.npz")).unwrap();
    let f = &data.inputs[0].1;
    let (samples, n) = (f.samples(), f.points_of(0).len());
    let alone = |name: &str, factor: f64| {
        let values = (0..samples).flat_map(|k| f.values_of(k));
        let values = values.map(|v| factor * v).collect::<Vec<_>>();
        let shape = [samples, n, f.components()];
        assert_eq!(f.components(), 1);
        write_npz(&folder.path(name), |npz| npz.put_f64("f", &shape, values)).unwrap();
        let predict = folder.command(&["predict", "model.c2c", name, "-o", "alone.npz"]);
        let out = { predict }.output().unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    assert_eq!(alone("f.npz", 1.0), "");
    let values = |name| {
        let prediction = Dataset::read_prediction(&folder.path(name)).unwrap();
        prediction.outputs[0].1.values_of(3)
    };
    assert_eq!(values("alone.npz"), values("whole.npz"));
    let said = alone("large.npz", 1000.0);
    assert!(
        said.contains("input of sample 0 is") && said.contains("extrapolated"),
        "{said}"
    );
}

#[test]
fn a_model_knows_its_input_points_where_it_is_judged() {
    let folder = Folder::new();
    write(&folder, "data.npz", Some(30), false);
    folder.succeed(&["fit", "data.npz", "-o", "model.c2c", "--map", "linear"]);
    write_npz(&folder.path("few.npz"), |npz| {
        npz.put_f64("f", &[SAMPLES, POINTS], values(|k, x| vec![wave(k, x)]))?;
        npz.put_f64("y", &[POINTS], ring())?;
        let both = |k, x| {
            let moved = wave(k, x + 0.1);
            vec![moved, 1e6 * moved * moved]
        };
        npz.put_f64("u", &[SAMPLES, POINTS, 2], values(both))?;
        npz.put_i64("n_train", &[], [30])
    })
    .unwrap();
    let error = |name: &[&str]| {
        let evaluate = [&["evaluate", "model.c2c"], name, &["--json"]].concat();
        folder.succeed_json(&evaluate)["rl2e"].clone()
    };
    assert_eq!(error(&["few.npz"]), error(&["data.npz"]));
    assert_eq!(error(&["few.npz", "few.npz"]), error(&["data.npz"; 2]));
    folder.succeed(&["report", "model.c2c", "few.npz", "-o", "page.html"]);
    let fit = ["fit", "few.npz", "-o", "other.c2c"];
    folder.fail(&fit, 4, &["`f` needs its points `x`"]);
}

#[test]
fn outputs_that_are_not_numbers_do_not_hinder_predictions() {
    let folder = Folder::new();
    write(&folder, "data.npz", Some(30), false);
    folder.succeed(&["fit", "data.npz", "-o", "model.c2c", "--map", "linear"]);
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "whole.npz"]);
    write_npz(&folder.path("nan.npz"), |npz| {
        npz.put_f64("x", &[POINTS], ring())?;
        npz.put_f64("f", &[SAMPLES, POINTS], values(|k, x| vec![wave(k, x)]))?;
        npz.put_f64("y", &[POINTS], ring())?;
        npz.put_f64("u", &[SAMPLES, POINTS, 2], values(|_, _| vec![f64::NAN; 2]))
    })
    .unwrap();
    folder.succeed(&["predict", "model.c2c", "nan.npz", "-o", "nan_too.npz"]);
    let predicted = |name: &str| {
        let data = Dataset::read_prediction(&folder.path(name)).unwrap();
        data.outputs[0].1.values_of(7)
    };
    assert_eq!(predicted("nan_too.npz"), predicted("whole.npz"));
    folder.fail(&["evaluate", "model.c2c", "nan.npz"], 3, &["NaN"]);
}

#[test]
fn predictions_in_every_format_can_be_looked_at() {
    let folder = Folder::new();
    write(&folder, "data.npz", Some(30), false);
    folder.succeed(&["fit", "data.npz", "-o", "model.c2c", "--map", "linear"]);
    for name in ["p.npz", "p.csv", "p.vtu", "p.vtk", "p.msh"] {
        folder.succeed(&["predict", "model.c2c", "data.npz", "-o", name]);
        let told = folder.succeed(&["inspect", name]);
        assert!(told.starts_with("prediction: "), "{name}: {told}");
        folder.succeed(&["plot", name, "--sample", "2", "-o", "p.svg", "--force"]);
    }
    let json = folder.succeed_json(&["inspect", "p.csv", "--json"]);
    assert_eq!(
        (&json["kind"], &json["n_samples"]),
        (&"prediction".into(), &SAMPLES.into())
    );
}
