//! Vectors that are not functions, as coefficients: each entry by its kind, then standardised.
//!
//! | Kind | entry $v$ becomes |
//! |---|---|
//! | plain | $v$ |
//! | positive | $\ln v$ |
//! | periodic with period $P$ | $\cos(2\pi v/P),\ \sin(2\pi v/P)$ |
//! | categorical | 1 for the category it is, 0 for every other one seen in training |
//!
//! Then each row has mean 0 and deviation 1 over the training samples. The rows of one periodic or
//! categorical entry are divided by their common deviation, so that the circle stays a circle and all
//! categories stay equally far from each other.

use crate::storage::tensor;
use crate::{Error, Result};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Deviations below this part of a row's size are rounding: such a row is only centred.
const ROUNDING: f64 = 1e-12;

/// What the entry of a vector is.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A number.
    #[default]
    Plain,
    /// A positive number whose ratios matter: its logarithm is taken.
    Positive,
    /// An angle or a time of day: values that differ by this period are the same.
    Periodic(f64),
    /// A label: all values are equally far from each other.
    Categorical,
}

/// Settings of a vector.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kinds` | all `plain` | what each entry is | one of `plain`, `positive`, `{ periodic = P }`, `categorical` for each entry |
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VectorSpec {
    /// What each entry is; empty: all are plain.
    pub kinds: Vec<Kind>,
}

impl VectorSpec {
    /// The kind of each of `count` entries.
    ///
    /// # Errors
    /// If there are kinds for another number of entries, or a period is not positive.
    pub fn resolve(&self, count: usize) -> Result<Vec<Kind>> {
        if self.kinds.is_empty() {
            return Ok(vec![Kind::Plain; count]);
        }
        if self.kinds.len() != count {
            return Err(Error::Config(format!(
                "kinds has {} entries, the vector has {count} values per sample; give one for each",
                self.kinds.len()
            )));
        }
        for (i, kind) in self.kinds.iter().enumerate() {
            if let Kind::Periodic(period) = kind
                && !(period.is_finite() && *period > 0.0)
            {
                return Err(Error::Config(format!(
                    "column {i}: periodic = {period} must be a positive number"
                )));
            }
        }
        Ok(self.kinds.clone())
    }
}

/// An entry with what training showed of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    Plain,
    Positive,
    Periodic(f64),
    /// The categories seen in training, in increasing order.
    Categorical(Vec<f64>),
}

impl Entry {
    fn settle(kind: Kind, row: &[f64], column: usize) -> Result<Entry> {
        Ok(match kind {
            Kind::Plain => Entry::Plain,
            Kind::Positive => Entry::Positive,
            Kind::Periodic(period) => Entry::Periodic(period),
            Kind::Categorical => {
                let mut categories = row.to_vec();
                categories.sort_by(f64::total_cmp);
                categories.dedup();
                if categories.len() == row.len() && row.len() > 1 {
                    return Err(Error::Data(format!(
                        "column {column} is categorical and has a category of its own for each of the {} samples; \
                         numbers that can be compared are \"plain\"",
                        row.len()
                    )));
                }
                Entry::Categorical(categories)
            }
        })
    }

    /// How many rows it becomes.
    fn rows(&self) -> usize {
        match self {
            Entry::Plain | Entry::Positive => 1,
            Entry::Periodic(_) => 2,
            Entry::Categorical(categories) => categories.len(),
        }
    }

    /// Appends the rows of `value`.
    fn expand(&self, value: f64, sample: usize, column: usize, to: &mut Vec<f64>) -> Result<()> {
        match self {
            Entry::Plain => to.push(value),
            Entry::Positive => to.push(logarithm(value, sample, column)?),
            Entry::Periodic(period) => {
                let (sin, cos) = (std::f64::consts::TAU * (value / period).fract()).sin_cos();
                to.extend([cos, sin]);
            }
            Entry::Categorical(categories) => {
                let Some(known) = categories.iter().position(|&c| c == value) else {
                    return Err(Error::Data(format!(
                        "sample {sample} has the category {value} in column {column}, which no training sample has; \
                         known are {}",
                        listed(categories)
                    )));
                };
                to.extend((0..categories.len()).map(|i| f64::from(u8::from(i == known))));
            }
        }
        Ok(())
    }

    fn describe(&self) -> String {
        match self {
            Entry::Plain => "plain".into(),
            Entry::Positive => "positive (log)".into(),
            Entry::Periodic(period) => format!("periodic ({period})"),
            Entry::Categorical(all) => format!("categorical ({})", all.len()),
        }
    }
}

/// Makes the coefficients of a vector from its entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VectorEncoder {
    entries: Vec<Entry>,
    standard: Standard,
}

impl VectorEncoder {
    /// Settles the encoder on the training vectors, $k$ x $N$.
    ///
    /// # Errors
    /// As [`VectorSpec::resolve`]; if a positive entry is not, or each sample has a category of its own.
    pub fn fit(spec: &VectorSpec, values: MatRef<'_, f64>) -> Result<Self> {
        let kinds = spec.resolve(values.nrows())?;
        let entries = kinds
            .into_iter()
            .enumerate()
            .map(|(i, kind)| {
                let row: Vec<f64> = values.row(i).iter().copied().collect();
                Entry::settle(kind, &row, i)
            })
            .collect::<Result<Vec<_>>>()?;
        let groups: Vec<usize> = entries.iter().map(Entry::rows).collect();
        let expanded = expand(&entries, values)?;
        let standard = Standard::of(expanded.as_ref(), &groups);
        Ok(VectorEncoder { entries, standard })
    }

    /// How many entries a vector has, $k$.
    pub fn values(&self) -> usize {
        self.entries.len()
    }

    /// How many coefficients they become, $m$.
    pub fn coefficients(&self) -> usize {
        self.standard.mean.len()
    }

    /// Whether a stored one is complete, for this many coefficients.
    pub(super) fn is_complete(&self, coefficients: usize) -> bool {
        let rows: usize = self.entries.iter().map(Entry::rows).sum();
        rows == coefficients && self.standard.is_complete(rows)
    }

    /// The coefficients, $m$ x $N$, of vectors, $k$ x $N$.
    ///
    /// # Errors
    /// If the vectors have another number of entries, a positive entry is not, or a category is new.
    pub fn encode(&self, values: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(values.nrows(), self.entries.len())?;
        let mut expanded = expand(&self.entries, values)?;
        self.standard.apply(&mut expanded);
        Ok(expanded)
    }

    /// A human-readable line.
    pub fn describe(&self) -> String {
        let mut runs: Vec<(String, usize)> = Vec::new();
        for entry in &self.entries {
            let text = entry.describe();
            match runs.last_mut() {
                Some((last, count)) if *last == text => *count += 1,
                _ => runs.push((text, 1)),
            }
        }
        let parts: Vec<String> = runs
            .into_iter()
            .map(|(text, count)| match count {
                1 => text,
                _ => format!("{count} {text}"),
            })
            .collect();
        let plural = if self.entries.len() == 1 { "" } else { "s" };
        format!(
            "{} value{plural}, standardised: {}",
            self.entries.len(),
            parts.join(", ")
        )
    }
}

fn expand(entries: &[Entry], values: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let rows = entries.iter().map(Entry::rows).sum();
    let mut out = Mat::zeros(rows, values.ncols());
    let mut column = Vec::with_capacity(rows);
    for k in 0..values.ncols() {
        column.clear();
        for (i, entry) in entries.iter().enumerate() {
            entry.expand(values[(i, k)], k, i, &mut column)?;
        }
        out.col_as_slice_mut(k).copy_from_slice(&column);
    }
    Ok(out)
}

pub(crate) fn check_width(found: usize, fitted: usize) -> Result<()> {
    if found != fitted {
        let plural = if found == 1 { "" } else { "s" };
        return Err(Error::Data(format!(
            "{found} value{plural} per sample, the model was fitted to {fitted}"
        )));
    }
    Ok(())
}

pub(crate) fn logarithm(value: f64, sample: usize, column: usize) -> Result<f64> {
    if value <= 0.0 {
        return Err(Error::Data(format!(
            "sample {sample} has {value} in column {column}, which the settings call positive; \
             repair it, or call the column \"plain\""
        )));
    }
    Ok(value.ln())
}

fn listed(categories: &[f64]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = categories.iter().take(SHOWN).map(f64::to_string).collect();
    let more = categories.len().saturating_sub(SHOWN);
    match more {
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Mean and deviation of each row over the training samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standard {
    #[serde(with = "tensor")]
    mean: Vec<f64>,
    /// 1 for rows that do not vary.
    #[serde(with = "tensor")]
    deviation: Vec<f64>,
}

impl Standard {
    /// Of the rows of `values`; rows of one of the `groups` (their sizes, in order) share a deviation.
    pub(crate) fn of(values: MatRef<'_, f64>, groups: &[usize]) -> Standard {
        let samples = values.ncols() as f64;
        let (mut mean, mut deviation) = (Vec::new(), Vec::new());
        let mut start = 0;
        for &size in groups {
            let (mut variance, mut scale) = (0.0, 0.0f64);
            for i in start..start + size {
                let row = values.row(i);
                let centre = row.iter().sum::<f64>() / samples;
                variance += row.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / samples;
                scale = scale.max(row.iter().fold(0.0, |m, v| v.abs().max(m)));
                mean.push(centre);
            }
            let common = (variance / size as f64).sqrt();
            let varies = common > ROUNDING * scale;
            deviation.extend(std::iter::repeat_n(if varies { common } else { 1.0 }, size));
            start += size;
        }
        Standard { mean, deviation }
    }

    pub(crate) fn apply(&self, values: &mut Mat<f64>) {
        self.each(values, |v, m, s| (v - m) / s);
    }

    pub(crate) fn undo(&self, values: &mut Mat<f64>) {
        self.each(values, |v, m, s| m + s * v);
    }

    pub(crate) fn len(&self) -> usize {
        self.mean.len()
    }

    pub(crate) fn deviation(&self) -> &[f64] {
        &self.deviation
    }

    /// The same with standardised rows `weight` times as large.
    pub(crate) fn weigh(&mut self, weight: f64) {
        self.deviation.iter_mut().for_each(|s| *s /= weight);
    }

    /// Whether a stored one is complete, for `rows` rows.
    pub(crate) fn is_complete(&self, rows: usize) -> bool {
        self.mean.len() == rows && self.deviation.len() == rows
    }

    fn each(&self, values: &mut Mat<f64>, to: impl Fn(f64, f64, f64) -> f64) {
        for k in 0..values.ncols() {
            let column = values.col_as_slice_mut(k).iter_mut();
            for (v, (m, s)) in column.zip(self.mean.iter().zip(&self.deviation)) {
                *v = to(*v, *m, *s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Archive;

    fn spec(kinds: &[Kind]) -> VectorSpec {
        VectorSpec {
            kinds: kinds.to_vec(),
        }
    }

    fn column(values: &[f64]) -> Mat<f64> {
        Mat::from_fn(1, values.len(), |_, k| values[k])
    }

    #[track_caller]
    fn assert_says<T: std::fmt::Debug>(result: Result<T>, parts: &[&str]) {
        let message = result.expect_err("this must fail").to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }

    fn mean_and_variance(values: &Mat<f64>, i: usize) -> (f64, f64) {
        let n = values.ncols();
        let row = (0..n).map(|k| values[(i, k)]);
        let mean = row.clone().sum::<f64>() / n as f64;
        (
            mean,
            row.map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64,
        )
    }

    #[test]
    fn plain_and_positive_rows_have_mean_zero_and_deviation_one() {
        let values = Mat::from_fn(3, 40, |i, k| match i {
            0 => 1e9 + 1e5 * ((k * k) % 17) as f64,
            1 => 10f64.powf(((k * 7) % 13) as f64 - 6.0),
            _ => 3.25,
        });
        let kinds = [Kind::Plain, Kind::Positive, Kind::Plain];
        let encoder = VectorEncoder::fit(&spec(&kinds), values.as_ref()).unwrap();
        assert_eq!((encoder.values(), encoder.coefficients()), (3, 3));
        let coded = encoder.encode(values.as_ref()).unwrap();
        for i in 0..2 {
            let (mean, variance) = mean_and_variance(&coded, i);
            assert!(
                mean.abs() < 1e-9 && (variance - 1.0).abs() < 1e-9,
                "{mean} {variance}"
            );
        }
        // Equal ratios are equally far apart.
        let steps = encoder
            .encode(Mat::from_fn(3, 3, |_, k| 10f64.powi(k as i32)).as_ref())
            .unwrap();
        let step = |k: usize| steps[(1, k + 1)] - steps[(1, k)];
        assert!((step(0) - step(1)).abs() < 1e-12);
        // A row that is constant in training is only centred, so that a later change is seen.
        assert!(coded.row(2).iter().all(|v| *v == 0.0));
        let other = encoder.encode(Mat::from_fn(3, 1, |_, _| 4.25).as_ref());
        assert_eq!(other.unwrap()[(2, 0)], 1.0);
    }

    #[test]
    fn an_angle_is_a_point_on_a_circle() {
        let angles: Vec<f64> = (0..30).map(|k| 12.0 * f64::from(k) + 5.0).collect();
        let kinds = spec(&[Kind::Periodic(360.0)]);
        let encoder = VectorEncoder::fit(&kinds, column(&angles).as_ref()).unwrap();
        assert_eq!(encoder.coefficients(), 2);
        let code = |v: f64| encoder.encode(column(&[v]).as_ref()).unwrap();
        for turn in [-720.0, 360.0, 3600.0] {
            assert!((code(17.0) - code(17.0 + turn)).norm_max() < 1e-12);
        }
        let distance = |a: f64, b: f64| (code(a) - code(b)).norm_l2();
        assert!((distance(359.0, 1.0) - distance(100.0, 102.0)).abs() < 1e-12);
        // Half a circle in training does not make an ellipse of it.
        let half = VectorEncoder::fit(&kinds, column(&angles[..15]).as_ref()).unwrap();
        let code = |v: f64| half.encode(column(&[v]).as_ref()).unwrap();
        let distance = |a: f64, b: f64| (code(a) - code(b)).norm_l2();
        assert!((distance(0.0, 10.0) - distance(90.0, 100.0)).abs() < 1e-12);
    }

    #[test]
    fn categories_are_equally_far_apart_and_new_ones_are_named() {
        let seen = column(&[3.0, 1.0, 3.0, 7.0, 1.0, 3.0, 3.0]);
        let kinds = spec(&[Kind::Categorical]);
        let encoder = VectorEncoder::fit(&kinds, seen.as_ref()).unwrap();
        assert_eq!(encoder.coefficients(), 3);
        let codes = encoder.encode(column(&[1.0, 3.0, 7.0]).as_ref()).unwrap();
        let distance = |a: usize, b: usize| {
            let squares = (0..3).map(|i| (codes[(i, a)] - codes[(i, b)]).powi(2));
            squares.sum::<f64>().sqrt()
        };
        assert!((distance(0, 1) - distance(1, 2)).abs() < 1e-12);
        assert!((distance(0, 1) - distance(0, 2)).abs() < 1e-12);
        assert_says(
            encoder.encode(column(&[1.0, 2.0]).as_ref()),
            &["sample 1", "category 2", "column 0", "1, 3, 7"],
        );
        assert_says(
            VectorEncoder::fit(&kinds, column(&[0.1, 0.2, 0.3]).as_ref()),
            &["column 0", "each of the 3 samples", "\"plain\""],
        );
    }

    #[test]
    fn what_does_not_fit_says_so() {
        let two = Mat::from_fn(2, 4, |i, k| (i + k) as f64);
        let encoder = VectorEncoder::fit(&VectorSpec::default(), two.as_ref()).unwrap();
        assert_says(
            encoder.encode(Mat::zeros(3, 1).as_ref()),
            &["3 values per sample, the model was fitted to 2"],
        );
        assert_says(
            VectorEncoder::fit(&spec(&[Kind::Positive, Kind::Plain]), two.as_ref()),
            &["sample 0 has 0 in column 0", "positive", "\"plain\""],
        );
        assert_says(
            VectorEncoder::fit(&spec(&[Kind::Plain]), two.as_ref()),
            &["kinds has 1 entries", "2 values per sample"],
        );
        for period in [0.0, -1.0, f64::NAN] {
            let kinds = spec(&[Kind::Plain, Kind::Periodic(period)]);
            assert_says(kinds.resolve(2), &["column 1", "periodic"]);
        }
    }

    #[test]
    fn settings_through_text_and_encoders_through_archives() {
        let text = r#"{"kinds": ["plain", {"periodic": 6.5}, "positive", "categorical"]}"#;
        let kinds: VectorSpec = serde_json::from_str(text).unwrap();
        let expected = [
            Kind::Plain,
            Kind::Periodic(6.5),
            Kind::Positive,
            Kind::Categorical,
        ];
        assert_eq!(kinds, spec(&expected));
        assert!(serde_json::from_str::<VectorSpec>(r#"{"kind": []}"#).is_err());
        let values = Mat::from_fn(4, 9, |i, k| ((i + k * k) % 4) as f64 + 1.0 / 3.0);
        let encoder = VectorEncoder::fit(&kinds, values.as_ref()).unwrap();
        assert_eq!(
            encoder.describe(),
            "4 values, standardised: plain, periodic (6.5), positive (log), categorical (2)"
        );
        let archive = Archive::of(&encoder).unwrap();
        let again: VectorEncoder = archive.restore("it").unwrap();
        let codes = |e: &VectorEncoder| e.encode(values.as_ref()).unwrap();
        assert!(again == encoder && codes(&again) == codes(&encoder));
    }
}
