//! Pictures of samples: truth, prediction and error beside each other.

use crate::contour::{Segment, zero_contour};
use crate::figure::{ColourScale, Figure, Panel, Series};
use crate::output::error as number;
use c2cnet::data::{Dataset, Field, Points};
use c2cnet::decode::FieldDecoder;
use c2cnet::operator::C2CNet;
use c2cnet::{Error, Result};

/// One sample of one component of the first output that is a function.
#[derive(Debug)]
pub struct Shown {
    /// Which sample this is.
    pub what: String,
    /// Its error, over all components.
    pub rl2e: f64,
    /// What the output is called on axes.
    pub symbol: String,
    pub points: Points,
    pub truth: Vec<f64>,
    pub predicted: Vec<f64>,
    /// Points and values of the input, if it is a function on an interval.
    pub input: Option<(Vec<f64>, Vec<f64>)>,
}

impl Shown {
    /// The first component of sample `k` of `data` at its own points.
    pub fn of(model: &C2CNet, data: &Dataset, k: usize, what: String, rl2e: f64) -> Result<Shown> {
        Self::component(model, data, k, 0, what, rl2e)
    }

    /// Component `c`, counted from 0.
    pub fn component(
        model: &C2CNet,
        data: &Dataset,
        k: usize,
        c: usize,
        what: String,
        rl2e: f64,
    ) -> Result<Shown> {
        let functions = |(_, (_, d)): &(usize, &(String, FieldDecoder))| !d.basis().is_vector();
        let Some((index, (name, _))) = model.outputs().iter().enumerate().find(functions) else {
            return Err(Error::Config(
                "quantities q have no points to be drawn at; leave the figure out".into(),
            ));
        };
        let field = data.outputs.iter().find(|(n, _)| n == name);
        let field = &field
            .ok_or_else(|| Error::Data(format!("the data has no output {name:?}")))?
            .1;
        let points = field.points_of(k).clone();
        let one = data.select(&[k]);
        let predicted = model.predict(&one.inputs, index, &points)?;
        let n = points.len();
        let truth = field.values_of(k)[c * n..(c + 1) * n].to_vec();
        Ok(Shown {
            what,
            rl2e,
            symbol: match field.components() {
                1 => "u".into(),
                _ => format!("u_{{{}}}", c + 1),
            },
            predicted: predicted[c].col(0).iter().copied().collect(),
            points,
            truth,
            input: input_of(data, k),
        })
    }

    fn error(&self) -> Vec<f64> {
        let pairs = self.predicted.iter().zip(&self.truth);
        pairs.map(|(p, t)| p - t).collect()
    }
}

/// The first input of sample `k`, if it can be drawn as a curve.
pub fn input_of(data: &Dataset, k: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let field: &Field = &data.inputs.first()?.1;
    let points = field.points_of(k);
    (field.dim() == 1 && !field.is_vector()).then(|| {
        let values = field.values_of(k);
        (points.coords().to_vec(), values[..points.len()].to_vec())
    })
}

/// A row of panels for each sample: curves on an interval, maps in the plane.
///
/// # Errors
/// If the points have more than two dimensions.
pub fn draw(title: &str, rows: &[Shown], triangles: Option<&[[usize; 3]]>) -> Result<Figure> {
    let mut figure = Figure::new(title).shared_legend();
    for row in rows {
        figure = match row.points.dim() {
            1 => curves(figure, row),
            2 => maps(figure, row, triangles),
            d => {
                return Err(Error::Config(format!(
                    "fields in {d} dimensions cannot be drawn; predict on a plane and draw that"
                )));
            }
        };
    }
    Ok(figure)
}

fn curves(figure: Figure, row: &Shown) -> Figure {
    let (x, truth) = sorted(row.points.coords(), &row.truth);
    let (_, predicted) = sorted(row.points.coords(), &row.predicted);
    let (_, error) = sorted(row.points.coords(), &row.error());
    let mut figure = figure.next_row();
    if let Some((at, f)) = &row.input {
        let (at, f) = sorted(at, f);
        figure = figure.panel(
            Panel::lines("x", "f")
                .title(&format!("{}, input", row.what))
                .series(Series::line("", &at, &f)),
        );
    }
    figure
        .panel(
            Panel::lines("y", &row.symbol)
                .title("truth and prediction")
                .series(Series::line("truth", &x, &truth))
                .series(Series::dashed("prediction", &x, &predicted)),
        )
        .panel(
            Panel::lines("y", "prediction - truth")
                .title(&error_title(row))
                .horizontal(0.0, "")
                .series(Series::line("", &x, &error)),
        )
}

fn error_title(row: &Shown) -> String {
    format!("error, RL2E {}", number(row.rl2e))
}

/// Values in the order of their points.
pub fn sorted(x: &[f64], values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs.into_iter().unzip()
}

fn maps(figure: Figure, row: &Shown, triangles: Option<&[[usize; 3]]>) -> Figure {
    let error: Vec<f64> = row.error().iter().map(|e| e.abs()).collect();
    let field = ColourScale::field(&row.symbol)
        .covering(&row.truth)
        .covering(&row.predicted);
    let plane = Plane::new(&row.points, triangles);
    figure.row([
        plane.panel(
            PLANE,
            &format!("{}, truth", row.what),
            &row.truth,
            field.clone(),
        ),
        plane.panel(PLANE, "prediction", &row.predicted, field),
        plane.panel(
            PLANE,
            &error_title(row),
            &error,
            ColourScale::error("|prediction - truth|"),
        ),
    ])
}

/// What the axes of the plane are called.
pub const PLANE: [&str; 2] = ["x_{1}", "x_{2}"];

/// How values at points of the plane are drawn.
pub enum Plane {
    Grid {
        counts: [usize; 2],
        /// The point in each cell, if there is one, row after row from the bottom.
        order: Vec<Option<usize>>,
        /// From the left edge of the first cell to the right edge of the last, and likewise up.
        extent: [[f64; 2]; 2],
    },
    Mesh(Vec<[f64; 2]>, Vec<[usize; 3]>),
    Cloud(Vec<f64>, Vec<f64>),
}

impl Plane {
    pub fn new(points: &Points, triangles: Option<&[[usize; 3]]>) -> Plane {
        let valid = |t: &&[[usize; 3]]| t.iter().flatten().all(|&i| i < points.len());
        if let Some(triangles) = triangles.filter(valid) {
            let nodes = points.iter().map(|p| [p[0], p[1]]).collect();
            return Plane::Mesh(nodes, triangles.to_vec());
        }
        let column = |k: usize| points.iter().map(|p| p[k]).collect();
        grid(points).unwrap_or_else(|| Plane::Cloud(column(0), column(1)))
    }

    /// Where values on a grid vanish; nothing on other points.
    pub fn zero_contour(&self, values: &[f64]) -> Vec<Segment> {
        let Plane::Grid {
            counts,
            order,
            extent,
        } = self
        else {
            return Vec::new();
        };
        let nodes = |k: usize| {
            let [lo, hi] = extent[k];
            let half = 0.5 * (hi - lo) / counts[k] as f64;
            [lo + half, hi - half]
        };
        zero_contour(*counts, nodes(0), nodes(1), &in_cells(order, values))
    }

    pub fn panel(
        &self,
        [across, up]: [&str; 2],
        title: &str,
        values: &[f64],
        scale: ColourScale,
    ) -> Panel {
        match self {
            Plane::Grid {
                counts,
                order,
                extent,
            } => {
                let values = in_cells(order, values);
                Panel::heatmap(across, up, *counts, &values)
                    .extent(extent[0], extent[1])
                    .colours(scale)
                    .title(title)
                    .equal_aspect()
                    .into()
            }
            Plane::Mesh(nodes, triangles) => Panel::triangles(across, up, nodes, triangles, values)
                .colours(scale)
                .title(title)
                .into(),
            Plane::Cloud(x, y) => Panel::scatter(across, up, x, y, values)
                .colours(scale)
                .title(title)
                .equal_aspect()
                .into(),
        }
    }
}

/// The values in the order of the cells; cells without a point have none.
fn in_cells(order: &[Option<usize>], values: &[f64]) -> Vec<f64> {
    let value = |i: &Option<usize>| i.map_or(f64::NAN, |i| values[i]);
    order.iter().map(value).collect()
}

/// The points as a grid with equal steps along each axis, if they are one. Up to half of its cells
/// may have no point, as around an L.
fn grid(points: &Points) -> Option<Plane> {
    let bounds = points.bounding_box()?;
    let axis = |k: usize| -> Option<(Vec<f64>, f64)> {
        let room = 1e-6 * bounds.width(k);
        let mut ticks: Vec<f64> = points.iter().map(|p| p[k]).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup_by(|a, b| (*a - *b).abs() <= room);
        if ticks.len() < 2 || ticks.len() * 2 > points.len() {
            return None;
        }
        let step = bounds.width(k) / (ticks.len() - 1) as f64;
        let even = ticks
            .iter()
            .enumerate()
            .all(|(i, t)| (t - (bounds.lower(k) + i as f64 * step)).abs() < 1e-3 * step);
        even.then_some((ticks, step))
    };
    let ((xs, dx), (ys, dy)) = (axis(0)?, axis(1)?);
    let counts = [xs.len(), ys.len()];
    if counts[0] * counts[1] > 2 * points.len() {
        return None;
    }
    let mut order = vec![None; counts[0] * counts[1]];
    for (index, p) in points.iter().enumerate() {
        let i = ((p[0] - bounds.lower(0)) / dx).round() as usize;
        let j = ((p[1] - bounds.lower(1)) / dy).round() as usize;
        // Two points in a cell would hide one another.
        if order.get_mut(j * counts[0] + i)?.replace(index).is_some() {
            return None;
        }
    }
    // Cells are centred at the points.
    let side = |k: usize, step: f64| [bounds.lower(k) - 0.5 * step, bounds.upper(k) + 0.5 * step];
    Some(Plane::Grid {
        counts,
        order,
        extent: [side(0, dx), side(1, dy)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use c2cnet::data::Bounds;

    #[test]
    fn grids_are_recognised_whatever_their_order() {
        let points = Points::grid(&Bounds::unit(2), &[4, 3]);
        let Some(Plane::Grid { counts, order, .. }) = grid(&points) else {
            panic!("a grid was not recognised");
        };
        assert_eq!(counts, [4, 3]);
        // The second cell from the left at the bottom is (1/3, 0).
        assert_eq!(points.point(order[1].unwrap()), &[1.0 / 3.0, 0.0]);
        assert!(grid(&points.select(&[0, 1, 2, 3, 3, 4, 5])).is_none());
        let uneven: Vec<f64> = points.coords().iter().map(|v| v * v).collect();
        assert!(grid(&Points::new(2, uneven).unwrap()).is_none());
    }

    #[test]
    fn grids_may_have_gaps() {
        let points = Points::grid(&Bounds::unit(2), &[5, 5]);
        let inside = |i: &usize| points.point(*i).iter().any(|v| *v < 0.5);
        let l: Vec<usize> = (0..25).filter(inside).collect();
        let Some(Plane::Grid { counts, order, .. }) = grid(&points.select(&l)) else {
            panic!("an L was not recognised");
        };
        assert_eq!(counts, [5, 5]);
        assert_eq!(order.iter().flatten().count(), 16);
        assert!(order[24].is_none());
    }
}
