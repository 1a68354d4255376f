//! What looks like a mistake in the data, in words that name it.

use super::{Dataset, Field, Fields};
use crate::storage::Fingerprint;
use std::collections::HashMap;

impl Dataset {
    /// What looks like a mistake and is none for sure: inputs or outputs that are the same in all training samples,
    /// samples that are there twice, test samples that train.
    pub fn warnings(&self) -> Vec<String> {
        let train = self.train_indices();
        let mut warnings = Vec::new();
        for (kind, fields) in [("input", &self.inputs), ("output", &self.outputs)] {
            for (name, field) in fields {
                let label = format!("{kind} {name}");
                warnings.extend(one_place(label.trim_end(), field));
                warnings.extend(repeated_points(label.trim_end(), field));
            }
        }
        if train.len() > 1 {
            warnings.extend(self.same_in_all(&train));
        }
        warnings.extend(self.repeated(&train));
        warnings
    }

    /// Inputs and outputs that do not change from sample to sample.
    fn same_in_all(&self, train: &[usize]) -> Vec<String> {
        let still = |field: &Field| {
            let first = digest(field, train[0]);
            train.iter().all(|&k| digest(field, k) == first)
        };
        let names = |fields: &Fields| -> Vec<String> {
            let names = fields.iter().filter(|(_, field)| still(field));
            names.map(|(name, _)| name.clone()).collect()
        };
        let mut warnings = Vec::new();
        let inputs = names(&self.inputs);
        if inputs.len() == self.inputs.len() {
            warnings.push(
                "the inputs are the same in all training samples, so that nothing can be learned but the mean of the \
                 outputs; look whether the right array was saved"
                    .into(),
            );
        } else {
            warnings.extend(inputs.iter().map(|name| {
                format!(
                    "input {name:?} is the same in all training samples, so that nothing can be learned from it; leave \
                     it out"
                )
            }));
        }
        warnings.extend(names(&self.outputs).iter().map(|name| {
            let label = format!("output {name}");
            format!(
                "{} is the same in all training samples, so that there is nothing to learn; look whether the right \
                 array was saved",
                label.trim_end()
            )
        }));
        warnings
    }

    /// Samples that are there more than once.
    fn repeated(&self, train: &[usize]) -> Vec<String> {
        let of = |fields: &Fields, k: usize| -> Vec<String> {
            fields.iter().map(|(_, field)| digest(field, k)).collect()
        };
        let mut first: HashMap<Vec<String>, usize> = HashMap::new();
        let (mut same, mut contradicting) = (Vec::new(), Vec::new());
        for &k in train {
            let known = *first.entry(of(&self.inputs, k)).or_insert(k);
            if known != k {
                match of(&self.outputs, known) == of(&self.outputs, k) {
                    true => same.push((k, known)),
                    false => contradicting.push((k, known)),
                }
            }
        }
        let all_alike = first.len() == 1;
        let mut warnings = Vec::new();
        if let Some((k, known)) = same.first().filter(|_| !all_alike) {
            warnings.push(format!(
                "{} training samples repeat others (sample {k} is sample {known} again): errors on held-out samples \
                 are too small, because their likes train; keep each once",
                same.len()
            ));
        }
        if let Some((k, known)) = contradicting.first().filter(|_| !all_alike) {
            warnings.push(format!(
                "{} training samples have the inputs of others and other outputs (sample {k} and sample {known}): no \
                 map can follow both; is an input missing?",
                contradicting.len()
            ));
        }
        let mut seen = vec![false; self.samples()];
        train.iter().for_each(|&k| seen[k] = true);
        let set_apart = self.test_indices().into_iter().filter(|&k| !seen[k]);
        let known: Vec<(usize, usize)> = set_apart
            .filter_map(|k| Some((k, *first.get(&of(&self.inputs, k))?)))
            .collect();
        if let Some((k, same)) = known.first().filter(|_| !all_alike) {
            warnings.push(format!(
                "{} test samples have the inputs of training samples (sample {k} those of sample {same}): their errors \
                 say nothing about new inputs; set others apart",
                known.len()
            ));
        }
        warnings
    }
}

/// A digest of one sample.
fn digest(field: &Field, k: usize) -> String {
    let mut fingerprint = Fingerprint::default();
    if field.shared_points().is_none() {
        fingerprint.numbers(field.points_of(k).coords().iter().copied());
    }
    for c in 0..field.components() {
        fingerprint.numbers(field.component_of(k, c).iter().copied());
    }
    fingerprint.finish()
}

/// Points that are all the same one.
fn one_place(label: &str, field: &Field) -> Option<String> {
    let several = (0..field.samples()).any(|k| field.points_of(k).len() > 1);
    let bounds = field.bounding_box();
    let same = (0..bounds.dim()).all(|k| bounds.width(k) == 0.0);
    (same && several && !field.is_vector()).then(|| {
        format!(
            "{label}: all points are the same, {bounds}; look whether the right array was saved, or give values without \
             points as a vector"
        )
    })
}

/// Samples that are looked at for points that repeat.
const LOOKED_AT: usize = 64;

/// Points most of which are there several times in a sample, as if it were several.
fn repeated_points(label: &str, field: &Field) -> Option<String> {
    let samples = match field.shared_points() {
        Some(_) => 1,
        None => field.samples().min(LOOKED_AT),
    };
    (0..samples).find_map(|k| {
        let points = field.points_of(k);
        let mut different: Vec<Vec<u64>> = points
            .iter()
            .map(|p| p.iter().map(|c| (c + 0.0).to_bits()).collect())
            .collect();
        different.sort_unstable();
        different.dedup();
        let few = different.len() > 1 && 2 * different.len() <= points.len();
        few.then(|| {
            format!(
                "{label}: sample {k} has {} readings at {} points; are these several samples? In a table `--sample NAME` \
                 names the column that tells them apart, in Python `sample=`",
                points.len(),
                different.len()
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use faer::Mat;

    fn data(f: impl Fn(usize) -> f64, u: impl Fn(usize) -> f64) -> Dataset {
        let field = |value: &dyn Fn(usize) -> f64| {
            let values = Mat::from_fn(3, 8, |i, k| value(k) + i as f64);
            Field::shared(Points::linspace(0.0, 1.0, 3), vec![values]).unwrap()
        };
        Dataset::new(field(&f), field(&u)).unwrap()
    }

    fn says(data: &Dataset, part: &str) {
        let warnings = data.warnings();
        let said = warnings.len() == 1 && warnings[0].contains(part);
        assert!(said, "{part}: {warnings:?}");
    }

    #[test]
    fn each_kind_of_degenerate_data_is_named() {
        let k = |k: usize| k as f64;
        assert!(data(k, k).warnings().is_empty());
        says(&data(|_| 1.0, k), "the inputs are the same in all");
        says(&data(k, |_| 1.0), "output is the same in all");
        says(
            &data(|k| (k % 7) as f64, |k| (k % 7) as f64),
            "sample 7 is sample 0 again",
        );
        says(&data(|k| (k % 7) as f64, k), "no map can follow both");
        let mut leaked = data(|k| (k % 7) as f64, k);
        leaked.n_train = Some(6);
        assert!(leaked.warnings()[0].contains("1 test samples have the inputs"));
        let place = Points::new(1, vec![0.5; 3]).unwrap();
        let values = Mat::from_fn(3, 8, |i, k| (i + k) as f64);
        let heap = Field::shared(place, vec![values]).unwrap();
        let good = data(k, k);
        let heap = Dataset::new(heap, good.outputs[0].1.clone()).unwrap();
        says(&heap, "all points are the same");
        let twice = Points::new(1, vec![0.0, 1.0, 0.0, 1.0]).unwrap();
        let values = Mat::from_fn(4, 8, |i, k| (i + k) as f64);
        let several = Field::shared(twice, vec![values]).unwrap();
        let several = Dataset::new(several, good.outputs[0].1.clone()).unwrap();
        says(
            &several,
            "has 4 readings at 2 points; are these several samples?",
        );
    }
}
