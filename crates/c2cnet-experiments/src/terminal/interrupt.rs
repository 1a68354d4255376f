//! Ctrl-C: at once where nothing can be lost, at the next opportunity where something could.

use c2cnet::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The exit code of a command that was interrupted.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static PATIENT: AtomicBool = AtomicBool::new(false);

/// Installs the handler.
///
/// # Errors
/// If there is a handler already.
pub fn install() -> std::result::Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, SeqCst) || !PATIENT.load(SeqCst) {
            std::process::exit(i32::from(EXIT_CODE));
        }
        eprintln!("\ninterrupted: stopping at the next opportunity; Ctrl-C again stops at once");
    })
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

/// Does `work` that watches [`requested`] by itself, or that must not stop halfway (a file being
/// written): the first Ctrl-C meanwhile only takes note.
pub fn patiently<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    PATIENT.store(true, SeqCst);
    let result = work();
    PATIENT.store(false, SeqCst);
    let result = result?;
    if requested() {
        return Err(Error::Interrupted);
    }
    Ok(result)
}
