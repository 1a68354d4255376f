//! From data and settings to a plan: what the settings leave open is chosen on the training samples.
//!
//! [`bases`] compares bases ([`output_space`], [`input_space`], which [`judge`] judges); [`maps`] maps in closed form, on each transform of the inputs that is open;
//! [`network`] tells whether a network is worth its training. What is judged here is computed by the stages
//! of [`crate::fit`], and what they computed for the plan that wins is handed on.

mod bases;
mod grid_gap;
mod input_space;
mod judge;
mod maps;
mod network;
mod output_space;
mod ranking;

pub(crate) use output_space::{OutputRanking, rank_output};

use crate::data::{Dataset, Fields};
use crate::encode::{Kind, Transform};
use crate::fit::{
    Context, Inputs, MapTrainingSet, Outputs, Prepared, encode_inputs, represent_outputs,
};
use crate::observe::Step;
use crate::plan::{InputPlan, OutputPlan, Plan};
use crate::report::{Candidate, Choice, Subject};
use crate::settings::FitConfig;
use crate::{Error, Result};
use maps::ClosedForm;
use std::time::Instant;

/// An input whose transform may still be open.
#[derive(Debug, Clone)]
struct InputDraft {
    /// With no transform where that is open.
    plan: InputPlan,
    transform_open: bool,
    /// Another space that came close on the samples of the search; all samples decide.
    rival: Option<InputPlan>,
}

/// Settles what `config` leaves open.
pub(crate) fn choose(context: &Context<'_>, config: &FitConfig) -> Result<(Plan, Prepared)> {
    check_names(config, context.train)?;
    let mut prepared = Prepared::default();
    let clock = Instant::now();
    let bases::Bases {
        mut outputs,
        inputs: drafts,
        choices,
    } = bases::settle(context, config)?;
    prepared.choices = choices;
    prepared.seconds.search = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    let represented = represent_outputs(context, &outputs)?;
    for (plan, (_, decoder)) in outputs.iter_mut().zip(&represented.decoders) {
        plan.cuts = decoder.cuts().to_vec();
    }
    let mut folds = vec![represented];
    let others = context.other_folds();
    // Other spaces are the same for all folds.
    if outputs.iter().any(OutputPlan::is_learned) {
        for fold in &others {
            folds.push(represent_outputs(fold, &outputs)?);
        }
    }
    let folds = Folds {
        contexts: std::iter::once(context).chain(&others).collect(),
        outputs: folds,
    };
    prepared.seconds.encoding = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    let before = prepared.seconds.encoding;
    let chosen = choose_transform(&folds, config, &drafts, &mut prepared)?;
    let (inputs, mut encoded, closed) = try_rivals(&folds, config, &drafts, chosen, &mut prepared)?;
    let question = network::Question {
        folds: &folds,
        inputs_plan: &inputs,
        outputs_plan: &outputs,
        inputs: &encoded,
        config: &config.map,
    };
    let decision = question.decide(closed)?;
    prepared.candidates.extend(decision.candidates);
    let choice = maps::explain(&decision.map, config.map.kind, &prepared.candidates);
    prepared.choices.push(choice);
    let encoding = prepared.seconds.encoding - before;
    prepared.seconds.training = clock.elapsed().as_secs_f64() - encoding;

    prepared.judged = Some(decision.judged);
    prepared.spaces = decision.spaces;
    prepared.kernel = decision.kernel;
    // Prescribed encoders see no more in the end than they did here.
    if !inputs.iter().any(InputPlan::is_learned) {
        prepared.inputs = Some(encoded.swap_remove(0));
    }
    let plan = Plan {
        protocol: context.protocol,
        inputs,
        outputs,
        map: decision.map,
    };
    Ok((plan, prepared))
}

/// The ways in which samples are held out, the first of them the one of the fit.
struct Folds<'a> {
    contexts: Vec<&'a Context<'a>>,
    /// Output spaces of each, or one for all.
    outputs: Vec<Outputs>,
}

impl Folds<'_> {
    fn outputs(&self, fold: usize) -> &Outputs {
        &self.outputs[fold.min(self.outputs.len() - 1)]
    }

    /// Inputs of each fold, or for all if nothing of them is learned.
    fn encode(&self, plans: &[InputPlan], raw: bool) -> Result<Vec<Inputs>> {
        let learned = plans.iter().any(InputPlan::is_learned);
        let encoded = if learned { self.contexts.len() } else { 1 };
        let contexts = self.contexts[..encoded].iter();
        contexts.map(|c| encode_inputs(c, plans, raw)).collect()
    }

    /// What maps in closed form are compared on, with inputs from [`Folds::encode`].
    fn closed_form<'b>(&'b self, inputs: &'b [Inputs]) -> Vec<maps::Fold<'b>> {
        let fold = |(j, context): (usize, &&'b Context<'b>)| maps::Fold {
            context,
            set: MapTrainingSet::closed_form(
                &inputs[j.min(inputs.len() - 1)],
                &self.outputs(j).targets,
            ),
        };
        self.contexts.iter().enumerate().map(fold).collect()
    }
}

/// The transform with which the maps in closed form err least, with the inputs encoded so.
fn choose_transform(
    folds: &Folds<'_>,
    config: &FitConfig,
    drafts: &[InputDraft],
    prepared: &mut Prepared,
) -> Result<EncodedInputs> {
    let context = folds.contexts[0];
    let raw = config.map.takes_raw_coefficients();
    let mut best: Option<EncodedInputs> = None;
    let mut refused = None;
    for transforms in transform_candidates(&context.train.inputs, drafts, raw) {
        context.check_cancelled()?;
        let log = transforms.iter().any(|t| t.takes_log());
        let plans = with_transforms(drafts, &transforms);
        let clock = Instant::now();
        // A basis may not fit the logarithm (too few principal directions) and yet fit the values.
        let encoded = folds.encode(&plans, raw);
        prepared.seconds.encoding += clock.elapsed().as_secs_f64();
        let encoded = match encoded {
            Ok(encoded) => encoded,
            Err(e @ Error::Interrupted) => return Err(e),
            Err(e) => {
                refused.get_or_insert(e);
                continue;
            }
        };
        context.begin(Step::ChooseMap { log });
        let closed = maps::compare(&folds.closed_form(&encoded), &config.map)?;
        let suffix = if log { " with log input" } else { "" };
        prepared
            .candidates
            .extend(closed.candidates.iter().map(|c| Candidate {
                name: format!("{}{suffix}", c.name),
                error: c.error,
            }));
        if best.as_ref().is_none_or(|(.., b)| closed.error < b.error) {
            best = Some((plans, encoded, closed));
        }
    }
    best.ok_or_else(|| {
        refused.unwrap_or_else(|| Error::Data("the data has no input to encode".into()))
    })
}

/// Inputs in the spaces that came close to the chosen ones on the samples of the search, if they err less on all.
fn try_rivals(
    folds: &Folds<'_>,
    config: &FitConfig,
    drafts: &[InputDraft],
    chosen: EncodedInputs,
    prepared: &mut Prepared,
) -> Result<EncodedInputs> {
    if drafts.iter().all(|draft| draft.rival.is_none()) {
        return Ok(chosen);
    }
    let (plans, _, closed) = &chosen;
    let rivals: Vec<InputPlan> = drafts
        .iter()
        .zip(plans)
        .map(|(draft, plan)| InputPlan {
            transform: plan.transform,
            ..draft.rival.as_ref().unwrap_or(plan).clone()
        })
        .collect();
    let context = folds.contexts[0];
    context.begin(Step::TryInputBasis("another space".into()));
    let encoded = folds.encode(&rivals, config.map.takes_raw_coefficients())?;
    let other = maps::compare(&folds.closed_form(&encoded), &config.map)?;
    let wins = other.error < closed.error;
    for (draft, rival) in drafts.iter().zip(&rivals) {
        if draft.rival.is_some() {
            let plan = if wins { rival } else { &draft.plan };
            prepared.choices.push(Choice {
                subject: Subject::InputSpace,
                field: draft.plan.name.clone(),
                candidates: Vec::new(),
                chosen: input_space::in_words(plan).into(),
                why: format!(
                    "with all samples {:.2e} against {:.2e} of {}",
                    other.error.min(closed.error),
                    other.error.max(closed.error),
                    input_space::in_words(if wins { &draft.plan } else { rival }),
                ),
            });
        }
    }
    if wins {
        prepared.candidates = other.candidates.clone();
    }
    Ok(match wins {
        true => (rivals, encoded, other),
        false => chosen,
    })
}

/// Plans of inputs, the inputs of the folds encoded so, and the better map of them.
type EncodedInputs = (Vec<InputPlan>, Vec<Inputs>, ClosedForm);

fn with_transforms(drafts: &[InputDraft], transforms: &[Transform]) -> Vec<InputPlan> {
    let pairs = drafts.iter().zip(transforms);
    pairs
        .map(|(draft, &transform)| InputPlan {
            transform,
            ..draft.plan.clone()
        })
        .collect()
}

/// The transforms to compare: one list (an entry per input) for each candidate.
fn transform_candidates(fields: &Fields, drafts: &[InputDraft], raw: bool) -> Vec<Vec<Transform>> {
    let plain: Vec<Transform> = drafts.iter().map(|d| d.plan.transform).collect();
    // The paper's network sees raw coefficients.
    if raw {
        return vec![plain];
    }
    let logged: Vec<Transform> = drafts
        .iter()
        .zip(fields)
        .map(|(draft, (_, field))| match draft.transform_open {
            true if field.minimum() > 0.0 => Transform::Log,
            _ => draft.plan.transform,
        })
        .collect();
    match plain == logged {
        true => vec![plain],
        false => vec![plain, logged],
    }
}

/// Settings for fields that the data does not have are mistakes.
fn check_names(config: &FitConfig, data: &Dataset) -> Result<()> {
    let check = |kind: &str, names: Vec<&String>, fields: &Fields| {
        for name in names {
            if !fields.iter().any(|(n, _)| n == name) {
                return Err(Error::Config(format!(
                    "the settings name the {kind} {name:?}, which the data does not have"
                )));
            }
        }
        Ok(())
    };
    check("input", config.inputs.keys().collect(), &data.inputs)?;
    check("output", config.outputs.keys().collect(), &data.outputs)?;
    for (kind, fields, named, all) in [
        (
            "input",
            &data.inputs,
            config.inputs.iter().map(|(n, c)| (n, &c.kinds)).collect(),
            &config.input.kinds,
        ),
        (
            "output",
            &data.outputs,
            config
                .outputs
                .iter()
                .map(|(n, c)| (n, &c.kinds))
                .collect::<Vec<_>>(),
            &config.output.kinds,
        ),
    ] {
        check_kinds(kind, fields, &named, all)?;
    }
    Ok(())
}

/// Only vectors without points have kinds.
fn check_kinds(
    kind: &str,
    fields: &Fields,
    named: &[(&String, &Vec<Kind>)],
    all: &[Kind],
) -> Result<()> {
    let is_vector = |name: &str| fields.iter().any(|(n, f)| n == name && f.is_vector());
    let mut named = named.iter();
    let label = match named.find(|(name, kinds)| !kinds.is_empty() && !is_vector(name)) {
        Some((name, _)) => format!("{kind} {name}"),
        None if all.is_empty() || fields.iter().any(|(_, f)| f.is_vector()) => return Ok(()),
        None => kind.to_string(),
    };
    Err(Error::Config(format!(
        "{label}: kinds are for vectors without points (`p`, `q`); this is a function"
    )))
}
