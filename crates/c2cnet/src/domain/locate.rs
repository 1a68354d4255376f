//! Finds the triangle that contains a point, by a grid of buckets.

use super::TriangleMesh;
use super::polygon::cross;
use super::triangulation::distance_squared;
use crate::{Error, Result};

/// Tolerance for rounding outside the mesh, relative to its extent.
const ROUNDING: f64 = 1e-9;

/// A grid over the mesh's bounding box, with the triangles that reach into each cell.
///
/// There are about as many cells as triangles, so finding one costs a few tests on meshes whose
/// triangles are of similar size, however many there are.
#[derive(Debug, Clone)]
pub struct Locator {
    corners: Vec<[[f64; 2]; 3]>,
    /// How far outside triangle `t` a point may lie.
    reach: Vec<f64>,
    origin: [f64; 2],
    cell: [f64; 2],
    counts: [usize; 2],
    /// The members of cell `c` are `members[starts[c]..starts[c + 1]]`.
    starts: Vec<usize>,
    members: Vec<usize>,
}

impl Locator {
    /// Prepares the search.
    ///
    /// A point within `slack` times the longest edge of a triangle still belongs to it if no
    /// triangle holds it; this suits polygons that approximate curved domains. Rounding (1e-9 of
    /// the mesh's extent) is always allowed for.
    ///
    /// # Errors
    /// If `slack` is not between 0 and 1.
    pub fn new(mesh: &TriangleMesh, slack: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&slack) {
            return Err(Error::Config(format!(
                "slack = {slack} is a fraction of an element's size; it must lie between 0 and 1"
            )));
        }
        let corners: Vec<_> = (0..mesh.triangles().len())
            .map(|t| mesh.corners(t))
            .collect();
        let sides = mesh.bounding_box();
        let extent = sides
            .iter()
            .map(|[l, u]| (u - l).max(l.abs()).max(u.abs()))
            .fold(0.0, f64::max);
        let reach: Vec<f64> = corners
            .iter()
            .map(|&[a, b, c]| {
                let longest = distance_squared(a, b)
                    .max(distance_squared(b, c))
                    .max(distance_squared(c, a));
                (slack * longest.sqrt()).max(ROUNDING * extent)
            })
            .collect();
        let margin = reach.iter().copied().fold(0.0, f64::max);
        let origin = sides.map(|[lower, _]| lower - margin);
        let width = sides.map(|[lower, upper]| upper - lower + 2.0 * margin);
        let across = corners.len() as f64 / (width[0] * width[1]);
        let counts = width.map(|w| (w * across.sqrt()).ceil().clamp(1.0, corners.len() as f64));
        let cell = [width[0] / counts[0], width[1] / counts[1]];
        let mut locator = Locator {
            corners,
            reach,
            origin,
            cell,
            counts: counts.map(|c| c as usize),
            starts: Vec::new(),
            members: Vec::new(),
        };
        locator.fill();
        Ok(locator)
    }

    /// Counts the members of each cell, then places them, triangles in order.
    fn fill(&mut self) {
        let cells = self.counts[0] * self.counts[1];
        let mut starts = vec![0; cells + 1];
        for t in 0..self.corners.len() {
            self.for_each_cell(t, |c| starts[c + 1] += 1);
        }
        for c in 0..cells {
            starts[c + 1] += starts[c];
        }
        let mut next = starts.clone();
        let mut members = vec![0; starts[cells]];
        for t in 0..self.corners.len() {
            self.for_each_cell(t, |c| {
                members[next[c]] = t;
                next[c] += 1;
            });
        }
        self.starts = starts;
        self.members = members;
    }

    fn for_each_cell(&self, t: usize, mut visit: impl FnMut(usize)) {
        let reach = self.reach[t];
        let range = |k: usize| {
            let [a, b, c] = self.corners[t].map(|p| p[k]);
            let first = self.index(k, a.min(b).min(c) - reach);
            first..=self.index(k, a.max(b).max(c) + reach)
        };
        for i in range(0) {
            for j in range(1) {
                visit(i * self.counts[1] + j);
            }
        }
    }

    /// The cell along axis `k`, clamped to the grid.
    fn index(&self, k: usize, x: f64) -> usize {
        // A cast to an integer saturates, so that everything below is in the first cell.
        (((x - self.origin[k]) / self.cell[k]) as usize).min(self.counts[k] - 1)
    }

    /// The triangle of `point` and the barycentric coordinates $\lambda$ in it, which sum to one.
    ///
    /// On a common edge or corner it is the first such triangle. A point of no triangle but within
    /// reach of one belongs to the nearest, with a $\lambda$ slightly below zero. `None` otherwise.
    pub fn locate(&self, point: [f64; 2]) -> Option<(usize, [f64; 3])> {
        let cell = self.index(0, point[0]) * self.counts[1] + self.index(1, point[1]);
        let members = &self.members[self.starts[cell]..self.starts[cell + 1]];
        let mut nearest: Option<(f64, usize)> = None;
        for &t in members {
            let lambda = barycentric(self.corners[t], point);
            if lambda.iter().all(|&l| l >= 0.0) {
                return Some((t, lambda));
            }
            let distance = distance_to_edges(self.corners[t], point);
            if distance <= self.reach[t] && nearest.is_none_or(|(d, _)| distance < d) {
                nearest = Some((distance, t));
            }
        }
        nearest.map(|(_, t)| (t, barycentric(self.corners[t], point)))
    }
}

/// $\lambda$ with $\sum_i \lambda_i = 1$ and $\sum_i \lambda_i c_i = x$; exact at the corners.
fn barycentric([a, b, c]: [[f64; 2]; 3], x: [f64; 2]) -> [f64; 3] {
    let whole = cross(a, b, c);
    let second = cross(a, x, c) / whole;
    let third = cross(a, b, x) / whole;
    [1.0 - second - third, second, third]
}

/// How far a point outside a triangle is from it.
fn distance_to_edges([a, b, c]: [[f64; 2]; 3], x: [f64; 2]) -> f64 {
    [(a, b), (b, c), (c, a)]
        .map(|(p, q)| {
            let [dx, dy] = [q[0] - p[0], q[1] - p[1]];
            let along = (x[0] - p[0]) * dx + (x[1] - p[1]) * dy;
            let t = (along / (dx * dx + dy * dy)).clamp(0.0, 1.0);
            distance_squared(x, [p[0] + t * dx, p[1] + t * dy])
        })
        .into_iter()
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bounds;
    use crate::domain::{Polygon, circle_ring, rectangle_ring};
    use rand::{RngExt, SeedableRng};

    #[test]
    fn agrees_with_trying_every_triangle() {
        let holes = vec![
            circle_ring([0.5, 0.25], 0.1, 20),
            circle_ring([1.4, 0.3], 0.15, 20),
            circle_ring([1.0, 0.75], 0.12, 20),
        ];
        let bounds = Bounds::new(vec![[0.0, 2.0], [0.0, 1.0]]).unwrap();
        let polygon = Polygon::new(rectangle_ring(&bounds).unwrap(), holes).unwrap();
        let mesh = TriangleMesh::constrained_delaunay(&polygon, 0.08).unwrap();
        let locator = Locator::new(&mesh, 0.0).unwrap();
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut outside = 0;
        for _ in 0..2000 {
            let point = [2.2, 1.2].map(|w| w * rng.random::<f64>() - 0.1);
            let scan = (0..mesh.triangles().len()).find(|&t| {
                barycentric(mesh.corners(t), point)
                    .iter()
                    .all(|&l| l >= 0.0)
            });
            let found = locator.locate(point);
            assert_eq!(found.map(|f| f.0), scan, "{point:?}");
            assert_eq!(found.is_some(), polygon.contains(point));
            outside += usize::from(found.is_none());
            if let Some((t, lambda)) = found {
                for (k, coordinate) in point.iter().enumerate() {
                    let x: f64 = (0..3).map(|i| lambda[i] * mesh.corners(t)[i][k]).sum();
                    assert!((x - coordinate).abs() < 1e-13);
                }
            }
        }
        assert!((200..1200).contains(&outside));
        // Nodes lie in one of their triangles, where their coordinate is exactly one.
        for (i, &node) in mesh.nodes().iter().enumerate() {
            let (t, lambda) = locator.locate(node).unwrap();
            let corner = mesh.triangles()[t].iter().position(|&j| j == i).unwrap();
            assert_eq!(lambda[corner], 1.0);
        }
    }

    #[test]
    fn slack_reaches_over_a_curved_boundary() {
        let polygon = Polygon::new(circle_ring([0.0, 0.0], 1.0, 24), vec![]).unwrap();
        let mesh = TriangleMesh::constrained_delaunay(&polygon, 0.3).unwrap();
        let circle = circle_ring([0.0, 0.0], 1.0, 1000);
        let strict = Locator::new(&mesh, 0.0).unwrap();
        assert!(circle.iter().any(|&p| strict.locate(p).is_none()));
        let loose = Locator::new(&mesh, 0.1).unwrap();
        for &p in &circle {
            let (t, _) = loose.locate(p).unwrap();
            let best = (0..mesh.triangles().len())
                .map(|s| distance_to_edges(mesh.corners(s), p))
                .fold(f64::INFINITY, f64::min);
            assert!(distance_to_edges(mesh.corners(t), p) <= best + 1e-15);
        }
        assert!(loose.locate([1.2, 0.0]).is_none());
        assert!(loose.locate([f64::NAN, 0.0]).is_none());
        assert!(Locator::new(&mesh, -0.1).is_err());
    }

    #[test]
    fn rounding_outside_is_allowed() {
        let mesh = TriangleMesh::rectangle(&Bounds::unit(2), 3, 4).unwrap();
        let locator = Locator::new(&mesh, 0.0).unwrap();
        assert!(locator.locate([1.0 + 1e-12, -1e-12]).is_some());
        assert!(locator.locate([1.0 + 1e-6, 0.5]).is_none());
    }
}
