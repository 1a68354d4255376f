//! Long work on a separate thread, while the calling thread listens for Ctrl-C.

use crate::errors::{C2CError, exception};
use crate::pool;
use c2cnet::observe::Event as FitEvent;
use c2cnet::{Device, Observer};
use c2cnet_problems::Watcher;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often signals are checked.
const LISTEN: Duration = Duration::from_millis(50);

/// How long to wait for work that was asked to stop. What has not stopped by then continues in the
/// background; its result is dropped.
const GRACE: Duration = Duration::from_millis(500);

enum Event<T> {
    Told(Value),
    Done(T),
}

/// The worker's end: reports progress and learns whether to stop.
pub struct Watch {
    tell: Box<dyn Fn(Value) + Send + Sync>,
    stop: Arc<AtomicBool>,
    device: Device,
}

impl Observer for Watch {
    fn event(&self, event: &FitEvent<'_>) {
        match event {
            FitEvent::Begin(step) => (self.tell)(json!({ "step": step.to_string() })),
            FitEvent::Training(progress) => {
                if let (Some(metric), true) = (progress.metric, progress.recorded) {
                    (self.tell)(json!({ "metric": metric, "steps": progress.steps }));
                }
            }
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Relaxed)
    }

    fn device(&self) -> Device {
        self.device
    }
}

impl Watcher for Watch {
    fn done(&self, _: usize, _: usize) {}

    fn cancelled(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

/// Does `work` without the interpreter's lock. Its reports go to `listener` as JSON; an
/// exception there, or a signal whose handler raises one, stops the work.
pub fn watched<T: Send + 'static>(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> c2cnet::Result<T> + Send + 'static,
) -> PyResult<T> {
    watched_on(py, Device::Cpu, listener, work)
}

/// The same, with networks trained on `device`.
pub fn watched_on<T: Send + 'static>(
    py: Python<'_>,
    device: Device,
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> c2cnet::Result<T> + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let watch = Watch {
        tell: listens(listener.is_some(), &sender),
        stop: stop.clone(),
        device,
    };
    std::thread::spawn(move || {
        let result = pool::run(|| work(&watch));
        // After an interruption nobody is waiting.
        let _ = sender.send(Event::Done(result));
    });
    let receiver = Mutex::new(receiver);
    loop {
        let heard = match next(py, &receiver, LISTEN) {
            Ok(Event::Done(result)) => return result.map_err(exception),
            Ok(Event::Told(value)) => match listener {
                Some(listener) => listener.call1((value.to_string(),)).map(drop),
                None => Ok(()),
            },
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(C2CError::new_err(
                    "the computation ended unexpectedly; please report it with the message above",
                ));
            }
        };
        if let Err(raised) = heard.and_then(|()| py.check_signals()) {
            stop.store(true, Relaxed);
            let begin = Instant::now();
            while let Some(left) = GRACE.checked_sub(begin.elapsed()) {
                match next(py, &receiver, left) {
                    Ok(Event::Told(_)) => {}
                    _ => break,
                }
            }
            return Err(raised);
        }
    }
}

fn listens<T: Send + 'static>(
    heard: bool,
    sender: &Sender<Event<T>>,
) -> Box<dyn Fn(Value) + Send + Sync> {
    if !heard {
        return Box::new(|_| {});
    }
    let sender = sender.clone();
    Box::new(move |value| {
        let _ = sender.send(Event::Told(value));
    })
}

fn next<T: Send>(
    py: Python<'_>,
    receiver: &Mutex<Receiver<T>>,
    timeout: Duration,
) -> Result<T, RecvTimeoutError> {
    py.detach(|| {
        let receiver = receiver.lock().unwrap_or_else(|e| e.into_inner());
        receiver.recv_timeout(timeout)
    })
}
