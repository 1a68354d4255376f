//! Poisson's equation on a domain with three holes (Section 4 of the paper, complex domain).
//!
//! $$\Delta u = f \text{ in } \Omega,\qquad u = 0 \text{ on } \partial\Omega,\qquad
//!   f(x, y) = a\sum_{i=0}^4\sum_{j=0}^4 \alpha_{ij}\sin(i\pi x + j\pi y),\quad
//!   \alpha_{ij} \sim U[-1, 1].$$
//!
//! The term of $i = j = 0$ vanishes, so 24 numbers determine a sample, and $u$ is linear in them. The equation is
//! solved once for each sine, $u_{ij}$, and a sample is $u = a\sum\alpha_{ij} u_{ij}$: the same as solving for
//! every sample, up to rounding, at a thousandth of the cost.
//!
//! **What the paper leaves open.** The domain: here the unit square without three discs, see [`HOLES`], each a
//! polygon of 32 sides, so that every mesh fits it exactly. Their places and sizes were chosen so that, at the
//! published law of $\alpha$, $u$ has a root mean square of 0.017, which the paper's tables imply.
//!
//! **Reference.** Quadratic elements on a separate mesh, about 28,000 nodes: over ten times the functions
//! of the paper's largest decoder (1,600), and of one degree more. Its error
//! is 3e-5 of $u$ (against 80,000 nodes).

use crate::fem::{Diffusion, Element, Pattern, Solver, Space, mesh_with_nodes};
use crate::setting::Check;
use crate::{Problem, Watcher, fill_blocks, sample_stream};
use c2cnet::Result;
use c2cnet::data::{Bounds, Dataset, Field, Points};
use c2cnet::domain::Polygon;
use c2cnet::internal::{circle_ring, rectangle_ring};
use faer::{Mat, MatRef};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Centre and radius of each hole.
pub const HOLES: [([f64; 2], f64); 3] = [
    ([0.21, 0.22], 0.11),
    ([0.80, 0.20], 0.10),
    ([0.50, 0.81], 0.11),
];

/// Sides of the polygon that approximates a hole.
const SIDES: usize = 32;
/// Sines along each axis.
const SINES: usize = 5;
/// Samples that are made together.
const BLOCK: usize = 32;

/// Settings of Poisson's equation with holes.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `points` | 1780 | about how many nodes the mesh of $f$ and $u$ has | at least 200 |
/// | `n_train` | 1600 | training samples | at least 1 |
/// | `n_test` | 400 | test samples, after the training samples | any |
/// | `amplitude` | 1 | $a$ | positive |
/// | `reference` | 28000 | about how many nodes of quadratic elements solve the equation | at least 4 `points`, at most 1000000 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PoissonHoles {
    /// About how many nodes.
    pub points: usize,
    /// The number of training samples.
    pub n_train: usize,
    /// The number of test samples.
    pub n_test: usize,
    /// The amplitude $a$.
    pub amplitude: f64,
    /// About how many nodes solve the equation.
    pub reference: usize,
}

impl Default for PoissonHoles {
    fn default() -> Self {
        PoissonHoles {
            points: 1780,
            n_train: 1600,
            n_test: 400,
            amplitude: 1.0,
            reference: 28_000,
        }
    }
}

impl Problem for PoissonHoles {
    const NAME: &'static str = "poisson-holes";
    const DESCRIPTION: &'static str = "Poisson's equation on the unit square with three holes, u = 0 on every boundary; maps f to u";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let domain = domain()?;
        let mesh = mesh_with_nodes(&domain, self.points)
            .map_err(Check::of::<Self>().with_setting("points", self.points))?;
        let nodes = mesh.nodes();
        let sines = Mat::from_fn(nodes.len(), SINES * SINES, |i, m| {
            self.amplitude * sine(m, nodes[i])
        });
        let mut responses = self.reference(&domain)?.responses(nodes)?;
        for m in 0..responses.ncols() {
            for value in responses.col_mut(m).iter_mut() {
                *value *= self.amplitude;
            }
        }
        let count = self.n_train + self.n_test;
        let mut f = Mat::zeros(nodes.len(), count);
        let mut u = Mat::zeros(nodes.len(), count);
        fill_blocks([&mut f, &mut u], BLOCK, watcher, |first, [mut f, mut u]| {
            for j in 0..f.ncols() {
                let alpha = draw(seed, (first + j) as u64);
                combine(sines.as_ref(), &alpha, f.as_mut().col_mut(j).iter_mut());
                combine(responses.as_ref(), &alpha, u.as_mut().col_mut(j).iter_mut());
            }
            Ok(())
        })?;
        let points = Points::new(2, nodes.as_flattened().to_vec())?;
        let input = Field::shared(points.clone(), vec![f])?;
        let output = Field::shared(points, vec![u])?;
        let mut dataset = Dataset::new(input, output)?;
        dataset.n_train = Some(self.n_train);
        dataset.triangles = Some(mesh.triangles().to_vec());
        Ok(dataset)
    }
}

impl PoissonHoles {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.at_least("points", self.points, 200)?;
        is.at_least("n_train", self.n_train, 1)?;
        is.check_size(&[self.n_train, self.n_test], self.points.saturating_mul(2))?;
        is.positive("amplitude", self.amplitude)?;
        is.reference(self.reference, self.points)
    }

    /// The space of the reference and its factorised equation.
    ///
    /// # Errors
    /// If the domain cannot be meshed.
    pub fn reference(&self, domain: &Polygon) -> Result<Reference> {
        // A triangle mesh has about three edges per node.
        let mesh = mesh_with_nodes(domain, self.reference / 4)
            .map_err(Check::of::<Self>().with_setting("reference", self.reference))?;
        let space = Space::new(mesh, Element::P2);
        let solver = Solver::new(Pattern::new(&space, 1, space.on_boundary()))?;
        Ok(Reference { space, solver })
    }
}

/// What solves the equation.
#[derive(Debug)]
pub struct Reference {
    /// Quadratic elements.
    pub space: Space,
    /// The equation of the nodes inside.
    pub solver: Solver,
}

impl Reference {
    /// The solutions for each sine at `points`, one per column: one factorisation for all.
    ///
    /// # Errors
    /// If a point lies outside the domain.
    pub fn responses(&self, points: &[[f64; 2]]) -> Result<Mat<f64>> {
        let (space, solver) = (&self.space, &self.solver);
        let mut factor = solver.empty_factor();
        solver.factor(&Diffusion::new(space, |_, _| 1.0), &mut factor)?;
        let mut x = Mat::zeros(solver.pattern().size(), SINES * SINES);
        let mut right = vec![0.0; solver.pattern().size()];
        for m in 0..SINES * SINES {
            // The form is that of minus the Laplacian.
            let load = space.load(|p| -sine(m, p));
            solver.pattern().restrict(&load, &mut right);
            for (to, from) in x.col_mut(m).iter_mut().zip(&right) {
                *to = *from;
            }
        }
        solver.solve(&factor, x.as_mut());
        let sampling = space.sampling(points)?;
        let free = solver.pattern().free();
        Ok(Mat::from_fn(points.len(), SINES * SINES, |i, m| {
            sampling.value(i, |node| free[node].map_or(0.0, |k| x[(k, m)]))
        }))
    }
}

/// The unit square without the [`HOLES`].
///
/// # Errors
/// None; the rings are fixed.
pub fn domain() -> Result<Polygon> {
    let holes = HOLES.map(|(centre, radius)| circle_ring(centre, radius, SIDES));
    Polygon::new(rectangle_ring(&Bounds::unit(2))?, holes.to_vec())
}

/// $\sin(i\pi x + j\pi y)$ for $m = 5i + j$.
fn sine(m: usize, [x, y]: [f64; 2]) -> f64 {
    let (i, j) = ((m / SINES) as f64, (m % SINES) as f64);
    (PI * (i * x + j * y)).sin()
}

/// The numbers $\alpha$ of sample `k`.
fn draw(seed: u64, k: u64) -> [f64; SINES * SINES] {
    let mut rng = sample_stream(seed, k);
    std::array::from_fn(|_| rng.random_range(-1.0..=1.0))
}

/// $\sum_m \alpha_m c_m$ over the columns $c_m$, added in their order.
fn combine<'a>(columns: MatRef<'_, f64>, alpha: &[f64], out: impl Iterator<Item = &'a mut f64>) {
    for (i, value) in out.enumerate() {
        *value = alpha
            .iter()
            .enumerate()
            .map(|(m, a)| a * columns[(i, m)])
            .sum();
    }
}

#[cfg(test)]
mod tests;
