//! The regularisation of each part of an encoder, as given or as the data suggest.

use super::prior::Prior;
use super::stacked::stack_components;
use super::{Encoder, EncoderSpec, Regularisation, Spectrum, choose};
use crate::basis::{FieldBasis, VectorBasis};
use crate::data::{Field, Observations, Points, Scattered};
use crate::error::in_order;
use crate::{Error, Result};
use faer::Mat;
use rayon::prelude::*;
use std::sync::Arc;

/// The encoders of all parts, and the points where they apply.
pub(super) type Factored = (Points, Arc<Vec<Encoder>>);

/// The prior of the coefficients of samples with their own points.
pub(super) fn learn(
    basis: &FieldBasis,
    spec: &EncoderSpec,
    field: &Field,
    cancelled: &dyn Fn() -> bool,
) -> Result<Prior> {
    spec.given()?;
    match field.observations() {
        Observations::PerSample(samples) => Prior::fit(basis, samples, cancelled),
        Observations::Shared { .. } => Err(Error::Config(
            "encoder: method = \"prior\" is for samples with their own points; these share theirs, so use \
             \"ridge\" or \"svd\""
                .into(),
        )),
    }
}

/// The regularisation of each part, as given or chosen on these samples; with the encoders where samples share their
/// points.
pub(super) fn choose_regularisation(
    basis: &FieldBasis,
    spec: &EncoderSpec,
    field: &Field,
    cancelled: &dyn Fn() -> bool,
) -> Result<(Vec<Regularisation>, Option<Factored>)> {
    let parts = basis.parts().len();
    let given = spec.given()?;
    match field.observations() {
        Observations::Shared { points, .. } if given.is_some() => {
            let spectra = factor(basis, points, std::iter::repeat_n(given, parts), cancelled)?;
            let chosen: Vec<_> = given.into_iter().cycle().take(parts).collect();
            let encoders = Arc::new(encoders(basis, spectra, &chosen)?);
            Ok((chosen, Some((points.clone(), encoders))))
        }
        Observations::PerSample(_) if given.is_some() => {
            Ok((given.into_iter().cycle().take(parts).collect(), None))
        }
        Observations::Shared { points, values } => {
            let none = std::iter::repeat_n(None, parts);
            let spectra = factor(basis, points, none, cancelled)?;
            let chosen = basis
                .ranges()
                .zip(&spectra)
                .map(|((_, range), spectrum)| {
                    let stacked = stack_components(&values[range]);
                    choose(spec, &[(spectrum.clone(), stacked.as_ref())])
                })
                .collect::<Result<Vec<_>>>()?;
            let encoders = Arc::new(encoders(basis, spectra, &chosen)?);
            Ok((chosen, Some((points.clone(), encoders))))
        }
        Observations::PerSample(all) => {
            let chosen = basis
                .ranges()
                .map(|(part, range)| choose_scattered(part, range, spec, all))
                .collect::<Result<_>>()?;
            Ok((chosen, None))
        }
    }
}

/// One factorisation per part, of what the regularisation keeps if it is given; parts with the same basis and
/// regularisation share it.
pub(super) fn factor(
    basis: &FieldBasis,
    points: &Points,
    given: impl Iterator<Item = Option<Regularisation>>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<Arc<Spectrum>>> {
    let given: Vec<_> = given.collect();
    let mut spectra: Vec<Arc<Spectrum>> = Vec::new();
    for (p, (part, &regularisation)) in basis.parts().iter().zip(&given).enumerate() {
        let observations = points.len() * part.components().len();
        check_count(observations, part.len(), regularisation)?;
        let same = |&q: &usize| part.shares_with(&basis.parts()[q]) && given[q] == regularisation;
        let known = (0..p).find(same);
        spectra.push(match known {
            Some(q) => spectra[q].clone(),
            None => {
                let design = part.evaluate(points)?;
                let spectrum = Spectrum::for_encoder(design, regularisation, cancelled)?;
                Arc::new(spectrum)
            }
        });
    }
    Ok(spectra)
}

/// The encoder of each part.
///
/// # Errors
/// If one of them keeps no function.
pub(super) fn encoders(
    basis: &FieldBasis,
    spectra: Vec<Arc<Spectrum>>,
    regularisations: &[Regularisation],
) -> Result<Vec<Encoder>> {
    let parts = basis.parts().iter().zip(spectra).zip(regularisations);
    parts
        .map(|((part, spectrum), regularisation)| {
            let points = spectrum.nrows();
            let encoder = Encoder::new(spectrum, *regularisation);
            if encoder.rank() == 0 {
                return Err(Error::Data(format!(
                    "the encoder ({regularisation}) keeps none of its {} functions at these \
                     {points} points, so every input would look the same; lower the cut",
                    part.len()
                )));
            }
            Ok(encoder)
        })
        .collect()
}

fn choose_scattered(
    part: &VectorBasis,
    range: std::ops::Range<usize>,
    spec: &EncoderSpec,
    samples: &[Scattered],
) -> Result<Regularisation> {
    let columns: Vec<Mat<f64>> = samples
        .iter()
        .map(|s| {
            let n = s.points.len();
            let values = &s.values[range.start * n..range.end * n];
            Mat::from_fn(values.len(), 1, |i, _| values[i])
        })
        .collect();
    let spectrum_of = |k: usize| {
        check_count(columns[k].nrows(), part.len(), None)
            .and_then(|()| part.evaluate(&samples[k].points))
            .and_then(Spectrum::new)
            .map(|spectrum| (spectrum, columns[k].as_ref()))
            .map_err(|e| e.of_sample("input", k))
    };
    let groups = in_order((0..samples.len()).into_par_iter().map(spectrum_of))?;
    choose(spec, &groups)
}

/// Fewer observations than functions are an error unless the user gave a regularisation parameter.
pub(super) fn check_count(
    points: usize,
    functions: usize,
    given: Option<Regularisation>,
) -> Result<()> {
    let regularised = given.is_some_and(|r| r.allows_fewer_points_than_functions());
    if points < functions && !regularised {
        return Err(Error::Data(format!(
            "{points} observations cannot determine {functions} coefficients; use a basis with fewer \
             functions, give the encoder a `lambda` or `cut` above 0, or, if samples have their own points, \
             `method = \"prior\"`"
        )));
    }
    Ok(())
}
