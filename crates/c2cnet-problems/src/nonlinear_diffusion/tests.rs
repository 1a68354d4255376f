use super::*;
use crate::Unwatched;
use crate::fem::{Diffusion, Element, Pattern, Solver, Space};
use crate::testing::{
    check_refused, check_reproducible, fitted_order, refined, relative_difference, rms,
};
use c2cnet::data::Bounds;
use c2cnet::domain::{Polygon, TriangleMesh};
use c2cnet::internal::rectangle_ring;
use std::f64::consts::PI;

fn small() -> NonlinearDiffusion {
    NonlinearDiffusion {
        points: 320,
        n_train: 30,
        n_test: 11,
        reference: 1300,
        ..NonlinearDiffusion::default()
    }
}

#[test]
fn the_root_is_the_inverse_of_the_transform() {
    for w in [-1e6, -3.0, -1e-9, 0.0, 1e-300, 1e-5, 0.7, 40.0, 1e12] {
        let u = root_of_kirchhoff(w);
        let back = u + u * u * u / 3.0;
        assert!((back - w).abs() <= 1e-14 * w.abs(), "{w}: {u} {back}");
    }
}

#[test]
fn a_manufactured_solution_converges_with_order_three() {
    // u = 2 sin(pi x) sin(2 pi y), k = exp(x - y^2) on the square, f = -div(k (1 + u^2) grad u)
    let u = |[x, y]: [f64; 2]| 2.0 * (PI * x).sin() * (2.0 * PI * y).sin();
    let k = |[x, y]: [f64; 2]| (x - y * y).exp();
    let f = |p: [f64; 2]| {
        let [x, y] = p;
        let ux = 2.0 * PI * (PI * x).cos() * (2.0 * PI * y).sin();
        let uy = 4.0 * PI * (PI * x).sin() * (2.0 * PI * y).cos();
        let laplacian = -5.0 * PI * PI * u(p);
        let growth = 1.0 + u(p) * u(p);
        // grad k = k (1, -2y)
        -k(p) * (growth * (ux - 2.0 * y * uy + laplacian) + 2.0 * u(p) * (ux * ux + uy * uy))
    };
    let square = Polygon::new(rectangle_ring(&Bounds::unit(2)).unwrap(), vec![]).unwrap();
    let mut mesh = TriangleMesh::constrained_delaunay(&square, 0.2).unwrap();
    let outputs: Vec<[f64; 2]> = (0..200)
        .map(|i| [(i as f64 + 0.5) / 200.0, (i * 37 % 200) as f64 / 200.0])
        .collect();
    let exact: Vec<f64> = outputs.iter().map(|&p| u(p)).collect();
    let (mut steps, mut errors) = (Vec::new(), Vec::new());
    for level in 0..4 {
        let darcy = Darcy::new(mesh.clone(), &outputs).unwrap();
        let nodes = darcy.nodes();
        let found = solve(&darcy, |i| k(nodes[i]), |i| f(nodes[i])).unwrap();
        steps.push(0.5f64.powi(level));
        errors.push(relative_difference(&found, &exact));
        mesh = refined(&mesh);
    }
    let order = fitted_order(&steps, &errors);
    println!("order {order}, errors {errors:?}");
    assert!(order > 2.85 && errors[3] < 1e-4, "{order} {errors:?}");
}

/// Solves the nonlinear equation without the transform: $k (1 + u_n^2)$ is the coefficient of $u_{n+1}$.
fn iterated(space: &Space, k: &[f64], source: f64) -> Vec<f64> {
    let solver = Solver::new(Pattern::new(space, 1, space.on_boundary())).unwrap();
    let mut factor = solver.empty_factor();
    let load = space.load(|_| source);
    let at = |values: &[f64], t: usize, q: usize| -> f64 {
        let nodes = space.element_nodes(t).iter();
        let shape = &space.shapes()[q];
        nodes.zip(shape).map(|(&i, s)| s * values[i]).sum()
    };
    let mut u = vec![0.0; space.len()];
    for _ in 0..200 {
        let form = Diffusion::new(space, |t, q| at(k, t, q) * (1.0 + at(&u, t, q).powi(2)));
        solver.factor(&form, &mut factor).unwrap();
        let mut right = vec![0.0; solver.pattern().size()];
        solver.pattern().restrict(&load, &mut right);
        let mut x = Mat::from_fn(right.len(), 1, |i, _| right[i]);
        solver.solve(&factor, x.as_mut());
        let free = solver.pattern().free().iter();
        let next: Vec<f64> = free.map(|i| i.map_or(0.0, |i| x[(i, 0)])).collect();
        let moved = relative_difference(&next, &u);
        // Half the way: whole steps swing back and forth where u is large.
        for (u, next) in u.iter_mut().zip(next) {
            *u += 0.5 * (next - *u);
        }
        if moved < 1e-12 {
            return u;
        }
    }
    panic!("the iteration does not settle");
}

#[test]
fn the_nonlinear_equation_iterated_agrees() {
    let domain = domain().unwrap();
    let conductivity = |[x, y]: [f64; 2]| (1.2 * (5.0 * x).sin() - (4.0 * x * y).cos()).exp();
    type K = Box<dyn Fn([f64; 2]) -> f64>;
    let cases: [(&str, K); 2] = [
        ("constant", Box::new(|_| 1.0)),
        ("varying", Box::new(conductivity)),
    ];
    for (name, k) in cases {
        let errors = [400, 1600].map(|vertices| {
            let mesh = mesh_with_nodes(&domain, vertices).unwrap();
            let space = Space::new(mesh.clone(), Element::P2);
            let nodal: Vec<f64> = space.nodes().iter().map(|&p| k(p)).collect();
            let darcy = Darcy::new(mesh, space.nodes()).unwrap();
            let transformed = solve(&darcy, |i| nodal[i], |_| 100.0).unwrap();
            relative_difference(&transformed, &iterated(&space, &nodal, 100.0))
        });
        println!("{name}: {errors:?}");
        assert!(
            errors[1] < 2e-3 && errors[1] < 0.6 * errors[0],
            "{name} {errors:?}"
        );
    }
}

#[test]
fn the_reference_has_converged() {
    let settings = NonlinearDiffusion::default();
    let outputs = mesh_with_nodes(&domain().unwrap(), settings.points).unwrap();
    let [coarse, fine] = [12_000, 48_000].map(|reference| {
        let settings = NonlinearDiffusion {
            reference,
            ..settings.clone()
        };
        settings.darcy(outputs.nodes()).unwrap()
    });
    let log_k = settings.field(coarse.nodes(), fine.nodes()).unwrap();
    let log_k = log_k.block(1, 0);
    let draw = |darcy: &Darcy, first: usize| {
        solve(darcy, |i| log_k[(first + i, 0)].exp(), |_| settings.source).unwrap()
    };
    let (a, b) = (draw(&coarse, 0), draw(&fine, coarse.nodes().len()));
    let relative = relative_difference(&a, &b);
    println!("relative error of the reference, nonlinear-diffusion {relative:e}");
    assert!(relative < 5e-4, "{relative}");
}

#[test]
fn samples_depend_on_nothing_but_settings_seed_and_number() {
    check_reproducible(41, |n_train, n_test| NonlinearDiffusion {
        n_train,
        n_test,
        ..small()
    });
}

#[test]
fn the_default_is_far_from_linear() {
    let settings = NonlinearDiffusion {
        n_train: 64,
        n_test: 0,
        ..small()
    };
    let data = settings.samples(0, &Unwatched).unwrap();
    let size = rms(&data.outputs[0].1);
    println!("rms {size}");
    // The default mesh has 1.04; here a larger part of the nodes lies on walls, where u = 0.
    assert!((0.5..0.9).contains(&size), "rms {size}");
    assert!(data.inputs[0].1.minimum() > 0.0);
    assert!(data.outputs[0].1.minimum() > -1e-6, "a positive source");
}

#[test]
fn settings_out_of_range_are_named() {
    check_refused::<NonlinearDiffusion>(&[
        (|s| s.points = 20, "points = 20"),
        (|s| s.n_train = 0, "n_train = 0"),
        (|s| s.length = 0.01, "length = 0.01"),
        (|s| s.sigma = 4.0, "sigma = 4"),
        (|s| s.source = 0.0, "source = 0"),
        (|s| s.reference = 1000, "reference = 1000"),
    ]);
}
