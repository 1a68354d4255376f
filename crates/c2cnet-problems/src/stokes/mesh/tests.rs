use super::*;
use crate::sample_stream;
use crate::stokes::ObstacleLaw;
use crate::stokes::signed_distance::signed_distance;

#[test]
fn meshes_fill_the_domain_with_good_triangles() {
    let law = ObstacleLaw::default();
    for (near, far, samples) in [(0.12, 0.6, 60), (0.06, 0.3, 30), (0.03, 0.15, 6)] {
        let size = MeshSize { near, far };
        let mut worst = f64::INFINITY;
        for k in 0..samples {
            let obstacles = law.draw(&mut sample_stream(2, k)).unwrap();
            let FittedMesh { mesh, rings } = FittedMesh::new(&obstacles, size).unwrap();
            worst = worst.min(smallest_angle(&mesh).to_degrees());
            let holes: f64 = rings.iter().map(|r| area(r)).sum();
            let total: f64 = mesh.areas().iter().sum();
            assert!((total - (36.0 - holes)).abs() < 1e-10, "sample {k}");
            // Euler: each hole takes one.
            let euler = mesh.nodes().len() + mesh.triangles().len() + obstacles.len();
            assert_eq!(euler, mesh.edges().len() + 1);
            assert!(mesh.longest_edge() < 2.0 * RADIUS_TO_EDGE * far + 1e-9);
            // Corners outside, chords inside; corners on the curves would miss 0.5 near^2 each.
            let exact: f64 = obstacles.iter().map(|o| exact_area(o.shape())).sum();
            assert!((holes - exact).abs() < 0.1 * near * near, "{holes} {exact}");
            let on_boundary = mesh.on_boundary();
            for (i, &p) in mesh.nodes().iter().enumerate() {
                let phi = signed_distance(&obstacles, p);
                let to_box = HALF_BOX - p[0].abs().max(p[1].abs());
                assert_eq!(on_boundary[i], phi.min(to_box).abs() < 0.08 * near, "{p:?}");
                assert!(phi > -0.08 * near);
            }
        }
        assert!(worst > 20.0, "{near}: {worst} degrees");
    }
}

fn exact_area(shape: &Shape) -> f64 {
    0.5 * TAU
        * match *shape {
            Shape::Circle { radius, .. } => radius * radius,
            Shape::Ellipse { semi_axes, .. } => semi_axes[0] * semi_axes[1],
            Shape::Star {
                radius, amplitude, ..
            } => radius * radius * (1.0 + 0.5 * amplitude * amplitude),
        }
}

fn area(ring: &[[f64; 2]]) -> f64 {
    let n = ring.len();
    let cross = |i: usize| {
        let (a, b) = (ring[i], ring[(i + 1) % n]);
        a[0] * b[1] - a[1] * b[0]
    };
    0.5 * (0..n).map(cross).sum::<f64>()
}

#[test]
fn edges_grow_away_from_the_obstacles_and_the_mesh_is_the_same_again() {
    let law = ObstacleLaw::default();
    let obstacles = law.draw(&mut sample_stream(2, 3)).unwrap();
    let size = MeshSize {
        near: 0.05,
        far: 0.3,
    };
    let fitted = FittedMesh::new(&obstacles, size).unwrap();
    let mesh = &fitted.mesh;
    for &[i, j] in mesh.edges() {
        let [p, q] = [mesh.nodes()[i], mesh.nodes()[j]];
        let middle = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])];
        let length = (p[0] - q[0]).hypot(p[1] - q[1]);
        let limit = 0.05 + GROWTH * signed_distance(&obstacles, middle).abs();
        assert!(length < 2.0 * RADIUS_TO_EDGE * limit.min(0.3) * 1.2);
    }
    assert_eq!(*mesh, FittedMesh::new(&obstacles, size).unwrap().mesh);
}

#[test]
fn quantiles_have_equal_weight() {
    // Density 2t on [0, 3]: the integral is t^2.
    let density: Vec<f64> = (0..=300).map(|i| 0.02 * f64::from(i)).collect();
    let found = quantiles(&density, 0.01, 2);
    assert_eq!(found.len(), 9);
    for (k, t) in found.into_iter().enumerate() {
        assert!((t * t - k as f64).abs() < 1e-3);
    }
}

#[test]
fn obstacles_that_touch_are_refused() {
    let circle = |x: f64| {
        Obstacle::new(Shape::Circle {
            centre: [x, 0.0],
            radius: 0.5,
        })
    };
    let size = MeshSize {
        near: 0.1,
        far: 0.5,
    };
    let crossing = [circle(0.0), circle(0.7)];
    assert!(FittedMesh::new(&crossing, size).is_err());
    assert!(FittedMesh::new(&[circle(2.8)], size).is_err());
}
