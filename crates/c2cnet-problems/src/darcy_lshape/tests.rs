use super::*;
use crate::Unwatched;
use crate::testing::{check_refused, check_reproducible, relative_difference, rms};

fn small() -> DarcyLshape {
    DarcyLshape {
        grid: 11,
        points: 100,
        n_train: 30,
        n_test: 11,
        reference: 600,
        ..DarcyLshape::default()
    }
}

fn make(settings: &DarcyLshape, seed: u64) -> Dataset {
    settings.samples(seed, &Unwatched).unwrap()
}

#[test]
fn the_reference_is_finer_than_any_decoder() {
    // A draw of both fields at the nodes of the default mesh and of one with five times as many.
    let outputs = mesh_with_nodes(&domain(None).unwrap(), 450).unwrap();
    let samplers = [4_000, 20_000].map(|reference| {
        let settings = DarcyLshape {
            reference,
            // Their own fields are not used.
            k_length: 2.0,
            f_length: 2.0,
            ..DarcyLshape::default()
        };
        settings.sampler(&[[0.0, 0.0]], outputs.nodes()).unwrap()
    });
    let [coarse, fine] = samplers.each_ref().map(|s| s.darcy.nodes());
    let places = Points::new(2, [coarse, fine].concat().into_flattened()).unwrap();
    let kernel = SquaredExponential {
        form: KernelForm::Half,
        length: DarcyLshape::default().k_length,
        sigma: DarcyLshape::default().k_sigma,
    };
    let field = RandomField::new(&places, |a, b| kernel.at(a, b)).unwrap();
    let draws = field.block(1, 0);
    let solve = |sampler: &Sampler, first: usize| {
        let k = |i: usize| draws[(first + i, 0)].exp();
        let f = |i: usize| draws[(first + i, 1)];
        sampler.darcy.solve(k, f).unwrap()
    };
    let (a, b) = (solve(&samplers[0], 0), solve(&samplers[1], coarse.len()));
    let relative = relative_difference(&a, &b);
    println!("relative error of the reference {relative:e}");
    assert!(relative < 1e-3, "{relative}");
}

#[test]
fn samples_depend_on_nothing_but_settings_seed_and_number() {
    check_reproducible(41, |n_train, n_test| DarcyLshape {
        n_train,
        n_test,
        ..small()
    });
}

#[test]
fn the_default_points_and_scale_are_the_papers() {
    let settings = DarcyLshape {
        n_train: 200,
        n_test: 0,
        ..DarcyLshape::default()
    };
    let data = make(&settings, 0);
    let (input, output) = (&data.inputs[0].1, &data.outputs[0].1);
    assert_eq!((input.points_of(0).len(), input.components()), (736, 2));
    let nodes = output.points_of(0).len();
    assert!((440..=460).contains(&nodes), "{nodes} nodes");
    let size = rms(output);
    assert!((size / 0.0075 - 1.0).abs() < 0.2, "rms {size}");
    for k in 0..200 {
        let values = input.values_of(k);
        assert!(values[..736].iter().all(|k| *k > 0.0));
        // The two fields are not made of the same numbers.
        let (log_k, f): (Vec<f64>, &[f64]) = (
            values[..736].iter().map(|k| k.ln()).collect(),
            &values[736..],
        );
        assert!(log_k.iter().zip(f).any(|(a, b)| (a - b).abs() > 1e-3));
    }
}

#[test]
fn settings_out_of_range_are_named() {
    check_refused::<DarcyLshape>(&[
        (|s| s.grid = 30, "grid = 30"),
        (|s| s.points = 20, "points = 20"),
        (|s| s.n_train = 0, "n_train = 0"),
        (|s| s.k_length = 0.0, "k_length = 0"),
        (|s| s.f_length = f64::NAN, "f_length = NaN"),
        (|s| s.k_sigma = 6.0, "k_sigma = 6"),
        (|s| s.f_sigma = 0.0, "f_sigma = 0"),
        (|s| s.reference = 300, "reference = 300"),
    ]);
}
