//! Whole figures: well formed whatever the data, and small.

use base64::Engine as _;

use super::*;

/// Panics unless every tag is closed in order, attributes are quoted, and no
/// stray markup is left in the text.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        for entity in rest[..start].split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "apos;"];
            assert!(known.iter().any(|k| entity.starts_with(k)), "&{entity}");
        }
        let length = rest[start..].find('>').expect("an open tag is not ended");
        let tag = &rest[start + 1..start + length];
        rest = &rest[start + length + 1..];
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in <{tag}>");
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "<{tag}>");
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a tag has a name"));
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    assert_eq!(rest.trim(), "");
}

fn grid(n: usize) -> Vec<f64> {
    (0..n).map(|k| k as f64 / (n - 1) as f64).collect()
}

fn map(x: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    x.iter().map(|x| f(*x)).collect()
}

/// An annulus sector of `m` by `n` quadrilaterals, each cut in two.
fn mesh(m: usize, n: usize) -> (Vec<[f64; 2]>, Vec<[usize; 3]>, Vec<f64>) {
    let (mut nodes, mut triangles, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for j in 0..=n {
        for i in 0..=m {
            let (s, r) = (i as f64 / m as f64 * 4.5, 0.4 + 0.6 * j as f64 / n as f64);
            nodes.push([r * s.cos(), r * s.sin()]);
            values.push((3.0 * s).sin() * r * r);
            if i < m && j < n {
                let k = j * (m + 1) + i;
                triangles.push([k, k + 1, k + m + 1]);
                triangles.push([k + 1, k + m + 2, k + m + 1]);
            }
        }
    }
    (nodes, triangles, values)
}

#[test]
fn figures_without_data_are_well_formed() {
    assert_well_formed(&Figure::new("").to_svg());
    let empty = Figure::new("a < b & \"c\"")
        .panel(Panel::lines("x^{2}", "<u>").series(Series::line("&", &[], &[])))
        .panel(Panel::heatmap("x", "y", [0, 0], &[]))
        .panel(Panel::scatter("x", "y", &[], &[], &[]).log_x())
        .panel(Panel::triangles("x", "y", &[], &[], &[]));
    assert_well_formed(&empty.to_svg());
}

#[test]
fn data_that_cannot_be_shown_are_skipped() {
    let bad = [f64::NAN, 1.0, f64::INFINITY, -1.0, 0.0, f64::MAX, 1e-320];
    for log in [false, true] {
        let mut lines = Panel::lines("x", "y")
            .series(Series::line_markers("a", &bad, &bad))
            .horizontal(f64::NAN, "none")
            .vertical(0.0, "zero");
        let mut scatter = Panel::scatter("x", "y", &bad, &bad, &bad);
        if log {
            lines = lines.log_x().log_y();
            scatter = scatter.log_x().log_y();
        }
        let nodes = [[0.0, 0.0], [1.0, 0.0], [f64::NAN, 1.0], [0.0, 1.0]];
        let triangles = [[0, 1, 2], [0, 1, 3], [0, 1, 9], [1, 1, 1]];
        let figure = Figure::new("bad")
            .panel(lines)
            .panel(scatter)
            .panel(Panel::heatmap("x", "y", [3, 3], &bad).colours(ColourScale::error("e")))
            .panel(Panel::triangles("x", "y", &nodes, &triangles, &bad[1..]));
        assert_well_formed(&figure.to_svg());
    }
}

#[test]
fn a_hundred_thousand_points_stay_small() {
    let x = grid(100_000);
    let y = map(&x, |x| (300.0 * x).sin());
    let line = Figure::new("").panel(Panel::lines("x", "y").series(Series::line("", &x, &y)));
    assert!(line.to_svg().len() < 40_000, "{}", line.to_svg().len());
    let dots = Figure::new("").panel(Panel::scatter("x", "y", &x, &y, &y));
    assert!(dots.to_svg().len() < 400_000, "{}", dots.to_svg().len());
}

#[test]
fn pictures_decode_to_the_size_of_their_grid() {
    let values = grid(40 * 20);
    let svg = Figure::new("")
        .panel(Panel::heatmap("x", "y", [40, 20], &values))
        .to_svg();
    let start = svg.find("base64,").unwrap() + "base64,".len();
    let length = svg[start..].find('"').unwrap();
    let png = base64::engine::general_purpose::STANDARD
        .decode(&svg[start..start + length])
        .unwrap();
    let reader = ::png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .unwrap();
    assert_eq!((reader.info().width, reader.info().height), (360, 360));
}

#[test]
fn a_shared_legend_names_every_series_once() {
    let x = grid(5);
    let panel = || {
        Panel::lines("x", "u")
            .series(Series::line("truth", &x, &x))
            .series(Series::line("model", &x, &x))
    };
    let svg = Figure::new("")
        .row([panel(), panel()])
        .shared_legend()
        .to_svg();
    assert_eq!(svg.matches(">truth<").count(), 1);
    assert_eq!(svg.matches(">model<").count(), 1);
}

fn curves() -> Figure {
    let x = grid(400);
    let truth = map(&x, |x| (6.3 * x).sin() * (-x).exp());
    let model = map(&x, |x| (6.3 * x + 0.1).sin() * (-x).exp());
    let n: Vec<f64> = (2..11).map(|k| 2f64.powi(k)).collect();
    let noisy = grid(50_000);
    let noise = map(&noisy, |x| {
        1e-5 * ((9e3 * x).sin() + 0.3 * (40.0 * x).cos()) * (1.0 + x)
    });
    let names = [
        "ridge regression",
        "random features with windows",
        "a network",
        "polynomials",
        "Fourier",
        "interpolation",
        "nothing",
    ];
    let mut many = Panel::lines("time t", "energy").title("Seven series, legend at the right");
    for (k, name) in names.iter().enumerate() {
        many = many.series(Series::line(
            name,
            &x,
            &map(&x, |x| 2000.0 * ((k + 1) as f64 * x).cos() + 9000.0),
        ));
    }
    Figure::new("Lines: truth and prediction, convergence, many points & <many> series")
        .panel(
            Panel::lines("x", "u(x)")
                .title("Sample 3 of the test set")
                .series(Series::line("truth", &x, &truth).colour(colour::BLACK))
                .series(Series::dashed("prediction", &x, &model))
                .vertical(0.62, "shock")
                .horizontal(0.0, ""),
        )
        .panel(
            Panel::lines("number of features N", "relative L^{2} error")
                .title("Convergence")
                .log_x()
                .log_y()
                .series(Series::line_markers(
                    "second order",
                    &n,
                    &map(&n, |n| 2.0 * n.powf(-2.1)),
                ))
                .series(Series::line_markers(
                    "slow",
                    &n,
                    &map(&n, |n| 0.9 * n.powf(-0.6)),
                ))
                .series(Series::markers(
                    "slower at first",
                    &n,
                    &map(&n, |n| 0.4 * n.powf(-0.8)),
                ))
                .series(Series::line("N^{−2}", &n, &map(&n, |n| n.powf(-2.0))))
                .horizontal(1e-5, "noise floor"),
        )
        .next_row()
        .panel(
            Panel::lines("t", "residual")
                .title("Fifty thousand points")
                .series(Series::line("", &noisy, &noise)),
        )
        .panel(many)
}

fn fields() -> Figure {
    let n = 48;
    let (mut truth, mut model) = (Vec::new(), Vec::new());
    for j in 0..n {
        for i in 0..n {
            let (x, y) = (i as f64 / 47.0, j as f64 / 47.0);
            truth.push((5.0 * x).sin() * (4.0 * y).cos() + x);
            model.push((5.1 * x).sin() * (4.0 * y).cos() + x);
        }
    }
    let signed: Vec<f64> = truth.iter().zip(&model).map(|(a, b)| a - b).collect();
    let error = map(&signed, |e| (1e-3 * e).abs());
    let u = ColourScale::field("u").covering(&truth).covering(&model);
    let panel = |values: &[f64], title: &str| {
        Panel::heatmap("x", "y", [n, n], values)
            .extent([0.0, 1.0], [0.0, 1.0])
            .equal_aspect()
            .title(title)
    };
    let (nodes, triangles, values) = mesh(36, 8);
    let phase = grid(3000);
    let (px, py) = (
        map(&phase, |t| (61.0 * t).cos() * (0.2 + t)),
        map(&phase, |t| (61.0 * t).sin() * (0.2 + t)),
    );
    Figure::new("Fields")
        .row([
            panel(&truth, "Truth").colours(u.clone()),
            panel(&model, "Prediction").colours(u),
            panel(&error, "Absolute error").colours(ColourScale::error("|u − û|")),
        ])
        .panel_size(230.0, 210.0)
        .next_row()
        .panel(
            Panel::triangles("x", "y", &nodes, &triangles, &values)
                .title("On a mesh")
                .colours(ColourScale::field("temperature")),
        )
        .panel(
            Panel::scatter("x_{1}", "x_{2}", &px, &py, &phase)
                .title("Scattered")
                .equal_aspect()
                .colours(ColourScale::field("time")),
        )
        .panel(
            panel(&error, "Free aspect")
                .free_aspect()
                .colours(ColourScale::error("|u − û|")),
        )
        .panel(
            Panel::heatmap("x", "y", [n, n], &signed)
                .extent([0.0, 4.0], [0.0, 1.0])
                .equal_aspect()
                .title("A flat domain")
                .colours(ColourScale::field("u − û")),
        )
}

fn awkward() -> Figure {
    let x = grid(60);
    let gaps = map(&x, |x| {
        if (0.4..0.5).contains(&x) {
            f64::NAN
        } else {
            x * x
        }
    });
    let constant = map(&x, |_| 1234567.0);
    Figure::new("Awkward data under a title that is far too long for the width of the figure, even though the figure is wide, having four panels, and so must be broken into lines, of which there are two")
        .row([
            Panel::lines("x", "u")
                .title("Constant, and a title too long for its panel, which is narrow")
                .series(Series::line("a series with a long name indeed", &x, &constant)),
            Panel::lines("a long label of the horizontal axis with its units [m s^{−1}]", "gaps")
                .series(Series::markers("gaps", &x, &gaps))
                .legend(Legend::Right)
                .vertical(0.45, "nothing here"),
            Panel::lines("no data", "at all").title("Nothing"),
            Panel::lines("Δt", "less than a decade")
                .log_x()
                .log_y()
                .series(Series::line_markers("", &map(&x, |x| 1e-6 + 1e-5 * x), &map(&x, |x| 2.2 + x))),
        ])
        .panel_size(200.0, 150.0)
}

#[test]
fn galleries_are_well_formed() {
    for figure in [curves(), fields(), awkward()] {
        let svg = figure.to_svg();
        assert_well_formed(&svg);
        assert!(svg.len() < 300_000, "{} bytes", svg.len());
    }
}

/// Writes figures to look at into the folder `C2CNET_GALLERY`.
#[test]
#[ignore = "writes files for a person to look at"]
fn gallery() {
    let folder = std::env::var("C2CNET_GALLERY").expect("C2CNET_GALLERY names a folder");
    for (name, figure) in [
        ("curves", curves()),
        ("fields", fields()),
        ("awkward", awkward()),
    ] {
        let path = std::path::Path::new(&folder).join(format!("{name}.svg"));
        std::fs::write(path, figure.to_svg()).expect("the folder can be written to");
    }
}
