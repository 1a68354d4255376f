//! Fits, evaluations and predictions of shards that are read one by one.

mod support;

use c2cnet::data::{Dataset, Field, Points};
use faer::Mat;
use serde_json::Value;
use support::{Folder, wait_until};

/// Shards of $u = e^{f/2}$ for sums of sines; their samples are those of one long sequence.
fn shard(folder: &Folder, name: &str, samples: std::ops::Range<usize>, points: usize) {
    let x = Points::linspace(0.0, 1.0, points);
    let f = Mat::from_fn(points, samples.len(), |i, k| {
        let t = x.point(i)[0];
        let k = (samples.start + k) as f64;
        (3.0 * t + 0.7 * k).sin() + 0.5 * (5.0 * t + 1.3 * k).cos()
    });
    let u = Mat::from_fn(points, samples.len(), |i, k| (0.5 * f[(i, k)]).exp());
    let field = |values| Field::shared(x.clone(), vec![values]).unwrap();
    let data = Dataset::new(field(f), field(u)).unwrap();
    data.write_npz(&folder.path(name)).unwrap();
}

/// Four shards of 60 samples in a folder.
fn stream() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("shards")).unwrap();
    for i in 0..4 {
        shard(
            &folder,
            &format!("shards/{i}.npz"),
            60 * i..60 * (i + 1),
            31,
        );
    }
    shard(&folder, "test.npz", 900..940, 31);
    folder
}

const MAP: [&str; 6] = [
    "--set",
    "map.kind='kernel'",
    "--output-basis",
    "{family='polynomial', functions=16}",
    "--input-basis",
    "{family='polynomial', functions=12}",
];

fn fit(folder: &Folder, shards: &[&str], more: &[&str]) -> Value {
    let mut arguments = vec!["fit", "-o", "model.c2c", "--json"];
    arguments.extend(shards);
    arguments.extend(MAP);
    arguments.extend(more);
    folder.succeed_json(&arguments)
}

#[test]
fn a_folder_a_pattern_and_several_names_are_the_same_stream() {
    let folder = stream();
    let all = [
        "shards/0.npz",
        "shards/1.npz",
        "shards/2.npz",
        "shards/3.npz",
    ];
    let model = |shards: &[&str]| {
        let report = fit(&folder, shards, &["--memory", "200MB"]);
        assert_eq!(report["samples"], 240);
        assert!(report["rl2e"].as_f64() < Some(1e-3), "{report}");
        std::fs::read(folder.path("model.c2c")).unwrap()
    };
    let expected = model(&["shards"]);
    assert!(model(&["shards/*.npz"]) == expected);
    let mut listed = vec!["fit", "-o", "listed.c2c", "--memory", "200MB", "test.npz"];
    listed.extend(MAP);
    listed.extend(&all);
    let out = folder.command(&listed).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    let notes = [
        "5 files, all of them training shards; to test on some, leave them out",
        "test.npz is used for training, though its name says otherwise",
    ];
    assert!(
        said.lines().count() == 2 && notes.iter().all(|n| said.contains(n)),
        "{said}"
    );
    listed.retain(|word| *word != "test.npz");
    listed.push("--force");
    assert!(folder.command(&listed).output().unwrap().status.success());
    assert!(std::fs::read(folder.path("listed.c2c")).unwrap() == expected);
    let one = model(&["shards/?.npz"]);
    assert!(one == expected && !folder.path("model.c2c.training").exists());

    // Shards that were fitted to are known as such; others are for testing.
    let errors = folder.succeed_json(&["evaluate", "model.c2c", "shards", "--json"]);
    assert_eq!(
        (&errors["on"], &errors["n_samples"]),
        (&"train".into(), &240.into())
    );
    let errors = folder.succeed_json(&["evaluate", "model.c2c", "test.npz", "--json"]);
    assert_eq!(errors["on"], "test");
    assert!(errors["rl2e"].as_f64() < Some(1e-2), "{errors}");
}

#[test]
fn evaluations_and_predictions_of_shards_are_those_of_one_file() {
    let folder = stream();
    fit(&folder, &["shards"], &[]);
    std::fs::create_dir(folder.path("new")).unwrap();
    for i in 0..3 {
        let from = 900 + 10 * i;
        shard(
            &folder,
            &format!("new/{i}.npz"),
            from..from + 10 + 10 * (i / 2),
            31,
        );
    }
    let whole = folder.succeed_json(&["evaluate", "model.c2c", "test.npz", "--json"]);
    let csv = [
        "evaluate",
        "model.c2c",
        "new",
        "--json",
        "--per-sample",
        "errors.csv",
    ];
    let parts = folder.succeed_json(&csv);
    assert_eq!(parts["n_samples"], 40);
    for key in ["rl2e", "linear_rl2e", "mse", "floor", "worst_rl2e", "rms"] {
        let (a, b) = (whole[key].as_f64().unwrap(), parts[key].as_f64().unwrap());
        assert!((a - b).abs() <= 1e-9 * a.abs().max(1e-6), "{key}: {a} {b}");
    }
    let lines = std::fs::read_to_string(folder.path("errors.csv")).unwrap();
    assert_eq!(lines.lines().count(), 41);

    folder.succeed(&["predict", "model.c2c", "test.npz", "-o", "whole.npz"]);
    let said = folder.succeed(&["predict", "model.c2c", "new", "-o", "predictions"]);
    assert!(said.contains("40 samples in 3 files"), "{said}");
    let read = |name: &str| Dataset::read_prediction(&folder.path(name)).unwrap();
    let (whole, part) = (read("whole.npz"), read("predictions/1.npz"));
    let (a, b) = (&whole.outputs[0].1, &part.outputs[0].1);
    let pairs = a.values_of(13).into_iter().zip(b.values_of(3));
    let off = pairs.map(|(a, b)| (a - b).abs());
    assert!(off.fold(0.0, f64::max) < 1e-9);
}

#[test]
fn bad_shards_are_named_and_skipped_on_request() {
    let folder = stream();
    shard(&folder, "shards/1b.npz", 0..10, 25);
    let bytes = std::fs::read(folder.path("shards/2.npz")).unwrap();
    std::fs::write(folder.path("shards/2.npz"), &bytes[..bytes.len() / 2]).unwrap();
    let mut arguments = vec!["fit", "shards", "-o", "model.c2c"];
    arguments.extend(MAP);
    folder.fail(
        &arguments,
        3,
        &["shards/1b.npz", "the points differ", "--skip-bad"],
    );
    std::fs::remove_file(folder.path("shards/1b.npz")).unwrap();
    folder.fail(&arguments, 4, &["shards/2.npz", "--skip-bad"]);
    shard(&folder, "shards/1b.npz", 0..10, 25);

    let report = fit(&folder, &["shards"], &["--skip-bad"]);
    assert_eq!(report["samples"], 180);
    let skipped = report["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 2, "{report}");
    assert!(skipped[0].as_str().unwrap().contains("1b.npz"), "{report}");
    assert!(skipped[1].as_str().unwrap().contains("2.npz"), "{report}");
    let said = folder.succeed(&["evaluate", "model.c2c", "shards", "--skip-bad"]);
    assert!(
        said.contains("1 of 5 shards skipped") && said.contains("2.npz"),
        "{said}"
    );
}

#[test]
fn what_shards_cannot_do_is_refused_before_any_work() {
    let folder = stream();
    for (more, words) in [
        (&["--map", "layered"][..], "layers"),
        (&["--test-fraction", "0.2"], "n_train into each"),
        (&["--metrics", "m.jsonl"], "no network is trained"),
        (&["--memory", "1MB", "--centres", "4000"], "enough for 102"),
        (&["--memory", "10kB", "--centres", "2"], "shards/0.npz"),
        (&["--memory", "much"], "2GiB"),
    ] {
        let mut arguments = vec!["fit", "shards", "-o", "model.c2c"];
        arguments.extend(more);
        folder.fail(&arguments, 2, &[words]);
    }
    folder.fail(&["fit", "none/*.npz", "-o", "m.c2c"], 4, &["none/*.npz"]);
    let one = ["fit", "test.npz", "-o", "m.c2c", "--memory", "1GB"];
    folder.fail(&one, 2, &["is one file"]);

    for i in 10..30 {
        let name = format!("shards/{i}.npz");
        shard(&folder, &name, 60 * i..60 * (i + 1), 31);
    }
    let mut network = vec!["fit", "shards", "-o", "model.c2c", "--map", "mlp"];
    network.extend(&MAP[2..]);
    network.extend(["--memory", "1.5MB", "--centres", "2"]);
    let words = [
        "a network trained on about",
        "samples of 30 coefficients needs about",
    ];
    folder.fail(&network, 2, &words);
}

#[cfg(unix)]
#[test]
fn a_fit_that_was_killed_goes_on_to_the_same_bits() {
    let folder = stream();
    fit(&folder, &["shards"], &[]);
    let expected = std::fs::read(folder.path("model.c2c")).unwrap();
    std::fs::remove_file(folder.path("model.c2c")).unwrap();

    let mut arguments = vec!["fit", "shards", "-o", "model.c2c"];
    arguments.extend(["--checkpoint-every", "0"]);
    arguments.extend(MAP);
    killed_and_resumed(&folder, arguments, "stream.checkpoint");
    assert!(std::fs::read(folder.path("model.c2c")).unwrap() == expected);
}

#[cfg(unix)]
#[test]
fn a_network_is_trained_on_all_shards_and_goes_on_after_a_kill_to_the_same_bits() {
    let folder = stream();
    let mut arguments = vec!["fit", "shards", "-o", "model.c2c"];
    arguments.extend(&MAP[2..]);
    let network = "map={kind='mlp', mlp={hidden=[40, 40], steps=600}}";
    arguments.extend(["--set", network, "--metrics", "metrics.jsonl"]);
    let mut once = arguments.clone();
    once.extend(["--json", "--threads", "1"]);
    let report = folder.succeed_json(&once);
    // A fifth of the first samples judge; the rest train.
    assert_eq!(
        (
            &report["samples"],
            &report["judges"],
            &report["network_steps"]
        ),
        (&192.into(), &48.into(), &600.into())
    );
    let (error, linear) = (report["rl2e"].as_f64(), report["linear_rl2e"].as_f64());
    assert!(error < linear, "{report}");
    let expected = std::fs::read(folder.path("model.c2c")).unwrap();
    let lines = std::fs::read_to_string(folder.path("metrics.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 100);
    assert!(!folder.path("model.c2c.training").exists());

    std::fs::remove_file(folder.path("model.c2c")).unwrap();
    arguments.extend(["--checkpoint-every", "0"]);
    killed_and_resumed(&folder, arguments.clone(), "stream-000002.checkpoint");
    assert!(std::fs::read(folder.path("model.c2c")).unwrap() == expected);
    std::fs::remove_file(folder.path("model.c2c")).unwrap();
    killed_and_resumed(&folder, arguments, "network");
    assert!(std::fs::read(folder.path("model.c2c")).unwrap() == expected);
}

/// Kills a fit once it has made this checkpoint, and resumes it.
#[cfg(unix)]
fn killed_and_resumed(folder: &Folder, mut arguments: Vec<&str>, checkpoint: &str) {
    let (model, checkpoints) = (folder.path("model.c2c"), folder.path("model.c2c.training"));
    // A fit may be done before it can be killed; its checkpoints are gone then.
    let killed = (0..20).any(|_| {
        let _ = std::fs::remove_file(&model);
        let mut process = folder.command(&arguments).spawn().unwrap();
        let checkpoint = checkpoints.join(checkpoint);
        wait_until("a checkpoint", || checkpoint.exists() || model.exists());
        process.kill().unwrap();
        process.wait().unwrap();
        !model.exists()
    });
    assert!(killed, "each of 20 fits was done before it could be killed");
    arguments.push("--resume");
    let out = folder.command(&arguments).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).to_string();
    assert!(out.status.success(), "{said}");
    assert!(said.contains("resuming: "), "{said}");
}
