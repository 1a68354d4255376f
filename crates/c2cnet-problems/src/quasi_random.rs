//! Point sets that fill a box more evenly than random ones.
//!
//! Halton's sequence: coordinate $k$ of point $i$ is the radical inverse of $i$ in the $k$-th prime $p$,
//! the digits of $i$ mirrored at the point,
//!
//! $$i = \sum_j d_jp^j\ \mapsto\ \sum_j d_jp^{-j-1}.$$
//!
//! Point 0, a corner, is left out, so all coordinates lie inside $(0, 1)$. The error of averages over the points
//! falls with order nearly one in their number, over random points with order one half. The large bases of
//! high dimensions need many points: in ten, the points do better than random ones from about 2,000 on.

/// The bases: one for each supported dimension.
const PRIMES: [u64; 20] = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71,
];

/// The largest dimension that [`halton`] supports.
pub const HALTON_DIMENSIONS: usize = PRIMES.len();

/// The first `count` points in $(0, 1)^d$, one after another.
///
/// # Panics
/// If `dim` exceeds [`HALTON_DIMENSIONS`].
pub fn halton(dim: usize, count: usize) -> Vec<f64> {
    let bases = &PRIMES[..dim];
    (1..=count as u64)
        .flat_map(|i| bases.iter().map(move |&p| radical_inverse(i, p)))
        .collect()
}

fn radical_inverse(mut i: u64, p: u64) -> f64 {
    // Integers as long as they fit, so that a number with few digits is exact to one rounding.
    let (mut mirrored, mut scale) = (0u64, 1u64);
    while i > 0 {
        mirrored = mirrored * p + i % p;
        scale *= p;
        i /= p;
    }
    mirrored as f64 / scale as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_stream;
    use crate::testing::fitted_order;
    use rand::RngExt;

    /// The root mean square, over boxes $[0, b)$, of the share of points inside less the volume
    /// (Warnock's formula).
    fn discrepancy(points: &[f64], dim: usize) -> f64 {
        let rows: Vec<&[f64]> = points.chunks_exact(dim).collect();
        let n = rows.len() as f64;
        let product =
            |a: &[f64], of: &dyn Fn(f64) -> f64| a.iter().map(|&x| of(x)).product::<f64>();
        let single: f64 = rows
            .iter()
            .map(|a| product(a, &|x| (1.0 - x * x) / 2.0))
            .sum();
        let mut double = 0.0;
        for a in &rows {
            for b in &rows {
                double += a
                    .iter()
                    .zip(*b)
                    .map(|(x, y)| 1.0 - x.max(*y))
                    .product::<f64>();
            }
        }
        (3f64.powi(-(dim as i32)) - 2.0 * single / n + double / (n * n)).sqrt()
    }

    #[test]
    fn the_first_points_are_known() {
        let expected = [
            [1.0 / 2.0, 1.0 / 3.0, 1.0 / 5.0],
            [1.0 / 4.0, 2.0 / 3.0, 2.0 / 5.0],
            [3.0 / 4.0, 1.0 / 9.0, 3.0 / 5.0],
            [1.0 / 8.0, 4.0 / 9.0, 4.0 / 5.0],
            [5.0 / 8.0, 7.0 / 9.0, 1.0 / 25.0],
        ];
        assert_eq!(halton(3, 5), expected.concat());
    }

    #[test]
    fn points_are_more_even_than_random_ones() {
        // Random points: the mean square is (2^-d - 3^-d) / n, so the order is one half.
        for dim in [1, 2] {
            let counts = [125, 250, 500, 1000];
            let found: Vec<f64> = counts
                .iter()
                .map(|&n| discrepancy(&halton(dim, n), dim))
                .collect();
            let steps: Vec<f64> = counts.iter().map(|&n| 1.0 / n as f64).collect();
            let order = fitted_order(&steps, &found);
            assert!(order > 0.7, "{dim}: order {order}, {found:?}");
            let (d, n) = (dim as i32, 500.0);
            let random = ((2f64.powi(-d) - 3f64.powi(-d)) / n).sqrt();
            assert!(found[2] < random / 5.0, "{dim}: {found:?} {random:e}");
        }
    }

    #[test]
    fn averages_in_ten_dimensions_converge_nearly_with_order_one() {
        // The mean of a sum of squares is 10 / 3; from random points with a standard error of
        // sqrt(10 * 4 / 45 / n), of order one half.
        let counts = [1000, 2000, 5000, 10_000, 20_000];
        let error = |&count: &usize| {
            let sum: f64 = halton(10, count).iter().map(|x| x * x).sum();
            (sum / count as f64 - 10.0 / 3.0).abs()
        };
        let errors: Vec<f64> = counts.iter().map(error).collect();
        let steps: Vec<f64> = counts.iter().map(|&n| 1.0 / n as f64).collect();
        let order = fitted_order(&steps, &errors);
        assert!(order > 0.8, "order {order}, {errors:?}");
        let random = (40f64 / 45.0 / 20_000.0).sqrt();
        assert!(errors[4] < random / 2.0, "{errors:?} {random:e}");
    }

    #[test]
    fn the_discrepancy_of_random_points_is_what_theory_says() {
        let mut rng = sample_stream(1, 0);
        let (sets, n) = (20, 200);
        let mut mean = 0.0;
        for _ in 0..sets {
            let random: Vec<f64> = (0..2 * n).map(|_| rng.random()).collect();
            mean += discrepancy(&random, 2).powi(2) / sets as f64;
        }
        let expected = (0.25 - 1.0 / 9.0) / n as f64;
        assert!((0.5..2.0).contains(&(mean / expected)), "{mean:e}");
    }
}
