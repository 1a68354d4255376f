//! Properties of orthonormal coordinates.

use super::*;
use crate::basis::{BasisSpec, BuildContext, FieldBasis};
use crate::data::{Bounds, Field, Points};
use crate::linalg;
use faer::Mat;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use serde_json::json;

fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random_range(-1.0..1.0))
}

fn random_points(count: usize, seed: u64) -> Points {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let coords = (0..2 * count).map(|_| rng.random::<f64>()).collect();
    Points::new(2, coords).unwrap()
}

fn basis(family: usize, components: usize, joint: bool) -> FieldBasis {
    let settings = [
        json!({"family": "polynomial", "total_degree": 4}),
        json!({"family": "finite-elements", "functions": 20}),
        json!({"family": "random-features", "functions": 24, "partitions": [2, 2], "scale": 2.0}),
    ];
    let spec: BasisSpec = serde_json::from_value(settings[family].clone()).unwrap();
    let one = spec.build(BuildContext::on(&Bounds::unit(2))).unwrap();
    let all = vec![one; components];
    match joint {
        true => FieldBasis::joint(all).unwrap(),
        false => FieldBasis::separate(all).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// $\|\Psi b - u\|^2 = \|\hat c - c\|^2 + \|u - UU^\top u\|^2$ for any $\hat c$, with points
    /// withheld or not.
    #[test]
    fn the_loss_splits_into_coordinates_and_floor(
        family in 0usize..3,
        components in 1usize..3,
        joint in any::<bool>(),
        withhold in prop_oneof![Just(0.0), 0.05f64..0.3],
        seed in any::<u64>(),
    ) {
        let (samples, points) = (3, random_points(90, seed));
        let values: Vec<Mat<f64>> = (0..components as u64)
            .map(|c| random(points.len(), samples, seed ^ (c + 1)))
            .collect();
        let field = Field::shared(points.clone(), values.clone()).unwrap();
        let basis = basis(family, components, joint);
        let (decoder, targets) = FieldDecoder::fit(basis, &field, &Withheld::choose(&field, withhold, 5), &[1e-6], 5).unwrap();
        let predicted = random(decoder.rank(), samples, seed ^ 9);
        let rows = decoder.withheld().fitted(0, points.len());
        let decoded = decoder.decode(predicted.as_ref(), &points.select(&rows)).unwrap();
        for k in 0..samples {
            let (mut loss, mut norm) = (0.0, 0.0);
            for (decoded, values) in decoded.iter().zip(&values) {
                for (i, &row) in rows.iter().enumerate() {
                    loss += (decoded[(i, k)] - values[(row, k)]).powi(2);
                    norm += values[(row, k)].powi(2);
                }
            }
            let off = (&predicted - &targets.coordinates).col(k).squared_norm_l2();
            let split = off + targets.outside_squared[k];
            prop_assert!((loss - split).abs() < 1e-8 * split, "{} {}", loss, split);
            prop_assert!((norm - targets.norm_squared[k]).abs() < 1e-10 * norm);
            prop_assert!(targets.outside_squared[k] <= norm * (1.0 + 1e-12));
        }
    }

    /// Decoding is linear, and what it decodes has the coordinates it was decoded from.
    #[test]
    fn decoding_is_linear_and_coordinates_come_back(
        family in 0usize..3,
        components in 1usize..3,
        joint in any::<bool>(),
        weight in -3.0f64..3.0,
        seed in any::<u64>(),
    ) {
        let points = random_points(90, seed);
        let values = (0..components as u64).map(|c| random(points.len(), 3, seed ^ (c + 1)));
        let field = Field::shared(points.clone(), values.collect()).unwrap();
        let make = || basis(family, components, joint);
        let (decoder, _) = FieldDecoder::fit(make(), &field, &Withheld::none(), &[1e-6], 5).unwrap();
        let (a, b) = (random(decoder.rank(), 2, seed ^ 7), random(decoder.rank(), 2, seed ^ 8));
        let elsewhere = random_points(30, seed ^ 3);
        let decode = |c: &Mat<f64>, at: &Points| decoder.decode(c.as_ref(), at).unwrap();
        let mixed = &a + &b * faer::Scale(weight);
        let whole = decode(&mixed, &elsewhere);
        for (c, (a, b)) in decode(&a, &elsewhere).iter().zip(decode(&b, &elsewhere)).enumerate() {
            let expected = a + b * faer::Scale(weight);
            let off = (&whole[c] - &expected).norm_max();
            prop_assert!(off <= 1e-9 * (1.0 + expected.norm_max()), "{}", off);
        }
        let again = Field::shared(points.clone(), decode(&a, &points)).unwrap();
        let (_, targets) = FieldDecoder::fit(make(), &again, &Withheld::none(), &[1e-6], 5).unwrap();
        prop_assert!((&targets.coordinates - &a).norm_max() < 1e-8);
        prop_assert!(targets.floor() < 1e-8);
    }
}

/// At the points of a grid nothing dense is formed; the figures are those of the decoded fields.
#[test]
fn errors_on_a_grid_are_those_of_decoded_fields() {
    let domain = Bounds::unit(2);
    let points = Points::grid(&domain, &[36, 33]);
    let u = Mat::from_fn(points.len(), 9, |i, k| {
        let (p, k) = (points.point(i), k as f64);
        (2.0 * p[0] + 0.3 * k).sin() * (1.0 + p[1] * p[0]).powf(0.1 * k)
    });
    let field = Field::shared(points.clone(), vec![u.clone()]).unwrap();
    let withheld = Withheld::choose(&field, 0.1, 0);
    for spec in [
        json!({"family": "fourier", "kind": "cosine", "functions": 80}),
        json!({"family": "polynomial", "functions": 66}),
    ] {
        let spec: BasisSpec = serde_json::from_value(spec).unwrap();
        let basis = spec.build(BuildContext::on(&domain)).unwrap();
        let design = basis.evaluate(&points).unwrap();
        assert!(matches!(design, crate::basis::Design::Separable(_)));
        let basis = FieldBasis::separate(vec![basis]).unwrap();
        let (decoder, targets) = FieldDecoder::fit(basis, &field, &withheld, &[1e-6], 0).unwrap();
        let predicted = Mat::from_fn(decoder.rank(), 9, |i, k| {
            targets.coordinates[(i, k)] + 1e-3 * ((i + k) as f64).sin()
        });
        let evaluation = Evaluation::new(&decoder, &field, &withheld).unwrap();
        let decoded = decoder
            .decode(predicted.as_ref(), &points)
            .unwrap()
            .remove(0);
        let off = decoded - &u;
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * b;
        let all = linalg::column_norms_squared(off.as_ref());
        let found = evaluation.errors_squared(predicted.as_ref());
        assert!(
            all.iter().zip(&found).all(|(a, b)| close(*a, *b)),
            "{all:?} {found:?}"
        );
        let rows = withheld.of_sample(0);
        let some = linalg::column_norms_squared(linalg::select_rows(off.as_ref(), rows).as_ref());
        let (found, _) = evaluation
            .withheld_errors_squared(predicted.as_ref())
            .unwrap();
        assert!(
            some.iter().zip(&found).all(|(a, b)| close(*a, *b)),
            "{some:?} {found:?}"
        );
        // The best approximation at the fitted points, at the others.
        let best = decoder
            .decode(targets.coordinates.as_ref(), &points)
            .unwrap()
            .remove(0);
        let off = linalg::select_rows((best - &u).as_ref(), rows);
        let floor = evaluation.withheld_floor_squared.unwrap();
        let expected = linalg::column_norms_squared(off.as_ref());
        // Down to 1e-20 of what there is to lose rounding in.
        let alike = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-3 * b;
        assert!(
            floor.iter().zip(&expected).all(alike),
            "{floor:?} {expected:?}"
        );
    }
}
