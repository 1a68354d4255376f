//! Networks among the coefficient maps: whether to train one, on what, and for how long.

use super::folds::{Folds, PerFold};
use super::maps::ClosedForm;
use crate::Result;
use crate::fit::{
    Context, FoldMaps, Inputs, Judged, MapTrainingSet, OutputFrame, Outputs, encode_inputs,
    fold_kernel, fold_linear, fold_network, held_out_error, judge, judge_fold, represent_outputs,
    train_network,
};
use crate::map::mlp::MlpSpec;
use crate::map::{CoefficientMap, KernelReport};
use crate::observe::Work;
use crate::plan::{InputPlan, MapPlan, NetworkSpec, OutputPlan, TrainOn};
use crate::report::Candidate;
use crate::settings::{MapConfig, MapKind};

/// A training that leaves out less than this fraction of the samples is not repeated with all of them: the gain is not
/// worth the cost.
const FEW_LEFT_OUT: f64 = 0.1;

/// Short trainings with 1/16, 1/8 and 1/4 of the steps show whether the full one is worth its time: the error
/// falls by a factor with each doubling of the steps, and the factor approaches 1 as the curve flattens.
const PROBES: [usize; 3] = [16, 8, 4];

/// A drop faster than this per doubling does not last: from a sixteenth of the steps to all of them, 2D Darcy
/// shows 0.65.
const FASTEST: f64 = 0.6;

/// Each doubling's gain is the previous one raised to this power; for layers the gain stays constant.
const FLATTENING: f64 = 0.85;

/// With fewer samples `auto` trains no network: too few are left to judge it.
const FEWEST_SAMPLES: usize = 50;

/// Networks are trained in single precision, so they cannot beat a closed-form map with a smaller error.
const SINGLE_PRECISION: f64 = 1e-5;

/// A network must beat the closed-form map by this factor to be worth training.
const WORTHWHILE_RATIO: f64 = 0.98;

/// The map of a plan, with what was computed while choosing it.
pub(super) struct Decision {
    pub map: MapPlan,
    pub judged: Judged,
    /// Spaces of the model, if a network was trained in them.
    pub spaces: Option<(Inputs, Outputs)>,
    /// How the kernel's parameters were chosen, if it is the map of the plan.
    pub kernel: Option<KernelReport>,
    /// Networks that were compared with the closed-form map.
    pub candidates: Vec<Candidate>,
    /// The closed form's error when fitted to as many samples as the network.
    pub closed_error: Option<f64>,
    /// What was not tried, and why.
    pub notes: Vec<String>,
    /// The map's error on held-out samples.
    pub error: f64,
    /// Inputs other than those of the question.
    pub inputs: Option<(Vec<InputPlan>, PerFold<Inputs>)>,
}

/// The outcome of training a network until it won or could no longer win.
pub(super) struct Contest {
    pub candidate: Candidate,
    /// If it won.
    pub winner: Option<Decision>,
}

/// What is to be decided.
pub(super) struct Question<'a> {
    pub folds: &'a Folds<'a>,
    /// The plan without its map.
    pub inputs_plan: &'a [InputPlan],
    pub outputs_plan: &'a [OutputPlan],
    /// The inputs on which closed forms were compared.
    pub inputs: &'a PerFold<Inputs>,
    pub outputs: &'a PerFold<Outputs>,
    pub config: &'a MapConfig,
}

impl<'a> Question<'a> {
    pub(super) fn context(&self) -> &'a Context<'a> {
        self.folds.first()
    }

    pub(super) fn spaces(&self) -> (&'a Inputs, &'a Outputs) {
        (self.inputs.of(0), self.outputs.of(0))
    }

    /// Decides between the better closed-form map and a network, if the settings ask for one or leave the
    /// choice open.
    pub(super) fn decide(&self, closed: ClosedForm) -> Result<Decision> {
        let config = self.config;
        let trained = self.context().split.train.len();
        let spec = match config.kind {
            MapKind::Mlp => Some(config.mlp.clone()),
            MapKind::Auto
                if !closed.on_floor
                    && closed.error > SINGLE_PRECISION
                    && config.budget > 0
                    && trained >= FEWEST_SAMPLES =>
            {
                Some(config.mlp.within(trained, config.budget))
            }
            _ => None,
        };
        let Some(spec) = spec else {
            let (inputs, outputs) = self.spaces();
            let set = MapTrainingSet::closed_form(inputs, &outputs.targets);
            return self.closed_form(ClosedMap::new(self.context(), &set, closed)?);
        };
        if config.takes_raw_coefficients() {
            return Ok(trained_on_all(spec));
        }
        match config.kind {
            MapKind::Auto => self.probe_and_train(closed, spec),
            _ => Ok(self.train(NetworkSpec::Mlp(Box::new(spec)), None)?.1),
        }
    }

    fn closed_form(&self, map: ClosedMap) -> Result<Decision> {
        let error = map.error;
        let (plan, kernel) = match map.closed.kernel {
            None => (MapPlan::Linear, None),
            Some(choice) => (MapPlan::Kernel(choice.settings), Some(choice.report)),
        };
        let fold = FoldMaps {
            map: map.map,
            linear: map.closed.linear,
            training: None,
        };
        let (inputs, outputs) = self.spaces();
        let mut judged = judge_fold(self.context(), inputs, outputs, fold, false)?;
        for (j, other) in self.folds.others() {
            let spaces = (self.inputs.of(j), self.outputs.of(j));
            judged.pool_fold(other, spaces, &plan)?;
        }
        Ok(Decision {
            judged,
            kernel,
            error,
            ..Decision::of(plan)
        })
    }

    /// Trains a network until it wins or can no longer win, and takes it if it wins.
    fn probe_and_train(&self, closed: ClosedForm, spec: MlpSpec) -> Result<Decision> {
        let (inputs, outputs) = self.spaces();
        let spec = NetworkSpec::Mlp(Box::new(spec));
        let frame = OutputFrame::new(self.context(), inputs, outputs, &spec)?;
        let set = MapTrainingSet::new(inputs, outputs, &frame);
        // Only after the closed form was judged with as many samples.
        let closed = ClosedMap::new(self.context(), &set, closed)?;
        let contest = self.contend(&set, spec, closed.error)?;
        let closed_error = Some(closed.error);
        let mut decision = match contest.winner {
            Some(winner) => winner,
            None => self.closed_form(closed)?,
        };
        decision.candidates = vec![contest.candidate];
        decision.closed_error = closed_error;
        Ok(decision)
    }

    /// Trains a network on `set` as long as its error may fall below `least`.
    pub(super) fn contend(
        &self,
        set: &MapTrainingSet<'_>,
        spec: NetworkSpec,
        least: f64,
    ) -> Result<Contest> {
        let context = self.context();
        let mut seconds = None;
        let mut shorter = f64::INFINITY;
        let mut probe: Option<Box<dyn CoefficientMap>> = None;
        for part in PROBES {
            context.begin(Work::ProbeNetwork { part });
            let short = spec.shortened(part, context.split.train.len());
            let (map, report) = train_network(context, set, &short)?;
            let error = held_out_error(map.as_ref(), set, &context.split);
            seconds = Some(report.seconds * part as f64);
            // Training curves flatten, so a network not expected to win now never will.
            let flattening = match spec {
                NetworkSpec::Mlp(_) => FLATTENING,
                NetworkSpec::Layered(_) => 1.0,
            };
            let expected = expected_error(shorter, error, part, flattening);
            if expected > least {
                let candidate = Candidate {
                    name: format!("{}, expected from 1/{part} of its training", spec.name()),
                    error: expected,
                };
                let winner = None;
                return Ok(Contest { candidate, winner });
            }
            probe = Some(map);
            // If a partial training already wins, no further probe is needed.
            if error < WORTHWHILE_RATIO * least {
                break;
            }
            shorter = error;
        }
        let candidate = |error| Candidate {
            name: spec.name().into(),
            error,
        };
        let (error, mut decision) = self.train(spec.clone(), seconds)?;
        let candidate = candidate(error);
        if error >= WORTHWHILE_RATIO * least {
            let winner = None;
            return Ok(Contest { candidate, winner });
        }
        if let (Some(report), Some(probe)) = (&mut decision.judged.validation, &probe)
            && decision.map.is_judged_network()
        {
            // Only the shorter training can be judged between the points.
            let (inputs, outputs) = self.spaces();
            let linear = fold_linear(context, set)?;
            report.take_withheld(judge(context, inputs, outputs, probe.as_ref(), &linear)?);
        }
        let winner = Some(decision);
        Ok(Contest { candidate, winner })
    }

    /// A network trained without the held-out samples. If these are few, it becomes the model's network and is trained
    /// at all points; otherwise points are withheld as well, and it is trained again.
    pub(super) fn train(&self, spec: NetworkSpec, seconds: Option<f64>) -> Result<(f64, Decision)> {
        let split = &self.context().split;
        let (trained, held) = (split.train.len(), split.validation.len());
        // A few more samples would hardly change it.
        let is_final = (held as f64) < FEW_LEFT_OUT * (trained + held) as f64;
        let everything = self.context().with_everything();
        let mut spaces = None;
        if is_final {
            let outputs = represent_outputs(&everything, self.outputs_plan)?;
            spaces = Some((
                encode_inputs(&everything, self.inputs_plan, false)?,
                outputs,
            ));
        }
        let context = if is_final {
            &everything
        } else {
            self.context()
        };
        let (inputs, outputs) = match &spaces {
            Some((inputs, outputs)) => (inputs, outputs),
            None => self.spaces(),
        };
        let frame = OutputFrame::new(context, inputs, outputs, &spec)?;
        let set = MapTrainingSet::new(inputs, outputs, &frame);
        let (map, training) = fold_network(context, &set, &spec, seconds)?;
        let error = held_out_error(map.as_ref(), &set, &context.split);
        let fold = FoldMaps {
            map,
            linear: fold_linear(context, &set)?,
            training: Some(training),
        };
        let name = spec.name();
        let plan = spec.into_plan(match is_final {
            true => TrainOn::NotHeldOut,
            false => TrainOn::All,
        });
        let judged = judge_fold(context, inputs, outputs, fold, is_final)?;
        let decision = Decision {
            judged,
            candidates: vec![Candidate {
                name: name.into(),
                error,
            }],
            error,
            ..Decision::of(plan)
        };
        Ok((error, Decision { spaces, ..decision }))
    }
}

/// A network whose recipe wants all samples is not judged beforehand.
fn trained_on_all(spec: MlpSpec) -> Decision {
    Decision::of(MapPlan::Mlp {
        spec: Box::new(spec),
        train_on: TrainOn::All,
    })
}

impl Decision {
    /// For a map for which nothing has been computed yet.
    fn of(map: MapPlan) -> Self {
        Decision {
            map,
            judged: Judged {
                validation: None,
                training: None,
                network: None,
            },
            spaces: None,
            kernel: None,
            candidates: Vec::new(),
            closed_error: None,
            notes: Vec::new(),
            error: f64::INFINITY,
            inputs: None,
        }
    }
}

/// The closed-form map, fitted without the held-out samples. The choice of a kernel's parameters used
/// fewer samples, so its error was larger.
struct ClosedMap {
    closed: ClosedForm,
    map: Box<dyn CoefficientMap>,
    error: f64,
}

impl ClosedMap {
    fn new(context: &Context<'_>, set: &MapTrainingSet<'_>, closed: ClosedForm) -> Result<Self> {
        let map: Box<dyn CoefficientMap> = match &closed.kernel {
            None => Box::new(closed.linear.clone()),
            Some(choice) => {
                let features = choice.features.clone();
                let linear = &closed.linear;
                Box::new(fold_kernel(
                    context,
                    set,
                    &choice.settings,
                    features,
                    linear,
                )?)
            }
        };
        let error = held_out_error(map.as_ref(), set, &context.split);
        Ok(ClosedMap { closed, map, error })
    }
}

/// The error after all steps, extrapolated from the errors after `1/part` of them (`longer`) and half as many (`shorter`)
/// (infinite if unknown; then the fastest decrease is assumed). Each doubling's gain is the previous one raised to the
/// power `flattening`.
fn expected_error(shorter: f64, longer: f64, part: usize, flattening: f64) -> f64 {
    let doublings = part.ilog2() as i32;
    if shorter.is_infinite() {
        return longer * FASTEST.powi(doublings);
    }
    let factor = (longer / shorter).clamp(FASTEST, 1.0);
    let powers = (1..=doublings).map(|k| flattening.powi(k));
    longer * factor.powf(powers.sum())
}

#[cfg(test)]
mod tests {
    use super::expected_error;

    #[test]
    fn errors_fall_by_less_at_every_doubling() {
        let expected = 0.64 * 0.8f64.powf(0.85 + 0.85 * 0.85 + 0.85f64.powi(3));
        assert!((expected_error(0.8, 0.64, 8, 0.85) - expected).abs() < 1e-12);
        // A fast beginning does not last; if it is unknown, the fastest decrease is assumed.
        let fast = 0.6f64.powf(0.85 + 0.85 * 0.85);
        assert!((expected_error(0.8, 0.1, 4, 0.85) - 0.1 * fast).abs() < 1e-12);
        let hope = 0.6 * 0.6;
        assert!((expected_error(f64::INFINITY, 0.1, 4, 0.85) - 0.1 * hope).abs() < 1e-12);
        // An error that rises with the steps promises nothing.
        assert_eq!(expected_error(0.3, 0.4, 4, 0.85), 0.4);
        // Without flattening every doubling gains the same.
        assert!((expected_error(0.8, 0.64, 8, 1.0) - 0.32768).abs() < 1e-12);
    }
}
