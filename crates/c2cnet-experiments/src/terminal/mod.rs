//! Whoever waits at a terminal: what is printed, what moves meanwhile, and Ctrl-C.

pub mod interrupt;
mod output;
mod progress;

pub use output::{Table, bounds, counted, error, number, say, say_json, shown};
pub use progress::Progress;
