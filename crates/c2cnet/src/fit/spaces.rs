//! Bases of fields, built from specifications and data.

use crate::basis::{
    Basis, BasisSpec, BuildContext, FieldBasis, learning_samples, learns_from_some,
};
use crate::data::{Bounds, Dataset, Field, Observations, Points, logarithm};
use crate::decode::Withheld;
use crate::encode::{Stacked, Transform};
use crate::plan::{Components, InputPlan, OutputPlan};
use crate::{Error, Result, linalg};
use faer::MatRef;
use std::borrow::Cow;
use std::sync::Arc;

/// The specification of one field's basis.
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

    /// The basis of `field`, whose points may carry a mesh of `triangles`; learned functions see only what
    /// `learn_from` admits.
    pub(crate) fn build(
        &self,
        field: &Field,
        triangles: Option<&[[usize; 3]]>,
        learn_from: &LearnFrom<'_>,
    ) -> Result<FieldBasis> {
        let (specs, count) = (self.bases, field.components());
        if specs.len() != 1 && specs.len() != count {
            return Err(Error::Config(format!(
                "{} bases were given for {count} components; give one, or one each",
                specs.len()
            )));
        }
        let learns = specs.iter().any(BasisSpec::depends_on_values);
        let log = self.transform.takes_log();
        if learns && log {
            field.check_positive()?;
        }
        let (points, values) = match field.observations() {
            Observations::Shared { points, values } => (Some(points), Some(values)),
            Observations::PerSample(_) => (None, None),
        };
        let rows = points.filter(|_| learns).and_then(|p| learn_from.rows(p));
        let some_points = points.zip(rows.as_ref()).map(|(p, rows)| p.select(rows));
        let build_one = |spec: &BasisSpec, c: usize| -> Result<Arc<dyn Basis>> {
            let some_values = values.filter(|_| spec.depends_on_values());
            let some_values = some_values.map(|v| {
                let rows = rows.as_deref();
                learn_from.part(v[c].as_ref(), rows, learns_from_some(spec), log)
            });
            spec.build(BuildContext {
                domain: self.domain,
                points: some_points.as_ref().or(points),
                values: some_values.as_ref().map(Stacked::as_ref),
                // Triangles name all points.
                triangles: triangles.filter(|_| rows.is_none()),
            })
        };
        self.of_components(count, build_one)
    }

    /// The basis of a field of `count` components, whose bases `build_one` builds.
    fn of_components(
        &self,
        count: usize,
        build_one: impl Fn(&BasisSpec, usize) -> Result<Arc<dyn Basis>>,
    ) -> Result<FieldBasis> {
        let specs = self.bases;
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

/// The data that learned functions may see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LearnFrom<'a> {
    /// These samples; `None`: all of them.
    pub samples: Option<&'a [usize]>,
    /// All shared points but these.
    pub withheld: &'a Withheld,
}

impl LearnFrom<'_> {
    /// The points that may be seen; `None`: all of them.
    fn rows(&self, points: &Points) -> Option<Vec<usize>> {
        (!self.withheld.is_empty()).then(|| self.withheld.fitted(0, points.len()))
    }

    /// The values that may be seen, or their logarithms: those of `some` samples, if that is enough. Copied only if they
    /// are not all.
    fn part<'v>(
        &self,
        values: MatRef<'v, f64>,
        rows: Option<&[usize]>,
        some: bool,
        log: bool,
    ) -> Stacked<'v> {
        let count = self.samples.map_or(values.ncols(), <[usize]>::len);
        let points = rows.map_or(values.nrows(), <[usize]>::len);
        let learning = learning_samples(points, count).filter(|_| some);
        let samples: Option<Cow<'_, [usize]>> = match (self.samples, learning) {
            (Some(samples), Some(learning)) => {
                Some(learning.into_iter().map(|i| samples[i]).collect())
            }
            (None, Some(learning)) => Some(learning.into()),
            (samples, None) => samples.map(Cow::Borrowed),
        };
        let mut copy = match (samples, rows) {
            (None, None) if log => values.to_owned(),
            (None, None) => return Stacked::Borrowed(values),
            (Some(samples), None) => linalg::select_columns(values, &samples),
            (None, Some(rows)) => linalg::select_rows(values, rows),
            (Some(samples), Some(rows)) => linalg::select(values, rows, &samples),
        };
        if log {
            logarithm(&mut copy);
        }
        Stacked::Owned(copy)
    }
}

/// The data's triangles, if `field` lives on the points that they name.
pub(super) fn triangles_on<'a>(data: &'a Dataset, field: &Field) -> Option<&'a [[usize; 3]]> {
    let points = field.shared_points()?;
    (points == data.mesh_points()?).then_some(data.triangles.as_deref()?)
}
