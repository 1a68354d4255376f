//! Darcy flow on an L with two random inputs (Section 4 of the paper).
//!
//! $$-\nabla\cdot(k\,\nabla u) = f \text{ in } \Omega = (0,1)^2\setminus[0.5,1)^2,\qquad
//!   u = 0 \text{ on } \partial\Omega.$$
//!
//! **What the paper leaves open.** The boundary values $g$ are zero here. The laws of the inputs are
//! $$ k = e^{s_k g_1},\qquad f = s_f\,g_2, $$
//! with independent Gaussian fields $g_1, g_2$ of covariance $e^{-d^2/2\ell^2}$, each with its own $\ell$. At
//! the defaults $u$ has the root mean square that the paper's tables imply, 0.0075. How rough $k$ and $f$
//! are determines how hard the data is, and the paper's learning curve is the only evidence: 2.5e-1 with
//! 1,000 samples, 6.7e-2 with 5,100, 3.9e-2 with 51,000. A network of the paper's widths (recipe `fast`,
//! 4,000 steps) finds 9.5e-2 and 4.8e-2 with 1,000 and 5,100 samples of the defaults: a little less than
//! the paper's weaker training, as on every problem. With lengths of 0.2 and `k_sigma = 1` it finds 3.7e-1
//! and 1.9e-1: clearly harder than the paper's data.
//!
//! Both fields are drawn together at the points of the data and at the nodes of the reference, so the
//! equation's $k$ and $f$ are those fields themselves, not interpolants of the data. The factor of a field
//! depends on all of these points, so other values of `grid` or `reference` give other draws of the same law.
//!
//! **Reference.** Quadratic elements on a separate mesh, about 4,000 nodes, graded to a 64th of its size
//! at the inner corner, where $u \sim \rho^{2/3}$. That is nine times the points of the output and four times
//! the functions of the paper's decoder (1,024). Its error is 5e-4 of $u$ (against
//! 20,000 nodes), an eightieth of the paper's smallest test error on these data, 3.9e-2. Every sample has its own
//! matrix: the symbolic factorisation is shared, the numeric one takes a few milliseconds.

use crate::fem::{Darcy, graded_ring, mesh_with_nodes};
use crate::setting::Check;
use crate::{KernelForm, Problem, RandomField, SquaredExponential, Watcher, fill_blocks};
use c2cnet::Result;
use c2cnet::data::{Bounds, Dataset, Field, Points};
use c2cnet::domain::Polygon;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// Settings of Darcy flow on an L.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `grid` | 31 | points along each axis for $k$ and $f$, of which those of the L are kept (736) | odd, 3 to 2001 |
/// | `points` | 450 | about how many nodes the mesh of $u$ has | at least 50 |
/// | `n_train` | 51000 | training samples | at least 1 |
/// | `n_test` | 7000 | test samples, after the training samples | any |
/// | `k_length` | 0.25 | $\ell$ of $\log k$ | at least 0.05 |
/// | `k_sigma` | 0.5 | standard deviation of $\log k$ | 0 to 5, not 0 |
/// | `f_length` | 0.25 | $\ell$ of $f$ | at least 0.05 |
/// | `f_sigma` | 0.445 | standard deviation of $f$ | positive |
/// | `reference` | 4000 | about how many nodes of quadratic elements solve the equation | at least 4 `points`, at most 1000000 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DarcyLshape {
    /// Points along each axis of the inputs.
    pub grid: usize,
    /// About how many nodes.
    pub points: usize,
    /// The number of training samples.
    pub n_train: usize,
    /// The number of test samples.
    pub n_test: usize,
    /// The length of $\log k$.
    pub k_length: f64,
    /// The standard deviation of $\log k$.
    pub k_sigma: f64,
    /// The length of $f$.
    pub f_length: f64,
    /// The standard deviation of $f$.
    pub f_sigma: f64,
    /// About how many nodes solve the equation.
    pub reference: usize,
}

impl Default for DarcyLshape {
    fn default() -> Self {
        DarcyLshape {
            grid: 31,
            points: 450,
            n_train: 51_000,
            n_test: 7_000,
            k_length: 0.25,
            k_sigma: 0.5,
            f_length: 0.25,
            f_sigma: 0.445,
            reference: 4_000,
        }
    }
}

impl Problem for DarcyLshape {
    const NAME: &'static str = "darcy-lshape";
    const DESCRIPTION: &'static str =
        "Darcy flow -div(k grad u) = f on an L, u = 0 on the boundary; maps (k, f) to u";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let mesh = mesh_with_nodes(&domain(None)?, self.points)
            .map_err(Check::of::<Self>().with_setting("points", self.points))?;
        let grid = self.grid_points();
        let sampler = self.sampler(&grid, mesh.nodes())?;
        let count = self.n_train + self.n_test;
        let mut k = Mat::zeros(grid.len(), count);
        let mut f = Mat::zeros(grid.len(), count);
        let mut u = Mat::zeros(mesh.nodes().len(), count);
        fill_blocks(
            [&mut k, &mut f, &mut u],
            RandomField::BLOCK,
            watcher,
            |first, [mut k, mut f, mut u]| {
                let [all_k, all_f] = sampler.inputs(seed, first as u64);
                let samples = k.ncols();
                k.copy_from(all_k.as_ref().submatrix(0, 0, grid.len(), samples));
                f.copy_from(all_f.as_ref().submatrix(0, 0, grid.len(), samples));
                for j in 0..samples {
                    let at = |all: &Mat<f64>, i: usize| all[(grid.len() + i, j)];
                    let solved = sampler.darcy.solve(|i| at(&all_k, i), |i| at(&all_f, i))?;
                    for (to, from) in u.as_mut().col_mut(j).iter_mut().zip(solved) {
                        *to = from;
                    }
                }
                Ok(())
            },
        )?;
        let coords = grid.as_flattened().to_vec();
        let input = Field::shared(Points::new(2, coords)?, vec![k, f])?;
        let points = Points::new(2, mesh.nodes().as_flattened().to_vec())?;
        let mut dataset = Dataset::new(input, Field::shared(points, vec![u])?)?;
        dataset.n_train = Some(self.n_train);
        dataset.triangles = Some(mesh.triangles().to_vec());
        Ok(dataset)
    }
}

impl DarcyLshape {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        let (grid, k_sigma) = (self.grid, self.k_sigma);
        let odd = !grid.is_multiple_of(2);
        let fits = (3..=2001).contains(&grid) && odd;
        is.that(fits, "grid", grid, "odd and 3 to 2001")?;
        is.at_least("points", self.points, 50)?;
        is.at_least("n_train", self.n_train, 1)?;
        let numbers = self.points.saturating_add(2 * grid * grid);
        is.check_size(&[self.n_train, self.n_test], numbers)?;
        is.length("k_length", self.k_length, 0.05)?;
        is.length("f_length", self.f_length, 0.05)?;
        let fits = k_sigma > 0.0 && k_sigma <= 5.0;
        is.that(fits, "k_sigma", k_sigma, "positive and at most 5")?;
        is.positive("f_sigma", self.f_sigma)?;
        is.reference(self.reference, self.points)
    }

    /// The points of a grid on the unit square that lie in the closed L.
    fn grid_points(&self) -> Vec<[f64; 2]> {
        let grid = Points::grid(&Bounds::unit(2), &[self.grid, self.grid]);
        let inside = grid.iter().filter(|p| p[0] <= 0.5 || p[1] <= 0.5);
        inside.map(|p| [p[0], p[1]]).collect()
    }

    /// Everything that samples share.
    fn sampler(&self, grid: &[[f64; 2]], outputs: &[[f64; 2]]) -> Result<Sampler> {
        // A triangle mesh has about three edges per node.
        let vertices = self.reference / 4;
        let polygon = domain(Some((0.75 / vertices as f64).sqrt()))?;
        let mesh = mesh_with_nodes(&polygon, vertices)
            .map_err(Check::of::<Self>().with_setting("reference", self.reference))?;
        let darcy = Darcy::new(mesh, outputs)?;
        let coords = [grid, darcy.nodes()].concat().into_flattened();
        let places = Points::new(2, coords)?;
        let field = |length: f64, sigma: f64| {
            let kernel = SquaredExponential {
                form: KernelForm::Half,
                length,
                sigma,
            };
            RandomField::new(&places, |a, b| kernel.at(a, b))
        };
        Ok(Sampler {
            log_k: field(self.k_length, self.k_sigma)?,
            f: field(self.f_length, self.f_sigma)?,
            darcy,
        })
    }
}

/// What all samples share.
#[derive(Debug)]
struct Sampler {
    /// Fields on the grid and then on the nodes of the reference.
    log_k: RandomField,
    f: RandomField,
    darcy: Darcy,
}

impl Sampler {
    /// $k$ and $f$ of a block of samples: each sample's stream gives the numbers of $k$, then those of $f$.
    fn inputs(&self, seed: u64, first: u64) -> [Mat<f64>; 2] {
        let (of_k, of_f) = (self.log_k.rank(), self.f.rank());
        let normals = RandomField::normals(seed, first, of_k + of_f);
        let (for_k, for_f) = normals.as_ref().split_at_row(of_k);
        let mut k = self.log_k.draws(for_k);
        for j in 0..k.ncols() {
            for value in k.col_mut(j).iter_mut() {
                *value = value.exp();
            }
        }
        [k, self.f.draws(for_f)]
    }
}

/// The L, with points on its ring that grade a mesh of triangles of `size` towards the inner corner.
///
/// # Errors
/// None; the ring is fixed.
pub fn domain(size: Option<f64>) -> Result<Polygon> {
    let mut ring = vec![
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.5],
        [0.5, 0.5],
        [0.5, 1.0],
        [0.0, 1.0],
    ];
    if let Some(size) = size {
        ring = graded_ring(&ring, &[3], size / 64.0, size);
    }
    Polygon::new(ring, vec![])
}

#[cfg(test)]
mod tests;
