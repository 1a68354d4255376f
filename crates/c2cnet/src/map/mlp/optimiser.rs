//! Adam and AdamW as in PyTorch, in one pass over all parameters.

use super::scalar::Scalar;
use crate::{Error, Result};
use documented::Documented;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The update rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimiserKind {
    /// Weight decay is added to the gradient.
    #[default]
    Adam,
    /// Weight decay is separate from the gradient.
    AdamW,
}

/// An update rule with its constants.
///
/// With the gradient $g$ at step $t$
/// $$m \leftarrow \beta_1m + (1-\beta_1)g,\quad v \leftarrow \beta_2v + (1-\beta_2)g^2,\quad
/// \theta \leftarrow \theta - \eta\,\frac{m/(1-\beta_1^t)}{\sqrt{v/(1-\beta_2^t)} + \epsilon}.$$
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kind` | `adam` | the rule | `adam`, `adamw` |
/// | `beta1`, `beta2` | 0.9, 0.999 | memory of gradients and of their squares | 0 to 1, 1 excluded |
/// | `epsilon` | 1e-8 | added to the root | positive |
/// | `weight_decay` | 0 | decay of weights | at least 0 |
#[derive(Debug, Clone, Copy, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Optimiser {
    /// The rule.
    pub kind: OptimiserKind,
    /// $\beta_1$.
    pub beta1: f64,
    /// $\beta_2$.
    pub beta2: f64,
    /// $\epsilon$.
    pub epsilon: f64,
    /// Weight decay.
    pub weight_decay: f64,
}

impl Default for Optimiser {
    fn default() -> Self {
        Optimiser {
            kind: OptimiserKind::Adam,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
        }
    }
}

/// Loops over parameters are split into parts of this many.
const CHUNK: usize = 1 << 14;

/// What a step needs besides the parameters; all of the same length.
pub(super) struct Moments<'a, T> {
    pub(super) first: &'a mut [T],
    pub(super) second: &'a mut [T],
}

impl Optimiser {
    /// Checks the ranges of the table.
    ///
    /// # Errors
    /// Names the settings.
    pub(crate) fn check(&self) -> Result<()> {
        let fine = (0.0..1.0).contains(&self.beta1)
            && (0.0..1.0).contains(&self.beta2)
            && self.epsilon > 0.0
            && self.weight_decay >= 0.0
            && self.epsilon.is_finite()
            && self.weight_decay.is_finite();
        match fine {
            true => Ok(()),
            false => Err(Error::Config(format!(
                "mlp: the optimiser {self:?} must have betas from 0 to less than 1, a positive epsilon and no negative decay"
            ))),
        }
    }

    /// What step `t` (from 1) at rate `rate`, with the gradient times `factor`, multiplies with.
    pub(super) fn coefficients<T: Scalar>(
        &self,
        factor: f64,
        rate: f64,
        t: usize,
    ) -> Coefficients<T> {
        let t = t.min(i32::MAX as usize) as i32;
        let l2 = self.kind == OptimiserKind::Adam;
        Coefficients {
            factor: T::from_f64(factor),
            l2: T::from_f64(if l2 { self.weight_decay } else { 0.0 }),
            shrink: T::from_f64(if l2 {
                1.0
            } else {
                1.0 - rate * self.weight_decay
            }),
            keep1: T::from_f64(1.0 - self.beta1),
            beta2: T::from_f64(self.beta2),
            keep2: T::from_f64(1.0 - self.beta2),
            epsilon: T::from_f64(self.epsilon),
            root: T::from_f64(1.0 / (1.0 - self.beta2.powi(t)).sqrt()),
            size: T::from_f64(rate / (1.0 - self.beta1.powi(t))),
        }
    }

    /// One step.
    pub(super) fn update<T: Scalar>(
        &self,
        parameters: &mut [T],
        moments: Moments<'_, T>,
        gradient: &[T],
        coefficients: &Coefficients<T>,
    ) {
        let Moments { first, second } = moments;
        parameters
            .par_chunks_mut(CHUNK)
            .zip(first.par_chunks_mut(CHUNK))
            .zip(second.par_chunks_mut(CHUNK))
            .zip(gradient.par_chunks(CHUNK))
            .for_each(|(((p, m), v), g)| {
                pulp::Arch::new().dispatch(Pass(p, m, v, g, coefficients));
            });
    }
}

pub(super) struct Coefficients<T> {
    factor: T,
    pub(super) l2: T,
    pub(super) shrink: T,
    pub(super) keep1: T,
    pub(super) beta2: T,
    pub(super) keep2: T,
    pub(super) epsilon: T,
    pub(super) root: T,
    pub(super) size: T,
}

struct Pass<'a, T>(
    &'a mut [T],
    &'a mut [T],
    &'a mut [T],
    &'a [T],
    &'a Coefficients<T>,
);

impl<T: Scalar> pulp::NullaryFnOnce for Pass<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Pass(parameters, first, second, gradient, c) = self;
        let moments = first.iter_mut().zip(second.iter_mut());
        for ((p, (m, v)), g) in parameters.iter_mut().zip(moments).zip(gradient) {
            let g = *g * c.factor + c.l2 * *p;
            *m += c.keep1 * (g - *m);
            *v = c.beta2 * *v + c.keep2 * (g * g);
            *p = *p * c.shrink - c.size * (*m / (v.root() * c.root + c.epsilon));
        }
    }
}
