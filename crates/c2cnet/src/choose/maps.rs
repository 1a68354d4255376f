//! Closed-form maps compared on held-out training samples.

use super::folds::Fold;
use crate::error::{in_order, short};
use crate::fit::{MapTrainingSet, fold_linear};
use crate::map::{HeldOut, KernelChoice, KernelReport, KernelSearch, LinearMap, joint};
use crate::metrics::mean;
use crate::plan::MapPlan;
use crate::report::{Candidate, Choice, ClosedFormKind, Subject};
use crate::settings::{MapConfig, MapKind};
use crate::{Error, Result};
use rayon::prelude::*;

/// The better closed-form map, chosen and judged on the fold.
pub(super) struct ClosedForm {
    /// The kernel map, if it is better than the linear one.
    pub kernel: Option<KernelChoice>,
    /// The linear map without the held-out samples.
    pub linear: LinearMap,
    /// The error of the better map on held-out samples, averaged over the folds.
    pub error: f64,
    /// The same, or the leave-one-out error if that is less and a linear map also needs the held-out samples.
    pub with_all: f64,
    /// Whether the linear map reaches the floor of the output space.
    pub on_floor: bool,
    pub candidates: Vec<Candidate>,
    /// The index of the better one among the candidates.
    pub chosen: usize,
}

/// What closed-form maps are compared for.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// The final choice: kernel maps are fitted to readings, as that of the model is. A kernel map that another one has
    /// clearly beaten need not be settled.
    FinalFit(Option<&'a KernelReport>),
    /// The search for spaces: kernel maps are fitted to completed coordinates, which is faster.
    Search,
}

impl Purpose<'_> {
    fn is_final(self) -> bool {
        matches!(self, Purpose::FinalFit(_))
    }
}

/// A map must beat a simpler one by this factor: a kernel map to be worth its size, a network to be worth training.
pub(super) const WORTHWHILE_RATIO: f64 = 0.98;

/// A linear map with a smaller error cannot be beaten: kernel matrices amplify rounding to about this.
const KERNEL_ROUNDING: f64 = 1e-9;

/// With this many samples per coefficient, the remaining samples determine a linear operator.
const FEW_FOR_COEFFICIENTS: usize = 2;

/// Kernel maps with a smaller error may imitate a linear map.
const IMITATES: f64 = 1e-3;

/// They do where the linear map of all samples has an error smaller than theirs by this factor.
const IMITATED: f64 = 0.1;

/// Compares the closed-form maps that `config` allows, linear and kernel, by their mean errors over `folds`. The maps
/// themselves are those of the first fold. `left_out` computes what [`leave_one_out`] returns.
pub(super) fn compare(
    folds: &[Fold<'_>],
    config: &MapConfig,
    purpose: Purpose<'_>,
    left_out: impl Fn() -> Result<Option<f64>>,
) -> Result<ClosedForm> {
    let context = folds[0].context;
    let linear = folds.par_iter();
    let mut linear = in_order(linear.map(|fold| fold_linear(fold.context, &fold.set)))?;
    let linear_errors = folds.iter().zip(&linear).map(|(f, l)| f.error(l));
    let linear_error = mean(&linear_errors.collect::<Vec<_>>());
    let mut candidates = vec![Candidate::of_map(
        ClosedFormKind::Linear,
        "linear",
        linear_error,
    )];
    // A linear map at the floor, or exact up to rounding, cannot be beaten: the operator is linear.
    let floor = mean(&folds.iter().map(Fold::floor).collect::<Vec<_>>());
    let exact = floor.max(context.rounding).max(KERNEL_ROUNDING);
    let on_floor = linear_error * WORTHWHILE_RATIO <= exact;
    let wants_kernel = match config.kind {
        // If the settings ask for a network, the linear map alone decides about transforms.
        MapKind::Linear | MapKind::Mlp | MapKind::Layered => false,
        MapKind::Auto => !on_floor,
        MapKind::Kernel => true,
    };
    let kernel = match wants_kernel {
        true => search_kernel(folds, &linear, config, purpose)?,
        false => None,
    };
    if let Some(choice) = &kernel {
        let error = choice.report.error;
        candidates.push(Candidate::of_map(ClosedFormKind::Kernel, "kernel", error));
    }
    let kernel = kernel.filter(|choice| {
        config.kind == MapKind::Kernel || choice.report.error < WORTHWHILE_RATIO * linear_error
    });
    let closed_error = kernel.as_ref().map_or(linear_error, |k| k.report.error);
    if kernel.is_some()
        && closed_error < IMITATES
        && config.kind == MapKind::Auto
        && let Some(error) = left_out()?
        && (error * WORTHWHILE_RATIO <= exact || error < IMITATED * closed_error)
    {
        let name = "linear, leave-one-out";
        candidates.push(Candidate::of_map(ClosedFormKind::Linear, name, error));
        return Ok(ClosedForm {
            error,
            with_all: error,
            kernel: None,
            linear: linear.swap_remove(0),
            on_floor: error * WORTHWHILE_RATIO <= exact,
            chosen: candidates.len() - 1,
            candidates,
        });
    }
    let error = closed_error;
    let open = kernel.is_none() && !on_floor && error < IMITATES && purpose.is_final();
    let left_out = if open { left_out()? } else { None };
    Ok(ClosedForm {
        error,
        with_all: left_out.map_or(error, |left_out| left_out.min(error)),
        // The linear map comes first, the kernel behind it.
        chosen: usize::from(kernel.is_some()),
        kernel,
        linear: linear.swap_remove(0),
        on_floor,
        candidates,
    })
}

/// The kernel map of the first fold, with the settings whose error is lowest over all folds; `None` if there is nothing
/// to choose, as for constant outputs, which the linear map predicts.
fn search_kernel(
    folds: &[Fold<'_>],
    linear: &[LinearMap],
    config: &MapConfig,
    purpose: Purpose<'_>,
) -> Result<Option<KernelChoice>> {
    let context = folds[0].context;
    let search = KernelSearch {
        spec: &config.kernel,
        seed: context.protocol.seed,
        rival: match purpose {
            Purpose::FinalFit(rival) => rival,
            Purpose::Search => None,
        },
        observer: context.observer,
    };
    let completed = folds.iter().zip(linear).map(|(fold, linear)| {
        let (set, train) = (&fold.set, &fold.context.split.train);
        joint::completed(set.targets, set.coefficients, linear, train)
    });
    let completed = completed.collect::<Result<Vec<_>>>()?;
    let splits: Vec<HeldOut<'_>> = folds
        .iter()
        .zip(linear)
        .zip(&completed)
        .map(|((fold, linear), targets)| HeldOut {
            coefficients: fold.set.coefficients,
            targets,
            split: &fold.context.split,
            linear,
        })
        .collect();
    match search.run(&splits) {
        Ok(mut choice) => {
            if purpose.is_final() {
                joint::refine_kernel(&mut choice, &splits[0])?;
            }
            Ok(Some(choice))
        }
        Err(e @ Error::Interrupted) => Err(e),
        Err(e) if config.kind == MapKind::Kernel => Err(e),
        Err(_) => Ok(None),
    }
}

/// The leave-one-out error of the linear map fitted to all samples, where these are about as many as coefficients, so
/// that the held-out ones may be needed to determine it.
pub(super) fn leave_one_out(set: &MapTrainingSet<'_>) -> Result<Option<f64>> {
    match needs_all_samples(set) {
        true => left_out_error(set).map(Some),
        false => Ok(None),
    }
}

/// Whether the samples that are not held out are about as many as coefficients.
pub(super) fn few_remain(fold: &Fold<'_>) -> bool {
    fold.context.split.train.len() <= FEW_FOR_COEFFICIENTS * fold.set.coefficients.nrows()
}

/// Whether samples are about as many as coefficients.
pub(super) fn needs_all_samples(set: &MapTrainingSet<'_>) -> bool {
    let (coefficients, samples) = set.coefficients.shape();
    samples <= FEW_FOR_COEFFICIENTS * coefficients && set.targets.readings.is_none()
}

/// The leave-one-out error of the linear map.
pub(super) fn left_out_error(set: &MapTrainingSet<'_>) -> Result<f64> {
    let all = LinearMap::fit_mirrored(set.coefficients, set.targets, set.mirrors.clone())?;
    Ok(all.loo_error())
}

/// The decision about the map, human-readable.
pub(super) fn explain(
    plan: &MapPlan,
    wanted: MapKind,
    candidates: &[Candidate],
    notes: &[String],
) -> Choice {
    let list: Vec<String> = candidates
        .iter()
        .map(|c| format!("{} {}", c.name, short(c.error)))
        .collect();
    let why = match wanted {
        MapKind::Auto => "by the error on held-out training samples",
        _ => "set in the settings; errors on held-out training samples",
    };
    Choice {
        subject: Subject::Map,
        field: String::new(),
        candidates: candidates.to_vec(),
        chosen: plan.kind().into(),
        why: std::iter::once(format!("{why} ({})", list.join(", ")))
            .chain(why_not_the_kernel(plan, candidates))
            .chain(notes.iter().cloned())
            .collect::<Vec<_>>()
            .join("; "),
    }
}

/// Why the linear map was taken although a kernel map has a smaller error.
fn why_not_the_kernel(plan: &MapPlan, candidates: &[Candidate]) -> Option<String> {
    let least = |kind| {
        let of_kind = candidates.iter().filter(|c| c.closed_form == Some(kind));
        of_kind.map(|c| c.error).fold(f64::INFINITY, f64::min)
    };
    let linear = least(ClosedFormKind::Linear);
    let kernel = least(ClosedFormKind::Kernel);
    let too_close = WORTHWHILE_RATIO * linear <= kernel && kernel < linear;
    (matches!(plan, MapPlan::Linear) && too_close).then(|| {
        format!(
            "the kernel map is less than {:.0} % better, which is not worth its size",
            100.0 * (1.0 - WORTHWHILE_RATIO)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_map_with_a_larger_error_is_explained() {
        let why = |linear: f64, kernel: f64| {
            let candidates = [
                Candidate::of_map(ClosedFormKind::Linear, "linear", linear),
                Candidate::of_map(ClosedFormKind::Kernel, "kernel", kernel),
            ];
            explain(&MapPlan::Linear, MapKind::Auto, &candidates, &[]).why
        };
        let reason = "; the kernel map is less than 2 % better, which is not worth its size";
        assert!(why(1.0e-2, 9.9e-3).ends_with(reason));
        assert!(!why(9.9e-3, 1.0e-2).contains("worth"));
    }
}
