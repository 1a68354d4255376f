use super::*;
use crate::stokes::mesh::HALF_BOX;
use crate::stokes::{FittedMesh, MeshSize, Obstacle, Shape};
use crate::testing::fitted_order;
use c2cnet::data::Bounds;
use c2cnet::domain::Polygon;
use c2cnet::internal::Locator;

/// $u = \nabla^\perp\Psi$ of $\Psi = \sin 2x\cos 3y$, so that $-\Delta u = 13 u$.
fn exact_velocity([x, y]: [f64; 2]) -> [f64; 2] {
    let (s, c) = (2.0 * x).sin_cos();
    let (t, d) = (3.0 * y).sin_cos();
    [-3.0 * s * t, -2.0 * c * d]
}

/// $p = \cos(2x + y)$, less its mean.
fn exact_pressure([x, y]: [f64; 2]) -> f64 {
    let phase = 2.0 * x + y;
    // The mean over the unit square is (cos 2 + cos 1 - cos 3 - cos 0) / 2.
    let mean = 0.5 * (2f64.cos() + 1f64.cos() - 3f64.cos() - 1.0);
    phase.cos() - mean
}

fn exact_force(x: [f64; 2]) -> [f64; 2] {
    let (u, slope) = (exact_velocity(x), -(2.0 * x[0] + x[1]).sin());
    [13.0 * u[0] + 2.0 * slope, 13.0 * u[1] + slope]
}

/// The errors of velocity and pressure in $L^2$.
fn errors(mesh: &TriangleMesh, solution: &StokesSolution) -> [f64; 2] {
    let rule = Quadrature::exact_to(6);
    let mut sums = [0.0; 2];
    for (t, area) in mesh.areas().into_iter().enumerate() {
        let corners = mesh.corners(t);
        for (&lambda, weight) in rule.points.iter().zip(&rule.weights) {
            let x = [0, 1].map(|k| (0..3).map(|i| lambda[i] * corners[i][k]).sum());
            let (u, v) = (solution.velocity_in(mesh, t, lambda), exact_velocity(x));
            let p: f64 = (0..3)
                .map(|i| lambda[i] * solution.pressure[mesh.triangles()[t][i]])
                .sum();
            sums[0] += area * weight * ((u[0] - v[0]).powi(2) + (u[1] - v[1]).powi(2));
            sums[1] += area * weight * (p - exact_pressure(x)).powi(2);
        }
    }
    sums.map(f64::sqrt)
}

#[test]
fn manufactured_solution_converges_with_orders_three_and_two() {
    let (mut steps, mut velocity, mut pressure) = (vec![], vec![], vec![]);
    for n in [6, 12, 24, 48] {
        let mesh = TriangleMesh::rectangle(&Bounds::unit(2), n, n).unwrap();
        let solution = solve_stokes(&mesh, exact_force, exact_velocity).unwrap();
        let [u, p] = errors(&mesh, &solution);
        steps.push(1.0 / n as f64);
        velocity.push(u);
        pressure.push(p);
        assert!(solution.steps < 100, "{} steps", solution.steps);
    }
    let order = fitted_order(&steps, &velocity);
    assert!(order > 3.0 - 0.15, "velocity: {order}, {velocity:?}");
    let order = fitted_order(&steps, &pressure);
    assert!(order > 2.0 - 0.15, "pressure: {order}, {pressure:?}");
}

#[test]
fn unstructured_meshes_converge_too() {
    let square = Polygon::rectangle(&Bounds::unit(2)).unwrap();
    let (mut steps, mut velocity, mut pressure) = (vec![], vec![], vec![]);
    for size in [0.16, 0.08, 0.04] {
        let mesh = TriangleMesh::constrained_delaunay(&square, size).unwrap();
        let solution = solve_stokes(&mesh, exact_force, exact_velocity).unwrap();
        let [u, p] = errors(&mesh, &solution);
        steps.push((mesh.triangles().len() as f64).powf(-0.5));
        velocity.push(u);
        pressure.push(p);
    }
    let order = fitted_order(&steps, &velocity);
    assert!(order > 3.0 - 0.15, "velocity: {order}, {velocity:?}");
    let order = fitted_order(&steps, &pressure);
    assert!(order > 2.0 - 0.15, "pressure: {order}, {pressure:?}");
}

#[test]
fn quadratic_flows_are_exact() {
    // u = (y^2, x^2) with p = 2(x + y) - 2.
    let square = Polygon::rectangle(&Bounds::unit(2)).unwrap();
    let mesh = TriangleMesh::constrained_delaunay(&square, 0.2).unwrap();
    let flow = |[x, y]: [f64; 2]| [y * y, x * x];
    let solution = solve_stokes(&mesh, |_| [0.0; 2], flow).unwrap();
    for (i, &x) in velocity_places(&mesh).iter().enumerate() {
        for c in 0..2 {
            assert!((solution.velocity[c][i] - flow(x)[c]).abs() < 1e-9);
        }
    }
    for (i, &[x, y]) in mesh.nodes().iter().enumerate() {
        assert!((solution.pressure[i] - 2.0 * (x + y - 1.0)).abs() < 1e-8);
    }
}

fn around(shape: Shape, size: MeshSize) -> (TriangleMesh, StokesSolution) {
    let mesh = FittedMesh::new(&[Obstacle::new(shape)], size).unwrap().mesh;
    let in_box = |[x, y]: [f64; 2]| x.abs().max(y.abs()) < HALF_BOX;
    let wall = |x| [if in_box(x) { 0.0 } else { 1.0 }, 0.0];
    let solution = solve_stokes(&mesh, |_| [0.0; 2], wall).unwrap();
    (mesh, solution)
}

#[test]
fn flow_around_an_obstacle_sticks_to_it_and_loses_nothing() {
    let shape = Shape::Ellipse {
        centre: [0.3, -0.4],
        semi_axes: [0.5, 0.3],
        angle: 0.5,
    };
    let size = MeshSize {
        near: 0.06,
        far: 0.3,
    };
    let (mesh, solution) = around(shape, size);
    let places = velocity_places(&mesh);
    let n = mesh.nodes().len();
    let mut net = 0.0;
    for (t, edges) in mesh.triangle_edges().iter().enumerate() {
        for (k, &e) in edges.iter().enumerate() {
            if !mesh.boundary_edges().contains(&e) {
                continue;
            }
            let (i, j) = (mesh.triangles()[t][k], mesh.triangles()[t][(k + 1) % 3]);
            let inner = places[i][0].abs().max(places[i][1].abs()) < HALF_BOX;
            for place in [i, j, n + e] {
                let u = [0, 1].map(|c| solution.velocity[c][place]);
                assert_eq!(u, if inner { [0.0; 2] } else { [1.0, 0.0] });
            }
            // Simpson's rule is exact for quadratics; triangles are counter-clockwise.
            let mean = |c: usize| {
                let u = &solution.velocity[c];
                (u[i] + 4.0 * u[n + e] + u[j]) / 6.0
            };
            let (p, q) = (places[i], places[j]);
            net += mean(0) * (q[1] - p[1]) - mean(1) * (q[0] - p[0]);
        }
    }
    assert!(net.abs() < 1e-12, "{net:e}");
    // No test function sees a source.
    let system = System::new(&mesh, &places).unwrap();
    let divergence = system.divergence(|place, c| solution.velocity[c][place]);
    let worst = divergence.iter().fold(0f64, |m, d| m.max(d.abs()));
    assert!(worst < 1e-10, "{worst:e}");
    // What enters the box passes every line across it: 6.
    let locator = Locator::new(&mesh, 0.0).unwrap();
    for x in [-2.0, 0.3, 2.0] {
        let m = 4000;
        let flux: f64 = (0..m)
            .filter_map(|i| {
                let y = -HALF_BOX + 2.0 * HALF_BOX * (f64::from(i) + 0.5) / f64::from(m);
                locator.locate([x, y])
            })
            .map(|(t, lambda)| solution.velocity_in(&mesh, t, lambda)[0] * 6.0 / f64::from(m))
            .sum();
        assert!((flux - 6.0).abs() < 0.01, "through x = {x}: {flux}");
    }
}

#[test]
fn a_circle_in_the_middle_gives_a_symmetric_flow() {
    let circle = Shape::Circle {
        centre: [0.0; 2],
        radius: 0.5,
    };
    let size = MeshSize {
        near: 0.05,
        far: 0.25,
    };
    let (mesh, solution) = around(circle, size);
    let locator = Locator::new(&mesh, 0.0).unwrap();
    let at = |x: f64, y: f64| {
        let (t, lambda) = locator.locate([x, y]).unwrap();
        solution.velocity_in(&mesh, t, lambda)
    };
    // Stokes flow is the same upstream and downstream, up to the sign of the second component.
    for (x, y) in [(1.0, 0.7), (2.2, 1.5), (0.6, 2.0), (2.9, -0.1)] {
        let [u, v] = at(x, y);
        for (a, b) in [(-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            let [r, s] = at(a * x, b * y);
            assert!((r - u).abs() < 1e-3 && (s - a * b * v).abs() < 1e-3);
        }
    }
}

#[test]
fn a_uniform_flow_needs_no_pressure() {
    let mesh = TriangleMesh::rectangle(&Bounds::unit(2), 5, 5).unwrap();
    let solution = solve_stokes(&mesh, |_| [0.0; 2], |_| [1.0, -2.0]).unwrap();
    assert!(solution.pressure.iter().all(|p| p.abs() < 1e-9));
    assert!(solution.velocity[1].iter().all(|v| (v + 2.0).abs() < 1e-12));
    let triangle = vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    let mesh = TriangleMesh::new(triangle, vec![[0, 1, 2]]).unwrap();
    assert!(solve_stokes(&mesh, |_| [0.0; 2], |_| [0.0; 2]).is_err());
}
