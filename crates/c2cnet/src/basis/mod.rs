//! Prescribed bases: functions fixed before any training, evaluable at any point.

mod centres;
pub mod conformance;
mod design;
mod finite_elements;
mod fourier;
mod pca;
mod point_values;
mod polynomial;
mod radial;
mod random_features;
mod spec;
mod tanh;
mod tensor;
mod vector;

pub use centres::{CentreBox, Centres, Spacing, Width};
pub use design::{Block, Blocks, Design, build_blocks, group_by_cell};
pub use finite_elements::{
    AdaptiveStart, Boundary, Degree, FiniteElements, FiniteElementsSpec, MeshSpec,
};
pub use fourier::{Fourier, FourierKind, FourierSpec};
pub use pca::{Pca, PcaSpec};
pub use point_values::{PointValues, PointValuesSpec};
pub use polynomial::{Polynomial, PolynomialKind, PolynomialSpec};
pub use radial::{Kernel, Radial, RadialSpec};
pub use random_features::{Activation, Coordinates, RandomFeatures, RandomFeaturesSpec};
pub use spec::{BasisSpec, BuildContext, load};
pub use vector::{FieldBasis, VectorBasis};

use spec::{read_record, read_triangles, write_record, write_triangles};

use crate::data::{Bounds, Points};
use crate::model_file::Archive;
use crate::{Error, Result};

/// Scalar functions $\varphi_1, \dots, \varphi_m$ on a domain in $\mathbb R^d$.
///
/// A new basis is one file with this trait, a variant of [`BasisSpec`], an arm in [`load`], and a
/// test that calls [`conformance::check`].
pub trait Basis: Send + Sync + std::fmt::Debug {
    /// The family's name in settings, model files and messages.
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

    /// One line for people: family, size and what else matters.
    fn describe(&self) -> String;

    /// Puts arrays into `archive` under names that start with `name` and returns the rest, with
    /// the field `family`; [`load`] is the inverse and must give bit-identical evaluations.
    fn save(&self, archive: &mut Archive, name: &str) -> serde_json::Value;
}
