//! Which line is which, outside the axes so that it covers nothing.

use super::frame::{Area, Margins};
use super::series::Look;
use super::svg::{Svg, polyline};
use super::text::{self, Text};

/// Where a panel's legend goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Legend {
    /// Above the axes if two rows are enough, else to the right.
    #[default]
    Auto,
    /// Above the panel.
    Above,
    /// To the right of it.
    Right,
    /// Nowhere.
    Hidden,
}

/// What a line looks like, and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub label: String,
    pub look: Look,
}

const SAMPLE: f64 = 26.0;
const SAMPLE_GAP: f64 = 5.0;
const BETWEEN: f64 = 14.0;
const ROW: f64 = 16.0;
const SIDE_GAP: f64 = 12.0;

impl Entry {
    fn width(&self) -> f64 {
        SAMPLE + SAMPLE_GAP + text::width(&self.label, text::TICK)
    }

    /// Draws the entry from `left` on, centred at height `y`.
    fn draw(&self, svg: &mut Svg, left: f64, y: f64) {
        if let Some(stroke) = self.look.stroke() {
            svg.stroke(&polyline(&[(left, y), (left + SAMPLE, y)]), stroke);
        }
        if let Some(marker) = self.look.marker {
            marker.draw(svg, vec![(left + 0.5 * SAMPLE, y)], self.look.colour);
        }
        let left = left + SAMPLE + SAMPLE_GAP;
        let baseline = y + 0.36 * text::TICK;
        svg.text(&Text::new(left, baseline, text::TICK, &self.label));
    }
}

/// Entries arranged in rows that are no wider than asked.
pub(super) struct Rows<'a>(Vec<Vec<&'a Entry>>);

impl<'a> Rows<'a> {
    pub fn new(entries: &'a [Entry], most: f64) -> Self {
        let mut rows: Vec<Vec<&Entry>> = Vec::new();
        let mut used = 0.0;
        for entry in entries {
            let width = entry.width();
            match rows.last_mut() {
                Some(row) if used + BETWEEN + width <= most => {
                    row.push(entry);
                    used += BETWEEN + width;
                }
                _ => {
                    rows.push(vec![entry]);
                    used = width;
                }
            }
        }
        Rows(rows)
    }

    pub fn width(&self) -> f64 {
        let width = |row: &Vec<&Entry>| {
            let gaps = BETWEEN * row.len().saturating_sub(1) as f64;
            gaps + row.iter().map(|e| e.width()).sum::<f64>()
        };
        self.0.iter().map(width).fold(0.0, f64::max)
    }

    pub fn height(&self) -> f64 {
        ROW * self.0.len() as f64
    }

    pub fn draw(&self, svg: &mut Svg, left: f64, top: f64) {
        for (k, row) in self.0.iter().enumerate() {
            let mut x = left;
            for entry in row {
                entry.draw(svg, x, top + ROW * (k as f64 + 0.5));
                x += entry.width() + BETWEEN;
            }
        }
    }
}

impl Legend {
    /// Settles `Auto` for an area of this width.
    pub(super) fn settle(self, entries: &[Entry], width: f64) -> Legend {
        let rows = Rows::new(entries, width);
        match self {
            _ if entries.is_empty() => Legend::Hidden,
            Legend::Auto if rows.0.len() <= 2 && rows.width() <= width => Legend::Above,
            Legend::Auto => Legend::Right,
            chosen => chosen,
        }
    }

    /// Room a settled legend takes around an area of this size.
    pub(super) fn margins(self, entries: &[Entry], (width, height): (f64, f64)) -> Margins {
        match self {
            Legend::Above => Margins {
                top: Rows::new(entries, width).height() + 2.0,
                ..Margins::default()
            },
            Legend::Right => {
                let column = Rows::new(entries, 0.0);
                Margins {
                    right: SIDE_GAP + column.width(),
                    bottom: (column.height() - height).max(0.0),
                    ..Margins::default()
                }
            }
            Legend::Auto | Legend::Hidden => Margins::default(),
        }
    }

    /// Draws a settled legend; `clear` is the room the axes need above them.
    pub(super) fn draw(self, svg: &mut Svg, entries: &[Entry], area: Area, clear: f64) {
        match self {
            Legend::Above => {
                let rows = Rows::new(entries, area.width);
                rows.draw(svg, area.left, area.top - clear - rows.height());
            }
            Legend::Right => {
                Rows::new(entries, 0.0).draw(svg, area.right() + SIDE_GAP, area.top);
            }
            Legend::Auto | Legend::Hidden => {}
        }
    }
}
