//! Other methods: programs in Python, one process each.

use super::name;
use c2cnet::{Error, Result};
use c2cnet_experiments::run_files::Peer as PeerResult;
use c2cnet_experiments::terminal::interrupt;
use clap::ValueEnum;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Peer {
    /// Fourier neural operator; data on grids only.
    Fno,
    /// DeepONet.
    Deeponet,
    /// BasisONet.
    Basisonet,
    /// Basis-to-basis, with function encoders.
    B2b,
}

/// The command that makes the environment.
const MAKE: &str = "peers/run.sh peers.run --help";

/// Where the peers are, and the Python that runs them.
pub struct Environment {
    repository: PathBuf,
    python: PathBuf,
}

/// One training of one peer.
pub struct Training<'a> {
    pub peer: Peer,
    pub data: &'a Path,
    pub budget: f64,
    pub device: &'a str,
    pub seed: u32,
}

impl Environment {
    /// Finds the peers here or above, and checks whether their Python can run them.
    pub fn find(python: Option<&Path>) -> Result<Self> {
        let here = std::env::current_dir().map_err(|e| Error::io(".", e))?;
        let Some(repository) = (here.ancestors()).find(|f| f.join("peers/run.py").is_file()) else {
            return Err(Error::Config(format!(
                "--peers: there is no folder peers/ with run.py in {} or above; run this command \
                 in the repository of c2cnet",
                here.display()
            )));
        };
        let python = match python {
            // A path, as opposed to a name to look up, is relative to here, not to the repository.
            Some(path) if path.components().count() > 1 => here.join(path),
            Some(name) => name.to_path_buf(),
            None => default_python().ok_or_else(|| {
                Error::Config("--peers: HOME is not set; name a Python with --python".into())
            })?,
        };
        let environment = Environment {
            repository: repository.to_path_buf(),
            python,
        };
        let folder = temporary()?;
        let mut command = environment.command();
        command.arg("--help");
        let (status, said) =
            run(command, folder.path()).map_err(|e| environment.unusable(&e.to_string()))??;
        if !status.success() {
            return Err(environment.unusable(last_line(&said)));
        }
        Ok(environment)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.python);
        // The same threads for everyone.
        let threads = rayon::current_num_threads().to_string();
        command
            .args(["-m", "peers.run"])
            .current_dir(&self.repository)
            .env("OMP_NUM_THREADS", &threads)
            .env("MKL_NUM_THREADS", &threads);
        command
    }

    fn unusable(&self, reason: &str) -> Error {
        Error::Config(format!(
            "--peers: {} cannot run them: {reason}\n  make their environment, in {}:\n    {MAKE}\n  \
             or name a Python that has PyTorch with --python or C2CNET_PEERS_PYTHON",
            self.python.display(),
            self.repository.display()
        ))
    }

    /// Trains a peer and returns its result.
    pub fn train(&self, training: &Training<'_>) -> Result<PeerResult> {
        let folder = temporary()?;
        let out = folder.path().join("result.json");
        let data = (training.data.canonicalize()).map_err(|e| Error::io(training.data, e))?;
        let mut command = self.command();
        command
            .arg(name(training.peer))
            .arg(data)
            .args(["--budget", &training.budget.to_string()])
            .args(["--device", training.device])
            .args(["--seed", &training.seed.to_string()])
            .args(["--quiet", "--out"])
            .arg(&out);
        let (status, said) =
            run(command, folder.path()).map_err(|e| Error::io(&self.python, e))??;
        if !status.success() {
            let reason = last_line(&said);
            return Err(Error::Data(format!(
                "the peer {} failed: {}",
                name(training.peer),
                reason.strip_prefix("error: ").unwrap_or(reason)
            )));
        }
        read(&out)
    }
}

/// The Python that `peers/run.sh` makes.
fn default_python() -> Option<PathBuf> {
    let cache = match std::env::var_os("XDG_CACHE_HOME").filter(|v| !v.is_empty()) {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".cache"),
    };
    Some(cache.join("c2cnet-peers/venv/bin/python"))
}

/// Reads a result, which must hold an error.
pub fn read(path: &Path) -> Result<PeerResult> {
    let text = c2cnet::internal::read_text(path)?;
    let wrong = |reason: String| {
        let reason = format!("is not a result of a peer: {reason}");
        Error::io(path, io::Error::new(io::ErrorKind::InvalidData, reason))
    };
    let result: PeerResult = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if result.peer.is_empty() || result.rl2e.is_none() {
        return Err(wrong("it needs `peer` and `rl2e`".into()));
    }
    Ok(result)
}

fn temporary() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), e))
}

/// Runs to the end, or until Ctrl-C, and returns what was written to standard error. The outer error is
/// a failure to start.
fn run(mut command: Command, folder: &Path) -> io::Result<Result<(ExitStatus, String)>> {
    let log = folder.join("stderr");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?);
    let mut child = command.spawn()?;
    let ended = interrupt::patiently(|| {
        loop {
            let gone = |e| Error::io("a peer's process", e);
            if let Some(status) = child.try_wait().map_err(gone)? {
                return Ok(status);
            }
            if interrupt::requested() {
                child.kill().and_then(|()| child.wait()).map_err(gone)?;
                return Err(Error::Interrupted);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let said = std::fs::read(&log)?;
    Ok(ended.map(|status| (status, String::from_utf8_lossy(&said).into_owned())))
}

fn last_line(text: &str) -> &str {
    let mut lines = text.lines().rev().map(str::trim);
    lines.find(|l| !l.is_empty()).unwrap_or("it said nothing")
}
