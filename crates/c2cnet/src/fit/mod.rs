//! From a plan to a model: the paper's Section 2 in five stages.
//!
//! 1. [`represent_outputs`]: output bases, orthonormal coordinates of the training outputs.
//! 2. [`encode_inputs`]: input coefficients of the training samples.
//! 3. [`fold_maps`]: the map fitted without the held-out samples, and [`judge`]d by them.
//! 4. [`final_maps`]: the map fitted to all training samples.
//! 5. [`assemble`]: one model of it all.

mod images;
mod maps;
mod spaces;
mod training_set;

pub(crate) use maps::{
    FoldMaps, fold_kernel, fold_linear, fold_network, held_out_error, train_network,
};
pub(crate) use spaces::FieldSpace;
pub(crate) use training_set::{MapTrainingSet, OutputFrame};

use crate::data::{Dataset, Field, Symmetries};
use crate::decode::{FieldDecoder, Targets};
use crate::encode::{FieldEncoder, Transform};
use crate::map::{CoefficientMap, KernelReport, LinearMap, Mirrors, Split};
use crate::metrics::mean;
use crate::observe::{Event, Observer, Step};
use crate::operator::{C2CNet, EvaluationReport, evaluate_maps, stack, vector_label};
use crate::plan::{InputPlan, MapPlan, OutputPlan, Plan, Protocol};
use crate::report::{Candidate, Choice, FitReport, Seconds, Subject};
use crate::{Result, linalg};
use faer::Mat;
use images::Images;
use maps::{FinalMaps, final_maps, fold_maps};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use spaces::triangles_on;
use std::time::Instant;

/// What all stages share.
pub(crate) struct Context<'a> {
    /// The training samples.
    pub train: &'a Dataset,
    /// Which of them judge; images under symmetries counted.
    pub split: Split,
    pub protocol: Protocol,
    pub observer: &'a dyn Observer,
}

impl<'a> Context<'a> {
    pub(crate) fn new(train: &'a Dataset, protocol: Protocol, observer: &'a dyn Observer) -> Self {
        Context {
            train,
            split: split(train.samples(), &protocol),
            protocol,
            observer,
        }
    }

    /// The same for some of the samples, as they are.
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

    pub(crate) fn begin(&self, step: Step) {
        self.observer.event(&Event::Begin(&step));
    }

    pub(crate) fn check_cancelled(&self) -> Result<()> {
        crate::observe::check_cancelled(self.observer)
    }
}

/// Output spaces and what they ask of a map.
pub(crate) struct Outputs {
    pub decoders: Vec<(String, FieldDecoder)>,
    pub targets: Targets,
}

/// Fitted encoders and the coefficients of all training samples, images included.
pub(crate) struct Inputs {
    pub encoders: Vec<(String, FieldEncoder)>,
    pub coefficients: Mat<f64>,
    pub mirrors: Mirrors,
}

/// What choosing a plan has computed of it already; a plan from elsewhere comes with nothing.
#[derive(Default)]
pub(crate) struct Prepared {
    pub outputs: Option<Outputs>,
    pub inputs: Option<Inputs>,
    pub fold: Option<FoldMaps>,
    pub kernel: Option<KernelReport>,
    pub choices: Vec<Choice>,
    pub candidates: Vec<Candidate>,
    pub seconds: Seconds,
}

/// Turns a plan into a model.
pub(crate) fn build(
    context: &Context<'_>,
    plan: &Plan,
    prepared: Prepared,
) -> Result<(C2CNet, FitReport)> {
    let mut seconds = prepared.seconds;
    let clock = Instant::now();
    let outputs = match prepared.outputs {
        Some(outputs) => outputs,
        None => represent_outputs(context, &plan.outputs)?,
    };
    let inputs = match prepared.inputs {
        Some(inputs) => inputs,
        None => encode_inputs(context, &plan.inputs, plan.map.takes_raw_coefficients())?,
    };
    seconds.encoding += clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let (fitted, validation, held_out) =
        learn_map(context, &inputs, &outputs, &plan.map, prepared.fold)?;
    seconds.training += clock.elapsed().as_secs_f64();

    let mut choices = prepared.choices;
    let last = choices.iter().position(|c| c.subject == Subject::Map);
    let last = last.unwrap_or(choices.len());
    choices.splice(last..last, spaces_in_words(&inputs, &outputs));
    let report = FitReport {
        validation,
        held_out,
        choices,
        candidates: prepared.candidates,
        kernel: prepared.kernel,
        network: fitted.network,
        n_train: inputs.coefficients.ncols(),
        seconds,
    };
    let model = C2CNet::new(inputs.encoders, outputs.decoders, fitted.map, fitted.linear);
    Ok((model, report))
}

/// Stage 1: bases of the outputs, their orthonormal coordinates, and the targets of the training samples.
pub(crate) fn represent_outputs(context: &Context<'_>, plans: &[OutputPlan]) -> Result<Outputs> {
    context.begin(Step::FitOutputs);
    let protocol = &context.protocol;
    let images = image_outputs(context)?;
    let fields = images.as_deref().unwrap_or(&context.train.outputs);
    let mut decoders = Vec::new();
    let mut parts = Vec::new();
    for (plan, (name, field)) in plans.iter().zip(fields) {
        let (decoder, targets) = if field.is_vector() {
            FieldDecoder::fit_vector(&plan.vector(), field)
                .map_err(|e| e.within(&vector_label("output", name)))?
        } else {
            let triangles = triangles_on(context.train, field);
            let basis = FieldSpace::of_output(plan).build(field, triangles)?;
            FieldDecoder::fit(basis, field, protocol.withhold, plan.cut, protocol.seed)?
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

/// Makes the targets of each vector vary as much as those of the functions beside it do on average: units and
/// the number of points then do not decide which of them a map serves.
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

/// Outputs of all images of the training samples: maps learn from all of them, while bases are chosen and
/// encoders settled on the samples themselves, to which images add nothing new.
fn image_outputs(context: &Context<'_>) -> Result<Option<Vec<(String, Field)>>> {
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
    let log = plans.iter().any(|plan| plan.transform.takes_log());
    context.begin(Step::EncodeInputs { log });
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

/// Encoders and coefficients of the samples themselves.
pub(crate) fn encode_samples(
    context: &Context<'_>,
    plans: &[InputPlan],
    raw: bool,
) -> Result<(Vec<(String, FieldEncoder)>, Mat<f64>)> {
    let cancelled = &|| context.observer.cancelled();
    let mut encoders = Vec::new();
    let mut parts = Vec::new();
    for (plan, (name, field)) in plans.iter().zip(&context.train.inputs) {
        let (encoder, coefficients) = if field.is_vector() {
            FieldEncoder::fit_vector(&plan.vector(), plan.transform, field)
                .map_err(|e| e.within(&vector_label("input", name)))?
        } else {
            let triangles = triangles_on(context.train, field);
            let basis = FieldSpace::of_input(plan).build(field, triangles)?;
            FieldEncoder::fit_unless(basis, &plan.encoder, plan.transform, field, raw, cancelled)?
        };
        encoders.push((name.clone(), encoder));
        parts.push(coefficients);
    }
    Ok((encoders, stack(&parts)))
}

/// Stages 3 and 4: the map fitted without the held-out samples and judged by them, then fitted to all.
/// A recipe that trains on all samples is judged by samples that trained, which the flag tells.
fn learn_map(
    context: &Context<'_>,
    inputs: &Inputs,
    outputs: &Outputs,
    plan: &MapPlan,
    fold: Option<FoldMaps>,
) -> Result<(FinalMaps, EvaluationReport, bool)> {
    let frame = OutputFrame::for_plan(context, outputs, plan)?;
    let set = MapTrainingSet::new(inputs, outputs, &frame);
    let fold = match fold {
        Some(fold) => fold,
        None => fold_maps(context, &set, plan)?,
    };
    context.check_cancelled()?;
    context.begin(Step::Judge);
    let judged = match fold.map.as_deref() {
        Some(map) => Some(judge(context, inputs, outputs, map, &fold.linear)?),
        None => None,
    };
    let fitted = final_maps(context, &set, plan, fold)?;
    let held_out = judged.is_some();
    let validation = match judged {
        Some(judged) => judged,
        None => judge(
            context,
            inputs,
            outputs,
            fitted.map.as_ref(),
            &fitted.linear,
        )?,
    };
    Ok((fitted, validation, held_out))
}

/// Errors of a map on the held-out samples.
fn judge(
    context: &Context<'_>,
    inputs: &Inputs,
    outputs: &Outputs,
    map: &dyn CoefficientMap,
    linear: &LinearMap,
) -> Result<EvaluationReport> {
    let held = &context.split.validation;
    let coefficients = linalg::select_columns(inputs.coefficients.as_ref(), held);
    let truth = context.train.outputs.iter();
    let truth: Vec<(String, Field)> = truth
        .map(|(name, field)| (name.clone(), field.select(held)))
        .collect();
    evaluate_maps(
        &outputs.decoders,
        map,
        linear,
        coefficients.as_ref(),
        &truth,
    )
}

/// Which spaces the fit used.
fn spaces_in_words(inputs: &Inputs, outputs: &Outputs) -> Vec<Choice> {
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
    outputs.chain(inputs).collect()
}

/// Samples that judge choices, at most: more would make the judgement hardly surer, and they are missing
/// where maps are fitted.
const MOST_HELD_OUT: usize = 2500;

/// A seeded split of the original samples; images of a sample under symmetries stay on its side,
/// and only originals judge.
fn split(originals: usize, protocol: &Protocol) -> Split {
    let images = protocol.symmetries.order();
    let mut order: Vec<usize> = (0..originals).collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(protocol.seed ^ 0x5a5a);
    order.shuffle(&mut rng);
    let part = (originals as f64 * protocol.validation).round() as usize;
    let held = part.min(MOST_HELD_OUT).clamp(1, originals - 2);
    let (validation, train) = order.split_at(held);
    Split {
        train: (0..images)
            .flat_map(|g| train.iter().map(move |k| g * originals + k))
            .collect(),
        validation: validation.to_vec(),
    }
}
