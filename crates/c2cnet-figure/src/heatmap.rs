//! Values on a rectangular grid.

use super::axis::{Axis, Extent};
use super::colour_scale::{ColourScale, Colours};
use super::frame::{Area, Frame};
use super::panel::{Coloured, Panel, Plot};
use super::raster::Raster;
use super::svg::Svg;

/// One coloured cell for every value.
pub struct Heatmap {
    nx: usize,
    ny: usize,
    values: Vec<f64>,
    scale: ColourScale,
    x: (f64, f64),
    y: (f64, f64),
}

impl Heatmap {
    pub(super) fn new(nx: usize, ny: usize, values: &[f64]) -> Self {
        Heatmap {
            nx,
            ny,
            values: values.to_vec(),
            scale: ColourScale::field(""),
            x: (0.0, nx.max(1) as f64),
            y: (0.0, ny.max(1) as f64),
        }
    }

    fn value(&self, i: usize, j: usize) -> Option<f64> {
        self.values.get(j * self.nx + i).copied()
    }

    /// Cells become squares of whole pixels, so that a viewer that smooths
    /// pictures leaves them sharp; a grid too fine to be seen is averaged.
    fn raster(&self) -> Raster {
        let colours = self.scale.settle(&self.values);
        let (across, up) = (Sampling::of(self.nx), Sampling::of(self.ny));
        let mut raster = Raster::new(across.pixels, up.pixels);
        for j in 0..up.pixels {
            for i in 0..across.pixels {
                let cells = up
                    .cells(up.pixels - 1 - j)
                    .flat_map(|b| across.cells(i).map(move |a| (a, b)));
                let seen = cells
                    .filter_map(|(a, b)| colours.fraction(self.value(a, b)?))
                    .fold((0.0, 0.0), |(sum, n), t| (sum + t.clamp(0.0, 1.0), n + 1.0));
                if seen.1 > 0.0 {
                    raster.set(i, j, seen.0 / seen.1);
                }
            }
        }
        raster
    }
}

const FINE: usize = 360;
const FINEST: usize = 1200;

/// How cells of a grid and pixels of a picture correspond along one axis.
struct Sampling {
    pixels: usize,
    cells: usize,
}

impl Sampling {
    fn of(cells: usize) -> Self {
        let pixels = match cells {
            0 => 0,
            n if n > FINEST => FINEST,
            n => n * FINE.div_ceil(n),
        };
        Sampling { pixels, cells }
    }

    /// The cells a pixel shows.
    fn cells(&self, pixel: usize) -> std::ops::Range<usize> {
        let first = pixel * self.cells / self.pixels;
        let end = ((pixel + 1) * self.cells / self.pixels).max(first + 1);
        first..end
    }
}

impl Panel<Heatmap> {
    /// The rectangle the cells fill together: `0..nx` by `0..ny` unless set.
    pub fn extent(mut self, x: [f64; 2], y: [f64; 2]) -> Self {
        self.plot.x = (x[0].min(x[1]), x[0].max(x[1]));
        self.plot.y = (y[0].min(y[1]), y[0].max(y[1]));
        self
    }
}

impl Coloured for Heatmap {
    fn scale_mut(&mut self) -> &mut ColourScale {
        &mut self.scale
    }
}

impl Plot for Heatmap {
    fn extent(&self, _: &Axis, _: &Axis) -> (Extent, Extent) {
        let of = |(lo, hi): (f64, f64)| {
            let mut extent = Extent::default();
            [lo, hi].into_iter().for_each(|v| extent.include(v));
            extent
        };
        (of(self.x), of(self.y))
    }

    fn colours(&self) -> Option<Colours<'_>> {
        Some(self.scale.settle(&self.values))
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let corners = (
            frame.point(self.x.0, self.y.1),
            frame.point(self.x.1, self.y.0),
        );
        let (Some((left, top)), Some((right, bottom))) = corners else {
            return;
        };
        let place = Area {
            left,
            top,
            width: right - left,
            height: bottom - top,
        };
        let picture = self.raster().data_uri(self.scale.settle(&self.values).map);
        svg.clipped(frame.area, |svg| svg.image(place, &picture));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_gets_as_many_whole_pixels() {
        for cells in [1, 7, 64, 359, 360, 361, 1200] {
            let sampling = Sampling::of(cells);
            assert_eq!(sampling.pixels % cells, 0);
            assert_eq!(sampling.cells(sampling.pixels - 1), cells - 1..cells);
        }
    }

    #[test]
    fn fine_grids_are_averaged_and_none_is_missed() {
        let sampling = Sampling::of(5000);
        let seen: usize = (0..sampling.pixels).map(|p| sampling.cells(p).len()).sum();
        assert_eq!((sampling.pixels, seen), (FINEST, 5000));
    }
}
