//! The statements of the paper's Section 3, to rounding, on bases of every family.

use super::toy::{self, close, distance, norm2, random, scattered};
use crate::basis::{Blocks, Design, FieldBasis, RandomFeatures, RandomFeaturesSpec};
use crate::data::{Bounds, Field, Points, Scattered};
use crate::decode::{Evaluation, FieldDecoder, Withheld};
use crate::encode::{
    Encoder, EncoderSpec, EncodingDiagnostics, FieldEncoder, Regularisation, Spectrum, Transform,
    encode_sample,
};
use crate::linalg::{self, Svd};
use faer::Mat;
use proptest::prelude::*;
use rand::RngExt;
use serde_json::json;
use std::sync::Arc;

const LAMBDAS: [f64; 4] = [1e-10, 1e-6, 1e-3, 1e-1];

fn encoder(design: &Design, regularisation: Regularisation) -> Encoder {
    Encoder::new(Spectrum::new(design.clone()).unwrap(), regularisation)
}

/// $E$ column by column.
fn matrix_of(encoder: &Encoder, n: usize) -> Mat<f64> {
    encoder.encode(Mat::<f64>::identity(n, n).as_ref())
}

fn dense_svd(design: &Design) -> Svd {
    linalg::thin_svd(design.to_dense().as_ref()).unwrap()
}

/// How many singular values exceed rounding.
fn rank(svd: &Svd) -> usize {
    let noise = f64::EPSILON * svd.u.nrows().max(svd.v.nrows()) as f64 * svd.s[0];
    svd.s.iter().take_while(|&&s| s >= noise && s > 0.0).count()
}

#[test]
fn windowed_features_elements_and_wendland_functions_are_stored_by_blocks() {
    let points = scattered(2, 300, 1);
    for (name, design) in toy::planar_designs(&points) {
        let blocks = matches!(design, Design::Blocks(_));
        let dense = ["global", "fourier", "polynomial", "gaussian", "hybrid"];
        let expected = !dense.contains(&name);
        assert_eq!(blocks, expected, "{name}");
    }
}

/// `lem:regularized-encoder-stability`: equality and bound.
#[test]
fn ridge_encoder_norm_is_the_largest_filter_value_and_obeys_the_bound() {
    let points = scattered(2, 300, 1);
    for (name, design) in toy::planar_designs(&points) {
        let n = points.len();
        let sigma = dense_svd(&design).s;
        for lambda in LAMBDAS {
            let encoder = encoder(&design, Regularisation::Ridge { lambda });
            let e = matrix_of(&encoder, n);
            let norm = norm2(e.as_ref());
            let strength = n as f64 * lambda;
            let largest = sigma
                .iter()
                .map(|s| s / (s * s + strength))
                .fold(0.0, f64::max);
            assert!(
                close(norm, largest, 1e-9),
                "{name}, {lambda}: {norm} {largest}"
            );
            assert!(close(encoder.amplification(), norm, 1e-9), "{name}");
            let bound = 0.5 / strength.sqrt();
            assert!(norm <= bound * (1.0 + 1e-12), "{name}: {norm} > {bound}");
        }
    }
}

/// The Lipschitz inequality, and that it is sharp along the worst direction.
#[test]
fn ridge_encoder_is_lipschitz_with_its_norm() {
    let points = scattered(2, 300, 2);
    for (name, design) in toy::planar_designs(&points) {
        for lambda in LAMBDAS {
            let encoder = encoder(&design, Regularisation::Ridge { lambda });
            let (f, g) = (random(300, 20, 3), random(300, 20, 4));
            let (a, b) = (encoder.encode(f.as_ref()), encoder.encode(g.as_ref()));
            let bound = 0.5 / (300.0 * lambda).sqrt();
            for k in 0..20 {
                let inputs = (f.col(k) - g.col(k)).norm_l2();
                let coefficients = (a.col(k) - b.col(k)).norm_l2();
                assert!(coefficients <= bound * inputs, "{name}, pair {k}");
            }
            let e = matrix_of(&encoder, 300);
            let worst = linalg::thin_svd(e.as_ref()).unwrap();
            let image = encoder.encode(worst.v.as_ref().subcols(0, 1));
            assert!(close(image.norm_l2(), encoder.amplification(), 1e-9));
        }
    }
}

/// `prop:encoding-bias-ridge`: both parts, and the split that diagnostics report.
#[test]
fn ridge_reconstruction_shrinks_by_the_spectrum_and_the_bias_splits() {
    let points = scattered(2, 300, 5);
    let f = random(300, 6, 6);
    for (name, design) in toy::planar_designs(&points) {
        let svd = dense_svd(&design);
        let r = rank(&svd);
        let u = svd.u.as_ref().subcols(0, r);
        let alpha = linalg::mul(u.transpose(), f.as_ref());
        let inside = linalg::mul(u, alpha.as_ref());
        for lambda in LAMBDAS {
            let strength = 300.0 * lambda;
            let regularisation = Regularisation::Ridge { lambda };
            let a = encoder(&design, regularisation).encode(f.as_ref());
            let reconstructed = design.mul(a.as_ref());
            let kept = Mat::from_fn(r, 6, |i, k| {
                let s = svd.s[i] * svd.s[i];
                s / (s + strength) * alpha[(i, k)]
            });
            let expected = linalg::mul(u, kept.as_ref());
            let off = distance(reconstructed.as_ref(), expected.as_ref());
            assert!(off < 1e-9, "{name}, {lambda}: {off}");

            let spectrum = Spectrum::new(design.clone()).unwrap();
            let diagnostics = EncodingDiagnostics::new(&spectrum, regularisation, f.as_ref());
            for (k, bias) in diagnostics.bias.iter().enumerate() {
                let total = (f.col(k) - reconstructed.col(k)).squared_norm_l2();
                let shrinkage: f64 = (0..r)
                    .map(|i| (strength / (svd.s[i] * svd.s[i] + strength) * alpha[(i, k)]).powi(2))
                    .sum();
                let outside = (f.col(k) - inside.col(k)).squared_norm_l2();
                let scale = 1e-10 * f.col(k).squared_norm_l2();
                assert!(
                    (total - shrinkage - outside).abs() < scale,
                    "{name}: identity"
                );
                assert!((bias.shrinkage_squared - shrinkage).abs() < scale, "{name}");
                assert!(
                    (bias.unrepresentable_squared - outside).abs() < scale,
                    "{name}"
                );
                assert!(close(
                    bias.shrinkage_squared + bias.unrepresentable_squared,
                    total,
                    1e-9
                ));
            }
            assert_eq!(diagnostics.singular_values.len(), r, "{name}");
        }
    }
}

#[test]
fn ridge_equals_the_normal_equations_where_they_are_well_conditioned() {
    let points = scattered(2, 300, 7);
    let f = random(300, 5, 8);
    for (name, design) in toy::planar_designs(&points) {
        if !["fourier", "linear elements", "point values"].contains(&name) {
            continue;
        }
        let phi = design.to_dense();
        for lambda in [1e-4, 1e-2] {
            let mut gram = linalg::mul(phi.transpose(), phi.as_ref());
            for i in 0..gram.nrows() {
                gram[(i, i)] += 300.0 * lambda;
            }
            let mut expected = linalg::mul(phi.transpose(), f.as_ref());
            assert!(linalg::cholesky_in_place(gram.as_mut()));
            linalg::cholesky_solve_in_place(gram.as_ref(), expected.as_mut());
            let a = encoder(&design, Regularisation::Ridge { lambda }).encode(f.as_ref());
            let off = distance(a.as_ref(), expected.as_ref());
            assert!(off < 1e-11 * expected.norm_max(), "{name}: {off}");
        }
    }
}

#[test]
fn cut_off_equals_its_definition_and_amplifies_at_most_by_its_reciprocal() {
    let points = scattered(2, 300, 9);
    let f = random(300, 5, 10);
    for (name, design) in toy::planar_designs(&points) {
        let svd = dense_svd(&design);
        let r = rank(&svd);
        for part in [r / 3, 2 * r / 3] {
            // Between two singular values, so that rounding cannot decide what is kept; equal
            // ones (point values have no other) are kept together.
            let cut = match (svd.s[part - 1], svd.s[part]) {
                (above, below) if above - below > 1e-6 * above => 0.5 * (above + below),
                (above, _) => above * (1.0 - 1e-6),
            };
            let kept = svd.s.iter().filter(|&&s| s >= cut).count();
            let alpha = linalg::mul(svd.u.as_ref().subcols(0, kept).transpose(), f.as_ref());
            let scaled = Mat::from_fn(kept, 5, |i, k| alpha[(i, k)] / svd.s[i]);
            let expected = linalg::mul(svd.v.as_ref().subcols(0, kept), scaled.as_ref());
            for regularisation in [
                Regularisation::CutAbsolute { cut },
                Regularisation::CutRelative {
                    cut: cut / svd.s[0],
                },
            ] {
                let encoder = encoder(&design, regularisation);
                assert_eq!(encoder.rank(), kept, "{name}");
                let a = encoder.encode(f.as_ref());
                let off = distance(a.as_ref(), expected.as_ref());
                assert!(off < 1e-8 * expected.norm_max(), "{name}: {off}");
                let norm = norm2(matrix_of(&encoder, 300).as_ref());
                assert!(norm <= (1.0 + 1e-9) / cut, "{name}: {norm} {cut}");
                assert!(close(norm, 1.0 / svd.s[kept - 1], 1e-8), "{name}");
            }
        }
    }
}

fn separate(basis: Arc<dyn crate::basis::Basis>) -> FieldBasis {
    FieldBasis::separate(vec![basis]).unwrap()
}

/// `prop:output-space-lower-bound`, with points withheld from the fit and without.
#[test]
fn output_errors_obey_pythagoras_and_none_beats_the_floor() {
    let points = scattered(2, 150, 11);
    let u = random(150, 4, 12);
    let field = Field::shared(points.clone(), vec![u.clone()]).unwrap();
    for (name, json) in toy::planar_families() {
        for withhold in [0.0, 0.1] {
            let basis = separate(toy::basis(json.clone(), &points));
            let (decoder, _) = FieldDecoder::fit(
                basis,
                &field,
                &Withheld::choose(&field, withhold, 3),
                &[1e-6],
                3,
            )
            .unwrap();
            let r = decoder.rank();
            let evaluation = Evaluation::new(&decoder, &field, &Withheld::none()).unwrap();
            // The retained space at all points, through the public door.
            let identity = Mat::<f64>::identity(r, r);
            let space = decoder
                .decode(identity.as_ref(), &points)
                .unwrap()
                .remove(0);
            let svd = linalg::thin_svd(space.as_ref()).unwrap();
            let projected = linalg::mul(
                svd.u.as_ref(),
                linalg::mul(svd.u.transpose(), u.as_ref()).as_ref(),
            );
            let best = {
                let mut c = linalg::mul(svd.u.transpose(), u.as_ref());
                for i in 0..r {
                    for k in 0..4 {
                        c[(i, k)] /= svd.s[i];
                    }
                }
                linalg::mul(svd.v.as_ref(), c.as_ref())
            };
            for (predicted, at_best) in [(random(r, 4, 13), false), (best, true)] {
                let decoded = decoder.decode(predicted.as_ref(), &points).unwrap();
                let errors = evaluation.errors_squared(predicted.as_ref());
                for (k, &error) in errors.iter().enumerate() {
                    let direct = (u.col(k) - decoded[0].col(k)).squared_norm_l2();
                    let floor = (u.col(k) - projected.col(k)).squared_norm_l2();
                    let learnable = (projected.col(k) - decoded[0].col(k)).squared_norm_l2();
                    assert!(close(direct, error, 1e-9), "{name}: error");
                    let reported = evaluation.floor_squared[k];
                    assert!(close(floor, reported, 1e-9), "{name}: {floor} {reported}");
                    assert!(close(direct, floor + learnable, 1e-9), "{name}: Pythagoras");
                    assert!(error >= reported, "{name}: below the floor");
                    assert_eq!(at_best, close(error, reported, 1e-7), "{name}");
                }
            }
        }
    }
}

/// The loss in orthonormal coordinates is the loss at the fitted points.
#[test]
fn coordinate_errors_are_physical_errors() {
    let points = scattered(2, 150, 14);
    let values = vec![random(150, 4, 15), random(150, 4, 16)];
    let field = Field::shared(points.clone(), values.clone()).unwrap();
    for (name, json) in toy::planar_families() {
        for joint in [false, true] {
            let bases: Vec<_> = (0..2)
                .map(|c| {
                    let spec = toy::spec(json.clone()).for_component(c);
                    toy::basis(serde_json::to_value(spec).unwrap(), &points)
                })
                .collect();
            let basis = if joint {
                FieldBasis::joint(bases)
            } else {
                FieldBasis::separate(bases)
            };
            let (decoder, targets) = FieldDecoder::fit(
                basis.unwrap(),
                &field,
                &Withheld::choose(&field, 0.1, 5),
                &[1e-6],
                5,
            )
            .unwrap();
            let rows = decoder.withheld().fitted(0, points.len());
            let at = points.select(&rows);
            let predicted = random(decoder.rank(), 4, 17);
            let decoded = decoder.decode(predicted.as_ref(), &at).unwrap();
            let relative = targets.relative_errors(predicted.as_ref(), &[0, 1, 2, 3]);
            for k in 0..4 {
                let (mut off, mut norm) = (0.0, 0.0);
                for c in 0..2 {
                    for (i, &row) in rows.iter().enumerate() {
                        off += (decoded[c][(i, k)] - values[c][(row, k)]).powi(2);
                        norm += values[c][(row, k)].powi(2);
                    }
                }
                let direct = (off / norm).sqrt();
                assert!(
                    close(direct, relative[k], 1e-9),
                    "{name}, joint {joint}: {direct} {}",
                    relative[k]
                );
            }
            let perfect = targets.relative_errors(targets.coordinates.as_ref(), &[0, 1, 2, 3]);
            let mean = perfect.iter().sum::<f64>() / 4.0;
            assert!(close(mean, targets.floor(), 1e-12));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// `lem:lambda-loss-bound` for affine maps, whose growth is known.
    #[test]
    fn loss_of_an_affine_map_stays_below_the_uniform_bound(
        seed in 0u64..1000, exponent in -8i32..0, growth in 0.01f64..10.0,
    ) {
        let lambda = 10f64.powi(exponent);
        let (points, samples) = (scattered(2, 120, seed), 8);
        let input = toy::basis(json!({"family": "polynomial", "total_degree": 4}), &points);
        let phi = input.evaluate(&points).unwrap();
        let f = random(120, samples, seed + 1);
        let a = encoder(&phi, Regularisation::Ridge { lambda }).encode(f.as_ref());

        let output = separate(toy::basis(json!({"family": "finite-elements", "functions": 25}), &points));
        let psi = output.parts()[0].evaluate(&points).unwrap();
        let m2 = psi.ncols();
        let u = random(120, samples, seed + 2);
        let field = Field::shared(points.clone(), vec![u]).unwrap();
        let (decoder, targets) = FieldDecoder::fit(output, &field, &Withheld::none(), &[1e-12], 0).unwrap();
        let b = decoder.coefficients(targets.coordinates.as_ref());

        let linear = random(m2, a.nrows(), seed + 3) * faer::Scale(growth);
        let offset = random(m2, 1, seed + 4);
        let n_of_a = linalg::mul(linear.as_ref(), a.as_ref());
        let norm_of = |m: &Mat<f64>, k: usize| m.col(k).norm_l2();
        let largest = |m: &Mat<f64>| (0..samples).map(|k| norm_of(m, k)).fold(0.0, f64::max);
        let (r_f, b_b) = (largest(&f), largest(&b));
        let (b_n, l_n) = (offset.norm_l2(), norm2(linear.as_ref()));
        let c_d = norm2(psi.to_dense().as_ref());
        let bound = c_d * (b_b + b_n + l_n * r_f / (2.0 * (120.0 * lambda).sqrt()));
        let predicted = Mat::from_fn(m2, samples, |i, k| n_of_a[(i, k)] + offset[(i, 0)]);
        let loss = psi.mul((&predicted - &b).as_ref());
        for k in 0..samples {
            prop_assert!(loss.col(k).norm_l2() <= bound);
        }
    }

    /// Windows are a partition of unity on the closed box, whatever the patches.
    #[test]
    fn windows_sum_to_one(
        partitions in prop::collection::vec(1usize..5, 1..=5), seed in 0u64..1000,
    ) {
        let dim = partitions.len();
        let sides = (0..dim).map(|k| [-0.3 * k as f64, 1.0 + k as f64 / 7.0]).collect();
        let domain = Bounds::new(sides).unwrap();
        let patches: usize = partitions.iter().product();
        let spec = RandomFeaturesSpec {
            functions: patches,
            partitions: partitions.clone(),
            scale: 1.0,
            activation: Default::default(),
            coordinates: Default::default(),
            seed,
        };
        let basis = RandomFeatures::new(domain.clone(), spec).unwrap();
        let mut rng = toy::rng(seed);
        for _ in 0..50 {
            let point: Vec<f64> = (0..dim)
                .map(|k| match rng.random::<u32>() % 4 {
                    0 => domain.lower(k),
                    1 => domain.upper(k),
                    // Interfaces and the edges of overlaps.
                    2 => {
                        let cell = domain.width(k) / partitions[k] as f64;
                        let eighths = (rng.random::<u32>() as usize % (8 * partitions[k] + 1)) as f64;
                        (domain.lower(k) + cell * eighths / 8.0).min(domain.upper(k))
                    }
                    _ => domain.lower(k) + domain.width(k) * rng.random::<f64>(),
                })
                .collect();
            let windows = basis.windows(&point);
            let sum: f64 = windows.iter().map(|w| w.1).sum();
            prop_assert!((sum - 1.0).abs() < 1e-14, "{sum} at {point:?}");
            prop_assert!(windows.iter().all(|w| w.0 < patches && (0.0..=1.0).contains(&w.1)));
            let mut seen: Vec<usize> = windows.iter().map(|w| w.0).collect();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), windows.len(), "a patch counted twice");
        }
    }

    /// Coefficients of a function of the span come back.
    #[test]
    fn known_coefficients_are_recovered(seed in 0u64..1000, family in 0usize..4) {
        let points = scattered(2, 400, seed);
        let json = [
            json!({"family": "fourier", "modes": [5, 5]}),
            json!({"family": "polynomial", "kind": "chebyshev", "degrees": [4, 3]}),
            json!({"family": "finite-elements", "functions": 25, "degree": 2}),
            json!({"family": "radial", "functions": 25, "width": {"spacing": 0.7}}),
        ][family].clone();
        let design = toy::basis(json, &points).evaluate(&points).unwrap();
        let truth = random(design.ncols(), 3, seed);
        let f = design.mul(truth.as_ref());
        for regularisation in [
            Regularisation::CutRelative { cut: 1e-10 },
            Regularisation::Ridge { lambda: 0.0 },
        ] {
            let a = encoder(&design, regularisation).encode(f.as_ref());
            prop_assert!(distance(a.as_ref(), truth.as_ref()) < 1e-9);
        }
    }
}

/// Elements of degree 1 and 2 reproduce polynomials of that degree between the observations.
#[test]
fn finite_elements_reproduce_their_polynomials() {
    let linear = |p: &[f64]| {
        p.iter()
            .enumerate()
            .fold(0.3, |s, (k, x)| s + (k as f64 - 1.7) * x)
    };
    let quadratic =
        |p: &[f64]| linear(p) + p.iter().fold(0.0, |s, x| 2.0 * s + x * x) - p[0] * p[p.len() - 1];
    let corners = |inner: &[[f64; 2]]| {
        let mut nodes = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        nodes.extend(inner);
        nodes
    };
    for degree in [1, 2] {
        let function = |p: &[f64]| if degree == 1 { linear(p) } else { quadratic(p) };
        for (dim, mesh) in [
            (1, json!("box")),
            (1, json!({"nodes": [0.0, 0.1, 0.35, 0.4, 1.0]})),
            (2, json!("box")),
            (
                2,
                json!({"triangles": {
                    "nodes": corners(&[[0.3, 0.4]]),
                    "triangles": [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
                }}),
            ),
        ] {
            let (seen, unseen) = (scattered(dim, 300, 20), scattered(dim, 90, 21));
            let mut json = json!({"family": "finite-elements", "degree": degree, "mesh": mesh});
            if mesh == "box" {
                json["functions"] = json!(25);
            }
            let basis = toy::basis(json, &seen);
            let field =
                |points: &Points| Mat::from_fn(points.len(), 1, |i, _| function(points.point(i)));
            let encoder = encoder(
                &basis.evaluate(&seen).unwrap(),
                Regularisation::CutRelative { cut: 1e-10 },
            );
            let a = encoder.encode(field(&seen).as_ref());
            let between = basis.evaluate(&unseen).unwrap().mul(a.as_ref());
            let off = distance(between.as_ref(), field(&unseen).as_ref());
            assert!(off < 1e-11, "degree {degree} in {dim}D, {mesh}: {off}");
        }
    }
}

/// `rem:sample-dependent-observations`: one sample alone is encoded as among others.
#[test]
fn a_sample_at_its_own_points_is_encoded_as_with_shared_ones() {
    let points = scattered(2, 200, 22);
    let f = random(200, 3, 23);
    for (name, design) in toy::planar_designs(&points) {
        let svd = dense_svd(&design);
        let middle = rank(&svd) / 2;
        let mut cut = 0.5 * (svd.s[middle - 1] + svd.s[middle]);
        if svd.s[0] - svd.s[rank(&svd) - 1] < 1e-9 {
            cut *= 0.5;
        }
        for regularisation in [
            Regularisation::Ridge { lambda: 1e-6 },
            Regularisation::Ridge { lambda: 1e-2 },
            Regularisation::CutAbsolute { cut },
            Regularisation::CutRelative {
                cut: cut / svd.s[0],
            },
        ] {
            let shared = encoder(&design, regularisation).encode(f.as_ref());
            let dense = design.to_dense();
            for k in 0..3 {
                let values: Vec<f64> = f.col(k).iter().copied().collect();
                let alone = encode_sample(dense.as_ref(), &values, regularisation).unwrap();
                let off = (0..alone.len())
                    .map(|i| (alone[i] - shared[(i, k)]).abs())
                    .fold(0.0, f64::max);
                assert!(
                    off < 1e-8 * shared.norm_max(),
                    "{name}, {regularisation}: {off}"
                );
            }
        }
    }
    // The same through whole fields with two components.
    let values = vec![f, random(200, 3, 24)];
    let shared = Field::shared(points.clone(), values.clone()).unwrap();
    let scattered = (0..3)
        .map(|k| Scattered {
            points: points.clone(),
            values: shared.values_of(k),
        })
        .collect();
    let scattered = Field::per_sample(2, scattered).unwrap();
    for (name, json) in toy::planar_families() {
        for joint in [false, true] {
            let basis = || {
                let all = vec![toy::basis(json.clone(), &points); 2];
                if joint {
                    FieldBasis::joint(all).unwrap()
                } else {
                    FieldBasis::separate(all).unwrap()
                }
            };
            let spec = EncoderSpec::ridge(1e-5);
            let transform = Transform::Standardise;
            let (_, a) = FieldEncoder::fit(basis(), &spec, transform, &shared).unwrap();
            let (_, b) = FieldEncoder::fit(basis(), &spec, transform, &scattered).unwrap();
            let off = distance(a.as_ref(), b.as_ref());
            assert!(off < 1e-7, "{name}, joint {joint}: {off}");
        }
    }
}

/// The factorisation by blocks, and that of point values, against the dense one.
#[test]
fn block_spectra_agree_with_dense_ones() {
    let points = scattered(2, 300, 25);
    let f = random(300, 70, 26);
    let mut designs = toy::planar_designs(&points);
    // Columns of different norms, one of them unseen, and rows that belong to no function.
    let selection = (0..40)
        .map(|b| crate::basis::Block {
            rows: (0..7).map(|r| 7 * b + r).collect(),
            cols: vec![(3 * b + 1) % 41],
            values: random(7, 1, b as u64),
        })
        .collect();
    designs.push(("selection", Design::Blocks(Blocks::new(300, 41, selection))));
    for (name, design) in designs {
        if matches!(design, Design::Dense(_)) {
            continue;
        }
        let ours = Spectrum::new(design.clone()).unwrap();
        let dense = Spectrum::new(Design::Dense(design.to_dense())).unwrap();
        assert_eq!(ours.rank(), dense.rank(), "{name}");
        assert_eq!(ours.nrows(), 300);
        let sigma = dense.singular_values();
        for (a, b) in ours.singular_values().iter().zip(sigma) {
            assert!((a - b).abs() < 1e-12 * sigma[0], "{name}: {a} {b}");
        }
        let (c, d) = (ours.project(f.as_ref()), dense.project(f.as_ref()));
        let (p, q) = (ours.expand(c.as_ref()), dense.expand(d.as_ref()));
        assert!(
            distance(p.as_ref(), q.as_ref()) < 1e-11,
            "{name}: projections"
        );
        // Orthonormal: projecting what was expanded changes nothing.
        let again = ours.project(p.as_ref());
        assert!(distance(again.as_ref(), c.as_ref()) < 1e-12, "{name}");
        // Coordinates are determined up to sign where singular values stand apart.
        for i in 0..ours.rank() {
            let apart = |j: usize| (sigma[i] - sigma[j]).abs() > 1e-3 * sigma[0];
            if (i == 0 || apart(i - 1)) && (i + 1 == sigma.len() || apart(i + 1)) {
                for k in 0..f.ncols() {
                    assert!((c[(i, k)].abs() - d[(i, k)].abs()).abs() < 1e-9, "{name}");
                }
            }
        }
        let residuals =
            |s: &Spectrum, c: &Mat<f64>| s.residuals_squared(f.as_ref(), c.as_ref(), None);
        for (a, b) in residuals(&ours, &c).iter().zip(residuals(&dense, &d)) {
            assert!((a - b).abs() < 1e-10, "{name}: residuals {a} {b}");
        }
        let filter = Regularisation::Ridge { lambda: 1e-3 };
        let coefficients = |s: &Spectrum, c: Mat<f64>| {
            let g = filter.filter(s.singular_values(), 300);
            s.coefficients(&g, c)
        };
        let (a, b) = (coefficients(&ours, c), coefficients(&dense, d));
        assert!(distance(a.as_ref(), b.as_ref()) < 1e-10, "{name}");
    }
}
