//! The data sets of the paper and some more, generated.
//!
//! A problem is a struct of settings that knows how to make pairs of input and output functions.
//! Sample `k` depends on the settings, the seed and `k` only (see [`sample_stream`]): it is the
//! same for any number of threads and any number of samples.
//!
//! To add a problem: one file with one struct that implements [`Problem`], one line in [`problems`], and
//! a test that calls [`conformance::check`].
#![warn(missing_docs)]

pub mod advected_square;
mod blocks;
pub mod conformance;
pub mod darcy1d;
pub mod darcy2d;
pub mod darcy_lshape;
pub mod elastic_plate;
mod exponential_rk;
pub mod fem;
mod five_point;
pub mod helmholtz;
pub mod kdv_burgers;
pub mod navier_stokes;
pub mod nonlinear_diffusion;
mod pairs;
pub mod poisson10d;
pub mod poisson_holes;
mod problem;
mod progress;
mod quasi_random;
mod random_field;
mod setting;
mod sparse_cholesky;
mod spectral_field;
pub mod stokes;
mod stream;
#[cfg(test)]
mod testing;

pub use advected_square::AdvectedSquare;
pub use blocks::fill_blocks;
pub use darcy_lshape::DarcyLshape;
pub use darcy1d::Darcy1d;
pub use darcy2d::Darcy2d;
pub use elastic_plate::ElasticPlate;
pub use five_point::FivePoint;
pub use helmholtz::Helmholtz;
pub use kdv_burgers::KdvBurgers;
pub use navier_stokes::NavierStokes;
pub use nonlinear_diffusion::NonlinearDiffusion;
pub use poisson_holes::PoissonHoles;
pub use poisson10d::Poisson10d;
pub use problem::{AnyProblem, Problem, generate, problems};
pub use progress::{Unwatched, Watcher};
pub use quasi_random::{HALTON_DIMENSIONS, halton};
pub use random_field::{KernelForm, RandomField, SquaredExponential};
pub use spectral_field::{Modes, SpectralField};
pub use stokes::StokesInverse;
pub use stream::sample_stream;
