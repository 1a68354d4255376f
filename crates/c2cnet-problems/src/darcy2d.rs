//! Darcy flow on the unit square (Section 4.1 of the paper).
//!
//! $$-\nabla\cdot(\kappa\nabla u) = 1 \text{ on } (0, 1)^2,\qquad u = 0 \text{ on the boundary},\qquad
//! \kappa = e^\psi,$$
//!
//! or, with `coefficient = "binary"`, $\kappa = 12$ where $\psi \ge 0$ and $3$ elsewhere,
//! with $\psi$ a Gaussian random field of cosine modes, $\lambda = \pi^2|k|^2$ and $\tau = 3$:
//!
//! | `field` | coefficient of mode $k$ | covariance |
//! |---|---|---|
//! | `published` | $\tau(\lambda + \tau^2)^{-1}$, none for $k = 0$ | $\tau^2(-\Delta + \tau^2)^{-2}$ on fields of mean zero |
//! | `printed` | $(\lambda + \tau^2)^{-1}$ | $(-\Delta + \tau^2)^{-2}$ |
//!
//! The first is what the published generator of these data draws, the second what the paper prints: a
//! third of the size, with a constant part.
//!
//! **Reference.** $u$ solves the five-point scheme with averaged coefficients ([`FivePoint`], to rounding) on a
//! grid with `refine` intervals per interval of the data, whose points are every `refine`-th node. $\psi$ is the
//! same field at any `refine`, evaluated at more nodes. At the default, `refine = 1`, the solver's grid is that
//! of the data: 141 x 141 nodes, of which 139 x 139 = 19,321 are unknowns.
//!
//! Is that an inverse crime? No: no decoder uses this scheme or as many functions. The search for bases
//! offers 1,024 at most (`search.max_functions`), a nineteenth of the unknowns. With a larger
//! basis, or for errors near those below, use `refine = 3`, with which the published set was made
//! (421 x 421 nodes).
//!
//! The difference of $u$ from that of `refine = 6`, relative, in $L^2$ over the 141 x 141 points (10 samples,
//! seed 0; `python bench/generate/darcy2d_refine.py`):
//!
//! | `refine` | unknowns | mean | largest | time |
//! |---|---|---|---|---|
//! | 1 | 139 x 139 | 8.2e-5 | 1.1e-4 | 1 |
//! | 2 | 279 x 279 | 1.9e-5 | 2.6e-5 | 5 |
//! | 3 | 419 x 419 | 7.2e-6 | 9.8e-6 | 12 |
//!
//! **The usual benchmark of binary coefficients.** Its $\psi$ has the law `published` with 421 modes along each axis, its
//! equation is solved on 421 x 421 nodes, and coefficient and solution are read at every 3rd, 5th or 28th of them:
//!
//! | points | settings |
//! |---|---|
//! | 141 x 141 | `coefficient=binary modes=421 points=141 refine=3 n_train=1000 n_test=200` |
//! | 85 x 85 | `coefficient=binary modes=421 points=85 refine=5 n_train=1000 n_test=200` |
//! | 16 x 16 | `coefficient=binary modes=421 points=16 refine=28 n_train=1000 n_test=200` |
//!
//! Sample $k$ of all three is one and the same, read at different points; the draw does not depend on `points` and `refine` as
//! long as `modes` stays. One thing differs from the published generator: it draws $\kappa$ at the centres of 421 x 421 cells and goes
//! to the nodes and back by splines, which overshoot at jumps. Here both are at the nodes.
//!
//! The scheme's order is two, so the default has an error of about 8e-5, a fifteenth of the test error that a default
//! fit leaves (1.2e-3).

use crate::setting::Check;
use crate::{FivePoint, Modes, Problem, SpectralField, Watcher, pairs, sample_stream};
use c2cnet::Result;
use c2cnet::data::{Bounds, Dataset, Points};
use serde::{Deserialize, Serialize};

/// Settings of the two-dimensional Darcy problem.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 141 | nodes along each side of $\kappa$ and $u$, boundary included | 3 to 2001 |
/// | `n_train` | 2400 | training samples | at least 1 |
/// | `n_test` | 600 | test samples, after the training samples | any |
/// | `field` | `published` | the law of $\psi$ | `published`, `printed` |
/// | `coefficient` | `exponential` | $\kappa$ from $\psi$: $e^\psi$, or 12 where $\psi \ge 0$ and 3 elsewhere | `exponential`, `binary` |
/// | `modes` | 141 | cosines along each axis | 2 to 2001 |
/// | `refine` | 1 | intervals of the solver per interval of the data | at least 1; `refine * (points - 1)` at most 2000 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Darcy2d {
    /// Nodes along each side.
    pub points: usize,
    /// The number of training samples.
    pub n_train: usize,
    /// The number of test samples.
    pub n_test: usize,
    /// The law of $\psi$.
    pub field: LogField,
    /// How $\kappa$ follows from $\psi$.
    pub coefficient: Coefficient,
    /// Cosines along each axis.
    pub modes: usize,
    /// Intervals of the solver per interval of the data.
    pub refine: usize,
}

/// The law of $\psi = \log\kappa$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogField {
    /// As the published generator draws it.
    Published,
    /// With the covariance that the paper prints.
    Printed,
}

/// The coefficient $\kappa$ of a field $\psi$.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coefficient {
    /// $e^\psi$.
    Exponential,
    /// 12 where $\psi \ge 0$, 3 elsewhere.
    Binary,
}

impl Coefficient {
    fn of(self, psi: f64) -> f64 {
        match self {
            Coefficient::Exponential => psi.exp(),
            Coefficient::Binary if psi >= 0.0 => 12.0,
            Coefficient::Binary => 3.0,
        }
    }
}

impl Default for Darcy2d {
    fn default() -> Self {
        Darcy2d {
            points: 141,
            n_train: 2400,
            n_test: 600,
            field: LogField::Published,
            coefficient: Coefficient::Exponential,
            modes: 141,
            refine: 1,
        }
    }
}

const TAU: f64 = 3.0;

impl Problem for Darcy2d {
    const NAME: &'static str = "darcy2d";
    const DESCRIPTION: &'static str = "Darcy flow -div(kappa grad u) = 1 on the unit square, u = 0 on the boundary; maps kappa to u";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let intervals = self.refine * (self.points - 1);
        let nodes = intervals + 1;
        let scheme = FivePoint::new(intervals)?;
        let axis = Points::linspace(0.0, 1.0, nodes);
        let field = self.field.on(self.modes, axis.coords())?;
        let source = vec![1.0; nodes * nodes];
        let grid = Points::grid(&Bounds::unit(2), &[self.points; 2]);
        let (points, count) = ([grid.clone(), grid], self.n_train + self.n_test);
        let mut dataset = pairs::dataset(points, count, watcher, |k| {
            let mut kappa = field.draw(&mut sample_stream(seed, k as u64));
            for value in &mut kappa {
                *value = self.coefficient.of(*value);
            }
            let u = scheme.solve(&kappa, &source)?;
            Ok([self.thin(kappa), self.thin(u)])
        })?;
        dataset.n_train = Some(self.n_train);
        Ok(dataset)
    }
}

impl Darcy2d {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.within("points", self.points, 3..=2001)?;
        is.at_least("n_train", self.n_train, 1)?;
        let grid = self.points * self.points;
        is.check_size(&[self.n_train, self.n_test], 2 * grid)?;
        is.within("modes", self.modes, 2..=2001)?;
        is.within("refine", self.refine, 1..=2000 / (self.points - 1))
    }

    /// Every `refine`-th node along both axes.
    fn thin(&self, values: Vec<f64>) -> Vec<f64> {
        if self.refine == 1 {
            return values;
        }
        let nodes = self.refine * (self.points - 1) + 1;
        values
            .chunks_exact(nodes)
            .step_by(self.refine)
            .flat_map(|row| row.iter().copied().step_by(self.refine))
            .collect()
    }
}

impl LogField {
    fn on(self, modes: usize, axis: &[f64]) -> Result<SpectralField> {
        SpectralField::new(Modes::Cosine, modes, &[axis, axis], |lambda| match self {
            LogField::Published if lambda == 0.0 => 0.0,
            LogField::Published => TAU / (lambda + TAU * TAU),
            LogField::Printed => 1.0 / (lambda + TAU * TAU),
        })
    }
}

#[cfg(test)]
mod tests;
