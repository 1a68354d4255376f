//! Scattered readings encoded with a prior of the coefficients that is learnt from all samples.
//!
//! One sample's few readings say little about many coefficients; all samples together say how
//! coefficients vary and go together, over components too. The model of sample $k$ is
//! $$ r_k = A_k c_k + e_k,\qquad c_k \sim N(\mu, S),\qquad e_k \sim N(0, \sigma^2 I), $$
//! $A_k$ the functions at its own points. $\mu$, $S$ and $\sigma^2$ maximise the likelihood of all
//! readings (expectation maximisation), and a sample's code is its posterior mean
//! $$ c = \mu + SA^\top(ASA^\top + \sigma^2 I)^{-1}(r - A\mu). $$
//! The basis may be as fine as one likes: what readings do not determine comes from the prior.

use crate::basis::{FieldBasis, VectorBasis};
use crate::data::{Points, Scattered};
use crate::model_file::Archive;
use crate::{Error, Result, linalg};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Mat, MatRef, Par};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Rounds of expectation maximisation, at most.
const ROUNDS: usize = 20;

/// Samples that a round sees, but for the last, which sees all.
const SAMPLES: usize = 500;

/// Rounds end when the log likelihood gains less than this part of itself.
const GAIN: f64 = 2e-3;

/// A round's sums are taken over so many groups of samples, whatever the number of threads.
const GROUPS: usize = 16;

/// Points at which the first covariance is written down.
const PLACES: usize = 1000;

/// The first noise, as a part of the readings' spread. Noise comes down slowly and goes up fast, so it
/// starts low.
const FIRST_NOISE: f64 = 3e-4;

/// The least noise, as a part of the readings' spread: less and matrices are not positive definite.
const LEAST_NOISE: f64 = 1e-5;

/// The first covariance reaches as far as this part of the longest side.
const REACH: f64 = 1.0 / 6.0;

/// How much of it is rough.
const ROUGH: f64 = 0.1;

/// Mean and covariance of coefficients, and the variance of noise.
#[derive(Debug)]
pub(super) struct Prior {
    mean: Vec<f64>,
    covariance: Mat<f64>,
    noise: f64,
}

/// The functions of each part at a sample's points, or what is left of them after a QR factorisation.
type Designs = Vec<Mat<f64>>;

/// One sample. Where it has more readings than coefficients, $A = QR$ and $r$ are replaced by $R$ and
/// $Q^\top r$: what lies outside the range of $A$ tells of noise alone.
struct Reading {
    designs: Designs,
    values: Vec<f64>,
    /// How many readings were outside, and their squared norm.
    outside: (usize, f64),
}

/// What a group of samples adds up to.
struct Sums {
    mean: Vec<f64>,
    /// $\sum cc^\top - W^\top W$ with $SA^\top C^{-1}AS = W^\top W$.
    second: Mat<f64>,
    noise: f64,
    readings: usize,
    likelihood: f64,
}

impl Prior {
    /// Learns the prior of `samples`.
    ///
    /// # Errors
    /// If a point lies outside the domain, or readings do not vary.
    pub(super) fn fit(basis: &FieldBasis, samples: &[Scattered]) -> Result<Self> {
        let readings = samples
            .par_iter()
            .enumerate()
            .map(|(k, s)| {
                Reading::new(basis, s).map_err(|e| Error::Data(format!("input sample {k}: {e}")))
            })
            .collect::<Result<Vec<_>>>()?;
        let (mut prior, spread) = Self::first(basis, samples)?;
        let few = SAMPLES.min(readings.len());
        let mut before = f64::NEG_INFINITY;
        for round in 0..ROUNDS {
            let start = round * few;
            let seen: Vec<&Reading> = (start..start + few)
                .map(|k| &readings[k % readings.len()])
                .collect();
            let likelihood = prior.improve(&seen, spread)?;
            if likelihood - before < GAIN * likelihood.abs() {
                break;
            }
            before = likelihood;
        }
        if few < readings.len() {
            let all: Vec<&Reading> = readings.iter().collect();
            prior.improve(&all, spread)?;
        }
        Ok(prior)
    }

    /// The standard deviation of the noise.
    pub(super) fn noise(&self) -> f64 {
        self.noise.sqrt()
    }

    /// A smooth field with the mean and spread of each component; and the readings' spread.
    fn first(basis: &FieldBasis, samples: &[Scattered]) -> Result<(Self, f64)> {
        let places = places(samples)?;
        let root = smooth_root(&places)?;
        let size = basis.len();
        let (mut mean, mut covariance) = (Vec::with_capacity(size), Mat::zeros(size, size));
        let mut total = 0.0;
        for (part, components) in basis.ranges() {
            let statistics: Vec<(f64, f64)> = components.map(|c| statistics(samples, c)).collect();
            total += statistics.iter().map(|s| s.1).sum::<f64>();
            let n = places.len();
            let rows = n * statistics.len();
            // The mean and a root of the covariance at the places, as coefficients.
            let fields = Mat::from_fn(rows, 1 + rows, |i, j| {
                let (mean, variance) = statistics[i / n];
                match j {
                    0 => mean,
                    _ if i / n == (j - 1) / n => variance.sqrt() * root[(i % n, (j - 1) % n)],
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
        let spread = total / basis.components() as f64;
        if spread <= 0.0 {
            return Err(Error::Data(
                "all readings are the same; there is nothing to encode".into(),
            ));
        }
        let prior = Prior {
            mean,
            covariance,
            noise: FIRST_NOISE * FIRST_NOISE * spread,
        };
        Ok((prior, spread))
    }

    /// One round; gives the log likelihood before it, a sample, up to a constant.
    fn improve(&mut self, readings: &[&Reading], spread: f64) -> Result<f64> {
        let groups = GROUPS.min(readings.len());
        let sums = (0..groups)
            .into_par_iter()
            .map(|g| {
                let part = readings.len() * g / groups..readings.len() * (g + 1) / groups;
                self.sums(&readings[part])
            })
            .collect::<Result<Vec<_>>>()?;
        let mut sums = sums.into_iter();
        let mut all = sums.next().expect("a group at least");
        for sum in sums {
            all.mean
                .iter_mut()
                .zip(&sum.mean)
                .for_each(|(a, b)| *a += b);
            all.second += &sum.second;
            all.noise += sum.noise;
            all.readings += sum.readings;
            all.likelihood += sum.likelihood;
        }
        let n = readings.len() as f64;
        self.mean = all.mean.iter().map(|v| v / n).collect();
        let (mean, second, before) = (&self.mean, &all.second, &self.covariance);
        // S + mean of cc' - mean of W'W - mu mu', both halves the same to the last bit.
        let entry = |i: usize, j: usize| before[(i, j)] + second[(i, j)] / n - mean[i] * mean[j];
        let size = mean.len();
        self.covariance = Mat::from_fn(size, size, |i, j| 0.5 * (entry(i, j) + entry(j, i)));
        let noise = all.noise / all.readings as f64;
        self.noise = noise.max(LEAST_NOISE * LEAST_NOISE * spread);
        Ok(all.likelihood / n)
    }

    fn sums(&self, readings: &[&Reading]) -> Result<Sums> {
        let size = self.mean.len();
        let mut sums = Sums {
            mean: vec![0.0; size],
            second: Mat::zeros(size, size),
            noise: 0.0,
            readings: 0,
            likelihood: 0.0,
        };
        for reading in readings {
            let Conditioned { factor, mut cross } = self.at(&reading.designs)?;
            let n = reading.values.len();
            let l = factor.as_ref();
            let mut a = self.deviation(reading);
            solve_lower_triangular_in_place(l, a.as_mut(), Par::Seq);
            solve_lower_triangular_in_place(l, cross.as_mut(), Par::Seq);
            let mut c = linalg::mul_seq(cross.transpose(), a.as_ref());
            c.col_mut(0)
                .iter_mut()
                .zip(&self.mean)
                .for_each(|(c, m)| *c += m);
            sums.mean
                .iter_mut()
                .zip(c.col(0).iter())
                .for_each(|(s, c)| *s += c);
            let second = sums.second.as_mut();
            matmul(second, Accum::Add, c.as_ref(), c.transpose(), 1.0, Par::Seq);
            let second = sums.second.as_mut();
            matmul(
                second,
                Accum::Add,
                cross.transpose(),
                cross.as_ref(),
                -1.0,
                Par::Seq,
            );
            let logs: f64 = (0..n).map(|i| l[(i, i)].ln()).sum();
            let (more, rest) = reading.outside;
            sums.likelihood -= 0.5 * a.squared_norm_l2() + logs;
            sums.likelihood -= 0.5 * (rest / self.noise + more as f64 * self.noise.ln());
            // E|e|^2 = s^4 |C^-1 r|^2 + s^2 (n - s^2 tr C^-1).
            let mut inverse = Mat::identity(n, n);
            solve_lower_triangular_in_place(l, inverse.as_mut(), Par::Seq);
            let trace = inverse.squared_norm_l2();
            solve_upper_triangular_in_place(l.transpose(), a.as_mut(), Par::Seq);
            let noise = self.noise;
            sums.noise += noise * noise * a.squared_norm_l2() + noise * (n as f64 - noise * trace);
            sums.noise += rest;
            sums.readings += n + more;
        }
        Ok(sums)
    }

    /// $r - A\mu$.
    fn deviation(&self, reading: &Reading) -> Mat<f64> {
        let mut out = Mat::from_fn(reading.values.len(), 1, |i, _| reading.values[i]);
        let (mut row, mut column) = (0, 0);
        for design in &reading.designs {
            let (n, m) = design.shape();
            let mean = MatRef::from_column_major_slice(&self.mean[column..column + m], m, 1);
            let rows = out.as_mut().subrows_mut(row, n);
            matmul(rows, Accum::Add, design.as_ref(), mean, -1.0, Par::Seq);
            (row, column) = (row + n, column + m);
        }
        out
    }

    /// The prior seen from a sample's points.
    fn at(&self, designs: &Designs) -> Result<Conditioned> {
        let size = self.mean.len();
        let rows: usize = designs.iter().map(Mat::nrows).sum();
        let mut cross = Mat::zeros(rows, size);
        let mut factor = Mat::zeros(rows, rows);
        let (mut row, mut column) = (0, 0);
        for design in designs {
            let (n, m) = design.shape();
            let covariance = self.covariance.as_ref().subrows(column, m);
            let into = cross.as_mut().subrows_mut(row, n);
            matmul(
                into,
                Accum::Replace,
                design.as_ref(),
                covariance,
                1.0,
                Par::Seq,
            );
            (row, column) = (row + n, column + m);
        }
        (row, column) = (0, 0);
        for design in designs {
            let (n, m) = design.shape();
            let into = factor.as_mut().subcols_mut(row, n);
            let from = cross.as_ref().subcols(column, m);
            matmul(
                into,
                Accum::Replace,
                from,
                design.transpose(),
                1.0,
                Par::Seq,
            );
            (row, column) = (row + n, column + m);
        }
        (0..rows).for_each(|i| factor[(i, i)] += self.noise);
        if !linalg::cholesky_in_place_seq(factor.as_mut()) {
            return Err(Error::Numerical(
                "the learnt prior of the inputs is not positive definite; use fewer functions, or \
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
        let reading = Reading::new(basis, sample)?;
        let Conditioned { factor, cross } = self.at(&reading.designs)?;
        let mut a = self.deviation(&reading);
        solve_lower_triangular_in_place(factor.as_ref(), a.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(factor.transpose(), a.as_mut(), Par::Seq);
        let c = linalg::mul_seq(cross.transpose(), a.as_ref());
        Ok(c.col(0)
            .iter()
            .zip(&self.mean)
            .map(|(c, m)| c + m)
            .collect())
    }

    pub(super) fn save(&self, archive: &mut Archive, name: &str) -> serde_json::Value {
        archive.put_vector(format!("{name}.mean"), &self.mean);
        archive.put_matrix(format!("{name}.covariance"), self.covariance.as_ref());
        serde_json::json!({ "noise": self.noise })
    }

    pub(super) fn load(
        record: &serde_json::Value,
        archive: &Archive,
        name: &str,
        size: usize,
    ) -> Result<Self> {
        let prior = Prior {
            mean: archive.vector(&format!("{name}.mean"))?,
            covariance: archive.matrix(&format!("{name}.covariance"))?,
            noise: record["noise"].as_f64().unwrap_or(f64::NAN),
        };
        let fits = prior.mean.len() == size && prior.covariance.shape() == (size, size);
        match fits && prior.noise > 0.0 {
            true => Ok(prior),
            false => Err(Error::Data("the model's input prior is damaged".into())),
        }
    }
}

/// $L$ with $LL^\top = ASA^\top + \sigma^2 I$, and $AS$.
struct Conditioned {
    factor: Mat<f64>,
    cross: Mat<f64>,
}

impl Reading {
    fn new(basis: &FieldBasis, sample: &Scattered) -> Result<Self> {
        let mut reading = Reading {
            designs: Vec::new(),
            values: Vec::new(),
            outside: (0, 0.0),
        };
        let n = sample.points.len();
        // Parts with the same functions share what is costly.
        let mut last: Option<(&VectorBasis, Mat<f64>, Option<linalg::Qr>)> = None;
        for (part, components) in basis.ranges() {
            let values = &sample.values[components.start * n..components.end * n];
            if last
                .as_ref()
                .is_none_or(|(known, ..)| !part.shares_with(known))
            {
                let design = part.evaluate(&sample.points)?.to_dense();
                last = Some(match design.nrows() > design.ncols() {
                    true => {
                        let qr = linalg::Qr::new_seq(design);
                        (part, qr.r(), Some(qr))
                    }
                    false => (part, design, None),
                });
            }
            let (_, design, qr) = last.as_ref().expect("just set");
            match qr {
                None => reading.values.extend(values),
                Some(qr) => {
                    let mut turned = Mat::from_fn(values.len(), 1, |i, _| values[i]);
                    qr.qt_mul_in_place_seq(turned.as_mut());
                    let (inside, outside) = turned.col_as_slice(0).split_at(design.nrows());
                    reading.values.extend(inside);
                    reading.outside.0 += outside.len();
                    reading.outside.1 += outside.iter().map(|v| v * v).sum::<f64>();
                }
            }
            reading.designs.push(design.clone());
        }
        Ok(reading)
    }
}

/// A draw from all points of all samples.
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
/// of a Matern-1/2 kernel, so that rough fields are not taken for noise.
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
        // A place may come twice.
        if i == j { apart + 1e-10 } else { apart }
    });
    if !linalg::cholesky_in_place(kernel.as_mut()) {
        return Err(Error::Numerical("a kernel is not positive definite".into()));
    }
    Ok(Mat::from_fn(n, n, |i, j| {
        if i >= j { kernel[(i, j)] } else { 0.0 }
    }))
}

/// Mean and variance of all readings of a component.
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
    (mean, variance)
}

/// Coefficients of the columns of `values`, a trace of ridge for functions that no place sees.
fn least_squares(design: &Mat<f64>, values: Mat<f64>) -> Result<Mat<f64>> {
    let mut gram = linalg::mul(design.transpose(), design.as_ref());
    let m = gram.nrows();
    let trace: f64 = (0..m).map(|i| gram[(i, i)]).sum();
    (0..m).for_each(|i| gram[(i, i)] += 1e-6 * trace / m as f64);
    if trace <= 0.0 || !linalg::cholesky_in_place(gram.as_mut()) {
        return Err(Error::Numerical(
            "the functions of the input basis vanish at the readings".into(),
        ));
    }
    let mut solution = linalg::mul(design.transpose(), values.as_ref());
    linalg::cholesky_solve_in_place(gram.as_ref(), solution.as_mut());
    Ok(solution)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, Polynomial, PolynomialSpec};
    use crate::data::Bounds;
    use std::sync::Arc;

    const FUNCTIONS: usize = 8;
    const NOISE: f64 = 0.01;

    fn basis() -> FieldBasis {
        let spec = PolynomialSpec {
            functions: Some(FUNCTIONS),
            ..PolynomialSpec::default()
        };
        let basis: Arc<dyn Basis> = Arc::new(Polynomial::new(Bounds::unit(1), spec).unwrap());
        FieldBasis::separate(vec![basis; 2]).unwrap()
    }

    fn normal(rng: &mut impl RngExt) -> f64 {
        (0..12).map(|_| rng.random_range(-0.5..0.5)).sum()
    }

    /// Two components that move together in two directions, a few noisy readings each, and what their
    /// coefficients are.
    fn samples(count: usize, readings: usize) -> (Vec<Scattered>, Vec<Vec<f64>>) {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let size = 2 * FUNCTIONS;
        let directions: Vec<Vec<f64>> = (0..2)
            .map(|_| (0..size).map(|_| normal(&mut rng)).collect())
            .collect();
        let mut draw = || {
            let (a, b) = (normal(&mut rng), normal(&mut rng));
            let c: Vec<f64> = (0..size)
                .map(|i| 1.0 + a * directions[0][i] + b * directions[1][i])
                .collect();
            let x: Vec<f64> = (0..readings).map(|_| rng.random_range(0.0..1.0)).collect();
            let points = Points::new(1, x).unwrap();
            let design = basis().parts()[0].evaluate(&points).unwrap().to_dense();
            let values = c
                .chunks(FUNCTIONS)
                .flat_map(|c| {
                    let value =
                        |i: usize| (0..FUNCTIONS).map(|j| design[(i, j)] * c[j]).sum::<f64>();
                    (0..readings).map(value).collect::<Vec<_>>()
                })
                .map(|v| v + NOISE * normal(&mut rng))
                .collect();
            (Scattered { points, values }, c)
        };
        (0..count).map(|_| draw()).unzip()
    }

    fn error(a: &[f64], b: &[f64]) -> f64 {
        let off: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        (off / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
    }

    /// Five readings cannot tell eight coefficients; what other samples show of them can.
    #[test]
    fn few_readings_and_many_samples_give_the_coefficients() {
        let (samples, truth) = samples(400, 5);
        let prior = Prior::fit(&basis(), &samples[..300]).unwrap();
        assert!(prior.noise() < 3.0 * NOISE, "{}", prior.noise());
        let off = |k: usize| error(&prior.encode(&basis(), &samples[k]).unwrap(), &truth[k]);
        let mean = (300..400).map(off).sum::<f64>() / 100.0;
        assert!(mean < 0.05, "{mean}");
    }

    /// $Q^\top r$ and $R$ say as much as $r$ and $A$.
    #[test]
    fn more_readings_than_functions_are_the_same_in_fewer_numbers() {
        let (samples, _) = samples(60, 20);
        let prior = Prior::fit(&basis(), &samples).unwrap();
        let basis = basis();
        for sample in &samples[..5] {
            let design = basis.parts()[0]
                .evaluate(&sample.points)
                .unwrap()
                .to_dense();
            let whole = Reading {
                designs: vec![design.clone(), design],
                values: sample.values.clone(),
                outside: (0, 0.0),
            };
            let mut a = prior.deviation(&whole);
            let Conditioned { factor, cross } = prior.at(&whole.designs).unwrap();
            linalg::cholesky_solve_in_place(factor.as_ref(), a.as_mut());
            let direct = linalg::mul(cross.transpose(), a.as_ref());
            let short = prior.encode(&basis, sample).unwrap();
            for i in 0..short.len() {
                assert!((direct[(i, 0)] + prior.mean[i] - short[i]).abs() < 1e-8);
            }
            let reading = Reading::new(&basis, sample).unwrap();
            let [one, other] = [&whole, &reading].map(|r| prior.sums(&[r]).unwrap());
            assert!((one.likelihood - other.likelihood).abs() < 1e-6 * one.likelihood.abs());
            assert!((one.noise - other.noise).abs() < 1e-6 * one.noise);
            assert_eq!(one.readings, other.readings);
        }
    }

    /// Each round raises the likelihood.
    #[test]
    fn rounds_improve() {
        let (samples, _) = samples(80, 5);
        let readings: Vec<Reading> = samples
            .iter()
            .map(|s| Reading::new(&basis(), s).unwrap())
            .collect();
        let all: Vec<&Reading> = readings.iter().collect();
        let (mut prior, spread) = Prior::first(&basis(), &samples).unwrap();
        let mut before = f64::NEG_INFINITY;
        for round in 0..8 {
            let likelihood = prior.improve(&all, spread).unwrap();
            assert!(
                likelihood > before,
                "round {round}: {likelihood} after {before}"
            );
            before = likelihood;
        }
    }

    #[test]
    fn the_same_on_any_number_of_threads() {
        let (samples, _) = samples(50, 5);
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| Prior::fit(&basis(), &samples).unwrap())
        };
        let (one, three) = (fit(1), fit(3));
        assert_eq!(one.covariance, three.covariance);
        assert_eq!((one.mean, one.noise), (three.mean, three.noise));
    }

    #[test]
    fn readings_that_do_not_vary_are_refused() {
        let (mut samples, _) = samples(5, 4);
        samples.iter_mut().for_each(|s| s.values.fill(1.0));
        assert!(Prior::fit(&basis(), &samples).is_err());
    }
}
