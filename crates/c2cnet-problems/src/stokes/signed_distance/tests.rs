use super::*;
use crate::sample_stream;
use rand::RngExt;

fn shapes() -> Vec<Shape> {
    let star = |centre, radius, amplitude, mode, phase| Shape::Star {
        centre,
        radius,
        amplitude,
        mode,
        phase,
    };
    let ellipse = |centre, semi_axes, angle| Shape::Ellipse {
        centre,
        semi_axes,
        angle,
    };
    vec![
        Shape::Circle {
            centre: [0.3, -0.2],
            radius: 0.4,
        },
        ellipse([-0.4, 0.1], [0.6, 0.2], 0.7),
        ellipse([0.0, 0.0], [0.3, 0.300001], 2.0),
        ellipse([0.5, 0.5], [0.2, 0.5], 0.0),
        star([0.1, 0.2], 0.4, 0.3, 5, 1.0),
        star([-0.2, 0.2], 0.45, 0.3, 3, 4.0),
        star([0.0, 0.0], 0.3, 0.0, 4, 0.0),
    ]
}

/// The nearest of many boundary points, refined by a parabola through three of them.
fn brute_force(shape: &Shape, x: [f64; 2]) -> f64 {
    let n = 20_000;
    let squared = |i: usize| {
        let c = shape.curve(TAU * (i % n) as f64 / n as f64)[0];
        (c[0] - x[0]).powi(2) + (c[1] - x[1]).powi(2)
    };
    let all: Vec<f64> = (0..n).map(squared).collect();
    let i = (0..n).min_by(|&i, &j| all[i].total_cmp(&all[j])).unwrap();
    let (a, b, c) = (all[(i + n - 1) % n], all[i], all[(i + 1) % n]);
    let bend = a - 2.0 * b + c;
    let gain = if bend > 0.0 {
        0.125 * (c - a).powi(2) / bend
    } else {
        0.0
    };
    (b - gain).max(0.0).sqrt()
}

/// Whether a fine polygon holds the point, by the even-odd rule.
fn in_polygon(shape: &Shape, [x, y]: [f64; 2]) -> bool {
    let n = 20_000;
    let ring: Vec<[f64; 2]> = (0..n)
        .map(|i| shape.curve(TAU * i as f64 / n as f64)[0])
        .collect();
    (0..n)
        .filter(|&i| {
            let ([a, b], [c, d]) = (ring[i], ring[(i + 1) % n]);
            (b > y) != (d > y) && x < a + (y - b) / (d - b) * (c - a)
        })
        .count()
        % 2
        == 1
}

#[test]
fn distance_and_sign_agree_with_brute_force() {
    let mut rng = sample_stream(5, 0);
    for shape in shapes() {
        let obstacle = Obstacle::new(shape);
        let mut points = vec![shape.centre()];
        for i in 0..100 {
            // Half of them near the obstacle, where there are medial axes.
            let width = if i % 2 == 0 { 6.0 } else { 1.4 };
            let q = if i % 2 == 0 { [0.0; 2] } else { shape.centre() };
            points.push(q.map(|c| c + width * (rng.random::<f64>() - 0.5)));
        }
        for x in points {
            let phi = obstacle.signed_distance(x);
            let expected = brute_force(&shape, x);
            assert!(
                (phi.abs() - expected).abs() < 1e-6,
                "{shape:?} at {x:?}: {phi}, brute force {expected}"
            );
            if expected > 1e-5 {
                assert_eq!(phi < 0.0, in_polygon(&shape, x), "{shape:?} at {x:?}");
            }
        }
    }
}

#[test]
fn boundary_points_have_distance_zero_and_derivatives_are_derivatives() {
    for shape in shapes() {
        let obstacle = Obstacle::new(shape);
        for i in 0..100 {
            let t = TAU * (i as f64 + 0.3) / 100.0;
            let [c, d, dd] = shape.curve(t);
            assert!(obstacle.signed_distance(c).abs() < 1e-9);
            let h = 1e-5;
            let (after, before) = (shape.curve(t + h), shape.curve(t - h));
            for k in 0..2 {
                let first = (after[0][k] - before[0][k]) / (2.0 * h);
                let second = (after[1][k] - before[1][k]) / (2.0 * h);
                assert!((first - d[k]).abs() < 1e-7 && (second - dd[k]).abs() < 1e-7);
            }
            let distance = (c[0] - shape.centre()[0]).hypot(c[1] - shape.centre()[1]);
            assert!(distance <= shape.outer_radius() + 1e-12);
        }
    }
    let circle = Shape::Circle {
        centre: [1.0, 2.0],
        radius: 0.25,
    };
    assert!((circle.curvature(0.4) - 4.0).abs() < 1e-12);
}

#[test]
fn the_slope_of_the_distance_is_one() {
    // The eikonal equation, away from medial axes.
    for shape in shapes() {
        let obstacle = Obstacle::new(shape);
        let (h, mut steep) = (1e-5, 0);
        for i in 0..100 {
            let t = TAU * i as f64 / 100.0;
            let [c, [dx, dy], _] = shape.curve(t);
            let n = [dy, -dx].map(|v| v / dx.hypot(dy));
            let at = |s: f64| obstacle.signed_distance([c[0] + s * n[0], c[1] + s * n[1]]);
            for s in [-0.02, 0.02, 0.3] {
                // Beyond the distance of curvature the nearest boundary point is another.
                if (at(s) - s).abs() < 1e-8 {
                    assert!((at(s + h) - at(s - h) - 2.0 * h).abs() < 1e-9);
                    steep += 1;
                }
            }
        }
        assert!(steep > 150, "{shape:?}: {steep}");
    }
}

#[test]
fn a_union_is_the_smallest() {
    let circle = |x: f64, radius: f64| {
        Obstacle::new(Shape::Circle {
            centre: [x, 0.0],
            radius,
        })
    };
    let both = [circle(-1.0, 0.5), circle(1.0, 0.3)];
    for (x, expected) in [
        (-1.0, -0.5),
        (1.1, -0.2),
        (0.0, 0.5),
        (0.6, 0.1),
        (3.0, 1.7),
    ] {
        assert!((signed_distance(&both, [x, 0.0]) - expected).abs() < 1e-14);
    }
}
