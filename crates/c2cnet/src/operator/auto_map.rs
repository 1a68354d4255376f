//! The choice between coefficient maps on held-out training samples.

use super::lesson::Lesson;
use super::network::{self, NetworkChoice};
use super::{Candidate, MapConfig, MapKind, NetworkReport, Observer};
use crate::decode::Targets;
use crate::map::{
    CoefficientMap, KernelChoice, KernelMap, KernelReport, LinearMap, Mirrors, Split,
    search as search_kernel,
};
use crate::metrics::mean;
use crate::{Error, Result, linalg};
use faer::MatRef;

/// A map chosen and judged on the fold, not yet fitted to all samples.
pub(super) struct Chosen {
    pub pick: Pick,
    /// The chosen map fitted without the held-out samples, as far as it was fitted.
    pub fold: Option<Box<dyn CoefficientMap>>,
    /// The linear map fitted without them.
    fold_linear: LinearMap,
    pub validation_rl2e: f64,
    /// Whether the linear map does what the output space allows.
    pub on_floor: bool,
    pub candidates: Vec<Candidate>,
}

/// Which map.
pub(super) enum Pick {
    Linear,
    Kernel(Box<KernelChoice>),
    Network(Box<NetworkChoice>),
}

/// The maps of a finished fit.
pub(super) struct Fitted {
    pub map: Box<dyn CoefficientMap>,
    pub linear: LinearMap,
    pub network: Option<NetworkReport>,
}

/// A kernel map must beat the linear one by this factor to be worth its size.
const WORTH: f64 = 0.98;

/// Relative errors of this size are rounding, which a basis with a function a point has for a floor.
const ROUNDING: f64 = 1e-12;

/// Samples that fit the kernel map which held-out samples judge, at most: with more, the judgement
/// would cost as much as the final fit. The error it finds is then a little too large.
const FOLD_SAMPLES: usize = 8000;

/// Compares the maps in closed form that `config` allows: the linear and the kernel one.
pub(super) fn choose(
    coefficients: MatRef<'_, f64>,
    targets: &Targets,
    mirrors: &Mirrors,
    split: &Split,
    config: &MapConfig,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Chosen> {
    let fold_linear = LinearMap::fit_mirrored(
        linalg::select_columns(coefficients, &split.train).as_ref(),
        &targets.select(&split.train),
        mirrors.clone(),
    )?;
    let linear_error = held_out_error(&fold_linear, coefficients, targets, split);
    let mut candidates = vec![Candidate {
        name: "linear".into(),
        validation_rl2e: linear_error,
    }];
    // A linear map on the floor cannot be beaten: the operator is linear.
    let floor = targets.select(&split.validation).floor();
    let on_floor = linear_error * WORTH <= floor.max(ROUNDING);
    let wants_kernel = match config.kind {
        // The linear map alone decides about transforms where the settings want a network.
        MapKind::Linear | MapKind::Mlp => false,
        MapKind::Auto => !on_floor,
        MapKind::Kernel => true,
    };
    let mut kernel = None;
    if wants_kernel {
        let found = search_kernel(
            coefficients,
            targets,
            &fold_linear,
            split,
            &config.kernel,
            seed,
            observer,
        );
        kernel = match found {
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
        pick: kernel.map_or(Pick::Linear, |choice| Pick::Kernel(Box::new(choice))),
        fold: None,
        fold_linear,
        on_floor,
        candidates,
    })
}

/// The mean relative error of a map on the held-out samples.
pub(super) fn held_out_error(
    map: &dyn CoefficientMap,
    coefficients: MatRef<'_, f64>,
    targets: &Targets,
    split: &Split,
) -> f64 {
    let held = linalg::select_columns(coefficients, &split.validation);
    let predicted = map.predict(held.as_ref());
    mean(&targets.relative_errors(predicted.as_ref(), &split.validation))
}

impl Chosen {
    pub(super) fn kernel_report(&self) -> Option<&KernelReport> {
        match &self.pick {
            Pick::Kernel(choice) => Some(&choice.report),
            _ => None,
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.pick {
            Pick::Linear => "linear",
            Pick::Kernel(_) => "kernel",
            Pick::Network(_) => "network",
        }
    }

    /// Fits the chosen map in closed form without the held-out samples and judges it by them. The
    /// choice of a kernel's parameters used fewer samples and found a larger error.
    pub(super) fn judge_fold(
        &mut self,
        lesson: &Lesson<'_>,
        split: &Split,
        seed: u64,
    ) -> Result<()> {
        let map: Box<dyn CoefficientMap> = match &self.pick {
            Pick::Linear => Box::new(self.fold_linear.clone()),
            Pick::Kernel(choice) => {
                let features = choice.features.clone();
                let affordable = FOLD_SAMPLES * features.reflections();
                let (train, features) = match split.train.len() <= affordable {
                    true => (&split.train[..], features),
                    // Part of the samples comes without its images.
                    false => (&split.train[..FOLD_SAMPLES], features.without_mirrors()),
                };
                Box::new(KernelMap::fit(
                    linalg::select_columns(lesson.coefficients, train).as_ref(),
                    &lesson.targets.select(train),
                    features,
                    choice.settings.clone(),
                    seed,
                )?)
            }
            Pick::Network(_) => return Ok(()),
        };
        self.validation_rl2e =
            held_out_error(map.as_ref(), lesson.coefficients, lesson.targets, split);
        self.fold = Some(map);
        Ok(())
    }

    /// The maps as fitted without the held-out samples: chosen, if it was fitted without them, and
    /// linear.
    pub(super) fn fold_maps(
        &mut self,
        lesson: &Lesson<'_>,
        split: &Split,
        seed: u64,
    ) -> Result<(Option<&dyn CoefficientMap>, &LinearMap)> {
        if self.fold.is_none() {
            self.judge_fold(lesson, split, seed)?;
        }
        Ok((self.fold.as_deref(), &self.fold_linear))
    }

    /// The maps fitted to all samples.
    pub(super) fn fit_all(
        self,
        lesson: &Lesson<'_>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Fitted> {
        let (coefficients, targets) = (lesson.coefficients, lesson.targets);
        let linear = LinearMap::fit_mirrored(coefficients, targets, lesson.mirrors.clone())?;
        let mut network = None;
        let map: Box<dyn CoefficientMap> = match self.pick {
            Pick::Linear => Box::new(linear.clone()),
            Pick::Kernel(choice) => {
                observer.step("fitting the map to all training samples");
                Box::new(KernelMap::fit(
                    coefficients,
                    targets,
                    choice.relearn(coefficients, targets, &linear, seed, observer)?,
                    choice.settings,
                    seed,
                )?)
            }
            Pick::Network(choice) => {
                let trained = network::train_on_all(&choice, lesson, seed, observer)?;
                let (map, fitted) = match (trained, self.fold) {
                    (Some((map, report)), _) => (Box::new(map) as Box<_>, Some(report)),
                    (None, fold) => (fold.expect("trained on the fold"), None),
                };
                network = Some(NetworkReport {
                    judged: choice.fold,
                    fitted,
                });
                map
            }
        };
        Ok(Fitted {
            map,
            linear,
            network,
        })
    }
}
