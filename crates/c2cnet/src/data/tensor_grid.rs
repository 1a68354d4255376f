//! Tensor grids among sets of points.

use super::Points;

/// Points that are the crossings of some lines along each axis, each of them once and in any order.
#[derive(Debug)]
pub(crate) struct TensorGrid {
    /// Coordinates along each axis, ascending.
    pub axes: Vec<Vec<f64>>,
    /// The point at each crossing, the last axis running fastest; `None` if the points come in this order.
    pub order: Option<Vec<usize>>,
}

impl TensorGrid {
    /// The grid that `points` are, in two or more dimensions: on a line there is nothing to take apart.
    pub(crate) fn new(points: &Points) -> Option<Self> {
        if points.dim() < 2 {
            return None;
        }
        let axes: Vec<Vec<f64>> = (0..points.dim())
            .map(|k| coordinates(points, k))
            .collect::<Option<_>>()?;
        let crossings = axes
            .iter()
            .try_fold(1usize, |c, a| c.checked_mul(a.len()))?;
        if crossings != points.len() {
            return None;
        }
        let mut order = vec![usize::MAX; crossings];
        for (i, point) in points.iter().enumerate() {
            let crossing = point.iter().zip(&axes).fold(0, |place, (x, along)| {
                place * along.len() + along.partition_point(|y| y < x)
            });
            if order[crossing] != usize::MAX {
                return None;
            }
            order[crossing] = i;
        }
        let in_order = order.iter().enumerate().all(|(c, &i)| c == i);
        Some(TensorGrid {
            axes,
            order: (!in_order).then_some(order),
        })
    }
}

/// The different coordinates along axis `k`, ascending; `None` if they are too many for a grid.
fn coordinates(points: &Points, k: usize) -> Option<Vec<f64>> {
    let most = points.len() / 2;
    let mut along: Vec<f64> = points.iter().map(|p| p[k]).collect();
    along.sort_unstable_by(f64::total_cmp);
    along.dedup();
    (along.len() <= most).then_some(along)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bounds;

    #[test]
    fn a_grid_is_found_in_any_order() {
        let points = Points::grid(&Bounds::unit(3), &[4, 3, 5]);
        let grid = TensorGrid::new(&points).unwrap();
        assert_eq!(grid.axes[1], [0.0, 0.5, 1.0]);
        assert!(grid.order.is_none());
        let backwards: Vec<usize> = (0..60).rev().collect();
        let turned = TensorGrid::new(&points.select(&backwards)).unwrap();
        assert_eq!(turned.axes, grid.axes);
        assert_eq!(turned.order.unwrap(), backwards);
    }

    #[test]
    fn what_misses_or_repeats_a_crossing_is_no_grid() {
        let points = Points::grid(&Bounds::unit(2), &[6, 5]);
        let without_one: Vec<usize> = (1..30).collect();
        assert!(TensorGrid::new(&points.select(&without_one)).is_none());
        let mut repeated: Vec<usize> = (0..30).collect();
        repeated[7] = 8;
        assert!(TensorGrid::new(&points.select(&repeated)).is_none());
        assert!(TensorGrid::new(&Points::linspace(0.0, 1.0, 9)).is_none());
    }
}
