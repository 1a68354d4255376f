//! Relevance-weighted kernel regression in closed form.
//!
//! 1. Fit the linear map; $z = V^\top W_\delta(a - \bar a)$, where $W_\delta$ is the linear map with a
//!    small multiple of the identity stacked below it and $V$ are the principal axes of its training
//!    predictions: input directions weighted by their effect on the output, none dropped.
//! 2. Rescale each $z_i$ by $\mathrm{std}(z_i)^{p-1}$ and all by one factor, so that the mean
//!    training norm is 1.
//! 3. Kernel ridge regression from $z$ to the centred coordinates, $\alpha = (K+\nu I)^{-1}C^\top$.
//! 4. Optionally re-weight $z$ by the mean outer product of the fitted gradients
//!    ([`super::agop`]) and go back to 3.

use super::nystrom::JITTER;
use super::{CoefficientMap, Landmarks, LinearMap, Mirrors, joint};
use crate::cite::{self, Reference};
use crate::compute::{
    self, PassSettings, squared_distances, squared_distances_within, to_kernel, to_kernel_within,
};
use crate::decode::Targets;
use crate::observe::{Observer, check_cancelled};
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Everything that determines a kernel map given the training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSettings {
    /// The exponent $p$ of step 2; `None` for unweighted coefficients, with one length for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// One kernel regression each; all but the last only re-weight.
    pub passes: Vec<PassSettings>,
    /// The number of centres if there are more training samples (Nystrom).
    #[serde(alias = "max_centers")]
    pub max_centres: usize,
}

impl KernelSettings {
    /// What to cite for this map.
    pub(crate) fn references(&self) -> Vec<Reference> {
        let mut references = vec![cite::KERNEL_OPERATORS];
        if self.passes.len() > 1 {
            references.push(cite::KERNEL_FEATURES);
        }
        references
    }
}

/// A fitted kernel map.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct KernelMap {
    pub(super) features: Features,
    /// Features of the centres, one column each.
    #[serde(with = "tensor")]
    pub(super) centres: Mat<f64>,
    /// $\alpha$, outputs by centres.
    #[serde(with = "tensor")]
    pub(super) weights: Mat<f64>,
    #[serde(with = "tensor")]
    pub(super) output_mean: Vec<f64>,
    pub(crate) settings: KernelSettings,
}

restore_settled!(KernelMap);

/// Input coordinates weighted by their effect on the output, $z = L(a - \bar a)$.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Features {
    #[serde(with = "tensor")]
    transform: Mat<f64>,
    #[serde(with = "tensor")]
    input_mean: Vec<f64>,
    /// How reflections act on each feature, if the training samples come with their images.
    #[serde(skip)]
    pub(super) mirrors: Mirrors,
}

/// The smallest weight of an input direction, as a fraction of the largest. The linear map of a
/// nonlinear operator is a noisy guide, and a direction that it drops could never return. So all
/// keep at least this weight, and the re-weighting decides. On 1D Darcy this lowers the
/// validation error by a quarter (0 to 1e-2 were tried, 1e-4 to 1e-2 give similar errors).
const WEIGHT_FLOOR: f64 = 1e-3;

/// A nugget that was large enough for the samples that chose it may be too small for all samples; it is then raised tenfold,
/// at most this many times.
pub(super) const RAISES: i32 = 6;

/// The principal axes of step 1, which determine the features for any exponent.
pub(super) struct Relevance {
    /// One row per axis: $V^\top W_\delta$.
    axes: Mat<f64>,
    /// How much the training predictions vary along each, relative to the first.
    deviations: Vec<f64>,
    input_mean: Vec<f64>,
    mirrors: Mirrors,
}

impl Relevance {
    /// Step 1, for the inputs of each parity on their own: reflections do not mix them.
    pub(super) fn new(linear: &LinearMap, coefficients: MatRef<'_, f64>) -> Result<Self> {
        let mut a = coefficients.to_owned();
        linalg::subtract_from_columns(&mut a, &linear.input_mean);
        let classes = linear.mirrors.classes();
        let parts = classes
            .iter()
            .map(|(_, members)| Effects::new(linear, a.as_ref(), members))
            .collect::<Result<Vec<_>>>()?;
        let largest = |of: fn(&Effects) -> f64| parts.iter().map(of).fold(0.0, f64::max);
        let (spread, effect) = (largest(|p| p.spread), largest(|p| p.effect));
        // Predictions that vary by no more than the rounding of their mean are constant.
        let mean: f64 = linear.output_mean.iter().map(|v| v * v).sum();
        let rounding = 1e-13 * (mean * coefficients.ncols() as f64).sqrt();
        if effect <= rounding || spread == 0.0 {
            return Err(Error::Numerical(
                "the linear map predicts the same output for every input; a kernel map has nothing to weight \
                 (are the outputs constant, or do inputs and outputs belong together?)"
                    .into(),
            ));
        }
        let floor = WEIGHT_FLOOR * effect / spread;
        let mut found: Vec<(f64, usize, Vec<f64>)> = Vec::new();
        for (part, (parity, members)) in parts.iter().zip(&classes) {
            let (r, m) = part.weights.shape();
            let stacked = Mat::from_fn(r + m, m, |i, j| match i {
                i if i < r => part.weights[(i, j)],
                i if i - r == j => floor,
                _ => 0.0,
            });
            let svd = linalg::left_svd(linalg::mul(stacked.as_ref(), part.axes.as_ref()).as_ref())?;
            let rows = linalg::mul(svd.u.transpose(), stacked.as_ref());
            for (i, s) in svd.s.iter().enumerate() {
                let mut axis = vec![0.0; linear.input_mean.len()];
                for (j, &member) in members.iter().enumerate() {
                    axis[member] = rows[(i, j)];
                }
                found.push((*s, *parity, axis));
            }
        }
        found.sort_by(|x, y| y.0.total_cmp(&x.0));
        let first = found[0].0;
        found.truncate(found.iter().take_while(|f| f.0 > 1e-10 * first).count());
        Ok(Relevance {
            axes: Mat::from_fn(found.len(), linear.input_mean.len(), |i, j| found[i].2[j]),
            deviations: found.iter().map(|f| f.0 / first).collect(),
            input_mean: linear.input_mean.clone(),
            mirrors: Mirrors::new(
                linear.mirrors.reflections(),
                found.iter().map(|f| f.1).collect(),
            ),
        })
    }

    /// Step 2, for training samples with these coefficients.
    pub(super) fn features(&self, coefficients: MatRef<'_, f64>, exponent: f64) -> Features {
        let mut transform = self.axes.clone();
        for (i, deviation) in self.deviations.iter().enumerate() {
            let weight = deviation.powf(exponent - 1.0);
            for j in 0..transform.ncols() {
                transform[(i, j)] *= weight;
            }
        }
        let mut features = Features {
            transform,
            input_mean: self.input_mean.clone(),
            mirrors: self.mirrors.clone(),
        };
        features.normalise(coefficients);
        features
    }
}

/// The effect of some of the inputs on the predictions of a linear map.
struct Effects {
    /// The inputs in few columns, $PS$, with their singular values and axes.
    axes: Mat<f64>,
    /// The columns of the linear map that act on them.
    weights: Mat<f64>,
    /// The largest deviation of the inputs.
    spread: f64,
    /// The largest deviation of the predictions.
    effect: f64,
}

impl Effects {
    fn new(linear: &LinearMap, centred: MatRef<'_, f64>, members: &[usize]) -> Result<Self> {
        let inputs = linalg::left_svd(linalg::select_rows(centred, members).as_ref())?;
        let spread = inputs.s.first().copied().unwrap_or(0.0);
        let kept = inputs.s.iter().take_while(|&&s| s > 1e-14 * spread).count();
        let mut axes = inputs.u.as_ref().subcols(0, kept).to_owned();
        for (j, s) in inputs.s[..kept].iter().enumerate() {
            axes.col_mut(j).iter_mut().for_each(|v| *v *= s);
        }
        let weights = linalg::select_columns(linear.weights.as_ref(), members);
        let effects = linalg::mul(weights.as_ref(), axes.as_ref());
        Ok(Effects {
            effect: linalg::largest_singular_value(effects.as_ref()),
            axes,
            weights,
            spread,
        })
    }
}

impl Features {
    /// Unweighted coefficients, $z = s(a - \bar a)$: a plain kernel regression; in orthonormal coordinates, one on
    /// point values.
    pub(super) fn isotropic(linear: &LinearMap, coefficients: MatRef<'_, f64>) -> Self {
        let m = coefficients.nrows();
        let mut features = Features {
            transform: Mat::identity(m, m),
            input_mean: linear.input_mean.clone(),
            mirrors: linear.mirrors.clone(),
        };
        features.normalise(coefficients);
        features
    }

    /// $z \leftarrow Mz$, then rescaled to mean norm 1; reflections act on the new features as `mirrors` says.
    pub(super) fn reweighted(
        &self,
        m: MatRef<'_, f64>,
        mirrors: Mirrors,
        coefficients: MatRef<'_, f64>,
    ) -> Self {
        let mut features = Features {
            transform: linalg::mul(m, self.transform.as_ref()),
            input_mean: self.input_mean.clone(),
            mirrors,
        };
        features.normalise(coefficients);
        features
    }

    /// The number of reflections that the samples come with.
    pub(crate) fn reflections(&self) -> usize {
        self.mirrors.reflections()
    }

    /// The same features for samples that come without their images.
    pub(crate) fn without_mirrors(mut self) -> Self {
        self.mirrors = Mirrors::none(self.transform.nrows());
        self
    }

    /// Restores what is not stored after reading. Returns whether the parts agree, with `count` features.
    pub(super) fn settle(&mut self, count: usize) -> bool {
        self.mirrors = Mirrors::none(self.transform.nrows());
        self.transform.shape() == (count, self.input_mean.len())
    }

    fn normalise(&mut self, coefficients: MatRef<'_, f64>) {
        let norms = linalg::column_norms_squared(self.apply(coefficients).as_ref());
        let mean = norms.iter().map(|n| n.sqrt()).sum::<f64>() / norms.len() as f64;
        if mean > 0.0 {
            self.transform *= faer::Scale(1.0 / mean);
        }
    }

    pub(super) fn apply(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let mut a = coefficients.to_owned();
        linalg::subtract_from_columns(&mut a, &self.input_mean);
        linalg::mul(self.transform.as_ref(), a.as_ref())
    }
}

impl KernelMap {
    /// Fits the map in given features with given parameters.
    ///
    /// # Errors
    /// If the kernel matrix does not factor (the nugget is too small for the length), the device fails, or the
    /// observer asks to stop.
    pub fn fit(
        coefficients: MatRef<'_, f64>,
        targets: &Targets,
        features: Features,
        settings: KernelSettings,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let dense = compute::dense(observer.device())?;
        let output_mean = linalg::column_mean(targets.coordinates.as_ref());
        let last = settings.passes.last().ok_or_else(no_pass)?;
        let z = features.apply(coefficients);
        if z.ncols() > settings.max_centres {
            let nugget = last.nugget.max(JITTER * z.ncols() as f64);
            let landmarks = Landmarks::choose(features, z.as_ref(), output_mean, settings, seed)?;
            let sums = landmarks.sums(coefficients, targets.coordinates.as_ref());
            return landmarks.solve(&sums, nugget);
        }
        let mut c = targets.coordinates.clone();
        linalg::subtract_from_columns(&mut c, &output_mean);
        let (centres, weights) = if joint::fits_kernel(targets, settings.max_centres) {
            let weights = joint::kernel_weights(z.as_ref(), targets, &output_mean, *last)?;
            (z, weights)
        } else if features.reflections() > 1 {
            let weights = features
                .mirrors
                .solve(dense.as_ref(), z.as_ref(), c.as_ref(), *last)?
                .ok_or_else(|| does_not_factor(*last))?;
            (z, weights)
        } else {
            let attempt = |raise| {
                check_cancelled(observer)?;
                let mut k = squared_distances_within(z.as_ref());
                to_kernel_within(&mut k, last.kernel, last.length);
                dense.solve(k, last.nugget * 10f64.powi(raise), c.transpose())
            };
            let solved = (0..=RAISES).find_map(|raise| attempt(raise).transpose());
            let solution = solved.ok_or_else(|| does_not_factor(*last))??;
            (z, solution.transpose().to_owned())
        };
        Ok(KernelMap {
            features,
            centres,
            weights,
            output_mean,
            settings,
        })
    }

    fn settle(&mut self) -> Result<()> {
        let fits = self.features.settle(self.centres.nrows())
            && self.weights.shape() == (self.output_mean.len(), self.centres.ncols())
            && !self.settings.passes.is_empty();
        match fits {
            true => Ok(()),
            false => Err(Error::Data("the model's kernel map is damaged".into())),
        }
    }

    fn last_pass(&self) -> PassSettings {
        *self.settings.passes.last().expect("at least one pass")
    }
}

fn no_pass() -> Error {
    Error::Config("a kernel map needs at least one pass".into())
}

pub(super) fn does_not_factor(pass: PassSettings) -> Error {
    Error::Numerical(format!(
        "the kernel matrix with length {} and nugget {:e} is not positive definite to rounding; raise the nugget",
        pass.length, pass.nugget
    ))
}

impl CoefficientMap for KernelMap {
    fn kind(&self) -> &'static str {
        "kernel"
    }

    fn predict(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let pass = self.last_pass();
        let mut out = Mat::zeros(self.outputs(), coefficients.ncols());
        // In chunks: the kernel matrix between all samples and all centres is never formed at once.
        let width = 1024;
        for start in (0..coefficients.ncols()).step_by(width) {
            let take = width.min(coefficients.ncols() - start);
            let z = self.features.apply(coefficients.subcols(start, take));
            let mut k = squared_distances(self.centres.as_ref(), z.as_ref());
            to_kernel(&mut k, pass.kernel, pass.length);
            out.as_mut()
                .subcols_mut(start, take)
                .copy_from(linalg::mul(self.weights.as_ref(), k.as_ref()));
        }
        for k in 0..out.ncols() {
            for (v, m) in out.col_mut(k).iter_mut().zip(&self.output_mean) {
                *v += m;
            }
        }
        out
    }

    fn inputs(&self) -> usize {
        self.features.input_mean.len()
    }

    fn outputs(&self) -> usize {
        self.output_mean.len()
    }

    fn parameters(&self) -> usize {
        self.weights.nrows() * self.weights.ncols() + self.output_mean.len()
    }

    fn describe(&self) -> String {
        let pass = self.last_pass();
        let weights = match self.settings.exponent {
            Some(p) => format!("exponent {p}"),
            None => "no weights".to_string(),
        };
        format!(
            "{} kernel, length {:.4}, nugget {:.0e}, {weights}, {} re-weighting pass{}, {} centres in {} features",
            pass.kernel.name(),
            pass.length,
            pass.nugget,
            self.settings.passes.len() - 1,
            if self.settings.passes.len() == 2 {
                ""
            } else {
                "es"
            },
            self.centres.ncols(),
            self.centres.nrows(),
        )
    }
}
