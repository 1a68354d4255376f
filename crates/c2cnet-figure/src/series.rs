//! One curve or cloud of a line panel.

use std::fmt::Write as _;

use super::colour::{OKABE_ITO, Rgb};
use super::decimate::{self, Point};
use super::frame::Frame;
use super::svg::{Stroke, Svg, dots, polyline};
use super::text::Coordinate;

/// Points `(x, y)`, drawn as a line, markers or both. Points that are not
/// finite, or that a logarithmic axis cannot show, are skipped and interrupt
/// the line.
#[derive(Clone, Debug)]
pub struct Series {
    pub(super) label: String,
    pub(super) points: Vec<(f64, f64)>,
    line: Option<LineChoice>,
    marker: Option<MarkerChoice>,
    colour: Option<Rgb>,
    width: f64,
}

/// How a line is dashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Not at all.
    Solid,
    /// Short dashes.
    Short,
    /// Dash and dot.
    Alternating,
    /// Dots.
    Dotted,
    /// Long dashes.
    Long,
}

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle that points up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle that points down.
    Inverted,
}

/// By order, so that series differ in black and white too, unless chosen.
type LineChoice = Option<Dash>;
type MarkerChoice = Option<Marker>;

const DASHES: [Dash; 5] = [
    Dash::Solid,
    Dash::Short,
    Dash::Alternating,
    Dash::Dotted,
    Dash::Long,
];
const MARKERS: [Marker; 5] = [
    Marker::Disc,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Inverted,
];

impl Series {
    /// A line. The first of a panel is solid; those after it take other dashes
    /// unless [`dash`](Series::dash) says otherwise. An empty label keeps the
    /// series out of the legend.
    pub fn line(label: &str, x: &[f64], y: &[f64]) -> Self {
        Series::new(label, x, y, Some(None), None)
    }

    /// A dashed line through the points.
    pub fn dashed(label: &str, x: &[f64], y: &[f64]) -> Self {
        Series::new(label, x, y, Some(Some(Dash::Short)), None)
    }

    /// Markers at the points, and no line.
    pub fn markers(label: &str, x: &[f64], y: &[f64]) -> Self {
        Series::new(label, x, y, None, Some(None))
    }

    /// A solid line with a marker at its points, or at some if there are many.
    pub fn line_markers(label: &str, x: &[f64], y: &[f64]) -> Self {
        Series::new(label, x, y, Some(Some(Dash::Solid)), Some(None))
    }

    /// Of `x` and `y`, the shorter says how many points there are.
    fn new(
        label: &str,
        x: &[f64],
        y: &[f64],
        line: Option<LineChoice>,
        marker: Option<MarkerChoice>,
    ) -> Self {
        Series {
            label: label.to_owned(),
            points: x.iter().copied().zip(y.iter().copied()).collect(),
            line,
            marker,
            colour: None,
            width: 1.7,
        }
    }

    /// The colour, in place of the one by order.
    pub fn colour(mut self, colour: Rgb) -> Self {
        self.colour = Some(colour);
        self
    }

    /// Draws the line with these dashes.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.line = Some(Some(dash));
        self
    }

    /// Marks the points with this marker.
    pub fn marker(mut self, marker: Marker) -> Self {
        self.marker = Some(Some(marker));
        self
    }

    /// The width of the line, 1.7 pixels unless set.
    pub fn width(mut self, pixels: f64) -> Self {
        self.width = pixels;
        self
    }

    pub(super) fn has_markers(&self) -> bool {
        self.marker.is_some()
    }

    /// The look of the series when it is the `order`-th of its panel.
    pub(super) fn look(&self, order: usize) -> Look {
        let nth = |choices: &[Dash]| choices[order % choices.len()];
        Look {
            colour: self.colour.unwrap_or(OKABE_ITO[order % OKABE_ITO.len()]),
            dash: self.line.map(|choice| choice.unwrap_or(nth(&DASHES))),
            marker: self
                .marker
                .map(|choice| choice.unwrap_or(MARKERS[order % MARKERS.len()])),
            width: self.width,
        }
    }

    /// Draws the series and returns the points of its picture.
    pub(super) fn draw(&self, svg: &mut Svg, frame: &Frame, order: usize) -> Vec<Vec<Point>> {
        let look = self.look(order);
        let pixels: Vec<Option<Point>> = self
            .points
            .iter()
            .map(|(x, y)| frame.point(*x, *y))
            .collect();
        let runs: Vec<Vec<Point>> = pixels
            .split(Option::is_none)
            .filter(|run| !run.is_empty())
            .map(|run| decimate::curve(&run.iter().flatten().copied().collect::<Vec<_>>()))
            .collect();
        if let Some(stroke) = look.stroke() {
            let path: String = runs.iter().map(|run| polyline(run)).collect();
            svg.clipped(frame.area, |svg| svg.stroke(&path, stroke));
        }
        if let Some(marker) = look.marker {
            let shown = pixels.iter().flatten().copied();
            let mut shown: Vec<Point> = shown.filter(|p| frame.area.contains(*p)).collect();
            if look.dash.is_some() && shown.len() > MOST_ON_A_LINE {
                let stride = shown.len().div_ceil(MOST_ON_A_LINE / 2);
                shown = shown.into_iter().step_by(stride).collect();
            }
            marker.draw(svg, shown, look.colour);
        }
        match look.dash {
            Some(_) => runs,
            // Nothing joins the points: each is a picture of its own.
            None => pixels.into_iter().flatten().map(|p| vec![p]).collect(),
        }
    }
}

/// More markers than this and a line could not be seen between them.
const MOST_ON_A_LINE: usize = 40;

/// More markers than this and their shape could not be seen.
const MOST_SHAPES: usize = 1000;

/// A line or marker style with nothing left to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    pub colour: Rgb,
    pub dash: Option<Dash>,
    pub marker: Option<Marker>,
    pub width: f64,
}

impl Look {
    pub fn stroke(&self) -> Option<Stroke> {
        Some(Stroke {
            colour: self.colour,
            width: self.width,
            dashes: self.dash?.lengths(),
        })
    }
}

impl Dash {
    fn lengths(self) -> &'static [f64] {
        match self {
            Dash::Solid => &[],
            Dash::Short => &[6.0, 3.0],
            Dash::Alternating => &[8.0, 2.5, 2.0, 2.5],
            Dash::Dotted => &[2.0, 2.2],
            Dash::Long => &[12.0, 3.0],
        }
    }
}

impl Marker {
    /// Draws the marker at each of the points.
    pub fn draw(self, svg: &mut Svg, points: Vec<Point>, colour: Rgb) {
        let tagged: Vec<(Point, ())> = points.into_iter().map(|p| (p, ())).collect();
        let apart = decimate::cloud(&tagged, 1.0);
        if apart.len() > MOST_SHAPES {
            let path = dots(apart.into_iter().map(|(p, ())| p));
            svg.stroke(&path, Stroke::solid(colour, 3.0));
            return;
        }
        let path: String = apart.into_iter().map(|(p, ())| self.path(p)).collect();
        let white = Stroke::solid(Rgb(255, 255, 255), 0.6);
        svg.fill(&path, colour, Some(white));
    }

    fn path(self, (x, y): Point) -> String {
        let corners: &[Point] = match self {
            Marker::Disc => {
                let mut path = String::new();
                let left = Coordinate(x - 3.2);
                let y = Coordinate(y);
                let _ = write!(path, "M{left} {y}a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z");
                return path;
            }
            Marker::Square => &[(-2.9, -2.9), (5.8, 0.0), (0.0, 5.8), (-5.8, 0.0)],
            Marker::Triangle => &[(0.0, -4.2), (3.8, 6.6), (-7.6, 0.0)],
            Marker::Diamond => &[(0.0, -4.2), (4.0, 4.2), (-4.0, 4.2), (-4.0, -4.2)],
            Marker::Inverted => &[(0.0, 4.2), (3.8, -6.6), (-7.6, 0.0)],
        };
        let (dx, dy) = corners[0];
        let mut path = format!("M{} {}", Coordinate(x + dx), Coordinate(y + dy));
        for (dx, dy) in &corners[1..] {
            let _ = write!(path, "l{} {}", Coordinate(*dx), Coordinate(*dy));
        }
        path.push('z');
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_differ_without_colour() {
        let line = Series::line("a", &[], &[]);
        assert_eq!(line.look(0).dash, Some(Dash::Solid));
        assert_ne!(line.look(0).dash, line.look(1).dash);
        let solid = line.dash(Dash::Solid);
        assert_eq!(solid.look(3).dash, Some(Dash::Solid));
        let cloud = Series::markers("a", &[], &[]);
        assert_ne!(cloud.look(0).marker, cloud.look(1).marker);
    }
}
