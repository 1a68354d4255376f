//! The rectangle data are drawn in, and the axes around it.

use super::axis::{Axis, Span};
use super::colour::Rgb;
use super::decimate::Point;
use super::svg::{Stroke, Svg, polyline};
use super::text::{self, Anchor, Coordinate, Text};
use super::ticks::Ticks;

pub const GRID: Stroke = Stroke {
    colour: Rgb(0xe4, 0xe4, 0xe4),
    width: 0.8,
    dashes: &[],
};
pub const EDGE: Stroke = Stroke {
    colour: Rgb(0x44, 0x44, 0x44),
    width: 0.9,
    dashes: &[],
};
const MAJOR: f64 = 4.0;
const MINOR: f64 = 2.2;
/// From the end of a mark to its label.
const GAP: f64 = 3.0;
/// From the labels of the marks to that of the axis.
const LABEL_GAP: f64 = 6.0;

/// A rectangle of the drawing, in pixels from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub fn contains(&self, (x, y): Point) -> bool {
        (self.left - 0.01..=self.right() + 0.01).contains(&x)
            && (self.top - 0.01..=self.bottom() + 0.01).contains(&y)
    }

    pub fn path(&self) -> String {
        format!(
            "M{} {}h{}v{}h{}z",
            Coordinate(self.left),
            Coordinate(self.top),
            Coordinate(self.width),
            Coordinate(self.height),
            Coordinate(-self.width)
        )
    }

    pub fn attributes(&self) -> String {
        format!(
            "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Coordinate(self.left),
            Coordinate(self.top),
            Coordinate(self.width),
            Coordinate(self.height)
        )
    }
}

/// Room that is needed on each side of an area.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margins {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// An area with two axes.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub area: Area,
    pub x: Span,
    pub y: Span,
}

impl Frame {
    /// Where a point of the data lies, inside the area or not; `None` if it
    /// cannot be shown at all.
    pub fn point(&self, x: f64, y: f64) -> Option<Point> {
        Some((self.across(x)?, self.up(y)?))
    }

    pub fn across(&self, x: f64) -> Option<f64> {
        Some(self.area.left + self.x.fraction(x)? * self.area.width)
    }

    pub fn up(&self, y: f64) -> Option<f64> {
        Some(self.area.bottom() - self.y.fraction(y)? * self.area.height)
    }

    /// Grid lines at the labelled marks.
    pub fn draw_grid(&self, svg: &mut Svg) {
        let (x_ticks, y_ticks) = self.ticks();
        let Area { left, top, .. } = self.area;
        let mut path = String::new();
        for x in x_ticks.major.iter().filter_map(|t| self.across(t.value)) {
            path += &polyline(&[(x, top), (x, self.area.bottom())]);
        }
        for y in y_ticks.major.iter().filter_map(|t| self.up(t.value)) {
            path += &polyline(&[(left, y), (self.area.right(), y)]);
        }
        svg.stroke(&path, GRID);
    }

    /// The border, the marks and every label.
    pub fn draw_axes(&self, svg: &mut Svg, x_axis: &Axis, y_axis: &Axis) {
        svg.rectangle(self.area, EDGE);
        let (x_ticks, y_ticks) = self.ticks();
        self.draw_x(svg, x_axis, &x_ticks);
        self.draw_y(svg, y_axis, &y_ticks);
    }

    fn draw_x(&self, svg: &mut Svg, axis: &Axis, ticks: &Ticks) {
        let bottom = self.area.bottom();
        let mut marks = String::new();
        for (value, length) in lengths(ticks) {
            let at = self.across(value).unwrap_or(self.area.left);
            marks += &polyline(&[(at, bottom), (at, bottom + length)]);
        }
        svg.stroke(&marks, EDGE);
        let baseline = bottom + MAJOR + GAP + 0.8 * text::TICK;
        for tick in &ticks.major {
            let at = self.across(tick.value).unwrap_or(self.area.left);
            let label = Text::new(at, baseline, text::TICK, &tick.label);
            svg.text(&label.anchor(Anchor::Middle));
        }
        let mut baseline = baseline + LABEL_GAP + 0.9 * text::LABEL;
        if let Some(factor) = ticks.factor() {
            let label = Text::new(self.area.right(), baseline, text::TICK, &factor);
            svg.text(&label.anchor(Anchor::End));
        }
        let centre = self.area.left + 0.5 * self.area.width;
        for line in self.x_label(axis, ticks) {
            let label = Text::new(centre, baseline, text::LABEL, &line);
            svg.text(&label.anchor(Anchor::Middle));
            baseline += text::LINE_HEIGHT * text::LABEL;
        }
    }

    fn draw_y(&self, svg: &mut Svg, axis: &Axis, ticks: &Ticks) {
        let left = self.area.left;
        let mut marks = String::new();
        for (value, length) in lengths(ticks) {
            let at = self.up(value).unwrap_or(self.area.top);
            marks += &polyline(&[(left, at), (left - length, at)]);
        }
        svg.stroke(&marks, EDGE);
        for tick in &ticks.major {
            let at = self.up(tick.value).unwrap_or(self.area.top);
            let baseline = at + 0.36 * text::TICK;
            let label = Text::new(left - MAJOR - GAP, baseline, text::TICK, &tick.label);
            svg.text(&label.anchor(Anchor::End));
        }
        if let Some(factor) = ticks.factor() {
            svg.text(&Text::new(left, self.area.top - 4.0, text::TICK, &factor));
        }
        let centre = self.area.top + 0.5 * self.area.height;
        let lines = self.y_label(axis);
        let widest = ticks.widest();
        let mut baseline = left - MAJOR - GAP - widest - LABEL_GAP - 0.25 * text::LABEL;
        for line in lines.iter().rev() {
            let label = Text::new(baseline, centre, text::LABEL, line);
            svg.text(&label.anchor(Anchor::Middle).upright());
            baseline -= text::LINE_HEIGHT * text::LABEL;
        }
    }

    /// Room the axes take around the area.
    pub fn margins(&self, x_axis: &Axis, y_axis: &Axis) -> Margins {
        let (x_ticks, y_ticks) = self.ticks();
        let overhang = |tick: Option<&super::ticks::Tick>, from: f64| {
            tick.and_then(|t| {
                let inside = (self.across(t.value)? - from).abs();
                Some(0.5 * text::width(&t.label, text::TICK) - inside)
            })
            .unwrap_or(0.0)
        };
        let line = text::LINE_HEIGHT * text::LABEL;
        let label_depth = |lines: usize| {
            if lines == 0 {
                0.0
            } else {
                LABEL_GAP + line * lines as f64
            }
        };
        let x_lines = self.x_label(x_axis, &x_ticks).len();
        let x_lines = x_lines.max(usize::from(x_ticks.exponent != 0));
        let y_side = MAJOR + GAP + y_ticks.widest() + label_depth(self.y_label(y_axis).len());
        Margins {
            left: y_side.max(overhang(x_ticks.major.first(), self.area.left)),
            right: overhang(x_ticks.major.last(), self.area.right()).max(4.0),
            top: y_ticks.headroom(),
            bottom: MAJOR + GAP + text::TICK + label_depth(x_lines),
        }
    }

    fn ticks(&self) -> (Ticks, Ticks) {
        let Area { width, height, .. } = self.area;
        (self.x.ticks_across(width), self.y.ticks_up(height))
    }

    /// The label is centred, so a factor at the right end takes room twice.
    fn x_label(&self, axis: &Axis, ticks: &Ticks) -> Vec<String> {
        let taken = ticks
            .factor()
            .map_or(0.0, |f| 2.0 * (text::width(&f, text::TICK) + 6.0));
        text::wrap(&axis.label, text::LABEL, self.area.width - taken)
    }

    fn y_label(&self, axis: &Axis) -> Vec<String> {
        text::wrap(&axis.label, text::LABEL, self.area.height.max(90.0))
    }
}

fn lengths(ticks: &Ticks) -> impl Iterator<Item = (f64, f64)> {
    let major = ticks.major.iter().map(|t| (t.value, MAJOR));
    major.chain(ticks.minor.iter().map(|v| (*v, MINOR)))
}
