//! How well an obstacle was recovered, from two signed distances on one grid.

use c2cnet_figure::contour::{Segment, zero_contour};

/// A function on an equally spaced grid; `values[j * counts[0] + i]` belongs to column `i`, row `j`.
#[derive(Debug, Clone)]
pub struct Grid {
    pub counts: [usize; 2],
    pub x: [f64; 2],
    pub y: [f64; 2],
    pub values: Vec<f64>,
}

/// What a recovered obstacle is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recovery {
    /// Intersection over union.
    pub iou: f64,
    /// The largest distance of a point of one boundary from the other; `None` if one is empty.
    pub hausdorff: Option<f64>,
    /// The mean distance of both boundaries from each other.
    pub mean_distance: Option<f64>,
    /// Components of the truth and of what was found.
    pub components: [usize; 2],
}

/// Grid points that make a component: fewer are specks.
const SPECK: usize = 4;

impl Grid {
    pub fn boundary(&self) -> Vec<Segment> {
        zero_contour(self.counts, self.x, self.y, &self.values)
    }

    /// Connected sets of grid points with negative values, without specks.
    pub fn components(&self) -> usize {
        let [nx, ny] = self.counts;
        let mut seen = vec![false; nx * ny];
        let mut count = 0;
        for start in 0..nx * ny {
            if seen[start] || self.values[start] >= 0.0 {
                continue;
            }
            let mut size = 0;
            let mut stack = vec![start];
            seen[start] = true;
            while let Some(at) = stack.pop() {
                size += 1;
                let (i, j) = (at % nx, at / nx);
                let neighbours = [
                    (i > 0).then(|| at - 1),
                    (i + 1 < nx).then(|| at + 1),
                    (j > 0).then(|| at - nx),
                    (j + 1 < ny).then(|| at + nx),
                ];
                for next in neighbours.into_iter().flatten() {
                    if !seen[next] && self.values[next] < 0.0 {
                        seen[next] = true;
                        stack.push(next);
                    }
                }
            }
            count += usize::from(size >= SPECK);
        }
        count
    }
}

/// Compares what was found with the truth, on the same grid.
pub fn compare(truth: &Grid, found: &Grid) -> Recovery {
    let pairs = || truth.values.iter().zip(&found.values);
    let both = pairs().filter(|(t, f)| **t < 0.0 && **f < 0.0).count();
    let either = pairs().filter(|(t, f)| **t < 0.0 || **f < 0.0).count();
    let (a, b) = (truth.boundary(), found.boundary());
    let distances = (!a.is_empty() && !b.is_empty()).then(|| (away(&a, &b), away(&b, &a)));
    Recovery {
        iou: if either == 0 {
            1.0
        } else {
            both as f64 / either as f64
        },
        hausdorff: distances.map(|((_, a), (_, b))| a.max(b)),
        mean_distance: distances.map(|((a, _), (b, _))| 0.5 * (a + b)),
        components: [truth.components(), found.components()],
    }
}

/// Mean, by length, and largest distance of the pieces `of` one boundary from the `other`.
fn away(of: &[Segment], other: &[Segment]) -> (f64, f64) {
    let (mut total, mut length, mut largest) = (0.0, 0.0, 0.0_f64);
    for [p, q] in of {
        let middle = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])];
        let near = other.iter().map(|s| distance(middle, s));
        let near = near.fold(f64::INFINITY, f64::min);
        let weight = (p[0] - q[0]).hypot(p[1] - q[1]);
        total += weight * near;
        length += weight;
        largest = largest.max(near);
    }
    (
        if length > 0.0 {
            total / length
        } else {
            largest
        },
        largest,
    )
}

/// The distance of a point from a piece of line.
fn distance(x: [f64; 2], [p, q]: &Segment) -> f64 {
    let d = [q[0] - p[0], q[1] - p[1]];
    let along = d[0] * (x[0] - p[0]) + d[1] * (x[1] - p[1]);
    let squared = d[0] * d[0] + d[1] * d[1];
    let t = if squared > 0.0 {
        (along / squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (x[0] - p[0] - t * d[0]).hypot(x[1] - p[1] - t * d[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signed distance from circles, on a grid of [-2, 2] x [-2, 2].
    fn circles(circles: &[([f64; 2], f64)]) -> Grid {
        let n = 161;
        let at = |i: usize| -2.0 + 4.0 * i as f64 / (n - 1) as f64;
        let value = |k: usize| {
            let (x, y) = (at(k % n), at(k / n));
            let each = circles.iter().map(|([a, b], r)| (x - a).hypot(y - b) - r);
            each.fold(f64::INFINITY, f64::min)
        };
        Grid {
            counts: [n, n],
            x: [-2.0, 2.0],
            y: [-2.0, 2.0],
            values: (0..n * n).map(value).collect(),
        }
    }

    #[test]
    fn concentric_circles() {
        let recovery = compare(&circles(&[([0.0; 2], 1.0)]), &circles(&[([0.0; 2], 0.8)]));
        assert!((recovery.iou - 0.64).abs() < 0.01, "{recovery:?}");
        assert!((recovery.hausdorff.unwrap() - 0.2).abs() < 2e-3);
        assert!((recovery.mean_distance.unwrap() - 0.2).abs() < 2e-3);
        assert_eq!(recovery.components, [1, 1]);
    }

    #[test]
    fn a_shifted_circle_and_one_too_many() {
        let one = circles(&[([0.0; 2], 0.5)]);
        let shifted = compare(&one, &circles(&[([0.3, 0.0], 0.5)]));
        assert!((shifted.hausdorff.unwrap() - 0.3).abs() < 5e-3);
        assert!(shifted.mean_distance.unwrap() < 0.25);
        let two = compare(&one, &circles(&[([0.0; 2], 0.5), ([1.2, 1.2], 0.3)]));
        assert_eq!(two.components, [1, 2]);
        assert!(two.hausdorff.unwrap() > 1.0);
    }

    #[test]
    fn nothing_found() {
        let one = circles(&[([0.0; 2], 0.5)]);
        let mut none = one.clone();
        none.values.iter_mut().for_each(|v| *v = v.abs() + 1.0);
        let recovery = compare(&one, &none);
        assert_eq!((recovery.iou, recovery.hausdorff), (0.0, None));
        assert_eq!(recovery.components, [1, 0]);
        assert_eq!(compare(&one, &one).iou, 1.0);
    }
}
