//! The ways in which samples are held out.

use crate::Result;
use crate::decode::Targets;
use crate::error::in_order;
use crate::fit::{Context, Inputs, MapTrainingSet, encode_inputs, held_out_error};
use crate::map::LinearMap;
use crate::plan::InputPlan;
use rayon::prelude::*;

/// The ways in which samples are held out, the fit's own first: several if samples are few.
pub(super) struct Folds<'a>(Vec<Context<'a>>);

impl<'a> Folds<'a> {
    pub(super) fn new(context: Context<'a>) -> Self {
        let others = context.other_folds();
        Folds(std::iter::once(context).chain(others).collect())
    }

    /// The fold of the fit.
    pub(super) fn first(&self) -> &Context<'a> {
        &self.0[0]
    }

    /// The others, numbered from 1.
    pub(super) fn others(&self) -> impl Iterator<Item = (usize, &Context<'a>)> {
        self.0.iter().enumerate().skip(1)
    }

    /// Calls `make` for each fold, or once for all if its result is not `learned`: only learned results must not see
    /// the held-out samples.
    pub(super) fn each<T>(
        &self,
        learned: bool,
        make: impl Fn(&Context<'a>) -> Result<T> + Sync + Send,
    ) -> Result<PerFold<T>>
    where
        T: Send,
    {
        let count = if learned { self.0.len() } else { 1 };
        Ok(PerFold(in_order(self.0[..count].par_iter().map(make))?))
    }

    /// The inputs as `plans` encode them.
    pub(super) fn encode(&self, plans: &[InputPlan], raw: bool) -> Result<PerFold<Inputs>> {
        let learned = plans.iter().any(InputPlan::is_learned);
        self.each(learned, |context| encode_inputs(context, plans, raw))
    }

    /// The data on which closed-form maps are compared.
    pub(super) fn closed_form<'b>(
        &'b self,
        inputs: &'b PerFold<Inputs>,
        targets: impl Fn(usize) -> &'b Targets,
    ) -> Vec<Fold<'b>> {
        let fold = |(j, context): (usize, &'b Context<'a>)| Fold {
            context,
            set: MapTrainingSet::closed_form(inputs.of(j), targets(j)),
        };
        self.0.iter().enumerate().map(fold).collect()
    }
}

/// One value per fold, or one for all of them.
pub(super) struct PerFold<T>(Vec<T>);

impl<T> PerFold<T> {
    pub(super) fn of(&self, fold: usize) -> &T {
        &self.0[fold.min(self.0.len() - 1)]
    }

    pub(super) fn into_first(mut self) -> T {
        self.0.swap_remove(0)
    }
}

/// Training samples of which some are held out.
pub(super) struct Fold<'a> {
    pub context: &'a Context<'a>,
    pub set: MapTrainingSet<'a>,
}

impl Fold<'_> {
    pub(super) fn error(&self, map: &LinearMap) -> f64 {
        held_out_error(map, &self.set, &self.context.split)
    }

    /// The loss of the output space on the held-out samples.
    pub(super) fn floor(&self) -> f64 {
        let held = &self.context.split.validation;
        self.set.targets.select(held).floor()
    }
}
