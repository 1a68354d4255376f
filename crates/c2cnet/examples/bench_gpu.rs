//! Our side of `bench/gpu`: milliseconds per step of the paper's networks on a GPU, alone and side by side, as one
//! JSON object a line.
//!
//! bench_gpu [DEVICE] [NAMES...]

use c2cnet::internal::Split;
use c2cnet::internal::Targets;
use c2cnet::internal::{MlpMap, TrainingData};
use c2cnet::map::{MlpSpec, Precision, Recipe};
use c2cnet::observe::{Event, Observer};
use c2cnet::{Device, Result};
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Instant;

/// Steps from one reading of the clock to the next, and how many readings there are.
const STEPS_PER_TIMING: usize = 400;
const TIMINGS: usize = 8;

/// Name, widths and training samples; the loss goes through a triangular factor as large as the outputs.
const PROBLEMS: [(&str, &[usize], usize); 6] = [
    ("darcy1d", &[128, 400, 400, 400, 128], 800),
    ("kdv-burgers", &[32, 300, 300, 300, 1024], 1600),
    ("elastic-plate", &[64, 512, 512], 1850),
    ("poisson-holes", &[512, 210, 210, 1600], 1600),
    ("helmholtz", &[256, 415, 415, 512], 2000),
    ("darcy2d", &[512, 180, 180, 2048], 2400),
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let device: Device = arguments.next().as_deref().unwrap_or("cuda").parse()?;
    let names: Vec<String> = arguments.collect();
    for (name, widths, samples) in PROBLEMS {
        if !names.is_empty() && !names.iter().any(|n| n == name) {
            continue;
        }
        let problem = Problem::new(widths, samples);
        let report = |what: &str, side_by_side: usize, milliseconds: f64| {
            let record = serde_json::json!({
                "name": name, "widths": widths, "samples": samples, "what": what,
                "side_by_side": side_by_side, "ms": milliseconds,
            });
            println!("{record}");
        };
        report("f32", 1, problem.step(device, Precision::F32, 1)?);
        report("f64", 1, problem.step(device, Precision::F64, 1)?);
        report("f32", 16, problem.step(device, Precision::F32, 16)?);
    }
    Ok(())
}

fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random_range(-1.0..1.0))
}

struct Problem {
    hidden: Vec<usize>,
    inputs: Mat<f64>,
    factor: Mat<f64>,
    targets: Targets,
}

impl Problem {
    fn new(widths: &[usize], samples: usize) -> Self {
        let outputs = widths[widths.len() - 1];
        let mut factor = random(outputs, outputs, 3);
        (0..outputs).for_each(|j| (j + 1..outputs).for_each(|i| factor[(i, j)] = 0.0));
        let coordinates = random(outputs, samples, 2);
        let norm_squared = c2cnet::linalg::column_norms_squared(coordinates.as_ref());
        Problem {
            hidden: widths[1..widths.len() - 1].to_vec(),
            inputs: random(widths[0], samples, 1),
            factor,
            targets: Targets {
                coordinates,
                outside_squared: vec![1e-3; samples],
                norm_squared,
                withheld_floor: None,
                readings: None,
            },
        }
    }

    /// Milliseconds per step of each of `many` trainings at once: the median over timings.
    fn step(&self, device: Device, precision: Precision, many: usize) -> Result<f64> {
        let together = Barrier::new(many);
        let watch = || Stopwatch::new(device, &together);
        let watches: Vec<Stopwatch<'_>> = (0..many).map(|_| watch()).collect();
        std::thread::scope(|scope| {
            let trainings: Vec<_> = watches
                .iter()
                .map(|watch| scope.spawn(move || self.train(precision, watch)))
                .collect();
            let ended = trainings.into_iter().map(|t| t.join().expect("no panic"));
            ended.collect::<Result<Vec<()>>>()
        })?;
        let mut all: Vec<f64> = watches.iter().flat_map(|w| w.milliseconds()).collect();
        all.sort_by(f64::total_cmp);
        Ok(all[all.len() / 2])
    }

    fn train(&self, precision: Precision, watch: &Stopwatch<'_>) -> Result<()> {
        let data = TrainingData {
            coefficients: self.inputs.as_ref(),
            targets: &self.targets,
            count: 10_000,
            factor: Some(self.factor.as_ref()),
            field: None,
            per_sample: None,
        };
        let spec = MlpSpec {
            hidden: Some(self.hidden.clone()),
            steps: Some(STEPS_PER_TIMING * TIMINGS),
            rate: Some(1e-4),
            evaluations: TIMINGS,
            precision,
            ..MlpSpec::recipe(Recipe::Paper)
        };
        let all = Split::all(self.inputs.ncols());
        MlpMap::fit(&data, &all, &spec, 1, watch).map(drop)
    }
}

/// Looks at the clock whenever something is recorded, which waits for the GPU.
struct Stopwatch<'a> {
    device: Device,
    /// Where trainings that are prepared wait for each other.
    together: &'a Barrier,
    begun: AtomicBool,
    moments: Mutex<Vec<Instant>>,
}

impl<'a> Stopwatch<'a> {
    fn new(device: Device, together: &'a Barrier) -> Self {
        Stopwatch {
            device,
            together,
            begun: AtomicBool::new(false),
            moments: Mutex::default(),
        }
    }

    /// Milliseconds per step from one timing to the next, without the first.
    fn milliseconds(&self) -> Vec<f64> {
        let moments = self.moments.lock().expect("one thread");
        let between = moments.windows(2).skip(1);
        between
            .map(|w| (w[1] - w[0]).as_secs_f64() * 1e3 / STEPS_PER_TIMING as f64)
            .collect()
    }
}

impl Observer for Stopwatch<'_> {
    fn cancelled(&self) -> bool {
        if !self.begun.swap(true, Ordering::Relaxed) {
            self.together.wait();
        }
        false
    }

    fn event(&self, event: &Event<'_>) {
        if matches!(event, Event::Training(progress) if progress.recorded) {
            self.moments
                .lock()
                .expect("one thread")
                .push(Instant::now());
        }
    }

    fn device(&self) -> Device {
        self.device
    }
}
