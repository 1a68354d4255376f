//! Square waves on a smooth background, advected: data with jumps.
//!
//! $$u_t + c\,u_x = 0,\qquad u(x, 0) = f(x),$$
//!
//! of period 1 in $x$, so that $u(x, T) = f(x - cT)$, exactly. A start is a sum of square waves and of a
//! smooth Gaussian random field $\psi$ of period 1,
//!
//! $$f = \sum_s h_s\,\mathbb 1[(x - a_s) \bmod 1 < w_s] + \psi,\qquad
//! \operatorname{cov}\psi \propto e^{-d^2/2\ell^2},$$
//!
//! with $a_s \in [0, 1)$, $w_s \in [0.1, 0.4]$ and $h_s \in [0.5, 1.5]$, all uniform. The samples map
//! $f$ to $u(\cdot, T)$.
//!
//! Where $cT$ is a whole number of spacings, as by default, the values of $u$ at the points are those of
//! $f$ at others: a linear map of point values is exact, and no smooth basis is. Elsewhere (`time = 0.503`)
//! the values of $f$ leave open between which points a jump arrives.

use crate::setting::Check;
use crate::{Modes, Problem, SpectralField, Watcher, pairs, sample_stream};
use c2cnet::Result;
use c2cnet::data::{Dataset, Points};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Frequencies of $\psi$: at the smallest length allowed, the last has $10^{-6}$ of the first's weight.
const MODES: usize = 24;

/// Settings of the advected square waves.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 101 | equally spaced points of $f$ and $u$, both ends included | 2 to 100001 |
/// | `n_train` | 800 | samples that train | at least 1 |
/// | `n_test` | 200 | samples that test, after those | any |
/// | `squares` | 1 | square waves per sample | 0 to 100 |
/// | `smooth` | 0.25 | root mean square of $\psi$ | 0 or more |
/// | `length` | 0.2 | its correlation length $\ell$ | at least 0.05 |
/// | `speed` | 1 | $c$ | finite |
/// | `time` | 0.5 | $T$ | finite |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdvectedSquare {
    /// How many points.
    pub points: usize,
    /// How many samples train.
    pub n_train: usize,
    /// How many samples test.
    pub n_test: usize,
    /// How many square waves each sample has.
    pub squares: usize,
    /// The root mean square of the smooth part.
    pub smooth: f64,
    /// The correlation length of the smooth part.
    pub length: f64,
    /// The speed $c$.
    pub speed: f64,
    /// The time $T$.
    pub time: f64,
}

impl Default for AdvectedSquare {
    fn default() -> Self {
        AdvectedSquare {
            points: 101,
            n_train: 800,
            n_test: 200,
            squares: 1,
            smooth: 0.25,
            length: 0.2,
            speed: 1.0,
            time: 0.5,
        }
    }
}

impl Problem for AdvectedSquare {
    const NAME: &'static str = "advected-square";
    const DESCRIPTION: &'static str = "Advection u_t + c u_x = 0 of square waves on a smooth background, periodic on (0, 1); maps u(x, 0) to u(x, T)";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let points = Points::linspace(0.0, 1.0, self.points);
        let before: Vec<f64> = points.iter().map(|p| p[0]).collect();
        let shift = (self.speed * self.time).rem_euclid(1.0);
        // Where the values of u come from. The period is taken out so that rounding moves no jump.
        let feet = before.iter().map(|x| (x - shift).rem_euclid(1.0));
        let both: Vec<f64> = before.iter().copied().chain(feet).collect();
        let background = self.background(&both)?;
        let count = self.n_train + self.n_test;
        let mut dataset = pairs::dataset([points.clone(), points], count, watcher, |k| {
            let mut rng = sample_stream(seed, k as u64);
            let squares: Vec<Square> = (0..self.squares).map(|_| Square::draw(&mut rng)).collect();
            let mut f = background.draw(&mut rng);
            for (value, &x) in f.iter_mut().zip(&both) {
                *value += squares.iter().map(|square| square.at(x)).sum::<f64>();
            }
            let u = f.split_off(self.points);
            Ok([f, u])
        })?;
        dataset.n_train = Some(self.n_train);
        Ok(dataset)
    }
}

impl AdvectedSquare {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.within("points", self.points, 2..=100_001)?;
        is.at_least("n_train", self.n_train, 1)?;
        is.check_size(&[self.n_train, self.n_test], 2 * self.points)?;
        is.within("squares", self.squares, 0..=100)?;
        let smooth = self.smooth >= 0.0 && self.smooth.is_finite();
        is.that(smooth, "smooth", self.smooth, "0 or more")?;
        is.length("length", self.length, 0.05)?;
        is.that(self.speed.is_finite(), "speed", self.speed, "finite")?;
        is.that(self.time.is_finite(), "time", self.time, "finite")?;
        let shift = self.speed * self.time;
        is.that(shift.is_finite(), "speed * time", shift, "finite")
    }

    /// The law of $\psi$ at `coordinates`.
    fn background(&self, coordinates: &[f64]) -> Result<SpectralField> {
        let weight = |lambda: f64| (-lambda * self.length * self.length / 4.0).exp();
        let frequency = |m: usize| std::f64::consts::TAU * m as f64;
        let variance = (1..=MODES).map(|m| 2.0 * weight(frequency(m).powi(2)).powi(2));
        let scale = self.smooth / (1.0 + variance.sum::<f64>()).sqrt();
        SpectralField::new(Modes::Periodic, 2 * MODES + 1, &[coordinates], |lambda| {
            scale * weight(lambda)
        })
    }
}

/// A square wave of period 1.
struct Square {
    start: f64,
    width: f64,
    height: f64,
}

impl Square {
    fn draw(rng: &mut impl Rng) -> Square {
        let mut uniform = |from: f64, to: f64| from + (to - from) * rng.random::<f64>();
        Square {
            start: uniform(0.0, 1.0),
            width: uniform(0.1, 0.4),
            height: uniform(0.5, 1.5),
        }
    }

    fn at(&self, x: f64) -> f64 {
        if (x - self.start).rem_euclid(1.0) < self.width {
            self.height
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;
    use crate::testing::{check_refused_text, check_reproducible, rms};
    use serde_json::json;

    fn small() -> AdvectedSquare {
        AdvectedSquare {
            n_train: 20,
            n_test: 5,
            squares: 2,
            ..AdvectedSquare::default()
        }
    }

    fn pair(data: &Dataset, k: usize) -> [Vec<f64>; 2] {
        [
            data.inputs[0].1.values_of(k),
            data.outputs[0].1.values_of(k),
        ]
    }

    #[test]
    fn a_whole_number_of_spacings_moves_the_values() {
        for (speed, time, nodes) in [(1.0, 0.5, 50), (-2.0, 0.65, 70), (1.0, 3.0, 0)] {
            let problem = AdvectedSquare {
                speed,
                time,
                ..small()
            };
            let data = problem.samples(1, &Unwatched).unwrap();
            for k in 0..data.samples() {
                let [f, u] = pair(&data, k);
                for (i, f) in f[..100].iter().enumerate() {
                    let difference = u[(i + nodes) % 100] - f;
                    assert!(difference.abs() < 1e-12, "sample {k}, node {i}");
                }
                assert!((u[100] - u[0]).abs() < 1e-12, "sample {k} is periodic");
            }
        }
    }

    #[test]
    fn any_other_time_has_the_values_of_a_finer_start() {
        let coarse = AdvectedSquare {
            time: 0.503,
            ..small()
        };
        // Spacings of 0.001: 503 of them.
        let fine = AdvectedSquare {
            points: 1001,
            ..coarse.clone()
        };
        let [coarse, fine] = [coarse, fine].map(|p| p.samples(2, &Unwatched).unwrap());
        for k in 0..coarse.samples() {
            let ([_, u], [f, _]) = (pair(&coarse, k), pair(&fine, k));
            for (i, u) in u[..100].iter().enumerate() {
                let from = (10 * i + 1000 - 503) % 1000;
                assert!((u - f[from]).abs() < 1e-12, "sample {k}, node {i}");
            }
        }
    }

    #[test]
    fn each_square_wave_has_two_jumps_of_its_height() {
        let problem = AdvectedSquare {
            points: 10_001,
            squares: 1,
            ..small()
        };
        let data = problem.samples(4, &Unwatched).unwrap();
        for k in 0..data.samples() {
            let [f, _] = pair(&data, k);
            let jumps: Vec<f64> = (f.windows(2).map(|w| w[1] - w[0]))
                .filter(|d| d.abs() > 0.1)
                .collect();
            assert_eq!(jumps.len(), 2, "sample {k}");
            assert!((jumps[0] + jumps[1]).abs() < 0.01, "sample {k}");
            assert!((0.49..1.51).contains(&jumps[0].abs()), "sample {k}");
        }
    }

    #[test]
    fn the_smooth_part_has_the_given_size() {
        for length in [0.05, 0.3] {
            let problem = AdvectedSquare {
                squares: 0,
                smooth: 0.7,
                length,
                n_train: 4000,
                points: 33,
                ..small()
            };
            let data = problem.samples(0, &Unwatched).unwrap();
            let found = rms(&data.inputs[0].1);
            assert!((found - 0.7).abs() < 0.02, "length {length}: {found}");
        }
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads_and_for_any_number_of_samples() {
        check_reproducible(6, |n_train, n_test| AdvectedSquare {
            n_train,
            n_test,
            ..small()
        });
    }

    #[test]
    fn wrong_settings_are_named() {
        check_refused_text(
            "advected-square",
            &[
                (json!({"points": 1}), "points = 1 must be 2 to 100001"),
                (json!({"n_train": 0}), "n_train = 0 must be at least 1"),
                (json!({"squares": 101}), "squares = 101 must be 0 to 100"),
                (json!({"smooth": -1.0}), "smooth = -1 must be 0 or more"),
                (json!({"length": 0.01}), "length = 0.01 must be at least"),
                (json!({"speed": 1e200, "time": 1e200}), "speed * time = inf"),
                (json!({"width": 0.1}), "`width`"),
            ],
        );
    }
}
