//! From data and settings to a plan: what the settings leave open is chosen on the training samples.
//!
//! [`moving_nodes`] first finds out whether an output's nodes move. [`bases`] settles the spaces:
//! [`output_space`] by their floor ([`few_readings`] where single samples do not show it), [`input_space`] by the error of
//! the whole operator, which [`judge`] measures. [`maps`] compares closed-form maps, for each of the open [`transforms`] of
//! the inputs; [`network`] and [`layers`] decide whether a network is worth training. Candidates are computed by the stages
//! of [`crate::fit`], and the results for the winning plan are passed on.

mod bases;
mod domain;
mod few_readings;
mod folds;
mod grid_gap;
mod input_space;
mod judge;
mod layers;
mod maps;
mod moving_nodes;
mod network;
mod output_space;
mod ranking;
mod search;
mod sizes;
mod thinning;
mod transforms;
mod words;

pub(crate) use output_space::{OutputRanking, rank_output};

use crate::data::{Dataset, Fields};
use crate::encode::Kind;
use crate::error::in_order;
use crate::fit::{
    Context, Displacements, Inputs, MapTrainingSet, Outputs, Prepared, encode_inputs,
    represent_outputs,
};
use crate::map::KernelReport;
use crate::observe::{Observer, Work};
use crate::plan::{InputPlan, OutputPlan, Plan};
use crate::report::{Candidate, Choice, Subject};
use crate::settings::{FitConfig, MapConfig, MapKind};
use crate::{Error, Result};
use folds::{Folds, PerFold};
use maps::{ClosedForm, Purpose};
use network::Decision;
use rayon::prelude::*;
use sizes::Sizes;
use std::time::Instant;
use transforms::{InputDraft, transform_candidates, with_transforms};

/// A plan, what choosing it has computed, and the displacements of nodes that move.
pub(crate) struct Chosen {
    pub plan: Plan,
    pub prepared: Prepared,
    pub displacements: Vec<Displacements>,
}

/// Chooses a plan for training samples, and does `then` with it and with the samples as the plan sees them: outputs whose
/// nodes move on the mean places of these, components divided by their sizes.
pub(crate) fn with_plan<T>(
    train: Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
    then: impl FnOnce(&Context<'_>, Chosen) -> Result<T>,
) -> Result<T> {
    let (train, moving) = moving_nodes::settle_nodes(train, config, observer)?;
    let sizes = Sizes::choose(&train, config)?;
    let train = train.divided(&sizes.inputs, &sizes.outputs);
    let context = Context::new(&train, config.protocol(), observer);
    let (mut plan, mut prepared) = choose(&context, config)?;
    sizes.into_plan(&mut plan, &mut prepared.choices);
    let displacements = moving.into_plan(&mut plan, &mut prepared.choices);
    let chosen = Chosen {
        plan,
        prepared,
        displacements,
    };
    then(&context, chosen)
}

/// Settles what `config` leaves open.
fn choose(context: &Context<'_>, config: &FitConfig) -> Result<(Plan, Prepared)> {
    check_names(config, context.train)?;
    let mut prepared = Prepared::default();
    let clock = Instant::now();
    let bases::Bases {
        mut outputs,
        inputs: drafts,
        choices,
    } = bases::settle(context, config)?;
    prepared.choices = domain::periodic_choices(config, &outputs, &drafts);
    prepared.choices.extend(choices);
    prepared.seconds.search = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    let folds = Folds::new(context.clone());
    let learned = outputs.iter().any(OutputPlan::is_learned);
    let represented = folds.each(learned, |fold| represent_outputs(fold, &outputs))?;
    for (plan, (_, decoder)) in outputs.iter_mut().zip(&represented.of(0).decoders) {
        plan.cuts = decoder.cuts().to_vec();
    }
    prepared.seconds.encoding = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    let before = prepared.seconds.encoding;
    let comparison = Comparison {
        folds: &folds,
        outputs_plan: &outputs,
        outputs: &represented,
        config,
        drafts: &drafts,
    };
    let chosen = comparison.choose_transform(&mut prepared)?;
    let chosen = comparison.try_rivals(chosen, &mut prepared)?;
    let candidate = chosen.candidate;
    let (decision, inputs, encoded) = comparison.choose_map(chosen)?;
    // The error of the closed form when fitted to as many samples as the network it was compared with.
    if let Some(judged) = decision.closed_error {
        prepared.candidates[candidate].error = judged;
    }
    prepared.candidates.extend(decision.candidates);
    let (kind, candidates) = (config.map.kind, &prepared.candidates);
    let choice = maps::explain(&decision.map, kind, candidates, &decision.notes);
    prepared.choices.push(choice);
    let encoding = prepared.seconds.encoding - before;
    prepared.seconds.training = clock.elapsed().as_secs_f64() - encoding;

    prepared.judged = Some(decision.judged);
    prepared.spaces = decision.spaces;
    prepared.kernel = decision.kernel;
    // In the end, prescribed encoders see no more data than here.
    if !inputs.iter().any(InputPlan::is_learned) {
        prepared.inputs = Some(encoded.into_first());
    }
    let plan = Plan {
        protocol: context.protocol,
        inputs,
        outputs,
        map: decision.map,
    };
    Ok((plan, prepared))
}

/// The comparison of inputs on all samples, once the spaces are settled.
struct Comparison<'a> {
    folds: &'a Folds<'a>,
    outputs_plan: &'a [OutputPlan],
    outputs: &'a PerFold<Outputs>,
    config: &'a FitConfig,
    drafts: &'a [InputDraft],
}

impl Comparison<'_> {
    /// The better of the closed-form maps that `map` allows, for the inputs that `plans` encode.
    fn closed_form(
        &self,
        plans: &[InputPlan],
        inputs: &PerFold<Inputs>,
        map: &MapConfig,
        rival: Option<&KernelReport>,
    ) -> Result<ClosedForm> {
        let targets = |j| &self.outputs.of(j).targets;
        let folds = self.folds.closed_form(inputs, targets);
        let left_out = || match plans.iter().any(InputPlan::is_learned) {
            false => maps::leave_one_out(&folds[0].set),
            // Spaces of all samples are worth making only where these are few.
            true if maps::few_remain(&folds[0]) => self.left_out_error(plans),
            true => Ok(None),
        };
        maps::compare(&folds, map, Purpose::FinalFit(rival), left_out)
    }

    /// The leave-one-out error of the linear map in spaces that are learned from all samples, as in the final fit:
    /// those of a fold lack directions of its held-out samples. A sample that is left out is
    /// nevertheless new to the map, because its own part of a direction has no influence on the other samples.
    fn left_out_error(&self, plans: &[InputPlan]) -> Result<Option<f64>> {
        let everything = self.folds.first().with_everything();
        let raw = self.config.map.takes_raw_coefficients();
        let inputs = encode_inputs(&everything, plans, raw)?;
        let outputs = represent_outputs(&everything, self.outputs_plan)?;
        maps::leave_one_out(&MapTrainingSet::closed_form(&inputs, &outputs.targets))
    }

    /// The transform with which closed-form maps have the smallest error, and the inputs encoded with it.
    fn choose_transform(&self, prepared: &mut Prepared) -> Result<EncodedInputs> {
        let (context, drafts) = (self.folds.first(), self.drafts);
        let raw = self.config.map.takes_raw_coefficients();
        let mut best: Option<EncodedInputs> = None;
        let mut refused = None;
        let mut all = Vec::new();
        for transforms in transform_candidates(&context.train.inputs, drafts, raw) {
            context.check_cancelled()?;
            let log = transforms.iter().any(|t| t.takes_log());
            let plans = with_transforms(drafts, &transforms);
            let clock = Instant::now();
            context.begin(Work::EncodeInputs { log });
            // A basis may not fit the logarithm (too few principal directions) and yet fit the values.
            let encoded = self.folds.encode(&plans, raw);
            prepared.seconds.encoding += clock.elapsed().as_secs_f64();
            match encoded {
                Ok(encoded) => all.push((log, plans, encoded)),
                Err(e @ Error::Interrupted) => return Err(e),
                Err(e) => {
                    refused.get_or_insert(e);
                }
            }
        }
        for &(log, ..) in &all {
            context.begin(Work::ChooseMap { log });
        }
        let closed = all.par_iter();
        let closed =
            in_order(closed.map(|(_, plans, encoded)| {
                self.closed_form(plans, encoded, &self.config.map, None)
            }))?;
        for ((log, plans, encoded), closed) in all.into_iter().zip(closed) {
            let suffix = if log { " with log input" } else { "" };
            let candidate = prepared.candidates.len() + closed.chosen;
            prepared
                .candidates
                .extend(closed.candidates.iter().map(|c| Candidate {
                    name: format!("{}{suffix}", c.name),
                    ..c.clone()
                }));
            if best.as_ref().is_none_or(|b| closed.error < b.closed.error) {
                best = Some(EncodedInputs {
                    plans,
                    inputs: encoded,
                    closed,
                    candidate,
                });
            }
        }
        best.ok_or_else(|| {
            refused.unwrap_or_else(|| Error::Data("the data has no input to encode".into()))
        })
    }

    /// Inputs in the spaces that came close to the chosen ones on the search samples, if their error on all samples is
    /// smaller.
    fn try_rivals(
        &self,
        mut best: EncodedInputs,
        prepared: &mut Prepared,
    ) -> Result<EncodedInputs> {
        for (i, draft) in self.drafts.iter().enumerate() {
            // An error at rounding level cannot be improved.
            if draft.rivals.is_empty() || best.closed.error <= self.folds.first().rounding {
                continue;
            }
            let others = draft.rivals.par_iter();
            let others = in_order(others.map(|rival| self.with_input(&best, i, rival)))?;
            let named = |tried: &EncodedInputs| {
                Candidate::new(input_space::in_words(&tried.plans[i]), tried.closed.error)
            };
            let mut candidates = vec![named(&best)];
            for other in others {
                candidates.push(named(&other));
                if other.closed.error < best.closed.error {
                    prepared.candidates = other.closed.candidates.clone();
                    best = other;
                }
            }
            candidates.sort_by(|a, b| a.error.total_cmp(&b.error));
            let others = candidates[1..].iter();
            let others = others.map(|c| format!("{:.2e} with {}", c.error, c.name));
            let others = others.collect::<Vec<_>>().join(" and ");
            prepared.choices.push(Choice {
                subject: Subject::InputSpace,
                field: draft.plan.name.clone(),
                chosen: candidates[0].name.clone(),
                why: format!(
                    "operator error {:.2e} on all samples, against {others}",
                    candidates[0].error,
                ),
                candidates,
            });
        }
        Ok(best)
    }

    /// The inputs of `best` with another space for input `i`.
    fn with_input(
        &self,
        best: &EncodedInputs,
        i: usize,
        plan: &InputPlan,
    ) -> Result<EncodedInputs> {
        let context = self.folds.first();
        context.begin(Work::TryInputBasis("another space".into()));
        let mut plans = best.plans.clone();
        plans[i] = InputPlan {
            transform: plans[i].transform,
            ..plan.clone()
        };
        let raw = self.config.map.takes_raw_coefficients();
        let encoded = self.folds.encode(&plans, raw)?;
        // Equally good inputs need nearly the same kernel.
        let mut map = self.config.map.clone();
        let kernel = best.closed.kernel.as_ref();
        if let Some(choice) = kernel {
            map.kernel = map.kernel.like(&choice.settings);
        }
        let rival = kernel.map(|choice| &choice.report);
        let closed = self.closed_form(&plans, &encoded, &map, rival)?;
        Ok(EncodedInputs {
            plans,
            inputs: encoded,
            candidate: closed.chosen,
            closed,
        })
    }

    /// The better closed-form map, or a network, with its inputs.
    fn choose_map(
        &self,
        chosen: EncodedInputs,
    ) -> Result<(Decision, Vec<InputPlan>, PerFold<Inputs>)> {
        let EncodedInputs {
            plans,
            inputs,
            closed,
            ..
        } = chosen;
        let question = network::Question {
            folds: self.folds,
            inputs_plan: &plans,
            outputs_plan: self.outputs_plan,
            inputs: &inputs,
            outputs: self.outputs,
            config: &self.config.map,
        };
        let layers = layers::Layers {
            question: &question,
            config: self.config,
            on_floor: closed.on_floor,
        };
        let mut decision = match self.config.map.kind {
            MapKind::Layered => layers.train()?,
            MapKind::Auto => layers.improve(question.decide(closed)?)?,
            _ => question.decide(closed)?,
        };
        let (plans, inputs) = decision.inputs.take().unwrap_or((plans, inputs));
        Ok((decision, plans, inputs))
    }
}

/// Inputs in the best spaces so far.
struct EncodedInputs {
    plans: Vec<InputPlan>,
    inputs: PerFold<Inputs>,
    /// The better closed-form map for them.
    closed: ClosedForm,
    /// The index of this map among the candidates.
    candidate: usize,
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
