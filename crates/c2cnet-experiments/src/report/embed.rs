//! Figures, galleries and curves, all inside the page.

use super::read::read_beside;
use super::table::{caption, label};
use super::{escape_json, format};
use crate::run_files::{Curve, Gallery, Picture, Readable};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::{Compression, write::GzEncoder};
use maud::{Markup, PreEscaped, html};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// A figure of a run.
pub fn picture(folder: &Path, picture: &Picture) -> Markup {
    html! {
        figure.block {
            figcaption { h4 { (format::subscripts(&picture.title)) (label(picture.label.as_deref())) } }
            @match read_svg(folder, &picture.files.svg) {
                Ok(svg) => (plate(&picture.title, &svg)),
                Err(reason) => p.missing { "This figure is missing: " (reason) "." },
            }
            (caption(&picture.caption))
        }
    }
}

/// A drawing as an image of its own, so that neither ids nor styles nor scripts of the drawing can
/// touch the page.
pub fn plate(title: &str, svg: &str) -> Markup {
    html! {
        button.plate type="button" data-zoom aria-label={ "Enlarge: " (title) } {
            img src=(data_uri(svg)) alt=(title) decoding="async"
                width=[size(svg).map(|s| s[0])] height=[size(svg).map(|s| s[1])];
        }
    }
}

/// The gallery of a run.
pub fn gallery(folder: &Path, id: &str, gallery: &Gallery) -> Markup {
    let mut frames = Vec::new();
    let mut missing = Vec::new();
    for sample in &gallery.samples {
        match read_svg(folder, &sample.svg) {
            Ok(svg) => frames.push(Frame {
                sample: sample.sample,
                rank: sample.rank,
                rl2e: sample.rl2e,
                svg,
            }),
            Err(reason) => missing.push(reason),
        }
    }
    html! {
        figure.block.gallery #(id) {
            figcaption { h4 { (format::subscripts(&gallery.title)) (label(gallery.label.as_deref())) } }
            @for reason in &missing {
                p.missing { "A picture is missing: " (reason) "." }
            }
            (slider(&gallery.title, &frames))
            (caption(&gallery.caption))
        }
    }
}

/// A sample and its picture.
pub struct Frame {
    /// The number of the sample in its data.
    pub sample: usize,
    /// Its place, from the best.
    pub rank: usize,
    pub rl2e: Option<f64>,
    pub svg: String,
}

/// Pictures of samples with a slider from the best to the worst. Each is unpacked when it is shown.
pub fn slider(title: &str, frames: &[Frame]) -> Markup {
    let data: Vec<_> = frames
        .iter()
        .map(|frame| {
            let words = format!(
                "sample {}, rank {}, RL2E {}",
                frame.sample,
                frame.rank + 1,
                format::maybe(frame.rl2e, format::error)
            );
            json!({ "words": words, "rl2e": frame.rl2e, "svg": packed(&frame.svg) })
        })
        .collect();
    let last = frames.len().saturating_sub(1);
    html! {
        @if let Some(first) = frames.first() {
            div.controls {
                button.step type="button" data-step="-1" aria-label="better" { "‹" }
                div.track {
                    div.bars aria-hidden="true" {}
                    input type="range" min="0" max=(last) value="0" step="1"
                        aria-label={ (title) ", from the best to the worst" };
                    div.ends { span { "best" } span { "worst" } }
                }
                button.step type="button" data-step="1" aria-label="worse" { "›" }
            }
            p.reading aria-live="polite" {}
            button.plate type="button" data-zoom aria-label="Enlarge the sample" {
                img alt="" width=[size(&first.svg).map(|s| s[0])] height=[size(&first.svg).map(|s| s[1])];
            }
            script type="application/json" { (PreEscaped(escape_json(&json!(data)))) }
        }
    }
}

/// Curves with their values; the page draws them at the width it has.
pub fn curve(id: &str, curve: &Curve) -> Markup {
    let data = json!({ "x": curve.x, "y": curve.y, "series": curve.series, "title": curve.title, "bars": curve.bars });
    html! {
        figure.block.curve #(id) {
            figcaption { h4 { (format::subscripts(&curve.title)) (label(curve.label.as_deref())) } }
            @if curve.series.iter().all(|s| s.x.is_empty()) {
                p.missing { "The curve has no points." }
            } @else {
                div.legend {}
                div.plot tabindex="0" role="img" aria-label={ (curve.title) ": " (curve.y.title) " over " (curve.x.title) } {}
                script type="application/json" { (PreEscaped(escape_json(&data))) }
            }
            (caption(&curve.caption))
        }
    }
}

fn read_svg(folder: &Path, name: &str) -> Readable<String> {
    let svg = read_beside(folder, name)?;
    if svg.trim_start().starts_with("<svg") || svg.trim_start().starts_with("<?xml") {
        Ok(svg)
    } else {
        Err(format!("{name} is not an SVG file"))
    }
}

/// Only what would end the address or the attribute is encoded: shorter than base64.
fn data_uri(svg: &str) -> String {
    let mut uri = String::from("data:image/svg+xml,");
    for c in svg.chars() {
        match c {
            '\n' | '\r' | '\t' => uri.push(' '),
            '%' | '#' | '"' | '<' | '>' | '{' | '}' | '\\' | '^' | '`' | '|' | '&' => {
                let _ = write!(uri, "%{:02X}", c as u32);
            }
            c => uri.push(c),
        }
    }
    uri
}

/// Compressed, as text.
fn packed(svg: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let bytes = encoder
        .write_all(svg.as_bytes())
        .and_then(|()| encoder.finish());
    BASE64.encode(bytes.expect("a vector can be written to"))
}

/// Width and height that the drawing gives itself, so that the page does not jump when it is
/// decoded.
fn size(svg: &str) -> Option<[u32; 2]> {
    let tag = svg.split_once("<svg")?.1.split_once('>')?.0;
    let attribute = |name: &str| -> Option<u32> {
        let value = tag.split_once(&format!(" {name}=\""))?.1;
        let value: f64 = value.split_once('"')?.0.parse().ok()?;
        Some(value.round() as u32)
    };
    Some([attribute("width")?, attribute("height")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_no_markup() {
        let svg = "<svg width=\"20\" height=\"10.4\">\n<a href=\"#b\"/>100%</svg>";
        let uri = data_uri(svg);
        assert!(!uri.contains(['<', '>', '"', '#', '\n']));
        assert!(uri.ends_with("100%25%3C/svg%3E"));
        assert_eq!(size(svg), Some([20, 10]));
        assert_eq!(size("<svg>"), None);
    }
}
