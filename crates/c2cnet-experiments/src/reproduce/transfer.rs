//! Fits at one resolution, tests at others.

use super::derive::{Reshape, derive};
use super::experiment::{Side, TransferSpec, Variant};
use super::figures::draw_curve;
use super::run::Bench;
use crate::run_files::{Axis, Check, Column, Curve, Kind, Series, Table};
use crate::terminal::{error, print_line};
use c2cnet::C2CNet;
use c2cnet::Result;
use c2cnet::data::Dataset;
use serde_json::{Map, json};
use std::sync::Arc;

/// Fits every variant once, tests it at every resolution of each side; curves, a table and checks.
pub fn run(bench: &mut Bench<'_>, spec: &TransferSpec) -> Result<()> {
    let fine = bench.store.get(&spec.data)?;
    let at = |input: usize, output: usize| {
        let every = |step| Reshape {
            every: Some(step),
            ..Reshape::default()
        };
        derive(&fine, None, &every(input), &every(output))
    };
    let here = at(spec.train_every, spec.train_every)?;
    let test = here.select(&here.set("test")?);
    let mut models: Vec<(&Variant, C2CNet)> = Vec::new();
    for variant in &spec.variants {
        if bench.too_late(&format!("{}: {}", spec.heading.title, variant.name)) {
            continue;
        }
        let fitted = bench.fit(&variant.name, &here, &test, &variant.fit)?;
        print_line(format_args!(
            "  {}: RL2E {} where it was fitted",
            variant.name,
            error(fitted.test.rl2e)
        ))?;
        models.push((variant, fitted.model));
    }
    let mut rows = Vec::new();
    for &side in &spec.sides {
        let mut sets: Vec<(usize, Arc<Dataset>)> = Vec::new();
        for &step in &spec.test_every {
            let data = match side {
                Side::Input => at(step, spec.train_every)?,
                Side::Output => at(spec.train_every, step)?,
            };
            let data = data.select(&data.set("test")?);
            let fields = match side {
                Side::Input => &data.inputs,
                Side::Output => &data.outputs,
            };
            sets.push((fields[0].1.points_of(0).len(), Arc::new(data)));
        }
        sets.sort_by_key(|(points, _)| *points);
        rows.extend(one_side(bench, spec, side, &models, &test, &sets)?);
    }
    let column = Column::new;
    bench.findings.tables.push(Table {
        id: format!("{}-table", spec.heading.id),
        title: spec.heading.title.clone(),
        caption: "The errors of the curves.".into(),
        label: None,
        columns: vec![
            column("variant", "Method", Kind::Text),
            column("side", "Resolution of the", Kind::Text),
            column("points", "points", Kind::Integer),
            column("rl2e", "test RL2E", Kind::Error),
            column("floor", "floor", Kind::Error),
        ],
        rows,
    });
    Ok(())
}

fn one_side(
    bench: &mut Bench<'_>,
    spec: &TransferSpec,
    side: Side,
    models: &[(&Variant, C2CNet)],
    here: &Dataset,
    sets: &[(usize, Arc<Dataset>)],
) -> Result<Vec<Map<String, serde_json::Value>>> {
    let name = match side {
        Side::Input => "input",
        Side::Output => "output",
    };
    let (mut series, mut rows) = (Vec::new(), Vec::new());
    for (variant, model) in models {
        let at_home = model.evaluate(here)?.rl2e;
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let mut largest: f64 = 0.0;
        for (points, data) in sets {
            let what = format!("{}, {points} {name} points", variant.name);
            let report = bench.evaluate(&what, model, data)?;
            x.push(*points as f64);
            y.push(report.rl2e);
            // A smaller error than at the training resolution is not a failure.
            largest = largest.max(report.rl2e / at_home - 1.0);
            let row = json!({
                "variant": variant.name, "side": name, "points": points,
                "rl2e": report.rl2e, "floor": report.floor,
            });
            rows.extend(row.as_object().cloned());
        }
        series.push(Series::new(variant.name.clone(), x, y));
        if variant.flat && side == Side::Output {
            bench.findings.checks.push(Check {
                what: format!(
                    "{}, {}: the error at any output resolution is within {:.0} % of that at the training resolution",
                    spec.heading.title,
                    variant.name,
                    100.0 * spec.within
                ),
                passed: largest <= spec.within,
                value: Some(largest),
                bound: Some(spec.within),
                detail: format!("the largest relative increase; at the training resolution {}", error(at_home)),
            });
        }
    }
    draw_curve(
        bench,
        Curve {
            id: format!("{}-{name}", spec.heading.id),
            title: format!("{}: resolution of the {name}", spec.heading.title),
            caption: spec.heading.caption.clone(),
            label: spec.heading.label.clone(),
            x: Axis::log(&format!("{name} points")),
            y: Axis::log("test RL2E"),
            series,
            ..Curve::default()
        },
    )?;
    Ok(rows)
}
