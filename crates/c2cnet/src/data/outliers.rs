//! Values that look unlike all others: a broken sample, a number that stands for a missing reading, outputs that vanish.

use super::Field;
use super::npz::contents::component_names;
use std::collections::HashMap;

/// The fewest samples that show what is usual.
const ENOUGH_SAMPLES: usize = 10;
/// A broken sample is at least this many times as large as the median.
const BROKEN: f64 = 100.0;
/// In logarithms, it is also this many times as far above the median as the ninth decile of the samples: sizes spread
/// over many orders of magnitude are not a mistake.
const BEYOND_THE_SPREAD: f64 = 5.0;
/// One in this many samples may be broken; more would be a different kind of sample.
const RARE: usize = 20;

/// The number of readings examined for a repeated value.
const PROBED_READINGS: usize = 1 << 18;
/// The least number of times that such a value occurs, also as a fraction of all readings.
const REPEATED: usize = 3;
const REPEATED_PART: f64 = 1e-3;
/// Such a value is at least this many times the 99 % quantile of the others.
const FAR: f64 = 10.0;

/// Values that look unlike all others in a field that data files hold under `key`.
pub(super) fn unlike_others(key: &str, field: &Field) -> Vec<String> {
    let numbered = |key: &str, c: usize| format!("{key}[{c}]");
    let labels = component_names(key, field.components(), field.is_complex(), numbered);
    let found = labels.into_iter().enumerate().filter_map(|(c, label)| {
        // A value that marks missing readings makes samples large.
        stands_for_missing(&label, field, c).or_else(|| broken_samples(&label, field, c))
    });
    found.take(1).collect()
}

/// Samples of component `c` that are far larger than all others.
fn broken_samples(label: &str, field: &Field, c: usize) -> Option<String> {
    if field.samples() < ENOUGH_SAMPLES {
        return None;
    }
    let sizes: Vec<f64> = (0..field.samples())
        .map(|k| rms(&field.component_of(k, c)))
        .collect();
    let mut sorted: Vec<f64> = sizes.iter().copied().filter(|s| *s > 0.0).collect();
    if sorted.len() < ENOUGH_SAMPLES {
        return None;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let (median, most) = (sorted[last / 2], sorted[last * 9 / 10]);
    let far = BROKEN.ln().max(BEYOND_THE_SPREAD * (most / median).ln());
    let is_broken = |size: f64| (size / median).ln() > far;
    let broken: Vec<usize> = (0..sizes.len()).filter(|&k| is_broken(sizes[k])).collect();
    let &first = broken.first()?;
    let times = sizes[first] / median;
    let (others, what) = match broken.len() {
        1 => (String::new(), "repair it or leave it out"),
        2 => (
            ", as is 1 more sample".into(),
            "repair them or leave them out",
        ),
        n => (
            format!(", as are {} more samples", n - 1),
            "repair them or leave them out",
        ),
    };
    (broken.len() <= (sizes.len() / RARE).max(1)).then(|| {
        format!(
            "{label} of sample {first} is {times:.1e} times the median size of the samples{others}: {what}"
        )
    })
}

/// A size whose squares do not overflow.
fn rms(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|v| (v / largest).powi(2)).sum();
    largest * (squares / values.len() as f64).sqrt()
}

/// A value of component `c` that stands for a missing reading, such as -9999.
fn stands_for_missing(label: &str, field: &Field, c: usize) -> Option<String> {
    let readings = some_readings(field, c);
    let often = REPEATED.max((REPEATED_PART * readings.len() as f64).ceil() as usize);
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for v in &readings {
        *counts.entry(v.to_bits()).or_default() += 1;
    }
    let repeated = counts.iter().filter(|(_, n)| **n >= often);
    let value = repeated
        .map(|(bits, _)| f64::from_bits(*bits))
        .max_by(|a, b| a.abs().total_cmp(&b.abs()).then(a.total_cmp(b)))?;
    let mut others: Vec<f64> = readings
        .iter()
        .filter(|v| **v != value)
        .map(|v| v.abs())
        .collect();
    let different = counts.len() - 1;
    // Few different values are phases, materials or marks, not readings, unless this is how missing ones are marked.
    let varied = match is_a_mark(value) {
        true => different > 2,
        false => 2 * different > others.len(),
    };
    if !varied || value.abs() <= FAR * quantile(&mut others) {
        return None;
    }
    let count = count(field, c, value);
    let shown = match value.abs() {
        size if (1e-3..1e7).contains(&size) => format!("{value}"),
        _ => format!("{value:e}"),
    };
    Some(match field.is_vector() {
        true => format!(
            "{label} is {shown} in {count} samples, far from all others: missing values? leave these samples out"
        ),
        false => format!(
            "{label} holds {shown} in {count} readings, far from all others: missing values? save them as NaN and give \
             --missing nan (in Python missing=\"nan\", in Rust Missing::Nan)"
        ),
    })
}

/// The 99 % quantile.
fn quantile(sizes: &mut [f64]) -> f64 {
    let place = sizes.len().saturating_sub(1) * 99 / 100;
    *sizes.select_nth_unstable_by(place, f64::total_cmp).1
}

/// Readings of component `c`, evenly spread over samples and points.
fn some_readings(field: &Field, c: usize) -> Vec<f64> {
    let of = |k: usize| field.points_of(k).len();
    let all: usize = (0..field.samples()).map(of).sum();
    let step = all.div_ceil(PROBED_READINGS).max(1);
    // Whole samples if there are several: neighbours are more informative than every hundredth point.
    let (samples, points) = match step < field.samples() {
        true => (step, 1),
        false => (1, step),
    };
    let mut readings = Vec::with_capacity(all.min(PROBED_READINGS));
    for k in (0..field.samples()).step_by(samples) {
        readings.extend(field.component_of(k, c).iter().step_by(points));
    }
    readings
}

/// How often component `c` has this value.
fn count(field: &Field, c: usize, value: f64) -> usize {
    let in_sample = |k: usize| {
        let values = field.component_of(k, c);
        values.iter().filter(|v| **v == value).count()
    };
    (0..field.samples()).map(in_sample).sum()
}

/// Whether this value often marks missing readings: -999, 99999, 1e20, -32768, the fill values of NetCDF.
fn is_a_mark(value: f64) -> bool {
    let size = value.abs();
    let nines = size >= 99.0 && (1..16).any(|k| size + 1.0 == 10f64.powi(k));
    nines || size >= 1e20 || size == 32767.0 || size == 32768.0
}

/// Samples whose output is zero at all points, where others are not.
pub(super) fn vanishing(key: &str, field: &Field) -> Option<String> {
    if field.is_vector() {
        // Errors of vectors are relative to the size of all samples.
        return None;
    }
    let is_zero = |k: &usize| {
        let mut components = (0..field.components()).map(|c| field.component_of(*k, c));
        components.all(|values| values.iter().all(|v| *v == 0.0))
    };
    let zero: Vec<usize> = (0..field.samples()).filter(is_zero).collect();
    let &first = zero.first().filter(|_| zero.len() < field.samples())?;
    let (which, have) = match zero.len() {
        1 => (format!("in sample {first}"), "the absolute error"),
        n => (
            format!("in {n} samples, the first of them sample {first}"),
            "their absolute errors",
        ),
    };
    Some(format!(
        "{key} is zero at all points {which}: a relative error is undefined there, so RL2E uses {have}; remove samples \
         that should not be zero"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use faer::Mat;

    /// A pseudorandom number in (-1, 1).
    fn noise(i: usize, k: usize) -> f64 {
        let mut bits = (i * 1009 + k + 1) as u64;
        for _ in 0..3 {
            bits = (bits ^ (bits >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn field(samples: usize, value: impl Fn(usize, usize) -> f64) -> Field {
        let values = Mat::from_fn(50, samples, value);
        Field::shared(Points::linspace(0.0, 1.0, 50), vec![values]).unwrap()
    }

    #[test]
    fn a_broken_sample_is_named() {
        let broken = |k: usize| if k == 7 || k == 30 { 1e3 } else { 1.0 };
        let said = unlike_others("u", &field(40, |i, k| broken(k) * noise(i, k)));
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("u of sample 7 is 1."), "{said:?}");
        assert!(
            said[0].contains(
                "e3 times the median size of the samples, as is 1 more sample: repair them"
            )
        );
        let one = unlike_others("u", &field(29, |i, k| broken(k) * noise(i, k)));
        assert!(one[0].ends_with("size of the samples: repair it or leave it out"));
        // Values large enough to overflow are found as well.
        let huge = |k: usize| if k == 3 { 1e200 } else { 1.0 };
        assert_eq!(
            unlike_others("u", &field(20, |i, k| huge(k) * noise(i, k))).len(),
            1
        );
        // Too few samples to say what is usual, and sizes over many orders of magnitude.
        assert!(unlike_others("u", &field(9, |i, k| broken(k) * noise(i, k))).is_empty());
        let wide = |k: usize| 10f64.powf(5.0 * noise(99, k));
        assert!(unlike_others("u", &field(400, |i, k| wide(k) * noise(i, k))).is_empty());
        let log_normal = |k: usize| {
            let sum: f64 = (0..12).map(|i| noise(100 + i, k)).sum();
            (2.0 * sum / 2.0).exp()
        };
        assert!(unlike_others("u", &field(1000, |_, k| log_normal(k))).is_empty());
        // More than a few are a different kind of sample.
        let often = |k: usize| if k.is_multiple_of(8) { 1e4 } else { 1.0 };
        assert!(unlike_others("u", &field(40, |i, k| often(k) * noise(i, k))).is_empty());
    }

    #[test]
    fn a_value_that_stands_for_a_missing_reading_is_named() {
        let mark = |i: usize, k: usize| (i + 50 * k).is_multiple_of(41);
        let marked =
            |value: f64| field(40, move |i, k| if mark(i, k) { value } else { noise(i, k) });
        let said = unlike_others("u", &marked(-9999.0));
        assert_eq!(
            said,
            [
                "u holds -9999 in 49 readings, far from all others: missing values? save them as NaN and give --missing \
              nan (in Python missing=\"nan\", in Rust Missing::Nan)"
            ]
        );
        assert!(unlike_others("u", &marked(1e20))[0].starts_with("u holds 1e20 in 49"));
        assert!(unlike_others("u", &marked(57.3))[0].starts_with("u holds 57.3 in 49"));
        // Near the others, or among none that vary: sources at one point, inclusions, layers.
        assert!(unlike_others("u", &marked(5.0)).is_empty());
        let source = field(40, |i, k| f64::from(u8::from(i == k)));
        assert!(unlike_others("f", &source).is_empty());
        let layers = field(40, |i, k| if mark(i, k) { 100.0 } else { noise(0, k) });
        assert!(unlike_others("f", &layers).is_empty());
        let quantised = |i: usize, k: usize| (20.0 * noise(i, k)).round();
        let quantised = field(40, |i, k| if mark(i, k) { -999.0 } else { quantised(i, k) });
        assert_eq!(unlike_others("f", &quantised).len(), 1);
        let columns = Mat::from_fn(2, 60, |i, k| match (i, k % 20) {
            (1, 0) => -9999.0,
            _ => noise(i, k),
        });
        let columns = Field::vector(columns.as_ref()).unwrap();
        assert_eq!(
            unlike_others("p", &columns),
            [
                "p[1] is -9999 in 3 samples, far from all others: missing values? leave these samples out"
            ]
        );
    }

    #[test]
    fn large_data_are_looked_at_in_part() {
        let large = |samples: usize, points: usize| {
            let values = Mat::from_fn(points, samples, |i, k| {
                if i.is_multiple_of(7) {
                    -9999.0
                } else {
                    noise(i, k)
                }
            });
            Field::shared(Points::linspace(0.0, 1.0, points), vec![values]).unwrap()
        };
        for (samples, points) in [(3000, 700), (2, 1_050_000)] {
            let field = large(samples, points);
            assert!(some_readings(&field, 0).len() <= PROBED_READINGS + points);
            let count = samples * points.div_ceil(7);
            let said = unlike_others("u", &field);
            assert!(
                said[0].contains(&format!("in {count} readings")),
                "{said:?}"
            );
        }
    }

    #[test]
    fn outputs_that_vanish_are_counted() {
        let zero = |every: usize| {
            field(
                20,
                move |i, k| if k % every == 3 { 0.0 } else { noise(i, k) },
            )
        };
        let said = vanishing("u", &zero(8)).unwrap();
        assert!(said.starts_with(
            "u is zero at all points in 3 samples, the first of them sample 3: a relative error is undefined there, so \
             RL2E uses their absolute errors"
        ), "{said}");
        assert!(
            vanishing("u", &zero(20))
                .unwrap()
                .contains("in sample 3: a relative error is undefined there")
        );
        assert!(vanishing("u", &zero(30)).is_some());
        assert!(vanishing("u", &field(20, noise)).is_none());
        assert!(vanishing("u", &field(20, |_, _| 0.0)).is_none());
    }
}
