//! Which colour stands for which value, and the bar that shows it.

use super::axis::{Extent, Scale, Span};
use super::colour::ColourMap;
use super::frame::{Area, EDGE, Margins};
use super::raster::Raster;
use super::svg::{Svg, polyline};
use super::text::{self, Anchor, Text};

/// Colours for values. Give the same one to several panels to compare them:
///
/// ```text
/// let u = ColourScale::field("u").covering(&truth).covering(&predicted);
/// ```
#[derive(Clone, Debug)]
pub struct ColourScale {
    map: ColourMap,
    label: String,
    covered: Extent,
}

impl ColourScale {
    /// Viridis, for a field.
    pub fn field(label: &str) -> Self {
        ColourScale::new(ColourMap::Viridis, label)
    }

    /// Inferno, for an absolute error.
    pub fn error(label: &str) -> Self {
        ColourScale::new(ColourMap::Inferno, label)
    }

    fn new(map: ColourMap, label: &str) -> Self {
        ColourScale {
            map,
            label: label.to_owned(),
            covered: Extent::default(),
        }
    }

    /// Widens the scale to cover these values.
    pub fn covering(mut self, values: &[f64]) -> Self {
        let finite = values.iter().filter(|v| v.is_finite());
        finite.for_each(|v| self.covered.include(*v));
        self
    }

    /// The scale with its ends settled: those of what was covered, else those of `values`.
    pub(super) fn settle(&self, values: &[f64]) -> Colours<'_> {
        let mut extent = self.covered;
        if extent.ends().is_none() {
            let finite = values.iter().filter(|v| v.is_finite());
            finite.for_each(|v| extent.include(*v));
        }
        Colours {
            span: Span::settle(Scale::Linear, None, extent, 0.0),
            map: self.map,
            label: &self.label,
        }
    }
}

/// A colour scale over a settled range.
pub struct Colours<'a> {
    span: Span,
    pub map: ColourMap,
    label: &'a str,
}

const OFFSET: f64 = 9.0;
const THICKNESS: f64 = 12.0;
const MARK: f64 = 3.5;
const GAP: f64 = 3.0;
const LABEL_GAP: f64 = 5.0;

impl Colours<'_> {
    pub fn fraction(&self, value: f64) -> Option<f64> {
        self.span.fraction(value)
    }

    /// Room the bar takes to the right of an area of this height, and above it.
    pub fn margins(&self, height: f64) -> Margins {
        let ticks = self.span.ticks_up(height);
        let label = text::LINE_HEIGHT * text::LABEL * self.lines(height).len() as f64;
        let side = OFFSET + THICKNESS + MARK + GAP + ticks.widest() + LABEL_GAP + label;
        let factor = ticks.factor().map_or(0.0, |f| text::width(&f, text::TICK));
        Margins {
            right: side.max(OFFSET + factor),
            top: ticks.headroom(),
            ..Margins::default()
        }
    }

    /// The bar, to the right of the area.
    pub fn draw_bar(&self, svg: &mut Svg, area: Area) {
        let bar = Area {
            left: area.right() + OFFSET,
            width: THICKNESS,
            ..area
        };
        // As wide as it is shown, so that no viewer blurs its edges.
        let mut raster = Raster::new(THICKNESS as usize, 255);
        for j in 0..raster.height() {
            for i in 0..raster.width() {
                raster.set(i, j, 1.0 - j as f64 / 254.0);
            }
        }
        svg.image(bar, &raster.data_uri(self.map));
        svg.rectangle(bar, EDGE);

        let ticks = self.span.ticks_up(area.height);
        let height_of = |v| bar.bottom() - self.span.fraction(v).unwrap_or(0.0) * bar.height;
        let mut marks = String::new();
        for tick in &ticks.major {
            let y = height_of(tick.value);
            marks += &polyline(&[(bar.right(), y), (bar.right() + MARK, y)]);
            let left = bar.right() + MARK + GAP;
            svg.text(&Text::new(
                left,
                y + 0.36 * text::TICK,
                text::TICK,
                &tick.label,
            ));
        }
        svg.stroke(&marks, EDGE);
        if let Some(factor) = ticks.factor() {
            svg.text(&Text::new(bar.left, bar.top - 4.0, text::TICK, &factor));
        }
        let mut x = bar.right() + MARK + GAP + ticks.widest() + LABEL_GAP + 0.9 * text::LABEL;
        for line in self.lines(area.height) {
            let label = Text::new(x, bar.top + 0.5 * bar.height, text::LABEL, &line);
            svg.text(&label.anchor(Anchor::Middle).upright());
            x += text::LINE_HEIGHT * text::LABEL;
        }
    }

    fn lines(&self, height: f64) -> Vec<String> {
        text::wrap(self.label, text::LABEL, height.max(90.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_can_be_shared() {
        let scale = ColourScale::field("u")
            .covering(&[0.0, 1.0])
            .covering(&[4.0]);
        assert_eq!(scale.settle(&[100.0]).fraction(4.0), Some(1.0));
        assert_eq!(scale.settle(&[100.0]).fraction(2.0), Some(0.5));
    }
}
