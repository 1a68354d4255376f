//! `c2cnet reproduce`: an experiment is done, described, and not done again.

mod support;

use c2cnet::data::Dataset;
use serde_json::Value;
use support::Folder;

fn result(folder: &Folder, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.path(&format!("run/{name}/result.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_quick_experiment_is_done_once() {
    let folder = Folder::new();
    let arguments = ["reproduce", "cutoff", "--quick", "--out", "run"];
    let first = folder.succeed(&arguments);
    assert!(first.contains("cutoff: done in"), "{first}");
    let found = result(&folder, "cutoff");
    assert_eq!(found["format"], 1);
    assert_eq!(found["quick"], true);
    assert_eq!(found["label"], "subsec:svd-cutoff-illustration");
    for curve in found["curves"].as_array().unwrap() {
        assert!(
            folder
                .path("run/cutoff")
                .join(curve["svg"].as_str().unwrap())
                .exists()
        );
        for series in curve["series"].as_array().unwrap() {
            assert_eq!(
                series["x"].as_array().unwrap().len(),
                series["y"].as_array().unwrap().len()
            );
        }
    }
    let checks = found["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|c| c["passed"] == true));
    for file in ["run/run.json", "run/cutoff/config.toml"] {
        assert!(folder.path(file).exists(), "{file}");
    }

    let again = folder.succeed(&arguments);
    assert!(again.contains("already done"), "{again}");
    // Other settings are another experiment.
    let fewer = folder.succeed(&[
        "reproduce",
        "cutoff",
        "--quick",
        "--out",
        "run",
        "--recipe",
        "auto",
    ]);
    assert!(fewer.contains("done in"), "{fewer}");
    let series = result(&folder, "cutoff")["curves"][0]["series"].clone();
    assert_eq!(series.as_array().unwrap().len(), 2);
}

#[test]
fn runs_have_rows_headlines_figures_and_models() {
    let folder = Folder::new();
    folder.succeed(&["reproduce", "kdv-burgers", "--quick", "--out", "run"]);
    let found = result(&folder, "kdv-burgers");
    let methods: Vec<&str> = (found["headline"].as_array().unwrap().iter())
        .map(|h| h["method"].as_str().unwrap())
        .collect();
    assert_eq!(methods, ["plain, 20 steps", "scaled, 20 steps", "auto"]);
    for row in found["tables"][0]["rows"].as_array().unwrap() {
        assert!(row["rl2e"].as_f64().unwrap() >= row["floor"].as_f64().unwrap());
    }
    let gallery = found["galleries"][0]["samples"].as_array().unwrap();
    let errors: Vec<f64> = gallery
        .iter()
        .map(|s| s["rl2e"].as_f64().unwrap())
        .collect();
    assert!(errors.is_sorted() && errors.len() > 10);
    assert!(folder.path("run/kdv-burgers/models/auto-0.c2c").exists());
}

#[test]
fn experiments_of_ones_own_and_mistakes() {
    let folder = Folder::new();
    folder.fail(&["reproduce", "cutof"], 2, &["cutof", "cutoff"]);
    folder.fail(&["reproduce", "cutoff", "--steps", "0"], 2, &["full"]);
    std::fs::create_dir(folder.path("mine")).unwrap();
    let text = "
        title = 'Mine'
        label = 'none'
        about = 'A test.'
        [data.main]
        problem = 'darcy1d'
        settings = { points = 60, n_train = 30, n_test = 10, length = 0.3 }
        [[run]]
        id = 'a'
        label = 'linear'
        column = 'auto'
        data = 'main'
        fit.map.kind = 'linear'
        [[table]]
        id = 'runs'
        title = 'Runs'
    ";
    std::fs::write(folder.path("mine/one.toml"), text).unwrap();
    let arguments = ["reproduce", "one", "--experiments", "mine", "--out", "run"];
    assert!(folder.succeed(&arguments).contains("linear (auto): RL2E"));
    assert_eq!(
        result(&folder, "one")["tables"][0]["rows"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    std::fs::write(
        folder.path("mine/one.toml"),
        text.replace("'main'", "'mian'"),
    )
    .unwrap();
    folder.fail(&arguments, 2, &["one.toml", "mian"]);
    std::fs::write(
        folder.path("mine/one.toml"),
        text.replace("map.kind", "map.kidn"),
    )
    .unwrap();
    folder.fail(&arguments, 2, &["one.toml", "kidn"]);
}

/// An experiment of one's own with a table, in which fits are counted.
struct Mine {
    folder: Folder,
}

impl Mine {
    fn new() -> Self {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("mine")).unwrap();
        Mine { folder }
    }

    fn write(&self, points: usize, runs: &[&str]) {
        let head = format!(
            "
            title = 'Mine'
            label = 'none'
            about = 'A test.'
            [data.main]
            problem = 'darcy1d'
            settings = {{ points = {points}, n_train = 30, n_test = 10, length = 0.3 }}
            [data.few]
            from = 'main'
            train = 20
            [[table]]
            id = 'runs'
            title = 'Runs'
            "
        );
        let text = runs.iter().fold(head, |text, run| text + "[[run]]\n" + run);
        std::fs::write(self.folder.path("mine/one.toml"), text).unwrap();
    }

    /// How many fits were kept and made, and the table's rows.
    fn reproduce(&self, more: &[&str]) -> (usize, usize, Vec<Value>) {
        let mut words = vec!["reproduce", "one", "--experiments", "mine", "--out", "run"];
        words.extend(more);
        let said = self.folder.succeed(&words);
        let fits = said.matches(": RL2E").count();
        let kept = said.matches(", kept from 2").count();
        let rows = result(&self.folder, "one")["tables"][0]["rows"].clone();
        (kept, fits - kept, rows.as_array().unwrap().clone())
    }
}

#[test]
fn fits_that_were_done_are_not_done_again() {
    let linear =
        "id = 'a'\n label = 'A'\n column = 'auto'\n data = 'main'\n fit.map.kind = 'linear'\n";
    let network = "id = 'b'\n label = 'B'\n column = 'plain'\n data = 'few'\n seeds = [0, 1]
        fit.map = { kind = 'mlp', mlp = { recipe = 'paper', steps = 20 } }\n";
    let mine = Mine::new();
    mine.write(60, &[linear]);
    let (kept, made, first) = mine.reproduce(&[]);
    assert_eq!((kept, made), (0, 1));

    // Another run is done alone, and the first one's row stays as it is, times and all.
    mine.write(60, &[linear, network]);
    let (kept, made, rows) = mine.reproduce(&[]);
    assert_eq!((kept, made, &rows[0]), (1, 2, &first[0]));
    let before = result(&mine.folder, "one");
    assert!(before["checks"][0]["passed"] == true, "{before}");
    // Another seed, too; other words do not count.
    let third = network.replace("1]", "1, 2]").replace("'B'", "'C'");
    mine.write(60, &[linear, &third]);
    let (kept, made, rows) = mine.reproduce(&[]);
    assert_eq!((kept, made), (3, 1));
    assert_eq!(rows[1]["method"], "C");
    // All of it from what is kept; the time that it took counts.
    std::fs::remove_file(mine.folder.path("run/one/result.json")).unwrap();
    let (kept, made, again) = mine.reproduce(&[]);
    assert_eq!((kept, made, again), (4, 0, rows));
    let seconds_of = |file: &str| {
        let text = std::fs::read_to_string(mine.folder.path(file)).unwrap();
        let found: Value = serde_json::from_str(&text).unwrap();
        found["seconds"].as_f64().unwrap()
    };
    let fits = ["a-0", "b-0", "b-1", "b-2"];
    let fits = fits.map(|fit| seconds_of(&format!("run/one/models/{fit}.json")));
    assert!(seconds_of("run/one/result.json") > fits.iter().sum());
    // Fewer columns leave the others' fits alone, also by force.
    let (kept, made, _) = mine.reproduce(&["--recipe", "auto", "--force"]);
    assert_eq!((kept, made), (0, 1));
    assert_eq!(mine.reproduce(&[]).0, 4);

    // What is damaged is done again: a file, or the model of the first seed.
    for file in ["a-0.json", "b-0.c2c"] {
        std::fs::write(mine.folder.path(&format!("run/one/models/{file}")), "{}").unwrap();
    }
    std::fs::remove_file(mine.folder.path("run/one/result.json")).unwrap();
    let (kept, made, _) = mine.reproduce(&[]);
    assert_eq!((kept, made), (2, 2));
    // A model that stayed elsewhere is no reason to fit again.
    std::fs::remove_file(mine.folder.path("run/one/models/b-0.c2c")).unwrap();
    std::fs::remove_file(mine.folder.path("run/one/result.json")).unwrap();
    let (kept, made, _) = mine.reproduce(&[]);
    assert_eq!((kept, made), (4, 0));
    // Other data, other settings, or by force: everything.
    mine.write(61, &[linear, &third]);
    assert_eq!(mine.reproduce(&[]).0, 0);
    mine.write(61, &[linear, &third.replace("steps = 20", "steps = 19")]);
    assert_eq!(mine.reproduce(&[]).0, 1);
    assert_eq!(mine.reproduce(&["--force"]).0, 0);
}

#[test]
fn what_there_is_no_time_for_is_named_and_done_later() {
    let network = "id = 'b'\n label = 'B'\n column = 'paper'\n data = 'main'\n seeds = [0, 1]
        fit.map = { kind = 'mlp', mlp = { recipe = 'paper', steps = 20 } }\n";
    let mine = Mine::new();
    mine.write(60, &[network]);
    let words = ["reproduce", "one", "--experiments", "mine", "--out", "run"];
    mine.folder
        .succeed(&[&words[..], &["--within", "0"]].concat());
    let found = result(&mine.folder, "one");
    assert_eq!(found["missing"].as_array().unwrap().len(), 4);
    assert_eq!(found["missing"][3], "B (scaled), seed 1");
    assert!(found["tables"].as_array().unwrap().is_empty());
    // Both readings of both seeds, some of them at the same time: the same errors as one after the other.
    let (kept, made, rows) = mine.reproduce(&["--jobs", "3"]);
    assert_eq!((kept, made, rows.len()), (0, 4, 2));
    let (_, _, again) = mine.reproduce(&["--force"]);
    for (row, again) in rows.iter().zip(&again) {
        assert_eq!(row["rl2e"], again["rl2e"]);
    }
    assert_eq!(rows[0]["recipe"], "plain, 20 steps");
    assert_eq!(rows[1]["recipe"], "scaled, 20 steps");
}

#[test]
fn data_sets_of_experiments_are_files() {
    let folder = Folder::new();
    let make = |name: &str, file: &str| {
        let words = [
            "generate",
            name,
            "--experiment",
            "nonaligned",
            "--quick",
            "-o",
            file,
        ];
        folder.succeed(&words);
        Dataset::read_npz(&folder.path(file)).unwrap()
    };
    let scattered = make("both", "both.npz");
    let whole = make("both-test", "whole.npz");
    assert_eq!(scattered.meta["experiment"], "nonaligned");
    assert_eq!((scattered.samples(), scattered.n_train), (100, Some(80)));
    let (seen, same) = (&scattered.inputs[0].1, &whole.inputs[0].1);
    assert!(seen.shared_points().is_none());
    // The same observations; outputs of one at points of each sample's own, of the other at all.
    assert_eq!(seen.points_of(99), same.points_of(99));
    assert_eq!(seen.values_of(99), same.values_of(99));
    assert_eq!(scattered.outputs[0].1.points_of(99).len(), 100);
    assert_eq!(whole.outputs[0].1.shared_points().unwrap().len(), 400);

    let wrong = [
        "generate",
        "none",
        "--experiment",
        "nonaligned",
        "-o",
        "x.npz",
    ];
    folder.fail(&wrong, 2, &["no data set \"none\"", "both-test"]);
    let wrong = ["generate", "both", "--experiment", "none", "-o", "x.npz"];
    folder.fail(&wrong, 2, &["no experiment \"none\"", "nonaligned"]);
}
