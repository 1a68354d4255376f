//! Whether a grid is periodic: equal steps, and values that wrap around from its end to its beginning.

use super::{Field, Observations, Points};
use faer::{Mat, MatRef};

/// The fewest points along an axis that can show a period.
const FEWEST: usize = 12;

/// The numbers of lines along each axis and of samples that are examined.
const LINES: usize = 64;
const SAMPLES: usize = 64;

/// Steps are equal up to this fraction.
const EQUAL: f64 = 1e-6;

/// The end matches the beginning if it is interpolated as well as the rest, up to this factor.
const SEAM_FACTOR: f64 = 2.0;

/// Interpolation is informative if its errors are at most this fraction of the values' variation.
const RESOLVED: f64 = 0.2;

/// Values must change at the seam by at least this fraction of their change elsewhere. Functions that vanish at both
/// ends match there and need not be periodic.
const MOVES: f64 = 0.1;

impl Field {
    /// The period along each axis where the points are a grid of equal steps on which the values wrap around from its end
    /// to its beginning.
    ///
    /// Grids that repeat the first point as the last one do not count: they have their own bounds.
    #[doc(hidden)] // for the command
    pub fn periods(&self) -> Vec<Option<f64>> {
        self.periods_if(|grid, values, k| values.iter().all(|v| grid.closes(k, v.as_ref())))
    }

    /// The period along each axis of a grid of equal steps, if it is one.
    pub(crate) fn grid_periods(&self) -> Vec<Option<f64>> {
        self.periods_if(|_, _, _| true)
    }

    fn periods_if(&self, accepted: impl Fn(&Grid, &[Mat<f64>], usize) -> bool) -> Vec<Option<f64>> {
        let grid = match self.observations() {
            Observations::Shared { points, values } if !self.is_vector() => {
                Grid::new(points).map(|grid| (grid, values))
            }
            _ => None,
        };
        let period = |k: usize| {
            let (grid, values) = grid.as_ref()?;
            let period = grid.period(k)?;
            accepted(grid, values, k).then_some(period)
        };
        (0..self.dim()).map(period).collect()
    }
}

/// A complete grid.
struct Grid {
    axes: Vec<Vec<f64>>,
    /// The row of each crossing, the last axis running fastest.
    rows: Vec<usize>,
}

impl Grid {
    fn new(points: &Points) -> Option<Self> {
        let along = |k: usize| {
            let mut along: Vec<f64> = points.iter().map(|p| p[k]).collect();
            along.sort_unstable_by(f64::total_cmp);
            along.dedup();
            along
        };
        let axes: Vec<Vec<f64>> = (0..points.dim()).map(along).collect();
        let crossings = axes.iter().try_fold(1usize, |c, a| c.checked_mul(a.len()));
        if crossings != Some(points.len()) {
            return None;
        }
        let mut rows = vec![usize::MAX; points.len()];
        for (i, point) in points.iter().enumerate() {
            let place = point.iter().zip(&axes).fold(0, |place, (x, along)| {
                place * along.len() + along.partition_point(|y| y < x)
            });
            rows[place] = i;
        }
        let complete = rows.iter().all(|&row| row != usize::MAX);
        complete.then_some(Grid { axes, rows })
    }

    /// The length of as many steps as there are points, if steps are equal.
    fn period(&self, k: usize) -> Option<f64> {
        let along = &self.axes[k];
        let (first, last) = (along.first()?, along.last()?);
        let step = (last - first) / (along.len() - 1) as f64;
        let equal = |pair: &[f64]| (pair[1] - pair[0] - step).abs() <= EQUAL * step;
        let enough = along.len() >= FEWEST;
        (enough && along.windows(2).all(equal)).then_some(step * along.len() as f64)
    }

    /// Whether values wrap around from the end of the lines along axis `k` to their beginning.
    fn closes(&self, k: usize, values: MatRef<'_, f64>) -> bool {
        let n = self.axes[k].len();
        let inner: usize = self.axes[k + 1..].iter().map(Vec::len).product();
        let count = self.rows.len() / n;
        let samples = values.ncols().min(SAMPLES);
        let mut statistics = SeamStatistics::default();
        for line in (0..count).step_by(count.div_ceil(LINES)) {
            let start = line / inner * inner * n + line % inner;
            for sample in 0..samples {
                let value = |i: usize| values[(self.rows[start + i % n * inner], sample)];
                let line: Vec<f64> = (0..n).map(value).collect();
                statistics.add(&line);
            }
        }
        statistics.closes(n)
    }
}

/// Sums of squares over lines.
#[derive(Default)]
struct SeamStatistics {
    /// How far points lie from the cubic polynomial through two neighbours on both sides: the two points at the seam,
    /// and all others.
    at_seam: f64,
    elsewhere: f64,
    /// How much values change in a step: next to the seam, and elsewhere.
    moves_at_seam: f64,
    moves_elsewhere: f64,
    variation: f64,
    lines: usize,
}

impl SeamStatistics {
    fn add(&mut self, line: &[f64]) {
        let n = line.len();
        let at = |i: usize| line[i % n];
        for (i, value) in line.iter().enumerate() {
            let near = 4.0 * (at(i + n - 1) + at(i + 1));
            let cubic = (near - at(i + n - 2) - at(i + 2)) / 6.0;
            let off = (value - cubic).powi(2);
            match i {
                0 => self.at_seam += off,
                _ if i == n - 1 => self.at_seam += off,
                // Their polynomials also cross the seam, but say less about it.
                1 => {}
                _ if i == n - 2 => {}
                _ => self.elsewhere += off,
            }
        }
        for i in 0..n - 1 {
            let step = (line[i + 1] - line[i]).powi(2);
            match i == 0 || i == n - 2 {
                true => self.moves_at_seam += step,
                false => self.moves_elsewhere += step,
            }
        }
        let mean = line.iter().sum::<f64>() / n as f64;
        self.variation += line.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        self.lines += 1;
    }

    fn closes(&self, n: usize) -> bool {
        let per = |sum: f64, points: usize| (sum / (points * self.lines) as f64).sqrt();
        let elsewhere = per(self.elsewhere, n - 4);
        let variation = per(self.variation, n);
        let moves = per(self.moves_at_seam, 2) >= MOVES * per(self.moves_elsewhere, n - 3);
        // Rounding alone is not an interpolation error.
        let largest = SEAM_FACTOR * elsewhere + 1e-12 * variation;
        variation > 0.0
            && moves
            && elsewhere <= RESOLVED * variation
            && per(self.at_seam, 2) <= largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};

    fn field(n: usize, x: impl Fn(usize) -> f64, f: impl Fn(f64, f64) -> f64) -> Field {
        let points = Points::new(1, (0..n).map(&x).collect()).unwrap();
        let values = Mat::from_fn(n, 12, |i, k| f(x(i), k as f64));
        Field::shared(points, vec![values]).unwrap()
    }

    #[test]
    fn a_ring_is_recognised_and_a_line_is_not() {
        let n = 64;
        let ring = |i: usize| i as f64 / 64.0;
        let wave = |x: f64, k: f64| (TAU * x + k).sin() + 0.3 * (3.0 * TAU * x - k).cos();
        let periods = field(n, |i| 5.0 + ring(i), wave).periods();
        assert!(periods[0].is_some_and(|p| (p - 1.0).abs() < 1e-9));
        // Its end repeats its beginning; a line; values that vanish at both ends, on and inside the walls; cells.
        let closed = |i: usize| i as f64 / 63.0;
        assert_eq!(field(n, closed, wave).periods(), [None]);
        let line = |x: f64, k: f64| (2.0 * x + k).sin();
        assert_eq!(field(n, ring, line).periods(), [None]);
        let vanishing = |x: f64, k: f64| (PI * x).sin() + (1.0 + k).sin() * (2.0 * PI * x).sin();
        assert_eq!(field(n, closed, vanishing).periods(), [None]);
        assert_eq!(
            field(n, |i| (i + 1) as f64 / 65.0, vanishing).periods(),
            [None]
        );
        let bump = |x: f64, k: f64| (1.0 + k) * (-((x - 0.5) / 0.1).powi(2)).exp();
        assert_eq!(field(n, ring, bump).periods(), [None]);
        let cells = |i: usize| (i as f64 + 0.5) / 64.0;
        let flat = |x: f64, k: f64| (PI * x).cos() + (1.0 + k).cos() * (2.0 * PI * x).cos();
        assert_eq!(field(n, cells, flat).periods(), [None]);
        assert_eq!(
            field(n, ring, |_, k| k).periods(),
            [None],
            "constants show nothing"
        );
        let noise = |x: f64, k: f64| (1e4 * (x + 0.1 * k)).sin();
        assert_eq!(
            field(n, ring, noise).periods(),
            [None],
            "noise shows nothing"
        );
        let uneven = |i: usize| ring(i) + if i == 30 { 1e-3 } else { 0.0 };
        assert_eq!(field(n, uneven, wave).periods(), [None]);
    }

    #[test]
    fn axes_are_told_apart_in_any_order_of_points() {
        let (n, m) = (32, 20);
        let along = |i: usize, m: usize| [(i / m) as f64 / 32.0, (i % m) as f64 / 19.0];
        let order: Vec<usize> = (0..n * m).map(|i| (i * 7) % (n * m)).collect();
        let coords = order.iter().flat_map(|&i| along(i, m)).collect();
        let points = Points::new(2, coords).unwrap();
        let values = Mat::from_fn(n * m, 5, |i, k| {
            let p = points.point(i);
            (TAU * p[0] + k as f64).sin() * (1.0 + p[1]).powi(2)
        });
        let periods = Field::shared(points, vec![values]).unwrap().periods();
        assert!(periods[0].is_some() && periods[1].is_none(), "{periods:?}");
    }
}
