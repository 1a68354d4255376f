//! A field on a triangle mesh.

use super::axis::{Axis, Extent};
use super::colour_scale::{ColourScale, Colours};
use super::decimate::Point;
use super::frame::Frame;
use super::panel::{Coloured, Plot};
use super::raster::Raster;
use super::svg::Svg;

/// Nodal values, interpolated linearly in every triangle.
pub struct Triangles {
    nodes: Vec<[f64; 2]>,
    triangles: Vec<[usize; 3]>,
    values: Vec<f64>,
    scale: ColourScale,
}

/// Pixels of the picture for each pixel of the drawing, for sharp print.
const OVERSAMPLING: f64 = 2.0;

impl Triangles {
    pub(super) fn new(nodes: &[[f64; 2]], triangles: &[[usize; 3]], values: &[f64]) -> Self {
        let known = |t: &&[usize; 3]| {
            t.iter().all(|k| {
                let finite = |n: &[f64; 2]| n.iter().all(|c| c.is_finite());
                nodes.get(*k).is_some_and(finite) && *k < values.len()
            })
        };
        Triangles {
            nodes: nodes.to_vec(),
            triangles: triangles.iter().filter(known).copied().collect(),
            values: values.to_vec(),
            scale: ColourScale::field(""),
        }
    }

    fn raster(&self, frame: &Frame, colours: &Colours<'_>) -> Raster {
        let area = frame.area;
        let size = |pixels: f64| (OVERSAMPLING * pixels).round() as usize;
        let mut raster = Raster::new(size(area.width), size(area.height));
        let scale = (
            raster.width() as f64 / area.width,
            raster.height() as f64 / area.height,
        );
        for triangle in &self.triangles {
            let corners = triangle.map(|k| {
                let [x, y] = self.nodes[k];
                let (x, y) = frame.point(x, y)?;
                let pixel = ((x - area.left) * scale.0, (y - area.top) * scale.1);
                Some((pixel, self.values[k]))
            });
            if let [Some(a), Some(b), Some(c)] = corners {
                fill(&mut raster, [a.0, b.0, c.0], [a.1, b.1, c.1], colours);
            }
        }
        raster
    }
}

/// Colours the pixels whose centres lie in a triangle. With barycentric
/// coordinates `l_k`, the value there is `l_0 v_0 + l_1 v_1 + l_2 v_2`.
fn fill(raster: &mut Raster, [a, b, c]: [Point; 3], v: [f64; 3], colours: &Colours<'_>) {
    let area = (b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1);
    if area == 0.0 {
        return;
    }
    let pixels = |p: f64, q: f64, r: f64, most: usize| {
        let first = p.min(q).min(r).floor().max(0.0) as usize;
        let end = p.max(q).max(r).ceil().clamp(0.0, most as f64) as usize;
        first..end
    };
    for j in pixels(a.1, b.1, c.1, raster.height()) {
        for i in pixels(a.0, b.0, c.0, raster.width()) {
            let (x, y) = (i as f64 + 0.5, j as f64 + 0.5);
            let l1 = ((x - a.0) * (c.1 - a.1) - (c.0 - a.0) * (y - a.1)) / area;
            let l2 = ((b.0 - a.0) * (y - a.1) - (x - a.0) * (b.1 - a.1)) / area;
            let l0 = 1.0 - l1 - l2;
            // Rounding must not open seams between neighbours.
            if l0 < -1e-9 || l1 < -1e-9 || l2 < -1e-9 {
                continue;
            }
            if let Some(t) = colours.fraction(l0 * v[0] + l1 * v[1] + l2 * v[2]) {
                raster.set(i, j, t);
            }
        }
    }
}

impl Coloured for Triangles {
    fn scale_mut(&mut self) -> &mut ColourScale {
        &mut self.scale
    }
}

impl Plot for Triangles {
    fn extent(&self, _: &Axis, _: &Axis) -> (Extent, Extent) {
        let (mut across, mut up) = (Extent::default(), Extent::default());
        for k in self.triangles.iter().flatten() {
            across.include(self.nodes[*k][0]);
            up.include(self.nodes[*k][1]);
        }
        (across, up)
    }

    fn colours(&self) -> Option<Colours<'_>> {
        Some(self.scale.settle(&self.values))
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let colours = self.scale.settle(&self.values);
        let picture = self.raster(frame, &colours).data_uri(colours.map);
        svg.image(frame.area, &picture);
    }
}
