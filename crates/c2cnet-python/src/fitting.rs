//! Fits and diagnoses.

use crate::arrays::NamedArrays;
use crate::dataset::from_arrays;
use crate::errors::exception;
use crate::model::Model;
use crate::watch::{watched, watched_on};
use c2cnet::{Device, Error, FitConfig, FitReport, Result};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Fits an operator; settings and the report are JSON, `listener` receives its progress.
#[pyfunction]
#[pyo3(signature = (config, inputs, outputs, triangles=None, listener=None, device="cpu"))]
pub fn fit(
    py: Python<'_>,
    config: &str,
    inputs: Vec<NamedArrays<'_>>,
    outputs: Vec<NamedArrays<'_>>,
    triangles: Option<Vec<[usize; 3]>>,
    listener: Option<Bound<'_, PyAny>>,
    device: &str,
) -> PyResult<(Model, String)> {
    let config = settings(config).map_err(exception)?;
    let device = checked(device)?;
    let data = from_arrays(py, &inputs, &outputs, triangles)?;
    let (model, report) = watched_on(py, device, listener.as_ref(), move |watch| {
        c2cnet::fit(&data, &config, watch)
    })?;
    Ok((Model::from(model), report_object(&report).to_string()))
}

/// A device by its name, if it can be used.
fn checked(device: &str) -> PyResult<Device> {
    let device: Device = device.parse().map_err(exception)?;
    device.check().map_err(exception)?;
    Ok(device)
}

/// The report, with choices as sentences and, under `decisions`, as data.
fn report_object(report: &FitReport) -> Value {
    let mut object = json!(report);
    let sentences: Vec<String> = report.choices.iter().map(ToString::to_string).collect();
    object["decisions"] = object["choices"].take();
    object["choices"] = json!(sentences);
    object
}

/// What a fit with these settings would do, as JSON: the plan, and the choices in words.
#[pyfunction]
#[pyo3(signature = (config, inputs, outputs, triangles=None, listener=None, device="cpu"))]
pub fn plan(
    py: Python<'_>,
    config: &str,
    inputs: Vec<NamedArrays<'_>>,
    outputs: Vec<NamedArrays<'_>>,
    triangles: Option<Vec<[usize; 3]>>,
    listener: Option<Bound<'_, PyAny>>,
    device: &str,
) -> PyResult<(String, Vec<String>)> {
    let config = settings(config).map_err(exception)?;
    let device = checked(device)?;
    let data = from_arrays(py, &inputs, &outputs, triangles)?;
    let (plan, choices) = watched_on(py, device, listener.as_ref(), move |watch| {
        c2cnet::plan(&data, &config, watch)
    })?;
    let words = choices.iter().map(ToString::to_string).collect();
    Ok((json!(plan).to_string(), words))
}

/// Fits an operator as a plan says; plan and report are JSON.
#[pyfunction]
#[pyo3(signature = (plan, inputs, outputs, triangles=None, listener=None, device="cpu"))]
pub fn fit_plan(
    py: Python<'_>,
    plan: &str,
    inputs: Vec<NamedArrays<'_>>,
    outputs: Vec<NamedArrays<'_>>,
    triangles: Option<Vec<[usize; 3]>>,
    listener: Option<Bound<'_, PyAny>>,
    device: &str,
) -> PyResult<(Model, String)> {
    let plan: c2cnet::Plan =
        serde_json::from_str(plan).map_err(|e| exception(Error::Config(format!("plan: {e}"))))?;
    let device = checked(device)?;
    let data = from_arrays(py, &inputs, &outputs, triangles)?;
    let (model, report) = watched_on(py, device, listener.as_ref(), move |watch| {
        c2cnet::fit_plan(&data, &plan, watch)
    })?;
    Ok((Model::from(model), report_object(&report).to_string()))
}

/// What the bases of a model and others can do for data: sweeps of its inputs and floors of its
/// outputs, for those that are given, as JSON.
#[pyfunction]
#[pyo3(signature = (model, config, inputs, outputs, listener=None))]
pub fn diagnose(
    py: Python<'_>,
    model: &Model,
    config: &str,
    inputs: Vec<NamedArrays<'_>>,
    outputs: Vec<NamedArrays<'_>>,
    listener: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let config = settings(config).map_err(exception)?;
    let data = from_arrays(py, &inputs, &outputs, None)?;
    let model = Arc::clone(&model.net);
    let object = watched(py, listener.as_ref(), move |watch| {
        let sweeps = match data.inputs.is_empty() {
            true => Vec::new(),
            false => c2cnet::diagnose::sweeps(&model, &data, &config, watch)?,
        };
        let floors = match data.outputs.is_empty() {
            true => Vec::new(),
            false => c2cnet::diagnose::floors(&model, &data, &config, watch)?,
        };
        Ok(json!({
            "inputs": sweeps.iter().map(|s| s.object()).collect::<Vec<_>>(),
            "outputs": floors.iter().map(|f| f.object()).collect::<Vec<_>>(),
        }))
    })?;
    Ok(object.to_string())
}

/// Settings from JSON, checked.
pub fn settings(text: &str) -> Result<FitConfig> {
    let config: FitConfig = serde_json::from_str(text).map_err(|e| {
        let message = e.to_string();
        // A position in a JSON text that the user never wrote is no help.
        let message = message.split(" at line ").next().unwrap_or(&message);
        Error::Config(format!("settings: {message}"))
    })?;
    config.check()?;
    Ok(config)
}
