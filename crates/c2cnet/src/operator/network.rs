//! Networks among the coefficient maps: whether to train one, on what, and for how long.

use super::auto_map::{Chosen, Pick, held_out_error};
use super::lesson::Lesson;
use super::{Candidate, MapConfig, MapKind, Observer};
use crate::Result;
use crate::map::Split;
use crate::map::mlp::{MlpMap, MlpSpec, TrainingReport};

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

/// A network that is to be trained, or was.
pub(super) struct NetworkChoice {
    pub spec: MlpSpec,
    /// Trained without the held-out samples; `None` where the recipe wants all of them.
    pub fold: Option<TrainingReport>,
}

impl NetworkChoice {
    /// Whether the network that was judged is the one of the model: held-out samples that decided when
    /// training ends cannot train as well, and a few more would hardly change it.
    fn is_final(&self) -> bool {
        let by_held_out_samples = self.spec.patience.is_some() || self.spec.keep_best;
        self.fold.as_ref().is_some_and(|fold| {
            let (trained, held) = fold.samples;
            by_held_out_samples || (held as f64) < FEW_LEFT_OUT * (trained + held) as f64
        })
    }
}

/// Trains a network beside the map that was chosen in closed form, if the settings ask for one or
/// leave the choice open, and takes its place where it is better.
pub(super) fn consider(
    chosen: &mut Chosen,
    lesson: &Lesson<'_>,
    split: &Split,
    config: &MapConfig,
    seed: u64,
    observer: &dyn Observer,
) -> Result<()> {
    let spec = match config.kind {
        MapKind::Linear | MapKind::Kernel => return Ok(()),
        MapKind::Auto
            if chosen.on_floor || config.budget == 0 || split.train.len() < FEWEST_SAMPLES =>
        {
            return Ok(());
        }
        MapKind::Mlp => config.mlp.clone(),
        MapKind::Auto => config.mlp.within(split.train.len(), config.budget),
    };
    if config.takes_raw_coefficients() {
        chosen.pick = Pick::Network(Box::new(NetworkChoice { spec, fold: None }));
        chosen.fold = None;
        return Ok(());
    }
    let mut text = String::new();
    if config.kind == MapKind::Auto {
        // Not before the closed form had its say on as many samples.
        chosen.judge_fold(lesson, split, seed)?;
        let mut shorter = f64::INFINITY;
        for part in PROBES {
            observer.step(&format!("training a network for 1/{part} of its steps"));
            let short = spec.shortened(part, split.train.len());
            let (error, _, report) = train_fold(lesson, split, &short, seed, observer)?;
            text = format!(", about {:.0} s", report.seconds * part as f64);
            // The way down flattens in the end: what is not expected to win will not.
            let expected = expected_error(shorter, error, part);
            if expected > chosen.validation_rl2e {
                chosen.candidates.push(Candidate {
                    name: format!("network, expected from 1/{part} of its training"),
                    validation_rl2e: expected,
                });
                return Ok(());
            }
            // No doubt is left where a part of the training wins already.
            if error < WORTH * chosen.validation_rl2e {
                break;
            }
            shorter = error;
        }
    }
    observer.step(&format!(
        "training a network on {} of {} samples{text}",
        split.train.len(),
        lesson.coefficients.ncols()
    ));
    let (error, map, report) = train_fold(lesson, split, &spec, seed, observer)?;
    chosen.candidates.push(Candidate {
        name: "network".into(),
        validation_rl2e: error,
    });
    if config.kind == MapKind::Mlp || error < WORTH * chosen.validation_rl2e {
        chosen.pick = Pick::Network(Box::new(NetworkChoice {
            spec,
            fold: Some(report),
        }));
        chosen.fold = Some(Box::new(map));
        chosen.validation_rl2e = error;
    }
    Ok(())
}

/// The error after all steps, from those after one `part`th of them and after half of that (infinite
/// if not known).
fn expected_error(shorter: f64, longer: f64, part: usize) -> f64 {
    let factor = (longer / shorter).clamp(FASTEST, 1.0);
    longer * factor.powi(part.ilog2() as i32)
}

fn train_fold(
    lesson: &Lesson<'_>,
    split: &Split,
    spec: &MlpSpec,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(f64, MlpMap, TrainingReport)> {
    let (map, report) = MlpMap::fit(
        &lesson.for_network(),
        &split.train,
        &split.validation,
        spec,
        seed,
        observer,
    )?;
    let error = held_out_error(&map, lesson.coefficients, lesson.targets, split);
    Ok((error, map, report))
}

/// The network of the final model, trained on all samples. `None`: the one that was judged stays.
pub(super) fn train_on_all(
    choice: &NetworkChoice,
    lesson: &Lesson<'_>,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Option<(MlpMap, TrainingReport)>> {
    if choice.is_final() {
        return Ok(None);
    }
    let all: Vec<usize> = (0..lesson.coefficients.ncols()).collect();
    let text = match &choice.fold {
        Some(fold) => format!(
            ", about {:.0} s",
            fold.seconds * all.len() as f64 / fold.samples.0 as f64
        ),
        None => String::new(),
    };
    observer.step(&format!("training the network on all samples{text}"));
    let data = lesson.for_network();
    MlpMap::fit(&data, &all, &[], &choice.spec, seed, observer).map(Some)
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
