//! One-dimensional bases, function by function.

use super::{basis, picture};
use crate::run_files::Picture;
use c2cnet::Result;
use c2cnet::data::Points;
use c2cnet_figure::{Dash, Figure, Panel, Series};
use serde_json::{Value, json};

pub fn figure() -> Result<(Picture, String)> {
    // Features whose weights vanish are constant: what is left of them is the window.
    let windows = json!({"family": "random-features", "functions": 4, "partitions": [4],
        "scale": 1e-9, "activation": "cos"});
    let features =
        json!({"family": "random-features", "functions": 8, "partitions": [4], "seed": 1});
    let first = [
        panel("windows, 4 patches", windows)?,
        panel("random features, 2 a patch", features)?,
        panel(
            "finite elements P1",
            json!({"family": "finite-elements", "functions": 8}),
        )?,
        panel(
            "finite elements P2",
            json!({"family": "finite-elements", "functions": 9, "degree": 2}),
        )?,
    ];
    let radial = |kernel: &str| json!({"family": "radial", "functions": 8, "kernel": kernel, "centres": "grid"});
    let second = [
        panel("radial, Gaussian", radial("gaussian"))?,
        panel("radial, Wendland", radial("wendland"))?,
        panel(
            "Fourier, sine",
            json!({"family": "fourier", "kind": "sine", "functions": 5}),
        )?,
        panel(
            "Legendre polynomials",
            json!({"family": "polynomial", "functions": 5}),
        )?,
    ];
    let figure = Figure::new("Prescribed bases on an interval")
        .panel_size(215.0, 150.0)
        .row(first)
        .row(second);
    let picture = picture(
        "bases",
        "fig:1d_basis",
        "One-dimensional bases",
        "The paper shows the second and third panel: a localised random-feature basis with 4 patches and 2 \
         features each, and 8 nodal functions of degree 1. The windows sum to one everywhere and localise the \
         features. Bases that c2cnet adds to the paper’s are finite elements of degree 2, compactly supported \
         radial functions, trigonometric functions and polynomials.",
    );
    Ok((picture, figure.to_svg()))
}

fn panel(title: &str, settings: Value) -> Result<Panel> {
    let basis = basis(settings)?;
    let points = Points::linspace(0.0, 1.0, 241);
    let values = basis.evaluate(&points)?.to_dense();
    let mut panel = Panel::lines("x", "").title(title);
    for j in 0..values.ncols() {
        let column: Vec<f64> = values.col(j).iter().copied().collect();
        let series = Series::line("", points.coords(), &column);
        panel = panel.series(series.dash(Dash::Solid));
    }
    Ok(panel.into())
}
