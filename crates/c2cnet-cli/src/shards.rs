//! Data in many files with the same fields: a folder, a pattern, or several names.

use crate::reading::Reading;
use c2cnet::data::Dataset;
use c2cnet::internal::count_values;
use c2cnet::{Error, Result};
use c2cnet_formats::Format;
use std::path::{Path, PathBuf};

/// The flags of every command that reads shards.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct ShardFlags {
    /// Skip shards that are damaged or do not match the others, and list them at the end.
    #[arg(long)]
    pub skip_bad: bool,
}

/// The input of a command.
pub enum Source<'a> {
    /// One file, read at once.
    File(&'a Path),
    /// Many files, one by one.
    Shards(Shards),
}

impl Source<'_> {
    /// Each name is a file, a folder (all of its .npz files) or a pattern with `*`, `?` or `[...]`; a name that is a file
    /// is not a pattern.
    ///
    /// # Errors
    /// If a folder or a pattern holds no file.
    pub fn of(names: &[PathBuf]) -> Result<Source<'_>> {
        if let [file] = names
            && !is_many(file)
        {
            return Ok(Source::File(file));
        }
        let mut paths = Vec::new();
        for name in names {
            match is_many(name) {
                true => paths.extend(files_of(name)?),
                false => paths.push(name.clone()),
            }
        }
        let sizes = paths.iter().map(|path| {
            let size = std::fs::metadata(path).map(|m| m.len());
            size.map_err(|e| Error::io(path, e))
        });
        let sizes = sizes.collect::<Result<Vec<_>>>()?;
        Ok(Source::Shards(Shards {
            files: paths.into_iter().zip(sizes).collect(),
        }))
    }
}

/// Whether a name stands for several files.
fn is_many(name: &Path) -> bool {
    let pattern = name.to_string_lossy().contains(['*', '?', '[']);
    name.is_dir() || (pattern && !name.exists())
}

/// Whether a file has the name of samples that should not train, as `test_1.npz` and `val.npz` have.
fn sounds_set_apart(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphabetic());
    words.any(|word| word == "val" || ["test", "valid"].iter().any(|s| word.starts_with(s)))
}

/// The files of a folder or of a pattern, by name.
fn files_of(name: &Path) -> Result<Vec<PathBuf>> {
    let pattern = match name.is_dir() {
        true => format!("{}/*.npz", glob::Pattern::escape(&name.to_string_lossy())),
        false => name.to_string_lossy().into_owned(),
    };
    let found = glob::glob(&pattern).map_err(|e| {
        Error::Config(format!(
            "{}: not a valid file name pattern: {e}",
            name.display()
        ))
    })?;
    let found = found.map(|path| path.map_err(|e| Error::io(e.path().to_owned(), e.into())));
    let mut files = found.collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.is_file());
    match files.is_empty() {
        true => Err(Error::io(
            name,
            std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such .npz file"),
        )),
        false => Ok(files),
    }
}

/// Files of one stream, in the order in which they are read.
pub struct Shards {
    files: Vec<(PathBuf, u64)>,
}

impl Shards {
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Names and sizes in bytes.
    pub fn files(&self) -> &[(PathBuf, u64)] {
        &self.files
    }

    /// What to tell someone who fits to them, `listed` one by one or by folder or pattern.
    pub fn notes(&self, listed: bool) -> Vec<String> {
        let all = listed.then(|| {
            format!(
                "{} files, all of them training shards; to test on some, leave them out and give them to `c2cnet \
                 evaluate`",
                self.len()
            )
        });
        let set_apart = self.paths().filter(|path| sounds_set_apart(path));
        let set_apart = set_apart.map(|path| {
            format!(
                "{} is used for training, though its name says otherwise: errors on it will say nothing about new samples",
                path.display()
            )
        });
        all.into_iter().chain(set_apart).collect()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }
}

/// Why a shard is not used.
#[derive(Debug)]
pub enum Failure {
    /// It takes more than `--memory`, as these words say.
    Memory(String),
    /// Anything else.
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Other(error)
    }
}

/// Reads a shard if its values need no more than this many bytes.
///
/// # Errors
/// If it is damaged, or larger.
pub fn read(path: &Path, reading: Reading, most: f64) -> std::result::Result<Dataset, Failure> {
    if Format::of(path)? == Format::Npz {
        let bytes = count_values(path)? as f64 * 8.0;
        if bytes > most {
            return Err(Failure::Memory(format!(
                "{}: it needs {} of memory; the limit per shard is {}: raise it with --memory, or make smaller shards",
                path.display(),
                shown_bytes(bytes),
                shown_bytes(most)
            )));
        }
    }
    Ok(reading.read(path)?)
}

/// An error, with the name of the shard added if it lacks it.
pub fn about(path: &Path, failure: impl Into<Failure>) -> Error {
    match failure.into() {
        Failure::Memory(text) => Error::Config(text),
        Failure::Other(e @ (Error::Io { .. } | Error::Format { .. } | Error::Interrupted)) => e,
        Failure::Other(Error::Data(text)) if text.contains(&*path.to_string_lossy()) => {
            Error::Data(text)
        }
        Failure::Other(other) => Error::Data(format!("{}: {other}", path.display())),
    }
}

/// Shards that a command skips.
#[derive(Debug, Default)]
pub struct Skipped(Vec<String>);

impl Skipped {
    /// Keeps the error of a shard for the end.
    ///
    /// # Errors
    /// The error itself, unless bad shards are to be skipped; an interruption always.
    pub fn keep(&mut self, error: Error, flags: ShardFlags) -> Result<()> {
        match (flags.skip_bad, error) {
            (_, Error::Interrupted) => Err(Error::Interrupted),
            (true, error) => {
                self.0.push(error.to_string());
                Ok(())
            }
            (false, Error::Data(text)) => Err(Error::Data(format!("{text}\n  {HINT}"))),
            (false, Error::Format { path, reason }) => Err(Error::Format {
                path,
                reason: format!("{reason}\n  {HINT}"),
            }),
            (false, other) => Err(other),
        }
    }

    pub fn list(&self) -> &[String] {
        &self.0
    }

    pub fn of(list: Vec<String>) -> Self {
        Skipped(list)
    }

    /// The message at the end, if any shard was skipped.
    pub fn summary(&self, of: usize) -> Option<String> {
        let list = self.0.iter().map(|text| format!("\n  {text}"));
        let list = list.collect::<String>();
        (!self.0.is_empty()).then(|| format!("{} of {of} shards skipped:{list}", self.0.len()))
    }
}

const HINT: &str = "--skip-bad skips such shards";

/// Bytes with a suitable unit.
pub fn shown_bytes(bytes: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let power = (bytes.max(1.0).log10() / 3.0).floor() as usize;
    let power = power.min(units.len() - 1);
    format!("{:.3} {}", bytes / 1000f64.powi(power as i32), units[power])
}

/// Bytes from `2GiB`, `500MB`, `1.5 GB` or a plain number.
pub fn parse_bytes(text: &str) -> std::result::Result<f64, String> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024f64.powi(2),
        "gib" => 1024f64.powi(3),
        _ => return Err("give bytes with a unit, as in 2GiB or 500MB".into()),
    };
    match number.trim().parse::<f64>() {
        Ok(n) if n.is_finite() && n > 0.0 => Ok(n * unit),
        _ => Err("give bytes with a unit, as in 2GiB or 500MB".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_test_files_are_words_of_the_name() {
        let set_apart = |name: &str| sounds_set_apart(&Path::new("test").join(name));
        for name in ["test.npz", "Test2.npz", "my_testset.npz", "shard-val-3.npz"] {
            assert!(set_apart(name), "{name}");
        }
        for name in ["train.npz", "latest.npz", "interval.npz", "values.npz"] {
            assert!(!set_apart(name), "{name}");
        }
    }

    #[test]
    fn bytes_are_read_and_shown_with_units() {
        assert_eq!(parse_bytes("2GiB"), Ok(2147483648.0));
        assert_eq!(parse_bytes(" 1.5 MB "), Ok(1.5e6));
        assert_eq!(parse_bytes("1000"), Ok(1000.0));
        for wrong in ["", "GiB", "-1GB", "2 parsecs", "nan"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(shown_bytes(3.2e9), "3.200 GB");
        assert_eq!(shown_bytes(12.0), "12.000 B");
    }
}
