//! Points coloured by value.

use super::axis::{Axis, Extent};
use super::cloud::{self, Cloud};
use super::colour_scale::{ColourScale, Colours};
use super::decimate::{self, Point};
use super::frame::Frame;
use super::panel::{Coloured, Plot, Points};
use super::svg::{Stroke, Svg, dots};

/// Of the discs, in pixels.
const RADIUS: f64 = 2.5;

/// A disc for every point. Larger values lie on top.
pub struct Scatter {
    cloud: Cloud,
}

impl Scatter {
    pub(super) fn new(x: &[f64], y: &[f64], values: &[f64]) -> Self {
        let points = x.iter().copied().zip(y.iter().copied());
        Scatter {
            cloud: Cloud::new(points.take(values.len()).collect(), values.to_vec()),
        }
    }
}

impl Points for Scatter {}

impl Coloured for Scatter {
    fn scale_mut(&mut self) -> &mut ColourScale {
        &mut self.cloud.scale
    }
}

impl Plot for Scatter {
    fn extent(&self, x: &Axis, y: &Axis) -> (Extent, Extent) {
        self.cloud.extent(x, y)
    }

    fn padding(&self) -> (f64, f64) {
        (0.03, 0.03)
    }

    fn wants_grid(&self) -> bool {
        true
    }

    fn colours(&self) -> Option<Colours<'_>> {
        Some(self.cloud.colours())
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let colours = self.cloud.colours();
        let mut discs: Vec<(Point, usize)> = Vec::new();
        for ((x, y), value) in self.cloud.points.iter().zip(&self.cloud.values) {
            let level = cloud::level(&colours, *value);
            let (Some(p), Some(level)) = (frame.point(*x, *y), level) else {
                continue;
            };
            if frame.area.contains(p) {
                discs.push((p, level));
            }
        }
        discs.sort_by_key(|(_, level)| *level);
        let seen = decimate::cloud(&discs, 1.0);
        for group in seen.chunk_by(|a, b| a.1 == b.1) {
            let colour = cloud::colour(&colours, group[0].1);
            let path = dots(group.iter().map(|(p, _)| *p));
            svg.stroke(&path, Stroke::solid(colour, 2.0 * RADIUS));
        }
    }
}
