use super::*;
use crate::Unwatched;
use crate::testing::{
    check_refused_text, check_reproducible, fitted_order, relative_difference, rms,
};
use serde_json::json;

fn small() -> KdvBurgers {
    KdvBurgers {
        points: 11,
        n_train: 3,
        n_test: 0,
        ..KdvBurgers::default()
    }
}

fn output(problem: &KdvBurgers, seed: u64, k: usize) -> Vec<f64> {
    let data = problem.samples(seed, &Unwatched).unwrap();
    data.outputs[0].1.values_of(k)
}

fn starting_from(problem: &KdvBurgers, start: impl Fn(f64) -> f64) -> Vec<f64> {
    let nodes: Vec<f64> = (0..problem.grid)
        .map(|j| start(j as f64 / problem.grid as f64))
        .collect();
    Solver::new(problem).solve(&nodes)
}

#[test]
fn the_method_is_of_order_four_in_time() {
    let on = |steps: usize| output(&KdvBurgers { steps, ..small() }, 4, 1);
    let exact = on(6400);
    let counts = [200, 400, 800, 1600];
    let steps: Vec<f64> = counts.iter().map(|&n| 1.0 / n as f64).collect();
    let errors: Vec<f64> = counts
        .iter()
        .map(|&n| relative_difference(&on(n), &exact))
        .collect();
    let order = fitted_order(&steps, &errors);
    assert!(order >= 3.85, "order {order}, errors {errors:?}");
}

#[test]
fn refining_grid_and_steps_changes_nothing_to_speak_of() {
    let problem = KdvBurgers {
        n_train: 12,
        points: 51,
        ..small()
    };
    let fine = KdvBurgers {
        grid: 512,
        steps: 2000,
        ..problem.clone()
    };
    let [coarse, fine] = [problem, fine].map(|problem| problem.samples(9, &Unwatched).unwrap());
    for k in 0..12 {
        let of = |data: &Dataset| data.outputs[0].1.values_of(k);
        let difference = relative_difference(&of(&coarse), &of(&fine));
        assert!(difference < 1e-8, "sample {k}: {difference:e}");
    }
}

#[test]
fn the_spectrum_decays() {
    // The largest error of grids of 32, 64 and 128 points from a smooth start: faster than any power.
    let on = |grid: usize| {
        let problem = KdvBurgers {
            grid,
            modes: 4,
            ..small()
        };
        starting_from(&problem, |x| {
            0.5 * (TAU * x).sin() + 0.2 * (2.0 * TAU * x).cos()
        })
    };
    let exact = on(512);
    let errors = [32, 64, 128].map(|grid| relative_difference(&on(grid), &exact));
    assert!(errors[1] < 1e-2 * errors[0], "{errors:?}");
    assert!(errors[2] < 1e-4 * errors[1], "{errors:?}");
    assert!(errors[2] < 1e-9, "{errors:?}");
}

#[test]
fn a_small_wave_moves_and_decays_as_the_linear_equation_says() {
    let u = starting_from(&small(), |x| 1e-9 * (2.0 * TAU * x).cos());
    let k = 2.0 * TAU;
    for i in 0..11 {
        for j in 0..11 {
            let (x, t) = (i as f64 / 10.0, j as f64 / 10.0);
            // -D u_xxx carries the wave to the left with speed D k^2.
            let exact = (-0.01 * k * k * t).exp() * (k * (x + 0.001 * k * k * t)).cos();
            let found = u[i * 11 + j] * 1e9;
            assert!((found - exact).abs() < 1e-7, "{x} {t}: {found} {exact}");
        }
    }
}

#[test]
fn the_equation_holds_in_finite_differences() {
    // Eighth-order differences in x, fourth-order ones in t, of values on a fine output grid.
    let n = 400;
    let problem = KdvBurgers {
        points: n + 1,
        ..small()
    };
    let u = starting_from(&problem, |x| {
        0.4 * (TAU * x).sin() + 0.1 * (2.0 * TAU * x).cos() + 0.2
    });
    let h = 1.0 / n as f64;
    let at = |i: usize, j: usize| u[(i % n) * (n + 1) + j];
    let mut worst = 0f64;
    for i in 0..n {
        for j in [2, 40, 150, 399 - 2] {
            let d = |o: usize| at(i + o, j) - at(i + n - o, j);
            let s = |o: usize| at(i + o, j) + at(i + n - o, j) - 2.0 * at(i, j);
            let ux = (672.0 * d(1) - 168.0 * d(2) + 32.0 * d(3) - 3.0 * d(4)) / (840.0 * h);
            let uxx = (1.5 * s(1) - 0.15 * s(2) + s(3) / 90.0) / (h * h);
            let uxxx =
                (-488.0 * d(1) + 338.0 * d(2) - 72.0 * d(3) + 7.0 * d(4)) / (240.0 * h.powi(3));
            let ut =
                (8.0 * (at(i, j + 1) - at(i, j - 1)) - (at(i, j + 2) - at(i, j - 2))) / (12.0 * h);
            let residual = ut + at(i, j) * ux - 0.01 * uxx + 0.001 * uxxx;
            worst = worst.max(residual.abs());
        }
    }
    assert!(worst < 1e-5, "residual {worst:e}");
}

#[test]
fn the_solutions_are_as_large_as_the_references() {
    let data = KdvBurgers {
        points: 21,
        n_train: 150,
        steps: 200,
        grid: 128,
        modes: 32,
        ..small()
    }
    .samples(1, &Unwatched)
    .unwrap();
    // The paper's tables imply 0.13 to 0.33.
    let size = rms(&data.outputs[0].1);
    assert!((0.14..0.20).contains(&size), "rms {size}");
    // The input is the output at t = 0, and the last point of the period the first.
    let (f, u) = (
        data.inputs[0].1.values_of(3),
        data.outputs[0].1.values_of(3),
    );
    assert!((0..21).all(|i| f[i] == u[21 * i]));
    assert_eq!(u[..21], u[20 * 21..]);
}

#[test]
fn the_printed_field_is_25_times_smaller_with_a_constant() {
    let published = output(&small(), 2, 0);
    let printed = output(
        &KdvBurgers {
            field: StartField::Printed,
            ..small()
        },
        2,
        0,
    );
    let constant = printed[0] - published[0] / 25.0;
    assert!((printed[11] - published[11] / 25.0 - constant).abs() < 1e-14);
    assert!(constant.abs() > 1e-3);
}

#[test]
fn the_same_bits_on_any_number_of_threads_and_for_any_number_of_samples() {
    check_reproducible(8, |n_train, n_test| KdvBurgers {
        n_train,
        n_test,
        steps: 50,
        ..small()
    });
}

#[test]
fn wrong_settings_are_named() {
    check_refused_text(
        "kdv-burgers",
        &[
            (json!({"points": 1}), "points = 1 must be 2 to 2001"),
            (json!({"n_train": 0}), "n_train = 0 must be at least 1"),
            (json!({"grid": 7}), "grid = 7 must be 8 to 8192"),
            (json!({"modes": 86}), "modes = 86 must be 1 to 85"),
            (json!({"steps": 0}), "steps = 0 must be 1 to"),
            (
                json!({"viscosity": -1.0}),
                "viscosity = -1 must be 0 or more",
            ),
            (json!({"field": "other"}), "`published`"),
            (json!({"nu": 1.0}), "`nu`"),
            (
                json!({"viscosity": 0.0, "dispersion": 1e200, "n_train": 1, "n_test": 0}),
                "`steps`",
            ),
        ],
    );
}
