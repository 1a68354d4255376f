//! Threads that survive `fork`.
//!
//! `multiprocessing` forks on many systems. A forked process has none of its parent's threads, so
//! work handed to the parent's pool would never be done. Such a process gets its own pool.

use crate::errors::exception;
use c2cnet::{Error, Result};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The process that imported the module.
static IMPORTER: AtomicU32 = AtomicU32::new(0);

/// How many threads were asked for; 0: one per core.
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// The pool of a process that forked or was told how many threads to take, and which process that is.
static OWN: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Records which process may use rayon's own pool.
pub fn remember_process() {
    IMPORTER.store(std::process::id(), Relaxed);
}

/// Uses this many threads from now on, but no more than there are cores, or one per core again. Results do not depend on
/// it.
#[pyfunction]
#[pyo3(signature = (count=None))]
pub fn set_threads(count: Option<usize>) -> PyResult<()> {
    if count == Some(0) {
        let reason = "threads: give a number of at least 1, or None for one per core";
        return Err(exception(Error::Config(reason.into())));
    }
    let cores = std::thread::available_parallelism().map_or(usize::MAX, NonZeroUsize::get);
    WANTED.store(count.map_or(0, |count| count.min(cores)), Relaxed);
    let mut own = OWN.lock().unwrap_or_else(|e| e.into_inner());
    match own.take() {
        // Of the parent: its threads could not be joined here.
        Some(pool) if pool.0 != std::process::id() => std::mem::forget(pool),
        pool => drop(pool),
    }
    Ok(())
}

/// How many threads work.
#[pyfunction]
pub fn threads(py: Python<'_>) -> PyResult<usize> {
    py.detach(|| run(|| Ok(rayon::current_num_threads())))
        .map_err(exception)
}

/// Does `work` with threads that exist.
pub fn run<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    guarded(|| run_in_pool(work))
}

/// Makes a panic, which would be a mistake in the program, an error: as an exception of its own kind it would pass by
/// `except Exception`.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let caught = std::panic::catch_unwind(AssertUnwindSafe(work));
    caught.unwrap_or_else(|payload| {
        let reason = payload.downcast_ref::<&str>().map(ToString::to_string);
        let reason = reason.or_else(|| payload.downcast_ref::<String>().cloned());
        Err(Error::Numerical(format!(
            "internal error, which should not happen: {}; please report it",
            reason.unwrap_or_default()
        )))
    })
}

/// Panics, for a test of what Python sees of it.
#[pyfunction]
pub fn _panic(py: Python<'_>) -> PyResult<()> {
    py.detach(|| run(|| panic!("on request")))
        .map_err(exception)
}

fn run_in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let process = std::process::id();
    let wanted = WANTED.load(Relaxed);
    if process == IMPORTER.load(Relaxed) && wanted == 0 {
        return work();
    }
    let pool = {
        let mut own = OWN.lock().unwrap_or_else(|e| e.into_inner());
        match &*own {
            Some((owner, pool)) if *owner == process => pool.clone(),
            _ => {
                let pool = ThreadPoolBuilder::new().num_threads(wanted).build();
                let pool = Arc::new(pool.expect("threads can be started"));
                // The parent's pool is not dropped: its threads could not be joined here.
                std::mem::forget(own.replace((process, pool.clone())));
                pool
            }
        }
    };
    pool.install(work)
}
