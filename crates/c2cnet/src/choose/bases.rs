//! The search for spaces that are not named in the settings.
//!
//! Prescribed output bases are ranked by their floor, at withheld points and at the others. Input spaces are judged by
//! the validation error of the whole operator on some of the training samples, with outputs represented without loss.
//! Candidates are the prescribed bases that represent inputs best, the best of them with learned directions, and learned
//! directions alone. The error found limits what the output space may lose: if the prescribed basis loses more than a
//! small fraction of it, directions of the residuals are added to the prescribed basis (or to none) with the smallest
//! error between the points. Where each sample has its own points, no directions can be learned; instead
//! a learned prior on a fine basis is judged along with the others.

use super::few_readings::few_readings;
use super::search::{Search, search_samples};
use super::transforms::InputDraft;
use crate::Result;
use crate::data::Field;
use crate::fit::Context;
use crate::plan::OutputPlan;
use crate::report::Choice;
use crate::settings::FitConfig;

/// Errors fall roughly as N^-0.75 (measured exponents from 400 samples to all: 0.64 on L-shaped Darcy, 2 on
/// KdV-Burgers).
const ERROR_DECAY_EXPONENT: f64 = 0.75;

/// Plans of all fields, except for transforms that are still open.
pub(super) struct Bases {
    pub outputs: Vec<OutputPlan>,
    pub inputs: Vec<InputDraft>,
    pub choices: Vec<Choice>,
}

/// Chooses the spaces of all fields.
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
    // Outputs with few readings are judged together with the inputs.
    let few = (train.outputs.iter()).any(|(_, field)| few_readings(field).is_some());
    let (inputs, outputs) = match few {
        true => {
            let inputs = search.prescribed_inputs()?;
            let outputs = search.prescribed_outputs(&inputs.0);
            (Ok(inputs), outputs)
        }
        false => rayon::join(
            || search.prescribed_inputs(),
            || search.prescribed_outputs(&[]),
        ),
    };
    let (drafts, open) = inputs?;
    let mut outputs = outputs?;
    let (inputs, error) = search.settle_inputs(drafts, &open, &outputs, &mut choices)?;
    // With all samples the map's error is lower than with the search samples.
    let part = some.samples() as f64 / train.samples() as f64;
    let error = error.map(|e| e * part.powf(ERROR_DECAY_EXPONENT));
    let mut settled = Vec::new();
    for output in &mut outputs {
        settled.extend(search.settle_output(output, error)?);
    }
    settled.extend(choices);
    Ok(Bases {
        outputs: outputs.into_iter().map(|o| o.plan).collect(),
        inputs,
        choices: settled,
    })
}
