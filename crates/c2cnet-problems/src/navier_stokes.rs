//! The Navier-Stokes equations on the torus, in vorticity form: the usual benchmark of neural operators.
//!
//! $$w_t + (u\cdot\nabla)w = \nu\Delta w + f,\qquad \nabla\cdot u = 0,\qquad w = \partial_1u_2 - \partial_2u_1,$$
//!
//! of period 1 in both coordinates, $f = a\,\big(\sin2\pi(x_1 + x_2) + \cos2\pi(x_1 + x_2)\big)$, $a = 0.1$. The start
//! $w(\cdot, 0)$ is a Gaussian random field with $\lambda = 4\pi^2|k|^2$:
//!
//! | `field` | variance of mode $k \ne 0$ | covariance, on fields of mean zero |
//! |---|---|---|
//! | `published` | $2\cdot7^3(\lambda + 49)^{-2.5}$ | $2\cdot7^3(-\Delta + 49)^{-2.5}$ |
//! | `printed` | $7^{3/2}(\lambda + 49)^{-2.5}$ | $7^{3/2}(-\Delta + 49)^{-2.5}$ |
//!
//! The first is what the benchmark's generator draws, the second what its paper prints: a sixth of the size.
//!
//! **Samples.** States $w(\cdot, t)$ are recorded at $t = 1, 2, \dots$ A sample's input has `history` of them as
//! components, in the order of time, and its output the `next` ones. With `windows` $= m$ a trajectory gives $m$ samples, the
//! window moved by one unit of time from each to the next; `n_train` and `n_test` count trajectories, and those of the
//! test are not those of training. A model of one step (`next = 1`) is applied again and again by shifting its window:
//! `bench/rollout/rollout.py`. The truth of later states is the same trajectory with more of `next`: trajectory $k$ is the
//! same whatever is recorded of it.
//!
//! | benchmark | settings |
//! |---|---|
//! | $\nu = 10^{-3}$, 64 x 64, $t \le 50$ | `viscosity=0.001 next=40` |
//! | $\nu = 10^{-4}$, 64 x 64, $t \le 30$ | `viscosity=0.0001 next=20 grid=128 steps=100 modes=42` |
//!
//! There, advection is explicit and viscosity by Crank and Nicolson, both of low order, with 10,000 steps per unit of time.
//! Here viscosity is integrated exactly and the rest by an exponential Runge-Kutta method of order four (the one of
//! [`kdv_burgers`](crate::kdv_burgers)), so far fewer steps do; products are taken without aliasing (the two-thirds rule).
//!
//! **Reference.** The largest relative error of two trajectories (seed 0) at time $t$, against `grid=256 steps=200 modes=85`
//! (`python bench/generate/navier_stokes_refine.py`):
//!
//! | `viscosity` | `grid`, `steps`, `modes` | $t = 1$ | $t = 11$ | $t = 20$ | $t = 30$ |
//! |---|---|---|---|---|---|
//! | 0.001 | 64, 50, 20 (default) | 8e-9 | 1e-10 | 4e-10 | 2e-9 |
//! | 0.001 | 128, 100, 42 | 1e-10 | 2e-12 | 1e-11 | 7e-11 |
//! | 0.0001 | 64, 50, 20 | 1e-3 | 2e-3 | 2e-2 | 2e-2 |
//! | 0.0001 | 128, 100, 42 | 1e-6 | 4e-6 | | |
//!
//! So the default resolves $\nu = 10^{-3}$; take `grid=128 steps=100 modes=42` for $10^{-4}$. (Early differences are those
//! of the starts: frequencies that `modes` leaves out.) Advection is explicit, so that about three quarters of `grid` times the
//! largest velocity are the fewest steps that are stable; fewer end in an error that says so.

mod torus;

use crate::blocks::fill_blocks_of;
use crate::setting::Check;
use crate::{Modes, Problem, SpectralField, Watcher, sample_stream};
use c2cnet::data::{Dataset, Field, Points};
use c2cnet::{Error, Result};
use faer::{Mat, MatMut};
use serde::{Deserialize, Serialize};
use torus::{Torus, frequencies};

/// Settings of the Navier-Stokes equations.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 64 | equally spaced points along each side, the end left out | 4 to 1024 |
/// | `n_train` | 1000 | trajectories to train on | at least 1 |
/// | `n_test` | 200 | trajectories to test on, after the others | any |
/// | `history` | 10 | states in an input | 1 to 100 |
/// | `next` | 1 | states in an output | 1 to 100 |
/// | `windows` | 1 | samples from each trajectory | 1 to 100 |
/// | `viscosity` | 0.001 | $\nu$ | 0 to 1 |
/// | `forcing` | 0.1 | $a$ | finite |
/// | `field` | `published` | the law of the start | `published`, `printed` |
/// | `modes` | 20 | largest frequency of the start along each axis | at least 1, less than a third of `grid` |
/// | `grid` | 64 | points of the solver along each side | a multiple of `points`, at most 2048 |
/// | `steps` | 50 | time steps per unit of time | 1 to 1000000 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NavierStokes {
    /// Points along each side.
    pub points: usize,
    /// The number of trajectories to train on.
    pub n_train: usize,
    /// The number of trajectories to test on.
    pub n_test: usize,
    /// States in an input.
    pub history: usize,
    /// States in an output.
    pub next: usize,
    /// Samples from each trajectory.
    pub windows: usize,
    /// The viscosity $\nu$.
    pub viscosity: f64,
    /// The size $a$ of the forcing.
    pub forcing: f64,
    /// The law of the start.
    pub field: Start,
    /// The largest frequency of the start.
    pub modes: usize,
    /// Points of the solver along each side.
    pub grid: usize,
    /// Time steps per unit of time.
    pub steps: usize,
}

/// The law of $w(\cdot, 0)$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// As the benchmark's generator draws it.
    Published,
    /// With the covariance that its paper prints.
    Printed,
}

impl Default for NavierStokes {
    fn default() -> Self {
        NavierStokes {
            points: 64,
            n_train: 1000,
            n_test: 200,
            history: 10,
            next: 1,
            windows: 1,
            viscosity: 1e-3,
            forcing: 0.1,
            field: Start::Published,
            modes: 20,
            grid: 64,
            steps: 50,
        }
    }
}

impl Problem for NavierStokes {
    const NAME: &'static str = "navier-stokes";
    const DESCRIPTION: &'static str = "Navier-Stokes equations in vorticity form, periodic on (0, 1)^2; maps states at successive times to the next ones";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let torus = Torus::new(self);
        let field = self.start()?;
        let rows = self.points * self.points;
        let samples = (self.n_train + self.n_test) * self.windows;
        let mut states = vec![Mat::zeros(rows, samples); self.history + self.next];
        let all = states.iter_mut().collect();
        fill_blocks_of(all, self.windows, watcher, |first, columns| {
            let k = first / self.windows;
            let start = field.draw(&mut sample_stream(seed, k as u64));
            self.record(&torus, &start, columns).map_err(|time| {
                Error::Numerical(format!(
                    "navier-stokes: trajectory {k} is not finite at time {time}; give more `steps` than {}",
                    self.steps
                ))
            })
        })?;
        let n = self.points;
        let at = |p: usize| [p / n, p % n].map(|i| i as f64 / n as f64);
        let grid = Points::new(2, (0..rows).flat_map(at).collect())?;
        let next = states.split_off(self.history);
        let input = Field::shared(grid.clone(), states)?;
        let mut dataset = Dataset::new(input, Field::shared(grid, next)?)?;
        dataset.n_train = Some(self.n_train * self.windows);
        Ok(dataset)
    }
}

impl NavierStokes {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.within("points", self.points, 4..=1024)?;
        is.at_least("n_train", self.n_train, 1)?;
        for (name, value) in [
            ("history", self.history),
            ("next", self.next),
            ("windows", self.windows),
        ] {
            is.within(name, value, 1..=100)?;
        }
        let numbers = self.points.pow(2) * (self.history + self.next) * self.windows;
        is.check_size(&[self.n_train, self.n_test], numbers)?;
        is.within("viscosity", self.viscosity, 0.0..=1.0)?;
        let a = self.forcing;
        is.that(a.is_finite(), "forcing", a, "finite")?;
        let (grid, points) = (self.grid, self.points);
        let fits = grid > 0 && grid.is_multiple_of(points) && grid <= 2048;
        let must = format!("a multiple of points, {points}, and at most 2048");
        is.that(fits, "grid", grid, &must)?;
        is.within("modes", self.modes, 1..=frequencies(grid))?;
        is.within("steps", self.steps, 1..=1_000_000)
    }

    /// $w(\cdot, 0)$ on the solver's grid.
    fn start(&self) -> Result<SpectralField> {
        let side: Vec<f64> = (0..self.grid)
            .map(|i| i as f64 / self.grid as f64)
            .collect();
        let deviation = match self.field {
            Start::Published => 2f64.sqrt() * 7f64.powf(1.5),
            Start::Printed => 7f64.powf(0.75),
        };
        let functions = 2 * self.modes + 1;
        SpectralField::new(
            Modes::Periodic,
            functions,
            &[&side, &side],
            |lambda| match lambda > 0.0 {
                true => deviation * (lambda + 49.0).powf(-1.25),
                false => 0.0,
            },
        )
    }

    /// Writes the states of a trajectory to the samples of its windows, one matrix per component; the time at which
    /// they are not finite is an error.
    fn record(
        &self,
        torus: &Torus,
        start: &[f64],
        mut columns: Vec<MatMut<'_, f64>>,
    ) -> std::result::Result<(), usize> {
        let mut memory = torus.memory();
        let mut state = torus.state(start, &mut memory);
        let components = self.history + self.next;
        for time in 1..components + self.windows {
            torus.advance(&mut state, &mut memory);
            let values = torus.values(&state, self.grid / self.points, &mut memory);
            if !values.iter().all(|v| v.is_finite()) {
                return Err(time);
            }
            // Window s has the states s + 1, s + 2, ...
            for window in time.saturating_sub(components)..time.min(self.windows) {
                let component = &mut columns[time - 1 - window];
                for (to, from) in component.as_mut().col_mut(window).iter_mut().zip(&values) {
                    *to = *from;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
