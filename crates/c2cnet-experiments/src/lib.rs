//! The experiments of the FB-C2CNet paper, from a TOML file to tables, figures and a page.
//!
//! ```text
//! experiments/NAME.toml ──reproduce──> run folder (run_files) ──report──> report.html, RESULTS.md
//!                             │                                  │
//!                             └── printed: the paper's values ───┘
//! ```
//!
//! [`reproduce`] does experiments, [`report`] shows what came out of them, and the two know of each
//! other only through the files in a run folder, [`run_files`]. [`printed`] holds the table of the
//! paper whose cells runs name. [`picture`], [`over_truths`] and [`method_figures`] draw, with [`c2cnet_figure`]; [`labels`] are
//! the names in pictures, [`view`] is what they show of points in many dimensions.
//! [`terminal`], [`output_path`], [`explanations`] and [`merge()`] are shared with the command.

pub mod explanations;
pub mod labels;
mod merge;
pub mod method_figures;
pub mod output_path;
pub mod over_truths;
pub mod picture;
pub mod printed;
pub mod report;
pub mod reproduce;
pub mod run_files;
pub mod terminal;
pub mod view;

pub use merge::merge;
