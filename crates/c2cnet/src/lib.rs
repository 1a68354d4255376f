//! Operator learning in prescribed bases.
//!
//! A PDE maps an input function $f$ (a coefficient, a source, an initial condition, sensor
//! readings) to a solution $u$. From samples of both, this crate learns that map and predicts $u$
//! at any point:
//!
//! ```text
//! samples ──> encode ──> coefficient map ──> decode ──> fields, errors
//!  (f at x)   (a in R^m1)    (a -> c)       (u at any y)
//! ```
//!
//! * [`data`]: samples: values at shared points or at each sample's own, with several components.
//! * [`domain`]: intervals, polygons with holes, triangle meshes.
//! * [`basis`]: functions fixed before training: random features, finite elements, radial,
//!   Fourier, polynomials; PCA and point values for comparison.
//! * [`encode`]: coefficients by regularised least squares, and their stability.
//! * [`map`]: from input coefficients to output coordinates: linear, kernel, neural, layered.
//! * [`operator`]: encoder, map and decoder as one model, [`C2CNet`].
//! * [`fit()`]: from data and settings to a model.
//! * [`accumulate`]: a model from sums over chunks of samples, anywhere and in any order.
//! * [`diagnose`]: what bases can and cannot do for a data set.
//! * [`compute`]: where heavy arithmetic runs: on the CPU or a GPU.
//!
//! # Example
//!
//! The antiderivative, learned from 60 functions and evaluated between the sampled points:
//!
//! ```
//! use c2cnet::data::{Dataset, Field, Points};
//! use c2cnet::faer::Mat;
//! use c2cnet::{FitConfig, Silent, fit};
//!
//! let x = Points::linspace(0.0, 1.0, 50);
//! let phase = |k: usize| 0.7 * k as f64;
//! let at = |i: usize| x.point(i)[0];
//! let f = Mat::from_fn(50, 60, |i, k| (3.0 * at(i) + phase(k)).sin());
//! let u = Mat::from_fn(50, 60, |i, k| (phase(k).cos() - (3.0 * at(i) + phase(k)).cos()) / 3.0);
//! let data = Dataset::new(Field::shared(x.clone(), vec![f])?, Field::shared(x, vec![u])?)?;
//!
//! let (model, report) = fit(&data, &FitConfig::default(), &Silent)?;
//! assert!(report.validation.rl2e < 1e-4);
//!
//! let between = Points::linspace(0.0, 1.0, 333);
//! let predicted = &model.predict(&data.inputs, &between)?[0];
//! let truth = |i: usize, k: usize| {
//!     let x = between.point(i)[0];
//!     (phase(k).cos() - (3.0 * x + phase(k)).cos()) / 3.0
//! };
//! assert!((predicted[(200, 7)] - truth(200, 7)).abs() < 1e-4);
//! # Ok::<(), c2cnet::Error>(())
//! ```
//!
//! # Notation
//!
//! The method is FB-C2CNet (fixed-basis coefficient-to-coefficient network) of the paper
//! "Prescribed-Basis Coefficient-to-Coefficient Neural Operator for Partial Differential Equations" by
//! Chuqi Chen, Yang Xiang and Weihong Zhang ([`cite`]). Its letters and the names here:
//!
//! | Paper | Meaning | Here |
//! |---|---|---|
//! | $M$, $N_{\rm train}$ | training samples | [`data::Dataset::train_indices`] |
//! | $x_i$, $n_1$ | input points | points of a [`data::Field`] in `inputs` |
//! | $y_i$, $n_2$ | output points | points of a [`data::Field`] in `outputs` |
//! | $V_{\rm in}$, $V_{\rm out}$, $\varphi_j$, $\psi_j$ | prescribed spaces and functions | [`basis::Basis`] |
//! | $m_1$, $m_2$ | how many functions | `len()` of those |
//! | $\Phi$, $\Psi$ | evaluation matrices | [`basis::Design`] |
//! | $\sigma_i$, $U$, $V$ | singular values and vectors of $\Phi$ | singular value decomposition behind [`encode`] |
//! | $\lambda$ | ridge parameter, normalised by $n_1$ (Section 2) | `lambda` of [`encode::EncoderSpec`] |
//! | $\sigma_{\rm cut}$ | spectral cut-off | `cut` of [`encode::EncoderSpec`] |
//! | $E_\lambda$, $\lVert E\rVert_2$ | encoder and its amplification | [`C2CNet::encode`] |
//! | $a$, $b$ | input and output coefficients | columns of matrices |
//! | $N_\theta$ | coefficient map | [`C2CNet::map`] |
//! | $\varepsilon_{\rm out}(u)$ | output projection error, the floor | `floor` of [`operator::EvaluationReport`] |
//! | $\omega_n$, $M_p$, $R_m$ | windows, partitions, scale | [`basis::RandomFeaturesSpec`] |
//!
//! Matrices hold one column per sample. Everything is computed in `f64`, except the training of
//! networks, which is in `f32` unless asked otherwise. The same seed gives the
//! same bits on any number of threads of one machine.
#![warn(missing_docs)]

pub mod accumulate;
pub mod basis;
mod choose;
pub mod cite;
pub mod compute;
pub mod data;
mod decode;
pub mod diagnose;
pub mod domain;
pub mod encode;
mod error;
mod fit;
#[doc(hidden)] // for the other crates of the workspace
pub mod linalg;
pub mod map;
#[doc(hidden)] // for the other crates of the workspace
pub mod memory;
mod metrics;
pub mod observe;
pub mod operator;
pub mod plan;
pub mod report;
pub mod settings;
pub mod storage;
#[doc(hidden)] // for the other crates of the workspace
pub mod suggest;
mod train;

pub use compute::Device;
pub use error::{Error, Result};
pub use faer;
pub use observe::{Observer, Silent};
pub use operator::C2CNet;
pub use plan::Plan;
pub use report::FitReport;
pub use settings::FitConfig;
pub use train::{fit, fit_owned, fit_plan, plan};

/// For the other crates of the workspace and the benchmarks. Not part of the public interface: anything here may change.
#[doc(hidden)]
pub mod internal {
    pub use crate::basis::vector::FieldBasis;
    pub use crate::data::npz::contents::{
        array_names, array_shapes, component_names, count_values, value_keys,
    };
    pub use crate::data::npz::writer::{NpzWriter, write_npz};
    pub use crate::data::points_file::read_output_points;
    pub use crate::decode::targets::Targets;
    pub use crate::decode::withheld::draw_without_corners;
    pub use crate::diagnose::floor::IN_USE;
    pub use crate::domain::bisection::RefinableMesh;
    pub use crate::domain::locate::Locator;
    pub use crate::domain::polygon::{circle_ring, rectangle_ring};
    pub use crate::encode::encoder::Encoder;
    pub use crate::encode::input_space::FieldEncoder;
    pub use crate::encode::scattered::encode_sample;
    pub use crate::encode::spectrum::Spectrum;
    pub use crate::error::counted;
    pub use crate::map::mlp::{MlpMap, TrainingData};
    pub use crate::map::split::Split;
    pub use crate::metrics::{mean, mean_relative, relative};
    pub use crate::settings::groups::{Setting, SettingGroup, groups};
    pub use crate::storage::file::FORMAT_VERSION;
    pub use crate::storage::input::{open_plain, read_plain, read_text};
    pub use crate::storage::output::{Claim, remove_leftovers, write_atomically};
    pub use crate::storage::signature::{SIGNATURE, is_model};
}

/// So that tests in the crate can use what integration tests use.
#[cfg(test)]
extern crate self as c2cnet;
#[cfg(test)]
mod tests;

/// The snippets of the README are compiled with the other examples of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
