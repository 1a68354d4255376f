//! What layers need at points that are not latent ones.

use super::Latent;
use super::fields::InputFields;
use super::transform::Functions;
use crate::Result;
use crate::basis::FieldBasis;
use crate::data::Points;
use crate::encode::FieldEncoder;
use crate::storage::tensor;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Points whose inputs are computed together.
const TOGETHER: usize = 1024;

/// The layers' functions, coordinates and scales of fields, for any points.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Elsewhere {
    /// The basis before it was made orthonormal.
    basis: FieldBasis,
    /// What makes it orthonormal at the latent points.
    #[serde(with = "tensor")]
    transform: Mat<f64>,
    /// Centre and half of each side of the box around the latent points.
    sides: Vec<(f64, f64)>,
}

/// What enters layers at some points.
pub(super) struct Entering {
    /// $\psi_j$, one column per function.
    pub functions: Mat<f64>,
    /// Field after field, one column per sample.
    pub fields: Mat<f64>,
    /// One column per point.
    pub coordinates: Mat<f64>,
}

impl Elsewhere {
    /// For `functions` made of `basis` at the latent points.
    ///
    /// # Errors
    /// If the basis cannot be evaluated there.
    pub(crate) fn new(basis: FieldBasis, functions: &Functions, points: &Points) -> Result<Self> {
        let at_points = basis.parts()[0].evaluate(points)?.to_dense();
        Ok(Elsewhere {
            transform: functions.change_of_basis(&at_points)?,
            basis,
            sides: sides(points),
        })
    }

    /// Whether what a file claims is consistent with the latent points.
    pub(super) fn fits(&self, latent: &Latent) -> bool {
        let shape = (self.basis.len(), latent.functions().len());
        self.basis.components() == 1
            && self.transform.shape() == shape
            && self.sides.len() == latent.coordinates().nrows()
            && self.sides.len() == self.basis.domain().dim()
    }

    /// What enters at `points`, for samples with these input coefficients.
    ///
    /// # Errors
    /// If a point lies outside the domain, or an input is not defined there.
    pub(super) fn entering(
        &self,
        inputs: &InputFields,
        points: &Points,
        encoders: &[(String, FieldEncoder)],
        coefficients: MatRef<'_, f64>,
    ) -> Result<Entering> {
        let n = points.len();
        let raw = self.basis.parts()[0].evaluate(points)?;
        let mut fields = Mat::zeros(inputs.len() * n, coefficients.ncols());
        for first in (0..n).step_by(TOGETHER) {
            let some: Vec<usize> = (first..n.min(first + TOGETHER)).collect();
            let some_points = points.select(&some);
            inputs.values_elsewhere(&some_points, first, encoders, coefficients, &mut fields)?;
        }
        Ok(Entering {
            functions: raw.mul(self.transform.as_ref()),
            fields,
            coordinates: coordinates(&self.basis.domain().wrapped(points), &self.sides),
        })
    }
}

/// Centre and half of each side of the box around points.
pub(super) fn sides(points: &Points) -> Vec<(f64, f64)> {
    let side = |k: usize| {
        let along = || points.iter().map(move |p| p[k]);
        let (low, high) = (
            along().fold(f64::INFINITY, f64::min),
            along().fold(f64::NEG_INFINITY, f64::max),
        );
        (0.5 * (low + high), 0.5 * (high - low))
    };
    (0..points.dim()).map(side).collect()
}

/// Each coordinate, between -1 and 1 within the box of these sides; one column per point.
pub(super) fn coordinates(points: &Points, sides: &[(f64, f64)]) -> Mat<f64> {
    Mat::from_fn(sides.len(), points.len(), |k, i| {
        let (centre, half) = sides[k];
        match half > 0.0 {
            true => (points.point(i)[k] - centre) / half,
            false => 0.0,
        }
    })
}
