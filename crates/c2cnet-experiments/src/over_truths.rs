//! A picture of quantities, which have no points: predictions over truths.

use c2cnet::data::{Dataset, Points};
use c2cnet::{C2CNet, Result};
use c2cnet_figure::{Figure, Panel, Series};

/// Quantities that are drawn, at most.
const MOST: usize = 12;

/// Panels in a row.
const ACROSS: usize = 3;

/// What a column of an output of quantities is called.
pub fn called(output: &str, column: usize) -> String {
    let name = if output.is_empty() { "q" } else { output };
    format!("{name}[{column}]")
}

/// A panel for each quantity that the model predicts, with a dot for each sample of `data`.
///
/// # Errors
/// If the model cannot predict the samples.
pub fn draw(title: &str, model: &C2CNet, data: &Dataset) -> Result<Figure> {
    let mut panels = Vec::new();
    for output in model.summary().outputs {
        let name = output.name;
        let truth = data.outputs.get(name);
        let Some(truth) = truth.filter(|_| output.vector) else {
            continue;
        };
        let predicted = model.predict_output(name, &data.inputs, &Points::origin())?;
        for (c, predicted) in predicted.iter().enumerate() {
            let samples = 0..truth.samples();
            let known = samples.clone().map(|k| truth.values_of(k)[c]);
            let found = samples.map(|k| predicted[(0, k)]);
            let (known, found): (Vec<f64>, Vec<f64>) = known.zip(found).unzip();
            panels.push(panel(&called(name, c), &known, &found));
        }
    }
    panels.truncate(MOST);
    let mut figure = Figure::new(title);
    while !panels.is_empty() {
        let rest = panels.split_off(panels.len().min(ACROSS));
        figure = figure.row(panels);
        panels = rest;
    }
    Ok(figure)
}

fn panel(title: &str, known: &[f64], found: &[f64]) -> Panel {
    let least = known.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exact = Series::line("", &[least, largest], &[least, largest]).width(1.0);
    let panel = Panel::lines("truth", "prediction").title(title);
    (panel
        .series(exact)
        .series(Series::markers("", known, found)))
    .into()
}
