use super::*;
use crate::Unwatched;
use crate::testing::{check_refused_text, check_reproducible, relative_difference, rms};
use serde_json::json;

fn small() -> Darcy2d {
    Darcy2d {
        points: 21,
        modes: 30,
        ..Darcy2d::default()
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads_and_for_any_number_of_samples() {
    check_reproducible(8, |n_train, n_test| Darcy2d {
        n_train,
        n_test,
        ..small()
    });
}

#[test]
fn the_solutions_are_as_large_as_the_papers() {
    let data = Darcy2d {
        points: 36,
        n_train: 200,
        n_test: 0,
        ..Darcy2d::default()
    }
    .samples(1, &Unwatched)
    .unwrap();
    // The paper's tables imply 0.044.
    let size = rms(&data.outputs[0].1);
    assert!((0.040..0.048).contains(&size), "rms {size}");
    assert!(data.inputs[0].1.minimum() > 0.0);
}

#[test]
fn refining_changes_the_solver_and_not_the_input() {
    let on = |refine| {
        Darcy2d {
            n_train: 2,
            n_test: 0,
            refine,
            ..small()
        }
        .samples(3, &Unwatched)
        .unwrap()
    };
    let [one, two, four] = [1, 2, 4].map(on);
    let difference = |a: &Dataset, b: &Dataset| {
        relative_difference(&a.outputs[0].1.values_of(1), &b.outputs[0].1.values_of(1))
    };
    let inputs = [&one, &four].map(|data| data.inputs[0].1.values_of(1));
    assert!(relative_difference(&inputs[0], &inputs[1]) < 1e-13);
    let (coarse, fine) = (difference(&one, &two), difference(&two, &four));
    assert!(coarse < 2e-2 && fine < 0.5 * coarse, "{coarse:e} {fine:e}");
}

/// Jumps between nodes are seen at the next node, an error of the first order in the spacing.
#[test]
fn binary_coefficients_take_two_values_and_solutions_converge() {
    let on = |refine| {
        Darcy2d {
            n_train: 4,
            n_test: 0,
            refine,
            coefficient: Coefficient::Binary,
            ..small()
        }
        .samples(3, &Unwatched)
        .unwrap()
    };
    let all = [2, 4, 8, 16].map(on);
    for data in &all {
        assert_eq!(
            data.inputs[0].1.values_of(1),
            all[0].inputs[0].1.values_of(1)
        );
        let values = data.inputs[0].1.values_of(1);
        assert!(values.iter().all(|v| *v == 12.0 || *v == 3.0));
        assert!(values.contains(&12.0) && values.contains(&3.0));
    }
    let off = |a: &Dataset| -> f64 {
        let values = |data: &Dataset, k| data.outputs[0].1.values_of(k);
        let errors = (0..4).map(|k| relative_difference(&values(a, k), &values(&all[3], k)));
        errors.sum::<f64>() / 4.0
    };
    let errors = [off(&all[0]), off(&all[1]), off(&all[2])];
    let order = (errors[0] / errors[2]).log2() / 2.0;
    assert!(order > 0.8 && errors[2] < 1e-2, "{errors:?}, order {order}");
}

/// The settings of the benchmark in the module's table: every 28th, 5th and 3rd node of one solution.
#[test]
fn the_benchmark_is_one_sample_at_all_resolutions() {
    let on = |points, refine| {
        let problem = Darcy2d {
            points,
            refine,
            modes: 421,
            coefficient: Coefficient::Binary,
            n_train: 1,
            n_test: 0,
            ..Darcy2d::default()
        };
        let data = problem.samples(1, &Unwatched).unwrap();
        [&data.inputs[0].1, &data.outputs[0].1].map(|field| field.values_of(0))
    };
    let fine = on(421, 1);
    for (points, refine) in [(16, 28), (85, 5), (141, 3)] {
        let found = on(points, refine);
        for (found, fine) in found.iter().zip(&fine) {
            for (p, value) in found.iter().enumerate() {
                let (i, j) = (refine * (p / points), refine * (p % points));
                assert_eq!(*value, fine[421 * i + j], "{points}: {i} {j}");
            }
        }
    }
}

#[test]
fn the_printed_field_is_a_third_with_a_constant() {
    let axis = [0.0, 0.3, 1.0];
    let of = |field: LogField| field.on(20, &axis).unwrap().draw(&mut sample_stream(5, 0));
    let (published, printed) = (of(LogField::Published), of(LogField::Printed));
    let constant = printed[0] - published[0] / 3.0;
    for (published, printed) in published.iter().zip(&printed) {
        assert!((printed - published / 3.0 - constant).abs() < 1e-13);
    }
    assert!(constant != 0.0);
}

#[test]
fn wrong_settings_are_named() {
    check_refused_text(
        "darcy2d",
        &[
            (json!({"points": 2}), "points = 2 must be 3 to 2001"),
            (json!({"n_train": 0}), "n_train = 0 must be at least 1"),
            (json!({"modes": 1}), "modes = 1 must be 2 to 2001"),
            (json!({"refine": 0}), "refine = 0 must be 1 to 14"),
            (json!({"refine": 15}), "refine = 15 must be 1 to 14"),
            (json!({"field": "other"}), "`published`"),
            (json!({"coefficient": "ternary"}), "`binary`"),
            (json!({"tau": 1.0}), "`tau`"),
        ],
    );
}
