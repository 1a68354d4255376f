//! Missing readings: points that are left out of a sample.

use super::{Field, Points, Scattered};
use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// What NaN among values means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// A mistake, which is an error.
    #[default]
    Refuse,
    /// A missing reading.
    Nan,
}

impl Field {
    /// As [`Field::shared`], but with NaN treated according to `missing`. If a reading is missing, each sample keeps the
    /// points that it has; if there are several components, all must be present.
    ///
    /// # Errors
    /// As [`Field::shared`], or if a sample has no reading at all.
    #[doc(hidden)] // for c2cnet-formats
    pub fn shared_or_missing(
        points: Points,
        values: Vec<Mat<f64>>,
        missing: Missing,
    ) -> Result<Field> {
        let has_nan = |v: &Mat<f64>| v.col_iter().any(|c| c.iter().any(|v| v.is_nan()));
        if missing == Missing::Refuse || !values.iter().any(has_nan) {
            return Field::shared(points, values);
        }
        let samples = values[0].ncols();
        let sample = |k: usize| Scattered {
            values: values
                .iter()
                .flat_map(|v| v.col(k).iter().copied())
                .collect(),
            points: points.clone(),
        };
        let samples = (0..samples).map(sample).collect();
        let field = Field::per_sample_or_missing(values.len(), samples, missing)?;
        Ok(field.lacking_some_of(points.clone()))
    }

    /// As [`Field::per_sample`], but with NaN treated according to `missing`.
    ///
    /// # Errors
    /// As [`Field::per_sample`], or if a sample has no reading at all.
    pub(crate) fn per_sample_or_missing(
        components: usize,
        mut samples: Vec<Scattered>,
        missing: Missing,
    ) -> Result<Field> {
        if missing == Missing::Nan {
            for (k, sample) in samples.iter_mut().enumerate() {
                // Shapes that do not fit are reported below.
                if sample.values.len() == sample.points.len() * components {
                    leave_out(sample, k)?;
                }
            }
        }
        Field::per_sample(components, samples)
    }
}

fn leave_out(sample: &mut Scattered, k: usize) -> Result<()> {
    let n = sample.points.len();
    let there = |i: &usize| !sample.values.iter().skip(*i).step_by(n).any(|v| v.is_nan());
    let kept: Vec<usize> = (0..n).filter(there).collect();
    if kept.is_empty() {
        return Err(Error::Data(format!(
            "sample {k}: all {n} readings are missing (NaN); leave the sample out"
        )));
    }
    if kept.len() < n {
        let components = sample.values.chunks_exact(n);
        sample.values = components
            .flat_map(|component| kept.iter().map(|&i| component[i]))
            .collect();
        sample.points = sample.points.select(&kept);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_without_a_reading_are_left_out() {
        let points = Points::linspace(0.0, 1.0, 3);
        let mut values = vec![Mat::from_fn(3, 2, |i, k| (i + 10 * k) as f64); 2];
        let whole = Field::shared_or_missing(points.clone(), values.clone(), Missing::Nan);
        assert!(whole.unwrap().shared_points().is_some());
        values[1][(1, 0)] = f64::NAN;
        let refused = Field::shared_or_missing(points.clone(), values.clone(), Missing::Refuse);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("--missing nan"), "{refused}");
        let field = Field::shared_or_missing(points.clone(), values.clone(), Missing::Nan).unwrap();
        assert_eq!(field.points_of(0).coords(), [0.0, 1.0]);
        assert_eq!(field.values_of(0), [0.0, 2.0, 0.0, 2.0]);
        assert_eq!(field.points_of(1).len(), 3);
        assert_eq!(field.select(&[1]).common_points(), Some(&points));
        for i in 0..3 {
            values[0][(i, 1)] = f64::NAN;
        }
        let error = Field::shared_or_missing(points.clone(), values.clone(), Missing::Nan);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("sample 1: all 3 readings are missing"),
            "{error}"
        );
        values[0][(0, 0)] = f64::INFINITY;
        values[0].col_mut(1).fill(0.0);
        let error = Field::shared_or_missing(points, values, Missing::Nan).unwrap_err();
        assert!(error.to_string().contains("inf"), "{error}");
    }
}
