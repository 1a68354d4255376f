//! Settings that must lie in a range.

use c2cnet::{Error, Result};

/// Fails unless `holds`, saying that setting `name` of `problem` is `value` and `must` be otherwise.
pub(crate) fn require(
    holds: bool,
    problem: &str,
    name: &str,
    value: impl std::fmt::Display,
    must: &str,
) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::Config(format!(
        "settings of problem {problem}: {name} = {value} must be {must}"
    )))
}
