//! Fields as pictures: colour levels to an embedded PNG.

use base64::Engine as _;

use super::colour::{ColourMap, Rgb};

/// Colour levels in use; one more palette entry is the transparent one.
const LEVELS: u8 = 255;
const TRANSPARENT: u8 = LEVELS;

/// A picture of values in `[0, 1]`, the top row first. A palette keeps the file
/// a third of the size of true colour and loses nothing the eye can see.
pub struct Raster {
    width: usize,
    height: usize,
    levels: Vec<u8>,
}

impl Raster {
    /// A transparent picture, at least one pixel large.
    pub fn new(width: usize, height: usize) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Raster {
            width,
            height,
            levels: vec![TRANSPARENT; width * height],
        }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// Colours the pixel in column `i` of row `j` from the top.
    pub fn set(&mut self, i: usize, j: usize, fraction: f64) {
        let level = fraction.clamp(0.0, 1.0) * f64::from(LEVELS - 1);
        self.levels[j * self.width + i] = level.round() as u8;
    }

    /// The PNG as a `data:` address.
    pub fn data_uri(&self, map: ColourMap) -> String {
        let png = self
            .png(map)
            .expect("a picture of positive size is encoded into memory");
        let encoded = base64::engine::general_purpose::STANDARD.encode(png);
        format!("data:image/png;base64,{encoded}")
    }

    fn png(&self, map: ColourMap) -> Result<Vec<u8>, png::EncodingError> {
        let mut palette = Vec::with_capacity(768);
        for level in 0..LEVELS {
            let Rgb(r, g, b) = map.at(f64::from(level) / f64::from(LEVELS - 1));
            palette.extend_from_slice(&[r, g, b]);
        }
        palette.extend_from_slice(&[255; 3]);
        let mut opacity = vec![255; usize::from(LEVELS)];
        opacity.push(0);

        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette);
        encoder.set_trns(opacity);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.levels)?;
        writer.finish()?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_decodes_to_what_was_set() {
        let mut raster = Raster::new(3, 2);
        raster.set(0, 0, 0.0);
        raster.set(2, 1, 1.0);
        let uri = raster.data_uri(ColourMap::Viridis);
        let encoded = uri.strip_prefix("data:image/png;base64,").unwrap();
        let png = base64::engine::general_purpose::STANDARD
            .decode(encoded)
            .unwrap();
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (3, 2));
        assert_eq!(pixels[..4], [0x44, 0x01, 0x54, 255]);
        assert_eq!(pixels[7], 0, "unset pixels are transparent");
        assert_eq!(pixels[20..], [0xfd, 0xe7, 0x25, 255]);
    }

    #[test]
    fn an_empty_picture_is_one_pixel() {
        let raster = Raster::new(0, 0);
        assert_eq!((raster.width(), raster.height()), (1, 1));
    }
}
