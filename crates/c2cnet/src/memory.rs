//! How much memory there is: what settings ask for is held against it before it is allocated.
//!
//! Systems promise more memory than they have and kill whoever uses it, so that a successful allocation proves nothing.

use crate::{Error, Result};
use std::sync::LazyLock;

/// The variable that sets another limit, in GiB.
const VARIABLE: &str = "C2CNET_MEMORY";

const GIB: f64 = (1u64 << 30) as f64;

/// Bytes: as the variable says, else what the machine has or its container may use.
static LIMIT: LazyLock<f64> = LazyLock::new(|| {
    let given = std::env::var(VARIABLE).ok();
    let given = given.and_then(|text| text.trim().parse::<f64>().ok());
    match given.filter(|gib| *gib > 0.0) {
        Some(gib) => gib * GIB,
        None => machine(),
    }
});

fn machine() -> f64 {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let total = system.total_memory();
    let allowed = system.cgroup_limits().map_or(total, |c| c.total_memory);
    match total.min(allowed) {
        // Not known: nothing is refused.
        0 => f64::INFINITY,
        bytes => bytes as f64,
    }
}

/// Checks that there is memory for an array with these `extents`.
///
/// # Errors
/// [`Error::Config`] that names `what` and the sizes.
pub fn check_allocation(what: &str, extents: &[usize]) -> Result<()> {
    let bytes = extents.iter().fold(8.0, |bytes, &n| bytes * n as f64);
    if bytes <= *LIMIT {
        return Ok(());
    }
    let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
    Err(Error::Config(format!(
        "{what}: {} values need {:.3e} GiB of memory, more than the {:.1} GiB available; ask for less \
         ({VARIABLE} sets another limit, in GiB)",
        extents.join(" x "),
        bytes / GIB,
        *LIMIT / GIB
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_holds_is_refused_by_its_numbers() {
        check_allocation("a matrix", &[1000, 1000]).unwrap();
        check_allocation("nothing", &[usize::MAX, 0]).unwrap();
        let error = check_allocation("a matrix", &[usize::MAX, usize::MAX]).unwrap_err();
        let message = error.to_string();
        for part in ["a matrix: 18446744073709551615 x", "GiB", "C2CNET_MEMORY"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
