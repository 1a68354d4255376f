use super::*;
use crate::testing::{fitted_order, refined};
use c2cnet::data::Bounds;
use c2cnet::domain::{Polygon, TriangleMesh};
use c2cnet::internal::{circle_ring, rectangle_ring};
use faer::Mat;

/// The unit square with a hole, meshed without structure, and three regular refinements.
fn meshes() -> Vec<TriangleMesh> {
    refinements(vec![circle_ring([0.55, 0.4], 0.2, 9)])
}

fn refinements(holes: Vec<Vec<[f64; 2]>>) -> Vec<TriangleMesh> {
    let ring = rectangle_ring(&Bounds::unit(2)).unwrap();
    let polygon = Polygon::new(ring, holes).unwrap();
    let mut meshes = vec![TriangleMesh::constrained_delaunay(&polygon, 0.25).unwrap()];
    for k in 0..3 {
        meshes.push(refined(&meshes[k]));
    }
    meshes
}

/// Diffusion with $k$ a function of the position.
fn at_positions(
    space: &Space,
    k: impl Fn([f64; 2]) -> f64,
) -> Diffusion<'_, impl Fn(usize, usize) -> f64> {
    Diffusion::new(space, move |t, q| {
        k(space.position(t, space.rule().points[q]))
    })
}

/// The order of errors on meshes of which each halves the one before.
fn order(errors: &[f64]) -> f64 {
    let steps: Vec<f64> = (0..errors.len() as i32).map(|k| 0.5f64.powi(k)).collect();
    fitted_order(&steps, errors)
}

/// $\|u_h - u\|_{L^2}$.
fn distance(space: &Space, coefficients: &[f64], exact: impl Fn([f64; 2]) -> f64) -> f64 {
    let rule = Quadrature::exact_to(6);
    let mut sum = 0.0;
    for t in 0..space.triangles() {
        for (&lambda, weight) in rule.points.iter().zip(&rule.weights) {
            let shape = space.element().values(lambda);
            let nodes = space.element_nodes(t).iter();
            let value: f64 = nodes.zip(shape).map(|(&i, s)| s * coefficients[i]).sum();
            let error = value - exact(space.position(t, lambda));
            sum += weight * space.geometry(t).area * error * error;
        }
    }
    sum.sqrt()
}

/// Solves with the given values of fixed unknowns.
fn solve<F: Form>(form: &F, fixed: &[bool], given: &[f64], load: &[f64]) -> Vec<f64> {
    let pattern = Pattern::new(form.space(), F::COMPONENTS, fixed);
    let mut right = vec![0.0; pattern.size()];
    pattern.restrict(load, &mut right);
    pattern.lift(form, given, &mut right);
    let solver = Solver::new(pattern).unwrap();
    let mut factor = solver.empty_factor();
    solver.factor(form, &mut factor).unwrap();
    let mut x = Mat::from_fn(right.len(), 1, |i, _| right[i]);
    solver.solve(&factor, x.as_mut());
    let numbers = solver.pattern().free().iter().zip(given);
    numbers.map(|(i, g)| i.map_or(*g, |i| x[(i, 0)])).collect()
}

#[test]
fn diffusion_converges_with_the_orders_of_theory() {
    // u = sin(2x + y) + x y^2, k = 1 + x / 2 + sin(3y) / 3, f = -div(k grad u)
    let exact = |[x, y]: [f64; 2]| (2.0 * x + y).sin() + x * y * y;
    let k = |[x, y]: [f64; 2]| 1.0 + 0.5 * x + (3.0 * y).sin() / 3.0;
    let source = |[x, y]: [f64; 2]| {
        let (s, c) = (2.0 * x + y).sin_cos();
        let gradient = [2.0 * c + y * y, c + 2.0 * x * y];
        let laplacian = -5.0 * s + 2.0 * x;
        -(k([x, y]) * laplacian + 0.5 * gradient[0] + (3.0 * y).cos() * gradient[1])
    };
    for (element, theory) in [(Element::P1, 2.0), (Element::P2, 3.0)] {
        let (mut errors, mut from_nodes) = (Vec::new(), Vec::new());
        for mesh in meshes() {
            let space = Space::new(mesh, element);
            let fixed = space.on_boundary();
            let at = |g: &dyn Fn([f64; 2]) -> f64| -> Vec<f64> {
                space.nodes().iter().map(|&x| g(x)).collect()
            };
            let (given, nodal_k, nodal_f) = (at(&exact), at(&k), at(&source));
            let form = at_positions(&space, k);
            let u = solve(&form, fixed, &given, &space.load(source));
            errors.push(distance(&space, &u, exact));
            let form = Diffusion::at_nodes(&space, &nodal_k);
            let mut load = vec![0.0; space.len()];
            space.load_from_nodes(&nodal_f, &mut load);
            let u = solve(&form, fixed, &given, &load);
            from_nodes.push(distance(&space, &u, exact));
        }
        let orders = [order(&errors), order(&from_nodes)];
        println!("{element:?}: {orders:?} {errors:?}");
        assert!(
            orders.iter().all(|o| *o > theory - 0.15),
            "{element:?} {orders:?}"
        );
    }
}

#[test]
fn plane_stress_converges_with_the_orders_of_theory() {
    // u = sin 2x cos y, v = e^x sin y on the square. The sides x = 0 and y = 0, 1 slide along walls, so that
    // reflection leaves no corner and the order is not lowered; tractions act along them and on x = 1.
    let (modulus, ratio) = (2.5, 0.3);
    let c = modulus / (1.0 - ratio * ratio);
    let shear = 0.5 * (1.0 - ratio);
    let u = |[x, y]: [f64; 2]| (2.0 * x).sin() * y.cos();
    let v = |[x, y]: [f64; 2]| x.exp() * y.sin();
    let force_x = |[x, y]: [f64; 2]| {
        let (s, e) = ((2.0 * x).sin() * y.cos(), x.exp() * y.cos());
        -c * (-4.0 * s + ratio * e + shear * (e - s))
    };
    let force_y = |[x, y]: [f64; 2]| {
        let (p, e) = ((2.0 * x).cos() * y.sin(), x.exp() * y.sin());
        -c * (shear * (e - 2.0 * p) - 2.0 * ratio * p - e)
    };
    let normal = |[x, y]: [f64; 2]| c * (2.0 * (2.0 * x).cos() + ratio * x.exp()) * y.cos();
    let tangential = |[x, y]: [f64; 2]| c * shear * (x.exp() - (2.0 * x).sin()) * y.sin();
    type Side = fn([f64; 2]) -> bool;
    let (left, right): (Side, Side) = (|p| p[0] < 1e-12, |p| p[0] > 1.0 - 1e-12);
    let (bottom, top): (Side, Side) = (|p| p[1] < 1e-12, |p| p[1] > 1.0 - 1e-12);
    for (element, theory) in [(Element::P1, 2.0), (Element::P2, 3.0)] {
        let mut errors = [Vec::new(), Vec::new()];
        for mesh in refinements(vec![]) {
            let space = Space::new(mesh, element);
            let mut loads = [space.load(force_x), space.load(force_y)];
            let mut pull = |d: usize, side: Side, sign: f64, t: &dyn Fn([f64; 2]) -> f64| {
                let points = edge_points(&space, side);
                let values: Vec<f64> = points.iter().map(|&p| sign * t(p)).collect();
                let more = space.edge_load(side, &values);
                loads[d].iter_mut().zip(more).for_each(|(l, m)| *l += m);
            };
            pull(0, right, 1.0, &normal);
            pull(1, right, 1.0, &tangential);
            pull(1, left, -1.0, &tangential);
            pull(0, bottom, -1.0, &tangential);
            pull(0, top, 1.0, &tangential);
            let count = 2 * space.len();
            let load: Vec<f64> = (0..count).map(|i| loads[i % 2][i / 2]).collect();
            let fixed: Vec<bool> = space
                .nodes()
                .iter()
                .flat_map(|&p| [left(p), bottom(p) || top(p)])
                .collect();
            let given: Vec<f64> = space.nodes().iter().flat_map(|&p| [u(p), v(p)]).collect();
            let form = PlaneStress {
                space: &space,
                modulus,
                ratio,
            };
            let found = solve(&form, &fixed, &given, &load);
            let part = |d: usize| found.iter().skip(d).step_by(2).copied().collect::<Vec<_>>();
            errors[0].push(distance(&space, &part(0), u));
            errors[1].push(distance(&space, &part(1), v));
        }
        for errors in errors {
            let found = order(&errors);
            println!("{element:?}: {found} {errors:?}");
            assert!(found > theory - 0.15, "{element:?} {errors:?}");
        }
    }
}

#[test]
fn a_factor_used_again_gives_the_same_bits() {
    let space = Space::new(meshes().swap_remove(1), Element::P2);
    let fixed = space.on_boundary();
    let solver = Solver::new(Pattern::new(&space, 1, fixed)).unwrap();
    let solve = |factor: &mut Factor, k: f64| {
        let form = at_positions(&space, |[x, _]| (k * x).exp());
        solver.factor(&form, factor).unwrap();
        let mut x = Mat::from_fn(solver.pattern().size(), 2, |i, j| (i + j) as f64);
        solver.solve(factor, x.as_mut());
        x
    };
    let mut used = solver.empty_factor();
    solve(&mut used, 3.0);
    assert!(solve(&mut used, 1.0) == solve(&mut solver.empty_factor(), 1.0));
    // The residual of a solution, by the entries of the lower triangle.
    let x = solve(&mut used, 1.0);
    let pattern = solver.pattern();
    let mut product = vec![0.0; pattern.size()];
    for j in 0..pattern.size() {
        for s in pattern.column_starts()[j]..pattern.column_starts()[j + 1] {
            let (i, a) = (pattern.rows()[s], used.entries()[s]);
            product[i] += a * x[(j, 0)];
            if i != j {
                product[j] += a * x[(i, 0)];
            }
        }
    }
    for (i, p) in product.iter().enumerate() {
        assert!((p - i as f64).abs() < 1e-8 * product.len() as f64);
    }
    let indefinite = at_positions(&space, |_| -1.0);
    let message = solver
        .factor(&indefinite, &mut used)
        .unwrap_err()
        .to_string();
    assert!(message.contains("positive definite"), "{message}");
}

#[test]
fn sampling_is_exact_for_the_elements_polynomials() {
    let points: Vec<[f64; 2]> = (0..50)
        .map(|i| [i as f64 / 49.0, (i * 7 % 50) as f64 / 490.0])
        .collect();
    for element in [Element::P1, Element::P2] {
        let space = Space::new(meshes().swap_remove(0), element);
        let f = |[x, y]: [f64; 2]| match element {
            Element::P1 => 1.0 + x - 2.0 * y,
            Element::P2 => x * x - 3.0 * x * y + y,
        };
        let sampling = space.sampling(&points).unwrap();
        assert_eq!(sampling.len(), 50);
        for (i, &p) in points.iter().enumerate() {
            let value = sampling.value(i, |j| f(space.nodes()[j]));
            assert!((value - f(p)).abs() < 1e-13);
        }
        let inside_the_hole = space.sampling(&[[0.0, 0.0], [0.55, 0.4]]).unwrap_err();
        assert!(inside_the_hole.to_string().contains("point 1"));
    }
}

#[test]
fn grading_makes_small_triangles_at_its_corner_only() {
    let ring = rectangle_ring(&Bounds::unit(2)).unwrap();
    let graded = graded_ring(&ring, &[2], 0.01, 0.2);
    assert_eq!(graded.len(), 4 + 2 * 5);
    let mesh = |ring: Vec<[f64; 2]>| {
        TriangleMesh::constrained_delaunay(&Polygon::new(ring, vec![]).unwrap(), 0.2).unwrap()
    };
    let shortest = |mesh: &TriangleMesh, corner: [f64; 2]| {
        let lengths = mesh.edges().iter().map(|e| {
            let [p, q] = e.map(|i| mesh.nodes()[i]);
            match [p, q].contains(&corner) {
                true => (p[0] - q[0]).hypot(p[1] - q[1]),
                false => f64::INFINITY,
            }
        });
        lengths.fold(f64::INFINITY, f64::min)
    };
    let mesh = mesh(graded);
    assert!(shortest(&mesh, [1.0, 1.0]) < 0.011);
    assert!(shortest(&mesh, [0.0, 0.0]) > 0.04);
}
