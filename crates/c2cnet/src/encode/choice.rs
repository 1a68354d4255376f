//! The encoder settings, and the choice of its parameter if none is given.

use super::{Regularisation, Spectrum};
use crate::cite::{self, Reference};
use crate::{Error, Result};
use documented::Documented;
use faer::MatRef;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// Settings of an encoder.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `method` | `ridge` | how coefficients are determined | `ridge`, `svd`, `prior` |
/// | `lambda` | chosen | ridge strength, normalised by the number of points | at least 0 |
/// | `cut` | chosen | smallest singular value kept, absolute | at least 0 |
/// | `relative_cut` | chosen | the same as a fraction of the largest | 0 to 1 |
///
/// A parameter that is not given is chosen by generalised cross-validation.
#[derive(Debug, Clone, Copy, PartialEq, Default, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EncoderSpec {
    /// Ridge, truncated SVD, or a learned prior.
    pub method: Method,
    /// Normalised ridge parameter.
    pub lambda: Option<f64>,
    /// Absolute cut-off.
    pub cut: Option<f64>,
    /// Relative cut-off.
    pub relative_cut: Option<f64>,
}

/// Which filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Smooth damping of small singular values.
    #[default]
    Ridge,
    /// Sharp removal of small singular values.
    Svd,
    /// The posterior mean under a prior whose parameters are learned from all samples; for samples
    /// with their own points.
    Prior,
}

impl EncoderSpec {
    /// What to cite for it.
    pub(crate) fn references(&self) -> Vec<Reference> {
        let method = match self.method {
            Method::Ridge => None,
            Method::Svd => Some(cite::TRUNCATED_SVD),
            Method::Prior => return vec![cite::LEARNED_PRIOR],
        };
        let chosen = self.lambda.or(self.cut).or(self.relative_cut).is_none();
        let choice = chosen.then_some(cite::CROSS_VALIDATION);
        method.into_iter().chain(choice).collect()
    }

    /// Truncated SVD at an absolute cut-off, as in the paper's tables.
    pub fn cut(cut: f64) -> Self {
        EncoderSpec {
            method: Method::Svd,
            cut: Some(cut),
            ..Default::default()
        }
    }

    /// Ridge with the normalised parameter.
    pub fn ridge(lambda: f64) -> Self {
        EncoderSpec {
            lambda: Some(lambda),
            ..Default::default()
        }
    }

    /// The regularisation, if the user gave its parameter.
    ///
    /// # Errors
    /// If a parameter is out of range or belongs to the other method.
    pub(crate) fn given(&self) -> Result<Option<Regularisation>> {
        let bad = |text: String| Err(Error::Config(format!("encoder: {text}")));
        for (name, value) in [
            ("lambda", self.lambda),
            ("cut", self.cut),
            ("relative_cut", self.relative_cut),
        ] {
            if let Some(v) = value
                && !(v.is_finite() && v >= 0.0)
            {
                return bad(format!("{name} = {v} must be a number of at least 0"));
            }
        }
        if let Some(v) = self.relative_cut
            && v > 1.0
        {
            return bad(format!("relative_cut = {v} must lie between 0 and 1"));
        }
        match (self.method, self.lambda, self.cut, self.relative_cut) {
            (Method::Ridge, lambda, None, None) => {
                Ok(lambda.map(|lambda| Regularisation::Ridge { lambda }))
            }
            (Method::Ridge, ..) => bad(
                "`cut` and `relative_cut` belong to method = \"svd\"; ridge takes `lambda`".into(),
            ),
            (Method::Svd, Some(_), ..) => bad(
                "`lambda` belongs to method = \"ridge\"; svd takes `cut` or `relative_cut`".into(),
            ),
            (Method::Svd, None, Some(_), Some(_)) => {
                bad("give `cut` or `relative_cut`, not both".into())
            }
            (Method::Svd, None, Some(cut), None) => Ok(Some(Regularisation::CutAbsolute { cut })),
            (Method::Svd, None, None, Some(cut)) => Ok(Some(Regularisation::CutRelative { cut })),
            (Method::Svd, None, None, None) => Ok(None),
            (Method::Prior, None, None, None) => Ok(None),
            (Method::Prior, ..) => {
                bad("method = \"prior\" learns its parameters; remove `lambda` and the cuts".into())
            }
        }
    }

    /// The parameters that [`choose`] tries, strongest first, for `n` points.
    pub(crate) fn candidates(&self, sigma_max: f64, n: usize) -> Vec<Regularisation> {
        (1..=14)
            .map(|k| {
                let cut = 10f64.powi(-k);
                match self.method {
                    Method::Ridge => Regularisation::Ridge {
                        lambda: (cut * sigma_max).powi(2) / n as f64,
                    },
                    Method::Svd | Method::Prior => Regularisation::CutRelative { cut },
                }
            })
            .collect()
    }
}

/// Generalised cross-validation, $\frac{\|f-Hf\|^2/n}{(1-\operatorname{tr}H/n)^2}$ up to the factor $n$, summed over
/// samples; `c` $= U^\top f$, one column per sample, and `residuals` are the squared distances from the space.
fn criterion(
    spectrum: &Spectrum,
    c: MatRef<'_, f64>,
    residuals: &[f64],
    candidate: Regularisation,
) -> f64 {
    let n = spectrum.nrows();
    let sigma = spectrum.singular_values();
    let filter = candidate.filter(sigma, n);
    let reconstruction: Vec<f64> = filter.iter().zip(sigma).map(|(g, s)| g * s).collect();
    let trace: f64 = reconstruction.iter().sum();
    let freedom = 1.0 - trace / n as f64;
    // An encoder that interpolates leaves no degree of freedom to judge it by.
    if freedom < 1e-3 {
        return f64::INFINITY;
    }
    let shrunk = |k: usize| -> f64 {
        let kept = c.col(k).iter().zip(&reconstruction);
        kept.map(|(a, h)| ((1.0 - h) * a).powi(2)).sum()
    };
    let total: f64 = (0..c.ncols()).map(|k| shrunk(k) + residuals[k]).sum();
    total / (freedom * freedom)
}

/// Chooses the parameter of `spec` that minimises its criterion, summed over groups of samples
/// with a spectrum each (one group for shared points; one per sample otherwise).
///
/// Among candidates within 1% of the best the strongest wins: noise-free data would otherwise
/// drive the parameter to rounding level, where the amplification is largest.
///
/// # Errors
/// If no candidate leaves a degree of freedom: the basis has as many functions as there are points.
pub fn choose<S: Borrow<Spectrum>>(
    spec: &EncoderSpec,
    groups: &[(S, MatRef<'_, f64>)],
) -> Result<Regularisation> {
    let groups: Vec<(&Spectrum, MatRef<'_, f64>)> =
        groups.iter().map(|(s, f)| (s.borrow(), *f)).collect();
    let sigma_max = groups
        .iter()
        .filter_map(|(s, _)| s.singular_values().first().copied())
        .fold(0.0, f64::max);
    let n = groups.iter().map(|(s, _)| s.nrows()).max().unwrap_or(1);
    let candidates = spec.candidates(sigma_max, n);
    let mut totals = vec![0.0; candidates.len()];
    for (spectrum, f) in groups {
        let c = spectrum.project(f);
        let residuals = spectrum.residuals_squared(f, c.as_ref(), None);
        for (total, candidate) in totals.iter_mut().zip(&candidates) {
            *total += criterion(spectrum, c.as_ref(), &residuals, *candidate);
        }
    }
    let best = totals.iter().copied().fold(f64::INFINITY, f64::min);
    if !best.is_finite() {
        return Err(Error::Config(format!(
            "the encoder's parameter cannot be chosen: {n} points leave no degree of freedom to judge it by; \
             use fewer functions, or give `lambda` or `cut`"
        )));
    }
    let chosen = totals
        .iter()
        .position(|&t| t <= 1.01 * best)
        .expect("the best itself is within 1%");
    Ok(candidates[chosen])
}
