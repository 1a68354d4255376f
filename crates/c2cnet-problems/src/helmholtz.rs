//! A Helmholtz equation with weak solutions (Section 4.2 of the paper).
//!
//! $$\Delta u + \lambda u = f + 2\alpha\cos(y^2)\,\delta_{\Gamma_\beta} \text{ on } (-1, 1)\times(0, 1),
//! \qquad \Gamma_\beta = \{x = \beta\},$$
//!
//! with the regular part and the solution, which also gives the boundary values,
//!
//! $$f = \alpha\sinh|x - \beta|\,\big[(1 + \lambda - 4y^2)\cos y^2 - 2\sin y^2\big],\qquad
//! u = \alpha\sinh|x - \beta|\cos y^2.$$
//!
//! $\alpha$ takes 50 values drawn uniformly from $[1, 2]$ and $\beta$ 50 from $[-0.5, 0.5]$. The samples
//! are the 2,500 pairs in a random order, and map $f$ to $u$.

use crate::setting::Check;
use crate::{Problem, Watcher, pairs, sample_stream};
use c2cnet::Result;
use c2cnet::data::{Bounds, Dataset, Points};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Settings of the Helmholtz problem.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 101 | points along each side of $f$ and $u$, boundary included | 2 to 2001 |
/// | `n_train` | 2000 | training samples | at least 1 |
/// | `n_test` | 500 | test samples, after the training samples | with `n_train` at most `alphas * betas` |
/// | `alphas` | 50 | values of $\alpha$ | 1 to 1000 |
/// | `betas` | 50 | values of $\beta$ | 1 to 1000 |
/// | `lambda` | 1 | $\lambda$ | finite |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Helmholtz {
    /// Points along each side.
    pub points: usize,
    /// The number of training samples.
    pub n_train: usize,
    /// The number of test samples.
    pub n_test: usize,
    /// How many values of $\alpha$.
    pub alphas: usize,
    /// How many values of $\beta$.
    pub betas: usize,
    /// The factor $\lambda$.
    pub lambda: f64,
}

impl Default for Helmholtz {
    fn default() -> Self {
        Helmholtz {
            points: 101,
            n_train: 2000,
            n_test: 500,
            alphas: 50,
            betas: 50,
            lambda: 1.0,
        }
    }
}

impl Problem for Helmholtz {
    const NAME: &'static str = "helmholtz";
    const DESCRIPTION: &'static str = "Helmholtz equation lap u + lambda u = f + a line source on (-1, 1) x (0, 1), kinked solutions; maps the regular part f to u";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let parameters = self.parameters(seed);
        let domain = Bounds::new(vec![[-1.0, 1.0], [0.0, 1.0]])?;
        let grid = Points::grid(&domain, &[self.points; 2]);
        let points = [grid.clone(), grid.clone()];
        let count = self.n_train + self.n_test;
        let mut dataset = pairs::dataset(points, count, watcher, |k| {
            let [alpha, beta] = parameters[k];
            let at = |of: fn(f64, f64, f64) -> f64| -> Vec<f64> {
                grid.iter()
                    .map(|p| alpha * of(p[0] - beta, p[1], self.lambda))
                    .collect()
            };
            Ok([at(regular_part), at(solution)])
        })?;
        dataset.n_train = Some(self.n_train);
        Ok(dataset)
    }
}

impl Helmholtz {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.within("points", self.points, 2..=2001)?;
        is.at_least("n_train", self.n_train, 1)?;
        is.within("alphas", self.alphas, 1..=1000)?;
        is.within("betas", self.betas, 1..=1000)?;
        let pairs = self.alphas * self.betas;
        let total = self.n_train.saturating_add(self.n_test);
        let must = format!("at most alphas * betas = {pairs}");
        is.that(total <= pairs, "n_train + n_test", total, &must)?;
        is.check_size(&[total], 2 * self.points * self.points)?;
        is.that(self.lambda.is_finite(), "lambda", self.lambda, "finite")
    }

    /// All pairs $(\alpha, \beta)$ in the order of the samples.
    fn parameters(&self, seed: u64) -> Vec<[f64; 2]> {
        let uniform = |stream: u64, count: usize, lower: f64| -> Vec<f64> {
            let mut rng = sample_stream(seed, stream);
            (0..count).map(|_| lower + rng.random::<f64>()).collect()
        };
        let (alphas, betas) = (uniform(0, self.alphas, 1.0), uniform(1, self.betas, -0.5));
        let mut all: Vec<[f64; 2]> = alphas
            .iter()
            .flat_map(|&alpha| betas.iter().map(move |&beta| [alpha, beta]))
            .collect();
        all.shuffle(&mut sample_stream(seed, 2));
        all
    }
}

/// $u/\alpha$ at the distance `d` from the interface.
fn solution(d: f64, y: f64, _: f64) -> f64 {
    d.abs().sinh() * (y * y).cos()
}

/// $f/\alpha$ at the distance `d` from the interface.
fn regular_part(d: f64, y: f64, lambda: f64) -> f64 {
    let (sin, cos) = (y * y).sin_cos();
    d.abs().sinh() * ((1.0 + lambda - 4.0 * y * y) * cos - 2.0 * sin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;
    use crate::testing::{check_refused_text, check_reproducible};
    use serde_json::json;

    fn small() -> Helmholtz {
        Helmholtz {
            points: 41,
            n_train: 4,
            n_test: 2,
            alphas: 4,
            betas: 3,
            lambda: 1.7,
        }
    }

    #[test]
    fn the_equation_holds_away_from_the_interface() {
        let problem = small();
        let data = problem.samples(3, &Unwatched).unwrap();
        let parameters = problem.parameters(3);
        let grid = data.outputs[0].1.points_of(0).clone();
        let (hx, hy) = (2.0 / 40.0, 1.0 / 40.0);
        for (k, [_, beta]) in parameters.iter().enumerate().take(6) {
            let (f, u) = (
                data.inputs[0].1.values_of(k),
                data.outputs[0].1.values_of(k),
            );
            for i in 2..39 {
                if (grid.point(i * 41)[0] - beta).abs() < 2.0 * hx {
                    continue;
                }
                for j in 2..39 {
                    let p = i * 41 + j;
                    let second = |o: usize, h: f64| {
                        let near = u[p + o] + u[p - o];
                        let far = u[p + 2 * o] + u[p - 2 * o];
                        (16.0 * near - far - 30.0 * u[p]) / (12.0 * h * h)
                    };
                    let residual = second(41, hx) + second(1, hy) + 1.7 * u[p] - f[p];
                    assert!(residual.abs() < 1e-3, "sample {k}, node {p}: {residual:e}");
                }
            }
        }
    }

    #[test]
    fn the_slope_jumps_across_the_interface_by_what_the_source_says() {
        let (step, y) = (1e-5, 0.6f64);
        let right = (solution(step, y, 1.0) - solution(0.0, y, 1.0)) / step;
        let left = (solution(0.0, y, 1.0) - solution(-step, y, 1.0)) / step;
        assert_eq!(solution(0.0, y, 1.0), 0.0);
        assert!((right - left - 2.0 * (y * y).cos()).abs() < 1e-9);
    }

    #[test]
    fn samples_are_all_pairs_once() {
        let mut found = small().parameters(8);
        assert!(
            found
                .iter()
                .all(|[a, b]| (1.0..2.0).contains(a) && b.abs() <= 0.5)
        );
        let shuffled = found.clone();
        found.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_ne!(found, shuffled);
        found.dedup();
        assert_eq!(found.len(), 12);
        found.dedup_by_key(|p| p[0]);
        assert_eq!(found.len(), 4);
        // Sample values come from these, at both corners.
        let data = small().samples(8, &Unwatched).unwrap();
        let u = data.outputs[0].1.values_of(1);
        let [alpha, beta] = shuffled[1];
        assert!((u[0] - alpha * (1.0 + beta).sinh()).abs() < 1e-14);
        let last = alpha * (1.0 - beta).sinh() * 1f64.cos();
        assert!((u[41 * 41 - 1] - last).abs() < 1e-14);
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads_and_for_any_number_of_samples() {
        check_reproducible(8, |n_train, n_test| Helmholtz {
            n_train,
            n_test,
            points: 9,
            ..small()
        });
    }

    #[test]
    fn wrong_settings_are_named() {
        check_refused_text(
            "helmholtz",
            &[
                (json!({"points": 1}), "points = 1 must be 2 to 2001"),
                (json!({"n_train": 0}), "n_train = 0 must be at least 1"),
                (json!({"alphas": 0}), "alphas = 0 must be 1 to 1000"),
                (json!({"betas": 1001}), "betas = 1001 must be 1 to 1000"),
                (
                    json!({"betas": 49}),
                    "n_train + n_test = 2500 must be at most alphas * betas = 2450",
                ),
                (json!({"beta": 1.0}), "`beta`"),
            ],
        );
    }
}
