//! One pair of axes with something drawn in it.

use super::arrows::Arrows;
use super::axis::{Axis, Extent, Scale, Span};
use super::colour_scale::{ColourScale, Colours};
use super::frame::{Area, Frame, Margins};
use super::heatmap::Heatmap;
use super::legend::{Entry, Legend};
use super::lines::Lines;
use super::overlay::Overlay;
use super::scatter::Scatter;
use super::svg::Svg;
use super::text::{self, Anchor, Text};
use super::triangles::Triangles;

/// Axes around a `K`: [`Lines`], [`Heatmap`], [`Scatter`], [`Arrows`] or
/// [`Triangles`]. A plain `Panel` holds any of them;
/// [`Figure::panel`](super::Figure::panel) takes all alike.
pub struct Panel<K = Box<dyn Plot>> {
    pub(super) plot: K,
    title: String,
    x: Axis,
    y: Axis,
    equal_aspect: bool,
    /// Of the figure's panel height.
    height: f64,
    legend: Legend,
    overlays: Vec<Overlay>,
}

/// What a panel has in common with those beside it.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// Room kept clear right above the axes, so that titles of a row line up.
    pub headroom: f64,
    pub with_legend: bool,
}

/// What can be drawn within axes.
pub trait Plot {
    /// The data's extent along both axes, of what the axes can show.
    fn extent(&self, x: &Axis, y: &Axis) -> (Extent, Extent);

    /// How much the extent is widened, as a fraction, along both axes.
    fn padding(&self) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// Whether grid lines show behind the data.
    fn wants_grid(&self) -> bool {
        false
    }

    fn legend(&self) -> Vec<Entry> {
        Vec::new()
    }

    fn colours(&self) -> Option<Colours<'_>> {
        None
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame);
}

/// A plot whose values are shown by colour.
pub trait Coloured: Plot {
    fn scale_mut(&mut self) -> &mut ColourScale;
}

/// A plot of points, which makes sense on logarithmic axes too.
pub trait Points: Plot {}

impl Panel {
    /// An empty line panel, to be given [`series`](Panel::series).
    pub fn lines(x_label: &str, y_label: &str) -> Panel<Lines> {
        Panel::around(Lines::default(), x_label, y_label)
    }

    /// Values on an `nx` by `ny` grid: `values[j * nx + i]` belongs to the
    /// `i`-th column from the left and the `j`-th row from the bottom. Values
    /// that are missing or not finite are left blank.
    pub fn heatmap(
        x_label: &str,
        y_label: &str,
        [nx, ny]: [usize; 2],
        values: &[f64],
    ) -> Panel<Heatmap> {
        Panel::around(Heatmap::new(nx, ny, values), x_label, y_label)
    }

    /// Points coloured by value. The shortest of the three says how many.
    pub fn scatter(
        x_label: &str,
        y_label: &str,
        x: &[f64],
        y: &[f64],
        values: &[f64],
    ) -> Panel<Scatter> {
        Panel::around(Scatter::new(x, y, values), x_label, y_label)
    }

    /// An arrow at each point for its vector, coloured by length; axes of equal
    /// aspect. The shorter of the two lists says how many.
    pub fn arrows(
        x_label: &str,
        y_label: &str,
        points: &[[f64; 2]],
        vectors: &[[f64; 2]],
    ) -> Panel<Arrows> {
        Panel::around(Arrows::new(points, vectors), x_label, y_label).equal_aspect()
    }

    /// A field on a triangle mesh, linear in every triangle; axes of equal
    /// aspect unless [`free_aspect`](Panel::free_aspect) says otherwise.
    /// Triangles with a node or value that is missing or not finite are left
    /// blank.
    pub fn triangles(
        x_label: &str,
        y_label: &str,
        nodes: &[[f64; 2]],
        triangles: &[[usize; 3]],
        values: &[f64],
    ) -> Panel<Triangles> {
        let plot = Triangles::new(nodes, triangles, values);
        Panel::around(plot, x_label, y_label).equal_aspect()
    }
}

impl<K> Panel<K> {
    fn around(plot: K, x_label: &str, y_label: &str) -> Self {
        Panel {
            plot,
            title: String::new(),
            x: Axis::new(x_label),
            y: Axis::new(y_label),
            equal_aspect: false,
            height: 1.0,
            legend: Legend::Auto,
            overlays: Vec::new(),
        }
    }

    /// The title above the axes.
    pub fn title(mut self, title: &str) -> Self {
        self.title = title.to_owned();
        self
    }

    /// Shows this range instead of that of the data. One that is empty, or that
    /// a logarithmic axis cannot show, is disregarded.
    pub fn x_range(mut self, lo: f64, hi: f64) -> Self {
        self.x.range = Some((lo, hi));
        self
    }

    /// The range of the vertical axis, in place of that of the values.
    pub fn y_range(mut self, lo: f64, hi: f64) -> Self {
        self.y.range = Some((lo, hi));
        self
    }

    /// A unit of length is as long on one axis as on the other.
    pub fn equal_aspect(mut self) -> Self {
        self.equal_aspect = true;
        self
    }

    /// The panel fills its cell, whatever that does to shapes.
    pub fn free_aspect(mut self) -> Self {
        self.equal_aspect = false;
        self
    }

    /// The height as a part of that of the figure's panels.
    pub fn height(mut self, part: f64) -> Self {
        self.height = part;
        self
    }

    /// Where the legend goes.
    pub fn legend(mut self, legend: Legend) -> Self {
        self.legend = legend;
        self
    }

    /// Draws these pieces of line over the data, black with a white rim that
    /// shows them on any colour. They do not widen the axes.
    pub fn overlay(self, segments: &[[[f64; 2]; 2]]) -> Self {
        if segments.is_empty() {
            return self;
        }
        self.over(Overlay::Outline(segments.to_vec()))
    }

    /// Draws a layer over the data and the layers before it.
    pub fn over(mut self, overlay: Overlay) -> Self {
        self.overlays.push(overlay);
        self
    }
}

impl<K: Points> Panel<K> {
    /// A logarithmic horizontal axis.
    pub fn log_x(mut self) -> Self {
        self.x.scale = Scale::Log10;
        self
    }

    /// A logarithmic vertical axis.
    pub fn log_y(mut self) -> Self {
        self.y.scale = Scale::Log10;
        self
    }
}

impl<K: Coloured> Panel<K> {
    /// How values become colours.
    pub fn colours(mut self, scale: ColourScale) -> Self {
        *self.plot.scale_mut() = scale;
        self
    }
}

impl<K: Plot + 'static> From<Panel<K>> for Panel {
    fn from(panel: Panel<K>) -> Panel {
        Panel {
            plot: Box::new(panel.plot),
            title: panel.title,
            x: panel.x,
            y: panel.y,
            equal_aspect: panel.equal_aspect,
            height: panel.height,
            legend: panel.legend,
            overlays: panel.overlays,
        }
    }
}

impl Panel {
    /// The size the area would like to have, near `standard`. Equal aspect
    /// keeps the surface and gives up the shape, within reason.
    pub(super) fn natural_size(&self, standard: (f64, f64)) -> (f64, f64) {
        let standard = (standard.0, self.height * standard.1);
        if !self.equal_aspect {
            return standard;
        }
        let aspect = self.aspect();
        let surface = standard.0 * standard.1;
        let width = (surface / aspect).sqrt().min(1.5 * standard.0);
        let height = (width * aspect).min(1.5 * standard.1);
        (height / aspect, height)
    }

    /// The size the area takes in a cell of this size.
    pub(super) fn size_within(&self, cell: (f64, f64)) -> (f64, f64) {
        if !self.equal_aspect {
            return cell;
        }
        let aspect = self.aspect();
        let width = cell.0.min(cell.1 / aspect);
        (width, width * aspect)
    }

    /// Height over width, kept drawable.
    fn aspect(&self) -> f64 {
        let (x, y) = self.spans();
        (y.length() / x.length()).clamp(0.02, 50.0)
    }

    /// Room taken around an area of this size.
    pub(super) fn margins(&self, size: (f64, f64), setting: Setting) -> Margins {
        let mut margins = self.axes_margins(size);
        margins.top = setting.headroom;
        if setting.with_legend {
            let entries = self.plot.legend();
            let legend = self.legend.settle(&entries, size.0).margins(&entries, size);
            margins.top += legend.top;
            margins.right = margins.right.max(legend.right);
            margins.bottom = margins.bottom.max(legend.bottom);
        }
        let lines = self.title_lines(size.0).len() as f64;
        if lines > 0.0 {
            margins.top += lines * text::LINE_HEIGHT * text::PANEL_TITLE + 3.0;
        }
        margins
    }

    /// What the axes and the colour bar need clear above them.
    pub(super) fn headroom(&self, size: (f64, f64)) -> f64 {
        self.axes_margins(size).top
    }

    /// Room for the axes and the colour bar alone.
    fn axes_margins(&self, (width, height): (f64, f64)) -> Margins {
        let frame = self.frame(Area {
            left: 0.0,
            top: 0.0,
            width,
            height,
        });
        let mut margins = frame.margins(&self.x, &self.y);
        if let Some(colours) = self.plot.colours() {
            let bar = colours.margins(height);
            margins.right = margins.right.max(bar.right);
            margins.top = margins.top.max(bar.top);
        }
        margins
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.plot.legend()
    }

    pub(super) fn draw(&self, svg: &mut Svg, area: Area, setting: Setting) {
        let frame = self.frame(area);
        if self.plot.wants_grid() {
            frame.draw_grid(svg);
        }
        self.plot.draw(svg, &frame);
        for overlay in &self.overlays {
            overlay.draw(svg, &frame);
        }
        frame.draw_axes(svg, &self.x, &self.y);
        if let Some(colours) = self.plot.colours() {
            colours.draw_bar(svg, area);
        }
        let mut top = setting.headroom;
        if setting.with_legend {
            let entries = self.plot.legend();
            let legend = self.legend.settle(&entries, area.width);
            legend.draw(svg, &entries, area, top);
            top += legend.margins(&entries, (area.width, area.height)).top;
        }
        let mut baseline = area.top - top - 0.3 * text::PANEL_TITLE;
        for line in self.title_lines(area.width).iter().rev() {
            let centre = area.left + 0.5 * area.width;
            let title = Text::new(centre, baseline, text::PANEL_TITLE, line);
            svg.text(&title.anchor(Anchor::Middle));
            baseline -= text::LINE_HEIGHT * text::PANEL_TITLE;
        }
    }

    fn title_lines(&self, width: f64) -> Vec<String> {
        text::wrap(&self.title, text::PANEL_TITLE, width)
    }

    fn frame(&self, area: Area) -> Frame {
        let (x, y) = self.spans();
        Frame { area, x, y }
    }

    fn spans(&self) -> (Span, Span) {
        let (x, y) = self.plot.extent(&self.x, &self.y);
        let (pad_x, pad_y) = self.plot.padding();
        (
            Span::settle(self.x.scale, self.x.range, x, pad_x),
            Span::settle(self.y.scale, self.y.range, y, pad_y),
        )
    }
}
