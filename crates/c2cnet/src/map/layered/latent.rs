//! The latent points, a basis at them, and the maps into and out of them.

use super::elsewhere::{self, Elsewhere};
use super::fields::{InputFields, moments};
use super::transform::Functions;
use crate::data::Points;
use crate::decode::FieldDecoder;
use crate::encode::FieldEncoder;
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Directions of the output space with smaller relative singular values cannot be told apart at the latent points.
const UNSEEN: f64 = 1e-6;

/// Latent points with everything that does not change during training.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Latent {
    /// Input fields at the points from input coefficients.
    fields: InputFields,
    /// Values that are constant over the points, from input coefficients.
    #[serde(with = "tensor")]
    constants: Mat<f64>,
    /// Coordinates of the points between -1 and 1, one column per point.
    #[serde(with = "tensor")]
    coordinates: Mat<f64>,
    /// $\psi_j$ at the points.
    functions: Functions,
    /// Output coordinates from values at the points, component after component.
    #[serde(with = "tensor")]
    projection: Mat<f64>,
    /// What layers need at other points, if points are pushed through them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    elsewhere: Option<Elsewhere>,
}

restore_settled!(Latent);

impl Latent {
    /// For fitted spaces of inputs and outputs, with the basis functions at the points.
    ///
    /// # Errors
    /// If an output is a vector, or an input or an output is not defined at the points.
    pub(crate) fn new(
        points: &Points,
        functions: Functions,
        inputs: &[(String, FieldEncoder)],
        outputs: &[(String, FieldDecoder)],
    ) -> Result<Self> {
        let fields = InputFields::new(points, inputs)?;
        let mut constants = Vec::new();
        let mut column = 0;
        for (_, encoder) in inputs {
            let width = encoder.basis().len();
            if encoder.vector().is_some() {
                constants.extend(column..column + width);
            }
            column += width;
        }
        Ok(Latent {
            fields,
            constants: Mat::from_fn(constants.len(), column, |i, j| {
                f64::from(u8::from(constants[i] == j))
            }),
            coordinates: elsewhere::coordinates(points, &elsewhere::sides(points)),
            functions,
            projection: projection(points, outputs)?,
            elsewhere: None,
        })
    }

    /// The same with what layers need at other points.
    pub(crate) fn with_elsewhere(self, elsewhere: Elsewhere) -> Self {
        Latent {
            elsewhere: Some(elsewhere),
            ..self
        }
    }

    /// From its parts: fields and constants; functions; coordinates and projection.
    #[cfg(test)]
    pub(super) fn for_tests(
        [fields, constants]: [Mat<f64>; 2],
        functions: Functions,
        [coordinates, projection]: [Mat<f64>; 2],
    ) -> Self {
        Latent {
            fields: InputFields::dense(&fields, coordinates.ncols()),
            constants,
            coordinates,
            functions,
            projection,
            elsewhere: None,
        }
    }

    /// The error of an input or output that is not defined at the latent points.
    pub(super) fn not_there(kind: &str, name: &str, error: Error) -> Error {
        Error::Config(format!(
            "layered: {kind} {name:?} is not defined at the latent points, which are the output's ({error}); layers need \
             inputs and outputs on the same domain; choose another map"
        ))
    }

    fn settle(&mut self) -> Result<()> {
        let points = self.points();
        let fits = points > 0
            && self.fields.fits(points)
            && self.constants.ncols() == self.fields.coefficients()
            && self.functions.fits(points)
            && (self.elsewhere.as_ref()).is_none_or(|e| e.fits(self))
            && self.projection.ncols().is_multiple_of(points)
            && self.projection.ncols() > 0;
        match fits {
            true => Ok(()),
            false => Err(Error::Data("the model's latent points are damaged".into())),
        }
    }

    /// The same with fields and constants of mean 0 and deviation 1 over the samples `coefficients`.
    pub(super) fn standardised(mut self, coefficients: MatRef<'_, f64>) -> Self {
        self.fields.standardise(coefficients);
        let values = linalg::mul(self.constants.as_ref(), coefficients);
        for i in 0..self.constants.nrows() {
            let (_, deviation) = moments(values.as_ref().subrows(i, 1));
            scale_rows(&mut self.constants, i..i + 1, 1.0 / deviation);
        }
        self
    }

    /// How many points.
    pub(super) fn points(&self) -> usize {
        self.coordinates.ncols()
    }

    /// How many values enter at each point.
    pub(super) fn channels(&self) -> usize {
        self.fields.len() + self.constants.nrows() + self.coordinates.nrows()
    }

    /// How many values leave at each point.
    pub(super) fn components(&self) -> usize {
        self.projection.ncols() / self.points()
    }

    pub(super) fn inputs(&self) -> usize {
        self.fields.coefficients()
    }

    pub(super) fn outputs(&self) -> usize {
        self.projection.nrows()
    }

    pub(super) fn functions(&self) -> &Functions {
        &self.functions
    }

    pub(super) fn projection(&self) -> &Mat<f64> {
        &self.projection
    }

    pub(super) fn elsewhere(&self) -> Option<&Elsewhere> {
        self.elsewhere.as_ref()
    }

    pub(super) fn coordinates(&self) -> &Mat<f64> {
        &self.coordinates
    }

    /// Fields at the points, one column per sample.
    pub(super) fn field_values(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        self.fields.values(coefficients)
    }

    pub(super) fn fields(&self) -> &InputFields {
        &self.fields
    }

    /// Constant values, one column per sample.
    pub(super) fn constant_values(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        linalg::mul(self.constants.as_ref(), coefficients)
    }
}

fn scale_rows(matrix: &mut Mat<f64>, rows: Range<usize>, by: f64) {
    for j in 0..matrix.ncols() {
        let column = &mut matrix.col_as_slice_mut(j)[rows.clone()];
        column.iter_mut().for_each(|v| *v *= by);
    }
}

/// Least squares from values at the points to coordinates, outputs along the diagonal.
fn projection(points: &Points, outputs: &[(String, FieldDecoder)]) -> Result<Mat<f64>> {
    let mut blocks = Vec::new();
    for (name, decoder) in outputs {
        if decoder.vector().is_some() {
            return Err(Error::Config(format!(
                "layered: output {name:?} is a vector without points: layers only predict functions; choose another map"
            )));
        }
        let design = decoder
            .design_at(points, false)
            .map_err(|e| Latent::not_there("output", name, e))?;
        let svd = linalg::thin_svd(design.as_ref())?;
        let largest = svd.s.first().copied().unwrap_or(0.0);
        let mut v = svd.v;
        for (j, s) in svd.s.iter().enumerate() {
            let inverse = if *s > UNSEEN * largest { 1.0 / s } else { 0.0 };
            v.col_mut(j).iter_mut().for_each(|x| *x *= inverse);
        }
        blocks.push(linalg::mul(v.as_ref(), svd.u.transpose()));
    }
    let rows = blocks.iter().map(Mat::nrows).sum();
    let columns = blocks.iter().map(Mat::ncols).sum();
    let mut all = Mat::zeros(rows, columns);
    let (mut row, mut column) = (0, 0);
    for block in &blocks {
        let (n, m) = block.shape();
        all.as_mut()
            .submatrix_mut(row, column, n, m)
            .copy_from(block);
        row += n;
        column += m;
    }
    Ok(all)
}
