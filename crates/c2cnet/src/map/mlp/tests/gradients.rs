//! Every loss, activation and reduction against the definition at the output points: the loss
//! itself, and its gradient by central differences.

use super::super::activation::ALL;
use super::super::engine::{Batch, Engine, Samples};
use super::super::head::Principal;
use super::super::objective::{Frame, Objective, OutputData};
use super::super::scalar::Scalar;
use super::super::steps::Differentiate;
use super::*;
use crate::decode::SampleTarget;
use crate::map::mlp::{Activation, Network};

/// What lies between the network's outputs and the fields.
#[derive(Debug)]
pub(super) enum Reduction {
    /// Coordinates in the orthonormal basis.
    Coordinates,
    /// Raw coefficients.
    Raw,
    /// Principal axes of part of the space, one scale, an offset for each sample.
    Principal,
    /// Raw coefficients at each sample's own points.
    PerSample,
}

type FieldOf = dyn Fn(usize, &[f64]) -> (Vec<f64>, Vec<f64>);

pub(super) struct Case<T> {
    pub(super) problem: Problem,
    pub(super) objective: Objective<T>,
    pub(super) width: usize,
    /// The field of sample `k` for outputs `y`, and its truth.
    field: Box<FieldOf>,
}

fn times(matrix: &Mat<f64>, y: &[f64]) -> Vec<f64> {
    let product = matrix * Mat::from_fn(y.len(), 1, |i, _| y[i]);
    product.col_as_slice(0).to_vec()
}

pub(super) fn case<T: Scalar>(reduction: &Reduction, samples: usize) -> Case<T> {
    let problem = Problem::new(5, 6, 30, samples);
    let all: Vec<usize> = (0..samples).collect();
    let shared = OutputData::Shared {
        coordinates: problem.targets.coordinates.as_ref(),
        outside_squared: &problem.targets.outside_squared,
        norm_squared: &problem.targets.norm_squared,
        count: 30,
        field: Some((problem.q.as_ref(), problem.u.as_ref())),
    };
    let truth = problem.u.clone();
    let of = move |k: usize| truth.col_as_slice(k).to_vec();
    match reduction {
        Reduction::Coordinates => {
            let objective = Objective::new(&shared, &all, &Frame::IDENTITY, None);
            let q = problem.q.clone();
            Case {
                objective,
                width: 6,
                field: Box::new(move |k, y| (times(&q, y), of(k))),
                problem,
            }
        }
        Reduction::Raw => {
            let factor = Some(problem.r.as_ref());
            let objective = Objective::new(&shared, &all, &Frame::IDENTITY, factor);
            let psi = problem.psi.clone();
            Case {
                objective,
                width: 6,
                field: Box::new(move |k, y| (times(&psi, y), of(k))),
                problem,
            }
        }
        Reduction::Principal => {
            let principal = Principal::new(problem.targets.coordinates.as_ref(), 0.0).unwrap();
            let axes = principal.axes.as_ref().subcols(0, 4).to_owned();
            let offsets = random(6, samples, 9);
            let frame = Frame {
                axes: Some(axes.as_ref()),
                scale: 2.5,
                offsets: Some(offsets.as_ref()),
            };
            let objective = Objective::new(&shared, &all, &frame, None);
            let q = problem.q.clone();
            Case {
                objective,
                width: 4,
                field: Box::new(move |k, y| {
                    let mut c = times(&axes, y);
                    let offset = offsets.col_as_slice(k);
                    c.iter_mut()
                        .zip(offset)
                        .for_each(|(c, o)| *c = 2.5 * *c + o);
                    (times(&q, &c), of(k))
                }),
                problem,
            }
        }
        Reduction::PerSample => {
            // Some samples have fewer points than there are functions, some more.
            let sets: Vec<(Mat<f64>, Vec<f64>)> = (0..samples)
                .map(|k| {
                    let n = 2 + (5 * k) % 13;
                    let u = random(n, 1, 60 + k as u64).col_as_slice(0).to_vec();
                    (random(n, 6, 30 + k as u64), u)
                })
                .collect();
            let targets: Vec<SampleTarget> = sets
                .iter()
                .map(|(psi, u)| SampleTarget::new(psi.as_ref(), u).unwrap())
                .collect();
            let data = OutputData::PerSample(&targets);
            Case {
                objective: Objective::new(&data, &all, &Frame::IDENTITY, None),
                width: 6,
                field: Box::new(move |k, y| (times(&sets[k].0, y), sets[k].1.clone())),
                problem,
            }
        }
    }
}

fn check(reduction: &Reduction, samples: usize, batch: Option<&[usize]>, folded: bool) {
    for activation in ALL {
        for loss in losses() {
            let weighs_points = matches!(loss, Loss::Band { .. } | Loss::Weighted { .. });
            if weighs_points && matches!(reduction, Reduction::PerSample) {
                continue;
            }
            let case = case(reduction, samples);
            check_one(case, activation, &loss, batch, folded);
        }
    }
}

fn check_one(
    case: Case<f64>,
    activation: Activation,
    loss: &Loss,
    batch: Option<&[usize]>,
    folded: bool,
) {
    let Case {
        problem,
        objective,
        width,
        field,
    } = case;
    let widths = vec![5, 8, 7, width];
    let network = Network::new(widths.clone(), activation).unwrap();
    let mut parameters = network.initialise::<f64>(7);
    let all: Vec<usize> = (0..problem.samples()).collect();
    let chosen = batch.unwrap_or(&all);
    let naive = |parameters: &[f64]| {
        let each = chosen.iter().map(|&k| {
            let y = naive_network(&widths, activation, parameters, problem.a.col_as_slice(k));
            let (predicted, u) = field(k, &y);
            naive_loss(loss, &predicted, &u)
        });
        each.sum::<f64>() / chosen.len() as f64
    };
    let samples = Samples::new(problem.a.as_ref(), objective);
    let mut engine = Engine::new(&network, &samples, loss, chosen.len(), 3).unwrap();
    assert_eq!(engine.folds(), folded);
    let given = match batch {
        Some(indices) => Batch::Some(indices),
        None => Batch::All,
    };
    let value = engine.differentiate(&parameters, given).loss;
    let truth = naive(&parameters);
    assert!(
        (value - truth).abs() < 1e-13 * truth,
        "{activation:?} {loss:?}: {value} {truth}"
    );

    let (mut off, mut size) = (0.0, 0.0);
    for i in 0..parameters.len() {
        let (h, at) = (2e-5, parameters[i]);
        let mut shifted = |by: f64| {
            parameters[i] = at + by;
            naive(&parameters)
        };
        let slope = (shifted(h) - shifted(-h)) / (2.0 * h);
        parameters[i] = at;
        off += (slope - engine.gradient()[i]).powi(2);
        size += slope * slope;
    }
    let relative = (off / size).sqrt();
    assert!(
        relative < 1e-6,
        "{activation:?} {loss:?}: gradient off by {relative:e}"
    );
}

#[test]
fn coordinates() {
    check(&Reduction::Coordinates, 10, None, false);
    check(&Reduction::Coordinates, 60, Some(&[3, 17, 4, 59]), false);
}

#[test]
fn raw_coefficients_folded() {
    check(&Reduction::Raw, 40, None, true);
}

#[test]
fn raw_coefficients_not_folded() {
    check(&Reduction::Raw, 6, None, false);
    check(&Reduction::Raw, 60, Some(&[3, 17, 4, 59]), false);
}

#[test]
fn principal_coordinates() {
    check(&Reduction::Principal, 12, None, false);
}

#[test]
fn points_of_each_sample() {
    check(&Reduction::PerSample, 12, None, false);
    check(
        &Reduction::PerSample,
        50,
        Some(&(0..40).collect::<Vec<_>>()),
        false,
    );
}
