//! Models from sums over chunks of samples.

use crate::arrays::NamedArrays;
use crate::dataset::from_arrays;
use crate::errors::exception;
use crate::fitting::settings;
use crate::model::{Model, detached};
use crate::watch::watched;
use c2cnet::accumulate;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::sync::Arc;

/// What is settled on first samples.
#[pyclass(frozen, module = "c2cnet._c2cnet")]
pub struct Template {
    inner: Arc<accumulate::Template>,
}

/// Sums over samples, of one template.
#[pyclass(frozen, module = "c2cnet._c2cnet")]
pub struct Sums {
    inner: Arc<accumulate::Accumulator>,
}

impl From<accumulate::Accumulator> for Sums {
    fn from(sums: accumulate::Accumulator) -> Self {
        Sums {
            inner: Arc::new(sums),
        }
    }
}

/// Settles a template on first samples and sums them; settings are JSON, `listener` receives the progress.
#[pyfunction]
#[pyo3(signature = (config, inputs, outputs, centres, triangles=None, listener=None))]
pub fn begin(
    py: Python<'_>,
    config: &str,
    inputs: Vec<NamedArrays<'_>>,
    outputs: Vec<NamedArrays<'_>>,
    centres: usize,
    triangles: Option<Vec<[usize; 3]>>,
    listener: Option<Bound<'_, PyAny>>,
) -> PyResult<(Template, Sums)> {
    let config = settings(config).map_err(exception)?;
    let data = from_arrays(py, &inputs, &outputs, triangles)?;
    let (template, sums) = watched(py, listener.as_ref(), move |watch| {
        accumulate::Template::fit(&data, &config, centres, watch)
    })?;
    let template = Template {
        inner: Arc::new(template),
    };
    Ok((template, Sums::from(sums)))
}

#[pymethods]
impl Template {
    /// The sums of samples.
    fn accumulate(
        &self,
        py: Python<'_>,
        inputs: Vec<NamedArrays<'_>>,
        outputs: Vec<NamedArrays<'_>>,
    ) -> PyResult<Sums> {
        let data = from_arrays(py, &inputs, &outputs, None)?;
        detached(py, || self.inner.accumulate(&data)).map(Sums::from)
    }

    /// The model of sums, and how it was judged, as JSON; `listener` receives the progress of a network.
    #[pyo3(signature = (sums, listener=None))]
    fn finish(
        &self,
        py: Python<'_>,
        sums: &Sums,
        listener: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Model, String)> {
        let (template, sums) = (Arc::clone(&self.inner), Arc::clone(&sums.inner));
        let (model, report) = watched(py, listener.as_ref(), move |watch| {
            template.finish(&sums, watch)
        })?;
        let mut object = json!(report);
        let choices = self.inner.choices();
        object["choices"] = choices.iter().map(ToString::to_string).collect();
        Ok((Model::from(model), object.to_string()))
    }

    /// The template from its bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let template = detached(py, || accumulate::Template::from_bytes(bytes))?;
        Ok(Template {
            inner: Arc::new(template),
        })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let rebuild = py.get_type::<Template>().getattr("from_bytes")?;
        let inner = Arc::clone(&slf.get().inner);
        let bytes = detached(py, || inner.to_bytes())?;
        Ok((rebuild, (PyBytes::new(py, &bytes),)))
    }
}

#[pymethods]
impl Sums {
    /// The sums of the samples of both.
    fn merged(&self, py: Python<'_>, other: &Sums) -> PyResult<Sums> {
        let sums = detached(py, || {
            let mut sums = accumulate::Accumulator::clone(&self.inner);
            sums.merge(&other.inner).map(|()| sums)
        })?;
        Ok(Sums::from(sums))
    }

    /// How many samples.
    #[getter]
    fn samples(&self) -> usize {
        self.inner.samples()
    }

    /// The sums from their bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        detached(py, || accumulate::Accumulator::from_bytes(bytes)).map(Sums::from)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let rebuild = py.get_type::<Sums>().getattr("from_bytes")?;
        let inner = Arc::clone(&slf.get().inner);
        let bytes = detached(py, || inner.to_bytes())?;
        Ok((rebuild, (PyBytes::new(py, &bytes),)))
    }
}
