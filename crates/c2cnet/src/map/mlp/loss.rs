//! Losses and their gradients with respect to the network's outputs.
//!
//! All are means over samples. With $e = \hat c - c$ and $q = \|e\|^2 + \|u - UU^\top u\|^2$, the squared
//! error at all points:
//! * relative: $\sqrt q/(\|u\| + \epsilon)$;
//! * mean square: $q/n$;
//! * band: $\sum_iW_i(\hat u_i-u_i)^2/\sum_iW_i$, $W_i = w_{\rm in}$ where $|u_i| \le \delta$, else
//!   $w_{\rm out}$. As $\sum_iW_i(\hat u_i-u_i)^2 = w_{\rm out}q + (w_{\rm in} - w_{\rm out})\sum_{|u_i|\le\delta}(\hat u_i-u_i)^2$,
//!   only the few points of the band need to be visited.

use super::objective::{Factor, Objective};
use super::scalar::Scalar;
use super::vector::{add_multiple, dot, scale, subtract};
use crate::linalg::matmul;
use crate::{Error, Result};
use documented::Documented;
use faer::{Accum, Mat, MatRef, Par};
use serde::{Deserialize, Serialize};

/// What training minimises.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kind` | `relative` | the loss | `relative`, `mean-square`, `band`, `weighted` |
/// | `epsilon` | 1e-12 | added to the norm (`relative`, `weighted`) | at least 0 |
/// | `delta` | 0.05 | values up to it are in the band (`band`, `weighted`) | at least 0 |
/// | `inside`, `outside` | 20, 1 | weights in the band and elsewhere | positive |
/// | `alpha` | 0.8 | weight of the band loss, the rest is relative (`weighted`) | 0 to 1 |
#[derive(Debug, Clone, Copy, PartialEq, Documented, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// The mean relative error.
    Relative {
        /// Added to the norm.
        #[serde(default = "epsilon")]
        epsilon: f64,
    },
    /// The mean squared error of a value.
    MeanSquare,
    /// Squared errors weighted by whether the true value is small.
    Band {
        /// The bound below which a value is small.
        #[serde(default = "delta")]
        delta: f64,
        /// The weight below the bound.
        #[serde(default = "inside")]
        inside: f64,
        /// The weight elsewhere.
        #[serde(default = "outside")]
        outside: f64,
    },
    /// $\alpha$ times the band loss and $1 - \alpha$ times the relative one.
    Weighted {
        /// $\alpha$.
        #[serde(default = "alpha")]
        alpha: f64,
        /// As in `Band`.
        #[serde(default = "delta")]
        delta: f64,
        /// As in `Band`.
        #[serde(default = "inside")]
        inside: f64,
        /// As in `Band`.
        #[serde(default = "outside")]
        outside: f64,
        /// As in `Relative`.
        #[serde(default = "epsilon")]
        epsilon: f64,
    },
}

fn epsilon() -> f64 {
    1e-12
}
fn delta() -> f64 {
    0.05
}
fn inside() -> f64 {
    20.0
}
fn outside() -> f64 {
    1.0
}
fn alpha() -> f64 {
    0.8
}

impl Default for Loss {
    fn default() -> Self {
        Loss::Relative { epsilon: epsilon() }
    }
}

/// The common form: $\rho\cdot$relative $+\ \mu\cdot$mean square $+\ \beta\cdot$band.
pub(super) struct Parts {
    pub(super) relative: f64,
    pub(super) mean_square: f64,
    pub(super) band: f64,
    pub(super) epsilon: f64,
    delta: f64,
    pub(super) inside: f64,
    pub(super) outside: f64,
}

impl Loss {
    /// Checks the ranges of the table.
    ///
    /// # Errors
    /// Names the setting.
    pub(crate) fn check(&self) -> Result<()> {
        let p = self.parts();
        let fine = p.epsilon >= 0.0
            && p.delta >= 0.0
            && p.inside > 0.0
            && p.outside > 0.0
            && (0.0..=1.0).contains(&p.band)
            && [p.epsilon, p.delta, p.inside, p.outside]
                .iter()
                .all(|v| v.is_finite());
        match fine {
            true => Ok(()),
            false => Err(Error::Config(format!(
                "mlp: the loss {self:?} must have epsilon and delta at least 0, positive weights and alpha from 0 to 1"
            ))),
        }
    }

    fn parts(&self) -> Parts {
        let none = Parts {
            relative: 0.0,
            mean_square: 0.0,
            band: 0.0,
            epsilon: 0.0,
            delta: 0.0,
            inside: 1.0,
            outside: 1.0,
        };
        match *self {
            Loss::Relative { epsilon } => Parts {
                relative: 1.0,
                epsilon,
                ..none
            },
            Loss::MeanSquare => Parts {
                mean_square: 1.0,
                ..none
            },
            Loss::Band {
                delta,
                inside,
                outside,
            } => Parts {
                band: 1.0,
                delta,
                inside,
                outside,
                ..none
            },
            Loss::Weighted {
                alpha,
                delta,
                inside,
                outside,
                epsilon,
            } => Parts {
                relative: 1.0 - alpha,
                band: alpha,
                epsilon,
                delta,
                inside,
                outside,
                ..none
            },
        }
    }
}

/// A loss prepared for the samples of an objective.
pub(in crate::map) struct PreparedLoss<'a, T> {
    pub(super) parts: Parts,
    objective: &'a Objective<T>,
    /// The outputs are coordinates: there is no factor, or it is folded into the last layer.
    pub(super) direct: bool,
    pub(super) band: Option<Band<T>>,
}

/// The points of all samples' bands: those of sample $k$ are `points[starts[k]..starts[k + 1]]`.
pub(super) struct Band<T> {
    pub(super) starts: Vec<usize>,
    pub(super) points: Vec<u32>,
    /// $u_i - U_ic$ at them.
    pub(super) outside: Vec<T>,
    pub(super) longest: usize,
}

/// Memory for the loss of a block of samples.
#[derive(Debug)]
pub(in crate::map) struct LossScratch<T> {
    /// $Rb$ and the gradient with respect to it, where $R$ is not folded in.
    coordinates: Mat<T>,
    /// Errors at the points of a band.
    residuals: Vec<T>,
}

impl<'a, T: Scalar> PreparedLoss<'a, T> {
    /// # Errors
    /// If the loss weights points and the objective has none.
    pub(in crate::map) fn new(
        loss: &Loss,
        objective: &'a Objective<T>,
        folded: bool,
    ) -> Result<Self> {
        let parts = loss.parts();
        let band = match (&objective.field, parts.band > 0.0) {
            (_, false) => None,
            (None, true) => {
                return Err(Error::Config(
                    "mlp: the band loss weights output points; it needs samples that share their points"
                        .into(),
                ));
            }
            (Some(field), true) => {
                let mut band = Band {
                    starts: vec![0],
                    points: Vec::new(),
                    outside: Vec::new(),
                    longest: 0,
                };
                for k in 0..objective.samples() {
                    let values = field.values.col_as_slice(k).iter();
                    for (i, _) in values.enumerate().filter(|(_, v)| v.abs() <= parts.delta) {
                        band.points.push(i as u32);
                        band.outside.push(T::from_f64(field.outside[(i, k)]));
                    }
                    band.longest = band.longest.max(band.points.len() - band.starts[k]);
                    band.starts.push(band.points.len());
                }
                Some(band)
            }
        };
        Ok(PreparedLoss {
            parts,
            objective,
            direct: folded || matches!(objective.factor, Factor::None),
            band,
        })
    }

    pub(in crate::map) fn scratch(&self, columns: usize) -> LossScratch<T> {
        let rows = self.objective.targets.nrows();
        LossScratch {
            coordinates: Mat::zeros(rows, if self.direct { 0 } else { columns }),
            residuals: vec![T::default(); self.band.as_ref().map_or(0, |b| b.longest)],
        }
    }

    /// The sum of the losses of `samples`, whose outputs are the leading columns of `outputs`;
    /// gradients times `weight` replace them. Relative errors are added to `relative`.
    pub(in crate::map) fn gradient(
        &self,
        outputs: &mut Mat<T>,
        samples: impl ExactSizeIterator<Item = usize> + Clone,
        weight: f64,
        scratch: &mut LossScratch<T>,
        par: Par,
    ) -> LossSum {
        let columns = samples.len();
        let one = T::from_f64(1.0);
        let mut sum = LossSum::default();
        if self.direct {
            for (j, k) in samples.enumerate() {
                let rows = self.objective.targets.nrows();
                let column = &mut outputs.col_as_slice_mut(j)[..rows];
                sum += self.column(k, column, weight, &mut scratch.residuals);
            }
            return sum;
        }
        match &self.objective.factor {
            Factor::None => unreachable!("outputs without a factor are direct"),
            Factor::Shared(r) => {
                let c = scratch.coordinates.as_mut().subcols_mut(0, columns);
                let b = outputs.as_ref().subcols(0, columns);
                matmul(c, Accum::Replace, r.as_ref(), b, one, par);
                for (j, k) in samples.enumerate() {
                    let column = scratch.coordinates.col_as_slice_mut(j);
                    sum += self.column(k, column, weight, &mut scratch.residuals);
                }
                let c = scratch.coordinates.as_ref().subcols(0, columns);
                let b = outputs.as_mut().subcols_mut(0, columns);
                matmul(b, Accum::Replace, r.transpose(), c, one, par);
            }
            Factor::PerSample(factors) => {
                for (j, k) in samples.enumerate() {
                    let r = &factors[k];
                    let column = &mut scratch.coordinates.col_as_slice_mut(j)[..r.nrows()];
                    let n = column.len();
                    let c = faer::MatMut::from_column_major_slice_mut(column, n, 1);
                    let b = outputs.as_ref().subcols(j, 1);
                    matmul(c, Accum::Replace, r.as_ref(), b, one, Par::Seq);
                    let column = &mut scratch.coordinates.col_as_slice_mut(j)[..n];
                    sum += self.column(k, column, weight, &mut scratch.residuals);
                    let c = MatRef::from_column_major_slice(column, n, 1);
                    let b = outputs.as_mut().subcols_mut(j, 1);
                    matmul(b, Accum::Replace, r.transpose(), c, one, Par::Seq);
                }
            }
        }
        sum
    }

    /// The loss of sample `k`; its gradient times `weight` replaces the coordinates in `column`.
    fn column(&self, k: usize, column: &mut [T], weight: f64, residuals: &mut [T]) -> LossSum {
        let (p, o) = (&self.parts, self.objective);
        let s = o.scale;
        let target = &o.targets.col_as_slice(k)[..column.len()];
        let off = subtract(column, target);
        let squared = s * s * off.to_f64() + o.outside_squared[k];
        let root = squared.sqrt();
        let norm = o.norms[k];
        let by_norm = 1.0 / (norm + p.epsilon);
        let count = o.counts[k] as f64;
        let mut loss = p.relative * root * by_norm + p.mean_square * squared / count;
        // Half the derivative of the loss by q.
        let mut slope = p.mean_square / count;
        if p.relative > 0.0 && root > 0.0 {
            slope += 0.5 * p.relative * by_norm / root;
        }
        if let Some(band) = &self.band {
            let range = band.starts[k]..band.starts[k + 1];
            let points = &band.points[range.clone()];
            let modes = &o.field.as_ref().expect("a band has points").modes;
            let inside = points.len() as f64;
            let total = p.inside * inside + p.outside * (count - inside);
            let extra = p.band * (p.inside - p.outside) / total;
            let mut in_band = 0.0;
            for ((r, &i), outside) in residuals.iter_mut().zip(points).zip(&band.outside[range]) {
                let u = modes.col_as_slice(i as usize);
                *r = T::from_f64(s) * dot(u, column) - *outside;
                in_band += r.to_f64() * r.to_f64();
            }
            loss += p.band * p.outside * squared / total + extra * in_band;
            slope += p.band * p.outside / total;
            scale(column, T::from_f64(2.0 * s * s * weight * slope));
            let factor = T::from_f64(2.0 * s * weight * extra);
            for (r, &i) in residuals.iter().zip(points) {
                let u = modes.col_as_slice(i as usize);
                add_multiple(column, u, factor * *r);
            }
        } else {
            scale(column, T::from_f64(2.0 * s * s * weight * slope));
        }
        LossSum {
            loss,
            relative: if norm > 0.0 { root / norm } else { root },
        }
    }
}

/// Sums over samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::map) struct LossSum {
    pub(in crate::map) loss: f64,
    /// Of relative errors, without $\epsilon$.
    pub(in crate::map) relative: f64,
}

impl std::ops::AddAssign for LossSum {
    fn add_assign(&mut self, other: Self) {
        self.loss += other.loss;
        self.relative += other.relative;
    }
}
