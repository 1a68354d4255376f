//! The state of training, in files next to the model.

use c2cnet::internal::remove_leftovers;
use c2cnet::storage::Archive;
use c2cnet::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};

/// The folder `MODEL.training` with one file for each network of a fit, named by the mark that
/// identifies its training. It is created with the first checkpoint.
pub struct Checkpoints(PathBuf);

const ENDING: &str = "checkpoint";

impl Checkpoints {
    /// # Errors
    /// If something else has the folder's name.
    pub fn beside(model: &Path) -> Result<Self> {
        let mut name = model.as_os_str().to_owned();
        name.push(".training");
        let folder = PathBuf::from(name);
        if folder.exists() && !folder.is_dir() {
            let reason = "training checkpoints need a folder with this name; move the file away";
            return Err(Error::io(folder, io::Error::other(reason)));
        }
        Ok(Checkpoints(folder))
    }

    /// Other checkpoints of the same fit, in a folder inside this one.
    pub fn inside(&self, name: &str) -> Self {
        Checkpoints(self.0.join(name))
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Whether there is any.
    pub fn exist(&self) -> bool {
        self.files().any(|file| is_checkpoint(&file))
    }

    /// The checkpoint of the training run `mark`, if there is one.
    ///
    /// # Errors
    /// If its file is damaged.
    pub fn read(&self, mark: &str) -> Result<Option<Archive>> {
        let path = self.path(mark);
        if !path.exists() {
            return Ok(None);
        }
        let archive = Archive::read(&path).map_err(|e| match e {
            Error::Format { reason, .. } => {
                let words = format!("the checkpoint is damaged or of another version: {reason}");
                Error::format(&path, words)
            }
            other => other,
        })?;
        match archive.document["mark"].as_str() == Some(mark) {
            true => Ok(Some(archive)),
            false => Err(Error::format(path, "the checkpoint is damaged")),
        }
    }

    pub fn write(&self, mark: &str, archive: &Archive) -> Result<()> {
        c2cnet_experiments::output_path::folder(&self.0)?;
        archive.write(&self.path(mark))
    }

    /// Removes the checkpoints, what a killed process left of one, and the folder unless it holds
    /// something else.
    pub fn clear(&self) -> Result<()> {
        for file in self.files().filter(|f| is_checkpoint(f)) {
            std::fs::remove_file(&file).map_err(|e| Error::io(file, e))?;
        }
        remove_leftovers(&self.0);
        // Not empty: it holds files of others.
        let _ = std::fs::remove_dir(&self.0);
        Ok(())
    }

    fn path(&self, mark: &str) -> PathBuf {
        self.0.join(format!("{mark}.{ENDING}"))
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten();
        entries.flatten().map(|entry| entry.path())
    }
}

fn is_checkpoint(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == ENDING)
}
