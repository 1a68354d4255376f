//! The network of a template, trained on the samples that were kept.

use super::judges::Judges;
use super::kept::Kept;
use crate::data::Fields;
use crate::map::mlp::{Recipe, TrainingData, TrainingReport};
use crate::map::{MlpMap, MlpSpec, Split};
use crate::observe::{Event, Observer, Step, Work};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What to train, and the seed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Network {
    spec: Box<MlpSpec>,
    seed: u64,
    /// How many values an output sample has.
    count: usize,
}

impl Network {
    /// # Errors
    /// If the settings need more of the samples than their coefficients.
    pub(super) fn check(spec: &MlpSpec) -> Result<()> {
        let refuse = |what: &str| {
            Err(Error::Config(format!(
                "{what}: this needs the fields of all samples in memory, and chunks of samples leave only their coefficients; \
                 take the recipe `fast` with a loss that does not weigh points"
            )))
        };
        match spec {
            _ if spec.recipe == Recipe::Paper => refuse("mlp: recipe = \"paper\""),
            _ if spec.weighs_points() => refuse("mlp: a loss that weighs points"),
            _ => Ok(()),
        }
    }

    pub(super) fn new(spec: MlpSpec, seed: u64, outputs: &Fields) -> Self {
        let count = |(_, f): &(String, crate::data::Field)| f.points_of(0).len() * f.components();
        Network {
            spec: Box::new(spec),
            seed,
            count: outputs.iter().map(count).sum(),
        }
    }

    pub(super) fn spec(&self) -> &MlpSpec {
        &self.spec
    }

    /// Trains on `kept`, in their order; the judges are for the report only.
    ///
    /// # Errors
    /// As [`MlpMap::fit`].
    pub(super) fn train(
        &self,
        kept: &Kept,
        judges: &Judges,
        observer: &dyn Observer,
    ) -> Result<(MlpMap, TrainingReport)> {
        let (train, all) = (kept.samples(), kept.samples() + judges.count());
        observer.event(&Event::Begin(&Step(Work::TrainToJudge {
            train,
            samples: all,
            seconds: None,
        })));
        let (coefficients, targets) = kept.followed_by(judges);
        let data = TrainingData {
            coefficients: coefficients.as_ref(),
            targets: &targets,
            count: self.count,
            factor: None,
            field: None,
            per_sample: None,
        };
        let split = Split {
            train: (0..train).collect(),
            validation: (train..all).collect(),
        };
        MlpMap::fit(&data, &split, &self.spec, self.seed, observer)
    }
}
