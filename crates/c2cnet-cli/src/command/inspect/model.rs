//! What is in a model file.

use super::entries;
use crate::command::choices;
use c2cnet::C2CNet;
use c2cnet::Result;
use c2cnet::data::Points;
use c2cnet::operator::Summary;
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
    let is = model.summary();
    let mut object = json!({
        "kind": "model",
        "version": version,
        "format": archive.document["format"],
        "numbers": numbers,
        "map": is.map,
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
    describe_inputs(&is, &mut table, &mut object["inputs"]);
    table.row(["map".to_string(), is.map.description.clone()]);
    table.row([
        "  size".to_string(),
        format!(
            "{} to {}, {} fitted",
            counted(is.map.inputs, "coefficient"),
            counted(is.map.outputs, "coordinate"),
            counted(is.map.parameters, "number")
        ),
    ]);
    describe_outputs(&is, &mut table, &mut object["outputs"]);
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
    object["choices"] = choices::objects(&Choice::of(model)).into();
    Ok((text, object))
}

/// Rows and objects of the inputs.
fn describe_inputs(model: &Summary<'_>, table: &mut Table, objects: &mut Value) {
    for input in &model.inputs {
        if input.vector {
            table.row([label("input", input.name), input.encoder.clone()]);
        } else {
            table.row([label("input", input.name), input.basis.clone()]);
            table.row(["  domain".to_string(), bounds(input.domain)]);
            table.row(["  encoder".to_string(), input.encoder.clone()]);
        }
        let mut object = json!(input);
        table.row([
            "  transform",
            object["transform"].as_str().unwrap_or_default(),
        ]);
        object["regularisations"] = json!(input.regularisations);
        push(objects, object, &["domain"]);
    }
}

/// Rows and objects of the outputs.
fn describe_outputs(model: &Summary<'_>, table: &mut Table, objects: &mut Value) {
    for output in &model.outputs {
        let points = output.points.map(Points::len).filter(|_| !output.vector);
        match output.vector {
            true => table.row([label("output", output.name), output.space.clone()]),
            false => {
                table.row([label("output", output.name), output.basis.clone()]);
                table.row(["  domain".to_string(), bounds(output.domain)]);
                table.row([
                    "  rank".to_string(),
                    format!(
                        "{} of {} coordinates kept, fitted at {}",
                        output.rank,
                        output.functions,
                        match (output.moving_nodes, points) {
                            (true, Some(n)) => counted(n, "node") + " that move with the inputs",
                            (_, Some(n)) => counted(n, "point"),
                            (_, None) => "each sample's own points".into(),
                        }
                    ),
                ]);
            }
        }
        let mut object = json!(output);
        object["points"] = json!(points);
        push(objects, object, &["domain", "complex"]);
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

/// Adds what a part of the model is, but for some fields.
fn push(list: &mut Value, mut entry: Value, without: &[&str]) {
    if let (Value::Array(list), Some(fields)) = (list, entry.as_object_mut()) {
        fields.retain(|key, _| !without.contains(&key.as_str()));
        list.push(entry);
    }
}
