//! The extension module behind the Python package `c2cnet`.
//!
//! Thin on purpose: arrays become [`c2cnet::data::Field`]s, settings come as JSON, reports leave as
//! JSON, and the library does the rest without the interpreter's lock. Everything a person sees is
//! in `python/c2cnet`.
#![warn(missing_docs)]

mod arrays;
mod dataset;
mod errors;
mod fitting;
mod model;
mod pool;
mod sums;
mod watch;

/// The compiled part of the Python package c2cnet.
#[pyo3::pymodule]
mod _c2cnet {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::dataset::{generate, problems, read_files, read_npz, write_npz};
    #[pymodule_export]
    use super::errors::C2CError;
    #[pymodule_export]
    use super::fitting::{diagnose, fit, fit_plan, plan};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::pool::{_panic, set_threads, threads};
    #[pymodule_export]
    use super::sums::{Sums, Template, begin};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::pool::remember_process();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
