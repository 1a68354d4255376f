//! Points with a value each, shown by colour: what scattered points and arrows share.

use super::axis::{Axis, Extent};
use super::colour::Rgb;
use super::colour_scale::{ColourScale, Colours};

/// Points, their values and the colours for these.
pub(super) struct Cloud {
    pub points: Vec<(f64, f64)>,
    pub values: Vec<f64>,
    pub scale: ColourScale,
}

/// What has the same colour is drawn together, so fewer colours make smaller files.
pub(super) const LEVELS: usize = 64;

impl Cloud {
    pub fn new(points: Vec<(f64, f64)>, values: Vec<f64>) -> Self {
        Cloud {
            points,
            values,
            scale: ColourScale::field(""),
        }
    }

    /// The extent of the points that the axes can show.
    pub fn extent(&self, x: &Axis, y: &Axis) -> (Extent, Extent) {
        let (mut across, mut up) = (Extent::default(), Extent::default());
        for (u, v) in &self.points {
            if x.shows(*u) && y.shows(*v) {
                across.include(*u);
                up.include(*v);
            }
        }
        (across, up)
    }

    pub fn colours(&self) -> Colours<'_> {
        self.scale.settle(&self.values)
    }
}

/// Which of the [`LEVELS`] stands for `value`, if any does.
pub(super) fn level(colours: &Colours<'_>, value: f64) -> Option<usize> {
    let t = colours.fraction(value)?;
    Some((t.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize)
}

pub(super) fn colour(colours: &Colours<'_>, level: usize) -> Rgb {
    colours.map.at(level as f64 / (LEVELS - 1) as f64)
}
