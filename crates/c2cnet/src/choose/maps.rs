//! The comparison of maps in closed form on held-out training samples.

use crate::fit::{Context, MapTrainingSet, fold_linear, held_out_error};
use crate::map::{KernelChoice, KernelSearch, LinearMap};
use crate::plan::MapPlan;
use crate::report::{Candidate, Choice, Subject};
use crate::settings::{MapConfig, MapKind};
use crate::{Error, Result};

/// The better map in closed form, chosen and judged on the fold.
pub(super) struct ClosedForm {
    /// The kernel map, if it is better than the linear one.
    pub kernel: Option<KernelChoice>,
    /// The linear map without the held-out samples.
    pub linear: LinearMap,
    /// The error of the better one on held-out samples.
    pub error: f64,
    /// Whether the linear map does what the output space allows.
    pub on_floor: bool,
    pub candidates: Vec<Candidate>,
}

/// A kernel map must beat the linear one by this factor to be worth its size.
const WORTH: f64 = 0.98;

/// Linear maps that err less are exact but for rounding, which kernel matrices amplify more.
const ROUNDING: f64 = 1e-9;

/// Compares the maps in closed form that `config` allows: the linear and the kernel one.
pub(super) fn compare(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    config: &MapConfig,
) -> Result<ClosedForm> {
    let split = &context.split;
    let linear = fold_linear(context, set)?;
    let linear_error = held_out_error(&linear, set, split);
    let mut candidates = vec![Candidate {
        name: "linear".into(),
        error: linear_error,
    }];
    // A linear map on the floor cannot be beaten: the operator is linear.
    let floor = set.targets.select(&split.validation).floor();
    let on_floor = linear_error * WORTH <= floor.max(ROUNDING);
    let wants_kernel = match config.kind {
        // The linear map alone decides about transforms where the settings want a network.
        MapKind::Linear | MapKind::Mlp => false,
        MapKind::Auto => !on_floor,
        MapKind::Kernel => true,
    };
    let mut kernel = None;
    if wants_kernel {
        let search = KernelSearch {
            spec: &config.kernel,
            split,
            seed: context.protocol.seed,
            observer: context.observer,
        };
        kernel = match search.run(set.coefficients, set.targets, &linear) {
            Ok(choice) => Some(choice),
            Err(e @ Error::Interrupted) => return Err(e),
            Err(e) if config.kind == MapKind::Kernel => return Err(e),
            // Constant outputs leave nothing to weigh; the linear map still predicts them.
            Err(_) => None,
        };
    }
    if let Some(choice) = &kernel {
        candidates.push(Candidate {
            name: "kernel".into(),
            error: choice.report.error,
        });
    }
    let kernel = kernel.filter(|choice| {
        config.kind == MapKind::Kernel || choice.report.error < WORTH * linear_error
    });
    Ok(ClosedForm {
        error: kernel.as_ref().map_or(linear_error, |k| k.report.error),
        kernel,
        linear,
        on_floor,
        candidates,
    })
}

/// The decision about the map, for people.
pub(super) fn explain(plan: &MapPlan, wanted: MapKind, candidates: &[Candidate]) -> Choice {
    let list: Vec<String> = candidates
        .iter()
        .map(|c| format!("{} {:.3e}", c.name, c.error))
        .collect();
    let why = match wanted {
        MapKind::Auto => "by the error on held-out training samples",
        _ => "as the settings want; errors on held-out training samples",
    };
    Choice {
        subject: Subject::Map,
        field: String::new(),
        candidates: candidates.to_vec(),
        chosen: plan.kind().into(),
        why: format!("{why} ({})", list.join(", ")),
    }
}
