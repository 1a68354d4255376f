//! Output points withheld from a fit, to show what a decoder does between the sampled points.

use crate::data::{Field, Observations, Points};
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// The points of one output that a fit does not see, so that they can judge it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld(Rows);

/// Numbers of points, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rows {
    /// The same for all samples.
    Shared(Vec<usize>),
    /// Of samples with their own points.
    PerSample(Vec<Vec<usize>>),
}

impl Default for Withheld {
    fn default() -> Self {
        Self::none()
    }
}

impl Withheld {
    /// Every point is fitted.
    pub fn none() -> Self {
        Withheld(Rows::Shared(Vec::new()))
    }

    /// The points of an output that judge a fit. None where samples have their own points, which are all new to a map
    /// fitted without the sample.
    pub(crate) fn of_output(field: &Field, fraction: f64, seed: u64) -> Self {
        match field.shared_points() {
            Some(_) => Self::choose(field, fraction, seed),
            None => Self::none(),
        }
    }

    /// The points that judge how well bases represent `field`: at least a tenth, also where samples have their own
    /// points.
    pub(crate) fn to_rank_bases(field: &Field, fraction: f64, seed: u64) -> Self {
        Self::choose(field, fraction.max(0.1), seed)
    }

    /// A seeded choice of about `fraction` of the points of `field`, by [`draw_without_corners`].
    pub fn choose(field: &Field, fraction: f64, seed: u64) -> Self {
        Withheld(match field.observations() {
            Observations::Shared { points, .. } => {
                Rows::Shared(draw_without_corners(points, fraction, seed))
            }
            Observations::PerSample(samples) => {
                let of = |(k, points): (u64, &Points)| {
                    draw_without_corners(points, fraction, seed ^ (k + 1))
                };
                let points = samples.iter().map(|s| &s.points);
                Rows::PerSample((0..).zip(points).map(of).collect())
            }
        })
    }

    /// Whether every point is fitted.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Rows::Shared(rows) => rows.is_empty(),
            Rows::PerSample(all) => all.iter().all(Vec::is_empty),
        }
    }

    /// The points of sample `k` that are not fitted.
    pub(crate) fn of_sample(&self, k: usize) -> &[usize] {
        match &self.0 {
            Rows::Shared(rows) => rows,
            Rows::PerSample(all) => &all[k],
        }
    }

    /// Those of the `n` points of sample `k` that are fitted.
    pub fn fitted(&self, k: usize, n: usize) -> Vec<usize> {
        let withheld = self.of_sample(k);
        (0..n)
            .filter(|i| withheld.binary_search(i).is_err())
            .collect()
    }
}

/// The least squared norm of a sample at withheld points, as a part of the one expected from its norm at all points.
const LEAST_SHARE: f64 = 0.01;

/// The squared norm by which squared errors at withheld points are divided: that of the sample there, `at_withheld`, but
/// not much less than expected from its norm `everywhere`, since a sample may vanish at a few points. Withheld points are
/// the part `share` of all.
pub(crate) fn norm_at_withheld(at_withheld: f64, everywhere: f64, share: f64) -> f64 {
    at_withheld.max(LEAST_SHARE * share * everywhere)
}

/// With fewer points per dimension none is withheld: those left would not show what lies between them.
const FEWEST_PER_DIMENSION: usize = 10;

/// Whether there are enough points to withhold some.
pub(crate) fn enough_to_withhold(points: &Points) -> bool {
    points.len() >= FEWEST_PER_DIMENSION * points.dim()
}

/// A seeded random choice of about `fraction` of the points (at most half of them), in ascending order, without the
/// corners of the bounding box.
///
/// Of points withheld from a fit, outermost ones must be among them, because a basis may fail there alone (sines where
/// the boundary values are not zero); but no corners, since beyond their neighbours everything would have to
/// extrapolate. With fewer than ten points per dimension none is drawn.
///
/// Single points of a grid do not show what happens between grid lines; the search for bases checks that separately.
pub fn draw_without_corners(points: &Points, fraction: f64, seed: u64) -> Vec<usize> {
    let n = points.len();
    if !enough_to_withhold(points) || fraction <= 0.0 {
        return Vec::new();
    }
    let bounds = points.bounding_box().expect("there are points");
    let is_corner = |i: usize| {
        let mut coordinates = points.point(i).iter().enumerate();
        coordinates.all(|(k, &x)| x <= bounds.lower(k) || x >= bounds.upper(k))
    };
    let mut inner: Vec<usize> = (0..n).filter(|&i| !is_corner(i)).collect();
    let count = ((n as f64 * fraction).round() as usize).min(inner.len() / 2);
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed ^ 0x5745_4b45_4c44_u64);
    inner.shuffle(&mut rng);
    inner.truncate(count);
    inner.sort_unstable();
    inner
}

#[cfg(test)]
mod tests {
    use super::norm_at_withheld;

    #[test]
    fn a_sample_that_vanishes_at_withheld_points_does_not_count_without_bounds() {
        assert_eq!(norm_at_withheld(2.0, 10.0, 0.1), 2.0);
        assert_eq!(norm_at_withheld(1e-30, 10.0, 0.1), 0.01);
    }
}
