//! What every [`Basis`] must satisfy; call [`check`] from the test of a new one.

use super::{Basis, Design};
use crate::data::Points;
use crate::storage::Archive;
use rand::{RngExt, SeedableRng};

/// Checks a basis at random points of its domain.
///
/// Shapes agree; values are finite; a point's row does not depend on the points beside it; the
/// blocks and the dense matrix give the same products; points outside the domain and of another
/// dimension are errors; storing and loading gives the same bits, so the family must be registered.
///
/// `inside` maps a random point of the bounding box to one where the basis is defined (the
/// identity for boxes; a move off the holes for meshes).
///
/// # Panics
/// On the first property that does not hold.
pub fn check(basis: &dyn Basis, inside: impl Fn(&[f64]) -> Vec<f64>) {
    let domain = basis.domain();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let mut coords = Vec::new();
    let corner = (0..domain.dim()).map(|k| domain.lower(k)).collect();
    let far_corner = (0..domain.dim()).map(|k| domain.upper(k)).collect();
    let mut starts: Vec<Vec<f64>> = vec![corner, far_corner];
    starts.extend((0..60).map(|_| {
        (0..domain.dim())
            .map(|k| domain.lower(k) + domain.width(k) * rng.random::<f64>())
            .collect()
    }));
    for start in &starts {
        coords.extend(inside(start));
    }
    let points = Points::new(domain.dim(), coords).expect("finite points");

    let design = basis.evaluate(&points).expect("points of the domain");
    assert_eq!(design.nrows(), points.len(), "one row per point");
    assert_eq!(design.ncols(), basis.len(), "one column per function");
    assert!(!basis.is_empty(), "at least one function");
    let dense = design.to_dense();
    for j in 0..dense.ncols() {
        assert!(dense.col(j).iter().all(|v| v.is_finite()), "finite values");
    }

    for i in [0, points.len() / 2, points.len() - 1] {
        let alone = basis.evaluate(&points.select(&[i])).expect("one point");
        let alone = alone.to_dense();
        for j in 0..basis.len() {
            let (a, b) = (alone[(0, j)], dense[(i, j)]);
            assert!(
                (a - b).abs() <= 1e-12 * (1.0 + a.abs()),
                "row {i}, function {j}: {a} alone, {b} among others"
            );
        }
    }

    let coefficients =
        faer::Mat::from_fn(basis.len(), 3, |i, j| ((i * 7 + j * 3) % 11) as f64 - 5.0);
    let product = design.mul(coefficients.as_ref());
    let expected = Design::Dense(dense.clone()).mul(coefficients.as_ref());
    for k in 0..3 {
        for i in 0..points.len() {
            let (a, b) = (product[(i, k)], expected[(i, k)]);
            assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "product {a}, {b}");
        }
    }

    let outside: Vec<f64> = (0..domain.dim())
        .map(|k| domain.upper(k) + 0.5 * (1.0 + domain.width(k)))
        .collect();
    let outside = Points::new(domain.dim(), outside).expect("finite");
    assert!(basis.evaluate(&outside).is_err(), "outside is an error");
    let other_dim = Points::new(domain.dim() + 1, vec![0.5; domain.dim() + 1]).expect("finite");
    assert!(basis.evaluate(&other_dim).is_err(), "other dimension");

    assert!(!basis.describe().is_empty());
    let stored = Archive::of(basis).expect("stores");
    assert_eq!(
        stored.document["family"],
        basis.family(),
        "named by its family"
    );
    let file = stored.to_bytes().expect("bytes of a file");
    let stored = Archive::from_bytes(&file, "basis".as_ref()).expect("the same file");
    let loaded: Box<dyn Basis> = stored.restore("basis").expect("loads");
    assert_eq!(loaded.describe(), basis.describe());
    let again = loaded.evaluate(&points).expect("evaluates").to_dense();
    assert!(again == dense, "same bits after loading");
}
