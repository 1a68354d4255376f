//! Fewer samples and points for the comparison of bases.

use crate::data::{Dataset, Field, Fields, Observations, Scattered};
use crate::decode::draw_without_corners;
use crate::{Result, linalg};
use rand::SeedableRng;

/// The most points at which bases are compared: enough for the largest of them.
const POINTS: usize = 4096;

/// The same per sample if each has its own points, since each then needs a factorisation.
const OWN_POINTS: usize = 400;

/// `count` of `all` samples, evenly spread: files are often sorted, so that the first samples are unlike the rest.
pub(super) fn spread_over(all: usize, count: usize) -> Vec<usize> {
    (0..count).map(|i| i * all / count).collect()
}

/// Some of the points of a sample that has many of its own.
fn thinned_sample(sample: &Scattered, seed: u64) -> Scattered {
    let n = sample.points.len();
    if n <= OWN_POINTS {
        return sample.clone();
    }
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut kept = rand::seq::index::sample(&mut rng, n, OWN_POINTS).into_vec();
    kept.sort_unstable();
    let values = sample.values.chunks_exact(n);
    Scattered {
        points: sample.points.select(&kept),
        values: values
            .flat_map(|component| kept.iter().map(|&i| component[i]))
            .collect(),
    }
}

/// Fewer points if there are more than a comparison needs.
pub(super) fn thinned(data: &Dataset, seed: u64) -> Result<Dataset> {
    let thin = |field: &Field| -> Result<Field> {
        match field.observations() {
            Observations::Shared { points, values } if points.len() > 2 * POINTS => {
                // The corners of the bounding box stay.
                let mut kept: Vec<usize> = (0..points.len()).collect();
                while kept.len() > POINTS {
                    let current = points.select(&kept);
                    let excess = 1.0 - POINTS as f64 / kept.len() as f64;
                    let drop = draw_without_corners(&current, excess.min(0.5), seed);
                    if drop.is_empty() {
                        break;
                    }
                    let mut gone = vec![false; kept.len()];
                    drop.iter().for_each(|&i| gone[i] = true);
                    kept = (0..kept.len())
                        .filter(|&i| !gone[i])
                        .map(|i| kept[i])
                        .collect();
                }
                let values = values
                    .iter()
                    .map(|v| linalg::select_rows(v.as_ref(), &kept))
                    .collect();
                Field::shared(points.select(&kept), values)
            }
            Observations::PerSample(samples) => {
                let thin =
                    |(k, sample): (usize, &Scattered)| thinned_sample(sample, seed ^ k as u64);
                let thin = samples.iter().enumerate().map(thin).collect();
                Field::per_sample(field.components(), thin)
            }
            _ => Ok(field.clone()),
        }
    };
    let all = |fields: &Fields| {
        fields
            .iter()
            .map(|(name, field)| Ok((name.clone(), thin(field)?)))
            .collect::<Result<Fields>>()
    };
    let outputs = all(&data.outputs)?;
    let thinned = Dataset {
        inputs: all(&data.inputs)?,
        outputs,
        n_train: None,
        split: None,
        triangles: data.triangles.clone(),
        tetrahedra: None,
        meta: data.meta.clone(),
    };
    let same_points = thinned.mesh_points() == data.mesh_points();
    Ok(Dataset {
        triangles: data.triangles.clone().filter(|_| same_points),
        ..thinned
    })
}

#[cfg(test)]
mod tests {
    use super::spread_over;

    #[test]
    fn some_samples_are_spread_over_all() {
        assert_eq!(spread_over(5, 5), [0, 1, 2, 3, 4]);
        assert_eq!(spread_over(10, 4), [0, 2, 5, 7]);
    }
}
