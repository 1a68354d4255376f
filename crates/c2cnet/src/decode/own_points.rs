//! Output spaces for samples with their own points.
//!
//! They have no common $U$. Coordinates are orthonormal on a reference set drawn from all samples' points, scaled to a
//! sample's number of points; each sample's coordinates come from a ridge fit at its own points, with one strength
//! chosen on several samples. If a sample has few readings per coordinate, this fit is only a first guess: its
//! readings are kept as equations for the coordinates, to which maps are fitted.

use super::space::{Space, cut_of};
use super::{SampleTarget, Targets, Withheld};
use crate::basis::{Design, FieldBasis, VectorBasis};
use crate::data::{Points, Scattered};
use crate::encode::{EncoderSpec, Regularisation, Spectrum, choose, encode_sample};
use crate::error::in_order;
use crate::{Error, Result, linalg};
use faer::Mat;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use std::ops::Range;

/// The cut of singular values on the reference set.
const CUT: f64 = 1e-6;

/// At most this many samples choose the strength of the ridge.
const RIDGE_SAMPLES: usize = 64;

/// With this many readings per coordinate, those of a sample determine its coordinates by themselves.
const WELL_DETERMINED: usize = 3;

/// The equations of readings are kept up to this many numbers (512 MB); with more, maps are fitted to coordinates
/// computed from each sample's readings alone.
const MOST_NUMBERS: usize = 1 << 26;

pub(super) fn fit(
    basis: &FieldBasis,
    samples: &[Scattered],
    withheld: &Withheld,
    cuts: &[f64],
    seed: u64,
) -> Result<Space> {
    let mut space = Space {
        withheld: withheld.clone(),
        ..Space::default()
    };
    for (p, (part, range)) in basis.ranges().enumerate() {
        let cut = cut_of(cuts, p).unwrap_or(CUT);
        let transform = transform(part, samples, cut, seed)?;
        let problems = Problems {
            part,
            components: range,
            transform: &transform,
            samples,
            withheld,
        };
        let ridge = problems.choose_ridge()?;
        let mut targets = problems.solve(ridge)?;
        targets.readings = problems.readings()?;
        space.targets.push(targets);
        space.cuts.push(cut);
        space.transforms.push(transform);
    }
    Ok(space)
}

/// Coefficients from coordinates that are orthonormal on a reference set.
fn transform(part: &VectorBasis, samples: &[Scattered], cut: f64, seed: u64) -> Result<Mat<f64>> {
    let total: usize = samples.iter().map(|s| s.points.len()).sum();
    let mean_count = total as f64 / samples.len() as f64;
    let reference = reference_points(samples, 8 * part.len().max(250), seed);
    let spectrum = Spectrum::new(part.evaluate(&reference)?)?;
    let Some(&largest) = spectrum.singular_values().first() else {
        return Err(Error::Data(format!(
            "all {} output functions are zero at the output points of all samples",
            part.len()
        )));
    };
    let rank = spectrum.rank_above(cut * largest).max(1);
    let spectrum = spectrum.truncated(rank);
    let scale = (reference.len() as f64 / mean_count).sqrt();
    Ok(spectrum.inverse_transform() * faer::Scale(scale))
}

/// The least-squares problem of each sample for the coordinates of one part.
pub(super) struct Problems<'a> {
    pub part: &'a VectorBasis,
    pub components: Range<usize>,
    pub transform: &'a Mat<f64>,
    pub samples: &'a [Scattered],
    pub withheld: &'a Withheld,
}

/// The result of a sample's own fit.
struct SampleFit {
    coordinates: Vec<f64>,
    outside_squared: f64,
    norm_squared: f64,
}

impl Problems<'_> {
    pub(super) fn solve(&self, ridge: Regularisation) -> Result<Targets> {
        let all = (0..self.samples.len()).into_par_iter();
        let fits = in_order(all.map(|k| self.fit_sample(k, ridge)))?;
        let rank = self.transform.ncols();
        Ok(Targets {
            coordinates: Mat::from_fn(rank, fits.len(), |i, k| fits[k].coordinates[i]),
            outside_squared: fits.iter().map(|f| f.outside_squared).collect(),
            norm_squared: fits.iter().map(|f| f.norm_squared).collect(),
            withheld_floor: None,
            readings: None,
        })
    }

    /// The equations of each sample's readings for its coordinates, unless the readings determine them or the
    /// equations take too much memory.
    fn readings(&self) -> Result<Option<Vec<SampleTarget>>> {
        let rank = self.transform.ncols();
        let rows = |s: &Scattered| (s.points.len() * self.components.len()).min(rank);
        let numbers = self.samples.iter().map(rows).sum::<usize>() * rank;
        let count = |s: &Scattered| s.points.len() * self.components.len();
        let determined = (self.samples.iter()).all(|s| count(s) >= WELL_DETERMINED * rank);
        if determined || numbers > MOST_NUMBERS {
            return Ok(None);
        }
        let of_sample = |k: usize| {
            let (design, values) = self.of_sample(k)?;
            SampleTarget::new(design.as_ref(), &values)
        };
        in_order((0..self.samples.len()).into_par_iter().map(of_sample)).map(Some)
    }

    /// The design and the values at the fitted points of sample `k`.
    fn of_sample(&self, k: usize) -> Result<(Mat<f64>, Vec<f64>)> {
        let sample = &self.samples[k];
        let n = sample.points.len();
        let kept = self.withheld.fitted(k, n);
        let design = self
            .part
            .evaluate(&sample.points.select(&kept))
            .map_err(|e| e.of_sample("output", k))?;
        let values = self
            .components
            .clone()
            .flat_map(|c| kept.iter().map(move |&i| sample.values[c * n + i]))
            .collect();
        Ok((design.mul(self.transform.as_ref()), values))
    }

    pub(super) fn choose_ridge(&self) -> Result<Regularisation> {
        let group = |k: usize| {
            let (design, values) = self.of_sample(k)?;
            let column = Mat::from_fn(values.len(), 1, |i, _| values[i]);
            Ok((Spectrum::new(Design::Dense(design))?, column))
        };
        let some = (0..self.samples.len().min(RIDGE_SAMPLES)).into_par_iter();
        let (spectra, columns): (Vec<_>, Vec<_>) = in_order(some.map(group))?.into_iter().unzip();
        let columns = columns.iter().map(Mat::as_ref);
        let groups: Vec<_> = spectra.into_iter().zip(columns).collect();
        Ok(choose(&EncoderSpec::default(), &groups)
            .unwrap_or(Regularisation::Ridge { lambda: 1e-10 }))
    }

    fn fit_sample(&self, k: usize, ridge: Regularisation) -> Result<SampleFit> {
        let (design, values) = self.of_sample(k)?;
        let coordinates = encode_sample(design.as_ref(), &values, ridge)?;
        let column = Mat::from_fn(coordinates.len(), 1, |i, _| coordinates[i]);
        let fitted = linalg::mul_seq(design.as_ref(), column.as_ref());
        let off = fitted.col(0).iter().zip(&values);
        Ok(SampleFit {
            outside_squared: off.map(|(a, b)| (a - b).powi(2)).sum(),
            norm_squared: values.iter().map(|v| v * v).sum(),
            coordinates,
        })
    }
}

/// Up to `count` points drawn from those of all samples.
fn reference_points(samples: &[Scattered], count: usize, seed: u64) -> Points {
    let mut all: Vec<(usize, usize)> = samples
        .iter()
        .enumerate()
        .flat_map(|(k, s)| (0..s.points.len()).map(move |i| (k, i)))
        .collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let (chosen, _) = all.partial_shuffle(&mut rng, count);
    chosen.sort_unstable();
    let coords = chosen
        .iter()
        .flat_map(|&(k, i)| samples[k].points.point(i).iter().copied())
        .collect();
    Points::new(samples[0].points.dim(), coords).expect("points have been checked")
}
