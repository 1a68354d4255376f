//! The elements a drawing is made of.

use std::fmt::Write as _;

use super::colour::Rgb;
use super::decimate::Point;
use super::frame::Area;
use super::text::{Coordinate, Text};

/// The body of a drawing, written element by element.
#[derive(Default)]
pub struct Svg(String);

/// How an outline is drawn.
#[derive(Clone, Copy)]
pub struct Stroke {
    /// Its colour.
    pub colour: Rgb,
    /// Its width in pixels.
    pub width: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub dashes: &'static [f64],
}

impl Stroke {
    /// A line without dashes.
    pub fn solid(colour: Rgb, width: f64) -> Self {
        Stroke {
            colour,
            width,
            dashes: &[],
        }
    }
}

impl Svg {
    /// Adds text.
    pub fn text(&mut self, text: &Text<'_>) {
        self.0.push_str(&text.to_svg());
    }

    /// Strokes a path given by its data.
    pub fn stroke(&mut self, path: &str, stroke: Stroke) {
        if path.is_empty() {
            return;
        }
        let Stroke {
            colour,
            width,
            dashes,
        } = stroke;
        let _ = write!(
            self.0,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\"",
            Coordinate(width)
        );
        if dashes.is_empty() {
            self.0.push_str(" stroke-linecap=\"round\"");
        } else {
            let dashes: Vec<String> = dashes.iter().map(|d| Coordinate(*d).to_string()).collect();
            let _ = write!(self.0, " stroke-dasharray=\"{}\"", dashes.join(" "));
        }
        self.0.push_str(" stroke-linejoin=\"round\"/>\n");
    }

    /// Fills a path; a stroke may outline it.
    pub fn fill(&mut self, path: &str, fill: Rgb, outline: Option<Stroke>) {
        if path.is_empty() {
            return;
        }
        let _ = write!(self.0, "<path d=\"{path}\" fill=\"{fill}\"");
        if let Some(Stroke { colour, width, .. }) = outline {
            let width = Coordinate(width);
            let _ = write!(self.0, " stroke=\"{colour}\" stroke-width=\"{width}\"");
        }
        self.0.push_str("/>\n");
    }

    /// Adds the outline of a rectangle.
    pub fn rectangle(&mut self, area: Area, stroke: Stroke) {
        self.stroke(&area.path(), stroke);
    }

    /// A picture stretched over an area.
    pub fn image(&mut self, area: Area, data_uri: &str) {
        let _ = writeln!(
            self.0,
            "<image {} preserveAspectRatio=\"none\" href=\"{data_uri}\"/>",
            area.attributes()
        );
    }

    /// Whatever `draw` writes is cut off at the edge of the area.
    ///
    /// A nested `svg` clips without an id, so that drawings put into one page
    /// cannot take each other's clips.
    pub fn clipped(&mut self, area: Area, draw: impl FnOnce(&mut Svg)) {
        let _ = writeln!(
            self.0,
            "<svg {} viewBox=\"{} {} {} {}\" preserveAspectRatio=\"none\" overflow=\"hidden\">",
            area.attributes(),
            Coordinate(area.left),
            Coordinate(area.top),
            Coordinate(area.width),
            Coordinate(area.height)
        );
        draw(self);
        self.0.push_str("</svg>\n");
    }

    /// The whole document.
    pub fn document(self, width: f64, height: f64, title: &str) -> String {
        let (w, h) = (width.ceil(), height.ceil());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\" role=\"img\" \
             font-family=\"Helvetica, Arial, sans-serif\">\n\
             <title>{}</title>\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"white\"/>\n{}</svg>\n",
            super::text::escape(&super::text::plain(title)),
            self.0
        )
    }
}

/// The data of a path through some points. A single point becomes a dot.
pub fn polyline(points: &[Point]) -> String {
    let mut path = String::new();
    for (k, (x, y)) in points.iter().enumerate() {
        let command = if k == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{} {}", Coordinate(*x), Coordinate(*y));
    }
    if points.len() == 1 {
        path.push_str("h0");
    }
    path
}

/// The data of a path of dots: a round cap on nothing is a disc, and nothing
/// shorter draws one.
pub fn dots(points: impl IntoIterator<Item = Point>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let tenth = |v: f64| Coordinate((v * 10.0).round() / 10.0);
        let _ = write!(path, "M{} {}h0", tenth(x), tenth(y));
    }
    path
}
