//! The search for spaces that the settings do not name.
//!
//! Prescribed output bases are ranked by their floor, at withheld points and at the others. Input spaces are judged by
//! the validation error of the whole operator on some of the training samples, against outputs of which nothing is
//! lost: the prescribed bases that represent inputs best, the best of them with learned directions, and learned
//! directions alone. The error that this finds tells what the output may lose: where the prescribed basis loses more
//! than a small part of it, directions of the residuals are added, to the prescribed basis (or to none) with which
//! the errors between the points are smallest. Where samples have points of their own, nothing can be learned so; there
//! a learned prior on a fine basis is judged beside the others.

use super::InputDraft;
use super::ranking::{Ranked, Ranking, StopRule, name_of, thinned};
use crate::Result;
use crate::basis::{BasisSpec, SingleValueSpec};
use crate::data::{Dataset, Field};
use crate::fit::Context;
use crate::plan::OutputPlan;
use crate::report::{Candidate, Choice, Subject};
use crate::settings::FitConfig;

/// Validation errors this close are a tie on so few samples.
pub(super) const TIE: f64 = 1.1;

/// Errors fall about with this power of the number of samples: from 400 samples to all, 0.64 on L-shaped Darcy flow and
/// 2 on KdV-Burgers.
const LEARNING_RATE: f64 = 0.75;

/// Plans of all fields, but for transforms that are still open.
pub(super) struct Bases {
    pub outputs: Vec<OutputPlan>,
    pub inputs: Vec<InputDraft>,
    pub choices: Vec<Choice>,
}

/// Settles the spaces of all fields.
pub(super) fn settle(context: &Context<'_>, config: &FitConfig) -> Result<Bases> {
    let train = context.train;
    let searched = |field: &Field, bases: Option<_>| !field.is_vector() && bases.is_none();
    let open = train
        .outputs
        .iter()
        .any(|(n, field)| searched(field, config.output_named(n).named_bases()))
        || train
            .inputs
            .iter()
            .any(|(n, field)| searched(field, config.input_named(n).named_bases()));
    let some = match open {
        true => search_samples(context, config)?,
        false => train.select(&[0]),
    };
    let search = Search {
        context,
        config,
        some: &some,
    };
    let mut choices = Vec::new();
    // Inputs first: what cannot be used is refused before the longer search.
    let (drafts, open) = search.prescribed_inputs()?;
    let mut outputs = search.prescribed_outputs()?;
    let (inputs, error) = search.settle_inputs(drafts, &open, &outputs, &mut choices)?;
    // With all samples the map errs less than with those of the search.
    let part = some.samples() as f64 / train.samples() as f64;
    let error = error.map(|e| e * part.powf(LEARNING_RATE));
    let mut told = Vec::new();
    for output in &mut outputs {
        told.extend(search.settle_output(output, error)?);
    }
    told.extend(choices);
    Ok(Bases {
        outputs: outputs.into_iter().map(|o| o.plan).collect(),
        inputs,
        choices: told,
    })
}

/// Some of the samples, at some of their points: enough to compare bases.
pub(super) fn search_samples(context: &Context<'_>, config: &FitConfig) -> Result<Dataset> {
    let used = context.train.samples().min(config.search.samples);
    let chosen: Vec<usize> = (0..used).collect();
    thinned(&context.train.select(&chosen), context.protocol.seed)
}

/// What spaces are chosen from.
pub(super) struct Search<'a> {
    pub context: &'a Context<'a>,
    pub config: &'a FitConfig,
    /// Some of the samples, at some of their points.
    pub some: &'a Dataset,
}

impl Search<'_> {
    pub(super) fn ranking<'a>(
        &'a self,
        field: &'a Field,
        whole: &'a Field,
        stop: StopRule,
    ) -> Result<Ranking<'a>> {
        let triangles = self.some.triangles.as_deref();
        Ranking::new(field, whole, triangles, self.context, stop)
    }
}

/// The bases that the settings name, none if they are to be chosen; the values of a vector are their own
/// coefficients.
pub(super) fn named_bases(field: &Field, named: Option<Vec<BasisSpec>>) -> Vec<BasisSpec> {
    match field.is_vector() {
        true => vec![SingleValueSpec {}.into()],
        false => named.unwrap_or_default(),
    }
}

pub(super) fn basis_choice(
    subject: Subject,
    field: &str,
    ranked: &[Ranked],
    chosen: usize,
    why: String,
) -> Choice {
    let in_words = |r: &Ranked| format!("{} {}", r.functions, name_of(&r.spec));
    Choice {
        subject,
        field: field.into(),
        candidates: ranked
            .iter()
            .map(|r| Candidate {
                name: in_words(r),
                error: r.error,
            })
            .collect(),
        chosen: in_words(&ranked[chosen]),
        why,
    }
}
