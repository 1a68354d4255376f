//! The KdV-Burgers equation (Section 4.2 of the paper).
//!
//! $$u_t + u\,u_x = \nu u_{xx} - D u_{xxx},\qquad u(x, 0) = f(x),$$
//!
//! of period 1 in $x$, for $t$ from 0 to 1; $\nu = 0.01$, $D = 0.001$. The start $f$ is a Gaussian random
//! field of periodic modes with $\lambda = (2\pi m)^2$:
//!
//! | `field` | coefficient | covariance |
//! |---|---|---|
//! | `published` | $25^2(\lambda + 25)^{-2}$, none for $m = 0$ | $25^4(-\Delta + 25)^{-4}$ on fields of mean zero |
//! | `printed` | $25(\lambda + 25)^{-2}$ | $25^2(-\Delta + 25)^{-4}$ |
//!
//! The first is what the public generators of these data draw, the second what the paper prints: 25 times
//! smaller, and almost a constant.
//!
//! The solver keeps the Fourier coefficients $\hat u_m$, $3m < $ `grid`, for which the square $u^2$, taken
//! on the grid, has no aliasing error (the two-thirds rule), and
//!
//! $$\hat u_m' = (-\nu k^2 + iDk^3)\,\hat u_m - \tfrac12 ik\,\widehat{u^2}_m,\qquad k = 2\pi m,$$
//!
//! is integrated by an exponential Runge-Kutta method of order four. At the defaults, doubling `grid` and
//! `steps` changes $u$ by less than $10^{-8}$ of its norm.

use crate::exponential_rk::{ExponentialRk, Stages};
use crate::setting::Check;
use crate::{Modes, Problem, SpectralField, Watcher, pairs, sample_stream};
use c2cnet::data::{Bounds, Dataset, Points};
use c2cnet::{Error, Result, linalg};
use faer::Mat;
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Settings of the KdV-Burgers problem.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 101 | equally spaced points in $x$ and in $t$, both ends included | 2 to 2001 |
/// | `n_train` | 1600 | training samples | at least 1 |
/// | `n_test` | 400 | test samples, after the training samples | any |
/// | `field` | `published` | the law of $f$ | `published`, `printed` |
/// | `modes` | 64 | largest frequency of $f$ | at least 1, less than a third of `grid` |
/// | `grid` | 256 | points of the solver in $x$ | 8 to 8192 |
/// | `steps` | 1000 | time steps, rounded up to a multiple of `points - 1` | 1 to 1000000 |
/// | `viscosity` | 0.01 | $\nu$ | 0 or more |
/// | `dispersion` | 0.001 | $D$ | finite |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KdvBurgers {
    /// Points in $x$ and in $t$.
    pub points: usize,
    /// The number of training samples.
    pub n_train: usize,
    /// The number of test samples.
    pub n_test: usize,
    /// The law of $f$.
    pub field: StartField,
    /// The largest frequency of $f$.
    pub modes: usize,
    /// Points of the solver in $x$.
    pub grid: usize,
    /// Time steps, at least.
    pub steps: usize,
    /// The viscosity $\nu$.
    pub viscosity: f64,
    /// The dispersion $D$.
    pub dispersion: f64,
}

/// The law of the start $f$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StartField {
    /// As the public generators draw it.
    Published,
    /// With the covariance that the paper prints.
    Printed,
}

impl Default for KdvBurgers {
    fn default() -> Self {
        KdvBurgers {
            points: 101,
            n_train: 1600,
            n_test: 400,
            field: StartField::Published,
            modes: 64,
            grid: 256,
            steps: 1000,
            viscosity: 0.01,
            dispersion: 0.001,
        }
    }
}

impl Problem for KdvBurgers {
    const NAME: &'static str = "kdv-burgers";
    const DESCRIPTION: &'static str = "KdV-Burgers equation u_t + u u_x = nu u_xx - D u_xxx, periodic on (0, 1); maps u(x, 0) to u(x, t)";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let solver = Solver::new(self);
        let nodes: Vec<f64> = (0..self.grid)
            .map(|j| j as f64 / self.grid as f64)
            .collect();
        let field =
            SpectralField::new(
                Modes::Periodic,
                2 * self.modes + 1,
                &[&nodes],
                |lambda| match self.field {
                    StartField::Published if lambda == 0.0 => 0.0,
                    StartField::Published => 625.0 * (lambda + 25.0).powi(-2),
                    StartField::Printed => 25.0 * (lambda + 25.0).powi(-2),
                },
            )?;
        let x = Points::linspace(0.0, 1.0, self.points);
        let grid = Points::grid(&Bounds::unit(2), &[self.points; 2]);
        let count = self.n_train + self.n_test;
        let mut dataset = pairs::dataset([x, grid], count, watcher, |k| {
            let start = field.draw(&mut sample_stream(seed, k as u64));
            let u = solver.solve(&start);
            if let Some(value) = u.iter().find(|value| !value.is_finite()) {
                return Err(Error::Numerical(format!(
                    "kdv-burgers: sample {k} became {value}; give more `steps` than {}",
                    self.steps
                )));
            }
            let input = u.iter().copied().step_by(self.points).collect();
            Ok([input, u])
        })?;
        dataset.n_train = Some(self.n_train);
        Ok(dataset)
    }
}

impl KdvBurgers {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.within("points", self.points, 2..=2001)?;
        is.at_least("n_train", self.n_train, 1)?;
        let numbers = self.points * (self.points + 1);
        is.check_size(&[self.n_train, self.n_test], numbers)?;
        is.within("grid", self.grid, 8..=8192)?;
        is.within("modes", self.modes, 1..=frequencies(self.grid))?;
        is.within("steps", self.steps, 1..=1_000_000)?;
        let nu = self.viscosity;
        is.that(nu >= 0.0 && nu.is_finite(), "viscosity", nu, "0 or more")?;
        let d = self.dispersion;
        is.that(d.is_finite(), "dispersion", d, "finite")
    }
}

/// The largest $m$ with $3m < $ `grid`.
fn frequencies(grid: usize) -> usize {
    (grid - 1) / 3
}

/// The solver for one choice of settings.
struct Solver {
    times: usize,
    between: usize,
    /// $-\frac12 ik$ over the length of the transform.
    derivative: Vec<Complex<f64>>,
    method: ExponentialRk,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    /// The functions of the real and imaginary parts at the output points, one row each.
    functions: Mat<f64>,
}

impl Solver {
    fn new(problem: &KdvBurgers) -> Self {
        let most = frequencies(problem.grid);
        let k = |m: usize| TAU * m as f64;
        let intervals = problem.points - 1;
        let between = problem.steps.div_ceil(intervals);
        let linear: Vec<Complex<f64>> = (0..=most)
            .map(|m| {
                Complex::new(
                    -problem.viscosity * k(m).powi(2),
                    problem.dispersion * k(m).powi(3),
                )
            })
            .collect();
        let scale = 0.5 / problem.grid as f64;
        let mut planner = RealFftPlanner::new();
        Solver {
            times: problem.points,
            between,
            derivative: (0..=most)
                .map(|m| Complex::new(0.0, -scale * k(m)))
                .collect(),
            method: ExponentialRk::new(&linear, 1.0 / (between * intervals) as f64),
            forward: planner.plan_fft_forward(problem.grid),
            inverse: planner.plan_fft_inverse(problem.grid),
            functions: Mat::from_fn(2 * most + 1, problem.points, |row, i| {
                // The last point is the first one, exactly.
                let x = (i % intervals) as f64 / intervals as f64;
                let (sin, cos) = (k(row.div_ceil(2)) * x).sin_cos();
                match row {
                    0 => 1.0,
                    _ if row % 2 == 1 => 2.0 * cos,
                    _ => -2.0 * sin,
                }
            }),
        }
    }

    /// $u$ at the output points, $t$ varying fastest, from its values on the solver's grid.
    fn solve(&self, start: &[f64]) -> Vec<f64> {
        let most = self.derivative.len() - 1;
        let mut values = start.to_vec();
        let mut spectrum = self.forward.make_output_vec();
        let mut scratch_forward = self.forward.make_scratch_vec();
        let mut scratch_inverse = self.inverse.make_scratch_vec();
        let fits = "buffers come from the plan";
        self.forward
            .process_with_scratch(&mut values, &mut spectrum, &mut scratch_forward)
            .expect(fits);
        let mut v: Vec<Complex<f64>> = spectrum[..=most]
            .iter()
            .map(|c| c / start.len() as f64)
            .collect();
        v[0].im = 0.0;
        let mut history = Mat::zeros(self.times, 2 * most + 1);
        let mut stages = Stages::default();
        for t in 0..self.times {
            history[(t, 0)] = v[0].re;
            for m in 1..=most {
                history[(t, 2 * m - 1)] = v[m].re;
                history[(t, 2 * m)] = v[m].im;
            }
            if t + 1 == self.times {
                break;
            }
            for _ in 0..self.between {
                self.method.step(&mut v, &mut stages, |v, out| {
                    spectrum[..=most].copy_from_slice(v);
                    spectrum[most + 1..].fill(Complex::default());
                    // The only error here is a NaN mean, which shows in the result.
                    let _ = self.inverse.process_with_scratch(
                        &mut spectrum,
                        &mut values,
                        &mut scratch_inverse,
                    );
                    for value in &mut values {
                        *value *= *value;
                    }
                    self.forward
                        .process_with_scratch(&mut values, &mut spectrum, &mut scratch_forward)
                        .expect(fits);
                    for ((out, s), d) in out.iter_mut().zip(&spectrum).zip(&self.derivative) {
                        *out = s * d;
                    }
                });
            }
        }
        let u = linalg::mul_seq(history.as_ref(), self.functions.as_ref());
        u.col_iter()
            .flat_map(|c| c.iter().copied().collect::<Vec<f64>>())
            .collect()
    }
}

#[cfg(test)]
mod tests;
