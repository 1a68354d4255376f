//! All encoders against what every encoder must satisfy, and properties of their filters.

use super::*;
use crate::basis::{BasisSpec, BuildContext, FieldBasis};
use crate::data::{Bounds, Field, Points};
use faer::Mat;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use serde_json::json;

/// A few points per function, at random.
fn scattered_points(dim: usize, count: usize, seed: u64) -> Points {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let coords = (0..dim * count).map(|_| rng.random::<f64>()).collect();
    Points::new(dim, coords).unwrap()
}

fn basis(dim: usize, settings: serde_json::Value, components: usize, joint: bool) -> FieldBasis {
    let domain = Bounds::unit(dim);
    let spec: BasisSpec = serde_json::from_value(settings).unwrap();
    let one = spec.build(BuildContext::on(&domain)).unwrap();
    let all = vec![one; components];
    match joint {
        true => FieldBasis::joint(all).unwrap(),
        false => FieldBasis::separate(all).unwrap(),
    }
}

/// Coefficients, standardised or in a frame, are functions again.
#[test]
fn coordinates_give_the_values_of_functions() {
    let points = Points::linspace(0.0, 1.0, 80);
    let value = |c: usize, i: usize, k: usize| {
        let x = points.point(i)[0];
        2.0 + c as f64 + (3.0 * x + k as f64).cos() + 0.1 * k as f64 * x * x
    };
    let component = |c| faer::Mat::from_fn(80, 6, |i, k| value(c, i, k));
    let field = Field::shared(points.clone(), vec![component(0), component(1)]).unwrap();
    let features = json!({"family": "random-features", "functions": 40, "partitions": [2]});
    let polynomials = json!({"family": "polynomial", "functions": 12});
    for (settings, transform) in [
        (polynomials.clone(), Transform::None),
        (polynomials, Transform::LogStandardise),
        (features, Transform::Log),
    ] {
        for joint in [false, true] {
            let basis = basis(1, settings.clone(), 2, joint);
            // One coefficient for both components cannot distinguish them.
            let off = |v: f64| if joint { 1.0 } else { v };
            let spec = EncoderSpec::ridge(1e-12);
            let (encoder, a) = FieldEncoder::fit(basis, &spec, transform, &field).unwrap();
            let components = encoder.components_at(&points).unwrap();
            let found: Vec<faer::Mat<f64>> = (components.iter())
                .map(|c| {
                    let of_component = a.as_ref().subrows(c.first, c.values.ncols());
                    crate::linalg::mul(c.values.as_ref(), of_component)
                })
                .collect();
            for k in 0..6 {
                for row in 0..160 {
                    let truth = value(row / 80, row % 80, k);
                    let truth = if transform.takes_log() {
                        truth.ln()
                    } else {
                        truth
                    };
                    let (c, i) = (row / 80, row % 80);
                    let error = (found[c][(i, k)] + components[c].offsets[i] - truth).abs();
                    assert!(error < off(1e-3), "{transform:?} {row} {k}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn encoders_conform() {
    let settings = [
        (1, json!({"family": "polynomial", "functions": 7})),
        (
            2,
            json!({"family": "fourier", "kind": "cosine", "functions": 16}),
        ),
        (
            2,
            json!({"family": "random-features", "functions": 32, "partitions": [2, 2], "scale": 2.0}),
        ),
    ];
    for (dim, settings) in settings {
        let points = scattered_points(dim, 120, 1);
        for (components, joint) in [(1, false), (2, false), (2, true)] {
            let basis = basis(dim, settings.clone(), components, joint);
            for (spec, reproduction) in [
                (EncoderSpec::default(), 1e-3),
                (EncoderSpec::ridge(1e-6), 1e-2),
                (EncoderSpec::cut(1e-6), 1e-4),
                (
                    EncoderSpec {
                        method: Method::Svd,
                        relative_cut: Some(1e-4),
                        ..EncoderSpec::default()
                    },
                    1e-2,
                ),
            ] {
                conformance::check(&basis, &spec, &points, reproduction);
            }
        }
    }
}

fn regularisation() -> impl Strategy<Value = Regularisation> {
    (0..3, -14f64..0.0).prop_map(|(kind, exponent)| {
        let value = 10f64.powf(exponent);
        match kind {
            0 => Regularisation::Ridge { lambda: value },
            1 => Regularisation::CutAbsolute { cut: value },
            _ => Regularisation::CutRelative { cut: value },
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// $0 \le g(\sigma) \le 1/\sigma$, and zero singular values stay out.
    #[test]
    fn filters_lie_between_zero_and_the_reciprocal(
        regularisation in regularisation(),
        exponents in prop::collection::vec(-12f64..4.0, 1..20),
        n in 1usize..2000,
    ) {
        let mut sigma: Vec<f64> = exponents.iter().map(|e| 10f64.powf(*e)).collect();
        sigma.sort_by(|a, b| b.total_cmp(a));
        sigma.push(0.0);
        let filter = regularisation.filter(&sigma, n);
        prop_assert_eq!(filter.len(), sigma.len());
        for (g, s) in filter.iter().zip(&sigma) {
            prop_assert!(*g >= 0.0 && g * s <= 1.0 + 1e-15, "g({s}) = {g}");
        }
        prop_assert_eq!(filter[sigma.len() - 1], 0.0);
    }

    /// Coefficients of functions of the space are recovered, shared points or not, one component or
    /// several.
    #[test]
    fn coefficients_of_functions_of_the_space_are_recovered(
        seed in any::<u64>(),
        functions in 1usize..12,
        samples in 1usize..6,
        components in 1usize..3,
        joint in any::<bool>(),
        svd in any::<bool>(),
    ) {
        let settings = json!({"family": "polynomial", "functions": functions});
        let basis = basis(1, settings, components, joint);
        let points = scattered_points(1, 8 * functions, seed);
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed ^ 1);
        let truth = Mat::from_fn(basis.len(), samples, |_, _| rng.random_range(-1.0..1.0));
        let spec = if svd { EncoderSpec::cut(1e-12) } else { EncoderSpec::ridge(1e-26) };
        let n = points.len();
        let mut values = Vec::new();
        let mut start = 0;
        for (part, range) in basis.ranges() {
            let code = truth.as_ref().subrows(start, part.len());
            let stacked = part.evaluate(&points).unwrap().mul(code);
            values.extend((0..range.len()).map(|c| stacked.as_ref().subrows(c * n, n).to_owned()));
            start += part.len();
        }
        let field = Field::shared(points, values).unwrap();
        let (_, found) = FieldEncoder::fit_raw(basis, &spec, Transform::None, &field).unwrap();
        let off = (&found - &truth).norm_max();
        prop_assert!(off < 1e-8, "{off}");
    }
}

/// Smooth fields at every point, every second and every fourth one: with what is expected of coefficients they stay the
/// same, where least squares amplify what polynomials cannot represent, or do not determine them.
#[test]
fn coefficients_hold_at_fewer_points() {
    let field = |every: usize| {
        let points = Points::new(1, (0..97).step_by(every).map(|i| i as f64 / 96.0).collect());
        let points = points.unwrap();
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let draws: Vec<f64> = (0..60 * 200).map(|_| rng.random_range(-1.0..1.0)).collect();
        let values = faer::Mat::from_fn(points.len(), 200, |i, k| {
            let wave = |j: usize| {
                let turn = std::f64::consts::PI * j as f64 * points.point(i)[0];
                (-0.35 * j as f64).exp()
                    * (draws[60 * k + j] * turn.cos() + draws[60 * k + 30 + j] * turn.sin())
            };
            (0..30).map(wave).sum()
        });
        Field::shared(points, vec![values]).unwrap()
    };
    for (settings, least_squares_fail) in [
        (json!({"family": "polynomial", "functions": 22}), true),
        (
            json!({"family": "fourier", "kind": "cosine", "functions": 20}),
            false,
        ),
    ] {
        let spec = EncoderSpec::ridge(1e-14);
        let all = field(1);
        let (encoder, a) = FieldEncoder::fit(
            basis(1, settings.clone(), 1, false),
            &spec,
            Transform::None,
            &all,
        )
        .unwrap();
        let mut plain =
            FieldEncoder::fit(basis(1, settings, 1, false), &spec, Transform::None, &all)
                .unwrap()
                .0;
        plain.expect_nothing();
        let off = |encoder: &FieldEncoder, every: usize| {
            let found = encoder.encode(&field(every)).unwrap();
            let norm = |m: faer::MatRef<'_, f64>| m.squared_norm_l2().sqrt();
            norm((&found - &a).as_ref()) / norm(a.as_ref())
        };
        assert!(off(&encoder, 1) < 1e-12);
        let (half, quarter) = (off(&encoder, 2), off(&encoder, 4));
        assert!(half < 2e-2 && quarter < 0.1, "{half:e} {quarter:e}");
        let least_squares = off(&plain, 4);
        assert!(
            !least_squares_fail || least_squares > 10.0 * quarter,
            "{least_squares:e} {quarter:e}"
        );
        // With as many functions as these points there is nothing to determine them otherwise.
        assert!(off(&encoder, 8) < 0.7);
    }
}
