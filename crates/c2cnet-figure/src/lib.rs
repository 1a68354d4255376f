//! Figures as SVG and PNG: panels of lines, heat maps, scattered points, arrows and
//! fields on triangle meshes, in rows and columns.
//!
//! ```
//! use c2cnet_figure::{ColourScale, Figure, Panel, Series, png};
//!
//! let x: Vec<f64> = (0..64).map(|i| f64::from(i) / 63.0).collect();
//! let truth: Vec<f64> = x.iter().map(|x| x.sin()).collect();
//! let predicted: Vec<f64> = x.iter().map(|x| x - x.powi(3) / 6.0).collect();
//! let u: Vec<f64> = x.iter().flat_map(|t| x.iter().map(move |x| t * x)).collect();
//! let svg = Figure::new("Burgers, test sample 3")
//!     .panel(
//!         Panel::lines("x", "u")
//!             .series(Series::line("truth", &x, &truth))
//!             .series(Series::dashed("predicted", &x, &predicted)),
//!     )
//!     .panel(Panel::heatmap("x", "t", [64, 64], &u).colours(ColourScale::field("u")))
//!     .to_svg();
//! assert!(svg.starts_with("<svg"));
//! let bytes = png(&svg)?;
//! # Ok::<(), c2cnet_figure::PngError>(())
//! ```
//!
//! [`Figure`] holds [`Panel`]s; [`Plane`] chooses how values at points of the plane are drawn;
//! [`Svg`], [`Stroke`] and [`Text`] draw everything that is not a panel.
//!
//! Text may hold superscripts `^{...}` and subscripts `_{...}`. Values that
//! cannot be shown (not finite, or not positive on a logarithmic axis) are left
//! out, and nothing in here fails on bad data.

#![warn(missing_docs)]

mod arrows;
mod axis;
mod cloud;
pub mod colour;
mod colour_scale;
pub mod contour;
mod decimate;
mod frame;
mod heatmap;
mod layout;
mod legend;
mod lines;
mod overlay;
mod panel;
mod plane;
mod png;
mod raster;
mod scatter;
mod series;
mod svg;
mod text;
mod ticks;
mod triangles;

#[cfg(test)]
mod tests;

pub use arrows::{Arrows, MARGIN as ARROW_MARGIN};
pub use colour_scale::ColourScale;
pub use heatmap::Heatmap;
pub use legend::Legend;
pub use lines::Lines;
pub use overlay::Overlay;
pub use panel::Panel;
pub use plane::Plane;
pub use png::{PngError, png};
pub use scatter::Scatter;
pub use series::{Dash, Marker, Series};
pub use svg::{Stroke, Svg, polyline};
pub use text::{Anchor, Text};
pub use triangles::Triangles;

/// A title over rows of panels.
pub struct Figure {
    title: String,
    rows: Vec<Vec<Panel>>,
    panel_size: (f64, f64),
    shared_legend: bool,
}

impl Figure {
    /// A figure without panels; the title may be empty.
    pub fn new(title: &str) -> Self {
        Figure {
            title: title.to_owned(),
            rows: Vec::new(),
            panel_size: (320.0, 230.0),
            shared_legend: false,
        }
    }

    /// Begins a row with these panels, all of one kind. More, of any kind, can
    /// be added with [`panel`](Figure::panel).
    pub fn row<P: Into<Panel>>(mut self, panels: impl IntoIterator<Item = P>) -> Self {
        let panels = panels.into_iter().map(Into::into);
        self.rows.push(panels.collect());
        self
    }

    /// Begins an empty row.
    pub fn next_row(mut self) -> Self {
        self.rows.push(Vec::new());
        self
    }

    /// Adds a panel to the last row.
    pub fn panel(mut self, panel: impl Into<Panel>) -> Self {
        match self.rows.last_mut() {
            Some(row) => row.push(panel.into()),
            None => self.rows.push(vec![panel.into()]),
        }
        self
    }

    /// The size of a panel within its axes, 320 by 230 pixels unless set.
    pub fn panel_size(mut self, width: f64, height: f64) -> Self {
        self.panel_size = (width.max(40.0), height.max(40.0));
        self
    }

    /// One legend below the title in place of one for every panel.
    pub fn shared_legend(mut self) -> Self {
        self.shared_legend = true;
        self
    }

    /// The drawing as a self-contained document.
    pub fn to_svg(&self) -> String {
        layout::draw(self)
    }
}
