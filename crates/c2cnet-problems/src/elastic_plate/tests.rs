use super::*;
use crate::Unwatched;
use crate::testing::{check_refused, check_reproducible, rms};

fn small() -> ElasticPlate {
    ElasticPlate {
        points: 300,
        n_train: 30,
        n_test: 11,
        reference: 1200,
        ..ElasticPlate::default()
    }
}

fn make(settings: &ElasticPlate, seed: u64) -> Dataset {
    settings.samples(seed, &Unwatched).unwrap()
}

#[test]
fn a_uniform_load_is_carried_to_the_held_edge() {
    let reference = ElasticPlate {
        reference: 4000,
        ..small()
    }
    .reference()
    .unwrap();
    let gauss = edge_points(&reference.space, on_loaded_edge).len();
    let ones = Mat::from_fn(gauss, 1, |_, _| 1.0);
    let tip = [[1.0, 0.5], [0.0, 0.3]];
    let found = reference.displacements(ones.as_ref(), &tip).unwrap();
    // A stocky cantilever of length and height 1 without the hole bends by about
    // F L^3 / (3 E I) + 1.2 F L / (G A) = (4 + 3.12) / E; the hole makes it softer.
    let v = MODULUS * found[(2, 0)];
    assert!(v > 7.1 && v < 30.0, "{v}");
    assert!(found[(1, 0)].abs() < 1e-20 && found[(3, 0)].abs() < 1e-20);
    // The load's work: the total of the nodal forces is the load.
    let total: f64 = reference
        .space
        .edge_load(on_loaded_edge, &vec![1.0; gauss])
        .iter()
        .sum();
    assert!((total - 1.0).abs() < 1e-13);
}

#[test]
fn the_plate_is_symmetric() {
    // Flipping the plate keeps v and changes the sign of u.
    let reference = ElasticPlate {
        reference: 6000,
        ..small()
    }
    .reference()
    .unwrap();
    let heights = edge_points(&reference.space, on_loaded_edge);
    let loads = Mat::from_fn(heights.len(), 2, |i, j| {
        let y = heights[i][1];
        (3.0 * if j == 0 { y } else { 1.0 - y }).sin()
    });
    let places = [[0.9, 0.8], [0.9, 0.2], [0.3, 0.9], [0.3, 0.1]];
    let found = reference.displacements(loads.as_ref(), &places).unwrap();
    let largest = 1e-3 * found[(4, 0)].abs();
    for (i, mirror) in [(0, 1), (2, 3)] {
        assert!((found[(i, 0)] + found[(mirror, 1)]).abs() < largest);
        assert!((found[(4 + i, 0)] - found[(4 + mirror, 1)]).abs() < largest);
    }
}

#[test]
fn the_reference_has_converged() {
    let points = mesh_with_nodes(&domain(None).unwrap(), 1048).unwrap();
    let [coarse, fine] = [20_000, 60_000].map(|reference| {
        let settings = ElasticPlate {
            reference,
            ..small()
        };
        let solver = settings.reference().unwrap();
        let heights = edge_points(&solver.space, on_loaded_edge);
        let loads = Mat::from_fn(heights.len(), 3, |i, j| {
            (4.0 * (j + 1) as f64 * heights[i][1]).cos()
        });
        solver
            .displacements(loads.as_ref(), points.nodes())
            .unwrap()
    });
    let relative = (&coarse - &fine).norm_l2() / fine.norm_l2();
    println!("relative error of the reference, elastic-plate {relative:e}");
    assert!(relative < 2e-4, "{relative}");
}

#[test]
fn samples_depend_on_nothing_but_settings_seed_and_number() {
    check_reproducible(41, |n_train, n_test| ElasticPlate {
        n_train,
        n_test,
        ..small()
    });
}

#[test]
fn the_default_mesh_is_the_papers() {
    let settings = ElasticPlate {
        n_train: 64,
        n_test: 0,
        reference: 4200,
        ..ElasticPlate::default()
    };
    let data = make(&settings, 0);
    let (input, output) = (&data.inputs[0].1, &data.outputs[0].1);
    let nodes = output.points_of(0).len();
    assert!((1035..=1061).contains(&nodes), "{nodes} nodes");
    assert_eq!((input.points_of(0).len(), output.components()), (101, 2));
    let size = rms(input) / settings.sigma;
    assert!((size * size - 1.0).abs() < 0.4, "rms {size}");
    // The paper's tables imply 2.6e-5 to 4.3e-5; so few samples scatter.
    let moved = rms(output);
    assert!((2e-5..6e-5).contains(&moved), "rms {moved:e}");
}

#[test]
fn settings_out_of_range_are_named() {
    check_refused::<ElasticPlate>(&[
        (|s| s.points = 20, "points = 20"),
        (|s| s.load_points = 1, "load_points = 1"),
        (|s| s.n_train = 0, "n_train = 0"),
        (|s| s.length = 0.0, "length = 0"),
        (|s| s.sigma = f64::NAN, "sigma = NaN"),
        (|s| s.reference = 1000, "reference = 1000"),
    ]);
}
