//! Samples made one by one, put together.

use crate::{Watcher, fill_blocks};
use c2cnet::Result;
use c2cnet::data::{Dataset, Field, Points};
use faer::{Mat, MatRef};

/// The data set of `count` pairs of input and output values at shared `points`; `make(k)` is pair `k`.
///
/// A pair goes to its place as soon as it is made, so the data are held once: they may fill half the memory.
pub(crate) fn dataset(
    points: [Points; 2],
    count: usize,
    watcher: &dyn Watcher,
    make: impl Fn(usize) -> Result<[Vec<f64>; 2]> + Sync,
) -> Result<Dataset> {
    let [mut f, mut u] = points.each_ref().map(|p| Mat::zeros(p.len(), count));
    fill_blocks([&mut f, &mut u], 1, watcher, |k, columns| {
        for (mut column, values) in columns.into_iter().zip(make(k)?) {
            column.copy_from(MatRef::from_column_major_slice(&values, values.len(), 1));
        }
        Ok(())
    })?;
    let [input_points, output_points] = points;
    let input = Field::shared(input_points, vec![f])?;
    let output = Field::shared(output_points, vec![u])?;
    Dataset::new(input, output)
}

/// The bits of every value of the first `samples` samples, for tests of equality.
#[cfg(test)]
pub(crate) fn bits_of(data: &Dataset, samples: usize) -> Vec<u64> {
    let fields = [&data.inputs[0].1, &data.outputs[0].1];
    (0..samples)
        .flat_map(|k| fields.into_iter().flat_map(move |f| f.values_of(k)))
        .map(f64::to_bits)
        .collect()
}

/// Checks that `samples(n_train, n_test)` gives the same bits on 1, 2 and 4 threads, and the same
/// sample `k` for any counts.
#[cfg(test)]
pub(crate) fn check_reproducible(samples: impl Fn(usize, usize) -> Dataset + Sync) {
    let on = |threads: usize, n_train: usize, n_test: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| samples(n_train, n_test))
    };
    let reference = on(1, 5, 3);
    assert_eq!((reference.samples(), reference.n_train), (8, Some(5)));
    for threads in [2, 4] {
        assert!(bits_of(&on(threads, 5, 3), 8) == bits_of(&reference, 8));
    }
    for (n_train, n_test) in [(1, 0), (4, 2), (7, 4)] {
        let common = 8.min(n_train + n_test);
        assert!(bits_of(&on(2, n_train, n_test), common) == bits_of(&reference, common));
    }
    assert!(bits_of(&reference, 1) != bits_of(&reference, 8)[bits_of(&reference, 7).len()..]);
}

/// The root mean square over all samples and points, for tests.
#[cfg(test)]
pub(crate) fn rms(field: &Field) -> f64 {
    let values = field.samples() * field.points_of(0).len();
    (field.norms_squared().iter().sum::<f64>() / values as f64).sqrt()
}

/// The least-squares slope of $\log e$ over $\log h$, for tests of orders.
#[cfg(test)]
pub(crate) fn fitted_order(steps: &[f64], errors: &[f64]) -> f64 {
    let x: Vec<f64> = steps.iter().map(|h| h.ln()).collect();
    let y: Vec<f64> = errors.iter().map(|e| e.ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
}

/// $\|a - b\| / \|b\|$, for tests.
#[cfg(test)]
pub(crate) fn relative_difference(a: &[f64], b: &[f64]) -> f64 {
    let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    (difference / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
}
