//! What is going on, for someone who waits at a terminal.

use crate::interrupt;
use c2cnet::operator::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A spinner with the current step and the time since the start, on a terminal's standard error;
/// nothing in a pipe.
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

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
