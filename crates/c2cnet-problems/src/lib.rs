//! The data sets of the paper, generated.
//!
//! A problem is a struct of settings that knows how to make pairs of input and output functions.
//! Sample `k` depends on the settings, the seed and `k` alone (see [`sample_stream`]): it is the
//! same whatever the number of threads, and however many samples are asked for.
//!
//! To add a problem: one file with one struct that implements [`Problem`], and one line in
//! [`problems`].
#![warn(missing_docs)]

pub mod darcy1d;
pub mod fem;
mod problem;
mod progress;
mod random_field;
pub mod stokes;
mod stream;

pub use darcy1d::Darcy1d;
pub use problem::{AnyProblem, Problem, generate, problems};
pub use progress::{Unwatched, Watcher, make_samples};
pub use random_field::{KernelForm, RandomField, SquaredExponential};
pub use stokes::StokesInverse;
pub use stream::sample_stream;
