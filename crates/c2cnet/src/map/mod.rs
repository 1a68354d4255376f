//! Coefficient maps: from input coefficients to orthonormal output coordinates.

mod agop;
pub mod conformance;
mod kernel;
mod kernel_function;
mod kernel_search;
mod kernel_spec;
mod linear;
mod mirrors;
pub mod mlp;
mod nystrom;

pub use kernel::{Features, KernelMap, KernelSettings, PassSettings};
pub use kernel_function::KernelFunction;
pub use kernel_search::{KernelChoice, KernelReport, PassReport, Split, search};
pub use kernel_spec::KernelSpec;
pub use linear::LinearMap;
pub use mirrors::Mirrors;
pub use mlp::{MlpMap, MlpSpec};

use crate::Result;
use crate::model_file::Archive;
use faer::{Mat, MatRef};

/// A fitted map from coefficients (one column per sample) to coordinates.
///
/// A new kind comes with a test that calls [`conformance::check`].
pub trait CoefficientMap: Send + Sync + std::fmt::Debug {
    /// The kind's name in settings, model files and messages.
    fn kind(&self) -> &'static str;

    /// Output coordinates of `coefficients`, one column per sample.
    fn predict(&self, coefficients: MatRef<'_, f64>) -> Mat<f64>;

    /// The number of input coefficients.
    fn inputs(&self) -> usize;

    /// The number of output coordinates.
    fn outputs(&self) -> usize;

    /// The number of fitted parameters.
    fn parameters(&self) -> usize;

    /// A description in one line.
    fn describe(&self) -> String;

    /// Puts arrays into `archive` under names that start with `name` and returns the rest, with the
    /// field `kind`; [`load`] is the inverse.
    fn save(&self, archive: &mut Archive, name: &str) -> serde_json::Value;
}

/// Rebuilds a map from what [`CoefficientMap::save`] wrote.
///
/// # Errors
/// If the record names an unknown kind or misses a part.
pub fn load(
    record: &serde_json::Value,
    archive: &Archive,
    name: &str,
) -> Result<Box<dyn CoefficientMap>> {
    let kind = record["kind"].as_str().unwrap_or_default();
    Ok(match kind {
        "linear" => Box::new(LinearMap::load(record, archive, name)?),
        "mlp" => Box::new(MlpMap::load(record, archive, name)?),
        "kernel" => Box::new(KernelMap::load(record, archive, name)?),
        _ => {
            return Err(crate::Error::Data(format!(
                "the model uses the map {kind:?}, unknown to this version"
            )));
        }
    })
}
