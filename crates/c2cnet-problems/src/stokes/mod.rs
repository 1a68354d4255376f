//! Obstacles from the velocity of the flow behind them (Section 4 and the last appendix of the paper).
//!
//! $$-\Delta u + \nabla p = 0,\qquad \nabla\cdot u = 0 \text{ in } \Omega = [-3, 3]^2\setminus\mathcal B,\qquad
//!   u = 0 \text{ on } \partial\mathcal B,\qquad u = (1, 0) \text{ on the box},$$
//!
//! with obstacles $\mathcal B$ of one to three components inside $[-1.5, 1.5]^2$ ([`ObstacleLaw`]). The
//! input is $u$ at sensors drawn for each sample, uniformly from
//!
//! $$\Omega_{\rm obs} = \{x \ge 1.5\}\cup\{x \ge 0.5,\ |y| \ge 2\},$$
//!
//! which meets $[-1.5, 1.5]^2$ only along a side; the output is the distance from
//! $\partial\mathcal B$, negative inside, on one grid for all samples. Read in order:
//! [`signed_distance()`], [`ObstacleLaw`], [`FittedMesh`], [`solve_stokes`].
//!
//! The paper prints neither $U_\infty$ nor $\mu$; the velocity is proportional to the first and
//! does not depend on the second. The three rectangles that it specifies overlap at the corners, and
//! choosing one by its area, as it suggests, would count them twice; here the law is uniform on the union.
//!
//! How much the readings change on a mesh twice as fine (relative, in $L^2$ over both components at
//! 100 sensors, ten samples):
//!
//! | `mesh_size` | places of the velocity | median change | largest change |
//! |---|---|---|---|
//! | 0.12 | 1,475 | 1.2e-3 | 1.6e-3 |
//! | 0.08 | 2,258 | 5.5e-4 | 9.0e-4 |
//! | 0.06 | 3,319 | 2.5e-4 | 3.6e-4 |
//! | 0.04 | 6,269 | 9.4e-5 | 1.4e-4 |
//!
//! Over all 3,000 samples (seed 0) the readings have rms 0.77 and the distances 1.90; no mesh has an
//! angle below 24 degrees.

mod mesh;
mod obstacles;
mod signed_distance;
mod taylor_hood;

pub use mesh::{FittedMesh, MeshSize, smallest_angle};
pub use obstacles::ObstacleLaw;
pub use signed_distance::{Obstacle, Shape, signed_distance};
pub use taylor_hood::{StokesSolution, solve_stokes, velocity_places};

use crate::setting::Check;
use crate::{Problem, Watcher, fill_blocks, sample_stream};
use c2cnet::data::{Bounds, Dataset, Field, Points, Scattered};
use c2cnet::domain::TriangleMesh;
use c2cnet::internal::Locator;
use c2cnet::{Error, Result};
use faer::{ColMut, Mat};
use mesh::HALF_BOX;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// Settings of the inverse Stokes problem.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `n_train` | 2500 | training samples | at least 1 |
/// | `n_test` | 500 | test samples, after the training samples | any |
/// | `sensors` | 100 | sensors of each sample; fewer are the first of more | 1 to 100,000 |
/// | `noise` | 0 | standard deviation of the noise, relative to the rms of the sample's readings | 0 to 1 |
/// | `grid` | 128 | points of the output along each side of the box, both ends included | 2 to 2048 |
/// | `mesh_size` | 0.04 | longest edges at the obstacles; five times that far away | 0.01 to 0.2 |
/// | `obstacles` | | the law of the obstacles | [`ObstacleLaw`] |
///
/// A reading is $u_c(x_j) + \texttt{noise}\cdot\bar u\,\xi$ with independent normal $\xi$ and
/// $\bar u^2 = \frac1{2n}\sum_{j,c}u_c(x_j)^2$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StokesInverse {
    /// The number of training samples.
    pub n_train: usize,
    /// The number of test samples.
    pub n_test: usize,
    /// How many sensors each sample has.
    pub sensors: usize,
    /// Relative noise of the readings.
    pub noise: f64,
    /// Points of the output along each side.
    pub grid: usize,
    /// Longest edges at the obstacles.
    pub mesh_size: f64,
    /// The law of the obstacles.
    pub obstacles: ObstacleLaw,
}

impl Default for StokesInverse {
    fn default() -> Self {
        StokesInverse {
            n_train: 2500,
            n_test: 500,
            sensors: 100,
            noise: 0.0,
            grid: 128,
            mesh_size: 0.04,
            obstacles: ObstacleLaw::default(),
        }
    }
}

/// Edges far from the obstacles to edges at them.
const FAR_TO_NEAR: f64 = 5.0;

/// The flow of one sample, for plots and studies.
#[derive(Debug, Clone)]
pub struct Flow {
    /// The mesh of the fluid.
    pub mesh: TriangleMesh,
    /// Velocity at [`velocity_places`] of the mesh (its nodes come first), pressure at its nodes.
    pub solution: StokesSolution,
    /// The obstacles.
    pub obstacles: Vec<Obstacle>,
    /// A fine polygon along the boundary of each obstacle.
    pub boundaries: Vec<Vec<[f64; 2]>>,
    /// The sensors.
    pub sensors: Vec<[f64; 2]>,
    locator: Locator,
}

impl Flow {
    /// The velocity at `point`; `None` inside obstacles and outside the box.
    pub fn velocity_at(&self, point: [f64; 2]) -> Option<[f64; 2]> {
        let (t, lambda) = self.locator.locate(point)?;
        Some(self.solution.velocity_in(&self.mesh, t, lambda))
    }

    /// The readings without noise, component after component.
    fn readings(&self) -> Result<Vec<f64>> {
        let mut values = vec![0.0; 2 * self.sensors.len()];
        for (j, &x) in self.sensors.iter().enumerate() {
            let u = self.velocity_at(x).ok_or_else(|| {
                Error::Numerical(format!("sensor {j} at {x:?} lies outside the fluid"))
            })?;
            values[j] = u[0];
            values[self.sensors.len() + j] = u[1];
        }
        Ok(values)
    }
}

/// The flow of sample `k`.
///
/// # Errors
/// If a setting is out of range, or meshing or solving fails.
pub fn flow(settings: &StokesInverse, seed: u64, k: u64) -> Result<Flow> {
    settings.check()?;
    settings.flow(&mut sample_stream(seed, k))
}

impl Problem for StokesInverse {
    const NAME: &'static str = "stokes-inverse";
    const DESCRIPTION: &'static str = "Stokes flow around obstacles in a box; maps the velocity at each sample's own sensors \
         downstream to the signed distance from the obstacles";

    fn samples(&self, seed: u64, watcher: &dyn Watcher) -> Result<Dataset> {
        self.check()?;
        let bounds = Bounds::new(vec![[-HALF_BOX, HALF_BOX]; 2])?;
        let grid = Points::grid(&bounds, &[self.grid; 2]);
        let count = self.n_train + self.n_test;
        let mut output = Mat::zeros(grid.len(), count);
        let input = fill_blocks([&mut output], 1, watcher, |k, [distances]| {
            let distances = distances.col_mut(0);
            self.sample(seed, k as u64, &grid, distances)
                .map_err(|e| match e {
                    Error::Numerical(text) => Error::Numerical(format!("sample {k}: {text}")),
                    other => other,
                })
        })?;
        let input = Field::per_sample(2, input)?;
        let mut dataset = Dataset::new(input, Field::shared(grid, vec![output])?)?;
        dataset.n_train = Some(self.n_train);
        Ok(dataset)
    }
}

impl StokesInverse {
    fn check(&self) -> Result<()> {
        let is = Check::of::<Self>();
        is.at_least("n_train", self.n_train, 1)?;
        is.within("sensors", self.sensors, 1..=100_000)?;
        is.within("noise", self.noise, 0.0..=1.0)?;
        is.within("grid", self.grid, 2..=2048)?;
        let numbers = 4 * self.sensors + self.grid * self.grid;
        is.check_size(&[self.n_train, self.n_test], numbers)?;
        is.within("mesh_size", self.mesh_size, 0.01..=0.2)?;
        self.obstacles.check()
    }

    /// Obstacles and sensors come first from the stream, so that neither the mesh nor the noise
    /// changes them.
    fn flow(&self, rng: &mut impl Rng) -> Result<Flow> {
        let obstacles = self.obstacles.draw(rng)?;
        let sensors = (0..self.sensors).map(|_| draw_sensor(rng)).collect();
        let size = MeshSize {
            near: self.mesh_size,
            far: FAR_TO_NEAR * self.mesh_size,
        };
        let mesh = FittedMesh::new(&obstacles, size)?.mesh;
        // The corners of the box are exact, and so are nodes and midpoints of its sides.
        let in_box = |[x, y]: [f64; 2]| x.abs().max(y.abs()) < HALF_BOX;
        let wall = |x| [if in_box(x) { 0.0 } else { 1.0 }, 0.0];
        let solution = solve_stokes(&mesh, |_| [0.0; 2], wall)?;
        Ok(Flow {
            locator: Locator::new(&mesh, 0.0)?,
            boundaries: obstacles.iter().map(|o| o.boundary().to_vec()).collect(),
            mesh,
            solution,
            obstacles,
            sensors,
        })
    }

    /// The readings of sample `k`; writes its `distances` on the grid.
    fn sample(
        &self,
        seed: u64,
        k: u64,
        grid: &Points,
        distances: ColMut<'_, f64>,
    ) -> Result<Scattered> {
        let mut rng = sample_stream(seed, k);
        let flow = self.flow(&mut rng)?;
        let mut values = flow.readings()?;
        if self.noise > 0.0 {
            let squares: f64 = values.iter().map(|v| v * v).sum();
            let deviation = self.noise * (squares / values.len() as f64).sqrt();
            for value in &mut values {
                *value += deviation * rng.sample::<f64, _>(StandardNormal);
            }
        }
        let points = Points::new(2, flow.sensors.into_flattened())?;
        for (distance, x) in distances.iter_mut().zip(grid.iter()) {
            *distance = signed_distance(&flow.obstacles, [x[0], x[1]]);
        }
        Ok(Scattered { points, values })
    }
}

/// A point of $\Omega_{\rm obs}$, uniformly: of the large rectangle or, each a ninth of its area, the
/// parts of the others that it does not hold.
fn draw_sensor(rng: &mut impl Rng) -> [f64; 2] {
    let [which, s, t]: [f64; 3] = rng.random();
    match 11.0 * which {
        part if part < 9.0 => [1.5 + 1.5 * s, -3.0 + 6.0 * t],
        part if part < 10.0 => [0.5 + s, -3.0 + t],
        _ => [0.5 + s, 2.0 + t],
    }
}

#[cfg(test)]
mod tests;
