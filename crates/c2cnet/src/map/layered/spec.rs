//! Settings of the layered map.

use crate::basis::BasisSpec;
use crate::cite::{self, Reference};
use crate::map::mlp::{
    Activation, BatchSize, Loss, Optimiser, OptimiserKind, Plan, Precision, Schedule, Stage,
};
use crate::{Error, Result};
use documented::Documented;
use serde::{Deserialize, Serialize};

/// With more samples than this weights decay by less than 1 per step and rate.
const FULL_DECAY: f64 = 1000.0;

/// Layers whose functions shifts turn into each other need less of it: they cannot tell one place from another. On
/// Navier-Stokes flow, 800 samples, the error on held-out ones is 4.4e-3 with all of it (150 passes) and 2.8e-3 with this
/// part or less (100 passes).
const DECAY_OF_WAVES: f64 = 0.01;

/// Products in a pass of one sample through a network of three hidden layers of 300.
const USUAL_NETWORK: f64 = 3e5;

/// Fewer passes are not worth starting.
const FEWEST_EPOCHS: usize = 15;

/// What a pass over samples is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// How many samples train.
    pub samples: usize,
    /// Points of an output.
    pub points: usize,
    /// Along how many axes transforms go one after the other.
    pub axes: usize,
}

/// What layers predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayeredOutputs {
    /// Fields: they learn values at latent points, and any other point is pushed through them.
    Points,
    /// Coordinates of the output space.
    Space,
}

/// Settings of the layered map.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `functions` | 128 | functions of the layers' basis, where `basis` is not given | positive; at most as many as points are used |
/// | `channels` | 32 | values at each latent point | 1 to 1,024 |
/// | `layers` | 4 | how many layers | 1 to 16 |
/// | `hidden` | 128 | width of the pointwise network after the last layer | 1 to 4,096 |
/// | `basis` | `laplace` | the layers' basis: on the data's triangles, if there are any, else on the box | any family that is not learned |
/// | `points` | 1024 | latent points, at most: the output's own, fewer lines of a larger grid, or as many well spread ones | at least 16 |
/// | `outputs` | `space` | what they predict: coordinates of the output space, or fields that they learn at the latent points and that are evaluated by pushing any point through the layers, where all samples share the output's points | `space`, `points` |
/// | `activation` | `gelu` | between layers | `gelu`, `gelu-tanh`, `tanh`, `relu`, `silu` |
/// | `optimiser` | `adamw`, decay 1,000 over the number of samples, at most 1; a hundredth of that for waves along periodic axes | the update rule | see [`Optimiser`] |
/// | `schedule` | `one-cycle` | how the learning rate changes | `paper`, `one-cycle`, `cosine`, `constant` |
/// | `rate` | 4e-3 | peak of the learning rate | positive |
/// | `epochs` | 40 | passes over the samples | positive |
/// | `batch` | 20 | samples per step | positive, `full` |
/// | `precision` | `f32` | of training; predictions are in `f64` | `f32`, `f64` |
/// | `clip` | | the largest norm of a gradient | positive |
/// | `evaluations` | 25 | how often it is evaluated and recorded | positive |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LayeredSpec {
    /// Functions of the layers' basis.
    pub functions: usize,
    /// Values at each latent point.
    pub channels: usize,
    /// How many layers.
    pub layers: usize,
    /// Width of the pointwise network after the last layer.
    pub hidden: usize,
    /// The layers' basis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<BasisSpec>,
    /// Latent points, at most.
    pub points: usize,
    /// What they predict.
    pub outputs: LayeredOutputs,
    /// The activation.
    pub activation: Activation,
    /// The update rule.
    #[serde(alias = "optimizer")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimiser: Option<Optimiser>,
    /// How the rate changes.
    pub schedule: Schedule,
    /// Its peak.
    pub rate: f64,
    /// Passes over the samples.
    pub epochs: usize,
    /// Samples per step.
    pub batch: BatchSize,
    /// The precision of training.
    pub precision: Precision,
    /// The largest norm of a gradient.
    pub clip: Option<f64>,
    /// How often it is evaluated.
    pub evaluations: usize,
}

impl Default for LayeredSpec {
    fn default() -> Self {
        LayeredSpec {
            functions: 128,
            channels: 32,
            layers: 4,
            hidden: 128,
            basis: None,
            points: 1024,
            outputs: LayeredOutputs::Space,
            activation: Activation::Gelu,
            optimiser: None,
            schedule: Schedule::OneCycle,
            rate: 4e-3,
            epochs: 40,
            batch: BatchSize::Samples(20),
            precision: Precision::F32,
            clip: None,
            evaluations: 25,
        }
    }
}

impl LayeredSpec {
    /// Checks the ranges of the table.
    ///
    /// # Errors
    /// Names the setting and its value.
    pub(crate) fn check(&self) -> Result<()> {
        let require = |fine: bool, what: String| match fine {
            true => Ok(()),
            false => Err(Error::Config(format!("layered: {what}"))),
        };
        for (name, value, most) in [
            ("functions", self.functions, 1 << 20),
            ("channels", self.channels, 1024),
            ("layers", self.layers, 16),
            ("hidden", self.hidden, 4096),
            ("epochs", self.epochs, usize::MAX),
            ("evaluations", self.evaluations, usize::MAX),
        ] {
            require(
                (1..=most).contains(&value),
                format!("{name} = {value} must lie between 1 and {most}"),
            )?;
        }
        require(
            self.points >= 16,
            format!("points = {} must be at least 16", self.points),
        )?;
        require(
            self.rate > 0.0 && self.rate.is_finite(),
            format!("rate = {} must be positive", self.rate),
        )?;
        require(
            self.clip.is_none_or(|c| c > 0.0 && c.is_finite()),
            format!("clip = {:?} must be positive", self.clip),
        )?;
        require(
            self.batch != BatchSize::Samples(0),
            "batch must be positive, or \"full\"".into(),
        )?;
        let learned = self.basis.as_ref().filter(|b| b.depends_on_values());
        require(
            learned.is_none(),
            format!(
                "basis: the family {:?} is learned from values, which layers do not have; name a prescribed one",
                learned.map_or("", BasisSpec::family)
            ),
        )?;
        self.optimiser.map_or(Ok(()), |o| o.check())
    }

    /// What to cite for it.
    pub(crate) fn references(&self) -> Vec<Reference> {
        let mut all = vec![cite::FOURIER_NEURAL_OPERATOR];
        all.extend(self.basis.iter().flat_map(BasisSpec::references));
        if self.basis.is_none() {
            all.push(cite::LAPLACE_EIGENFUNCTIONS);
        }
        all.push(match self.optimiser(1, false).kind {
            OptimiserKind::Adam => cite::ADAM,
            OptimiserKind::AdamW => cite::ADAMW,
        });
        if matches!(self.activation, Activation::Gelu | Activation::GeluTanh) {
            all.push(cite::GELU);
        }
        all
    }

    /// The update rule. Its default weight decay is the same over a whole training, however many samples and thus
    /// steps it has: layers have more parameters than a thousand samples have numbers. `shifts`: whether the functions
    /// make groups.
    fn optimiser(&self, samples: usize, shifts: bool) -> Optimiser {
        let part = if shifts { DECAY_OF_WAVES } else { 1.0 };
        self.optimiser.unwrap_or(Optimiser {
            kind: OptimiserKind::AdamW,
            weight_decay: part * (FULL_DECAY / samples as f64).min(1.0),
            ..Optimiser::default()
        })
    }

    /// The same with at most `budget` samples times passes of a network of the usual size.
    ///
    /// # Errors
    /// What to give if too few passes are left to learn anything.
    pub(crate) fn within(&self, sizes: Sizes, budget: usize) -> std::result::Result<Self, String> {
        let pass = self.work(sizes) / USUAL_NETWORK * sizes.samples as f64;
        let epochs = (budget as f64 / pass) as usize;
        if epochs < FEWEST_EPOCHS {
            let budget = (pass * FEWEST_EPOCHS as f64).ceil();
            return Err(format!(
                "{FEWEST_EPOCHS} passes over the samples would take a map.budget of {budget:.2e}"
            ));
        }
        let epochs = epochs.min(self.epochs);
        Ok(LayeredSpec {
            epochs,
            ..self.clone()
        })
    }

    /// Products in a pass of one sample.
    fn work(&self, sizes: Sizes) -> f64 {
        let points = sizes.points.min(self.points) as f64;
        let functions = (self.functions as f64).min(points);
        let (c, layers, hidden) = (self.channels as f64, self.layers as f64, self.hidden as f64);
        let along = sizes.axes as f64 * functions.powf(1.0 / sizes.axes as f64);
        let transforms = 2.0 * layers * points * along * c;
        let mixing = layers * functions * c * c;
        let pointwise = points * c * (layers * c + hidden);
        transforms + mixing + pointwise
    }

    /// The same with fewer passes, by the given factor.
    pub(crate) fn shortened(&self, times: usize) -> Self {
        LayeredSpec {
            epochs: self.epochs.div_ceil(times),
            ..self.clone()
        }
    }

    /// The plan for the given number of training samples.
    pub(super) fn plan(&self, samples: usize, shifts: bool, seed: u64) -> Plan {
        let batch = match self.batch {
            BatchSize::Samples(n) => Some(n.min(samples)),
            BatchSize::All(_) => None,
        };
        let stage = Stage {
            loss: Loss::default(),
            optimiser: self.optimiser(samples, shifts),
            schedule: self.schedule,
            rate: self.rate,
            steps: self.epochs * samples.div_ceil(batch.unwrap_or(samples)),
            batch,
        };
        Plan {
            stages: vec![stage],
            seed,
            // Work is split inside of products, not by samples.
            shards: 1,
            clip: self.clip,
            evaluations: self.evaluations,
        }
    }
}
