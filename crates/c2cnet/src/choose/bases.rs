//! The search for spaces that the settings do not name.
//!
//! Prescribed output bases are ranked by their floor, at withheld points and at the others. Input spaces are judged by
//! the validation error of the whole operator on some of the training samples, against outputs of which nothing is
//! lost: the prescribed bases that represent inputs best, the best of them with learned directions, and learned
//! directions alone. The error that this finds tells what the output may lose: where the prescribed basis loses more
//! than a small part of it, directions of the residuals are added, to the prescribed basis (or to none) with which
//! the errors between the points are smallest. Where samples have points of their own, nothing can be learned so; there
//! a learned prior on a fine basis is judged beside the others.

use super::ranking::{
    Ranked, Ranking, StopRule, domain_of, finalists, name_of, smallest_good_enough, thinned,
    why_this_basis,
};
use super::{InputDraft, maps, transform_candidates, with_transforms};
use crate::basis::SingleValueSpec;
use crate::basis::{
    BasisSpec, Centres, HybridSpec, Kernel, PolynomialKind, PolynomialSpec, RadialSpec,
};
use crate::data::{Bounds, Dataset, Field, Fields, Observations};
use crate::decode::Targets;
use crate::encode::{EncoderSpec, Method, Transform, stack_components};
use crate::fit::{Context, Inputs, MapTrainingSet, encode_samples, represent_outputs};
use crate::map::{KernelSpec, Mirrors};
use crate::observe::Step;
use crate::plan::{InputPlan, OutputPlan};
use crate::report::{Candidate, Choice, Subject};
use crate::settings::{FitConfig, MapConfig, Space};
use crate::{Error, Result, linalg};
use faer::Mat;

/// Floors below this are as good as zero: no map comes close.
const NEGLIGIBLE_FLOOR: f64 = 3e-5;

/// Representation errors of inputs below this are not worth more functions: the operator smooths
/// most of what is lost, and the whole operator judges the rest.
const NEGLIGIBLE_INPUT: f64 = 1e-3;

/// A transform that is worse by this factor is out.
const CLEAR: f64 = 1.15;

/// Validation errors this close are a tie on so few samples.
const TIE: f64 = 1.1;

/// Learned directions must lower the error by this factor to be worth having.
const WORTH_LEARNING: f64 = 0.97;

/// A prescribed input basis may lose this part of the operator's error before learned directions are tried.
const LOST_SHARE: f64 = 0.03;

/// A prescribed output basis may lose this part of what the operator is expected to err by.
const FLOOR_SHARE: f64 = 0.05;

/// Errors fall about with this power of the number of samples: from 400 samples to all, 0.64 on L-shaped Darcy flow and
/// 2 on KdV-Burgers.
const LEARNING_RATE: f64 = 0.75;

/// Floors below this are rounding.
const ROUNDING: f64 = 1e-12;

/// Learned directions leave no more than this part of it, because they cost little, ...
const LEFT_SHARE: f64 = 0.003;

/// ... unless there are more values than this: then they leave as much as a prescribed basis may.
const LARGE: usize = 4_000_000;

/// With more values than this, directions are learned only where a prescribed basis loses more than that: 2D Darcy flow
/// (48 million values, a floor of a sixth of its error) was not fitted with them in 270 s of processor time.
const HUGE: usize = 30_000_000;
const HUGE_SHARE: f64 = 0.3;

/// Plans of all fields, but for transforms that are still open.
pub(super) struct Bases {
    pub outputs: Vec<OutputPlan>,
    pub inputs: Vec<InputDraft>,
    pub choices: Vec<Choice>,
}

/// Settles the spaces of all fields.
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
    // Inputs first: what cannot be used is refused before the longer search.
    let (drafts, open) = search.prescribed_inputs()?;
    let mut outputs = search.prescribed_outputs()?;
    let (inputs, error) = search.settle_inputs(drafts, &open, &outputs, &mut choices)?;
    // With all samples the map errs less than with those of the search.
    let part = some.samples() as f64 / train.samples() as f64;
    let error = error.map(|e| e * part.powf(LEARNING_RATE));
    let mut told = Vec::new();
    for output in &mut outputs {
        told.extend(search.settle_output(output, error)?);
    }
    told.extend(choices);
    Ok(Bases {
        outputs: outputs.into_iter().map(|o| o.plan).collect(),
        inputs,
        choices: told,
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

/// An output with a prescribed basis.
struct OutputDraft {
    plan: OutputPlan,
    /// Which one it is of the data's.
    index: usize,
    /// What it was compared with, unless the settings name it.
    ranking: Option<OutputRanking>,
}

/// An input's place, and the bases that were compared for it.
type RankedInput = (usize, Vec<Ranked>);

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

/// What spaces are chosen from.
struct Search<'a> {
    context: &'a Context<'a>,
    config: &'a FitConfig,
    /// Some of the samples, at some of their points.
    some: &'a Dataset,
}

impl Search<'_> {
    /// Plans of the outputs with prescribed functions alone.
    fn prescribed_outputs(&self) -> Result<Vec<OutputDraft>> {
        let mut drafts = Vec::new();
        for (index, (name, whole)) in self.context.train.outputs.iter().enumerate() {
            let settings = self.config.output_named(name);
            let mut plan = OutputPlan {
                name: name.clone(),
                components: settings.components,
                domain: domain_of(settings.domain.as_ref(), whole)?,
                cuts: settings.cut.into_iter().collect(),
                bases: named_bases(whole, settings.named_bases()),
                kinds: settings.kinds.clone(),
            };
            let mut ranking = None;
            if plan.bases.is_empty() && settings.space != Some(Space::Learned) {
                self.context.begin(Step::SearchOutputBasis);
                let found = self.rank_output(index)?;
                plan.bases = vec![found.ranked[found.chosen].spec.clone()];
                ranking = Some(found);
            }
            drafts.push(OutputDraft {
                plan,
                index,
                ranking,
            });
        }
        Ok(drafts)
    }

    fn rank_output(&self, i: usize) -> Result<OutputRanking> {
        let name = &self.some.outputs[i].0;
        let ranking = self.output_ranking(i)?;
        let field = &self.some.outputs[i].1;
        let domain = domain_of(self.config.output_named(name).domain.as_ref(), field)?;
        let ranked = ranking.climb(&domain)?;
        let chosen = smallest_good_enough(&ranked, NEGLIGIBLE_FLOOR);
        Ok(OutputRanking { ranked, chosen })
    }

    fn output_ranking(&self, i: usize) -> Result<Ranking<'_>> {
        let stop = StopRule {
            functions: self.config.search.max_functions,
            error: NEGLIGIBLE_FLOOR,
        };
        let (field, whole) = (&self.some.outputs[i].1, &self.context.train.outputs[i].1);
        self.ranking(field, whole, stop)
    }

    fn ranking<'a>(
        &'a self,
        field: &'a Field,
        whole: &'a Field,
        stop: StopRule,
    ) -> Result<Ranking<'a>> {
        let triangles = self.some.triangles.as_deref();
        Ranking::new(field, whole, triangles, self.context, stop)
    }

    /// Adds learned directions to an output where its prescribed basis loses too much of what the map can do.
    fn settle_output(&self, draft: &mut OutputDraft, error: Option<f64>) -> Result<Option<Choice>> {
        let name = &draft.plan.name;
        let settings = self.config.output_named(name);
        let vector = self.some.outputs[draft.index].1.is_vector();
        if let Some(space) = settings.space.filter(|_| !vector) {
            draft.plan.bases = space.of(std::mem::take(&mut draft.plan.bases));
        }
        let Some(OutputRanking { ranked, chosen }) = &draft.ranking else {
            return Ok(None);
        };
        let pick = &ranked[*chosen];
        let why = why_this_basis(ranked, *chosen, "floor");
        let told = basis_choice(Subject::OutputBasis, name, ranked, *chosen, why);
        let shared = self.some.outputs[draft.index].1.shared_points().is_some();
        let Some(error) = error.filter(|_| settings.space.is_none() && shared) else {
            return Ok(Some(told));
        };
        let whole = &self.context.train.outputs[draft.index].1;
        let values = whole.samples() * whole.points_of(0).len();
        let may_lose = if values > HUGE {
            HUGE_SHARE
        } else {
            FLOOR_SHARE
        };
        if pick.fitted <= ROUNDING.max(may_lose * error) {
            return Ok(Some(told));
        }
        let share = if values > LARGE {
            FLOOR_SHARE
        } else {
            LEFT_SHARE
        };
        let tolerance = (share * error).clamp(HybridSpec::default().tolerance, 0.5);
        let (spec, between) = self.best_hybrid(draft, tolerance)?;
        let kind = match &spec.prescribed {
            Some(prescribed) => format!("{} and learned directions", name_of(prescribed)),
            None => "learned directions".to_string(),
        };
        let why = format!(
            "because {} {} lose {:.1e} at the points and the map errs by about {error:.1e}; between the points {between:.1e}",
            pick.functions,
            name_of(&pick.spec),
            pick.fitted,
        );
        draft.plan.bases = vec![spec.into()];
        Ok(Some(Choice {
            chosen: kind,
            why,
            ..told
        }))
    }

    /// The prescribed basis, or none, with which learned directions err least between the points, and that error.
    fn best_hybrid(&self, draft: &OutputDraft, tolerance: f64) -> Result<(HybridSpec, f64)> {
        let Some(OutputRanking { ranked, chosen }) = &draft.ranking else {
            return Ok((HybridSpec::default(), f64::NAN));
        };
        let mut parts = vec![Some(*chosen)];
        parts.extend(
            finalists(ranked)
                .into_iter()
                .filter(|f| f != chosen)
                .take(3)
                .map(Some),
        );
        parts.push(None);
        let ranking = self.output_ranking(draft.index)?;
        let field = &self.some.outputs[draft.index].1;
        let settings = self.config.output_named(&draft.plan.name);
        let domain = domain_of(settings.domain.as_ref(), field)?;
        let mut best: Option<(HybridSpec, f64)> = None;
        for part in parts {
            let spec = HybridSpec {
                prescribed: part.map(|p| ranked[p].spec.clone()),
                cut: part.map_or(HybridSpec::default().cut, |p| ranked[p].cut),
                learned: Some(self.config.search.max_functions),
                tolerance,
            };
            let tried = ranking.try_spec(spec.clone().into(), &domain)?;
            let Some(tried) = tried.filter(|t| t.trusted) else {
                continue;
            };
            // The first ones are preferred in a tie.
            if best.as_ref().is_none_or(|b| tried.between < b.1 / TIE) {
                best = Some((spec, tried.between));
            }
        }
        Ok(best.unwrap_or((
            HybridSpec {
                tolerance,
                ..HybridSpec::default()
            },
            f64::NAN,
        )))
    }

    /// Plans of the inputs with the functions that represent them best, and what was compared for those whose
    /// functions the settings do not name.
    fn prescribed_inputs(&self) -> Result<(Vec<InputDraft>, Vec<RankedInput>)> {
        let mut drafts = Vec::new();
        let mut open = Vec::new();
        let fields = self.context.train.inputs.iter().enumerate();
        for (i, (name, whole)) in fields {
            let settings = self.config.input_named(name);
            let space = settings.space.unwrap_or(Space::Prescribed);
            let mut plan = InputPlan {
                name: name.clone(),
                components: settings.components,
                transform: settings.transform.given().unwrap_or_default(),
                domain: domain_of(settings.domain.as_ref(), whole)?,
                bases: named_bases(whole, settings.named_bases()),
                encoder: settings.encoder.unwrap_or_default(),
                kinds: settings.kinds.clone(),
            };
            if plan.bases.is_empty() && space != Space::Learned {
                let field = &self.some.inputs[i].1;
                match self.rank_input(field, whole, settings.domain.as_ref()) {
                    Ok(ranked) => {
                        let first = smallest_good_enough(&ranked, NEGLIGIBLE_INPUT);
                        plan.bases = vec![ranked[first].spec.clone()];
                        open.push((i, ranked));
                    }
                    // Too few points for any basis: the values themselves.
                    Err(Error::Data(_)) if field.shared_points().is_some() => {
                        plan = in_space(Space::Learned, &plan);
                    }
                    Err(e) => return Err(e),
                }
            }
            drafts.push(InputDraft {
                plan,
                transform_open: settings.transform.given().is_none() && settings.kinds.is_empty(),
            });
        }
        Ok((drafts, open))
    }

    /// Settles spaces and encoders of the inputs, and returns the error of the operator with them on the samples of
    /// the search.
    fn settle_inputs(
        &self,
        mut drafts: Vec<InputDraft>,
        open: &[RankedInput],
        outputs: &[OutputDraft],
        choices: &mut Vec<Choice>,
    ) -> Result<(Vec<InputDraft>, Option<f64>)> {
        let searched = outputs.iter().any(|o| o.ranking.is_some());
        let mut error = None;
        if !open.is_empty() || searched {
            let judge = Judge::new(self, outputs, &drafts)?;
            error = Some(judge.first_error);
            for (i, ranked) in open {
                error = Some(self.settle_input(*i, ranked, &judge, &mut drafts, choices)?);
            }
        }
        for (draft, (name, field)) in drafts.iter_mut().zip(&self.some.inputs) {
            let space = self.config.input_named(name).space;
            if let Some(space) = space.filter(|_| !field.is_vector()) {
                draft.plan = in_space(space, &draft.plan);
            }
        }
        Ok((drafts, error))
    }

    fn rank_input(
        &self,
        field: &Field,
        whole: &Field,
        domain: Option<&Bounds>,
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

    /// Settles space and encoder of input `i` by the whole operator, whose error is returned.
    fn settle_input(
        &self,
        i: usize,
        ranked: &[Ranked],
        judge: &Judge<'_>,
        drafts: &mut [InputDraft],
        choices: &mut Vec<Choice>,
    ) -> Result<f64> {
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
        let told = basis_choice(Subject::InputBasis, &name, ranked, chosen, why);
        choices.push(told);
        let settings = self.config.input_named(&name);
        if settings.space.is_none() && settings.encoder.is_none() {
            let of = |j: &&(f64, usize)| (j.0, ranked[j.1].spec.clone());
            let strongest = judged.iter().min_by(|a, b| a.0.total_cmp(&b.0));
            let (least, spec) = strongest
                .as_ref()
                .map_or((error, ranked[chosen].spec.clone()), of);
            // Where next to nothing of the input is lost, nothing is left to learn.
            let lost = ranked
                .iter()
                .find(|r| r.spec == spec)
                .map_or(1.0, |r| r.error);
            if lost > LOST_SHARE * least
                && let Some((choice, error)) = self.settle_space(i, judge, drafts, least, spec)?
            {
                choices.push(choice);
                return Ok(error);
            }
        }
        if settings.encoder.is_none() {
            choices.extend(self.settle_encoder(i, judge, drafts, error)?);
        }
        Ok(best)
    }

    /// Learned directions beside the `strongest` prescribed basis, or alone, where they lower its error.
    fn settle_space(
        &self,
        i: usize,
        judge: &Judge<'_>,
        drafts: &mut [InputDraft],
        error: f64,
        strongest: BasisSpec,
    ) -> Result<Option<(Choice, f64)>> {
        if self.some.inputs[i].1.shared_points().is_none() {
            return Ok(None);
        }
        let prescribed = InputPlan {
            bases: vec![strongest],
            ..drafts[i].plan.clone()
        };
        let mut best = (error * WORTH_LEARNING, None);
        let mut candidates = vec![Candidate {
            name: "prescribed".into(),
            error,
        }];
        for (space, words) in [
            (Space::Hybrid, "prescribed functions and learned directions"),
            (Space::Learned, "learned directions"),
        ] {
            self.context.begin(Step::TryInputBasis(words.into()));
            let trial = in_space(space, &prescribed);
            let Some(found) = judge.error_with(drafts, i, &trial)? else {
                continue;
            };
            candidates.push(Candidate {
                name: words.into(),
                error: found,
            });
            if found < best.0 {
                best = (found * WORTH_LEARNING, Some((trial, words, found)));
            }
        }
        let Some((trial, words, found)) = best.1 else {
            return Ok(None);
        };
        drafts[i].plan = InputPlan {
            transform: drafts[i].plan.transform,
            ..trial
        };
        let choice = Choice {
            subject: Subject::InputSpace,
            field: drafts[i].plan.name.clone(),
            candidates,
            chosen: words.into(),
            why: format!(
                "validation error {found:.2e} against {error:.2e} of prescribed functions"
            ),
        };
        Ok(Some((choice, found)))
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
        let named = |name: &str, error| Candidate {
            name: name.into(),
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
                    vec![named("ridge", error), named("learned prior", learned)],
                    format!("learned prior on {functions} functions"),
                    format!("validation error {learned:.2e}"),
                )));
            }
        }
        if !drafts[i].plan.bases[0].nearly_dependent() {
            return Ok(None);
        }
        let mut candidates = vec![named("ridge", error)];
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
            candidates.push(named(&format!("SVD cut at {cut:.0e}"), found));
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

/// The same input in another space. Functions that are orthonormal at the points need no regularisation.
fn in_space(space: Space, plan: &InputPlan) -> InputPlan {
    InputPlan {
        bases: space.of(plan.bases.clone()),
        encoder: match space {
            Space::Prescribed => plan.encoder,
            Space::Hybrid | Space::Learned => EncoderSpec::ridge(0.0),
        },
        ..plan.clone()
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
    /// The error with the inputs as they first were.
    first_error: f64,
    map: MapConfig,
}

impl<'a> Judge<'a> {
    fn new(search: &'a Search<'_>, outputs: &[OutputDraft], drafts: &[InputDraft]) -> Result<Self> {
        let context = search.context.without_images(search.some);
        let targets = match point_values(&search.some.outputs) {
            Some(targets) => targets,
            // At points of their own, outputs are known by their fits.
            None => {
                let plans: Vec<OutputPlan> = outputs.iter().map(|o| o.plan.clone()).collect();
                represent_outputs(&context, &plans)?.targets
            }
        };
        let targets = reduced(targets)?;
        let map = &search.config.map;
        let mut judge = Judge {
            context,
            targets,
            transforms: Vec::new(),
            clear_transform: false,
            first_error: f64::INFINITY,
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
        judge.first_error = best;
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

/// Outputs at shared points as they are: nothing of them is lost. `None` where samples have points of their own.
fn point_values(outputs: &Fields) -> Option<Targets> {
    let parts = outputs.iter().map(|(_, field)| {
        let Observations::Shared { values, .. } = field.observations() else {
            return None;
        };
        let stacked = stack_components(values);
        let coordinates: Mat<f64> = stacked.as_ref().to_owned();
        let samples = coordinates.ncols();
        Some(Targets {
            norm_squared: linalg::column_norms_squared(coordinates.as_ref()),
            outside_squared: vec![0.0; samples],
            coordinates,
            withheld_floor: None,
        })
    });
    parts.collect::<Option<Vec<_>>>().map(Targets::stack)
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
        .take_while(|&&s| s > 1e-13 * largest)
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
            centres: Centres::Grid,
            ..RadialSpec::new(Kernel::Gaussian, functions)
        }),
        _ => PolynomialSpec::new(PolynomialKind::Legendre, functions).into(),
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
