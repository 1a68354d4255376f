//! What training compares: coordinates of the output space, or values at the latent points.

use super::LayeredData;
use crate::decode::Targets;
use crate::linalg;
use faer::{Mat, MatRef};
use std::borrow::Cow;

/// Outputs at latent points.
#[derive(Debug)]
pub(crate) struct ValuesAtPoints {
    /// Which of the values at latent points, component after component, are compared; not those at withheld points.
    pub rows: Vec<usize>,
    /// These values, one column per sample.
    pub values: Mat<f64>,
    /// The output space there: these values from coordinates.
    pub space: Mat<f64>,
}

/// From the values that leave the network to what is compared with the truth.
pub(super) struct Goal<'a> {
    pub projection: Cow<'a, Mat<f64>>,
    /// The truth, in what is compared, with the norms of whole samples.
    pub targets: Cow<'a, Targets>,
    /// What the network adds to, one column per sample.
    pub offsets: Mat<f64>,
    /// How many values this stands for.
    pub count: usize,
}

impl<'a> Goal<'a> {
    /// For all samples of `data`; `offsets` are coordinates.
    pub(super) fn new(data: &'a LayeredData<'_>, offsets: Mat<f64>) -> Self {
        let samples = &data.samples;
        let Some(found) = data.values else {
            return Goal {
                projection: Cow::Borrowed(data.latent.projection()),
                targets: Cow::Borrowed(samples.targets),
                offsets,
                count: samples.count,
            };
        };
        let count = found.rows.len();
        // Norms of all values, so that no sample that is small at the latent points dominates.
        let share = count as f64 / samples.count.max(1) as f64;
        let norms = samples.targets.norm_squared.iter();
        Goal {
            projection: Cow::Owned(selection(&found.rows, data.latent.projection().ncols())),
            targets: Cow::Owned(Targets {
                coordinates: found.values.clone(),
                outside_squared: vec![0.0; found.values.ncols()],
                norm_squared: norms.map(|norm| share * norm).collect(),
                withheld_floor: None,
                readings: None,
            }),
            offsets: linalg::mul(found.space.as_ref(), offsets.as_ref()),
            count,
        }
    }

    /// The root mean square, over the chosen samples and all values, of what the network is to add.
    pub(super) fn scale(&self, chosen: &[usize]) -> f64 {
        let of = |all: MatRef<'_, f64>| linalg::select_columns(all, chosen);
        let left = of(self.targets.coordinates.as_ref()) - of(self.offsets.as_ref());
        let squares: f64 = linalg::column_norms_squared(left.as_ref()).iter().sum();
        let scale = (squares / (chosen.len() * self.count.max(1)) as f64).sqrt();
        if scale > 0.0 && scale.is_finite() {
            scale
        } else {
            1.0
        }
    }
}

/// The matrix that takes `rows` of `all`.
fn selection(rows: &[usize], all: usize) -> Mat<f64> {
    Mat::from_fn(rows.len(), all, |i, j| f64::from(u8::from(rows[i] == j)))
}
