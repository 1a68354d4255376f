//! The terminal: output, progress, and Ctrl-C.

pub mod interrupt;
mod output;
mod progress;

pub use c2cnet::internal::counted;
pub use output::{Table, bounds, error, number, print_json, print_line, shown};
pub use progress::{Progress, Style, choose};
