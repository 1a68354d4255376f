//! What is drawn over the data of a panel, in styles that show on any colour.

use super::colour::{BLACK, Rgb};
use super::decimate::Point;
use super::frame::Frame;
use super::svg::{Stroke, Svg, dots, polyline};

const WHITE: Rgb = Rgb(0xff, 0xff, 0xff);

/// A layer over the data. It does not widen the axes.
pub enum Overlay {
    /// Pieces of an outline: black with a white rim.
    Outline(Vec<[[f64; 2]; 2]>),
    /// Lines along a flow: thin and white, with a head in the middle.
    Streams(Vec<Vec<[f64; 2]>>),
    /// Places: black dots with a white rim.
    Dots(Vec<[f64; 2]>),
}

impl Overlay {
    pub(super) fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let at = |p: &[f64; 2]| frame.point(p[0], p[1]);
        svg.clipped(frame.area, |svg| match self {
            Overlay::Outline(pieces) => {
                let path: String = pieces
                    .iter()
                    .filter_map(|[p, q]| Some(polyline(&[at(p)?, at(q)?])))
                    .collect();
                svg.stroke(&path, Stroke::solid(WHITE, 3.2));
                svg.stroke(&path, Stroke::solid(BLACK, 1.6));
            }
            Overlay::Streams(lines) => {
                for line in lines {
                    let line: Vec<Point> = line.iter().filter_map(at).collect();
                    svg.stroke(&polyline(&line), Stroke::solid(WHITE, 1.1));
                    svg.fill(&head(&line), WHITE, None);
                }
            }
            Overlay::Dots(places) => {
                let path = dots(places.iter().filter_map(at));
                svg.stroke(&path, Stroke::solid(WHITE, 5.4));
                svg.stroke(&path, Stroke::solid(BLACK, 3.8));
            }
        });
    }
}

/// The tip of an arrow in the middle of a line.
fn head(line: &[Point]) -> String {
    let middle = line.len() / 2;
    let (Some(a), Some(b)) = (
        line.get(middle.wrapping_sub(1)),
        line.get(middle).filter(|_| middle > 0),
    ) else {
        return String::new();
    };
    let length = (b.0 - a.0).hypot(b.1 - a.1).max(1e-9);
    let (dx, dy) = ((b.0 - a.0) / length, (b.1 - a.1) / length);
    let corner = |along: f64, across: f64| {
        (
            b.0 + along * dx - across * dy,
            b.1 + along * dy + across * dx,
        )
    };
    polyline(&[corner(4.5, 0.0), corner(-3.0, 3.2), corner(-3.0, -3.2)]) + "z"
}
