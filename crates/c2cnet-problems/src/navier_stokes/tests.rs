use super::*;
use crate::Unwatched;
use crate::testing::{
    check_refused_text, check_reproducible, fitted_order, relative_difference, rms,
};
use serde_json::json;
use std::f64::consts::{PI, TAU};

fn small() -> NavierStokes {
    NavierStokes {
        points: 16,
        grid: 32,
        modes: 8,
        n_train: 1,
        n_test: 0,
        history: 2,
        steps: 20,
        ..NavierStokes::default()
    }
}

fn on_grid(n: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let at = |i: usize| i as f64 / n as f64;
    (0..n * n).map(|p| f(at(p / n), at(p % n))).collect()
}

/// The values at time `until` on all nodes of the grid.
fn evolved(problem: &NavierStokes, start: impl Fn(f64, f64) -> f64, until: usize) -> Vec<f64> {
    let torus = Torus::new(problem);
    let mut memory = torus.memory();
    let mut state = torus.state(&on_grid(problem.grid, start), &mut memory);
    for _ in 0..until {
        torus.advance(&mut state, &mut memory);
    }
    torus.values(&state, 1, &mut memory)
}

fn swirl(x: f64, y: f64) -> f64 {
    2.0 * ((TAU * x).cos() + (TAU * (x - 2.0 * y)).sin()) + (2.0 * TAU * y).cos()
}

#[test]
fn taylor_and_greens_vortices_decay_as_they_should() {
    // All modes have the same |k|, so the vorticity is a function of psi and is not moved by its own flow.
    let problem = NavierStokes {
        forcing: 0.0,
        viscosity: 0.01,
        ..small()
    };
    let start =
        |x: f64, y: f64| 3.0 * (TAU * (x + 2.0 * y)).cos() + 2.0 * (TAU * (2.0 * x - y)).sin();
    let decay = (-0.01 * 5.0 * TAU * TAU * 2.0).exp();
    let exact = on_grid(32, |x, y| decay * start(x, y));
    let difference = relative_difference(&evolved(&problem, start, 2), &exact);
    assert!(difference < 1e-13, "{difference:e}");
}

#[test]
fn advection_and_forcing_have_the_right_sign_and_size() {
    // psi = a cos(2 pi x) + b cos(4 pi y): -(u . grad) w = 96 pi^4 a b sin(2 pi x) sin(4 pi y)
    let (a, b) = (0.3, -0.2);
    let problem = NavierStokes {
        viscosity: 0.0,
        steps: 1_000_000,
        ..small()
    };
    let start = |x: f64, y: f64| {
        4.0 * PI * PI * a * (TAU * x).cos() + 16.0 * PI * PI * b * (2.0 * TAU * y).cos()
    };
    let torus = Torus::new(&problem);
    let mut memory = torus.memory();
    let state = torus.state(&on_grid(32, start), &mut memory);
    let slope = torus.slope(&state, &mut memory);
    let found = torus.values(&slope, 1, &mut memory);
    let exact = on_grid(32, |x, y| {
        let angle = TAU * (x + y);
        96.0 * PI.powi(4) * a * b * (TAU * x).sin() * (2.0 * TAU * y).sin()
            + 0.1 * (angle.sin() + angle.cos())
    });
    let difference = relative_difference(&found, &exact);
    assert!(difference < 1e-13, "{difference:e}");
}

#[test]
fn without_viscosity_and_forcing_energy_and_enstrophy_are_kept() {
    let problem = NavierStokes {
        viscosity: 0.0,
        forcing: 0.0,
        steps: 100,
        ..small()
    };
    let mean_square = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
    let (before, after) = (evolved(&problem, swirl, 0), evolved(&problem, swirl, 1));
    let change = mean_square(&after) / mean_square(&before) - 1.0;
    assert!(change.abs() < 1e-6, "{change:e}");
    assert!(relative_difference(&after, &before) > 0.1, "it moves");
}

#[test]
fn the_method_is_of_order_four_in_time() {
    let on = |steps: usize| evolved(&NavierStokes { steps, ..small() }, swirl, 2);
    let exact = on(640);
    let counts = [10, 20, 40, 80];
    let steps: Vec<f64> = counts.iter().map(|&n| 1.0 / n as f64).collect();
    let errors: Vec<f64> = counts
        .iter()
        .map(|&n| relative_difference(&on(n), &exact))
        .collect();
    let order = fitted_order(&steps, &errors);
    println!("order {order}, errors {errors:?}");
    assert!(order >= 3.85, "order {order}, errors {errors:?}");
}

#[test]
fn finer_grids_converge_faster_than_any_power() {
    let on = |grid: usize| {
        let problem = NavierStokes {
            grid,
            viscosity: 0.01,
            ..small()
        };
        let values = evolved(&problem, swirl, 2);
        let stride = grid / 16;
        let rows = values.chunks_exact(grid).step_by(stride);
        rows.flat_map(|row| row.iter().copied().step_by(stride))
            .collect::<Vec<f64>>()
    };
    let exact = on(128);
    let errors = [16, 32, 64].map(|grid| relative_difference(&on(grid), &exact));
    println!("{errors:?}");
    assert!(errors[1] < 0.05 * errors[0], "{errors:?}");
    assert!(errors[2] < 1e-3 * errors[1], "{errors:?}");
}

/// The relative change of the last state when `change` is made to the solver, largest of a few samples.
fn sensitivity(problem: &NavierStokes, change: impl Fn(&mut NavierStokes)) -> f64 {
    let mut other = problem.clone();
    change(&mut other);
    let [a, b] = [problem, &other].map(|p| p.samples(7, &Unwatched).unwrap());
    let of = |data: &Dataset, k| data.outputs[0].1.values_of(k);
    (0..a.samples())
        .map(|k| relative_difference(&of(&a, k), &of(&b, k)))
        .fold(0.0, f64::max)
}

#[test]
fn the_default_has_converged() {
    let problem = NavierStokes {
        n_train: 2,
        n_test: 0,
        points: 16,
        ..NavierStokes::default()
    };
    let in_time = sensitivity(&problem, |p| p.steps *= 2);
    let in_space = sensitivity(&problem, |p| p.grid *= 2);
    println!("at t = 11, {in_time:e} in time, {in_space:e} in space");
    assert!(
        in_time < 1e-6 && in_space < 1e-3,
        "{in_time:e} {in_space:e}"
    );
}

#[test]
fn windows_move_along_one_trajectory() {
    let one = NavierStokes {
        history: 2,
        next: 4,
        n_train: 2,
        n_test: 1,
        ..small()
    };
    let moved = NavierStokes {
        next: 2,
        windows: 3,
        ..one.clone()
    };
    let [one, moved] = [one, moved].map(|p| p.samples(3, &Unwatched).unwrap());
    assert_eq!((moved.samples(), moved.n_train), (9, Some(6)));
    for k in 0..3 {
        let whole = [one.inputs[0].1.values_of(k), one.outputs[0].1.values_of(k)].concat();
        for window in 0..3 {
            let sample = 3 * k + window;
            let part = [
                moved.inputs[0].1.values_of(sample),
                moved.outputs[0].1.values_of(sample),
            ]
            .concat();
            assert_eq!(part, whole[256 * window..256 * (window + 4)]);
        }
    }
}

#[test]
fn the_start_has_the_size_of_its_law() {
    // The variance at a point is the sum of those of all modes.
    let sum = |modes: i64| -> f64 {
        let all = (-modes..=modes).flat_map(|i| (-modes..=modes).map(move |j| i * i + j * j));
        all.filter(|s| *s > 0)
            .map(|s| (TAU * TAU * s as f64 + 49.0).powf(-2.5))
            .sum()
    };
    for (field, scale) in [
        (Start::Published, 2.0 * 343.0),
        (Start::Printed, 7f64.powf(1.5)),
    ] {
        let problem = NavierStokes { field, ..small() };
        let field = problem.start().unwrap();
        let draws = (0..400u64).map(|k| field.draw(&mut sample_stream(1, k)));
        let squares = draws.map(|d| d.iter().map(|v| v * v).sum::<f64>() / d.len() as f64);
        let ratio = squares.sum::<f64>() / 400.0 / (scale * sum(8));
        assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    }
}

#[test]
fn states_have_mean_zero_and_the_benchmarks_size() {
    let problem = NavierStokes {
        n_train: 8,
        history: 10,
        ..small()
    };
    let data = problem.samples(2, &Unwatched).unwrap();
    let size = rms(&data.outputs[0].1);
    println!("rms at t = 11: {size}");
    assert!((0.5..1.2).contains(&size), "{size}");
    for k in 0..8 {
        let values = data.outputs[0].1.values_of(k);
        assert!(values.iter().sum::<f64>().abs() < 1e-11 * 256.0);
    }
}

#[test]
fn samples_depend_on_nothing_but_settings_seed_and_number() {
    check_reproducible(5, |n_train, n_test| NavierStokes {
        n_train,
        n_test,
        steps: 5,
        ..small()
    });
}

#[test]
fn wrong_settings_are_named() {
    check_refused_text(
        "navier-stokes",
        &[
            (json!({"points": 3}), "points = 3 must be 4 to 1024"),
            (json!({"n_train": 0}), "n_train = 0 must be at least 1"),
            (
                json!({"grid": 96}),
                "grid = 96 must be a multiple of points, 64",
            ),
            (json!({"modes": 22}), "modes = 22 must be 1 to 21"),
            (json!({"history": 0}), "history = 0"),
            (json!({"next": 101}), "next = 101"),
            (json!({"windows": 0}), "windows = 0"),
            (json!({"viscosity": -1.0}), "viscosity = -1 must be 0 to 1"),
            (json!({"field": "other"}), "`published`"),
            (
                json!({"forcing": 1e9, "steps": 1, "n_train": 1, "n_test": 0}),
                "more `steps` than 1",
            ),
        ],
    );
}
