//! Layers among the coefficient maps: whether to train them, on which inputs, and for how long.

use super::folds::PerFold;
use super::network::{Contest, Decision, Question};
use crate::basis::{BasisSpec, PointValuesSpec};
use crate::data::{Field, Points, TensorGrid};
use crate::fit::{Inputs, MapTrainingSet, OutputFrame};
use crate::map::layered::{LayeredSpec, Sizes};
use crate::metrics::mean;
use crate::plan::{InputPlan, NetworkSpec};
use crate::settings::{FitConfig, MapConfig};
use crate::{Error, Result};

/// Layers do not improve maps with a smaller error, which does not come from the products of fields that layers are made
/// for.
const NEGLIGIBLE: f64 = 1e-2;

/// With fewer training samples, layers memorise them.
const FEWEST_SAMPLES: usize = 200;

/// Inputs with at most this many values enter layers unchanged.
const MOST_VALUES: usize = 4096;

/// Inputs as the layers see them, and their encoding.
type LayerInputs = (Vec<InputPlan>, PerFold<Inputs>);

/// The outcome of a trial, or why there was none.
type Tried = std::result::Result<(Contest, LayerInputs), String>;

/// The decision about layers.
pub(super) struct Layers<'a> {
    pub question: &'a Question<'a>,
    pub config: &'a FitConfig,
    /// Whether the linear map already reaches the floor of the output space, which limits layers as well.
    pub on_floor: bool,
}

impl Layers<'_> {
    /// Layers as set in the settings.
    pub(super) fn train(&self) -> Result<Decision> {
        let spec = NetworkSpec::Layered(Box::new(self.config.map.layered.clone()));
        let (plans, inputs) = self.inputs()?;
        let question = self.with(&plans, &inputs);
        let decision = question.train(spec, None)?;
        Ok(self.of_layers(decision, (plans, inputs)))
    }

    /// A decision for layers, with the inputs that they see.
    fn of_layers(&self, decision: Decision, inputs: LayerInputs) -> Decision {
        let others = inputs.0 != self.question.inputs_plan;
        Decision {
            notes: match others {
                true => vec!["layers take the inputs' values at their points".into()],
                false => Vec::new(),
            },
            inputs: Some(inputs),
            ..decision
        }
    }

    /// The decision `so_far`, or layers if their error on held-out samples is smaller, with the findings about them.
    pub(super) fn improve(&self, mut so_far: Decision) -> Result<Decision> {
        // The settings rule out training.
        if self.config.map.budget == 0 {
            return Ok(so_far);
        }
        match self.try_layers(&so_far.errors) {
            Ok(Ok((contest, inputs))) => {
                let mut candidates = std::mem::take(&mut so_far.candidates);
                let closed_error = so_far.closed_error;
                candidates.push(contest.candidate);
                let decision = match contest.winner {
                    Some(winner) => self.of_layers(winner, inputs),
                    None => so_far,
                };
                Ok(Decision {
                    candidates,
                    closed_error,
                    ..decision
                })
            }
            // Layers that the data rules out are no reason to fail a fit that has another map.
            Ok(Err(why)) | Err(Error::Config(why)) => {
                so_far.notes.push(format!("layers not tried: {why}"));
                Ok(so_far)
            }
            Err(e) => Err(e),
        }
    }

    /// Trains layers for as long as they promise an error below that of the map so far, whose errors on held-out samples
    /// are `champion`; or why they are not tried.
    fn try_layers(&self, champion: &[f64]) -> Result<Tried> {
        let spec = match self.worth_a_trial(mean(champion)) {
            Ok(spec) => NetworkSpec::Layered(Box::new(spec)),
            Err(why) => return Ok(Err(why)),
        };
        let (plans, inputs) = self.inputs()?;
        let question = self.with(&plans, &inputs);
        let (encoded, outputs) = question.spaces();
        let frame = OutputFrame::new(question.context(), encoded, outputs, &spec)?;
        let set = MapTrainingSet::new(encoded, outputs, &frame);
        let contest = question.contend(&set, spec, champion)?;
        Ok(Ok((contest, (plans, inputs))))
    }

    /// The layers that the budget allows, if they may reach an error below `least`; else the reason against them.
    fn worth_a_trial(&self, least: f64) -> std::result::Result<LayeredSpec, String> {
        let samples = self.question.context().split.train.len();
        if self.on_floor {
            return Err("the linear map already reaches the floor".into());
        }
        if !self.question.inputs_vary() {
            return Err("the inputs never change".into());
        }
        if samples < FEWEST_SAMPLES {
            return Err(format!(
                "{samples} samples beside the held-out ones are too few"
            ));
        }
        if least <= NEGLIGIBLE {
            return Err(format!(
                "the error is at most {NEGLIGIBLE:.0e} without them"
            ));
        }
        if self.question.context().train.outputs[0].1.is_vector() {
            return Err("the first output is a vector without points".into());
        }
        let MapConfig {
            layered, budget, ..
        } = &self.config.map;
        layered.within(self.sizes(), *budget)
    }

    /// The approximate work of a pass over the samples.
    fn sizes(&self) -> Sizes {
        let context = self.question.context();
        let field = &context.train.outputs[0].1;
        let points = field.points_of(0);
        Sizes {
            samples: context.split.train.len(),
            points: points.len(),
            axes: match field.shared_points().and_then(TensorGrid::new) {
                Some(grid) => grid.axes.len(),
                None => 1,
            },
        }
    }

    fn with<'b>(&'b self, plans: &'b [InputPlan], inputs: &'b PerFold<Inputs>) -> Question<'b> {
        Question {
            inputs_plan: plans,
            inputs,
            ..*self.question
        }
    }

    /// Inputs as layers need them, and their encoding: values at points, unless the settings say otherwise. Maps
    /// between coefficients prefer few of them; layers see each point by itself.
    fn inputs(&self) -> Result<LayerInputs> {
        let fields = &self.question.context().train.inputs;
        let plans = self.question.inputs_plan.iter().zip(fields);
        let plans: Vec<InputPlan> = plans
            .map(
                |(plan, (name, field))| match self.takes_values(name, field) {
                    true => InputPlan {
                        bases: vec![BasisSpec::from(PointValuesSpec::default())],
                        encoder: Default::default(),
                        ..plan.clone()
                    },
                    false => plan.clone(),
                },
            )
            .collect();
        let inputs = self.question.folds.encode(&plans, false)?;
        Ok((plans, inputs))
    }

    fn takes_values(&self, name: &str, field: &Field) -> bool {
        let settings = self.config.input_named(name);
        let named = settings.named_bases().is_some();
        let open = !named && settings.space.is_none() && settings.encoder.is_none();
        let few = |points: &Points| points.len() * field.components() <= MOST_VALUES;
        open && !field.is_vector() && field.shared_points().is_some_and(few)
    }
}
