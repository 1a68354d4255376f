//! Descents on the grid of length and nugget of a kernel, by the error on held-out samples.

use super::kernel::Features;
use super::{KernelFunction, KernelSpec, LinearMap, PassSettings, Split};
use crate::compute::{Dense, Sweep};
use crate::decode::Targets;
use crate::error::in_order;
use crate::metrics::mean;
use crate::observe::{Observer, check_cancelled};
use crate::{Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// A step along the grid must lower the error by this factor: the minimum is flat.
const PROGRESS: f64 = 0.999;

/// Exponents of two and of ten, doubled, between which length and nugget are chosen.
const LENGTHS: std::ops::RangeInclusive<i32> = -8..=18;
const NUGGETS: std::ops::RangeInclusive<i32> = -26..=0;

/// Where the map has few inputs, a second minimum may lie at short lengths: outputs may change much within the range of
/// an input.
const SHORT_LENGTH: f64 = 0.25;
const SHORT_NUGGET: f64 = 1e-3;

/// With more inputs than this all samples are far from each other.
const FEW_INPUTS: usize = 16;

/// Steps along them by factors of two and ten, and by the roots of these.
pub(super) const WHOLE: i32 = 2;
pub(super) const HALF: i32 = 1;

/// Samples, one column each, of which some are held out.
#[derive(Clone, Copy)]
pub struct HeldOut<'a> {
    /// Input coefficients.
    pub coefficients: MatRef<'a, f64>,
    /// The map's targets for them.
    pub targets: &'a Targets,
    /// Which samples are fitted and which are held out.
    pub split: &'a Split,
    /// The linear map of the fitted samples.
    pub linear: &'a LinearMap,
}

/// Samples that are fitted and samples that are held out.
pub(super) struct Fold<'a> {
    pub(super) a: Mat<f64>,
    /// Centred targets.
    pub(super) c: Mat<f64>,
    mean: Vec<f64>,
    a_held: Mat<f64>,
    targets: &'a Targets,
    held: &'a [usize],
    pub(super) linear: &'a LinearMap,
}

impl<'a> Fold<'a> {
    /// At most `samples` of the split, four fitted to one held out.
    pub(super) fn new(held_out: &HeldOut<'a>, samples: usize) -> Self {
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
    pub(super) fn samples(&self) -> (usize, usize) {
        (self.a.ncols(), self.held.len())
    }

    /// The mean error of predicted coordinates of the held-out samples, infinite where they are NaN.
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

/// What descents have in common.
pub(super) struct Descent<'a> {
    /// Given settings stay fixed.
    pub(super) spec: &'a KernelSpec,
    pub(super) observer: &'a dyn Observer,
    pub(super) dense: Arc<dyn Dense>,
}

impl Descent<'_> {
    /// The error where a descent would begin.
    pub(super) fn error_at(
        &self,
        features: &[Vec<Features>],
        folds: &[Fold<'_>],
        start: Start,
    ) -> Result<f64> {
        let features = &features[start.features];
        ErrorGrid::new(self, features, folds, start.kernel)?.error_at(start.position())
    }

    /// Descends on the grid of length and nugget, one step at a time, until no neighbour is better.
    pub(super) fn descend(
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
        // If no kernel matrix factors, a larger nugget helps.
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
pub(super) struct Start {
    /// The index of the features.
    pub(super) features: usize,
    pub(super) kernel: KernelFunction,
    pub(super) from: Option<PassSettings>,
}

/// Where a descent ended.
#[derive(Clone, Copy)]
pub(super) struct Trial {
    pub(super) features: usize,
    pub(super) settings: PassSettings,
    pub(super) error: f64,
}

impl Start {
    /// At a short length, for unweighted features of few inputs.
    pub(super) fn short(
        features: usize,
        kernel: KernelFunction,
        folds: &[Fold<'_>],
    ) -> Option<Self> {
        let few = folds.iter().all(|fold| fold.a.nrows() <= FEW_INPUTS);
        few.then_some(Start {
            features,
            kernel,
            from: Some(PassSettings {
                kernel,
                length: SHORT_LENGTH,
                nugget: SHORT_NUGGET,
            }),
        })
    }

    pub(super) fn at(trial: &Trial) -> Self {
        Start {
            features: trial.features,
            kernel: trial.settings.kernel,
            from: Some(trial.settings),
        }
    }

    /// The settings of another descent, if it had the same kernel.
    pub(super) fn near(&self, other: Option<&Trial>) -> Option<PassSettings> {
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
    descent: &'a Descent<'a>,
    kernel: KernelFunction,
    /// Each fold, with its kernel regressions.
    folds: Vec<(&'a Fold<'a>, Box<dyn Sweep + 'a>)>,
    seen: HashMap<Position, f64>,
}

impl<'a> ErrorGrid<'a> {
    fn new(
        descent: &'a Descent<'a>,
        features: &[Features],
        folds: &'a [Fold<'a>],
        kernel: KernelFunction,
    ) -> Result<Self> {
        let sweep = |(fold, features): (&'a Fold<'a>, &Features)| {
            let z = features.apply(fold.a.as_ref());
            let held = features.apply(fold.a_held.as_ref());
            let sweep = (descent.dense).sweep(z.as_ref(), held.as_ref(), fold.c.as_ref())?;
            Ok((fold, sweep))
        };
        let folds = folds.par_iter().zip(features).map(sweep);
        Ok(ErrorGrid {
            descent,
            kernel,
            folds: in_order(folds)?,
            seen: HashMap::new(),
        })
    }

    fn at(&self, (l, n): Position) -> PassSettings {
        let spec = self.descent.spec;
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

    /// Computes the error at the first of these positions, if unknown, and in parallel those at the following ones, as
    /// far as threads would otherwise idle. How many are computed early does not change the result.
    fn look_ahead(&mut self, positions: impl Iterator<Item = Position>) -> Result<()> {
        let width = self.descent.dense.side_by_side();
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
            check_cancelled(self.descent.observer)?;
            let predicted = sweep.predictions(pass)?;
            Ok(predicted.map_or(f64::INFINITY, |p| fold.error(p)))
        }))?;
        Ok(errors.iter().sum::<f64>() / self.folds.len() as f64)
    }
}
