//! Cells between points that form a grid.

use crate::Cells;
use crate::cells::kind;
use c2cnet::data::Points;

/// The cells of a grid with lines parallel to the axes, in up to three dimensions and whatever the order of its points;
/// `None` if the points are not a grid.
pub(crate) fn grid_cells(points: &Points) -> Cells {
    let mut cells = Cells::default();
    let dim = points.dim();
    let ticks: Vec<Vec<f64>> = (0..dim).map(|k| ticks(points, k)).collect();
    let total = ticks
        .iter()
        .try_fold(1usize, |t, axis| t.checked_mul(axis.len()));
    if dim > 3 || total != Some(points.len()) {
        return cells;
    }
    let count = |k: usize| ticks.get(k).map_or(1, Vec::len);
    let counts = [count(0), count(1), count(2)];
    let mut at = vec![usize::MAX; points.len()];
    for (index, p) in points.iter().enumerate() {
        let place = p.iter().zip(&ticks).rev().fold(0, |place, (v, axis)| {
            let after = axis.partition_point(|t| t <= v).max(1);
            // A value is a tick up to rounding: the nearer of its two neighbours.
            let nearer = after < axis.len() && axis[after] - v < v - axis[after - 1];
            place * axis.len() + if nearer { after } else { after - 1 }
        });
        if at[place] != usize::MAX {
            return cells;
        }
        at[place] = index;
    }
    let node = |i: usize, j: usize, k: usize| at[i + counts[0] * (j + counts[1] * k)];
    let around = |i: usize, j: usize, k: usize| {
        [
            node(i, j, k),
            node(i + 1, j, k),
            node(i + 1, j + 1, k),
            node(i, j + 1, k),
        ]
    };
    let steps = |k: usize| {
        0..if k < dim {
            counts[k].saturating_sub(1)
        } else {
            1
        }
    };
    for k in steps(2) {
        for j in steps(1) {
            for i in steps(0) {
                let added = match dim {
                    1 => cells.add(kind::LINE, &[node(i, 0, 0), node(i + 1, 0, 0)]),
                    2 => cells.add(kind::QUAD, &around(i, j, 0)),
                    _ => {
                        let corners = [around(i, j, k), around(i, j, k + 1)].concat();
                        cells.add(kind::HEXAHEDRON, &corners)
                    }
                };
                debug_assert_eq!(added, Ok(()));
            }
        }
    }
    cells
}

/// The different values of a coordinate, ascending.
fn ticks(points: &Points, k: usize) -> Vec<f64> {
    let mut ticks: Vec<f64> = points.iter().map(|p| p[k]).collect();
    ticks.sort_by(f64::total_cmp);
    let width = ticks.last().unwrap_or(&0.0) - ticks.first().unwrap_or(&0.0);
    ticks.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * width);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use c2cnet::data::Bounds;

    #[test]
    fn grids_have_cells_and_other_points_do_not() {
        let counts = |points: &Points| {
            let cells = grid_cells(points);
            [
                cells.lines.len(),
                cells.triangles.len(),
                cells.tetrahedra.len(),
            ]
        };
        let grid = |counts: &[usize]| Points::grid(&Bounds::unit(counts.len()), counts);
        assert_eq!(counts(&grid(&[5])), [4, 0, 0]);
        assert_eq!(counts(&grid(&[5, 3])), [0, 16, 0]);
        assert_eq!(counts(&grid(&[3, 4, 2])), [0, 0, 36]);
        let without_one: Vec<usize> = (1..15).collect();
        assert_eq!(counts(&grid(&[5, 3]).select(&without_one)), [0, 0, 0]);
        let repeated: Vec<usize> = (0..14).chain([0]).collect();
        assert_eq!(counts(&grid(&[5, 3]).select(&repeated)), [0, 0, 0]);
    }

    #[test]
    fn lines_follow_the_axis() {
        let points = Points::new(1, vec![0.5, 0.0, 1.0]).unwrap();
        assert_eq!(grid_cells(&points).lines, [[1, 0], [0, 2]]);
    }
}
