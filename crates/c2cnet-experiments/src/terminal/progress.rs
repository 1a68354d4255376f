//! Progress of long work, for someone waiting at a terminal.

use super::{interrupt, shown};
use c2cnet::observe::{self, Event};
use c2cnet::{Device, Observer};
use c2cnet_problems::Watcher;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A spinner with the current step and the time since the start, or a bar with the time left where
/// the amount of work is known, on a terminal's standard error; nothing in a pipe.
pub struct Progress(ProgressBar, Device);

const SPINNER: &str = "{spinner} {msg} {elapsed:.dim}";
const COUNT: &str = "{spinner} {msg} {bar:30} {pos}/{len} {eta:.dim} left";
/// Two lines: one with everything would be cut off at the edge of a narrow terminal.
const TRAINING: &str =
    "{spinner} {msg} {elapsed:.dim}\n  {bar:14} {pos}/{len} {eta:.dim} left {prefix}";

impl Progress {
    /// Starts with a first step.
    pub fn start(step: impl Into<String>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_message(shown(step.into()));
        bar.enable_steady_tick(Duration::from_millis(120));
        let progress = Progress(bar, Device::Cpu);
        progress.look(SPINNER);
        progress
    }

    /// Shows nothing: for one of several works that go on at the same time.
    pub fn hidden() -> Self {
        Progress(ProgressBar::hidden(), Device::Cpu)
    }

    /// The same, for networks that are trained on `device`.
    pub fn on(mut self, device: Device) -> Self {
        self.1 = device;
        self
    }

    /// Says something on standard error, terminal or not, beside the bar.
    pub fn note(&self, text: impl std::fmt::Display) {
        self.0.suspend(|| eprintln!("note: {}", shown(text)));
    }

    fn look(&self, template: &str) {
        let style = ProgressStyle::with_template(template);
        self.0
            .set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    /// A bar of `total` steps, `done` of which may have been done earlier.
    fn count(&self, template: &str, done: usize, total: usize) {
        if self.0.length() != Some(total as u64) {
            self.look(template);
            self.0.set_length(total as u64);
            self.0.set_position(done as u64);
            self.0.reset_eta();
        }
        self.0.set_position(done as u64);
    }
}

impl Observer for Progress {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Begin(step) => match step.seconds() {
                Some(seconds) => self.step(format!("{step}, about {seconds:.0} s")),
                None => self.step(step.to_string()),
            },
            Event::Training(now) => self.training(now),
        }
    }

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }

    fn device(&self) -> Device {
        self.1
    }
}

impl Progress {
    /// A step begins.
    pub fn step(&self, text: impl Into<String>) {
        if self.0.length().is_some() {
            self.look(SPINNER);
            self.0.unset_length();
        }
        self.0.set_message(shown(text.into()));
    }

    fn training(&self, now: &observe::Progress<'_>) {
        let mut text = format!("loss {:.2e}", now.loss);
        if let Some(v) = now.metric.and_then(|m| m.validation_rl2e) {
            text += &format!(" held out {v:.2e}");
        }
        self.0.set_prefix(format!("{text} rate {:.1e}", now.rate));
        self.count(TRAINING, now.step, now.steps);
    }
}

impl Watcher for Progress {
    fn done(&self, done: usize, total: usize) {
        self.count(COUNT, done, total);
    }

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
