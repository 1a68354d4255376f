//! Coefficients from observations, by regularised least squares (the paper's Sections 2 and 3.2), or, for
//! scattered readings, with a prior that is learned from all samples.
//!
//! **Which lambda.** Wherever this crate says `lambda` it means the normalised one of Section 2,
//! $$a_\lambda = \arg\min_c \tfrac1{n_1}\|\Phi c - f\|^2 + \lambda\|c\|^2
//!             = (\Phi^\top\Phi + n_1\lambda I)^{-1}\Phi^\top f.$$
//! Section 3 and the Stokes appendix write $\lambda$ for what is $n_1\lambda$ here, so their bound
//! $\|E\|_2 \le 1/(2\sqrt\lambda)$ reads $1/(2\sqrt{n_1\lambda})$.

mod choice;
mod clusters;
#[cfg(test)]
mod conformance;
mod diagnostics;
pub(crate) mod encoder;
mod frame;
pub(crate) mod input_space;
mod large;
mod orthogonal;
mod orthonormal;
mod other_points;
mod prior;
mod range;
mod regularise;
pub(crate) mod scattered;
pub(crate) mod spectrum;
mod stacked;
mod training_range;
mod vector;

pub(crate) use choice::choose;
pub use choice::{EncoderSpec, Method};
pub(crate) use diagnostics::{BiasSplit, EncodingDiagnostics};
pub(crate) use encoder::Encoder;
pub(crate) use input_space::FieldEncoder;
pub use input_space::Transform;
pub(crate) use large::Whole;
pub(crate) use range::Range;
pub(crate) use scattered::{SampleEncoder, encode_sample};
pub(crate) use spectrum::Spectrum;
pub(crate) use stacked::{Stacked, stack_components};
pub use vector::Kind;
pub(crate) use vector::{Standard, VectorEncoder, VectorSpec, check_width, logarithm};

use serde::{Deserialize, Serialize};

/// A regularisation with its parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regularisation {
    /// $g(\sigma) = \sigma/(\sigma^2 + n_1\lambda)$, with the normalised lambda of Section 2.
    Ridge {
        /// The normalised parameter.
        lambda: f64,
    },
    /// $g(\sigma) = 1/\sigma$ where $\sigma \ge$ `cut`, else 0.
    CutAbsolute {
        /// The smallest singular value kept.
        cut: f64,
    },
    /// $g(\sigma) = 1/\sigma$ where $\sigma \ge$ `cut` $\sigma_1$, else 0.
    CutRelative {
        /// The smallest singular value kept, as a fraction of the largest.
        cut: f64,
    },
}

impl Regularisation {
    /// The coefficient filter $g(\sigma_i)$ for `n` points.
    pub(crate) fn filter(&self, sigma: &[f64], n: usize) -> Vec<f64> {
        let above = |cut: f64| {
            sigma
                .iter()
                .map(|&s| if s >= cut && s > 0.0 { 1.0 / s } else { 0.0 })
                .collect()
        };
        match *self {
            Regularisation::Ridge { lambda } => sigma
                .iter()
                .map(|&s| s / (s * s + n as f64 * lambda))
                .collect(),
            Regularisation::CutAbsolute { cut } => above(cut),
            Regularisation::CutRelative { cut } => {
                above(cut * sigma.first().copied().unwrap_or(0.0))
            }
        }
    }

    /// Whether coefficients are well defined with fewer observations than functions.
    pub(crate) fn allows_fewer_points_than_functions(&self) -> bool {
        match *self {
            Regularisation::Ridge { lambda } => lambda > 0.0,
            Regularisation::CutAbsolute { cut } | Regularisation::CutRelative { cut } => cut > 0.0,
        }
    }
}

impl std::fmt::Display for Regularisation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Regularisation::Ridge { lambda: 0.0 } => write!(f, "least squares, lambda 0"),
            Regularisation::Ridge { lambda } => write!(f, "ridge, lambda {lambda:.2e}"),
            Regularisation::CutAbsolute { cut } => write!(f, "SVD cut at {cut:.2e}"),
            Regularisation::CutRelative { cut } => write!(f, "SVD cut at {cut:.2e} of the largest"),
        }
    }
}

#[cfg(test)]
mod tests;
