//! Settings that must lie in a range.

use crate::Problem;
use c2cnet::{Error, Result, memory};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Checks the settings of the problem that it names; an error gives the setting, its value and the allowed range.
#[derive(Clone, Copy)]
pub(crate) struct Check(&'static str);

impl Check {
    pub fn of<P: Problem>() -> Self {
        Check(P::NAME)
    }

    /// An error unless `holds`: setting `name` is `value` and must be `must`.
    pub fn that(self, holds: bool, name: &str, value: impl Display, must: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        let problem = self.0;
        Err(Error::Config(format!(
            "settings of problem {problem}: {name} = {value} must be {must}"
        )))
    }

    pub fn within<T: PartialOrd + Display>(
        self,
        name: &str,
        value: T,
        range: RangeInclusive<T>,
    ) -> Result<()> {
        let must = format!("{} to {}", range.start(), range.end());
        self.that(range.contains(&value), name, value, &must)
    }

    pub fn at_least(self, name: &str, value: usize, least: usize) -> Result<()> {
        self.that(value >= least, name, value, &format!("at least {least}"))
    }

    pub fn positive(self, name: &str, value: f64) -> Result<()> {
        self.that(value > 0.0 && value.is_finite(), name, value, "positive")
    }

    /// A length that is resolved where it is at least `least`.
    pub fn length(self, name: &str, value: f64, least: f64) -> Result<()> {
        let holds = value >= least && value.is_finite();
        self.that(holds, name, value, &format!("at least {least}"))
    }

    /// The nodes of a reference: far more than the points of the data.
    pub fn reference(self, value: usize, points: usize) -> Result<()> {
        let least = points.saturating_mul(4);
        let holds = (least..=1_000_000).contains(&value);
        let must = format!("4 times points, {least}, to 1000000");
        self.that(holds, "reference", value, &must)
    }

    /// Whether `samples` of all sets, with `numbers` each, fit into memory, with those that make a sample.
    pub fn check_size(self, samples: &[usize], numbers: usize) -> Result<()> {
        let total = samples.iter().fold(0usize, |sum, &n| sum.saturating_add(n));
        let what = format!("settings of problem {}: samples and their numbers", self.0);
        memory::check_allocation(&what, &[total, numbers])
    }

    /// Attributes an error to setting `name`.
    pub fn with_setting(self, name: &str, value: impl Display) -> impl FnOnce(Error) -> Error {
        let problem = self.0;
        move |e| {
            Error::Config(format!(
                "settings of problem {problem}: {name} = {value}: {e}"
            ))
        }
    }
}
