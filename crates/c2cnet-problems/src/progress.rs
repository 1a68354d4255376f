//! Progress and cancellation.

/// Watches a generation and may stop it.
pub trait Watcher: Sync {
    /// `done` of `total` samples are ready.
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
