//! Stokes flow around obstacles, with streamlines and the sensors downstream.

use super::picture;
use crate::run_files::Picture;
use c2cnet::{Error, Result};
use c2cnet_figure::{ColourScale, Figure, Overlay, Panel};
use c2cnet_problems::stokes::{Flow, Obstacle, Shape, flow};
use c2cnet_problems::{StokesInverse, sample_stream};

/// Half of the box's side.
const HALF: f64 = 3.0;
/// Pixels of the speed along each side.
const CELLS: usize = 180;
const SEED: u64 = 0;

pub fn figure() -> Result<(Picture, String)> {
    let is_circle = |o: &[Obstacle]| matches!(shapes(o)[..], [Shape::Circle { .. }]);
    let is_ellipse = |o: &[Obstacle]| matches!(shapes(o)[..], [Shape::Ellipse { .. }]);
    let flows = [
        ("a circle", first(is_circle)?),
        ("an ellipse", first(is_ellipse)?),
        ("two obstacles", first(|o| o.len() == 2)?),
    ];
    let speeds: Vec<Vec<f64>> = flows.iter().map(|(_, flow)| speed(flow)).collect();
    let mut scale = ColourScale::field("speed");
    for values in &speeds {
        scale = scale.covering(values);
    }
    let panel = |((title, flow), values): (&(&str, Flow), &Vec<f64>)| {
        let mut panel = Panel::heatmap("x_{1}", "x_{2}", [CELLS; 2], values)
            .extent([-HALF, HALF], [-HALF, HALF])
            .title(title)
            .colours(scale.clone())
            .equal_aspect()
            .over(Overlay::Streams(streamlines(flow)));
        for boundary in &flow.boundaries {
            panel = panel.overlay(&closed(boundary));
        }
        panel.over(Overlay::Dots(flow.sensors.clone()))
    };
    let panels = flows.iter().zip(&speeds).map(panel);
    let figure = Figure::new("Forward Stokes flow")
        .panel_size(280.0, 260.0)
        .row(panels);
    let picture = picture(
        "stokes-forward",
        "fig:stokes_forward_sensor_setting",
        "Forward Stokes flow and sensors",
        "Colour is the speed, on one scale; white lines follow the flow from left to right; black dots are the \
         sensors, which every sample draws for itself downstream of the obstacles.",
    );
    Ok((picture, figure.to_svg()))
}

fn shapes(obstacles: &[Obstacle]) -> Vec<&Shape> {
    obstacles.iter().map(Obstacle::shape).collect()
}

/// The flow of the first sample with such obstacles, which are the first that a sample draws.
fn first(wanted: impl Fn(&[Obstacle]) -> bool) -> Result<Flow> {
    let settings = StokesInverse::default();
    for k in 0..1000 {
        if wanted(&settings.obstacles.draw(&mut sample_stream(SEED, k))?) {
            return flow(&settings, SEED, k);
        }
    }
    Err(Error::Data(
        "none of 1000 samples has the obstacles of the figure".into(),
    ))
}

/// The speed in every cell; not a number within obstacles.
fn speed(flow: &Flow) -> Vec<f64> {
    let centre = |i: usize| -HALF + 2.0 * HALF * (i as f64 + 0.5) / CELLS as f64;
    let at = |cell: usize| {
        let velocity = flow.velocity_at([centre(cell % CELLS), centre(cell / CELLS)]);
        velocity.map_or(f64::NAN, |[u, v]| u.hypot(v))
    };
    (0..CELLS * CELLS).map(at).collect()
}

/// Lines through points spread over the left side, by the midpoint rule.
fn streamlines(flow: &Flow) -> Vec<Vec<[f64; 2]>> {
    const LINES: usize = 15;
    const STEP: f64 = 0.02;
    let start = |k: usize| [-HALF, -HALF + 2.0 * HALF * (k as f64 + 0.5) / LINES as f64];
    let follow = |mut x: [f64; 2]| {
        let mut line = vec![x];
        // Near an obstacle the flow is slow: steps have equal lengths, not equal times.
        let direction = |x: [f64; 2]| {
            let [u, v] = flow.velocity_at(x)?;
            let speed = u.hypot(v);
            (speed > 1e-6).then(|| [u / speed, v / speed])
        };
        for _ in 0..2000 {
            let Some([u, v]) = direction(x) else { break };
            let middle = [x[0] + 0.5 * STEP * u, x[1] + 0.5 * STEP * v];
            let Some([u, v]) = direction(middle) else {
                break;
            };
            x = [x[0] + STEP * u, x[1] + STEP * v];
            line.push(x);
        }
        line
    };
    // Every sixth point draws the same line.
    let thin = |line: Vec<[f64; 2]>| line.into_iter().step_by(6).collect();
    (0..LINES).map(|k| thin(follow(start(k)))).collect()
}

/// The sides of a polygon.
fn closed(corners: &[[f64; 2]]) -> Vec<[[f64; 2]; 2]> {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|(p, q)| [*p, *q]).collect()
}
