//! Values at points of the plane, whatever the points are.

use crate::contour::{Segment, zero_contour};
use crate::{ColourScale, Panel};

/// How values at points of the plane are drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Plane {
    /// Equal steps along each axis: a heat map.
    Grid {
        /// Columns and rows.
        counts: [usize; 2],
        /// The point in each cell, if there is one, row after row from the bottom.
        order: Vec<Option<usize>>,
        /// From the left edge of the first cell to the right edge of the last, and likewise up.
        extent: [[f64; 2]; 2],
    },
    /// Nodes and triangles: a colour in each triangle.
    Mesh(Vec<[f64; 2]>, Vec<[usize; 3]>),
    /// Coordinates of anything else: dots.
    Cloud(Vec<f64>, Vec<f64>),
}

impl Plane {
    /// A mesh if there are triangles and they name nodes that exist, else a grid if the nodes are one.
    pub fn new(nodes: &[[f64; 2]], triangles: Option<&[[usize; 3]]>) -> Plane {
        let valid = |t: &&[[usize; 3]]| t.iter().flatten().all(|&i| i < nodes.len());
        if let Some(triangles) = triangles.filter(valid) {
            return Plane::Mesh(nodes.to_vec(), triangles.to_vec());
        }
        let column = |k: usize| nodes.iter().map(|p| p[k]).collect();
        grid(nodes).unwrap_or_else(|| Plane::Cloud(column(0), column(1)))
    }

    /// Where values on a grid vanish; nothing on other points.
    pub fn zero_contour(&self, values: &[f64]) -> Vec<Segment> {
        let Plane::Grid {
            counts,
            order,
            extent,
        } = self
        else {
            return Vec::new();
        };
        let nodes = |k: usize| {
            let [lo, hi] = extent[k];
            let half = 0.5 * (hi - lo) / counts[k] as f64;
            [lo + half, hi - half]
        };
        zero_contour(*counts, nodes(0), nodes(1), &in_cells(order, values))
    }

    /// The values at the nodes, between axes of these names.
    pub fn panel(
        &self,
        [across, up]: [&str; 2],
        title: &str,
        values: &[f64],
        scale: ColourScale,
    ) -> Panel {
        match self {
            Plane::Grid {
                counts,
                order,
                extent,
            } => {
                let values = in_cells(order, values);
                Panel::heatmap(across, up, *counts, &values)
                    .extent(extent[0], extent[1])
                    .colours(scale)
                    .title(title)
                    .equal_aspect()
                    .into()
            }
            Plane::Mesh(nodes, triangles) => Panel::triangles(across, up, nodes, triangles, values)
                .colours(scale)
                .title(title)
                .into(),
            Plane::Cloud(x, y) => Panel::scatter(across, up, x, y, values)
                .colours(scale)
                .title(title)
                .equal_aspect()
                .into(),
        }
    }
}

/// The values in the order of the cells; cells without a point have none.
fn in_cells(order: &[Option<usize>], values: &[f64]) -> Vec<f64> {
    let value = |i: &Option<usize>| i.and_then(|i| values.get(i).copied()).unwrap_or(f64::NAN);
    order.iter().map(value).collect()
}

/// The points as a grid with equal steps along each axis, if they are one. Up to half of its cells
/// may have no point, as around an L.
fn grid(nodes: &[[f64; 2]]) -> Option<Plane> {
    let ends = |k: usize| {
        let values = nodes.iter().map(|p| p[k]);
        [
            values.clone().fold(f64::INFINITY, f64::min),
            values.fold(f64::NEG_INFINITY, f64::max),
        ]
    };
    let bounds = [ends(0), ends(1)];
    let width = |k: usize| bounds[k][1] - bounds[k][0];
    let axis = |k: usize| -> Option<(Vec<f64>, f64)> {
        let tolerance = 1e-6 * width(k);
        let mut ticks: Vec<f64> = nodes.iter().map(|p| p[k]).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup_by(|a, b| (*a - *b).abs() <= tolerance);
        if ticks.len() < 2 || ticks.len() * 2 > nodes.len() {
            return None;
        }
        let step = width(k) / (ticks.len() - 1) as f64;
        let even = ticks
            .iter()
            .enumerate()
            .all(|(i, t)| (t - (bounds[k][0] + i as f64 * step)).abs() < 1e-3 * step);
        even.then_some((ticks, step))
    };
    let ((xs, dx), (ys, dy)) = (axis(0)?, axis(1)?);
    let counts = [xs.len(), ys.len()];
    if counts[0] * counts[1] > 2 * nodes.len() {
        return None;
    }
    let mut order = vec![None; counts[0] * counts[1]];
    for (index, p) in nodes.iter().enumerate() {
        let i = ((p[0] - bounds[0][0]) / dx).round() as usize;
        let j = ((p[1] - bounds[1][0]) / dy).round() as usize;
        // Two points in a cell would hide one another.
        if order.get_mut(j * counts[0] + i)?.replace(index).is_some() {
            return None;
        }
    }
    // Cells are centred at the points.
    let side = |k: usize, step: f64| [bounds[k][0] - 0.5 * step, bounds[k][1] + 0.5 * step];
    Some(Plane::Grid {
        counts,
        order,
        extent: [side(0, dx), side(1, dy)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes `i / (nx - 1)`, `j / (ny - 1)`, row after row.
    fn nodes([nx, ny]: [usize; 2]) -> Vec<[f64; 2]> {
        let at = |i: usize, n: usize| i as f64 / (n - 1) as f64;
        (0..nx * ny)
            .map(|k| [at(k % nx, nx), at(k / nx, ny)])
            .collect()
    }

    #[test]
    fn grids_are_recognised_whatever_their_order() {
        let mut points = nodes([4, 3]);
        points.reverse();
        let Some(Plane::Grid { counts, order, .. }) = grid(&points) else {
            panic!("a grid was not recognised");
        };
        assert_eq!(counts, [4, 3]);
        // The second cell from the left at the bottom is (1/3, 0).
        assert_eq!(points[order[1].unwrap()], [1.0 / 3.0, 0.0]);
        let twice: Vec<_> = [0, 1, 2, 3, 3, 4, 5].map(|i| points[i]).to_vec();
        assert!(grid(&twice).is_none());
        let uneven: Vec<_> = points.iter().map(|p| p.map(|v| v * v)).collect();
        assert!(grid(&uneven).is_none());
    }

    #[test]
    fn grids_may_have_gaps() {
        let inside = |p: &[f64; 2]| p.iter().any(|v| *v < 0.5);
        let l: Vec<_> = nodes([5, 5]).into_iter().filter(inside).collect();
        let Some(Plane::Grid { counts, order, .. }) = grid(&l) else {
            panic!("an L was not recognised");
        };
        assert_eq!(counts, [5, 5]);
        assert_eq!(order.iter().flatten().count(), 16);
        assert!(order[24].is_none());
    }

    #[test]
    fn what_is_no_grid_and_no_mesh_is_a_cloud() {
        let is_cloud = |nodes: &[[f64; 2]], triangles: &[[usize; 3]]| {
            matches!(Plane::new(nodes, Some(triangles)), Plane::Cloud(..))
        };
        let odd = [[0.0, f64::NAN], [1.0, 0.0], [0.5, 2.0]];
        assert!(is_cloud(&odd, &[[0, 1, 3]]));
        assert!(!is_cloud(&odd, &[[0, 1, 2]]));
        assert!(matches!(Plane::new(&[], None), Plane::Cloud(..)));
    }
}
