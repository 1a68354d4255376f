//! What is going on, for someone who waits at a terminal.

use crate::interrupt;
use c2cnet::map::mlp::TrainingObserver;
use c2cnet::operator::Observer;
use c2cnet_problems::Watcher;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A spinner with the current step and the time since the start, or a bar with the time left where
/// the amount of work is known, on a terminal's standard error; nothing in a pipe.
pub struct Progress(ProgressBar);

impl Progress {
    /// Starts with a first step.
    pub fn start(step: impl Into<String>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style);
        bar.set_message(step.into());
        bar.enable_steady_tick(Duration::from_millis(120));
        Progress(bar)
    }
}

impl Observer for Progress {
    fn step(&self, text: &str) {
        self.0.set_message(text.to_string());
    }
}

impl TrainingObserver for Progress {
    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl Watcher for Progress {
    fn done(&self, done: usize, total: usize) {
        if self.0.length() != Some(total as u64) {
            let style = ProgressStyle::with_template(
                "{spinner} {msg} {bar:30} {pos}/{len} {eta:.dim} left",
            );
            self.0
                .set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.0.set_length(total as u64);
        }
        self.0.set_position(done as u64);
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
