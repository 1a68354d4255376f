//! The settings of the kernel map.

use super::KernelFunction;
use super::KernelSettings;
use crate::{Error, Result};
use documented::Documented;
use serde::{Deserialize, Serialize};

/// Settings of the kernel map; what is not given is chosen.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kernel` | chosen | the kernel | `matern-5/2`, `inverse-multiquadric`, `gaussian` |
/// | `length` | chosen | its length; features have mean norm 1 | positive |
/// | `nugget` | chosen | added to the diagonal | positive |
/// | `exponent` | chosen | weight of features, $p$ | 0 to 2 |
/// | `passes` | 3 | re-weighting passes tried | 0 to 10 |
/// | `memory_gib` | 4 | for a dense kernel matrix (23,000 samples); above it, Nystrom centres | positive |
/// | `max_centres` | 6000 | Nystrom centres | at least 2 |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KernelSpec {
    /// The kernel.
    pub kernel: Option<KernelFunction>,
    /// The length.
    pub length: Option<f64>,
    /// The nugget.
    pub nugget: Option<f64>,
    /// The exponent.
    pub exponent: Option<f64>,
    /// How many re-weighting passes are tried.
    pub passes: usize,
    /// Memory for a dense kernel matrix, which its factor overwrites, in GiB.
    pub memory_gib: f64,
    /// How many centres where it does not fit.
    #[serde(alias = "max_centers")]
    pub max_centres: usize,
}

impl Default for KernelSpec {
    fn default() -> Self {
        KernelSpec {
            kernel: None,
            length: None,
            nugget: None,
            exponent: None,
            passes: 3,
            memory_gib: 4.0,
            max_centres: 6000,
        }
    }
}

impl KernelSpec {
    /// The same with kernel, weights and number of passes of an earlier choice; the rest is still to be chosen for
    /// inputs like those of that choice.
    pub(crate) fn like(&self, chosen: &KernelSettings) -> Self {
        KernelSpec {
            kernel: chosen.passes.last().map(|p| p.kernel).or(self.kernel),
            exponent: chosen.exponent.or(self.exponent),
            passes: chosen.passes.len().saturating_sub(1),
            ..self.clone()
        }
    }

    /// Checks the ranges of the table.
    ///
    /// # Errors
    /// Names the setting and its value.
    pub(crate) fn check(&self) -> Result<()> {
        let positive = |name: &str, value: Option<f64>| match value {
            Some(v) if !(v.is_finite() && v > 0.0) => Err(Error::Config(format!(
                "kernel: {name} = {v} must be positive"
            ))),
            _ => Ok(()),
        };
        positive("length", self.length)?;
        positive("nugget", self.nugget)?;
        positive("memory_gib", Some(self.memory_gib))?;
        if let Some(p) = self.exponent
            && !(0.0..=2.0).contains(&p)
        {
            return Err(Error::Config(format!(
                "kernel: exponent = {p} must lie between 0 and 2"
            )));
        }
        if self.passes > 10 || self.max_centres < 2 {
            return Err(Error::Config(format!(
                "kernel: passes = {} must be at most 10 and max_centres = {} at least 2",
                self.passes, self.max_centres
            )));
        }
        Ok(())
    }

    /// How many centres fit: all samples while a dense matrix stays within the memory.
    pub(super) fn centres(&self, samples: usize) -> usize {
        let bytes = self.memory_gib * (1u64 << 30) as f64;
        let dense = (bytes / 8.0).sqrt() as usize;
        if samples <= dense {
            samples
        } else {
            self.max_centres.min(dense).min(samples)
        }
    }
}
