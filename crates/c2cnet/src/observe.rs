//! What long work reports while it runs, how it is stopped, and where it runs.

use crate::Result;
use crate::compute::Device;
use crate::storage::Archive;
use serde::{Deserialize, Serialize};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Watches a fit, may stop it, and keeps the checkpoints of the networks it trains.
pub trait Observer: Sync {
    /// Something happened.
    fn event(&self, _: &Event<'_>) {}

    /// Whether to stop; a training in progress writes a last checkpoint first.
    fn cancelled(&self) -> bool {
        false
    }

    /// Where networks are trained and kernel maps are fitted. Not a setting, because the device is not part of the model:
    /// a fit interrupted on one device may continue on another.
    fn device(&self) -> Device {
        Device::Cpu
    }

    /// How often to call [`Observer::checkpoint`], if at all.
    fn checkpoint_every(&self) -> Option<Duration> {
        None
    }

    /// Receives everything needed to continue a training from here; `mark` identifies the run
    /// by its data and settings.
    ///
    /// # Errors
    /// A returned error ends training.
    fn checkpoint(&self, _mark: &str, _: &Archive) -> Result<()> {
        Ok(())
    }

    /// The last checkpoint of the run `mark`, if training is to continue from it.
    ///
    /// # Errors
    /// A returned error ends training before it begins.
    fn resume(&self, _mark: &str) -> Result<Option<Archive>> {
        Ok(None)
    }
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// What an observer is notified of.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A step of the work begins; the one before has ended.
    Begin(&'a Step),
    /// A network has made some steps.
    Training(&'a Progress<'a>),
}

/// One step of a fit or a diagnosis. Its [`Display`](std::fmt::Display) form says what is being done.
#[derive(Debug, Clone, PartialEq)]
pub struct Step(pub(crate) Work);

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Work {
    /// Output bases are compared.
    SearchOutputBasis,
    /// Input bases are compared by how well they represent the inputs.
    SearchInputBasis,
    /// An input basis is judged by the whole operator.
    TryInputBasis(String),
    /// A prior is learned from scattered readings.
    LearnPrior,
    /// Output bases are factored and training outputs projected.
    FitOutputs,
    /// Training inputs are encoded.
    EncodeInputs {
        /// After taking logarithms.
        log: bool,
    },
    /// Maps in closed form are compared.
    ChooseMap {
        /// On encoded logarithms.
        log: bool,
    },
    /// A network is trained for a part of its steps, to see whether the whole is worth its time.
    ProbeNetwork {
        /// The probe takes `1/part` of the steps.
        part: usize,
    },
    /// A network is trained to be judged by held-out samples.
    TrainToJudge {
        /// Samples that train.
        train: usize,
        /// All training samples.
        samples: usize,
        /// How long it will take, where that is known.
        seconds: Option<f64>,
    },
    /// The network of the model is trained.
    TrainOnAll {
        /// How long it will take, where that is known.
        seconds: Option<f64>,
    },
    /// Errors on held-out samples are computed.
    Judge,
    /// The map is fitted to all training samples.
    FitMap,
    /// An encoder is examined.
    DiagnoseEncoder,
    /// Output bases are compared for display.
    CompareFloors,
}

impl Step {
    /// How many seconds it is expected to take, where that is known.
    pub fn seconds(&self) -> Option<f64> {
        match &self.0 {
            Work::TrainToJudge { seconds, .. } | Work::TrainOnAll { seconds } => *seconds,
            _ => None,
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let logged = |log: &bool| if *log { " with log input" } else { "" };
        match &self.0 {
            Work::SearchOutputBasis => write!(f, "searching for an output basis"),
            Work::SearchInputBasis => write!(f, "searching for an input basis"),
            Work::TryInputBasis(name) => write!(f, "trying {name} for the input"),
            Work::LearnPrior => write!(f, "learning a prior of the input"),
            Work::FitOutputs => write!(f, "fitting the output space"),
            Work::EncodeInputs { log } => write!(f, "encoding inputs{}", logged(log)),
            Work::ChooseMap { log } => write!(f, "choosing the coefficient map{}", logged(log)),
            Work::ProbeNetwork { part } => {
                write!(f, "training a network for 1/{part} of its steps")
            }
            Work::TrainToJudge { train, samples, .. } => {
                write!(f, "training a network on {train} of {samples} samples")
            }
            Work::TrainOnAll { .. } => write!(f, "training the network on all samples"),
            Work::Judge => write!(f, "judging on held-out samples"),
            Work::FitMap => write!(f, "fitting the map to all training samples"),
            Work::DiagnoseEncoder => write!(f, "diagnosing the encoder"),
            Work::CompareFloors => write!(f, "comparing output bases"),
        }
    }
}

/// The progress of the training of a network.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Steps made, over all stages.
    pub step: usize,
    /// Steps planned.
    pub steps: usize,
    /// The loss of the last step.
    pub loss: f64,
    /// The rate of the last step.
    pub rate: f64,
    /// The last record.
    pub metric: Option<&'a Metric>,
    /// Whether that record is new. Progress is reported at every record, and about ten times per second.
    pub recorded: bool,
}

/// One record of the history of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// The stage, from 0.
    pub stage: usize,
    /// Steps made, over all stages.
    pub step: usize,
    /// The mean loss since the last record.
    pub loss: f64,
    /// The mean relative error of training samples since the last record.
    pub train_rl2e: f64,
    /// The loss of the validation samples.
    pub validation_loss: Option<f64>,
    /// Their mean relative error.
    pub validation_rl2e: Option<f64>,
    /// The rate of the last step.
    pub rate: f64,
    /// The norm of its gradient.
    pub gradient_norm: f64,
}

/// How often a waiting caller checks for cancellation.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// What `work` returns, or [`crate::Error::Interrupted`] as soon as `cancelled` asks for it: then the work, which cannot be
/// stopped, is left to end by itself. A thread of a pool does the work itself, since nobody might be left to do it.
pub(crate) fn unless<T: Send + 'static>(
    cancelled: &dyn Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    if rayon::current_thread_index().is_some() {
        return Ok(work());
    }
    let (done, wait) = mpsc::sync_channel(1);
    let worker = std::thread::Builder::new().name("factorisation".into());
    let worker = worker.spawn(move || {
        // Nobody listens any more if the caller has gone.
        let _ = done.send(work());
    });
    let worker =
        worker.map_err(|e| crate::Error::Numerical(format!("could not start a thread: {e}")))?;
    loop {
        match wait.recv_timeout(CANCEL_CHECK) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) if cancelled() => return Err(crate::Error::Interrupted),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Err(crate::Error::Interrupted),
            },
        }
    }
}

/// [`crate::Error::Interrupted`] once the observer asks to stop.
pub(crate) fn check_cancelled(observer: &dyn Observer) -> Result<()> {
    match observer.cancelled() {
        true => Err(crate::Error::Interrupted),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn work_that_nobody_waits_for_any_more_is_left() {
        assert_eq!(unless(&|| false, || 7).unwrap(), 7);
        let clock = Instant::now();
        let long = || std::thread::sleep(Duration::from_secs(20));
        let stopped = unless(&|| clock.elapsed() > Duration::from_millis(100), long);
        assert!(matches!(stopped, Err(crate::Error::Interrupted)));
        assert!(clock.elapsed() < Duration::from_secs(10));
        // A thread of a pool waits for nobody.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        assert_eq!(pool.unwrap().install(|| unless(&|| true, || 8)).unwrap(), 8);
    }
}
