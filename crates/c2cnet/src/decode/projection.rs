//! Coordinates of later outputs in a space that is already settled.

use super::own_points::Problems;
use super::{Evaluation, FieldDecoder, Targets, Withheld};
use crate::data::{Field, Observations, Scattered};
use crate::encode::{Regularisation, stack_components};
use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How outputs become coordinates of a fitted decoder: what must be settled with it, so that a sample's coordinates do
/// not depend on the other samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Projection {
    /// At the shared points of the decoder, where its space is orthonormal.
    Shared,
    /// At each sample's own points, by ridge fits of these strengths, one per part of the basis.
    OwnPoints(Vec<Regularisation>),
    /// Vectors without points, with their mean squared size.
    Vector(f64),
}

impl Projection {
    /// Settles it on first samples of the output `field`.
    ///
    /// # Errors
    /// If they do not fit the decoder.
    pub(crate) fn settle(decoder: &FieldDecoder, field: &Field) -> Result<Self> {
        let field = divided(decoder, field);
        if let Some(vector) = decoder.vector() {
            let values = vectors(&field)?;
            return Ok(Projection::Vector(vector.size_squared(values.as_ref())));
        }
        match field.observations() {
            Observations::Shared { .. } => Ok(Projection::Shared),
            Observations::PerSample(samples) => {
                let none = Withheld::none();
                let parts = problems(decoder, samples, &none);
                let ridges = parts.map(|part| part.choose_ridge());
                Ok(Projection::OwnPoints(ridges.collect::<Result<_>>()?))
            }
        }
    }

    /// Coordinates of all samples of `field`, one column each.
    ///
    /// # Errors
    /// If the field is of another kind than those that settled this, or at other points.
    pub(crate) fn coordinates(&self, decoder: &FieldDecoder, field: &Field) -> Result<Mat<f64>> {
        let field = divided(decoder, field);
        match (self, field.observations()) {
            (Projection::Vector(_), _) => {
                let vector = decoder.vector().ok_or_else(other_kind)?;
                vector.encode(vectors(&field)?.as_ref())
            }
            (Projection::Shared, Observations::Shared { points, values }) => {
                if decoder.points() != Some(points) {
                    return Err(Error::Data(format!(
                        "output: {} points that are not those of the first samples",
                        points.len()
                    )));
                }
                let spaces = decoder.retained_parts(points)?;
                let ranges = decoder.basis().ranges().zip(spaces);
                let mut out = Mat::zeros(decoder.rank(), field.samples());
                let mut start = 0;
                for ((_, range), space) in ranges {
                    let part = space.coordinates(stack_components(&values[range]).as_ref());
                    out.as_mut()
                        .subrows_mut(start, part.nrows())
                        .copy_from(&part);
                    start += part.nrows();
                }
                Ok(out)
            }
            (Projection::OwnPoints(ridges), Observations::PerSample(samples)) => {
                Ok(own_points(decoder, samples, ridges)?.coordinates)
            }
            _ => Err(other_kind()),
        }
    }

    /// Coordinates with the errors that none can avoid.
    ///
    /// # Errors
    /// As [`Projection::coordinates`].
    pub(crate) fn targets(&self, decoder: &FieldDecoder, field: &Field) -> Result<Targets> {
        let samples = field.samples();
        let (outside_squared, norm_squared) = match self {
            Projection::OwnPoints(ridges) => {
                let field = divided(decoder, field);
                let Observations::PerSample(samples) = field.observations() else {
                    return Err(other_kind());
                };
                return own_points(decoder, samples, ridges);
            }
            Projection::Vector(size) => (vec![0.0; samples], vec![*size; samples]),
            Projection::Shared => {
                let evaluation = Evaluation::new(decoder, field, &Withheld::none())?;
                (evaluation.floor_squared, evaluation.norm_squared)
            }
        };
        Ok(Targets {
            coordinates: self.coordinates(decoder, field)?,
            outside_squared,
            norm_squared,
            withheld_floor: None,
            readings: None,
        })
    }
}

/// The field in the sizes of the decoder's components.
fn divided<'a>(decoder: &FieldDecoder, field: &'a Field) -> Cow<'a, Field> {
    match !decoder.sizes().is_empty() && decoder.sizes().len() == field.components() {
        true => Cow::Owned(field.divided(decoder.sizes())),
        false => Cow::Borrowed(field),
    }
}

fn vectors(field: &Field) -> Result<Mat<f64>> {
    field.vectors().ok_or_else(other_kind)
}

fn other_kind() -> Error {
    Error::Data(
        "output: samples of a different kind (shared points, points of each sample's own, or no points) from the first ones"
            .into(),
    )
}

fn problems<'a>(
    decoder: &'a FieldDecoder,
    samples: &'a [Scattered],
    none: &'a Withheld,
) -> impl Iterator<Item = Problems<'a>> {
    let parts = decoder.basis().ranges().zip(decoder.transforms());
    parts.map(move |((part, components), transform)| Problems {
        part,
        components,
        transform,
        samples,
        withheld: none,
    })
}

fn own_points(
    decoder: &FieldDecoder,
    samples: &[Scattered],
    ridges: &[Regularisation],
) -> Result<Targets> {
    let none = Withheld::none();
    let parts = problems(decoder, samples, &none).zip(ridges);
    let parts = parts.map(|(part, ridge)| part.solve(*ridge));
    Ok(Targets::stack(parts.collect::<Result<_>>()?))
}
