//! Curves: drawn for the run folder and kept as numbers for the report.

use crate::reproduce::experiment::FigureSpec;
use crate::reproduce::run::{Bench, Record};
use crate::run_files::{Axis, Curve, Series};
use c2cnet::Result;
use c2cnet_figure::{Dash, Figure, Panel, Series as Line};

/// Draws `curve`, whose files are yet to be written, and notes it.
pub fn draw(bench: &mut Bench<'_>, mut curve: Curve) -> Result<()> {
    let mut panel = Panel::lines(&curve.x.title, &curve.y.title);
    if curve.x.log {
        panel = panel.log_x();
    }
    if curve.y.log {
        panel = panel.log_y();
    }
    let drawn = |values: &[Option<f64>]| -> Vec<f64> {
        values.iter().map(|v| v.unwrap_or(f64::NAN)).collect()
    };
    for series in &curve.series {
        let (x, y) = (drawn(&series.x), drawn(&series.y));
        let line = match x.len() {
            0..=30 => Line::line_markers(&series.name, &x, &y),
            _ => Line::line(&series.name, &x, &y),
        };
        let dash = if series.dashed {
            Dash::Short
        } else {
            Dash::Solid
        };
        panel = panel.series(line.dash(dash));
    }
    let figure = Figure::new(&curve.title)
        .panel_size(460.0, 300.0)
        .panel(panel);
    curve.files = bench.folder.save_figure(&curve.id, &figure.to_svg())?;
    bench.findings.curves.push(curve);
    Ok(())
}

/// Training errors over the steps, a curve for each run that trained a network.
pub fn training(bench: &mut Bench<'_>, spec: &FigureSpec, records: &[&Record]) -> Result<()> {
    let mixed = records
        .windows(2)
        .any(|w| w[0].spec.column != w[1].spec.column);
    let mut series = Vec::new();
    for record in records {
        let Some(training) = record.training() else {
            continue;
        };
        let history = &training.history;
        let name = match mixed {
            true => record.spec.name(),
            false => record.spec.label.clone(),
        };
        series.push(Series::new(
            name.clone(),
            history.iter().map(|m| m.step as f64).collect(),
            history.iter().map(|m| m.train_rl2e).collect(),
        ));
        let (test, _) = record.rl2e();
        series.push(Series::new(
            format!("{name}: test, at the end"),
            vec![training.steps as f64],
            vec![test],
        ));
    }
    if series.is_empty() {
        return Ok(());
    }
    draw(
        bench,
        Curve {
            id: spec.heading.id.clone(),
            title: spec.heading.title.clone(),
            caption: spec.heading.caption.clone(),
            label: spec.heading.label.clone(),
            x: Axis::linear("step"),
            y: Axis::log("training RL2E"),
            series,
            ..Curve::default()
        },
    )
}
