//! What an encoder keeps, what it loses, and how much it amplifies noise.

use super::{Regularisation, Spectrum};
use faer::MatRef;
use serde::Serialize;

/// The spectrum of a design matrix under a regularisation.
#[derive(Debug, Clone, Serialize)]
pub struct EncodingDiagnostics {
    /// Singular values, descending.
    pub singular_values: Vec<f64>,
    /// How many directions are kept (for ridge: damped by less than one half).
    pub rank_kept: usize,
    /// $\|E\|_2 = \max_i g(\sigma_i)$.
    pub amplification: f64,
    /// The reconstruction error of each sample, split.
    pub bias: Vec<BiasSplit>,
}

/// The two parts of the encoding error of one sample (the paper's `prop:encoding-bias-ridge`):
/// $$\|f - \tilde f\|^2 = \sum_i (1 - \sigma_i g(\sigma_i))^2\alpha_i^2 + \|f_\perp\|^2.$$
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BiasSplit {
    /// The first term: lost to regularisation inside the span.
    pub shrinkage_squared: f64,
    /// The second term: outside the span, whatever the regularisation.
    pub unrepresentable_squared: f64,
    /// $\|f\|^2$, for scale.
    pub norm_squared: f64,
}

impl EncodingDiagnostics {
    /// Diagnoses the encoding of `values` (one column per sample).
    pub fn new(
        spectrum: &Spectrum,
        regularisation: Regularisation,
        values: MatRef<'_, f64>,
    ) -> Self {
        let sigma = spectrum.singular_values();
        let filter = regularisation.filter(sigma, spectrum.nrows());
        let coordinates = spectrum.project(values);
        let outside = spectrum.residuals_squared(values, coordinates.as_ref(), None);
        let bias = (0..values.ncols())
            .map(|k| BiasSplit {
                shrinkage_squared: coordinates
                    .col(k)
                    .iter()
                    .zip(sigma.iter().zip(&filter))
                    .map(|(alpha, (s, g))| ((1.0 - s * g) * alpha).powi(2))
                    .sum(),
                unrepresentable_squared: outside[k],
                norm_squared: values.col(k).iter().map(|v| v * v).sum(),
            })
            .collect();
        EncodingDiagnostics {
            rank_kept: sigma
                .iter()
                .zip(&filter)
                .filter(|(s, g)| *s * *g >= 0.5)
                .count(),
            amplification: filter.iter().copied().fold(0.0, f64::max),
            singular_values: sigma.to_vec(),
            bias,
        }
    }
}
