//! Layers by a device against layers by the processor. Programs are carried out in plain loops in every test run; tests
//! whose names begin with `gpu` need an NVIDIA GPU:
//!
//! cargo test --release -p c2cnet --lib -- --ignored gpu

use super::super::on_device::Packed;
use super::*;
use crate::compute::{self, Device, Interpreter, Job, Trainer};
use crate::map::mlp::scalar::Scalar;
use crate::map::mlp::state::State;
use crate::map::mlp::steps::{OnCpu, Run, Steps};
use crate::map::mlp::{Plan, Schedule, Stage};

/// What is trained, in the precision `T`.
struct Bench<T> {
    frozen: Frozen<T>,
    samples: Samples<T>,
    held: Samples<T>,
    plan: Plan,
}

fn shape(latent: &Latent, layers: usize) -> Shape {
    Shape {
        inputs: latent.channels(),
        channels: 6,
        matrices: latent.functions().groups().matrices(),
        layers,
        hidden: 9,
        outputs: 2,
        activation: Activation::Gelu,
    }
}

impl<T: Scalar> Bench<T> {
    fn new(layers: usize, batch: Option<usize>, steps: usize) -> Self {
        Self::with(cosines(), layers, batch, steps)
    }

    fn with(functions: Functions, layers: usize, batch: Option<usize>, steps: usize) -> Self {
        let problem = problem_with(40, functions);
        let frozen = Frozen::new(
            shape(&problem.latent, layers),
            &problem.latent,
            problem.latent.projection(),
        );
        let frame = Frame {
            axes: None,
            scale: 0.7,
            offsets: None,
        };
        let some = |chosen: Vec<usize>| Samples {
            inputs: Inputs::new(
                &problem.latent,
                linalg::select_columns(problem.coefficients.as_ref(), &chosen).as_ref(),
            ),
            objective: Objective::new(&problem.data().samples.outputs(), &chosen, &frame, None),
        };
        let stage = Stage {
            loss: Loss::default(),
            optimiser: Optimiser {
                kind: OptimiserKind::AdamW,
                weight_decay: 1e-2,
                ..Optimiser::default()
            },
            schedule: Schedule::Cosine,
            rate: 2e-3,
            steps,
            batch,
        };
        Bench {
            samples: some((0..30).collect()),
            held: some((30..40).collect()),
            frozen,
            plan: Plan {
                stages: vec![stage],
                seed: 5,
                shards: 1,
                clip: Some(0.3),
                evaluations: 10,
            },
        }
    }

    fn run(&self) -> Run<'_> {
        Run {
            plan: &self.plan,
            stage: &self.plan.stages[0],
            number: 0,
            samples: self.samples.inputs.len(),
        }
    }

    /// The last weights are zero at first, and nothing behind them would be tested.
    fn start(&self) -> State<T> {
        let mut parameters = self.frozen.shape.initialise::<T>(7);
        for (i, p) in parameters.iter_mut().rev().take(20).enumerate() {
            *p = T::from_f64(0.05 * (i % 7) as f64 - 0.15);
        }
        State::new(parameters)
    }

    fn on_device<'a>(
        &'a self,
        state: &State<T>,
        trainer: impl FnOnce(&Job<'_, T>) -> Result<Box<dyn Trainer<T>>>,
    ) -> impl Steps<T> + 'a {
        let packed = Packed::new(&self.frozen, &self.samples, Some(&self.held));
        packed.with(self.run(), state, trainer).unwrap()
    }

    /// The same steps by the processor and by a device: the largest relative difference of losses, and that of the
    /// parameters in the end.
    fn difference(
        &self,
        trainer: impl FnOnce(&Job<'_, T>) -> Result<Box<dyn Trainer<T>>>,
    ) -> (f64, f64) {
        let (run, loss) = (self.run(), &self.plan.stages[0].loss);
        let engine = |samples, largest, backward| {
            Engine::new(&self.frozen, samples, loss, largest, backward).unwrap()
        };
        let (mut here, mut there) = (self.start(), self.start());
        let training = engine(&self.samples, run.largest(), true);
        let mut cpu = OnCpu::new(run, training, Some(engine(&self.held, 10, false)));
        let mut device = self.on_device(&there, trainer);
        let mut most = 0.0f64;
        let mut compare = |a: f64, b: f64| most = most.max((a - b).abs() / a.abs());
        while here.cursor.steps_done < self.plan.stages[0].steps {
            let (loss, _) = cpu.advance(&mut here, 1).unwrap();
            let (by_device, _) = device.advance(&mut there, 1).unwrap();
            compare(loss, by_device);
            if here.cursor.steps_done.is_multiple_of(5) {
                let a = cpu.judge(&here).unwrap().unwrap();
                let b = device.judge(&there).unwrap().unwrap();
                compare(a.loss, b.loss);
                compare(a.relative, b.relative);
            }
        }
        device.settle(&mut there).unwrap();
        let off = here.parameters.iter().zip(&there.parameters);
        let off = off.map(|(a, b)| (a.to_f64() - b.to_f64()).abs());
        (most, off.fold(0.0, f64::max))
    }
}

#[test]
fn programs_do_what_the_processor_does() {
    for layers in [1, 3] {
        // 30 samples in batches of 7 are batches of 6; those of 4 have 3 or 4.
        for batch in [None, Some(7), Some(4)] {
            for functions in [cosines(), waves()] {
                let bench = Bench::<f64>::with(functions, layers, batch, 11);
                let (steps, end) = bench.difference(|job| Ok(Box::new(Interpreter::new(job))));
                assert!(
                    steps < 1e-11 && end < 1e-11,
                    "{layers} {batch:?}: {steps:e} {end:e}"
                );
            }
        }
    }
}

#[test]
fn too_many_samples_per_step_are_refused() {
    let bench = Bench::<f64>::new(1, None, 1);
    let run = Run {
        samples: 20_000,
        ..bench.run()
    };
    let packed = Packed::new(&bench.frozen, &bench.samples, None);
    let refused = packed.with(run, &bench.start(), |_| unreachable!());
    let message = refused.err().unwrap().to_string();
    assert!(message.contains("20000 samples per step") && message.contains("batch"));
}

fn gpu<T: Scalar>(job: &Job<'_, T>) -> Result<Box<dyn Trainer<T>>> {
    let gpu = compute::open(Device::Cuda(0))?;
    gpu.expect("not the processor").trainer(job)
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_layers_agree_with_the_processor() {
    for (batch, functions) in [
        (None, cosines as fn() -> Functions),
        (Some(7), cosines),
        (Some(4), cosines),
        (Some(7), waves),
    ] {
        let (steps, end) = Bench::<f64>::with(functions(), 3, batch, 60).difference(gpu);
        println!("{batch:?} in f64: losses {steps:.1e}, parameters {end:.1e}");
        assert!(steps < 1e-9 && end < 1e-8, "{steps:e} {end:e}");
        let (steps, end) = Bench::<f32>::with(functions(), 3, batch, 60).difference(gpu);
        println!("{batch:?} in f32: losses {steps:.1e}, parameters {end:.1e}");
        assert!(steps < 1e-3 && end < 1e-2, "{steps:e} {end:e}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn gpu_layers_give_the_same_bits_twice_and_resumed() {
    let bench = Bench::<f32>::new(3, Some(7), 40);
    let advance = |state: &mut State<f32>, to: usize| {
        let mut device = bench.on_device(state, gpu);
        while state.cursor.steps_done < to {
            let most = to - state.cursor.steps_done;
            device.advance(state, most).unwrap();
        }
        device.settle(state).unwrap();
    };
    let whole = || {
        let mut state = bench.start();
        advance(&mut state, 40);
        state.parameters
    };
    let mut resumed = bench.start();
    advance(&mut resumed, 17);
    advance(&mut resumed, 40);
    let first = whole();
    assert!(first == whole() && first == resumed.parameters);
}
