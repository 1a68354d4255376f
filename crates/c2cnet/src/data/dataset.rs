//! Pairs of input and output functions or vectors, split into training and test samples.

use super::{Field, Fields, Points};
use crate::storage::Fingerprint;
use crate::{Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::collections::BTreeSet;

/// Samples of an operator: input fields and, except for prediction, output fields.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Input fields by name; a single one is called `""`.
    pub inputs: Fields,
    /// Output fields by name; empty in a file made for prediction.
    pub outputs: Fields,
    /// The number of leading samples for training, the rest being for testing; `None`: all samples are for both.
    pub n_train: Option<usize>,
    /// More than two sets: a name for each sample. Excludes `n_train`.
    pub split: Option<Vec<String>>,
    /// Triangles on the shared points of the first output that is a function, for plots and finite elements.
    pub triangles: Option<Vec<[usize; 3]>>,
    /// Tetrahedra on the same points, for slices and files of meshes.
    pub tetrahedra: Option<Vec<[usize; 4]>>,
    /// How the data was made.
    pub meta: serde_json::Value,
}

impl Dataset {
    /// One input and one output field, no split.
    ///
    /// # Errors
    /// If the fields differ in the number of samples.
    pub fn new(input: Field, output: Field) -> Result<Self> {
        let dataset = Dataset {
            inputs: input.into(),
            outputs: output.into(),
            n_train: None,
            split: None,
            triangles: None,
            tetrahedra: None,
            meta: serde_json::Value::Null,
        };
        dataset.check()?;
        Ok(dataset)
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        let mut fields = self.inputs.iter().chain(&self.outputs);
        fields.next().map_or(0, |(_, field)| field.samples())
    }

    /// Checks that all fields have the same number of samples and that the split fits.
    ///
    /// # Errors
    /// Names the field and both counts.
    pub fn check(&self) -> Result<()> {
        if self.inputs.is_empty() {
            return Err(Error::Data(
                "the data has no input: it needs functions `f` at points `x`, or parameters `p`"
                    .into(),
            ));
        }
        self.check_agreement()
    }

    /// [`Dataset::check`] that also accepts predictions, which have only outputs.
    pub(super) fn check_agreement(&self) -> Result<()> {
        let samples = self.samples();
        for (kind, fields) in [("input", &self.inputs), ("output", &self.outputs)] {
            for (i, (name, field)) in fields.iter().enumerate() {
                if fields[..i].iter().any(|(other, _)| other == name) {
                    return Err(Error::Data(format!(
                        "two {kind} fields are called {name:?}; rename one of them"
                    )));
                }
                if field.samples() != samples {
                    return Err(Error::shape(
                        format!("{kind} field {name:?}"),
                        format!("{samples} samples, like the first"),
                        format!("{} samples", field.samples()),
                    ));
                }
            }
        }
        if let Some(n) = self.n_train
            && (n == 0 || n > samples)
        {
            return Err(Error::Data(format!(
                "n_train = {n} must lie between 1 and the number of samples, {samples}"
            )));
        }
        if let Some(split) = &self.split {
            if split.len() != samples {
                return Err(Error::shape(
                    "split",
                    format!("{samples} entries"),
                    format!("{}", split.len()),
                ));
            }
            if self.n_train.is_some() {
                return Err(Error::Data(
                    "give n_train or split, not both: they could disagree".into(),
                ));
            }
        }
        Ok(())
    }

    /// The training samples.
    pub fn train_indices(&self) -> Vec<usize> {
        match (&self.split, self.n_train) {
            (Some(_), _) => self.indices_of("train"),
            (None, n) => (0..n.unwrap_or(self.samples())).collect(),
        }
    }

    /// The test samples: those after `n_train`, or all where there is no split.
    pub fn test_indices(&self) -> Vec<usize> {
        match (&self.split, self.n_train) {
            (Some(_), _) => self.indices_of("test"),
            (None, Some(n)) if n < self.samples() => (n..self.samples()).collect(),
            (None, _) => (0..self.samples()).collect(),
        }
    }

    /// Holds out about `fraction` of the samples for testing, chosen by `seed`.
    ///
    /// # Errors
    /// If the data already has a split, or too few samples would be left on one side.
    pub fn hold_out(&mut self, fraction: f64, seed: u64) -> Result<()> {
        if self.n_train.is_some() || self.split.is_some() {
            return Err(Error::Data(
                "the data already says which samples are for testing (`n_train` or `split`); omit the fraction"
                    .into(),
            ));
        }
        if !(fraction > 0.0 && fraction < 1.0) {
            return Err(Error::Config(format!(
                "a test fraction of {fraction} is out of range; give a number between 0 and 1, such as 0.2 for a fifth \
                 of the samples"
            )));
        }
        let samples = self.samples();
        let test = (fraction * samples as f64).round() as usize;
        if test == 0 || test >= samples {
            return Err(Error::Config(format!(
                "a test fraction of {fraction} leaves {test} of {samples} samples for testing; give one that leaves \
                 some on both sides"
            )));
        }
        let mut order: Vec<usize> = (0..samples).collect();
        order.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(seed ^ 0x7e57));
        let mut split = vec!["train".to_string(); samples];
        order[..test].iter().for_each(|&k| split[k] = "test".into());
        self.split = Some(split);
        Ok(())
    }

    /// The samples of the set called `name`.
    pub fn indices_of(&self, name: &str) -> Vec<usize> {
        let split = self.split.as_deref().unwrap_or_default();
        (0..split.len()).filter(|&k| split[k] == name).collect()
    }

    /// The samples of a set: "train", "test", "all", or one that the split names.
    ///
    /// # Errors
    /// If there are none, with the sets of the data.
    pub fn set(&self, name: &str) -> Result<Vec<usize>> {
        let indices = match name {
            "all" => (0..self.samples()).collect(),
            "train" => self.train_indices(),
            "test" => self.test_indices(),
            other => self.indices_of(other),
        };
        if indices.is_empty() {
            let mut sets: BTreeSet<&str> = ["all", "train", "test"].into();
            if let Some(split) = &self.split {
                sets = split.iter().map(String::as_str).chain(["all"]).collect();
            }
            return Err(Error::Config(format!(
                "the data has no samples called {name:?}; its sets are {}",
                sets.into_iter().collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(indices)
    }

    /// The points that `triangles` names: those of the first output that is a function, if shared.
    pub fn mesh_points(&self) -> Option<&Points> {
        let functions = self.outputs.iter().find(|(_, field)| !field.is_vector());
        functions.and_then(|(_, field)| field.shared_points())
    }

    /// A digest of every number of the data, to recognise the data that a model was fitted to.
    pub fn fingerprint(&self) -> String {
        let mut fingerprint = Fingerprint::default();
        for (_, field) in self.inputs.iter().chain(&self.outputs) {
            for k in 0..field.samples() {
                if k == 0 || field.shared_points().is_none() {
                    fingerprint.numbers(field.points_of(k).coords().iter().copied());
                }
                fingerprint.numbers(field.values_of(k));
            }
        }
        fingerprint.finish()
    }

    /// Every component divided by its size, for each input and output in order; without sizes a field is unchanged.
    pub(crate) fn divided(self, inputs: &[Vec<f64>], outputs: &[Vec<f64>]) -> Dataset {
        let divide = |fields: Fields, sizes: &[Vec<f64>]| -> Fields {
            let all = fields.into_iter().zip(sizes);
            all.map(|((name, field), sizes)| match sizes.is_empty() {
                true => (name, field),
                false => (name, field.divided(sizes)),
            })
            .collect()
        };
        Dataset {
            inputs: divide(self.inputs, inputs),
            outputs: divide(self.outputs, outputs),
            ..self
        }
    }

    /// [`Dataset::select`], without copying if the first samples are asked for.
    pub(crate) fn into_selection(mut self, indices: &[usize]) -> Dataset {
        if indices.iter().enumerate().any(|(i, &k)| i != k) {
            return self.select(indices);
        }
        for (_, field) in self.inputs.iter_mut().chain(self.outputs.iter_mut()) {
            field.keep_first(indices.len());
        }
        Dataset {
            n_train: None,
            split: None,
            ..self
        }
    }

    /// Adds the samples of `other` after these, without a split.
    ///
    /// # Errors
    /// If its fields have other names, kinds or components, or do not share the points that these share; nothing is
    /// added then.
    pub fn append(&mut self, other: Dataset) -> Result<()> {
        let mut joined = self.clone();
        for (kind, fields, more) in [
            ("input", &mut joined.inputs, other.inputs),
            ("output", &mut joined.outputs, other.outputs),
        ] {
            let names = |fields: &Fields| -> Vec<String> {
                fields.iter().map(|(name, _)| name.clone()).collect()
            };
            if names(fields) != names(&more) {
                return Err(Error::Data(format!(
                    "{kind}s {:?}, earlier samples have {:?}",
                    names(&more),
                    names(fields)
                )));
            }
            for ((name, field), (_, more)) in fields.iter_mut().zip(more) {
                let appended = field.append(more);
                appended.map_err(|e| e.within(format!("{kind} {name}").trim_end()))?;
            }
        }
        *self = Dataset {
            n_train: None,
            split: None,
            ..joined
        };
        Ok(())
    }

    /// The samples at `indices`, as a data set without a split.
    pub fn select(&self, indices: &[usize]) -> Dataset {
        let pick = |fields: &Fields| {
            let selected = fields.iter();
            selected
                .map(|(name, field)| (name.clone(), field.select(indices)))
                .collect()
        };
        Dataset {
            inputs: pick(&self.inputs),
            outputs: pick(&self.outputs),
            n_train: None,
            split: None,
            triangles: self.triangles.clone(),
            tetrahedra: self.tetrahedra.clone(),
            meta: self.meta.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use faer::Mat;

    fn data(sign: impl Fn(usize, usize) -> f64) -> Dataset {
        let field = |values| Field::shared(Points::linspace(0.0, 1.0, 4), vec![values]).unwrap();
        let value = |i: usize, k: usize| (1 + i + 4 * k) as f64;
        Dataset::new(
            field(Mat::from_fn(4, 3, value)),
            field(Mat::from_fn(4, 3, |i, k| sign(i, k) * value(i, k))),
        )
        .unwrap()
    }

    #[test]
    fn samples_are_appended_where_they_fit() {
        let mut all = data(|_, _| 1.0);
        let other = data(|_, _| -1.0);
        all.append(other.select(&[2, 0])).unwrap();
        assert_eq!(all.samples(), 5);
        for (side, all) in [(&other.inputs, &all.inputs), (&other.outputs, &all.outputs)] {
            assert_eq!(all[0].1.values_of(3), side[0].1.values_of(2));
            assert_eq!(all[0].1.values_of(4), side[0].1.values_of(0));
        }
        let points = Points::linspace(0.0, 2.0, 4);
        let moved = Field::shared(points, vec![Mat::zeros(4, 1)]).unwrap();
        let error = all.append(Dataset::new(moved.clone(), moved).unwrap());
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("input: the points differ")
        );
        assert_eq!(all.samples(), 5);
    }

    #[test]
    fn the_fingerprint_sees_an_even_number_of_flipped_signs() {
        let flipped = |places: &'static [(usize, usize)]| {
            data(|i, k| if places.contains(&(i, k)) { -1.0 } else { 1.0 }).fingerprint()
        };
        let all = [
            flipped(&[]),
            flipped(&[(1, 1)]),
            flipped(&[(1, 1), (2, 2)]),
            flipped(&[(0, 0), (3, 2)]),
        ];
        for (i, a) in all.iter().enumerate() {
            assert_eq!(a.len(), 16);
            assert!(all[..i].iter().all(|b| a != b), "{all:?}");
        }
        assert_eq!(flipped(&[]), all[0]);
    }
}
