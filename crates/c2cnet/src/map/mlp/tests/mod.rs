//! Tests of the whole: gradients, reductions, PyTorch, threads, checkpoints.

mod device;
mod gradients;
mod pytorch;
mod reductions;
mod training;

use super::activation::{Activation, reference};
use super::loss::Loss;
use crate::decode::Targets;
use crate::linalg;
use crate::observe::{Observer, Silent};
use faer::Mat;
use rand::{RngExt, SeedableRng};

pub(super) fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random_range(-1.0..1.0))
}

/// Coefficients, and fields near a space of functions at points that all samples share.
pub(super) struct Problem {
    pub(super) a: Mat<f64>,
    pub(super) psi: Mat<f64>,
    pub(super) u: Mat<f64>,
    pub(super) q: Mat<f64>,
    pub(super) r: Mat<f64>,
    pub(super) targets: Targets,
}

impl Problem {
    pub(super) fn new(inputs: usize, functions: usize, points: usize, samples: usize) -> Self {
        let a = random(inputs, samples, 1);
        let psi = random(points, functions, 2);
        let mixed = &random(functions, inputs, 3) * &a;
        let b = Mat::from_fn(functions, samples, |i, k| mixed[(i, k)].sin());
        let u = &psi * b + random(points, samples, 4) * faer::Scale(0.1);
        Problem::from(a, psi, u)
    }

    pub(super) fn from(a: Mat<f64>, psi: Mat<f64>, u: Mat<f64>) -> Self {
        let qr = linalg::Qr::new(psi.clone());
        let r = qr.r();
        let q = qr.q_mul(Mat::identity(r.nrows(), r.nrows()).as_ref());
        let c = q.transpose() * &u;
        let outside = &u - &q * &c;
        let targets = Targets {
            outside_squared: linalg::column_norms_squared(outside.as_ref()),
            norm_squared: linalg::column_norms_squared(u.as_ref()),
            coordinates: c,
            withheld_floor: None,
            readings: None,
        };
        Problem {
            a,
            psi,
            u,
            q,
            r,
            targets,
        }
    }

    pub(super) fn samples(&self) -> usize {
        self.a.ncols()
    }
}

/// Outputs of a network for one sample, by the definition.
pub(super) fn naive_network(
    widths: &[usize],
    activation: Activation,
    parameters: &[f64],
    x: &[f64],
) -> Vec<f64> {
    let mut h = x.to_vec();
    let mut start = 0;
    for (l, w) in widths.windows(2).enumerate() {
        if l > 0 {
            h.iter_mut().for_each(|v| *v = reference(activation, *v));
        }
        h = (0..w[1])
            .map(|i| {
                let weights = (0..w[0]).map(|j| parameters[start + j * w[1] + i] * h[j]);
                weights.sum::<f64>() + parameters[start + w[0] * w[1] + i]
            })
            .collect();
        start += w[1] * (w[0] + 1);
    }
    h
}

/// The loss of one sample at all its points, by the definition.
pub(super) fn naive_loss(loss: &Loss, predicted: &[f64], u: &[f64]) -> f64 {
    let squares = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>();
    let error: Vec<f64> = predicted.iter().zip(u).map(|(p, u)| p - u).collect();
    let relative = |epsilon: f64| {
        squares(&mut error.iter().copied()).sqrt()
            / (squares(&mut u.iter().copied()).sqrt() + epsilon)
    };
    let band = |delta: f64, inside: f64, outside: f64| {
        let weight = |u: f64| if u.abs() <= delta { inside } else { outside };
        let sum: f64 = error.iter().zip(u).map(|(e, &u)| weight(u) * e * e).sum();
        sum / u.iter().map(|&u| weight(u)).sum::<f64>()
    };
    match *loss {
        Loss::Relative { epsilon } => relative(epsilon),
        Loss::MeanSquare => squares(&mut error.iter().copied()) / u.len() as f64,
        Loss::Band {
            delta,
            inside,
            outside,
        } => band(delta, inside, outside),
        Loss::Weighted {
            alpha,
            delta,
            inside,
            outside,
            epsilon,
        } => alpha * band(delta, inside, outside) + (1.0 - alpha) * relative(epsilon),
    }
}

pub(super) fn losses() -> [Loss; 4] {
    let (delta, inside, outside, epsilon) = (0.3, 20.0, 1.5, 1e-3);
    [
        Loss::Relative { epsilon },
        Loss::MeanSquare,
        Loss::Band {
            delta,
            inside,
            outside,
        },
        Loss::Weighted {
            alpha: 0.8,
            delta,
            inside,
            outside,
            epsilon,
        },
    ]
}
