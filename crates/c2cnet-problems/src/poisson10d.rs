//! A Poisson equation in ten dimensions (Section 4.2 of the paper).
//!
//! $$-\Delta u = f \text{ on } (-1, 1)^d,\qquad u = \alpha\sum_{i=1}^d\sin\tfrac\pi2x_i,\qquad
//! f = \tfrac{\pi^2}4u,$$
//!
//! $u$ giving its own boundary values. A sample is one number $\alpha$, and the operator a multiple of
//! the identity: the problem is merely a proof of concept in a high dimension. Three sets, named in
//! the split of the data:
//!
//! | set | $\alpha$ | purpose |
//! |---|---|---|
//! | `train` | uniform on $[-1, 1]$ | fitting |
//! | `gen1` | uniform on $[-1, 1]$ | interpolation |
//! | `gen2` | uniform on $[1, 2]$ | extrapolation |
//!
//! The paper names $31^{10}$ grid points, 8e14, far more than fit in memory. Here both functions are given at the
//! first `points` points of Halton's sequence ([`halton`]), scaled to the cube.

use crate::quasi_random::{HALTON_DIMENSIONS, halton};
use crate::setting::Check;
use crate::{Problem, Watcher, pairs, sample_stream};
use c2cnet::Result;
use c2cnet::data::{Dataset, Points};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, PI};

/// Settings of the high-dimensional Poisson problem.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 20000 | quasi-random points of $f$ and $u$ | 1 to 10000000 |
/// | `dimension` | 10 | $d$ | 1 to 20 |
/// | `n_train` | 8 | training samples | at least 1 |
/// | `n_gen1` | 2 | samples that test interpolation | any |
/// | `n_gen2` | 10 | samples that test extrapolation | any |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Poisson10d {
    /// The number of points.
    pub points: usize,
    /// The dimension $d$.
    pub dimension: usize,
    /// The number of training samples.
    pub n_train: usize,
    /// The number of samples that test interpolation.
    pub n_gen1: usize,
    /// The number of samples that test extrapolation.
    pub n_gen2: usize,
}

impl Default for Poisson10d {
    fn default() -> Self {
        Poisson10d {
            points: 20_000,
            dimension: 10,
            n_train: 8,
            n_gen1: 2,
            n_gen2: 10,
        }
    }
}

impl Problem for Poisson10d {
    const NAME: &'static str = "poisson10d";
    const DESCRIPTION: &'static str = "Poisson equation -lap u = f on (-1, 1)^10 at points of Halton's sequence; maps f to u = 4 f / pi^2; sets train, gen1, gen2";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let coordinates: Vec<f64> = halton(self.dimension, self.points)
            .into_iter()
            .map(|x| 2.0 * x - 1.0)
            .collect();
        let points = Points::new(self.dimension, coordinates)?;
        let shape: Vec<f64> = points
            .iter()
            .map(|x| x.iter().map(|x| (FRAC_PI_2 * x).sin()).sum())
            .collect();
        let mut members = Vec::new();
        for (set, (name, count, lower, width)) in self.sets().into_iter().enumerate() {
            // A stream for each member of each set: none depends on how large the others are.
            members.extend((0..count as u64).map(|k| (name, lower, width, (set as u64) << 32 | k)));
        }
        let points = [points.clone(), points];
        let mut dataset = pairs::dataset(points, members.len(), watcher, |k| {
            let (_, lower, width, stream) = members[k];
            let alpha = lower + width * sample_stream(seed, stream).random::<f64>();
            let u: Vec<f64> = shape.iter().map(|s| alpha * s).collect();
            let f = u.iter().map(|u| PI * PI / 4.0 * u).collect();
            Ok([f, u])
        })?;
        dataset.split = Some(members.iter().map(|m| m.0.to_string()).collect());
        dataset.check()?;
        Ok(dataset)
    }
}

impl Poisson10d {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.at_least("n_train", self.n_train, 1)?;
        is.within("dimension", self.dimension, 1..=HALTON_DIMENSIONS)?;
        is.within("points", self.points, 1..=10_000_000)?;
        let samples = [self.n_train, self.n_gen1, self.n_gen2];
        is.check_size(&samples, 2 * self.points)
    }

    /// Name, size, smallest $\alpha$ and width of the range of each set.
    fn sets(&self) -> [(&'static str, usize, f64, f64); 3] {
        [
            ("train", self.n_train, -1.0, 2.0),
            ("gen1", self.n_gen1, -1.0, 2.0),
            ("gen2", self.n_gen2, 1.0, 1.0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;
    use crate::testing::check_refused_text;
    use serde_json::json;

    fn small() -> Poisson10d {
        Poisson10d {
            points: 50,
            ..Poisson10d::default()
        }
    }

    #[test]
    fn the_problem_conforms() {
        crate::conformance::check(&small());
    }

    #[test]
    fn the_sets_are_the_papers() {
        let data = small().samples(1, &Unwatched).unwrap();
        let [train, gen1, gen2] = ["train", "gen1", "gen2"].map(|name| data.indices_of(name));
        assert_eq!((train.len(), gen1.len(), gen2.len()), (8, 2, 10));
        assert_eq!(data.train_indices(), train);
        let u = &data.outputs[0].1;
        let points = u.points_of(0);
        assert_eq!(points.dim(), 10);
        assert!(points.coords().iter().all(|x| x.abs() < 1.0));
        let shape: f64 = points.point(9).iter().map(|x| (PI * x / 2.0).sin()).sum();
        for k in 0..20 {
            let alpha = u.values_of(k)[9] / shape;
            let range = if gen2.contains(&k) {
                1.0..2.0
            } else {
                -1.0..1.0
            };
            assert!(range.contains(&alpha), "sample {k}: {alpha}");
        }
    }

    #[test]
    fn the_equation_holds_in_finite_differences() {
        let (h, d) = (1e-3, 10);
        let data = small().samples(1, &Unwatched).unwrap();
        let points = data.outputs[0].1.points_of(0).clone();
        let (f, u) = (
            data.inputs[0].1.values_of(2),
            data.outputs[0].1.values_of(2),
        );
        let exact = |x: &[f64]| x.iter().map(|x| (FRAC_PI_2 * x).sin()).sum::<f64>();
        let alpha = u[0] / exact(points.point(0));
        for (p, x) in points.iter().enumerate() {
            let mut laplacian = 0.0;
            for i in 0..d {
                let mut moved = x.to_vec();
                moved[i] += h;
                laplacian += exact(&moved);
                moved[i] -= 2.0 * h;
                laplacian += exact(&moved) - 2.0 * exact(x);
            }
            laplacian *= alpha / (h * h);
            assert!((laplacian + f[p]).abs() < 1e-5, "{laplacian} {}", f[p]);
            assert!((alpha * exact(x) - u[p]).abs() < 1e-12);
        }
    }

    #[test]
    fn members_depend_on_neither_threads_nor_counts() {
        let on = |threads: usize, n_train: usize| {
            let problem = Poisson10d { n_train, ..small() };
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
                .install(|| problem.samples(5, &Unwatched).unwrap())
        };
        let reference = on(1, 8);
        for (threads, n_train) in [(2, 8), (4, 8), (2, 3), (2, 11)] {
            let other = on(threads, n_train);
            for name in ["train", "gen1", "gen2"] {
                let both = reference
                    .indices_of(name)
                    .into_iter()
                    .zip(other.indices_of(name));
                for (a, b) in both {
                    let of = |data: &Dataset, k| data.outputs[0].1.values_of(k);
                    assert!(of(&reference, a) == of(&other, b), "{name} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn wrong_settings_are_named() {
        check_refused_text(
            "poisson10d",
            &[
                (json!({"points": 0}), "points = 0 must be 1 to 10000000"),
                (json!({"n_train": 0}), "n_train = 0 must be at least 1"),
                (json!({"dimension": 21}), "dimension = 21 must be 1 to 20"),
                (json!({"n_test": 2}), "`n_test`"),
            ],
        );
    }
}
