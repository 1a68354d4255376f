//! Pictures of samples: inputs, truth, prediction and error beside each other.

use crate::labels::Labels;
use crate::terminal::{error as number, number as entry};
use crate::view::{Cells, View, views};
use c2cnet::C2CNet;
use c2cnet::data::{Dataset, Field, Fields, Points};
use c2cnet::internal::value_keys;
use c2cnet::{Error, Result};
use c2cnet_figure::{ColourScale, Figure, Panel, Plane, Series};

/// One component of a function in one sample.
#[derive(Debug, Clone)]
pub struct Function {
    /// What its axes are called.
    pub axes: Vec<String>,
    /// What its values are called.
    pub symbol: String,
    pub points: Points,
    pub values: Vec<f64>,
    /// Whether other samples have other points: then these are readings, and nothing joins them.
    pub scattered: bool,
}

impl Function {
    /// Its values over an interval.
    fn series(&self, label: &str) -> Series {
        let (x, values) = sorted(self.points.coords(), &self.values);
        match self.scattered {
            true => Series::markers(label, &x, &values),
            false => Series::line(label, &x, &values),
        }
    }
}

/// A row of a picture: a component of an input, and a component of an output with its prediction.
#[derive(Debug)]
pub struct Shown {
    /// Which sample this is.
    pub what: String,
    /// The error of this component; of the only one that of the sample.
    pub rl2e: f64,
    pub input: Option<Function>,
    /// The truth, and what was predicted there.
    pub output: Option<(Function, Vec<f64>)>,
}

/// A sample to be shown, and what is known of it.
#[derive(Debug, Clone)]
pub struct PickedSample {
    /// Its number in the data.
    pub sample: usize,
    /// What it is called.
    pub what: String,
    pub rl2e: f64,
}

impl Shown {
    /// All components of all functions of a sample of `data`, at its own points: as many rows as the inputs or the outputs
    /// have components.
    ///
    /// # Errors
    /// If the model predicts no function, or the data lacks what it predicts.
    pub fn rows(
        model: &C2CNet,
        data: &Dataset,
        labels: &Labels,
        picked: &PickedSample,
    ) -> Result<Vec<Shown>> {
        let k = picked.sample;
        let one = data.select(&[k]);
        let mut outputs: Vec<(Function, Vec<f64>)> = Vec::new();
        for output in model.summary().outputs {
            if output.vector {
                continue;
            }
            let name = output.name;
            let field = data.outputs.get(name);
            let field =
                field.ok_or_else(|| Error::Data(format!("the data has no output {name:?}")))?;
            let predicted = model.predict_output(name, &one.inputs, field.points_of(k))?;
            let axes = labels.axes("y", name, field.dim());
            let truth = components(field, k, axes, labels.components("u", name, field));
            let predicted = predicted.iter().map(|p| p.col(0).iter().copied().collect());
            outputs.extend(truth.into_iter().zip(predicted));
        }
        if outputs.is_empty() {
            return Err(Error::Config(
                "quantities `q` have no points to be drawn at".into(),
            ));
        }
        let what = format!("{}{}", picked.what, vectors(data, k, MOST_ENTRIES));
        let several = outputs.len() > 1;
        let mut inputs = inputs(&data.inputs, k, labels).into_iter();
        let mut outputs = outputs.into_iter();
        let mut rows = Vec::new();
        loop {
            let (input, output) = (inputs.next(), outputs.next());
            if input.is_none() && output.is_none() {
                return Ok(rows);
            }
            let own = output.as_ref().filter(|_| several);
            rows.push(Shown {
                what: what.clone(),
                rl2e: own.map_or(picked.rl2e, |(truth, predicted)| relative(truth, predicted)),
                input,
                output,
            });
        }
    }
}

/// The relative error of a component; infinite where the truth vanishes.
fn relative(truth: &Function, predicted: &[f64]) -> f64 {
    let pairs = truth.values.iter().zip(predicted);
    let off: f64 = pairs.map(|(t, p)| (p - t).powi(2)).sum();
    (off / truth.values.iter().map(|t| t * t).sum::<f64>()).sqrt()
}

/// Entries of a vector in the title of a row, at most.
const MOST_ENTRIES: usize = 3;

/// The vectors of sample `k`, which have no points to be drawn at, as `, p = (1.000, 0.2500)`, with at most this many
/// entries.
pub fn vectors(data: &Dataset, k: usize, most: usize) -> String {
    let (input_keys, output_keys) = value_keys(data);
    let keys = input_keys.iter().chain(&output_keys);
    let fields = data.inputs.iter().chain(&data.outputs);
    let vectors = fields.zip(keys).filter(|((_, field), _)| field.is_vector());
    let told = vectors.map(|((_, field), key)| {
        let values = field.values_of(k);
        let mut entries: Vec<String> = values.iter().take(most).copied().map(entry).collect();
        if values.len() > most {
            entries.push("…".into());
        }
        format!(", {key} = ({})", entries.join(", "))
    });
    told.collect()
}

/// All components of the input functions of sample `k`.
pub fn inputs(fields: &Fields, k: usize, labels: &Labels) -> Vec<Function> {
    let functions = fields.iter().filter(|(_, field)| !field.is_vector());
    functions
        .flat_map(|(name, field)| {
            let axes = labels.axes("x", name, field.dim());
            components(field, k, axes, labels.components("f", name, field))
        })
        .collect()
}

fn components(field: &Field, k: usize, axes: Vec<String>, symbols: Vec<String>) -> Vec<Function> {
    let points = field.points_of(k);
    let values = field.values_of(k);
    let parts = values.chunks_exact(points.len()).zip(symbols);
    parts
        .map(|(values, symbol)| Function {
            axes: axes.clone(),
            symbol,
            points: points.clone(),
            values: values.to_vec(),
            scattered: field.shared_points().is_none(),
        })
        .collect()
}

/// A line of panels for each component, and for each slice of it: the input, truth, prediction and error. Where some lines
/// have no input, inputs come last, so that panels of a kind stand below each other.
pub fn draw(title: &str, rows: &[Shown], data: &Dataset) -> Figure {
    let cells = |points: &Points| cells_between(data, points);
    let lines = |function: Option<&Function>| slices(data, function);
    let lacks_input =
        |row: &Shown| lines(row.input.as_ref()) < lines(row.output.as_ref().map(|o| &o.0));
    let inputs_first = !rows.iter().any(lacks_input);
    let mut figure = Figure::new(title).shared_legend();
    for row in rows {
        let named = |part: &str| format!("{}, {part}", row.what);
        let mut inputs = Vec::new();
        if let Some(input) = &row.input {
            let title = if inputs_first {
                named("input")
            } else {
                "input".into()
            };
            inputs = of_input(input, &title, cells(&input.points));
        }
        let mut outputs = Vec::new();
        if let Some((truth, predicted)) = &row.output {
            let alone = !inputs_first || inputs.is_empty();
            let name = |part: &str| if alone { named(part) } else { part.into() };
            outputs = match truth.points.dim() {
                1 => vec![curves(
                    &name("truth and prediction"),
                    (truth, predicted, row.rl2e),
                )],
                _ => maps(
                    &name("truth"),
                    (truth, predicted, row.rl2e),
                    cells(&truth.points),
                ),
            };
        }
        let (mut inputs, mut outputs) = (inputs.into_iter(), outputs.into_iter());
        loop {
            let (input, output) = (inputs.next(), outputs.next());
            if input.is_none() && output.is_none() {
                break;
            }
            let mut line: Vec<Panel> = output.unwrap_or_default();
            if let Some(input) = input {
                line.insert(if inputs_first { 0 } else { line.len() }, input);
            }
            figure = figure.row(line);
        }
    }
    figure
}

/// How many lines of panels a row takes.
pub fn lines(row: &Shown, data: &Dataset) -> usize {
    let output = row.output.as_ref().map(|(truth, _)| truth);
    slices(data, row.input.as_ref()).max(slices(data, output))
}

/// The pictures of a function: one, or several slices.
fn slices(data: &Dataset, function: Option<&Function>) -> usize {
    let count = |f: &Function| views(&f.points, cells_between(data, &f.points), &f.axes).len();
    function.map_or(0, |f| count(f).max(1))
}

/// The cells between these points, if they are those of the mesh.
fn cells_between<'a>(data: &'a Dataset, points: &Points) -> Cells<'a> {
    match data.mesh_points() {
        Some(nodes) if nodes == points => cells_of(data),
        _ => Cells::default(),
    }
}

/// The cells between the points of the first output.
pub fn cells_of(data: &Dataset) -> Cells<'_> {
    Cells {
        triangles: data.triangles.as_deref(),
        tetrahedra: data.tetrahedra.as_deref(),
    }
}

/// An input: a curve, a map, or its slices.
fn of_input(input: &Function, title: &str, cells: Cells<'_>) -> Vec<Panel> {
    if input.points.dim() == 1 {
        let panel = Panel::lines(&input.axes[0], &input.symbol).title(title);
        return vec![panel.series(input.series("")).into()];
    }
    let scale = ColourScale::field(&input.symbol).covering(&input.values);
    let views = views(&input.points, cells, &input.axes);
    let panel = |view: &View| {
        let values = view.values(&input.values);
        view.panel(&input.axes, &within(title, view), &values, scale.clone())
    };
    views.iter().map(panel).collect()
}

fn within(title: &str, view: &View) -> String {
    match view.title.as_str() {
        "" => title.to_string(),
        part => format!("{title}, {part}"),
    }
}

/// A truth, what was predicted, and the error of the sample.
type Judged<'a> = (&'a Function, &'a [f64], f64);

fn curves(title: &str, (truth, predicted, rl2e): Judged<'_>) -> Vec<Panel> {
    let (x, in_order) = sorted(truth.points.coords(), predicted);
    let off = predicted.iter().zip(&truth.values).map(|(p, t)| p - t);
    let error = Function {
        values: off.collect(),
        ..truth.clone()
    };
    let axis = &truth.axes[0];
    vec![
        Panel::lines(axis, &truth.symbol)
            .title(title)
            .series(truth.series("truth"))
            .series(Series::dashed("prediction", &x, &in_order))
            .into(),
        Panel::lines(axis, "prediction - truth")
            .title(&error_title(rl2e))
            .horizontal(0.0, "")
            .series(error.series(""))
            .into(),
    ]
}

fn error_title(rl2e: f64) -> String {
    match rl2e.is_finite() {
        true => format!("error, RL2E {}", number(rl2e)),
        false => "error".into(),
    }
}

/// Values in the order of their points.
pub fn sorted(x: &[f64], values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut pairs: Vec<(f64, f64)> = x.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs.into_iter().unzip()
}

/// Truth, prediction and error, of each slice.
fn maps(title: &str, (truth, predicted, rl2e): Judged<'_>, cells: Cells<'_>) -> Vec<Vec<Panel>> {
    let field = ColourScale::field(&truth.symbol)
        .covering(&truth.values)
        .covering(predicted);
    let line = |view: &View| {
        let (truth_seen, seen) = (view.values(&truth.values), view.values(predicted));
        let pairs = seen.iter().zip(&truth_seen);
        let error: Vec<f64> = pairs.map(|(p, t)| (p - t).abs()).collect();
        let panel =
            |title: &str, values: &[f64], scale| view.panel(&truth.axes, title, values, scale);
        let off = ColourScale::error("|prediction - truth|");
        vec![
            panel(&within(title, view), &truth_seen, field.clone()),
            panel("prediction", &seen, field.clone()),
            panel(&error_title(rl2e), &error, off),
        ]
    };
    views(&truth.points, cells, &truth.axes)
        .iter()
        .map(line)
        .collect()
}

/// The points of a field on the plane, and how values at them are drawn.
pub fn plane(points: &Points, triangles: Option<&[[usize; 3]]>) -> Plane {
    let nodes: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1]]).collect();
    Plane::new(&nodes, triangles)
}

/// At most `count` of `n` places, evenly, the first and the last among them.
pub fn spread(n: usize, count: usize) -> Vec<usize> {
    if n <= count {
        return (0..n).collect();
    }
    let place = |i: usize| (i * (n - 1)).div_euclid(count - 1);
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn best_and_worst_are_always_shown() {
        assert_eq!(super::spread(400, 15)[..2], [0, 28]);
        assert_eq!(super::spread(400, 15).last(), Some(&399));
        assert_eq!(super::spread(3, 15), [0, 1, 2]);
    }
}
