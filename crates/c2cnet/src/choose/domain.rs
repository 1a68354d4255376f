//! The domain of a field's functions: the box of its points, periodic along the periodic axes of a grid.

use super::transforms::InputDraft;
use crate::data::{Bounds, Field};
use crate::error::short;
use crate::plan::{OutputPlan, check_domain};
use crate::report::{Choice, Subject};
use crate::settings::FitConfig;
use crate::{Error, Result};

/// A given side counts as one period of a grid up to this fraction of it.
const EQUAL: f64 = 1e-6;

/// If each sample has its own points, a new sample's may lie slightly outside all seen so far, so the default domain
/// is wider by this fraction of each side.
const SCATTERED_MARGIN: f64 = 0.02;

/// The domain of a field: as given, or the box of its points. Along axes that are `periodic` it is one period, which an
/// equally spaced grid determines; unless set, it is inferred from values that wrap around from the end of such a
/// grid to its beginning.
pub(super) fn settle(
    given: Option<&Bounds>,
    periodic: Option<&[bool]>,
    field: &Field,
) -> Result<Bounds> {
    let domain = domain_of(given, field)?;
    if given.is_some_and(Bounds::has_period) || field.is_vector() {
        return Ok(domain);
    }
    let periods = match periodic {
        Some(_) => field.grid_periods(),
        None => field.periods(),
    };
    let marked = |k: usize| periodic.is_none_or(|p| p.get(k) == Some(&true));
    let mut sides = domain.sides().to_vec();
    let mut rings = vec![false; sides.len()];
    for (k, side) in sides.iter_mut().enumerate().filter(|(k, _)| marked(*k)) {
        let width = side[1] - side[0];
        match (given, periods[k]) {
            (None, Some(period)) => *side = [side[0], side[0] + period],
            (Some(_), Some(period)) if (width - period).abs() <= EQUAL * period => {}
            (Some(_), _) if periodic.is_some() => {}
            (None, None) if periodic.is_some() => {
                return Err(Error::Config(format!(
                    "periodic along axis {k}: the points are not an equally spaced grid, so the period is unknown; give \
                     it as the domain, from the beginning of a period to its end"
                )));
            }
            _ => continue,
        }
        rings[k] = true;
    }
    // Given settings are checked as they are.
    Bounds::new(sides)?.with_periods(periodic.unwrap_or(&rings))
}

/// The domain of a field: as given, or the box of its points.
fn domain_of(given: Option<&Bounds>, field: &Field) -> Result<Bounds> {
    match given {
        Some(domain) => {
            check_domain(domain, field)?;
            Ok(domain.clone())
        }
        None if field.shared_points().is_none() => {
            Ok(field.bounding_box().widened(SCATTERED_MARGIN))
        }
        None => Ok(field.bounding_box()),
    }
}

/// Human-readable choices for domains found to be periodic in the data; one for all fields where they agree.
pub(super) fn periodic_choices(
    config: &FitConfig,
    outputs: &[OutputPlan],
    inputs: &[InputDraft],
) -> Vec<Choice> {
    let said = |periodic: &Option<Vec<bool>>, domain: &Option<Bounds>| {
        periodic.is_some() || domain.as_ref().is_some_and(Bounds::has_period)
    };
    let outputs = outputs.iter().map(|plan| {
        let settings = config.output_named(&plan.name);
        let said = said(&settings.periodic, &settings.domain);
        (Subject::OutputDomain, &plan.name, &plan.domain, said)
    });
    let inputs = inputs.iter().map(|InputDraft { plan, .. }| {
        let settings = config.input_named(&plan.name);
        let said = said(&settings.periodic, &settings.domain);
        (Subject::InputDomain, &plan.name, &plan.domain, said)
    });
    let all: Vec<_> = outputs.chain(inputs).collect();
    let fields = all.len();
    let found = all.into_iter();
    let mut found: Vec<Choice> = found
        .filter(|(_, _, domain, said)| domain.has_period() && !said)
        .map(|(subject, name, domain, _)| periodic_choice(subject, name, domain))
        .collect();
    if found.len() == fields && found.iter().all(|c| c.chosen == found[0].chosen) {
        found.truncate(1);
        for choice in &mut found {
            choice.subject = Subject::Domain;
            choice.field.clear();
        }
    }
    found
}

fn periodic_choice(subject: Subject, name: &str, domain: &Bounds) -> Choice {
    let rings = (0..domain.dim()).filter(|&k| domain.is_periodic(k));
    let axes: Vec<String> = rings
        .map(|k| format!("axis {k} with period {}", short(domain.width(k))))
        .collect();
    Choice {
        subject,
        field: name.into(),
        candidates: Vec::new(),
        chosen: format!("periodic along {}", axes.join(" and ")),
        why: "the grid has equal steps and its values wrap around from its end to its beginning; to turn this off, set \
              `periodic` to false for each axis"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Points, Scattered};
    use faer::Mat;

    fn ring() -> Field {
        let points = Points::new(1, (0..32).map(|i| f64::from(i) / 32.0).collect()).unwrap();
        let wave = |i: usize, k: usize| (std::f64::consts::TAU * i as f64 / 32.0 + k as f64).sin();
        Field::shared(points, vec![Mat::from_fn(32, 6, wave)]).unwrap()
    }

    fn scattered() -> Field {
        let sample = |k: usize| Scattered {
            points: Points::new(1, vec![0.1, 0.5 + 0.01 * k as f64]).unwrap(),
            values: vec![1.0, 2.0],
        };
        Field::per_sample(1, (0..3).map(sample).collect()).unwrap()
    }

    #[test]
    fn what_is_said_goes_before_what_is_found() {
        let found = settle(None, None, &ring()).unwrap();
        assert!(found.is_periodic(0) && (found.width(0) - 1.0).abs() < 1e-12);
        let off = settle(None, Some(&[false]), &ring()).unwrap();
        assert_eq!(off.sides(), [[0.0, 31.0 / 32.0]]);
        let (wide, unit) = (Bounds::new(vec![[-1.0, 2.0]]).unwrap(), Bounds::unit(1));
        assert!(!settle(Some(&wide), None, &ring()).unwrap().has_period());
        assert!(settle(Some(&unit), None, &ring()).unwrap().has_period());
        assert!(
            settle(Some(&wide), Some(&[true]), &ring())
                .unwrap()
                .has_period()
        );
        assert!(
            settle(Some(&unit), Some(&[true]), &scattered())
                .unwrap()
                .has_period()
        );
    }

    #[test]
    fn a_period_that_is_not_known_is_asked_for() {
        let error = settle(None, Some(&[true]), &scattered())
            .unwrap_err()
            .to_string();
        assert!(error.contains("give it as the domain"), "{error}");
        let error = settle(None, Some(&[true, false]), &ring())
            .unwrap_err()
            .to_string();
        assert!(error.contains("the points have 1 dimension;"), "{error}");
    }
}
