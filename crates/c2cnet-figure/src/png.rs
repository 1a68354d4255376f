//! Drawings as pixels.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};
use std::sync::{Arc, LazyLock};

/// Pixels for each unit of the drawing: sharp on dense screens and in print.
const SCALE: f32 = 2.0;

/// The only fonts there are, so that every machine draws the same pixels.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(include_bytes!("fonts/FigureSans-Regular.ttf").to_vec());
    fonts.load_font_data(include_bytes!("fonts/FigureSans-Bold.ttf").to_vec());
    fonts.set_sans_serif_family("Figure Sans");
    Arc::new(fonts)
});

/// Why a drawing could not become a PNG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PngError(String);

impl std::fmt::Display for PngError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no PNG of a figure: {}", self.0)
    }
}

impl std::error::Error for PngError {}

/// The drawing `svg` as the bytes of a PNG file, twice as large.
///
/// # Errors
/// If `svg` is not a drawing, or is too large for memory.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let cannot = |e: &dyn std::fmt::Display| PngError(e.to_string());
    let options = usvg::Options {
        font_family: "Figure Sans".into(),
        fontdb: FONTS.clone(),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| cannot(&e))?;
    let [width, height] = [tree.size().width(), tree.size().height()].map(|v| (SCALE * v).ceil());
    let mut pixels = Pixmap::new(width as u32, height as u32)
        .ok_or_else(|| cannot(&format!("{width} x {height} pixels are too many")))?;
    let scale = Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| cannot(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Figure, Panel, Series};

    fn pixels(svg: &str) -> Pixmap {
        Pixmap::decode_png(&png(svg).unwrap()).unwrap()
    }

    fn is_dark(pixels: &Pixmap, x: u32, y: u32) -> bool {
        pixels.pixel(x, y).is_some_and(|p| p.red() < 128)
    }

    fn dark(pixels: &Pixmap) -> usize {
        let rows = (0..pixels.height()).flat_map(|y| (0..pixels.width()).map(move |x| (x, y)));
        rows.filter(|(x, y)| is_dark(pixels, *x, *y)).count()
    }

    #[test]
    fn text_is_drawn_without_fonts_of_the_system() {
        let text = |text: &str, weight: &str| {
            dark(&pixels(&format!(
                "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='40' \
                 font-family='Helvetica, Arial, sans-serif'><rect width='200' height='40' fill='white'/>\
                 <text x='5' y='30' font-size='20' font-weight='{weight}'>{text}</text></svg>"
            )))
        };
        assert_eq!(text("", "normal"), 0);
        for word in ["RL2E", "κ ψ φ", "10 − 3 × 2"] {
            assert!(text(word, "normal") > 100, "{word}");
            assert!(text(word, "bold") > text(word, "normal"), "{word}");
        }
    }

    #[test]
    fn figures_become_pixels() {
        let x = [0.0, 1.0, 2.0];
        let svg = Figure::new("A title")
            .panel(Panel::lines("x", "u").series(Series::line("u", &x, &x)))
            .panel(Panel::heatmap("x", "y", [2, 1], &[0.0, 1.0]))
            .to_svg();
        let pixels = pixels(&svg);
        assert!(pixels.width() > 1200, "{}", pixels.width());
        // Half of the map is dark violet: at least a tenth of the picture.
        assert!(dark(&pixels) * 10 > (pixels.width() * pixels.height()) as usize);
        assert_eq!(png(&svg).unwrap(), png(&svg).unwrap());
    }

    #[test]
    fn what_is_no_drawing_is_refused() {
        let error = png("not a drawing").unwrap_err().to_string();
        assert!(error.contains("no PNG of a figure"), "{error}");
    }
}
