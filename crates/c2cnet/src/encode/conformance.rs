//! What every encoder must satisfy; call [`check`] from the test of a new one.

use super::{EncoderSpec, FieldEncoder, Method, Regularisation, Spectrum, Transform};
use crate::basis::FieldBasis;
use crate::data::{Field, Points, Scattered};
use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};

/// Samples that settle the encoder.
const TRAINING: usize = 24;

/// Checks the encoder that `spec` settles for `basis`, at `points`.
///
/// Encoding is affine in the values, and linear unless a prior takes part; samples that share their
/// points get the same coefficients as samples that each bring them along; functions of the space
/// come back with a relative error of at most `reproduction` at the points; differences of the
/// values are amplified by no more than the regularisation allows.
///
/// # Panics
/// On the first property that does not hold.
pub fn check(basis: &FieldBasis, spec: &EncoderSpec, points: &Points, reproduction: f64) {
    let training = functions(basis, points, TRAINING, 1);
    let settled_on = match spec.method {
        Method::Prior => per_sample(points, &training),
        Method::Ridge | Method::Svd => shared(points, &training),
    };
    for raw in [true, false] {
        let fit = match raw {
            true => FieldEncoder::fit_raw,
            false => FieldEncoder::fit,
        };
        let (encoder, coefficients) =
            fit(basis.clone(), spec, Transform::None, &settled_on).expect("the encoder settles");
        assert!(!encoder.describe().is_empty(), "a description");
        let shape = (basis.len(), TRAINING);
        assert_eq!(coefficients.shape(), shape, "one column per sample");
        let again = encoder.encode(&settled_on).expect("encodes");
        check_close(again.as_ref(), coefficients.as_ref(), 1e-9);
        check_affine(&encoder, points, spec.method != Method::Prior);
        check_points_shared_or_not(&encoder, points);
        if raw {
            check_reproduction(&encoder, points, reproduction);
            check_amplification(&encoder, points);
        }
    }
    check_standardised(basis, spec, &settled_on);
}

/// Encoding $2f - g$ gives $2a - b$; zero gives zero where `linear`.
fn check_affine(encoder: &FieldEncoder, points: &Points, linear: bool) {
    let (f, g) = (noise(encoder, points, 2), noise(encoder, points, 3));
    let mixed: Vec<Mat<f64>> = (f.iter().zip(&g))
        .map(|(f, g)| f * faer::Scale(2.0) - g)
        .collect();
    let code = |values: &[Mat<f64>]| encoder.encode(&shared(points, values)).expect("encodes");
    let expected = code(&f) * faer::Scale(2.0) - code(&g);
    check_close(code(&mixed).as_ref(), expected.as_ref(), 1e-8);
    if linear {
        let zero: Vec<Mat<f64>> = f.iter().map(|f| f * faer::Scale(0.0)).collect();
        assert_eq!(code(&zero).norm_max(), 0.0, "zero is encoded as zero");
    }
}

fn check_points_shared_or_not(encoder: &FieldEncoder, points: &Points) {
    let values = functions(encoder.basis(), points, 3, 4);
    let shared = encoder.encode(&shared(points, &values)).expect("encodes");
    let own = encoder.encode(&per_sample(points, &values));
    check_close(own.expect("encodes").as_ref(), shared.as_ref(), 1e-6);
}

fn check_reproduction(encoder: &FieldEncoder, points: &Points, reproduction: f64) {
    let values = functions(encoder.basis(), points, 3, 5);
    let code = encoder.encode(&shared(points, &values)).expect("encodes");
    for (c, (again, value)) in evaluate(encoder.basis(), points, code.as_ref())
        .iter()
        .zip(&values)
        .enumerate()
    {
        let off = (again - value).norm_l2() / value.norm_l2();
        assert!(
            off <= reproduction,
            "component {c} of functions of the space comes back with an error of {off:e}"
        );
    }
}

/// $\|E(f - g)\| \le \|E\|_2\|f - g\|$ with the bound of each regularisation in place of the norm.
fn check_amplification(encoder: &FieldEncoder, points: &Points) {
    let (f, g) = (noise(encoder, points, 6), noise(encoder, points, 7));
    let code = |values: &[Mat<f64>]| encoder.encode(&shared(points, values)).expect("encodes");
    let difference = code(&f) - code(&g);
    let mut start = 0;
    let parts = encoder.basis().ranges().zip(encoder.regularisations());
    for ((part, range), regularisation) in parts {
        let design = part.evaluate(points).expect("points of the domain");
        let n = design.nrows();
        let spectrum = Spectrum::new(design).expect("factors");
        let sigma = spectrum.singular_values();
        let unregularised = 1.0 / sigma[sigma.len() - 1];
        let bound = match *regularisation {
            Regularisation::Ridge { lambda } => 0.5 / (n as f64 * lambda).sqrt(),
            Regularisation::CutAbsolute { cut } => 1.0 / cut,
            Regularisation::CutRelative { cut } => 1.0 / (cut * sigma[0]),
        }
        .min(unregularised);
        for k in 0..difference.ncols() {
            let moved = difference.col(k).subrows(start, part.len()).norm_l2();
            let values = range
                .clone()
                .map(|c| (&f[c] - &g[c]).col(k).squared_norm_l2());
            let given = values.sum::<f64>().sqrt();
            assert!(
                moved <= bound * given * (1.0 + 1e-6),
                "{regularisation} amplifies by {:e}, more than {bound:e}",
                moved / given
            );
        }
        start += part.len();
    }
}

/// Standardised coefficients have mean 0 and deviation 1 over the training samples.
fn check_standardised(basis: &FieldBasis, spec: &EncoderSpec, field: &Field) {
    let fitted = FieldEncoder::fit(basis.clone(), spec, Transform::Standardise, field);
    let (_, coefficients) = fitted.expect("the encoder settles");
    for i in 0..coefficients.nrows() {
        let row = coefficients.row(i);
        let mean = row.iter().sum::<f64>() / TRAINING as f64;
        let square = row.iter().map(|v| v * v).sum::<f64>() / TRAINING as f64;
        assert!(mean.abs() < 1e-6, "coefficient {i} has mean {mean:e}");
        let still = square == 0.0;
        assert!(
            still || (square - 1.0).abs() < 1e-6,
            "its square is {square}"
        );
    }
}

fn check_close(found: MatRef<'_, f64>, expected: MatRef<'_, f64>, tolerance: f64) {
    let off = (found - expected).norm_l2() / expected.norm_l2().max(f64::MIN_POSITIVE);
    assert!(off <= tolerance, "coefficients differ by {off:e}, relative");
}

/// `samples` random functions of the space: one matrix per component, one column per sample.
fn functions(basis: &FieldBasis, points: &Points, samples: usize, seed: u64) -> Vec<Mat<f64>> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let code = Mat::from_fn(basis.len(), samples, |_, _| rng.random_range(-1.0..1.0));
    evaluate(basis, points, code.as_ref())
}

fn evaluate(basis: &FieldBasis, points: &Points, code: MatRef<'_, f64>) -> Vec<Mat<f64>> {
    let n = points.len();
    let mut values = Vec::new();
    let mut start = 0;
    for (part, range) in basis.ranges() {
        let design = part.evaluate(points).expect("points of the domain");
        let stacked = design.mul(code.subrows(start, part.len()));
        values.extend((0..range.len()).map(|c| stacked.as_ref().subrows(c * n, n).to_owned()));
        start += part.len();
    }
    values
}

/// Values that need not belong to the space.
fn noise(encoder: &FieldEncoder, points: &Points, seed: u64) -> Vec<Mat<f64>> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    (0..encoder.basis().components())
        .map(|_| Mat::from_fn(points.len(), 3, |_, _| rng.random_range(-1.0..1.0)))
        .collect()
}

fn shared(points: &Points, values: &[Mat<f64>]) -> Field {
    Field::shared(points.clone(), values.to_vec()).expect("finite values")
}

fn per_sample(points: &Points, values: &[Mat<f64>]) -> Field {
    let sample = |k: usize| Scattered {
        points: points.clone(),
        values: values
            .iter()
            .flat_map(|v| v.col(k).iter().copied())
            .collect(),
    };
    let samples = (0..values[0].ncols()).map(sample).collect();
    Field::per_sample(values.len(), samples).expect("finite values")
}
