//! Points coloured by value.

use super::axis::{Axis, Extent};
use super::colour_scale::{ColourScale, Colours};
use super::decimate::{self, Point};
use super::frame::Frame;
use super::panel::{Coloured, Panel, Plot, Points};
use super::svg::{Stroke, Svg, dots};

/// A disc for every point. Larger values lie on top.
pub struct Scatter {
    points: Vec<(f64, f64)>,
    values: Vec<f64>,
    scale: ColourScale,
    radius: f64,
}

/// All discs of a colour are one path, so fewer colours make smaller files.
const COLOURS: usize = 64;

impl Scatter {
    pub(super) fn new(x: &[f64], y: &[f64], values: &[f64]) -> Self {
        let points = x.iter().copied().zip(y.iter().copied());
        Scatter {
            points: points.take(values.len()).collect(),
            values: values.to_vec(),
            scale: ColourScale::field(""),
            radius: 2.5,
        }
    }
}

impl Panel<Scatter> {
    /// The radius of the discs, 2.5 pixels unless set.
    pub fn radius(mut self, pixels: f64) -> Self {
        self.plot.radius = pixels;
        self
    }
}

impl Points for Scatter {}

impl Coloured for Scatter {
    fn scale_mut(&mut self) -> &mut ColourScale {
        &mut self.scale
    }
}

impl Plot for Scatter {
    fn extent(&self, x: &Axis, y: &Axis) -> (Extent, Extent) {
        let (mut across, mut up) = (Extent::default(), Extent::default());
        for (u, v) in &self.points {
            if x.shows(*u) && y.shows(*v) {
                across.include(*u);
                up.include(*v);
            }
        }
        (across, up)
    }

    fn padding(&self) -> (f64, f64) {
        (0.03, 0.03)
    }

    fn wants_grid(&self) -> bool {
        true
    }

    fn colours(&self) -> Option<Colours<'_>> {
        Some(self.scale.settle(&self.values))
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let colours = self.scale.settle(&self.values);
        let mut discs: Vec<(Point, usize)> = Vec::new();
        for ((x, y), value) in self.points.iter().zip(&self.values) {
            let (Some(p), Some(t)) = (frame.point(*x, *y), colours.fraction(*value)) else {
                continue;
            };
            if frame.area.contains(p) {
                let level = t.clamp(0.0, 1.0) * (COLOURS - 1) as f64;
                discs.push((p, level.round() as usize));
            }
        }
        discs.sort_by_key(|(_, level)| *level);
        let seen = decimate::cloud(&discs, 1.0);
        for group in seen.chunk_by(|a, b| a.1 == b.1) {
            let colour = colours.map.at(group[0].1 as f64 / (COLOURS - 1) as f64);
            let path = dots(group.iter().map(|(p, _)| *p));
            svg.stroke(&path, Stroke::solid(colour, 2.0 * self.radius));
        }
    }
}
