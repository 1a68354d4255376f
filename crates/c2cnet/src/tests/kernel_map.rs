//! The coefficient maps on operators whose answers are known.

use super::toy::{self, close, distance, random};
use crate::Silent;
use crate::data::{Dataset, Field, Points};
use crate::decode::Targets;
use crate::linalg;
use crate::map::{
    CoefficientMap, HeldOut, KernelChoice, KernelMap, KernelSearch, KernelSpec, LinearMap, Split,
    conformance,
};
use faer::Mat;
use serde_json::json;
use std::f64::consts::PI;

/// Targets whose coordinates are the whole truth.
fn targets(coordinates: Mat<f64>) -> Targets {
    let norm_squared = linalg::column_norms_squared(coordinates.as_ref());
    Targets {
        outside_squared: vec![0.0; coordinates.ncols()],
        norm_squared,
        coordinates,
        withheld_floor: None,
        readings: None,
    }
}

fn mean_error(map: &dyn CoefficientMap, a: &Mat<f64>, truth: &Targets) -> f64 {
    let all: Vec<usize> = (0..a.ncols()).collect();
    let errors = truth.relative_errors(map.predict(a.as_ref()).as_ref(), &all);
    errors.iter().sum::<f64>() / errors.len() as f64
}

#[test]
fn linear_map_recovers_a_linear_operator() {
    let a = random(7, 60, 1);
    let (w, b) = (random(11, 7, 2), random(11, 1, 3));
    let image = |a: &Mat<f64>| {
        let linear = linalg::mul(w.as_ref(), a.as_ref());
        Mat::from_fn(11, a.ncols(), |i, k| linear[(i, k)] + b[(i, 0)])
    };
    let map = LinearMap::fit(a.as_ref(), &targets(image(&a))).unwrap();
    let new = random(7, 20, 4);
    let off = distance(map.predict(new.as_ref()).as_ref(), image(&new).as_ref());
    assert!(off < 1e-12, "{off}");
    assert!(map.loo_error() < 1e-12, "{}", map.loo_error());
    assert_eq!((map.inputs(), map.outputs(), map.parameters()), (7, 11, 88));
    conformance::check(&map, "linear", new.as_ref());
}

#[test]
fn leave_one_out_error_is_that_of_leaving_one_out() {
    let samples = 14;
    let a = random(5, samples, 5);
    let noise = random(3, samples, 6);
    let w = random(3, 5, 7);
    let mut c = linalg::mul(w.as_ref(), a.as_ref());
    c += noise * faer::Scale(0.3);
    let mut truth = targets(c.clone());
    // A floor counts in every error.
    for k in 0..samples {
        truth.outside_squared[k] = 0.01 * (k + 1) as f64;
        truth.norm_squared[k] += truth.outside_squared[k];
    }
    let map = LinearMap::fit(a.as_ref(), &truth).unwrap();
    let mut centred = a.clone();
    linalg::subtract_from_columns(&mut centred, &linalg::column_mean(a.as_ref()));
    let tau = map.strength() * toy::norm2(centred.as_ref()).powi(2);

    let mut total = 0.0;
    for left in 0..samples {
        let rest: Vec<usize> = (0..samples).filter(|&k| k != left).collect();
        let (mut ar, mut cr) = (
            linalg::select_columns(a.as_ref(), &rest),
            linalg::select_columns(c.as_ref(), &rest),
        );
        let (am, cm) = (
            linalg::column_mean(ar.as_ref()),
            linalg::column_mean(cr.as_ref()),
        );
        linalg::subtract_from_columns(&mut ar, &am);
        linalg::subtract_from_columns(&mut cr, &cm);
        let mut gram = linalg::mul(ar.as_ref(), ar.transpose());
        for i in 0..5 {
            gram[(i, i)] += tau;
        }
        assert!(linalg::cholesky_in_place(gram.as_mut()));
        let mut weights = linalg::mul(ar.as_ref(), cr.transpose());
        linalg::cholesky_solve_in_place(gram.as_ref(), weights.as_mut());
        let off: f64 = (0..3)
            .map(|i| {
                let moved: f64 = (0..5)
                    .map(|j| weights[(j, i)] * (a[(j, left)] - am[j]))
                    .sum();
                (cm[i] + moved - c[(i, left)]).powi(2)
            })
            .sum();
        total += ((off + truth.outside_squared[left]) / truth.norm_squared[left]).sqrt();
    }
    let brute = total / samples as f64;
    assert!(
        close(map.loo_error(), brute, 1e-10),
        "{} {brute}",
        map.loo_error()
    );
}

/// Smooth functions of two directions, many outputs.
fn ridge_functions(directions: &Mat<f64>, a: &Mat<f64>, outputs: usize, seed: u64) -> Targets {
    let t = linalg::mul(directions.as_ref(), a.as_ref());
    let mix = random(outputs, directions.nrows() + 1, seed);
    targets(Mat::from_fn(outputs, a.ncols(), |i, k| {
        let phase: f64 = (0..t.nrows()).map(|d| 1.5 * mix[(i, d)] * t[(d, k)]).sum();
        (phase + PI * mix[(i, t.nrows())]).sin() + 0.5
    }))
}

fn chosen(a: &Mat<f64>, truth: &Targets, spec: &KernelSpec) -> KernelChoice {
    let n = a.ncols();
    let (validation, train): (Vec<usize>, Vec<usize>) = (0..n).partition(|k| k % 5 == 0);
    let linear = LinearMap::fit(
        linalg::select_columns(a.as_ref(), &train).as_ref(),
        &truth.select(&train),
    )
    .unwrap();
    let split = Split { train, validation };
    let search = KernelSearch {
        spec,
        seed: 0,
        rival: None,
        observer: &Silent,
    };
    let held_out = HeldOut {
        coefficients: a.as_ref(),
        targets: truth,
        split: &split,
        linear: &linear,
    };
    search.run(&[held_out]).unwrap()
}

#[test]
fn nystrom_centres_come_close_to_the_dense_map() {
    let directions = random(3, 3, 10);
    let (a, new) = (random(3, 600, 11), random(3, 150, 12));
    let truth = ridge_functions(&directions, &a, 6, 13);
    let new_truth = ridge_functions(&directions, &new, 6, 13);
    let fit = |spec: &KernelSpec| {
        let choice = chosen(&a, &truth, spec);
        let map = KernelMap::fit(
            a.as_ref(),
            &truth,
            choice.features,
            choice.settings,
            7,
            &Silent,
        );
        let map = map.unwrap();
        let error = mean_error(&map, &new, &new_truth);
        (map, error)
    };
    let (dense, dense_error) = fit(&KernelSpec {
        passes: 1,
        ..Default::default()
    });
    assert!(
        dense.describe().contains("600 centres"),
        "{}",
        dense.describe()
    );
    assert!(dense_error < 1e-3, "{dense_error}");
    conformance::check(&dense, "kernel", new.as_ref());
    let linear = LinearMap::fit(a.as_ref(), &truth).unwrap();
    assert!(dense_error < 0.02 * mean_error(&linear, &new, &new_truth));
    // By memory (a matrix of 300^2 doubles), and by memory with fewer centres asked for.
    let gib = 8.0 * 300f64.powi(2) / (1u64 << 30) as f64 * 1.001;
    for (max_centres, expected) in [(6000, 300), (200, 200)] {
        let (map, error) = fit(&KernelSpec {
            passes: 1,
            memory_gib: gib,
            max_centres,
            ..Default::default()
        });
        let centres = format!("{expected} centres");
        assert!(map.describe().contains(&centres), "{}", map.describe());
        assert!(map.parameters() < dense.parameters());
        conformance::check(&map, "kernel", new.as_ref());
        assert!(
            error < 10.0 * dense_error + 1e-4,
            "{error}, dense {dense_error}"
        );
    }
}

#[test]
fn average_gradients_beat_the_first_pass_where_directions_are_irrelevant() {
    let mut directions = Mat::zeros(2, 12);
    directions[(0, 0)] = 1.0;
    directions[(1, 1)] = 1.0;
    let a = random(12, 300, 20);
    let truth = ridge_functions(&directions, &a, 30, 21);
    let choice = chosen(&a, &truth, &KernelSpec::default());
    let passes = &choice.report.passes;
    assert!(passes.len() > 1, "{passes:?}");
    let first = passes[0].error;
    assert!(
        choice.report.error < 0.5 * first,
        "{} after {first}",
        choice.report.error
    );
    assert!(choice.settings.passes.len() > 1);
    assert_eq!(choice.report.samples, (240, 60));
    // The features learned on all samples are as good for new ones.
    let linear = LinearMap::fit(a.as_ref(), &truth).unwrap();
    let features = choice
        .settings
        .learn_features(a.as_ref(), &truth, &linear, 0, &Silent)
        .unwrap();
    let settings = choice.settings.clone();
    let map = KernelMap::fit(a.as_ref(), &truth, features, settings, 0, &Silent).unwrap();
    let new = random(12, 100, 22);
    conformance::check(&map, "kernel", new.as_ref());
    let error = mean_error(&map, &new, &ridge_functions(&directions, &new, 30, 21));
    assert!(error < 0.5 * first, "{error} after {first}");
}

/// $u = e^f$ commutes with every symmetry; inputs lean to one side.
fn commuting(points: &Points, samples: usize, seed: u64) -> Dataset {
    let a = random(4, samples, seed);
    let f = Mat::from_fn(points.len(), samples, |i, k| {
        let p = points.point(i);
        let (x, y) = (p[0], p[p.len() - 1]);
        0.8 * a[(0, k)] * (PI * x).sin()
            + 0.8 * a[(1, k)] * (2.0 * PI * x).sin()
            + 0.6 * a[(2, k)] * (PI * y).cos()
            + 0.4 * a[(3, k)] * (2.0 * PI * y).cos()
    });
    let u = Mat::from_fn(points.len(), samples, |i, k| f[(i, k)].exp());
    Dataset::new(
        Field::shared(points.clone(), vec![f]).unwrap(),
        Field::shared(points.clone(), vec![u]).unwrap(),
    )
    .unwrap()
}

#[test]
fn symmetries_lower_the_error_of_an_operator_that_commutes_with_them() {
    let line = Points::linspace(0.0, 2.0 * PI, 33);
    let line = Points::new(1, line.coords().iter().map(|x| x / (2.0 * PI)).collect()).unwrap();
    let plane = Points::grid(&crate::data::Bounds::unit(2), &[9, 9]);
    for (points, symmetries, order) in [(line, "interval", 2), (plane, "square", 8)] {
        let train = commuting(&points, 30, 30);
        let test = commuting(&points, 120, 31);
        // Predictions are wanted for images too.
        let group: crate::data::Symmetries = serde_json::from_value(json!(symmetries)).unwrap();
        let test = group.augment(&test).unwrap();
        let basis = json!({"family": "polynomial", "degrees": vec![7; points.dim()]});
        let error = |symmetries: &str| {
            let (model, report) = toy::fitted(
                &train,
                json!({
                    "symmetries": symmetries,
                    "input": {"basis": basis, "transform": "none"},
                    "output": {"basis": basis},
                    "map": {"kind": "kernel", "kernel": {"passes": 1}},
                }),
            );
            (model.evaluate(&test).unwrap().rl2e, report.n_train)
        };
        let ((without, n), (with, augmented)) = (error("none"), error(symmetries));
        assert_eq!((n, augmented), (30, 30 * order));
        assert!(
            with < 0.8 * without,
            "{symmetries}: {with} with, {without} without"
        );
    }
}

/// Learned inputs and images once counted samples in two ways.
#[test]
fn symmetries_go_with_learned_inputs_and_with_default_settings() {
    let plane = Points::grid(&crate::data::Bounds::unit(2), &[9, 9]);
    let train = commuting(&plane, 40, 30);
    let test = commuting(&plane, 120, 31);
    for input in [
        json!({"space": "learned"}),
        json!({"space": "hybrid"}),
        json!({}),
    ] {
        let config = json!({"symmetries": "square", "input": input});
        let (model, report) = toy::fitted(&train, config);
        assert_eq!(report.n_train, 8 * 40);
        let error = model.evaluate(&test).unwrap();
        assert!(error.rl2e < 0.5 * error.mean_rl2e, "{}", error.rl2e);
    }
}

/// A grid whose unit coordinates fall on rounding boundaries is as symmetric as any other.
#[test]
fn symmetric_grids_are_recognised_whatever_their_bounds() {
    for n in [3, 33, 129, 257, 513, 1001, 4097] {
        for (a, b) in [(0.0, 1.0), (0.0, 2.0 * PI), (-0.1, 0.7), (1e3, 1e3 + 0.3)] {
            let points = Points::linspace(a, b, n);
            let f = random(n, 1, n as u64);
            let data = Dataset::new(
                Field::shared(points.clone(), vec![f.clone()]).unwrap(),
                Field::shared(points, vec![f.clone()]).unwrap(),
            )
            .unwrap();
            let twice = crate::data::Symmetries::Interval.augment(&data);
            let twice = twice.unwrap_or_else(|e| panic!("[{a}, {b}], {n} points: {e}"));
            let image = twice.inputs[0].1.values_of(1);
            for i in 0..n {
                assert_eq!(image[i], f[(n - 1 - i, 0)], "[{a}, {b}], {n} points");
            }
        }
    }
}
