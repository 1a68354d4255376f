//! Pictures of samples: truth, prediction and error beside each other.

use crate::terminal::error as number;
use c2cnet::C2CNet;
use c2cnet::data::{Dataset, Field, Points};
use c2cnet::{Error, Result};
use c2cnet_figure::{ColourScale, Figure, Panel, Plane, Series};

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
        let mut outputs = model.outputs().iter();
        let function = outputs.find(|(_, decoder)| decoder.vector().is_none());
        let Some((name, _)) = function else {
            return Err(Error::Config(
                "quantities `q` have no points to be drawn at; leave the figure out".into(),
            ));
        };
        let field = data.outputs.get(name);
        let field = field.ok_or_else(|| Error::Data(format!("the data has no output {name:?}")))?;
        let points = field.points_of(k).clone();
        let one = data.select(&[k]);
        let predicted = model.predict_output(name, &one.inputs, &points)?;
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
    let plane = plane(&row.points, triangles);
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

/// The points of a field on the plane, and how values at them are drawn.
pub fn plane(points: &Points, triangles: Option<&[[usize; 3]]>) -> Plane {
    let nodes: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1]]).collect();
    Plane::new(&nodes, triangles)
}
