//! Layers in a prescribed basis: a coefficient-to-coefficient map with depth.
//!
//! Products of fields are local in space but dense in coefficients, so one map between coefficients is not enough if
//! the coefficients of a PDE are rough. Here channels $v_l$ at latent points pass through
//!
//! $$v_{l+1}(x) = \sigma\Big(W_lv_l(x) + b_l + \sum_j\psi_j(x)\,A_{l,j}\,c_j(v_l)\Big),$$
//!
//! with $c(v)$ their coefficients in a basis $\psi$ that is orthonormal at the points, and one channel matrix
//! $A_{l,j}$ per function; waves along periodic axes are mixed in [`groups`] instead, so that layers can shift and
//! differentiate. $v_0$ is an affine image of the inputs' decoded fields, of parameters, and of the point's
//! coordinates; a pointwise network of two layers follows the last layer, which has no activation. Periodic waves on
//! a box make this a Fourier neural operator; eigenfunctions of the Laplacian carry it to any domain.
//!
//! What leaves the network is added to the closed-form linear map, from which training starts, or to the mean where that
//! map has memorised its samples. It is a field: the coefficients $c(v_l)$ are those of the latent points, and any other
//! point is pushed through the layers with the functions, the inputs and its coordinates there ([`push`]). Training
//! then compares values at the latent points ([`goal`]). Otherwise, and wherever coordinates are asked for, the field's
//! values at the latent points are projected to the coordinates of the output space, as outputs of other maps are.

mod elsewhere;
mod engine;
mod fields;
mod fit;
mod goal;
mod groups;
mod latent;
mod network;
mod on_device;
mod push;
mod shape;
mod spec;
mod transform;

#[cfg(test)]
mod tests;

pub(crate) use elsewhere::Elsewhere;
pub use fit::LayeredData;
pub(crate) use goal::ValuesAtPoints;
pub use latent::Latent;
pub(crate) use spec::Sizes;
pub use spec::{LayeredOutputs, LayeredSpec};
pub(crate) use transform::Functions;

use super::{CoefficientMap, FieldMap, LinearMap};
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use shape::Shape;

/// A trained layered map.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct LayeredMap {
    shape: Shape,
    /// As trained; widened to `f64` without loss.
    #[serde(with = "tensor")]
    parameters: Vec<f64>,
    latent: Latent,
    /// What the layers add to: the linear map or, with weights of zero, the mean.
    base: LinearMap,
    /// The size of what they add.
    scale: f64,
}

restore_settled!(LayeredMap);

impl LayeredMap {
    fn widths(&self) -> Vec<usize> {
        let Shape {
            inputs,
            channels,
            layers,
            hidden,
            outputs,
            ..
        } = self.shape;
        let mut widths = vec![inputs];
        widths.extend(std::iter::repeat_n(channels, layers + 1));
        widths.extend([hidden, outputs]);
        widths
    }

    fn settle(&mut self) -> Result<()> {
        let (shape, latent) = (&self.shape, &self.latent);
        let expected = (
            latent.channels(),
            latent.functions().groups().matrices(),
            latent.components(),
        );
        let fits = (shape.inputs, shape.matrices, shape.outputs) == expected
            && shape.channels > 0
            && (1..=16).contains(&shape.layers)
            && shape.checked_parameters() == Some(self.parameters.len())
            && (self.base.inputs(), self.base.outputs()) == (latent.inputs(), latent.outputs());
        match fits {
            true => Ok(()),
            false => Err(Error::Data("the model's layered map is damaged".into())),
        }
    }
}

impl CoefficientMap for LayeredMap {
    fn kind(&self) -> &'static str {
        "layered"
    }

    fn predict(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = self.base.predict(coefficients);
        if coefficients.ncols() > 0 {
            out += fit::predict(self, coefficients) * faer::Scale(self.scale);
        }
        out
    }

    fn field_map(&self) -> Option<&dyn FieldMap> {
        self.latent.elsewhere().map(|_| self as &dyn FieldMap)
    }

    fn inputs(&self) -> usize {
        self.latent.inputs()
    }

    fn outputs(&self) -> usize {
        self.latent.outputs()
    }

    fn parameters(&self) -> usize {
        self.parameters.len() + self.base.parameters()
    }

    fn describe(&self) -> String {
        format!(
            "{} layers of {} channels and {} functions at {} points, {} parameters, {}added to {}",
            self.shape.layers,
            self.shape.channels,
            self.latent.functions().len(),
            self.latent.points(),
            self.parameters.len(),
            match self.latent.elsewhere() {
                Some(_) => "evaluated at any points, ",
                None => "",
            },
            match self.base.slopes() {
                true => "the linear map",
                false => "the mean",
            },
        )
    }
}
