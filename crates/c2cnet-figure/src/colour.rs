//! Colours that survive colour-blindness and a black-and-white printer.

use std::fmt;

/// A colour, eight bits per channel. Displays as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    const fn hex(code: u32) -> Self {
        Rgb((code >> 16) as u8, (code >> 8) as u8, code as u8)
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Text and axes.
pub const BLACK: Rgb = Rgb::hex(0x000000);
/// The first colour of series.
pub const BLUE: Rgb = Rgb::hex(0x0072b2);
/// Vermillion, the second.
pub const VERMILLION: Rgb = Rgb::hex(0xd55e00);
/// Bluish green.
pub const GREEN: Rgb = Rgb::hex(0x009e73);
/// Reddish purple.
pub const PURPLE: Rgb = Rgb::hex(0xcc79a7);
/// Orange.
pub const ORANGE: Rgb = Rgb::hex(0xe69f00);
/// Sky blue.
pub const SKY: Rgb = Rgb::hex(0x56b4e9);

/// The palette of Okabe and Ito in the order series take it. Its yellow is
/// left out: a thin yellow line cannot be seen on white.
pub const OKABE_ITO: [Rgb; 7] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK];

/// A map from `[0, 1]` to colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourMap {
    /// Perceptually uniform, for fields.
    Viridis,
    /// Black to yellow, for absolute errors.
    Inferno,
}

impl ColourMap {
    /// The colour at `t`, which is clamped to `[0, 1]`.
    pub fn at(self, t: f64) -> Rgb {
        let table = match self {
            ColourMap::Viridis => &VIRIDIS,
            ColourMap::Inferno => &INFERNO,
        };
        let position = t.clamp(0.0, 1.0) * (table.len() - 1) as f64;
        let below = (position as usize).min(table.len() - 2);
        let weight = position - below as f64;
        let (a, b) = (Rgb::hex(table[below]), Rgb::hex(table[below + 1]));
        let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - weight) + f64::from(b) * weight).round();
        Rgb(
            mix(a.0, b.0) as u8,
            mix(a.1, b.1) as u8,
            mix(a.2, b.2) as u8,
        )
    }
}

// Equally spaced samples: linear interpolation between them stays within five
// levels of 255 of the full tables.
#[rustfmt::skip]
const VIRIDIS: [u32; 25] = [
    0x440154, 0x471063, 0x481f70, 0x472d7b, 0x443983, 0x404688, 0x3b528b, 0x365d8d, 0x31688e,
    0x2c728e, 0x287c8e, 0x24868e, 0x21918c, 0x1f9a8a, 0x20a486, 0x28ae80, 0x35b779, 0x48c16e,
    0x5ec962, 0x75d054, 0x90d743, 0xaddc30, 0xc8e020, 0xe5e419, 0xfde725,
];
#[rustfmt::skip]
const INFERNO: [u32; 25] = [
    0x000004, 0x050417, 0x110a30, 0x210c4a, 0x320a5e, 0x450a69, 0x57106e, 0x67166e, 0x781c6d,
    0x8a226a, 0x9a2865, 0xab2f5e, 0xbc3754, 0xca404a, 0xd84c3e, 0xe45a31, 0xed6925, 0xf57b17,
    0xf98e09, 0xfca108, 0xfbb61a, 0xf9cb35, 0xf4df53, 0xf2f27d, 0xfcffa4,
];
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle_are_the_tabulated_colours() {
        assert_eq!(ColourMap::Viridis.at(-1.0), Rgb::hex(0x440154));
        assert_eq!(ColourMap::Viridis.at(2.0), Rgb::hex(0xfde725));
        assert_eq!(ColourMap::Inferno.at(0.5).to_string(), "#bc3754");
    }

    #[test]
    fn sequential_maps_brighten_throughout() {
        for map in [ColourMap::Viridis, ColourMap::Inferno] {
            let luminance = |k: u32| {
                let Rgb(r, g, b) = map.at(f64::from(k) / 64.0);
                0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)
            };
            assert!((0..64).all(|k| luminance(k + 1) > luminance(k) - 0.5));
        }
    }
}
