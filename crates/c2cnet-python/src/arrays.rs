//! NumPy arrays as fields and points, and back.

use crate::errors::exception;
use crate::pool::guarded;
use c2cnet::data::{Field, Fields, Points, Scattered};
use c2cnet::{Error, Result};
use faer::{Mat, MatRef};
use numpy::ndarray::{ArrayViewD, Axis};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Numbers as they come: single or double precision, in any memory order.
#[derive(FromPyObject)]
pub enum Floats<'py> {
    #[pyo3(transparent)]
    Double(PyReadonlyArrayDyn<'py, f64>),
    #[pyo3(transparent)]
    Single(PyReadonlyArrayDyn<'py, f32>),
}

/// A view that other threads may read while the interpreter continues.
enum View<'a> {
    Double(ArrayViewD<'a, f64>),
    Single(ArrayViewD<'a, f32>),
}

/// One array for all samples, or one for each.
#[derive(FromPyObject)]
pub enum Arrays<'py> {
    #[pyo3(transparent)]
    Shared(Floats<'py>),
    #[pyo3(transparent)]
    PerSample(Vec<Floats<'py>>),
}

/// A field by name: its points, none for a vector, its values, the shape of its grid if it has one, and whether
/// components are real and imaginary parts in turn.
pub type NamedArrays<'py> = (
    String,
    Option<Arrays<'py>>,
    Arrays<'py>,
    Option<Vec<usize>>,
    bool,
);

enum Views<'a> {
    Shared(View<'a>),
    PerSample(Vec<View<'a>>),
}

/// Fields from arrays, copied once and without the interpreter's lock.
pub fn fields(py: Python<'_>, arrays: &[NamedArrays<'_>]) -> PyResult<Fields> {
    let views: Vec<_> = arrays
        .iter()
        .map(|(name, points, values, grid, complex)| {
            let points = points.as_ref().map(Arrays::views);
            (name.clone(), points, values.views(), grid, *complex)
        })
        .collect();
    let fields = || {
        views
            .into_iter()
            .map(|(name, points, values, grid, complex)| {
                let field = match (points, values) {
                    (None, Views::Shared(values)) => vector(&values),
                    (Some(Views::Shared(points)), Views::Shared(values)) => {
                        shared(&points, &values, grid.as_deref())
                    }
                    (Some(Views::PerSample(points)), Views::PerSample(values)) => {
                        per_sample(&points, &values)
                    }
                    _ => Err(Error::Data(
                        "points and values must both be shared or both be given for each sample"
                            .into(),
                    )),
                }?;
                let pairs = complex && field.components().is_multiple_of(2);
                Ok((name, if pairs { field.as_complex() } else { field }))
            })
            .collect::<Result<_>>()
    };
    py.detach(|| guarded(fields)).map_err(exception)
}

/// Points `(n, d)`.
pub fn points(array: &Floats<'_>) -> PyResult<Points> {
    points_of(&array.view()).map_err(exception)
}

impl Arrays<'_> {
    fn views(&self) -> Views<'_> {
        match self {
            Arrays::Shared(array) => Views::Shared(array.view()),
            Arrays::PerSample(all) => Views::PerSample(all.iter().map(Floats::view).collect()),
        }
    }
}

impl Floats<'_> {
    fn view(&self) -> View<'_> {
        match self {
            Floats::Double(a) => View::Double(a.as_array()),
            Floats::Single(a) => View::Single(a.as_array()),
        }
    }

    /// `(samples, n)` as a matrix with one column per sample.
    pub fn columns(&self) -> PyResult<Mat<f64>> {
        let view = self.view();
        match view.shape() {
            [_, _] => Ok(view.matrix()),
            shape => Err(exception(Error::shape(
                "coefficients",
                "(samples, numbers)",
                format!("{shape:?}"),
            ))),
        }
    }
}

impl View<'_> {
    fn shape(&self) -> &[usize] {
        match self {
            View::Double(a) => a.shape(),
            View::Single(a) => a.shape(),
        }
    }

    /// All numbers, the last axis varying fastest.
    fn numbers(&self) -> Vec<f64> {
        match self {
            View::Double(a) => match a.as_slice() {
                Some(slice) => slice.to_vec(),
                None => a.iter().copied().collect(),
            },
            View::Single(a) => a.iter().map(|&v| f64::from(v)).collect(),
        }
    }

    /// `(samples, n)` as a matrix with one column per sample.
    fn matrix(&self) -> Mat<f64> {
        let (samples, n) = (self.shape()[0], self.shape()[1]);
        // In the usual order, in one go.
        if let View::Double(a) = self
            && let Some(numbers) = a.as_slice()
            && let Some(columns) =
                MatRef::from_column_major_slice(numbers, n, samples).try_as_col_major()
        {
            return columns.cloned();
        }
        let mut matrix = Mat::zeros(n, samples);
        match self {
            View::Double(a) => {
                for (k, row) in a.axis_iter(Axis(0)).enumerate() {
                    let column = matrix.col_as_slice_mut(k);
                    match row.as_slice() {
                        Some(row) => column.copy_from_slice(row),
                        None => column.iter_mut().zip(&row).for_each(|(to, v)| *to = *v),
                    }
                }
            }
            View::Single(a) => {
                for (k, row) in a.axis_iter(Axis(0)).enumerate() {
                    let column = matrix.col_as_slice_mut(k);
                    column
                        .iter_mut()
                        .zip(&row)
                        .for_each(|(to, &v)| *to = f64::from(v));
                }
            }
        }
        matrix
    }

    /// Component `c` along the last axis.
    fn component(&self, c: usize) -> View<'_> {
        match self {
            View::Double(a) => View::Double(a.index_axis(Axis(a.ndim() - 1), c)),
            View::Single(a) => View::Single(a.index_axis(Axis(a.ndim() - 1), c)),
        }
    }
}

fn points_of(view: &View<'_>) -> Result<Points> {
    match view.shape() {
        &[_, d] => Points::new(d, view.numbers()),
        shape => Err(Error::shape("points", "(n, d)", format!("{shape:?}"))),
    }
}

fn vector(values: &View<'_>) -> Result<Field> {
    match values.shape() {
        [_, _] => Field::vector(values.matrix().as_ref()),
        shape => Err(Error::shape(
            "values without points",
            "(samples, values)",
            format!("{shape:?}"),
        )),
    }
}

fn shared(points: &View<'_>, values: &View<'_>, grid: Option<&[usize]>) -> Result<Field> {
    let matrices = match values.shape() {
        [_, _] => vec![values.matrix()],
        &[_, _, components] => (0..components)
            .map(|c| values.component(c).matrix())
            .collect(),
        shape => {
            return Err(Error::shape(
                "values",
                "(samples, points) or (samples, points, components)",
                format!("{shape:?}"),
            ));
        }
    };
    let points = points_of(points)?;
    let points = match grid {
        Some(grid) => points.with_shape(grid.to_vec())?,
        None => points,
    };
    Field::shared(points, matrices)
}

fn per_sample(points: &[View<'_>], values: &[View<'_>]) -> Result<Field> {
    if points.len() != values.len() {
        return Err(Error::shape(
            "points",
            format!("those of {} samples, like the values", values.len()),
            format!("those of {}", points.len()),
        ));
    }
    let components_of = |view: &View<'_>| match view.shape() {
        [_] => Ok(1),
        &[_, components] => Ok(components),
        shape => Err(Error::shape(
            "values of a sample",
            "(points,) or (points, components)",
            format!("{shape:?}"),
        )),
    };
    let components = values.first().map_or(Ok(1), components_of)?;
    let samples = points
        .iter()
        .zip(values)
        .enumerate()
        .map(|(k, (points, values))| {
            let points = points_of(points).map_err(|e| Error::Data(format!("sample {k}: {e}")))?;
            let found = components_of(values)?;
            if found != components {
                return Err(Error::shape(
                    format!("sample {k}"),
                    format!("{components} components, like the first sample"),
                    format!("{found}"),
                ));
            }
            let values = match values.shape() {
                [_] => values.numbers(),
                _ => (0..components)
                    .flat_map(|c| values.component(c).numbers())
                    .collect(),
            };
            Ok(Scattered { points, values })
        })
        .collect::<Result<Vec<_>>>()?;
    Field::per_sample(components, samples)
}

/// Columns of a matrix as rows of an array `(samples, n)`.
pub fn rows<'py>(py: Python<'py>, matrix: MatRef<'_, f64>) -> Bound<'py, PyArrayDyn<f64>> {
    components(py, &[matrix], false)
}

/// The memory behind an array.
#[pyclass(frozen)]
struct Owner(Mat<f64>);

/// As [`values`]; the memory of a single component becomes the array's own where its columns have no gaps.
pub fn into_values(
    py: Python<'_>,
    mut matrices: Vec<Mat<f64>>,
) -> PyResult<Bound<'_, PyArrayDyn<f64>>> {
    let whole = |m: &Mat<f64>| m.col_stride() == m.nrows() as isize;
    match matrices.pop() {
        Some(matrix) if matrices.is_empty() && whole(&matrix) => {
            let shape = [matrix.ncols(), matrix.nrows()];
            let owner = Bound::new(py, Owner(matrix))?;
            // SAFETY: the matrix is as large as the shape says, stays where it is until its owner is
            // dropped, and nobody but the array knows of it.
            Ok(unsafe {
                let numbers = ArrayViewD::from_shape_ptr(&shape[..], owner.get().0.as_ptr());
                PyArrayDyn::borrow_from_array(&numbers, owner.into_any())
            })
        }
        last => {
            matrices.extend(last);
            Ok(values(py, &matrices))
        }
    }
}

/// One matrix per component as an array `(samples, n)` or, for several, `(samples, n, components)`.
pub fn values<'py>(py: Python<'py>, matrices: &[Mat<f64>]) -> Bound<'py, PyArrayDyn<f64>> {
    let matrices: Vec<_> = matrices.iter().map(Mat::as_ref).collect();
    components(py, &matrices, matrices.len() > 1)
}

fn components<'py>(
    py: Python<'py>,
    matrices: &[MatRef<'_, f64>],
    several: bool,
) -> Bound<'py, PyArrayDyn<f64>> {
    let (n, samples, count) = (matrices[0].nrows(), matrices[0].ncols(), matrices.len());
    let shape = match several {
        true => vec![samples, n, count],
        false => vec![samples, n],
    };
    // Every entry is written below.
    let array = unsafe { PyArrayDyn::<f64>::new(py, shape, false) };
    let to = unsafe { array.as_slice_mut() }.expect("a new array is contiguous");
    py.detach(|| {
        for (c, matrix) in matrices.iter().enumerate() {
            for k in 0..samples {
                let to = &mut to[k * n * count..(k + 1) * n * count];
                match matrix.col(k).try_as_col_major() {
                    Some(column) if count == 1 => to.copy_from_slice(column.as_slice()),
                    _ => {
                        let column = matrix.col(k).iter();
                        to[c..]
                            .iter_mut()
                            .step_by(count)
                            .zip(column)
                            .for_each(|(to, v)| *to = *v);
                    }
                }
            }
        }
    });
    array
}

/// Shape and numbers as an array.
pub fn array<'py>(
    py: Python<'py>,
    shape: &[usize],
    numbers: &[f64],
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    PyArray1::from_slice(py, numbers).reshape(shape.to_vec())
}

/// Predicted entries of a vector, one row for each, as an array `(samples, values)`.
pub fn vectors<'py>(py: Python<'py>, entries: &[Mat<f64>]) -> Bound<'py, PyArrayDyn<f64>> {
    let stacked = Mat::from_fn(entries.len(), entries[0].ncols(), |i, k| entries[i][(0, k)]);
    rows(py, stacked.as_ref())
}

/// A field as Python has it: points and values, both as lists if each sample has its own; a vector has
/// `None` for points.
pub fn field<'py>(
    py: Python<'py>,
    field: &Field,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    use c2cnet::data::Observations;
    let at = |points: &Points| {
        let shape = [points.shape(), vec![points.dim()]].concat();
        array(py, &shape, points.coords())
    };
    if let Some(found) = field.vectors() {
        let values = rows(py, found.as_ref()).into_any();
        return Ok((py.None().into_bound(py), values));
    }
    match field.observations() {
        Observations::Shared { points, values: v } => {
            let values = values(py, v);
            let mut shape = [vec![field.samples()], points.shape()].concat();
            shape.extend((v.len() > 1).then_some(v.len()));
            Ok((at(points)?.into_any(), values.reshape(shape)?.into_any()))
        }
        Observations::PerSample(samples) => {
            let (points, found) = (PyList::empty(py), PyList::empty(py));
            for sample in samples {
                let n = sample.points.len();
                points.append(at(&sample.points)?)?;
                found.append(match field.components() {
                    1 => array(py, &[n], &sample.values)?,
                    several => {
                        let interleaved: Vec<f64> = (0..n * several)
                            .map(|i| sample.values[(i % several) * n + i / several])
                            .collect();
                        array(py, &[n, several], &interleaved)?
                    }
                })?;
            }
            Ok((points.into_any(), found.into_any()))
        }
    }
}
