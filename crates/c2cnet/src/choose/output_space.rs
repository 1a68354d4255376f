//! The spaces of outputs: prescribed functions ranked by their floor, and learned directions where those lose too much.

use super::domain;
use super::few_readings::{FewReadings, few_readings};
use super::ranking::{Ranked, Ranking, StopRule, finalists, why_this_basis};
use super::search::{Search, TIE_RATIO, basis_choice, named_bases, search_samples};
use super::transforms::InputDraft;
use super::words::{functions_of, verb, with_count};
use crate::basis::{HybridSpec, interpolation_error};
use crate::data::{Bounds, Field, Observations};
use crate::decode::enough_to_withhold;
use crate::error::in_order;
use crate::fit::Context;
use crate::observe::Work;
use crate::plan::{InputPlan, OutputPlan};
use crate::report::{Choice, Subject};
use crate::settings::{FitConfig, Space};
use crate::{Error, Result};
use rayon::prelude::*;

/// Floors below this count as zero: no map comes close.
const NEGLIGIBLE_FLOOR: f64 = 3e-5;

/// A prescribed output basis may lose this fraction of the operator's expected error.
const FLOOR_SHARE: f64 = 0.05;

/// Interpolation on the data's grid is preferred to prescribed functions if its error between the points is less than
/// this fraction of theirs.
const INTERPOLATION_LEAD: f64 = 0.5;

/// Floors below this are rounding errors.
const ROUNDING: f64 = 1e-12;

/// Learned directions leave no more than this fraction of it, because they cost little.
const LEFT_SHARE: f64 = 1e-4;

/// Combinations of prescribed functions with a singular value of $\sigma$ times the largest are rounded by
/// $\epsilon/\sigma$: beside learned directions they are cut where this exceeds what may be left, up to this cut.
const WELL_CONDITIONED: f64 = 1e-6;

/// With more values than this, learned directions may leave as much as a prescribed basis.
const LARGE: usize = 4_000_000;

/// With more values than this, directions are learned only where a prescribed basis loses more than that: 2D Darcy flow
/// (48 million values, a floor of a sixth of its error) was not fitted with them in 270 s of CPU time.
const HUGE: usize = 30_000_000;
const HUGE_SHARE: f64 = 0.3;

/// Output bases in the order in which they were tried, and the one that a fit takes.
pub(crate) struct OutputRanking {
    pub ranked: Vec<Ranked>,
    pub chosen: usize,
    /// The number of readings per sample, where these are too few to judge bases sample by sample.
    few_readings: Option<usize>,
}

impl OutputRanking {
    fn judged_by(&self) -> String {
        match self.few_readings {
            None => "floor at withheld points".into(),
            Some(n) => format!(
                "samples have {n} reading{}, too few to fit each one; error at a reading, predicted from a held-out \
                 sample's input and its other readings,",
                if n == 1 { "" } else { "s" }
            ),
        }
    }
}

/// An output with a prescribed basis.
pub(super) struct OutputDraft {
    pub plan: OutputPlan,
    /// The index of the output in the data.
    pub index: usize,
    /// The bases it was compared with, unless the settings name it.
    pub ranking: Option<OutputRanking>,
}

/// Compares bases for the output `name`, as a fit does if its settings name none.
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
    let drafts = match few_readings(&context.train.outputs[i].1) {
        Some(_) => search.prescribed_inputs()?.0,
        None => Vec::new(),
    };
    search.rank_output(i, &drafts)
}

/// Whether all samples share points that are too few to withhold any.
fn has_few_points(field: &Field) -> bool {
    field
        .shared_points()
        .is_some_and(|points| !enough_to_withhold(points))
}

impl Search<'_> {
    /// Plans of the outputs with prescribed functions alone.
    pub(super) fn prescribed_outputs(&self, inputs: &[InputDraft]) -> Result<Vec<OutputDraft>> {
        let mut drafts = Vec::new();
        for (index, (name, whole)) in self.context.train.outputs.iter().enumerate() {
            let settings = self.config.output_named(name);
            let mut plan = OutputPlan {
                name: name.clone(),
                components: settings.components,
                domain: self.output_domain(index)?,
                cuts: settings.cut.into_iter().collect(),
                bases: named_bases(whole, settings.named_bases()),
                kinds: settings.kinds.clone(),
                sizes: Vec::new(),
                moving_nodes: None,
            };
            let mut ranking = None;
            if plan.bases.is_empty() && self.space(index) != Some(Space::Learned) {
                self.context.begin(Work::SearchOutputBasis);
                let found = self.rank_output(index, inputs)?;
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

    /// The space that the settings name for output `i`, or learned directions where its points are too few to judge
    /// prescribed functions by some of them; `None` where it is to be chosen.
    fn space(&self, i: usize) -> Option<Space> {
        let (name, field) = &self.context.train.outputs[i];
        let settings = self.config.output_named(name);
        let few = settings.named_bases().is_none() && has_few_points(field);
        settings.space.or(few.then_some(Space::Learned))
    }

    fn rank_output(&self, i: usize, inputs: &[InputDraft]) -> Result<OutputRanking> {
        let (name, field) = &self.context.train.outputs[i];
        if has_few_points(field) {
            return Err(Error::Config(format!(
                "output {name:?}: {} points are too few to compare bases; name one, or leave `space` unset, so \
                 that it is learned from the samples",
                field.points_of(0).len()
            )));
        }
        let mut ranking = self.output_ranking(i)?;
        let few_readings = few_readings(&self.context.train.outputs[i].1);
        if few_readings.is_some() {
            let plans: Vec<InputPlan> = inputs.iter().map(|d| d.plan.clone()).collect();
            ranking = ranking.by_all_samples(FewReadings::new(self.context, &plans, i)?);
        }
        let (ranked, chosen) = ranking.climb(&self.output_domain(i)?)?;
        Ok(OutputRanking {
            ranked,
            chosen,
            few_readings,
        })
    }

    fn output_domain(&self, i: usize) -> Result<Bounds> {
        let (name, field) = &self.context.train.outputs[i];
        let settings = self.config.output_named(name);
        domain::settle(
            settings.domain.as_ref(),
            settings.periodic.as_deref(),
            field,
        )
    }

    fn output_ranking(&self, i: usize) -> Result<Ranking<'_>> {
        let stop = StopRule {
            functions: self.config.search.max_functions,
            error: NEGLIGIBLE_FLOOR,
        };
        let (field, whole) = (&self.some.outputs[i].1, &self.context.train.outputs[i].1);
        self.ranking(field, whole, stop)
    }

    /// Adds learned directions to an output where the loss of its prescribed basis is too large for the map's accuracy.
    pub(super) fn settle_output(
        &self,
        draft: &mut OutputDraft,
        error: Option<f64>,
    ) -> Result<Option<Choice>> {
        let name = &draft.plan.name;
        let settings = self.config.output_named(name);
        let vector = self.some.outputs[draft.index].1.is_vector();
        let space = self.space(draft.index);
        if settings.space == Some(Space::Hybrid) && draft.ranking.is_some() {
            let best = self.best_hybrid(draft, HybridSpec::default().tolerance)?;
            let spec = best.map_or_else(HybridSpec::default, |(spec, _)| spec);
            draft.plan.bases = vec![spec.into()];
        } else if let Some(space) = space.filter(|_| !vector) {
            draft.plan.bases = space.of(std::mem::take(&mut draft.plan.bases));
        }
        let Some(ranking) = &draft.ranking else {
            let learned = settings.space.is_none() && space.is_some() && !vector;
            return Ok(learned.then(|| self.too_few_points(draft)));
        };
        let OutputRanking { ranked, chosen, .. } = ranking;
        let pick = &ranked[*chosen];
        let what = ranking.judged_by();
        let why = why_this_basis(ranked, *chosen, &what, NEGLIGIBLE_FLOOR);
        let choice = basis_choice(Subject::OutputBasis, name, ranked, *chosen, why);
        let shared = self.some.outputs[draft.index].1.shared_points().is_some();
        let Some(error) = error.filter(|_| settings.space.is_none() && shared) else {
            return Ok(Some(choice));
        };
        let whole = &self.context.train.outputs[draft.index].1;
        let values = whole.samples() * whole.points_of(0).len();
        let part = if values > HUGE {
            HUGE_SHARE
        } else {
            FLOOR_SHARE
        };
        let may_lose = ROUNDING.max(part * error);
        let interpolated = self.interpolation_error(draft.index, &draft.plan.domain);
        let loses_between = values <= HUGE
            && pick.withheld > may_lose
            && interpolated.is_some_and(|i| i < INTERPOLATION_LEAD * pick.withheld);
        if pick.fitted <= may_lose && !loses_between {
            return Ok(Some(choice));
        }
        let share = if values > LARGE {
            FLOOR_SHARE
        } else {
            LEFT_SHARE
        };
        let tolerance = (share * error).clamp(f64::EPSILON, 0.5);
        let Some((spec, between)) = self.best_hybrid(draft, tolerance)? else {
            return Ok(Some(choice));
        };
        let kind = match &spec.prescribed {
            Some(prescribed) => format!("{} and learned directions", functions_of(prescribed)),
            None => "learned directions".to_string(),
        };
        let why = format!(
            "{} {} {:.1e} at the points and {:.1e} between them, where it may lose {:.0} % of the map's error of about {error:.1e}; \
             this space loses less than that at the points and {between:.1e} between them",
            with_count(pick.functions, &pick.spec),
            verb(pick.functions, "lose"),
            pick.fitted,
            pick.withheld,
            100.0 * part,
        );
        draft.plan.bases = vec![spec.into()];
        Ok(Some(Choice {
            chosen: kind,
            why,
            ..choice
        }))
    }

    /// The choice where the output's points are too few to compare anything.
    fn too_few_points(&self, draft: &OutputDraft) -> Choice {
        let points = self.some.outputs[draft.index].1.points_of(0).len();
        Choice {
            subject: Subject::OutputBasis,
            field: draft.plan.name.clone(),
            candidates: Vec::new(),
            chosen: "learned directions".into(),
            why: format!("{points} points are too few to compare prescribed functions"),
        }
    }

    /// What interpolation between the points of output `i` is expected to lose, on a grid.
    fn interpolation_error(&self, i: usize, domain: &Bounds) -> Option<f64> {
        let Observations::Shared { points, values } =
            self.context.train.outputs[i].1.observations()
        else {
            return None;
        };
        let errors = values
            .iter()
            .map(|v| interpolation_error(domain, points, v.as_ref()));
        errors
            .collect::<Option<Vec<f64>>>()?
            .into_iter()
            .reduce(f64::max)
    }

    /// The prescribed basis, or none, with which learned directions have the smallest error between the points, and that
    /// error. `None` if no space with learned directions can be trusted.
    fn best_hybrid(
        &self,
        draft: &OutputDraft,
        tolerance: f64,
    ) -> Result<Option<(HybridSpec, f64)>> {
        let Some(OutputRanking { ranked, chosen, .. }) = &draft.ranking else {
            return Ok(None);
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
        let domain = &draft.plan.domain;
        let mut best: Option<(HybridSpec, f64)> = None;
        let interpolated = self.interpolation_error(draft.index, domain);
        let rounded = (f64::EPSILON / tolerance).min(WELL_CONDITIONED);
        let spec = |part: &Option<usize>| HybridSpec {
            prescribed: part.map(|p| ranked[p].spec.clone()),
            cut: part.map_or(HybridSpec::default().cut, |p| ranked[p].cut.max(rounded)),
            learned: Some(self.config.search.max_functions),
            tolerance,
        };
        let tried = in_order(parts.par_iter().map(|part| {
            let spec = spec(part);
            Ok((ranking.try_spec(spec.clone().into(), domain)?, spec))
        }))?;
        for (part, (tried, spec)) in parts.into_iter().zip(tried) {
            let Some(tried) = tried.filter(|t| t.trusted) else {
                continue;
            };
            // Interpolation suffers more from withheld points than functions that are defined everywhere.
            let between = match part {
                Some(_) => tried.withheld,
                None => interpolated.unwrap_or(tried.withheld),
            };
            // The first ones are preferred in a tie.
            if between.is_finite() && best.as_ref().is_none_or(|b| between < b.1 / TIE_RATIO) {
                best = Some((spec, between));
            }
        }
        Ok(best)
    }
}
