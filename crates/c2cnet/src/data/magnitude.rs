//! Magnitudes that arithmetic can handle: errors and encoders need the squares of values, and products of those.

use super::{Field, Observations};
use crate::error::short;
use crate::{Error, Result};

/// Squares of values in this range, their sums and products are finite and nonzero.
const LARGEST: f64 = 1e100;
const SMALLEST: f64 = 1e-100;

impl Field {
    /// Refuses values and coordinates whose squares overflow; `label` names the field in messages.
    ///
    /// # Errors
    /// Names the sample and the value.
    pub(crate) fn check_inputs(&self, label: &str) -> Result<()> {
        self.check_points(label)?;
        for k in 0..self.samples() {
            self.check_size(label, k)?;
        }
        Ok(())
    }

    /// [`Field::check_inputs`], and refuses samples so small that their error would show as zero.
    ///
    /// # Errors
    /// Names the sample and the value.
    pub(crate) fn check_outputs(&self, label: &str) -> Result<()> {
        self.check_points(label)?;
        for k in 0..self.samples() {
            let size = self.check_size(label, k)?;
            if size > 0.0 && size < SMALLEST {
                return Err(Error::Data(format!(
                    "{label}: sample {k} has no value larger than {size:e}, and squares of such small numbers underflow; \
                     give the data in larger units, or set the sample to zero"
                )));
            }
        }
        Ok(())
    }

    fn check_points(&self, label: &str) -> Result<()> {
        let sets = match self.observations() {
            Observations::Shared { .. } => 1,
            Observations::PerSample(samples) => samples.len(),
        };
        for k in 0..sets {
            let mut coords = self.points_of(k).coords().iter();
            if let Some(x) = coords.find(|x| x.abs() > LARGEST) {
                return Err(Error::Data(format!(
                    "{label}: a point of sample {k} has the coordinate {x:e}, and squares of such large numbers overflow; \
                     give the points in smaller units"
                )));
            }
        }
        Ok(())
    }

    /// The largest absolute value of a sample.
    fn check_size(&self, label: &str, k: usize) -> Result<f64> {
        let largest =
            |values: &mut dyn Iterator<Item = &f64>| values.fold(0.0, |m: f64, v| m.max(v.abs()));
        let size = match self.observations() {
            Observations::Shared { values, .. } => values
                .iter()
                .map(|component| largest(&mut component.col(k).iter()))
                .fold(0.0, f64::max),
            Observations::PerSample(samples) => largest(&mut samples[k].values.iter()),
        };
        match size <= LARGEST {
            true => Ok(size),
            false => Err(Error::Data(format!(
                "{label}: sample {k} has a value of size {}, and squares of such large numbers overflow; remove it, \
                 or give the data in smaller units",
                short(size)
            ))),
        }
    }
}
