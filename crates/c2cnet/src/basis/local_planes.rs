//! Interpolation of second order between scattered points in any dimension: at each point asked for, the plane that comes
//! closest to the values at the nearest data points.
//!
//! Moving least squares: $a + g\cdot(x_i-x)$ minimises $\sum_i w_i^2\,(a+g\cdot(x_i-x)-u_i)^2$ over the neighbours $x_i$ of
//! $x$, with $w_i=1/|x_i-x|-1/R$, and $u(x)=a$. The weight grows without bound towards a data point, which is therefore
//! interpolated, and vanishes at the distance $R$ of the first point that is left out, so that $u$ is continuous. Exact for
//! linear functions, error $O(h^2)$.

use super::interpolant::Stencil;
use super::nodal_polynomials::least_squares;
use crate::data::Points;
use faer::MatRef;

/// Neighbours for each unknown of a plane: more than are needed keep it from following the noise of a few.
const NEIGHBOURS_PER_UNKNOWN: usize = 3;

/// A plane is taken where its error is at most this part of that of the nearest value.
const WORTH_A_PLANE: f64 = 0.9;

/// Nodes and samples that decide between the two.
const PROBE_NODES: usize = 256;
const PROBE_SAMPLES: usize = 32;

/// The weights of the data points at `x`, without one of them if it is named; `None` where the neighbours determine no
/// plane.
pub(super) fn stencil(points: &Points, x: &[f64], without: Option<usize>) -> Option<Stencil> {
    let near = nearest(points, x, without);
    let (&(farthest, _), neighbours) = near.split_last()?;
    match *neighbours.first()? {
        // The point itself, by coordinates of other bits.
        (0.0, i) => return Some(vec![(i, 1.0)]),
        (distance, _) if distance == farthest => return None,
        _ => {}
    }
    let offset = |i: usize, k: usize| (points.point(i)[k] - x[k]) / farthest;
    let row = |&(distance, i): &(f64, usize)| {
        let row: Vec<f64> = std::iter::once(1.0)
            .chain((0..x.len()).map(|k| offset(i, k)))
            .collect();
        (row, farthest / distance - 1.0)
    };
    let solution = least_squares(&neighbours.iter().map(row).collect::<Vec<_>>())?;
    let weights = solution.row(0).iter();
    Some(
        neighbours
            .iter()
            .map(|(_, i)| *i)
            .zip(weights.copied())
            .collect(),
    )
}

/// The first degree where planes through the others predict the values (one column per sample) at some data points better
/// than the nearest value does, else zero.
pub(super) fn best_degree(points: &Points, values: MatRef<'_, f64>) -> usize {
    let samples = values.ncols().min(PROBE_SAMPLES);
    let step = points.len().div_ceil(PROBE_NODES).max(1);
    let mut errors = [0.0, 0.0];
    for node in (0..points.len()).step_by(step) {
        let x = points.point(node);
        let others = nearest(points, x, Some(node));
        let (Some(&(_, closest)), Some(plane)) = (others.first(), stencil(points, x, Some(node)))
        else {
            continue;
        };
        for s in 0..samples {
            let truth = values[(node, s)];
            let on_plane: f64 = plane.iter().map(|(i, w)| w * values[(*i, s)]).sum();
            errors[0] += (values[(closest, s)] - truth).powi(2);
            errors[1] += (on_plane - truth).powi(2);
        }
    }
    usize::from(errors[1] < WORTH_A_PLANE.powi(2) * errors[0])
}

/// The neighbours of `x` and the first point beyond them, by their distances; of equally distant ones the first.
fn nearest(points: &Points, x: &[f64], without: Option<usize>) -> Vec<(f64, usize)> {
    let squared =
        |point: &[f64]| -> f64 { point.iter().zip(x).map(|(a, b)| (a - b).powi(2)).sum() };
    let mut near: Vec<(f64, usize)> = (points.iter().enumerate())
        .filter(|(i, _)| Some(*i) != without)
        .map(|(i, point)| (squared(point), i))
        .collect();
    let count = (NEIGHBOURS_PER_UNKNOWN * (x.len() + 1) + 1).min(near.len());
    let by_distance = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if count > 0 && count < near.len() {
        near.select_nth_unstable_by(count - 1, by_distance);
        near.truncate(count);
    }
    near.sort_unstable_by(by_distance);
    near.iter_mut()
        .for_each(|(distance, _)| *distance = distance.sqrt());
    near
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use rand::{RngExt, SeedableRng};

    fn scattered(count: usize, dim: usize, seed: u64) -> Points {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        Points::new(dim, (0..count * dim).map(|_| rng.random()).collect()).unwrap()
    }

    fn at(points: &Points, f: &dyn Fn(&[f64]) -> f64) -> Mat<f64> {
        Mat::from_fn(points.len(), 1, |i, _| f(points.point(i)))
    }

    fn error(count: usize, f: &dyn Fn(&[f64]) -> f64) -> f64 {
        let (points, asked) = (scattered(count, 3, 1), scattered(400, 3, 2));
        let values = at(&points, f);
        let squares = (0..asked.len()).map(|i| {
            let x = asked.point(i);
            let stencil = stencil(&points, x, None).unwrap();
            let found: f64 = stencil.iter().map(|(j, w)| w * values[(*j, 0)]).sum();
            (found - f(x)).powi(2)
        });
        (squares.sum::<f64>() / asked.len() as f64).sqrt()
    }

    #[test]
    fn linear_functions_are_exact_and_smooth_ones_converge_with_the_second_order() {
        assert!(error(200, &|p| 1.0 + p[0] - 2.0 * p[1] + 0.5 * p[2]) < 1e-12);
        let f = |p: &[f64]| (3.0 * p[0] + 0.4).sin() * (2.0 * p[1]).cos() * (1.0 + p[2]);
        // Eight times as many points halve their distance.
        let order = (error(500, &f) / error(4000, &f)).log2();
        assert!(order > 1.7, "order {order}");
    }

    #[test]
    fn planes_are_taken_for_smooth_values() {
        let points = scattered(600, 3, 3);
        let smooth = at(&points, &|p| (2.0 * p[0]).sin() + p[1] * p[2]);
        assert_eq!(best_degree(&points, smooth.as_ref()), 1);
    }

    #[test]
    fn points_on_a_plane_determine_none() {
        let flat = scattered(60, 2, 5);
        let coords = flat.iter().flat_map(|p| [p[0], p[1], p[0] + p[1]]);
        let points = Points::new(3, coords.collect()).unwrap();
        assert!(stencil(&points, &[0.2, 0.3, 0.9], None).is_none());
        let few = Points::new(3, vec![0.0; 3]).unwrap();
        assert!(stencil(&few, &[0.2, 0.3, 0.9], None).is_none());
    }
}
