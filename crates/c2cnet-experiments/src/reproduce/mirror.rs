//! Training samples upside down, for flows whose law is symmetric in the vertical.

use super::obstacles::side;
use c2cnet::data::{Dataset, Field, Observations, Points, Scattered};
use c2cnet::linalg;
use c2cnet::{Error, Result};
use faer::Mat;

/// `data` with the mirror image of each training sample after those: the second coordinate and the second
/// component of the velocity change their sign; the output, on a square grid around zero, is turned over.
///
/// # Errors
/// If the data is not that of a flow in the plane.
pub fn mirror(data: &Dataset) -> Result<Dataset> {
    let wrong = |what: &str| Error::Config(format!("mirror: {what}"));
    let n_train = data
        .n_train
        .ok_or_else(|| wrong("the data has no training samples of its own"))?;
    let (Some((name, input)), Some((out_name, output))) =
        (data.inputs.first(), data.outputs.first())
    else {
        return Err(wrong("an input and an output are needed"));
    };
    let Observations::PerSample(samples) = input.observations() else {
        return Err(wrong("the input needs sensors of each sample's own"));
    };
    let Observations::Shared { points, values } = output.observations() else {
        return Err(wrong("the output needs one grid"));
    };
    if input.dim() != 2 || input.components() != 2 || values.len() != 1 {
        return Err(wrong("velocities in the plane and one output are needed"));
    }
    let n = side(output, points.len())?;
    let mut inputs = samples[..n_train].to_vec();
    for sample in &samples[..n_train] {
        inputs.push(turned(sample)?);
    }
    inputs.extend_from_slice(&samples[n_train..]);
    let values = &values[0];
    // The second coordinate runs fastest.
    let below = |i: usize| i - i % n + (n - 1 - i % n);
    let upright: Vec<usize> = (0..n_train).collect();
    let tests: Vec<usize> = (n_train..data.samples()).collect();
    let image = Mat::from_fn(n * n, n_train, |i, k| values[(below(i), k)]);
    let parts = [
        linalg::select_columns(values.as_ref(), &upright),
        image,
        linalg::select_columns(values.as_ref(), &tests),
    ];
    let mut all = Mat::zeros(n * n, n_train + data.samples());
    let mut start = 0;
    for part in &parts {
        let mut columns = all.as_mut().subcols_mut(start, part.ncols());
        columns.copy_from(part);
        start += part.ncols();
    }
    let mut mirrored = data.clone();
    mirrored.inputs = [(name.clone(), Field::per_sample(2, inputs)?)].into();
    mirrored.outputs = [(out_name.clone(), Field::shared(points.clone(), vec![all])?)].into();
    mirrored.n_train = Some(2 * n_train);
    mirrored.check()?;
    Ok(mirrored)
}

fn turned(sample: &Scattered) -> Result<Scattered> {
    let n = sample.points.len();
    let mut values = sample.values.clone();
    values[n..].iter_mut().for_each(|v| *v = -*v);
    let points = sample.points.iter().flat_map(|p| [p[0], -p[1]]).collect();
    Ok(Scattered {
        points: Points::new(2, points)?,
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use c2cnet::data::Bounds;

    #[test]
    fn images_follow_the_training_samples() {
        let sample = |k: f64| Scattered {
            points: Points::new(2, vec![1.0, 2.0]).unwrap(),
            values: vec![k, 0.5],
        };
        let input = Field::per_sample(2, vec![sample(1.0), sample(2.0)]).unwrap();
        let grid = Points::grid(&Bounds::new(vec![[-3.0, 3.0]; 2]).unwrap(), &[3, 3]);
        let values = Mat::from_fn(9, 2, |i, k| grid.point(i)[1] + 10.0 * k as f64);
        let output = Field::shared(grid, vec![values]).unwrap();
        let mut data = Dataset::new(input, output).unwrap();
        data.n_train = Some(1);
        let data = mirror(&data).unwrap();
        assert_eq!((data.samples(), data.n_train), (3, Some(2)));
        let (input, output) = (&data.inputs[0].1, &data.outputs[0].1);
        assert_eq!(input.points_of(1).point(0), [1.0, -2.0]);
        assert_eq!(input.values_of(1), [1.0, -0.5]);
        assert_eq!(output.values_of(1)[..3], [3.0, 0.0, -3.0]);
        assert_eq!(input.values_of(2)[0], 2.0);
        assert_eq!(output.values_of(2)[0], 7.0);
    }
}
