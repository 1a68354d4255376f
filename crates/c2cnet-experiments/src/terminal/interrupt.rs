//! Ctrl-C: at once where nothing can be lost, at the next opportunity where something could.

use c2cnet::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// The exit code of a command that was interrupted.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// How much work is under way that must not stop halfway.
static DEFERRING: AtomicUsize = AtomicUsize::new(0);

/// Installs the handler.
///
/// # Errors
/// If there is a handler already.
pub fn install() -> std::result::Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, SeqCst) || DEFERRING.load(SeqCst) == 0 {
            std::process::exit(i32::from(EXIT_CODE));
        }
        eprintln!("\ninterrupted: stopping at the next opportunity; Ctrl-C again stops at once");
    })
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

/// Runs `work` that checks [`requested`] itself, or that must not stop halfway (a file being
/// written): the first Ctrl-C during it only sets a flag.
pub fn patiently<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let deferred = DeferredInterrupt::begin();
    let result = work();
    drop(deferred);
    let result = result?;
    if requested() {
        return Err(Error::Interrupted);
    }
    Ok(result)
}

/// While it lives, the first Ctrl-C only sets a flag.
#[must_use]
pub struct DeferredInterrupt(());

impl DeferredInterrupt {
    pub fn begin() -> Self {
        DEFERRING.fetch_add(1, SeqCst);
        DeferredInterrupt(())
    }
}

impl Drop for DeferredInterrupt {
    fn drop(&mut self) {
        DEFERRING.fetch_sub(1, SeqCst);
    }
}
