//! The basis of one entry of a vector that is not a function: the one function on a single point,
//!
//! $$\varphi_1 = 1 \quad\text{at}\quad x = 0,$$
//!
//! so that the coefficient is the entry. With it parameters and quantities
//! ([`Field::vector`](crate::data::Field::vector)) go through encoders and decoders as functions do, and a
//! model tells by it which of its fields have no points
//! ([`FieldBasis::is_vector`](super::FieldBasis::is_vector)).

use super::{Basis, BuildContext, Design, read_record, write_record};
use crate::data::{Bounds, Points};
use crate::model_file::Archive;
use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};

pub(super) const FAMILY: &str = "single-value";

/// Settings of the basis of a vector's entry: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleValueSpec {}

/// The one function on a single point.
#[derive(Debug)]
pub struct SingleValue {
    domain: Bounds,
}

impl SingleValue {
    /// The function 1 at [`Points::origin`].
    pub fn new() -> Self {
        let domain = Points::origin().bounding_box().expect("one point");
        SingleValue { domain }
    }

    pub(super) fn from_context(context: BuildContext<'_>) -> Result<Self> {
        if context.points != Some(&Points::origin()) {
            return Err(Error::Config(
                "the single-value basis is for parameters `p` and quantities `q`, which have no points; \
                 choose another one for a function"
                    .into(),
            ));
        }
        Ok(Self::new())
    }

    pub(super) fn load(record: &serde_json::Value) -> Result<Self> {
        read_record::<SingleValueSpec>(record)?;
        Ok(Self::new())
    }
}

impl Default for SingleValue {
    fn default() -> Self {
        Self::new()
    }
}

impl Basis for SingleValue {
    fn family(&self) -> &'static str {
        FAMILY
    }

    fn len(&self) -> usize {
        1
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, FAMILY)?;
        Ok(Design::Dense(Mat::from_fn(points.len(), 1, |_, _| 1.0)))
    }

    fn describe(&self) -> String {
        "the value itself".into()
    }

    fn save(&self, _: &mut Archive, _: &str) -> serde_json::Value {
        write_record(FAMILY, &self.domain, &SingleValueSpec {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{BasisSpec, FieldBasis, PointValues, conformance};
    use crate::data::Field;
    use crate::decode::FieldDecoder;
    use crate::encode::{EncoderSpec, FieldEncoder, Method, Transform};
    use std::sync::Arc;

    fn basis_of(count: usize) -> FieldBasis {
        let one: Arc<dyn Basis> = Arc::new(SingleValue::new());
        FieldBasis::separate(vec![one; count]).unwrap()
    }

    #[test]
    fn conforms() {
        conformance::check(&SingleValue::new(), <[f64]>::to_vec);
    }

    #[test]
    fn coefficients_and_coordinates_are_the_values() {
        let values = Mat::from_fn(2, 7, |i, k| (3 * k + i) as f64 - 4.5);
        let field = Field::vector(values.as_ref()).unwrap();
        let close = |a: &Mat<f64>, b: &Mat<f64>| (a - b).norm_max() < 1e-12;
        // Whatever functions beside it are encoded with.
        let prior = EncoderSpec {
            method: Method::Prior,
            ..EncoderSpec::default()
        };
        for spec in [EncoderSpec::default(), EncoderSpec::ridge(0.1), prior] {
            let (encoder, coefficients) =
                FieldEncoder::fit(basis_of(2), &spec, Transform::None, &field).unwrap();
            assert!(close(&coefficients, &values));
            assert!(close(&encoder.encode(&field).unwrap(), &values));
        }
        let (decoder, targets) = FieldDecoder::fit(basis_of(2), &field, 0.1, None, 0).unwrap();
        assert_eq!(decoder.rank(), 2);
        let back = decoder
            .decode(targets.coordinates.as_ref(), &Points::origin())
            .unwrap();
        for (i, row) in back.iter().enumerate() {
            assert!(close(row, &values.subrows(i, 1).to_owned()));
        }
    }

    #[test]
    fn a_field_basis_knows_vectors_and_a_function_is_refused() {
        assert!(basis_of(3).is_vector());
        let values = PointValues::new(Bounds::unit(1), Points::origin()).unwrap();
        let mixed: Vec<Arc<dyn Basis>> = vec![Arc::new(SingleValue::new()), Arc::new(values)];
        assert!(!FieldBasis::separate(mixed).unwrap().is_vector());
        let spec = BasisSpec::SingleValue(SingleValueSpec {});
        let error = spec.build(BuildContext::on(&Bounds::unit(1))).unwrap_err();
        assert!(error.to_string().contains("no points"), "{error}");
    }
}
