//! Nonlinear diffusion with a random conductivity on a domain with three holes.
//!
//! $$-\nabla\cdot\big(k\,(1 + u^2)\,\nabla u\big) = f \text{ in } \Omega,\qquad u = 0 \text{ on } \partial\Omega,
//! \qquad k = e^{\sigma g},$$
//!
//! with a constant $f$, the unit square without [three holes](crate::poisson_holes::HOLES) and a Gaussian field
//! $g$ of covariance $e^{-d^2/2\ell^2}$. The input is $k$ and the output $u$, at the nodes of a mesh that fits
//! the holes. It is not one of the paper's problems: the output depends on products of the input and itself, on a
//! domain that no tensor grid covers.
//!
//! **Solved exactly in $u$.** Kirchhoff's transform $w = u + u^3/3$ has $\nabla w = (1 + u^2)\nabla u$, so
//!
//! $$-\nabla\cdot(k\nabla w) = f,\qquad w = 0 \text{ on } \partial\Omega,\qquad
//! u = 2\sinh\big(\tfrac13\operatorname{arsinh}\tfrac32 w\big)$$
//!
//! for any $k$: one linear equation and one root of a cubic, which the last formula gives without cancellation.
//! No iteration has to converge. The tests compare it with the nonlinear equation itself, iterated.
//!
//! At the defaults $u$ has a root mean square of 1.04 (64 samples, seed 0), and $1 + u^2$ exceeds 7 at a hundredth of the points.
//!
//! **Reference.** Quadratic elements on a separate mesh, about 12,000 nodes. The field is drawn at the points of
//! the data and at these nodes together: the equation's $k$ is the field itself and no interpolant of the data. The
//! factor of the field depends on all of these points, so other values of `points` or `reference` give other draws of
//! the same law. The error is 1e-4 of $u$ (against 48,000 nodes, one draw).

use crate::fem::{Darcy, mesh_with_nodes};
use crate::poisson_holes::domain;
use crate::setting::Check;
use crate::{KernelForm, Problem, RandomField, SquaredExponential, Watcher, fill_blocks};
use c2cnet::Result;
use c2cnet::data::{Dataset, Field, Points};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// Settings of nonlinear diffusion.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 1780 | about how many nodes the mesh of $k$ and $u$ has | at least 200 |
/// | `n_train` | 1000 | training samples | at least 1 |
/// | `n_test` | 200 | test samples, after the training samples | any |
/// | `length` | 0.2 | $\ell$ | at least 0.05 |
/// | `sigma` | 1 | standard deviation of $\log k$ | positive, at most 3 |
/// | `source` | 100 | $f$ | positive, at most 1000000 |
/// | `reference` | 12000 | about how many nodes of quadratic elements solve the equation | at least 4 `points`, at most 1000000 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NonlinearDiffusion {
    /// About how many nodes.
    pub points: usize,
    /// The number of training samples.
    pub n_train: usize,
    /// The number of test samples.
    pub n_test: usize,
    /// The length of $\log k$.
    pub length: f64,
    /// The standard deviation of $\log k$.
    pub sigma: f64,
    /// The source $f$.
    pub source: f64,
    /// About how many nodes solve the equation.
    pub reference: usize,
}

impl Default for NonlinearDiffusion {
    fn default() -> Self {
        NonlinearDiffusion {
            points: 1780,
            n_train: 1000,
            n_test: 200,
            length: 0.2,
            sigma: 1.0,
            source: 100.0,
            reference: 12_000,
        }
    }
}

impl Problem for NonlinearDiffusion {
    const NAME: &'static str = "nonlinear-diffusion";
    const DESCRIPTION: &'static str = "Nonlinear diffusion -div(k (1 + u^2) grad u) = f on the unit square with three holes, u = 0 on every boundary; maps k to u";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let mesh = mesh_with_nodes(&domain()?, self.points)
            .map_err(Check::of::<Self>().with_setting("points", self.points))?;
        let nodes = mesh.nodes();
        let darcy = self.darcy(nodes)?;
        let field = self.field(nodes, darcy.nodes())?;
        let count = self.n_train + self.n_test;
        let mut k = Mat::zeros(nodes.len(), count);
        let mut u = Mat::zeros(nodes.len(), count);
        fill_blocks(
            [&mut k, &mut u],
            RandomField::BLOCK,
            watcher,
            |first, [mut k, mut u]| {
                let log_k = field.block(seed, first as u64);
                for j in 0..k.ncols() {
                    let conductivity = |i: usize| log_k[(i, j)].exp();
                    for (i, value) in k.as_mut().col_mut(j).iter_mut().enumerate() {
                        *value = conductivity(i);
                    }
                    let solved = solve(&darcy, |i| conductivity(nodes.len() + i), |_| self.source)?;
                    for (to, from) in u.as_mut().col_mut(j).iter_mut().zip(solved) {
                        *to = from;
                    }
                }
                Ok(())
            },
        )?;
        let points = Points::new(2, nodes.as_flattened().to_vec())?;
        let input = Field::shared(points.clone(), vec![k])?;
        let mut dataset = Dataset::new(input, Field::shared(points, vec![u])?)?;
        dataset.n_train = Some(self.n_train);
        dataset.triangles = Some(mesh.triangles().to_vec());
        Ok(dataset)
    }
}

impl NonlinearDiffusion {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.at_least("points", self.points, 200)?;
        is.at_least("n_train", self.n_train, 1)?;
        is.check_size(&[self.n_train, self.n_test], self.points.saturating_mul(2))?;
        is.length("length", self.length, 0.05)?;
        let (sigma, source) = (self.sigma, self.source);
        let fits = sigma > 0.0 && sigma <= 3.0;
        is.that(fits, "sigma", sigma, "positive and at most 3")?;
        let fits = source > 0.0 && source <= 1e6;
        is.that(fits, "source", source, "positive and at most 1000000")?;
        is.reference(self.reference, self.points)
    }

    /// The linear equation, with solutions at `outputs`.
    fn darcy(&self, outputs: &[[f64; 2]]) -> Result<Darcy> {
        // A triangle mesh has about three edges per node.
        let mesh = mesh_with_nodes(&domain()?, self.reference / 4)
            .map_err(Check::of::<Self>().with_setting("reference", self.reference))?;
        Darcy::new(mesh, outputs)
    }

    /// $\log k$ at the points of the data and then at the nodes of the reference.
    fn field(&self, points: &[[f64; 2]], reference: &[[f64; 2]]) -> Result<RandomField> {
        let kernel = SquaredExponential {
            form: KernelForm::Half,
            length: self.length,
            sigma: self.sigma,
        };
        let places = Points::new(2, [points, reference].concat().into_flattened())?;
        RandomField::new(&places, |a, b| kernel.at(a, b))
    }
}

/// $u$ at the outputs of `darcy` from $k$ and $f$ at its nodes.
fn solve(darcy: &Darcy, k: impl Fn(usize) -> f64, f: impl Fn(usize) -> f64) -> Result<Vec<f64>> {
    let mut u = darcy.solve(k, f)?;
    for value in &mut u {
        *value = root_of_kirchhoff(*value);
    }
    Ok(u)
}

/// The $u$ with $u + u^3/3 = w$: with $u = 2\sinh\theta$ the left side is $\frac23\sinh3\theta$.
fn root_of_kirchhoff(w: f64) -> f64 {
    2.0 * ((1.5 * w).asinh() / 3.0).sinh()
}

#[cfg(test)]
mod tests;
