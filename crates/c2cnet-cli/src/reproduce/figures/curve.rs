//! Curves: drawn for the run folder and kept as numbers for the report.

use crate::figure::{Dash, Figure, Panel, Series as Line};
use crate::reproduce::experiment::FigureSpec;
use crate::reproduce::result::{Axis, Curve, Files, Series};
use crate::reproduce::run::{Bench, Record};
use c2cnet::Result;

/// Draws `curve`, whose files are yet to be written, and notes it.
pub fn draw(bench: &mut Bench<'_>, mut curve: Curve) -> Result<()> {
    let mut panel = Panel::lines(&curve.x.title, &curve.y.title);
    if curve.x.log {
        panel = panel.log_x();
    }
    if curve.y.log {
        panel = panel.log_y();
    }
    for series in &curve.series {
        let line = match series.x.len() {
            0..=30 => Line::line_markers(&series.name, &series.x, &series.y),
            _ => Line::line(&series.name, &series.x, &series.y),
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
    let mut series = Vec::new();
    for record in records {
        let Some(training) = record.training() else {
            continue;
        };
        let history = &training.history;
        series.push(Series {
            name: record.spec.label.clone(),
            x: history.iter().map(|m| m.step as f64).collect(),
            y: history.iter().map(|m| m.train_rl2e).collect(),
            dashed: false,
        });
        let (test, _) = record.rl2e();
        series.push(Series {
            name: format!("{}: test, at the end", record.spec.label),
            x: vec![training.steps as f64],
            y: vec![test],
            dashed: false,
        });
    }
    if series.is_empty() {
        return Ok(());
    }
    let axis = |title: &str, log| Axis {
        title: title.into(),
        log,
    };
    draw(
        bench,
        Curve {
            id: spec.id.clone(),
            title: spec.title.clone(),
            caption: spec.caption.clone(),
            label: spec.label.clone(),
            x: axis("step", false),
            y: axis("training RL2E", true),
            series,
            files: Files::default(),
        },
    )
}
