//! Sizes and weights of components.

use serde::{Deserialize, Serialize};

/// Numbers for the components of a field, or how to find them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"auto\", \"none\" or a list with a number for each component"
)]
pub enum PerComponent {
    /// As the data suggests, or not at all.
    Word(PerComponentWord),
    /// As given.
    Each(Vec<f64>),
}

/// The words for [`PerComponent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PerComponentWord {
    /// As the data suggests.
    Auto,
    /// Components stay as they are.
    None,
}

impl Default for PerComponent {
    fn default() -> Self {
        PerComponent::Word(PerComponentWord::Auto)
    }
}
