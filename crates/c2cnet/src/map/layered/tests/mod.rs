//! Tests of the layered map: gradients, its start, determinism, resuming, storage.

mod device;
mod push;

use super::engine::{Engine, Samples};
use super::network::{Frozen, Inputs};
use super::*;
use crate::decode::Targets;
use crate::linalg;
use crate::map::mlp::engine::Batch;
use crate::map::mlp::objective::{Frame, Objective};
use crate::map::mlp::steps::Differentiate;
use crate::map::mlp::{
    Activation, BatchSize, Loss, Optimiser, OptimiserKind, Precision, TrainingData,
};
use crate::map::{Split, conformance};
use crate::metrics::mean;
use crate::observe::{Observer, Silent};
use crate::storage::Archive;
use std::sync::Mutex;

const POINTS: usize = 40;

/// Two inputs at points of an interval, one parameter, and two components that depend on their product.
struct Problem {
    coefficients: Mat<f64>,
    targets: Targets,
    latent: Latent,
}

/// Cosines, each with its channel matrix.
fn cosines() -> Functions {
    let raw = Mat::from_fn(POINTS, 8, |i, j| {
        (std::f64::consts::PI * (j * i) as f64 / (POINTS - 1) as f64).cos()
    });
    let q = linalg::Qr::new(raw);
    let q = q.q_mul(Mat::<f64>::identity(8, 8).as_ref());
    Functions::of_columns(q * faer::Scale((POINTS as f64).sqrt()))
}

/// Waves on a torus with as many points, in groups of four of which some lack members.
fn waves() -> Functions {
    Functions::waves(&[(8, 5), (5, 3)], 14)
}

fn problem(samples: usize) -> Problem {
    problem_with(samples, cosines())
}

fn problem_with(samples: usize, functions: Functions) -> Problem {
    let at = |i: usize| i as f64 / (POINTS - 1) as f64;
    let waves = |i: usize, j: usize| (std::f64::consts::PI * j as f64 * at(i)).cos();
    let (m, extra) = (6, 1);
    let coefficients = Mat::from_fn(2 * m + extra, samples, |i, k| {
        ((i * 37 + k * 101 + 13) as f64 * 12.9898).sin() / (1 + i % m) as f64
    });
    let fields = Mat::from_fn(2 * POINTS, 2 * m + extra, |row, j| {
        let (field, i) = (row / POINTS, row % POINTS);
        if j / m == field { waves(i, j % m) } else { 0.0 }
    });
    let constants = Mat::from_fn(extra, 2 * m + extra, |_, j| f64::from(u8::from(j == 2 * m)));
    let values = linalg::mul(fields.as_ref(), coefficients.as_ref());
    let coordinates = Mat::from_fn(2 * POINTS, samples, |row, k| {
        let (component, i) = (row / POINTS, row % POINTS);
        let (f, g) = (values[(i, k)], values[(POINTS + i, k)]);
        match component {
            0 => 1.0 + f + 0.5 * f * g,
            _ => g - coefficients[(2 * m, k)] * f.tanh(),
        }
    });
    let norm_squared = linalg::column_norms_squared(coordinates.as_ref());
    let latent = Latent::for_tests(
        [fields, constants],
        functions,
        [
            Mat::from_fn(1, POINTS, |_, i| 2.0 * at(i) - 1.0),
            Mat::identity(2 * POINTS, 2 * POINTS),
        ],
    );
    Problem {
        targets: Targets {
            outside_squared: norm_squared.iter().map(|n| 1e-8 * n).collect(),
            norm_squared,
            coordinates,
            withheld_floor: None,
            readings: None,
        },
        coefficients,
        latent,
    }
}

impl Problem {
    fn data(&self) -> LayeredData<'_> {
        LayeredData {
            samples: TrainingData {
                coefficients: self.coefficients.as_ref(),
                targets: &self.targets,
                count: 2 * POINTS,
                factor: None,
                field: None,
                per_sample: None,
            },
            latent: &self.latent,
            values: None,
        }
    }

    fn split(&self) -> Split {
        let n = self.coefficients.ncols();
        Split {
            train: (0..n - n / 5).collect(),
            validation: (n - n / 5..n).collect(),
        }
    }

    fn error(&self, map: &dyn CoefficientMap) -> f64 {
        let held = self.split().validation;
        let predicted =
            map.predict(linalg::select_columns(self.coefficients.as_ref(), &held).as_ref());
        mean(&self.targets.relative_errors(predicted.as_ref(), &held))
    }

    fn fit(&self, spec: &LayeredSpec) -> LayeredMap {
        let fitted = LayeredMap::fit(&self.data(), &self.split(), spec, 1, &Silent);
        fitted.unwrap().0
    }
}

fn small() -> LayeredSpec {
    LayeredSpec {
        channels: 6,
        layers: 2,
        hidden: 7,
        epochs: 6,
        batch: BatchSize::Samples(7),
        ..LayeredSpec::default()
    }
}

#[test]
fn gradients_are_limits_of_differences() {
    for (functions, activation) in [
        (cosines(), Activation::Gelu),
        (cosines(), Activation::Tanh),
        (waves(), Activation::Gelu),
    ] {
        let problem = problem_with(5, functions);
        for layers in [1, 3] {
            let shape = Shape {
                inputs: problem.latent.channels(),
                channels: 3,
                matrices: problem.latent.functions().groups().matrices(),
                layers,
                hidden: 4,
                outputs: 2,
                activation,
            };
            let frozen = Frozen::<f64>::new(shape, &problem.latent, problem.latent.projection());
            let frame = Frame {
                axes: None,
                scale: 0.7,
                offsets: None,
            };
            let all: Vec<usize> = (0..5).collect();
            let samples = Samples {
                inputs: Inputs::new(&problem.latent, problem.coefficients.as_ref()),
                objective: Objective::new(&problem.data().samples.outputs(), &all, &frame, None),
            };
            let mut engine = Engine::new(&frozen, &samples, &Loss::default(), 5, true).unwrap();
            let mut parameters = shape.initialise::<f64>(3);
            // The last weights are zero at first, and nothing behind them would be tested.
            let last = parameters.len() - 10..parameters.len();
            (last.clone().zip(1..)).for_each(|(i, k)| parameters[i] = 0.1 * f64::from(k % 5) - 0.2);
            for batch in [Batch::All, Batch::Some(&[3, 1])] {
                engine.differentiate(&parameters, batch);
                let gradient = engine.gradient().to_vec();
                let largest = gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
                for i in (0..parameters.len()).step_by(3).chain(last.clone()) {
                    let mut at = |by: f64| {
                        let mut moved = parameters.clone();
                        moved[i] += by;
                        engine.differentiate(&moved, batch).loss
                    };
                    let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                    let off = (slope - gradient[i]).abs();
                    assert!(
                        off < 1e-7 * largest.max(1.0),
                        "{i}: {slope} {}",
                        gradient[i]
                    );
                }
            }
        }
    }
}

impl Problem {
    /// The linear map without the held-out samples.
    fn linear(&self) -> LinearMap {
        let train = self.split().train;
        let coefficients = linalg::select_columns(self.coefficients.as_ref(), &train);
        LinearMap::fit(coefficients.as_ref(), &self.targets.select(&train)).unwrap()
    }

    /// Layers that were not trained yet.
    fn untrained(&self) -> LayeredMap {
        self.fit(&LayeredSpec {
            rate: 1e-300,
            epochs: 1,
            ..small()
        })
    }
}

#[test]
fn it_starts_as_the_linear_map_where_that_holds() {
    let mut problem = problem(120);
    // A linear operator, by which the linear map errs as little on others as on its samples.
    let (outputs, samples) = problem.targets.coordinates.shape();
    let a = &problem.coefficients;
    problem.targets.coordinates = Mat::from_fn(outputs, samples, |i, k| {
        a[(i % a.nrows(), k)] - 0.5 * a[(0, k)]
    });
    let before = problem.untrained();
    assert!(before.describe().ends_with("added to the linear map"));
    let expected = problem.linear().predict(problem.coefficients.as_ref());
    assert!(before.predict(problem.coefficients.as_ref()) == expected);
}

/// The linear map has error 0.23 on its samples and 0.51 on others. Layers that start from it learn to correct the
/// former,
/// and keep more than half of its error on the latter.
#[test]
fn it_starts_from_the_mean_where_the_linear_map_has_learned_samples_by_heart() {
    let problem = problem(120);
    let linear = problem.linear();
    let before = problem.untrained();
    assert!(before.describe().ends_with("added to the mean"));
    let predicted = before.predict(problem.coefficients.as_ref());
    assert!((0..120).all(|k| predicted.col_as_slice(k) == linear.output_mean()));
    // These samples are many for so few parameters, whose weights need not decay.
    let trained = problem.fit(&LayeredSpec {
        epochs: 60,
        rate: 1e-2,
        optimiser: Some(Optimiser {
            kind: OptimiserKind::AdamW,
            weight_decay: 1e-4,
            ..Optimiser::default()
        }),
        ..small()
    });
    let (linear, layered) = (problem.error(&linear), problem.error(&trained));
    assert!(layered < 0.2 * linear, "{layered:e} against {linear:e}");
}

#[test]
fn conforms_and_is_stored() {
    let problem = problem(40);
    let map = problem.fit(&small());
    conformance::check(&map, "layered", problem.coefficients.as_ref());
    let bytes = Archive::of(&(&map as &dyn CoefficientMap))
        .unwrap()
        .to_bytes()
        .unwrap();
    let archive = Archive::from_bytes(&bytes, "map".as_ref()).unwrap();
    let loaded: Box<dyn CoefficientMap> = archive.restore("map").unwrap();
    assert_eq!(loaded.describe(), map.describe());
    let predict = |map: &dyn CoefficientMap| map.predict(problem.coefficients.as_ref());
    assert!(predict(loaded.as_ref()) == predict(&map), "the same bits");
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let problem = problem(40);
    let fit = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| problem.fit(&small()).parameters)
    };
    assert!(fit(1) == fit(3));
}

/// Stops after this many steps, with a checkpoint.
struct Stopping {
    left: Mutex<usize>,
    saved: Mutex<Option<Archive>>,
}

impl Observer for Stopping {
    fn cancelled(&self) -> bool {
        let mut left = self.left.lock().unwrap();
        *left = left.saturating_sub(1);
        *left == 0
    }

    fn checkpoint(&self, _: &str, state: &Archive) -> Result<()> {
        *self.saved.lock().unwrap() = Some(state.clone());
        Ok(())
    }

    fn resume(&self, _: &str) -> Result<Option<Archive>> {
        Ok(self.saved.lock().unwrap().clone())
    }
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let problem = problem(40);
    for precision in [Precision::F32, Precision::F64] {
        let spec = LayeredSpec {
            precision,
            ..small()
        };
        let whole = problem.fit(&spec);
        let observer = Stopping {
            left: Mutex::new(12),
            saved: Mutex::new(None),
        };
        let fit = || LayeredMap::fit(&problem.data(), &problem.split(), &spec, 1, &observer);
        assert!(matches!(fit(), Err(Error::Interrupted)));
        *observer.left.lock().unwrap() = usize::MAX;
        assert!(fit().unwrap().0.parameters == whole.parameters);
    }
}

#[test]
fn impossible_settings_are_named() {
    let parse = |text| serde_json::from_str::<LayeredSpec>(text);
    assert!(parse(r#"{"channel": 3}"#).is_err());
    for (text, expected) in [
        (r#"{"channels": 0}"#, "channels = 0"),
        (r#"{"layers": 17}"#, "layers = 17"),
        (r#"{"points": 3}"#, "points = 3"),
        (r#"{"rate": -1}"#, "rate = -1"),
        (r#"{"clip": 0}"#, "clip"),
        (r#"{"batch": 0}"#, "batch"),
        (r#"{"basis": {"family": "hybrid"}}"#, "learned"),
    ] {
        let message = parse(text).unwrap().check().unwrap_err().to_string();
        assert!(
            message.starts_with("layered: ") && message.contains(expected),
            "{message}"
        );
    }
}
