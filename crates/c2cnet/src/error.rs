//! Errors, with the numbers a person needs to fix them.

mod outside;

use rayon::iter::ParallelIterator;
use std::path::PathBuf;

/// The result of every fallible operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Every error of this crate. Messages name the sample, the shape or the value, and say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Arrays whose shapes do not fit together.
    #[error("{what}: found {found}, expected {expected}")]
    Shape {
        /// Which array.
        what: String,
        /// The shape that would fit, and what to do, where that is known.
        expected: String,
        /// The shape that was found.
        found: String,
    },
    /// NaN or an infinity where a number is needed.
    #[error("{what} holds {value} at {place}; {}", repair(*value, *optional))]
    NotFinite {
        /// Which array.
        what: String,
        /// Where in it.
        place: String,
        /// The value found there.
        value: f64,
        /// Whether it is a reading, which may be missing.
        optional: bool,
    },
    /// A point outside the domain of a basis.
    #[error("{}", outside::words(*index, point, (domain, wider), field))]
    OutsideDomain {
        /// Index of the first such point.
        index: usize,
        /// Its coordinates.
        point: Vec<f64>,
        /// The domain, as a box; a mesh in it may not hold the point.
        domain: Vec<[f64; 2]>,
        /// The smallest box that holds the domain and all points.
        wider: Vec<[f64; 2]>,
        /// The family of the basis.
        basis: &'static str,
        /// Whose points these are, as its settings are called: `input`, `outputs.NAME`; empty if that is not known.
        field: String,
    },
    /// Data that cannot be used, though its shapes fit.
    #[error("{0}")]
    Data(String),
    /// An invalid setting.
    #[error("{0}")]
    Config(String),
    /// A computation that failed.
    #[error("{0}")]
    Numerical(String),
    /// A device that is not there, cannot be used, or failed.
    #[error("{0}")]
    Device(String),
    /// A file that is damaged or not what it should be.
    #[error("{path}: {reason}", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The work was stopped on request.
    #[error("interrupted")]
    Interrupted,
}

/// A number with at most four digits, in ordinary notation where that is short.
pub(crate) fn short(v: f64) -> String {
    let size = v.abs();
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if v == 0.0 || (1e-3..1e5).contains(&size) {
        let digits = match v == 0.0 {
            true => 0,
            false => (3 - size.log10().floor() as i32).clamp(0, 6) as usize,
        };
        return trimmed(&format!("{v:.digits$}"));
    }
    let text = format!("{v:.3e}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits)),
        None => text,
    }
}

/// `count` things: `1 sample`, `2 samples`.
pub fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// What to do about a value that is not finite.
fn repair(value: f64, optional: bool) -> &'static str {
    match (value.is_nan(), optional) {
        (true, true) => {
            "remove or repair that sample, or, if NaN stands for a reading that is missing, say so: `--missing nan`, in \
             Python `missing=\"nan\"`, in Rust `Missing::Nan` (c2cnet does not guess)"
        }
        (true, false) => {
            "only values of functions may be missing, and this cannot; repair it or leave it out"
        }
        (false, _) => "nothing can be computed with it; repair it or leave it out",
    }
}

impl Error {
    /// A [`Error::Shape`] from displayable parts.
    pub fn shape(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Error::Shape {
            what: what.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// The same, with what it is about in front of it where the message does not say.
    pub(crate) fn within(self, what: &str) -> Self {
        match self {
            Error::Data(text) => Error::Data(format!("{what}: {text}")),
            Error::Config(text) => Error::Config(format!("{what}: {text}")),
            other => other,
        }
    }

    /// The same with the field whose points lie outside, `kind` being `input` or `output`.
    pub(crate) fn at_points_of(self, kind: &str, name: &str) -> Self {
        match self {
            Error::OutsideDomain {
                index,
                point,
                domain,
                wider,
                basis,
                ..
            } => Error::OutsideDomain {
                index,
                point,
                domain,
                wider,
                basis,
                field: match name {
                    "" => kind.to_string(),
                    name => format!("{kind}s.{name}"),
                },
            },
            other => other,
        }
    }

    /// The same about a sample of an `input` or `output`.
    pub(crate) fn of_sample(self, kind: &str, sample: usize) -> Self {
        let error = self.at_points_of(kind, "");
        Error::Data(format!("{kind} sample {sample}: {error}"))
    }

    /// An [`Error::Io`] for `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io {
            path: path.into(),
            source,
        }
    }

    /// An [`Error::Format`] for `path`.
    pub fn format(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Error::Format {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

/// All results, or the error of the first item that failed. Rayon's own `collect` returns whichever error
/// some thread met first, so the sample that a message names would change from run to run.
pub(crate) fn in_order<T: Send>(
    results: impl ParallelIterator<Item = Result<T>>,
) -> Result<Vec<T>> {
    results.collect::<Vec<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_in_messages_are_short() {
        for (v, text) in [
            (1.007, "1.007"),
            (0.0, "0"),
            (100.0, "100"),
            (0.001, "0.001"),
            (-12_345.678, "-12346"),
            (3.609_970_858_697_047e200, "3.61e200"),
            (1e160, "1e160"),
            (2.1e-4, "2.1e-4"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(short(v), text);
        }
    }
}
