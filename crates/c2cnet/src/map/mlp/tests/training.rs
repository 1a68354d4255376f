//! Threads, checkpoints, divergence, stopping, and the map as a whole.

use super::super::state::State;
use super::*;
use crate::decode::SampleTarget;
use crate::map::mlp::*;
use crate::map::{CoefficientMap, Split, conformance};
use crate::storage::Archive;
use crate::{Error, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn data(problem: &Problem) -> TrainingData<'_> {
    TrainingData {
        coefficients: problem.a.as_ref(),
        targets: &problem.targets,
        count: problem.u.nrows(),
        factor: Some(problem.r.as_ref()),
        field: Some((problem.q.as_ref(), problem.u.as_ref())),
        per_sample: None,
    }
}

fn split(problem: &Problem) -> Split {
    let n = problem.samples();
    Split {
        train: (0..n - 12).collect(),
        validation: (n - 12..n).collect(),
    }
}

fn fit(problem: &Problem, spec: &MlpSpec) -> Result<(MlpMap, TrainingReport)> {
    MlpMap::fit(&data(problem), &split(problem), spec, 3, &Silent)
}

/// Mini-batches and the whole batch, two stages.
fn spec(recipe: Recipe, precision: Precision) -> MlpSpec {
    MlpSpec {
        hidden: Some(vec![20, 17]),
        steps: Some(40),
        precision,
        shards: 4,
        clip: Some(0.5),
        evaluations: 7,
        stages: vec![StageSpec {
            loss: Some(losses()[3]),
            steps: Some(20),
            ..StageSpec::default()
        }],
        ..MlpSpec::recipe(recipe)
    }
}

fn bits(map: &MlpMap) -> Vec<u64> {
    map.network_parameters()
        .iter()
        .map(|p| p.to_bits())
        .collect()
}

#[test]
fn same_bits_on_any_number_of_threads() {
    let problem = Problem::new(6, 9, 50, 152);
    for (recipe, batch) in [
        (Recipe::Paper, None),
        (Recipe::Fast, Some(90)),
        (Recipe::Fast, Some(8)),
    ] {
        for precision in [Precision::F32, Precision::F64] {
            let spec = MlpSpec {
                batch: batch.map(BatchSize::Samples),
                ..spec(recipe, precision)
            };
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                let (map, report) = pool.install(|| fit(&problem, &spec)).unwrap();
                (bits(&map), report.history)
            };
            let one = with(1);
            assert!(one == with(2) && one == with(4), "{recipe:?} {batch:?}");
        }
    }
}

/// Stops after the given number of steps and keeps the checkpoint, as written to a file and read back.
struct Stop {
    after: usize,
    seen: AtomicUsize,
    kept: Mutex<Option<Archive>>,
}

impl Observer for Stop {
    fn cancelled(&self) -> bool {
        self.seen.fetch_add(1, Ordering::Relaxed) == self.after
    }

    fn checkpoint(&self, _: &str, archive: &Archive) -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        archive.write(&path)?;
        *self.kept.lock().unwrap() = Some(Archive::read(&path)?);
        Ok(())
    }
}

/// Continues from a checkpoint, whatever run it belongs to.
struct Resume<'a>(&'a Archive);

impl Observer for Resume<'_> {
    fn resume(&self, _: &str) -> Result<Option<Archive>> {
        Ok(Some(self.0.clone()))
    }
}

#[test]
fn a_resumed_run_ends_at_the_same_bits() {
    let problem = Problem::new(6, 9, 50, 92);
    let split = split(&problem);
    for (recipe, batch) in [(Recipe::Paper, None), (Recipe::Fast, Some(16))] {
        for precision in [Precision::F32, Precision::F64] {
            let spec = MlpSpec {
                batch: batch.map(BatchSize::Samples),
                ..spec(recipe, precision)
            };
            let (whole, report) = fit(&problem, &spec).unwrap();
            // In the first stage, at its end, and in the second.
            for after in [0, 25, 40, 51] {
                let stop = Stop {
                    after,
                    seen: AtomicUsize::new(0),
                    kept: Mutex::new(None),
                };
                let d = data(&problem);
                let stopped = MlpMap::fit(&d, &split, &spec, 3, &stop);
                assert!(matches!(stopped, Err(Error::Interrupted)));
                let checkpoint = stop.kept.into_inner().unwrap().unwrap();
                let resumed = MlpMap::fit(&d, &split, &spec, 3, &Resume(&checkpoint)).unwrap();
                assert_eq!(
                    bits(&whole),
                    bits(&resumed.0),
                    "{recipe:?} {precision:?} {after}"
                );
                assert_eq!(report.history, resumed.1.history);
                assert_eq!(resumed.1.steps, 60);

                // Other settings, other data or no checkpoint are refused.
                let other = MlpMap::fit(&d, &split, &spec, 4, &Resume(&checkpoint));
                assert!(matches!(other, Err(Error::Data(_))));
                let mut fewer = split.clone();
                fewer.train.remove(0);
                let fewer = MlpMap::fit(&d, &fewer, &spec, 3, &Resume(&checkpoint));
                assert!(matches!(fewer, Err(Error::Data(_))));
                let nothing = Archive::default();
                let none = MlpMap::fit(&d, &split, &spec, 3, &Resume(&nothing));
                assert!(matches!(none, Err(Error::Data(_))));
            }
        }
    }
}

/// Whatever bit of a checkpoint's file has changed, it is refused by an error.
#[test]
fn flipped_bits_of_a_checkpoint_are_refused() {
    let network = Network::new(vec![3, 2], crate::map::mlp::Activation::Gelu).unwrap();
    let state = State::new(network.initialise::<f32>(1));
    let whole = state.save("mark").unwrap().to_bytes().unwrap();
    let read = |bytes: &[u8]| -> Result<State<f32>> {
        let archive = Archive::from_bytes(bytes, "checkpoint".as_ref())?;
        State::load(archive, network.parameters(), "mark")
    };
    for bit in (0..8 * whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(
            matches!(read(&bytes), Err(Error::Format { .. })),
            "bit {bit}"
        );
    }
    assert_eq!(read(&whole).unwrap(), state);
}

#[test]
fn divergence_names_step_and_rate() {
    let problem = Problem::new(6, 9, 50, 60);
    let spec = MlpSpec {
        rate: Some(1e30),
        schedule: Some(Schedule::Constant),
        hidden: Some(vec![20, 17]),
        steps: Some(50),
        ..MlpSpec::recipe(Recipe::Paper)
    };
    let Err(Error::Numerical(message)) = fit(&problem, &spec) else {
        panic!("training at such a rate cannot succeed");
    };
    let known = message.contains("at step 2 of 50") && message.contains("1.000e30");
    assert!(known, "{message}");
}

#[test]
fn recipes_learn_and_survive_a_file() {
    let problem = Problem::new(6, 9, 50, 412);
    let fast = MlpSpec {
        hidden: Some(vec![64, 64]),
        steps: Some(1500),
        batch: Some(BatchSize::Samples(50)),
        ..MlpSpec::default()
    };
    let residual = MlpSpec {
        residual: true,
        ..fast.clone()
    };
    let paper = MlpSpec {
        hidden: Some(vec![64, 64]),
        steps: Some(600),
        ..MlpSpec::recipe(Recipe::Paper)
    };
    let floor = problem.targets.floor();
    for (spec, bound) in [(fast, 1.5), (residual, 1.5), (paper, 3.0)] {
        let (map, report) = fit(&problem, &spec).unwrap();
        let error = report.validation_rl2e.unwrap();
        println!("{}: {error:.3e}, floor {floor:.3e}", map.describe());
        assert!(error < bound * floor, "{}: {error} {floor}", map.describe());
        let last = report.history.last().unwrap();
        assert!((last.validation_rl2e.unwrap() - error).abs() < 1e-4 * error);

        let stored = Archive::of::<dyn CoefficientMap>(&map).unwrap();
        let load = |a: Archive| a.restore::<Box<dyn CoefficientMap>>("map");
        let again = load(stored.clone()).unwrap();
        assert_eq!((again.inputs(), again.outputs()), (6, 9));
        assert_eq!(again.parameters(), map.parameters());
        let (a, b) = (
            map.predict(problem.a.as_ref()),
            again.predict(problem.a.as_ref()),
        );
        assert_eq!(a, b);
        let one = map.predict(problem.a.as_ref().subcols(7, 1));
        let pairs = one.col_as_slice(0).iter().zip(a.col_as_slice(7));
        pairs.for_each(|(x, y)| assert!((x - y).abs() < 1e-12 * (1.0 + y.abs())));
        if let Some(b) = map.raw_coefficients(problem.a.as_ref()) {
            assert_eq!(&problem.r * b, a);
        }
        let whole = stored.document["network"]["widths"].clone();
        let huge = u64::MAX / 2;
        for widths in [
            serde_json::json!([6, 3, 2]),
            serde_json::json!([6, 0, 2]),
            serde_json::json!([6]),
            serde_json::json!([huge, huge, huge]),
        ] {
            let mut damaged = stored.clone();
            damaged.document["network"]["widths"] = widths;
            assert!(load(damaged).is_err());
        }
        assert_eq!(whole, serde_json::json!(map.network().widths()));
        if map.head.linear().is_some() {
            // A linear map of other sizes, in itself consistent.
            let mut damaged = stored.clone();
            let name = |part: &str| format!("head.principal.linear.{part}");
            damaged.put(name("weights"), &Mat::<f64>::zeros(3, 2));
            damaged.put(name("input_mean"), &vec![0.0; 2]);
            damaged.put(name("output_mean"), &vec![0.0; 3]);
            let message = load(damaged).unwrap_err().to_string();
            assert!(message.contains("mlp map is damaged"), "{message}");
        }
    }
}

#[test]
fn samples_with_points_of_their_own() {
    // The same problem, but each sample gives its values at every second point, from its own start.
    let problem = Problem::new(6, 9, 50, 212);
    let own = |modes: &Mat<f64>| -> Vec<SampleTarget> {
        let sample = |k: usize| {
            let rows: Vec<usize> = (0..50).filter(|i| (i + k).is_multiple_of(2)).collect();
            let values: Vec<f64> = rows.iter().map(|&i| problem.u[(i, k)]).collect();
            let design = linalg::select_rows(modes.as_ref(), &rows);
            SampleTarget::new(design.as_ref(), &values).unwrap()
        };
        (0..problem.samples()).map(sample).collect()
    };
    let split = split(&problem);
    let held = &split.validation;
    for (recipe, scaled, modes, steps) in [
        (Recipe::Fast, false, &problem.q, 1500),
        (Recipe::Paper, false, &problem.psi, 600),
        (Recipe::Paper, true, &problem.psi, 600),
    ] {
        let targets = own(modes);
        let data = TrainingData {
            per_sample: Some(&targets),
            ..data(&problem)
        };
        let spec = MlpSpec {
            hidden: Some(vec![64, 64]),
            steps: Some(steps),
            scaled,
            ..MlpSpec::recipe(recipe)
        };
        let (map, report) = MlpMap::fit(&data, &split, &spec, 3, &Silent).unwrap();
        // At all points, not only at its own.
        let predicted = map.predict(problem.a.as_ref().subcols(held[0], held.len()));
        let errors = problem.targets.relative_errors(predicted.as_ref(), held);
        let error = crate::metrics::mean(&errors);
        println!(
            "{recipe:?}: {error:.3e}, at own points {:?}",
            report.history.last().unwrap().validation_rl2e
        );
        assert!(error < 4.0 * problem.targets.floor());
    }
}

#[test]
fn networks_conform() {
    let problem = Problem::new(6, 9, 50, 60);
    for recipe in [Recipe::Paper, Recipe::Fast] {
        for precision in [Precision::F32, Precision::F64] {
            let (map, _) = fit(&problem, &spec(recipe, precision)).unwrap();
            conformance::check(&map, "mlp", problem.a.as_ref());
        }
    }
}

#[test]
fn settings_are_checked() {
    let good = MlpSpec::default();
    good.check().unwrap();
    let text = |json: serde_json::Value| serde_json::from_value::<MlpSpec>(json);
    let spec = text(serde_json::json!({
        "recipe": "paper", "batch": "full", "loss": { "kind": "weighted" }, "activation": "gelu-tanh",
        "stages": [{ "batch": 32, "epochs": 2, "optimiser": { "kind": "adamw" } }],
    }))
    .unwrap();
    spec.check().unwrap();
    let plan = spec.plan(100, 0);
    assert_eq!((plan.stages[0].steps, plan.stages[0].batch), (30_000, None));
    assert_eq!((plan.stages[1].steps, plan.stages[1].batch), (8, Some(32)));
    assert_eq!(plan.stages[1].loss, plan.stages[0].loss);
    assert!(text(serde_json::json!({ "stepz": 3 })).is_err());
    assert!(text(serde_json::json!({ "batch": "half" })).is_err());
    for bad in [
        serde_json::json!({ "steps": 3, "epochs": 3 }),
        serde_json::json!({ "steps": 0 }),
        serde_json::json!({ "batch": 0 }),
        serde_json::json!({ "rate": -1.0 }),
        serde_json::json!({ "clip": 0.0 }),
        serde_json::json!({ "shards": 0 }),
        serde_json::json!({ "hidden": [3, 0] }),
        serde_json::json!({ "loss": { "kind": "band", "inside": 0.0 } }),
        serde_json::json!({ "optimiser": { "beta1": 1.0 } }),
        serde_json::json!({ "stages": [{ "rate": 0.0 }] }),
    ] {
        assert!(text(bad.clone()).unwrap().check().is_err(), "{bad}");
    }
}

#[test]
fn unfit_data_is_refused() {
    let problem = Problem::new(6, 9, 50, 30);
    let all: Vec<usize> = (0..30).collect();
    let try_fit = |data: &TrainingData<'_>, train: &[usize], spec: &MlpSpec| {
        let split = Split {
            train: train.to_vec(),
            validation: Vec::new(),
        };
        MlpMap::fit(data, &split, spec, 3, &Silent).is_err()
    };
    let spec = MlpSpec {
        steps: Some(1),
        ..MlpSpec::default()
    };
    let good = data(&problem);
    assert!(!try_fit(&good, &all, &spec));
    assert!(try_fit(&good, &all[..1], &spec));
    assert!(try_fit(&good, &[0, 1, 30], &spec));
    let short = problem.a.as_ref().subcols(0, 29);
    let fewer = TrainingData {
        coefficients: short,
        ..good
    };
    assert!(try_fit(&fewer, &all[..20], &spec));
    let band = MlpSpec {
        loss: losses()[2],
        ..spec
    };
    let no_field = TrainingData {
        field: None,
        ..good
    };
    assert!(try_fit(&no_field, &all, &band));
}
