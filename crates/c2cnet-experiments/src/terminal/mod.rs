//! The terminal: output, progress, and Ctrl-C.

pub mod interrupt;
mod output;
mod progress;

pub use output::{Table, bounds, counted, error, number, print_json, print_line, shown};
pub use progress::{Progress, Style, choose};
