//! Reads a run folder, whatever state it is in.

use crate::run_files::{self, Experiment, Peer, Readable, RunInfo, SampleFit};
use c2cnet::{Error, Result};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// All that a run folder says.
pub struct Run {
    pub folder: PathBuf,
    pub info: Readable<RunInfo>,
    /// Folders of experiments by name, in the paper's order.
    pub experiments: Vec<(String, Readable<Experiment>)>,
    pub peers: Vec<Peer>,
    /// Fits to some of the samples, beside the peers'.
    pub sample_fits: Vec<SampleFit>,
    /// Files of peers that could not be read, and why.
    pub damaged_peers: Vec<(String, String)>,
}

/// Folders that hold no experiment.
const OTHER_FOLDERS: [&str; 2] = ["data", "peers"];

impl Run {
    /// Reads what can be read; the rest has its reason instead.
    ///
    /// # Errors
    /// If `folder` cannot be listed, or is not the folder of a run.
    pub fn read(folder: &Path) -> Result<Run> {
        let names = names(folder).map_err(|e| Error::io(folder, e))?;
        let info = run_files::read(&folder.join("run.json"));
        let mut experiments: Vec<(String, Readable<Experiment>)> = names
            .iter()
            .filter(|name| is_experiment(&folder.join(name), name))
            .map(|name| (name.clone(), read_experiment(&folder.join(name))))
            .collect();
        for (_, experiment) in &mut experiments {
            if let Ok(experiment) = experiment {
                forget_paper_if_quick(experiment);
            }
        }
        experiments.sort_by_cached_key(|(name, experiment)| {
            let label = experiment.as_ref().ok().and_then(|e| e.label.clone());
            (place_in_paper(label.as_deref(), name), name.clone())
        });
        if info.is_err() && experiments.is_empty() {
            let reason = "no run.json and no experiment in it: not the folder of a run";
            return Err(Error::io(folder, io::Error::other(reason)));
        }
        let mut run = Run {
            folder: folder.to_owned(),
            info,
            experiments,
            peers: Vec::new(),
            sample_fits: Vec::new(),
            damaged_peers: Vec::new(),
        };
        run.read_peers();
        Ok(run)
    }

    fn read_peers(&mut self) {
        let folder = self.folder.join("peers");
        for name in json_files(&folder) {
            match run_files::read(&folder.join(&name)) {
                Ok(peer) => self.peers.push(peer),
                Err(reason) => self.damaged_peers.push((format!("peers/{name}"), reason)),
            }
        }
        let samples = folder.join("samples");
        for name in json_files(&samples) {
            match read_fits(&samples.join(&name)) {
                Ok(fits) => self.sample_fits.extend(fits),
                Err(reason) => {
                    let name = format!("peers/samples/{name}");
                    self.damaged_peers.push((name, reason));
                }
            }
        }
    }

    /// Whether sizes are small.
    pub fn is_quick(&self) -> bool {
        self.done().any(|e| e.quick)
    }

    /// The experiments that could be read.
    pub fn done(&self) -> impl Iterator<Item = &Experiment> {
        self.experiments.iter().filter_map(|(_, e)| e.as_ref().ok())
    }
}

/// The names of results in a folder, sorted; none if there is no such folder.
fn json_files(folder: &Path) -> impl Iterator<Item = String> {
    let names = names(folder).unwrap_or_default().into_iter();
    names.filter(|name| name.ends_with(".json"))
}

/// A list as `peers/efficiency.py` writes it, which has no format of its own.
fn read_fits(path: &Path) -> Readable<Vec<SampleFit>> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|e| format!("it is damaged: {e}"))
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn is_experiment(folder: &Path, name: &str) -> bool {
    let known = || ["result.json", "config.toml"].map(|f| folder.join(f).exists());
    !OTHER_FOLDERS.contains(&name) && folder.is_dir() && known().contains(&true)
}

/// Small sizes have other errors than the paper's: nothing of it is shown beside them.
fn forget_paper_if_quick(experiment: &mut Experiment) {
    for row in experiment
        .found
        .headline
        .iter_mut()
        .filter(|_| experiment.quick)
    {
        row.paper = None;
        row.paper_rms = None;
        row.paper_mse = None;
        row.paper_seconds = None;
        row.paper_parameters = None;
    }
}

fn read_experiment(folder: &Path) -> Readable<Experiment> {
    let file = folder.join("result.json");
    if !file.exists() {
        return Err("there is no result.json: the experiment was not finished".into());
    }
    run_files::read(&file)
}

/// Reads a file that `result.json` names, from the folder of its experiment and nowhere else.
pub fn read_beside(folder: &Path, name: &str) -> Readable<String> {
    let path = Path::new(name);
    let inside = path.components().all(|c| matches!(c, Component::Normal(_)));
    if name.is_empty() || !inside {
        return Err(format!("{name:?} is not a file of the experiment"));
    }
    fs::read_to_string(folder.join(path)).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!("there is no {name}"),
        _ => format!("{name} cannot be read: {e}"),
    })
}

/// Where the paper has an experiment: by its label, then by its name.
fn place_in_paper(label: Option<&str>, name: &str) -> usize {
    const LABELS: [&str; 15] = [
        "sec:basis-coefficient-analysis",
        "subsec:svd-cutoff-illustration",
        "subsec:efficiency",
        "subsubsec:1d-darcy-c2c-p2c",
        "subsubsec:2d-darcy-c2c-p2c",
        "subsec:nonaligned-resolution",
        "subsubsec:standard-2d-darcy-comparison",
        "subsubsec:nonaligned-random",
        "subsubsec:resolution-transfer",
        "subsec:complex-operators",
        "subsubsec:multi-component-operators",
        "subsubsec:time-dependent-weak",
        "subsubsec:high-dimensional-proof",
        "subsec:inverse-stokes",
        "app:stokes_inverse_details",
    ];
    if name == "methods" {
        return 0;
    }
    let place = LABELS.iter().position(|known| Some(*known) == label);
    place.map_or(LABELS.len() + 1, |place| place + 1)
}
