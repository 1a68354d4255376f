//! Layers among the coefficient maps: whether to train them, on which inputs, and for how long.

use super::folds::PerFold;
use super::network::{Contest, Decision, Question};
use crate::basis::{BasisSpec, LaplaceMesh, LaplaceSpec, PointValuesSpec};
use crate::data::{Field, TensorGrid};
use crate::fit::{Inputs, MapTrainingSet, OutputFrame};
use crate::map::layered::{LayeredSpec, Sizes};
use crate::metrics::mean;
use crate::plan::{Components, InputPlan, NetworkSpec};
use crate::settings::{FitConfig, MapConfig};
use crate::{Error, Result};

/// Layers do not improve maps with a smaller error, which does not come from the products of fields that layers are made
/// for.
const NEGLIGIBLE: f64 = 1e-2;

/// With fewer training samples, layers memorise them.
const FEWEST_SAMPLES: usize = 200;

/// Inputs with at most this many values enter layers unchanged.
const MOST_VALUES: usize = 4096;

/// Larger ones on grids enter in this many smooth functions, at most, for each component: the space that is best for other
/// maps is small, and what it leaves out limits layers.
const MOST_FUNCTIONS: usize = 1024;

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
                true => vec![format!(
                    "layers take the inputs' values at their points, or, of more than {MOST_VALUES}, many smooth functions"
                )],
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
        let plan = |(plan, (name, field)): (&InputPlan, &(String, Field))| match self
            .basis_for_layers(name, field)
        {
            Some(basis) => InputPlan {
                bases: vec![basis],
                encoder: Default::default(),
                components: Components::Separate,
                ..plan.clone()
            },
            None => plan.clone(),
        };
        let plans: Vec<InputPlan> = plans.map(plan).collect();
        let inputs = self.question.folds.encode(&plans, false)?;
        Ok((plans, inputs))
    }

    /// Another basis than that of other maps, unless the settings name one or the input has no shared points.
    fn basis_for_layers(&self, name: &str, field: &Field) -> Option<BasisSpec> {
        let settings = self.config.input_named(name);
        let named = settings.named_bases().is_some();
        let open = !named && settings.space.is_none() && settings.encoder.is_none();
        let points = field
            .shared_points()
            .filter(|_| open && !field.is_vector())?;
        if points.len() * field.components() <= MOST_VALUES {
            return Some(BasisSpec::from(PointValuesSpec::default()));
        }
        let functions = MOST_FUNCTIONS
            .min(MOST_VALUES / field.components())
            .min(points.len() / 4);
        let grid = functions > 0 && TensorGrid::new(points).is_some();
        grid.then(|| BasisSpec::from(LaplaceSpec::on(LaplaceMesh::Box, functions)))
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Bounds, Dataset, Field, Points};
    use crate::{FitConfig, Silent};
    use faer::Mat;
    use serde_json::json;

    #[test]
    fn large_inputs_enter_layers_in_many_functions() {
        let points = Points::grid(&Bounds::unit(2), &[66, 64]);
        let value = |i: usize, k: usize| {
            let (x, y) = (points.point(i)[0], points.point(i)[1]);
            (3.0 * x + k as f64).sin() * (1.0 + y * (2.0 * k as f64).cos())
        };
        let f = Mat::from_fn(points.len(), 24, value);
        let u = Mat::from_fn(points.len(), 24, |i, k| value(i, k).powi(2));
        let field = |values| Field::shared(points.clone(), vec![values]).unwrap();
        let data = Dataset::new(field(f), field(u)).unwrap();
        let config: FitConfig = serde_json::from_value(json!({
            "output": {"basis": {"family": "fourier", "kind": "cosine", "functions": 9}},
            "map": {"kind": "layered", "layered": {
                "functions": 4, "channels": 2, "layers": 1, "hidden": 4, "epochs": 1, "points": 16,
            }},
        }))
        .unwrap();
        let (plan, _) = crate::plan(&data, &config, &Silent).unwrap();
        assert_eq!(plan.inputs[0].bases[0].family(), "laplace");
        let described = serde_json::to_value(&plan.inputs[0].bases[0]).unwrap();
        assert_eq!(described["functions"], 1024);
    }
}
