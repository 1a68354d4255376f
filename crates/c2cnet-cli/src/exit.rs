//! From an error to what scripts and people see of it.

use c2cnet::Error;
use c2cnet_experiments::terminal::interrupt;

/// Any other failure.
pub const OTHER: u8 = 1;
/// Wrong usage or settings.
pub const USAGE: u8 = 2;
/// Data that cannot be used.
pub const DATA: u8 = 3;
/// A file that cannot be read or written, or is damaged.
pub const FILE: u8 = 4;
/// A computation that did not succeed.
pub const NUMERICAL: u8 = 5;
/// Not enough memory.
pub const MEMORY: u8 = 6;
/// Interrupted.
pub const INTERRUPTED: u8 = interrupt::EXIT_CODE;

/// The exit code for `error`, by the library's error in its chain.
pub fn code(error: &anyhow::Error) -> u8 {
    let known = error.chain().find_map(|cause| cause.downcast_ref());
    match known {
        Some(Error::Config(_)) => USAGE,
        Some(
            Error::Shape { .. }
            | Error::NotFinite { .. }
            | Error::OutsideDomain { .. }
            | Error::Data(_),
        ) => DATA,
        Some(Error::Format { .. } | Error::Io { .. }) => FILE,
        Some(Error::Numerical(_) | Error::Device(_)) => NUMERICAL,
        Some(Error::Interrupted) => INTERRUPTED,
        _ => OTHER,
    }
}

/// The message of `error`, then its causes if they add something.
pub fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string().trim_end().to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        let cause = cause.trim_end();
        // Some messages already quote their cause.
        if !text.contains(cause) {
            text += &format!("\n  caused by: {cause}");
        }
    }
    text
}

/// Gives running out of memory its own exit code. The standard library prints how much was asked for and then
/// aborts with a signal, from which a script learns nothing.
pub fn speak_when_aborted() {
    #[cfg(unix)]
    {
        use std::sync::{Arc, atomic::AtomicBool};
        let always = Arc::new(AtomicBool::new(true));
        // If this fails, the program still ends, by the signal.
        let _ = signal_hook::flag::register_conditional_shutdown(
            signal_hook::consts::SIGABRT,
            MEMORY.into(),
            always,
        );
    }
}

/// Prints a panic, which would be a bug in the program, as one readable line.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let reason = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        eprintln!(
            "error: internal error, which should not happen: {reason} ({place}); please report it"
        );
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn codes_survive_added_context() {
        let wrapped = Err::<(), _>(Error::Numerical("no convergence".into()))
            .context("fitting")
            .unwrap_err();
        assert_eq!(code(&wrapped), NUMERICAL);
        assert_eq!(message(&wrapped), "fitting\n  caused by: no convergence");
        assert_eq!(code(&anyhow::anyhow!("something else")), OTHER);
    }

    #[test]
    fn a_quoted_cause_is_not_repeated() {
        let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
        let error = anyhow::Error::from(Error::io("a.npz", gone));
        assert_eq!(code(&error), FILE);
        assert_eq!(message(&error).lines().count(), 1);
    }
}
