//! Samples made one by one, put together.

use c2cnet::Result;
use c2cnet::data::{Dataset, Field, Points};
use faer::Mat;

/// The data set of `pairs` of input and output values at shared points.
pub(crate) fn dataset(
    input_points: Points,
    output_points: Points,
    pairs: Vec<(Vec<f64>, Vec<f64>)>,
    n_train: Option<usize>,
) -> Result<Dataset> {
    let (inputs, outputs): (Vec<Vec<f64>>, Vec<Vec<f64>>) = pairs.into_iter().unzip();
    let input = Field::shared(input_points, vec![columns(inputs)])?;
    let output = Field::shared(output_points, vec![columns(outputs)])?;
    let mut dataset = Dataset::new(input, output)?;
    dataset.n_train = n_train;
    Ok(dataset)
}

/// A matrix from its columns, which go as they are copied: the data may fill half the memory.
fn columns(columns: Vec<Vec<f64>>) -> Mat<f64> {
    let mut all = Mat::zeros(columns.first().map_or(0, Vec::len), columns.len());
    for (k, column) in columns.into_iter().enumerate() {
        for (to, from) in all.col_mut(k).iter_mut().zip(column) {
            *to = from;
        }
    }
    all
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
