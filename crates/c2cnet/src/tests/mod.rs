//! Statements about several modules at once, by what the crate keeps to itself.

mod hybrid;
mod kernel_map;
mod section3;
#[path = "../../tests/toy/mod.rs"]
mod toy;
