//! `compare`, with a peer that needs no Python.
#![cfg(unix)]

mod support;

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use support::Folder;

/// Stands for Python: it notes its arguments and writes a result where `--out` says.
const FAKE: &str = r#"#!/bin/sh
case "$*" in *--help*) exit 0 ;; esac
echo "$*" > arguments
for out; do :; done
cat > "$out" <<'END'
{"format": 1, "peer": "FNO", "problem": "darcy1d", "n_train": 60, "hardware": "a toy, 2 threads",
 "parameters": 1234, "train_seconds": 2.5, "rl2e": 0.02, "mse": 1e-6,
 "curve": [[0.5, 1, 0.3], [2.5, 5, 0.02]]}
END
"#;

fn script(folder: &Folder, name: &str, text: &str) {
    fs::write(folder.path(name), text).unwrap();
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn prepared() -> Folder {
    let folder = Folder::new();
    folder.generate("data.npz");
    fs::create_dir(folder.path("peers")).unwrap();
    fs::write(folder.path("peers/run.py"), "").unwrap();
    script(&folder, "python", FAKE);
    folder
}

/// A result of another training, on a GPU.
fn result(folder: &Folder, name: &str, problem: &str) {
    let text = json!({"format": 1, "peer": "DeepONet", "problem": problem, "n_train": 50,
        "hardware": "a GPU", "train_seconds": 9.0, "rl2e": 0.05, "curve": [[1.0, 1, 0.5], [9.0, 9, 0.05]]});
    fs::write(folder.path(name), text.to_string()).unwrap();
}

const FAKE_PEER: [&str; 8] = [
    "compare",
    "data.npz",
    "--methods",
    "linear",
    "--peers",
    "fno",
    "--python",
    "./python",
];

#[test]
fn own_methods_peers_and_earlier_results_stand_in_one_table_and_picture() {
    let folder = prepared();
    result(&folder, "deeponet.json", "darcy1d");
    let more = ["--budget", "2.5", "--results", "deeponet.json", "--json"];
    let found = folder.succeed_json(&[&FAKE_PEER[..], &more].concat());
    let arguments = fs::read_to_string(folder.path("arguments")).unwrap();
    assert!(arguments.starts_with("-m peers.run fno /"), "{arguments}");
    assert!(
        arguments.contains("--budget 2.5 --device cpu"),
        "{arguments}"
    );
    let names: Vec<&str> = (found["methods"].as_array().unwrap().iter())
        .map(|m| m["method"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["c2cnet linear", "FNO", "DeepONet, 50 samples"]);
    let own = &found["methods"][0];
    assert!(own["floor"].as_f64().unwrap() <= own["rl2e"].as_f64().unwrap());
    assert_eq!(own["rl2e"], own["linear_rl2e"]);
    assert_eq!(
        found["methods"][1]["curve"],
        json!([[0.5, 0.3], [2.5, 0.02]])
    );
    let picture = fs::read_to_string(folder.path("compare.svg")).unwrap();
    for part in ["c2cnet linear", "FNO", "a toy", "a GPU", "offline seconds"] {
        assert!(picture.contains(part), "no {part:?} in the picture");
    }
    let text = folder.succeed(&FAKE_PEER);
    for part in ["RL2E", "floor", "2.000e-2", "1234", "a toy, 2 threads"] {
        assert!(text.contains(part), "{text} lacks {part:?}");
    }
}

/// The same errors as `fit` and `evaluate` give.
#[test]
fn own_errors_are_those_of_evaluate() {
    let folder = prepared();
    let found = folder.succeed_json(&["compare", "data.npz", "--methods", "kernel", "--json"]);
    folder.succeed(&["fit", "data.npz", "-o", "m.c2c", "--map", "kernel"]);
    let errors = folder.succeed_json(&["evaluate", "m.c2c", "data.npz", "--json"]);
    assert_eq!(found["methods"][0]["rl2e"], errors["rl2e"]);
    assert_eq!(found["methods"][0]["mse"], errors["mse"]);
}

#[test]
fn what_is_missing_is_named_before_any_work() {
    let folder = prepared();
    let make = "peers/run.sh peers.run --help";
    let with = |python: &'static str| {
        let mut arguments = FAKE_PEER.to_vec();
        arguments[7] = python;
        arguments
    };
    folder.fail(&with("./none"), 2, &["none", make, "C2CNET_PEERS_PYTHON"]);
    let no_torch = "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torch'\" >&2\nexit 1\n";
    script(&folder, "bare", no_torch);
    folder.fail(&with("./bare"), 2, &["No module named 'torch'", make]);
    let failing = "#!/bin/sh\ncase \"$*\" in *--help*) exit 0 ;; esac\n\
                   echo 'error: the points are not a grid' >&2\nexit 1\n";
    script(&folder, "failing", failing);
    folder.fail(
        &with("./failing"),
        3,
        &["peer fno failed: the points are not a grid"],
    );

    result(&folder, "other.json", "darcy2d");
    let beside = |file: &'static str| ["compare", "data.npz", "--results", file];
    folder.fail(&beside("other.json"), 3, &["darcy2d", "darcy1d"]);
    folder.fail(&beside("none.json"), 4, &["none.json"]);
    fs::write(folder.path("odd.json"), "{\"peer\": \"FNO\"}").unwrap();
    folder.fail(&beside("odd.json"), 4, &["odd.json", "rl2e"]);
    folder.fail(
        &["compare", "data.npz", "--peers", "gnn"],
        2,
        &["gnn", "fno"],
    );

    fs::remove_file(folder.path("peers/run.py")).unwrap();
    folder.fail(&FAKE_PEER, 2, &["peers/", "repository"]);
}
