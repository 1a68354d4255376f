//! The library's errors as exceptions with the same message.

use c2cnet::Error;
use pyo3::exceptions::{
    PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyPermissionError, PyRuntimeError,
    PyValueError,
};
use pyo3::{PyErr, create_exception};
use std::io::ErrorKind;

create_exception!(
    c2cnet,
    C2CError,
    PyRuntimeError,
    "A computation that failed."
);

/// The exception for an error.
pub fn exception(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Numerical(_) | Error::Device(_) => C2CError::new_err(message),
        Error::Format { .. } => PyOSError::new_err(message),
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
            _ => PyOSError::new_err(message),
        },
        Error::Interrupted => PyKeyboardInterrupt::new_err(message),
        // Data, settings, shapes, points: what the caller gave.
        _ => PyValueError::new_err(message),
    }
}
