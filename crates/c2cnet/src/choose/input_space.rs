//! The spaces and encoders of inputs: functions that represent them well, judged by the whole operator.

use super::domain;
use super::judge::Judge;
use super::output_space::OutputDraft;
use super::ranking::{Ranked, StopRule};
use super::search::{Search, TIE_RATIO, basis_choice, named_bases};
use super::transforms::InputDraft;
use super::words::{functions_of, verb, with_count};
use crate::basis::{BasisSpec, Centres, Kernel, PolynomialKind, PolynomialSpec, RadialSpec};
use crate::data::{Bounds, Field, Symmetries};
use crate::encode::{EncoderSpec, Method};
use crate::observe::Work;
use crate::plan::InputPlan;
use crate::report::{Candidate, Choice, Subject};
use crate::settings::{MapKind, Space};
use crate::{Error, Result};
use serde::Deserialize;
use std::cmp::Ordering;

/// Below this representation error of the inputs, more functions are not worth having: the operator smooths
/// most of what is lost, and the rest is judged by the whole operator.
const NEGLIGIBLE_INPUT: f64 = 1e-3;

/// Learned directions must lower the error by this factor to be worth having.
const WORTH_LEARNING: f64 = 0.97;

/// Spaces whose errors on the search samples differ by less than this factor are compared again on all samples: with
/// more of them, finer detail of the input pays off.
const NEAR_TIE_RATIO: f64 = 1.6;

/// A basis smaller than the chosen one by this factor is compared again in a tie.
const FAR_FEWER: usize = 2;

/// Learned directions alone must have a leave-one-out error below this part of the error of prescribed functions.
const FAR_BELOW: f64 = 0.3;

/// A prescribed input basis may lose this fraction of the operator's error before learned directions are tried.
const LOST_SHARE: f64 = 0.03;

/// Bases tie within this factor where symmetries make many images of each sample: the search judges samples without
/// their images, but with more samples finer detail of the input pays off. On 2D Darcy flow with the symmetries of
/// the square the test error is 4.1e-4 with 1,024 cosines, 6.8e-4 with 400 and 4.6e-4 with 1,024 random features.
const TIE_OF_IMAGES: f64 = 1.5;

/// An input's place, and the bases that were compared for it.
pub(super) type RankedInput = (usize, Vec<Ranked>);

impl Search<'_> {
    /// Plans of the inputs with the functions that represent them best, and the bases compared for inputs whose
    /// functions the settings do not name.
    pub(super) fn prescribed_inputs(&self) -> Result<(Vec<InputDraft>, Vec<RankedInput>)> {
        let mut drafts = Vec::new();
        let mut open = Vec::new();
        let fields = self.context.train.inputs.iter().enumerate();
        for (i, (name, whole)) in fields {
            let settings = self.config.input_named(name);
            let space = settings.space.unwrap_or(Space::Prescribed);
            let mut plan = InputPlan {
                name: name.clone(),
                components: settings.components,
                transform: settings.transform.unwrap_or_default(),
                domain: domain::settle(
                    settings.domain.as_ref(),
                    settings.periodic.as_deref(),
                    whole,
                )?,
                bases: named_bases(whole, settings.named_bases()),
                encoder: settings.encoder.unwrap_or_default(),
                kinds: settings.kinds.clone(),
                sizes: Vec::new(),
            };
            if space == Space::Learned && !whole.is_vector() {
                plan = in_space(space, &plan);
            } else if plan.bases.is_empty() {
                let field = &self.some.inputs[i].1;
                match self.rank_input(field, whole, &plan.domain) {
                    Ok((ranked, first)) => {
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
                transform_open: settings.transform.is_none() && settings.kinds.is_empty(),
                rivals: Vec::new(),
            });
        }
        Ok((drafts, open))
    }

    /// Settles spaces and encoders of the inputs, and returns the operator's error with them on the search samples.
    pub(super) fn settle_inputs(
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
        domain: &Bounds,
    ) -> Result<(Vec<Ranked>, usize)> {
        self.context.begin(Work::SearchInputBasis);
        // No map could distinguish more coefficients than half the number of samples.
        let most = (self.context.train.samples() / 2).max(8);
        let stop = StopRule {
            functions: self.config.search.max_functions.min(most),
            error: NEGLIGIBLE_INPUT,
        };
        self.ranking(field, whole, stop)?.climb(domain)
    }

    /// Why `chosen` was taken among the bases that were `judged`; `error` is the operator's error with it.
    fn why_this_input(
        &self,
        judged: &[(f64, usize)],
        ranked: &[Ranked],
        (error, chosen): (f64, usize),
    ) -> String {
        let why = format!(
            "operator error {} on {} search samples",
            self.error_in_words(error),
            self.some.samples(),
        );
        let least = judged.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        match least {
            Some(&(least, other)) if other != chosen => {
                let loss = |j: usize| ranked[j].error.max(NEGLIGIBLE_INPUT);
                let (lost, kept) = (ranked[other].error, ranked[chosen].error);
                let functions = ranked[other].functions;
                let but = match loss(other).total_cmp(&loss(chosen)) {
                    Ordering::Greater => {
                        format!("{} {}", verb(functions, "lose"), lost_more(lost, kept))
                    }
                    Ordering::Equal => "there are more of them".into(),
                    Ordering::Less => "the symmetries do not map their space into itself".into(),
                };
                format!(
                    "{why}; {} {} at {}, but {but}",
                    with_count(functions, &ranked[other].spec),
                    verb(functions, "tie"),
                    self.error_in_words(least),
                )
            }
            _ => match judged.len() {
                1 => format!("{why}; the only basis tried"),
                n => format!("{why}, the lowest of {n} bases tried"),
            },
        }
    }

    /// The operator's error in words; differences below rounding mean nothing.
    fn error_in_words(&self, error: f64) -> String {
        match error <= self.context.rounding {
            true => "at rounding level".into(),
            false => format!("{error:.2e}"),
        }
    }

    /// Settles the space and encoder of input `i` by the error of the whole operator, which is returned.
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
        let symmetric = self.context.protocol.symmetries != Symmetries::None;
        let mirrored = |j: usize| symmetric && ranked[j].spec.mirrored();
        // Prefer spaces that the symmetries map into themselves: they contain the images of samples.
        let chosen = best_of_tied(&judged, ranked, TIE_OF_IMAGES, mirrored)
            .or_else(|| best_of_tied(&judged, ranked, TIE_RATIO, |_| true));
        let Some((error, chosen)) = chosen else {
            return Err(Error::Data(format!(
                "no basis could encode the input {name:?}; name one in the settings"
            )));
        };
        drafts[i].plan.bases = vec![ranked[chosen].spec.clone()];
        // More samples may show that fewer functions are enough.
        let tied = judged.iter().filter(|j| j.0 <= TIE_RATIO * best);
        let smallest = tied.min_by_key(|j| ranked[j.1].functions).map(|j| j.1);
        if let Some(small) = smallest.map(|j| &ranked[j])
            && self.has_more_samples()
            && !symmetric
            && FAR_FEWER * small.functions <= ranked[chosen].functions
        {
            let plan = InputPlan {
                bases: vec![small.spec.clone()],
                ..drafts[i].plan.clone()
            };
            drafts[i].rivals.push(plan);
        }
        if judge.clear_transform {
            drafts[i].plan.transform = judge.transforms[i];
            drafts[i].transform_open = false;
        }
        let why = self.why_this_input(&judged, ranked, (error, chosen));
        let told = basis_choice(Subject::InputBasis, &name, ranked, chosen, why);
        choices.push(told);
        let settings = self.config.input_named(&name);
        if settings.space.is_none() && settings.encoder.is_none() {
            let of = |j: &&(f64, usize)| (j.0, ranked[j.1].spec.clone());
            let strongest = judged.iter().min_by(|a, b| a.0.total_cmp(&b.0));
            let (least, spec) = strongest
                .as_ref()
                .map_or((error, ranked[chosen].spec.clone()), of);
            // If almost nothing of the input is lost, nothing is left to learn.
            let lost = ranked
                .iter()
                .find(|r| r.spec == spec)
                .map_or(1.0, |r| r.error);
            if let Some((choice, error)) = self.settle_few_samples(i, judge, drafts, least)? {
                choices.push(choice);
                return Ok(error);
            }
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

    /// Learned directions alone, where there are about as many samples as directions and a linear map of them has a
    /// leave-one-out error far below `least`, the smallest error with prescribed functions.
    fn settle_few_samples(
        &self,
        i: usize,
        judge: &Judge<'_>,
        drafts: &mut [InputDraft],
        least: f64,
    ) -> Result<Option<(Choice, f64)>> {
        let linear = matches!(self.config.map.kind, MapKind::Auto | MapKind::Linear);
        if !linear || !self.may_learn(i) || self.has_more_samples() {
            return Ok(None);
        }
        let trial = in_space(Space::Learned, &drafts[i].plan);
        // Directions in which the input cannot be encoded are no candidate.
        let errors = match judge.left_out_errors(drafts, i, &trial) {
            Err(e @ Error::Interrupted) => return Err(e),
            errors => errors.ok().flatten(),
        };
        let Some((learned, prescribed)) = errors else {
            return Ok(None);
        };
        if learned >= FAR_BELOW * least.min(prescribed) {
            return Ok(None);
        }
        let named = |plan: &InputPlan, error| Candidate::new(in_words(plan), error);
        let candidates = vec![named(&drafts[i].plan, prescribed), named(&trial, learned)];
        let choice = Choice {
            subject: Subject::InputSpace,
            field: drafts[i].plan.name.clone(),
            chosen: in_words(&trial),
            why: format!(
                "leave-one-out error of a linear map: {}, against {} with {}",
                self.error_in_words(learned),
                self.error_in_words(prescribed),
                in_words(&drafts[i].plan),
            ),
            candidates,
        };
        drafts[i].plan = InputPlan {
            transform: drafts[i].plan.transform,
            ..trial
        };
        Ok(Some((choice, learned)))
    }

    /// Whether directions may be learned for input `i`. Directions learned from samples do not represent the samples'
    /// images under symmetries; prescribed functions do, often by a mere change of signs.
    fn may_learn(&self, i: usize) -> bool {
        let symmetric = self.context.protocol.symmetries != Symmetries::None;
        !symmetric && self.some.inputs[i].1.shared_points().is_some()
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
        if !self.may_learn(i) {
            return Ok(None);
        }
        let prescribed = InputPlan {
            bases: vec![strongest],
            ..drafts[i].plan.clone()
        };
        let mut best: Option<(f64, InputPlan)> = None;
        let mut candidates = vec![Candidate::new(in_words(&prescribed), error)];
        let trials = [Space::Hybrid, Space::Learned].map(|space| in_space(space, &prescribed));
        let errors = judge.errors_with(drafts, i, &trials, in_words)?;
        for (found, trial) in errors.into_iter().zip(trials) {
            let Some(found) = found else {
                continue;
            };
            candidates.push(Candidate::new(in_words(&trial), found));
            // The first is preferred in a tie.
            if best.as_ref().is_none_or(|b| found < WORTH_LEARNING * b.0) {
                best = Some((found, trial));
            }
        }
        let Some((found, trial)) = best else {
            return Ok(None);
        };
        let close = self.has_more_samples() && found.max(error) < NEAR_TIE_RATIO * found.min(error);
        if found >= WORTH_LEARNING * error {
            drafts[i].rivals.extend(close.then_some(trial));
            return Ok(None);
        }
        let chosen = in_words(&trial);
        let against = in_words(&prescribed);
        drafts[i].rivals.extend(close.then_some(prescribed));
        drafts[i].plan = InputPlan {
            transform: drafts[i].plan.transform,
            ..trial
        };
        let choice = Choice {
            subject: Subject::InputSpace,
            field: drafts[i].plan.name.clone(),
            candidates,
            chosen,
            why: format!(
                "operator error {} on search samples, against {} with {against}; directions are learned where that \
                 lowers the error by more than {:.0} %",
                self.error_in_words(found),
                self.error_in_words(error),
                100.0 * (1.0 - WORTH_LEARNING),
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
        let named = |name: &str, error| Candidate::new(name, error);
        if field.shared_points().is_none() {
            self.context.begin(Work::LearnPrior);
            let trial = with_learned_prior(field, &drafts[i].plan);
            if let Some(learned) = judge.error_with(drafts, i, &trial)?
                && learned < error / TIE_RATIO
            {
                let functions = functions_of(&trial.bases[0]);
                drafts[i].plan = InputPlan {
                    transform: drafts[i].plan.transform,
                    ..trial
                };
                return Ok(Some(encoder_choice(
                    &drafts[i].plan.name,
                    vec![named("ridge", error), named("learned prior", learned)],
                    format!("learned prior on {functions}"),
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
            if found < best.0 / TIE_RATIO {
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

/// Among the `admitted` bases whose error is at most `tie` times the smallest, the one that represents inputs best, since
/// that suits the larger final fit; among those with a negligible representation error, the smallest.
fn best_of_tied(
    judged: &[(f64, usize)],
    ranked: &[Ranked],
    tie: f64,
    admitted: impl Fn(usize) -> bool,
) -> Option<(f64, usize)> {
    let least = judged.iter().map(|j| j.0).fold(f64::INFINITY, f64::min);
    let key = |j: usize| (ranked[j].error.max(NEGLIGIBLE_INPUT), ranked[j].functions);
    let tied = judged
        .iter()
        .filter(|j| j.0 <= tie * least && admitted(j.1));
    tied.copied().min_by(|a, b| {
        let (a, b) = (key(a.1), key(b.1));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    })
}

/// The space of an input in words: its kind of functions, and their number if the settings give it.
pub(super) fn in_words(plan: &InputPlan) -> String {
    let of = |spec: &BasisSpec| {
        let settings = serde_json::to_value(spec).unwrap_or_default();
        match settings["functions"].as_u64() {
            Some(functions) => with_count(functions as usize, spec),
            None => functions_of(spec),
        }
    };
    let spec = serde_json::to_value(&plan.bases[0]).unwrap_or_default();
    let prescribed = spec.get("prescribed");
    let prescribed = prescribed.and_then(|spec| BasisSpec::deserialize(spec).ok());
    match (plan.is_learned(), prescribed) {
        (false, _) => of(&plan.bases[0]),
        (true, None) => "learned directions".into(),
        (true, Some(prescribed)) => format!("{} and learned directions", of(&prescribed)),
    }
}

/// How much more of the inputs a basis loses than the chosen one; only numbers that differ in print say how much.
fn lost_more(lost: f64, kept: f64) -> String {
    let [lost, kept] = [lost, kept].map(|error| format!("{error:.1e}"));
    match lost == kept {
        true => "slightly more of the inputs".into(),
        false => format!("more of the inputs ({lost} against {kept})"),
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

/// With a learned prior the basis can be fine: about two functions per reading, as long as the prior is quick to
/// learn.
fn with_learned_prior(field: &Field, plan: &InputPlan) -> InputPlan {
    let mut counts: Vec<usize> = (0..field.samples())
        .map(|k| field.points_of(k).len())
        .collect();
    counts.sort_unstable();
    let functions = (2 * counts[counts.len() / 2])
        .min(256)
        .min(512 / field.components())
        .max(8);
    // Smooth functions, each seen by few readings; in many dimensions their centres would be too far apart.
    let basis = match field.dim() {
        _ if plan.domain.has_period() => plan.bases[0].clone(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{FourierKind, FourierSpec};

    fn ranked(spec: impl Into<BasisSpec>, error: f64) -> Ranked {
        Ranked {
            family: 0,
            spec: spec.into(),
            functions: 100,
            rank: 100,
            error,
            withheld: error,
            fitted: error,
            cut: 0.0,
            trusted: true,
        }
    }

    #[test]
    fn losses_that_look_the_same_are_not_compared_in_print() {
        let slightly = lost_more(0.1302, 0.1298);
        assert_eq!(slightly, "slightly more of the inputs");
        assert!(lost_more(0.2, 0.1).ends_with("(2.0e-1 against 1.0e-1)"));
    }

    #[test]
    fn symmetries_admit_what_they_turn_into_itself_if_it_is_close() {
        let all = [
            ranked(crate::basis::PointValuesSpec::default(), 1e-2),
            ranked(FourierSpec::new(FourierKind::Cosine, 100), 2e-2),
        ];
        let mirrored = |j: usize| all[j].spec.mirrored();
        let close = [(1.0, 0), (1.4, 1)];
        let choice = best_of_tied(&close, &all, TIE_OF_IMAGES, mirrored);
        assert_eq!(choice, Some((1.4, 1)));
        let far = [(1.0, 0), (1.6, 1)];
        assert_eq!(best_of_tied(&far, &all, TIE_OF_IMAGES, mirrored), None);
        assert_eq!(
            best_of_tied(&far, &all, TIE_RATIO, |_| true),
            Some((1.0, 0))
        );
    }
}
