//! Curves and clouds over linear or logarithmic axes.

use super::axis::{Axis, Extent};
use super::colour::Rgb;
use super::decimate::Point;
use super::frame::{Area, Frame};
use super::legend::Entry;
use super::panel::{Panel, Plot, Points};
use super::series::Series;
use super::svg::{Stroke, Svg, polyline};
use super::text::{self, Anchor, Text};

const REFERENCE: Stroke = Stroke {
    colour: Rgb(0x66, 0x66, 0x66),
    width: 1.0,
    dashes: &[4.0, 3.0],
};

/// Several series and lines of reference.
#[derive(Default)]
pub struct Lines {
    series: Vec<Series>,
    references: Vec<Reference>,
}

struct Reference {
    at: Along,
    label: String,
}

#[derive(Clone, Copy)]
enum Along {
    Horizontal(f64),
    Vertical(f64),
}

impl Panel<Lines> {
    /// Adds a series.
    pub fn series(mut self, series: Series) -> Self {
        self.plot.series.push(series);
        self
    }

    /// A dashed grey line at height `y`; the label may be empty.
    pub fn horizontal(self, y: f64, label: &str) -> Self {
        self.reference(Along::Horizontal(y), label)
    }

    /// A vertical line at `x`, with a label.
    pub fn vertical(self, x: f64, label: &str) -> Self {
        self.reference(Along::Vertical(x), label)
    }

    fn reference(mut self, at: Along, label: &str) -> Self {
        self.plot.references.push(Reference {
            at,
            label: label.to_owned(),
        });
        self
    }
}

impl Points for Lines {}

impl Plot for Lines {
    fn extent(&self, x: &Axis, y: &Axis) -> (Extent, Extent) {
        let (mut across, mut up) = (Extent::default(), Extent::default());
        for &(u, v) in self.series.iter().flat_map(|s| &s.points) {
            if x.shows(u) && y.shows(v) {
                across.include(u);
                up.include(v);
            }
        }
        for reference in &self.references {
            match reference.at {
                Along::Horizontal(v) if y.shows(v) => up.include(v),
                Along::Vertical(u) if x.shows(u) => across.include(u),
                _ => {}
            }
        }
        (across, up)
    }

    fn padding(&self) -> (f64, f64) {
        // A line may run into the border; a marker would be cut by it.
        let markers = self.series.iter().any(Series::has_markers);
        (if markers { 0.03 } else { 0.0 }, 0.05)
    }

    fn wants_grid(&self) -> bool {
        true
    }

    fn legend(&self) -> Vec<Entry> {
        let entries = self.series.iter().enumerate().map(|(order, s)| Entry {
            label: s.label.clone(),
            look: s.look(order),
        });
        entries.filter(|e| !e.label.is_empty()).collect()
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        for reference in &self.references {
            reference.draw_line(svg, frame);
        }
        let mut ink = Vec::new();
        for (order, series) in self.series.iter().enumerate() {
            for run in series.draw(svg, frame, order) {
                sample_along(&run, &mut ink);
            }
        }
        for reference in &self.references {
            reference.draw_label(svg, frame, &ink);
        }
    }
}

impl Reference {
    /// The two ends, if the line is within the axes.
    fn ends(&self, frame: &Frame) -> Option<[Point; 2]> {
        let Area { left, top, .. } = frame.area;
        let (right, bottom) = (frame.area.right(), frame.area.bottom());
        let ends = match self.at {
            Along::Horizontal(v) => {
                let y = frame.up(v)?;
                [(left, y), (right, y)]
            }
            Along::Vertical(u) => {
                let x = frame.across(u)?;
                [(x, bottom), (x, top)]
            }
        };
        frame.area.contains(ends[0]).then_some(ends)
    }

    fn draw_line(&self, svg: &mut Svg, frame: &Frame) {
        if let Some(ends) = self.ends(frame) {
            svg.stroke(&polyline(&ends), REFERENCE);
        }
    }

    /// Puts the label by the line, on the side and at the end where it covers
    /// least of the data.
    fn draw_label(&self, svg: &mut Svg, frame: &Frame, ink: &[Point]) {
        let Some([start, end]) = self.ends(frame).filter(|_| !self.label.is_empty()) else {
            return;
        };
        let long = text::width(&self.label, text::TICK);
        let tall = text::TICK;
        let upright = matches!(self.at, Along::Vertical(_));
        let mut places = Vec::new();
        for (at_end, above) in [(true, true), (false, true), (true, false), (false, false)] {
            let (dx, dy) = if at_end { end } else { start };
            let inward = if at_end { -1.0 } else { 1.0 };
            // The middle of the label's box, 5 from the border, 4 from the line.
            let (along, beside) = (0.5 * long + 5.0, 0.5 * tall + 3.0);
            let side = if above { -beside } else { beside };
            let (middle, width, height) = if upright {
                ((dx + side, dy - inward * along), tall, long)
            } else {
                ((dx + inward * along, dy + side), long, tall)
            };
            let anchor = if at_end { Anchor::End } else { Anchor::Start };
            places.push((
                Area {
                    left: middle.0 - 0.5 * width,
                    top: middle.1 - 0.5 * height,
                    width,
                    height,
                },
                anchor,
            ));
        }
        let inside = |a: &Area| {
            frame.area.contains((a.left, a.top)) && frame.area.contains((a.right(), a.bottom()))
        };
        let covered = |a: &Area| ink.iter().filter(|p| a.contains(**p)).count();
        let best = places
            .iter()
            .min_by_key(|(place, _)| (!inside(place), covered(place)));
        let Some((place, anchor)) = best else { return };
        let label = if upright {
            let y = match anchor {
                Anchor::End => place.top,
                _ => place.bottom(),
            };
            Text::new(place.right() - 0.18 * tall, y, tall, &self.label).upright()
        } else {
            let x = match anchor {
                Anchor::End => place.right(),
                _ => place.left,
            };
            Text::new(x, place.bottom() - 0.18 * tall, tall, &self.label)
        };
        svg.text(&label.anchor(*anchor).halo());
    }
}

/// Points every few pixels along a curve: where there is ink.
fn sample_along(run: &[Point], ink: &mut Vec<Point>) {
    ink.extend(run.first());
    for pair in run.windows(2) {
        let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
        let steps = ((x1 - x0).hypot(y1 - y0) / 4.0).clamp(1.0, 500.0).ceil();
        for k in 1..=steps as usize {
            let t = k as f64 / steps;
            ink.push((x0 + t * (x1 - x0), y0 + t * (y1 - y0)));
        }
    }
}
