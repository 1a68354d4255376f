//! Our side of `bench/training`: seconds per step, the products of that step alone, and the
//! prediction of one field, each with its peak memory, as JSON.
//!
//! bench_training TASK [shards]

use c2cnet::Result;
use c2cnet::basis::{BasisSpec, BuildContext, RandomFeaturesSpec};
use c2cnet::data::{Bounds, Points};
use c2cnet::internal::Split;
use c2cnet::internal::Targets;
use c2cnet::internal::{MlpMap, TrainingData};
use c2cnet::map::{MlpSpec, Recipe};
use c2cnet::observe::{Event, Observer, Silent};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::sync::Mutex;
use std::time::Instant;

const SEED: u64 = 2026;
/// Steps from one reading of the clock to the next.
const STEPS_PER_TIMING: usize = 10;
/// Predictions from one reading of the clock to the next.
const PREDICTIONS_PER_TIMING: usize = 30;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = arguments.first().map_or("", String::as_str);
    let shards = arguments.get(1).map_or(MlpSpec::default().shards, |s| {
        s.parse().expect("a number of shards")
    });
    let steps = arguments
        .get(2)
        .map_or(100, |s| s.parse().expect("a number of steps"));
    let small: &[usize] = &[128, 400, 400, 400, 128];
    let wide: &[usize] = &[512, 180, 180, 640];
    let seconds = match task {
        "small" => step(small, 800, None, shards, steps)?,
        "small-products" => products(small, 800, shards, steps),
        "wide" => step(wide, 2400, None, shards, steps)?,
        "wide-products" => products(wide, 2400, shards, steps),
        "paper" => step(&[512, 180, 180, 2048], 2400, Some(2048), shards, steps)?,
        "paper-cut" => step(&[512, 180, 180, 2048], 2400, Some(575), shards, steps)?,
        "predict" => predict(shards)?,
        other => {
            panic!("no task {other:?}: small, wide, each with -products, paper, paper-cut, predict")
        }
    };
    let (seconds, cpu_seconds) = seconds;
    let record = serde_json::json!({
        "task": task, "seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mib": peak_mib(),
    });
    println!("{record}");
    Ok(())
}

fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random_range(-1.0..1.0))
}

/// Wall clock and CPU time.
#[derive(Clone, Copy)]
struct Moment(Instant, f64);

impl Moment {
    fn now() -> Self {
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
        let nanoseconds = tasks.flatten().filter_map(|task| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<f64>().ok()
        });
        Moment(Instant::now(), nanoseconds.sum::<f64>() * 1e-9)
    }
}

/// The least of both between consecutive moments, each for `together` steps.
fn least(moments: &[Moment], together: usize) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for w in moments.windows(2) {
        let wall = (w[1].0 - w[0].0).as_secs_f64() / together as f64;
        let cpu = (w[1].1 - w[0].1) / together as f64;
        best = (best.0.min(wall), best.1.min(cpu));
    }
    best
}

/// Looks at the clocks whenever something is recorded.
struct Stopwatch(Mutex<Vec<Moment>>);

impl Observer for Stopwatch {
    fn event(&self, event: &Event<'_>) {
        let Event::Training(progress) = event else {
            return;
        };
        if progress.recorded {
            self.0.lock().expect("one thread").push(Moment::now());
        }
    }
}

/// The fastest `STEPS_PER_TIMING` of `steps` full-batch steps; `rank`: through a factor with this many rows,
/// triangular where it is square.
fn step(
    widths: &[usize],
    samples: usize,
    rank: Option<usize>,
    shards: usize,
    steps: usize,
) -> Result<(f64, f64)> {
    let watch = Stopwatch(Mutex::new(Vec::new()));
    train(widths, samples, rank, shards, steps, &watch)?;
    let times = watch.0.into_inner().expect("one thread");
    Ok(least(&times, STEPS_PER_TIMING))
}

fn train(
    widths: &[usize],
    samples: usize,
    rank: Option<usize>,
    shards: usize,
    steps: usize,
    observer: &dyn Observer,
) -> Result<MlpMap> {
    let outputs = widths[widths.len() - 1];
    let rows = rank.unwrap_or(outputs);
    let mut factor = random(rows, outputs, 3);
    if rows == outputs {
        (0..rows).for_each(|j| (j + 1..rows).for_each(|i| factor[(i, j)] = 0.0));
    }
    let coordinates = random(rows, samples, 2);
    let norm_squared = c2cnet::linalg::column_norms_squared(coordinates.as_ref());
    let targets = Targets {
        coordinates,
        outside_squared: vec![1e-3; samples],
        norm_squared,
        withheld_floor: None,
        readings: None,
    };
    let a = random(widths[0], samples, 1);
    let data = TrainingData {
        coefficients: a.as_ref(),
        targets: &targets,
        count: 19_881,
        factor: rank.map(|_| factor.as_ref()),
        field: None,
        per_sample: None,
    };
    let spec = MlpSpec {
        hidden: Some(widths[1..widths.len() - 1].to_vec()),
        steps: Some(steps),
        rate: Some(1e-4),
        evaluations: steps.div_ceil(STEPS_PER_TIMING),
        shards,
        ..MlpSpec::recipe(Recipe::Paper)
    };
    let all = Split::all(samples);
    Ok(MlpMap::fit(&data, &all, &spec, SEED, observer)?.0)
}

/// The matrix products of a step and nothing else, split as a step splits them.
fn products(widths: &[usize], samples: usize, shards: usize, steps: usize) -> (f64, f64) {
    let n = samples / shards;
    let matrix = |rows, columns, seed| {
        let wide = random(rows, columns, seed);
        Mat::<f32>::from_fn(rows, columns, |i, j| wide[(i, j)] as f32)
    };
    let layers: Vec<_> = widths.windows(2).collect();
    let weights: Vec<Mat<f32>> = layers.iter().map(|w| matrix(w[1], w[0], 1)).collect();
    let mut workspaces: Vec<_> = (0..shards)
        .map(|_| {
            let values: Vec<Mat<f32>> = widths.iter().map(|&w| matrix(w, n, 2)).collect();
            let blames: Vec<Mat<f32>> = widths.iter().map(|&w| matrix(w, n, 3)).collect();
            let gradients: Vec<Mat<f32>> = layers.iter().map(|w| matrix(w[1], w[0], 4)).collect();
            (values, blames, gradients)
        })
        .collect();
    let mut moments = vec![Moment::now()];
    for _ in 0..steps / STEPS_PER_TIMING {
        for _ in 0..STEPS_PER_TIMING {
            workspaces
                .par_iter_mut()
                .for_each(|(values, blames, gradients)| {
                    for (l, w) in weights.iter().enumerate() {
                        let (before, after) = values.split_at_mut(l + 1);
                        matmul(&mut after[0], Accum::Replace, w, &before[l], 1.0, Par::Seq);
                    }
                    for (l, w) in weights.iter().enumerate().rev() {
                        let (before, after) = blames.split_at_mut(l + 1);
                        matmul(
                            &mut gradients[l],
                            Accum::Replace,
                            &after[0],
                            values[l].transpose(),
                            1.0,
                            Par::Seq,
                        );
                        if l > 0 {
                            matmul(
                                &mut before[l],
                                Accum::Replace,
                                w.transpose(),
                                &after[0],
                                1.0,
                                Par::Seq,
                            );
                        }
                    }
                });
        }
        moments.push(Moment::now());
    }
    least(&moments, STEPS_PER_TIMING)
}

/// One field at 141 x 141 points from one sample's coefficients: network, then 2,048 windowed
/// random features that were evaluated before.
fn predict(shards: usize) -> Result<(f64, f64)> {
    let map = train(&[512, 180, 180, 2048], 64, Some(2048), shards, 1, &Silent)?;
    let basis = BasisSpec::from(RandomFeaturesSpec {
        functions: 2048,
        partitions: vec![8; 2],
        scale: 0.3,
        activation: Default::default(),
        coordinates: Default::default(),
        seed: SEED,
    })
    .build(BuildContext::on(&Bounds::unit(2)))?;
    let design = basis.evaluate(&Points::grid(&Bounds::unit(2), &[141, 141]))?;
    let a = random(512, 1, 5);
    let mut moments = Vec::new();
    for k in 0..600 {
        if k % PREDICTIONS_PER_TIMING == 0 {
            moments.push(Moment::now());
        }
        let b = map.raw_coefficients(a.as_ref()).expect("raw coefficients");
        let field = design.mul(b.as_ref());
        assert!(field.nrows() == 19_881 && field[(0, 0)].is_finite());
    }
    Ok(least(&moments, PREDICTIONS_PER_TIMING))
}

/// The most memory this process has held, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}
