//! The flow of one sample: observations, coefficients, coefficients, field.
//!
//! Curves, bases and coefficients are those of a sample of 1D Darcy flow; only the network is symbolic.

use super::{basis, picture};
use crate::run_files::Picture;
use c2cnet::Result;
use c2cnet::data::Points;
use c2cnet::encode::Regularisation;
use c2cnet::internal::encode_sample;
use c2cnet_figure::colour::{BLUE, GREEN, OKABE_ITO, Rgb, VERMILLION};
use c2cnet_figure::{Anchor, Stroke, Svg, Text, polyline};
use c2cnet_problems::{Darcy1d, Problem, Unwatched};
use faer::Mat;
use serde_json::json;

const WIDTH: f64 = 1080.0;
const HEIGHT: f64 = 240.0;
/// Top and height of everything between the titles and the notes.
const TOP: f64 = 44.0;
const TALL: f64 = 150.0;

const INK: Rgb = Rgb(0x33, 0x33, 0x33);
const FIXED: Rgb = Rgb(0xee, 0xf1, 0xf4);
const TRAINED: Rgb = Rgb(0xfb, 0xe9, 0xdc);

pub fn figure() -> Result<(Picture, String)> {
    let sample = Sample::new()?;
    let mut svg = Svg::default();
    // Left edge and width of the seven parts.
    let parts = [
        (16.0, 168.0),
        (212.0, 124.0),
        (364.0, 92.0),
        (484.0, 124.0),
        (636.0, 92.0),
        (756.0, 124.0),
        (908.0, 156.0),
    ];
    let words = [
        ("observations", "f at any points x_{i}"),
        ("encoder", "fixed: least squares in φ_{j}"),
        ("coefficients a", "f ≈ Σ a_{j} φ_{j}"),
        ("coefficient map", "the only part that is trained"),
        ("coefficients b", "u ≈ Σ b_{j} ψ_{j}"),
        ("decoder", "fixed: values of ψ_{j}"),
        ("field", "u at any points y"),
    ];
    for ((left, width), (title, note)) in parts.into_iter().zip(words) {
        let middle = left + 0.5 * width;
        let text =
            |y: f64, size: f64, words| Text::new(middle, y, size, words).anchor(Anchor::Middle);
        svg.text(&text(TOP - 16.0, 14.0, title).bold());
        svg.text(&text(TOP + TALL + 26.0, 12.0, note));
    }
    for pair in parts.windows(2) {
        arrow(&mut svg, pair[0].0 + pair[0].1 + 5.0, pair[1].0 - 5.0);
    }
    let boxes = parts.map(|(left, width)| Box { left, width });
    block(&mut svg, &boxes[1], FIXED);
    block(&mut svg, &boxes[3], TRAINED);
    block(&mut svg, &boxes[5], FIXED);
    boxes[0].curve(&mut svg, &sample.x, &sample.f, BLUE, true);
    boxes[1].functions(&mut svg, &sample.x, &sample.phi);
    boxes[2].bars(&mut svg, &sample.a, BLUE);
    network(&mut svg, &boxes[3]);
    boxes[4].bars(&mut svg, &sample.b, GREEN);
    boxes[5].functions(&mut svg, &sample.y, &sample.psi);
    boxes[6].curve(&mut svg, &sample.y, &sample.u, GREEN, false);
    let picture = picture(
        "workflow",
        "fig:workflow_FB-C2CNet",
        "The method",
        "Observations of the input become coefficients of a fixed basis; a map between coefficients is learned; \
         the output is a sum of fixed functions and can be evaluated anywhere. Shown is a sample of 1D Darcy \
         flow with 24 random features in 6 patches on both sides.",
    );
    Ok((picture, svg.document(WIDTH, HEIGHT, "The method")))
}

/// A sample and its coefficients.
struct Sample {
    x: Vec<f64>,
    f: Vec<f64>,
    phi: Mat<f64>,
    a: Vec<f64>,
    y: Vec<f64>,
    u: Vec<f64>,
    psi: Mat<f64>,
    b: Vec<f64>,
}

impl Sample {
    fn new() -> Result<Sample> {
        let problem = Darcy1d {
            n_train: 1,
            n_test: 0,
            points: 200,
            length: 0.12,
            ..Darcy1d::default()
        };
        let data = problem.samples(3, &Unwatched)?;
        let (input, output) = (data.inputs.only()?, data.outputs.only()?);
        let (phi, a) = encode(1, input.points_of(0), &input.values_of(0))?;
        let (psi, b) = encode(2, output.points_of(0), &output.values_of(0))?;
        Ok(Sample {
            x: input.points_of(0).coords().to_vec(),
            f: input.values_of(0).to_vec(),
            phi,
            a,
            y: output.points_of(0).coords().to_vec(),
            u: output.values_of(0).to_vec(),
            psi,
            b,
        })
    }
}

/// The functions of a basis at the points, and the coefficients of the values.
fn encode(seed: u64, points: &Points, values: &[f64]) -> Result<(Mat<f64>, Vec<f64>)> {
    let settings =
        json!({"family": "random-features", "functions": 24, "partitions": [6], "seed": seed});
    let basis = basis(settings)?;
    let design = basis.evaluate(points)?.to_dense();
    let ridge = Regularisation::Ridge { lambda: 1e-4 };
    let coefficients = encode_sample(design.as_ref(), values, ridge)?;
    Ok((design, coefficients))
}

/// Where a part of the flow is drawn.
struct Box {
    left: f64,
    width: f64,
}

impl Box {
    /// Values in `[low, high]` at parts of the width in `[0, 1]`, as points of the drawing.
    fn place(&self, x: f64, v: f64, [low, high]: [f64; 2]) -> (f64, f64) {
        let up = (v - low) / (high - low);
        (self.left + x * self.width, TOP + TALL * (1.0 - up))
    }

    /// A function, and dots where it is observed.
    fn curve(&self, svg: &mut Svg, x: &[f64], values: &[f64], colour: Rgb, observed: bool) {
        let range = range(values);
        let points: Vec<_> = x
            .iter()
            .zip(values)
            .map(|(x, v)| self.place(*x, *v, range))
            .collect();
        svg.stroke(&self.outline(), Stroke::solid(Rgb(0xcc, 0xd2, 0xd8), 1.0));
        svg.stroke(&polyline(&points), Stroke::solid(colour, 1.8));
        if observed {
            let dots: String = points
                .iter()
                .skip(4)
                .step_by(13)
                .map(|p| polyline(&[*p]))
                .collect();
            svg.stroke(&dots, Stroke::solid(INK, 5.0));
        }
    }

    /// Some of the functions of a basis, each on its own height.
    fn functions(&self, svg: &mut Svg, x: &[f64], basis: &Mat<f64>) {
        const SHOWN: usize = 6;
        let stride = basis.ncols() / SHOWN;
        for (k, colour) in OKABE_ITO.into_iter().take(SHOWN).enumerate() {
            let column: Vec<f64> = basis.col(k * stride + stride / 2).iter().copied().collect();
            let size = column.iter().fold(1e-12, |m: f64, v| m.max(v.abs()));
            let middle = 1.0 - (k as f64 + 0.5) / SHOWN as f64;
            let at = |(x, v): (&f64, &f64)| {
                let inside = 0.08 + 0.84 * x;
                let up = middle + 0.42 / SHOWN as f64 * v / size;
                self.place(inside, up, [0.0, 1.0])
            };
            let points: Vec<_> = x.iter().zip(&column).map(at).collect();
            svg.stroke(&polyline(&points), Stroke::solid(colour, 1.5));
        }
    }

    /// Coefficients as bars from the middle.
    fn bars(&self, svg: &mut Svg, values: &[f64], colour: Rgb) {
        let size = values.iter().fold(1e-12, |m: f64, v| m.max(v.abs()));
        let (n, range) = (values.len() as f64, [-1.05 * size, 1.05 * size]);
        let mut path = String::new();
        for (k, v) in values.iter().enumerate() {
            let (from, to) = ((k as f64 + 0.15) / n, (k as f64 + 0.85) / n);
            let corners = [(from, 0.0), (to, 0.0), (to, *v), (from, *v)];
            path += &polyline(&corners.map(|(x, v)| self.place(x, v, range)));
            path.push('z');
        }
        svg.fill(&path, colour, None);
        let axis = [0.0, 1.0].map(|x| self.place(x, 0.0, range));
        svg.stroke(&polyline(&axis), Stroke::solid(INK, 1.0));
    }

    fn outline(&self) -> String {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        polyline(&corners.map(|(x, v)| self.place(x, v, [0.0, 1.0]))) + "z"
    }
}

/// The smallest and the largest value, with some padding.
fn range(values: &[f64]) -> [f64; 2] {
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    let high = values.iter().copied().fold(f64::MIN, f64::max);
    let padding = 0.08 * (high - low).max(1e-12);
    [low - padding, high + padding]
}

fn block(svg: &mut Svg, part: &Box, colour: Rgb) {
    let rim = Stroke::solid(Rgb(0xb8, 0xc0, 0xc8), 1.0);
    svg.fill(&part.outline(), colour, Some(rim));
}

fn arrow(svg: &mut Svg, from: f64, to: f64) {
    let y = TOP + 0.5 * TALL;
    svg.stroke(
        &polyline(&[(from, y), (to - 5.0, y)]),
        Stroke::solid(INK, 1.6),
    );
    let tip = polyline(&[(to, y), (to - 8.0, y - 4.5), (to - 8.0, y + 4.5)]) + "z";
    svg.fill(&tip, INK, None);
}

/// A fully connected network.
fn network(svg: &mut Svg, part: &Box) {
    let layers = [4, 6, 6, 5];
    let place = |layer: usize, k: usize| {
        let across = 0.14 + 0.72 * layer as f64 / (layers.len() - 1) as f64;
        let up = (k as f64 + 0.5) / layers[layer] as f64;
        part.place(across, 0.08 + 0.84 * up, [0.0, 1.0])
    };
    let mut edges = String::new();
    for layer in 1..layers.len() {
        for from in 0..layers[layer - 1] {
            for to in 0..layers[layer] {
                edges += &polyline(&[place(layer - 1, from), place(layer, to)]);
            }
        }
    }
    svg.stroke(&edges, Stroke::solid(Rgb(0xe0, 0xb4, 0x94), 0.6));
    let mut nodes = String::new();
    for (layer, count) in layers.into_iter().enumerate() {
        for k in 0..count {
            nodes += &polyline(&[place(layer, k)]);
        }
    }
    svg.stroke(&nodes, Stroke::solid(VERMILLION, 8.0));
}
