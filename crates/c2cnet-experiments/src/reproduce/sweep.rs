//! One setting over several values, or several sets of data: how errors depend on it.

use super::checks;
use super::effective_dimension::effective_dimension;
use super::experiment::{SweepSpec, Variant};
use super::figures::draw_curve;
use super::run::{Bench, Fitted, fit_and_judge};
use super::side_by_side::side_by_side;
use crate::merge;
use crate::run_files::{Axis, Column, Curve, Kind, Series, Table};
use crate::terminal::{error, print_line};
use c2cnet::data::Dataset;
use c2cnet::{C2CNet, FitConfig};
use c2cnet::{Error, Result};
use serde_json::{Map, json};
use std::sync::Arc;
use toml::Value;

/// One fit of a sweep.
struct Point {
    /// What the setting was.
    value: String,
    /// Its place on the axis.
    x: f64,
    amplification: f64,
    test: f64,
    train: f64,
    floor: f64,
    seconds: f64,
}

/// Fits every variant at every value; a curve of errors, perhaps one of gaps, and a table.
pub fn run(bench: &mut Bench<'_>, spec: &SweepSpec) -> Result<()> {
    let sets = sets(bench, spec)?;
    let (mut errors, mut gaps, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for variant in &spec.variants {
        let points = points(bench, spec, variant, &sets)?;
        let series = |name: &str, x: fn(&Point) -> f64, y: fn(&Point) -> f64| {
            let name = match spec.variants.len() {
                1 => name.to_string(),
                _ => format!("{}, {name}", variant.name),
            };
            let (x, y) = (points.iter().map(x), points.iter().map(y));
            Series::new(name, x.collect(), y.collect())
        };
        errors.push(series("test", |p| p.x, |p| p.test));
        if spec.gap.is_some() {
            errors.push(series("training", |p| p.x, |p| p.train).dashed());
            gaps.push(series("gap", |p| p.amplification, |p| p.test - p.train));
            let what = format!(
                "{}, {}: the gap grows with it",
                spec.heading.title, variant.name
            );
            let grown = points.iter().map(|p| (p.amplification, p.test - p.train));
            let check = checks::grows(what, &grown.collect::<Vec<_>>());
            bench.findings.checks.extend(check);
        } else {
            errors.push(series("floor", |p| p.x, |p| p.floor).dashed());
        }
        rows.extend(points.iter().map(|p| row(variant, p)));
    }
    if let (Some(printed), Some(first)) = (spec.printed, errors.first()) {
        let line = vec![Some(printed); first.x.len()];
        let (name, x) = ("printed in the paper".into(), first.x.clone());
        errors.push(Series {
            name,
            x,
            y: line,
            dashed: true,
        });
    }
    draw_curve(
        bench,
        Curve {
            id: spec.heading.id.clone(),
            title: spec.heading.title.clone(),
            caption: spec.heading.caption.clone(),
            label: spec.heading.label.clone(),
            x: spec.x.clone(),
            y: Axis::log("RL2E"),
            series: errors,
            ..Curve::default()
        },
    )?;
    if let Some(gap) = &spec.gap {
        draw_curve(
            bench,
            Curve {
                id: gap.id.clone(),
                title: gap.title.clone(),
                caption: gap.caption.clone(),
                label: gap.label.clone(),
                x: Axis::log("amplification of the encoder, at most 1/σ_{cut}"),
                y: Axis::log("test RL2E - training RL2E"),
                series: gaps,
                ..Curve::default()
            },
        )?;
    }
    bench.findings.tables.push(table(spec, rows));
    Ok(())
}

/// The data of every value: the same, unless data are what changes.
fn sets(bench: &mut Bench<'_>, spec: &SweepSpec) -> Result<Vec<Set>> {
    let name = |value: &Value| match (spec.over_data(), value.as_str()) {
        (true, Some(name)) => name.to_string(),
        _ => spec.data.clone(),
    };
    let make = |value: &Value| {
        let data = bench.store.get(&name(value))?;
        let test = data.select(&data.set("test")?);
        Ok(Set {
            value: value.clone(),
            data,
            test,
        })
    };
    spec.values.iter().map(make).collect()
}

/// A value of the sweep, and what is fitted and tested there.
struct Set {
    value: Value,
    data: Arc<Dataset>,
    test: Dataset,
}

/// The fits of a variant that there is time for, in the order of the values.
fn points(
    bench: &mut Bench<'_>,
    spec: &SweepSpec,
    variant: &Variant,
    sets: &[Set],
) -> Result<Vec<Point>> {
    let what = |set: &Set| format!("{}, {} = {}", variant.name, spec.key, set.value);
    let effort = bench.effort;
    let fit = |set: &Set| -> Result<Option<Fitted>> {
        let config = match spec.over_data() {
            true => variant.fit.clone(),
            false => with(variant, &spec.key, &set.value)?,
        };
        if effort.is_over() {
            return Ok(None);
        }
        let progress = bench.progress(&what(set));
        let fitted = fit_and_judge(&set.data, &set.test, &config, &progress)?;
        print_line(format_args!(
            "  {}: RL2E {}, training {}, floor {}",
            what(set),
            error(fitted.test.rl2e),
            error(fitted.train.rl2e),
            error(fitted.test.floor)
        ))?;
        Ok(Some(fitted))
    };
    let all = side_by_side(sets, effort.jobs, fit);
    let mut points = Vec::new();
    for (set, fitted) in sets.iter().zip(all) {
        match fitted? {
            Some(fitted) => {
                bench.count(&what(set), &fitted);
                points.push(point(spec, set, &fitted)?);
            }
            None => bench.findings.missing.push(what(set)),
        }
    }
    Ok(points)
}

/// The fits, one row each.
fn table(spec: &SweepSpec, rows: Vec<Map<String, serde_json::Value>>) -> Table {
    let column = Column::new;
    Table {
        id: format!("{}-table", spec.heading.id),
        title: spec.heading.title.clone(),
        caption: format!("The fits of the curve, by {}.", spec.x.title),
        label: None,
        columns: vec![
            column("variant", "Method", Kind::Text),
            column("recipe", "Recipe", Kind::Text),
            column("value", &spec.key, Kind::Text),
            column("x", &spec.x.title, Kind::Number),
            column("rl2e", "test RL2E", Kind::Error),
            column("train", "training RL2E", Kind::Error),
            column("floor", "floor", Kind::Error),
            column("amplification", "amplification", Kind::Number),
            column("seconds", "fit", Kind::Seconds),
        ],
        rows,
    }
}

/// The settings of `variant` with `key` set to `value`.
fn with(variant: &Variant, key: &str, value: &Value) -> Result<FitConfig> {
    let wrong = |e: String| Error::Config(format!("sweep over {key}: {e}"));
    let mut over = value.clone();
    for part in key.rsplit('.') {
        over = Value::Table(toml::Table::from_iter([(part.to_string(), over)]));
    }
    let Value::Table(over) = over else {
        return Err(wrong("the key is empty".into()));
    };
    let mut table = toml::Table::try_from(&variant.fit).map_err(|e| wrong(e.to_string()))?;
    merge(&mut table, over);
    let config: FitConfig = Value::Table(table)
        .try_into()
        .map_err(|e: toml::de::Error| wrong(e.to_string()))?;
    config.check()?;
    Ok(config)
}

fn point(spec: &SweepSpec, set: &Set, fitted: &Fitted) -> Result<Point> {
    let number = || match set.value {
        Value::Integer(v) => v as f64,
        Value::Float(v) => v,
        _ => f64::NAN,
    };
    Ok(Point {
        value: set.value.to_string().trim_matches('"').to_string(),
        x: match (spec.count_functions, spec.over_data()) {
            (true, _) => fitted.model.summary().outputs[0].functions as f64,
            (_, true) => effective_dimension(&set.data),
            _ => number(),
        },
        amplification: match spec.gap {
            Some(_) => amplification(&fitted.model, &set.data)?,
            None => f64::NAN,
        },
        test: fitted.test.rl2e,
        train: fitted.train.rl2e,
        floor: fitted.test.floor,
        seconds: fitted.report.seconds.total,
    })
}

/// The norm of the first input's encoder at its training points.
fn amplification(model: &C2CNet, data: &Dataset) -> Result<f64> {
    let found = model.amplification(data.inputs[0].1.points_of(0))?;
    found.ok_or_else(|| {
        Error::Config(
            "a sweep with `gap` needs an encoder with ridge or a cut, not a learnt prior".into(),
        )
    })
}

fn row(variant: &Variant, point: &Point) -> Map<String, serde_json::Value> {
    let row = json!({
        "variant": variant.name,
        "recipe": variant.column.name(),
        "value": point.value,
        "x": point.x,
        "rl2e": point.test,
        "train": point.train,
        "floor": point.floor,
        "amplification": point.amplification,
        "seconds": point.seconds,
    });
    row.as_object().cloned().unwrap_or_default()
}
