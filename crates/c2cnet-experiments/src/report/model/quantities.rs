//! Errors of quantities, which have no points: a table, and predictions over truths.

use super::Subject;
use crate::over_truths::{self, called};
use crate::report::embed;
use crate::report::format::{error, number};
use crate::report::table::{Cell, Head, sortable};
use c2cnet::Result;
use maud::{Markup, html};

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
    let figure = over_truths::draw("", subject.model, subject.data)?.panel_size(230.0, 200.0);
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
