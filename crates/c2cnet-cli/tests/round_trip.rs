//! generate, fit, evaluate, predict, inspect and diagnose, one after the other.

mod support;

use c2cnet::data::Dataset;
use c2cnet::internal::{array_shapes, write_npz};
use support::{BASES, Folder};

#[test]
fn from_data_to_predictions() {
    let folder = Folder::new();
    folder.generate("data.npz");
    let fitted = folder.fit("data.npz", "model.c2c");
    let keys = [
        "rl2e",
        "mse",
        "floor",
        "worst_rl2e",
        "mean_rl2e",
        "linear_rl2e",
        "withheld_rl2e",
        "n_samples",
        "seconds",
    ];
    for key in keys {
        assert!(fitted[key].is_number(), "{key} of {fitted}");
    }
    assert_eq!(fitted["on"], "validation");

    let test = folder.succeed_json(&["evaluate", "model.c2c", "data.npz", "--json"]);
    // All points were fitted in the end; the figure at withheld ones is that of the fit.
    assert_eq!(test["withheld_at_fit"], fitted["withheld_rl2e"]);
    for key in keys.into_iter().filter(|key| *key != "withheld_rl2e") {
        assert!(test[key].is_number(), "{key} of {test}");
    }
    assert_eq!(
        (&test["on"], &test["n_samples"]),
        (&"test".into(), &20.into())
    );
    let error = |key: &str| test[key].as_f64().unwrap();
    assert!(error("rl2e") < 0.1 && error("floor") <= error("rl2e"));
    assert!(error("rl2e") < error("mean_rl2e") && error("rl2e") <= error("worst_rl2e"));

    // The points of a file, of the model and of the data.
    std::fs::write(folder.path("points.csv"), "y\n0\n0.123\n0.5\n1\n").unwrap();
    let predict = [
        "predict",
        "model.c2c",
        "data.npz",
        "-o",
        "at.npz",
        "--at",
        "points.csv",
    ];
    folder.succeed(&predict);
    let shapes = array_shapes(&folder.path("at.npz")).unwrap();
    assert_eq!(
        shapes,
        [("y".into(), vec![4, 1]), ("u".into(), vec![80, 4])]
    );
    folder.succeed(&["predict", "model.c2c", "data.npz", "-o", "own.npz"]);
    let shapes = array_shapes(&folder.path("own.npz")).unwrap();
    assert_eq!(shapes[1], ("u".into(), vec![80, 101]));

    // Inputs alone: at all points of the data that the model was fitted to.
    let mut inputs = Dataset::read_npz(&folder.path("data.npz")).unwrap();
    inputs.outputs = Default::default();
    inputs.write_npz(&folder.path("inputs.npz")).unwrap();
    folder.succeed(&["predict", "model.c2c", "inputs.npz", "-o", "fitted.npz"]);
    let shapes = array_shapes(&folder.path("fitted.npz")).unwrap();
    assert_eq!(shapes[1], ("u".into(), vec![80, 101]));

    // Inputs, and output points without values: there.
    let x = inputs.inputs[0].1.points_of(0).coords().to_vec();
    write_npz(&folder.path("where.npz"), |npz| {
        npz.put_f64("x", &[101, 1], x.iter().copied())?;
        npz.put_f64("f", &[1, 101], inputs.inputs[0].1.values_of(0))?;
        npz.put_f64("y", &[3], [0.25, 0.5, 0.75])
    })
    .unwrap();
    folder.succeed(&["predict", "model.c2c", "where.npz", "-o", "there.npz"]);
    let shapes = array_shapes(&folder.path("there.npz")).unwrap();
    assert_eq!(shapes[1], ("u".into(), vec![1, 3]));

    let model = folder.succeed_json(&["inspect", "model.c2c", "--json"]);
    assert_eq!(
        (&model["kind"], &model["inputs"][0]["functions"]),
        (&"model".into(), &24.into())
    );
    assert_eq!(model["data"]["n_train"], 60);
    let data = folder.succeed_json(&["inspect", "data.npz", "--json"]);
    assert_eq!(
        (&data["kind"], &data["sets"]["train"]),
        (&"data".into(), &60.into())
    );
    assert_eq!(data["fingerprint"], model["data"]["fingerprint"]);
    for file in ["model.c2c", "data.npz", "inputs.npz", "at.npz"] {
        assert!(!folder.succeed(&["inspect", file]).is_empty());
    }
}

#[test]
fn evaluation_by_sets_with_files() {
    let folder = Folder::new();
    folder.generate("data.npz");
    folder.fit("data.npz", "model.c2c");
    let evaluate = |more: &[&str]| {
        let mut arguments = vec!["evaluate", "model.c2c", "data.npz"];
        arguments.extend(more);
        folder.succeed(&arguments)
    };
    let text = evaluate(&["--per-sample", "each.csv", "--figure", "three.svg"]);
    for part in [
        "20 samples (test)",
        "RL2E",
        "floor",
        "training mean",
        "linear map",
        "worst",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    let csv = std::fs::read_to_string(folder.path("each.csv")).unwrap();
    assert_eq!(csv.lines().count(), 21);
    assert!(csv.lines().nth(1).unwrap().starts_with("60,"));
    assert!(
        std::fs::read_to_string(folder.path("three.svg"))
            .unwrap()
            .starts_with("<svg")
    );
    assert!(evaluate(&["--on", "train"]).contains("60 samples (train)"));
    assert!(evaluate(&["--on", "all"]).contains("80 samples (all)"));
    folder.fail(
        &["evaluate", "model.c2c", "data.npz", "--on", "other"],
        2,
        &["other", "train"],
    );
}

#[test]
fn settings_from_a_file_pairs_and_flags() {
    let folder = Folder::new();
    folder.generate("data.npz");
    let toml = "seed = 5\nwithhold = 0.2\n[map]\nkind = 'linear'\n\
                [input.basis]\nfamily = 'polynomial'\nfunctions = 8\n\
                [output]\nbasis = { family = 'polynomial', functions = 9 }\n";
    std::fs::write(folder.path("fit.toml"), toml).unwrap();
    folder.succeed(&[
        "fit",
        "data.npz",
        "-o",
        "model.c2c",
        "--config",
        "fit.toml",
        "--set",
        "input.basis.functions=12",
        "--seed",
        "6",
    ]);
    let model = folder.succeed_json(&["inspect", "model.c2c", "--json"]);
    assert_eq!(model["seed"], 6);
    assert_eq!(model["map"]["kind"], "linear");
    assert_eq!(model["inputs"][0]["functions"], 12);
    assert_eq!(model["outputs"][0]["functions"], 9);
    assert_eq!(model["config"]["withhold"], 0.2);
}

#[test]
fn diagnosis_has_tables_figures_and_a_recommendation() {
    let folder = Folder::new();
    folder.generate("data.npz");
    let mut arguments = vec!["diagnose", "data.npz", "-o", "figures"];
    arguments.extend(BASES);
    let text = folder.succeed(&arguments);
    for part in [
        "amplification",
        "shrinkage",
        "<- in use",
        "withheld",
        "--output-basis",
    ] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    for figure in ["spectrum", "bias", "floor"] {
        let svg = std::fs::read_to_string(folder.path(&format!("figures/{figure}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    }
    arguments.push("--json");
    let object = folder.succeed_json(&arguments);
    assert!(object["outputs"][0]["recommended"]["floor"].is_number());
}

#[test]
fn help_teaches() {
    let folder = Folder::new();
    let general = folder.succeed(&["--help"]);
    assert!(general.contains("Exit codes") && general.contains("130"));
    for command in [
        "demo", "generate", "fit", "evaluate", "predict", "inspect", "diagnose",
    ] {
        let help = folder.succeed(&[command, "--help"]);
        assert!(help.contains("Examples:"), "{help}");
    }
    assert!(folder.succeed(&["generate", "--list"]).contains("darcy1d"));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let folder = Folder::new();
    let mut child = folder
        .command(&["generate", "--list"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
