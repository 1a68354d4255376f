//! Obstacles from velocities: what the signed distance says about shapes, and how noise and sensors matter.

use super::experiment::ObstaclesSpec;
use super::figures::obstacles as figures;
use super::geometry::{Grid, Recovery, compare};
use super::run::{Bench, Record};
use crate::run_files::{Column, Kind, Table};
use crate::terminal::{error, print_line};
use c2cnet::C2CNet;
use c2cnet::data::{Dataset, Field};
use c2cnet::internal::mean;
use c2cnet::{Error, Result};
use serde_json::{Map, Value, json};

/// Tables and figures of the runs that recover obstacles.
pub fn run(bench: &mut Bench<'_>, spec: &ObstaclesSpec, records: &[Record]) -> Result<()> {
    let mut rows = Vec::new();
    let shown = |r: &&Record| spec.runs.contains(&r.spec.id) && r.has_model();
    for record in records.iter().filter(shown) {
        let data = record.data.select(&record.samples);
        let recoveries = recover(record.model()?, &data)?;
        let label = format!("{} ({})", record.spec.label, record.recipe());
        rows.push(row(
            &label,
            &record.found[0].test.relative,
            &recoveries,
            |_| true,
        ));
        if record.spec.id == spec.draw {
            for count in 1..=3 {
                let chosen = |r: &Recovery| r.components[0] == count;
                if recoveries.iter().any(chosen) {
                    let label =
                        format!("{}, obstacles with {count} component(s)", record.spec.label);
                    rows.push(row(
                        &label,
                        &record.found[0].test.relative,
                        &recoveries,
                        chosen,
                    ));
                }
            }
        }
    }
    bench.findings.tables.push(Table {
        id: "recovery".into(),
        title: "Recovered obstacles".into(),
        caption: "Means over test samples. IoU: intersection over union of the obstacles. Distances of the recovered boundary (marching squares) from the true one, in units of a box of side 6. Components: how often their number was found; obstacles of less than four grid points are not counted.".into(),
        label: None,
        columns: columns("Method"),
        rows,
    });
    let drawn = |r: &&Record| r.spec.id == spec.draw && r.has_model();
    let Some(drawn) = records.iter().find(drawn) else {
        return Ok(());
    };
    figures::reconstructions(bench, drawn, spec.band)?;
    figures::gallery(bench, drawn, spec.band)?;
    robustness(bench, spec, drawn)
}

fn robustness(bench: &mut Bench<'_>, spec: &ObstaclesSpec, base: &Record) -> Result<()> {
    let mut rows = Vec::new();
    for test in &spec.robustness {
        let data = bench.store.get(&test.data)?;
        let tested = data.select(&data.set("test")?);
        let what = format!(
            "{}, fitted to undisturbed readings of 100 sensors",
            test.label
        );
        let report = bench.evaluate(&what, base.model()?, &tested)?;
        let recoveries = recover(base.model()?, &tested)?;
        rows.push(row(&what, &report.relative, &recoveries, |_| true));
        print_line(format_args!("  {what}: RL2E {}", error(report.rl2e)))?;
        let what = format!("{}, fitted to such readings", test.label);
        if test.refit && !bench.too_late(&what) {
            let fitted = bench.fit(&what, &data, &tested, &base.spec.fit)?;
            let recoveries = recover(&fitted.model, &tested)?;
            rows.push(row(&what, &fitted.test.relative, &recoveries, |_| true));
            print_line(format_args!("  {what}: RL2E {}", error(fitted.test.rl2e)))?;
        }
    }
    if !rows.is_empty() {
        bench.findings.tables.push(Table {
            id: "robustness".into(),
            title: "Noise and the number of sensors".into(),
            caption: format!(
                "{}. Noise is normal and relative to the root mean square of the readings.",
                base.spec.label
            ),
            label: None,
            columns: columns("Readings"),
            rows,
        });
    }
    Ok(())
}

fn columns(first: &str) -> Vec<Column> {
    let column = Column::new;
    vec![
        column("method", first, Kind::Text),
        column("samples", "samples", Kind::Integer),
        column("rl2e", "test RL2E", Kind::Error),
        column("iou", "IoU", Kind::Number),
        column("hausdorff", "Hausdorff distance", Kind::Number),
        column("mean_distance", "mean distance", Kind::Number),
        column("components", "right number of components", Kind::Number),
        column("nothing", "nothing found", Kind::Integer),
    ]
}

/// Means over the samples that `chosen` picks; `errors` has the relative error of each.
fn row(
    label: &str,
    errors: &[f64],
    recoveries: &[Recovery],
    chosen: impl Fn(&Recovery) -> bool,
) -> Map<String, Value> {
    let picked: Vec<usize> = (0..recoveries.len())
        .filter(|&k| chosen(&recoveries[k]))
        .collect();
    let over = |of: &dyn Fn(usize) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = picked.iter().filter_map(|&k| of(k)).collect();
        (!values.is_empty()).then(|| mean(&values))
    };
    let right = |k: usize| {
        f64::from(u8::from(
            recoveries[k].components[0] == recoveries[k].components[1],
        ))
    };
    let row = json!({
        "method": label,
        "samples": picked.len(),
        "rl2e": over(&|k| Some(errors[k])),
        "iou": over(&|k| Some(recoveries[k].iou)),
        "hausdorff": over(&|k| recoveries[k].hausdorff),
        "mean_distance": over(&|k| recoveries[k].mean_distance),
        "components": over(&|k| Some(right(k))),
        "nothing": picked.iter().filter(|&&k| recoveries[k].hausdorff.is_none()).count(),
    });
    row.as_object().cloned().unwrap_or_default()
}

/// Truth and prediction of every sample on the grid of the output.
fn recover(model: &C2CNet, data: &Dataset) -> Result<Vec<Recovery>> {
    let field = data.outputs.only()?;
    let points = field.points_of(0);
    let found = &model.predict(&data.inputs, points)?[0];
    (0..data.samples())
        .map(|k| {
            let predicted: Vec<f64> = found.col(k).iter().copied().collect();
            Ok(compare(
                &grid(field, &field.values_of(k))?,
                &grid(field, &predicted)?,
            ))
        })
        .collect()
}

/// Values at the field's points, which must be a square grid, the last axis running fastest.
pub fn grid(field: &Field, values: &[f64]) -> Result<Grid> {
    let n = side(field, values.len())?;
    let bounds = field.bounding_box();
    Ok(Grid {
        counts: [n, n],
        x: [bounds.lower(0), bounds.upper(0)],
        y: [bounds.lower(1), bounds.upper(1)],
        // The data lists one column of equal first coordinates after another.
        values: (0..n * n).map(|k| values[(k % n) * n + k / n]).collect(),
    })
}

/// Points along each side of a square grid of `points` points.
pub fn side(field: &Field, points: usize) -> Result<usize> {
    let n = (points as f64).sqrt().round() as usize;
    if n * n != points || field.dim() != 2 {
        return Err(Error::Data(format!(
            "obstacles need a square grid, not {points} points"
        )));
    }
    Ok(n)
}
