//! Who waits for the samples.

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
