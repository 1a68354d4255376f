//! Transforms before the network's inputs and after its outputs.

use crate::map::{CoefficientMap, LinearMap};
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// $x = V^\top(a - \bar a)/s$: principal axes of the training coefficients under one common scale.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct Principal {
    #[serde(with = "tensor")]
    pub(super) mean: Vec<f64>,
    /// $V$, orthonormal columns.
    #[serde(with = "tensor")]
    pub(super) axes: Mat<f64>,
    /// The standard deviation along the first axis.
    pub(super) scale: f64,
}

restore_settled!(Principal);

impl Principal {
    /// The axes along which the columns of `a` deviate by more than `cut` of the largest deviation.
    pub(super) fn new(a: MatRef<'_, f64>, cut: f64) -> Result<Self> {
        let mean = linalg::column_mean(a);
        let mut centred = a.to_owned();
        linalg::subtract_from_columns(&mut centred, &mean);
        let svd = linalg::thin_svd(centred.as_ref())?;
        let largest = svd.s.first().copied().unwrap_or(0.0);
        let rank = svd
            .s
            .iter()
            .take_while(|&&s| s > cut * largest && s > 0.0)
            .count();
        // Constant columns keep one axis, along which nothing varies.
        let rank = rank.clamp(1, svd.s.len().max(1));
        let scale = largest / (a.ncols() as f64).sqrt();
        Ok(Principal {
            mean,
            axes: svd.u.as_ref().subcols(0, rank).to_owned(),
            scale: if scale > 0.0 { scale } else { 1.0 },
        })
    }

    pub(super) fn forward(&self, a: MatRef<'_, f64>) -> Mat<f64> {
        let mut centred = a.to_owned();
        linalg::subtract_from_columns(&mut centred, &self.mean);
        let mut x = linalg::mul(self.axes.transpose(), centred.as_ref());
        x *= faer::Scale(1.0 / self.scale);
        x
    }

    /// $\bar a + sVy$.
    pub(super) fn backward(&self, y: MatRef<'_, f64>) -> Mat<f64> {
        let mut a = Mat::from_fn(self.mean.len(), y.ncols(), |i, _| self.mean[i]);
        linalg::mul_add(a.as_mut(), self.axes.as_ref(), y, self.scale);
        a
    }

    fn settle(&mut self) -> Result<()> {
        match self.axes.nrows() == self.mean.len() && self.scale > 0.0 {
            true => Ok(()),
            false => Err(damaged()),
        }
    }
}

pub(super) fn damaged() -> Error {
    Error::Data("the model's mlp map is damaged".into())
}

/// After the network's outputs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Head {
    /// The outputs are raw coefficients $b/s$, and the coordinates $(sR)(b/s)$ (or $b$ itself without $R$).
    Raw {
        /// $sR$.
        #[serde(with = "tensor")]
        factor: Option<Mat<f64>>,
        /// $s$: one, or the root mean square of the outputs.
        scale: f64,
    },
    /// The outputs are principal coordinates, possibly of the residual of the linear map.
    Principal {
        frame: Principal,
        linear: Option<LinearMap>,
    },
}

impl Head {
    /// Coordinates from the network's outputs for the coefficients `a`.
    pub(super) fn coordinates(&self, outputs: Mat<f64>, a: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Head::Raw { factor: None, .. } => outputs,
            Head::Raw {
                factor: Some(r), ..
            } => linalg::mul(r.as_ref(), outputs.as_ref()),
            Head::Principal { frame, linear } => {
                let mut c = frame.backward(outputs.as_ref());
                if let Some(linear) = linear {
                    c += linear.predict(a);
                }
                c
            }
        }
    }

    /// The numbers of outputs and of coordinates; `None` if they do not match.
    pub(super) fn coordinates_of(&self, outputs: usize) -> Option<usize> {
        let (rows, expected) = match self {
            Head::Raw { factor: None, .. } => (outputs, outputs),
            Head::Raw {
                factor: Some(r), ..
            } => r.shape(),
            Head::Principal { frame, .. } => frame.axes.shape(),
        };
        (outputs == expected).then_some(rows)
    }

    /// The map to which the network's part is added.
    pub(super) fn linear(&self) -> Option<&LinearMap> {
        match self {
            Head::Principal { linear, .. } => linear.as_ref(),
            Head::Raw { .. } => None,
        }
    }
}

/// Before the network's inputs: nothing, or principal axes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry(pub(super) Option<Principal>);

impl Entry {
    pub(super) fn apply(&self, a: MatRef<'_, f64>) -> Mat<f64> {
        match &self.0 {
            Some(frame) => frame.forward(a),
            None => a.to_owned(),
        }
    }
}
