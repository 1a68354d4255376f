//! The choice of kernel, length, nugget, exponent and number of passes on held-out training samples.

use super::kernel::{Features, KernelSettings, PassSettings, Relevance};
use super::kernel_function::{
    KernelFunction, squared_distances, squared_distances_within, to_kernel, to_kernel_within,
};
use super::{KernelSpec, LinearMap, agop};
use crate::decode::Targets;
use crate::metrics::mean;
use crate::observe::{Observer, check_cancelled};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Which training samples are fitted and which are held out, in a seeded order.
#[derive(Debug, Clone)]
pub struct Split {
    /// Those that are fitted.
    pub train: Vec<usize>,
    /// Those that are held out.
    pub validation: Vec<usize>,
}

/// A choice, with the features it was made in.
#[derive(Debug)]
pub struct KernelChoice {
    /// Features learned on the samples that were not held out.
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
    pub validation_rl2e: f64,
    /// The number of samples fitted and held out for the choice.
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
    pub validation_rl2e: f64,
}

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

/// Chooses the settings of a kernel map on the training part of the `split` by the error on the held-out part.
///
/// `linear` is the linear map fitted to the training part. Features are learned on it alone, so that
/// the held-out error is unbiased.
///
/// # Errors
/// If the settings are out of range, nothing factors, or the observer asks to stop.
pub fn search(
    coefficients: MatRef<'_, f64>,
    targets: &Targets,
    linear: &LinearMap,
    split: &Split,
    spec: &KernelSpec,
    seed: u64,
    observer: &dyn Observer,
) -> Result<KernelChoice> {
    spec.check()?;
    let max_centres = spec.centres(coefficients.ncols());
    let fine = Fold::new(coefficients, targets, split, SEARCH_SAMPLES);
    let coarse = (fine.samples().0 > 2 * COARSE_SAMPLES)
        .then(|| Fold::new(coefficients, targets, split, COARSE_SAMPLES));

    let exponents: &[Option<f64>] = match &spec.exponent {
        Some(_) => std::slice::from_ref(&spec.exponent),
        None => &[Some(0.5), Some(0.75), Some(1.0), None],
    };
    let relevance = Relevance::new(linear, fine.a.as_ref())?;
    let mut of_exponent: Vec<Features> = exponents
        .iter()
        .map(|exponent| match exponent {
            Some(p) => relevance.features(fine.a.as_ref(), *p),
            None => Features::isotropic(linear, fine.a.as_ref()),
        })
        .collect();
    let comparison = Comparison {
        fine,
        coarse,
        spec,
        observer,
    };
    let fine = &comparison.fine;
    let Some((best, settings, error)) = comparison.best_of(&of_exponent, None)? else {
        return Err(Error::Numerical(
            "no kernel matrix was positive definite; give a larger nugget".into(),
        ));
    };
    let exponent = exponents[best];
    let mut features = of_exponent.swap_remove(best);
    let mut passes = vec![PassReport {
        settings,
        exponent,
        validation_rl2e: error,
    }];
    let mut chosen = (0, features.clone());
    for _ in 0..spec.passes {
        let last = passes.last().expect("pass 0 exists").settings;
        features = agop::reweight(&features, fine.a.as_ref(), fine.c.as_ref(), last, seed)?;
        let only = std::slice::from_ref(&features);
        let Some((_, settings, error)) = comparison.best_of(only, Some(last))? else {
            break;
        };
        passes.push(PassReport {
            settings,
            exponent,
            validation_rl2e: error,
        });
        if error < passes[chosen.0].validation_rl2e {
            chosen = (passes.len() - 1, features.clone());
        }
        // A pass that does not help is rarely followed by one that does.
        if error >= passes[passes.len() - 2].validation_rl2e {
            break;
        }
    }
    let (chosen, features) = chosen;
    // The last step of the choice is a finer one.
    let start = passes[chosen].settings;
    let finer = comparison.descend(&features, fine, start.kernel, Some(start), HALF)?;
    if let Some((settings, error)) = finer {
        passes[chosen].settings = settings;
        passes[chosen].validation_rl2e = error;
    }
    Ok(KernelChoice {
        features,
        settings: KernelSettings {
            exponent,
            passes: passes[..=chosen].iter().map(|p| p.settings).collect(),
            max_centres,
        },
        report: KernelReport {
            validation_rl2e: passes[chosen].validation_rl2e,
            samples: fine.samples(),
            passes,
        },
    })
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
        let reweighting = self.passes.len().saturating_sub(1);
        let mut features = match self.exponent {
            Some(p) => Relevance::new(linear, coefficients)?.features(coefficients, p),
            None => Features::isotropic(linear, coefficients),
        };
        for pass in &self.passes[..reweighting] {
            check_cancelled(observer)?;
            features = agop::reweight(&features, coefficients, c.as_ref(), *pass, seed)?;
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
}

impl<'a> Fold<'a> {
    /// At most `samples` of the split, four to one.
    fn new(
        coefficients: MatRef<'_, f64>,
        targets: &'a Targets,
        split: &'a Split,
        samples: usize,
    ) -> Self {
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
        }
    }

    /// The number of samples fitted and held out.
    fn samples(&self) -> (usize, usize) {
        (self.a.ncols(), self.held.len())
    }

    /// The error on the held-out samples, `None` if the kernel matrix does not factor.
    fn held_out_error(&self, k: &Mat<f64>, k_held: &Mat<f64>, nugget: f64) -> Option<f64> {
        // (K + nu I)^{-1} applied to whichever has fewer columns: targets or held-out samples.
        let mut predicted = if self.c.nrows() < k_held.ncols() {
            let alpha = super::kernel::solve(k.clone(), nugget, self.c.transpose())?;
            linalg::mul(alpha.transpose(), k_held.as_ref())
        } else {
            let weights = super::kernel::solve(k.clone(), nugget, k_held.as_ref())?;
            linalg::mul(self.c.as_ref(), weights.as_ref())
        };
        for column in 0..predicted.ncols() {
            for (v, m) in predicted.col_mut(column).iter_mut().zip(&self.mean) {
                *v += m;
            }
        }
        let errors = self.targets.relative_errors(predicted.as_ref(), self.held);
        Some(mean(&errors)).filter(|e| e.is_finite())
    }
}

/// Compares features, kernels and parameters.
struct Comparison<'a> {
    fine: Fold<'a>,
    coarse: Option<Fold<'a>>,
    spec: &'a KernelSpec,
    observer: &'a dyn Observer,
}

impl Comparison<'_> {
    /// The best of several features and kernels: which features, the parameters and the error.
    ///
    /// The coarse samples select candidates and starting parameters; the fine ones decide.
    fn best_of(
        &self,
        features: &[Features],
        start: Option<PassSettings>,
    ) -> Result<Option<(usize, PassSettings, f64)>> {
        let kernels: &[KernelFunction] = match &self.spec.kernel {
            Some(k) => std::slice::from_ref(k),
            None => &[KernelFunction::Matern52, KernelFunction::Gaussian],
        };
        let mut starts: Vec<(usize, KernelFunction, Option<PassSettings>)> = (0..features.len())
            .flat_map(|f| kernels.iter().map(move |&k| (f, k)))
            .map(|(f, k)| (f, k, start.filter(|s| s.kernel == k)))
            .collect();
        if let Some(coarse) = &self.coarse {
            let mut sorted: Vec<(usize, PassSettings, f64)> = Vec::new();
            for (f, kernel, start) in starts {
                let found = self.descend(&features[f], coarse, kernel, start, WHOLE)?;
                sorted.extend(found.map(|(settings, error)| (f, settings, error)));
            }
            sorted.sort_by(|a, b| a.2.total_cmp(&b.2));
            let near = sorted.first().map_or(0.0, |best| NEAR * best.2);
            starts = sorted
                .into_iter()
                .filter(|s| s.2 <= near)
                .take(FINALISTS)
                .map(|(f, settings, _)| (f, settings.kernel, Some(settings)))
                .collect();
        }
        let mut best: Option<(usize, PassSettings, f64)> = None;
        for (f, kernel, start) in starts {
            // Neighbouring exponents have similar optima: the next starts where the best one ended.
            let start = start.or(best.map(|b| b.1).filter(|s| s.kernel == kernel));
            if let Some((settings, error)) =
                self.descend(&features[f], &self.fine, kernel, start, WHOLE)?
                && best.is_none_or(|b| error < b.2)
            {
                best = Some((f, settings, error));
            }
        }
        Ok(best)
    }

    /// Descends on the grid of length and nugget from `start`, one step at a time, until no
    /// neighbour is better.
    fn descend(
        &self,
        features: &Features,
        fold: &Fold<'_>,
        kernel: KernelFunction,
        start: Option<PassSettings>,
        stride: i32,
    ) -> Result<Option<(PassSettings, f64)>> {
        let spec = self.spec;
        let z = features.apply(fold.a.as_ref());
        let z_held = features.apply(fold.a_held.as_ref());
        let within = squared_distances_within(z.as_ref());
        let across = squared_distances(z.as_ref(), z_held.as_ref());
        let mut seen: HashMap<(i32, i32), f64> = HashMap::new();
        // Steps along the nugget reuse the kernel matrices of the length.
        let mut matrices: Option<(i32, Mat<f64>, Mat<f64>)> = None;
        let at = |(l, n): (i32, i32)| PassSettings {
            kernel,
            length: (spec.length).unwrap_or_else(|| 2f64.powf(f64::from(l) / 2.0)),
            nugget: (spec.nugget).unwrap_or_else(|| 10f64.powf(f64::from(n) / 2.0)),
        };
        let mut error_at = |position: (i32, i32)| -> Result<f64> {
            if !LENGTHS.contains(&position.0) || !NUGGETS.contains(&position.1) {
                return Ok(f64::INFINITY);
            }
            if let Some(&error) = seen.get(&position) {
                return Ok(error);
            }
            check_cancelled(self.observer)?;
            let pass = at(position);
            if matrices.as_ref().is_none_or(|m| m.0 != position.0) {
                let (mut k, mut k_held) = (within.clone(), across.clone());
                to_kernel_within(&mut k, kernel, pass.length);
                to_kernel(&mut k_held, kernel, pass.length);
                matrices = Some((position.0, k, k_held));
            }
            let (_, k, k_held) = matrices.as_ref().expect("made above");
            let error = fold
                .held_out_error(k, k_held, pass.nugget)
                .unwrap_or(f64::INFINITY);
            seen.insert(position, error);
            Ok(error)
        };
        // The smoother kernel has its minimum at shorter lengths and larger nuggets.
        let first = match kernel {
            KernelFunction::Matern52 => (10, -22),
            KernelFunction::Gaussian => (4, -16),
        };
        let mut position = start.map_or(first, |s| {
            (
                (2.0 * s.length.log2()).round() as i32,
                (2.0 * s.nugget.log10()).round() as i32,
            )
        });
        let mut error = error_at(position)?;
        // Where nothing factors, a larger nugget will.
        while error.is_infinite() && spec.nugget.is_none() && position.1 < *NUGGETS.end() {
            position.1 += 2;
            error = error_at(position)?;
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
            for (dl, dn) in &steps {
                let next = (position.0 + stride * dl, position.1 + stride * dn);
                let e = error_at(next)?;
                if e < PROGRESS * error {
                    (position, error, improved) = (next, e, true);
                }
            }
        }
        Ok(error.is_finite().then(|| (at(position), error)))
    }
}
