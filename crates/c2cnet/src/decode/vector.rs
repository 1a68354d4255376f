//! Output vectors that are not functions, as targets: standardised, so that quantities of very different
//! sizes count equally.

use crate::encode::{Kind, Standard, VectorSpec, check_width, logarithm};
use crate::{Error, Result};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Makes targets from vectors, and vectors from predicted targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VectorDecoder {
    /// Whether the logarithm of an entry is predicted.
    logs: Vec<bool>,
    standard: Standard,
}

impl VectorDecoder {
    /// Settles the decoder on the training vectors, $k$ x $N$. Entries are plain or, where `spec` says so,
    /// positive: then their logarithm is predicted, and relative errors count.
    ///
    /// # Errors
    /// If an entry is to be periodic or categorical, a positive entry is not, or there are kinds for
    /// another number of entries.
    pub fn fit(spec: &VectorSpec, values: MatRef<'_, f64>) -> Result<Self> {
        let log = |(i, kind): (usize, Kind)| match kind {
            Kind::Plain => Ok(false),
            Kind::Positive => Ok(true),
            Kind::Periodic(_) => Err(Error::Config(format!(
                "column {i}: an output cannot be periodic; give its cosine and its sine as two columns"
            ))),
            Kind::Categorical => Err(Error::Config(format!(
                "column {i}: an output cannot be categorical; give a column of 0 and 1 for each category"
            ))),
        };
        let kinds = spec.resolve(values.nrows())?;
        let logs = kinds
            .into_iter()
            .enumerate()
            .map(log)
            .collect::<Result<Vec<_>>>()?;
        let logged = take_logs(&logs, values)?;
        let standard = Standard::of(logged.as_ref(), &vec![1; values.nrows()]);
        Ok(VectorDecoder { logs, standard })
    }

    /// Makes all targets `weight` times as large, so that they count as much as others beside them.
    pub(crate) fn weigh(&mut self, weight: f64) {
        self.standard.weigh(weight);
    }

    /// The squared size of a vector in units of the targets, the same for every sample, because a quantity may
    /// pass through zero: the mean square of each of the `values`, 1 where relative errors count.
    pub(crate) fn size_squared(&self, values: MatRef<'_, f64>) -> f64 {
        let samples = values.ncols() as f64;
        let mean_square = |i: usize| match self.logs[i] {
            true => 1.0,
            false => values.row(i).iter().map(|v| v * v).sum::<f64>() / samples,
        };
        let deviations = self.standard.deviation().iter().enumerate();
        deviations.map(|(i, s)| mean_square(i) / (s * s)).sum()
    }

    /// Whether a stored one is complete, for this many targets.
    pub(super) fn is_complete(&self, targets: usize) -> bool {
        self.logs.len() == targets && self.standard.is_complete(targets)
    }

    /// How many entries a vector has, $k$; as many targets.
    pub fn values(&self) -> usize {
        self.standard.len()
    }

    /// The targets of vectors, both $k$ x $N$.
    ///
    /// # Errors
    /// If the vectors have another number of entries, or a positive entry is not.
    pub fn encode(&self, values: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(values.nrows(), self.values())?;
        let mut targets = take_logs(&self.logs, values)?;
        self.standard.apply(&mut targets);
        Ok(targets)
    }

    /// The vectors of targets; the inverse of [`VectorDecoder::encode`].
    ///
    /// # Errors
    /// If there are not as many targets as entries.
    pub fn decode(&self, targets: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(targets.nrows(), self.values())?;
        let mut values = targets.to_owned();
        self.standard.undo(&mut values);
        for (i, _) in self.logs.iter().enumerate().filter(|(_, log)| **log) {
            values.row_mut(i).iter_mut().for_each(|v| *v = v.exp());
        }
        Ok(values)
    }

    /// A human-readable line.
    pub fn describe(&self) -> String {
        let plural = if self.values() == 1 { "" } else { "s" };
        let logs = self.logs.iter().filter(|log| **log).count();
        let log = match logs {
            0 => String::new(),
            n if n == self.values() => ", by the logarithm".into(),
            n => format!(", {n} by the logarithm"),
        };
        format!("{} value{plural}, standardised{log}", self.values())
    }
}

fn take_logs(logs: &[bool], values: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let mut out = values.to_owned();
    // Sample after sample, so that the first bad one is named.
    for k in 0..out.ncols() {
        for (i, _) in logs.iter().enumerate().filter(|(_, log)| **log) {
            out[(i, k)] = logarithm(out[(i, k)], k, i)?;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Archive;

    fn forces() -> Mat<f64> {
        Mat::from_fn(3, 25, |i, k| match i {
            0 => 1e-6 * (1.0 + ((k * k) % 11) as f64),
            1 => 1e4 * (1.0 + ((k * 3) % 7) as f64),
            _ => 42.0,
        })
    }

    fn spec(kinds: &[Kind]) -> VectorSpec {
        VectorSpec {
            kinds: kinds.to_vec(),
        }
    }

    #[test]
    fn targets_count_equally_and_come_back() {
        for kinds in [vec![], vec![Kind::Positive, Kind::Plain, Kind::Positive]] {
            let decoder = VectorDecoder::fit(&spec(&kinds), forces().as_ref()).unwrap();
            let targets = decoder.encode(forces().as_ref()).unwrap();
            for i in 0..2 {
                let squares: f64 = targets.row(i).iter().map(|v| v * v).sum();
                assert!((squares / 25.0 - 1.0).abs() < 1e-9, "{squares}");
            }
            let still = targets.row(2).iter().all(|v| v.abs() < 1e-12);
            assert!(still, "a constant is only centred");
            let back = decoder.decode(targets.as_ref()).unwrap();
            let values = forces();
            for at in (0..25).flat_map(|k| (0..3).map(move |i| (i, k))) {
                let (a, b) = (values[at], back[at]);
                assert!((a - b).abs() <= 1e-12 * a.abs(), "{a} {b}");
            }
            let archive = Archive::of(&decoder).unwrap();
            assert_eq!(archive.restore::<VectorDecoder>("it").unwrap(), decoder);
        }
    }

    #[test]
    fn what_cannot_be_predicted_says_so() {
        let says = |kinds: &[Kind], part: &str| {
            let error = VectorDecoder::fit(&spec(kinds), forces().as_ref()).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        };
        let with = |kind| [Kind::Plain, kind, Kind::Plain];
        says(
            &with(Kind::Periodic(360.0)),
            "column 1: an output cannot be periodic",
        );
        says(
            &with(Kind::Categorical),
            "column 1: an output cannot be categorical",
        );
        let mut values = forces();
        values[(1, 4)] = -2.0;
        let error = VectorDecoder::fit(&spec(&with(Kind::Positive)), values.as_ref());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("sample 4 has -2 in column 1"), "{error}");
        let decoder = VectorDecoder::fit(&spec(&[]), forces().as_ref()).unwrap();
        let error = decoder.encode(Mat::zeros(2, 1).as_ref()).unwrap_err();
        assert!(error.to_string().contains("2 values per sample"), "{error}");
        assert_eq!(decoder.describe(), "3 values, standardised");
    }
}
