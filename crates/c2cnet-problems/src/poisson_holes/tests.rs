use super::*;
use crate::Unwatched;
use crate::testing::{check_refused, check_reproducible, rms};

fn small() -> PoissonHoles {
    PoissonHoles {
        points: 300,
        n_train: 30,
        n_test: 11,
        reference: 1200,
        ..PoissonHoles::default()
    }
}

fn make(settings: &PoissonHoles, seed: u64) -> Dataset {
    settings.samples(seed, &Unwatched).unwrap()
}

#[test]
fn samples_solve_the_equation_and_vanish_on_the_walls() {
    let settings = PoissonHoles {
        reference: 4000,
        ..small()
    };
    let data = make(&settings, 4);
    let domain = domain().unwrap();
    // One sample solved directly, on a separate mesh.
    let alpha = draw(4, 2);
    let space = Space::new(mesh_with_nodes(&domain, 2000).unwrap(), Element::P2);
    let solver = Solver::new(Pattern::new(&space, 1, space.on_boundary())).unwrap();
    let mut factor = solver.empty_factor();
    let form = Diffusion::new(&space, |_, _| 1.0);
    solver.factor(&form, &mut factor).unwrap();
    let source = |p| -(0..25).map(|m| alpha[m] * sine(m, p)).sum::<f64>();
    let mut right = vec![0.0; solver.pattern().size()];
    let load = space.load(source);
    solver.pattern().restrict(&load, &mut right);
    let mut x = Mat::from_fn(right.len(), 1, |i, _| right[i]);
    solver.solve(&factor, x.as_mut());
    let (points, values) = (
        data.outputs[0].1.points_of(2),
        data.outputs[0].1.values_of(2),
    );
    let nodes: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1]]).collect();
    let sampling = space.sampling(&nodes).unwrap();
    let free = solver.pattern().free();
    let largest = values.iter().fold(0f64, |m, v| m.max(v.abs()));
    for (i, value) in values.iter().enumerate() {
        let direct = sampling.value(i, |n| free[n].map_or(0.0, |k| x[(k, 0)]));
        assert!(
            (direct - value).abs() < 2e-3 * largest,
            "{i}: {direct} {value}"
        );
    }
    let given = data.inputs[0].1.values_of(2);
    for (p, f) in nodes.iter().zip(given) {
        assert!((f + source(*p)).abs() < 1e-12);
    }
    let triangles = data.triangles.clone().unwrap();
    let mesh = c2cnet::domain::TriangleMesh::new(nodes, triangles).unwrap();
    for i in mesh.boundary_nodes() {
        assert!(values[i].abs() < 1e-12, "{i}: {}", values[i]);
    }
}

#[test]
fn the_reference_has_converged() {
    let domain = domain().unwrap();
    let points = mesh_with_nodes(&domain, 1780).unwrap();
    let [coarse, fine] = [28_000, 80_000].map(|reference| {
        let settings = PoissonHoles {
            reference,
            ..small()
        };
        let solver = settings.reference(&domain).unwrap();
        solver.responses(points.nodes()).unwrap()
    });
    let relative = (&coarse - &fine).norm_l2() / fine.norm_l2();
    println!("relative error of the reference, poisson-holes {relative:e}");
    assert!(relative < 1e-4, "{relative}");
}

#[test]
fn samples_depend_on_nothing_but_settings_seed_and_number() {
    check_reproducible(41, |n_train, n_test| PoissonHoles {
        n_train,
        n_test,
        ..small()
    });
}

#[test]
fn the_default_mesh_and_scale_are_the_papers() {
    let settings = PoissonHoles {
        n_train: 300,
        n_test: 0,
        reference: 7200,
        ..PoissonHoles::default()
    };
    let data = make(&settings, 0);
    let output = &data.outputs[0].1;
    let nodes = output.points_of(0).len();
    assert!((1760..=1800).contains(&nodes), "{nodes} nodes");
    let size = rms(output);
    assert!((size / 0.017 - 1.0).abs() < 0.1, "rms {size}");
}

#[test]
fn settings_out_of_range_are_named() {
    check_refused::<PoissonHoles>(&[
        (|s| s.points = 20, "points = 20"),
        (|s| s.n_train = 0, "n_train = 0"),
        (|s| s.amplitude = -1.0, "amplitude = -1"),
        (|s| s.reference = 1000, "reference = 1000"),
    ]);
}
