//! Bases of fields, built from specifications and data.

use crate::basis::{Basis, BasisSpec, BuildContext, FieldBasis};
use crate::data::{Bounds, Dataset, Field, Observations};
use crate::encode::Transform;
use crate::plan::{Components, InputPlan, OutputPlan};
use crate::{Error, Result};
use std::sync::Arc;

/// What the basis of one field is built from.
pub(crate) struct FieldSpace<'a> {
    /// One for all components, or one for each.
    pub bases: &'a [BasisSpec],
    pub components: Components,
    pub domain: &'a Bounds,
    /// Bases that look at values must see what the encoder will see.
    pub transform: Transform,
}

impl<'a> FieldSpace<'a> {
    pub(super) fn of_input(plan: &'a InputPlan) -> Self {
        FieldSpace {
            bases: &plan.bases,
            components: plan.components,
            domain: &plan.domain,
            transform: plan.transform,
        }
    }

    pub(super) fn of_output(plan: &'a OutputPlan) -> Self {
        FieldSpace {
            bases: &plan.bases,
            components: plan.components,
            domain: &plan.domain,
            transform: Transform::None,
        }
    }

    /// The basis of `field`, on whose points `triangles` may make a mesh.
    pub(crate) fn build(
        &self,
        field: &Field,
        triangles: Option<&[[usize; 3]]>,
    ) -> Result<FieldBasis> {
        let (specs, count) = (self.bases, field.components());
        if specs.len() != 1 && specs.len() != count {
            return Err(Error::Config(format!(
                "{} bases were given for {count} components; give one, or one each",
                specs.len()
            )));
        }
        let seen = match self.transform.takes_log() {
            true => Some(field.logarithm()?),
            false => None,
        };
        let (points, values) = match seen.as_ref().unwrap_or(field).observations() {
            Observations::Shared { points, values } => (Some(points), Some(values)),
            Observations::PerSample(_) => (None, None),
        };
        let build_one = |spec: &BasisSpec, c: usize| -> Result<Arc<dyn Basis>> {
            spec.build(BuildContext {
                domain: self.domain,
                points,
                values: values.map(|v| v[c].as_ref()),
                triangles,
            })
        };
        let bases = if specs.len() == count {
            (0..count)
                .map(|c| build_one(&specs[c], c))
                .collect::<Result<Vec<_>>>()?
        } else if self.components == Components::Joint || specs[0].depends_on_values() {
            (0..count)
                .map(|c| build_one(&specs[0].for_component(c), c))
                .collect::<Result<Vec<_>>>()?
        } else {
            // One object for all components: factored once.
            vec![build_one(&specs[0], 0)?; count]
        };
        match self.components {
            Components::Separate => FieldBasis::separate(bases),
            Components::Joint => FieldBasis::joint(bases),
        }
    }
}

/// The data's triangles, if `field` lives on the points that they name.
pub(super) fn triangles_on<'a>(data: &'a Dataset, field: &Field) -> Option<&'a [[usize; 3]]> {
    let points = field.shared_points()?;
    (points == data.mesh_points()?).then_some(data.triangles.as_deref()?)
}
