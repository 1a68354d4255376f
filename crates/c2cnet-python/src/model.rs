//! A fitted operator.

use crate::arrays::{self, Arrays, Floats, NamedArrays};
use crate::dataset::from_arrays;
use crate::errors::exception;
use crate::pool;
use c2cnet::C2CNet;
use c2cnet::Result;
use c2cnet::data::{Fields, Points};
use c2cnet::operator::OutputSummary;
use faer::{Mat, MatRef};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde_json::json;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

/// A fitted operator.
#[pyclass(frozen, module = "c2cnet._c2cnet")]
pub struct Model {
    pub net: Arc<C2CNet>,
}

impl From<C2CNet> for Model {
    fn from(net: C2CNet) -> Self {
        Model { net: Arc::new(net) }
    }
}

/// Points, and the shape of the grid as which they were given.
type InputPoints<'py> = (Bound<'py, PyArrayDyn<f64>>, Option<Vec<usize>>);

/// Work of the library without the interpreter's lock.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(|| pool::run(work)).map_err(exception)
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        detached(py, || C2CNet::load(&path)).map(Model::from)
    }

    /// Writes a model file atomically.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || self.net.save(&path))
    }

    /// The model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        detached(py, || C2CNet::from_bytes(bytes)).map(Model::from)
    }

    /// The bytes of the model's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, || self.net.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let rebuild = py.get_type::<Model>().getattr("from_bytes")?;
        Ok((rebuild, (slf.get().to_bytes(py)?,)))
    }

    /// The output called `output` at `at`: an array for shared points, a list of arrays for points of
    /// each sample.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<NamedArrays<'py>>,
        output: &str,
        at: Option<Arrays<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let inputs = arrays::fields(py, &inputs)?;
        self.warn_if_extrapolated(py, &inputs)?;
        match self.places(output, at)? {
            Places::Shared(points) => {
                let fields = detached(py, || {
                    let prediction = self.net.prediction(&inputs)?;
                    // The output takes the memory of the inputs: fresh pages would cost more than they hold.
                    drop(inputs);
                    prediction.at(output, &points)
                })?;
                Ok(arrays::into_values(py, fields)?.into_any())
            }
            Places::PerSample(points) => {
                let prediction = detached(py, || self.net.prediction(&inputs))?;
                let of_sample = |k, points: &Points| prediction.of_sample(k, output, points);
                each(py, prediction.samples(), &points, of_sample)
            }
            Places::Nodes => {
                let prediction = detached(py, || self.net.prediction(&inputs))?;
                let nodes = self.nodes_of(py, prediction.coordinates(), output)?;
                let of_sample = |k, points: &Points| prediction.of_sample(k, output, points);
                each(py, prediction.samples(), &nodes, of_sample)
            }
            Places::None => {
                let net = &self.net;
                let entries = detached(py, || {
                    net.predict_output(output, &inputs, &Points::origin())
                })?;
                Ok(arrays::vectors(py, &entries).into_any())
            }
        }
    }

    /// Where the nodes of each sample are, `(samples, nodes, dimension)`; none if they do not move.
    fn nodes<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<NamedArrays<'py>>,
        output: &str,
    ) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        if !self.moves(output) {
            return Ok(None);
        }
        let inputs = arrays::fields(py, &inputs)?;
        let coordinates = detached(py, || self.net.predict_coordinates(&inputs))?;
        let nodes = self.nodes_of(py, coordinates.as_ref(), output)?;
        let shape = [nodes.len(), nodes[0].len(), nodes[0].dim()];
        let coords: Vec<f64> = nodes.iter().flat_map(Points::coords).copied().collect();
        Ok(Some(arrays::array(py, &shape, &coords)?))
    }

    /// Whether the nodes of an output move with the inputs.
    fn moves(&self, output: &str) -> bool {
        self.output(output)
            .is_some_and(|output| output.moving_nodes)
    }

    /// Input coefficients, `(samples, coefficients)`.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<NamedArrays<'py>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let inputs = arrays::fields(py, &inputs)?;
        let coefficients = detached(py, || self.net.encode(&inputs))?;
        Ok(arrays::rows(py, coefficients.as_ref()))
    }

    /// Output coordinates of input coefficients.
    fn map<'py>(
        &self,
        py: Python<'py>,
        coefficients: Floats<'py>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let coefficients = coefficients.columns()?;
        let coordinates = detached(py, || self.net.map(coefficients.as_ref()))?;
        Ok(arrays::rows(py, coordinates.as_ref()))
    }

    /// The output called `output` at `at` from coordinates of all outputs.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        coordinates: Floats<'py>,
        output: &str,
        at: Option<Arrays<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let coordinates = coordinates.columns()?;
        match self.places(output, at)? {
            Places::Shared(points) => {
                let net = &self.net;
                let fields = detached(py, || net.decode(coordinates.as_ref(), output, &points))?;
                Ok(arrays::into_values(py, fields)?.into_any())
            }
            Places::PerSample(points) => self.decode_each(py, &coordinates, output, &points),
            Places::Nodes => {
                let nodes = self.nodes_of(py, coordinates.as_ref(), output)?;
                self.decode_each(py, &coordinates, output, &nodes)
            }
            Places::None => {
                let net = &self.net;
                let origin = Points::origin();
                let entries = detached(py, || net.decode(coordinates.as_ref(), output, &origin))?;
                Ok(arrays::vectors(py, &entries).into_any())
            }
        }
    }

    /// Errors on samples with known outputs, as JSON.
    fn evaluate(
        &self,
        py: Python<'_>,
        inputs: Vec<NamedArrays<'_>>,
        outputs: Vec<NamedArrays<'_>>,
    ) -> PyResult<String> {
        let data = from_arrays(py, &inputs, &outputs, None)?;
        let report = detached(py, || {
            data.check()?;
            self.net.evaluate(&data)
        })?;
        Ok(json!(report).to_string())
    }

    /// The shape of the grid of an output's points; none if they were listed.
    fn grid(&self, output: &str) -> Option<Vec<usize>> {
        let shape = self.output(output)?.points?.shape();
        (shape.len() > 1).then_some(shape)
    }

    /// The points of an input, listed, and the shape of their grid; none if samples had their own, or the model is of a
    /// version that did not keep them.
    fn input_points<'py>(
        &self,
        py: Python<'py>,
        input: &str,
    ) -> PyResult<Option<InputPoints<'py>>> {
        let mut inputs = self.net.summary().inputs.into_iter();
        let Some(points) = inputs
            .find(|one| one.name == input)
            .and_then(|one| one.points)
        else {
            return Ok(None);
        };
        let shape = [points.len(), points.dim()];
        let listed = arrays::array(py, &shape, points.coords())?;
        let grid = Some(points.shape()).filter(|shape| shape.len() > 1);
        Ok(Some((listed, grid)))
    }

    /// Whether the components of an output are real and imaginary parts in turn.
    fn is_complex(&self, output: &str) -> bool {
        self.output(output).is_some_and(|output| output.complex)
    }

    /// A description of the model, as JSON.
    fn describe(&self) -> String {
        let mut described = json!(self.net.summary());
        described["info"] = self.net.info().clone();
        described.to_string()
    }

    /// The arrays of the model file by name, and the rest of it as JSON.
    fn archive<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, String)> {
        let archive = self.net.to_archive().map_err(exception)?;
        let dict = PyDict::new(py);
        for (name, _) in archive.shapes() {
            let array = archive.array(name).map_err(exception)?;
            dict.set_item(name, arrays::array(py, &array.shape, &array.values)?)?;
        }
        Ok((dict, archive.document.to_string()))
    }
}

enum Places {
    Shared(Points),
    PerSample(Vec<Points>),
    /// Where the model says that its nodes are.
    Nodes,
    /// The output is a vector.
    None,
}

impl Model {
    fn output(&self, name: &str) -> Option<OutputSummary<'_>> {
        let mut outputs = self.net.summary().outputs.into_iter();
        outputs.find(|output| output.name == name)
    }

    /// A `UserWarning` at the call of `predict` for inputs that are unlike the samples of the fit.
    fn warn_if_extrapolated(&self, py: Python<'_>, inputs: &Fields) -> PyResult<()> {
        let category = py.get_type::<PyUserWarning>();
        for warning in self.net.warnings(inputs) {
            let text = CString::new(warning)?;
            // The frame above `predict` of the package.
            PyErr::warn(py, &category, &text, 2)?;
        }
        Ok(())
    }

    /// Where to predict: as asked, else where the output was fitted; a vector nowhere.
    fn places(&self, output: &str, at: Option<Arrays<'_>>) -> PyResult<Places> {
        let output = self.output(output);
        if output.as_ref().is_some_and(|output| output.vector) {
            return Ok(Places::None);
        }
        Ok(match at {
            Some(Arrays::Shared(points)) => Places::Shared(arrays::points(&points)?),
            Some(Arrays::PerSample(all)) => {
                Places::PerSample(all.iter().map(arrays::points).collect::<PyResult<_>>()?)
            }
            None if output.as_ref().is_some_and(|output| output.moving_nodes) => Places::Nodes,
            None => {
                let fitted = output.and_then(|output| output.points);
                Places::Shared(fitted.cloned().ok_or_else(|| {
                    exception(c2cnet::Error::Config(
                        "the points to predict at are not known: the model was fitted at points that \
                         differ from sample to sample; give `y`"
                            .into(),
                    ))
                })?)
            }
        })
    }

    fn nodes_of(
        &self,
        py: Python<'_>,
        coordinates: MatRef<'_, f64>,
        output: &str,
    ) -> PyResult<Vec<Points>> {
        let nodes = detached(py, || self.net.nodes(coordinates, output))?;
        Ok(nodes.unwrap_or_default())
    }

    fn decode_each<'py>(
        &self,
        py: Python<'py>,
        coordinates: &Mat<f64>,
        output: &str,
        points: &[Points],
    ) -> PyResult<Bound<'py, PyAny>> {
        let net = &self.net;
        let of_sample =
            |k, points: &Points| net.decode(coordinates.as_ref().subcols(k, 1), output, points);
        each(py, coordinates.ncols(), points, of_sample)
    }
}

/// The fields of `samples`, one after the other, at points of their own.
fn each<'py>(
    py: Python<'py>,
    samples: usize,
    points: &[Points],
    of_sample: impl Fn(usize, &Points) -> c2cnet::Result<Vec<Mat<f64>>> + Send + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    if points.len() != samples {
        return Err(exception(c2cnet::Error::shape(
            "y",
            format!("points of {samples} samples"),
            format!("of {}", points.len()),
        )));
    }
    let fields = detached(py, || {
        let all = points.iter().enumerate();
        all.map(|(k, points)| of_sample(k, points))
            .collect::<Result<Vec<_>>>()
    })?;
    let list = PyList::empty(py);
    for fields in &fields {
        list.append(arrays::values(py, fields).get_item(0)?)?;
    }
    Ok(list.into_any())
}
