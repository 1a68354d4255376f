//! Scattered readings encoded with a prior of the coefficients that is learned from all samples.
//!
//! The few readings of one sample say little about many coefficients, but all samples together show how coefficients
//! vary and correlate, also across components. The model of sample $k$ is
//! $$ r_k = A_k c_k + e_k,\qquad c_k \sim N(\mu, S),\qquad e_k \sim N(0, \sigma^2 I), $$
//! $A_k$ the functions at its own points. $\mu$, $S$ and $\sigma^2$ maximise the likelihood of all
//! readings (expectation maximisation), and a sample's code is its posterior mean
//! $$ c = \mu + SA^\top(ASA^\top + \sigma^2 I)^{-1}(r - A\mu). $$
//! The basis may be arbitrarily fine: the prior supplies what readings do not determine.

use crate::basis::{FieldBasis, VectorBasis};
use crate::data::{Points, Scattered};
use crate::error::in_order;
use crate::linalg::{self, matmul, solve_lower_seq, solve_upper_seq};
use crate::storage::tensor;
use crate::{Error, Result};
use faer::prelude::ReborrowMut;
use faer::{Accum, Mat, MatRef, Par};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rounds of expectation maximisation, at most.
const ROUNDS: usize = 20;

/// Samples that a round uses, except the last, which uses all.
const SAMPLES: usize = 500;

/// Rounds end when the log likelihood per reading gains less than this.
const GAIN: f64 = 5e-3;

/// A round sums over this many groups of samples, whatever the number of threads.
const GROUPS: usize = 16;

/// Points at which the initial covariance is evaluated.
const PLACES: usize = 1000;

/// The initial noise, as a fraction of the readings' spread. Noise estimates fall slowly and rise fast, so it
/// starts low.
const INITIAL_NOISE: f64 = 3e-4;

/// The smallest noise, as a fraction of the readings' spread: with less, matrices are not positive definite.
const MIN_NOISE: f64 = 1e-5;

/// The correlation length of the initial covariance, as a fraction of the longest side.
const REACH: f64 = 1.0 / 6.0;

/// The weight of its rough part.
const ROUGH: f64 = 0.1;

/// Mean and covariance of coefficients, and the variance of noise.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Prior {
    #[serde(with = "tensor")]
    mean: Vec<f64>,
    #[serde(with = "tensor")]
    covariance: Mat<f64>,
    /// Of readings divided by their component's scale.
    noise: f64,
    /// The standard deviation of each component's readings, 1 where they do not vary.
    #[serde(with = "tensor")]
    scales: Vec<f64>,
}

/// Samples at the same points, one column each; readings divided by their component's scale.
///
/// Where there are more readings than coefficients, $A = QR$ and $r$ are replaced by $R$ and
/// $Q^\top r$: what lies outside the range of $A$ is noise alone.
struct Reading {
    /// The functions of each part at the points.
    designs: Vec<Mat<f64>>,
    values: Mat<f64>,
    /// How many readings per sample were outside, and their squared norm.
    outside: (usize, f64),
}

/// What a group of samples adds up to; $d = c - \mu$.
struct Sums {
    mean: Vec<f64>,
    /// $\sum dd^\top - W^\top W$ with $SA^\top C^{-1}AS = W^\top W$.
    second: Mat<f64>,
    noise: f64,
    readings: usize,
    likelihood: f64,
}

impl Sums {
    fn new(size: usize) -> Self {
        Sums {
            mean: vec![0.0; size],
            second: Mat::zeros(size, size),
            noise: 0.0,
            readings: 0,
            likelihood: 0.0,
        }
    }
}

impl Prior {
    /// Learns the prior of `samples`.
    ///
    /// # Errors
    /// If a point lies outside the domain, readings do not vary, or `cancelled` asks to stop.
    pub(super) fn fit(
        basis: &FieldBasis,
        samples: &[Scattered],
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self> {
        for (k, sample) in samples.iter().enumerate() {
            for part in basis.parts() {
                let function = &part.components()[0];
                let inside = function.domain().check(&sample.points, function.family());
                inside.map_err(|e| e.of_sample("input", k))?;
            }
        }
        let mut prior = Self::first(basis, samples)?;
        let few = SAMPLES.min(samples.len());
        let (mut best, mut without_gain) = (f64::NEG_INFINITY, 0);
        for round in 0..ROUNDS {
            if cancelled() {
                return Err(Error::Interrupted);
            }
            let start = round * few;
            let seen: Vec<usize> = (start..start + few).map(|k| k % samples.len()).collect();
            let likelihood = prior.improve(basis, samples, &seen)?;
            without_gain = if likelihood < best + GAIN {
                without_gain + 1
            } else {
                0
            };
            best = best.max(likelihood);
            // A round sees other samples, which may be a little less likely; twice in a row means convergence.
            if without_gain == 2 {
                break;
            }
        }
        if few < samples.len() {
            let all: Vec<usize> = (0..samples.len()).collect();
            prior.improve(basis, samples, &all)?;
        }
        Ok(prior)
    }

    /// The standard deviation of the noise, as a fraction of that of the readings.
    pub(super) fn noise(&self) -> f64 {
        self.noise.sqrt()
    }

    /// The initial prior: a smooth field with the mean and spread of each component.
    fn first(basis: &FieldBasis, samples: &[Scattered]) -> Result<Self> {
        let statistics: Vec<(f64, f64)> = (0..basis.components())
            .map(|c| statistics(samples, c))
            .collect();
        if statistics.iter().all(|s| s.1 <= 0.0) {
            return Err(Error::Data(
                "all readings are equal; there is nothing to encode".into(),
            ));
        }
        let places = places(samples)?;
        let root = smooth_root(&places)?;
        let n = places.len();
        let size = basis.len();
        let (mut mean, mut covariance) = (Vec::with_capacity(size), Mat::zeros(size, size));
        for (part, components) in basis.ranges() {
            let statistics = &statistics[components];
            let rows = n * statistics.len();
            // The mean and a root of the covariance at the places, as coefficients.
            let fields = Mat::from_fn(rows, 1 + rows, |i, j| {
                let (mean, deviation) = statistics[i / n];
                match j {
                    0 => mean,
                    _ if i / n == (j - 1) / n => deviation * root[(i % n, (j - 1) % n)],
                    _ => 0.0,
                }
            });
            let fields = least_squares(&part.evaluate(&places)?.to_dense(), fields)?;
            let (start, m) = (mean.len(), part.len());
            mean.extend(fields.col(0).iter());
            let root = fields.as_ref().subcols(1, rows);
            let mut block = covariance.as_mut().submatrix_mut(start, start, m, m);
            block.copy_from(linalg::mul(root, root.transpose()));
        }
        let scale = |s: &(f64, f64)| if s.1 > 0.0 { s.1 } else { 1.0 };
        Ok(Prior {
            mean,
            covariance,
            noise: INITIAL_NOISE * INITIAL_NOISE,
            scales: statistics.iter().map(scale).collect(),
        })
    }

    /// One round over the samples `seen`; returns the log likelihood per reading before it, up to a constant.
    fn improve(
        &mut self,
        basis: &FieldBasis,
        samples: &[Scattered],
        seen: &[usize],
    ) -> Result<f64> {
        let groups = GROUPS.min(seen.len());
        let of_group = |g: usize| {
            let mut sums = Sums::new(self.mean.len());
            for &k in &seen[seen.len() * g / groups..seen.len() * (g + 1) / groups] {
                // Evaluated again in each round: storing all of them would take too much memory.
                let reading = self.reading_of(basis, &samples[k])?;
                self.add(&reading, &mut sums)?;
            }
            Ok(sums)
        };
        let sums = in_order((0..groups).into_par_iter().map(of_group))?;
        let mut sums = sums.into_iter();
        let mut all = sums.next().expect("at least one group");
        for sum in sums {
            let pairs = all.mean.iter_mut().zip(&sum.mean);
            pairs.for_each(|(a, b)| *a += b);
            all.second += &sum.second;
            all.noise += sum.noise;
            all.readings += sum.readings;
            all.likelihood += sum.likelihood;
        }
        let n = seen.len() as f64;
        let moved: Vec<f64> = all.mean.iter().map(|v| v / n).collect();
        let (second, before) = (&all.second, &self.covariance);
        // S + mean of dd' - mean of W'W, around the new mean; both halves equal to the last bit.
        let entry = |i: usize, j: usize| before[(i, j)] + second[(i, j)] / n - moved[i] * moved[j];
        let size = moved.len();
        self.covariance = Mat::from_fn(size, size, |i, j| 0.5 * (entry(i, j) + entry(j, i)));
        self.mean.iter_mut().zip(&moved).for_each(|(m, d)| *m += d);
        let noise = all.noise / all.readings as f64;
        self.noise = noise.max(MIN_NOISE * MIN_NOISE);
        Ok(all.likelihood / all.readings as f64)
    }

    /// Adds the contribution of a sample.
    fn add(&self, reading: &Reading, sums: &mut Sums) -> Result<()> {
        let Conditioned { factor, mut cross } = self.at(&reading.designs)?;
        let n = reading.values.nrows();
        let l = factor.as_ref();
        let mut a = self.deviation(reading);
        solve_lower_seq(l, a.as_mut());
        solve_lower_seq(l, cross.as_mut());
        let w = cross.as_ref();
        let d = linalg::mul_seq(w.transpose(), a.as_ref());
        let pairs = sums.mean.iter_mut().zip(d.col(0).iter());
        pairs.for_each(|(s, d)| *s += d);
        let mut second = sums.second.as_mut();
        let into = second.rb_mut();
        matmul(into, Accum::Add, d.as_ref(), d.transpose(), 1.0, Par::Seq);
        matmul(second, Accum::Add, w.transpose(), w, -1.0, Par::Seq);
        let logs: f64 = (0..n).map(|i| l[(i, i)].ln()).sum();
        let (more, rest) = reading.outside;
        sums.likelihood -= 0.5 * a.squared_norm_l2() + logs;
        sums.likelihood -= 0.5 * (rest / self.noise + more as f64 * self.noise.ln());
        // E|e|^2 = s^4 |C^-1 r|^2 + s^2 (n - s^2 tr C^-1).
        let mut inverse = Mat::identity(n, n);
        solve_lower_seq(l, inverse.as_mut());
        let trace = inverse.squared_norm_l2();
        solve_upper_seq(l.transpose(), a.as_mut());
        let noise = self.noise;
        sums.noise += noise * noise * a.squared_norm_l2() + noise * (n as f64 - noise * trace);
        sums.noise += rest;
        sums.readings += n + more;
        Ok(())
    }

    /// $r - A\mu$.
    fn deviation(&self, reading: &Reading) -> Mat<f64> {
        let mut out = reading.values.clone();
        let (mut row, mut column) = (0, 0);
        for design in &reading.designs {
            let (n, m) = design.shape();
            let mean = MatRef::from_column_major_slice(&self.mean[column..column + m], m, 1);
            let fitted = linalg::mul_seq(design.as_ref(), mean);
            let mut rows = out.as_mut().subrows_mut(row, n);
            for k in 0..rows.ncols() {
                let pairs = rows
                    .rb_mut()
                    .col_mut(k)
                    .iter_mut()
                    .zip(fitted.col(0).iter());
                pairs.for_each(|(v, f)| *v -= f);
            }
            (row, column) = (row + n, column + m);
        }
        out
    }

    /// The prior at a sample's points.
    fn at(&self, designs: &[Mat<f64>]) -> Result<Conditioned> {
        let rows: usize = designs.iter().map(Mat::nrows).sum();
        let mut cross = Mat::zeros(rows, self.mean.len());
        let mut factor = Mat::zeros(rows, rows);
        let (mut row, mut column) = (0, 0);
        for design in designs {
            let (n, m) = design.shape();
            let s = self.covariance.as_ref().subrows(column, m);
            let into = cross.as_mut().subrows_mut(row, n);
            matmul(into, Accum::Replace, design.as_ref(), s, 1.0, Par::Seq);
            (row, column) = (row + n, column + m);
        }
        (row, column) = (0, 0);
        for design in designs {
            let (n, m) = design.shape();
            let into = factor.as_mut().subcols_mut(row, n);
            let (a_s, a) = (cross.as_ref().subcols(column, m), design.transpose());
            matmul(into, Accum::Replace, a_s, a, 1.0, Par::Seq);
            (row, column) = (row + n, column + m);
        }
        (0..rows).for_each(|i| factor[(i, i)] += self.noise);
        if !linalg::cholesky_in_place_seq(factor.as_mut()) {
            return Err(Error::Numerical(
                "the learned prior of the inputs is not positive definite; use fewer functions, or \
                 another encoder"
                    .into(),
            ));
        }
        Ok(Conditioned { factor, cross })
    }

    /// The posterior mean of one sample.
    ///
    /// # Errors
    /// If a point lies outside the domain.
    pub(super) fn encode(&self, basis: &FieldBasis, sample: &Scattered) -> Result<Vec<f64>> {
        let codes = self.posterior(&self.reading_of(basis, sample)?)?;
        Ok(codes.col(0).iter().copied().collect())
    }

    /// Posterior means of samples at the same points; one matrix of values per component, one column per
    /// sample.
    ///
    /// # Errors
    /// If a point lies outside the domain.
    pub(super) fn encode_shared(
        &self,
        basis: &FieldBasis,
        points: &Points,
        values: &[Mat<f64>],
    ) -> Result<Mat<f64>> {
        let samples = values.first().map_or(0, Mat::ncols);
        let reading = self.reading(basis, points, samples, |c, i, k| values[c][(i, k)])?;
        self.posterior(&reading)
    }

    fn posterior(&self, reading: &Reading) -> Result<Mat<f64>> {
        let Conditioned { factor, cross } = self.at(&reading.designs)?;
        let mut a = self.deviation(reading);
        solve_lower_seq(factor.as_ref(), a.as_mut());
        solve_upper_seq(factor.transpose(), a.as_mut());
        let mut codes = linalg::mul_seq(cross.transpose(), a.as_ref());
        for k in 0..codes.ncols() {
            let pairs = codes.col_mut(k).iter_mut().zip(&self.mean);
            pairs.for_each(|(c, m)| *c += m);
        }
        Ok(codes)
    }

    fn reading_of(&self, basis: &FieldBasis, sample: &Scattered) -> Result<Reading> {
        let n = sample.points.len();
        let value = |c: usize, i: usize, _: usize| sample.values[c * n + i];
        self.reading(basis, &sample.points, 1, value)
    }

    /// `samples` at `points`; `value` by component, point and sample.
    fn reading(
        &self,
        basis: &FieldBasis,
        points: &Points,
        samples: usize,
        value: impl Fn(usize, usize, usize) -> f64,
    ) -> Result<Reading> {
        let n = points.len();
        let mut reading = Reading {
            designs: Vec::new(),
            values: Mat::zeros(0, samples),
            outside: (0, 0.0),
        };
        let mut parts = Vec::new();
        // Parts with the same functions share one evaluation.
        let mut last: Option<(&VectorBasis, Mat<f64>)> = None;
        for (part, components) in basis.ranges() {
            let first = components.start;
            let scale = |row: usize| 1.0 / self.scales[first + row / n];
            let rows = n * components.len();
            if last.as_ref().is_none_or(|(l, _)| !part.shares_with(l)) {
                last = Some((part, part.evaluate(points)?.to_dense()));
            }
            let mut design = last.as_ref().expect("just set").1.clone();
            for j in 0..design.ncols() {
                let column = design.col_as_slice_mut(j).iter_mut().enumerate();
                column.for_each(|(i, v)| *v *= scale(i));
            }
            let mut values = Mat::from_fn(rows, samples, |i, k| {
                scale(i) * value(first + i / n, i % n, k)
            });
            if rows > design.ncols() {
                let qr = linalg::Qr::new_seq(design);
                qr.qt_mul_in_place_seq(values.as_mut());
                design = qr.r();
                let (inside, outside) = values.as_ref().split_at_row(design.nrows());
                reading.outside.0 += outside.nrows();
                reading.outside.1 += outside.squared_norm_l2();
                values = inside.to_owned();
            }
            reading.designs.push(design);
            parts.push(values);
        }
        let rows = parts.iter().map(Mat::nrows).sum();
        reading.values = Mat::zeros(rows, samples);
        let mut start = 0;
        for part in parts {
            let mut into = reading.values.as_mut().subrows_mut(start, part.nrows());
            into.copy_from(&part);
            start += part.nrows();
        }
        Ok(reading)
    }

    /// Whether it is one for coefficients of `basis`.
    pub(super) fn check(&self, basis: &FieldBasis) -> Result<()> {
        let size = basis.len();
        let fits = self.mean.len() == size
            && self.covariance.shape() == (size, size)
            && self.scales.len() == basis.components();
        match fits && self.noise > 0.0 && self.scales.iter().all(|s| *s > 0.0) {
            true => Ok(()),
            false => Err(Error::Data("the model's input prior is damaged".into())),
        }
    }
}

/// $L$ with $LL^\top = ASA^\top + \sigma^2 I$, and $AS$.
struct Conditioned {
    factor: Mat<f64>,
    cross: Mat<f64>,
}

/// Random points of random samples.
fn places(samples: &[Scattered]) -> Result<Points> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
    let mut coords = Vec::new();
    for _ in 0..PLACES {
        let points = &samples[rng.random_range(0..samples.len())].points;
        coords.extend_from_slice(points.point(rng.random_range(0..points.len())));
    }
    Points::new(samples[0].points.dim(), coords)
}

/// The Cholesky factor of a Matern-5/2 kernel whose length is [`REACH`] of the longest side, with some
/// of a Matern-1/2 kernel, so that rough fields are not mistaken for noise.
fn smooth_root(places: &Points) -> Result<Mat<f64>> {
    let longest = places.bounding_box().map_or(1.0, |b| {
        (0..b.dim()).map(|k| b.width(k)).fold(0.0, f64::max)
    });
    let length = if longest > 0.0 { REACH * longest } else { 1.0 };
    let n = places.len();
    let mut kernel = Mat::from_fn(n, n, |i, j| {
        let (p, q) = (places.point(i), places.point(j));
        let squares = p.iter().zip(q).map(|(a, b)| (a - b) * (a - b));
        let t = (5.0 * squares.sum::<f64>()).sqrt() / length;
        let apart = (1.0 + t + t * t / 3.0 + ROUGH) * (-t).exp();
        // A point may occur twice.
        if i == j { apart + 1e-10 } else { apart }
    });
    if !linalg::cholesky_in_place(kernel.as_mut()) {
        return Err(Error::Numerical("a kernel is not positive definite".into()));
    }
    Ok(Mat::from_fn(n, n, |i, j| {
        if i >= j { kernel[(i, j)] } else { 0.0 }
    }))
}

/// Mean and standard deviation of all readings of a component.
fn statistics(samples: &[Scattered], component: usize) -> (f64, f64) {
    let values = || {
        samples.iter().flat_map(|s| {
            let n = s.points.len();
            s.values[component * n..(component + 1) * n].iter()
        })
    };
    let count = values().count().max(1) as f64;
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// Coefficients of the columns of `values`, with a small ridge for functions that vanish at all points.
fn least_squares(design: &Mat<f64>, values: Mat<f64>) -> Result<Mat<f64>> {
    let mut gram = linalg::mul(design.transpose(), design.as_ref());
    let m = gram.nrows();
    let trace: f64 = (0..m).map(|i| gram[(i, i)]).sum();
    (0..m).for_each(|i| gram[(i, i)] += 1e-6 * trace / m as f64);
    if trace <= 0.0 || !linalg::cholesky_in_place(gram.as_mut()) {
        return Err(Error::Numerical(
            "the functions of the input basis are all zero at the sensors".into(),
        ));
    }
    let mut solution = linalg::mul(design.transpose(), values.as_ref());
    linalg::cholesky_solve_in_place(gram.as_ref(), solution.as_mut());
    Ok(solution)
}

#[cfg(test)]
mod tests;
