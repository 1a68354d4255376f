//! The choice between coefficient maps on held-out training samples.

use super::{Candidate, MapConfig, MapKind};
use crate::decode::Targets;
use crate::map::{CoefficientMap, KernelChoice, KernelMap, LinearMap, search as search_kernel};
use crate::metrics::mean;
use crate::{Result, linalg};
use faer::MatRef;

/// Which training samples fit and which judge, in a seeded order.
#[derive(Debug, Clone)]
pub(super) struct Split {
    pub train: Vec<usize>,
    pub validation: Vec<usize>,
}

/// A map chosen and judged on the fold, not yet fitted to all samples.
pub(super) struct Chosen {
    /// `None`: linear.
    kernel: Option<KernelChoice>,
    /// The linear map fitted without the held-out samples.
    fold_linear: LinearMap,
    pub validation_rl2e: f64,
    pub candidates: Vec<Candidate>,
}

/// A kernel map must beat the linear one by this factor to be worth its size.
const WORTH: f64 = 0.98;

/// Samples that fit the map which held-out samples judge, at most: with more, the judgement would
/// cost as much as the final fit. The error it finds is then a little too large.
const FOLD_SAMPLES: usize = 8000;

/// Compares the maps that `config` allows.
pub(super) fn choose(
    coefficients: MatRef<'_, f64>,
    targets: &Targets,
    split: &Split,
    config: &MapConfig,
    seed: u64,
) -> Result<Chosen> {
    let fold_linear = LinearMap::fit(
        linalg::select_columns(coefficients, &split.train).as_ref(),
        &targets.select(&split.train),
    )?;
    let held = linalg::select_columns(coefficients, &split.validation);
    let linear_error = mean(&targets.relative_errors(
        fold_linear.predict(held.as_ref()).as_ref(),
        &split.validation,
    ));
    let mut candidates = vec![Candidate {
        name: "linear".into(),
        validation_rl2e: linear_error,
    }];
    // A linear map on the floor cannot be beaten: the operator is linear.
    let floor = targets.select(&split.validation).floor();
    let on_floor = linear_error * WORTH <= floor;
    let kernel = match config.kind {
        MapKind::Linear => None,
        MapKind::Auto if on_floor => None,
        MapKind::Auto | MapKind::Kernel => {
            let found = search_kernel(
                coefficients,
                targets,
                &fold_linear,
                &split.train,
                &split.validation,
                &config.kernel,
                seed,
            );
            match found {
                Ok(choice) => Some(choice),
                // Constant outputs leave nothing to weigh; the linear map still predicts them.
                Err(_) if config.kind == MapKind::Auto => None,
                Err(e) => return Err(e),
            }
        }
    };
    if let Some(choice) = &kernel {
        candidates.push(Candidate {
            name: "kernel".into(),
            validation_rl2e: choice.report.validation_rl2e,
        });
    }
    let kernel = kernel.filter(|choice| {
        config.kind == MapKind::Kernel || choice.report.validation_rl2e < WORTH * linear_error
    });
    Ok(Chosen {
        validation_rl2e: kernel
            .as_ref()
            .map_or(linear_error, |k| k.report.validation_rl2e),
        kernel,
        fold_linear,
        candidates,
    })
}

impl Chosen {
    pub(super) fn kernel_report(&self) -> Option<&crate::map::KernelReport> {
        self.kernel.as_ref().map(|k| &k.report)
    }

    pub(super) fn kind(&self) -> &'static str {
        if self.kernel.is_some() {
            "kernel"
        } else {
            "linear"
        }
    }

    /// The maps as fitted without the held-out samples: chosen and linear.
    pub(super) fn fold_maps(
        &self,
        coefficients: MatRef<'_, f64>,
        targets: &Targets,
        split: &Split,
        seed: u64,
    ) -> Result<(Box<dyn CoefficientMap>, LinearMap)> {
        let train = &split.train[..split.train.len().min(FOLD_SAMPLES)];
        let map: Box<dyn CoefficientMap> = match &self.kernel {
            None => Box::new(self.fold_linear.clone()),
            Some(choice) => Box::new(KernelMap::fit(
                linalg::select_columns(coefficients, train).as_ref(),
                &targets.select(train),
                choice.features.clone(),
                choice.settings.clone(),
                seed,
            )?),
        };
        Ok((map, self.fold_linear.clone()))
    }

    /// The maps fitted to all samples: chosen and linear.
    pub(super) fn fit_all(
        self,
        coefficients: MatRef<'_, f64>,
        targets: &Targets,
        seed: u64,
    ) -> Result<(Box<dyn CoefficientMap>, LinearMap)> {
        let linear = LinearMap::fit(coefficients, targets)?;
        let map: Box<dyn CoefficientMap> = match self.kernel {
            None => Box::new(linear.clone()),
            Some(choice) => Box::new(KernelMap::fit(
                coefficients,
                targets,
                choice.relearn(coefficients, targets, &linear, seed)?,
                choice.settings,
                seed,
            )?),
        };
        Ok((map, linear))
    }
}
