//! The terminal: output, progress, and Ctrl-C.

pub mod interrupt;
mod output;
mod progress;

pub use output::{Table, bounds, counted, error, number, say, say_json, shown};
pub use progress::{Progress, Style, choose};
