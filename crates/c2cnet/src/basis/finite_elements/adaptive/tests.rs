//! Tests of adaptive meshes.

use super::super::{Boundary, FiniteElementsSpec, MeshSpec};
use super::*;
use crate::basis::conformance;
use crate::domain::{TriangleMesh, circle_ring, rectangle_ring};
use rand::{RngExt, SeedableRng};

fn spec(functions: usize, degree: Degree, mesh: MeshSpec) -> FiniteElementsSpec {
    FiniteElementsSpec {
        degree,
        functions: Some(functions),
        size: None,
        mesh,
        boundary: Boundary::Keep,
        slack: 0.0,
    }
}

fn on<'a>(domain: &'a Bounds, points: &'a Points, values: &'a Mat<f64>) -> BuildContext<'a> {
    BuildContext {
        points: Some(points),
        values: Some(values.as_ref()),
        ..BuildContext::on(domain)
    }
}

/// The relative error of the fit at the points.
fn floor(basis: &FiniteElements, points: &Points, values: &Mat<f64>) -> f64 {
    let spectrum = crate::encode::Spectrum::new(basis.evaluate(points).unwrap()).unwrap();
    let fitted = spectrum.expand(spectrum.project(values.as_ref()).as_ref());
    (values - fitted).norm_l2() / values.norm_l2()
}

fn l_shape() -> Polygon {
    let corners = [[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]];
    Polygon::new(corners.to_vec(), vec![]).unwrap()
}

fn holed() -> Polygon {
    let holes = vec![
        circle_ring([0.3, 0.3], 0.12, 40),
        circle_ring([0.7, 0.6], 0.15, 40),
    ];
    Polygon::new(rectangle_ring(&Bounds::unit(2)).unwrap(), holes).unwrap()
}

/// The nodes of a fine mesh of a polygon, and its triangles.
fn fine(polygon: &Polygon, size: f64) -> (Points, Vec<[usize; 3]>) {
    let mesh = TriangleMesh::constrained_delaunay(polygon, size).unwrap();
    let coords = mesh.nodes().iter().flatten().copied().collect();
    (Points::new(2, coords).unwrap(), mesh.triangles().to_vec())
}

#[test]
fn a_kink_takes_far_fewer_functions_than_on_a_uniform_mesh() {
    let points = Points::linspace(0.0, 1.0, 4001);
    let kink = 1.0 / 7f64.sqrt();
    let values = Mat::from_fn(points.len(), 3, |i, s| {
        let x = points.point(i)[0];
        (1.0 + s as f64) * (x - kink).abs() + s as f64 * x
    });
    let line = Bounds::unit(1);
    let context = on(&line, &points, &values);
    let adaptive = MeshSpec::Adaptive(AdaptiveStart::Box);
    let few = FiniteElements::new(&spec(32, Degree::Linear, adaptive), context).unwrap();
    let many = FiniteElements::new(&spec(512, Degree::Linear, MeshSpec::Box), context).unwrap();
    assert!(few.len() <= 32, "{}", few.len());
    let [a, u] = [&few, &many].map(|b| floor(b, &points, &values));
    assert!(a < 0.5 * u, "32 adaptive {a:e}, 512 uniform {u:e}");
}

#[test]
fn a_layer_is_resolved() {
    let points = Points::linspace(0.0, 1.0, 1001);
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
    let centres: Vec<f64> = (0..40).map(|_| 0.48 + 0.04 * rng.random::<f64>()).collect();
    let values = Mat::from_fn(points.len(), 40, |i, s| {
        ((points.point(i)[0] - centres[s]) / 0.005).tanh()
    });
    let line = Bounds::unit(1);
    for degree in [Degree::Linear, Degree::Quadratic] {
        let [a, u] = [MeshSpec::Adaptive(AdaptiveStart::Data), MeshSpec::Box].map(|mesh| {
            let context = on(&line, &points, &values);
            let basis = FiniteElements::new(&spec(64, degree, mesh), context).unwrap();
            floor(&basis, &points, &values)
        });
        assert!(a < 0.1 * u, "{degree:?}: adaptive {a:e}, uniform {u:e}");
    }
}

#[test]
fn a_corner_is_resolved() {
    let polygon = l_shape();
    let (points, triangles) = fine(&polygon, 0.04);
    let values = Mat::from_fn(points.len(), 2, |i, s| {
        let [x, y] = [points.point(i)[0] - 1.0, points.point(i)[1] - 1.0];
        // The angle from one side of the re-entrant corner, so that it is smooth inside.
        let angle = (-x - y).atan2(y - x) + 0.75 * std::f64::consts::PI;
        x.hypot(y).powf(2.0 / 3.0) * (2.0 / 3.0 * angle).sin() + s as f64 * 0.1 * x * y
    });
    let square = points.bounding_box().unwrap();
    let context = BuildContext {
        triangles: Some(&triangles),
        ..on(&square, &points, &values)
    };
    let [adaptive, uniform] = [
        MeshSpec::Adaptive(AdaptiveStart::Data),
        MeshSpec::Polygon(polygon),
    ]
    .map(|mesh| FiniteElements::new(&spec(150, Degree::Linear, mesh), context).unwrap());
    assert!(
        adaptive.len() <= 150 && adaptive.len() > 75,
        "{}",
        adaptive.len()
    );
    let [a, u] = [&adaptive, &uniform].map(|b| floor(b, &points, &values));
    assert!(a < 0.6 * u, "adaptive {a:e}, uniform {u:e}");
    let smallest = |b: &FiniteElements| {
        let areas = b.triangles().unwrap().areas();
        areas.into_iter().fold(f64::INFINITY, f64::min)
    };
    assert!(smallest(&adaptive) < 0.2 * smallest(&uniform));
}

#[test]
fn holes_are_kept_and_the_basis_needs_nothing_of_the_data() {
    let polygon = holed();
    let (points, triangles) = fine(&polygon, 0.03);
    let values = Mat::from_fn(points.len(), 1, |i, _| {
        let p = points.point(i);
        (-30.0 * ((p[0] - 0.3).hypot(p[1] - 0.3) - 0.12)).exp() + p[0]
    });
    let square = Bounds::unit(2);
    let context = BuildContext {
        triangles: Some(&triangles),
        ..on(&square, &points, &values)
    };
    for degree in [Degree::Linear, Degree::Quadratic] {
        for boundary in [Boundary::Keep, Boundary::Remove] {
            let mut spec = spec(200, degree, MeshSpec::Adaptive(AdaptiveStart::Data));
            spec.boundary = boundary;
            assert!(crate::basis::BasisFamily::depends_on_values(&spec));
            let basis = FiniteElements::new(&spec, context).unwrap();
            let again = FiniteElements::new(&spec, context).unwrap();
            assert_eq!(basis.triangles(), again.triangles());
            let mesh = basis.triangles().unwrap();
            // Euler with two holes.
            assert_eq!(
                mesh.nodes().len() + mesh.triangles().len() + 1,
                mesh.edges().len()
            );
            let area: f64 = mesh.areas().iter().sum();
            assert!((area - polygon.area()).abs() < 0.02, "{area}");
            let inside = |p: &[f64]| match basis.mesh.locate(p) {
                Some(_) => p.to_vec(),
                None => basis.nodes().point(0).to_vec(),
            };
            conformance::check(&basis, inside);
        }
    }
}

#[test]
fn residuals_are_those_of_fits_without_the_point() {
    let points = Points::linspace(0.0, 1.0, 14);
    let fields = Mat::from_fn(14, 1, |i, _| (5.0 * points.point(i)[0]).sin());
    let mesh = IntervalMesh::new(vec![0.0, 0.2, 0.5, 1.0]).unwrap();
    let basis = FiniteElements::on_interval(mesh, Degree::Linear, Boundary::Keep).unwrap();
    let design = basis.evaluate(&points).unwrap();
    let left = withheld_residuals(&basis, &design, fields.as_ref()).unwrap();
    for (i, &left) in left.iter().enumerate() {
        let others: Vec<usize> = (0..14).filter(|&k| k != i).collect();
        let spectrum =
            crate::encode::Spectrum::new(basis.evaluate(&points.select(&others)).unwrap()).unwrap();
        let exact = crate::encode::Regularisation::Ridge { lambda: 0.0 };
        let encoder = crate::encode::Encoder::new(spectrum, exact);
        let coefficients = encoder.encode(linalg::select_rows(fields.as_ref(), &others).as_ref());
        let found = basis
            .evaluate(&points.select(&[i]))
            .unwrap()
            .mul(coefficients.as_ref());
        let expected = (fields[(i, 0)] - found[(0, 0)]).powi(2);
        // Up to the penalty.
        assert!(
            (left - expected).abs() < 1e-2 * expected + 1e-9,
            "{left} {expected}"
        );
    }
}

#[test]
fn marked_elements_have_half_of_the_estimate() {
    let estimate = Estimate {
        elements: vec![1.0, 5.0, 0.0, 3.0, 4.0],
        parts: vec![[9, 9]; 5],
        total: 13.0,
    };
    assert_eq!(estimate.marked(&[true; 5]), [1, 4]);
    assert_eq!(estimate.marked(&[true, false, true, true, true]), [4]);
    assert!(estimate.marked(&[false; 5]).is_empty());
}

#[test]
fn what_the_mesh_has_is_not_refined() {
    let points = Points::linspace(-1.0, 2.0, 200);
    let values = Mat::from_fn(200, 2, |i, s| 1.0 + s as f64 * points.point(i)[0]);
    let domain = Bounds::new(vec![[-1.0, 2.0]]).unwrap();
    let adaptive = MeshSpec::Adaptive(AdaptiveStart::Box);
    let basis = FiniteElements::new(
        &spec(90, Degree::Quadratic, adaptive),
        on(&domain, &points, &values),
    );
    let basis = basis.unwrap();
    assert!(basis.len() < 20, "{}", basis.len());
}

#[test]
fn few_points_and_noise_end_in_fewer_functions() {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(11);
    let coords: Vec<f64> = (0..240).map(|_| rng.random()).collect();
    let points = Points::new(2, coords).unwrap();
    let noise = Mat::from_fn(120, 30, |_, _| rng.random::<f64>() - 0.5);
    let smooth = Mat::from_fn(120, 30, |i, s| {
        let p = points.point(i);
        (p[0] + 0.1 * s as f64).sin() * p[1]
    });
    let zero = Mat::zeros(120, 3);
    let square = Bounds::unit(2);
    for values in [&noise, &(&smooth + 0.1 * &noise), &smooth, &zero] {
        for degree in [Degree::Linear, Degree::Quadratic] {
            let adaptive = MeshSpec::Adaptive(AdaptiveStart::Box);
            let spec = spec(1000, degree, adaptive);
            let basis = FiniteElements::new(&spec, on(&square, &points, values)).unwrap();
            assert!(basis.len() <= 150, "{}", basis.len());
            let all_of_it = basis.evaluate(&points).unwrap();
            assert_eq!(all_of_it.nrows(), 120);
        }
    }
    let noisy = MeshSpec::Adaptive(AdaptiveStart::Box);
    let noisy = FiniteElements::new(
        &spec(100, Degree::Linear, noisy),
        on(&square, &points, &noise),
    );
    assert!(noisy.unwrap().len() < 30, "noise is not worth functions");
}

#[test]
fn impossible_settings_are_errors() {
    let [line, plane] = [1, 2].map(Bounds::unit);
    let points = Points::linspace(0.0, 1.0, 30);
    let values = Mat::from_fn(30, 2, |i, _| i as f64);
    let grid = Points::grid(&plane, &[6, 5]);
    let read = |text: &str| serde_json::from_str::<FiniteElementsSpec>(text).unwrap();
    let boxed = r#"{"mesh": {"adaptive": "box"}, "functions": 9}"#;
    let data = r#"{"mesh": {"adaptive": "data"}, "functions": 9}"#;
    let sized = r#"{"mesh": {"adaptive": "box"}, "size": 0.1}"#;
    let polygon =
        r#"{"mesh": {"adaptive": {"polygon": {"outer": [[0,0],[1,0],[0,1]]}}}, "functions": 9}"#;
    let space = Bounds::unit(3);
    for (text, context, says) in [
        (boxed, BuildContext::on(&line), "shared by all"),
        (
            sized,
            on(&line, &points, &values),
            "`functions` instead of `size`",
        ),
        (polygon, on(&line, &points, &values), "1 dimension;"),
        (data, on(&plane, &grid, &values), "needs `triangles`"),
        (boxed, on(&space, &points, &values), "dimension 3"),
        (boxed, on(&plane, &points, &values), "expected (n, 2)"),
    ] {
        let error = FiniteElements::new(&read(text), context)
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    assert!(FiniteElements::new(&read(boxed), on(&line, &points, &values)).is_ok());
    assert!(FiniteElements::new(&read(data), on(&line, &points, &values)).is_ok());
    let outside = FiniteElements::new(&read(polygon), on(&plane, &grid, &values));
    assert!(
        matches!(outside, Err(Error::OutsideDomain { .. })),
        "{outside:?}"
    );
}
