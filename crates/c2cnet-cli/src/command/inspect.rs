//! `c2cnet inspect`: what is in a file.

mod data;
mod model;

use crate::file_kind::FileKind;
use crate::reading::Reading;
use c2cnet::C2CNet;
use c2cnet::Result;
use c2cnet::internal::array_shapes;
use c2cnet_experiments::terminal::{self, Table, print_line};
use serde_json::json;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  c2cnet inspect data.npz
  c2cnet inspect model.c2c
  c2cnet inspect model.c2c --json | jq .validation
  c2cnet inspect --devices";

/// Show what is in a model, a data file or a prediction, or on which devices networks can be trained.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The file.
    #[arg(required_unless_present = "devices")]
    file: Option<PathBuf>,

    /// Show the devices for --device: the CPU and GPUs, and what is missing to use them.
    #[arg(long, conflicts_with = "file")]
    devices: bool,

    #[command(flatten)]
    reading: Reading,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let (text, object) = match &args.file {
        None => devices(),
        Some(file) => describe(file, args.reading)?,
    };
    if args.json {
        terminal::print_json(&object)?;
    } else {
        print_line(text)?;
    }
    Ok(())
}

fn devices() -> (String, serde_json::Value) {
    let all = c2cnet::compute::devices();
    let mut table = Table::with_header(["device", "what", "memory free", "usable"]);
    for device in &all {
        let gibibytes = |bytes: u64| format!("{:.1}", bytes as f64 / (1u64 << 30) as f64);
        let memory = device.memory.map_or(String::new(), |(all, free)| {
            format!("{} of {} GiB", gibibytes(free), gibibytes(all))
        });
        let usable = match &device.missing {
            None => "yes".to_string(),
            Some(why) => format!("no: {why}"),
        };
        table.row([device.device.clone(), device.name.clone(), memory, usable]);
    }
    (table.to_string(), json!({ "devices": all }))
}

/// By the first bytes, not by the name.
fn describe(file: &Path, reading: Reading) -> Result<(String, serde_json::Value)> {
    match FileKind::of(file)? {
        FileKind::Data | FileKind::Prediction => match reading.read(file) {
            Ok(dataset) => Ok(data::describe(&dataset)),
            // Predictions have only outputs.
            Err(e) => prediction(file).ok_or(e),
        },
        FileKind::Model => model::describe(&C2CNet::load(file)?, file),
        FileKind::Figure | FileKind::Page | FileKind::Other => {
            Ok(data::describe(&reading.read_any(file)?))
        }
    }
}

fn prediction(path: &Path) -> Option<(String, serde_json::Value)> {
    let shapes = array_shapes(path).ok()?;
    let is = |stem: &str| {
        let of = |key: &str| key == stem || key.starts_with(&format!("{stem}."));
        shapes.iter().any(|(key, _)| of(key))
    };
    if !(is("u") || is("q")) || is("f") || is("p") {
        return None;
    }
    let mut table = Table::with_header(["array", "shape"]);
    for (key, shape) in &shapes {
        table.row([key.clone(), format!("{shape:?}")]);
    }
    let arrays: serde_json::Map<_, _> = shapes.iter().map(|(k, s)| (k.clone(), json!(s))).collect();
    let what = match (is("u"), is("q")) {
        (true, false) => "outputs u at points y",
        (false, _) => "quantities q",
        (true, true) => "outputs u at points y, quantities q",
    };
    Some((
        format!("prediction: {what}\n{table}"),
        json!({ "kind": "prediction", "arrays": arrays }),
    ))
}

/// `meta` and the like, a line for each entry.
fn entries(value: &serde_json::Value) -> Table {
    let mut table = Table::default();
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                let value = match value {
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                table.row([key.clone(), value]);
            }
        }
        other => table.row([other.to_string()]),
    }
    table
}
