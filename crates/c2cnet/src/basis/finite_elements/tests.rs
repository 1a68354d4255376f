//! Tests of the finite-element basis.

use super::*;
use crate::basis::{BasisSpec, conformance};
use crate::domain::{Polygon, circle_ring, rectangle_ring};

const DEGREES: [Degree; 2] = [Degree::Linear, Degree::Quadratic];

fn holed() -> Polygon {
    let holes = vec![
        circle_ring([0.25, 0.3], 0.1, 20),
        circle_ring([0.7, 0.25], 0.12, 20),
        circle_ring([0.5, 0.75], 0.15, 20),
    ];
    Polygon::new(rectangle_ring(&Bounds::unit(2)).unwrap(), holes).unwrap()
}

fn from_json(text: &str, context: BuildContext<'_>) -> Result<FiniteElements> {
    let spec: FiniteElementsSpec = serde_json::from_str(text).expect("a specification");
    FiniteElements::new(&spec, context)
}

/// One basis of each kind of mesh.
fn bases(degree: Degree, boundary: Boundary) -> Vec<FiniteElements> {
    let graded = IntervalMesh::new((0..12).map(|i| (i * i) as f64 / 40.0 - 1.0).collect()).unwrap();
    let bounds = Bounds::new(vec![[-1.0, 2.0], [0.5, 1.5]]).unwrap();
    let structured = TriangleMesh::rectangle(&bounds, 6, 4).unwrap();
    let with_holes = TriangleMesh::constrained_delaunay(&holed(), 0.09).unwrap();
    vec![
        FiniteElements::on_interval(graded, degree, boundary).unwrap(),
        FiniteElements::on_triangles(structured, degree, boundary, 0.0).unwrap(),
        FiniteElements::on_triangles(with_holes, degree, boundary, 0.0).unwrap(),
    ]
}

/// Points all over the box, those off the mesh moved to a node.
fn inside(basis: &FiniteElements, point: &[f64]) -> Vec<f64> {
    match basis.mesh.locate(point) {
        Some(_) => point.to_vec(),
        None => basis.nodes().point(basis.len() / 3).to_vec(),
    }
}

fn probes(basis: &FiniteElements) -> Points {
    let counts = vec![if basis.domain.dim() == 1 { 301 } else { 37 }; basis.domain.dim()];
    let grid = Points::grid(&basis.domain, &counts);
    let coords = grid.iter().flat_map(|p| inside(basis, p)).collect();
    Points::new(grid.dim(), coords).unwrap()
}

#[test]
fn conforms_on_every_mesh() {
    for degree in DEGREES {
        for boundary in [Boundary::Keep, Boundary::Remove] {
            for basis in bases(degree, boundary) {
                conformance::check(&basis, |p| inside(&basis, p));
            }
        }
    }
    let disc = Polygon::new(circle_ring([0.0, 0.0], 1.0, 30), vec![]).unwrap();
    let mesh = TriangleMesh::constrained_delaunay(&disc, 0.2).unwrap();
    let basis = FiniteElements::on_triangles(mesh, Degree::Quadratic, Boundary::Keep, 0.1).unwrap();
    conformance::check(&basis, |p| inside(&basis, p));
    let circle = circle_ring([0.0, 0.0], 1.0, 500);
    let circle = Points::new(2, circle.into_iter().flatten().collect()).unwrap();
    assert!(basis.evaluate(&circle).is_ok(), "slack reaches the circle");
}

#[test]
fn polynomials_of_the_degree_are_reproduced() {
    for degree in DEGREES {
        let exact = |p: &[f64]| {
            let (x, y) = (p[0], p.get(1).copied().unwrap_or(0.3));
            let quadratic = 0.4 * x * x - 1.1 * x * y + 0.9 * y * y;
            1.0 + 2.0 * x - 3.0 * y
                + if degree == Degree::Quadratic {
                    quadratic
                } else {
                    0.0
                }
        };
        for basis in bases(degree, Boundary::Keep) {
            let nodes = basis.nodes();
            assert_eq!(nodes.len(), basis.len());
            let values = Mat::from_fn(nodes.len(), 1, |j, _| exact(nodes.point(j)));
            let points = probes(&basis);
            let found = basis.evaluate(&points).unwrap().mul(values.as_ref());
            for (i, p) in points.iter().enumerate() {
                let error = (found[(i, 0)] - exact(p)).abs();
                assert!(error < 1e-12, "{error} at {p:?}: {}", basis.describe());
            }
        }
    }
}

#[test]
fn functions_are_one_at_their_node_and_sum_to_one() {
    for degree in DEGREES {
        for basis in bases(degree, Boundary::Keep) {
            let at_nodes = basis.evaluate(&basis.nodes()).unwrap().to_dense();
            for i in 0..basis.len() {
                for j in 0..basis.len() {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert!((at_nodes[(i, j)] - expected).abs() < 1e-12);
                }
            }
            let ones = Mat::from_fn(basis.len(), 1, |_, _| 1.0);
            let points = probes(&basis);
            let sums = basis.evaluate(&points).unwrap().mul(ones.as_ref());
            assert!(sums.col(0).iter().all(|s| (s - 1.0).abs() < 1e-13));
        }
    }
}

#[test]
fn quadratic_elements_converge_faster() {
    // Nodal interpolation of a smooth function: orders 2 and 3.
    let errors = |degree| {
        [8, 16, 32].map(|n| {
            let mesh = TriangleMesh::rectangle(&Bounds::unit(2), n, n).unwrap();
            let basis = FiniteElements::on_triangles(mesh, degree, Boundary::Keep, 0.0).unwrap();
            let smooth = |p: &[f64]| (3.0 * p[0]).sin() * (2.0 * p[1]).cos();
            let nodes = basis.nodes();
            let values = Mat::from_fn(nodes.len(), 1, |j, _| smooth(nodes.point(j)));
            let points = Points::grid(&Bounds::unit(2), &[101, 103]);
            let found = basis.evaluate(&points).unwrap().mul(values.as_ref());
            let squares = points
                .iter()
                .enumerate()
                .map(|(i, p)| (found[(i, 0)] - smooth(p)).powi(2));
            squares.sum::<f64>().sqrt()
        })
    };
    for (degree, order) in [(Degree::Linear, 2.0), (Degree::Quadratic, 3.0)] {
        let [_, coarse, fine] = errors(degree);
        let slope = (coarse / fine).log2();
        assert!((slope - order).abs() < 0.1, "order {slope}, theory {order}");
    }
}

#[test]
fn without_the_boundary_functions_vanish_there() {
    for degree in DEGREES {
        for (kept, basis) in bases(degree, Boundary::Keep)
            .iter()
            .zip(bases(degree, Boundary::Remove))
        {
            let edge = match &basis.mesh {
                Mesh::Interval(mesh) => vec![mesh.lower(), mesh.upper()],
                Mesh::Triangles(mesh, _) => mesh
                    .boundary_edges()
                    .iter()
                    .flat_map(|&e| {
                        let [a, b] = mesh.edges()[e].map(|i| mesh.nodes()[i]);
                        [0.0, 0.3, 0.5].map(|t| [0, 1].map(|k| a[k] + t * (b[k] - a[k])))
                    })
                    .flatten()
                    .collect(),
            };
            let edge = Points::new(basis.domain.dim(), edge).unwrap();
            let values = basis.evaluate(&edge).unwrap().to_dense();
            for j in 0..basis.len() {
                assert!(values.col(j).iter().all(|v| v.abs() < 1e-12));
            }
            let removed = kept.len() - basis.len();
            let expected = match &basis.mesh {
                Mesh::Interval(_) => 2,
                // On closed rings there are as many nodes as edges.
                Mesh::Triangles(mesh, _) => {
                    mesh.boundary_edges().len() * usize::from(u8::from(degree))
                }
            };
            assert_eq!(removed, expected);
        }
    }
}

#[test]
fn a_point_in_a_hole_is_outside() {
    let basis = bases(Degree::Linear, Boundary::Keep).pop().unwrap();
    let points = Points::new(2, vec![0.02, 0.02, 0.5, 0.75]).unwrap();
    match basis.evaluate(&points) {
        Err(Error::OutsideDomain { index: 1, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_number_of_functions_is_met() {
    let spec = |boundary, degree, functions| FiniteElementsSpec {
        degree,
        functions: Some(functions),
        size: None,
        mesh: MeshSpec::Polygon(holed()),
        boundary,
        slack: 0.0,
    };
    let domain = Bounds::unit(2);
    for boundary in [Boundary::Keep, Boundary::Remove] {
        for degree in DEGREES {
            // Sixty corners on the holes need some 670 functions of degree 2.
            for wanted in [553, 1200].map(|n| n * usize::from(u8::from(degree))) {
                let spec = spec(boundary, degree, wanted);
                let basis = FiniteElements::new(&spec, BuildContext::on(&domain)).unwrap();
                let off = basis.len().abs_diff(wanted);
                assert!(off * 100 <= 3 * wanted, "{} for {wanted}", basis.len());
                let again = FiniteElements::new(&spec, BuildContext::on(&domain)).unwrap();
                assert_eq!(basis.triangles(), again.triangles(), "the same mesh again");
                // Cells of a box.
                let boxed = FiniteElementsSpec {
                    mesh: MeshSpec::Box,
                    ..spec
                };
                let wide = Bounds::new(vec![[0.0, 3.0], [0.0, 1.0]]).unwrap();
                let basis = FiniteElements::new(&boxed, BuildContext::on(&wide)).unwrap();
                let off = basis.len().abs_diff(wanted);
                assert!(off * 100 <= 5 * wanted, "{} for {wanted}", basis.len());
            }
        }
    }
    let crowded = spec(Boundary::Keep, Degree::Quadratic, 553);
    assert!(FiniteElements::new(&crowded, BuildContext::on(&domain)).is_err());
    let square = Polygon::rectangle(&Bounds::unit(2)).unwrap();
    let spec = FiniteElementsSpec {
        mesh: MeshSpec::Polygon(square),
        ..spec(Boundary::Keep, Degree::Linear, 553)
    };
    let basis = FiniteElements::new(&spec, BuildContext::on(&domain)).unwrap();
    assert!(basis.len().abs_diff(553) <= 16, "{}", basis.len());
    let line = Bounds::unit(1);
    let basis = from_json(r#"{"functions": 64}"#, BuildContext::on(&line)).unwrap();
    assert_eq!(basis.len(), 64);
    let basis = from_json(
        r#"{"functions": 65, "degree": 2, "boundary": "remove"}"#,
        BuildContext::on(&line),
    );
    assert_eq!(basis.unwrap().len(), 65);
    let basis = from_json(r#"{"size": 0.1}"#, BuildContext::on(&line)).unwrap();
    assert_eq!(basis.len(), 11);
}

#[test]
fn meshes_are_read_from_settings_and_data() {
    let plane = Bounds::unit(2);
    let text = r#"{"family": "finite-elements", "size": 0.2,
        "mesh": {"polygon": {"outer": [[0,0],[1,0],[1,1],[0,1]], "holes": [[[0.4,0.4],[0.6,0.4],[0.5,0.6]]]}}}"#;
    let spec: BasisSpec = serde_json::from_str(text).unwrap();
    let again = serde_json::to_string(&spec).unwrap();
    assert_eq!(spec, serde_json::from_str(&again).unwrap());
    assert!(spec.build(BuildContext::on(&plane)).unwrap().len() > 20);

    let points = Points::new(2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
    let triangles = [[0, 1, 2], [1, 2, 3]];
    let data = BuildContext {
        points: Some(&points),
        triangles: Some(&triangles),
        ..BuildContext::on(&plane)
    };
    let basis = from_json(r#"{"mesh": "data"}"#, data).unwrap();
    assert_eq!(basis.nodes(), points);
    let bare = BuildContext {
        triangles: None,
        ..data
    };
    assert!(from_json(r#"{"mesh": "data"}"#, bare).is_err());
    let flat = Points::linspace(0.0, 1.0, 4);
    let flat = BuildContext {
        points: Some(&flat),
        ..data
    };
    assert!(from_json(r#"{"mesh": "data"}"#, flat).is_err());
    let listed =
        r#"{"mesh": {"triangles": {"nodes": [[0,0],[1,0],[0,1]], "triangles": [[0,1,2]]}}}"#;
    assert_eq!(
        from_json(listed, BuildContext::on(&plane)).unwrap().len(),
        3
    );
    let line = Bounds::unit(1);
    let nodes = r#"{"mesh": {"nodes": [0, 0.1, 1]}, "degree": 2}"#;
    assert_eq!(from_json(nodes, BuildContext::on(&line)).unwrap().len(), 5);
}

#[test]
fn impossible_settings_are_errors() {
    let [line, plane, space] = [1, 2, 3].map(Bounds::unit);
    let flat = Bounds::new(vec![[0.0, 1.0], [0.5, 0.5]]).unwrap();
    let square = r#""mesh": {"polygon": {"outer": [[0,0],[1,0],[1,1],[0,1]]}}"#;
    let polygon = |rest: &str| format!("{{{square}, {rest}}}");
    for (text, domain) in [
        (r#"{}"#.to_string(), &line),
        (r#"{"functions": 0}"#.into(), &line),
        (r#"{"functions": 9, "size": 0.1}"#.into(), &line),
        (r#"{"size": -0.1}"#.into(), &line),
        (r#"{"size": 1e-12}"#.into(), &line),
        (r#"{"size": 1e-5}"#.into(), &plane),
        (r#"{"size": 2, "boundary": "remove"}"#.into(), &line),
        (r#"{"functions": 9, "slack": 0.1}"#.into(), &line),
        (r#"{"functions": 9, "slack": 2}"#.into(), &plane),
        (r#"{"functions": 9}"#.into(), &space),
        (r#"{"functions": 9}"#.into(), &flat),
        (r#"{"mesh": "data"}"#.into(), &line),
        (r#"{"mesh": "data", "functions": 9}"#.into(), &line),
        (r#"{"mesh": {"nodes": [0, 1]}}"#.into(), &plane),
        (polygon(r#""functions": 9"#), &line),
        (polygon(r#""functions": 2"#), &plane),
        (polygon(r#""size": 0"#), &plane),
    ] {
        assert!(
            from_json(&text, BuildContext::on(domain)).is_err(),
            "{text} on {domain}"
        );
    }
    for text in [
        r#"{"degree": 3}"#,
        r#"{"function": 3}"#,
        r#"{"mesh": {"polygon": {"outer": [[0,0],[1,1]]}}}"#,
        r#"{"mesh": {"polygon": {"outer": [[0,0],[1,0],[0,1]], "hole": []}}}"#,
    ] {
        assert!(
            serde_json::from_str::<FiniteElementsSpec>(text).is_err(),
            "{text}"
        );
    }
}

#[test]
fn cells_along_each_axis() {
    let wide = Bounds::new(vec![[0.0, 3.0], [0.0, 1.0]]).unwrap();
    let spec = r#"{"degree": 2, "mesh": {"cells": [5, 2]}}"#;
    let basis = from_json(spec, BuildContext::on(&wide)).unwrap();
    assert_eq!(
        (basis.len(), basis.triangles().unwrap().triangles().len()),
        (11 * 5, 20)
    );
    let line = Bounds::unit(1);
    let basis = from_json(r#"{"mesh": {"cells": [7]}}"#, BuildContext::on(&line)).unwrap();
    assert_eq!(basis.len(), 8);
    for (bad, says) in [
        (r#"{"mesh": {"cells": [5]}}"#, "each of the 2 axes"),
        (r#"{"mesh": {"cells": [5, 0]}}"#, "at least 1"),
        (r#"{"mesh": {"cells": [4000, 4000]}}"#, "too many"),
        (
            r#"{"functions": 30, "mesh": {"cells": [5, 2]}}"#,
            "remove `functions`",
        ),
    ] {
        let error = from_json(bad, BuildContext::on(&wide))
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{error}");
    }
}
