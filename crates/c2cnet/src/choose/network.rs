//! Networks among the coefficient maps: whether to train one, on what, and for how long.

use super::folds::{Folds, PerFold};
use super::maps::{ClosedForm, WORTHWHILE_RATIO};
use crate::Result;
use crate::fit::{
    Context, FoldMaps, Inputs, Judged, MapTrainingSet, OutputFrame, Outputs, encode_inputs,
    fold_kernel, fold_linear, fold_network, held_out_errors, judge, judge_fold, represent_outputs,
    train_network,
};
use crate::map::mlp::MlpSpec;
use crate::map::{CoefficientMap, KernelReport};
use crate::metrics::mean;
use crate::observe::Work;
use crate::plan::{InputPlan, MapPlan, NetworkSpec, OutputPlan, TrainOn};
use crate::report::Candidate;
use crate::settings::{MapConfig, MapKind};

/// A training run that leaves out less than this fraction of the samples is not repeated with all of them: the gain is
/// not worth the cost.
const FEW_LEFT_OUT: f64 = 0.1;

/// Short runs with 1/16, 1/8 and 1/4 of the steps show whether the full one is worth its time: the error
/// falls by a factor with each doubling of the steps, and the factor approaches 1 as the curve flattens.
const PROBES: [usize; 3] = [16, 8, 4];

/// A drop faster than this per doubling does not last: from a sixteenth of the steps to all of them, 2D Darcy
/// shows 0.65.
const FASTEST: f64 = 0.6;

/// Each doubling's gain is the previous one raised to this power; for layers the gain stays constant.
const FLATTENING: f64 = 0.85;

/// With fewer samples `auto` trains no network: too few remain to judge it.
const FEWEST_SAMPLES: usize = 50;

/// Networks are trained in single precision, so they cannot beat a closed-form map with a smaller error.
const SINGLE_PRECISION: f64 = 1e-5;

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
    /// What was not tried, and why not.
    pub notes: Vec<String>,
    /// The map's error on each held-out sample.
    pub errors: Vec<f64>,
    /// Inputs other than those of the question.
    pub inputs: Option<(Vec<InputPlan>, PerFold<Inputs>)>,
}

/// The outcome of training a network until it won or could no longer win.
pub(super) struct Contest {
    pub candidate: Candidate,
    /// The decision, if it won.
    pub winner: Option<Decision>,
}

/// The question to decide.
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

    /// Whether any coefficient of the inputs differs between samples; where none does, there is nothing to learn.
    pub(super) fn inputs_vary(&self) -> bool {
        let (inputs, _) = self.spaces();
        let coefficients = inputs.coefficients.as_ref();
        (1..coefficients.ncols()).any(|k| coefficients.col(k) != coefficients.col(0))
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
                    && self.inputs_vary()
                    && closed.with_all > SINGLE_PRECISION
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
            _ => self.train(NetworkSpec::Mlp(Box::new(spec)), None),
        }
    }

    fn closed_form(&self, map: ClosedMap) -> Result<Decision> {
        let errors = map.errors;
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
            errors,
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
        let contest = self.contend(&set, spec, &closed.errors)?;
        let closed_error = Some(mean(&closed.errors));
        let mut decision = match contest.winner {
            Some(winner) => winner,
            None => self.closed_form(closed)?,
        };
        decision.candidates = vec![contest.candidate];
        decision.closed_error = closed_error;
        Ok(decision)
    }

    /// Trains a network on `set` as long as its error may fall below that of the best map so far, whose errors on the
    /// held-out samples are `champion`.
    pub(super) fn contend(
        &self,
        set: &MapTrainingSet<'_>,
        spec: NetworkSpec,
        champion: &[f64],
    ) -> Result<Contest> {
        let context = self.context();
        let least = mean(champion);
        let mut seconds = None;
        let mut shorter = f64::INFINITY;
        let mut probe: Option<Box<dyn CoefficientMap>> = None;
        for part in PROBES {
            context.begin(Work::ProbeNetwork { part });
            let short = spec.shortened(part, context.split.train.len());
            let (map, report) = train_network(context, set, &short)?;
            let error = mean(&held_out_errors(map.as_ref(), set, &context.split));
            seconds = Some(report.seconds * part as f64);
            // Training curves flatten, so a network not expected to win now never will.
            let flattening = match spec {
                NetworkSpec::Mlp(_) => FLATTENING,
                NetworkSpec::Layered(_) => 1.0,
            };
            let expected = expected_error(shorter, error, part, flattening);
            if expected > least {
                let name = format!("{}, expected from 1/{part} of its training", spec.name());
                let candidate = Candidate::new(name, expected);
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
        let mut decision = self.train(spec.clone(), seconds)?;
        let candidate = Candidate::new(spec.name(), mean(&decision.errors));
        if !clearly_less(&decision.errors, champion) {
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
    pub(super) fn train(&self, spec: NetworkSpec, seconds: Option<f64>) -> Result<Decision> {
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
        let errors = held_out_errors(map.as_ref(), &set, &context.split);
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
            candidates: vec![Candidate::new(name, mean(&errors))],
            errors,
            ..Decision::of(plan)
        };
        Ok(Decision { spaces, ..decision })
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
    /// A map for which nothing has been computed yet.
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
            errors: Vec::new(),
            inputs: None,
        }
    }
}

/// The closed-form map, fitted without the held-out samples. The choice of a kernel's parameters used
/// fewer samples, so its error was larger.
struct ClosedMap {
    closed: ClosedForm,
    map: Box<dyn CoefficientMap>,
    /// On each held-out sample.
    errors: Vec<f64>,
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
        let errors = held_out_errors(map.as_ref(), set, &context.split);
        Ok(ClosedMap {
            closed,
            map,
            errors,
        })
    }
}

/// Whether the errors of a challenger are lower than those of the map so far on the same samples: by more than training
/// costs, and by more than chance, which is one standard error of the mean difference.
fn clearly_less(challenger: &[f64], champion: &[f64]) -> bool {
    let gains: Vec<f64> = champion
        .iter()
        .zip(challenger)
        .map(|(a, b)| a - b)
        .collect();
    let (gain, count) = (mean(&gains), gains.len() as f64);
    let variance = gains.iter().map(|g| (g - gain).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    gain > (1.0 - WORTHWHILE_RATIO) * mean(champion) && gain > (variance / count).sqrt()
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
    use super::{clearly_less, expected_error};

    #[test]
    fn a_challenger_wins_by_more_than_chance() {
        let champion = [1.0, 2.0, 3.0, 2.0];
        assert!(clearly_less(&[0.9, 1.8, 2.7, 1.8], &champion));
        assert!(
            !clearly_less(&[0.99, 1.98, 2.97, 1.98], &champion),
            "not worth it"
        );
        assert!(!clearly_less(&[0.2, 2.5, 2.0, 2.6], &champion), "by chance");
        assert!(!clearly_less(&[f64::INFINITY; 4], &champion));
    }

    #[test]
    fn errors_fall_by_less_at_every_doubling() {
        let expected = 0.64 * 0.8f64.powf(0.85 + 0.85 * 0.85 + 0.85f64.powi(3));
        assert!((expected_error(0.8, 0.64, 8, 0.85) - expected).abs() < 1e-12);
        // A fast start does not last; if the rate is unknown, the fastest decrease is assumed.
        let fast = 0.6f64.powf(0.85 + 0.85 * 0.85);
        assert!((expected_error(0.8, 0.1, 4, 0.85) - 0.1 * fast).abs() < 1e-12);
        let hope = 0.6 * 0.6;
        assert!((expected_error(f64::INFINITY, 0.1, 4, 0.85) - 0.1 * hope).abs() < 1e-12);
        // An error that grows with the steps promises nothing.
        assert_eq!(expected_error(0.3, 0.4, 4, 0.85), 0.4);
        // Without flattening every doubling gains the same.
        assert!((expected_error(0.8, 0.64, 8, 1.0) - 0.32768).abs() < 1e-12);
    }
}
