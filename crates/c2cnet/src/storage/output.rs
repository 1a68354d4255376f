//! Files that are written whole or not at all.
//!
//! A file is written to a temporary one beside its target and renamed, so that the target is always either the old
//! file or the whole new one. Temporary files are locked while they are written: one that nobody holds is what a
//! killed process left, and the next one that writes into the folder removes it.

use crate::{Error, Result};
use same_file::Handle;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// How the names of temporary files and locks begin.
const TEMPORARY_PREFIX: &str = ".c2cnet-";

/// Symbolic links that are followed one after the other, as systems do.
const MOST_LINKS: usize = 40;

/// Where an output goes.
enum Target {
    /// Into a plain file: the path behind all links, whether there is a file yet or not.
    Plain(PathBuf),
    /// Into something other than a file, such as a device or a pipe, which must stay what it is.
    Special(PathBuf),
}

impl Target {
    fn of(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if found.is_file() => fs::canonicalize(path).map(Target::Plain),
            Ok(_) => Ok(Target::Special(path.to_path_buf())),
            Err(_) => behind_links(path).map(Target::Plain),
        }
    }
}

/// Where links lead that may lead to nothing yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes a file through a temporary one in the same folder and a rename. A symbolic link stays, and the file it leads
/// to is replaced; what is no plain file (a device, a pipe) is written to as it is.
///
/// # Errors
/// [`Error::Io`] naming `path`; the temporary file is removed and the target untouched.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<()> {
    let written = match Target::of(path) {
        Ok(Target::Plain(target)) => replace(&target, write),
        Ok(Target::Special(target)) => pour(&target, write),
        Err(e) => Err(e),
    };
    written.map_err(|e| Error::io(path, e))
}

fn replace(
    target: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = temporary(folder_of(target))?;
    fill(file.as_file_mut(), write)?;
    // A file that is replaced keeps its permissions; a new one has those that the umask leaves.
    if let Ok(old) = fs::metadata(target) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(target).map_err(|e| e.error)?;
    Ok(())
}

/// Into what cannot be renamed over and may know no going back, from a file that can.
fn pour(
    target: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut whole = tempfile::tempfile()?;
    fill(&mut whole, write)?;
    whole.rewind()?;
    let mut out = File::options().write(true).open(target)?;
    io::copy(&mut whole, &mut out)?;
    out.flush()
}

fn fill(
    file: &mut File,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.flush()
}

/// A temporary file that is ours as long as it is open.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    remove_leftovers(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    loop {
        let file = builder.tempfile_in(folder)?;
        // A file system without locks has no leftovers removed either.
        let _ = file.as_file().lock();
        // Someone who tidied up may have taken it for a leftover before it was locked.
        if file.path().exists() {
            return Ok(file);
        }
    }
}

/// Removes what killed processes left in `folder`.
pub fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let ours = entry
            .file_name()
            .to_string_lossy()
            .starts_with(TEMPORARY_PREFIX);
        let plain = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if ours
            && plain()
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The right to write a file, which one process has at a time.
///
/// It is a lock beside the file. Where there can be none (the target is a device, or the file system has no locks),
/// everyone has the right.
#[derive(Debug)]
pub struct Claim(Option<(File, PathBuf)>);

impl Claim {
    /// # Errors
    /// If another process has it, or the folder cannot be written.
    pub fn new(path: &Path) -> Result<Self> {
        let io = |e| Error::io(path, e);
        let Target::Plain(target) = Target::of(path).map_err(io)? else {
            return Ok(Claim(None));
        };
        let mut name = std::ffi::OsString::from(TEMPORARY_PREFIX);
        name.push(target.file_name().unwrap_or_default());
        name.push(".lock");
        let lock = folder_of(&target).join(name);
        // Someone who tidies up holds a lock for a moment.
        for _ in 0..10 {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&lock)
                .map_err(io)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &lock) => return Ok(Claim(Some((file, lock)))),
                Err(TryLockError::Error(_)) => return Ok(Claim(Some((file, lock)))),
                Ok(()) | Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
        let reason =
            "another process is writing this file; wait until it finishes, or give another name";
        Err(io(io::Error::other(reason)))
    }
}

/// Whether `file` is what `path` leads to.
fn is_at(file: &File, path: &Path) -> bool {
    let open = file.try_clone().and_then(Handle::from_file);
    matches!((open, Handle::from_path(path)), (Ok(a), Ok(b)) if a == b)
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Removed while it is locked: afterwards it might be another's.
        if let Some((_, lock)) = &self.0 {
            let _ = fs::remove_file(lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn put(path: &Path, text: &str) -> Result<()> {
        write_atomically(path, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn what_killed_writers_left_goes_with_the_next_write() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".c2cnet-Ab12Cd", ".c2cnet-model.c2c.lock", "mine"] {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        let held = folder.path().join(".c2cnet-held");
        let file = File::create(&held).unwrap();
        file.lock().unwrap();
        put(&folder.path().join("new"), "whole").unwrap();
        assert_eq!(names(folder.path()), [".c2cnet-held", "mine", "new"]);
        drop(file);
        put(&folder.path().join("new"), "whole").unwrap();
        assert_eq!(names(folder.path()), ["mine", "new"]);
    }

    #[test]
    fn a_path_is_claimed_once_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.c2c");
        let claim = Claim::new(&path).unwrap();
        let error = Claim::new(&path).unwrap_err().to_string();
        assert!(error.contains("model.c2c: another process"), "{error}");
        Claim::new(&folder.path().join("other.c2c")).unwrap();
        // What is written meanwhile leaves the lock alone.
        put(&path, "whole").unwrap();
        assert!(Claim::new(&path).is_err());
        drop(claim);
        Claim::new(&path).unwrap();
        assert_eq!(names(folder.path()), ["model.c2c"]);
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

        #[test]
        fn a_symbolic_link_stays_and_its_target_is_replaced() {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::create_dir(at("below")).unwrap();
            fs::write(at("below/file"), "old").unwrap();
            symlink("below/file", at("link")).unwrap();
            symlink("link", at("link to link")).unwrap();
            symlink("below/none yet", at("dangling")).unwrap();
            symlink("circle", at("circle")).unwrap();
            put(&at("link to link"), "new").unwrap();
            put(&at("dangling"), "made").unwrap();
            assert_eq!(fs::read(at("below/file")).unwrap(), b"new");
            assert_eq!(fs::read(at("below/none yet")).unwrap(), b"made");
            for link in ["link", "link to link", "dangling", "circle"] {
                assert!(at(link).is_symlink(), "{link}");
            }
            let error = put(&at("circle"), "lost").unwrap_err().to_string();
            assert!(error.contains("circle"), "{error}");
            assert_eq!(names(&at("below")), ["file", "none yet"]);
        }

        #[test]
        fn devices_and_pipes_are_written_to_and_stay() {
            let folder = tempfile::tempdir().unwrap();
            let null = folder.path().join("null");
            symlink("/dev/null", &null).unwrap();
            put(&null, "nobody reads it").unwrap();
            assert!(
                fs::metadata("/dev/null")
                    .unwrap()
                    .file_type()
                    .is_char_device()
            );
            let error = put(Path::new("/dev/full"), "no space")
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("/dev/full: "), "{error}");

            let pipe = folder.path().join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.unwrap().success());
            let reader = {
                let pipe = pipe.clone();
                std::thread::spawn(move || fs::read(pipe).unwrap())
            };
            put(&pipe, "through").unwrap();
            assert_eq!(reader.join().unwrap(), b"through");
            assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
            Claim::new(&pipe).unwrap();
            assert_eq!(names(folder.path()), ["null", "pipe"]);
        }

        #[test]
        fn the_umask_and_the_permissions_of_a_replaced_file_are_kept() {
            let folder = tempfile::tempdir().unwrap();
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            // What the umask leaves of an ordinary new file.
            let ordinary = folder.path().join("ordinary");
            fs::write(&ordinary, "").unwrap();
            let path = folder.path().join("file");
            put(&path, "new").unwrap();
            assert_eq!(mode(&path), mode(&ordinary));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            put(&path, "newer").unwrap();
            assert_eq!(mode(&path), 0o640);
        }
    }
}
