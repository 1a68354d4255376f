//! Inputs judged by the whole operator on some of the training samples.

use super::folds::Folds;
use super::maps;
use super::output_space::OutputDraft;
use super::ranking::{Ranked, finalists};
use super::search::Search;
use super::transforms::{InputDraft, transform_candidates, with_transforms};
use super::words::functions_of;
use crate::data::{Fields, Observations};
use crate::decode::Targets;
use crate::encode::{Transform, stack_components};
use crate::error::in_order;
use crate::fit::{MapTrainingSet, encode_inputs, represent_outputs};
use crate::map::{KernelFunction, KernelSpec};
use crate::observe::Work;
use crate::plan::{InputPlan, OutputPlan};
use crate::settings::MapConfig;
use crate::{Error, Result, linalg};
use faer::Mat;
use rayon::prelude::*;

/// A transform that is worse by this factor is dropped.
const CLEAR_LEAD_RATIO: f64 = 1.15;

/// Judges inputs by the whole operator on some of the training samples.
pub(super) struct Judge<'a> {
    folds: Folds<'a>,
    targets: Targets,
    pub transforms: Vec<Transform>,
    /// Whether no other transform comes close, so that the final fit need not compare them again.
    pub clear_transform: bool,
    /// The error with the initial inputs.
    pub first_error: f64,
    map: MapConfig,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        search: &'a Search<'_>,
        outputs: &[OutputDraft],
        drafts: &[InputDraft],
    ) -> Result<Self> {
        let context = search.context.without_images(search.some);
        let targets = match point_values(&search.some.outputs) {
            Some(targets) => targets,
            // Where samples have their own points, outputs are represented by their fits.
            None => {
                let plans: Vec<OutputPlan> = outputs.iter().map(|o| o.plan.clone()).collect();
                represent_outputs(&context, &plans)?.targets
            }
        };
        let targets = reduced(targets)?;
        let map = &search.config.map;
        let mut judge = Judge {
            folds: Folds::new(context),
            targets,
            transforms: Vec::new(),
            clear_transform: false,
            first_error: f64::INFINITY,
            // One kernel and one re-weighting pass show which input is better; the final fit tries more.
            map: MapConfig {
                kernel: KernelSpec {
                    kernel: map
                        .kernel
                        .kernel
                        .or(Some(KernelFunction::InverseMultiquadric)),
                    passes: map.kernel.passes.min(1),
                    ..map.kernel.clone()
                },
                ..map.clone()
            },
        };
        let mut errors = Vec::new();
        let raw = map.takes_raw_coefficients();
        let candidates = transform_candidates(&search.some.inputs, drafts, raw);
        let tried = candidates.par_iter();
        let tried = tried.map(|transforms| judge.error(&with_transforms(drafts, transforms)));
        for (error, transforms) in in_order(tried)?.into_iter().zip(candidates) {
            if errors.iter().all(|e| error < *e) {
                judge.transforms = transforms;
            }
            errors.push(error);
        }
        let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
        judge.first_error = best;
        judge.clear_transform = errors
            .iter()
            .filter(|e| **e <= CLEAR_LEAD_RATIO * best)
            .count()
            == 1;
        Ok(judge)
    }

    /// The errors of the finalists for input `i`; one that cannot be encoded is not a candidate.
    pub(super) fn finalists(
        &self,
        drafts: &[InputDraft],
        i: usize,
        ranked: &[Ranked],
    ) -> Result<Vec<(f64, usize)>> {
        let candidates = finalists(ranked);
        let trial = |&candidate: &usize| InputPlan {
            bases: vec![ranked[candidate].spec.clone()],
            ..drafts[i].plan.clone()
        };
        let trials: Vec<InputPlan> = candidates.iter().map(trial).collect();
        let errors = self.errors_with(drafts, i, &trials, |plan| functions_of(&plan.bases[0]))?;
        let judged = errors.into_iter().zip(candidates);
        Ok(judged.filter_map(|(e, c)| e.map(|e| (e, c))).collect())
    }

    /// The errors with each of the other plans for input `i`, in parallel; `None` where the inputs cannot be encoded.
    pub(super) fn errors_with(
        &self,
        drafts: &[InputDraft],
        i: usize,
        trials: &[InputPlan],
        in_words: impl Fn(&InputPlan) -> String,
    ) -> Result<Vec<Option<f64>>> {
        for trial in trials {
            let step = Work::TryInputBasis(in_words(trial));
            self.folds.first().begin(step);
        }
        let errors = trials.par_iter();
        in_order(errors.map(|trial| self.error_with(drafts, i, trial)))
    }

    /// The error with another plan for input `i`, `None` if the inputs cannot be encoded.
    pub(super) fn error_with(
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

    /// The leave-one-out errors of the linear map with another plan for input `i` and with the drafts, where samples
    /// are about as many as the plan has coefficients: then the samples that are held out in a fold may be needed to
    /// determine the operator, and the errors on folds tell little.
    pub(super) fn left_out_errors(
        &self,
        drafts: &[InputDraft],
        i: usize,
        trial: &InputPlan,
    ) -> Result<Option<(f64, f64)>> {
        let raw = self.map.takes_raw_coefficients();
        let everything = self.folds.first().with_everything();
        let mut plans = with_transforms(drafts, &self.transforms);
        let drafted = plans.clone();
        plans[i] = InputPlan {
            transform: self.transforms[i],
            ..trial.clone()
        };
        let inputs = encode_inputs(&everything, &plans, raw)?;
        let set = MapTrainingSet::closed_form(&inputs, &self.targets);
        if !maps::needs_all_samples(&set) {
            return Ok(None);
        }
        let inputs = encode_inputs(&everything, &drafted, raw)?;
        let drafted = MapTrainingSet::closed_form(&inputs, &self.targets);
        let rounding = self.folds.first().rounding;
        let error = |set| Ok::<_, Error>(maps::left_out_error(set)?.max(rounding));
        Ok(Some((error(&set)?, error(&drafted)?)))
    }

    fn error(&self, plans: &[InputPlan]) -> Result<f64> {
        let raw = self.map.takes_raw_coefficients();
        let inputs = self.folds.encode(plans, raw)?;
        let folds = self.folds.closed_form(&inputs, |_| &self.targets);
        let left_out = || maps::leave_one_out(&folds[0].set);
        let error = maps::compare(&folds, &self.map, maps::Purpose::Search, left_out)?.error;
        // Differences below rounding do not distinguish inputs.
        Ok(error.max(self.folds.first().rounding))
    }
}

/// Outputs at shared points, without loss. `None` if each sample has its own points.
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
            readings: None,
        })
    });
    parts.collect::<Option<Vec<_>>>().map(Targets::stack)
}

/// Targets along the axes in which they vary: with few samples these are far fewer coordinates. Readings stay
/// unchanged.
fn reduced(targets: Targets) -> Result<Targets> {
    if targets.readings.is_some() {
        return Ok(targets);
    }
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
