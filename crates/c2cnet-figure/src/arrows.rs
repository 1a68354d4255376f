//! Vectors at points.

use super::axis::{Axis, Extent};
use super::cloud::{self, Cloud};
use super::colour_scale::{ColourScale, Colours};
use super::decimate::Point;
use super::frame::Frame;
use super::panel::{Coloured, Plot};
use super::svg::{Stroke, Svg, dots, polyline};

/// An arrow from every point, as long as its vector and coloured by that length.
pub struct Arrows {
    /// Where they start, and how long they are.
    feet: Cloud,
    vectors: Vec<(f64, f64)>,
}

/// The margin around the points for arrows, as a fraction of the points' extent.
pub const MARGIN: f64 = 0.076;

/// The longest arrow, as a fraction of the shorter side: just what the margin allows.
const LONGEST: f64 = MARGIN / (1.0 + 2.0 * MARGIN);

/// Length and half width of a head, in pixels; shorter arrows have smaller heads.
const HEAD: (f64, f64) = (6.0, 2.6);

impl Arrows {
    pub(super) fn new(points: &[[f64; 2]], vectors: &[[f64; 2]]) -> Self {
        let finite = |v: &[f64; 2]| v.iter().all(|c| c.is_finite());
        let pairs = points.iter().zip(vectors);
        let (points, vectors): (Vec<_>, Vec<_>) = pairs
            .filter(|(p, v)| finite(p) && finite(v))
            .map(|(p, v)| ((p[0], p[1]), (v[0], v[1])))
            .unzip();
        Arrows {
            feet: Cloud::new(points, vectors.iter().map(|v| v.0.hypot(v.1)).collect()),
            vectors,
        }
    }
}

impl Coloured for Arrows {
    fn scale_mut(&mut self) -> &mut ColourScale {
        &mut self.feet.scale
    }
}

impl Plot for Arrows {
    fn extent(&self, x: &Axis, y: &Axis) -> (Extent, Extent) {
        self.feet.extent(x, y)
    }

    /// No arrow leaves the axes.
    fn padding(&self) -> (f64, f64) {
        (MARGIN, MARGIN)
    }

    fn wants_grid(&self) -> bool {
        true
    }

    fn colours(&self) -> Option<Colours<'_>> {
        Some(self.feet.colours())
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let Cloud { points, values, .. } = &self.feet;
        let colours = self.feet.colours();
        let longest = values.iter().fold(0.0, |m: f64, v| m.max(*v));
        let unit = LONGEST * frame.area.width.min(frame.area.height) / longest;
        // Shaft, head, foot.
        let mut parts = vec![(String::new(), String::new(), Vec::new()); cloud::LEVELS];
        for ((point, vector), length) in points.iter().zip(&self.vectors).zip(values) {
            let foot = frame.point(point.0, point.1);
            let (Some(foot), Some(level)) = (foot, cloud::level(&colours, *length)) else {
                continue;
            };
            let (shaft, head, feet) = &mut parts[level];
            feet.push(foot);
            let pixels = unit * length;
            if pixels.is_finite() && pixels >= 1.0 {
                let along = (vector.0 / length, -vector.1 / length);
                let corners = outline(foot, along, pixels);
                shaft.push_str(&polyline(&[foot, corners[3]]));
                head.push_str(&polyline(&corners[..3]));
                head.push('z');
            }
        }
        svg.clipped(frame.area, |svg| {
            for (level, (shaft, head, feet)) in parts.into_iter().enumerate() {
                let colour = cloud::colour(&colours, level);
                svg.stroke(&shaft, Stroke::solid(colour, 1.3));
                svg.fill(&head, colour, None);
                svg.stroke(&dots(feet), Stroke::solid(colour, 3.0));
            }
        });
    }
}

/// The head of an arrow: side, tip, side and the middle between the sides.
fn outline(foot: Point, along: (f64, f64), pixels: f64) -> [Point; 4] {
    let size = (pixels / (1.5 * HEAD.0)).min(1.0);
    let at = |forward: f64, aside: f64| {
        (
            foot.0 + forward * along.0 - aside * along.1,
            foot.1 + forward * along.1 + aside * along.0,
        )
    };
    let neck = pixels - size * HEAD.0;
    let half = size * HEAD.1;
    [
        at(neck, half),
        at(pixels, 0.0),
        at(neck, -half),
        at(neck, 0.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_end_at_the_tip() {
        let [side, tip, other, neck] = outline((10.0, 10.0), (0.0, -1.0), 20.0);
        assert_eq!((tip, neck), ((10.0, -10.0), (10.0, -4.0)));
        assert_eq!((side.0 + other.0, side.1), (20.0, other.1));
    }

    #[test]
    fn what_is_not_finite_is_left_out() {
        let arrows = Arrows::new(&[[0.0, 0.0], [f64::NAN, 1.0]], &[[3.0, 4.0], [1.0, 0.0]]);
        assert_eq!(arrows.feet.values, [5.0]);
    }
}
