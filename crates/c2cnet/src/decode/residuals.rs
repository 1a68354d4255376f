//! What a map leaves of the readings: its covariance over all samples, and what a sample's readings say of the rest.
//!
//! With predictions $p_k$ of a map, the model of sample $k$ is
//! $$ u_k = D_k(p_k + e_k) + \epsilon_k,\qquad e_k \sim N(0, S),\qquad \epsilon_k \sim N(0, \sigma^2I). $$
//! $S$ and $\sigma^2$ maximise the likelihood of all readings (expectation maximisation). Coordinates are completed by
//! the posterior mean $p_k + SD_k^\top C_k^{-1}r_k$, $C_k = D_kSD_k^\top + \sigma^2I$, $r_k = u_k - D_kp_k$; a reading
//! that is left out is predicted with the error $(C_k^{-1}r_k)_i/(C_k^{-1})_{ii}$.

use super::SampleTarget;
use crate::error::in_order;
use crate::linalg::{self, matmul, solve_lower_seq, solve_upper_seq};
use crate::{Error, Result};
use faer::prelude::ReborrowMut;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

/// Rounds of expectation maximisation.
const ROUNDS: usize = 10;

/// About how many multiplications a round may take: it uses as many samples as that allows, others in each round.
const WORK: usize = 100_000_000;

/// A round sums over this many groups of samples, whatever the number of threads.
const GROUPS: usize = 16;

/// The first noise, as a part of the residuals' variance: estimates fall slowly and rise fast.
const FIRST_NOISE: f64 = 1e-4;

/// The smallest noise, as a part of that variance: with less, matrices are not positive definite to rounding.
const LEAST_NOISE: f64 = 1e-10;

/// The covariance of a map's residuals in the coordinates, and the variance of noise at a reading.
pub(crate) struct Residuals {
    covariance: Mat<f64>,
    noise: f64,
}

/// $L$ with $LL^\top = C_k$, $D_kS$ and $r_k$.
struct Conditioned {
    factor: Mat<f64>,
    cross: Mat<f64>,
    residual: Mat<f64>,
}

/// Sums over a group of samples.
struct Sums {
    /// $\sum dd^\top - W^\top W$ with $d = SD^\top C^{-1}r$ and $W = L^{-1}DS$.
    second: Mat<f64>,
    noise: f64,
    readings: usize,
}

impl Residuals {
    /// Learns them from the samples `among` those with these readings and predictions, one column each.
    ///
    /// # Errors
    /// If a matrix is not positive definite to rounding.
    pub(crate) fn learn(
        readings: &[SampleTarget],
        predicted: MatRef<'_, f64>,
        among: &[usize],
    ) -> Result<Self> {
        let rank = predicted.nrows();
        let errors = among.par_iter();
        let errors: Vec<f64> = errors
            .map(|&k| readings[k].error_squared(predicted, k))
            .collect();
        let count: usize = among.iter().map(|&k| readings[k].count).sum();
        let total: f64 = errors.iter().sum();
        let variance = total / count as f64;
        // D'D is the identity on average.
        let first = total / (among.len() * rank) as f64;
        let mut residuals = Residuals {
            covariance: Mat::from_fn(rank, rank, |i, j| if i == j { first } else { 0.0 }),
            noise: FIRST_NOISE * variance,
        };
        if total <= 0.0 || !total.is_finite() {
            residuals.noise = 1.0;
            return Ok(residuals);
        }
        let work = |&k: &usize| {
            let n = readings[k].factor.nrows();
            n * n * (n + rank) + 2 * n * rank * rank + rank * rank
        };
        let mean_work = among.iter().map(work).sum::<usize>() / among.len();
        let few = (WORK / mean_work.max(1)).max(32).min(among.len());
        for round in 0..ROUNDS {
            let seen = (round * few..(round + 1) * few).map(|k| among[k % among.len()]);
            let seen: Vec<usize> = seen.collect();
            residuals.improve(readings, predicted, &seen, LEAST_NOISE * variance)?;
        }
        Ok(residuals)
    }

    fn improve(
        &mut self,
        readings: &[SampleTarget],
        predicted: MatRef<'_, f64>,
        seen: &[usize],
        least: f64,
    ) -> Result<()> {
        let groups = GROUPS.min(seen.len());
        let of_group = |g: usize| {
            let rank = self.covariance.nrows();
            let mut sums = Sums {
                second: Mat::zeros(rank, rank),
                noise: 0.0,
                readings: 0,
            };
            for &k in &seen[seen.len() * g / groups..seen.len() * (g + 1) / groups] {
                self.add(
                    &readings[k],
                    self.at(&readings[k], predicted, k)?,
                    &mut sums,
                );
            }
            Ok(sums)
        };
        let sums = in_order((0..groups).into_par_iter().map(of_group))?;
        let rank = self.covariance.nrows();
        let mut second = Mat::<f64>::zeros(rank, rank);
        sums.iter().for_each(|s| second += &s.second);
        let n = seen.len() as f64;
        let before = &self.covariance;
        let entry = |i: usize, j: usize| before[(i, j)] + second[(i, j)] / n;
        self.covariance = Mat::from_fn(rank, rank, |i, j| 0.5 * (entry(i, j) + entry(j, i)));
        let count: usize = sums.iter().map(|s| s.readings).sum();
        let noise = sums.iter().map(|s| s.noise).sum::<f64>() / count as f64;
        self.noise = noise.max(least);
        Ok(())
    }

    fn at(
        &self,
        sample: &SampleTarget,
        predicted: MatRef<'_, f64>,
        k: usize,
    ) -> Result<Conditioned> {
        let design = (*sample.factor).as_ref();
        let n = design.nrows();
        let cross = linalg::mul_seq(design, self.covariance.as_ref());
        let mut factor = linalg::mul_seq(cross.as_ref(), design.transpose());
        (0..n).for_each(|i| factor[(i, i)] += self.noise);
        if !linalg::cholesky_in_place_seq(factor.as_mut()) {
            return Err(Error::Numerical(
                "the covariance of a map's residuals at the readings is not positive definite to rounding".into(),
            ));
        }
        let residual = sample.residual(predicted, k);
        Ok(Conditioned {
            factor,
            cross,
            residual: Mat::from_fn(n, 1, |i, _| residual[i]),
        })
    }

    fn add(&self, sample: &SampleTarget, at: Conditioned, sums: &mut Sums) {
        let (l, n) = (at.factor.as_ref(), at.factor.nrows());
        let (mut a, mut w) = (at.residual, at.cross);
        solve_lower_seq(l, a.as_mut());
        solve_lower_seq(l, w.as_mut());
        let d = linalg::mul_seq(w.transpose(), a.as_ref());
        let mut second = sums.second.as_mut();
        let into = second.rb_mut();
        matmul(into, Accum::Add, d.as_ref(), d.transpose(), 1.0, Par::Seq);
        matmul(
            second,
            Accum::Add,
            w.transpose(),
            w.as_ref(),
            -1.0,
            Par::Seq,
        );
        // E|e|^2 = s^4 |C^-1 r|^2 + s^2 (n - s^2 tr C^-1), and what lies outside is noise alone.
        let trace = inverse_root(l).squared_norm_l2();
        solve_upper_seq(l.transpose(), a.as_mut());
        let noise = self.noise;
        sums.noise += noise * noise * a.squared_norm_l2() + noise * (n as f64 - noise * trace);
        sums.noise += sample.outside_squared;
        sums.readings += sample.count;
    }

    /// `predicted` coordinates with what the readings say of the rest.
    ///
    /// # Errors
    /// As [`Residuals::learn`].
    pub(crate) fn complete(
        &self,
        readings: &[SampleTarget],
        predicted: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        let of_sample = |(k, sample): (usize, &SampleTarget)| {
            let at = self.at(sample, predicted, k)?;
            let mut a = at.residual;
            solve_lower_seq(at.factor.as_ref(), a.as_mut());
            solve_upper_seq(at.factor.transpose(), a.as_mut());
            Ok(linalg::mul_seq(at.cross.transpose(), a.as_ref()))
        };
        let moved = in_order(readings.par_iter().enumerate().map(of_sample))?;
        Ok(Mat::from_fn(
            predicted.nrows(),
            predicted.ncols(),
            |i, k| predicted[(i, k)] + moved[k][(i, 0)],
        ))
    }

    /// The squared errors of the readings of each sample, each of them predicted from the others and from `predicted`
    /// coordinates.
    ///
    /// # Errors
    /// As [`Residuals::learn`].
    pub(crate) fn left_out_squared(
        &self,
        readings: &[SampleTarget],
        predicted: MatRef<'_, f64>,
    ) -> Result<Vec<f64>> {
        let of_sample = |(k, sample): (usize, &SampleTarget)| {
            let at = self.at(sample, predicted, k)?;
            let root = inverse_root(at.factor.as_ref());
            let mut a = at.residual;
            solve_lower_seq(at.factor.as_ref(), a.as_mut());
            solve_upper_seq(at.factor.transpose(), a.as_mut());
            let diagonal = linalg::column_norms_squared(root.as_ref());
            let off = diagonal.iter().enumerate();
            let off: f64 = off.map(|(i, d)| (a[(i, 0)] / d).powi(2)).sum();
            Ok(off + sample.outside_squared)
        };
        in_order(readings.par_iter().enumerate().map(of_sample))
    }
}

/// $L^{-1}$.
fn inverse_root(l: MatRef<'_, f64>) -> Mat<f64> {
    let mut inverse = Mat::identity(l.nrows(), l.nrows());
    solve_lower_seq(l, inverse.as_mut());
    inverse
}
