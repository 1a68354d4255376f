//! Errors of quantities, which have no points: a table, and predictions over truths.

use super::Subject;
use crate::report::embed;
use crate::report::format::{error, number};
use crate::report::table::{Cell, Head, sortable};
use c2cnet::Result;
use c2cnet::data::{Field, Points};
use c2cnet_figure::{Figure, Panel, Series};
use maud::{Markup, html};

/// Quantities that are drawn, at most.
const MOST_DRAWN: usize = 12;

/// Nothing if the model predicts functions alone.
///
/// # Errors
/// If the model cannot predict the samples.
pub(super) fn section(subject: &Subject<'_>) -> Result<Markup> {
    let heads = [
        Head::text("quantity"),
        Head::number("rms error"),
        Head::number("standard deviation"),
        Head::number("error over deviation"),
    ];
    let row = |(name, rmse, deviation): (String, f64, f64)| {
        vec![
            Cell::text(&name),
            Cell::number(Some(rmse), error),
            Cell::number(Some(deviation), number),
            Cell::number(Some(rmse / deviation), error),
        ]
    };
    let all = subject.report.quantities.iter();
    let named = all.map(|q| (called(&q.output, q.column), q.rmse, q.deviation));
    let rows: Vec<Vec<Cell>> = named.map(row).collect();
    if rows.is_empty() {
        return Ok(html! {});
    }
    let figure = scatter(subject)?;
    Ok(html! {
        figure.block {
            figcaption { h4 { "By quantity" } }
            (sortable(&heads, &rows))
            p.caption { "The standard deviation is the error of predicting the mean, whatever the input." }
        }
        figure.block {
            (embed::plate("Predictions over truths", &figure.to_svg()))
            p.caption { "A dot for each sample; on the line the prediction is the truth." }
        }
    })
}

fn called(output: &str, column: usize) -> String {
    let name = if output.is_empty() { "q" } else { output };
    format!("{name}[{column}]")
}

/// Predictions over truths.
fn scatter(subject: &Subject<'_>) -> Result<Figure> {
    let mut figure = Figure::new("").panel_size(230.0, 200.0);
    let mut drawn = 0;
    for (name, decoder) in subject.model.outputs() {
        let truth: Option<&Field> = subject.data.outputs.get(name);
        let Some(truth) = truth.filter(|_| decoder.basis().is_vector()) else {
            continue;
        };
        let inputs = &subject.data.inputs;
        let predicted = (subject.model).predict_output(name, inputs, &Points::origin())?;
        for (c, predicted) in predicted.iter().enumerate() {
            if drawn == MOST_DRAWN {
                return Ok(figure);
            }
            if drawn > 0 && drawn % 3 == 0 {
                figure = figure.next_row();
            }
            drawn += 1;
            let samples = 0..truth.samples();
            let known: Vec<f64> = samples
                .clone()
                .map(|k| truth.component_of(k, c)[0])
                .collect();
            let found: Vec<f64> = samples.map(|k| predicted[(0, k)]).collect();
            let least = known.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let panel = Panel::lines("truth", "prediction").title(&called(name, c));
            let line = Series::line("", &[least, largest], &[least, largest]).width(1.0);
            figure = figure.panel(
                panel
                    .series(line)
                    .series(Series::markers("", &known, &found)),
            );
        }
    }
    Ok(figure)
}
