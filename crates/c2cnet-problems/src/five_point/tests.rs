use super::*;
use crate::testing::{fitted_order, relative_difference};
use faer::Mat;
use faer::linalg::solvers::Solve;
use std::f64::consts::PI;

fn nodes(intervals: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let h = 1.0 / intervals as f64;
    (0..(intervals + 1).pow(2))
        .map(|p| {
            let (i, j) = (p / (intervals + 1), p % (intervals + 1));
            f(i as f64 * h, j as f64 * h)
        })
        .collect()
}

fn rough(x: f64, y: f64) -> f64 {
    (1.5 * (7.0 * x + 3.0 * y).sin() + (11.0 * x * y).cos()).exp()
}

#[test]
fn a_manufactured_solution_converges_with_order_two() {
    // u = sin(pi x) sin(2 pi y) e^x, kappa = 1 + x^2 + sin(3 y) / 2
    let exact = |x: f64, y: f64| (PI * x).sin() * (2.0 * PI * y).sin() * x.exp();
    let kappa = |x: f64, y: f64| 1.0 + x * x + 0.5 * (3.0 * y).sin();
    let source = |x: f64, y: f64| {
        let (sx, cx) = (PI * x).sin_cos();
        let (sy, cy) = (2.0 * PI * y).sin_cos();
        let ux = (sx + PI * cx) * sy * x.exp();
        let uy = 2.0 * PI * sx * cy * x.exp();
        let uxx = ((1.0 - PI * PI) * sx + 2.0 * PI * cx) * sy * x.exp();
        let uyy = -4.0 * PI * PI * sx * sy * x.exp();
        -(kappa(x, y) * (uxx + uyy) + 2.0 * x * ux + 1.5 * (3.0 * y).cos() * uy)
    };
    let (mut steps, mut errors) = (Vec::new(), Vec::new());
    for intervals in [10, 20, 40, 80, 160] {
        let scheme = FivePoint::new(intervals).unwrap();
        let u = scheme
            .solve(&nodes(intervals, kappa), &nodes(intervals, source))
            .unwrap();
        steps.push(1.0 / intervals as f64);
        errors.push(relative_difference(&u, &nodes(intervals, exact)));
    }
    let order = fitted_order(&steps, &errors);
    assert!(order >= 1.85, "order {order}, errors {errors:?}");
    assert!(errors[4] < 1e-3, "{errors:?}");
}

#[test]
fn a_dense_solve_agrees() {
    // Odd and even sides, down to a single inner node.
    for intervals in [2, 3, 7, 16, 21] {
        let kappa = nodes(intervals, rough);
        let f = nodes(intervals, |x, y| 1.0 + x - y * y);
        let u = FivePoint::new(intervals)
            .unwrap()
            .solve(&kappa, &f)
            .unwrap();
        // All nodes, boundary rows u = 0, neighbours by distance: nothing shared with the solver.
        let width = intervals + 1;
        let inner = |p: usize| {
            let (i, j) = (p / width, p % width);
            i > 0 && j > 0 && i < intervals && j < intervals
        };
        let mut matrix = Mat::<f64>::identity(width * width, width * width);
        let mut right = Mat::zeros(width * width, 1);
        let scale = (intervals * intervals) as f64;
        for p in (0..width * width).filter(|&p| inner(p)) {
            matrix[(p, p)] = 0.0;
            right[(p, 0)] = f[p];
            for q in 0..width * width {
                let apart = (p / width).abs_diff(q / width) + (p % width).abs_diff(q % width);
                if apart == 1 {
                    let a = scale * (kappa[p] + kappa[q]) / 2.0;
                    matrix[(p, p)] += a;
                    matrix[(p, q)] -= a;
                }
            }
        }
        let dense = matrix.partial_piv_lu().solve(&right);
        let dense: Vec<f64> = dense.col(0).iter().copied().collect();
        let difference = relative_difference(&u, &dense);
        assert!(difference < 1e-12, "{intervals}: {difference:e}");
    }
}

#[test]
fn the_residual_is_rounding_at_full_size() {
    let intervals = 140;
    let width = intervals + 1;
    let kappa = nodes(intervals, rough);
    let scheme = FivePoint::new(intervals).unwrap();
    let f = vec![1.0; width * width];
    let u = scheme.solve(&kappa, &f).unwrap();
    // Solving for the residual gives the error; a second solve also uses old memory.
    let residual: Vec<f64> = (0..width * width)
        .map(|p| {
            let (i, j) = (p / width, p % width);
            if i == 0 || j == 0 || i == intervals || j == intervals {
                return 0.0;
            }
            let flux = |q: usize| (kappa[p] + kappa[q]) / 2.0 * (u[p] - u[q]);
            let sum = flux(p - 1) + flux(p + 1) + flux(p - width) + flux(p + width);
            1.0 - sum * (intervals * intervals) as f64
        })
        .collect();
    let error = scheme.solve(&kappa, &residual).unwrap();
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!(norm(&error) < 1e-11 * norm(&u), "{:e}", norm(&error));
    assert_eq!(scheme.solve(&kappa, &f).unwrap(), u);
    // Nested dissection keeps the factor at O(n log n).
    assert!(scheme.fill() < 60 * 139 * 139, "fill {}", scheme.fill());
}

#[test]
fn what_does_not_fit_is_refused() {
    assert!(FivePoint::new(1).is_err());
    let scheme = FivePoint::new(4).unwrap();
    let ones = vec![1.0; 25];
    assert!(scheme.solve(&ones[1..], &ones).is_err());
    assert!(scheme.solve(&ones, &ones[1..]).is_err());
    let mut bad = ones.clone();
    bad[7] = -1.0;
    let message = scheme.solve(&bad, &ones).unwrap_err().to_string();
    assert!(message.contains("-1 at node 7"), "{message}");
}
