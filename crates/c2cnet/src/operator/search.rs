//! The search for bases that the settings do not name.

use super::{FitConfig, Observer};
use crate::Result;
use crate::data::Dataset;

/// Settings with every basis named.
pub(super) fn resolve(
    _train: &Dataset,
    _originals: usize,
    config: &FitConfig,
    _observer: &dyn Observer,
    _choices: &mut Vec<String>,
) -> Result<FitConfig> {
    Ok(config.clone())
}
