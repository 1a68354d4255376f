//! What is attacked.

mod experiments;
mod fits;
mod formats;
mod models;
mod npz;
mod points;
mod settings;

use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};

/// Something that reads.
pub struct Target {
    pub name: &'static str,
    /// Makes a case and has it read; whether it was accepted.
    pub run: Box<dyn Fn(&mut ChaCha8Rng) -> bool>,
}

/// All of them.
pub fn all() -> Vec<Target> {
    [
        npz::targets(),
        points::targets(),
        formats::targets(),
        models::targets(),
        settings::targets(),
        experiments::targets(),
        fits::targets(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The files of the corpus with this ending.
fn corpus(ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let entries = std::fs::read_dir(folder).expect("the corpus is beside the sources");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == ending));
    paths.sort();
    let files = paths.iter().map(|p| std::fs::read(p).expect("a file"));
    let files: Vec<Vec<u8>> = files.collect();
    assert!(!files.is_empty(), "the corpus has no .{ending}");
    files
}

/// A file for one case after the other.
struct Scratch {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new(name: &str) -> Self {
        // In memory where there is such a folder.
        let shared = Path::new("/dev/shm");
        let folder = match shared.is_dir() {
            true => tempfile::tempdir_in(shared),
            false => tempfile::tempdir(),
        };
        let folder = folder.expect("a folder");
        let path = folder.path().join(name);
        Scratch {
            _folder: folder,
            path,
        }
    }

    fn put(&self, bytes: &[u8]) -> &Path {
        std::fs::write(&self.path, bytes).expect("a file is written");
        &self.path
    }
}
