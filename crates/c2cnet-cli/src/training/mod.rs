//! A fit that trains networks, watched: progress, checkpoints, metrics.

mod checkpoints;
mod curve;
mod metrics;

pub use checkpoints::Checkpoints;
pub use curve::{curves, figure};
pub use metrics::{MetricsFile, read as read_metrics};

use c2cnet::observe::{Event, Metric};
use c2cnet::storage::Archive;
use c2cnet::{Device, Observer};
use c2cnet::{Error, Result};
use c2cnet_experiments::terminal::Progress;
use metrics::Record;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Watches a fit. A fit may train several networks in sequence: a short run to see whether it is
/// worthwhile, one to be judged, one on all samples.
pub struct Training {
    progress: Progress,
    checkpoints: Checkpoints,
    /// How often a checkpoint is written; never when the output is a device or a pipe, next to which no folder should be made.
    every: Option<Duration>,
    resume: bool,
    state: Mutex<State>,
}

/// What changes during the fit.
#[derive(Default)]
struct State {
    /// What the fit is doing.
    step: String,
    /// How many networks it has begun to train.
    begun: usize,
    /// Whether the checkpoints on disk are those of another fit, which are removed when the first of this
    /// one is written: someone who forgot `--resume` can still interrupt and resume.
    foreign: bool,
    metrics: Option<MetricsFile>,
}

impl Training {
    /// A watcher for a fit that will write `model`, with regular checkpoints.
    pub fn new(
        progress: Progress,
        (model, checkpoints): (&Path, Checkpoints),
        every: Duration,
        resume: bool,
        metrics: Option<MetricsFile>,
    ) -> Self {
        let state = State {
            foreign: !resume && checkpoints.exist(),
            metrics,
            ..State::default()
        };
        let special = model.exists() && !model.is_file();
        Training {
            progress,
            checkpoints,
            every: (!special).then_some(every),
            resume,
            state: Mutex::new(state),
        }
    }

    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Says something on standard error.
    pub fn note(&self, text: impl std::fmt::Display) {
        self.progress.note(text);
    }

    /// Removes the checkpoints, once the model is written.
    pub fn finish(self) -> Result<()> {
        match self.state().begun {
            0 => Ok(()),
            _ => self.checkpoints.clear(),
        }
    }

    /// Adds to an error how to resume, if there are checkpoints.
    pub fn explain(&self, error: Error) -> anyhow::Error {
        if self.state().foreign || !self.checkpoints.exist() {
            return error.into();
        }
        match error {
            Error::Interrupted => anyhow::Error::from(error).context(format!(
                "interrupted; to resume from here:\n  {}",
                with_resume(std::env::args().skip(1))
            )),
            Error::Numerical(text) => Error::Numerical(format!(
                "{text}\n  the previous checkpoints are kept in {}",
                self.checkpoints.folder().display()
            ))
            .into(),
            other => other.into(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record<'a>(&self, metrics: impl IntoIterator<Item = &'a Metric>) {
        let mut state = self.state();
        let name = state.step.clone();
        for metric in metrics {
            let record = Record {
                training: state.begun,
                name: name.clone(),
                metric: metric.clone(),
            };
            // A full disk costs the metrics, not the training.
            if let Some(Err(e)) = state.metrics.as_mut().map(|file| file.add(&record)) {
                self.progress.note(format!("{e}; no more metrics"));
                state.metrics = None;
            }
        }
    }

    /// The checkpoint to resume from; reports what happens where that may surprise.
    fn last(&self, mark: &str, name: &str, first: bool) -> Option<Archive> {
        let folder = self.checkpoints.folder().display();
        if !self.resume {
            if first && self.state().foreign {
                self.progress.note(format!(
                    "{folder} holds checkpoints of a fit that did not finish; training starts over and \
                     will replace them (--resume continues from them)"
                ));
            }
            return None;
        }
        match self.checkpoints.read(mark) {
            Ok(Some(archive)) => {
                let steps = &archive.document["state"]["cursor"]["steps_done"];
                self.progress
                    .note(format!("{name}: resuming after {steps} steps"));
                Some(archive)
            }
            Ok(None) => {
                if first && self.checkpoints.exist() {
                    self.progress.note(format!(
                        "the checkpoints in {folder} belong to other data or settings; training starts over"
                    ));
                } else if first {
                    self.progress.note(format!(
                        "there is no checkpoint in {folder}; training starts from the beginning"
                    ));
                }
                None
            }
            Err(e) => {
                self.progress.note(format!("{e}; {name}: starting over"));
                None
            }
        }
    }
}

impl Observer for Training {
    fn event(&self, event: &Event<'_>) {
        self.progress.event(event);
        match event {
            Event::Begin(step) => self.state().step = step.to_string(),
            Event::Training(progress) if progress.recorded => self.record(progress.metric),
            Event::Training(_) => {}
        }
    }

    fn cancelled(&self) -> bool {
        Observer::cancelled(&self.progress)
    }

    fn device(&self) -> Device {
        self.progress.device()
    }

    fn checkpoint_every(&self) -> Option<Duration> {
        self.every
    }

    fn checkpoint(&self, mark: &str, archive: &Archive) -> Result<()> {
        if self.every.is_none() {
            return Ok(());
        }
        let mut written = Ok(());
        if std::mem::take(&mut self.state().foreign) {
            written = self.checkpoints.clear();
        }
        written = written.and_then(|()| self.checkpoints.write(mark, archive));
        // A checkpoint that cannot be written does not end the training.
        if let Err(e) = written {
            self.progress.note(format!("no checkpoint: {e}"));
        }
        Ok(())
    }

    fn resume(&self, mark: &str) -> Result<Option<Archive>> {
        let (name, first) = {
            let mut state = self.state();
            state.begun += 1;
            (state.step.clone(), state.begun == 1)
        };
        let last = self.last(mark, &name, first);
        if let Some(archive) = &last {
            let history = archive.document["state"]["cursor"]["history"].clone();
            let history: Vec<Metric> = serde_json::from_value(history).unwrap_or_default();
            self.record(&history);
        }
        Ok(last)
    }
}

/// The command with these arguments and `--resume`, for a shell.
pub fn with_resume(arguments: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+%@".contains(c);
    let mut words = vec!["c2cnet".to_string()];
    words.extend(arguments.filter(|a| a != "--resume").map(|a| {
        match !a.is_empty() && a.chars().all(plain) {
            true => a,
            false => format!("'{}'", a.replace('\'', r"'\''")),
        }
    }));
    words.push("--resume".into());
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_goes_on_survives_a_shell() {
        let arguments = [
            "fit",
            "my data.npz",
            "--resume",
            "--input-basis",
            "family='pca'",
        ];
        let arguments = arguments.iter().map(ToString::to_string);
        assert_eq!(
            with_resume(arguments),
            r"c2cnet fit 'my data.npz' --input-basis 'family='\''pca'\''' --resume"
        );
    }
}
