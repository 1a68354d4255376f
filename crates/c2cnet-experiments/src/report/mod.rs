//! The results of a run: a human-readable page, and `RESULTS.md` for the repository.
//!
//! ```text
//! run folder ──read──> Run ──page──> report.html   (self-contained: no file beside it, no network)
//!                          └─results─> RESULTS.md
//! model, data ──model──> page.html
//! ```
//!
//! Markup is written with maud, which escapes every text unless asked not to: what is in a
//! run folder cannot become markup by an oversight.

mod embed;
mod experiment;
mod format;
mod headline;
mod model;
mod page;
mod peers;
mod read;
mod results;
mod summary;
mod table;

#[cfg(test)]
mod tests;

use crate::output_path;
use c2cnet::Result;
pub use model::Subject;
use read::Run;
use std::path::{Path, PathBuf};

/// Writes the page about the run in `folder`.
///
/// # Errors
/// If `folder` is not the folder of a run, or the page cannot be written. An experiment that is
/// missing or damaged is no error: its section says so.
pub fn write(folder: &Path, page: &Path) -> Result<()> {
    let run = Run::read(folder)?;
    output_path::write(page, &page::html(&run))
}

/// Writes the page about a model.
///
/// # Errors
/// If the model cannot predict the samples, or the page cannot be written.
pub fn write_model(subject: &Subject<'_>, page: &Path) -> Result<()> {
    output_path::write(page, &model::html(subject)?)
}

/// Writes the main figures of the run in `folder` as Markdown.
///
/// # Errors
/// As [`write()`].
pub fn write_results(folder: &Path, markdown: &Path) -> Result<()> {
    let run = Run::read(folder)?;
    output_path::write(markdown, &results::markdown(&run))
}

/// The files in a run's folder that are not pages about it: what a page may be made from.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let page = |path: &Path| path.extension().is_some_and(|e| e == "html" || e == "md");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) if !page(&entry.path()) => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

/// JSON that cannot end the script element that holds it.
fn escape_json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}
