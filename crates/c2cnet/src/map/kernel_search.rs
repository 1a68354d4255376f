//! The choice of kernel, length, nugget, exponent and number of passes on held-out training samples.

use super::kernel::{Features, KernelSettings, Relevance};
use super::kernel_descent::{Descent, Fold, HALF, HeldOut, Start, Trial, WHOLE};
use super::{KernelFunction, KernelSpec, LinearMap, PassSettings, agop};
use crate::compute;
use crate::decode::Targets;
use crate::error::in_order;
use crate::observe::{Observer, check_cancelled};
use crate::{Error, Result, linalg};
use faer::MatRef;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A choice, with the features it was made in.
#[derive(Debug)]
pub struct KernelChoice {
    /// Features learned on the fitted samples of the first split.
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
    /// The current exponent; `None` for unweighted coefficients.
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

/// The most samples with which parameters are chosen; the final fit uses all.
const SEARCH_SAMPLES: usize = 3000;

/// Samples for a first selection of kernels and exponents before the full comparison, a fifth of
/// them held out. With at most twice as many samples there is only the full comparison.
const COARSE_SAMPLES: usize = 800;

/// Candidates worse than the best by this factor on the coarse samples are dropped, ...
const NEAR: f64 = 1.25;

/// ... and no more than this many are kept.
const FINALISTS: usize = 3;

/// Candidates whose initial errors on the fine samples differ by less than this are tied.
const LEVEL: f64 = 1.1;

/// A search whose error after some passes exceeds that of a rival after as many by this factor is given up.
const BEHIND: f64 = 1.1;

/// How the settings of a kernel map are chosen: by the error on held-out samples, the mean over several splits if
/// there are several.
pub struct KernelSearch<'a> {
    /// Which settings are open and which are given.
    pub spec: &'a KernelSpec,
    /// Seed of the samples that re-weighting draws.
    pub seed: u64,
    /// How a map was chosen that this one has to beat: where it clearly cannot, the search ends early.
    pub rival: Option<&'a KernelReport>,
    /// Asked whether to stop.
    pub observer: &'a dyn Observer,
}

impl KernelSearch<'_> {
    /// Chooses settings by the mean error over `splits`. Features are learned on the fitted samples only, so that the
    /// error is unbiased.
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
            descent: Descent {
                spec,
                observer: self.observer,
                dense: compute::dense(self.observer.device())?,
            },
        };
        let mut found = comparison.first_pass()?;
        self.reweight(&comparison, &mut found)?;
        let chosen = found.best();
        let features = std::slice::from_ref(&found.features[chosen]);
        let mut best = Trial {
            features: 0,
            settings: found.passes[chosen].settings,
            error: found.passes[chosen].error,
        };
        // The last step of the choice is a finer one.
        let (descent, start) = (&comparison.descent, Start::at(&best));
        if !self.is_behind(&found)
            && let Some(finer) = descent.descend(features, &comparison.fine, start, HALF)?
        {
            best = finer;
        }
        found.passes[chosen].settings = best.settings;
        found.passes[chosen].error = best.error;
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

    /// Whether the rival was clearly better after as many passes.
    fn is_behind(&self, found: &Found) -> bool {
        let last = found.passes.len() - 1;
        let same = self.rival.and_then(|rival| rival.passes.get(last));
        same.is_some_and(|rival| found.passes[last].error > BEHIND * rival.error)
    }

    /// Re-weighting passes, for as long as they help.
    fn reweight(&self, comparison: &Comparison<'_>, found: &mut Found) -> Result<()> {
        let mut features = found.features[0].clone();
        for _ in 0..self.spec.passes {
            if self.is_behind(found) {
                break;
            }
            let last = found.passes[found.passes.len() - 1].clone();
            let weighed_by = last.settings;
            let folds = features.par_iter().zip(&comparison.fine);
            features = in_order(folds.map(|(features, fold)| {
                let (a, c) = (fold.a.as_ref(), fold.c.as_ref());
                agop::reweight(
                    features,
                    a,
                    c,
                    weighed_by,
                    (self.seed, &*comparison.descent.dense),
                )
            }))?;
            let only = std::slice::from_ref(&features);
            let same = Start {
                features: 0,
                kernel: weighed_by.kernel,
                from: Some(weighed_by),
            };
            let Some(trial) = comparison.compare(only, vec![same], f64::INFINITY)? else {
                break;
            };
            let trial = comparison.or_other_kernel(only, trial)?;
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
    /// Checks the settings of a plan.
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
    pub(crate) fn learn_features(
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

/// Compares features, kernels and parameters.
struct Comparison<'a> {
    fine: Vec<Fold<'a>>,
    coarse: Option<Vec<Fold<'a>>>,
    descent: Descent<'a>,
}

impl Comparison<'_> {
    /// The best of several exponents of the coordinates' relevance.
    fn first_pass(&self) -> Result<Found> {
        let exponents: &[Option<f64>] = match &self.descent.spec.exponent {
            Some(_) => std::slice::from_ref(&self.descent.spec.exponent),
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
        let unweighted = exponents.iter().position(Option::is_none);
        let Some(best) = self.best_of(&all, unweighted)? else {
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

    /// The best of several features and kernels: which features, the parameters and the error. `unweighted` tells which
    /// of the features come without weights.
    fn best_of(
        &self,
        features: &[Vec<Features>],
        unweighted: Option<usize>,
    ) -> Result<Option<Trial>> {
        // The best features hardly depend on the kernel, so one kernel chooses them.
        let kernel = self.kernels()[0];
        let first = (0..features.len()).map(|features| Start {
            features,
            kernel,
            from: None,
        });
        let mut starts: Vec<Start> = first.collect();
        if self.descent.spec.length.is_none() {
            starts.extend(unweighted.and_then(|i| Start::short(i, kernel, &self.fine)));
        }
        match self.compare(features, starts, f64::INFINITY)? {
            Some(best) => Ok(Some(self.or_other_kernel(features, best)?)),
            None => Ok(None),
        }
    }

    /// `trial`, or the best of the other kernels on its features if its error is lower.
    fn or_other_kernel(&self, features: &[Vec<Features>], trial: Trial) -> Result<Trial> {
        let others = self.kernels().iter();
        let others = others.filter(|&&kernel| kernel != trial.settings.kernel);
        let others = others.map(|&kernel| Start {
            features: trial.features,
            kernel,
            // Where the minimum lies at a short length, it does so for every kernel.
            from: (trial.settings.length < 1.0).then_some(PassSettings {
                kernel,
                ..trial.settings
            }),
        });
        let best = self.compare(features, others.collect(), trial.error)?;
        Ok(best
            .filter(|other| other.error < trial.error)
            .unwrap_or(trial))
    }

    fn kernels(&self) -> &[KernelFunction] {
        match &self.descent.spec.kernel {
            Some(given) => std::slice::from_ref(given),
            None => &KERNELS,
        }
    }

    /// The best of several starts. Descents on coarse samples bring them near their optima, and those far behind are
    /// dropped; those with the lowest error on the fine samples continue there, unless they are far from `least`.
    fn compare(
        &self,
        features: &[Vec<Features>],
        mut starts: Vec<Start>,
        least: f64,
    ) -> Result<Option<Trial>> {
        if let (Some(coarse), true) = (&self.coarse, starts.iter().any(|s| s.from.is_none())) {
            let descents = starts.par_iter();
            let descents =
                descents.map(|start| self.descent.descend(features, coarse, *start, WHOLE));
            let mut sorted: Vec<Trial> = in_order(descents)?.into_iter().flatten().collect();
            sorted.sort_by(|a, b| a.error.total_cmp(&b.error));
            let near = sorted.first().map_or(0.0, |best| NEAR * best.error);
            let near = sorted.iter().filter(|s| s.error <= near);
            let near: Vec<Start> = near.take(FINALISTS).map(Start::at).collect();
            let errors = near.par_iter();
            let errors =
                in_order(errors.map(|start| self.descent.error_at(features, &self.fine, *start)))?;
            let best = errors.iter().copied().fold(NEAR * least, f64::min);
            let pairs = near.into_iter().zip(errors);
            let close = pairs.filter(|(_, error)| *error <= LEVEL * best);
            starts = close.map(|(start, _)| start).collect();
        }
        // Neighbouring exponents have similar optima: the others start where the first one ended.
        let Some((first, others)) = starts.split_first() else {
            return Ok(None);
        };
        let descend = |start: &Start| self.descent.descend(features, &self.fine, *start, WHOLE);
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
}
