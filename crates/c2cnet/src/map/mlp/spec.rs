//! Settings of the neural map.

use super::activation::Activation;
use super::loss::Loss;
use super::optimiser::{Optimiser, OptimiserKind};
use super::scalar::Precision;
use super::schedule::Schedule;
use super::train::{Plan, Stage};
use crate::cite::{self, Reference};
use crate::{Error, Result};
use documented::Documented;
use serde::{Deserialize, Serialize};

/// From this many samples on, `fast` takes larger batches with a higher rate: on the 51,000 samples of
/// L-shaped Darcy flow batches of 128, 256 and 512 end with held-out errors of 1.04e-2, 9.4e-3 and 9.6e-3,
/// the larger ones in less time.
const MANY_SAMPLES: usize = 20_000;

/// A named set of defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recipe {
    /// Principal coordinates in and out, mini-batches, a schedule that ends.
    #[default]
    Fast,
    /// The paper's: raw coefficients in and out, all samples every step, 30,000 steps of Adam.
    Paper,
}

impl Recipe {
    /// Its name in settings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Recipe::Fast => "fast",
            Recipe::Paper => "paper",
        }
    }
}

/// How many samples a step sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BatchSize {
    /// This many.
    Samples(usize),
    /// All.
    All(Whole),
}

/// The word for all samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Whole {
    /// `"full"`.
    Full,
}

/// Settings of the neural map. Defaults that differ between recipes are given as `fast` / `paper`.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `recipe` | `fast` | the set of defaults | `fast`, `paper` |
/// | `hidden` | [300, 300, 300] / [400, 400, 400] | widths of hidden layers | positive, up to 16 layers |
/// | `activation` | `gelu` | between layers | `gelu`, `gelu-tanh`, `tanh`, `relu`, `silu` |
/// | `loss` | relative | what is minimised | see [`Loss`] |
/// | `optimiser` | `adamw`, decay 1e-4 / `adam` | the update rule | see [`Optimiser`] |
/// | `schedule` | `cosine` / `paper` | how the learning rate changes | `paper`, `one-cycle`, `cosine`, `constant` |
/// | `rate` | 3e-3, from 20,000 samples on 4e-3 / 1e-2 | peak of the learning rate | positive |
/// | `steps` | 6,000, or 150 passes if those are more / 30,000 | steps of the first stage | positive |
/// | `epochs` | | passes over the samples, instead of `steps` | positive |
/// | `batch` | 128, from 20,000 samples on 256 / `full` | samples per step | positive, `full` |
/// | `precision` | `f32` | of training; predictions are in `f64` | `f32`, `f64` |
/// | `shards` | 4 | parts of a batch that run in parallel; changing it changes the result's last bits | 1 to 256 |
/// | `clip` | | the largest norm of a gradient | positive |
/// | `residual` | true | learn the residual of the linear map (`fast`) | |
/// | `scaled` | false | inputs in principal axes under one scale, outputs of unit rms (`paper`; `fast` always is) | |
/// | `evaluations` | 100 | how often a stage is evaluated and recorded | positive |
/// | `stages` | none | further stages, each with fresh moments | a list, see [`StageSpec`] |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MlpSpec {
    /// The set of defaults.
    pub recipe: Recipe,
    /// Widths of hidden layers.
    pub hidden: Option<Vec<usize>>,
    /// The activation.
    pub activation: Activation,
    /// The loss.
    pub loss: Loss,
    /// The update rule.
    #[serde(alias = "optimizer")]
    pub optimiser: Option<Optimiser>,
    /// How the rate changes.
    pub schedule: Option<Schedule>,
    /// Its peak.
    pub rate: Option<f64>,
    /// Steps of the first stage.
    pub steps: Option<usize>,
    /// Passes over the samples, instead.
    pub epochs: Option<usize>,
    /// Samples per step.
    pub batch: Option<BatchSize>,
    /// The precision of training.
    pub precision: Precision,
    /// Parts of a batch.
    pub shards: usize,
    /// The largest norm of a gradient.
    pub clip: Option<f64>,
    /// Learn the residual of the linear map.
    pub residual: bool,
    /// Inputs in principal axes under one scale, outputs of unit rms, with the recipe of the paper.
    pub scaled: bool,
    /// How often a stage is evaluated.
    pub evaluations: usize,
    /// Further stages.
    pub stages: Vec<StageSpec>,
}

/// A further stage; settings that are not given are those of the stage before.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `loss` | as before | what is minimised | see [`Loss`] |
/// | `optimiser` | as before | the update rule | see [`Optimiser`] |
/// | `schedule` | as before | how the learning rate changes | `paper`, `one-cycle`, `cosine`, `constant` |
/// | `rate` | as before | peak of the learning rate | positive |
/// | `steps` | as before | steps of the stage | positive |
/// | `epochs` | | passes over the samples, instead of `steps` | positive |
/// | `batch` | as before | samples per step | positive, `full` |
#[derive(Debug, Clone, PartialEq, Default, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StageSpec {
    /// The loss.
    pub loss: Option<Loss>,
    /// The update rule.
    #[serde(alias = "optimizer")]
    pub optimiser: Option<Optimiser>,
    /// How the rate changes.
    pub schedule: Option<Schedule>,
    /// Its peak.
    pub rate: Option<f64>,
    /// Steps.
    pub steps: Option<usize>,
    /// Passes over the samples, instead.
    pub epochs: Option<usize>,
    /// Samples per step.
    pub batch: Option<BatchSize>,
}

impl Default for MlpSpec {
    fn default() -> Self {
        MlpSpec {
            recipe: Recipe::Fast,
            hidden: None,
            activation: Activation::Gelu,
            loss: Loss::default(),
            optimiser: None,
            schedule: None,
            rate: None,
            steps: None,
            epochs: None,
            batch: None,
            precision: Precision::F32,
            shards: 4,
            clip: None,
            residual: true,
            scaled: false,
            evaluations: 100,
            stages: Vec::new(),
        }
    }
}

impl MlpSpec {
    /// The defaults of a recipe.
    pub fn recipe(recipe: Recipe) -> Self {
        MlpSpec {
            recipe,
            ..MlpSpec::default()
        }
    }

    /// Checks the ranges of the table.
    ///
    /// # Errors
    /// Names the setting and its value.
    pub(crate) fn check(&self) -> Result<()> {
        let require = |fine: bool, what: String| match fine {
            true => Ok(()),
            false => Err(Error::Config(format!("mlp: {what}"))),
        };
        let hidden = self.hidden();
        require(
            hidden.len() <= 16 && !hidden.contains(&0),
            format!("hidden = {hidden:?} must be at most 16 positive widths"),
        )?;
        require(
            (1..=256).contains(&self.shards),
            format!("shards = {} must lie between 1 and 256", self.shards),
        )?;
        require(self.evaluations > 0, "evaluations must be positive".into())?;
        require(
            self.clip.is_none_or(|c| c > 0.0 && c.is_finite()),
            format!("clip = {:?} must be positive", self.clip),
        )?;
        for stage in std::iter::once(&self.first_stage()).chain(&self.stages) {
            require(
                stage.steps.is_none() || stage.epochs.is_none(),
                "give steps or epochs, not both".into(),
            )?;
            require(
                stage.steps != Some(0) && stage.epochs != Some(0),
                "steps and epochs must be positive".into(),
            )?;
            require(
                stage.batch != Some(BatchSize::Samples(0)),
                "batch must be positive, or \"full\"".into(),
            )?;
            require(
                stage.rate.is_none_or(|r| r > 0.0 && r.is_finite()),
                format!("rate = {:?} must be positive", stage.rate),
            )?;
            stage.loss.map_or(Ok(()), |l| l.check())?;
            stage.optimiser.map_or(Ok(()), |o| o.check())?;
        }
        Ok(())
    }

    /// What to cite for this map.
    pub(crate) fn references(&self) -> Vec<Reference> {
        // Optimisers and activations do not depend on how many samples there are.
        let stages = self.plan(1, 0).stages;
        let optimisers = stages.iter().map(|stage| match stage.optimiser.kind {
            OptimiserKind::Adam => cite::ADAM,
            OptimiserKind::AdamW => cite::ADAMW,
        });
        let gelu = matches!(self.activation, Activation::Gelu | Activation::GeluTanh);
        optimisers.chain(gelu.then_some(cite::GELU)).collect()
    }

    /// Whether a stage has a loss that weights points.
    pub(crate) fn weighs_points(&self) -> bool {
        let weighs = |loss: &Loss| matches!(loss, Loss::Band { .. } | Loss::Weighted { .. });
        weighs(&self.loss)
            || self
                .stages
                .iter()
                .any(|s| s.loss.as_ref().is_some_and(weighs))
    }

    /// The same with at most `budget` samples times passes, for the given number of training samples.
    pub(crate) fn within(&self, samples: usize, budget: usize) -> Self {
        let work: usize = self
            .stage_lengths(samples)
            .map(|(n, batch)| n * batch)
            .sum();
        if work <= budget {
            return self.clone();
        }
        self.scaled(samples, budget as f64 / work as f64)
    }

    /// The same with fewer steps, by the given factor.
    pub(crate) fn shortened(&self, times: usize, samples: usize) -> Self {
        self.scaled(samples, 1.0 / times as f64)
    }

    /// Steps and samples per step of each stage.
    fn stage_lengths(&self, samples: usize) -> impl Iterator<Item = (usize, usize)> {
        let stages = self.plan(samples, 0).stages.into_iter();
        stages.map(move |s| (s.steps, s.batch.unwrap_or(samples).min(samples)))
    }

    fn scaled(&self, samples: usize, factor: f64) -> Self {
        let mut spec = self.clone();
        let mut steps = self
            .stage_lengths(samples)
            .map(|(steps, _)| ((steps as f64 * factor).ceil() as usize).max(1));
        (spec.steps, spec.epochs) = (steps.next(), None);
        for (stage, steps) in spec.stages.iter_mut().zip(steps) {
            (stage.steps, stage.epochs) = (Some(steps), None);
        }
        spec
    }

    /// Widths of the hidden layers.
    #[doc(hidden)] // for the tests of other crates
    pub fn hidden(&self) -> Vec<usize> {
        self.hidden.clone().unwrap_or_else(|| match self.recipe {
            Recipe::Fast => vec![300, 300, 300],
            Recipe::Paper => vec![400, 400, 400],
        })
    }

    fn first_stage(&self) -> StageSpec {
        StageSpec {
            loss: Some(self.loss),
            optimiser: self.optimiser,
            schedule: self.schedule,
            rate: self.rate,
            steps: self.steps,
            epochs: self.epochs,
            batch: self.batch,
        }
    }

    /// The plan for the given number of training samples.
    pub(crate) fn plan(&self, samples: usize, seed: u64) -> Plan {
        let adamw = Optimiser {
            kind: OptimiserKind::AdamW,
            weight_decay: 1e-4,
            ..Optimiser::default()
        };
        let (batch, rate) = match samples < MANY_SAMPLES {
            true => (128, 3e-3),
            false => (256, 4e-3),
        };
        let mut last = match self.recipe {
            Recipe::Fast => Stage {
                loss: self.loss,
                optimiser: adamw,
                schedule: Schedule::Cosine,
                rate,
                steps: (150 * samples).div_ceil(batch).max(6_000),
                batch: Some(batch),
            },
            Recipe::Paper => Stage {
                loss: self.loss,
                optimiser: Optimiser::default(),
                schedule: Schedule::Paper,
                rate: 1e-2,
                steps: 30_000,
                batch: None,
            },
        };
        let mut stages = Vec::new();
        for given in std::iter::once(&self.first_stage()).chain(&self.stages) {
            last = given.over(&last, samples);
            stages.push(last.clone());
        }
        Plan {
            stages,
            seed,
            shards: self.shards,
            clip: self.clip,
            evaluations: self.evaluations,
        }
    }
}

impl StageSpec {
    /// The values given here, and those of `last` elsewhere.
    fn over(&self, last: &Stage, samples: usize) -> Stage {
        let batch = match self.batch {
            None => last.batch,
            Some(BatchSize::All(_)) => None,
            Some(BatchSize::Samples(n)) => Some(n),
        };
        let a_pass = samples.div_ceil(batch.unwrap_or(samples).clamp(1, samples.max(1)));
        Stage {
            loss: self.loss.unwrap_or(last.loss),
            optimiser: self.optimiser.unwrap_or(last.optimiser),
            schedule: self.schedule.unwrap_or(last.schedule),
            rate: self.rate.unwrap_or(last.rate),
            steps: match self.epochs {
                Some(epochs) => epochs * a_pass,
                None => self.steps.unwrap_or(last.steps),
            },
            batch,
        }
    }
}
