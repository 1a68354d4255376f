use super::*;
use crate::Unwatched;

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

fn rms_of(field: &Field) -> f64 {
    let sum: f64 = field.norms_squared().iter().sum();
    (sum / (field.samples() * field.points_of(0).len()) as f64).sqrt()
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
    let [coarse, fine] = samplers.each_ref().map(|s| s.space.nodes());
    let places = Points::new(2, [coarse, fine].concat().into_flattened()).unwrap();
    let kernel = SquaredExponential {
        form: KernelForm::Half,
        length: DarcyLshape::default().k_length,
        sigma: DarcyLshape::default().k_sigma,
    };
    let field = RandomField::new(&places, |a, b| kernel.at(a, b)).unwrap();
    let draws = field.block(1, 0);
    let solve = |sampler: &Sampler, first: usize| {
        let mut work = sampler.workspace();
        let k = |i: usize| draws[(first + i, 0)].exp();
        let f = |i: usize| draws[(first + i, 1)];
        sampler.solve(k, f, &mut work).unwrap();
        let values = 0..outputs.nodes().len();
        values
            .map(|i| sampler.sampling.value(i, |n| work.u[n]))
            .collect::<Vec<f64>>()
    };
    let (a, b) = (solve(&samplers[0], 0), solve(&samplers[1], coarse.len()));
    let norm: f64 = b.iter().map(|v| v * v).sum();
    let error: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
    let relative = (error / norm).sqrt();
    println!("relative error of the reference {relative:e}");
    assert!(relative < 1e-3, "{relative}");
}

#[test]
fn samples_depend_on_nothing_but_settings_seed_and_number() {
    let whole = make(&small(), 3);
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let again = pool.unwrap().install(|| make(&small(), 3));
        assert_eq!(again.fingerprint(), whole.fingerprint(), "{threads}");
    }
    let fewer = DarcyLshape {
        n_train: 2,
        n_test: 1,
        ..small()
    };
    let few = make(&fewer, 3);
    assert_eq!(few.fingerprint(), whole.select(&[0, 1, 2]).fingerprint());
    assert_ne!(few.fingerprint(), make(&fewer, 4).fingerprint());
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
    let rms = rms_of(output);
    println!("rms {rms}");
    assert!((rms / 0.0075 - 1.0).abs() < 0.2, "rms {rms}");
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
    let cases = [
        (
            DarcyLshape {
                grid: 30,
                ..small()
            },
            "grid = 30",
        ),
        (
            DarcyLshape {
                points: 20,
                ..small()
            },
            "points = 20",
        ),
        (
            DarcyLshape {
                n_train: 0,
                ..small()
            },
            "n_train = 0",
        ),
        (
            DarcyLshape {
                k_length: 0.0,
                ..small()
            },
            "k_length = 0",
        ),
        (
            DarcyLshape {
                f_length: f64::NAN,
                ..small()
            },
            "f_length = NaN",
        ),
        (
            DarcyLshape {
                k_sigma: 6.0,
                ..small()
            },
            "k_sigma = 6",
        ),
        (
            DarcyLshape {
                f_sigma: 0.0,
                ..small()
            },
            "f_sigma = 0",
        ),
        (
            DarcyLshape {
                reference: 300,
                ..small()
            },
            "reference = 300",
        ),
    ];
    for (settings, part) in cases {
        let message = settings.samples(0, &Unwatched).unwrap_err().to_string();
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}
