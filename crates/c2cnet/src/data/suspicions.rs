//! Warnings about likely mistakes in the data.

use super::flat::{PROBED_SAMPLES, flat_points};
use super::npz::contents::value_keys;
use super::outliers::{unlike_others, vanishing};
use super::repeats::{digest, first_alike};
use super::{Dataset, Field, Fields, Points};
use crate::error::{counted, short};
use std::collections::HashMap;

impl Dataset {
    /// Likely mistakes that need not be mistakes: inputs or outputs that are the same in all training samples,
    /// duplicate samples, test samples also used for training, values unlike all others, points on a line.
    pub fn warnings(&self) -> Vec<String> {
        let train = self.train_indices();
        let mut warnings = Vec::new();
        let (input_keys, output_keys) = value_keys(self);
        for (kind, axis, fields, keys) in [
            ("input", "x", &self.inputs, input_keys),
            ("output", "y", &self.outputs, output_keys),
        ] {
            for ((name, field), key) in fields.iter().zip(&keys) {
                let label = format!("{kind} {name}");
                let label = label.trim_end();
                warnings.extend(looks_like_a_grid(label, axis, field));
                warnings.extend(field.one_place().map(|text| format!("{label}: {text}")));
                warnings.extend(repeated_points(label, field));
                warnings.extend(unlike_others(key, field));
                if kind == "output" {
                    warnings.extend(flat_points(label, field));
                    warnings.extend(vanishing(key, field));
                }
                warnings.extend(constant_columns(&format!("{kind} {key}"), field));
                if field.is_same_at_all_points() {
                    let vector = if kind == "input" { "p" } else { "q" };
                    warnings.push(format!(
                        "{label}: the same at all points of each sample, so its points carry no information; give one value per \
                         sample, as `{vector}`"
                    ));
                }
            }
        }
        if train.len() > 1 {
            warnings.extend(self.same_in_all(&train));
        }
        warnings.extend(self.repeated(&train));
        warnings
    }

    /// Whether any input differs among the training samples.
    pub(crate) fn inputs_vary(&self) -> bool {
        let train = self.train_indices();
        !self.inputs.iter().all(|(_, field)| is_still(field, &train))
    }

    /// Inputs and outputs that do not change from sample to sample.
    fn same_in_all(&self, train: &[usize]) -> Vec<String> {
        let names = |fields: &Fields| -> Vec<String> {
            let names = fields.iter().filter(|(_, field)| is_still(field, train));
            names.map(|(name, _)| name.clone()).collect()
        };
        let mut warnings = Vec::new();
        let inputs = names(&self.inputs);
        if inputs.len() == self.inputs.len() {
            warnings.push(
                "the inputs are the same in all training samples, so only the mean of the outputs can be learned; check \
                 that the right array was saved"
                    .into(),
            );
        } else {
            warnings.extend(inputs.iter().map(|name| {
                format!(
                    "input {name:?} is the same in all training samples, so nothing can be learned from it; leave \
                     it out"
                )
            }));
        }
        warnings.extend(names(&self.outputs).iter().map(|name| {
            let label = format!("output {name}");
            format!(
                "{} is the same in all training samples, so there is nothing to learn; check that the right \
                 array was saved",
                label.trim_end()
            )
        }));
        warnings
    }

    /// For each sample the first one with the same inputs: usually itself.
    pub(crate) fn alike(&self) -> Vec<usize> {
        first_alike(&self.inputs, self.samples())
    }

    /// The samples without those that repeat the inputs and outputs of others; `None` if no sample does, or only one
    /// would be left.
    pub(crate) fn each_once(&self) -> Option<Vec<usize>> {
        let alike = self.alike();
        if alike.iter().enumerate().all(|(k, first)| *first == k) {
            return None;
        }
        let both = self.inputs.iter().chain(self.outputs.iter()).cloned();
        let alike = first_alike(&both.collect(), self.samples());
        let once: Vec<usize> = (0..alike.len()).filter(|&k| alike[k] == k).collect();
        (once.len() < alike.len() && once.len() > 1).then_some(once)
    }

    /// Duplicate samples.
    fn repeated(&self, train: &[usize]) -> Vec<String> {
        let mut seen = vec![false; self.samples()];
        train.iter().for_each(|&k| seen[k] = true);
        let of = |fields: &Fields, k: usize| -> Vec<String> {
            fields.iter().map(|(_, field)| digest(field, k)).collect()
        };
        let alike = self.alike();
        // The first training sample with the inputs of each sample.
        let mut first: HashMap<usize, usize> = HashMap::new();
        let (mut same, mut contradicting) = (Vec::new(), Vec::new());
        for &k in train {
            let known = *first.entry(alike[k]).or_insert(k);
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
                "{} (sample {k} repeats sample {known}): each is used once",
                match same.len() {
                    1 => "1 training sample repeats another".into(),
                    n => format!("{n} training samples repeat others"),
                }
            ));
        }
        if let Some((k, known)) = contradicting.first().filter(|_| !all_alike) {
            warnings.push(format!(
                "{} the same inputs as others but different outputs (sample {k} and sample {known}): no map can fit \
                 both; is an input missing?",
                have(contradicting.len(), "training sample")
            ));
        }
        let set_apart = self.test_indices().into_iter().filter(|&k| !seen[k]);
        let known: Vec<(usize, usize)> = set_apart
            .filter_map(|k| Some((k, *first.get(&alike[k])?)))
            .collect();
        if let Some((k, same)) = known.first().filter(|_| !all_alike) {
            warnings.push(format!(
                "{} the same inputs as training samples (sample {k} and sample {same}): their errors say nothing about \
                 new inputs; hold out others",
                have(known.len(), "test sample")
            ));
        }
        warnings
    }
}

/// The number of things, and the verb for what they have.
fn have(count: usize, thing: &str) -> String {
    let verb = if count == 1 { "has" } else { "have" };
    format!("{} {verb}", counted(count, thing))
}

/// Whether a field is the same in all of these samples.
fn is_still(field: &Field, train: &[usize]) -> bool {
    let mut digests = train.iter().map(|&k| digest(field, k));
    let first = digests.next();
    digests.all(|other| Some(&other) == first.as_ref())
}

impl Field {
    /// Whether each sample has the same values at all of its points, of which there are several.
    #[doc(hidden)] // for the command
    pub fn is_same_at_all_points(&self) -> bool {
        let same = |k: usize| {
            let mut components = (0..self.components()).map(|c| self.component_of(k, c));
            components.all(|values| values.iter().all(|v| *v == values[0]))
        };
        let several = |k: usize| self.points_of(k).len() > 1;
        !self.is_vector() && (0..self.samples()).all(same) && (0..self.samples()).any(several)
    }

    /// The warning about several points that coincide.
    pub(crate) fn one_place(&self) -> Option<String> {
        let several = (0..self.samples()).any(|k| self.points_of(k).len() > 1);
        let bounds = self.bounding_box();
        let same = (0..bounds.dim()).all(|k| bounds.width(k) == 0.0);
        (same && several && !self.is_vector()).then(|| {
            let place = match bounds.dim() {
                1..=4 => format!(", {bounds}"),
                _ => String::new(),
            };
            format!(
                "all points are the same{place}; check that the right array was saved, or give values without points \
                 as a vector"
            )
        })
    }
}

/// A warning for each entry of a vector that is the same in all samples, where others are not.
fn constant_columns(label: &str, field: &Field) -> Vec<String> {
    let constant = field.constant_components();
    if !field.is_vector() || constant.len() == field.components() {
        // Fields that are constant altogether are reported elsewhere.
        return Vec::new();
    }
    let warning = |c: usize| {
        let value = field.component_of(0, c)[0];
        format!("{label}: column {c} is {value} in every sample, so nothing can be learned from it")
    };
    constant.into_iter().map(warning).collect()
}

/// More coordinates than this are implausible.
const MANY_COORDINATES: usize = 10;

/// A grid that was read as points with many components, or as points in a space of many dimensions.
fn looks_like_a_grid(label: &str, axis: &str, field: &Field) -> Option<String> {
    let points = field.shared_points().filter(|_| !field.is_vector())?;
    let (n, c, d) = (points.len(), field.components(), field.dim());
    let what = match () {
        () if d > MANY_COORDINATES => format!("{n} points in {d} dimensions"),
        () if n == c && n > 2 => format!("{c} components at {n} points"),
        () => return None,
    };
    Some(format!(
        "{label}: {what}; if this is a grid, give the coordinates along its axes as {axis}0 and {axis}1 instead of {axis}"
    ))
}

/// Points most of which occur several times in a sample, as if it were several samples, or with values that contradict
/// each other.
fn repeated_points(label: &str, field: &Field) -> Option<String> {
    let shared = field.shared_points().map(same_points);
    (0..field.samples().min(PROBED_SAMPLES)).find_map(|k| {
        let points = field.points_of(k);
        let own = shared.is_none().then(|| same_points(points));
        let pairs = shared.as_ref().or(own.as_ref())?;
        let different = points.len() - pairs.len();
        // One place for all is another warning.
        if different == 1 {
            return None;
        }
        if 2 * different <= points.len() {
            let plane = match field.dim() {
                1 => {
                    ". Or are `x` and `y` two coordinates of the same points? Then save np.column_stack([x, y]) as both"
                }
                _ => "",
            };
            return Some(format!(
                "{label}: sample {k} has {} readings at {different} points; are these several samples? In a table \
                 `--sample NAME` names the column that tells them apart, in Python `sample=`{plane}",
                points.len(),
            ));
        }
        let (i, j, a, b) = contradiction(field, k, pairs)?;
        Some(format!(
            "{label}: points {i} and {j} are the same, but their values differ in sample {k} ({} and {}); leave one of \
             them out, or average the two",
            short(a),
            short(b)
        ))
    })
}

/// Each point that was there before, behind the one that it repeats.
fn same_points(points: &Points) -> Vec<(usize, usize)> {
    let place = |i: usize| points.point(i).iter().map(|c| (c + 0.0).to_bits());
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&i, &j| place(i).cmp(place(j)).then(i.cmp(&j)));
    let pairs = order.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter(|&(i, j)| place(i).eq(place(j))).collect()
}

/// The first of these pairs of points at which values of sample `k` differ, and two such values.
fn contradiction(
    field: &Field,
    k: usize,
    pairs: &[(usize, usize)],
) -> Option<(usize, usize, f64, f64)> {
    if pairs.is_empty() {
        return None;
    }
    let (values, n) = (field.values_of(k), field.points_of(k).len());
    let components = 0..field.components();
    pairs.iter().find_map(|&(i, j)| {
        let mut both = components
            .clone()
            .map(|c| (values[c * n + i], values[c * n + j]));
        let (a, b) = both.find(|(a, b)| a != b)?;
        Some((i, j, a, b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn contradictory_readings_at_one_point_are_named() {
        let k = |k: usize| k as f64;
        let with_twins = |off: f64| {
            let points = Points::new(1, vec![0.0, 0.3, 1.0, 0.3, 0.8]).unwrap();
            let value = |i: usize| if i == 3 { 1.0 + off } else { i as f64 };
            let values = Mat::from_fn(5, 8, |i, k| value(i) + (k * k) as f64);
            let twins = Field::shared(points, vec![values]).unwrap();
            Dataset::new(twins, data(k, k).outputs[0].1.clone()).unwrap()
        };
        assert!(with_twins(0.0).warnings().is_empty());
        says(
            &with_twins(0.5),
            "points 1 and 3 are the same, but their values differ in sample 0",
        );
    }

    #[test]
    fn each_kind_of_degenerate_data_is_named() {
        let k = |k: usize| k as f64;
        assert!(data(k, k).warnings().is_empty());
        says(&data(|_| 1.0, k), "the inputs are the same in all");
        says(&data(k, |_| 1.0), "output is the same in all");
        says(
            &data(|k| (k % 7) as f64, |k| (k % 7) as f64),
            "sample 7 repeats sample 0",
        );
        says(&data(|k| (k % 7) as f64, k), "no map can fit both");
        let mut leaked = data(|k| (k % 7) as f64, k);
        leaked.n_train = Some(6);
        assert!(leaked.warnings()[0].contains("1 test sample has the same inputs"));
        let place = Points::new(1, vec![0.5; 3]).unwrap();
        let values = Mat::from_fn(3, 8, |i, k| (i + k) as f64);
        let heap = Field::shared(place, vec![values]).unwrap();
        let good = data(k, k);
        let heap = Dataset::new(heap, good.outputs[0].1.clone()).unwrap();
        says(&heap, "all points are the same");
        let flat = Mat::from_fn(3, 8, |_, k| k as f64);
        let flat = Field::shared(Points::linspace(0.0, 1.0, 3), vec![flat]).unwrap();
        let flat = Dataset::new(flat, good.outputs[0].1.clone()).unwrap();
        says(&flat, "one value per sample, as `p`");
        let columns = Mat::from_fn(2, 8, |i, k| if i == 0 { 7.0 } else { k as f64 });
        let columns = Field::vector(columns.as_ref()).unwrap();
        let columns = Dataset::new(columns, good.outputs[0].1.clone()).unwrap();
        says(&columns, "input p: column 0 is 7 in every sample");
        let grid = |points: Points, components: usize| {
            let n = points.len();
            let values = |c: usize| Mat::from_fn(n, 8, |i, k| (i + k + c) as f64);
            let field = Field::shared(points, (0..components).map(values).collect()).unwrap();
            Dataset::new(field, good.outputs[0].1.clone()).unwrap()
        };
        let line = Points::linspace(0.0, 1.0, 6);
        says(
            &grid(line, 6),
            "6 components at 6 points; if this is a grid",
        );
        let square = Points::new(12, (0..144).map(f64::from).collect()).unwrap();
        says(&grid(square, 1), "12 points in 12 dimensions");
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
