//! A plan: everything that a fit leaves to choose, settled. What a plan leaves to the data follows from a rule that it
//! names, as the ridge parameter of an encoder from generalised cross-validation.
//!
//! `choose` makes one from data and [settings](crate::FitConfig); [`crate::fit_plan`] turns it into a model.
//! In between a person may look at it and change it.

use crate::basis::BasisSpec;
use crate::cite::{self, Reference};
use crate::data::{Bounds, Dataset, Field, Fields, Symmetries};
use crate::encode::{EncoderSpec, Kind, Transform, VectorSpec};
use crate::error::counted;
use crate::map::mlp::Recipe;
use crate::map::{KernelSettings, LayeredSpec, MlpSpec};
use crate::operator::C2CNet;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What [`crate::fit_plan`] does: for each field its basis and how it is encoded or decoded, and the map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// How samples and points are divided.
    pub protocol: Protocol,
    /// One entry per input field of the data.
    pub inputs: Vec<InputPlan>,
    /// One entry per output field of the data.
    pub outputs: Vec<OutputPlan>,
    /// The coefficient map.
    pub map: MapPlan,
}

/// How samples and points are divided into those that fit and those that judge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Seed of every random choice.
    pub seed: u64,
    /// Part of the training samples that judges.
    pub validation: f64,
    /// Part of the output points that judges.
    pub withhold: f64,
    /// Symmetries by which training samples are augmented.
    pub symmetries: Symmetries,
}

/// How an input field is encoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputPlan {
    /// The field's name; a single one is called `""`.
    pub name: String,
    /// How components share coefficients.
    pub components: Components,
    /// What happens to values and coefficients.
    pub transform: Transform,
    /// The box on which the basis lives.
    pub domain: Bounds,
    /// One basis for all components, or one for each.
    pub bases: Vec<BasisSpec>,
    /// The regularised least squares.
    pub encoder: EncoderSpec,
    /// What each value of a vector without points is; empty: all are plain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// The size by which each component is divided; empty: none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<f64>,
}

/// How an output field is decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputPlan {
    /// The field's name; a single one is called `""`.
    pub name: String,
    /// How components share coefficients.
    pub components: Components,
    /// The box on which the basis lives.
    pub domain: Bounds,
    /// Relative cuts of singular values: one for all components, or one each; by the error at withheld points
    /// if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<f64>,
    /// One basis for all components, or one for each.
    pub bases: Vec<BasisSpec>,
    /// What each value of a vector without points is; empty: all are plain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// The size by which each component is divided, so that smaller ones count as much; empty: none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<f64>,
    /// Where each sample's points are the nodes of one mesh that moves with the inputs: the plan of how far each node is
    /// from its mean place. Basis and domain are then those of a function on the mean places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moving_nodes: Option<Box<Plan>>,
}

impl InputPlan {
    /// Whether some of its functions are learned from samples.
    pub(crate) fn is_learned(&self) -> bool {
        self.bases.iter().any(BasisSpec::depends_on_values)
    }

    /// How a vector without points is encoded.
    pub(crate) fn vector(&self) -> VectorSpec {
        VectorSpec {
            kinds: self.kinds.clone(),
        }
    }
}

impl OutputPlan {
    /// Whether some of its functions are learned from samples.
    pub(crate) fn is_learned(&self) -> bool {
        self.bases.iter().any(BasisSpec::depends_on_values)
    }

    /// How a vector without points is decoded.
    pub(crate) fn vector(&self) -> VectorSpec {
        VectorSpec {
            kinds: self.kinds.clone(),
        }
    }
}

/// How several components share coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Components {
    /// Each its own, concatenated.
    #[default]
    Separate,
    /// One vector-valued basis.
    Joint,
}

/// The coefficient map with its parameters settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum MapPlan {
    /// Ridge regression.
    Linear,
    /// Relevance-weighted kernel regression.
    Kernel(KernelSettings),
    /// A fully connected network.
    Mlp {
        /// Its settings.
        spec: Box<MlpSpec>,
        /// Which samples train it.
        train_on: TrainOn,
    },
    /// Layers in a prescribed basis.
    Layered {
        /// Their settings.
        spec: Box<LayeredSpec>,
        /// Which samples train them.
        train_on: TrainOn,
    },
}

/// A planned map; those that are trained by steps are one variant.
pub(crate) enum PlannedMap<'a> {
    Linear,
    Kernel(&'a KernelSettings),
    Network(NetworkSpec),
}

/// What is trained by steps: a network between coefficients, or layers.
#[derive(Debug, Clone)]
pub(crate) enum NetworkSpec {
    Mlp(Box<MlpSpec>),
    Layered(Box<LayeredSpec>),
}

impl NetworkSpec {
    /// As the map of a plan.
    pub(crate) fn into_plan(self, train_on: TrainOn) -> MapPlan {
        match self {
            NetworkSpec::Mlp(spec) => MapPlan::Mlp { spec, train_on },
            NetworkSpec::Layered(spec) => MapPlan::Layered { spec, train_on },
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            NetworkSpec::Mlp(_) => "network",
            NetworkSpec::Layered(_) => "layered",
        }
    }

    /// The same with fewer steps, by the given factor.
    pub(crate) fn shortened(&self, times: usize, samples: usize) -> Self {
        match self {
            NetworkSpec::Mlp(spec) => NetworkSpec::Mlp(Box::new(spec.shortened(times, samples))),
            NetworkSpec::Layered(spec) => NetworkSpec::Layered(Box::new(spec.shortened(times))),
        }
    }
}

/// Which training samples train the network of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainOn {
    /// All of them.
    All,
    /// Those that are not held out: the network that was judged is the one of the model.
    NotHeldOut,
}

impl MapPlan {
    /// Its name in settings and messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            MapPlan::Linear => "linear",
            MapPlan::Kernel(_) => "kernel",
            MapPlan::Mlp { .. } => "network",
            MapPlan::Layered { .. } => "layered",
        }
    }

    /// The map itself, without the samples that train it.
    pub(crate) fn map(&self) -> PlannedMap<'_> {
        match self {
            MapPlan::Linear => PlannedMap::Linear,
            MapPlan::Kernel(settings) => PlannedMap::Kernel(settings),
            MapPlan::Mlp { spec, .. } => PlannedMap::Network(NetworkSpec::Mlp(spec.clone())),
            MapPlan::Layered { spec, .. } => {
                PlannedMap::Network(NetworkSpec::Layered(spec.clone()))
            }
        }
    }

    /// Whether it is fitted without training.
    pub(crate) fn is_closed_form(&self) -> bool {
        matches!(self, MapPlan::Linear | MapPlan::Kernel(_))
    }

    /// Whether the network that is judged by held-out samples is the one of the model.
    pub(crate) fn is_judged_network(&self) -> bool {
        matches!(
            self,
            MapPlan::Mlp {
                train_on: TrainOn::NotHeldOut,
                ..
            } | MapPlan::Layered {
                train_on: TrainOn::NotHeldOut,
                ..
            }
        )
    }

    /// Whether the map is the paper's network, which sees coefficients as they are and trains on all samples.
    pub(crate) fn takes_raw_coefficients(&self) -> bool {
        matches!(self, MapPlan::Mlp { spec, .. } if spec.recipe == Recipe::Paper)
    }
}

impl Plan {
    /// Sizes by which the components of inputs and of outputs are divided.
    pub(crate) fn sizes(&self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let inputs = self.inputs.iter().map(|p| p.sizes.clone());
        let outputs = self.outputs.iter().map(|p| p.sizes.clone());
        (inputs.collect(), outputs.collect())
    }

    /// The plan by which a model was fitted; `None` where its file does not say.
    pub fn of(model: &C2CNet) -> Option<Plan> {
        Plan::deserialize(&model.info()["plan"]).ok()
    }

    /// What to cite for a model that is fitted by this plan: the paper first, each publication once.
    pub fn references(&self) -> Vec<Reference> {
        let mut all = vec![cite::PAPER];
        for input in &self.inputs {
            all.extend(input.bases.iter().flat_map(BasisSpec::references));
            all.extend(input.encoder.references());
        }
        for output in &self.outputs {
            all.extend(output.bases.iter().flat_map(BasisSpec::references));
        }
        all.extend(match &self.map {
            MapPlan::Linear => vec![cite::RIDGE_REGRESSION],
            MapPlan::Kernel(settings) => settings.references(),
            MapPlan::Mlp { spec, .. } => spec.references(),
            MapPlan::Layered { spec, .. } => spec.references(),
        });
        let mut seen = BTreeSet::new();
        all.retain(|reference| seen.insert(reference.bibtex));
        all
    }

    /// Checks that the plan is one for `data`: the same fields, domains of their dimension, ranges.
    ///
    /// # Errors
    /// Naming what does not fit.
    pub fn check(&self, data: &Dataset) -> Result<()> {
        let Protocol {
            validation,
            withhold,
            ..
        } = self.protocol;
        if !(validation > 0.0 && validation < 0.5 && (0.0..=0.5).contains(&withhold)) {
            return Err(Error::Config(format!(
                "plan: validation = {validation} and withhold = {withhold} must both lie between 0 and 0.5"
            )));
        }
        let inputs = self.inputs.iter().map(|p| (&p.name, &p.domain)).collect();
        check_fields("input", inputs, &data.inputs)?;
        let outputs = self.outputs.iter().map(|p| (&p.name, &p.domain)).collect();
        check_fields("output", outputs, &data.outputs)?;
        for (plan, (_, field)) in self.inputs.iter().zip(&data.inputs) {
            check_sizes("input", &plan.name, &plan.sizes, field)?;
            plan.encoder.given()?;
        }
        for (plan, (_, field)) in self.outputs.iter().zip(&data.outputs) {
            check_sizes("output", &plan.name, &plan.sizes, field)?;
        }
        match &self.map {
            MapPlan::Linear => Ok(()),
            MapPlan::Kernel(settings) => settings.check(),
            MapPlan::Mlp { .. }
                if self.map.takes_raw_coefficients() && self.map.is_judged_network() =>
            {
                Err(Error::Config(
                    "plan: the recipe `paper` trains on all samples; set train_on = \"all\"".into(),
                ))
            }
            MapPlan::Mlp { spec, .. } => spec.check(),
            MapPlan::Layered { spec, .. } => spec.check(),
        }
    }
}

/// Plans and fields must be the same, in the same order.
fn check_fields(kind: &str, plans: Vec<(&String, &Bounds)>, fields: &Fields) -> Result<()> {
    let names = |list: Vec<&String>| format!("{list:?}");
    let planned: Vec<&String> = plans.iter().map(|p| p.0).collect();
    let present: Vec<&String> = fields.iter().map(|f| &f.0).collect();
    if planned != present {
        return Err(Error::Config(format!(
            "the plan is for the {kind}s {}, the data has {}; make a plan for this data",
            names(planned),
            names(present)
        )));
    }
    for ((name, domain), (_, field)) in plans.iter().zip(fields) {
        check_domain(domain, field)
            .map_err(|e| Error::Config(format!("the plan's {kind} {name:?}: {e}")))?;
    }
    Ok(())
}

fn check_sizes(kind: &str, name: &str, sizes: &[f64], field: &Field) -> Result<()> {
    let fine = sizes.iter().all(|s| s.is_finite() && *s > 0.0);
    match fine && (sizes.is_empty() || sizes.len() == field.components()) {
        true => Ok(()),
        false => Err(Error::Config(format!(
            "the plan's {kind} {name:?}: sizes = {sizes:?}; give a positive number for each of the {} components, or \
             none",
            field.components()
        ))),
    }
}

/// A domain must have the dimension of the field's points.
pub(crate) fn check_domain(domain: &Bounds, field: &Field) -> Result<()> {
    if domain.dim() != field.dim() {
        return Err(Error::Config(format!(
            "domain {domain} has {}, the points have {}",
            counted(domain.dim(), "side"),
            counted(field.dim(), "dimension")
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn misspelt_settings_of_maps_are_errors() {
        let pass = json!({"kernel": "gaussian", "length": 4.0, "nugget": 1e-8});
        let kernel = |pass| json!({"kind": "kernel", "passes": [pass], "max_centres": 2000});
        let read = |map| serde_json::from_value::<MapPlan>(map);
        assert!(read(kernel(pass.clone())).is_ok());
        let mut map = kernel(pass.clone());
        map["exponant"] = json!(1.0);
        let mut misspelt = pass;
        misspelt["lenght"] = json!(2.0);
        let network = json!({"kind": "mlp", "spec": {}, "train_on": "all", "steps": 10});
        for (map, key) in [
            (map, "exponant"),
            (kernel(misspelt), "lenght"),
            (network, "steps"),
        ] {
            let error = read(map).unwrap_err().to_string();
            assert!(error.contains(&format!("unknown field `{key}`")), "{error}");
        }
    }
}
