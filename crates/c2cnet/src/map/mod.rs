//! Coefficient maps: from input coefficients to orthonormal output coordinates.

mod agop;
#[cfg(test)]
pub(crate) mod conformance;
pub(crate) mod joint;
mod kernel;
mod kernel_descent;
mod kernel_search;
mod kernel_spec;
pub(crate) mod layered;
mod linear;
mod mirrors;
pub(crate) mod mlp;
mod moments;
mod nystrom;
pub(crate) mod split;

pub use crate::compute::kernel_function::{KernelFunction, PassSettings};
pub use kernel::KernelSettings;
pub(crate) use kernel::{Features, KernelMap};
pub(crate) use kernel_descent::HeldOut;
pub(crate) use kernel_search::{KernelChoice, KernelSearch};
pub use kernel_search::{KernelReport, PassReport};
pub use kernel_spec::KernelSpec;
pub(crate) use layered::LayeredMap;
pub use layered::{LayeredOutputs, LayeredSpec};
pub(crate) use linear::{GIVE_UP_RATIO, LinearMap};
pub(crate) use mirrors::Mirrors;
pub(crate) use mlp::MlpMap;
pub use mlp::{
    Activation, BatchSize, Loss, MlpSpec, Optimiser, OptimiserKind, Precision, Recipe, Schedule,
    StageSpec, TrainingReport,
};
pub(crate) use moments::{Moments, Shift};
pub(crate) use nystrom::{KernelSums, Landmarks};
pub(crate) use split::Split;

use crate::Result;
use crate::data::Points;
use crate::encode::FieldEncoder;
use crate::storage::{Record, Registry, Storable, serialize_tagged, split_tag};
use faer::{Mat, MatRef};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::LazyLock;

/// A fitted map from coefficients (one column per sample) to coordinates.
///
/// A new map is one file with a type that has this trait and derives `Serialize` and `Deserialize`, and a line in the
/// list below. A test calls `conformance::check` on it.
pub(crate) trait CoefficientMap: Storable + Send + Sync + std::fmt::Debug {
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

    /// The same map as one that evaluates outputs itself, if it does.
    fn field_map(&self) -> Option<&dyn FieldMap> {
        None
    }
}

/// A map that evaluates outputs at points itself: a function of the output space plus one that it is not bound to.
pub(crate) trait FieldMap {
    /// The coordinates of the function in the output space, one column per sample.
    fn base(&self, coefficients: MatRef<'_, f64>) -> Mat<f64>;

    /// What is added to it at `points`, components of all outputs below each other, one column per sample. The
    /// coefficients are what `encoders` made of the inputs.
    ///
    /// # Errors
    /// If an input or the map is not defined at a point.
    fn added(
        &self,
        coefficients: MatRef<'_, f64>,
        encoders: &[(String, FieldEncoder)],
        points: &Points,
    ) -> Result<Mat<f64>>;
}

type Restore = fn(Record) -> Result<Box<dyn CoefficientMap>>;

static KINDS: LazyLock<Registry<Restore>> = LazyLock::new(|| {
    let registry = Registry::new("coefficient map", None);
    let first = [
        add::<LinearMap>,
        add::<KernelMap>,
        add::<MlpMap>,
        add::<LayeredMap>,
    ];
    for (add, kind) in first.iter().zip(["linear", "kernel", "mlp", "layered"]) {
        add(&registry, kind).expect("the names of the crate's maps differ");
    }
    registry
});

fn add<M>(registry: &Registry<Restore>, kind: &'static str) -> Result<()>
where
    M: CoefficientMap + DeserializeOwned + 'static,
{
    registry.add::<M>(kind, |record| Ok(Box::new(record.restore::<M>()?)))
}

const TAG: &str = "kind";

impl Serialize for dyn CoefficientMap + '_ {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serialize_tagged(self, TAG, self.kind(), serializer)
    }
}

impl<'de> Deserialize<'de> for Box<dyn CoefficientMap> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let (kind, record) = split_tag(TAG, deserializer)?;
        let restore = KINDS.find(&kind).map_err(D::Error::custom)?;
        restore(record).map_err(D::Error::custom)
    }
}
