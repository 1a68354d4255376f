//! Networks: what is written on the way, and that a fit may be stopped at any moment.

mod support;

use std::process::{Child, Stdio};
use support::{BASES, Folder, wait_until};

/// Two networks of this many steps each, with a checkpoint at the given interval.
fn fit<'a>(model: &'a str, steps: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["fit", "data.npz", "-o", model, "--map", "mlp"];
    arguments.extend(["--set", steps, "--set", "map.mlp.hidden=[16, 16]"]);
    arguments.extend(["--checkpoint-every", "0.02"]);
    arguments.extend(BASES);
    arguments.extend(more);
    arguments
}

const SHORT: &str = "map.mlp.steps=200";
const LONG: &str = "map.mlp.steps=12000";

/// Runs the command and gives its exit code, standard output and standard error.
fn run(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String, String) {
    let out = folder.command(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

#[test]
fn a_network_is_trained_recorded_drawn_and_shown() {
    let folder = Folder::new();
    folder.generate("data.npz");
    let more = ["--metrics", "metrics.jsonl", "--json"];
    let fitted = folder.succeed_json(&fit("model.c2c", SHORT, &more));
    assert_eq!(fitted["held_out"], true);
    let network = &fitted["network"];
    assert_eq!(network["judged"]["samples"], serde_json::json!([48, 12]));
    assert_eq!(network["fitted"]["samples"], serde_json::json!([60, 0]));
    assert_eq!(network["fitted"]["steps"], 200);
    assert!(network["fitted"]["history"].is_null());

    let metrics = std::fs::read_to_string(folder.path("metrics.jsonl")).unwrap();
    let records: Vec<serde_json::Value> = metrics
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 200);
    assert_eq!(
        (&records[99]["training"], &records[100]["training"]),
        (&1.into(), &2.into())
    );
    for key in ["loss", "train_rl2e", "rate", "gradient_norm"] {
        assert!(records.iter().all(|r| r[key].is_number()), "{key}");
    }
    assert!(records[0]["validation_rl2e"].is_number() && records[100]["validation_rl2e"].is_null());
    folder.succeed(&["plot", "metrics.jsonl"]);
    let svg = std::fs::read_to_string(folder.path("metrics.svg")).unwrap();
    for part in ["48 of 60 samples", "held-out samples", "learning rate"] {
        assert!(svg.contains(part), "{part}");
    }
    folder.fail(&["plot", "metrics.jsonl", "--sample", "1"], 2, &["metrics"]);

    let shown = folder.succeed(&["inspect", "model.c2c"]);
    assert!(
        shown.contains("network [") && shown.contains("recipe fast"),
        "{shown}"
    );
    let shown = folder.succeed_json(&["inspect", "model.c2c", "--json"]);
    assert_eq!(
        (&shown["map"]["kind"], &shown["map"]["widths"][1]),
        (&"mlp".into(), &16.into())
    );
    assert_eq!(
        folder.names(),
        ["data.npz", "metrics.jsonl", "metrics.svg", "model.c2c"]
    );
}

#[test]
fn the_papers_recipe_says_that_no_sample_was_held_out() {
    let folder = Folder::new();
    folder.generate("data.npz");
    let text = folder.succeed(&fit("model.c2c", SHORT, &["--recipe", "paper"]));
    assert!(
        text.contains("also used for training") && text.contains("evaluate"),
        "{text}"
    );
    let fitted = folder.succeed_json(&fit("model.c2c", SHORT, &["--recipe", "paper", "--json"]));
    assert_eq!(
        (&fitted["held_out"], &fitted["on"]),
        (&false.into(), &"train".into())
    );
    let shown = folder.succeed(&["inspect", "model.c2c"]);
    assert!(shown.contains("all used for training"), "{shown}");
}

#[test]
fn training_that_diverges_says_where() {
    let folder = Folder::new();
    folder.generate("data.npz");
    let more = ["--set", "map.mlp.rate=1e30", "--checkpoint-every=0"];
    let mut arguments = fit("model.c2c", SHORT, &more);
    arguments.retain(|a| !["--checkpoint-every", "0.02"].contains(a));
    let (code, _, said) = run(&folder, &arguments);
    assert_eq!(code, Some(5), "{said}");
    for part in [
        "diverged at step",
        "learning rate",
        "kept in model.c2c.training",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(folder.names(), ["data.npz", "model.c2c.training"]);
}

#[cfg(unix)]
mod stopped {
    use super::*;

    const METRICS: [&str; 2] = ["--metrics", "metrics.jsonl"];

    /// Data, and what a fit without a break writes.
    fn undisturbed() -> (Folder, Vec<u8>, Vec<u8>) {
        let folder = Folder::new();
        folder.generate("data.npz");
        folder.succeed(&fit("model.c2c", LONG, &METRICS));
        let take = |name| {
            let bytes = std::fs::read(folder.path(name)).unwrap();
            std::fs::remove_file(folder.path(name)).unwrap();
            bytes
        };
        let (model, metrics) = (take("model.c2c"), take("metrics.jsonl"));
        (folder, model, metrics)
    }

    fn checkpoints(folder: &Folder) -> Vec<std::path::PathBuf> {
        let files = std::fs::read_dir(folder.path("model.c2c.training"));
        let files = files.into_iter().flatten().map(|f| f.unwrap().path());
        files.filter(|f| f.extension().is_some()).collect()
    }

    /// When each checkpoint was written.
    fn written(folder: &Folder) -> Vec<std::time::SystemTime> {
        let time = |file: &std::path::PathBuf| file.metadata()?.modified();
        let times = checkpoints(folder).iter().map(time).collect();
        // One may be going away just now.
        std::io::Result::unwrap_or_default(times)
    }

    /// Starts a fit and stops it by a signal after so many of its checkpoints.
    fn stop(folder: &Folder, more: &[&str], signal: &str, after: usize) -> (Option<i32>, String) {
        let mut all = METRICS.to_vec();
        all.extend(more);
        let mut last = written(folder);
        let mut count = 0;
        let mut child: Child = folder
            .command(&fit("model.c2c", LONG, &all))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until("checkpoints", || {
            let now = written(folder);
            count += usize::from(now != last);
            last = now;
            count >= after || child.try_wait().unwrap().is_some()
        });
        let mut kill = std::process::Command::new("kill");
        kill.args([signal, &child.id().to_string()]);
        assert!(kill.status().unwrap().success(), "it ended too early");
        let out = child.wait_with_output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    }

    /// Goes on to the end and compares; gives what was said.
    fn resume(folder: &Folder, model: &[u8], metrics: &[u8]) -> String {
        let mut more = METRICS.to_vec();
        more.push("--resume");
        let (code, _, said) = run(folder, &fit("model.c2c", LONG, &more));
        assert_eq!(code, Some(0), "{said}");
        let same = |name, bytes: &[u8]| std::fs::read(folder.path(name)).unwrap() == bytes;
        assert!(same("model.c2c", model), "the models differ: {said}");
        assert!(same("metrics.jsonl", metrics), "the metrics differ: {said}");
        assert_eq!(folder.names(), ["data.npz", "metrics.jsonl", "model.c2c"]);
        said
    }

    #[test]
    fn ctrl_c_tells_how_to_go_on_to_the_same_model() {
        let (folder, model, metrics) = undisturbed();
        let (code, said) = stop(&folder, &[], "-INT", 1);
        assert_eq!(code, Some(130), "{said}");
        assert!(
            said.contains("c2cnet fit data.npz") && said.contains("--resume"),
            "{said}"
        );
        // Without --resume: a notice, and from the start.
        let (_, said) = stop(&folder, &[], "-INT", 3);
        assert!(said.contains("training starts over"), "{said}");
        let said = resume(&folder, &model, &metrics);
        assert!(said.contains("resuming after"), "{said}");
    }

    #[test]
    fn killed_again_and_again_it_still_ends_at_the_same_model() {
        let (folder, model, metrics) = undisturbed();
        for after in [1, 2, 3] {
            let (code, said) = stop(&folder, &["--resume"], "-KILL", after);
            assert_eq!(code, None, "{said}");
            assert!(!folder.path("model.c2c").exists());
        }
        resume(&folder, &model, &metrics);
    }

    #[test]
    fn a_damaged_checkpoint_costs_its_training_only() {
        let (folder, model, metrics) = undisturbed();
        stop(&folder, &[], "-INT", 1);
        for file in checkpoints(&folder) {
            let bytes = std::fs::read(&file).unwrap();
            std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        }
        let said = resume(&folder, &model, &metrics);
        assert!(
            said.contains("damaged") && said.contains("starting over"),
            "{said}"
        );
    }
}
