//! What every [`CoefficientMap`] must satisfy; call [`check`] from the test of a new one.

use super::CoefficientMap;
use faer::{Mat, MatRef};

/// Columns of the widest batch: more than a map predicts at once.
const WIDE: usize = 1100;

/// Two ways to compute the same number may differ by rounding, relative to the largest output; kernel maps with a
/// small nugget have weights up to 1e5 times as large.
const ROUNDING: f64 = 1e-8;

/// Checks a fitted map at `coefficients`, one column per sample, of the size it was fitted to.
///
/// The kind is the one that settings and model files name; shapes agree; outputs are finite; a
/// sample's outputs do not depend on the samples beside it, nor on the number of threads; a batch
/// without samples gives one without samples.
///
/// # Panics
/// On the first property that does not hold.
pub fn check(map: &dyn CoefficientMap, kind: &str, coefficients: MatRef<'_, f64>) {
    assert_eq!(map.kind(), kind, "the name of the kind");
    assert!(!map.describe().trim().is_empty(), "a description");
    assert!(map.parameters() > 0, "fitted numbers");
    assert_eq!(map.inputs(), coefficients.nrows(), "one input per row");
    assert!(coefficients.ncols() > 0, "samples to predict");

    let together = map.predict(coefficients);
    let shape = (map.outputs(), coefficients.ncols());
    assert_eq!(together.shape(), shape, "one column per sample");
    for k in 0..together.ncols() {
        let finite = together.col(k).iter().all(|v| v.is_finite());
        assert!(finite, "finite outputs of sample {k}");
    }

    let tolerance = ROUNDING * together.norm_max().max(f64::MIN_POSITIVE);
    let samples = coefficients.ncols();
    for k in [0, samples / 2, samples - 1] {
        let alone = map.predict(coefficients.subcols(k, 1));
        check_equal(alone.as_ref(), together.as_ref().subcols(k, 1), tolerance);
    }
    let wide = Mat::from_fn(map.inputs(), WIDE, |i, k| coefficients[(i, k % samples)]);
    let expected = Mat::from_fn(map.outputs(), WIDE, |i, k| together[(i, k % samples)]);
    check_equal(
        map.predict(wide.as_ref()).as_ref(),
        expected.as_ref(),
        tolerance,
    );

    let none = map.predict(coefficients.subcols(0, 0));
    assert_eq!(none.shape(), (map.outputs(), 0), "no sample, no column");

    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let again = pool.expect("threads").install(|| map.predict(coefficients));
        assert!(
            again == together,
            "results differ bitwise on {threads} threads"
        );
    }
}

fn check_equal(found: MatRef<'_, f64>, expected: MatRef<'_, f64>, tolerance: f64) {
    assert_eq!(found.shape(), expected.shape(), "one column per sample");
    let off = (found - expected).norm_max();
    assert!(
        off <= tolerance,
        "outputs depend on the other samples: they differ by {off:e}, more than {tolerance:e}"
    );
}
