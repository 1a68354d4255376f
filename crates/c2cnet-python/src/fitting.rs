//! Fits and diagnoses.

use crate::arrays::NamedArrays;
use crate::dataset::from_arrays;
use crate::errors::exception;
use crate::model::Model;
use crate::watch::{Watch, watched, watched_on};
use c2cnet::data::Dataset;
use c2cnet::settings::explain;
use c2cnet::{C2CNet, Device, Error, FitConfig, FitReport, Result};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Samples: inputs, outputs, and triangles on the output points.
pub type Samples<'py> = (
    Vec<NamedArrays<'py>>,
    Vec<NamedArrays<'py>>,
    Option<Vec<[usize; 3]>>,
);

/// Who receives the progress, and the device.
type Conditions<'py> = (Option<Bound<'py, PyAny>>, String);

/// Samples that were set apart, and the errors on them as JSON.
type Tested = Option<(Vec<usize>, String)>;

/// Fits an operator; settings and the report are JSON. `test_fraction` of the samples are set apart and judged.
#[pyfunction]
#[pyo3(signature = (config, samples, conditions, test_fraction=None))]
pub fn fit(
    py: Python<'_>,
    config: &str,
    samples: Samples<'_>,
    conditions: Conditions<'_>,
    test_fraction: Option<f64>,
) -> PyResult<(Model, String, Tested)> {
    let config = settings(config).map_err(exception)?;
    let seed = config.seed;
    fitted(
        py,
        samples,
        conditions,
        test_fraction.map(|part| (part, seed)),
        move |data, watch| c2cnet::fit(data, &config, watch),
    )
}

/// Fits an operator as a plan says; plan and report are JSON. `test_fraction` as for [`fit`].
#[pyfunction]
#[pyo3(signature = (plan, samples, conditions, test_fraction=None))]
pub fn fit_plan(
    py: Python<'_>,
    plan: &str,
    samples: Samples<'_>,
    conditions: Conditions<'_>,
    test_fraction: Option<f64>,
) -> PyResult<(Model, String, Tested)> {
    let plan: c2cnet::Plan =
        serde_json::from_str(plan).map_err(|e| exception(Error::Config(format!("plan: {e}"))))?;
    let seed = plan.protocol.seed;
    fitted(
        py,
        samples,
        conditions,
        test_fraction.map(|part| (part, seed)),
        move |data, watch| c2cnet::fit_plan(data, &plan, watch),
    )
}

/// The outcome of `work` on the samples without those that a part and a seed set apart, and the errors on these.
fn fitted(
    py: Python<'_>,
    samples: Samples<'_>,
    (listener, device): Conditions<'_>,
    apart: Option<(f64, u64)>,
    work: impl FnOnce(&Dataset, &Watch) -> Result<(C2CNet, FitReport)> + Send + 'static,
) -> PyResult<(Model, String, Tested)> {
    let device = checked(&device)?;
    let mut data = from_samples(py, samples)?;
    if let Some((part, seed)) = apart {
        data.hold_out(part, seed).map_err(exception)?;
    }
    let (model, report, tested) = watched_on(py, device, listener.as_ref(), move |watch| {
        let (model, report) = work(&data, watch)?;
        let tested = match data.split {
            None => None,
            Some(_) => {
                let test = data.test_indices();
                let errors = model.evaluate(&data.select(&test))?;
                Some((test, json!(errors).to_string()))
            }
        };
        Ok((model, report, tested))
    })?;
    let report = report_object(&report).to_string();
    Ok((Model::from(model), report, tested))
}

fn from_samples(py: Python<'_>, (inputs, outputs, triangles): Samples<'_>) -> PyResult<Dataset> {
    from_arrays(py, &inputs, &outputs, triangles)
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
pub fn plan(
    py: Python<'_>,
    config: &str,
    samples: Samples<'_>,
    conditions: Conditions<'_>,
) -> PyResult<(String, Vec<String>)> {
    let (listener, device) = conditions;
    let config = settings(config).map_err(exception)?;
    let device = checked(&device)?;
    let data = from_samples(py, samples)?;
    let (plan, choices) = watched_on(py, device, listener.as_ref(), move |watch| {
        c2cnet::plan(&data, &config, watch)
    })?;
    let words = choices.iter().map(ToString::to_string).collect();
    Ok((json!(plan).to_string(), words))
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
            "inputs": sweeps,
            "outputs": floors,
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
        Error::Config(format!("settings: {}", explain(message)))
    })?;
    config.check()?;
    Ok(config)
}
