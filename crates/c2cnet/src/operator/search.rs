//! The search for bases that the settings do not name.
//!
//! Output bases are judged by the floor at withheld points: what the decoder does between its
//! samples even with perfect coordinates. Input bases are first ranked by the same error of
//! representing the inputs; the best of each family are then judged by the validation error of
//! the whole operator on some of the training samples. Where samples have points of their own, a learnt
//! prior on a fine basis is judged beside them. Point values and PCA are never chosen: they interpolate
//! off their grid.

use super::auto_map;
use super::config::{FitConfig, InputConfig, MapConfig};
use super::fit::{check_cancelled, fit_inputs, fit_outputs, split, transform_candidates};
use super::ranking::{Enough, explain, finalists, name_of, rank, smallest_good_enough, thinned};
use super::spaces::domain_of;
use super::{Observer, TransformChoice};
use crate::basis::{BasisSpec, Centres, Kernel, PolynomialSpec, RadialSpec};
use crate::data::{Dataset, Field};
use crate::decode::Targets;
use crate::encode::{EncoderSpec, Method, Transform};
use crate::map::{KernelSpec, Mirrors, Split};
use crate::{Error, Result, linalg};

/// Floors below this are as good as zero: no map comes close.
const NEGLIGIBLE_FLOOR: f64 = 3e-5;

/// Representation errors of inputs below this are not worth more functions: the operator smooths
/// most of what is lost, and the whole operator judges the rest.
const NEGLIGIBLE_INPUT: f64 = 1e-3;

/// A transform that is worse by this factor is out.
const CLEAR: f64 = 1.15;

/// Validation errors this close are a tie on so few samples.
const TIE: f64 = 1.1;

/// Settings with every basis named.
pub(super) fn resolve(
    train: &Dataset,
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

    let used = train.samples().min(config.search.samples);
    let some = thinned(&train.select(&(0..used).collect::<Vec<_>>()), config.seed)?;

    for &i in &open_outputs {
        let (name, field) = &some.outputs[i];
        observer.step("searching for an output basis");
        let domain = domain_of(config.output_named(name).domain.as_ref(), field)?;
        let enough = Enough {
            functions: config.search.max_functions,
            error: NEGLIGIBLE_FLOOR,
        };
        let whole = &train.outputs[i].1;
        let ranked = rank(field, whole, &domain, &some, config, enough, observer)?;
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
        let most = (train.samples() / 2).max(8);
        let enough = Enough {
            functions: config.search.max_functions.min(most),
            error: NEGLIGIBLE_INPUT,
        };
        let whole = &train.inputs[i].1;
        let ranked = rank(field, whole, &domain, &some, config, enough, observer)?;
        let mut settings = config.input_named(name).clone();
        let first = smallest_good_enough(&ranked, NEGLIGIBLE_INPUT);
        settings.basis = Some(ranked[first].spec.clone());
        resolved.inputs.insert(name.clone(), settings);
        ranked_inputs.push(ranked);
    }
    let judge = Judge::new(&some, &resolved, observer)?;
    for (&i, ranked) in open_inputs.iter().zip(&ranked_inputs) {
        let name = &some.inputs[i].0;
        let mut judged: Vec<(f64, usize)> = Vec::new();
        for candidate in finalists(ranked) {
            let spec = &ranked[candidate].spec;
            observer.step(&format!("trying {} for the input", name_of(spec)));
            let mut trial = resolved.clone();
            let settings = trial.inputs.get_mut(name).expect("inserted above");
            settings.basis = Some(spec.clone());
            // A candidate that cannot be encoded is no candidate.
            let error = judge.error(&some, &trial)?;
            judged.extend(error.map(|error| (error, candidate)));
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
        if judge.clear_transform {
            settings.transform = TransformChoice::from(judge.transforms[i]);
        }
        choices.push(format!(
            "{}; validation error of the operator {error:.2e} on {used} samples, best of {} tried {best:.2e}",
            explain("input", name, ranked, chosen, "representation error"),
            judged.len(),
        ));
        if settings.encoder.is_none() && some.inputs[i].1.shared_points().is_none() {
            let trial = with_learnt_prior(&some.inputs[i].1, settings);
            observer.step("learning a prior of the input");
            let mut other = resolved.clone();
            other.inputs.insert(name.clone(), trial.clone());
            if let Some(learnt) = judge.error(&some, &other)?
                && learnt < error / TIE
            {
                choices.push(format!(
                    "in its place a learnt prior on {} functions: validation error {learnt:.2e}",
                    name_of(trial.basis.as_ref().expect("just named")),
                ));
                resolved.inputs.insert(name.clone(), trial);
                continue;
            }
        }
        let settings = &resolved.inputs[name];
        if settings.encoder.is_none() && ill_conditioned(&ranked[chosen].spec) {
            let encoder = choose_encoder(&judge, &some, &resolved, name, error, choices)?;
            resolved
                .inputs
                .get_mut(name)
                .expect("inserted above")
                .encoder = encoder;
        }
    }
    Ok(resolved)
}

/// Judges inputs by the whole operator on some of the training samples.
struct Judge<'a> {
    targets: Targets,
    split: Split,
    transforms: Vec<Transform>,
    /// Whether no other transform comes close, so that the final fit need not compare them again.
    clear_transform: bool,
    map: MapConfig,
    seed: u64,
    observer: &'a dyn Observer,
}

impl<'a> Judge<'a> {
    fn new(some: &Dataset, config: &FitConfig, observer: &'a dyn Observer) -> Result<Self> {
        let (_, targets) = fit_outputs(&some.outputs, some, config)?;
        let mut judge = Judge {
            targets: reduced(targets)?,
            split: split(some.samples(), 1, config),
            transforms: Vec::new(),
            clear_transform: false,
            // One re-weighting pass tells which input is better; the final fit tries more.
            map: MapConfig {
                kind: config.map.kind,
                kernel: KernelSpec {
                    passes: config.map.kernel.passes.min(1),
                    ..config.map.kernel.clone()
                },
                ..config.map.clone()
            },
            seed: config.seed,
            observer,
        };
        let mut errors = Vec::new();
        for transforms in transform_candidates(some, config) {
            let error = judge.error_with(some, config, &transforms)?;
            if errors.iter().all(|e| error < *e) {
                judge.transforms = transforms;
            }
            errors.push(error);
        }
        let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
        judge.clear_transform = errors.iter().filter(|e| **e <= CLEAR * best).count() == 1;
        Ok(judge)
    }

    /// The error, `None` if the inputs cannot be encoded so.
    fn error(&self, some: &Dataset, config: &FitConfig) -> Result<Option<f64>> {
        match self.error_with(some, config, &self.transforms) {
            Err(e @ Error::Interrupted) => Err(e),
            error => Ok(error.ok()),
        }
    }

    fn error_with(
        &self,
        some: &Dataset,
        config: &FitConfig,
        transforms: &[Transform],
    ) -> Result<f64> {
        check_cancelled(self.observer)?;
        let (_, coefficients) = fit_inputs(some, config, transforms, self.observer)?;
        let chosen = auto_map::choose(
            coefficients.as_ref(),
            &self.targets,
            &Mirrors::none(coefficients.nrows()),
            &self.split,
            &self.map,
            self.seed,
            self.observer,
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

/// Whether the choice of regularisation matters: random and radial functions are nearly dependent.
fn ill_conditioned(spec: &BasisSpec) -> bool {
    spec.nearly_dependent()
}

/// With a learnt prior the basis can be fine: about two functions a reading, within what is quickly
/// learnt.
fn with_learnt_prior(field: &Field, settings: &InputConfig) -> InputConfig {
    let mut counts: Vec<usize> = (0..field.samples())
        .map(|k| field.points_of(k).len())
        .collect();
    counts.sort_unstable();
    let functions = (2 * counts[counts.len() / 2])
        .min(256)
        .min(512 / field.components())
        .max(8);
    // Smooth functions, each of which few readings see; in many dimensions they would be too far apart.
    let basis = match field.dim() {
        1..=3 => BasisSpec::from(RadialSpec {
            kernel: Kernel::Gaussian,
            functions,
            centres: Centres::Grid,
            width: None,
            seed: 0,
        }),
        _ => BasisSpec::from(PolynomialSpec {
            functions: Some(functions),
            ..PolynomialSpec::default()
        }),
    };
    InputConfig {
        basis: Some(basis),
        encoder: Some(EncoderSpec {
            method: Method::Prior,
            ..EncoderSpec::default()
        }),
        ..settings.clone()
    }
}

/// A sharp cut-off in place of the ridge, where it validates better.
fn choose_encoder(
    judge: &Judge<'_>,
    some: &Dataset,
    resolved: &FitConfig,
    name: &str,
    error: f64,
    choices: &mut Vec<String>,
) -> Result<Option<EncoderSpec>> {
    let mut best = (error, None);
    for cut in [1e-2, 1e-4, 1e-6] {
        let encoder = EncoderSpec {
            method: Method::Svd,
            relative_cut: Some(cut),
            ..EncoderSpec::default()
        };
        let mut trial = resolved.clone();
        trial.inputs.get_mut(name).expect("resolved before").encoder = Some(encoder);
        if let Some(error) = judge.error(some, &trial)?
            && error < best.0 / TIE
        {
            best = (error, Some((encoder, cut)));
        }
    }
    let Some((encoder, cut)) = best.1 else {
        return Ok(None);
    };
    choices.push(format!(
        "input encoder: SVD cut at {cut:.0e} of the largest, by validation error {:.2e} against {error:.2e} with ridge",
        best.0
    ));
    Ok(Some(encoder))
}
