//! Coordinates for coefficients of nearly dependent functions.
//!
//! Maps compare inputs by the Euclidean distance of their coefficients. If functions are nearly
//! dependent (random features, wide radial functions) that means little: coefficients that differ by
//! thousands may represent the same function, and observations at other points change them as much. With
//! $\Phi/\sqrt n = QR$ at $n$ reference points, $\|R(a - b)\|$ is the root mean square of the
//! difference of the functions themselves, so such coefficients are given to maps as $Ra$.

use crate::basis::{FieldBasis, VectorBasis, nearly_dependent};
use crate::data::{Field, Observations, Points};
use crate::storage::tensor;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rand::SeedableRng;
use serde::{Deserialize, Serialize};

/// Functions are nearly dependent if the diagonal of $R$, which bounds its condition number from
/// below, spreads by more than this.
const DEPENDENT: f64 = 1e3;

/// Reference points per function, at most.
const POINTS_PER_FUNCTION: usize = 16;

/// $R$ of each part of a basis, none where coefficients are used as they are.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Frame(#[serde(with = "tensor")] Vec<Option<Mat<f64>>>);

impl Frame {
    /// Coefficients as they are.
    pub(super) fn none(basis: &FieldBasis) -> Self {
        Frame(basis.parts().iter().map(|_| None).collect())
    }

    /// With the points of `field` for reference; for all parts, or only for those whose functions are
    /// nearly dependent.
    pub(super) fn new(basis: &FieldBasis, field: &Field, all: bool) -> Result<Self> {
        let mut factors: Vec<Option<Mat<f64>>> = Vec::new();
        for (p, part) in basis.parts().iter().enumerate() {
            let known = (0..p).find(|&q| part.shares_with(&basis.parts()[q]));
            factors.push(match known {
                Some(q) => factors[q].clone(),
                None if all || nearly_dependent(part.components()[0].as_ref()) => {
                    factor(part, &reference(field, part.len())?)?
                        .filter(|r| all || spread(r.as_ref()).is_some_and(|s| s > DEPENDENT))
                }
                None => None,
            });
        }
        Ok(Frame(factors))
    }

    /// Whether all coefficients are used as they are.
    pub(super) fn is_none(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Coordinates from coefficients, one column per sample.
    pub(super) fn apply(&self, basis: &FieldBasis, coefficients: Mat<f64>) -> Mat<f64> {
        if self.is_none() {
            return coefficients;
        }
        let mut out = coefficients;
        let mut start = 0;
        for (part, r) in basis.parts().iter().zip(&self.0) {
            if let Some(r) = r {
                let mut rows = out.as_mut().subrows_mut(start, part.len());
                let product = linalg::mul(r.as_ref(), rows.as_ref());
                rows.copy_from(product);
            }
            start += part.len();
        }
        out
    }

    /// $\Phi R^{-1}$: values of functions by coordinates, from those by coefficients of part `p`. A function that the
    /// reference points cannot distinguish from those before it adds nothing.
    pub(super) fn undo(&self, p: usize, values: Mat<f64>) -> Mat<f64> {
        let Some(r) = &self.0[p] else {
            return values;
        };
        let largest = (0..r.nrows()).map(|i| r[(i, i)].abs()).fold(0.0, f64::max);
        let mut lower = r.transpose().to_owned();
        for i in 0..r.nrows() {
            if lower[(i, i)].abs() <= 1e-13 * largest {
                lower[(i, i)] = f64::MAX.sqrt();
            }
        }
        let mut turned = values.transpose().to_owned();
        linalg::solve_lower(lower.as_ref(), turned.as_mut());
        turned.transpose().to_owned()
    }

    /// Whether it is one for coefficients of `basis`.
    pub(super) fn check(&self, basis: &FieldBasis) -> Result<()> {
        let square = |(part, r): (&VectorBasis, &Option<Mat<f64>>)| {
            let fits = |r: &Mat<f64>| r.shape() == (part.len(), part.len());
            r.as_ref().is_none_or(fits)
        };
        let fits =
            self.0.len() == basis.parts().len() && basis.parts().iter().zip(&self.0).all(square);
        match fits {
            true => Ok(()),
            false => Err(Error::Data("the model's input frame is damaged".into())),
        }
    }
}

/// $R$ at the reference points, if there are enough of them.
fn factor(part: &VectorBasis, points: &Points) -> Result<Option<Mat<f64>>> {
    if points.len() * part.components().len() < part.len() {
        return Ok(None);
    }
    let mut r = linalg::Qr::new(part.evaluate(points)?.to_dense()).r();
    r *= faer::Scale(1.0 / (points.len() as f64).sqrt());
    Ok(Some(r))
}

/// The largest over the smallest entry of the diagonal; none if all are zero.
fn spread(r: MatRef<'_, f64>) -> Option<f64> {
    let sizes = (0..r.nrows()).map(|i| r[(i, i)].abs());
    let (low, high) = sizes.fold((f64::INFINITY, 0.0f64), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    (high > 0.0).then(|| high / low)
}

/// Points of a field, at most [`POINTS_PER_FUNCTION`] per function: a random choice of the shared ones, or
/// those of the first samples.
fn reference(field: &Field, functions: usize) -> Result<Points> {
    let wanted = POINTS_PER_FUNCTION * functions;
    match field.observations() {
        Observations::Shared { points, .. } if points.len() > wanted => {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
            let drawn = rand::seq::index::sample(&mut rng, points.len(), wanted);
            Ok(points.select(&drawn.into_vec()))
        }
        Observations::Shared { points, .. } => Ok(points.clone()),
        Observations::PerSample(samples) => {
            let mut coords = Vec::new();
            for sample in samples {
                coords.extend_from_slice(sample.points.coords());
                if coords.len() >= wanted * field.dim() {
                    break;
                }
            }
            Points::new(field.dim(), coords)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EncoderSpec, FieldEncoder, Transform};
    use super::*;
    use crate::basis::{BasisSpec, BuildContext};
    use crate::data::{Bounds, Scattered};
    use rand::RngExt;

    fn basis(spec: serde_json::Value) -> FieldBasis {
        let spec: BasisSpec = serde_json::from_value(spec).unwrap();
        let domain = Bounds::unit(1);
        let context = BuildContext::on(&domain);
        FieldBasis::separate(vec![spec.build(context).unwrap()]).unwrap()
    }

    fn features() -> FieldBasis {
        basis(serde_json::json!({ "family": "random-features", "functions": 40, "scale": 4.0 }))
    }

    /// One function twice and another once, each at its own points.
    fn thrice() -> Field {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let samples = [1.0, 1.0, 1.1].map(|frequency| {
            let x: Vec<f64> = (0..90).map(|_| rng.random_range(0.0..1.0)).collect();
            let values = x.iter().map(|x| (4.0 * frequency * x).sin()).collect();
            let points = Points::new(1, x).unwrap();
            Scattered { points, values }
        });
        Field::per_sample(1, samples.to_vec()).unwrap()
    }

    /// The distance of the same function at other points, over that to another function.
    fn confusion(a: &Mat<f64>) -> f64 {
        let distance = |k: usize| {
            (0..a.nrows())
                .map(|i| (a[(i, k)] - a[(i, 0)]).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        distance(1) / distance(2)
    }

    #[test]
    fn coordinates_tell_functions_and_not_points_apart() {
        let spec = EncoderSpec::ridge(1e-12);
        let field = thrice();
        let raw = FieldEncoder::fit_raw(features(), &spec, Transform::None, &field)
            .unwrap()
            .1;
        let (encoder, framed) =
            FieldEncoder::fit(features(), &spec, Transform::None, &field).unwrap();
        assert!(confusion(&raw) > 0.1, "{}", confusion(&raw));
        assert!(confusion(&framed) < 1e-3, "{}", confusion(&framed));
        assert_eq!(encoder.encode(&field).unwrap(), framed);
    }

    /// $\|Ra\|$ is the root mean square of the function at the reference points.
    #[test]
    fn norms_are_those_of_functions() {
        let points = Points::linspace(0.0, 1.0, 200);
        let f = Mat::from_fn(200, 1, |i, _| (3.0 * points.point(i)[0]).cos());
        let mean_square = f.col(0).iter().map(|v| v * v).sum::<f64>() / 200.0;
        let field = Field::shared(points, vec![f]).unwrap();
        let (_, a) = FieldEncoder::fit(
            features(),
            &EncoderSpec::ridge(1e-14),
            Transform::None,
            &field,
        )
        .unwrap();
        assert!((a.squared_norm_l2() / mean_square - 1.0).abs() < 1e-4);
    }

    #[test]
    fn independent_functions_keep_their_coefficients() {
        for spec in [
            serde_json::json!({ "family": "fourier", "functions": 33 }),
            serde_json::json!({ "family": "polynomial", "functions": 20 }),
            serde_json::json!({ "family": "finite-elements", "functions": 30 }),
        ] {
            let basis = basis(spec);
            let frame = Frame::new(&basis, &thrice(), false).unwrap();
            assert!(frame.0[0].is_none(), "{}", basis.describe());
        }
    }
}
