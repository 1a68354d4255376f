//! Data sets made of others: fewer points, each sample's own points, noise.

use c2cnet::data::{Dataset, Field, Observations, Points, Scattered};
use c2cnet::{Error, Result};
use c2cnet_problems::sample_stream;
use faer::Mat;
use rand::RngExt;
use rand::seq::index;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// What is done to a field, in this order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reshape {
    /// Keeps every n-th of the points that all samples share, and the last.
    pub every: Option<usize>,
    /// Each sample keeps this many of them, drawn independently.
    pub scatter: Option<usize>,
    /// Each sample keeps this many of its own points, the first ones.
    pub first: Option<usize>,
    /// Adds normal noise of this size, relative to the root mean square of the sample.
    pub noise: Option<f64>,
    /// Straight lines between a sample's own points on an interval, at this many equally spaced points.
    pub grid: Option<usize>,
    /// Multiplies every value.
    pub scale: Option<f64>,
    /// The seed of what is drawn.
    pub seed: u64,
}

impl Reshape {
    /// The field, reshaped.
    ///
    /// # Errors
    /// If the field does not have the points that a step needs.
    pub fn apply(&self, field: &Field) -> Result<Field> {
        let mut field = field.clone();
        if let Some(step) = self.every {
            field = every(&field, step)?;
        }
        if let Some(count) = self.scatter {
            field = scatter(&field, count, self.seed)?;
        }
        if let Some(count) = self.first {
            field = first(&field, count)?;
        }
        if let Some(size) = self.noise {
            field = noisy(&field, size, self.seed)?;
        }
        if let Some(count) = self.grid {
            field = on_grid(&field, count)?;
        }
        if let Some(factor) = self.scale {
            field = scaled(&field, factor)?;
        }
        Ok(field)
    }
}

/// `data` with all inputs and outputs reshaped and the first `train` training samples.
pub fn derive(
    data: &Dataset,
    train: Option<usize>,
    input: &Reshape,
    output: &Reshape,
) -> Result<Dataset> {
    let mut derived = match train {
        Some(count) => fewer(data, count)?,
        None => data.clone(),
    };
    let nodes = derived
        .outputs
        .first()
        .and_then(|(_, f)| f.shared_points().cloned());
    for (_, field) in derived.inputs.iter_mut() {
        *field = input.apply(field)?;
    }
    for (_, field) in derived.outputs.iter_mut() {
        *field = output.apply(field)?;
    }
    // Triangles refer to the output's original points.
    let now = derived.outputs.first().and_then(|(_, f)| f.shared_points());
    let same = now == nodes.as_ref();
    derived.triangles = derived.triangles.filter(|_| same);
    derived.meta["derived"] = serde_json::json!({ "train": train, "input": format!("{input:?}"), "output": format!("{output:?}") });
    Ok(derived)
}

/// The first `count` training samples and all test samples.
fn fewer(data: &Dataset, count: usize) -> Result<Dataset> {
    let (train, test) = (data.train_indices(), data.test_indices());
    if data.n_train.is_none() || count == 0 || count > train.len() {
        return Err(Error::Config(format!(
            "train = {count}: the data has {} training samples to choose from",
            train.len()
        )));
    }
    let kept: Vec<usize> = train[..count].iter().chain(&test).copied().collect();
    let mut fewer = data.select(&kept);
    fewer.n_train = Some(count);
    Ok(fewer)
}

fn shared<'a>(field: &'a Field, what: &str) -> Result<(&'a Points, &'a [Mat<f64>])> {
    match field.observations() {
        Observations::Shared { points, values } => Ok((points, values)),
        Observations::PerSample(_) => Err(Error::Config(format!(
            "`{what}` needs points that all samples share"
        ))),
    }
}

fn every(field: &Field, step: usize) -> Result<Field> {
    let (points, values) = shared(field, "every")?;
    if step == 0 {
        return Err(Error::Config("every = 0 must be at least 1".into()));
    }
    let mut kept: Vec<usize> = (0..points.len()).step_by(step).collect();
    if kept.last() != Some(&(points.len() - 1)) {
        kept.push(points.len() - 1);
    }
    let values = values
        .iter()
        .map(|v| Mat::from_fn(kept.len(), v.ncols(), |i, k| v[(kept[i], k)]))
        .collect();
    Field::shared(points.select(&kept), values)
}

fn scatter(field: &Field, count: usize, seed: u64) -> Result<Field> {
    let (points, values) = shared(field, "scatter")?;
    if count == 0 || count > points.len() {
        return Err(Error::Config(format!(
            "scatter = {count} must lie between 1 and the number of points, {}",
            points.len()
        )));
    }
    let samples = (0..field.samples())
        .map(|k| {
            let mut rng = sample_stream(seed, k as u64);
            let mut kept = index::sample(&mut rng, points.len(), count).into_vec();
            kept.sort_unstable();
            Scattered {
                points: points.select(&kept),
                values: values
                    .iter()
                    .flat_map(|v| kept.iter().map(move |&i| v[(i, k)]))
                    .collect(),
            }
        })
        .collect();
    Field::per_sample(field.components(), samples)
}

/// Every sample's own points and values.
fn own(field: &Field) -> Vec<Scattered> {
    (0..field.samples())
        .map(|k| Scattered {
            points: field.points_of(k).clone(),
            values: field.values_of(k),
        })
        .collect()
}

fn first(field: &Field, count: usize) -> Result<Field> {
    let samples = own(field)
        .into_iter()
        .enumerate()
        .map(|(k, s)| {
            let n = s.points.len();
            if count == 0 || count > n {
                return Err(Error::Config(format!(
                    "first = {count}: sample {k} has {n} points"
                )));
            }
            let kept: Vec<usize> = (0..count).collect();
            let parts = s.values.chunks_exact(n);
            Ok(Scattered {
                points: s.points.select(&kept),
                values: parts.flat_map(|v| v[..count].to_vec()).collect(),
            })
        })
        .collect::<Result<_>>()?;
    Field::per_sample(field.components(), samples)
}

/// The field with every value replaced by `change` of sample, values of the sample.
fn map_samples(field: &Field, change: impl Fn(usize, &mut [f64])) -> Result<Field> {
    match field.observations() {
        Observations::Shared { points, values } => {
            let mut values = values.clone();
            let n = points.len();
            for k in 0..field.samples() {
                let mut sample = field.values_of(k);
                change(k, &mut sample);
                for (c, v) in values.iter_mut().enumerate() {
                    for i in 0..n {
                        v[(i, k)] = sample[c * n + i];
                    }
                }
            }
            Field::shared(points.clone(), values)
        }
        Observations::PerSample(samples) => {
            let mut samples = samples.clone();
            for (k, sample) in samples.iter_mut().enumerate() {
                change(k, &mut sample.values);
            }
            Field::per_sample(field.components(), samples)
        }
    }
}

fn noisy(field: &Field, size: f64, seed: u64) -> Result<Field> {
    map_samples(field, |k, values| {
        let mut rng = sample_stream(seed ^ 0x006e_6f69_7365, k as u64);
        let squares: f64 = values.iter().map(|v| v * v).sum();
        let deviation = size * (squares / values.len() as f64).sqrt();
        for value in values {
            *value += deviation * rng.sample::<f64, _>(StandardNormal);
        }
    })
}

fn scaled(field: &Field, factor: f64) -> Result<Field> {
    map_samples(field, |_, values| {
        values.iter_mut().for_each(|v| *v *= factor);
    })
}

fn on_grid(field: &Field, count: usize) -> Result<Field> {
    if field.dim() != 1 || count < 2 {
        return Err(Error::Config(format!(
            "grid = {count} needs functions on an interval and at least 2 points"
        )));
    }
    let bounds = field.bounding_box();
    let grid = Points::linspace(bounds.lower(0), bounds.upper(0), count);
    let mut values = vec![Mat::zeros(count, field.samples()); field.components()];
    for k in 0..field.samples() {
        let x = field.points_of(k).coords();
        let sample = field.values_of(k);
        for (part, out) in sample.chunks_exact(x.len()).zip(&mut values) {
            let (x, v) = crate::picture::sorted(x, part);
            for (i, &at) in grid.coords().iter().enumerate() {
                out[(i, k)] = between(&x, &v, at);
            }
        }
    }
    Field::shared(grid, values)
}

/// The value at `at` on the straight line between its neighbours; constant beyond the ends.
fn between(x: &[f64], v: &[f64], at: f64) -> f64 {
    let after = x.partition_point(|&x| x <= at);
    if after == 0 || after == x.len() {
        return v[after.saturating_sub(1).min(x.len() - 1)];
    }
    let t = (at - x[after - 1]) / (x[after] - x[after - 1]);
    v[after - 1] + t * (v[after] - v[after - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: usize) -> Field {
        let values = Mat::from_fn(n, 3, |i, k| (k + 1) as f64 * i as f64 / (n - 1) as f64);
        Field::shared(Points::linspace(0.0, 1.0, n), vec![values]).unwrap()
    }

    #[test]
    fn every_keeps_both_ends() {
        let reshape = Reshape {
            every: Some(4),
            ..Reshape::default()
        };
        let field = reshape.apply(&line(11)).unwrap();
        assert_eq!(field.points_of(0).coords(), [0.0, 0.4, 0.8, 1.0]);
        assert_eq!(field.values_of(1), [0.0, 0.8, 1.6, 2.0]);
    }

    #[test]
    fn scattered_samples_have_points_of_their_own_and_return_to_a_grid() {
        let scatter = Reshape {
            scatter: Some(40),
            ..Reshape::default()
        };
        let field = scatter.apply(&line(101)).unwrap();
        assert_ne!(field.points_of(0), field.points_of(1));
        let grid = Reshape {
            grid: Some(101),
            ..Reshape::default()
        };
        let back = grid.apply(&field).unwrap();
        let at = back.points_of(0).coords().to_vec();
        let inside = |k: usize| field.points_of(k).bounding_box().unwrap();
        for (x, v) in at.iter().zip(back.values_of(2)) {
            if inside(2).contains(&[*x]) {
                assert!((v - 3.0 * x).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn fewer_sensors_and_noise() {
        let reshape = Reshape {
            first: Some(50),
            noise: Some(0.1),
            ..Reshape::default()
        };
        let field = reshape.apply(&line(101)).unwrap();
        assert_eq!(field.points_of(2).len(), 50);
        let (clean, noisy) = (line(101).values_of(2), field.values_of(2));
        let off: f64 = noisy.iter().zip(&clean).map(|(a, b)| (a - b).powi(2)).sum();
        let size: f64 = clean[..50].iter().map(|v| v * v).sum();
        assert!((0.05..0.2).contains(&(off / size).sqrt()));
    }
}
