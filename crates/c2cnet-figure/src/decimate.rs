//! Fewer points for the same picture.

use std::collections::HashSet;

/// A point of the drawing, in pixels.
pub type Point = (f64, f64);

/// Thins a curve: of the consecutive points that share a pixel column, the
/// first, the lowest, the highest and the last are kept, in their order.
///
/// Consecutive is what makes this right for curves that turn back as well.
pub fn curve(points: &[Point]) -> Vec<Point> {
    let column = |p: &Point| p.0.floor();
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        if run.len() <= 4 {
            kept.extend_from_slice(run);
            continue;
        }
        let by_height = |a: &usize, b: &usize| run[*a].1.total_cmp(&run[*b].1);
        let lowest = (0..run.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..run.len()).max_by(by_height).unwrap_or(0);
        let mut indices = [0, lowest, highest, run.len() - 1];
        indices.sort_unstable();
        for (k, index) in indices.into_iter().enumerate() {
            if k == 0 || index != indices[k - 1] {
                kept.push(run[index]);
            }
        }
    }
    kept
}

/// Thins a cloud: one point (the last) for every square of side `cell` pixels.
pub fn cloud<T: Clone>(points: &[(Point, T)], cell: f64) -> Vec<(Point, T)> {
    let mut taken = HashSet::new();
    let square = |p: Point| ((p.0 / cell).floor() as i64, (p.1 / cell).floor() as i64);
    let mut kept: Vec<_> = points
        .iter()
        .rev()
        .filter(|(p, _)| taken.insert(square(*p)))
        .cloned()
        .collect();
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_ends_survive() {
        let mut points: Vec<Point> = (0..100_000)
            .map(|k| {
                let x = f64::from(k) * 3e-3;
                (x, (x * 9.0).sin())
            })
            .collect();
        points[51_234].1 = 7.0;
        points[71_234].1 = -8.0;
        let thin = curve(&points);
        assert!(thin.len() <= 4 * 301, "{} points left", thin.len());
        assert!(thin.contains(&points[51_234]) && thin.contains(&points[71_234]));
        assert_eq!(thin.first(), points.first());
        assert_eq!(thin.last(), points.last());
        assert!(thin.windows(2).all(|w| w[0].0 <= w[1].0));
    }

    #[test]
    fn short_curves_are_untouched() {
        let points = [(0.1, 1.0), (0.2, 3.0), (0.3, 2.0), (5.0, 0.0)];
        assert_eq!(curve(&points), points);
        assert_eq!(curve(&[]), []);
    }

    #[test]
    fn clouds_keep_one_point_a_cell() {
        let points = [((0.1, 0.1), 1), ((0.4, 0.2), 2), ((3.0, 3.0), 3)];
        assert_eq!(cloud(&points, 1.0), [((0.4, 0.2), 2), ((3.0, 3.0), 3)]);
    }
}
