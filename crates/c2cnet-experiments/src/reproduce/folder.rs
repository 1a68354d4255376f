//! The run folder: where everything of a run is written.

use super::found::Found;
use crate::output_path;
use crate::run_files::{
    self, Experiment, Files, Hardware, PeerPredictions, Picture, Readable, RunInfo,
};
use crate::terminal::interrupt;
use c2cnet::{C2CNet, Device};
use c2cnet::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The folder of one experiment.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Made if it is not there; result and figures of an earlier attempt go.
    pub fn fresh(run: &Path, name: &str) -> Result<Self> {
        let root = run.join(name);
        let figures = root.join("figures");
        if figures.exists() {
            std::fs::remove_dir_all(&figures).map_err(|e| Error::io(&figures, e))?;
        }
        output_path::folder(&figures)?;
        output_path::folder(&root.join("models"))?;
        remove(&root.join("result.json"))?;
        Ok(Folder { root })
    }

    pub fn write_config(&self, text: &str) -> Result<()> {
        output_path::write(&self.root.join("config.toml"), text)
    }

    /// The last file of an experiment: that it is there means that all is done.
    pub fn write_result(&self, result: &Experiment) -> Result<()> {
        run_files::write(&self.root.join("result.json"), result)
    }

    /// Writes a drawing under `id`, as SVG and as PNG.
    pub fn save_figure(&self, id: &str, svg: &str) -> Result<Files> {
        Files::write(&self.root, id, svg)
    }

    /// Writes one of many drawings under `id`, as SVG alone.
    pub fn save_drawing(&self, id: &str, svg: &str) -> Result<String> {
        let name = format!("figures/{id}.svg");
        output_path::write(&self.root.join(&name), svg)?;
        Ok(name)
    }

    /// Draws the figures that explain the method.
    pub fn save_method_figures(&self) -> Result<Vec<Picture>> {
        crate::method_figures::methods(&self.root)
    }

    /// What the method `peer` predicts for the test samples of the experiment.
    ///
    /// # Errors
    /// Why there is nothing.
    pub fn peer_predictions(&self, peer: &str) -> Readable<PeerPredictions> {
        let experiment = self.root.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("../peers/predictions/{peer}-{experiment}.json");
        run_files::read(&self.root.join(name))
    }

    /// What is kept of the run `id` with this seed, if it was found from the same inputs; a damaged one counts as none.
    pub fn kept(&self, id: &str, seed: u64, fingerprint: &str) -> Option<Found> {
        let found = run_files::read::<Found>(&self.path(id, seed, "json"));
        found.ok().filter(|found| found.fingerprint == fingerprint)
    }

    /// The model that is kept of it, if any.
    ///
    /// # Errors
    /// If there is one and it cannot be read.
    pub fn model(&self, id: &str, seed: u64) -> Result<Option<C2CNet>> {
        let path = self.path(id, seed, "c2c");
        match path.exists() {
            true => C2CNet::load(&path).map(Some),
            false => Ok(None),
        }
    }

    /// Keeps what was found, and the model if there is one.
    pub fn keep(&self, id: &str, seed: u64, model: Option<&C2CNet>, found: &Found) -> Result<()> {
        self.forget(id, seed)?;
        interrupt::patiently(|| {
            if let Some(model) = model {
                model.save(&self.path(id, seed, "c2c"))?;
            }
            run_files::write(&self.path(id, seed, "json"), found)
        })
    }

    /// Removes what is kept.
    pub fn forget(&self, id: &str, seed: u64) -> Result<()> {
        // Without its JSON a model is not used.
        remove(&self.path(id, seed, "json"))?;
        remove(&self.path(id, seed, "c2c"))
    }

    fn path(&self, id: &str, seed: u64, ending: &str) -> PathBuf {
        self.root.join(format!("models/{id}-{seed}.{ending}"))
    }
}

/// Removes a file that may not be there.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, e)),
        _ => Ok(()),
    }
}

/// Writes `run.json`: what ran, where and when.
pub fn describe(run: &Path, quick: bool, command: &str, device: Device) -> Result<()> {
    let info = RunInfo {
        version: env!("CARGO_PKG_VERSION").into(),
        date: today(),
        quick,
        hardware: hardware(device),
        command: command.into(),
    };
    run_files::write(&run.join("run.json"), &info)
}

/// This machine, and the GPU that `device` is.
pub fn hardware(device: Device) -> Hardware {
    Hardware {
        cpu: cpu(),
        gpu: gpu(device),
        cores: std::thread::available_parallelism().ok().map(usize::from),
        memory_gib: memory_gib(),
        os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

/// The name of the GPU that `device` is, if it is one.
fn gpu(device: Device) -> Option<String> {
    let name = match device {
        Device::Cpu => return None,
        Device::Auto => Device::Cuda(0).to_string(),
        gpu => gpu.to_string(),
    };
    let all = c2cnet::compute::devices();
    let found = all.into_iter().find(|d| d.device == name)?;
    found.missing.is_none().then_some(found.name)
}

/// The name of the CPU, where the system reports it.
pub fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn memory_gib() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemTotal"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((kib / 1024.0 / 1024.0 * 10.0).round() / 10.0)
}

/// The date (UTC) as `2026-11-15`.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
    date(seconds.map_or(0, |s| s.as_secs() / 86_400))
}

/// The date this many days after the first of January 1970.
fn date(days: u64) -> String {
    // Years that begin in March, in eras of 400 years: the leap day is then the last of its year.
    let z = days + 719_468;
    let (era, day) = (z / 146_097, z % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{}-{month:02}-{day:02}", 400 * era + year + carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_772), "2026-11-15");
    }
}
