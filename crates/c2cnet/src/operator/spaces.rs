//! Bases of fields, built from settings and data.

use super::config::{Components, InputConfig, OutputConfig};
use crate::basis::{Basis, BasisSpec, BuildContext, FieldBasis};
use crate::data::{Bounds, Field, Observations};
use crate::encode::Transform;
use crate::{Error, Result};
use std::sync::Arc;

/// What the settings say of the basis of a field.
pub(super) struct Named<'a> {
    /// One for all components, or one for each.
    specs: Vec<&'a BasisSpec>,
    components: Components,
    domain: Option<&'a Bounds>,
}

impl<'a> Named<'a> {
    pub(super) fn input(config: &'a InputConfig) -> Result<Self> {
        Self::new(
            config.basis.as_ref(),
            &config.bases,
            config.components,
            config.domain.as_ref(),
        )
    }

    pub(super) fn output(config: &'a OutputConfig) -> Result<Self> {
        Self::new(
            config.basis.as_ref(),
            &config.bases,
            config.components,
            config.domain.as_ref(),
        )
    }

    fn new(
        basis: Option<&'a BasisSpec>,
        bases: &'a [BasisSpec],
        components: Components,
        domain: Option<&'a Bounds>,
    ) -> Result<Self> {
        if basis.is_some() && !bases.is_empty() {
            return Err(Error::Config(
                "give `basis` (for all components) or `bases` (one each), not both".into(),
            ));
        }
        let specs = match basis {
            Some(b) => vec![b],
            None => bases.iter().collect(),
        };
        Ok(Named {
            specs,
            components,
            domain,
        })
    }

    /// The basis of `field`, whose values are seen after `transform`.
    pub(super) fn build(
        &self,
        field: &Field,
        triangles: Option<&[[usize; 3]]>,
        transform: Transform,
    ) -> Result<FieldBasis> {
        let domain = domain_of(self.domain, field)?;
        let Named {
            specs, components, ..
        } = self;
        build(specs, *components, &domain, field, triangles, transform)
    }
}

/// Samples at their own points: the next sample's may lie a little outside all seen so far, so the
/// default domain is wider by this part of each side.
const SCATTERED_MARGIN: f64 = 0.02;

/// The domain of a field: as given, or the box of its points.
pub(super) fn domain_of(given: Option<&Bounds>, field: &Field) -> Result<Bounds> {
    let points = field.bounding_box();
    match given {
        None if field.shared_points().is_none() => Ok(points.widened(SCATTERED_MARGIN)),
        None => Ok(points),
        Some(domain) if domain.dim() != points.dim() => Err(Error::Config(format!(
            "domain {domain} has {} sides, the points have {} dimensions",
            domain.dim(),
            points.dim()
        ))),
        Some(domain) => Ok(domain.clone()),
    }
}

/// Builds the basis of a field from one specification for all components or one for each.
pub(super) fn build(
    specs: &[&BasisSpec],
    components: Components,
    domain: &Bounds,
    field: &Field,
    triangles: Option<&[[usize; 3]]>,
    transform: Transform,
) -> Result<FieldBasis> {
    let count = field.components();
    if specs.len() != 1 && specs.len() != count {
        return Err(Error::Config(format!(
            "{} bases were given for {count} components; give one, or one each",
            specs.len()
        )));
    }
    // Bases that look at values must see what the encoder will see.
    let seen = if transform.takes_log() {
        Some(field.logarithm()?)
    } else {
        None
    };
    let (points, values) = match seen.as_ref().unwrap_or(field).observations() {
        Observations::Shared { points, values } => (Some(points), Some(values)),
        Observations::PerSample(_) => (None, None),
    };
    let build_one = |spec: &BasisSpec, c: usize| -> Result<Arc<dyn Basis>> {
        spec.build(BuildContext {
            domain,
            points,
            values: values.map(|v| v[c].as_ref()),
            triangles,
        })
    };
    let depends_on_values = |spec: &BasisSpec| spec.depends_on_values();
    let bases = if specs.len() == count {
        (0..count)
            .map(|c| build_one(specs[c], c))
            .collect::<Result<Vec<_>>>()?
    } else if components == Components::Joint || depends_on_values(specs[0]) {
        (0..count)
            .map(|c| build_one(&specs[0].for_component(c), c))
            .collect::<Result<Vec<_>>>()?
    } else {
        // One object for all components: factored once.
        vec![build_one(specs[0], 0)?; count]
    };
    match components {
        Components::Separate => FieldBasis::separate(bases),
        Components::Joint => FieldBasis::joint(bases),
    }
}
