//! What is in a model file.

use super::entries;
use crate::output::{Table, bounds, counted, error};
use c2cnet::Result;
use c2cnet::model_file::Archive;
use c2cnet::operator::C2CNet;
use serde_json::{Value, json};
use std::path::Path;

/// Text and JSON for a model.
pub fn describe(model: &C2CNet, path: &Path) -> Result<(String, Value)> {
    let archive = Archive::read(path)?;
    let numbers: usize = archive
        .shapes()
        .map(|(_, shape)| shape.iter().product::<usize>())
        .sum();
    let version = archive.document["version"].as_str().unwrap_or("unknown");
    let info = model.info();
    let mut object = json!({
        "kind": "model",
        "version": version,
        "format": archive.document["format"],
        "numbers": numbers,
        "map": {
            "kind": model.map().kind(),
            "description": model.map().describe(),
            "inputs": model.map().inputs(),
            "outputs": model.map().outputs(),
            "parameters": model.map().parameters(),
        },
        "inputs": [],
        "outputs": [],
    });
    // What only some kinds of map have.
    for key in ["widths", "activation", "recipe", "precision"] {
        if let Some(value) = archive.document["map"].get(key) {
            object["map"][key] = value.clone();
        }
    }
    let mut text = format!("model, written by c2cnet {version}\n");
    let mut table = Table::default();
    for (name, encoder) in model.inputs() {
        table.row([label("input", name), encoder.basis().describe()]);
        if !encoder.basis().is_vector() {
            table.row(["  domain".to_string(), domain(encoder.basis())]);
        }
        table.row(["  encoder".to_string(), encoder.describe()]);
        let transform = serde_json::to_value(encoder.transform()).unwrap_or_default();
        table.row(["  transform", transform.as_str().unwrap_or_default()]);
        push(
            &mut object["inputs"],
            json!({
                "name": name,
                "vector": encoder.basis().is_vector(),
                "basis": encoder.basis().describe(),
                "functions": encoder.basis().len(),
                "components": encoder.basis().components(),
                "encoder": encoder.describe(),
                "regularisations": encoder.regularisations(),
                "transform": transform,
            }),
        );
    }
    table.row(["map".to_string(), model.map().describe()]);
    table.row([
        "  size".to_string(),
        format!(
            "{} to {}, {} fitted",
            counted(model.map().inputs(), "coefficient"),
            counted(model.map().outputs(), "coordinate"),
            counted(model.map().parameters(), "number")
        ),
    ]);
    for (name, decoder) in model.outputs() {
        table.row([label("output", name), decoder.basis().describe()]);
        let vector = decoder.basis().is_vector();
        if !vector {
            table.row(["  domain".to_string(), domain(decoder.basis())]);
        }
        let points = decoder.fitted_points().filter(|_| !vector).map(|p| p.len());
        let place = match points {
            _ if vector => "without points".into(),
            Some(n) => format!("at {}", counted(n, "point")),
            None => "at each sample's own points".into(),
        };
        table.row([
            "  rank".to_string(),
            format!(
                "{} of {} coordinates kept, fitted {place}",
                decoder.rank(),
                decoder.basis().len(),
            ),
        ]);
        push(
            &mut object["outputs"],
            json!({
                "name": name,
                "vector": vector,
                "basis": decoder.basis().describe(),
                "functions": decoder.basis().len(),
                "components": decoder.basis().components(),
                "rank": decoder.rank(),
                "fitted_points": points,
            }),
        );
    }
    text += &table.to_string();
    let validation = &info["validation"];
    if validation.is_object() {
        let mut errors = Table::default();
        for (key, name) in [
            ("rl2e", "RL2E"),
            ("floor", "floor"),
            ("withheld_rl2e", "withheld"),
            ("linear_rl2e", "linear map"),
            ("mean_rl2e", "training mean"),
            ("worst_rl2e", "worst"),
        ] {
            if let Some(v) = validation[key].as_f64() {
                errors.row([name.to_string(), error(v)]);
            }
        }
        // Every map but a network by the recipe `paper` is judged by samples that did not train it.
        let on = match info["held_out"].as_bool() {
            Some(false) => "training samples, all of which trained",
            _ => "held-out training samples",
        };
        text += &format!("\n\nerrors on {on}\n{errors}");
    }
    let fitted = json!({
        "samples": info["data"]["n_train"],
        "fingerprint": info["data"]["fingerprint"],
        "seed": info["seed"],
    });
    text += &format!("\n\nfitted to\n{}", entries(&fitted));
    let meta = &info["data"]["meta"];
    if !meta.is_null() {
        text += &format!("\n\nwhich was made as\n{}", entries(meta));
    }
    text += &format!(
        "\n\nsize {numbers} numbers ({:.1} MB)",
        numbers as f64 * 8e-6
    );
    for key in [
        "seed",
        "config",
        "data",
        "choices",
        "validation",
        "held_out",
    ] {
        object[key] = info[key].clone();
    }
    Ok((text, object))
}

fn label(kind: &str, name: &str) -> String {
    if name.is_empty() {
        kind.to_string()
    } else {
        format!("{kind} {name}")
    }
}

fn domain(basis: &c2cnet::basis::FieldBasis) -> String {
    bounds(basis.parts()[0].components()[0].domain())
}

fn push(list: &mut Value, entry: Value) {
    if let Value::Array(list) = list {
        list.push(entry);
    }
}
