//! How many directions the inputs of data vary in.

use c2cnet::data::Dataset;

/// The most samples that are examined.
const SAMPLES: usize = 400;

/// $(\sum_i\lambda_i)^2 / \sum_i\lambda_i^2$ of the first input's training samples, $\lambda$ the eigenvalues of their
/// covariance: $n$ if they vary equally in $n$ directions. Both sums are traces, of the samples' centred inner products
/// and of the square of these.
pub fn effective_dimension(data: &Dataset) -> f64 {
    let mut train = data.train_indices();
    train.truncate(SAMPLES);
    let field = &data.inputs[0].1;
    let mut samples: Vec<Vec<f64>> = train.iter().map(|&k| field.values_of(k)).collect();
    let count = samples.len() as f64;
    let points = samples.first().map_or(0, Vec::len);
    for i in 0..points {
        let mean = samples.iter().map(|s| s[i]).sum::<f64>() / count;
        samples.iter_mut().for_each(|s| s[i] -= mean);
    }
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut trace, mut squares) = (0.0, 0.0);
    for (k, a) in samples.iter().enumerate() {
        trace += inner(a, a);
        squares += inner(a, a).powi(2);
        squares += 2.0
            * samples[..k]
                .iter()
                .map(|b| inner(a, b).powi(2))
                .sum::<f64>();
    }
    trace * trace / squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use c2cnet_problems::{Unwatched, generate};

    #[test]
    fn rougher_inputs_have_more_directions() {
        let dimension = |length: f64| {
            let settings =
                serde_json::json!({"points": 100, "n_train": 200, "n_test": 1, "length": length});
            effective_dimension(&generate("darcy1d", settings, 0, &Unwatched).unwrap())
        };
        let (rough, smooth) = (dimension(0.04), dimension(0.2));
        assert!(rough > 2.0 * smooth && smooth > 1.0, "{rough} {smooth}");
    }
}
