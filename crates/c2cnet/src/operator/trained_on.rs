//! Which samples a model was fitted to, by digests of their inputs.

use super::C2CNet;
use crate::data::{Dataset, Field, Fields};
use crate::storage::Fingerprint;
use rayon::prelude::*;
use std::collections::HashSet;

/// Samples whose digests a model file keeps, at most: they are 16 bytes each.
const MOST: usize = 20_000;

/// Digits of a digest.
const DIGITS: usize = 16;

/// The digests of the inputs of leading samples, one after the other.
pub(crate) fn trained_on(data: &Dataset, train: &[usize]) -> String {
    let inputs: Vec<&Field> = data.inputs.iter().map(|(_, field)| field).collect();
    digests(&inputs, &train[..train.len().min(MOST)]).concat()
}

/// Samples of data that were in the training set of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// How many they are.
    pub count: usize,
    /// Of how many.
    pub of: usize,
    /// Whether there may be more: of large training sets only leading samples are recorded.
    pub at_least: bool,
}

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Known { count, of, .. } = self;
        let (were, their) = match (count, of) {
            (1, 1) => ("The sample was".to_string(), "its errors say"),
            (1, _) => (format!("1 of {of} samples was"), "its errors say"),
            _ if count == of => (format!("All {of} samples were"), "their errors say"),
            _ => (format!("{count} of {of} samples were"), "their errors say"),
        };
        let at_least = match self.at_least && count < of {
            true => "At least ",
            false => "",
        };
        write!(
            f,
            "{at_least}{were} in the training set: {their} nothing about new ones"
        )
    }
}

impl C2CNet {
    /// How many samples have inputs that the model was fitted to; none where there are no such samples, or the model is
    /// of a version that did not record them.
    pub fn known(&self, inputs: &Fields) -> Option<Known> {
        let (all, []) = self.info["trained_on"].as_str()?.as_bytes().as_chunks() else {
            return None;
        };
        let all: HashSet<&[u8; DIGITS]> = all.iter().collect();
        let fields = self.inputs.iter().map(|(name, _)| inputs.get(name));
        let fields: Vec<&Field> = fields.collect::<Option<_>>()?;
        let of = fields.first()?.samples();
        let samples: Vec<usize> = (0..of).collect();
        let digests = digests(&fields, &samples);
        let own = digests.iter().filter_map(|d| d.as_bytes().first_chunk());
        let count = own.filter(|digest| all.contains(digest)).count();
        let n_train = self.info["data"]["n_train"].as_u64();
        (count > 0).then_some(Known {
            count,
            of,
            at_least: n_train.is_some_and(|n| n > MOST as u64),
        })
    }
}

/// A digest of each of the samples, which does not depend on whether points are shared.
fn digests(fields: &[&Field], samples: &[usize]) -> Vec<String> {
    let of_points = |field: &Field, k: usize| {
        let mut fingerprint = Fingerprint::default();
        fingerprint.numbers(field.points_of(k).coords().iter().copied());
        fingerprint.finish()
    };
    let shared = |field: &&Field| field.shared_points().map(|_| of_points(field, 0));
    let shared: Vec<Option<String>> = fields.iter().map(shared).collect();
    let digest = |&k: &usize| {
        let mut fingerprint = Fingerprint::default();
        for (field, shared) in fields.iter().zip(&shared) {
            match shared {
                Some(points) => fingerprint.text(points),
                None => fingerprint.text(&of_points(field, k)),
            }
            fingerprint.numbers(field.values_of(k));
        }
        fingerprint.finish()
    };
    samples.par_iter().map(digest).collect()
}

#[cfg(test)]
mod tests {
    use super::Known;

    #[test]
    fn what_is_known_is_said_in_words() {
        let said = |count, of, at_least| {
            let known = Known {
                count,
                of,
                at_least,
            };
            known.to_string()
        };
        assert_eq!(
            said(17, 50, false),
            "17 of 50 samples were in the training set: their errors say nothing about new ones"
        );
        assert!(said(50, 50, true).starts_with("All 50 samples were in"));
        assert!(said(2, 50, true).starts_with("At least 2 of 50 samples were"));
        assert!(said(1, 50, false).contains("1 of 50 samples was in the training set: its errors"));
    }
}
