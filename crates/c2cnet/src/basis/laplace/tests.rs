//! Tests of the eigenfunctions: known eigenvalues, orthonormality, derivatives.

use super::*;
use crate::basis::{BasisSpec, conformance};
use crate::domain::{Polygon, TriangleMesh, circle_ring, rectangle_ring};
use crate::linalg;
use std::f64::consts::PI;

const CONDITIONS: [Condition; 2] = [Condition::Neumann, Condition::Dirichlet];

fn build(spec: &LaplaceSpec) -> Laplace {
    BasisFamily::build(spec, BuildContext::on(&Bounds::unit(2))).unwrap()
}

fn on_polygon(polygon: &Polygon, condition: Condition, elements: usize) -> Laplace {
    build(&LaplaceSpec {
        condition,
        elements: Some(elements),
        ..LaplaceSpec::on(LaplaceMesh::Polygon(polygon.clone()), 8)
    })
}

/// Three unit squares.
fn l_shape() -> Polygon {
    let corners = [[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]];
    Polygon::new(corners.to_vec(), vec![]).unwrap()
}

fn holed() -> Polygon {
    let holes = vec![
        circle_ring([0.3, 0.3], 0.15, 16),
        circle_ring([0.7, 0.6], 0.12, 16),
    ];
    Polygon::new(rectangle_ring(&Bounds::unit(2)).unwrap(), holes).unwrap()
}

fn boxes() -> Vec<Laplace> {
    let mut all = Vec::new();
    for condition in CONDITIONS {
        for dim in 1..4 {
            let sides = (0..dim).map(|k| [-(k as f64), 1.0 + k as f64]).collect();
            let plain = Bounds::new(sides).unwrap();
            let ring = plain.clone().with_periods(&[true, false, true][..dim]);
            for domain in [plain, ring.unwrap()] {
                let spec = LaplaceSpec {
                    condition,
                    ..LaplaceSpec::new(37)
                };
                all.push(BasisFamily::build(&spec, BuildContext::on(&domain)).unwrap());
            }
        }
    }
    all
}

#[test]
fn conforms_on_boxes_and_meshes() {
    for basis in boxes() {
        conformance::check(&basis, <[f64]>::to_vec);
    }
    let inside = |polygon: &Polygon, p: &[f64]| match polygon.contains([p[0], p[1]]) {
        true => p.to_vec(),
        false => vec![0.05, 0.5],
    };
    for condition in CONDITIONS {
        for polygon in [l_shape(), holed()] {
            let basis = on_polygon(&polygon, condition, 700);
            conformance::check(&basis, |p| inside(&polygon, p));
        }
    }
}

#[test]
fn eigenvalues_of_boxes_are_the_smallest_ones_in_order() {
    let square = build(&LaplaceSpec::new(6)).eigenvalues();
    for (found, waves) in square.iter().zip([0.0, 1.0, 1.0, 2.0, 4.0, 4.0]) {
        assert!((found - waves * PI * PI).abs() < 1e-12 * (1.0 + found));
    }
    for basis in boxes() {
        let values = basis.eigenvalues();
        assert!(values.windows(2).all(|w| w[0] <= w[1] * (1.0 + 1e-14)));
    }
    // Twice as long: two waves along it cost as much as one across.
    let domain = Bounds::new(vec![[0.0, 2.0], [0.0, 1.0]]).unwrap();
    let long = LaplaceSpec::new(4)
        .build(BuildContext::on(&domain))
        .unwrap();
    let expected = [0.0, 0.25, 1.0, 1.0].map(|w| w * PI * PI);
    assert_eq!(long.eigenvalues(), expected);
}

/// Midpoint sums are exact for products of these cosines and sines.
#[test]
fn orthonormal_on_boxes() {
    for basis in boxes() {
        let domain = basis.domain();
        let n: usize = if domain.dim() == 3 { 30 } else { 100 };
        let axis =
            |k: usize, i: usize| domain.lower(k) + domain.width(k) * (i as f64 + 0.5) / n as f64;
        let count = n.pow(domain.dim() as u32);
        let coords = (0..count)
            .flat_map(|p| (0..domain.dim()).map(move |k| axis(k, p / n.pow(k as u32) % n)));
        let points = Points::new(domain.dim(), coords.collect()).unwrap();
        let phi = basis.evaluate(&points).unwrap().to_dense();
        let cell: f64 = (0..domain.dim())
            .map(|k| domain.width(k) / n as f64)
            .product();
        let gram = linalg::mul(phi.transpose(), phi.as_ref());
        for i in 0..basis.len() {
            for j in 0..basis.len() {
                let expected = if i == j { 1.0 } else { 0.0 };
                let off = (gram[(i, j)] * cell - expected).abs();
                assert!(off < 1e-10, "{i} {j} {off:e}: {}", basis.describe());
            }
        }
    }
}

/// Eigenvalues of quadratic elements on smooth eigenfunctions converge with the fourth order in the size of
/// elements, the second in their number.
#[test]
fn eigenvalues_of_the_square_converge() {
    let square = Polygon::rectangle(&Bounds::unit(2)).unwrap();
    for (condition, exact) in [(Condition::Neumann, 4.0), (Condition::Dirichlet, 8.0)] {
        let exact = exact * PI * PI;
        let error = |elements| {
            let found = on_polygon(&square, condition, elements).eigenvalues();
            let nearest = found.iter().map(|v| (v / exact - 1.0).abs());
            nearest.fold(f64::INFINITY, f64::min)
        };
        let errors = [500, 4000].map(error);
        let order = (errors[0] / errors[1]).ln() / 8f64.ln();
        assert!(order > 1.7 && errors[1] < 1e-5, "{errors:?}, order {order}");
    }
}

/// The first Dirichlet eigenvalue to 13 figures, and Dauge's Neumann eigenvalues; the corner slows the convergence.
#[test]
fn eigenvalues_of_the_l_converge() {
    let dirichlet = |elements| {
        let found = on_polygon(&l_shape(), Condition::Dirichlet, elements).eigenvalues();
        assert!(
            (found[2] / (2.0 * PI * PI) - 1.0).abs() < 1e-4,
            "the third is smooth"
        );
        found[0] / 9.639_723_844_021_9 - 1.0
    };
    let (coarse, fine) = (dirichlet(1000), dirichlet(8000));
    assert!(
        fine > 0.0 && fine < 2e-3 && fine < 0.5 * coarse,
        "{coarse:e} {fine:e}"
    );
    let neumann = on_polygon(&l_shape(), Condition::Neumann, 8000).eigenvalues();
    let known = [1.475_621_8, 3.534_031_4, PI * PI, PI * PI, 11.389_479_4];
    assert!(neumann[0].abs() < 1e-9);
    for (found, exact) in neumann[1..].iter().zip(known) {
        assert!((found / exact - 1.0).abs() < 2e-3, "{found} {exact}");
    }
}

#[test]
fn eigenvalues_of_the_disc_converge_with_its_corners() {
    let error = |corners: usize, condition, place: usize, exact: f64| {
        let disc = Polygon::new(circle_ring([0.0, 0.0], 1.0, corners), vec![]).unwrap();
        let found = on_polygon(&disc, condition, 3000).eigenvalues();
        (found[place] / exact - 1.0).abs()
    };
    let cases = [
        (Condition::Dirichlet, 0, 5.783_185_962_946_785),
        (Condition::Dirichlet, 2, 14.681_970_642_123_893),
        (Condition::Neumann, 1, 3.389_957_716_671_489),
        (Condition::Neumann, 2, 3.389_957_716_671_489),
    ];
    for (condition, place, exact) in cases {
        let [coarse, fine] = [24, 96].map(|corners| error(corners, condition, place, exact));
        assert!(fine < 2e-3 && fine < coarse / 10.0, "{coarse:e} {fine:e}");
    }
}

/// Sparse and dense solvers agree on a mesh whose symmetry makes eigenvalues multiple, and vectors are orthonormal.
#[test]
fn lanczos_finds_every_eigenvalue() {
    let mesh = TriangleMesh::rectangle(&Bounds::unit(2), 12, 12).unwrap();
    let triangles = LaplaceMesh::Triangles {
        nodes: mesh.nodes().to_vec(),
        triangles: mesh.triangles().to_vec(),
    };
    let few = build(&LaplaceSpec::on(triangles.clone(), 100));
    let all = build(&LaplaceSpec::on(triangles, 300));
    let (sparse, dense) = (few.eigenvalues(), all.eigenvalues());
    for (a, b) in sparse.iter().zip(&dense) {
        assert!((a - b).abs() < 1e-7 * (1.0 + b), "{a} {b}");
    }
    for basis in [few, all] {
        let Place::Mesh(place) = &basis.place else {
            unreachable!("a mesh");
        };
        let off = place.deviation_from_orthonormal();
        assert!(off < 1e-9, "{off:e}");
    }
}

#[test]
fn gradients_are_limits_of_differences() {
    let meshed = on_polygon(&holed(), Condition::Neumann, 700);
    let mut bases = boxes();
    bases.push(meshed);
    for basis in bases {
        let domain = basis.domain();
        let dim = domain.dim();
        let at = |k: usize, part: f64| domain.lower(k) + part * domain.width(k);
        // Away from holes and from edges of the mesh.
        let places = [[0.11, 0.513, 0.3], [0.5137, 0.071, 0.8]];
        for place in places {
            let point: Vec<f64> = (0..dim).map(|k| at(k, place[k])).collect();
            let here = Points::new(dim, point.clone()).unwrap();
            let gradient = basis.gradient(&here).unwrap();
            assert_eq!(gradient.len(), dim);
            for (k, gradient) in gradient.iter().enumerate() {
                let step = 1e-6 * domain.width(k);
                let moved = |by: f64| {
                    let mut point = point.clone();
                    point[k] += by;
                    let points = Points::new(dim, point).unwrap();
                    basis.evaluate(&points).unwrap().to_dense()
                };
                let (up, down) = (moved(step), moved(-step));
                for j in 0..basis.len() {
                    let expected = (up[(0, j)] - down[(0, j)]) / (2.0 * step);
                    let off = (gradient[(0, j)] - expected).abs();
                    assert!(
                        off < 1e-6 * (10.0 + expected.abs()),
                        "{off:e} {j}: {}",
                        basis.describe()
                    );
                }
            }
        }
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let vectors = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let basis = on_polygon(&holed(), Condition::Neumann, 900);
            let point = Points::new(2, vec![0.05, 0.5]).unwrap();
            (
                basis.eigenvalues(),
                basis.evaluate(&point).unwrap().to_dense(),
            )
        })
    };
    assert!(vectors(1) == vectors(3));
}

#[test]
fn impossible_settings_are_errors() {
    let error = |text: &str, dim: usize| {
        let spec: BasisSpec = serde_json::from_str(text).unwrap();
        let error = spec
            .build(BuildContext::on(&Bounds::unit(dim)))
            .unwrap_err();
        error.to_string()
    };
    let triangle =
        r#""mesh": {"triangles": {"nodes": [[0,0],[1,0],[0,1]], "triangles": [[0,1,2]]}}"#;
    for (text, dim, expected) in [
        (
            r#"{"family": "laplace", "functions": 0}"#.to_string(),
            1,
            "at least one",
        ),
        (
            r#"{"family": "laplace", "functions": 9000000}"#.to_string(),
            1,
            "more than",
        ),
        (
            r#"{"family": "laplace", "functions": 9, "elements": 90}"#.to_string(),
            2,
            "elements = 90",
        ),
        (
            r#"{"family": "laplace", "functions": 9, "slack": 0.5}"#.to_string(),
            2,
            "slack = 0.5",
        ),
        (
            r#"{"family": "laplace", "functions": 9, "mesh": "data"}"#.to_string(),
            2,
            "points shared",
        ),
        (
            format!(r#"{{"family": "laplace", "functions": 4, {triangle}}}"#),
            2,
            "between 1 and 3",
        ),
        (
            format!(r#"{{"family": "laplace", "functions": 2, "elements": 9, {triangle}}}"#),
            2,
            "remove",
        ),
        (
            format!(r#"{{"family": "laplace", "functions": 2, {triangle}}}"#),
            3,
            "dimension 3",
        ),
    ] {
        let message = error(&text, dim);
        assert!(
            message.starts_with("laplace: ") && message.contains(expected),
            "{message}"
        );
    }
    let flat = Bounds::new(vec![[0.0, 1.0], [2.0, 2.0]]).unwrap();
    let error = BasisFamily::build(&LaplaceSpec::new(3), BuildContext::on(&flat)).unwrap_err();
    assert!(error.to_string().contains("flat"), "{error}");
}
