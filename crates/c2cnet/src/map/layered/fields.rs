//! Input fields at the latent points.

use super::Latent;
use crate::data::Points;
use crate::encode::FieldEncoder;
use crate::storage::tensor;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Fields from input coefficients: each is a combination of functions, plus an offset, standardised.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputFields {
    /// Functions at the points, one column each; those that several fields share are here once.
    #[serde(with = "tensor")]
    spaces: Vec<Mat<f64>>,
    fields: Vec<InputField>,
    /// What is added, field after field.
    #[serde(with = "tensor")]
    offsets: Vec<f64>,
    /// How many coefficients all inputs have.
    coefficients: usize,
}

/// One field among [`InputFields`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputField {
    space: usize,
    /// The first of its coefficients.
    first: usize,
    /// Mean and deviation over samples and points, where they were standardised.
    mean: f64,
    deviation: f64,
}

impl InputFields {
    /// Of the inputs that are functions.
    ///
    /// # Errors
    /// Names the input that is not defined at the points.
    pub(super) fn new(points: &Points, inputs: &[(String, FieldEncoder)]) -> Result<Self> {
        let mut all = InputFields {
            spaces: Vec::new(),
            fields: Vec::new(),
            offsets: Vec::new(),
            coefficients: 0,
        };
        for (name, encoder) in inputs {
            if encoder.vector().is_none() {
                let components = encoder
                    .components_at(points)
                    .map_err(|e| Latent::not_there("input", name, e))?;
                for component in components {
                    all.offsets.extend(component.offsets);
                    all.push(component.values, all.coefficients + component.first);
                }
            }
            all.coefficients += encoder.basis().len();
        }
        Ok(all)
    }

    fn push(&mut self, values: Mat<f64>, first: usize) {
        if self.spaces.last() != Some(&values) {
            self.spaces.push(values);
        }
        self.fields.push(InputField {
            space: self.spaces.len() - 1,
            first,
            mean: 0.0,
            deviation: 1.0,
        });
    }

    /// From the matrix of all fields.
    #[cfg(test)]
    pub(super) fn dense(fields: &Mat<f64>, points: usize) -> Self {
        let mut all = InputFields {
            spaces: Vec::new(),
            fields: Vec::new(),
            offsets: vec![0.0; fields.nrows()],
            coefficients: fields.ncols(),
        };
        for first in (0..fields.nrows()).step_by(points) {
            all.push(fields.as_ref().subrows(first, points).to_owned(), 0);
        }
        all
    }

    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn coefficients(&self) -> usize {
        self.coefficients
    }

    /// Whether what a file claims is consistent for this many points.
    pub(super) fn fits(&self, points: usize) -> bool {
        let known = |field: &InputField| {
            let space = self.spaces.get(field.space);
            let last = space.and_then(|s| field.first.checked_add(s.ncols()));
            last.is_some_and(|last| last <= self.coefficients) && field.deviation > 0.0
        };
        self.spaces.iter().all(|s| s.nrows() == points)
            && self.fields.iter().all(known)
            && self.fields.len().checked_mul(points) == Some(self.offsets.len())
    }

    /// The fields at the points, field after field, one column per sample.
    pub(super) fn values(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let n = self.offsets.len() / self.len().max(1);
        let mut all = Mat::zeros(self.offsets.len(), coefficients.ncols());
        for (f, field) in self.fields.iter().enumerate() {
            let values = self.of_field(f, self.spaces[field.space].as_ref(), coefficients);
            let offsets = &self.offsets[f * n..(f + 1) * n];
            for k in 0..values.ncols() {
                let to = all.col_as_slice_mut(k)[f * n..(f + 1) * n].iter_mut();
                for ((to, value), offset) in to.zip(values.col_as_slice(k)).zip(offsets) {
                    *to = (value + offset - field.mean) / field.deviation;
                }
            }
        }
        all
    }

    fn of_field(
        &self,
        f: usize,
        space: MatRef<'_, f64>,
        coefficients: MatRef<'_, f64>,
    ) -> Mat<f64> {
        linalg::mul(
            space,
            coefficients.subrows(self.fields[f].first, space.ncols()),
        )
    }

    /// The same at other points, where `encoders` evaluate them: into the rows from `first` on of each field of `to`.
    ///
    /// # Errors
    /// If an input is not defined there, or inputs are not those of the fit.
    pub(super) fn values_elsewhere(
        &self,
        points: &Points,
        first: usize,
        encoders: &[(String, FieldEncoder)],
        coefficients: MatRef<'_, f64>,
        to: &mut Mat<f64>,
    ) -> Result<()> {
        let n = to.nrows() / self.len().max(1);
        let mut components = Vec::new();
        for (_, encoder) in encoders.iter().filter(|(_, e)| e.vector().is_none()) {
            components.extend(encoder.components_at(points)?);
        }
        let same = components.len() == self.len()
            && (components.iter().zip(&self.fields))
                .all(|(c, field)| c.values.ncols() == self.spaces[field.space].ncols());
        if !same {
            return Err(Error::Data(
                "the model's layers were fitted to other inputs".into(),
            ));
        }
        for (f, (component, field)) in components.iter().zip(&self.fields).enumerate() {
            let values = self.of_field(f, component.values.as_ref(), coefficients);
            let rows = f * n + first..f * n + first + points.len();
            for k in 0..values.ncols() {
                let to = to.col_as_slice_mut(k)[rows.clone()].iter_mut();
                let offset = component.offsets.iter();
                for ((to, value), offset) in to.zip(values.col_as_slice(k)).zip(offset) {
                    *to = (value + offset - field.mean) / field.deviation;
                }
            }
        }
        Ok(())
    }

    /// Mean 0 and deviation 1 of each field over the samples `coefficients`.
    pub(super) fn standardise(&mut self, coefficients: MatRef<'_, f64>) {
        let values = self.values(coefficients);
        let n = self.offsets.len() / self.len().max(1);
        for (f, field) in self.fields.iter_mut().enumerate() {
            (field.mean, field.deviation) = moments(values.as_ref().subrows(f * n, n));
        }
    }
}

/// Mean and deviation of all entries; 1 in place of no deviation.
pub(super) fn moments(values: MatRef<'_, f64>) -> (f64, f64) {
    let count = (values.nrows() * values.ncols()).max(1) as f64;
    let all = || (0..values.ncols()).flat_map(|k| values.col(k).iter().copied());
    let mean = all().sum::<f64>() / count;
    let variance = all().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt();
    let varies = deviation > 1e-12 * mean.abs() && deviation > 0.0;
    (mean, if varies { deviation } else { 1.0 })
}
