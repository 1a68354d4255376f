//! The search for bases that the settings do not name.
//!
//! Output bases are judged by the floor at withheld points: what the decoder does between its
//! samples even with perfect coordinates. Input bases are first ranked by the same error of
//! representing the inputs; the best of each family are then judged by the validation error of
//! the whole operator on some of the training samples. Where samples have points of their own, a learned
//! prior on a fine basis is judged beside them. Point values and PCA are never chosen: they interpolate
//! off their grid.

use super::ranking::{
    Ranked, Ranking, StopRule, domain_of, finalists, name_of, smallest_good_enough, thinned,
    why_this_basis,
};
use super::{InputDraft, maps, transform_candidates, with_transforms};
use crate::basis::{BasisSpec, Centres, Kernel, PolynomialSpec, RadialSpec, SingleValueSpec};
use crate::data::{Dataset, Field};
use crate::decode::Targets;
use crate::encode::{EncoderSpec, Method, Transform};
use crate::fit::{Context, Inputs, MapTrainingSet, encode_samples, represent_outputs};
use crate::map::{KernelSpec, Mirrors};
use crate::observe::Step;
use crate::plan::{InputPlan, OutputPlan};
use crate::report::{Candidate, Choice, Subject};
use crate::settings::{FitConfig, MapConfig};
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

/// Plans of all fields, but for transforms that are still open.
pub(super) struct Bases {
    pub outputs: Vec<OutputPlan>,
    pub inputs: Vec<InputDraft>,
    pub choices: Vec<Choice>,
}

/// Settles the bases of all fields.
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
    let outputs = search.outputs(&mut choices)?;
    let inputs = search.inputs(&outputs, &mut choices)?;
    Ok(Bases {
        outputs,
        inputs,
        choices,
    })
}

/// Some of the samples, at some of their points: enough to compare bases.
fn search_samples(context: &Context<'_>, config: &FitConfig) -> Result<Dataset> {
    let used = context.train.samples().min(config.search.samples);
    let chosen: Vec<usize> = (0..used).collect();
    thinned(&context.train.select(&chosen), context.protocol.seed)
}

/// Output bases in the order in which they were tried, and the one that a fit takes.
pub(crate) struct OutputRanking {
    pub ranked: Vec<Ranked>,
    pub chosen: usize,
}

/// Compares bases for the output `name` as a fit does that finds none in the settings.
pub(crate) fn rank_output(
    context: &Context<'_>,
    config: &FitConfig,
    name: &str,
) -> Result<OutputRanking> {
    let some = search_samples(context, config)?;
    let search = Search {
        context,
        config,
        some: &some,
    };
    let position = some.outputs.iter().position(|(n, _)| n == name);
    let i = position.ok_or_else(|| Error::Data(format!("the data has no output {name:?}")))?;
    search.rank_output(i)
}

/// What bases are chosen from.
struct Search<'a> {
    context: &'a Context<'a>,
    config: &'a FitConfig,
    /// Some of the samples, at some of their points.
    some: &'a Dataset,
}

impl Search<'_> {
    fn outputs(&self, choices: &mut Vec<Choice>) -> Result<Vec<OutputPlan>> {
        let mut plans = Vec::new();
        for (i, (name, whole)) in self.context.train.outputs.iter().enumerate() {
            let settings = self.config.output_named(name);
            let mut plan = OutputPlan {
                name: name.clone(),
                components: settings.components,
                domain: domain_of(settings.domain.as_ref(), whole)?,
                cut: settings.cut,
                bases: named_bases(whole, settings.named_bases()),
                kinds: settings.kinds.clone(),
            };
            if plan.bases.is_empty() {
                self.context.begin(Step::SearchOutputBasis);
                let OutputRanking { ranked, chosen } = self.rank_output(i)?;
                let why = why_this_basis(&ranked, chosen, "floor");
                choices.push(basis_choice(
                    Subject::OutputBasis,
                    name,
                    &ranked,
                    chosen,
                    why,
                ));
                plan.bases = vec![ranked[chosen].spec.clone()];
            }
            plans.push(plan);
        }
        Ok(plans)
    }

    fn rank_output(&self, i: usize) -> Result<OutputRanking> {
        let (name, field) = &self.some.outputs[i];
        let domain = domain_of(self.config.output_named(name).domain.as_ref(), field)?;
        let stop = StopRule {
            functions: self.config.search.max_functions,
            error: NEGLIGIBLE_FLOOR,
        };
        let whole = &self.context.train.outputs[i].1;
        let ranked = self.ranking(field, whole, stop)?.climb(&domain)?;
        let chosen = smallest_good_enough(&ranked, NEGLIGIBLE_FLOOR);
        Ok(OutputRanking { ranked, chosen })
    }

    fn ranking<'a>(
        &'a self,
        field: &'a Field,
        whole: &'a Field,
        stop: StopRule,
    ) -> Result<Ranking<'a>> {
        Ranking::new(
            field,
            whole,
            self.some.triangles.as_deref(),
            self.context,
            stop,
        )
    }

    /// Input plans; those that the settings leave open have the basis that represents them best.
    fn inputs(&self, outputs: &[OutputPlan], choices: &mut Vec<Choice>) -> Result<Vec<InputDraft>> {
        let mut drafts = Vec::new();
        let mut open = Vec::new();
        let fields = self.context.train.inputs.iter().zip(&self.some.inputs);
        for (i, ((name, whole), (_, field))) in fields.enumerate() {
            let settings = self.config.input_named(name);
            let mut plan = InputPlan {
                name: name.clone(),
                components: settings.components,
                transform: settings.transform.given().unwrap_or_default(),
                domain: domain_of(settings.domain.as_ref(), whole)?,
                bases: named_bases(whole, settings.named_bases()),
                encoder: settings.encoder.unwrap_or_default(),
                kinds: settings.kinds.clone(),
            };
            if plan.bases.is_empty() {
                let ranked = self.rank_input(field, whole, settings.domain.as_ref())?;
                let first = smallest_good_enough(&ranked, NEGLIGIBLE_INPUT);
                plan.bases = vec![ranked[first].spec.clone()];
                open.push((i, ranked));
            }
            drafts.push(InputDraft {
                plan,
                transform_open: settings.transform.given().is_none() && settings.kinds.is_empty(),
            });
        }
        if open.is_empty() {
            return Ok(drafts);
        }
        let judge = Judge::new(self, outputs, &drafts)?;
        for (i, ranked) in &open {
            self.settle_input(*i, ranked, &judge, &mut drafts, choices)?;
        }
        Ok(drafts)
    }

    fn rank_input(
        &self,
        field: &Field,
        whole: &Field,
        domain: Option<&crate::data::Bounds>,
    ) -> Result<Vec<Ranked>> {
        self.context.begin(Step::SearchInputBasis);
        // More coefficients than half the samples could not be told apart by any map.
        let most = (self.context.train.samples() / 2).max(8);
        let stop = StopRule {
            functions: self.config.search.max_functions.min(most),
            error: NEGLIGIBLE_INPUT,
        };
        self.ranking(field, whole, stop)?
            .climb(&domain_of(domain, field)?)
    }

    /// Settles basis and encoder of input `i` by the whole operator.
    fn settle_input(
        &self,
        i: usize,
        ranked: &[Ranked],
        judge: &Judge<'_>,
        drafts: &mut [InputDraft],
        choices: &mut Vec<Choice>,
    ) -> Result<()> {
        let name = drafts[i].plan.name.clone();
        let judged = judge.finalists(drafts, i, ranked)?;
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
        drafts[i].plan.bases = vec![ranked[chosen].spec.clone()];
        if judge.clear_transform {
            drafts[i].plan.transform = judge.transforms[i];
            drafts[i].transform_open = false;
        }
        let why = format!(
            "{}; validation error of the operator {error:.2e} on {} samples, best of {} tried {best:.2e}",
            why_this_basis(ranked, chosen, "representation error"),
            self.some.samples(),
            judged.len(),
        );
        choices.push(basis_choice(
            Subject::InputBasis,
            &name,
            ranked,
            chosen,
            why,
        ));
        if self.config.input_named(&name).encoder.is_none() {
            choices.extend(self.settle_encoder(i, judge, drafts, error)?);
        }
        Ok(())
    }

    /// A learned prior or a sharp cut-off in place of the ridge, where it validates better than `error`.
    fn settle_encoder(
        &self,
        i: usize,
        judge: &Judge<'_>,
        drafts: &mut [InputDraft],
        error: f64,
    ) -> Result<Option<Choice>> {
        let field = &self.some.inputs[i].1;
        let ridge = || Candidate {
            name: "ridge".into(),
            error,
        };
        if field.shared_points().is_none() {
            self.context.begin(Step::LearnPrior);
            let trial = with_learned_prior(field, &drafts[i].plan);
            if let Some(learned) = judge.error_with(drafts, i, &trial)?
                && learned < error / TIE
            {
                let functions = name_of(&trial.bases[0]);
                drafts[i].plan = InputPlan {
                    transform: drafts[i].plan.transform,
                    ..trial
                };
                return Ok(Some(encoder_choice(
                    &drafts[i].plan.name,
                    vec![
                        ridge(),
                        Candidate {
                            name: "learned prior".into(),
                            error: learned,
                        },
                    ],
                    format!("learned prior on {functions} functions"),
                    format!("validation error {learned:.2e}"),
                )));
            }
        }
        if !drafts[i].plan.bases[0].nearly_dependent() {
            return Ok(None);
        }
        let mut candidates = vec![ridge()];
        let mut best = (error, None);
        for cut in [1e-2, 1e-4, 1e-6] {
            let encoder = EncoderSpec {
                method: Method::Svd,
                relative_cut: Some(cut),
                ..EncoderSpec::default()
            };
            let trial = InputPlan {
                encoder,
                ..drafts[i].plan.clone()
            };
            let Some(found) = judge.error_with(drafts, i, &trial)? else {
                continue;
            };
            candidates.push(Candidate {
                name: format!("SVD cut at {cut:.0e}"),
                error: found,
            });
            if found < best.0 / TIE {
                best = (found, Some((encoder, cut)));
            }
        }
        let (found, Some((encoder, cut))) = best else {
            return Ok(None);
        };
        drafts[i].plan.encoder = encoder;
        Ok(Some(encoder_choice(
            &drafts[i].plan.name,
            candidates,
            format!("SVD cut at {cut:.0e} of the largest"),
            format!("by validation error {found:.2e} against {error:.2e} with ridge"),
        )))
    }
}

/// The bases that the settings name, none if they are to be chosen; the values of a vector are their own
/// coefficients.
fn named_bases(field: &Field, named: Option<Vec<BasisSpec>>) -> Vec<BasisSpec> {
    match field.is_vector() {
        true => vec![SingleValueSpec {}.into()],
        false => named.unwrap_or_default(),
    }
}

fn encoder_choice(field: &str, candidates: Vec<Candidate>, chosen: String, why: String) -> Choice {
    Choice {
        subject: Subject::InputEncoder,
        field: field.into(),
        candidates,
        chosen,
        why,
    }
}

fn basis_choice(
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

/// Judges inputs by the whole operator on some of the training samples.
struct Judge<'a> {
    context: Context<'a>,
    targets: Targets,
    transforms: Vec<Transform>,
    /// Whether no other transform comes close, so that the final fit need not compare them again.
    clear_transform: bool,
    map: MapConfig,
}

impl<'a> Judge<'a> {
    fn new(search: &'a Search<'_>, outputs: &[OutputPlan], drafts: &[InputDraft]) -> Result<Self> {
        let context = search.context.without_images(search.some);
        let targets = reduced(represent_outputs(&context, outputs)?.targets)?;
        let map = &search.config.map;
        let mut judge = Judge {
            context,
            targets,
            transforms: Vec::new(),
            clear_transform: false,
            // One re-weighting pass tells which input is better; the final fit tries more.
            map: MapConfig {
                kernel: KernelSpec {
                    passes: map.kernel.passes.min(1),
                    ..map.kernel.clone()
                },
                ..map.clone()
            },
        };
        let mut errors = Vec::new();
        let raw = map.takes_raw_coefficients();
        for transforms in transform_candidates(&search.some.inputs, drafts, raw) {
            let error = judge.error(&with_transforms(drafts, &transforms))?;
            if errors.iter().all(|e| error < *e) {
                judge.transforms = transforms;
            }
            errors.push(error);
        }
        let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
        judge.clear_transform = errors.iter().filter(|e| **e <= CLEAR * best).count() == 1;
        Ok(judge)
    }

    /// The errors of the finalists for input `i`; one that cannot be encoded is no candidate.
    fn finalists(
        &self,
        drafts: &[InputDraft],
        i: usize,
        ranked: &[Ranked],
    ) -> Result<Vec<(f64, usize)>> {
        let mut judged = Vec::new();
        for candidate in finalists(ranked) {
            let spec = &ranked[candidate].spec;
            self.context.begin(Step::TryInputBasis(name_of(spec)));
            let trial = InputPlan {
                bases: vec![spec.clone()],
                ..drafts[i].plan.clone()
            };
            let error = self.error_with(drafts, i, &trial)?;
            judged.extend(error.map(|error| (error, candidate)));
        }
        Ok(judged)
    }

    /// The error with another plan for input `i`, `None` if the inputs cannot be encoded so.
    fn error_with(
        &self,
        drafts: &[InputDraft],
        i: usize,
        trial: &InputPlan,
    ) -> Result<Option<f64>> {
        let mut plans = with_transforms(drafts, &self.transforms);
        plans[i] = InputPlan {
            transform: self.transforms[i],
            ..trial.clone()
        };
        match self.error(&plans) {
            Err(e @ Error::Interrupted) => Err(e),
            error => Ok(error.ok()),
        }
    }

    fn error(&self, plans: &[InputPlan]) -> Result<f64> {
        self.context.check_cancelled()?;
        let raw = self.map.takes_raw_coefficients();
        let (encoders, coefficients) = encode_samples(&self.context, plans, raw)?;
        let inputs = Inputs {
            encoders,
            mirrors: Mirrors::none(coefficients.nrows()),
            coefficients,
        };
        let set = MapTrainingSet::closed_form(&inputs, &self.targets);
        Ok(maps::compare(&self.context, &set, &self.map)?.error)
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

/// With a learned prior the basis can be fine: about two functions per reading, within what is quickly
/// learned.
fn with_learned_prior(field: &Field, plan: &InputPlan) -> InputPlan {
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
    InputPlan {
        bases: vec![basis],
        encoder: EncoderSpec {
            method: Method::Prior,
            ..EncoderSpec::default()
        },
        ..plan.clone()
    }
}
