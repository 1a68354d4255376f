//! The points and the range of the training samples, by which an encoder recognises inputs of a different kind.

use crate::data::{Field, Points};
use serde::{Deserialize, Serialize};

/// Where training samples of a field were observed, and how large their values were.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct TrainingRange {
    /// Its points, if all samples shared them.
    points: Option<Points>,
    /// The least and the largest value of each component.
    ranges: Vec<[f64; 2]>,
}

/// Samples far outside the range of the training samples.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutOfRange {
    /// The first of them.
    pub sample: usize,
    /// How many there are.
    pub count: usize,
    /// The component with the value.
    pub component: usize,
    /// The value that is farthest out in the first of them.
    pub value: f64,
    /// The range of the training samples.
    pub seen: [f64; 2],
}

impl TrainingRange {
    /// Records the points and ranges of training samples.
    pub(super) fn of(field: &Field) -> Self {
        let points = field.common_points().filter(|_| !field.is_vector());
        let all = |c| {
            let ranges = (0..field.samples()).map(|k| range(field, k, c));
            let either = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
            ranges.reduce(either).unwrap_or_default()
        };
        TrainingRange {
            points: points.cloned(),
            ranges: (0..field.components()).map(all).collect(),
        }
    }

    /// The points that training samples shared, or would have shared if no reading had been missing.
    pub(super) fn points(&self) -> Option<&Points> {
        self.points.as_ref()
    }

    /// Samples with values farther outside the range of the training samples than the width of that range.
    pub(super) fn out_of_range(&self, field: &Field) -> Option<OutOfRange> {
        if self.ranges.len() != field.components() {
            return None;
        }
        let mut found: Option<OutOfRange> = None;
        for sample in 0..field.samples() {
            let outside = self.ranges.iter().enumerate().find_map(|(c, seen)| {
                let [low, high] = range(field, sample, c);
                let width = (seen[1] - seen[0]).max(1e-6 * seen[0].abs().max(seen[1].abs()));
                let (below, above) = (seen[0] - low, high - seen[1]);
                let value = if above > below { high } else { low };
                (below.max(above) > width).then_some((c, value, *seen))
            });
            let Some((component, value, seen)) = outside else {
                continue;
            };
            let first = found.get_or_insert(OutOfRange {
                sample,
                count: 0,
                component,
                value,
                seen,
            });
            first.count += 1;
        }
        found
    }
}

/// The least and the largest value of a component in a sample.
fn range(field: &Field, sample: usize, component: usize) -> [f64; 2] {
    let values = field.component_of(sample, component);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [least, largest]
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn values_of_another_size_are_strange_and_near_ones_are_not() {
        let field = |size: f64| {
            let values = Mat::from_fn(5, 4, |i, k| size * (i as f64 - k as f64));
            Field::shared(Points::linspace(0.0, 1.0, 5), vec![values]).unwrap()
        };
        let seen = TrainingRange::of(&field(1.0));
        assert_eq!(seen.points().map(Points::len), Some(5));
        assert_eq!(seen.out_of_range(&field(1.5)), None);
        let out_of_range = seen.out_of_range(&field(1000.0)).unwrap();
        assert_eq!(
            (out_of_range.sample, out_of_range.count, out_of_range.value),
            (0, 4, 4000.0)
        );
        assert_eq!(out_of_range.seen, [-3.0, 4.0]);
        let vector =
            |p: f64| Field::vector(Mat::from_fn(1, 3, |_, k| p + k as f64).as_ref()).unwrap();
        let seen = TrainingRange::of(&vector(0.0));
        assert_eq!(seen.points(), None);
        assert_eq!(seen.out_of_range(&vector(0.5)), None);
        assert_eq!(seen.out_of_range(&vector(3.0)).unwrap().count, 1);
        assert_eq!(TrainingRange::default().out_of_range(&vector(3.0)), None);
    }
}
