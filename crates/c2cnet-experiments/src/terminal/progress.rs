//! Progress of long work, for someone waiting at a terminal.

use super::{interrupt, shown};
use c2cnet::observe::{self, Event};
use c2cnet::{Device, Observer};
use c2cnet_problems::Watcher;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How progress is shown, for the whole program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Something that moves on a terminal, nothing in a pipe.
    #[default]
    Auto,
    /// A line for each step, and every few seconds while one lasts, terminal or not.
    Plain,
    /// Nothing.
    Off,
}

static CHOSEN: OnceLock<(Style, bool)> = OnceLock::new();

/// Settles the style, and whether every step leaves a line behind it. To be called before anything is shown.
pub fn choose(style: Style, verbose: bool) {
    // Later calls change nothing.
    let _ = CHOSEN.set((style, verbose));
}

fn chosen() -> (Style, bool) {
    *CHOSEN.get_or_init(Default::default)
}

/// A spinner with the current step and the time since the start, or a bar with the time left where
/// the amount of work is known, on a terminal's standard error; in a pipe nothing, or lines ([`choose`]).
pub struct Progress {
    bar: ProgressBar,
    device: Device,
    style: Style,
    /// Whether every step leaves a line.
    verbose: bool,
    started: Instant,
    /// When the last line was written.
    said: Mutex<Instant>,
}

const SPINNER: &str = "{spinner} {msg} {elapsed:.dim}";
const COUNT: &str = "{spinner} {msg} {bar:30} {pos}/{len} {eta:.dim} left";
const BYTES: &str =
    "{spinner} {msg}\n  {bar:30} {decimal_bytes}/{decimal_total_bytes} {eta:.dim} left";
/// Two lines: one with everything would be cut off at the edge of a narrow terminal.
const TRAINING: &str =
    "{spinner} {msg} {elapsed:.dim}\n  {bar:14} {pos}/{len} {eta:.dim} left {prefix}";

/// Between two lines of one step.
const PAUSE: Duration = Duration::from_secs(5);

impl Progress {
    /// Starts with a first step.
    pub fn start(step: impl Into<String>) -> Self {
        let (style, verbose) = chosen();
        let progress = Progress::new(style, verbose);
        // In this order: the first frame is drawn as soon as the bar ticks.
        progress.look(SPINNER);
        progress.step(step);
        progress.bar.enable_steady_tick(Duration::from_millis(120));
        progress
    }

    /// Shows nothing: for one of several works that go on at the same time.
    pub fn hidden() -> Self {
        Progress::new(Style::Off, false)
    }

    fn new(style: Style, verbose: bool) -> Self {
        let target = match style {
            Style::Auto => ProgressDrawTarget::stderr(),
            Style::Plain | Style::Off => ProgressDrawTarget::hidden(),
        };
        let now = Instant::now();
        Progress {
            bar: ProgressBar::with_draw_target(None, target),
            device: Device::Cpu,
            style,
            verbose,
            started: now,
            said: Mutex::new(now),
        }
    }

    /// The same, for networks that are trained on `device`.
    pub fn on(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Says something on standard error, terminal or not, beside the bar.
    pub fn note(&self, text: impl std::fmt::Display) {
        self.bar.suspend(|| eprintln!("note: {}", shown(text)));
    }

    /// A step begins.
    pub fn step(&self, text: impl Into<String>) {
        let text = shown(text.into());
        if self.bar.length().is_some() {
            self.look(SPINNER);
            self.bar.unset_length();
        }
        if self.style == Style::Plain || self.verbose {
            self.line(&text);
        }
        self.bar.set_message(text);
    }

    /// A line on standard error, with the time since the start.
    fn line(&self, text: &str) {
        let seconds = self.started.elapsed().as_secs_f64();
        self.bar.suspend(|| eprintln!("[{seconds:6.1} s] {text}"));
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// A line about how far a step is, if the last one is some time ago.
    fn line_now_and_then(&self, text: impl FnOnce() -> String) {
        let said = *self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if self.style == Style::Plain && said.elapsed() >= PAUSE {
            self.line(&text());
        }
    }

    fn look(&self, template: &str) {
        let style = ProgressStyle::with_template(template);
        self.bar
            .set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    /// A bar of `total` steps, `done` of which may have been done earlier.
    fn count(&self, template: &str, done: usize, total: usize) {
        if self.bar.length() != Some(total as u64) {
            self.look(template);
            self.bar.set_length(total as u64);
            self.bar.set_position(done as u64);
            self.bar.reset_eta();
        }
        self.bar.set_position(done as u64);
    }

    /// This many bytes of a long read are done; `text` names it.
    pub fn amount(&self, text: &str, done: u64, total: u64) {
        self.line_now_and_then(|| {
            let part = 100.0 * done as f64 / total.max(1) as f64;
            format!("  {text}, {part:.0} % of {:.2} GB", total as f64 / 1e9)
        });
        self.bar.set_message(shown(text));
        self.count(BYTES, done as usize, total as usize);
    }

    fn training(&self, now: &observe::Progress<'_>) {
        let mut text = format!("loss {:.2e}", now.loss);
        if let Some(v) = now.metric.and_then(|m| m.validation_rl2e) {
            text += &format!(" held out {v:.2e}");
        }
        text += &format!(" rate {:.1e}", now.rate);
        self.line_now_and_then(|| format!("  step {} of {}, {text}", now.step, now.steps));
        self.bar.set_prefix(text);
        self.count(TRAINING, now.step, now.steps);
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
        self.device
    }
}

impl Watcher for Progress {
    fn done(&self, done: usize, total: usize) {
        self.line_now_and_then(|| format!("  {done} of {total}"));
        self.count(COUNT, done, total);
    }

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
