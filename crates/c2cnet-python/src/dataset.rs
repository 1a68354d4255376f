//! Data sets: generated, read and written.

use crate::arrays::{NamedArrays, field, fields};
use crate::errors::exception;
use crate::pool;
use crate::watch::watched;
use c2cnet::data::{Dataset, Missing};
use c2cnet::{Error, Result};
use c2cnet_formats::Names;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use std::path::PathBuf;

/// The data set of a problem; `settings` is a JSON object of those that differ from the defaults.
#[pyfunction]
pub fn generate<'py>(
    py: Python<'py>,
    problem: String,
    settings: &str,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = parse(settings, "settings of the problem").map_err(exception)?;
    let data = watched(py, None, move |watch| {
        c2cnet_problems::generate(&problem, settings, seed, watch)
    })?;
    to_dict(py, &data)
}

/// Names, descriptions and default settings of all problems, as JSON.
#[pyfunction]
pub fn problems() -> PyResult<String> {
    let all = c2cnet_problems::problems();
    let all = all.iter().map(|problem| problem.describe());
    let all = all.collect::<Result<Vec<Value>>>().map_err(exception)?;
    Ok(Value::from(all).to_string())
}

/// Reads a data file.
#[pyfunction]
#[pyo3(signature = (path, missing="refuse"))]
pub fn read_npz<'py>(
    py: Python<'py>,
    path: PathBuf,
    missing: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let missing = meaning(missing)?;
    let data = py
        .detach(|| pool::run(|| Dataset::read_npz_with(&path, missing)))
        .map_err(exception)?;
    to_dict(py, &data)
}

/// What NaN means.
fn meaning(missing: &str) -> PyResult<Missing> {
    serde_json::from_value(missing.into())
        .map_err(|e| exception(Error::Config(format!("missing: {e}"))))
}

/// Reads data files of any format that the command reads, one sample each where there are several; `names` are those of
/// the arrays or columns of inputs, outputs and points, and of the column of samples. `ignored` of what comes back are
/// the columns that were not read.
#[pyfunction]
pub fn read_files<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    names: (Vec<String>, Vec<String>, Vec<String>, Option<String>),
    missing: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let (inputs, outputs, points, sample) = names;
    let names = Names {
        inputs,
        outputs,
        points,
        sample,
        ..Names::default()
    };
    let missing = meaning(missing)?;
    let read = || -> Result<(Dataset, Vec<String>)> {
        let data = c2cnet_formats::collect(&paths, &names, missing)?;
        let ignored = paths
            .first()
            .map(|path| c2cnet_formats::ignored(path, &names));
        Ok((data, ignored.transpose()?.unwrap_or_default()))
    };
    let (data, ignored) = py.detach(|| pool::run(read)).map_err(exception)?;
    let dict = to_dict(py, &data)?;
    dict.set_item("ignored", ignored)?;
    Ok(dict)
}

/// Triangles and tetrahedra on the output points.
type Cells = (Option<Vec<[usize; 3]>>, Option<Vec<[usize; 4]>>);

/// Which samples are for training: the number of leading ones, or the name of each one's set.
type Split = (Option<usize>, Option<Vec<String>>);

/// Writes a data file atomically.
#[pyfunction]
#[pyo3(signature = (path, inputs, outputs, split=(None, None), cells=(None, None), meta="null"))]
pub fn write_npz(
    py: Python<'_>,
    path: PathBuf,
    inputs: Vec<NamedArrays<'_>>,
    outputs: Vec<NamedArrays<'_>>,
    split: Split,
    cells: Cells,
    meta: &str,
) -> PyResult<()> {
    let ((triangles, tetrahedra), (n_train, split)) = (cells, split);
    let data = Dataset {
        n_train,
        split,
        tetrahedra,
        meta: parse(meta, "meta").map_err(exception)?,
        ..from_arrays(py, &inputs, &outputs, triangles)?
    };
    py.detach(|| {
        pool::run(|| {
            data.check()?;
            data.write_npz(&path)
        })
    })
    .map_err(exception)
}

/// A data set without a split.
pub fn from_arrays(
    py: Python<'_>,
    inputs: &[NamedArrays<'_>],
    outputs: &[NamedArrays<'_>],
    triangles: Option<Vec<[usize; 3]>>,
) -> PyResult<Dataset> {
    Ok(Dataset {
        inputs: fields(py, inputs)?,
        outputs: fields(py, outputs)?,
        n_train: None,
        split: None,
        triangles,
        tetrahedra: None,
        meta: Value::Null,
    })
}

/// JSON from Python.
pub fn parse(text: &str, what: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|e| Error::Config(format!("{what}: {e}")))
}

fn to_dict<'py>(py: Python<'py>, data: &Dataset) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, all) in [("inputs", &data.inputs), ("outputs", &data.outputs)] {
        let list = PyList::empty(py);
        for (name, one) in all {
            let (points, values) = field(py, one)?;
            list.append((name, points, values, one.is_complex()))?;
        }
        dict.set_item(key, list)?;
    }
    dict.set_item("n_train", data.n_train)?;
    dict.set_item("split", data.split.clone())?;
    dict.set_item("triangles", data.triangles.as_deref().map(rows))?;
    dict.set_item("tetrahedra", data.tetrahedra.as_deref().map(rows))?;
    dict.set_item("meta", data.meta.to_string())?;
    Ok(dict)
}

fn rows<const C: usize>(cells: &[[usize; C]]) -> Vec<Vec<usize>> {
    cells.iter().map(|cell| cell.to_vec()).collect()
}
