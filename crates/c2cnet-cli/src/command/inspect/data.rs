//! What is in a data file.

use super::entries;
use c2cnet::data::{Bounds, Dataset, Field, Points};
use c2cnet::internal::value_keys;
use c2cnet_experiments::terminal::{Table, bounds, counted, number};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Components of a field that are listed.
const MOST_COMPONENTS: usize = 8;

/// Text and JSON for a data set.
pub fn describe(data: &Dataset) -> (String, Value) {
    // Predictions have only outputs.
    let kind = match data.inputs.is_empty() {
        true => "prediction",
        false => "data",
    };
    let warnings = match data.inputs.is_empty() {
        true => Vec::new(),
        false => data.warnings(),
    };
    let mut text = format!("{kind}: {}", counted(data.samples(), "sample"));
    let sets = sets(data);
    for (name, count) in &sets {
        text += &format!(", {count} {name}");
    }
    let mut table = Table::with_header([
        "field",
        "points",
        "dim",
        "domain",
        "component",
        "min",
        "max",
        "mean",
        "rms",
    ]);
    let mut fields = Vec::new();
    let mut labelled = Vec::new();
    let (input_keys, output_keys) = value_keys(data);
    for (side, list, keys) in [
        ("input", &data.inputs, input_keys),
        ("output", &data.outputs, output_keys),
    ] {
        for ((name, field), key) in list.iter().zip(keys) {
            let label = format!("{side} {key}");
            fields.push(describe_field(&mut table, side, name, &label, field));
            labelled.push((label, field));
        }
    }
    text += &format!("\n\n{table}");
    let mut still = rings(&labelled);
    still.extend(warnings.iter().cloned());
    if !still.is_empty() {
        text += &format!("\n\n{}", still.join("\n"));
    }
    if data.outputs.is_empty() {
        text += "\n\nno outputs u or q: this file can be used for prediction, not for fitting";
    }
    if let Some(triangles) = &data.triangles {
        text += &format!(
            "\n\n{} on the output points",
            counted(triangles.len(), "triangle")
        );
    }
    if !data.meta.is_null() {
        text += &format!("\n\nhow it was made\n{}", entries(&data.meta));
    }
    text += &format!("\n\nfingerprint {}", data.fingerprint());
    let object = json!({
        "kind": kind,
        "n_samples": data.samples(),
        "sets": sets,
        "fields": fields,
        "triangles": data.triangles.as_ref().map(Vec::len),
        "meta": data.meta,
        "fingerprint": data.fingerprint(),
        "warnings": warnings,
    });
    (text, object)
}

/// The periodic axes of grids, one line for all fields with the same periods.
fn rings(fields: &[(String, &Field)]) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    // A constant function says nothing about a period.
    let changing = fields
        .iter()
        .filter(|(_, field)| !field.is_same_at_all_points());
    for (label, field) in changing {
        let axes = field.periods().into_iter().enumerate();
        let axes = axes.filter_map(|(k, p)| Some(format!("axis {k}, period {}", number(p?))));
        let axes = axes.collect::<Vec<_>>().join(" and ");
        match found.iter_mut().find(|(known, _)| *known == axes) {
            _ if axes.is_empty() => {}
            Some((_, labels)) => labels.push(label),
            None => found.push((axes, vec![label])),
        }
    }
    let line = |(axes, labels): (String, Vec<&str>)| {
        format!(
            "{}: periodic along {axes}: equal steps, and values wrap around from the end to the beginning",
            labels.join(", ")
        )
    };
    found.into_iter().map(line).collect()
}

/// The sets of the split and how many samples each has.
fn sets(data: &Dataset) -> BTreeMap<String, usize> {
    let mut sets = BTreeMap::new();
    if let Some(n) = data.n_train {
        sets.insert("train".to_string(), n);
        if n < data.samples() {
            sets.insert("test".to_string(), data.samples() - n);
        }
    }
    for name in data.split.iter().flatten() {
        *sets.entry(name.clone()).or_default() += 1;
    }
    sets
}

fn describe_field(table: &mut Table, kind: &str, name: &str, label: &str, field: &Field) -> Value {
    let counts: Vec<usize> = (0..field.samples())
        .map(|k| field.points_of(k).len())
        .collect();
    let (least, most) = (
        counts.iter().min().copied().unwrap_or(0),
        counts.iter().max().copied().unwrap_or(0),
    );
    let shared = field.shared_points().is_some();
    let points = match (shared, least == most) {
        _ if field.is_vector() => "none".to_string(),
        (true, _) => shared_in_words(field, most),
        (false, true) => format!("{most} per sample"),
        (false, false) => format!("{least} to {most} per sample"),
    };
    // The point at which a vector is stored is an internal detail.
    let domain = (!field.is_vector()).then(|| field.bounding_box());
    let dim = domain.as_ref().map(Bounds::dim);
    let ranges: Vec<Range> = (0..field.components())
        .map(|c| Range::of(field, c))
        .collect();
    for (c, range) in ranges.iter().enumerate().take(MOST_COMPONENTS) {
        let first = |text: String| if c == 0 { text } else { String::new() };
        table.row([
            first(label.to_string()),
            first(points.clone()),
            first(dim.map_or_else(String::new, |d| d.to_string())),
            first(domain.as_ref().map_or_else(String::new, bounds)),
            c.to_string(),
            number(range.min),
            number(range.max),
            number(range.mean),
            number(range.rms),
        ]);
    }
    if let Some(more) = ranges.len().checked_sub(MOST_COMPONENTS + 1) {
        let more = format!("... {} more", more + 1);
        table.row(["", "", "", "", more.as_str()]);
    }
    json!({
        "kind": kind,
        "name": name,
        "vector": field.is_vector(),
        "complex": field.is_complex(),
        "grid": field.shared_points().map(Points::shape).filter(|shape| shape.len() > 1),
        "periods": (!field.is_vector()).then(|| field.periods()),
        "points": dim.map(|_| json!({ "least": least, "most": most, "shared": shared })),
        "dim": dim,
        "domain": domain,
        "components": ranges.iter().map(Range::object).collect::<Vec<_>>(),
    })
}

/// How many points, and in which shape.
fn shared_in_words(field: &Field, count: usize) -> String {
    let shape = field.points_of(0).shape();
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    match shape.len() {
        1 => format!("{count} shared"),
        _ => format!("{} shared", sides.join(" x ")),
    }
}

/// How large the values of a component are.
struct Range {
    min: f64,
    max: f64,
    mean: f64,
    rms: f64,
}

impl Range {
    fn of(field: &Field, component: usize) -> Range {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0usize);
        for k in 0..field.samples() {
            let n = field.points_of(k).len();
            for &v in &field.values_of(k)[component * n..(component + 1) * n] {
                min = min.min(v);
                max = max.max(v);
                sum += v;
                squares += v * v;
            }
            count += n;
        }
        Range {
            min,
            max,
            mean: sum / count as f64,
            rms: (squares / count as f64).sqrt(),
        }
    }

    fn object(&self) -> Value {
        json!({ "min": self.min, "max": self.max, "mean": self.mean, "rms": self.rms })
    }
}
