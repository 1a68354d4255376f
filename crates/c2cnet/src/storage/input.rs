//! Files that are read: no more memory than their size warrants.

use crate::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a text in an archive, or of one that is not a plain file and so has no size.
pub(crate) const MOST_TEXT: u64 = 1 << 26;

/// Opens a plain file, and gives its size. Devices and pipes have none that claims inside could be held against, and
/// some never end.
///
/// # Errors
/// [`Error::Io`] if it is something else or cannot be opened.
pub fn open_plain(path: &Path) -> Result<(File, u64)> {
    let io = |e| Error::io(path, e);
    // Before it is opened: a pipe without a writer would wait for one.
    let found = fs::metadata(path).map_err(io)?;
    if found.is_dir() {
        return Err(io(io::ErrorKind::IsADirectory.into()));
    }
    if !found.is_file() {
        let reason = "is a device or a pipe; copy it into a plain file and give that";
        return Err(io(io::Error::other(reason)));
    }
    Ok((File::open(path).map_err(io)?, found.len()))
}

/// The bytes of a plain file.
///
/// # Errors
/// As [`open_plain`], or if memory does not hold them.
pub fn read_plain(path: &Path) -> Result<Vec<u8>> {
    let io = |e| Error::io(path, e);
    let (file, size) = open_plain(path)?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX))
        .map_err(|_| io(io::ErrorKind::OutOfMemory.into()))?;
    // A file that grows while being read is truncated and then fails its digest.
    file.take(size).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}

/// A text such as settings, also from a pipe.
///
/// # Errors
/// [`Error::Io`] if it cannot be read or is not UTF-8, [`Error::Format`] if it does not seem to end.
pub fn read_text(path: &Path) -> Result<String> {
    let io = |e| Error::io(path, e);
    let file = File::open(path).map_err(io)?;
    let plain = file.metadata().is_ok_and(|found| found.is_file());
    let mut text = String::new();
    match plain {
        true => (&file).read_to_string(&mut text),
        false => (&file).take(MOST_TEXT).read_to_string(&mut text),
    }
    .map_err(io)?;
    if !plain && text.len() as u64 == MOST_TEXT {
        let reason = format!("is longer than {MOST_TEXT} bytes; copy it into a plain file");
        return Err(Error::format(path, reason));
    }
    Ok(text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_not_read_to_the_end() {
        let error = read_plain(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("/dev/zero: is a device"), "{error}");
        let error = read_text(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("/dev/zero: is longer than"), "{error}");
        let error = read_plain(Path::new("/")).unwrap_err().to_string();
        assert!(error.contains("directory"), "{error}");
    }
}
