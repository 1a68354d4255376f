//! From a plan to a model: the paper's Section 2 in five stages.
//!
//! 1. `represent_outputs`: output bases, orthonormal coordinates of the training outputs.
//! 2. `encode_inputs`: input coefficients of the training samples.
//! 3. `judge_plan`: the map fitted without the held-out samples and the withheld points, and judged by them.
//! 4. `final_maps`: the map fitted to all training samples, with spaces fitted to all of their points.
//! 5. `put_together`: the model of spaces and maps.
//!
//! `build` goes through them.

mod images;
mod latent;
mod maps;
mod moving_nodes;
mod spaces;
mod training_set;

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
use crate::map::{CoefficientMap, KernelReport, LinearMap, Mirrors, Split};
use crate::metrics::mean;
use crate::observe::{Event, Observer, Step, Work};
use crate::operator::{C2CNet, EvaluationReport, MapsToEvaluate, stack, vector_label};
use crate::plan::{InputPlan, MapPlan, OutputPlan, Plan, Protocol};
use crate::report::{Candidate, Choice, FitReport, Seconds, Subject};
use crate::{Result, compute, linalg};
use faer::Mat;
use images::Images;
use maps::final_maps;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use spaces::triangles_on;
use std::time::Instant;

/// What all stages share.
#[derive(Clone)]
pub(crate) struct Context<'a> {
    /// The training samples.
    pub train: &'a Dataset,
    /// Which of them judge, counting images under symmetries.
    pub split: Split,
    pub protocol: Protocol,
    pub observer: &'a dyn Observer,
    /// Relative errors below this are rounding of the outputs, which no map can resolve.
    pub rounding: f64,
    /// For each output, the points that judge along with the held-out samples; none in the final fit.
    withheld: Vec<Withheld>,
    /// Whether held-out samples and withheld points judge, so that no space may be learned from them. They return for
    /// the final fit.
    judging: bool,
}

impl<'a> Context<'a> {
    /// The context in which held-out samples and withheld points judge.
    pub(crate) fn new(train: &'a Dataset, protocol: Protocol, observer: &'a dyn Observer) -> Self {
        let withheld = |field| Withheld::of_output(field, protocol.withhold, protocol.seed);
        Context {
            train,
            split: split(&train.alike(), &protocol, 0),
            rounding: match train.outputs.iter().any(|(_, f)| f.is_single_precision()) {
                true => SINGLE_ROUNDING,
                false => ROUNDING,
            },
            withheld: train.outputs.iter().map(|(_, f)| withheld(f)).collect(),
            protocol,
            observer,
            judging: true,
        }
    }

    /// The same samples with other parts held out, if they are so few that one part alone is too noisy.
    pub(crate) fn other_folds(&self) -> Vec<Context<'a>> {
        let samples = self.train.samples();
        if samples > FEW_SAMPLES {
            return Vec::new();
        }
        let alike = self.train.alike();
        let folds = FOLDS.min(samples / self.split.validation.len());
        let fold = |fold| Context {
            split: split(&alike, &self.protocol, fold),
            withheld: self.withheld.clone(),
            ..*self
        };
        (1..folds).map(fold).collect()
    }

    /// The same with all samples and points.
    pub(crate) fn with_everything(&self) -> Context<'a> {
        Context {
            split: self.split.clone(),
            withheld: vec![Withheld::none(); self.withheld.len()],
            judging: false,
            ..*self
        }
    }

    /// The points of the output `name` that judge.
    pub(crate) fn withheld_of(&self, name: &str) -> Withheld {
        let mut outputs = self.train.outputs.iter().zip(&self.withheld);
        let found = outputs.find(|((output, _), _)| output == name);
        found
            .map(|(_, withheld)| withheld.clone())
            .unwrap_or_default()
    }

    /// The samples and images that output spaces may be learned from; `None`: all of them.
    fn learn_outputs_from(&self) -> Option<&[usize]> {
        self.judging.then_some(&self.split.train[..])
    }

    /// The samples that input spaces may be learned from, without their images, which come after all of them; `None`:
    /// all of them.
    fn learn_inputs_from(&self) -> Option<&[usize]> {
        let originals = self.split.train.len() / self.protocol.symmetries.order();
        self.judging.then_some(&self.split.train[..originals])
    }

    /// The same for some of the samples, without images.
    pub(crate) fn without_images<'b>(&self, some: &'b Dataset) -> Context<'b>
    where
        'a: 'b,
    {
        let protocol = Protocol {
            symmetries: Symmetries::None,
            ..self.protocol
        };
        Context::new(some, protocol, self.observer)
    }

    pub(crate) fn begin(&self, work: Work) {
        self.observer.event(&Event::Begin(&Step(work)));
    }

    pub(crate) fn check_cancelled(&self) -> Result<()> {
        crate::observe::check_cancelled(self.observer)
    }
}

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
        choices: with_spaces(prepared.choices, &inputs, &outputs),
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
        linear,
    };
    maps.evaluate(coefficients.as_ref(), &truth, true)
}

/// The choices, with the spaces that the fit used before that of the map.
fn with_spaces(mut choices: Vec<Choice>, inputs: &Inputs, outputs: &Outputs) -> Vec<Choice> {
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
    let map = choices.iter().position(|c| c.subject == Subject::Map);
    let map = map.unwrap_or(choices.len());
    choices.splice(map..map, outputs.chain(inputs));
    choices
}

/// A map with a smaller error is exact up to rounding.
const ROUNDING: f64 = 1e-13;

/// The same for outputs in single precision: a few units in their last place.
const SINGLE_ROUNDING: f64 = 1e-6;

/// At most this many samples judge choices: more would barely improve the estimate, and are missing when maps are
/// fitted.
pub(crate) const MOST_HELD_OUT: usize = 2500;

/// With at most this many samples, several parts of them judge in turn.
const FEW_SAMPLES: usize = 400;

/// The number of such parts.
const FOLDS: usize = 5;

/// A seeded split of the original samples, the `fold`th of its kind; images of a sample under symmetries stay on its
/// side, and only originals judge.
///
/// Samples with the same inputs (`alike` gives the first of them for each) stay together, so that none judges a map
/// fitted to another; if the cut divides them, they are left out of the fit.
fn split(alike: &[usize], protocol: &Protocol, fold: usize) -> Split {
    let originals = alike.len();
    let images = protocol.symmetries.order();
    let mut order: Vec<usize> = (0..originals).collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(protocol.seed ^ 0x5a5a);
    order.shuffle(&mut rng);
    let mut place = vec![usize::MAX; originals];
    for (i, &k) in order.iter().enumerate() {
        place[alike[k]] = place[alike[k]].min(i);
    }
    order.sort_by_key(|&k| place[alike[k]]);
    let part = (originals as f64 * protocol.validation).round() as usize;
    let held = part.min(MOST_HELD_OUT).clamp(1, originals - 2);
    order.rotate_left(fold * held);
    let (validation, train) = order.split_at(held);
    let mut judges = vec![false; originals];
    validation.iter().for_each(|&k| judges[alike[k]] = true);
    let apart: Vec<usize> = train
        .iter()
        .copied()
        .filter(|&k| !judges[alike[k]])
        .collect();
    // If nearly all inputs are the same, nothing can be kept apart.
    let train = if apart.len() < 2 { train } else { &apart[..] };
    Split {
        train: (0..images)
            .flat_map(|g| train.iter().map(move |k| g * originals + k))
            .collect(),
        validation: validation.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::FitConfig;

    /// Forty inputs, each three times and in any order: none is on both sides, in any fold.
    #[test]
    fn samples_with_the_same_inputs_stay_on_one_side() {
        let protocol = FitConfig::default().protocol();
        let load = |k: usize| (k * 7) % 40;
        let alike: Vec<usize> = (0..120)
            .map(|k| (0..120).find(|&j| load(j) == load(k)).unwrap())
            .collect();
        for fold in 0..5 {
            let Split { train, validation } = split(&alike, &protocol, fold);
            assert!(!validation.is_empty() && train.len() > 80);
            assert!(
                validation
                    .iter()
                    .all(|&v| train.iter().all(|&t| load(t) != load(v)))
            );
        }
        // If all are the same, they cannot be kept apart.
        let Split { train, validation } = split(&[0; 10], &protocol, 0);
        assert_eq!((train.len(), validation.len()), (8, 2));
    }
}
