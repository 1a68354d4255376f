//! What is in a model file.

use super::entries;
use c2cnet::C2CNet;
use c2cnet::Result;
use c2cnet::report::Choice;
use c2cnet::storage::Archive;
use c2cnet_experiments::terminal::{Table, bounds, counted, error};
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
    let map = &archive.document["map"];
    for (key, value) in [
        ("widths", map["network"].get("widths")),
        ("activation", map["network"].get("activation")),
        ("recipe", map.get("recipe")),
        ("precision", map.get("precision")),
    ] {
        if let Some(value) = value {
            object["map"][key] = value.clone();
        }
    }
    let mut text = format!("model, written by c2cnet {version}\n");
    let mut table = Table::default();
    describe_inputs(model, &mut table, &mut object["inputs"]);
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
    describe_outputs(model, &mut table, &mut object["outputs"]);
    text += &table.to_string();
    text += &judged(info);
    let fitted = json!({
        "samples": info["data"]["n_train"],
        "fingerprint": info["data"]["fingerprint"],
        "seed": info["seed"],
    });
    text += &format!("\n\nfitted to\n{}", entries(&fitted));
    let meta = &info["data"]["meta"];
    if !meta.is_null() {
        text += &format!("\n\nhow the data was made\n{}", entries(meta));
    }
    text += &format!(
        "\n\nsize {numbers} numbers ({:.1} MB)",
        numbers as f64 * 8e-6
    );
    for key in ["seed", "config", "data", "validation", "held_out"] {
        object[key] = info[key].clone();
    }
    object["choices"] = Choice::of(model).iter().map(Choice::object).collect();
    Ok((text, object))
}

/// Rows and objects of the inputs.
fn describe_inputs(model: &C2CNet, table: &mut Table, objects: &mut Value) {
    for (name, encoder) in model.inputs() {
        let vector = encoder.basis().is_vector();
        if vector {
            table.row([label("input", name), encoder.describe()]);
        } else {
            table.row([label("input", name), encoder.basis().describe()]);
            table.row(["  domain".to_string(), domain(encoder.basis())]);
            table.row(["  encoder".to_string(), encoder.describe()]);
        }
        let transform = serde_json::to_value(encoder.transform()).unwrap_or_default();
        table.row(["  transform", transform.as_str().unwrap_or_default()]);
        push(
            objects,
            json!({
                "name": name,
                "vector": vector,
                "basis": encoder.basis().describe(),
                "functions": encoder.basis().len(),
                "components": encoder.components(),
                "encoder": encoder.describe(),
                "regularisations": encoder.regularisations(),
                "transform": transform,
            }),
        );
    }
}

/// Rows and objects of the outputs.
fn describe_outputs(model: &C2CNet, table: &mut Table, objects: &mut Value) {
    for (name, decoder) in model.outputs() {
        let points = decoder.points().map(|p| p.len());
        let vector = decoder.basis().is_vector();
        let points = points.filter(|_| !vector);
        let moves = model.moves(name);
        match vector {
            true => table.row([label("output", name), decoder.describe()]),
            false => {
                table.row([label("output", name), decoder.basis().describe()]);
                table.row(["  domain".to_string(), domain(decoder.basis())]);
                table.row([
                    "  rank".to_string(),
                    format!(
                        "{} of {} coordinates kept, fitted at {}",
                        decoder.rank(),
                        decoder.basis().len(),
                        match (moves, points) {
                            (true, Some(n)) => counted(n, "node") + " that move with the inputs",
                            (_, Some(n)) => counted(n, "point"),
                            (_, None) => "each sample's own points".into(),
                        }
                    ),
                ]);
            }
        }
        push(
            objects,
            json!({
                "name": name,
                "vector": vector,
                "basis": decoder.basis().describe(),
                "functions": decoder.basis().len(),
                "components": decoder.basis().components(),
                "rank": decoder.rank(),
                "points": points,
                "moving_nodes": moves,
            }),
        );
    }
}

/// The errors that the fit reported, if it did.
fn judged(info: &Value) -> String {
    let validation = &info["validation"];
    if !validation.is_object() {
        return String::new();
    }
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
        Some(false) => "training samples, all used for training",
        _ => "held-out training samples",
    };
    format!("\n\nerrors on {on}\n{errors}")
}

fn label(kind: &str, name: &str) -> String {
    if name.is_empty() {
        kind.to_string()
    } else {
        format!("{kind} {name}")
    }
}

fn domain(basis: &c2cnet::basis::FieldBasis) -> String {
    bounds(basis.domain())
}

fn push(list: &mut Value, entry: Value) {
    if let Value::Array(list) = list {
        list.push(entry);
    }
}
