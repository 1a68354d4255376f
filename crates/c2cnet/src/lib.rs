//! Operator learning in prescribed bases.
#![warn(missing_docs)]

pub mod basis;
pub mod data;
pub mod decode;
pub mod domain;
pub mod encode;
mod error;
pub mod linalg;
pub mod map;
pub mod metrics;
pub mod model_file;
pub mod operator;

pub use error::{Error, Result};
