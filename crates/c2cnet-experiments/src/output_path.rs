//! Output files: refused before long work, written whole.

use c2cnet::internal::write_atomically;
use c2cnet::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// Checks that a file can be written at `path`, so that a mistake shows before long work.
///
/// # Errors
/// [`Error::Io`] if its folder is missing or not writable, or the path is a folder.
pub fn check(path: &Path) -> Result<()> {
    if path.is_dir() {
        let reason = "is a folder; give the name of a file";
        return Err(Error::io(path, io::Error::other(reason)));
    }
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let reason = format!("the folder {} does not exist", folder.display());
        return Err(Error::io(
            path,
            io::Error::new(io::ErrorKind::NotFound, reason),
        ));
    }
    // The only sure test is to create one; an unnamed file disappears even if the process is killed.
    tempfile::tempfile_in(folder)
        .map(drop)
        .map_err(|e| Error::io(path, e))
}

/// The endings of the names of drawings.
pub const FIGURES: [&str; 2] = ["svg", "png"];

/// Refuses a name without one of the endings for what will be written; pipes and devices may have any name.
///
/// # Errors
/// Lists the endings.
pub fn check_ending(path: &Path, what: &str, endings: &[&str]) -> Result<()> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let device = path.exists() && !path.is_file();
    if device || endings.iter().any(|ending| extension == *ending) {
        return Ok(());
    }
    let listed: Vec<String> = endings.iter().map(|e| format!(".{e}")).collect();
    Err(Error::Config(format!(
        "{}: {what} is written as {}; end the name in one of these",
        path.display(),
        listed.join(" or ")
    )))
}

/// Makes the folder `path` where it does not exist yet.
///
/// # Errors
/// If there is a file of this name, or the folder cannot be made.
pub fn folder(path: &Path) -> Result<()> {
    if path.exists() && !path.is_dir() {
        let reason = "is a file, and a folder is needed here; give the name of another folder";
        return Err(Error::io(path, io::Error::other(reason)));
    }
    std::fs::create_dir_all(path).map_err(|e| Error::io(path, e))
}

/// Writes `text`, all or nothing.
pub fn write(path: &Path, text: &str) -> Result<()> {
    crate::terminal::interrupt::patiently(|| {
        write_atomically(path, |out| out.write_all(text.as_bytes()))
    })
}

/// Writes the drawing `svg`, all or nothing: as PNG if the path ends so, else as it is.
pub fn write_figure(path: &Path, svg: &str) -> Result<()> {
    if !path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("png"))
    {
        return write(path, svg);
    }
    let bytes = c2cnet_figure::png(svg).map_err(|e| Error::Numerical(e.to_string()))?;
    crate::terminal::interrupt::patiently(|| write_atomically(path, |out| out.write_all(&bytes)))
}
