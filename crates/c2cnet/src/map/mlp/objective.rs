//! What training compares: predicted and true coordinates, and the error that no coordinates can change.
//!
//! With $\Psi = QR$ the error at all output points is
//! $$\|\Psi b - u\|^2 = \|Rb - Q^\top u\|^2 + \|u - QQ^\top u\|^2,$$
//! so a step needs only the coordinates $c = Q^\top u$ and one number per sample, never the points.

use super::scalar::Scalar;
use crate::decode::SampleTarget;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};

/// From the network's outputs to the coordinates in which they are compared.
#[derive(Debug, Clone)]
pub(super) enum Factor<T> {
    /// The outputs are the coordinates.
    None,
    /// $c = Rb$.
    Shared(Mat<T>),
    /// $c_k = R_kb$, for samples with their own points.
    PerSample(Vec<Mat<T>>),
}

/// The targets of samples.
#[derive(Debug, Clone)]
pub(in crate::map) struct Objective<T> {
    pub(super) factor: Factor<T>,
    /// Whether a shared factor may be folded into the last layer where that costs less.
    pub(super) may_fold: bool,
    /// Coordinates, one column per sample; with per-sample factors, as many leading rows as each factor has.
    pub(in crate::map) targets: Mat<T>,
    /// $s$: errors in coordinates are $s$ times errors of outputs.
    pub(super) scale: f64,
    /// $\|u - QQ^\top u\|^2$.
    pub(super) outside_squared: Vec<f64>,
    /// $\|u\|$.
    pub(super) norms: Vec<f64>,
    /// The number of values of $u$.
    pub(super) counts: Vec<usize>,
    /// Data for losses that weight points.
    pub(super) field: Option<FieldAtPoints<T>>,
}

/// The output space at the points, and the part of each sample outside it.
#[derive(Debug, Clone)]
pub(super) struct FieldAtPoints<T> {
    /// $U^\top$: one column per point.
    pub(super) modes: Mat<T>,
    /// $u$, one column per sample.
    pub(super) values: Mat<f64>,
    /// $u - Uc$, one column per sample.
    pub(super) outside: Mat<f64>,
}

/// Targets in `f64`, as they come from a decoder.
#[derive(Debug, Clone)]
pub enum OutputData<'a> {
    /// All samples share their points.
    Shared {
        /// Orthonormal coordinates $c = Q^\top u$, one column per sample.
        coordinates: MatRef<'a, f64>,
        /// $\|u - QQ^\top u\|^2$.
        outside_squared: &'a [f64],
        /// $\|u\|^2$.
        norm_squared: &'a [f64],
        /// The number of values of a sample: points times components.
        count: usize,
        /// $Q$ (values by coordinates) and $u$ (one column per sample): for the band loss only.
        field: Option<(MatRef<'a, f64>, MatRef<'a, f64>)>,
    },
    /// Every sample has its own.
    PerSample(&'a [SampleTarget]),
}

impl OutputData<'_> {
    /// Checks that all parts have the same number of samples.
    ///
    /// # Errors
    /// [`Error::Shape`] naming the part.
    pub fn check(&self, samples: usize) -> Result<()> {
        let same = |what: &str, found: usize| match found == samples {
            true => Ok(()),
            false => Err(Error::shape(
                what,
                format!("{samples} samples"),
                found.to_string(),
            )),
        };
        match self {
            OutputData::Shared {
                coordinates,
                outside_squared,
                norm_squared,
                count: _,
                field,
            } => {
                same("target coordinates", coordinates.ncols())?;
                same("target remainders", outside_squared.len())?;
                same("target norms", norm_squared.len())?;
                if let Some((q, u)) = field {
                    same("values at output points", u.ncols())?;
                    let expected = (u.nrows(), coordinates.nrows());
                    if q.shape() != expected {
                        return Err(Error::shape(
                            "the output space at the points",
                            format!("{expected:?}"),
                            format!("{:?}", q.shape()),
                        ));
                    }
                }
                Ok(())
            }
            OutputData::PerSample(targets) => {
                same("targets", targets.len())?;
                match targets
                    .iter()
                    .position(|t| t.factor.ncols() != targets[0].factor.ncols())
                {
                    Some(k) => Err(Error::shape(
                        format!("functions of output sample {k}"),
                        targets[0].factor.ncols().to_string(),
                        targets[k].factor.ncols().to_string(),
                    )),
                    None => Ok(()),
                }
            }
        }
    }

    /// The number of values that describe an output: coordinates, or coefficients.
    pub(super) fn rows(&self) -> usize {
        match self {
            OutputData::Shared { coordinates, .. } => coordinates.nrows(),
            OutputData::PerSample(samples) => samples.first().map_or(0, |s| s.factor.ncols()),
        }
    }
}

/// $c = o_k + Ay$: coordinates from the network's outputs $y$, with orthonormal columns of $A$ up to
/// one scale (or no $A$) and an offset that may differ between samples.
pub(in crate::map) struct Frame<'a> {
    pub(in crate::map) axes: Option<MatRef<'a, f64>>,
    pub(in crate::map) scale: f64,
    /// One column per sample.
    pub(in crate::map) offsets: Option<MatRef<'a, f64>>,
}

impl Frame<'_> {
    /// The identity.
    pub(super) const IDENTITY: Frame<'static> = Frame {
        axes: None,
        scale: 1.0,
        offsets: None,
    };
}

impl<T: Scalar> Objective<T> {
    /// The samples `indices` of `data`, compared in the coordinates of `frame`:
    /// $\|o_k + sPy - c\|^2 = s^2\|y - t\|^2 + \|(I - PP^\top)(c - o_k)\|^2$, $t = P^\top(c - o_k)/s$.
    ///
    /// `factor` is the $R$ of raw coefficients.
    pub(in crate::map) fn new(
        data: &OutputData<'_>,
        indices: &[usize],
        frame: &Frame<'_>,
        factor: Option<MatRef<'_, f64>>,
    ) -> Self {
        match data {
            OutputData::Shared {
                coordinates,
                outside_squared,
                norm_squared,
                count,
                field,
            } => {
                let c = linalg::select_columns(*coordinates, indices);
                let mut targets = c.clone();
                if let Some(o) = frame.offsets {
                    targets -= linalg::select_columns(o, indices);
                }
                if let Some(p) = frame.axes {
                    targets = linalg::mul(p.transpose(), targets.as_ref());
                }
                // The part of c outside the range of the frame counts as outside as well.
                let mut missed = c.clone();
                match frame.axes {
                    Some(p) => {
                        linalg::mul_add(missed.as_mut(), p, targets.as_ref(), -1.0);
                        if let Some(o) = frame.offsets {
                            missed -= linalg::select_columns(o, indices);
                        }
                    }
                    None => missed = Mat::zeros(c.nrows(), c.ncols()),
                }
                let missed_squared = linalg::column_norms_squared(missed.as_ref());
                let field = field.map(|(q, u)| {
                    let modes = match frame.axes {
                        Some(p) => linalg::mul(p.transpose(), q.transpose()),
                        None => q.transpose().to_owned(),
                    };
                    let values = linalg::select_columns(u, indices);
                    let mut outside = values.clone();
                    linalg::mul_add(outside.as_mut(), q, (&c - &missed).as_ref(), -1.0);
                    FieldAtPoints {
                        modes: cast(modes.as_ref()),
                        values,
                        outside,
                    }
                });
                targets *= faer::Scale(1.0 / frame.scale);
                Objective {
                    factor: factor.map_or(Factor::None, |r| Factor::Shared(cast(r))),
                    may_fold: true,
                    targets: cast(targets.as_ref()),
                    scale: frame.scale,
                    outside_squared: indices
                        .iter()
                        .zip(missed_squared)
                        .map(|(&k, missed)| outside_squared[k] + missed)
                        .collect(),
                    norms: indices.iter().map(|&k| norm_squared[k].sqrt()).collect(),
                    counts: vec![*count; indices.len()],
                    field,
                }
            }
            OutputData::PerSample(samples) => Self::per_sample(samples, indices, frame),
        }
    }

    /// $R_k(o_k + sPy) - t_k = s(R_kPy - (t_k - R_ko_k)/s)$.
    fn per_sample(samples: &[SampleTarget], indices: &[usize], frame: &Frame<'_>) -> Self {
        let s = frame.scale;
        let rows = indices.iter().map(|&k| samples[k].factor.nrows()).max();
        let mut targets = Mat::zeros(rows.unwrap_or(0), indices.len());
        let mut factors = Vec::with_capacity(indices.len());
        for (j, &k) in indices.iter().enumerate() {
            let sample = &samples[k];
            let target = match frame.offsets {
                Some(o) => {
                    let at = linalg::mul_seq((*sample.factor).as_ref(), o.subcols(k, 1));
                    let at = at.col_as_slice(0).iter();
                    sample.target.iter().zip(at).map(|(t, o)| t - o).collect()
                }
                None => sample.target.clone(),
            };
            for (i, t) in target.iter().enumerate() {
                targets[(i, j)] = T::from_f64(t / s);
            }
            factors.push(match frame.axes {
                Some(p) => cast(linalg::mul_seq((*sample.factor).as_ref(), p).as_ref()),
                None => cast((*sample.factor).as_ref()),
            });
        }
        let pick = |value: &dyn Fn(&SampleTarget) -> f64| -> Vec<f64> {
            indices.iter().map(|&k| value(&samples[k])).collect()
        };
        Objective {
            factor: Factor::PerSample(factors),
            may_fold: false,
            targets,
            scale: s,
            outside_squared: pick(&|t| t.outside_squared),
            norms: pick(&|t| t.norm_squared.sqrt()),
            counts: indices.iter().map(|&k| samples[k].count).collect(),
            field: None,
        }
    }

    pub(in crate::map) fn samples(&self) -> usize {
        self.norms.len()
    }
}

/// The same matrix in another precision.
pub(in crate::map) fn cast<T: Scalar>(a: MatRef<'_, f64>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::from_f64(a[(i, j)]))
}
