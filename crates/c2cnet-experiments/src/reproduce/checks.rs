//! What must hold of the errors of an experiment. A check that fails is shown; nothing stops.

use super::experiment::CheckSpec;
use super::run::Record;
use crate::run_files::Check;
use crate::terminal::error;

/// Rounding that an error may be under its floor.
const ROUNDING: f64 = 1e-9;

/// A difference of two runs that is no difference, if the seeds do not differ by more.
const TIE: f64 = 0.05;

/// No error may be under the floor of its own output space: `what`, error and floor of each evaluation.
pub fn floors(evaluated: &[(String, f64, f64)]) -> Option<Check> {
    let ratio =
        |(_, rl2e, floor): &(String, f64, f64)| if *floor > 0.0 { rl2e / floor } else { 1.0 };
    let least = evaluated
        .iter()
        .min_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let value = ratio(least);
    Some(Check {
        what: "the prediction error is never under the floor".into(),
        passed: value >= 1.0 - ROUNDING,
        value: Some(value),
        bound: Some(1.0),
        detail: format!(
            "the smallest of {} ratios of error and floor: {}, RL2E {}, floor {}",
            evaluated.len(),
            least.0,
            error(least.1),
            error(least.2)
        ),
    })
}

/// The check, if its runs were made.
pub fn of_runs(spec: &CheckSpec, records: &[Record]) -> Option<Check> {
    let find = |id: &str| records.iter().find(|r| r.spec.id == id);
    let (value, spread) = find(&spec.run)?.rl2e();
    let (bound, passed, detail) = if let Some(than) = &spec.than {
        let (other, other_spread) = find(than)?.rl2e();
        let deviation = spread.unwrap_or(0.0).max(other_spread.unwrap_or(0.0));
        let room = deviation.max(TIE * other);
        let verdict = if value <= other {
            ""
        } else if value <= other + room {
            ": a tie"
        } else {
            ": more"
        };
        let detail = format!(
            "{} against {}, deviation over seeds {}{verdict}",
            error(value),
            error(other),
            error(deviation)
        );
        (other, value <= other + room, detail)
    } else if let Some(bound) = spec.at_most {
        (bound, value <= bound, String::new())
    } else {
        let bound = spec.at_least?;
        (
            bound,
            value >= bound,
            "expected to be at least the bound".into(),
        )
    };
    Some(Check {
        what: spec.what.clone(),
        passed,
        value: Some(value),
        bound: Some(bound),
        detail,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_under_its_floor_is_found() {
        let fine = ("fine".to_string(), 2e-3, 1e-3);
        assert!(floors(std::slice::from_ref(&fine)).unwrap().passed);
        let check = floors(&[fine, ("odd".into(), 0.9e-3, 1e-3)]).unwrap();
        assert!(!check.passed && check.detail.contains("odd"));
        assert!(floors(&[]).is_none());
    }
}
