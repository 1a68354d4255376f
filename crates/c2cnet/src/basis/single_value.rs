//! The basis of one entry of a vector that is not a function: the one function on a single point,
//!
//! $$\varphi_1 = 1 \quad\text{at}\quad x = 0,$$
//!
//! so that the coefficient is the entry. With it parameters and quantities
//! ([`Field::vector`](crate::data::Field::vector)) go through encoders and decoders as functions do, and a
//! model knows by it which of its fields have no points
//! ([`FieldBasis::is_vector`](super::FieldBasis::is_vector)).

use super::{Basis, BasisFamily, BuildContext, Design};
use crate::data::{Bounds, Points};
use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// Settings of the basis of a vector's entry: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleValueSpec {}

impl BasisFamily for SingleValueSpec {
    const NAME: &'static str = "single-value";
    type Basis = SingleValue;

    fn build(&self, context: BuildContext<'_>) -> Result<SingleValue> {
        if context.points != Some(&Points::origin()) {
            return Err(Error::Config(
                "the single-value basis is for parameters `p` and quantities `q`, which have no points; \
                 choose another one for a function"
                    .into(),
            ));
        }
        Ok(SingleValue::new())
    }

    fn noun(&self) -> String {
        "value".into()
    }
}

/// The one function on a single point.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "SingleValueSpec", into = "SingleValueSpec")]
pub struct SingleValue {
    domain: Bounds,
}

impl SingleValue {
    /// The function 1 at [`Points::origin`].
    pub fn new() -> Self {
        let domain = Points::origin().bounding_box().expect("one point");
        SingleValue { domain }
    }
}

impl Default for SingleValue {
    fn default() -> Self {
        Self::new()
    }
}

impl From<SingleValueSpec> for SingleValue {
    fn from(_: SingleValueSpec) -> Self {
        SingleValue::new()
    }
}

impl From<SingleValue> for SingleValueSpec {
    fn from(_: SingleValue) -> Self {
        SingleValueSpec {}
    }
}

impl Basis for SingleValue {
    fn family(&self) -> &'static str {
        SingleValueSpec::NAME
    }

    fn len(&self) -> usize {
        1
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, SingleValueSpec::NAME)?;
        Ok(Design::Dense(Mat::from_fn(points.len(), 1, |_, _| 1.0)))
    }

    fn describe(&self) -> String {
        "the value itself".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{BasisSpec, FieldBasis, PointValues, conformance};
    use std::sync::Arc;

    #[test]
    fn conforms() {
        conformance::check(&SingleValue::new(), <[f64]>::to_vec);
    }

    #[test]
    fn a_field_basis_knows_vectors_and_a_function_is_refused() {
        let basis = FieldBasis::of_vector(3);
        assert!(basis.is_vector());
        assert_eq!((basis.len(), basis.components()), (3, 3));
        let values = PointValues::new(Bounds::unit(1), Points::origin()).unwrap();
        let mixed: Vec<Arc<dyn Basis>> = vec![Arc::new(SingleValue::new()), Arc::new(values)];
        assert!(!FieldBasis::separate(mixed).unwrap().is_vector());
        let spec = BasisSpec::from(SingleValueSpec {});
        let error = spec.build(BuildContext::on(&Bounds::unit(1))).unwrap_err();
        assert!(error.to_string().contains("no points"), "{error}");
    }
}
