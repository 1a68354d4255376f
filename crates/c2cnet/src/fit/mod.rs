//! From a plan to a model: the paper's Section 2 in five stages.
//!
//! 1. `represent_outputs`: output bases, orthonormal coordinates of the training outputs.
//! 2. `encode_inputs`: input coefficients of the training samples.
//! 3. `judge_plan`: the map fitted without the held-out samples and the withheld points, and judged by them.
//! 4. `final_maps`: the map fitted to all training samples, with spaces fitted to all of their points.
//! 5. `put_together`: the model of spaces and maps.
//!
//! `build` goes through them.

mod context;
mod images;
mod latent;
mod maps;
mod moving_nodes;
mod spaces;
mod training_set;

pub(crate) use context::{Context, MOST_HELD_OUT};
pub(crate) use maps::{
    FoldMaps, fold_kernel, fold_linear, fold_maps, fold_network, held_out_error, held_out_errors,
    train_network,
};
pub(crate) use moving_nodes::Displacements;
pub(crate) use spaces::{FieldSpace, LearnFrom};
pub(crate) use training_set::{MapTrainingSet, OutputFrame};

use crate::data::{Dataset, Fields, Symmetries};
use crate::decode::{FieldDecoder, Targets, Withheld};
use crate::encode::{FieldEncoder, Transform};
use crate::map::mlp::TrainingReport;
use crate::map::{CoefficientMap, KernelReport, LinearMap, Mirrors};
use crate::metrics::mean;
use crate::observe::Work;
use crate::operator::{C2CNet, Direct, EvaluationReport, MapsToEvaluate, stack, vector_label};
use crate::plan::{InputPlan, MapPlan, OutputPlan, Plan};
use crate::report::{Candidate, Choice, FitReport, Seconds, Subject};
use crate::{Result, compute, linalg};
use faer::Mat;
use images::Images;
use maps::final_maps;
use spaces::triangles_on;
use std::time::Instant;

/// Output spaces and the targets they set for a map.
pub(crate) struct Outputs {
    pub decoders: Vec<(String, FieldDecoder)>,
    pub targets: Targets,
}

/// Fitted encoders and the coefficients of all training samples, images included.
pub(crate) struct Inputs {
    pub encoders: Encoders,
    pub coefficients: Mat<f64>,
    pub mirrors: Mirrors,
}

/// What was already computed while choosing the plan; empty for a plan from elsewhere.
#[derive(Default)]
pub(crate) struct Prepared {
    pub judged: Option<Judged>,
    /// Encoders and output spaces of the model, where choosing needed both.
    pub spaces: Option<(Inputs, Outputs)>,
    /// The encoders, where choosing needed them alone.
    pub inputs: Option<Inputs>,
    pub kernel: Option<KernelReport>,
    pub choices: Vec<Choice>,
    pub candidates: Vec<Candidate>,
    pub seconds: Seconds,
}

/// A plan that was judged by held-out samples at all points, withheld ones included.
pub(crate) struct Judged {
    /// `None` where the recipe of a network trains on all samples.
    pub validation: Option<EvaluationReport>,
    /// The training of the network that was judged.
    pub training: Option<TrainingReport>,
    /// That network, if it is the one of the model.
    pub network: Option<Box<dyn CoefficientMap>>,
}

impl Judged {
    /// Where samples are held out in turn, adds the errors on those of another fold.
    ///
    /// # Errors
    /// If the map, one in closed form, cannot be fitted to its samples, or the observer asks to stop.
    pub(crate) fn pool_fold(
        &mut self,
        context: &Context<'_>,
        (inputs, outputs): (&Inputs, &Outputs),
        plan: &MapPlan,
    ) -> Result<()> {
        let Some(report) = &mut self.validation else {
            return Ok(());
        };
        context.check_cancelled()?;
        let set = MapTrainingSet::closed_form(inputs, &outputs.targets);
        let fold = fold_maps(context, &set, plan)?;
        report.pool(judge(
            context,
            inputs,
            outputs,
            fold.map.as_ref(),
            &fold.linear,
        )?);
        Ok(())
    }
}

/// Turns a plan into a model. The plan is judged with held-out samples and withheld points; then these return, and
/// everything is fitted to all samples at all points.
pub(crate) fn build(
    context: &Context<'_>,
    plan: &Plan,
    prepared: Prepared,
) -> Result<(C2CNet, FitReport)> {
    let mut seconds = prepared.seconds;
    let judged = match prepared.judged {
        Some(judged) => judged,
        None => timed(&mut seconds.training, || judge_plan(context, plan))?,
    };
    let everything = context.with_everything();
    let known = (prepared.spaces, prepared.inputs);
    let (inputs, outputs) = timed(&mut seconds.encoding, || {
        remaining_spaces(&everything, plan, known)
    })?;
    let network = (judged.training, judged.network);
    let fitted = timed(&mut seconds.training, || {
        final_maps(&everything, (&inputs, &outputs), &plan.map, network)
    })?;
    let held_out = judged.validation.is_some();
    let maps = (&*fitted.map, &fitted.linear);
    let by_training = || judge(&everything, &inputs, &outputs, maps.0, maps.1);
    let mut validation = judged.validation.map_or_else(by_training, Ok)?;
    validation.in_units(plan.outputs.iter().map(|p| &p.sizes[..]));
    let report = FitReport {
        held_out,
        validation,
        choices: with_spaces(prepared.choices, &inputs, &outputs, &plan.map),
        warnings: compute::take_warnings(context.observer.device()),
        candidates: prepared.candidates,
        kernel: prepared.kernel,
        network: fitted.network,
        n_train: inputs.coefficients.ncols(),
        seconds,
    };
    let spaces = (inputs.encoders, outputs.decoders);
    let maps = (fitted.map, fitted.linear);
    Ok((put_together(context.train, plan, spaces, maps), report))
}

/// Stage 5: the model of spaces and maps, in the units of the data.
fn put_together(
    train: &Dataset,
    plan: &Plan,
    (encoders, decoders): (Encoders, Vec<(String, FieldDecoder)>),
    (map, linear): (Box<dyn CoefficientMap>, LinearMap),
) -> C2CNet {
    let encoders = encoders.into_iter().zip(&plan.inputs);
    let encoders = encoders.map(|((name, e), plan)| (name, e.in_sizes(plan.sizes.clone())));
    let fields = train.outputs.iter().zip(&plan.outputs);
    let decoders = decoders.into_iter().zip(fields);
    let decoders = decoders
        .map(|((name, d), ((_, field), plan))| (name, d.for_users(field, plan.sizes.clone())));
    C2CNet::new(encoders.collect(), decoders.collect(), map, linear)
}

/// Adds the time of `work` to `seconds`.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let clock = Instant::now();
    let result = work();
    *seconds += clock.elapsed().as_secs_f64();
    result
}

/// The rest of stages 1 and 2: both, the encoders, or neither may be known already.
fn remaining_spaces(
    context: &Context<'_>,
    plan: &Plan,
    known: (Option<(Inputs, Outputs)>, Option<Inputs>),
) -> Result<(Inputs, Outputs)> {
    match known {
        (Some(spaces), _) => Ok(spaces),
        (None, Some(inputs)) => Ok((inputs, represent_outputs(context, &plan.outputs)?)),
        (None, None) => spaces(context, plan),
    }
}

/// Stages 1 and 2.
pub(crate) fn spaces(context: &Context<'_>, plan: &Plan) -> Result<(Inputs, Outputs)> {
    let outputs = represent_outputs(context, &plan.outputs)?;
    let log = plan.inputs.iter().any(|plan| plan.transform.takes_log());
    context.begin(Work::EncodeInputs { log });
    let inputs = encode_inputs(context, &plan.inputs, plan.map.takes_raw_coefficients())?;
    Ok((inputs, outputs))
}

/// Stage 3: the map of a plan fitted without the held-out samples, and judged by them.
///
/// A network that is trained only once, on the samples not held out, is trained at all points, so no withheld points
/// remain to judge it.
fn judge_plan(context: &Context<'_>, plan: &Plan) -> Result<Judged> {
    if plan.map.takes_raw_coefficients() {
        return Ok(Judged {
            validation: None,
            training: None,
            network: None,
        });
    }
    let everything = context.with_everything();
    let is_final = plan.map.is_judged_network();
    let mut judged = judge_once(if is_final { &everything } else { context }, plan, is_final)?;
    if plan.map.is_closed_form() {
        for other in context.other_folds() {
            let (inputs, outputs) = spaces(&other, plan)?;
            judged.pool_fold(&other, (&inputs, &outputs), &plan.map)?;
        }
    }
    Ok(judged)
}

fn judge_once(context: &Context<'_>, plan: &Plan, keep_network: bool) -> Result<Judged> {
    let (inputs, outputs) = spaces(context, plan)?;
    let frame = OutputFrame::for_plan(context, &inputs, &outputs, &plan.map)?;
    let set = MapTrainingSet::new(&inputs, &outputs, &frame);
    let fold = fold_maps(context, &set, &plan.map)?;
    judge_fold(context, &inputs, &outputs, fold, keep_network)
}

/// Judges maps that were fitted without the held-out samples; the network is kept if it is the model's.
pub(crate) fn judge_fold(
    context: &Context<'_>,
    inputs: &Inputs,
    outputs: &Outputs,
    fold: FoldMaps,
    keep_network: bool,
) -> Result<Judged> {
    context.check_cancelled()?;
    context.begin(Work::Judge);
    let validation = judge(context, inputs, outputs, fold.map.as_ref(), &fold.linear)?;
    Ok(Judged {
        validation: Some(validation),
        training: fold.training,
        network: keep_network.then_some(fold.map),
    })
}

/// Stage 1: bases of the outputs, their orthonormal coordinates, and the targets of the training samples.
pub(crate) fn represent_outputs(context: &Context<'_>, plans: &[OutputPlan]) -> Result<Outputs> {
    context.begin(Work::FitOutputs);
    let images = image_outputs(context)?;
    let fields = images.as_ref().unwrap_or(&context.train.outputs);
    let cancelled = &|| context.observer.cancelled();
    let mut decoders = Vec::new();
    let mut parts = Vec::new();
    for ((plan, (name, field)), withheld) in plans.iter().zip(fields).zip(&context.withheld) {
        let (decoder, targets) = if field.is_vector() {
            FieldDecoder::fit_vector(&plan.vector(), field)
                .map_err(|e| e.within(&vector_label("output", name)))?
        } else {
            let triangles = triangles_on(context.train, field);
            let learn_from = LearnFrom {
                samples: context.learn_outputs_from(),
                withheld,
            };
            let basis = FieldSpace::of_output(plan).build(field, triangles, &learn_from)?;
            let (cuts, seed) = (&plan.cuts, context.protocol.seed);
            FieldDecoder::fit_unless(basis, field, withheld, cuts, seed, cancelled)?
        };
        decoders.push((name.clone(), decoder));
        parts.push(targets);
    }
    balance(&mut decoders, &mut parts);
    Ok(Outputs {
        decoders,
        targets: Targets::stack(parts),
    })
}

/// Scales the targets of each vector to vary as much as those of the functions beside it do on average, so that units
/// and the number of points do not decide which of them a map fits best.
fn balance(decoders: &mut [(String, FieldDecoder)], parts: &mut [Targets]) {
    let functions = decoders.iter().zip(parts.iter());
    let functions = functions.filter(|((_, decoder), _)| decoder.vector().is_none());
    let variances: Vec<f64> = functions.map(|(_, targets)| targets.variance()).collect();
    if variances.is_empty() {
        return;
    }
    let wanted = mean(&variances);
    for ((_, decoder), targets) in decoders.iter_mut().zip(parts) {
        let weight = (wanted / targets.variance()).sqrt();
        if weight.is_finite() && weight > 0.0 {
            decoder.weigh(weight, targets);
        }
    }
}

/// Outputs of all images of the training samples: maps learn from all of them, but bases and encoders are settled on
/// the samples themselves, because images add nothing new there.
fn image_outputs(context: &Context<'_>) -> Result<Option<Fields>> {
    match context.protocol.symmetries {
        Symmetries::None => Ok(None),
        group => group.images(&context.train.outputs).map(Some),
    }
}

/// Stage 2: encoders of the inputs and the concatenated coefficients of the training samples.
pub(crate) fn encode_inputs(
    context: &Context<'_>,
    plans: &[InputPlan],
    raw: bool,
) -> Result<Inputs> {
    context.check_cancelled()?;
    let (encoders, samples) = encode_samples(context, plans, raw)?;
    let images = Images {
        symmetries: context.protocol.symmetries,
        encoders: &encoders,
        fields: &context.train.inputs,
    };
    let (coefficients, mirrors) = images.coefficients(samples)?;
    Ok(Inputs {
        encoders,
        coefficients,
        mirrors,
    })
}

/// Encoders by input name.
type Encoders = Vec<(String, FieldEncoder)>;

/// Encoders and coefficients of the samples themselves.
fn encode_samples(
    context: &Context<'_>,
    plans: &[InputPlan],
    raw: bool,
) -> Result<(Encoders, Mat<f64>)> {
    let cancelled = &|| context.observer.cancelled();
    let mut encoders = Vec::new();
    let mut parts = Vec::new();
    for (plan, (name, field)) in plans.iter().zip(&context.train.inputs) {
        let (encoder, coefficients) = if field.is_vector() {
            FieldEncoder::fit_vector(&plan.vector(), plan.transform, field)
                .map_err(|e| e.within(&vector_label("input", name)))?
        } else {
            let triangles = triangles_on(context.train, field);
            // Inputs use all of their points.
            let learn_from = LearnFrom {
                samples: context.learn_inputs_from(),
                withheld: &Withheld::none(),
            };
            let basis = FieldSpace::of_input(plan).build(field, triangles, &learn_from)?;
            FieldEncoder::fit_unless(basis, &plan.encoder, plan.transform, field, raw, cancelled)?
        };
        encoders.push((name.clone(), encoder));
        parts.push(coefficients);
    }
    Ok((encoders, stack(&parts)))
}

/// Errors of a map on the held-out samples.
pub(crate) fn judge(
    context: &Context<'_>,
    inputs: &Inputs,
    outputs: &Outputs,
    map: &dyn CoefficientMap,
    linear: &LinearMap,
) -> Result<EvaluationReport> {
    let held = &context.split.validation;
    let coefficients = linalg::select_columns(inputs.coefficients.as_ref(), held);
    let truth = context.train.outputs.iter();
    let truth: Fields = truth
        .map(|(name, field)| (name.clone(), field.select(held)))
        .collect();
    let maps = MapsToEvaluate {
        decoders: &outputs.decoders,
        map,
        direct: Direct::new(map, &inputs.encoders, &outputs.decoders),
        linear,
    };
    maps.evaluate(coefficients.as_ref(), &truth, true)
}

/// The choices, with the spaces that the fit used before that of the map.
fn with_spaces(
    mut choices: Vec<Choice>,
    inputs: &Inputs,
    outputs: &Outputs,
    map: &MapPlan,
) -> Vec<Choice> {
    let fixed = |subject, field: &String, chosen, why| Choice {
        subject,
        field: field.clone(),
        candidates: Vec::new(),
        chosen,
        why,
    };
    let outputs = outputs.decoders.iter().map(|(name, decoder)| {
        let kept = format!(
            "{} of {} coordinates kept",
            decoder.rank(),
            decoder.basis().len()
        );
        fixed(Subject::Output, name, decoder.basis().describe(), kept)
    });
    let inputs = inputs.encoders.iter().map(|(name, encoder)| {
        let transform = match encoder.transform() {
            Transform::None => String::new(),
            t => format!("; transform {t:?}").to_lowercase(),
        };
        let how = encoder.describe() + &transform;
        fixed(Subject::Input, name, encoder.basis().describe(), how)
    });
    let chosen = choices.iter().position(|c| c.subject == Subject::Map);
    let place = chosen.unwrap_or(choices.len());
    choices.splice(place..place, outputs.chain(inputs));
    if chosen.is_none() {
        let (kind, why) = (map.kind().into(), "as planned".into());
        choices.push(fixed(Subject::Map, &String::new(), kind, why));
    }
    choices
}
