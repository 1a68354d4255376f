//! What cannot be done: the exit code, the message, and nothing left behind.

mod support;

use c2cnet::internal::write_npz;
use support::{BASES, Folder};

fn prepared() -> Folder {
    let folder = Folder::new();
    folder.generate("data.npz");
    folder.fit("data.npz", "model.c2c");
    folder
}

#[test]
fn usage_and_settings_exit_with_2() {
    let folder = Folder::new();
    folder.generate("data.npz");
    folder.fail(&["learn"], 2, &["learn"]);
    folder.fail(&["fit", "data.npz"], 2, &["--output"]);
    folder.fail(
        &["fit", "data.npz", "-o", "m.c2c", "--threads", "0"],
        2,
        &["threads"],
    );
    std::fs::write(folder.path("fit.toml"), "seed = 1\n[input]\nbasiss = 3\n").unwrap();
    let fit = ["fit", "data.npz", "-o", "m.c2c"];
    let with = |more: &[&'static str]| [&fit[..], more].concat();
    folder.fail(
        &with(&["--config", "fit.toml"]),
        2,
        &["fit.toml", "line 3", "`basiss`"],
    );
    folder.fail(&with(&["--set", "map.knd=linear"]), 2, &["`knd`", "map"]);
    folder.fail(
        &with(&["--set", "validation=0.9"]),
        2,
        &["validation = 0.9"],
    );
    folder.fail(
        &with(&["--input-basis", "fourier"]),
        2,
        &["--input-basis", "family="],
    );
    folder.fail(
        &with(&["--input-basis", "family='fourrier'"]),
        2,
        &["fourrier", "random-features"],
    );
    folder.fail(
        &["generate", "darcy9d", "-o", "x.npz"],
        2,
        &["darcy9d", "darcy1d"],
    );
    folder.fail(
        &["generate", "darcy1d", "-o", "x.npz", "--set", "lenght=1"],
        2,
        &["`lenght`", "`length`"],
    );
    folder.fail(&["demo", "nothing"], 2, &["nothing", "darcy1d"]);
}

#[test]
fn unusable_data_exits_with_3() {
    let folder = prepared();
    std::fs::write(folder.path("outside.csv"), "0.5\n1.5\n").unwrap();
    folder.fail(
        &[
            "predict",
            "model.c2c",
            "data.npz",
            "--at",
            "outside.csv",
            "-o",
            "p.npz",
        ],
        3,
        &["outside.csv: point 1 of y = [1.5] lies outside [0, 1]"],
    );
    std::fs::write(folder.path("plane.csv"), "0.5,0.5\n").unwrap();
    folder.fail(
        &[
            "predict",
            "model.c2c",
            "data.npz",
            "--at",
            "plane.csv",
            "-o",
            "p.npz",
        ],
        3,
        &["plane.csv: points: found (1, 2), expected (n, 1)"],
    );
    write_npz(&folder.path("nan.npz"), |npz| {
        let x = (0..20).map(|i| f64::from(i) / 19.0);
        npz.put_f64("x", &[20, 1], x.clone())?;
        npz.put_f64("y", &[20, 1], x)?;
        let values = |bad: usize| (0..200).map(move |i| if i == bad { f64::NAN } else { 1.0 });
        npz.put_f64("f", &[10, 20], values(47))?;
        npz.put_f64("u", &[10, 20], values(1000))
    })
    .unwrap();
    let mut fit = vec!["fit", "nan.npz", "-o", "m.c2c"];
    fit.extend(BASES);
    folder.fail(&fit, 3, &["nan.npz", "`f`", "sample 2", "point 7", "NaN"]);
    // A prediction has no inputs to evaluate.
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "p.npz"]);
    folder.fail(&["evaluate", "model.c2c", "p.npz"], 4, &["p.npz", "`f`"]);
}

#[test]
fn missing_damaged_and_foreign_files_exit_with_4() {
    let folder = prepared();
    folder.fail(&["fit", "none.npz", "-o", "m.c2c"], 4, &["none.npz"]);
    folder.fail(&["evaluate", "none.c2c", "data.npz"], 4, &["none.c2c"]);
    folder.fail(&["inspect", "none"], 4, &["none"]);
    folder.fail(
        &["fit", "data.npz", "-o", "m.c2c", "--config", "none.toml"],
        4,
        &["none.toml"],
    );
    for (whole, part) in [("data.npz", "cut.npz"), ("model.c2c", "cut.c2c")] {
        let bytes = std::fs::read(folder.path(whole)).unwrap();
        std::fs::write(folder.path(part), &bytes[..bytes.len() * 2 / 3]).unwrap();
    }
    folder.fail(
        &["fit", "cut.npz", "-o", "m.c2c"],
        4,
        &["cut.npz", "damaged"],
    );
    folder.fail(&["inspect", "cut.npz"], 4, &["cut.npz"]);
    folder.fail(
        &["evaluate", "cut.c2c", "data.npz"],
        4,
        &["cut.c2c", "damaged"],
    );
    folder.fail(&["inspect", "cut.c2c"], 4, &["cut.c2c"]);
    std::fs::write(folder.path("notes.txt"), "not a model, and not data either").unwrap();
    folder.fail(&["evaluate", "notes.txt", "data.npz"], 4, &["notes.txt"]);
    folder.fail(&["fit", "notes.txt", "-o", "m.c2c"], 4, &["notes.txt"]);
    folder.fail(&["inspect", "notes.txt"], 4, &["notes.txt", "columns are"]);
    // A safetensors file of someone else: the length of the header, then the header.
    let header = b"{}      ";
    let foreign = [&(header.len() as u64).to_le_bytes()[..], header].concat();
    std::fs::write(folder.path("foreign.safetensors"), foreign).unwrap();
    folder.fail(
        &["inspect", "foreign.safetensors"],
        4,
        &["foreign.safetensors", "not a c2cnet model"],
    );
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_any_work() {
    let folder = prepared();
    // The data does not exist: the output is looked at first.
    folder.fail(&["fit", "none.npz", "-o", "nowhere/m.c2c"], 4, &["nowhere"]);
    folder.fail(&["fit", "data.npz", "-o", "."], 4, &["folder"]);
    folder.fail(
        &["generate", "darcy1d", "-o", "nowhere/d.npz"],
        4,
        &["nowhere"],
    );
    folder.fail(
        &["predict", "model.c2c", "data.npz", "-o", "nowhere/p.npz"],
        4,
        &["nowhere"],
    );
    folder.fail(
        &[
            "evaluate",
            "model.c2c",
            "data.npz",
            "--figure",
            "nowhere/f.svg",
        ],
        4,
        &["nowhere"],
    );
    folder.fail(
        &["diagnose", "data.npz", "-o", "model.c2c"],
        4,
        &["model.c2c"],
    );
    folder.fail(&["demo", "--out", "model.c2c"], 4, &["model.c2c"]);
}

#[test]
fn slips_of_a_first_hour_say_what_to_do() {
    let folder = prepared();
    folder.fail(
        &["plot", "data.npz", "--sample", "-1"],
        2,
        &["samples count from 0"],
    );
    let at = [
        "predict",
        "model.c2c",
        "data.npz",
        "--at",
        "0.5",
        "-o",
        "p.npz",
    ];
    folder.fail(
        &at,
        2,
        &["--at takes a file of points", "echo '0.5' > points.csv"],
    );
    folder.fail(
        &["diagnose", "data.npz", "-o", "data.npz"],
        4,
        &["is a file", "another folder"],
    );
    folder.fail(&["report", "nothing"], 4, &["nothing: does not exist"]);
    folder.fail(
        &["fit", "data.npz", "-o", "new.npz"],
        2,
        &["new.npz ends like a data file", "call it new.c2c"],
    );
    let optimiser = [
        "fit",
        "data.npz",
        "-o",
        "m.c2c",
        "--set",
        "map.mlp.optimizer=adam",
    ];
    folder.fail(
        &optimiser,
        2,
        &["expected a table, such as { kind = \"adam\""],
    );
    for (name, text, words) in [
        ("a.npz", "{\"a\": 1}\n", "holds JSON"),
        ("a.csv", "[1, 2]\n", "holds JSON"),
        ("b.npz", "hello world\n", "holds text, not arrays"),
        ("c.csv", "<!DOCTYPE html>\n", "holds HTML or XML"),
    ] {
        std::fs::write(folder.path(name), text).unwrap();
        folder.fail(&["inspect", name], 4, &[words, "numpy.savez"]);
    }
}

#[test]
fn a_single_sample_needs_an_axis_in_front() {
    let folder = prepared();
    let axis = || (0..8).map(|i| f64::from(i) / 7.0);
    let field = |name: &str, shape: &[usize], axes: bool| {
        write_npz(&folder.path(name), |npz| {
            if axes {
                npz.put_f64("x0", &[8], axis())?;
                npz.put_f64("x1", &[8], axis())?;
            }
            npz.put_f64("f", shape, vec![1.0; shape.iter().product()])
        })
        .unwrap();
    };
    field("grid.npz", &[8, 8], true);
    folder.fail(
        &["inspect", "grid.npz"],
        3,
        &["for a single sample save f[None]"],
    );
    field("line.npz", &[101], false);
    let predict = ["predict", "model.c2c", "line.npz", "-o", "p.npz"];
    folder.fail(&predict, 3, &["for a single sample save f[None]"]);
    let vectors = |name: &str, samples: usize, shape: &[usize]| {
        write_npz(&folder.path(name), |npz| {
            let value = |i: usize| (i as f64).sin();
            npz.put_f64("p", shape, (0..shape.iter().product()).map(value))?;
            npz.put_f64("q", &[samples], (0..samples).map(|k| value(2 * k)))
        })
        .unwrap();
    };
    vectors("vectors.npz", 30, &[30, 2]);
    folder.succeed(&["fit", "vectors.npz", "-o", "v.c2c", "--map", "linear"]);
    vectors("one.npz", 2, &[2]);
    let predict = ["predict", "v.c2c", "one.npz", "-o", "p.npz"];
    folder.fail(
        &predict,
        3,
        &["1 value per sample", "save p[None], of shape (1, 2)"],
    );
}
