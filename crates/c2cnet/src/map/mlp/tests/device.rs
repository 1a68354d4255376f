//! Training by a device against training by the CPU. What the programs of `compute` say is carried out in
//! plain loops in every test run; tests whose names begin with `gpu` need an NVIDIA GPU:
//!
//! cargo test --release -p c2cnet --lib -- --ignored gpu

use super::super::activation::ALL;
use super::super::engine::Samples;
use super::super::on_device::OnDevice;
use super::super::scalar::Scalar;
use super::super::state::State;
use super::super::steps::{Run, Setting, Steps, on_cpu};
use super::gradients::{Case, Reduction, case};
use super::*;
use crate::compute::{self, Device, Interpreter, Job, Trainer};
use crate::map::Split;
use crate::map::mlp::*;
use crate::observe::Metric;
use crate::storage::Archive;
use crate::{Error, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const SAMPLES: usize = 60;

/// A stage that uses everything: clipping and decay.
fn plan(loss: Loss, steps: usize, batch: Option<usize>) -> Plan {
    Plan {
        stages: vec![Stage {
            loss,
            optimiser: Optimiser {
                kind: OptimiserKind::AdamW,
                weight_decay: 1e-2,
                ..Optimiser::default()
            },
            schedule: Schedule::Cosine,
            rate: 2e-3,
            steps,
            batch,
        }],
        seed: 5,
        shards: 2,
        clip: Some(0.3),
        evaluations: 10,
    }
}

/// What is trained, in the precision `T`.
struct Bench<T> {
    network: Network,
    samples: Samples<T>,
    held: Samples<T>,
    plan: Plan,
}

impl<T: Scalar> Bench<T> {
    fn new(reduction: &Reduction, activation: Activation, plan: Plan) -> Self {
        let samples = |count: usize| {
            let Case {
                problem,
                objective,
                width,
                ..
            } = case::<T>(reduction, count);
            (Samples::new(problem.a.as_ref(), objective), width)
        };
        let (training, width) = samples(SAMPLES);
        Bench {
            network: Network::new(vec![5, 8, 7, width], activation).unwrap(),
            samples: training,
            held: samples(13).0,
            plan,
        }
    }

    fn setting(&self) -> Setting<'_, T> {
        Setting {
            network: &self.network,
            run: Run {
                plan: &self.plan,
                stage: &self.plan.stages[0],
                number: 0,
                samples: self.samples.len(),
            },
            samples: &self.samples,
            validation: Some(&self.held),
        }
    }

    fn start(&self) -> State<T> {
        State::new(self.network.initialise::<T>(7))
    }

    /// The same steps by the CPU and by a device: the largest relative difference of losses, and that of the
    /// parameters in the end.
    fn difference(
        &self,
        trainer: impl FnOnce(&Job<'_, T>) -> Result<Box<dyn Trainer<T>>>,
    ) -> (f64, f64) {
        let (mut here, mut there) = (self.start(), self.start());
        let mut cpu = on_cpu(self.setting()).unwrap();
        let mut device = OnDevice::with(self.setting(), &there, trainer).unwrap();
        let mut most = 0.0f64;
        let mut compare = |a: f64, b: f64| most = most.max((a - b).abs() / a.abs());
        while here.cursor.step < self.plan.stages[0].steps {
            let (loss, rate) = cpu.advance(&mut here, 1).unwrap();
            let (by_device, same_rate) = device.advance(&mut there, 1).unwrap();
            assert_eq!(rate, same_rate);
            compare(loss, by_device);
            compare(here.cursor.relative_sum, there.cursor.relative_sum);
            if here.cursor.step.is_multiple_of(10) {
                let a = cpu.judge(&here).unwrap().unwrap();
                let b = device.judge(&there).unwrap().unwrap();
                compare(a.loss, b.loss);
                compare(a.relative, b.relative);
            }
        }
        assert_eq!(there.cursor.step, here.cursor.step);
        let norms = (here.cursor.gradient_norm, there.cursor.gradient_norm);
        // Where an error is nearly zero, the direction of the relative loss's gradient is nearly rounding.
        assert!((norms.0 - norms.1).abs() < 1e-2 * norms.0, "{norms:?}");
        device.settle(&mut there).unwrap();
        let off = |a: &[T], b: &[T]| {
            let pairs = a.iter().zip(b).map(|(a, b)| (a.to_f64(), b.to_f64()));
            let sums = pairs.fold((0.0, 0.0), |s, (a, b)| {
                (s.0 + (a - b) * (a - b), s.1 + a * a)
            });
            (sums.0 / sums.1).sqrt()
        };
        (most, off(&here.parameters, &there.parameters))
    }
}

/// Every reduction, loss and way of taking batches that go together.
fn each_case(mut run: impl FnMut(&Reduction, Loss, Option<usize>)) {
    use Reduction::{Coordinates, PerSample, Principal, Raw};
    for reduction in [Coordinates, Raw, Principal, PerSample] {
        for loss in losses() {
            let weighs_points = matches!(loss, Loss::Band { .. } | Loss::Weighted { .. });
            if weighs_points && matches!(reduction, PerSample) {
                continue;
            }
            // 60 samples in batches of 7 are nine batches of 6 and 7; those of 4 are too few to fold for.
            for batch in [None, Some(7), Some(4)] {
                run(&reduction, loss, batch);
            }
        }
    }
}

#[test]
fn programs_do_what_the_processor_does() {
    each_case(|reduction, loss, batch| {
        let bench = Bench::<f64>::new(reduction, Activation::Gelu, plan(loss, 12, batch));
        let (steps, end) = bench.difference(|job| Ok(Box::new(Interpreter::new(job))));
        assert!(
            steps < 1e-11 && end < 1e-11,
            "{reduction:?} {loss:?} {batch:?}: {steps:e} {end:e}"
        );
    });
}

#[test]
fn programs_of_all_activations() {
    for activation in ALL {
        let bench = Bench::new(&Reduction::Raw, activation, plan(Loss::default(), 12, None));
        let (steps, end) = bench.difference(|job| Ok(Box::new(Interpreter::new(job))));
        assert!(
            steps < 1e-11 && end < 1e-11,
            "{activation:?}: {steps:e} {end:e}"
        );
    }
}

/// Steps of many passes at once, from the middle of a stage.
#[test]
fn many_steps_at_once_from_the_middle() {
    let plan = plan(Loss::default(), 50, Some(7));
    let bench = Bench::<f64>::new(&Reduction::Raw, Activation::Gelu, plan);
    let mut here = bench.start();
    let mut cpu = on_cpu(bench.setting()).unwrap();
    while here.cursor.step < 11 {
        cpu.advance(&mut here, 1).unwrap();
    }
    let mut there = here.clone();
    let mut device = OnDevice::with(bench.setting(), &there, |job| {
        Ok(Box::new(Interpreter::new(job)))
    })
    .unwrap();
    while there.cursor.step < 43 {
        let most = 43 - there.cursor.step;
        device.advance(&mut there, most).unwrap();
    }
    while here.cursor.step < 43 {
        cpu.advance(&mut here, 1).unwrap();
    }
    device.settle(&mut there).unwrap();
    let (a, b) = (here.cursor.loss_sum, there.cursor.loss_sum);
    assert!((a - b).abs() < 1e-11 * a);
    let pairs = here.parameters.iter().zip(&there.parameters);
    pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-11));
}

fn gpu<T: Scalar>(job: &Job<'_, T>) -> Result<Box<dyn Trainer<T>>> {
    let gpu = compute::open(Device::Cuda(0))?;
    gpu.expect("not the CPU").trainer(job)
}

fn gpu_agrees<T: Scalar>(tolerance: f64) {
    let mut worst = (0.0f64, 0.0f64);
    each_case(|reduction, loss, batch| {
        let bench = Bench::<T>::new(reduction, Activation::Gelu, plan(loss, 100, batch));
        let (steps, end) = bench.difference(gpu);
        println!("{reduction:?} {loss:?} {batch:?}: losses {steps:.1e}, parameters {end:.1e}");
        worst = (worst.0.max(steps), worst.1.max(end));
    });
    for activation in ALL {
        let plan = plan(Loss::default(), 100, None);
        let bench = Bench::<T>::new(&Reduction::Raw, activation, plan);
        let (steps, end) = bench.difference(gpu);
        println!("{activation:?}: losses {steps:.1e}, parameters {end:.1e}");
        worst = (worst.0.max(steps), worst.1.max(end));
    }
    assert!(worst.0 < tolerance, "losses differ by {:e}", worst.0);
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_agrees_in_f64() {
    gpu_agrees::<f64>(1e-10);
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_agrees_in_f32() {
    gpu_agrees::<f32>(1e-4);
}

/// After one step from zero the first moment is $1-\beta_1$ times the gradient.
#[test]
#[ignore = "needs a GPU"]
fn gpu_gradients_are_differences_of_losses() {
    each_case(|reduction, loss, batch| {
        if batch.is_some() {
            return;
        }
        let mut plan = plan(loss, 1, None);
        plan.clip = None;
        let mut bench = Bench::<f64>::new(reduction, Activation::Gelu, plan);
        bench.held = Samples::new(
            case::<f64>(reduction, SAMPLES).problem.a.as_ref(),
            case::<f64>(reduction, SAMPLES).objective,
        );
        let start = bench.start();
        let mut state = start.clone();
        let mut device = OnDevice::with(bench.setting(), &state, gpu).unwrap();
        device.advance(&mut state, 1).unwrap();
        device.settle(&mut state).unwrap();
        let loss_at = |i: usize, by: f64| {
            let mut moved = start.clone();
            moved.parameters[i] += by;
            let mut device = OnDevice::with(bench.setting(), &moved, gpu).unwrap();
            device.judge(&moved).unwrap().unwrap().loss
        };
        let (mut off, mut size) = (0.0, 0.0);
        for i in (0..start.parameters.len()).step_by(5) {
            let slope = (loss_at(i, 2e-5) - loss_at(i, -2e-5)) / 4e-5;
            off += (slope - 10.0 * state.first[i]).powi(2);
            size += slope * slope;
        }
        let relative = (off / size).sqrt();
        println!("{reduction:?} {loss:?}: gradients off by {relative:.1e}");
        assert!(relative < 1e-6, "{reduction:?} {loss:?}: {relative:e}");
    });
}

/// The end of a training on the GPU, in bits.
fn gpu_end(bench: &Bench<f32>, parts: &[usize]) -> State<f32> {
    let mut state = bench.start();
    for &until in parts {
        // A new trainer for every part: what a resumed fit does.
        let mut device = OnDevice::with(bench.setting(), &state, gpu).unwrap();
        while state.cursor.step < until {
            let most = until - state.cursor.step;
            device.advance(&mut state, most).unwrap();
        }
        device.settle(&mut state).unwrap();
    }
    state
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_same_bits_twice_resumed_and_side_by_side() {
    for batch in [None, Some(7)] {
        let plan = plan(Loss::default(), 300, batch);
        let bench = Bench::<f32>::new(&Reduction::Raw, Activation::Gelu, plan);
        let once = gpu_end(&bench, &[300]);
        assert!(once == gpu_end(&bench, &[300]), "twice");
        assert!(once == gpu_end(&bench, &[1, 37, 300]), "resumed");
        std::thread::scope(|scope| {
            let many: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| gpu_end(&bench, &[300])))
                .collect();
            for one in many {
                assert!(once == one.join().unwrap(), "side by side");
            }
        });
    }
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_divergence_is_told_and_nothing_is_lost() {
    let mut plan = plan(Loss::MeanSquare, 300, None);
    plan.clip = None;
    plan.stages[0].schedule = Schedule::Constant;
    plan.stages[0].rate = 1e30;
    let bench = Bench::<f32>::new(&Reduction::Raw, Activation::Relu, plan);
    let mut state = bench.start();
    let mut device = OnDevice::with(bench.setting(), &state, gpu).unwrap();
    let error = loop {
        match device.advance(&mut state, 16) {
            Ok(_) => assert!(state.cursor.step < 300, "it has to diverge"),
            Err(error) => break error,
        }
    };
    println!("{error}");
    assert!(matches!(&error, Error::Numerical(text) if text.contains("lower `rate`")));
    // As on the CPU: the state is that from before the step.
    let mut here = bench.start();
    let mut cpu = on_cpu(bench.setting()).unwrap();
    while cpu.advance(&mut here, 1).is_ok() {}
    assert_eq!(here.cursor.step, state.cursor.step);
    assert!(state.parameters.iter().all(|p| p.is_finite()));
}

/// A fit on a device that may be stopped, and may go on from a checkpoint.
struct Fit {
    device: Device,
    /// At which question whether to stop the answer is yes.
    stop_at: usize,
    asked: AtomicUsize,
    from: Option<Archive>,
    kept: Mutex<Option<Archive>>,
}

impl Fit {
    fn on(device: Device, stop_at: usize, from: Option<Archive>) -> Self {
        Fit {
            device,
            stop_at,
            asked: AtomicUsize::new(0),
            from,
            kept: Mutex::default(),
        }
    }
}

impl Observer for Fit {
    fn device(&self) -> Device {
        self.device
    }

    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) == self.stop_at
    }

    fn checkpoint(&self, _: &str, archive: &Archive) -> Result<()> {
        *self.kept.lock().unwrap() = Some(archive.clone());
        Ok(())
    }

    fn resume(&self, _: &str) -> Result<Option<Archive>> {
        Ok(self.from.clone())
    }
}

/// Two stages, held-out samples, the best weights kept: stopped on the GPU, going on there and on the CPU.
#[test]
#[ignore = "needs a GPU"]
fn gpu_fits_stop_and_go_on_here_and_there() {
    let problem = Problem::new(6, 9, 50, 92);
    let split = Split {
        train: (0..80).collect(),
        validation: (80..92).collect(),
    };
    let data = TrainingData {
        coefficients: problem.a.as_ref(),
        targets: &problem.targets,
        count: problem.u.nrows(),
        factor: Some(problem.r.as_ref()),
        field: Some((problem.q.as_ref(), problem.u.as_ref())),
        per_sample: None,
    };
    for recipe in [Recipe::Paper, Recipe::Fast] {
        let spec = MlpSpec {
            hidden: Some(vec![20, 17]),
            steps: Some(200),
            evaluations: 20,
            batch: (recipe == Recipe::Fast).then_some(BatchSize::Samples(9)),
            stages: vec![StageSpec {
                loss: Some(losses()[3]),
                steps: Some(100),
                ..StageSpec::default()
            }],
            ..MlpSpec::recipe(recipe)
        };
        let fit = |observer: &Fit| MlpMap::fit(&data, &split, &spec, 3, observer);
        let end = |result: Result<(MlpMap, TrainingReport)>| {
            let (map, report) = result.unwrap();
            assert_eq!(report.steps, 300);
            (map.network_parameters().to_vec(), report.history)
        };
        let cuda = Device::Cuda(0);
        let whole = end(fit(&Fit::on(cuda, usize::MAX, None)));
        let here = end(fit(&Fit::on(Device::Cpu, usize::MAX, None)));
        for stop_at in [1, 13, 25] {
            let stopped = Fit::on(cuda, stop_at, None);
            assert!(matches!(fit(&stopped), Err(Error::Interrupted)));
            let kept = stopped.kept.into_inner().unwrap();
            let there = end(fit(&Fit::on(cuda, usize::MAX, kept.clone())));
            assert!(whole == there, "{recipe:?}, stopped at {stop_at}");
            let back = end(fit(&Fit::on(Device::Cpu, usize::MAX, kept)));
            let rate = |h: &[Metric]| h.last().unwrap().validation_rl2e.unwrap();
            println!(
                "{recipe:?}, stopped at {stop_at}: held out {:.4e} on the GPU, {:.4e} from there here, {:.4e} here",
                rate(&whole.1),
                rate(&back.1),
                rate(&here.1)
            );
            let off = (rate(&back.1) - rate(&whole.1)).abs();
            assert!(off < 2e-2 * rate(&whole.1), "{off:e}");
        }
    }
}
