//! Prescribed bases: functions fixed before any training, evaluable at any point.

mod centres;
pub mod conformance;
mod design;
mod directions;
mod family;
mod finite_elements;
mod fourier;
mod grid_polynomials;
mod hybrid;
mod interpolant;
mod laplace;
mod local_planes;
mod mixed;
mod nodal_polynomials;
mod partition;
mod point_values;
mod polynomial;
mod products;
mod radial;
mod random_features;
mod separable;
mod single_value;
mod tanh;
mod tensor;
pub(crate) mod vector;

pub use centres::{CentreBox, Centres, Spacing, Width};
pub use design::{Block, Blocks, Design};
pub(crate) use design::{build_blocks, group_by_cell};
pub(crate) use directions::learning_samples;
pub use family::{BasisFamily, BasisSpec, BuildContext, Ladder, LadderRequest, register};
pub(crate) use family::{documentation as family_documentation, ladders, nearly_dependent};
pub use finite_elements::{
    AdaptiveStart, Boundary, Degree, FiniteElements, FiniteElementsSpec, MeshSpec,
};
pub use fourier::{FourierKind, FourierSpec};
pub(crate) use grid_polynomials::expected_error as interpolation_error;
pub(crate) use hybrid::learns_from_some;
pub use hybrid::{HybridSpec, PcaSpec};
pub use laplace::{Condition, LaplaceMesh, LaplaceSpec};
pub use mixed::{AxisKind, MixedSpec};
pub(crate) use point_values::PointValues;
pub use point_values::PointValuesSpec;
#[cfg(test)]
pub(crate) use polynomial::Polynomial;
pub use polynomial::{PolynomialKind, PolynomialSpec};
pub use radial::{Kernel, RadialSpec};
#[cfg(test)]
pub(crate) use random_features::RandomFeatures;
pub use random_features::{Activation, Coordinates, RandomFeaturesSpec};
#[doc(hidden)] // of what by_axes gives
pub use separable::Separable;
pub(crate) use single_value::{SingleValue, SingleValueSpec};
pub(crate) use vector::{FieldBasis, VectorBasis};

use crate::Result;
use crate::data::{Bounds, Points};
use crate::storage::Storable;

/// Scalar functions $\varphi_1, \dots, \varphi_m$ on a domain in $\mathbb R^d$.
///
/// A new basis is one file with a type that has this trait and derives `Serialize` and `Deserialize`, its settings
/// as a [`BasisFamily`], and a test that calls [`conformance::check`]; [`register`] makes it known. Evaluations
/// after storing and loading must be the same bits, so what was drawn is stored and what can be computed is not.
pub trait Basis: Storable + Send + Sync + std::fmt::Debug {
    /// The family's name in settings, model files and messages: [`BasisFamily::NAME`].
    fn family(&self) -> &'static str;

    /// How many functions, $m$.
    fn len(&self) -> usize;

    /// Whether there is no function.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The box outside which evaluation is an error.
    fn domain(&self) -> &Bounds;

    /// The design matrix $\Phi_{ij} = \varphi_j(x_i)$.
    ///
    /// # Errors
    /// If the dimension differs or a point lies outside the domain (see [`Bounds::check`]).
    fn evaluate(&self, points: &Points) -> Result<Design>;

    /// The same axis by axis, for points of a tensor grid, however few; `None` if they are not of one, or functions are
    /// not products over the axes.
    ///
    /// # Errors
    /// As [`Basis::evaluate`].
    #[doc(hidden)] // the bases of the crate alone can
    fn by_axes(&self, points: &Points) -> Result<Option<Separable>> {
        let _ = points;
        Ok(None)
    }

    /// A human-readable line: family, size and what else matters.
    fn describe(&self) -> String;
}
