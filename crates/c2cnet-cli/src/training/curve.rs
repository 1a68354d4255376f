//! The training history as a figure.

use super::metrics::Record;
use c2cnet_experiments::run_files::{Axis, Curve, Series as CurveSeries};
use c2cnet_figure::{Figure, Panel, Series};

/// Errors, and the rate below them, over the steps: a column for each network.
pub fn figure(title: &str, records: &[Record]) -> Figure {
    let trainings: Vec<&[Record]> = records.chunk_by(|a, b| a.training == b.training).collect();
    Figure::new(title)
        .panel_size(360.0, 250.0)
        .row(trainings.iter().map(|t| errors(t)))
        .row(trainings.iter().map(|t| rate(t)))
}

/// Errors over the steps for a page, a curve for each network.
pub fn curves(records: &[Record]) -> Vec<Curve> {
    let trainings = records.chunk_by(|a, b| a.training == b.training);
    let curve = |training: &[Record]| {
        let x = steps(training);
        let train = column(training, |r| r.metric.train_rl2e);
        let held = column(training, |r| r.metric.validation_rl2e.unwrap_or(f64::NAN));
        let mut series = vec![CurveSeries::new(
            "training samples".into(),
            x.clone(),
            train,
        )];
        if held.iter().any(|v| v.is_finite()) {
            series.push(CurveSeries::new("held-out samples".into(), x, held));
        }
        Curve {
            title: training.first().map_or(String::new(), |r| r.name.clone()),
            x: Axis::linear("step"),
            y: Axis::log("RL2E"),
            series,
            ..Curve::default()
        }
    };
    trainings.map(curve).collect()
}

fn column(training: &[Record], of: impl Fn(&Record) -> f64) -> Vec<f64> {
    training.iter().map(of).collect()
}

fn steps(training: &[Record]) -> Vec<f64> {
    column(training, |r| r.metric.step as f64)
}

fn errors(training: &[Record]) -> Panel {
    let x = steps(training);
    let mut panel = Panel::lines("step", "RL2E")
        .log_y()
        .title(training.first().map_or("", |r| &r.name))
        .series(Series::line(
            "training samples",
            &x,
            &column(training, |r| r.metric.train_rl2e),
        ));
    if training.iter().any(|r| r.metric.validation_rl2e.is_some()) {
        let held = column(training, |r| r.metric.validation_rl2e.unwrap_or(f64::NAN));
        panel = panel.series(Series::line("held-out samples", &x, &held));
    }
    panel.into()
}

fn rate(training: &[Record]) -> Panel {
    Panel::lines("step", "learning rate")
        .log_y()
        .height(0.35)
        .series(Series::line(
            "",
            &steps(training),
            &column(training, |r| r.metric.rate),
        ))
        .into()
}
