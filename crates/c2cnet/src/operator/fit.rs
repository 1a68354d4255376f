//! From training samples to a fitted operator.

use super::auto_map::{self, Chosen, Fitted};
use super::images::Images;
use super::lesson::{Lesson, OutputFrame};
use super::model::{C2CNet, evaluate_maps, stack};
use super::spaces::Named;
use super::{FitConfig, FitReport, MapKind, Observer, Seconds, network, search};
use crate::data::{Dataset, Field, Symmetries};
use crate::decode::{FieldDecoder, Targets};
use crate::encode::{FieldEncoder, Transform};
use crate::map::{CoefficientMap, LinearMap, Mirrors, Split};
use crate::{Error, Result, linalg};
use faer::Mat;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::time::Instant;

/// Encoders by input name.
type Encoders = Vec<(String, FieldEncoder)>;

/// Fits an operator to the training samples of `data`; no other sample is looked at.
///
/// # Errors
/// If the settings or the data cannot be used (the message says which and why), or the observer
/// asks to stop.
pub fn fit(
    data: &Dataset,
    config: &FitConfig,
    observer: &dyn Observer,
) -> Result<(C2CNet, FitReport)> {
    let begin = Instant::now();
    config.check()?;
    data.check()?;
    if data.outputs.is_empty() {
        return Err(Error::Data(
            "the data has no outputs `u`; a fit needs them".into(),
        ));
    }
    check_names(config, data)?;
    let train = data.select(&nonempty(data.train_indices())?);
    let originals = train.samples();
    if originals < 5 {
        return Err(Error::Data(format!(
            "{originals} training samples are too few: some are held out to judge the choices; give at least 5"
        )));
    }
    let split = split(originals, config.symmetries.order(), config);
    let mut seconds = Seconds::default();
    let mut choices = Vec::new();

    // Bases that the settings do not name are searched for.
    let clock = Instant::now();
    let resolved = search::resolve(&train, config, observer, &mut choices)?;
    seconds.search = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    observer.step("fitting the output space");
    // Maps learn from all images of a sample under symmetries; bases are chosen and encoders settled
    // on the samples themselves, to which images add nothing new.
    let images;
    let image_outputs = match config.symmetries {
        Symmetries::None => &train.outputs,
        group => {
            images = group.images(&train.outputs)?;
            &images
        }
    };
    let (outputs, targets) = fit_outputs(image_outputs, &train, &resolved)?;
    for (name, decoder) in &outputs {
        let functions = decoder.basis().len();
        choices.push(format!(
            "output{}: {}; {} of {functions} coordinates kept",
            label(name),
            decoder.basis().describe(),
            decoder.rank(),
        ));
    }
    seconds.encoding += clock.elapsed().as_secs_f64();

    // One candidate for each transform that the settings leave open.
    let mut best: Option<(Chosen, Encoders, Mat<f64>, Mirrors)> = None;
    let mut candidates = Vec::new();
    let mut refused = None;
    for transforms in transform_candidates(&train, &resolved) {
        check_cancelled(observer)?;
        let clock = Instant::now();
        let logged = transforms.iter().any(|t| t.takes_log());
        let suffix = if logged { " with log input" } else { "" };
        observer.step(&format!("encoding inputs{suffix}"));
        // A basis may not fit the logarithm (too few principal directions) and yet fit the values.
        let encoded =
            fit_inputs(&train, &resolved, &transforms, observer).and_then(|(encoders, samples)| {
                let images = Images {
                    symmetries: config.symmetries,
                    encoders: &encoders,
                    fields: &train.inputs,
                };
                let (coefficients, mirrors) = images.coefficients(samples)?;
                Ok((encoders, coefficients, mirrors))
            });
        seconds.encoding += clock.elapsed().as_secs_f64();
        let (inputs, coefficients, mirrors) = match encoded {
            Ok(encoded) => encoded,
            Err(e @ Error::Interrupted) => return Err(e),
            Err(e) => {
                refused.get_or_insert(e);
                continue;
            }
        };
        let clock = Instant::now();
        observer.step(&format!("choosing the coefficient map{suffix}"));
        let chosen = auto_map::choose(
            coefficients.as_ref(),
            &targets,
            &mirrors,
            &split,
            &config.map,
            config.seed,
            observer,
        )?;
        seconds.training += clock.elapsed().as_secs_f64();
        candidates.extend(chosen.candidates.iter().map(|c| super::Candidate {
            name: format!("{}{suffix}", c.name),
            validation_rl2e: c.validation_rl2e,
        }));
        if best
            .as_ref()
            .is_none_or(|(b, ..)| chosen.validation_rl2e < b.validation_rl2e)
        {
            best = Some((chosen, inputs, coefficients, mirrors));
        }
    }
    let Some((mut chosen, inputs, coefficients, mirrors)) = best else {
        return Err(refused.expect("a candidate is chosen or refused"));
    };
    for (name, encoder) in &inputs {
        choices.push(format!(
            "input{}: {}; {}{}",
            label(name),
            encoder.basis().describe(),
            encoder.describe(),
            match encoder.transform() {
                Transform::None => String::new(),
                t => format!("; transform {t:?}").to_lowercase(),
            },
        ));
    }

    let frame = match config.map.kind {
        MapKind::Linear | MapKind::Kernel => OutputFrame::default(),
        MapKind::Auto | MapKind::Mlp => OutputFrame::new(
            &outputs,
            image_outputs,
            &config.map.mlp,
            config.withhold,
            config.seed,
        )?,
    };
    let lesson = Lesson {
        coefficients: coefficients.as_ref(),
        targets: &targets,
        mirrors: &mirrors,
        outputs: &frame,
    };
    let clock = Instant::now();
    let known = chosen.candidates.len();
    network::consider(
        &mut chosen,
        &lesson,
        &split,
        &config.map,
        config.seed,
        observer,
    )?;
    candidates.extend(chosen.candidates.drain(known..));
    choices.push(explain(&chosen, config.map.kind, &candidates));

    check_cancelled(observer)?;
    observer.step("judging on held-out samples");
    let kernel = chosen.kernel_report().cloned();
    let held = linalg::select_columns(coefficients.as_ref(), &split.validation);
    let held_outputs: Vec<(String, Field)> = train
        .outputs
        .iter()
        .map(|(name, field)| (name.clone(), field.select(&split.validation)))
        .collect();
    let judge = |map: &dyn CoefficientMap, linear: &LinearMap| {
        evaluate_maps(&outputs, map, linear, held.as_ref(), &held_outputs)
    };
    let judged = match chosen.fold_maps(&lesson, &split, config.seed)? {
        (Some(map), linear) => Some(judge(map, linear)?),
        (None, _) => None,
    };
    let Fitted {
        map,
        linear,
        network,
    } = chosen.fit_all(&lesson, config.seed, observer)?;
    seconds.training += clock.elapsed().as_secs_f64();
    let held_out = judged.is_some();
    let validation = match judged {
        Some(judged) => judged,
        None => judge(map.as_ref(), &linear)?,
    };
    seconds.total = begin.elapsed().as_secs_f64();

    let report = FitReport {
        validation,
        held_out,
        choices,
        candidates,
        kernel,
        network,
        n_train: coefficients.ncols(),
        seconds,
    };
    let info = serde_json::json!({
        "config": config,
        "seed": config.seed,
        "data": { "fingerprint": data.fingerprint(), "n_train": originals, "meta": data.meta },
        "choices": report.choices,
        "validation": report.validation,
        "held_out": report.held_out,
    });
    let model = C2CNet {
        inputs,
        outputs,
        map,
        linear,
        info,
    };
    Ok((model, report))
}

fn label(name: &str) -> String {
    if name.is_empty() {
        String::new()
    } else {
        format!(" {name:?}")
    }
}

fn explain(chosen: &Chosen, wanted: MapKind, candidates: &[super::Candidate]) -> String {
    let list: Vec<String> = candidates
        .iter()
        .map(|c| format!("{} {:.3e}", c.name, c.validation_rl2e))
        .collect();
    let why = match wanted {
        MapKind::Auto => "by the error on held-out training samples",
        _ => "as the settings want; errors on held-out training samples",
    };
    format!("map: {}, {why} ({})", chosen.kind(), list.join(", "))
}

fn nonempty(indices: Vec<usize>) -> Result<Vec<usize>> {
    if indices.is_empty() {
        return Err(Error::Data(
            "the data has no training sample; its split must name some \"train\"".into(),
        ));
    }
    Ok(indices)
}

pub(super) fn check_cancelled(observer: &dyn Observer) -> Result<()> {
    if observer.cancelled() {
        return Err(Error::Interrupted);
    }
    Ok(())
}

/// Settings for fields that the data does not have are mistakes.
fn check_names(config: &FitConfig, data: &Dataset) -> Result<()> {
    let check = |kind: &str, names: Vec<&String>, fields: &[(String, Field)]| {
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
    check("output", config.outputs.keys().collect(), &data.outputs)
}

/// Samples that judge choices, at most: more would make the judgement hardly surer, and they are missing
/// where maps are fitted.
const MOST_HELD_OUT: usize = 2500;

/// A seeded split of the original samples; images of a sample under symmetries stay on its side,
/// and only originals judge.
pub(super) fn split(originals: usize, images: usize, config: &FitConfig) -> Split {
    let mut order: Vec<usize> = (0..originals).collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(config.seed ^ 0x5a5a);
    order.shuffle(&mut rng);
    let part = (originals as f64 * config.validation).round() as usize;
    let held = part.min(MOST_HELD_OUT).clamp(1, originals - 2);
    let (validation, train) = order.split_at(held);
    Split {
        train: (0..images)
            .flat_map(|g| train.iter().map(move |k| g * originals + k))
            .collect(),
        validation: validation.to_vec(),
    }
}

/// The data's triangles, if `field` lives on the points that they name.
fn triangles_on<'a>(data: &'a Dataset, field: &Field) -> Option<&'a [[usize; 3]]> {
    let points = field.shared_points()?;
    (points == data.mesh_points()?).then_some(data.triangles.as_deref()?)
}

/// Encoders of all inputs and their concatenated coefficients.
pub(super) fn fit_inputs(
    train: &Dataset,
    config: &FitConfig,
    transforms: &[Transform],
    observer: &dyn Observer,
) -> Result<(Encoders, Mat<f64>)> {
    let cancelled = &|| observer.cancelled();
    let mut encoders = Vec::new();
    let mut parts = Vec::new();
    for ((name, field), &transform) in train.inputs.iter().zip(transforms) {
        let settings = config.input_named(name);
        let triangles = triangles_on(train, field);
        let basis = Named::input(settings)?.build(field, triangles, transform)?;
        let spec = settings.encoder.unwrap_or_default();
        let raw = config.map.takes_raw_coefficients();
        let (encoder, coefficients) =
            FieldEncoder::fit_unless(basis, &spec, transform, field, raw, cancelled)?;
        encoders.push((name.clone(), encoder));
        parts.push(coefficients);
    }
    Ok((encoders, stack(&parts)))
}

/// Decoders of the outputs `fields` and their joint targets; `train` knows the mesh.
pub(super) fn fit_outputs(
    fields: &[(String, Field)],
    train: &Dataset,
    config: &FitConfig,
) -> Result<(Vec<(String, FieldDecoder)>, Targets)> {
    let mut decoders = Vec::new();
    let mut parts = Vec::new();
    for (name, field) in fields {
        let settings = config.output_named(name);
        let triangles = triangles_on(train, field);
        let basis = Named::output(settings)?.build(field, triangles, Transform::None)?;
        let (decoder, targets) =
            FieldDecoder::fit(basis, field, config.withhold, settings.cut, config.seed)?;
        decoders.push((name.clone(), decoder));
        parts.push(targets);
    }
    Ok((decoders, Targets::stack(parts)))
}

/// The transforms to compare: one list (an entry an input) for each candidate.
pub(super) fn transform_candidates(train: &Dataset, config: &FitConfig) -> Vec<Vec<Transform>> {
    let base: Vec<Option<Transform>> = train
        .inputs
        .iter()
        .map(|(name, _)| config.input_named(name).transform.given())
        .collect();
    let with = |open: &dyn Fn(&Field) -> Transform| -> Vec<Transform> {
        base.iter()
            .zip(&train.inputs)
            .map(|(given, (_, field))| given.unwrap_or_else(|| open(field)))
            .collect()
    };
    let plain = with(&|_| Transform::None);
    // As printed: raw coefficients.
    if config.map.takes_raw_coefficients() {
        return vec![plain];
    }
    let logged = with(&|field| {
        if field.minimum() > 0.0 {
            Transform::Log
        } else {
            Transform::None
        }
    });
    if plain == logged {
        vec![plain]
    } else {
        vec![plain, logged]
    }
}
