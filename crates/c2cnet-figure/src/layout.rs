//! Where the panels of a figure go.

use super::Figure;
use super::frame::{Area, Margins};
use super::legend::{Entry, Rows};
use super::panel::Setting;
use super::svg::Svg;
use super::text::{self, Anchor, Text};

const BORDER: f64 = 12.0;
const BETWEEN_COLUMNS: f64 = 22.0;
const BETWEEN_ROWS: f64 = 16.0;

/// Room along one axis: before the areas of a row or column, for them, after.
#[derive(Clone, Copy, Default)]
struct Track {
    before: f64,
    size: f64,
    after: f64,
}

impl Track {
    /// Makes room for an area centred in the track, which may lend its slack.
    fn admit(&mut self, size: f64, before: f64, after: f64) {
        let slack = 0.5 * (self.size - size);
        self.before = self.before.max(before - slack);
        self.after = self.after.max(after - slack);
    }
}

pub(super) fn draw(figure: &Figure) -> String {
    let columns = figure.rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut across = vec![Track::default(); columns];
    let mut down = vec![Track::default(); figure.rows.len()];
    for (row, track) in figure.rows.iter().zip(&mut down) {
        for (panel, column) in row.iter().zip(&mut across) {
            let (width, height) = panel.natural_size(figure.panel_size);
            column.size = column.size.max(width);
            track.size = track.size.max(height);
        }
    }
    let cells: Vec<Vec<(f64, f64)>> = figure
        .rows
        .iter()
        .zip(&down)
        .map(|(row, track)| {
            let sizes = row.iter().zip(&across);
            sizes
                .map(|(panel, column)| panel.size_within((column.size, track.size)))
                .collect()
        })
        .collect();
    let settings: Vec<Setting> = figure
        .rows
        .iter()
        .zip(&cells)
        .map(|(row, sizes)| {
            let heads = row.iter().zip(sizes).map(|(p, size)| p.headroom(*size));
            Setting {
                headroom: heads.fold(0.0, f64::max),
                with_legend: !figure.shared_legend,
            }
        })
        .collect();
    for (k, track) in down.iter_mut().enumerate() {
        let (row, sizes) = (&figure.rows[k], &cells[k]);
        for ((panel, size), column) in row.iter().zip(sizes).zip(&mut across) {
            let Margins {
                left,
                right,
                top,
                bottom,
            } = panel.margins(*size, settings[k]);
            column.admit(size.0, left, right);
            track.admit(size.1, top, bottom);
        }
    }

    let (lefts, width) = place(&across, BORDER, BETWEEN_COLUMNS);
    let entries = shared_entries(figure);
    let width = width.max(200.0);
    let room = width - 2.0 * BORDER;
    let mut svg = Svg::default();
    let heading = draw_heading(&mut svg, figure, &entries, width, room);
    let (tops, height) = place(&down, heading, BETWEEN_ROWS);
    for (k, (top, track)) in tops.iter().zip(&down).enumerate() {
        let (row, sizes) = (&figure.rows[k], &cells[k]);
        for (((panel, size), left), column) in row.iter().zip(sizes).zip(&lefts).zip(&across) {
            let area = Area {
                left: left + 0.5 * (column.size - size.0),
                top: top + 0.5 * (track.size - size.1),
                width: size.0,
                height: size.1,
            };
            panel.draw(&mut svg, area, settings[k]);
        }
    }
    svg.document(width, height, &figure.title)
}

/// Where each track's areas begin, and where everything ends.
fn place(tracks: &[Track], start: f64, between: f64) -> (Vec<f64>, f64) {
    let mut at = start;
    let mut starts = Vec::new();
    for (k, track) in tracks.iter().enumerate() {
        if k > 0 {
            at += between;
        }
        // Whole pixels keep thin lines crisp.
        starts.push((at + track.before).ceil());
        at = (at + track.before).ceil() + track.size + track.after;
    }
    (starts, at + BORDER)
}

/// Draws the title and a shared legend; returns where the panels may begin.
fn draw_heading(svg: &mut Svg, figure: &Figure, entries: &[Entry], width: f64, room: f64) -> f64 {
    let mut top = BORDER;
    // Bold is a little wider.
    for line in text::wrap(&figure.title, 1.06 * text::FIGURE_TITLE, room) {
        let baseline = top + 0.9 * text::FIGURE_TITLE;
        let title = Text::new(0.5 * width, baseline, text::FIGURE_TITLE, &line);
        svg.text(&title.anchor(Anchor::Middle).bold());
        top += text::LINE_HEIGHT * text::FIGURE_TITLE;
    }
    if top > BORDER {
        top += 6.0;
    }
    let rows = Rows::new(entries, room);
    if !entries.is_empty() {
        rows.draw(svg, (0.5 * (width - rows.width())).max(BORDER), top);
        top += rows.height() + 4.0;
    }
    top
}

/// Every entry of every panel once, if the panels share a legend.
fn shared_entries(figure: &Figure) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    if figure.shared_legend {
        for entry in figure.rows.iter().flatten().flat_map(|p| p.entries()) {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }
    entries
}
