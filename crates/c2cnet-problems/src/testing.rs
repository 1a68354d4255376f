//! What the tests of several problems share.

use crate::{Problem, Unwatched, conformance, generate};
use c2cnet::data::{Dataset, Field};
use c2cnet::domain::TriangleMesh;
use serde_json::Value;

/// Checks that `problem(n_train, n_test)` conforms, splits its samples as asked, and gives the same sample
/// `k` for any counts around `count`.
pub(crate) fn check_reproducible<P: Problem + Sync>(
    count: usize,
    problem: impl Fn(usize, usize) -> P,
) {
    let make = |n_train, n_test| problem(n_train, n_test).samples(42, &Unwatched).unwrap();
    let fingerprint = |data: &Dataset, samples: std::ops::Range<usize>| {
        data.select(&samples.collect::<Vec<_>>()).fingerprint()
    };
    let n_train = count - 1;
    conformance::check(&problem(n_train, 1));
    let reference = make(n_train, 1);
    assert_eq!(
        (reference.samples(), reference.n_train),
        (count, Some(n_train))
    );
    for (n_train, n_test) in [(1, 0), (1, count - 3), (count, 3)] {
        let common = 0..count.min(n_train + n_test);
        let other = fingerprint(&make(n_train, n_test), common.clone());
        assert_eq!(
            other,
            fingerprint(&reference, common),
            "{n_train} and {n_test}"
        );
    }
    let first = fingerprint(&reference, 0..1);
    assert_ne!(first, fingerprint(&reference, 1..2), "samples differ");
    let other_seed = problem(1, 0).samples(43, &Unwatched).unwrap();
    assert_ne!(first, fingerprint(&other_seed, 0..1), "seeds differ");
}

/// A change of settings, and words of the resulting error message.
type Refusal<'a, P> = (fn(&mut P), &'a str);

/// Checks that each change of the default settings is refused with a message that has its words.
pub(crate) fn check_refused<P: Problem>(cases: &[Refusal<'_, P>]) {
    for (change, words) in cases {
        let mut settings = P::default();
        change(&mut settings);
        let message = settings.samples(0, &Unwatched).unwrap_err().to_string();
        assert!(message.contains(words), "{message:?} lacks {words:?}");
    }
}

/// As [`check_refused`], for settings as users write them.
pub(crate) fn check_refused_text(name: &str, cases: &[(Value, &str)]) {
    for (settings, words) in cases {
        let message = generate(name, settings.clone(), 0, &Unwatched)
            .unwrap_err()
            .to_string();
        assert!(message.contains(words), "{message:?} lacks {words:?}");
    }
}

/// The root mean square over all samples, points and components.
pub(crate) fn rms(field: &Field) -> f64 {
    let values = field.samples() * field.points_of(0).len() * field.components();
    (field.norms_squared().iter().sum::<f64>() / values as f64).sqrt()
}

/// The least-squares slope of $\log e$ over $\log h$.
pub(crate) fn fitted_order(steps: &[f64], errors: &[f64]) -> f64 {
    let x: Vec<f64> = steps.iter().map(|h| h.ln()).collect();
    let y: Vec<f64> = errors.iter().map(|e| e.ln()).collect();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>()
}

/// $\|a - b\| / \|b\|$.
pub(crate) fn relative_difference(a: &[f64], b: &[f64]) -> f64 {
    let difference: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    (difference / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
}

/// The mesh with every triangle cut into four similar ones by the midpoints of its edges.
pub(crate) fn refined(mesh: &TriangleMesh) -> TriangleMesh {
    let corners = mesh.nodes().len();
    let mut nodes = mesh.nodes().to_vec();
    for &[i, j] in mesh.edges() {
        nodes.push([0, 1].map(|d| 0.5 * (nodes[i][d] + nodes[j][d])));
    }
    let mut triangles = Vec::with_capacity(4 * mesh.triangles().len());
    for (&[a, b, c], edges) in mesh.triangles().iter().zip(mesh.triangle_edges()) {
        let [ab, bc, ca] = edges.map(|e| corners + e);
        triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    TriangleMesh::new(nodes, triangles).unwrap()
}
