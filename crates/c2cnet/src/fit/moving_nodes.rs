//! Models of how far the nodes of a mesh that moves with the inputs are from their mean places.

use super::{Context, Prepared, build};
use crate::data::{Dataset, Points};
use crate::observe::Observer;
use crate::operator::MovingNodes;
use crate::plan::Plan;
use crate::{Error, Result};

/// Displacements of the nodes of an output, and the plan of their model.
pub(crate) struct Displacements {
    /// The output.
    pub output: String,
    /// The mean places.
    pub reference: Points,
    /// Inputs, and how far each node is from its mean place.
    pub data: Dataset,
    pub plan: Plan,
}

impl Displacements {
    /// Those that `plan` asks for, and the samples with these outputs as functions on the mean places.
    ///
    /// # Errors
    /// If points are not the nodes of one mesh.
    pub(crate) fn of_plan(mut train: Dataset, plan: &Plan) -> Result<(Dataset, Vec<Self>)> {
        let mut all = Vec::new();
        for (place, output) in plan.outputs.iter().enumerate() {
            let Some(plan) = &output.moving_nodes else {
                continue;
            };
            let field = &train.outputs[place].1;
            let Some(reference) = MovingNodes::mean_places(field) else {
                return Err(Error::Config(format!(
                    "the plan's output {:?}: moving_nodes needs points that differ from sample to sample, and as many \
                     in each",
                    output.name
                )));
            };
            let data = MovingNodes::data(&train.inputs, field, &reference)?;
            train.outputs[place].1 = field.on_shared(&reference)?;
            all.push(Displacements {
                output: output.name.clone(),
                reference,
                data,
                plan: (**plan).clone(),
            });
        }
        Ok((train, all))
    }

    /// The nodes as the model of this plan predicts them.
    ///
    /// # Errors
    /// If the plan is not one for these displacements, or the observer asks to stop.
    pub(crate) fn fit(self, observer: &dyn Observer) -> Result<MovingNodes> {
        self.plan.check(&self.data)?;
        let (inputs, outputs) = self.plan.sizes();
        let data = self.data.divided(&inputs, &outputs);
        let context = Context::new(&data, self.plan.protocol, observer);
        let (model, _) = build(&context, &self.plan, Prepared::default())?;
        MovingNodes::new(&self.output, self.reference, model)
    }
}
