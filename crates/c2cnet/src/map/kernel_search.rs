//! The choice of kernel, length, nugget, exponent and number of passes on held-out training samples.

use super::kernel::{Features, KernelSettings, Relevance};
use super::{KernelFunction, KernelSpec, LinearMap, PassSettings, Split, agop};
use crate::compute::{self, Dense, Sweep};
use crate::decode::Targets;
use crate::error::in_order;
use crate::metrics::mean;
use crate::observe::{Observer, check_cancelled};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// A choice, with the features it was made in.
#[derive(Debug)]
pub struct KernelChoice {
    /// Features learned on the samples that were not held out of the first split.
    pub features: Features,
    /// The parameters.
    pub settings: KernelSettings,
    /// How the choice was made.
    pub report: KernelReport,
}

/// How the choice was made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KernelReport {
    /// The validation error of the choice.
    pub error: f64,
    /// The number of samples fitted and held out for the choice, in the first split if there are several.
    pub samples: (usize, usize),
    /// The passes tried, in order; the choice is the best of them.
    pub passes: Vec<PassReport>,
}

/// One pass of the choice.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PassReport {
    /// The best parameters of this pass.
    #[serde(flatten)]
    pub settings: PassSettings,
    /// The exponent in force; none: coefficients as they are.
    pub exponent: Option<f64>,
    /// Its validation error.
    pub error: f64,
}

/// The kernels to compare, the first of which chooses the features.
const KERNELS: [KernelFunction; 3] = [
    KernelFunction::InverseMultiquadric,
    KernelFunction::Matern52,
    KernelFunction::Gaussian,
];

/// Samples with which parameters are chosen, at most; the final fit uses all.
const SEARCH_SAMPLES: usize = 3000;

/// Samples for a first selection of kernels and exponents before the full comparison, a fifth of
/// them held out. With at most twice as many samples there is only the full comparison.
const COARSE_SAMPLES: usize = 800;

/// Candidates this much worse than the best on the coarse samples are dropped, ...
const NEAR: f64 = 1.25;

/// ... and so are all after this many.
const FINALISTS: usize = 3;

/// A step along the grid must lower the error by this factor: the minimum is flat.
const PROGRESS: f64 = 0.999;

/// Exponents of two and of ten, doubled, between which length and nugget are chosen.
const LENGTHS: std::ops::RangeInclusive<i32> = 0..=18;
const NUGGETS: std::ops::RangeInclusive<i32> = -26..=-4;

/// Steps along them by factors of two and ten, and by the roots of these.
const WHOLE: i32 = 2;
const HALF: i32 = 1;

/// Samples, one column each, of which some are held out.
#[derive(Clone, Copy)]
pub struct HeldOut<'a> {
    /// Input coefficients.
    pub coefficients: MatRef<'a, f64>,
    /// What a map should make of them.
    pub targets: &'a Targets,
    /// Which samples are fitted and which judge.
    pub split: &'a Split,
    /// The linear map of those that are fitted.
    pub linear: &'a LinearMap,
}

/// How the settings of a kernel map are chosen: by the error on held-out samples, the mean over several splits if
/// there are several.
pub struct KernelSearch<'a> {
    /// What is open, and what is given.
    pub spec: &'a KernelSpec,
    /// Seed of the samples that re-weighting draws.
    pub seed: u64,
    /// Asked whether to stop.
    pub observer: &'a dyn Observer,
}

impl KernelSearch<'_> {
    /// Chooses settings by the mean error over `splits`. Features are learned on the samples that are fitted alone,
    /// so that the error is unbiased.
    ///
    /// # Errors
    /// If the settings are out of range, nothing factors, or the observer asks to stop.
    pub fn run(&self, splits: &[HeldOut<'_>]) -> Result<KernelChoice> {
        let spec = self.spec;
        spec.check()?;
        let fine = folds(splits, SEARCH_SAMPLES);
        let large = fine[0].samples().0 > 2 * COARSE_SAMPLES;
        let comparison = Comparison {
            coarse: large.then(|| folds(splits, COARSE_SAMPLES)),
            fine,
            spec,
            observer: self.observer,
            dense: compute::dense(self.observer.device())?,
        };
        let mut found = comparison.first_pass()?;
        self.reweight(&comparison, &mut found)?;
        let chosen = found.best();
        // The last step of the choice is a finer one.
        let start = Start::at(&Trial {
            features: 0,
            settings: found.passes[chosen].settings,
            error: found.passes[chosen].error,
        });
        let features = std::slice::from_ref(&found.features[chosen]);
        if let Some(finer) = comparison.descend(features, &comparison.fine, start, HALF)? {
            found.passes[chosen].settings = finer.settings;
            found.passes[chosen].error = finer.error;
        }
        Ok(KernelChoice {
            features: found.features.swap_remove(chosen).swap_remove(0),
            settings: KernelSettings {
                exponent: found.passes[chosen].exponent,
                passes: found.passes[..=chosen].iter().map(|p| p.settings).collect(),
                max_centres: spec.centres(splits[0].coefficients.ncols()),
            },
            report: KernelReport {
                error: found.passes[chosen].error,
                samples: comparison.fine[0].samples(),
                passes: found.passes,
            },
        })
    }

    /// Passes that weigh coordinates by their effect on the output, as long as they help.
    fn reweight(&self, comparison: &Comparison<'_>, found: &mut Found) -> Result<()> {
        let mut features = found.features[0].clone();
        for _ in 0..self.spec.passes {
            let last = found.passes[found.passes.len() - 1].clone();
            let weighed_by = last.settings;
            let folds = features.par_iter().zip(&comparison.fine);
            features = in_order(folds.map(|(features, fold)| {
                let (a, c) = (fold.a.as_ref(), fold.c.as_ref());
                agop::reweight(features, a, c, weighed_by, (self.seed, &*comparison.dense))
            }))?;
            let only = std::slice::from_ref(&features);
            let Some(trial) = comparison.best_of(only, Some(weighed_by))? else {
                break;
            };
            let error = trial.error;
            found.passes.push(PassReport {
                settings: trial.settings,
                exponent: last.exponent,
                error,
            });
            found.features.push(features.clone());
            // A pass that does not help is rarely followed by one that does.
            if error >= last.error {
                break;
            }
        }
        Ok(())
    }
}

fn folds<'a>(splits: &[HeldOut<'a>], samples: usize) -> Vec<Fold<'a>> {
    splits.iter().map(|s| Fold::new(s, samples)).collect()
}

/// The passes so far, and the features of each pass and fold.
struct Found {
    passes: Vec<PassReport>,
    features: Vec<Vec<Features>>,
}

impl Found {
    fn best(&self) -> usize {
        let pass = |i: usize| self.passes[i].error;
        let all = 0..self.passes.len();
        all.min_by(|&i, &j| pass(i).total_cmp(&pass(j)))
            .unwrap_or(0)
    }
}

impl KernelSettings {
    /// Checks what a plan may say.
    ///
    /// # Errors
    /// Naming the setting and its value.
    pub(crate) fn check(&self) -> Result<()> {
        let passes = self.passes.iter();
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let fine = passes
            .clone()
            .all(|p| positive(p.length) && positive(p.nugget));
        if self.passes.is_empty() || !fine || self.max_centres < 2 {
            return Err(Error::Config(format!(
                "plan: a kernel map needs passes with positive length and nugget, and at least 2 centres; \
                 found {self:?}"
            )));
        }
        Ok(())
    }

    /// The features of these settings, learned on the given samples; `linear` is their linear map.
    ///
    /// # Errors
    /// If a kernel matrix does not factor on these samples, or the observer asks to stop.
    pub fn learn_features(
        &self,
        coefficients: MatRef<'_, f64>,
        targets: &Targets,
        linear: &LinearMap,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Features> {
        let mut c = targets.coordinates.clone();
        let mean = linalg::column_mean(c.as_ref());
        linalg::subtract_from_columns(&mut c, &mean);
        let dense = compute::dense(observer.device())?;
        let reweighting = self.passes.len().saturating_sub(1);
        let mut features = match self.exponent {
            Some(p) => Relevance::new(linear, coefficients)?.features(coefficients, p),
            None => Features::isotropic(linear, coefficients),
        };
        for pass in &self.passes[..reweighting] {
            check_cancelled(observer)?;
            let on = (seed, &*dense);
            features = agop::reweight(&features, coefficients, c.as_ref(), *pass, on)?;
        }
        Ok(features)
    }
}

/// Samples that are fitted and samples that are held out.
struct Fold<'a> {
    a: Mat<f64>,
    /// Centred targets.
    c: Mat<f64>,
    mean: Vec<f64>,
    a_held: Mat<f64>,
    targets: &'a Targets,
    held: &'a [usize],
    linear: &'a LinearMap,
}

impl<'a> Fold<'a> {
    /// At most `samples` of the split, four to one.
    fn new(held_out: &HeldOut<'a>, samples: usize) -> Self {
        let HeldOut {
            coefficients,
            targets,
            split,
            linear,
        } = *held_out;
        let Split { train, validation } = split;
        // The caller shuffles or strides both lists, so a prefix is a fair choice.
        let train = &train[..train.len().min(samples * 4 / 5)];
        let held = &validation[..validation.len().min(samples / 5)];
        let mut c = linalg::select_columns(targets.coordinates.as_ref(), train);
        let mean = linalg::column_mean(c.as_ref());
        linalg::subtract_from_columns(&mut c, &mean);
        Fold {
            a: linalg::select_columns(coefficients, train),
            c,
            mean,
            a_held: linalg::select_columns(coefficients, held),
            targets,
            held,
            linear,
        }
    }

    /// The number of samples fitted and held out.
    fn samples(&self) -> (usize, usize) {
        (self.a.ncols(), self.held.len())
    }

    /// The mean error of predicted coordinates of the held-out samples, infinite where they are no numbers.
    fn error(&self, mut predicted: Mat<f64>) -> f64 {
        for column in 0..predicted.ncols() {
            for (v, m) in predicted.col_mut(column).iter_mut().zip(&self.mean) {
                *v += m;
            }
        }
        let error = mean(&self.targets.relative_errors(predicted.as_ref(), self.held));
        if error.is_finite() {
            error
        } else {
            f64::INFINITY
        }
    }
}

/// Compares features, kernels and parameters.
struct Comparison<'a> {
    fine: Vec<Fold<'a>>,
    coarse: Option<Vec<Fold<'a>>>,
    spec: &'a KernelSpec,
    observer: &'a dyn Observer,
    dense: Arc<dyn Dense>,
}

impl Comparison<'_> {
    /// The best of several exponents of the coordinates' relevance.
    fn first_pass(&self) -> Result<Found> {
        let exponents: &[Option<f64>] = match &self.spec.exponent {
            Some(_) => std::slice::from_ref(&self.spec.exponent),
            None => &[Some(0.5), Some(0.75), Some(1.0), None],
        };
        let relevance = self.fine.par_iter();
        let relevance =
            in_order(relevance.map(|fold| Relevance::new(fold.linear, fold.a.as_ref())))?;
        let features = |exponent: &Option<f64>| -> Vec<Features> {
            let folds = self.fine.iter().zip(&relevance);
            let of_fold = |(fold, relevance): (&Fold<'_>, &Relevance)| match exponent {
                Some(p) => relevance.features(fold.a.as_ref(), *p),
                None => Features::isotropic(fold.linear, fold.a.as_ref()),
            };
            folds.map(of_fold).collect()
        };
        let mut all: Vec<Vec<Features>> = exponents.par_iter().map(features).collect();
        let Some(best) = self.best_of(&all, None)? else {
            return Err(Error::Numerical(
                "no kernel matrix was positive definite; give a larger nugget".into(),
            ));
        };
        Ok(Found {
            passes: vec![PassReport {
                settings: best.settings,
                exponent: exponents[best.features],
                error: best.error,
            }],
            features: vec![all.swap_remove(best.features)],
        })
    }

    /// The best of several features and kernels: which features, the parameters and the error.
    fn best_of(
        &self,
        features: &[Vec<Features>],
        start: Option<PassSettings>,
    ) -> Result<Option<Trial>> {
        let kernels: &[KernelFunction] = match &self.spec.kernel {
            Some(k) => std::slice::from_ref(k),
            None => &KERNELS,
        };
        let begin = |features: usize, &kernel: &KernelFunction| Start {
            features,
            kernel,
            from: start.filter(|s| s.kernel == kernel),
        };
        // Which features are good hardly depends on the kernel: one of them tells.
        let first = (0..features.len()).map(|f| begin(f, &kernels[0]));
        let Some(best) = self.compare(features, first.collect())? else {
            return Ok(None);
        };
        let others = kernels[1..].iter().map(|k| begin(best.features, k));
        let other = self.compare(features, others.collect())?;
        Ok(other.filter(|o| o.error < best.error).or(Some(best)))
    }

    /// The best of several starts: the coarse samples select them, the fine ones decide.
    fn compare(&self, features: &[Vec<Features>], mut starts: Vec<Start>) -> Result<Option<Trial>> {
        if let Some(coarse) = &self.coarse {
            let descents = starts.par_iter();
            let descents = descents.map(|start| self.descend(features, coarse, *start, WHOLE));
            let mut sorted: Vec<Trial> = in_order(descents)?.into_iter().flatten().collect();
            sorted.sort_by(|a, b| a.error.total_cmp(&b.error));
            let near = sorted.first().map_or(0.0, |best| NEAR * best.error);
            let near = sorted.iter().filter(|s| s.error <= near);
            starts = near.take(FINALISTS).map(Start::at).collect();
        }
        // Neighbouring exponents have similar optima: the others start where the first one ended.
        let Some((first, others)) = starts.split_first() else {
            return Ok(None);
        };
        let descend = |start: &Start| self.descend(features, &self.fine, *start, WHOLE);
        let alone = |s: &Start| s.from.is_some() || s.kernel != first.kernel;
        let (best, others) = match others.iter().all(alone) {
            true => {
                let all = in_order(starts.par_iter().map(descend))?;
                (None, all)
            }
            false => {
                let best = descend(first)?;
                let near = |start: &Start| Start {
                    from: start.from.or_else(|| start.near(best.as_ref())),
                    ..*start
                };
                let others = others.par_iter().map(|start| descend(&near(start)));
                (best, in_order(others)?)
            }
        };
        let found = best.into_iter().chain(others.into_iter().flatten());
        // The first of equals.
        Ok(found.reduce(|best, next| match next.error < best.error {
            true => next,
            false => best,
        }))
    }

    /// Descends on the grid of length and nugget, one step at a time, until no neighbour is better.
    fn descend(
        &self,
        features: &[Vec<Features>],
        folds: &[Fold<'_>],
        start: Start,
        stride: i32,
    ) -> Result<Option<Trial>> {
        let spec = self.spec;
        let mut grid = ErrorGrid::new(self, &features[start.features], folds, start.kernel)?;
        let mut position = start.position();
        let mut error = grid.error_at(position)?;
        // Where nothing factors, a larger nugget will.
        while error.is_infinite() && spec.nugget.is_none() && position.1 < *NUGGETS.end() {
            position.1 += 2;
            error = grid.error_at(position)?;
        }
        let mut steps = Vec::new();
        if spec.nugget.is_none() {
            steps.extend([(0, -1), (0, 1)]);
        }
        if spec.length.is_none() {
            steps.extend([(1, 0), (-1, 0)]);
        }
        if spec.nugget.is_none() && spec.length.is_none() {
            // Length and nugget trade off along this diagonal.
            steps.extend([(1, -2), (-1, 2)]);
        }
        let mut improved = true;
        while improved {
            improved = false;
            for (i, step) in steps.iter().enumerate() {
                let to = |(l, n): &(i32, i32)| (position.0 + stride * l, position.1 + stride * n);
                let next = to(step);
                // If this step does not help, the ones after it are next.
                grid.look_ahead(steps[i..].iter().map(to))?;
                let e = grid.error_at(next)?;
                if e < PROGRESS * error {
                    (position, error, improved) = (next, e, true);
                }
            }
        }
        Ok(error.is_finite().then(|| Trial {
            features: start.features,
            settings: grid.at(position),
            error,
        }))
    }
}

/// Where a descent begins: at settings that were good before, or where minima of the kernel usually are.
#[derive(Clone, Copy)]
struct Start {
    /// Which of the features.
    features: usize,
    kernel: KernelFunction,
    from: Option<PassSettings>,
}

/// Where a descent ended.
#[derive(Clone, Copy)]
struct Trial {
    features: usize,
    settings: PassSettings,
    error: f64,
}

impl Start {
    fn at(trial: &Trial) -> Self {
        Start {
            features: trial.features,
            kernel: trial.settings.kernel,
            from: Some(trial.settings),
        }
    }

    /// The settings of another descent, if it had the same kernel.
    fn near(&self, other: Option<&Trial>) -> Option<PassSettings> {
        let settings = other.map(|o| o.settings);
        settings.filter(|s| s.kernel == self.kernel)
    }

    fn position(&self) -> Position {
        match (self.from, self.kernel) {
            (Some(s), _) => (
                (2.0 * s.length.log2()).round() as i32,
                (2.0 * s.nugget.log10()).round() as i32,
            ),
            // The smoother kernel has its minimum at shorter lengths and larger nuggets.
            (None, KernelFunction::Matern52) => (10, -22),
            (None, KernelFunction::InverseMultiquadric) => (4, -16),
            (None, KernelFunction::Gaussian) => (4, -16),
        }
    }
}

/// Doubled exponents of two for the length and of ten for the nugget.
type Position = (i32, i32);

/// Errors over length and nugget, each computed once.
struct ErrorGrid<'a> {
    comparison: &'a Comparison<'a>,
    kernel: KernelFunction,
    /// Each with its kernel regressions.
    folds: Vec<(&'a Fold<'a>, Box<dyn Sweep + 'a>)>,
    seen: HashMap<Position, f64>,
}

impl<'a> ErrorGrid<'a> {
    fn new(
        comparison: &'a Comparison<'a>,
        features: &[Features],
        folds: &'a [Fold<'a>],
        kernel: KernelFunction,
    ) -> Result<Self> {
        let sweep = |(fold, features): (&'a Fold<'a>, &Features)| {
            let z = features.apply(fold.a.as_ref());
            let held = features.apply(fold.a_held.as_ref());
            let sweep = (comparison.dense).sweep(z.as_ref(), held.as_ref(), fold.c.as_ref())?;
            Ok((fold, sweep))
        };
        let folds = folds.par_iter().zip(features).map(sweep);
        Ok(ErrorGrid {
            comparison,
            kernel,
            folds: in_order(folds)?,
            seen: HashMap::new(),
        })
    }

    fn at(&self, (l, n): Position) -> PassSettings {
        let spec = self.comparison.spec;
        PassSettings {
            kernel: self.kernel,
            length: (spec.length).unwrap_or_else(|| 2f64.powf(f64::from(l) / 2.0)),
            nugget: (spec.nugget).unwrap_or_else(|| 10f64.powf(f64::from(n) / 2.0)),
        }
    }

    /// The held-out error, infinite where a kernel matrix does not factor and beyond the grid.
    fn error_at(&mut self, position: Position) -> Result<f64> {
        if !self.contains(position) {
            return Ok(f64::INFINITY);
        }
        if let Some(&error) = self.seen.get(&position) {
            return Ok(error);
        }
        let error = self.compute(position)?;
        self.seen.insert(position, error);
        Ok(error)
    }

    fn contains(&self, position: Position) -> bool {
        LENGTHS.contains(&position.0) && NUGGETS.contains(&position.1)
    }

    /// Computes the error at the first of these positions, if it is not known, and beside it those at the following
    /// ones, as far as there are threads that would be idle. How many are computed early changes no result.
    fn look_ahead(&mut self, positions: impl Iterator<Item = Position>) -> Result<()> {
        let width = self.comparison.dense.side_by_side();
        let unknown = |p: &Position| self.contains(*p) && !self.seen.contains_key(p);
        let mut positions = positions.peekable();
        if width == 1 || !positions.peek().is_some_and(unknown) {
            return Ok(());
        }
        let ahead: Vec<Position> = positions.filter(unknown).take(width).collect();
        let errors = in_order(ahead.par_iter().map(|&p| self.compute(p)))?;
        self.seen.extend(ahead.into_iter().zip(errors));
        Ok(())
    }

    fn compute(&self, position: Position) -> Result<f64> {
        let pass = self.at(position);
        let errors = in_order(self.folds.par_iter().map(|(fold, sweep)| {
            check_cancelled(self.comparison.observer)?;
            let predicted = sweep.predictions(pass)?;
            Ok(predicted.map_or(f64::INFINITY, |p| fold.error(p)))
        }))?;
        Ok(errors.iter().sum::<f64>() / self.folds.len() as f64)
    }
}
