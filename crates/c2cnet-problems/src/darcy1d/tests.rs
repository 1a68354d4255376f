use super::*;
use crate::Unwatched;
use crate::testing::{check_reproducible, fitted_order};
use std::f64::consts::PI;

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

fn grid(intervals: usize) -> Vec<f64> {
    (0..=intervals)
        .map(|i| i as f64 / intervals as f64)
        .collect()
}

/// Newton's method on $a_{i+1/2}(u_{i+1} - u_i) - a_{i-1/2}(u_i - u_{i-1}) = h^2 f_i$, where
/// $a_{i+1/2} = a((u_i + u_{i+1})/2)$: nothing in common with the transform, and of order two.
fn newton(f: &[f64]) -> Vec<f64> {
    let n = f.len() - 1;
    let h = 1.0 / n as f64;
    let mut u = vec![0.0; n + 1];
    for _ in 0..50 {
        // Flux and its derivatives by the left and the right value.
        let flux: Vec<[f64; 3]> = (0..n)
            .map(|i| {
                let (middle, jump) = (0.5 * (u[i] + u[i + 1]), u[i + 1] - u[i]);
                let a = 0.2 + middle * middle;
                [a * jump, middle * jump - a, middle * jump + a]
            })
            .collect();
        // Forward elimination and back substitution for the tridiagonal correction.
        let mut upper = vec![0.0; n + 1];
        let mut right = vec![0.0; n + 1];
        for i in 1..n {
            let residual = flux[i][0] - flux[i - 1][0] - h * h * f[i];
            let lower = -flux[i - 1][1];
            let pivot = flux[i][1] - flux[i - 1][2] - lower * upper[i - 1];
            upper[i] = flux[i][2] / pivot;
            right[i] = (-residual - lower * right[i - 1]) / pivot;
        }
        let mut next = 0.0;
        let mut change = 0f64;
        for i in (1..n).rev() {
            next = right[i] - upper[i] * next;
            u[i] += next;
            change = change.max(next.abs());
        }
        if change < 1e-13 {
            return u;
        }
    }
    panic!("Newton's method did not converge");
}

#[test]
fn manufactured_solution_converges_with_order_four() {
    // u = e^x sin(pi x), f = a(u) u'' + 2 u u'^2
    let exact = |x: f64| x.exp() * (PI * x).sin();
    let source = |x: f64| {
        let (s, c) = (PI * x).sin_cos();
        let (u, du) = (x.exp() * s, x.exp() * (s + PI * c));
        let ddu = x.exp() * ((1.0 - PI * PI) * s + 2.0 * PI * c);
        (0.2 + u * u) * ddu + 2.0 * u * du * du
    };
    let (mut steps, mut errors) = (Vec::new(), Vec::new());
    for intervals in [32, 64, 128, 256, 512] {
        let x = grid(intervals);
        let f: Vec<f64> = x.iter().map(|&x| source(x)).collect();
        let u: Vec<f64> = x.iter().map(|&x| exact(x)).collect();
        steps.push(1.0 / intervals as f64);
        errors.push(largest_difference(&solve(&f), &u));
    }
    let order = fitted_order(&steps, &errors);
    assert!(order > 4.0 - 0.15, "order {order}, errors {errors:?}");
    assert!(errors[4] < 1e-8, "{errors:?}");
}

#[test]
fn newtons_method_on_finite_differences_agrees_with_order_two() {
    // Rough enough, and large enough for the cubic to matter.
    let source = |x: f64| 20.0 * (3.0 * PI * x).cos() + 35.0 * (7.0 * x * x).sin() - 8.0;
    let (mut steps, mut errors) = (Vec::new(), Vec::new());
    for intervals in [100, 200, 400, 800] {
        let f: Vec<f64> = grid(intervals).into_iter().map(source).collect();
        let u = solve(&f);
        assert!(
            u.iter().any(|u| u.abs() > 0.7),
            "u should leave the linear regime"
        );
        steps.push(1.0 / intervals as f64);
        errors.push(largest_difference(&u, &newton(&f)));
    }
    let order = fitted_order(&steps, &errors);
    assert!(
        (order - 2.0).abs() < 0.15,
        "order {order}, differences {errors:?}"
    );
}

#[test]
fn cubic_roots_are_exact_to_rounding() {
    for exponent in -300..=300 {
        for k in [10f64.powi(exponent), -2.7 * 10f64.powi(exponent)] {
            // Powers of u overflow no sooner than K does.
            let u = inverse_kirchhoff(k);
            let residual = 0.2 * u + u * u * u / 3.0 - k;
            // The logarithm and the exponential of a large number lose as many units as it has e-folds.
            let units = 8.0 + k.abs().ln().max(0.0);
            assert!(
                residual.abs() <= units * f64::EPSILON * k.abs(),
                "{k:e}: {residual:e}"
            );
        }
    }
    assert_eq!(inverse_kirchhoff(0.0), 0.0);
}

#[test]
fn the_data_are_as_accurate_as_stated() {
    // On every second point the scheme errs 16 times as much: the difference is 15 times the error.
    let data = Darcy1d {
        points: 2001,
        n_train: 5,
        n_test: 0,
        ..Darcy1d::default()
    }
    .samples(1, &Unwatched)
    .unwrap();
    for k in 0..5 {
        let (f, u) = (
            data.inputs[0].1.values_of(k),
            data.outputs[0].1.values_of(k),
        );
        let every_second = |v: &[f64]| v.iter().copied().step_by(2).collect::<Vec<_>>();
        let scale = u.iter().fold(0f64, |m, u| m.max(u.abs()));
        let error =
            largest_difference(&solve(&every_second(&f)), &every_second(&u)) / (15.0 * scale);
        assert!(error < 1e-9, "sample {k}: {error:e}");
    }
}

#[test]
fn ends_are_zero_and_few_points_lie_on_a_finer_grid() {
    let coarse = Darcy1d {
        points: 41,
        n_train: 3,
        n_test: 1,
        ..Darcy1d::default()
    };
    let data = coarse.samples(2, &Unwatched).unwrap();
    let u = &data.outputs[0].1;
    assert_eq!(u.points_of(0).len(), 41);
    for k in 0..4 {
        let u = u.values_of(k);
        assert_eq!((u[0], u[40]), (0.0, 0.0));
    }
    // 40 intervals need 40 times as many for 64 points per length: the grid of 1,601 points.
    let fine = Darcy1d {
        points: 1601,
        ..coarse
    }
    .samples(2, &Unwatched)
    .unwrap();
    for k in 0..4 {
        let thinned: Vec<f64> = fine.outputs[0]
            .1
            .values_of(k)
            .into_iter()
            .step_by(40)
            .collect();
        assert_eq!(thinned, u.values_of(k));
    }
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_for_any_number_of_samples() {
    check_reproducible(77, |n_train, n_test| Darcy1d {
        points: 500,
        n_train,
        n_test,
        ..Darcy1d::default()
    });
}
