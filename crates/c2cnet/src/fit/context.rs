//! What all stages of a fit share: the training samples, which of them judge, and which points.

use crate::Result;
use crate::data::{Dataset, Symmetries};
use crate::decode::Withheld;
use crate::map::Split;
use crate::observe::{Event, Observer, Step, Work};
use crate::plan::Protocol;
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// What all stages share.
#[derive(Clone)]
pub(crate) struct Context<'a> {
    /// The training samples.
    pub train: &'a Dataset,
    /// Which of them judge, counting images under symmetries.
    pub split: Split,
    pub protocol: Protocol,
    pub observer: &'a dyn Observer,
    /// Relative errors below this are rounding of the outputs, which no map can resolve.
    pub rounding: f64,
    /// For each output, the points that judge along with the held-out samples; none in the final fit.
    pub(super) withheld: Vec<Withheld>,
    /// Whether held-out samples and withheld points judge, so that no space may be learned from them. They return for
    /// the final fit.
    judging: bool,
}

impl<'a> Context<'a> {
    /// The context in which held-out samples and withheld points judge.
    pub(crate) fn new(train: &'a Dataset, protocol: Protocol, observer: &'a dyn Observer) -> Self {
        let withheld = |field| Withheld::of_output(field, protocol.withhold, protocol.seed);
        Context {
            train,
            split: split(&train.alike(), &protocol, 0),
            rounding: match train.outputs.iter().any(|(_, f)| f.is_single_precision()) {
                true => SINGLE_ROUNDING,
                false => ROUNDING,
            },
            withheld: train.outputs.iter().map(|(_, f)| withheld(f)).collect(),
            protocol,
            observer,
            judging: true,
        }
    }

    /// The same samples with other parts held out, if they are so few that one part alone is too noisy.
    pub(crate) fn other_folds(&self) -> Vec<Context<'a>> {
        let samples = self.train.samples();
        if samples > FEW_SAMPLES {
            return Vec::new();
        }
        let alike = self.train.alike();
        let folds = FOLDS.min(samples / self.split.validation.len());
        let fold = |fold| Context {
            split: split(&alike, &self.protocol, fold),
            withheld: self.withheld.clone(),
            ..*self
        };
        (1..folds).map(fold).collect()
    }

    /// The same with all samples and points.
    pub(crate) fn with_everything(&self) -> Context<'a> {
        Context {
            split: self.split.clone(),
            withheld: vec![Withheld::none(); self.withheld.len()],
            judging: false,
            ..*self
        }
    }

    /// The points of the output `name` that judge.
    pub(crate) fn withheld_of(&self, name: &str) -> Withheld {
        let mut outputs = self.train.outputs.iter().zip(&self.withheld);
        let found = outputs.find(|((output, _), _)| output == name);
        found
            .map(|(_, withheld)| withheld.clone())
            .unwrap_or_default()
    }

    /// The samples and images that output spaces may be learned from; `None`: all of them.
    pub(super) fn learn_outputs_from(&self) -> Option<&[usize]> {
        self.judging.then_some(&self.split.train[..])
    }

    /// The samples that input spaces may be learned from, without their images, which come after all of them; `None`:
    /// all of them.
    pub(super) fn learn_inputs_from(&self) -> Option<&[usize]> {
        let originals = self.split.train.len() / self.protocol.symmetries.order();
        self.judging.then_some(&self.split.train[..originals])
    }

    /// The same for some of the samples, without images.
    pub(crate) fn without_images<'b>(&self, some: &'b Dataset) -> Context<'b>
    where
        'a: 'b,
    {
        let protocol = Protocol {
            symmetries: Symmetries::None,
            ..self.protocol
        };
        Context::new(some, protocol, self.observer)
    }

    pub(crate) fn begin(&self, work: Work) {
        self.observer.event(&Event::Begin(&Step(work)));
    }

    pub(crate) fn check_cancelled(&self) -> Result<()> {
        crate::observe::check_cancelled(self.observer)
    }
}

/// A map with a smaller error is exact up to rounding.
const ROUNDING: f64 = 1e-13;

/// The same for outputs in single precision: a few units in their last place.
const SINGLE_ROUNDING: f64 = 1e-6;

/// At most this many samples judge choices: more would barely improve the estimate, and are missing when maps are
/// fitted.
pub(crate) const MOST_HELD_OUT: usize = 2500;

/// With at most this many samples, several parts of them judge in turn.
const FEW_SAMPLES: usize = 400;

/// The number of such parts.
const FOLDS: usize = 5;

/// A seeded split of the original samples, the `fold`th of its kind; images of a sample under symmetries stay on its
/// side, and only originals judge.
///
/// Samples with the same inputs (`alike` gives the first of them for each) stay together, so that none judges a map
/// fitted to another; if the cut divides them, they are left out of the fit.
fn split(alike: &[usize], protocol: &Protocol, fold: usize) -> Split {
    let originals = alike.len();
    let images = protocol.symmetries.order();
    let mut order: Vec<usize> = (0..originals).collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(protocol.seed ^ 0x5a5a);
    order.shuffle(&mut rng);
    let mut place = vec![usize::MAX; originals];
    for (i, &k) in order.iter().enumerate() {
        place[alike[k]] = place[alike[k]].min(i);
    }
    order.sort_by_key(|&k| place[alike[k]]);
    let part = (originals as f64 * protocol.validation).round() as usize;
    let held = part.min(MOST_HELD_OUT).clamp(1, originals - 2);
    order.rotate_left(fold * held);
    let (validation, train) = order.split_at(held);
    let mut judges = vec![false; originals];
    validation.iter().for_each(|&k| judges[alike[k]] = true);
    let apart: Vec<usize> = train
        .iter()
        .copied()
        .filter(|&k| !judges[alike[k]])
        .collect();
    // If nearly all inputs are the same, nothing can be kept apart.
    let train = if apart.len() < 2 { train } else { &apart[..] };
    Split {
        train: (0..images)
            .flat_map(|g| train.iter().map(move |k| g * originals + k))
            .collect(),
        validation: validation.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::FitConfig;

    /// Forty inputs, each three times and in any order: none is on both sides, in any fold.
    #[test]
    fn samples_with_the_same_inputs_stay_on_one_side() {
        let protocol = FitConfig::default().protocol();
        let load = |k: usize| (k * 7) % 40;
        let alike: Vec<usize> = (0..120)
            .map(|k| (0..120).find(|&j| load(j) == load(k)).unwrap())
            .collect();
        for fold in 0..5 {
            let Split { train, validation } = split(&alike, &protocol, fold);
            assert!(!validation.is_empty() && train.len() > 80);
            assert!(
                validation
                    .iter()
                    .all(|&v| train.iter().all(|&t| load(t) != load(v)))
            );
        }
        // If all are the same, they cannot be kept apart.
        let Split { train, validation } = split(&[0; 10], &protocol, 0);
        assert_eq!((train.len(), validation.len()), (8, 2));
    }
}
