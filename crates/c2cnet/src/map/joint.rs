//! Closed-form maps fitted to the readings of all samples at once.
//!
//! If each sample has its own points, sample $k$ only gives $R_kc_k \approx t_k$ ([`SampleTarget`]). A map that is
//! linear in features $v_k$ (orthonormal over the samples: principal axes of the inputs, eigenvectors of a kernel
//! matrix), $\hat c_k = Wv_k$, minimises
//! $$ \sum_k\|R_kWv_k - t_k\|^2 + \sum_j \rho_j\|w_j\|^2. $$
//! $R_k^\top R_k$ is the identity on average, so the normal equations are $W(1 + \rho)$ up to random fluctuations:
//! conjugate gradients with that preconditioner need few steps. A step is two products with all features and one small
//! product for each sample, and has the same bits on any number of threads.

use super::kernel::KernelMap;
use super::linear::GIVE_UP_RATIO;
use super::{CoefficientMap, HeldOut, KernelChoice, LinearMap, Mirrors, PassSettings};
use crate::compute::{squared_distances_within, to_kernel_within};
use crate::decode::{SampleTarget, Targets};
use crate::metrics::mean;
use crate::{Error, Result, linalg};
use faer::prelude::ReborrowMut;
use faer::{Mat, MatRef};
use std::borrow::Cow;

/// The accuracy of a fit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Strengths of the ridge are tried in powers of ten, this many at a time.
    decades: i32,
    /// Steps end when the residual is below this fraction of the first one.
    tolerance: f64,
    /// The most steps.
    steps: usize,
}

impl Effort {
    /// For the map of a model.
    pub(crate) const FULL: Effort = Effort {
        decades: 2,
        tolerance: 1e-10,
        steps: 200,
    };

    /// To compare bases.
    pub(crate) const COMPARE: Effort = Effort {
        decades: 2,
        tolerance: 1e-5,
        steps: 40,
    };
}

/// The weakest ridge that is tried, as a power of ten times the largest squared singular value of the inputs.
const WEAKEST: i32 = -24;

/// Singular values of inputs below this fraction of the largest are rounding.
const RANK: f64 = 1e-14;

/// Weaker strengths are not tried once this many in a row have failed to lower the error by this factor.
const PATIENCE: usize = 2;
const PROGRESS: f64 = 0.99;

/// One in five samples is held out to choose the strength.
const JUDGES: usize = 5;

/// With at most this many samples, each is held out in turn.
const FEW_SAMPLES: usize = 200;

/// Kernel maps are fitted to readings with at most this many samples: eigenvectors of a larger kernel matrix take too long.
/// With more, they are fitted to completed coordinates.
const KERNEL_SAMPLES: usize = 2000;

/// Powers of ten by which the nugget for completed coordinates is varied to find the one for readings.
const NUGGETS: std::ops::RangeInclusive<i32> = -4..=2;

/// The least-squares problem.
struct Problem<'a> {
    readings: Vec<&'a SampleTarget>,
    /// One row per sample.
    features: Mat<f64>,
}

impl Problem<'_> {
    /// $\sum_k R_k^\top t_kv_k^\top$.
    fn right_side(&self) -> Mat<f64> {
        let rank = self.readings[0].factor.ncols();
        let mut back = Mat::zeros(rank, self.readings.len());
        linalg::par_column_chunks(back.as_mut(), CHUNK, |start, mut chunk| {
            for k in 0..chunk.ncols() {
                let sample = self.readings[start + k];
                let target =
                    MatRef::from_column_major_slice(&sample.target, sample.target.len(), 1);
                let moved = linalg::mul_seq(sample.factor.transpose(), target);
                chunk.rb_mut().col_mut(k).copy_from(moved.col(0));
            }
        });
        linalg::mul(back.as_ref(), self.features.as_ref())
    }

    /// $\sum_k R_k^\top R_kWv_kv_k^\top + W\mathrm{diag}(\rho)$.
    fn normal(&self, w: &Mat<f64>, ridge: &[f64]) -> Mat<f64> {
        let mut predicted = linalg::mul(w.as_ref(), self.features.transpose());
        linalg::par_column_chunks(predicted.as_mut(), CHUNK, |start, mut chunk| {
            for k in 0..chunk.ncols() {
                let factor = (*self.readings[start + k].factor).as_ref();
                let at = linalg::mul_seq(factor, chunk.as_ref().subcols(k, 1));
                let moved = linalg::mul_seq(factor.transpose(), at.as_ref());
                chunk.rb_mut().col_mut(k).copy_from(moved.col(0));
            }
        });
        let mut out = linalg::mul(predicted.as_ref(), self.features.as_ref());
        for (j, ridge) in ridge.iter().enumerate() {
            let pairs = out.col_mut(j).iter_mut().zip(w.col(j).iter());
            pairs.for_each(|(o, w)| *o += ridge * w);
        }
        out
    }

    /// Minimises by conjugate gradients from `w`.
    fn solve(&self, right: &Mat<f64>, ridge: &[f64], mut w: Mat<f64>, effort: Effort) -> Mat<f64> {
        let precondition =
            |r: &Mat<f64>| Mat::from_fn(r.nrows(), r.ncols(), |i, j| r[(i, j)] / (1.0 + ridge[j]));
        let mut residual = right - self.normal(&w, ridge);
        let mut scaled = precondition(&residual);
        let mut direction = scaled.clone();
        let mut size = dot(&residual, &scaled);
        let enough = effort.tolerance.powi(2) * dot(right, &precondition(right));
        for _ in 0..effort.steps {
            if size <= enough || size <= 0.0 {
                break;
            }
            let image = self.normal(&direction, ridge);
            let curvature = dot(&direction, &image);
            if curvature <= 0.0 {
                break;
            }
            let step = size / curvature;
            add_multiple(&mut w, &direction, step);
            add_multiple(&mut residual, &image, -step);
            scaled = precondition(&residual);
            let before = std::mem::replace(&mut size, dot(&residual, &scaled));
            direction *= faer::Scale(size / before);
            direction += &scaled;
        }
        w
    }
}

/// Samples processed together.
const CHUNK: usize = 64;

fn dot(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    let column = |j: usize| {
        a.col(j)
            .iter()
            .zip(b.col(j).iter())
            .map(|(a, b)| a * b)
            .sum::<f64>()
    };
    (0..a.ncols()).map(column).sum()
}

fn add_multiple(a: &mut Mat<f64>, b: &Mat<f64>, factor: f64) {
    faer::zip!(a, b).for_each(|faer::unzip!(a, b)| *a += factor * *b);
}

/// The linear map in the principal axes of the inputs, and a constant.
struct Axes<'a> {
    readings: &'a [SampleTarget],
    /// One row per sample; the last column is constant.
    features: Mat<f64>,
    singular_values: Vec<f64>,
}

impl Axes<'_> {
    /// $\rho_j = \tau/s_j^2$ with $\tau = 10^p s_1^2$; the constant is free.
    fn ridge(&self, power: i32) -> Vec<f64> {
        let s = &self.singular_values;
        let weigh = |s_j: &f64| 10f64.powi(power) * (s[0] / s_j).powi(2);
        s.iter().map(weigh).chain([0.0]).collect()
    }

    fn problem(&self, samples: &[usize]) -> Problem<'_> {
        Problem {
            readings: samples.iter().map(|&k| &self.readings[k]).collect(),
            features: linalg::select_rows(self.features.as_ref(), samples),
        }
    }

    fn zero(&self) -> Mat<f64> {
        Mat::zeros(self.readings[0].factor.ncols(), self.features.ncols())
    }

    /// The relative error of left-out samples, over all readings together, for each strength, strongest first.
    fn held_out_errors(&self, fold: usize, effort: Effort) -> Vec<f64> {
        let held = |k: &usize| k % JUDGES == fold;
        let (judges, fitted): (Vec<_>, Vec<_>) = (0..self.readings.len()).partition(held);
        let problem = self.problem(&fitted);
        let right = problem.right_side();
        let norm: f64 = judges.iter().map(|&k| self.readings[k].norm_squared).sum();
        let mut w = self.zero();
        let (mut errors, mut least) = (Vec::new(), f64::INFINITY);
        let mut idle = 0;
        for power in powers(effort) {
            w = problem.solve(&right, &self.ridge(power), w, effort);
            let features = linalg::select_rows(self.features.as_ref(), &judges);
            let predicted = linalg::mul(w.as_ref(), features.transpose());
            let off = judges.iter().enumerate();
            let off = off.map(|(c, &k)| self.readings[k].error_squared(predicted.as_ref(), c));
            let error = (off.sum::<f64>() / norm).sqrt();
            if !error.is_finite() {
                break;
            }
            errors.push(error);
            idle = if error < PROGRESS * least {
                0
            } else {
                idle + 1
            };
            least = least.min(error);
            if error > GIVE_UP_RATIO * least || idle > PATIENCE {
                break;
            }
        }
        errors
    }

    /// The strength with the smallest error, as a power of ten, and that error.
    fn choose(&self, effort: Effort) -> (i32, f64) {
        let samples = self.readings.len();
        let folds = match samples {
            0..JUDGES => 0,
            JUDGES..=FEW_SAMPLES => JUDGES,
            _ => 1,
        };
        let errors: Vec<Vec<f64>> = (0..folds)
            .map(|f| self.held_out_errors(f, effort))
            .collect();
        let of = |i: usize| {
            let each = errors
                .iter()
                .map(|e| e.get(i).copied().unwrap_or(f64::INFINITY));
            mean(&each.collect::<Vec<_>>())
        };
        let all = powers(effort).enumerate().map(|(i, power)| (power, of(i)));
        all.filter(|(_, error)| error.is_finite())
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((-8, f64::INFINITY))
    }
}

fn powers(effort: Effort) -> impl Iterator<Item = i32> {
    (WEAKEST..=0).rev().step_by(effort.decades as usize)
}

/// Fits the linear map to the readings of all samples; held-out samples choose its strength.
///
/// # Errors
/// If the SVD of the inputs does not converge.
pub(crate) fn fit_linear(
    coefficients: MatRef<'_, f64>,
    readings: &[SampleTarget],
    mirrors: Mirrors,
    effort: Effort,
) -> Result<LinearMap> {
    let samples = coefficients.ncols();
    let input_mean = linalg::column_mean(coefficients);
    let mut a = coefficients.to_owned();
    linalg::subtract_from_columns(&mut a, &input_mean);
    let svd = mirrors.svd(a.as_ref())?;
    let largest = svd.s.first().copied().unwrap_or(0.0);
    let kept = svd.s.iter().take_while(|&&s| s > RANK * largest && s > 0.0);
    let rank = kept.count();
    let constant = 1.0 / (samples as f64).sqrt();
    let axes = Axes {
        readings,
        features: Mat::from_fn(samples, rank + 1, |k, j| match j < rank {
            true => svd.v[(k, j)],
            false => constant,
        }),
        singular_values: svd.s[..rank].to_vec(),
    };
    let (power, error) = axes.choose(effort);
    let all: Vec<usize> = (0..samples).collect();
    let problem = axes.problem(&all);
    let w = problem.solve(
        &problem.right_side(),
        &axes.ridge(power),
        axes.zero(),
        effort,
    );
    let output_mean = w.col(rank).iter().map(|v| v * constant).collect();
    let mut scaled = w.as_ref().subcols(0, rank).to_owned();
    for (j, s) in axes.singular_values.iter().enumerate() {
        scaled.col_mut(j).iter_mut().for_each(|v| *v /= s);
    }
    let weights = linalg::mul(scaled.as_ref(), svd.u.as_ref().subcols(0, rank).transpose());
    let means = (input_mean, output_mean);
    Ok(LinearMap::of_sums(weights, means, 10f64.powi(power), error).with_mirrors(mirrors))
}

/// Targets for maps that need coordinates: those of samples with their own points are completed by the `linear` map
/// and its residuals at the readings of the samples `among` which it was fitted.
///
/// # Errors
/// If the covariance of the residuals is not positive definite to rounding.
pub(crate) fn completed<'a>(
    targets: &'a Targets,
    coefficients: MatRef<'_, f64>,
    linear: &LinearMap,
    among: &[usize],
) -> Result<Cow<'a, Targets>> {
    match targets.readings {
        None => Ok(Cow::Borrowed(targets)),
        Some(_) => targets.completed(linear.predict(coefficients).as_ref(), among),
    }
}

/// The same for a kernel map of at most `centres` centres, without readings if it is not fitted to them. That depends
/// on the number of all samples, so that the judged maps are fitted like the final one.
///
/// # Errors
/// As [`completed`].
pub(crate) fn completed_for_kernel<'a>(
    targets: &'a Targets,
    coefficients: MatRef<'_, f64>,
    linear: &LinearMap,
    among: &[usize],
    centres: usize,
) -> Result<Cow<'a, Targets>> {
    let mut all = completed(targets, coefficients, linear, among)?;
    if targets.readings.is_some() && !fits_kernel(targets, centres) {
        all.to_mut().readings = None;
    }
    Ok(all)
}

/// The eigendecomposition of a kernel matrix.
struct KernelAxes {
    values: Vec<f64>,
    /// One row per sample.
    vectors: Mat<f64>,
}

impl KernelAxes {
    fn new(z: MatRef<'_, f64>, pass: PassSettings) -> Result<Self> {
        let mut k = squared_distances_within(z);
        to_kernel_within(&mut k, pass.kernel, pass.length);
        let (values, vectors) = linalg::symmetric_eigen(k.as_ref())?;
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..values.len())
            .rev()
            .take_while(|&i| values[i] > f64::EPSILON * largest)
            .collect();
        Ok(KernelAxes {
            values: kept.iter().map(|&i| values[i]).collect(),
            vectors: linalg::select_columns(vectors.as_ref(), &kept),
        })
    }

    /// The weights of the centres, outputs by centres, of the map with this nugget.
    fn weights(&self, readings: &[SampleTarget], nugget: f64) -> Mat<f64> {
        let problem = Problem {
            readings: readings.iter().collect(),
            features: self.vectors.clone(),
        };
        let ridge: Vec<f64> = self.values.iter().map(|v| nugget / v).collect();
        let right = problem.right_side();
        let zero = Mat::zeros(right.nrows(), right.ncols());
        let mut w = problem.solve(&right, &ridge, zero, KERNEL_EFFORT);
        for (j, v) in self.values.iter().enumerate() {
            w.col_mut(j).iter_mut().for_each(|w| *w /= v);
        }
        linalg::mul(w.as_ref(), self.vectors.transpose())
    }
}

const KERNEL_EFFORT: Effort = Effort {
    decades: 1,
    tolerance: 1e-7,
    steps: 150,
};

/// Whether a kernel map of this many samples is fitted to their readings.
pub(super) fn fits_kernel(targets: &Targets, centres: usize) -> bool {
    targets.readings.is_some() && targets.coordinates.ncols() <= centres.min(KERNEL_SAMPLES)
}

/// The weights of a kernel map with the features `z` as centres, fitted to the residuals of `mean` at the readings.
///
/// # Errors
/// If the eigenvalues of the kernel matrix do not converge.
pub(super) fn kernel_weights(
    z: MatRef<'_, f64>,
    targets: &Targets,
    mean: &[f64],
    pass: PassSettings,
) -> Result<Mat<f64>> {
    let readings = without(targets, mean)?;
    Ok(KernelAxes::new(z, pass)?.weights(&readings, pass.nugget))
}

/// The readings minus those of the `mean` coordinates.
fn without(targets: &Targets, mean: &[f64]) -> Result<Vec<SampleTarget>> {
    let readings = targets.readings.as_ref();
    let readings = readings.ok_or_else(|| Error::Data("the targets have no readings".into()))?;
    let mean = MatRef::from_column_major_slice(mean, mean.len(), 1);
    let shifted = readings.iter().map(|sample| SampleTarget {
        target: sample.residual(mean, 0),
        ..sample.clone()
    });
    Ok(shifted.collect())
}

/// Chooses the nugget again for a kernel map fitted to readings, on the held-out samples that chose the rest.
///
/// # Errors
/// As [`kernel_weights`].
pub(crate) fn refine_kernel(choice: &mut KernelChoice, split: &HeldOut<'_>) -> Result<()> {
    let Some(&pass) = choice.settings.passes.last() else {
        return Ok(());
    };
    if !fits_kernel(split.targets, choice.settings.max_centres) {
        return Ok(());
    }
    let train = &split.split.train;
    let targets = split.targets.select(train);
    let z = linalg::select_columns(split.coefficients, train);
    let z = choice.features.apply(z.as_ref());
    let axes = KernelAxes::new(z.as_ref(), pass)?;
    let output_mean = linalg::column_mean(targets.coordinates.as_ref());
    let readings = without(&targets, &output_mean)?;
    let held = &split.split.validation;
    let coefficients = linalg::select_columns(split.coefficients, held);
    let mut best: Option<(f64, f64)> = None;
    for power in NUGGETS {
        let nugget = pass.nugget * 10f64.powi(power);
        let map = KernelMap {
            features: choice.features.clone(),
            centres: z.clone(),
            weights: axes.weights(&readings, nugget),
            output_mean: output_mean.clone(),
            settings: choice.settings.clone(),
        };
        let predicted = map.predict(coefficients.as_ref());
        let error = mean(&split.targets.relative_errors(predicted.as_ref(), held));
        if best.is_none_or(|b| error < b.0) {
            best = Some((error, nugget));
        }
    }
    if let (Some((error, nugget)), Some(last)) = (best, choice.settings.passes.last_mut()) {
        last.nugget = nugget;
        choice.report.error = error;
    }
    Ok(())
}
