use super::*;
use crate::basis::{BasisSpec, BuildContext, CentreBox, conformance};
use crate::storage::Archive;

const KERNELS: [Kernel; 4] = [
    Kernel::Gaussian,
    Kernel::Multiquadric,
    Kernel::InverseMultiquadric,
    Kernel::Wendland,
];

fn spec(kernel: Kernel, functions: usize, centres: Centres, width: Option<Width>) -> RadialSpec {
    RadialSpec {
        kernel,
        functions,
        centres,
        width,
        seed: 3,
    }
}

fn stokes_boxes() -> Centres {
    Centres::Boxes(vec![
        CentreBox {
            bounds: Some(Bounds::new(vec![[-1.75, 1.75]; 2]).unwrap()),
            fraction: Some(0.75),
        },
        CentreBox::default(),
    ])
}

fn parse(text: &str) -> serde_json::Result<RadialSpec> {
    serde_json::from_str(text)
}

#[test]
fn conforms_in_every_setting() {
    for kernel in KERNELS {
        for dim in 1..5 {
            let sides = (0..dim).map(|k| [-(k as f64), 1.0 + k as f64]).collect();
            let domain = Bounds::new(sides).unwrap();
            let data = Points::grid(&domain, &vec![4; dim]);
            for (centres, functions) in [
                (Centres::Grid, 50),
                (Centres::Scattered, 50),
                (Centres::Data, 4),
                (Centres::Boxes(vec![CentreBox::default()]), 20),
            ] {
                for width in [
                    None,
                    Some(Width::Fixed(0.3)),
                    Some(Width::Interval([0.2, 0.9])),
                ] {
                    let spec = spec(kernel, functions, centres.clone(), width);
                    let basis = Radial::new(domain.clone(), spec, Some(&data)).unwrap();
                    conformance::check(&basis, <[f64]>::to_vec);
                }
            }
        }
    }
}

#[test]
fn values_follow_the_formulas() {
    let domain = Bounds::new(vec![[0.0, 2.0]]).unwrap();
    let x = Points::new(1, vec![1.3]).unwrap();
    for (kernel, expected) in [
        (Kernel::Gaussian, (-0.3f64 * 0.3 / (2.0 * 0.25)).exp()),
        (Kernel::Multiquadric, (1.0f64 + 0.36).sqrt()),
        (Kernel::InverseMultiquadric, 1.0 / (1.0f64 + 0.36).sqrt()),
        (Kernel::Wendland, 0.4f64.powi(4) * 3.4),
    ] {
        let spec = spec(kernel, 1, Centres::Grid, Some(Width::Fixed(0.5)));
        let basis = Radial::new(domain.clone(), spec, None).unwrap();
        assert_eq!(basis.centres().coords(), [1.0]);
        let value = basis.evaluate(&x).unwrap().to_dense()[(0, 0)];
        assert!((value - expected).abs() < 1e-15, "{kernel:?}: {value}");
    }
}

/// $\phi$, $\phi'$, $\phi''$ go to zero at the support's edge, $\phi''$ linearly; $\phi'(0) = 0$.
#[test]
fn wendland_is_twice_differentiable_with_compact_support() {
    for dim in 1..7 {
        let phi = |rho: f64| Kernel::Wendland.apply(rho.abs(), dim);
        let second = |rho: f64, h: f64| (phi(rho + h) - 2.0 * phi(rho) + phi(rho - h)) / (h * h);
        for h in [1e-2, 1e-3] {
            assert!(phi(1.0 - h) > 0.0 && phi(1.0 - h) < 10.0 * h.powi(4));
            assert!((phi(1.0 + h) - phi(1.0 - h)).abs() / (2.0 * h) < 10.0 * h * h);
            assert!(second(1.0, h).abs() < 10.0 * h * h);
            // $\phi''(0) = -p(p+1)$ from both sides, and $\phi'''(0+) = 2p(p^2-1)$.
            let p = (dim / 2 + 3).max(4) as f64;
            let jump = 2.0 * p * (p * p - 1.0);
            assert!((second(0.0, h) + p * (p + 1.0)).abs() < jump * h);
            assert!((second(h, h) - second(0.0, h)).abs() < jump * h);
        }
        assert_eq!(phi(1.0), 0.0);
        assert_eq!(phi(1.5), 0.0);
        assert_eq!(phi(0.0), 1.0);
    }
}

#[test]
fn wendland_is_sparse_and_equals_the_dense_matrix() {
    let domain = Bounds::new(vec![[-1.0, 2.0], [0.0, 1.0]]).unwrap();
    let points = Points::grid(&domain, &[61, 21]);
    // Widths so small for some that whole cells see no function.
    for width in [Width::Interval([0.05, 0.2]), Width::Fixed(0.01)] {
        let spec = spec(Kernel::Wendland, 200, Centres::Scattered, Some(width));
        let basis = Radial::new(domain.clone(), spec, None).unwrap();
        let design = basis.evaluate(&points).unwrap();
        assert!(design.to_dense() == basis.evaluate_dense(&points));
        let product = design.mul(Mat::<f64>::full(200, 2, 1.0).as_ref());
        assert!((0..points.len()).all(|i| product[(i, 1)].is_finite()));
        match design {
            Design::Blocks(b) => assert!(b.stored() < 61 * 21 * 200 / 10),
            _ => panic!("dense"),
        }
    }
}

#[test]
fn grids_keep_to_the_sides_proportions() {
    for (sides, functions, len) in [
        (vec![[0.0, 1.0]], 17, 17),
        (vec![[0.0, 1.0]; 2], 1024, 1024),
        (vec![[0.0, 1.0]; 2], 1000, 31 * 32),
        (vec![[0.0, 4.0], [0.0, 1.0]], 400, 400),
        (vec![[0.0, 1.0]; 3], 64, 64),
        (vec![[0.0, 1.0]; 10], 100, 64),
        (vec![[0.0, 1.0], [2.0, 2.0]], 12, 12),
        (vec![[2.0, 2.0]], 12, 1),
    ] {
        let domain = Bounds::new(sides).unwrap();
        let spec = spec(Kernel::Wendland, functions, Centres::Grid, None);
        let basis = Radial::new(domain.clone(), spec, None).unwrap();
        assert_eq!(basis.len(), len, "{domain} for {functions}");
        conformance::check(&basis, <[f64]>::to_vec);
    }
}

#[test]
fn boxes_follow_the_appendix() {
    let domain = Bounds::new(vec![[-4.0, 4.0], [-3.0, 3.0]]).unwrap();
    let spec = spec(Kernel::Gaussian, 1023, stokes_boxes(), None);
    let basis = Radial::new(domain.clone(), spec, None).unwrap();
    assert_eq!(basis.len(), 1023);
    let inside = |c: &[f64]| c.iter().all(|x| x.abs() <= 1.75);
    let centre_count = 767;
    assert!(basis.centres().iter().take(centre_count).all(inside));
    let rest: Vec<&[f64]> = basis.centres().iter().skip(centre_count).collect();
    assert_eq!(rest.len(), 256);
    assert!(rest.iter().all(|c| domain.contains(c)));
    // A quarter of the domain lies in the central box.
    let central = rest.iter().filter(|c| inside(c)).count();
    assert!((30..110).contains(&central), "{central}");
}

#[test]
fn data_centres_are_distinct_data_points() {
    let domain = Bounds::unit(2);
    let data = Points::grid(&domain, &[6, 6]);
    let chosen = spec(Kernel::Gaussian, 36, Centres::Data, None);
    let basis = Radial::new(domain.clone(), chosen.clone(), Some(&data)).unwrap();
    let sorted = |points: &Points| {
        let mut rows: Vec<Vec<f64>> = points.iter().map(<[f64]>::to_vec).collect();
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        rows
    };
    assert_eq!(sorted(basis.centres()), sorted(&data));
    let no_data = Radial::new(domain.clone(), chosen.clone(), None).unwrap_err();
    assert!(no_data.to_string().contains("shared by all training"));
    let more = RadialSpec {
        functions: 37,
        ..chosen
    };
    let error = Radial::new(domain, more, Some(&data)).unwrap_err();
    assert!(error.to_string().contains("37 centres") && error.to_string().contains("36 data"));
}

#[test]
fn widths_follow_their_settings() {
    let widths = |functions, centres, width| {
        let spec = spec(Kernel::Gaussian, functions, centres, width);
        Radial::new(Bounds::unit(2), spec, None).unwrap().widths
    };
    let fixed = widths(9, Centres::Grid, Some(Width::Fixed(0.4)));
    assert_eq!(fixed, vec![0.4; 9]);

    let drawn = widths(500, Centres::Scattered, Some(Width::Interval([0.1, 0.3])));
    assert!(drawn.iter().all(|s| (0.1..=0.3).contains(s)));
    assert!((drawn.iter().sum::<f64>() / 500.0 - 0.2).abs() < 0.01);

    // The middle of a 5 by 5 grid has four neighbours at a quarter; a corner's are farther.
    let spaced = widths(
        25,
        Centres::Grid,
        Some(Width::Spacing(Spacing { spacing: 2.0 })),
    );
    assert!((spaced[12] - 0.5).abs() < 1e-14);
    let corner = 2.0 * 0.25 * (1.0 + 1.0 + 2f64.sqrt() + 2.0) / 4.0;
    assert!((spaced[0] - corner).abs() < 1e-14);
    let default = widths(25, Centres::Grid, None);
    assert!((default[12] - 1.5 * 0.25).abs() < 1e-14);

    // One centre has no neighbour.
    assert!((widths(1, Centres::Grid, None)[0] - 1.5 * 2f64.sqrt()).abs() < 1e-14);
}

#[test]
fn settings_are_read_as_written() {
    let spec = parse(
        r#"{"kernel": "inverse-multiquadric", "functions": 8, "width": 1,
            "centres": {"boxes": [{"bounds": [[0, 0.5]], "fraction": 0.25}, {}]}}"#,
    )
    .unwrap();
    assert_eq!(spec.width, Some(Width::Fixed(1.0)));
    assert_eq!(Radial::new(Bounds::unit(1), spec, None).unwrap().len(), 8);
    let spec = parse(r#"{"functions": 8, "width": [0.1, 0.2], "centres": "scattered"}"#).unwrap();
    assert_eq!(spec.width, Some(Width::Interval([0.1, 0.2])));
    let spec = parse(r#"{"functions": 8, "width": {"spacing": 3}}"#).unwrap();
    assert_eq!(spec.width, Some(Width::Spacing(Spacing { spacing: 3.0 })));

    let text = r#"{"family": "radial", "functions": 5, "centres": "data"}"#;
    let spec: BasisSpec = serde_json::from_str(text).unwrap();
    let (domain, points) = (Bounds::unit(1), Points::linspace(0.0, 1.0, 9));
    let context = BuildContext {
        points: Some(&points),
        ..BuildContext::on(&domain)
    };
    assert_eq!(spec.build(context).unwrap().len(), 5);
    let text = r#"{"family": "radial", "functions": 5, "center": "data"}"#;
    let error = serde_json::from_str::<BasisSpec>(text).unwrap_err();
    assert!(error.to_string().contains("center"), "{error}");
}

#[test]
fn impossible_settings_are_errors() {
    for (text, says) in [
        (r#"{"functions": 8, "widths": 1}"#, "widths"),
        (
            r#"{"functions": 8, "width": "wide"}"#,
            "an interval [min, max]",
        ),
        (
            r#"{"functions": 8, "width": {"spacing": 1, "x": 2}}"#,
            "spacing = factor",
        ),
        (r#"{"functions": 8, "centres": "lattice"}"#, "lattice"),
        (
            r#"{"functions": 8, "centres": {"boxes": [{"fractoin": 0.5}]}}"#,
            "fractoin",
        ),
        (r#"{"functions": 8, "kernel": "cubic"}"#, "cubic"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    for (text, says) in [
        (r#"{"functions": 0}"#, "functions = 0"),
        (r#"{"functions": 18446744073709551615}"#, "between 1 and"),
        (r#"{"functions": 8, "width": 0}"#, "width = 0"),
        (r#"{"functions": 8, "width": -1}"#, "width = -1"),
        (r#"{"functions": 8, "width": 1e-12}"#, "at least"),
        (
            r#"{"functions": 8, "width": [0.2, 0.1]}"#,
            "write [0.1, 0.2]",
        ),
        (r#"{"functions": 8, "width": [0, 0.1]}"#, "positive"),
        (
            r#"{"functions": 8, "width": {"spacing": 0}}"#,
            "spacing = 0",
        ),
        (
            r#"{"functions": 8, "width": {"spacing": -1}}"#,
            "spacing = -1",
        ),
        (r#"{"functions": 8, "centres": {"boxes": []}}"#, "empty"),
        (
            r#"{"functions": 8, "centres": {"boxes": [{}, {}]}}"#,
            "box 1 of 2 of centres needs a fraction",
        ),
        (
            r#"{"functions": 8, "centres": {"boxes": [{"fraction": 0.5}]}}"#,
            "remove its fraction = 0.5",
        ),
        (
            r#"{"functions": 8, "centres": {"boxes": [{"fraction": 1.5}, {}]}}"#,
            "between 0 and 1",
        ),
        (
            r#"{"functions": 8, "centres": {"boxes": [{"fraction": 0.01}, {}]}}"#,
            "none of the 8",
        ),
        (
            r#"{"functions": 8, "centres": {"boxes":
                [{"fraction": 0.75}, {"fraction": 0.5}, {}]}}"#,
            "asks for 4 centres where 2 are left",
        ),
        (
            r#"{"functions": 8, "centres": {"boxes": [{"bounds": [[0, 1]]}]}}"#,
            "has 1 sides, the domain has 2",
        ),
        (
            r#"{"functions": 8, "centres": {"boxes": [{"bounds": [[0, 1], [3, 4]]}]}}"#,
            "outside the domain",
        ),
    ] {
        let error = Radial::new(Bounds::unit(2), parse(text).unwrap(), None).unwrap_err();
        assert!(error.to_string().starts_with("radial: "), "{error}");
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
}

#[test]
fn damaged_records_are_errors() {
    let spec = spec(Kernel::Gaussian, 4, Centres::Grid, None);
    let basis = Radial::new(Bounds::unit(2), spec, None).unwrap();
    let stored = Archive::of(&basis).unwrap();
    let refused = |archive: Archive| archive.restore::<Radial>("basis").is_err();
    for widths in [vec![], vec![1.0; 2], vec![-1.0; basis.len()]] {
        let mut damaged = stored.clone();
        damaged.put("widths", &widths);
        assert!(refused(damaged));
    }
    let mut missing = stored.clone();
    missing.remove("centres");
    assert!(refused(missing));
    assert!(!refused(stored));
}
