//! A model from sums over chunks of samples: more samples than memory holds, on one machine or many.
//!
//! A [`Template`] is settled on first samples: bases, encoders, output spaces and, for a kernel map, its features and
//! centres. From then on a sample counts only by what it adds to sums of small matrices, an [`Accumulator`]: those of the
//! normal equations of the linear map and of the kernel map on the centres. Accumulators of different samples are merged by
//! adding them, and [`Template::finish`] makes the model of their sum. Networks cannot be fitted from sums: for them an
//! accumulator also keeps the coefficients of every sample, which are far smaller than its fields.
//!
//! ```text
//! first samples ──> Template ──────┬──────────────┬───────────> finish ──> model
//!                      │           │              │                │
//!                 Accumulator   chunk ──> sums  chunk ──> sums     │
//!                      └────────── merge ───────── merge ──────────┘
//! ```
//!
//! Any split of the samples and any order of merging give the same model to rounding; the same chunks merged in the same
//! tree give the same bits, wherever they are computed.
//!
//! ```
//! use c2cnet::accumulate::Template;
//! use c2cnet::data::{Dataset, Field, Points};
//! use c2cnet::{FitConfig, Silent, faer::Mat};
//!
//! let x = Points::linspace(0.0, 1.0, 50);
//! let chunk = |start: usize| {
//!     let phase = |k: usize| 0.7 * (start + k) as f64;
//!     let f = Mat::from_fn(50, 60, |i, k| (3.0 * x.point(i)[0] + phase(k)).sin());
//!     let u = Mat::from_fn(50, 60, |i, k| (3.0 * x.point(i)[0] + phase(k)).cos());
//!     Dataset::new(Field::shared(x.clone(), vec![f])?, Field::shared(x.clone(), vec![u])?)
//! };
//! let (template, mut sums) = Template::fit(&chunk(0)?, &FitConfig::default(), 2000, &Silent)?;
//! for start in [60, 120, 180] {
//!     sums.merge(&template.accumulate(&chunk(start)?)?)?;
//! }
//! let (model, report) = template.finish(&sums, &Silent)?;
//! assert_eq!(report.samples, 240);
//! assert!(model.evaluate(&chunk(999)?)?.rl2e < 1e-4);
//! # Ok::<(), c2cnet::Error>(())
//! ```

mod finish;
mod judges;
mod kept;
mod network;
mod template;

pub use finish::AccumulationReport;
pub use template::Template;

use self::kept::Kept;
use crate::map::{KernelSums, Moments};
use crate::storage::Archive;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What some samples add to a model, as sums of small matrices that belong to one [`Template`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accumulator {
    /// The identity of the template.
    template: String,
    /// Fingerprints of the data, so that a model knows what it was fitted to.
    sources: Vec<String>,
    moments: Moments,
    kernel: Option<KernelSums>,
    /// For a network.
    kept: Option<Kept>,
}

impl Accumulator {
    /// How many samples it holds, images under symmetries counted.
    pub fn samples(&self) -> usize {
        self.moments.samples()
    }

    /// Adds the sums of other samples.
    ///
    /// # Errors
    /// If they belong to another template, or are damaged.
    pub fn merge(&mut self, other: &Accumulator) -> Result<()> {
        if self.template != other.template {
            return Err(other_template());
        }
        let same = self.moments.is_like(&other.moments)
            && match (&self.kernel, &other.kernel) {
                (Some(own), Some(other)) => own.is_like(other),
                (None, None) => true,
                _ => false,
            }
            && self.kept.is_some() == other.kept.is_some();
        if !same {
            return Err(Error::Data("the sums to be merged are damaged".into()));
        }
        self.sources.extend(other.sources.iter().cloned());
        self.moments.add(&other.moments);
        if let (Some(own), Some(other)) = (&mut self.kernel, &other.kernel) {
            own.add(other);
        }
        if let (Some(own), Some(other)) = (&mut self.kept, &other.kept) {
            own.append(other);
        }
        Ok(())
    }

    /// The sums as the bytes of a file, with a digest.
    ///
    /// # Errors
    /// If they cannot be assembled.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Archive::of(self)?.to_bytes()
    }

    /// Reads what [`Accumulator::to_bytes`] gave.
    ///
    /// # Errors
    /// If the bytes are damaged, foreign or of another format version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let archive = Archive::from_bytes(bytes, Path::new("sums in memory"))?;
        archive.restore("accumulator")
    }
}

fn other_template() -> Error {
    Error::Data(
        "these sums belong to another template; merge only sums of chunks that one and the same template accumulated"
            .into(),
    )
}
