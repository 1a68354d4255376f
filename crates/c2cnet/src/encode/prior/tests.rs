//! Tests of the learned prior.

use super::*;
use crate::basis::{Basis, Polynomial, PolynomialSpec};
use crate::data::Bounds;
use std::sync::Arc;

const FUNCTIONS: usize = 8;
const NOISE: f64 = 0.01;

fn basis() -> FieldBasis {
    let spec = PolynomialSpec {
        functions: Some(FUNCTIONS),
        ..PolynomialSpec::default()
    };
    let basis: Arc<dyn Basis> = Arc::new(Polynomial::new(Bounds::unit(1), spec).unwrap());
    FieldBasis::separate(vec![basis; 2]).unwrap()
}

fn normal(rng: &mut impl RngExt) -> f64 {
    (0..12).map(|_| rng.random_range(-0.5..0.5)).sum()
}

/// Two components that move together in two directions, a few noisy readings each, and what their
/// coefficients are.
fn samples(count: usize, readings: usize) -> (Vec<Scattered>, Vec<Vec<f64>>) {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let size = 2 * FUNCTIONS;
    let directions: Vec<Vec<f64>> = (0..2)
        .map(|_| (0..size).map(|_| normal(&mut rng)).collect())
        .collect();
    let mut draw = || {
        let (a, b) = (normal(&mut rng), normal(&mut rng));
        let c: Vec<f64> = (0..size)
            .map(|i| 1.0 + a * directions[0][i] + b * directions[1][i])
            .collect();
        let x: Vec<f64> = (0..readings).map(|_| rng.random_range(0.0..1.0)).collect();
        let points = Points::new(1, x).unwrap();
        let design = basis().parts()[0].evaluate(&points).unwrap().to_dense();
        let values = c
            .chunks(FUNCTIONS)
            .flat_map(|c| {
                let value = |i: usize| (0..FUNCTIONS).map(|j| design[(i, j)] * c[j]).sum::<f64>();
                (0..readings).map(value).collect::<Vec<_>>()
            })
            .map(|v| v + NOISE * normal(&mut rng))
            .collect();
        (Scattered { points, values }, c)
    };
    (0..count).map(|_| draw()).unzip()
}

fn error(a: &[f64], b: &[f64]) -> f64 {
    let off: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    (off / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
}

/// Five readings do not determine eight coefficients; what other samples show of them does.
#[test]
fn few_readings_and_many_samples_give_the_coefficients() {
    let (samples, truth) = samples(400, 5);
    let prior = Prior::fit(&basis(), &samples[..300], &|| false).unwrap();
    assert!(prior.noise() < 3.0 * NOISE, "{}", prior.noise());
    let off = |k: usize| error(&prior.encode(&basis(), &samples[k]).unwrap(), &truth[k]);
    let mean = (300..400).map(off).sum::<f64>() / 100.0;
    assert!(mean < 0.05, "{mean}");
}

/// $Q^\top r$ and $R$ carry the same information as $r$ and $A$.
#[test]
fn more_readings_than_functions_are_the_same_in_fewer_numbers() {
    let (samples, _) = samples(60, 20);
    let prior = Prior::fit(&basis(), &samples, &|| false).unwrap();
    let basis = basis();
    for sample in &samples[..5] {
        let design = basis.parts()[0]
            .evaluate(&sample.points)
            .unwrap()
            .to_dense();
        let scaled = |c: usize| {
            let mut design = design.clone();
            design *= faer::Scale(1.0 / prior.scales[c]);
            design
        };
        let n = sample.points.len();
        let whole = Reading {
            designs: vec![scaled(0), scaled(1)],
            values: Mat::from_fn(2 * n, 1, |i, _| sample.values[i] / prior.scales[i / n]),
            outside: (0, 0.0),
        };
        let mut a = prior.deviation(&whole);
        let Conditioned { factor, cross } = prior.at(&whole.designs).unwrap();
        linalg::cholesky_solve_in_place(factor.as_ref(), a.as_mut());
        let direct = linalg::mul(cross.transpose(), a.as_ref());
        let short = prior.encode(&basis, sample).unwrap();
        for i in 0..short.len() {
            assert!((direct[(i, 0)] + prior.mean[i] - short[i]).abs() < 1e-8);
        }
        let reading = prior.reading_of(&basis, sample).unwrap();
        let [one, other] = [&whole, &reading].map(|reading| {
            let mut sums = Sums::new(basis.len());
            prior.add(reading, &mut sums).unwrap();
            sums
        });
        assert!((one.likelihood - other.likelihood).abs() < 1e-6 * one.likelihood.abs());
        assert!((one.noise - other.noise).abs() < 1e-6 * one.noise);
        assert_eq!(one.readings, other.readings);
    }
}

/// Each round raises the likelihood.
#[test]
fn rounds_improve() {
    let (samples, _) = samples(80, 5);
    let all: Vec<usize> = (0..samples.len()).collect();
    let mut prior = Prior::first(&basis(), &samples).unwrap();
    let mut before = f64::NEG_INFINITY;
    for round in 0..8 {
        let likelihood = prior.improve(&basis(), &samples, &all).unwrap();
        assert!(
            likelihood > before,
            "round {round}: {likelihood} after {before}"
        );
        before = likelihood;
    }
}

#[test]
fn the_same_on_any_number_of_threads() {
    let (samples, _) = samples(50, 5);
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| Prior::fit(&basis(), &samples, &|| false).unwrap())
    };
    let (one, three) = (fit(1), fit(3));
    assert_eq!(one.covariance, three.covariance);
    assert_eq!((one.mean, one.noise), (three.mean, three.noise));
}

#[test]
fn readings_that_do_not_vary_are_refused() {
    let (mut samples, _) = samples(5, 4);
    samples.iter_mut().for_each(|s| s.values.fill(1.0));
    assert!(Prior::fit(&basis(), &samples, &|| false).is_err());
}

/// What it would ignore is refused, and so are shared points.
#[test]
fn parameters_and_shared_points_are_refused() {
    use super::super::{EncoderSpec, FieldEncoder, Method, Transform};
    use crate::data::Field;
    let prior = EncoderSpec {
        method: Method::Prior,
        ..EncoderSpec::default()
    };
    assert!(prior.given().is_ok());
    for bad in [
        EncoderSpec {
            lambda: Some(1e-6),
            ..prior
        },
        EncoderSpec {
            relative_cut: Some(1e-3),
            ..prior
        },
    ] {
        let error = bad.given().unwrap_err().to_string();
        assert!(error.contains("learns its parameters"), "{error}");
    }
    let points = Points::linspace(0.0, 1.0, 30);
    let field = Field::shared(points, vec![Mat::identity(30, 5); 2]).unwrap();
    let error = FieldEncoder::fit(basis(), &prior, Transform::None, &field).unwrap_err();
    assert!(error.to_string().contains("their own points"), "{error}");
}

#[test]
fn the_prior_conforms() {
    use super::super::{EncoderSpec, Method, conformance};
    let spec = EncoderSpec {
        method: Method::Prior,
        ..EncoderSpec::default()
    };
    conformance::check(&basis(), &spec, &Points::linspace(0.0, 1.0, 30), 1e-3);
}

/// Samples that share their points get the same codes together as one by one.
#[test]
fn shared_points_later_are_encoded_alike() {
    let (samples, _) = samples(60, 6);
    let prior = Prior::fit(&basis(), &samples, &|| false).unwrap();
    for readings in [5, 20] {
        let points = Points::linspace(0.0, 1.0, readings);
        let values: Vec<Mat<f64>> = (0..2)
            .map(|c| Mat::from_fn(readings, 3, |i, k| ((1 + c + i * (k + 1)) as f64).sin()))
            .collect();
        let together = prior.encode_shared(&basis(), &points, &values).unwrap();
        for k in 0..3 {
            let sample = Scattered {
                points: points.clone(),
                values: values
                    .iter()
                    .flat_map(|v| v.col_as_slice(k).to_vec())
                    .collect(),
            };
            let alone = prior.encode(&basis(), &sample).unwrap();
            let off = (0..alone.len()).map(|i| (together[(i, k)] - alone[i]).abs());
            assert!(off.fold(0.0, f64::max) < 1e-9);
        }
    }
}

#[test]
fn learning_stops_when_asked() {
    let (samples, _) = samples(60, 5);
    let asked = std::cell::Cell::new(0);
    let second_time = || {
        asked.set(asked.get() + 1);
        asked.get() == 2
    };
    let stopped = Prior::fit(&basis(), &samples, &second_time);
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert_eq!(asked.get(), 2);
}
