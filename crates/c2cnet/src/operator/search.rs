//! The search for bases that the settings do not name.
//!
//! Output bases are judged by the floor at withheld points: what the decoder does between its
//! samples even with perfect coordinates. Input bases are first ranked by the same error of
//! representing the inputs; the best of each family are then judged by the validation error of
//! the whole operator on some of the training samples. Point values and PCA are never chosen:
//! they interpolate off their grid.

use super::auto_map::{self, Split};
use super::candidates::{Family, families};
use super::config::{FitConfig, MapConfig};
use super::fit::{fit_inputs, fit_outputs, split, transform_candidates};
use super::spaces::{build, domain_of};
use super::{Components, Observer};
use crate::basis::BasisSpec;
use crate::data::{Bounds, Dataset, Field, Observations};
use crate::decode::{Evaluation, FieldDecoder, Targets, choose_withheld};
use crate::encode::{EncoderSpec, Method, Transform};
use crate::map::KernelSpec;
use crate::metrics::mean_relative;
use crate::{Error, Result, linalg};

/// Points at which bases are compared, at most: enough for the largest of them.
const POINTS: usize = 4096;

/// Samples with which representations are compared, at most.
const SAMPLES: usize = 100;

/// Floors below this are as good as zero: no map comes close.
const NEGLIGIBLE_FLOOR: f64 = 3e-5;

/// Representation errors of inputs below this are not worth more functions: the operator smooths
/// most of what is lost, and the whole operator judges the rest.
const NEGLIGIBLE_INPUT: f64 = 1e-3;

/// Input bases judged by the whole operator, at most.
const FINALISTS: usize = 6;

/// Validation errors this close are a tie on so few samples.
const TIE: f64 = 1.05;

/// Settings with every basis named.
pub(super) fn resolve(
    train: &Dataset,
    originals: usize,
    config: &FitConfig,
    observer: &dyn Observer,
    choices: &mut Vec<String>,
) -> Result<FitConfig> {
    let mut resolved = config.clone();
    let open_outputs: Vec<usize> = (0..train.outputs.len())
        .filter(|&i| {
            let c = config.output_named(&train.outputs[i].0);
            c.basis.is_none() && c.bases.is_empty()
        })
        .collect();
    let open_inputs: Vec<usize> = (0..train.inputs.len())
        .filter(|&i| {
            let c = config.input_named(&train.inputs[i].0);
            c.basis.is_none() && c.bases.is_empty()
        })
        .collect();
    if open_outputs.is_empty() && open_inputs.is_empty() {
        return Ok(resolved);
    }

    // Originals only: images of a sample say nothing new about a basis.
    let used = originals.min(config.search.samples);
    let some = thinned(&train.select(&(0..used).collect::<Vec<_>>()), config.seed)?;

    for &i in &open_outputs {
        let (name, field) = &some.outputs[i];
        observer.step("searching for an output basis");
        let domain = domain_of(config.output_named(name).domain.as_ref(), field)?;
        let limit = config.search.max_functions;
        let ranked = rank(
            field,
            &domain,
            &some,
            config,
            limit,
            NEGLIGIBLE_FLOOR,
            observer,
        )?;
        let chosen = smallest_good_enough(&ranked, NEGLIGIBLE_FLOOR);
        choices.push(explain("output", name, &ranked, chosen, "floor"));
        let mut settings = config.output_named(name).clone();
        settings.basis = Some(ranked[chosen].spec.clone());
        resolved.outputs.insert(name.clone(), settings);
    }
    if open_inputs.is_empty() {
        return Ok(resolved);
    }

    // The transform first, with the representation that is best on its own.
    let mut ranked_inputs = Vec::new();
    for &i in &open_inputs {
        let (name, field) = &some.inputs[i];
        observer.step("searching for an input basis");
        let domain = domain_of(config.input_named(name).domain.as_ref(), field)?;
        // More coefficients than half the samples could not be told apart by any map.
        let limit = config.search.max_functions.min((originals / 2).max(8));
        let ranked = rank(
            field,
            &domain,
            &some,
            config,
            limit,
            NEGLIGIBLE_INPUT,
            observer,
        )?;
        let mut settings = config.input_named(name).clone();
        let first = smallest_good_enough(&ranked, NEGLIGIBLE_INPUT);
        settings.basis = Some(ranked[first].spec.clone());
        resolved.inputs.insert(name.clone(), settings);
        ranked_inputs.push(ranked);
    }
    let judge = Judge::new(&some, &resolved)?;
    for (&i, ranked) in open_inputs.iter().zip(&ranked_inputs) {
        let name = &some.inputs[i].0;
        let mut judged: Vec<(f64, usize)> = Vec::new();
        for candidate in finalists(ranked) {
            if observer.cancelled() {
                return Err(Error::Interrupted);
            }
            let spec = &ranked[candidate].spec;
            observer.step(&format!("trying {} for the input", name_of(spec)));
            let mut trial = resolved.clone();
            let settings = trial.inputs.get_mut(name).expect("inserted above");
            settings.basis = Some(spec.clone());
            // A candidate that cannot be encoded is no candidate.
            if let Ok(error) = judge.error(&some, &trial) {
                judged.push((error, candidate));
            }
        }
        let best = judged.iter().map(|j| j.0).fold(f64::INFINITY, f64::min);
        // In a tie, what represents the inputs best serves the larger final fit best, up to the
        // point where the fewest functions do.
        let Some(&(error, chosen)) = judged.iter().filter(|j| j.0 <= TIE * best).min_by(|a, b| {
            let key = |j: usize| (ranked[j].error.max(NEGLIGIBLE_INPUT), ranked[j].functions);
            let (a, b) = (key(a.1), key(b.1));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        }) else {
            return Err(Error::Data(format!(
                "no basis could encode the input {name:?}; name one in the settings"
            )));
        };
        let settings = resolved.inputs.get_mut(name).expect("inserted above");
        settings.basis = Some(ranked[chosen].spec.clone());
        choices.push(format!(
            "{}; validation error of the operator {error:.2e} on {used} samples, best of {} tried {best:.2e}",
            explain("input", name, ranked, chosen, "representation error"),
            judged.len(),
        ));
        if settings.encoder.is_none() && ill_conditioned(&ranked[chosen].spec) {
            let encoder = choose_encoder(&judge, &some, &resolved, name, error, choices);
            resolved
                .inputs
                .get_mut(name)
                .expect("inserted above")
                .encoder = encoder;
        }
    }
    Ok(resolved)
}

/// A basis and how well it represents a field.
#[derive(Debug)]
struct Ranked {
    family: usize,
    spec: BasisSpec,
    functions: usize,
    error: f64,
}

/// Tries families in growing sizes.
fn rank(
    field: &Field,
    domain: &Bounds,
    data: &Dataset,
    config: &FitConfig,
    limit: usize,
    negligible: f64,
    observer: &dyn Observer,
) -> Result<Vec<Ranked>> {
    let points = (0..field.samples().min(SAMPLES))
        .map(|k| field.points_of(k).len())
        .min()
        .expect("fields have samples");
    // Room for withheld points and for a regularised fit.
    let largest = (points * 2 / 3).min(limit).max(1);
    let few = field.select(&(0..field.samples().min(SAMPLES)).collect::<Vec<_>>());
    let mut ranked: Vec<Ranked> = Vec::new();
    for (f, family) in families(domain.dim(), data.triangles.is_some())
        .iter()
        .enumerate()
    {
        let mut best = f64::INFINITY;
        let mut without_gain = 0;
        for size in Family::sizes(largest) {
            if observer.cancelled() {
                return Err(Error::Interrupted);
            }
            let Some(spec) = family.spec(domain, size, config.seed) else {
                continue;
            };
            let Ok((error, functions)) = representation_error(&spec, &few, domain, data, config)
            else {
                continue;
            };
            let rival = ranked
                .iter()
                .filter(|r| r.functions <= functions)
                .map(|r| r.error)
                .fold(f64::INFINITY, f64::min);
            ranked.push(Ranked {
                family: f,
                spec,
                functions,
                error,
            });
            without_gain = if error < 0.8 * best {
                0
            } else {
                without_gain + 1
            };
            best = best.min(error);
            // Done, stuck, or hopelessly behind another family.
            if best < 0.1 * negligible || without_gain == 2 || (size >= 64 && error > 20.0 * rival)
            {
                break;
            }
        }
    }
    if ranked.is_empty() {
        return Err(Error::Data(format!(
            "no basis could be fitted to {points} points a sample; name one in the settings"
        )));
    }
    Ok(ranked)
}

/// The error at points that were not fitted, of the best approximation at those that were.
fn representation_error(
    spec: &BasisSpec,
    field: &Field,
    domain: &Bounds,
    data: &Dataset,
    config: &FitConfig,
) -> Result<(f64, usize)> {
    let basis = build(
        &[spec],
        Components::Separate,
        domain,
        field,
        data.triangles.as_deref(),
        Transform::None,
    )?;
    let functions = basis.parts()[0].len();
    let withhold = config.withhold.max(0.1);
    let (decoder, targets) = FieldDecoder::fit(basis, field, withhold, None, config.seed)?;
    let error = match targets.withheld_floor {
        Some(error) => error,
        // Per-sample points: coordinates fitted at some of a sample's points, judged at all.
        None if field.shared_points().is_none() => {
            let evaluation = Evaluation::new(&decoder, field)?;
            let errors = evaluation.errors_squared(targets.coordinates.as_ref());
            mean_relative(&errors, &evaluation.norm_squared)
        }
        None => return Err(Error::Data("no point could be withheld".into())),
    };
    Ok((error, functions))
}

/// The fewest functions whose error is negligible or close to the best.
fn smallest_good_enough(ranked: &[Ranked], negligible: f64) -> usize {
    let best = ranked.iter().map(|r| r.error).fold(f64::INFINITY, f64::min);
    let enough = negligible.max(1.5 * best);
    (0..ranked.len())
        .filter(|&i| ranked[i].error <= enough)
        .min_by(|&i, &j| {
            let key = |r: &Ranked| (r.functions, r.error);
            let (a, b) = (key(&ranked[i]), key(&ranked[j]));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
        .expect("the best itself is good enough")
}

/// For each family its best size and the smallest one nearly as good; the best of all these.
fn finalists(ranked: &[Ranked]) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut families: Vec<usize> = ranked.iter().map(|r| r.family).collect();
    families.dedup();
    for family in families {
        let members: Vec<usize> = (0..ranked.len())
            .filter(|&i| ranked[i].family == family)
            .collect();
        let best = members
            .iter()
            .copied()
            .min_by(|&i, &j| ranked[i].error.total_cmp(&ranked[j].error))
            .expect("families here have members");
        let small = members
            .iter()
            .copied()
            .find(|&i| ranked[i].error <= 1.5 * ranked[best].error)
            .unwrap_or(best);
        chosen.push(best);
        if small != best {
            chosen.push(small);
        }
    }
    chosen.sort_by(|&i, &j| ranked[i].error.total_cmp(&ranked[j].error));
    chosen.truncate(FINALISTS);
    chosen
}

/// Judges inputs by the whole operator on some of the training samples.
struct Judge {
    targets: Targets,
    split: Split,
    transforms: Vec<Transform>,
    map: MapConfig,
    seed: u64,
}

impl Judge {
    fn new(some: &Dataset, config: &FitConfig) -> Result<Self> {
        let (_, targets) = fit_outputs(some, config)?;
        let mut judge = Judge {
            targets: reduced(targets)?,
            split: split(some.samples(), 1, config),
            transforms: Vec::new(),
            // One re-weighting pass tells which input is better; the final fit tries more.
            map: MapConfig {
                kind: config.map.kind,
                kernel: KernelSpec {
                    passes: config.map.kernel.passes.min(1),
                    ..config.map.kernel.clone()
                },
            },
            seed: config.seed,
        };
        let mut best = f64::INFINITY;
        for transforms in transform_candidates(some, config) {
            let error = judge.error_with(some, config, &transforms)?;
            if error < best {
                best = error;
                judge.transforms = transforms;
            }
        }
        Ok(judge)
    }

    fn error(&self, some: &Dataset, config: &FitConfig) -> Result<f64> {
        self.error_with(some, config, &self.transforms)
    }

    fn error_with(
        &self,
        some: &Dataset,
        config: &FitConfig,
        transforms: &[Transform],
    ) -> Result<f64> {
        let (_, coefficients) = fit_inputs(some, config, transforms)?;
        let chosen = auto_map::choose(
            coefficients.as_ref(),
            &self.targets,
            &self.split,
            &self.map,
            self.seed,
        )?;
        Ok(chosen.validation_rl2e)
    }
}

/// Targets along the axes in which they move: with few samples that is far fewer coordinates.
fn reduced(targets: Targets) -> Result<Targets> {
    let mean = linalg::column_mean(targets.coordinates.as_ref());
    let mut centred = targets.coordinates.clone();
    linalg::subtract_from_columns(&mut centred, &mean);
    let svd = linalg::thin_svd(centred.as_ref())?;
    let largest = svd.s.first().copied().unwrap_or(0.0);
    let rank = svd
        .s
        .iter()
        .take_while(|&&s| s > 1e-6 * largest)
        .count()
        .max(1);
    let axes = svd.u.as_ref().subcols(0, rank);
    Ok(Targets {
        coordinates: linalg::mul(axes.transpose(), centred.as_ref()),
        ..targets
    })
}

/// Fewer points, where there are more than a comparison needs.
fn thinned(data: &Dataset, seed: u64) -> Result<Dataset> {
    let thin = |field: &Field| -> Result<Field> {
        match field.observations() {
            Observations::Shared { points, values } if points.len() > 2 * POINTS => {
                // The complement of a withheld set keeps the faces of the bounding box.
                let mut kept: Vec<usize> = (0..points.len()).collect();
                while kept.len() > POINTS {
                    let current = points.select(&kept);
                    let excess = 1.0 - POINTS as f64 / kept.len() as f64;
                    let drop = choose_withheld(&current, excess.min(0.5), seed);
                    if drop.is_empty() {
                        break;
                    }
                    let mut gone = vec![false; kept.len()];
                    drop.iter().for_each(|&i| gone[i] = true);
                    kept = (0..kept.len())
                        .filter(|&i| !gone[i])
                        .map(|i| kept[i])
                        .collect();
                }
                let values = values
                    .iter()
                    .map(|v| linalg::select_rows(v.as_ref(), &kept))
                    .collect();
                Field::shared(points.select(&kept), values)
            }
            _ => Ok(field.clone()),
        }
    };
    let all = |fields: &[(String, Field)]| {
        fields
            .iter()
            .map(|(name, field)| Ok((name.clone(), thin(field)?)))
            .collect::<Result<Vec<_>>>()
    };
    let outputs = all(&data.outputs)?;
    let same_points = outputs
        .first()
        .zip(data.outputs.first())
        .is_some_and(|(a, b)| a.1.points_of(0).len() == b.1.points_of(0).len());
    Ok(Dataset {
        inputs: all(&data.inputs)?,
        outputs,
        n_train: None,
        split: None,
        triangles: data.triangles.clone().filter(|_| same_points),
        meta: data.meta.clone(),
    })
}

/// Whether the choice of regularisation matters: random and radial functions are nearly dependent.
fn ill_conditioned(spec: &BasisSpec) -> bool {
    matches!(spec, BasisSpec::RandomFeatures(_) | BasisSpec::Radial(_))
}

/// A sharp cut-off in place of the ridge, where it validates better.
fn choose_encoder(
    judge: &Judge,
    some: &Dataset,
    resolved: &FitConfig,
    name: &str,
    error: f64,
    choices: &mut Vec<String>,
) -> Option<EncoderSpec> {
    let mut best = (error, None);
    for cut in [1e-2, 1e-4, 1e-6] {
        let encoder = EncoderSpec {
            method: Method::Svd,
            relative_cut: Some(cut),
            ..EncoderSpec::default()
        };
        let mut trial = resolved.clone();
        trial.inputs.get_mut(name).expect("resolved before").encoder = Some(encoder);
        if let Ok(error) = judge.error(some, &trial)
            && error < best.0
        {
            best = (error, Some((encoder, cut)));
        }
    }
    let (encoder, cut) = best.1?;
    choices.push(format!(
        "input encoder: SVD cut at {cut:.0e} of the largest, by validation error {:.2e} against {error:.2e} with ridge",
        best.0
    ));
    Some(encoder)
}

fn name_of(spec: &BasisSpec) -> String {
    let value = serde_json::to_value(spec).unwrap_or_default();
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
    format!("{} {}", text("kind"), text("family"))
        .trim()
        .to_string()
}

fn explain(kind: &str, name: &str, ranked: &[Ranked], chosen: usize, what: &str) -> String {
    let pick = &ranked[chosen];
    let runner_up = ranked
        .iter()
        .filter(|r| r.family != pick.family)
        .min_by(|a, b| a.error.total_cmp(&b.error));
    let other = runner_up.map_or(String::new(), |r| {
        format!(
            " (best of another family: {} {}, {:.1e})",
            r.functions,
            name_of(&r.spec),
            r.error
        )
    });
    let label = if name.is_empty() {
        String::new()
    } else {
        format!(" {name:?}")
    };
    format!(
        "{kind}{label} basis searched: {} {}, {what} at withheld points {:.1e}{other}",
        pick.functions,
        name_of(&pick.spec),
        pick.error
    )
}
