//! The recipe `paper` through all output points and through the folded factor.

use super::super::engine::{Engine, Samples};
use super::super::objective::{Frame, Objective, OutputData};
use super::super::state::State;
use super::super::steps;
use super::super::train::{Training, train};
use super::*;
use crate::map::mlp::{MlpSpec, Network, Precision, Recipe};

/// Losses of `steps` steps: through $\Psi$ at every point, and through $R$.
fn both_ways(problem: &Problem, hidden: &[usize], steps: usize) -> [Vec<f64>; 2] {
    let n = problem.samples();
    let all: Vec<usize> = (0..n).collect();
    let (points, functions) = problem.psi.shape();
    let nothing = vec![0.0; n];
    let direct = OutputData::Shared {
        coordinates: problem.u.as_ref(),
        outside_squared: &nothing,
        norm_squared: &problem.targets.norm_squared,
        count: points,
        field: None,
    };
    let reduced = OutputData::Shared {
        coordinates: problem.targets.coordinates.as_ref(),
        outside_squared: &problem.targets.outside_squared,
        norm_squared: &problem.targets.norm_squared,
        count: points,
        field: None,
    };
    let spec = MlpSpec {
        hidden: Some(hidden.to_vec()),
        steps: Some(steps),
        precision: Precision::F64,
        evaluations: steps,
        ..MlpSpec::recipe(Recipe::Paper)
    };
    let mut widths = vec![problem.a.nrows()];
    widths.extend(hidden);
    widths.push(functions);
    let network = Network::new(widths, spec.activation).unwrap();
    [(direct, &problem.psi), (reduced, &problem.r)].map(|(data, factor)| {
        let factor_ref = Some(factor.as_ref());
        let mut objective = Objective::new(&data, &all, &Frame::IDENTITY, factor_ref);
        // The direct way multiplies every sample by Psi.
        objective.may_fold = factor.nrows() == functions;
        let samples = Samples::<f64>::new(problem.a.as_ref(), objective);
        let plan = spec.plan(n, 5);
        let engine = Engine::new(&network, &samples, &plan.stages[0].loss, n, 4).unwrap();
        assert_eq!(engine.folds(), factor.nrows() == functions);
        drop(engine);
        let mut state = State::new(network.initialise(5));
        let training = Training {
            plan: &plan,
            samples: samples.len(),
            begin: steps::of_network(&network, &samples, None),
            mark: "",
        };
        train(training, &mut state, &Silent).unwrap();
        state.cursor.history.iter().map(|m| m.loss).collect()
    })
}

fn difference([direct, reduced]: &[Vec<f64>; 2]) -> f64 {
    assert!(direct[direct.len() - 1] < 0.95 * direct[0], "{direct:?}");
    let pairs = direct.iter().zip(reduced);
    pairs.map(|(a, b)| (a - b).abs() / a).fold(0.0, f64::max)
}

#[test]
fn fifty_steps_at_many_points_and_folded() {
    let problem = Problem::new(12, 40, 900, 90);
    let off = difference(&both_ways(&problem, &[24, 24], 50));
    println!("largest relative difference {off:e}");
    assert!(off < 1e-9, "{off:e}");
}

/// The paper's 2D Darcy size. Minutes, and 10 GB: `cargo test --release -- --ignored 19881`.
#[test]
#[ignore = "minutes and gigabytes"]
fn fifty_steps_at_19881_points_and_folded() {
    let samples = std::env::var("C2CNET_SAMPLES").map_or(2400, |s| s.parse().unwrap());
    let problem = Problem::new(512, 2048, 19_881, samples);
    let off = difference(&both_ways(&problem, &[180, 180], 50));
    println!("largest relative difference {off:e}");
    assert!(off < 1e-9, "{off:e}");
}
