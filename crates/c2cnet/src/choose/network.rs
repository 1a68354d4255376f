//! Networks among the coefficient maps: whether to train one, on what, and for how long.

use super::maps::ClosedForm;
use crate::Result;
use crate::fit::{
    Context, FoldMaps, Inputs, MapTrainingSet, OutputFrame, Outputs, fold_kernel, fold_network,
    held_out_error, train_network,
};
use crate::map::mlp::{MlpSpec, TrainingReport};
use crate::map::{CoefficientMap, KernelReport};
use crate::observe::Step;
use crate::plan::{MapPlan, TrainOn};
use crate::report::Candidate;
use crate::settings::{MapConfig, MapKind};

/// A training that leaves out less than this part of the samples need not be repeated with all: what they
/// would add is less than what it costs.
const FEW_LEFT_OUT: f64 = 0.1;

/// Short trainings with these parts of the steps tell whether the whole is worth its time: the error
/// falls by a like factor each time that the steps double, and by less as it flattens.
const PROBES: [usize; 3] = [16, 8, 4];

/// Errors that fall faster than this at a doubling do not go on so: from a sixteenth of the steps to
/// all of them 2D Darcy finds 0.65.
const FASTEST: f64 = 0.6;

/// With fewer samples `auto` trains no network: too few are left to judge one by.
const FEWEST_SAMPLES: usize = 50;

/// A network must beat the map in closed form by this factor to be worth its training.
const WORTH: f64 = 0.98;

/// The map of a plan, with what was computed to decide for it.
pub(super) struct Decision {
    pub plan: MapPlan,
    pub fold: FoldMaps,
    /// How the kernel's parameters were chosen, if it is the map of the plan.
    pub kernel: Option<KernelReport>,
    /// Networks that were compared with the map in closed form.
    pub candidates: Vec<Candidate>,
}

/// Decides between the better map in closed form and a network, if the settings ask for one or leave the
/// choice open.
pub(super) fn consider(
    context: &Context<'_>,
    inputs: &Inputs,
    outputs: &Outputs,
    closed: ClosedForm,
    config: &MapConfig,
) -> Result<Decision> {
    let trained = context.split.train.len();
    let spec = match config.kind {
        MapKind::Mlp => Some(config.mlp.clone()),
        MapKind::Auto if !closed.on_floor && config.budget > 0 && trained >= FEWEST_SAMPLES => {
            Some(config.mlp.within(trained, config.budget))
        }
        _ => None,
    };
    let Some(spec) = spec else {
        let set = MapTrainingSet::closed_form(inputs, &outputs.targets);
        return Judged::new(context, &set, closed).map(Judged::decide);
    };
    if config.takes_raw_coefficients() {
        return Ok(trained_on_all(closed, spec));
    }
    let frame = OutputFrame::new(context, outputs, &spec)?;
    let set = MapTrainingSet::new(inputs, outputs, &frame);
    match config.kind {
        MapKind::Auto => probe_and_train(context, &set, closed, spec),
        _ => {
            let (network, candidate) = train(context, &set, spec, None)?;
            Ok(network.decide(closed.linear, vec![candidate]))
        }
    }
}

/// A network whose recipe wants all samples is not judged beforehand.
fn trained_on_all(closed: ClosedForm, spec: MlpSpec) -> Decision {
    Decision {
        plan: MapPlan::Mlp {
            spec,
            train_on: TrainOn::All,
        },
        fold: FoldMaps {
            map: None,
            linear: closed.linear,
            training: None,
        },
        kernel: None,
        candidates: Vec::new(),
    }
}

/// The map in closed form, fitted without the held-out samples. The choice of a kernel's parameters used
/// fewer samples and found a larger error.
struct Judged {
    closed: ClosedForm,
    map: Box<dyn CoefficientMap>,
    error: f64,
}

impl Judged {
    fn new(context: &Context<'_>, set: &MapTrainingSet<'_>, closed: ClosedForm) -> Result<Self> {
        let map: Box<dyn CoefficientMap> = match &closed.kernel {
            None => Box::new(closed.linear.clone()),
            Some(choice) => {
                let features = choice.features.clone();
                Box::new(fold_kernel(context, set, &choice.settings, features)?)
            }
        };
        let error = held_out_error(map.as_ref(), set, &context.split);
        Ok(Judged { closed, map, error })
    }

    fn decide(self) -> Decision {
        let (plan, kernel) = match self.closed.kernel {
            None => (MapPlan::Linear, None),
            Some(choice) => (MapPlan::Kernel(choice.settings), Some(choice.report)),
        };
        Decision {
            plan,
            fold: FoldMaps {
                map: Some(self.map),
                linear: self.closed.linear,
                training: None,
            },
            kernel,
            candidates: Vec::new(),
        }
    }
}

/// A network trained without the held-out samples.
struct Network {
    spec: MlpSpec,
    map: Box<dyn CoefficientMap>,
    training: TrainingReport,
}

impl Network {
    fn decide(self, linear: crate::map::LinearMap, candidates: Vec<Candidate>) -> Decision {
        let (trained, held) = self.training.samples;
        // Held-out samples that decided when training ends cannot train as well, and a few more would
        // hardly change it.
        let by_held_out_samples = self.spec.patience.is_some() || self.spec.keep_best;
        let is_final =
            by_held_out_samples || (held as f64) < FEW_LEFT_OUT * (trained + held) as f64;
        Decision {
            plan: MapPlan::Mlp {
                spec: self.spec,
                train_on: match is_final {
                    true => TrainOn::NotHeldOut,
                    false => TrainOn::All,
                },
            },
            fold: FoldMaps {
                map: Some(self.map),
                linear,
                training: Some(self.training),
            },
            kernel: None,
            candidates,
        }
    }
}

/// Trains a network for as long as it promises to win, and takes it if it does.
fn probe_and_train(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    closed: ClosedForm,
    spec: MlpSpec,
) -> Result<Decision> {
    // Not before the closed form was judged with as many samples.
    let judged = Judged::new(context, set, closed)?;
    let mut seconds = None;
    let mut shorter = f64::INFINITY;
    for part in PROBES {
        context.begin(Step::ProbeNetwork { part });
        let short = spec.shortened(part, context.split.train.len());
        let (map, report) = train_network(context, set, &short)?;
        let error = held_out_error(&map, set, &context.split);
        seconds = Some(report.seconds * part as f64);
        // The way down flattens in the end: what is not expected to win will not.
        let expected = expected_error(shorter, error, part);
        if expected > judged.error {
            let mut decision = judged.decide();
            decision.candidates.push(Candidate {
                name: format!("network, expected from 1/{part} of its training"),
                error: expected,
            });
            return Ok(decision);
        }
        // No doubt is left where a part of the training wins already.
        if error < WORTH * judged.error {
            break;
        }
        shorter = error;
    }
    let (network, candidate) = train(context, set, spec, seconds)?;
    if candidate.error < WORTH * judged.error {
        return Ok(network.decide(judged.closed.linear, vec![candidate]));
    }
    let mut decision = judged.decide();
    decision.candidates.push(candidate);
    Ok(decision)
}

fn train(
    context: &Context<'_>,
    set: &MapTrainingSet<'_>,
    spec: MlpSpec,
    seconds: Option<f64>,
) -> Result<(Network, Candidate)> {
    let (map, training) = fold_network(context, set, &spec, seconds)?;
    let candidate = Candidate {
        name: "network".into(),
        error: held_out_error(&map, set, &context.split),
    };
    let map = Box::new(map);
    Ok((
        Network {
            spec,
            map,
            training,
        },
        candidate,
    ))
}

/// The error after all steps, from those after one `part`th of them and after half of that (infinite
/// if not known).
fn expected_error(shorter: f64, longer: f64, part: usize) -> f64 {
    let factor = (longer / shorter).clamp(FASTEST, 1.0);
    longer * factor.powi(part.ilog2() as i32)
}

#[cfg(test)]
mod tests {
    use super::expected_error;

    #[test]
    fn errors_fall_alike_at_every_doubling() {
        assert!((expected_error(0.8, 0.64, 8) - 0.32768).abs() < 1e-12);
        // A fast beginning is not the rule for the rest; without one, hope is all there is.
        let hope = 0.6 * 0.6;
        assert!((expected_error(0.8, 0.1, 4) - 0.1 * hope).abs() < 1e-12);
        assert!((expected_error(f64::INFINITY, 0.1, 4) - 0.1 * hope).abs() < 1e-12);
        // An error that rises with the steps promises nothing.
        assert_eq!(expected_error(0.3, 0.4, 4), 0.4);
    }
}
