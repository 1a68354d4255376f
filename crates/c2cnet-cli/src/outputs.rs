//! Where a command may write: never over what it reads, and over a model or data only if it makes such files.

use crate::file_kind::FileKind;
use c2cnet::{Error, Result};
use c2cnet_experiments::output_path;
use c2cnet_formats::Format;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The flag of every command that writes files.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct Force {
    /// Replace a model or data file even with another kind of file; never one that the command itself reads.
    #[arg(long)]
    force: bool,
}

/// Checks, before any work, that the files of a command can be written and none is destroyed by mistake: `reads` are
/// those it reads, `writes` those it writes and what it makes of them.
///
/// # Errors
/// If an output cannot be written, has an ending that does not match, is also an input or another output, or is a model
/// or data file that this command does not make.
pub fn check<'a>(
    force: Force,
    reads: impl IntoIterator<Item = &'a Path>,
    writes: &[(&Path, FileKind)],
) -> Result<()> {
    let reads: Vec<&Path> = reads.into_iter().collect();
    for (i, &(path, makes)) in writes.iter().enumerate() {
        output_path::check(path)?;
        makes.check_ending(path)?;
        if reads.iter().any(|read| same(read, path)) {
            return Err(Error::Config(format!(
                "{} is read by this command, which would destroy it; give another name for the output",
                path.display()
            )));
        }
        if writes[..i].iter().any(|(other, _)| same(other, path)) {
            return Err(Error::Config(format!(
                "{} would be written twice; give another name for one of the outputs",
                path.display()
            )));
        }
        let Some(there) = existing(path) else {
            if makes == FileKind::Model && !force.force && called_as_data(path) {
                return Err(Error::Config(format!(
                    "{} ends like a data file, and this command would write a model; call it {}, or give --force",
                    path.display(),
                    path.with_extension("c2c").display()
                )));
            }
            continue;
        };
        if !force.force && !replaces(makes, there) {
            return Err(Error::Config(format!(
                "{} is {}, and this command would overwrite it with {}; give another name for the output, or --force",
                path.display(),
                there.words(),
                makes.words()
            )));
        }
    }
    Ok(())
}

/// Whether a name ends like a data file rather than a model.
fn called_as_data(path: &Path) -> bool {
    path.extension().is_some() && !path.exists() && Format::named(path).is_ok()
}

/// Whether a command that makes one kind of file may replace another without --force.
fn replaces(makes: FileKind, there: FileKind) -> bool {
    use FileKind::{Data, Other, Prediction};
    there == makes || there == Other || (makes, there) == (Data, Prediction)
}

/// What already exists at the path of an output; nothing for devices and pipes, which cannot be destroyed.
fn existing(path: &Path) -> Option<FileKind> {
    match path.is_file() {
        true => Some(FileKind::of(path).unwrap_or(FileKind::Other)),
        false => None,
    }
}

/// Whether two paths lead to the same plain file, whether it exists or not.
fn same(a: &Path, b: &Path) -> bool {
    match (a.exists(), b.exists()) {
        // Comparing pipes would open them, and block until the other end is opened.
        (true, true) => {
            a.is_file() && b.is_file() && same_file::is_same_file(a, b).unwrap_or(false)
        }
        (false, false) => place(a).is_some_and(|a| Some(a) == place(b)),
        _ => false,
    }
}

/// The canonical folder, and the name in it.
fn place(path: &Path) -> Option<(PathBuf, &OsStr)> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some((folder, path.file_name()?))
}
