//! Samples made one by one, in parallel, watched and stoppable.

use c2cnet::{Error, Result};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Watches a generation and may stop it.
pub trait Watcher: Sync {
    /// So many samples of so many are done.
    fn done(&self, done: usize, total: usize);

    /// Whether to stop at the next opportunity.
    fn cancelled(&self) -> bool {
        false
    }
}

/// A watcher that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn done(&self, _: usize, _: usize) {}
}

/// `make(k)` for every sample `k`, in order, made in parallel.
///
/// # Errors
/// The first error of `make`, or [`Error::Interrupted`] if the watcher asks to stop.
pub fn make_samples<T: Send>(
    count: usize,
    watcher: &dyn Watcher,
    make: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let done = AtomicUsize::new(0);
    (0..count)
        .into_par_iter()
        .map(|k| {
            if watcher.cancelled() {
                return Err(Error::Interrupted);
            }
            let sample = make(k)?;
            watcher.done(done.fetch_add(1, Ordering::Relaxed) + 1, count);
            Ok(sample)
        })
        .collect()
}
