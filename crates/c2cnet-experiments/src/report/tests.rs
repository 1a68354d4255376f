//! The page and RESULTS.md of a run folder that has everything, some of it damaged.

use super::{write, write_results};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\"><title>100% & #1</title></svg>";

/// A folder with an experiment of all parts, and what `change` does to it.
fn page_of(change: impl FnOnce(&Path)) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path();
    put(
        run,
        "run.json",
        &json!({"format": 1, "version": "0.1.0", "date": "2026-11-15", "quick": false,
            "hardware": {"cpu": "A & B", "cores": 2, "memory_gib": 15.6, "os": "Linux"},
            "command": "c2cnet reproduce --all"}),
    );
    put(run, "full/result.json", &everything());
    text(run, "full/figures/one.svg", SVG);
    text(run, "full/figures/best.svg", SVG);
    for (seed, rl2e) in [(0, 5.0e-3), (1, 7.0e-3)] {
        put(
            run,
            &format!("peers/fno-{seed}.json"),
            &json!({"format": 1, "peer": "FNO", "problem": "darcy2d", "seed": seed,
                "schedule": "one-cycle", "hardware": "GPU", "parameters": 1188353,
                "train_seconds": 1500.0, "rl2e": rl2e, "curve": [[1.0, 1, 0.5], [10.0, 9, null]]}),
        );
    }
    change(run);
    let (html, markdown) = (run.join("report.html"), run.join("RESULTS.md"));
    write(run, &html).unwrap();
    write_results(run, &markdown).unwrap();
    (
        fs::read_to_string(html).unwrap(),
        fs::read_to_string(markdown).unwrap(),
    )
}

fn everything() -> Value {
    json!({
        "format": 1, "name": "full", "label": "subsec:efficiency", "title": "All <parts> & more",
        "about": "First paragraph.\n\nSecond <b>paragraph</b>.",
        "differs": ["the data is ours"], "quick": false, "date": "2026-11-15", "seconds": 12.5,
        "version": "0.1.0", "command": "c2cnet reproduce full", "fingerprint": "abc",
        "headline": [
            {"problem": "darcy2d", "title": "2D Darcy", "method": "auto", "rl2e": 1.2e-3,
             "paper": 6.47e-3, "floor": 2e-4, "withheld": 1.3e-3, "linear": 1.3e-2, "mean": 0.12,
             "rms": 0.041, "paper_rms": 0.044, "mse": 2.4e-9, "paper_mse": 8.68e-8, "seconds": 88.0,
             "paper_seconds": 202.0, "parameters": 3145728, "paper_parameters": 492864, "note": ""},
            {"problem": "darcy2d", "title": "2D Darcy", "method": "RFM-C2C", "rl2e": 7.1e-3,
             "paper": 6.47e-3, "floor": null, "seconds": null, "paper_seconds": null, "note": "a|note"},
        ],
        "tables": [{"id": "t", "title": "Methods", "caption": "Mean of seeds.", "label": "tab:x",
            "columns": [{"key": "m", "title": "Method", "kind": "text"},
                        {"key": "e", "title": "RL2E", "kind": "error"},
                        {"key": "n", "title": "parameters", "kind": "integer"}],
            "rows": [{"m": "A|B", "e": 1e-3, "e_spread": 1e-4, "n": 492864}, {"m": "C", "n": null}]}],
        "figures": [{"id": "f", "title": "One", "caption": "", "label": "fig:one",
                     "svg": "figures/one.svg", "png": "figures/one.png"}],
        "curves": [{"id": "c", "title": "Curve", "caption": "", "label": null,
            "x": {"title": "cut", "log": true}, "y": {"title": "RL2E", "log": true},
            "series": [{"name": "</script><script>alert(1)", "x": [1e-3, 1e-2], "y": [0.1, null],
                        "dashed": true}], "svg": "figures/c.svg", "png": "figures/c.png"}],
        "galleries": [{"id": "g", "title": "Samples", "caption": "",
            "samples": [{"sample": 17, "rank": 0, "rl2e": 3e-4, "svg": "figures/best.svg"},
                        {"sample": 3, "rank": 9, "rl2e": 3e-2, "svg": "figures/gone.svg"}]}],
        "checks": [{"what": "above the floor", "passed": true, "value": 1.02, "bound": 1.0, "detail": ""},
                   {"what": "under the paper", "passed": false, "value": 1.1, "bound": 1.0, "detail": "why"}],
    })
}

fn put(run: &Path, name: &str, value: &Value) {
    text(run, name, &value.to_string());
}

fn text(run: &Path, name: &str, text: &str) {
    let path = run.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn assert_has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "the page lacks {part:?}");
    }
}

#[test]
fn every_part_is_shown() {
    let (page, markdown) = page_of(|_| ());
    assert_has(
        &page,
        &[
            "2026-11-15",
            "A &amp; B, 2 cores, 16 GiB",
            "href=\"#full\"",
            "0.185 ✓",
            "1.10 ▲",
            "Table 14",
            "Table 15",
            "Section 4.2<",
            "1.00e-3 ± 1.00e-4",
            "2.40e-9</span><span class=\"printed\">8.68e-8",
            "3,145,728</span><span class=\"printed\">492,864",
            "BasisONet",
            "6.00e-3 ± 1.41e-3",
            "one-cycle, 2 seeds",
            "data:image/svg+xml,%3Csvg",
            "100%25 %26 %231",
            "First paragraph.",
            "the data is ours",
            "under the paper",
            "c2cnet reproduce full",
        ],
    );
    assert_has(
        &markdown,
        &[
            "`c2cnet reproduce --all` on 2026-11-15",
            "| 2D Darcy | auto | 1.20e-3 | 6.47e-3 | 0.185 | 2.00e-4 | 1.30e-3 |",
            "| 2.40e-9 | 8.68e-8 | 0.0410 (0.0440) | 88 s | 202 s | 3,145,728 | 492,864 |",
            "| A\\|B | 1.00e-3 ± 1.00e-4 | 492,864 |\n| C | – | – |",
            "Checks that hold: 1 of 2.",
            "Does not hold: under the paper (1.10, bound 1.00). why",
        ],
    );
}

#[test]
fn quick_runs_are_not_compared_with_the_paper() {
    let (page, _) = page_of(|run| {
        let mut quick = everything();
        quick["quick"] = true.into();
        put(run, "full/result.json", &quick);
    });
    assert_has(&page, &["quick: small sizes", "1.20e-3"]);
    for part in [
        "0.185 ✓",
        "at or under the paper",
        "checks hold",
        "class=\"printed\"",
        "tab:",
    ] {
        assert!(!page.contains(part), "the page has {part:?}");
    }
}

#[test]
fn the_summary_takes_the_runs_that_name_its_cells() {
    let (page, markdown) = page_of(|run| {
        let read = |row: &str, column: &str, reading: &str, rl2e: f64| {
            let cell = json!({"table": "tab:rl2e-summary", "row": row, "column": column});
            json!({"cell": cell, "reading": reading, "run": "a run", "rl2e": rl2e})
        };
        let found = |row: &str, column: &str, rl2e: f64| read(row, column, "plain", rl2e);
        // Neither the name of a method nor the figure that the paper prints for it makes it a cell.
        let row = json!({"method": "Scalar FEM, C2C", "rl2e": 1.0, "paper_rl2e": 1.68e-3});
        let result = json!({"format": 1, "name": "some",
            "headline": [{"problem": "poisson10d", "run": "C2C, default", "method": "auto",
                "rl2e": 9.17e-5, "parameters": 1234567}],
            "cells": [found("poisson10d", "scalar_rfm", 3.21e-3),
                found("elastic-plate", "vector_fem", 6.06e-1),
                found("darcy-lshape", "vector_rfm", 1.77e-2),
                read("darcy-lshape", "vector_rfm", "scaled", 1.55e-2)],
            "missing": ["a fit"],
            "tables": [{"id": "t", "title": "T", "columns": [], "rows": [row]}]});
        put(run, "some/result.json", &result);
    });
    assert_has(
        &page,
        &[
            "3.21e-3</span><span class=\"printed\">6.48e-3",
            "6.06e-1</span><span class=\"printed\">6.24e-1",
            "–</span><span class=\"printed\">1.68e-3",
            "1.77e-2</span> · <span class=\"whole\">1.55e-2</span><span class=\"printed\">3.86e-2",
            "C2C, default (auto)",
            "1,234,567",
            "Not run: a fit.",
        ],
    );
    assert_has(
        &markdown,
        &[
            "| L-shaped Darcy flow | vector RFM-C2C | 3.86e-2 | 1.77e-2 | 1.55e-2 | – |",
            "| 10D Poisson | scalar RFM-C2C | 6.48e-3 | 3.21e-3 | – | 9.17e-5 |",
            "Not run: a fit.",
        ],
    );
}

#[test]
fn text_never_becomes_markup() {
    let (page, _) = page_of(|_| ());
    assert_has(
        &page,
        &[
            "All &lt;parts&gt; &amp; more",
            "Second &lt;b&gt;paragraph&lt;/b&gt;.",
        ],
    );
    assert!(!page.contains("<script>alert"));
    // Whatever the data holds, a page has one script of its own, one gallery and two curves.
    assert_eq!(page.matches("</script>").count(), 4);
    // The name of SVG is no address that anything is fetched from.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn other_trainings_of_a_peer_are_no_seeds() {
    let (page, _) = page_of(|run| {
        let training = json!({"format": 1, "peer": "FNO", "problem": "darcy2d", "schedule": "one-cycle",
            "label": "equal-time", "n_train": 100, "symmetry": true, "hardware": "GPU", "rl2e": 4.0e-2});
        put(run, "peers/fno-brief.json", &training);
    });
    let brief = "one-cycle, equal-time, with symmetry, 100 samples, 1 seed";
    assert_has(&page, &["6.00e-3 ± 1.41e-3", "4.00e-2", brief]);
}

#[test]
fn errors_over_the_number_of_samples_have_a_curve() {
    let (page, _) = page_of(|run| {
        for (samples, rl2e) in [(100, 3.0e-2), (400, 1.0e-2)] {
            let training = json!({"format": 1, "peer": "FNO", "problem": "darcy1d", "schedule": "one-cycle",
                "n_train": samples, "hardware": "GPU", "rl2e": rl2e});
            put(run, &format!("peers/fno-{samples}.json"), &training);
        }
        let fits = json!([
            {"method": "auto", "problem": "darcy1d", "n_train": 100, "rl2e": 2.5e-3},
            {"method": "auto", "problem": "darcy1d", "n_train": 400, "rl2e": 0.000625},
            {"method": "auto", "problem": "helmholtz", "n_train": 400, "rl2e": 1.0e-3},
            {"method": "auto", "problem": "darcy2d", "n_train": 50, "rl2e": 2.0e-2},
            {"method": "auto", "problem": "darcy2d", "n_train": 100, "rl2e": 1.0e-2},
            {"method": "pca-net", "problem": "darcy2d", "n_train": 50, "rl2e": 3.0e-2},
            {"method": "pca-net", "problem": "darcy2d", "n_train": 200, "rl2e": 2.0e-2},
        ]);
        put(run, "peers/samples/darcy1d.json", &fits);
        text(run, "peers/samples/cut.json", "[{");
    });
    let title = "test error over the number of training samples";
    assert_has(
        &page,
        &["c2cnet auto", "0.000625", "peers/samples/cut.json"],
    );
    // The run of all samples ends the curve of c2cnet.
    assert!(page.contains("[0.02,0.01,0.0012]"));
    // One number of samples makes no curve.
    assert!(
        page.contains(&format!("darcy1d: {title}"))
            && !page.contains(&format!("helmholtz: {title}"))
    );
}

#[test]
fn what_is_missing_is_said_and_the_rest_is_shown() {
    let (page, markdown) = page_of(|run| {
        text(run, "cut/result.json", "{\"format\": 1, \"name\": \"cu");
        put(run, "new/result.json", &json!({"format": 2}));
        put(run, "odd/result.json", &json!({"format": 1, "tables": 3}));
        text(run, "stopped/config.toml", "");
        text(run, "data/darcy2d.npz", "");
        put(run, "peers/odd.json", &json!({"peer": "FNO"}));
        fs::remove_file(run.join("full/figures/one.svg")).unwrap();
    });
    assert_has(
        &page,
        &[
            "result.json is damaged: EOF",
            "result.json has format 2, and this c2cnet reads format 1",
            "result.json is damaged: invalid type",
            "the experiment was not finished",
            "there is no figures/one.svg",
            "there is no figures/gone.svg",
            "odd.json is damaged: it does not say its format",
            "All &lt;parts&gt;",
            "1 of 5",
        ],
    );
    assert!(!page.contains("id=\"data\"") && !page.contains("id=\"peers\""));
    assert_has(
        &markdown,
        &["## stopped", "Not shown: result.json is damaged"],
    );
}

#[test]
fn a_run_without_its_description_is_shown() {
    let (page, markdown) = page_of(|run| fs::remove_file(run.join("run.json")).unwrap());
    let reason = "is not known: there is no run.json";
    assert_has(&page, &[reason, "0.185 ✓"]);
    assert_has(&markdown, &[reason]);
}

#[test]
fn figures_come_from_the_experiment_alone() {
    let (page, _) = page_of(|run| {
        let mut all = everything();
        all["figures"][0]["svg"] = json!("../secret.svg");
        put(run, "full/result.json", &all);
        text(run, "secret.svg", SVG);
    });
    assert_has(&page, &["is not a file of the experiment"]);
}

#[test]
fn another_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let error = write(folder.path(), &page).unwrap_err().to_string();
    assert!(error.contains("not the folder of a run"), "{error}");
    let gone = write(&folder.path().join("gone"), &page).unwrap_err();
    assert!(gone.to_string().contains("gone"));
    assert!(!page.exists());
}
