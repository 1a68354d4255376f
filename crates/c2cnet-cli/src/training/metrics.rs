//! The training history as a file: one JSON object per line, one line per record.

use c2cnet::observe::Metric;
use c2cnet::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The number of the network in the fit, from 1.
    pub training: usize,
    /// What it is trained for.
    pub name: String,
    #[serde(flatten)]
    pub metric: Metric,
}

/// The file while a fit writes it. Each fit starts a new one: the history of a resumed run is
/// in its checkpoint, so nothing is missing and nothing appears twice.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    file: File,
}

impl MetricsFile {
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|e| Error::io(path, e))?;
        Ok(MetricsFile {
            path: path.to_path_buf(),
            file,
        })
    }

    /// Adds a line and flushes it: someone may be following the file.
    pub fn add(&mut self, record: &Record) -> Result<()> {
        let line = serde_json::json!(record).to_string() + "\n";
        (self.file.write_all(line.as_bytes())).map_err(|e| Error::io(&self.path, e))
    }
}

/// The records of a file; a last line that is being written is left out.
///
/// # Errors
/// If a line is not a record (its number is in the message), or there are no lines.
pub fn read(path: &Path) -> Result<Vec<Record>> {
    let text = c2cnet::internal::read_text(path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |(i, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|e| {
            Error::format(
                path,
                format!("line {} is not a training record: {e}", i + 1),
            )
        })
    };
    let records: Vec<Record> = whole
        .lines()
        .enumerate()
        .map(parse)
        .collect::<Result<_>>()?;
    if records.is_empty() {
        return Err(Error::format(
            path,
            "holds no training record; a fit writes one only if it trains a network",
        ));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_being_written_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let record = Record {
            training: 1,
            name: "training".into(),
            metric: Metric {
                stage: 0,
                step: 3,
                loss: 0.1 + 0.2,
                train_rl2e: 1e-300,
                validation_loss: None,
                validation_rl2e: Some(1.0 / 3.0),
                rate: 1e-3,
                gradient_norm: 2.0,
            },
        };
        let mut file = MetricsFile::create(&path).unwrap();
        assert!(read(&path).is_err());
        file.add(&record).unwrap();
        file.file.write_all(b"{\"training\":1,\"na").unwrap();
        assert_eq!(read(&path).unwrap(), [record]);
        file.file.write_all(b"\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("line 2"));
    }
}
