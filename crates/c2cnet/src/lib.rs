//! Operator learning in prescribed bases.
#![warn(missing_docs)]

pub mod basis;
pub mod data;
pub mod domain;
mod error;
pub mod linalg;
pub mod model_file;

pub use error::{Error, Result};
