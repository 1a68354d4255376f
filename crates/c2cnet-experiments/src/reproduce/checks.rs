//! What must hold of the errors of an experiment. A check that fails is shown; nothing stops.

use super::experiment::{CheckSpec, sized};
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

/// Fewer pairs than these say nothing about growth.
const PAIRS: usize = 4;

/// The rank correlation from which on one thing grows with another.
const GROWS: f64 = 0.5;

/// Whether the second number of each pair grows with the first; none if there are too few.
pub fn grows(what: String, pairs: &[(f64, f64)]) -> Option<Check> {
    if pairs.len() < PAIRS {
        return None;
    }
    let rank = |of: fn(&(f64, f64)) -> f64, pair: &(f64, f64)| {
        let below = pairs.iter().filter(|other| of(other) < of(pair)).count();
        below as f64 - (pairs.len() - 1) as f64 / 2.0
    };
    let ranks = pairs.iter().map(|p| (rank(|p| p.0, p), rank(|p| p.1, p)));
    let [xy, xx, yy] = ranks.fold([0.0; 3], |[xy, xx, yy], (x, y)| {
        [xy + x * y, xx + x * x, yy + y * y]
    });
    let value = xy / (xx * yy).sqrt();
    Some(Check {
        what,
        passed: value >= GROWS,
        value: Some(value),
        bound: Some(GROWS),
        detail: format!("rank correlation over {} fits", pairs.len()),
    })
}

/// The check, if its runs were made.
pub fn of_runs(spec: &CheckSpec, records: &[Record]) -> Option<Check> {
    let find = |id: &str| records.iter().find(|r| r.spec.id == id);
    let record = find(&spec.run)?;
    let (value, spread) = record.rl2e();
    let (bound, passed, detail) = if let Some(than) = &spec.than {
        let (other, other_spread) = find(than)?.rl2e();
        let deviation = spread.unwrap_or(0.0).max(other_spread.unwrap_or(0.0));
        let tolerance = deviation.max(TIE * other);
        let verdict = if value <= other {
            ""
        } else if value <= other + tolerance {
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
        (other, value <= other + tolerance, detail)
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
        what: sized(&spec.what, record.n_train),
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
    fn growth_is_found() {
        let check = |ys: [f64; 5]| {
            let pairs: Vec<_> = ys.iter().enumerate().map(|(x, y)| (x as f64, *y)).collect();
            grows("it".into(), &pairs).unwrap()
        };
        assert_eq!(check([1.0, 2.0, 4.0, 8.0, 9.0]).value, Some(1.0));
        assert!(!check([5.0, 4.0, 3.0, 2.0, 1.0]).passed);
        assert!(grows("it".into(), &[(0.0, 1.0)]).is_none());
    }

    #[test]
    fn an_error_under_its_floor_is_found() {
        let fine = ("fine".to_string(), 2e-3, 1e-3);
        assert!(floors(std::slice::from_ref(&fine)).unwrap().passed);
        let check = floors(&[fine, ("odd".into(), 0.9e-3, 1e-3)]).unwrap();
        assert!(!check.passed && check.detail.contains("odd"));
        assert!(floors(&[]).is_none());
    }
}
