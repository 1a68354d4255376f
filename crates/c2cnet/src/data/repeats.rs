//! Duplicate samples.

use super::{Field, Fields};
use crate::storage::Fingerprint;
use std::collections::HashMap;
use std::hash::Hash;

/// The number of values of each component that distinguish most samples.
const GLANCE_VALUES: usize = 16;

/// For each sample the first one with the same values in all fields at the same points: usually itself.
pub(super) fn first_alike(fields: &Fields, samples: usize) -> Vec<usize> {
    let some = |k: usize| -> Vec<u64> { fields.iter().flat_map(|(_, f)| glance(f, k)).collect() };
    let glances: Vec<Vec<u64>> = (0..samples).map(some).collect();
    let alike = first_of_each(&glances);
    if alike.iter().enumerate().all(|(k, first)| *first == k) {
        return alike;
    }
    let all = |k: usize| -> Vec<String> { fields.iter().map(|(_, f)| digest(f, k)).collect() };
    let digests: Vec<Vec<String>> = (0..samples).map(all).collect();
    first_of_each(&digests)
}

fn first_of_each<T: Hash + Eq>(keys: &[T]) -> Vec<usize> {
    let mut first = HashMap::new();
    let pairs = keys.iter().enumerate();
    pairs
        .map(|(k, key)| *first.entry(key).or_insert(k))
        .collect()
}

/// Some values of one sample, evenly spread.
fn glance(field: &Field, k: usize) -> Vec<u64> {
    let some = |values: &[f64]| -> Vec<u64> {
        let step = values.len().div_ceil(GLANCE_VALUES).max(1);
        values.iter().step_by(step).map(|v| v.to_bits()).collect()
    };
    (0..field.components())
        .flat_map(|c| some(&field.component_of(k, c)))
        .collect()
}

/// A digest of one sample.
pub(super) fn digest(field: &Field, k: usize) -> String {
    let mut fingerprint = Fingerprint::default();
    if field.shared_points().is_none() {
        fingerprint.numbers(field.points_of(k).coords().iter().copied());
    }
    for c in 0..field.components() {
        fingerprint.numbers(field.component_of(k, c).iter().copied());
    }
    fingerprint.finish()
}
