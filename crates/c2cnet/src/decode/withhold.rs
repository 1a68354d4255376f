//! Output points kept out of the fit, to show what a decoder does between the sampled points.

use crate::data::Points;
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// A seeded choice of about `fraction` of the points, in ascending order.
///
/// Outermost points are among them, because a basis may fail there alone (sines where the boundary values are not
/// zero); but not the corners of the bounding box, beyond whose neighbours everything would have to extrapolate.
/// With fewer than ten points none is withheld.
///
/// Single points of a grid do not show what happens between grid lines; the search for bases checks that separately.
pub fn choose_withheld(points: &Points, fraction: f64, seed: u64) -> Vec<usize> {
    let n = points.len();
    if n < 10 || fraction <= 0.0 {
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
