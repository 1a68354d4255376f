//! Small bases, data sets and measures that several test files share.
#![allow(dead_code)]

use c2cnet::basis::{Basis, BasisSpec, BuildContext, Design};
use c2cnet::data::{Bounds, Dataset, Field, Points, Scattered};
use c2cnet::linalg;
use c2cnet::{C2CNet, FitConfig, FitReport, Silent, fit};
use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::f64::consts::PI;
use std::sync::Arc;

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Entries uniform on [-1, 1].
pub fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed);
    Mat::from_fn(rows, columns, |_, _| 2.0 * rng.random::<f64>() - 1.0)
}

/// Random points of the unit box, with its two far corners.
pub fn scattered(dim: usize, n: usize, seed: u64) -> Points {
    let mut rng = rng(seed);
    let mut coords = vec![0.0; dim];
    coords.extend(vec![1.0; dim]);
    coords.extend((2 * dim..n * dim).map(|_| rng.random::<f64>()));
    Points::new(dim, coords).unwrap()
}

pub fn spec(json: Value) -> BasisSpec {
    serde_json::from_value(json).unwrap()
}

/// A basis on the unit box from its settings.
pub fn basis(json: Value, points: &Points) -> Arc<dyn Basis> {
    let domain = Bounds::unit(points.dim());
    spec(json)
        .build(BuildContext {
            points: Some(points),
            ..BuildContext::on(&domain)
        })
        .unwrap()
}

/// Settings of a basis of every family that takes no data, in the plane.
pub fn planar_families() -> Vec<(&'static str, Value)> {
    vec![
        (
            "windowed",
            json!({"family": "random-features", "functions": 63, "partitions": [3, 3], "scale": 2.0}),
        ),
        (
            "global",
            json!({"family": "random-features", "functions": 20, "activation": "sin"}),
        ),
        (
            "fourier",
            json!({"family": "fourier", "kind": "periodic", "modes": [5, 3]}),
        ),
        (
            "polynomial",
            json!({"family": "polynomial", "total_degree": 5}),
        ),
        (
            "linear elements",
            json!({"family": "finite-elements", "functions": 49}),
        ),
        (
            "quadratic elements",
            json!({"family": "finite-elements", "functions": 49, "degree": 2}),
        ),
        (
            "gaussian",
            json!({"family": "radial", "functions": 30, "width": {"spacing": 1.0}}),
        ),
        (
            "wendland",
            json!({"family": "radial", "kernel": "wendland", "functions": 49, "width": {"spacing": 1.5}}),
        ),
    ]
}

/// Polynomials and twelve directions learned from fields at the points.
pub fn hybrid(points: &Points) -> Arc<dyn Basis> {
    let amplitudes = random(2, 30, 7);
    let values = Mat::from_fn(points.len(), 30, |i, k| {
        let (p, w) = (points.point(i), 1.0 + k as f64 / 5.0);
        amplitudes[(0, k)] * (w * PI * p[0]).sin()
            + amplitudes[(1, k)] * (w * PI * p[0] * p[1]).cos()
    });
    let polynomials = json!({"family": "polynomial", "total_degree": 3});
    let domain = Bounds::unit(points.dim());
    spec(json!({"family": "hybrid", "prescribed": polynomials, "learned": 12}))
        .build(BuildContext {
            points: Some(points),
            values: Some(values.as_ref()),
            ..BuildContext::on(&domain)
        })
        .unwrap()
}

/// The design matrices of [`planar_families`], of point values and of a hybrid space, at the same points.
pub fn planar_designs(points: &Points) -> Vec<(&'static str, Design)> {
    let mut families = planar_families();
    families.push(("point values", json!({"family": "point-values"})));
    let mut designs: Vec<(&'static str, Design)> = families
        .into_iter()
        .map(|(name, json)| (name, basis(json, points).evaluate(points).unwrap()))
        .collect();
    designs.push(("hybrid", hybrid(points).evaluate(points).unwrap()));
    designs
}

/// The spectral norm.
pub fn norm2(m: MatRef<'_, f64>) -> f64 {
    linalg::thin_svd(m).unwrap().s[0]
}

/// The largest difference of entries.
pub fn distance(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    (a.to_owned() - b.to_owned()).norm_max()
}

pub fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs())
}

pub fn config(json: Value) -> FitConfig {
    serde_json::from_value(json).unwrap()
}

pub fn fitted(data: &Dataset, json: Value) -> (C2CNet, FitReport) {
    fit(data, &config(json), &Silent).unwrap()
}

/// Samples of $f = \sum_k a_k\sin(k\pi x)$ with decaying random $a_k$ on a line.
pub fn line_inputs(points: &Points, samples: usize, seed: u64) -> (Mat<f64>, Mat<f64>) {
    let a = {
        let mut a = random(4, samples, seed);
        for k in 0..4 {
            for j in 0..samples {
                a[(k, j)] /= (k + 1) as f64;
            }
        }
        a
    };
    let modes = Mat::from_fn(points.len(), 4, |i, k| {
        ((k + 1) as f64 * PI * points.point(i)[0]).sin()
    });
    (linalg::mul(modes.as_ref(), a.as_ref()), a)
}

/// A mildly nonlinear operator on an interval, $u = e^{f/2}$.
pub fn line_data(samples: usize, seed: u64) -> Dataset {
    let points = Points::linspace(0.0, 1.0, 41);
    let (f, _) = line_inputs(&points, samples, seed);
    let u = Mat::from_fn(41, samples, |i, k| (0.5 * f[(i, k)]).exp());
    Dataset::new(
        Field::shared(points.clone(), vec![f]).unwrap(),
        Field::shared(points, vec![u]).unwrap(),
    )
    .unwrap()
}

/// A smooth random function of the plane, positive, and a nonlinear image of it.
pub fn plane_value(a: &[f64], p: &[f64]) -> (f64, f64) {
    let s = a[0] * (PI * p[0]).sin() + a[1] * (PI * p[1]).cos() + 0.5 * a[2] * p[0] * p[1];
    let f = (0.5 * s).exp();
    (f, f * f + 0.3 * a[0] * p[1])
}

/// [`plane_value`] at a common grid.
pub fn plane_data(samples: usize, seed: u64) -> Dataset {
    let points = Points::grid(&Bounds::unit(2), &[9, 9]);
    let a = random(3, samples, seed);
    let value = |i: usize, k: usize| {
        let a: Vec<f64> = a.col(k).iter().copied().collect();
        plane_value(&a, points.point(i))
    };
    let f = Mat::from_fn(81, samples, |i, k| value(i, k).0);
    let u = Mat::from_fn(81, samples, |i, k| value(i, k).1);
    Dataset::new(
        Field::shared(points.clone(), vec![f]).unwrap(),
        Field::shared(points, vec![u]).unwrap(),
    )
    .unwrap()
}

/// [`plane_value`] at points of each sample's own.
pub fn scattered_data(samples: usize, seed: u64) -> Dataset {
    let a = random(3, samples, seed);
    let field = |output: bool| {
        let all = (0..samples)
            .map(|k| {
                let a: Vec<f64> = a.col(k).iter().copied().collect();
                let stride = if output { 1000 } else { 2000 };
                let points = scattered(2, 60 + k % 7, stride + k as u64);
                let values = points
                    .iter()
                    .map(|p| {
                        let (f, u) = plane_value(&a, p);
                        if output { u } else { f }
                    })
                    .collect();
                Scattered { points, values }
            })
            .collect();
        Field::per_sample(1, all).unwrap()
    };
    Dataset::new(field(false), field(true)).unwrap()
}
