//! Whether the domains that are given hold the points of the data.

use super::FitConfig;
use crate::data::{Bounds, Dataset, Field};
use crate::{Error, Result};

impl FitConfig {
    /// Checks, before any search, that points lie in the domains that the settings name, and are more than one place.
    ///
    /// # Errors
    /// Names the field, the domain and the first point outside.
    pub(crate) fn check_places(&self, data: &Dataset) -> Result<()> {
        for (name, field) in &data.inputs {
            check("input", name, self.input_named(name).domain.as_ref(), field)?;
        }
        for (name, field) in &data.outputs {
            check(
                "output",
                name,
                self.output_named(name).domain.as_ref(),
                field,
            )?;
        }
        Ok(())
    }
}

fn check(kind: &str, name: &str, domain: Option<&Bounds>, field: &Field) -> Result<()> {
    if field.is_vector() {
        return Ok(());
    }
    let label = format!("{kind} {name}");
    let label = label.trim_end();
    if let Some(one_place) = field.one_place() {
        return Err(Error::Data(format!("{label}: {one_place}")));
    }
    let Some(domain) = domain.filter(|domain| domain.dim() == field.dim()) else {
        return Ok(());
    };
    let samples = match field.shared_points() {
        Some(_) => 1,
        None => field.samples(),
    };
    for k in 0..samples {
        let points = field.points_of(k);
        let inside = domain.wrapped(points);
        let outside = || inside.iter().filter(|p| !domain.contains(p)).count();
        if let Some(i) = inside.iter().position(|p| !domain.contains(p)) {
            let sample = match field.shared_points() {
                Some(_) => String::new(),
                None => format!(" sample {k}"),
            };
            return Err(Error::Data(format!(
                "{label}{sample}: {} of {} points lie outside the domain {domain} of the settings, the first is point \
                 {i} = {:?}; give a larger `domain`, or none",
                outside(),
                points.len(),
                points.point(i)
            )));
        }
    }
    Ok(())
}
