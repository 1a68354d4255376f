//! Stokes flow by Taylor-Hood elements.
//!
//! $$-\Delta u + \nabla p = f,\qquad \nabla\cdot u = 0 \text{ in } \Omega,\qquad u = w \text{ on } \partial\Omega,$$
//!
//! with quadratic $u$ and linear, continuous $p$ of mean zero. (A viscosity $\mu$ would only
//! multiply $p$, for $f = 0$.) In the unknowns inside,
//!
//! $$K u_c + B_c^\top p = F_c\ (c = x, y),\qquad \sum_c B_c u_c = G,\qquad
//!   K_{ij} = \int\nabla\varphi_i\cdot\nabla\varphi_j,\quad (B_c)_{kj} = -\int\psi_k\,\partial_c\varphi_j,$$
//!
//! where $F_c$ and $G$ hold the force and the values on the boundary. Both components share the
//! matrix $K$, a third of the size of the whole and positive definite: its sparse Cholesky
//! factor is cheap. What is left is the Schur complement
//!
//! $$S p = \sum_c B_c K^{-1} F_c - G,\qquad S = \sum_c B_c K^{-1} B_c^\top,$$
//!
//! solved by conjugate gradients, preconditioned by the mass matrix of $p$. $S$ and that matrix
//! are spectrally equivalent uniformly in the mesh, with the inf-sup constant squared and 1 as
//! bounds, so a few dozen steps reach rounding. Constants are in the kernel of $S$; the right-hand
//! side is made orthogonal to them, that is, the flux of the interpolated $w$ is taken as zero.

use crate::fem::{Element, Geometry, Quadrature};
use crate::sparse_cholesky::Factored;
use c2cnet::domain::TriangleMesh;
use c2cnet::{Error, Result};
use faer::sparse::Triplet;
use faer::{Mat, MatMut};

/// The residual's norm relative to that of the right-hand side at which the iteration ends.
const TOLERANCE: f64 = 1e-11;
/// Steps of the iteration, at most.
const MAX_STEPS: usize = 500;

/// Velocity and pressure on a mesh.
#[derive(Debug, Clone)]
pub struct StokesSolution {
    /// Both components at the nodes and then at the midpoints of edges.
    pub velocity: [Vec<f64>; 2],
    /// The pressure at the nodes, of mean zero over the domain.
    pub pressure: Vec<f64>,
    /// Steps of conjugate gradients.
    pub steps: usize,
}

impl StokesSolution {
    /// The velocity at barycentric coordinates `lambda` of triangle `t`.
    pub fn velocity_in(&self, mesh: &TriangleMesh, t: usize, lambda: [f64; 3]) -> [f64; 2] {
        let places = places_of(mesh, t);
        let values = Element::P2.values(lambda);
        [0, 1].map(|c| {
            (0..6)
                .map(|j| values[j] * self.velocity[c][places[j]])
                .sum()
        })
    }
}

/// The nodes and then the midpoints of edges of a mesh: where the velocity has its values.
pub fn velocity_places(mesh: &TriangleMesh) -> Vec<[f64; 2]> {
    let nodes = mesh.nodes();
    let middles = mesh.edges().iter().map(|&[i, j]| {
        let (p, q) = (nodes[i], nodes[j]);
        [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])]
    });
    nodes.iter().copied().chain(middles).collect()
}

fn places_of(mesh: &TriangleMesh, t: usize) -> [usize; 6] {
    let ([a, b, c], n) = (mesh.triangles()[t], mesh.nodes().len());
    let [d, e, f] = mesh.triangle_edges()[t];
    [a, b, c, n + d, n + e, n + f]
}

/// Solves with force $f$ and velocity $w$ at the places on the boundary.
///
/// # Errors
/// If the mesh has no place inside, a factor fails or the iteration does not converge.
pub fn solve_stokes(
    mesh: &TriangleMesh,
    force: impl Fn([f64; 2]) -> [f64; 2],
    wall: impl Fn([f64; 2]) -> [f64; 2],
) -> Result<StokesSolution> {
    let places = velocity_places(mesh);
    let mut velocity = [vec![0.0; places.len()], vec![0.0; places.len()]];
    let system = System::new(mesh, &places)?;
    for (i, &x) in places.iter().enumerate() {
        if system.number[i] == OUTSIDE {
            let w = wall(x);
            velocity[0][i] = w[0];
            velocity[1][i] = w[1];
        }
    }
    let mut load = system.load(mesh, force, &velocity);
    let known = system.divergence(|place, c| velocity[c][place]);
    let (pressure, steps) = system.pressure(&load, &known)?;
    system.add_pressure_load(&pressure, load.as_mut(), -1.0);
    system.stiffness.solve(load.as_mut());
    for (i, &row) in system.number.iter().enumerate() {
        if row != OUTSIDE {
            velocity[0][i] = load[(row, 0)];
            velocity[1][i] = load[(row, 1)];
        }
    }
    Ok(StokesSolution {
        velocity,
        pressure,
        steps,
    })
}

/// In [`System::number`]: the value is given.
const OUTSIDE: usize = usize::MAX;

struct Cell {
    /// Places of the velocity; the first three are those of the pressure.
    places: [usize; 6],
    stiffness: [[f64; 6]; 6],
    /// $-\int \psi_k\,\partial_c\varphi_j$ at `[c][k][j]`.
    divergence: [[[f64; 6]; 3]; 2],
}

struct System {
    cells: Vec<Cell>,
    /// Row of each place in the system.
    number: Vec<usize>,
    unknowns: usize,
    stiffness: Factored,
    mass: Factored,
    /// $\int\psi_k$.
    weights: Vec<f64>,
}

impl System {
    fn new(mesh: &TriangleMesh, places: &[[f64; 2]]) -> Result<Self> {
        let n = mesh.nodes().len();
        let mut inside: Vec<bool> = mesh.on_boundary().iter().map(|on| !on).collect();
        inside.resize(places.len(), true);
        for &e in mesh.boundary_edges() {
            inside[n + e] = false;
        }
        let mut unknowns = 0;
        let number: Vec<usize> = inside
            .iter()
            .map(|&inside| {
                let row = if inside { unknowns } else { OUTSIDE };
                unknowns += usize::from(inside);
                row
            })
            .collect();
        if unknowns == 0 {
            return Err(Error::Data(
                "a mesh for Stokes flow needs a node or an edge inside; it has none".into(),
            ));
        }
        let rule = Quadrature::exact_to(2);
        let mut cells = Vec::with_capacity(mesh.triangles().len());
        let (mut stiffness, mut mass) = (Vec::new(), Vec::new());
        let mut weights = vec![0.0; n];
        for t in 0..mesh.triangles().len() {
            let geometry = Geometry::new(mesh.corners(t));
            let cell = Cell::new(places_of(mesh, t), &geometry, &rule);
            for (i, &p) in cell.places.iter().enumerate() {
                for (j, &q) in cell.places.iter().enumerate() {
                    let (row, column) = (number[p], number[q]);
                    if row != OUTSIDE && column != OUTSIDE && row >= column {
                        stiffness.push(Triplet::new(row, column, cell.stiffness[i][j]));
                    }
                    // The mass of linear functions: A/6 on the diagonal, A/12 off the diagonal.
                    if i < 3 && j < 3 && p >= q {
                        let part = if i == j { 6.0 } else { 12.0 };
                        mass.push(Triplet::new(p, q, geometry.area / part));
                    }
                }
            }
            for &p in &cell.places[..3] {
                weights[p] += geometry.area / 3.0;
            }
            cells.push(cell);
        }
        Ok(System {
            cells,
            number,
            unknowns,
            stiffness: Factored::new(unknowns, &stiffness)?,
            mass: Factored::new(n, &mass)?,
            weights,
        })
    }

    /// $F_c = \int f_c\,\varphi_i - \sum_{j \text{ on the boundary}} K_{ij} w_{c,j}$.
    fn load(
        &self,
        mesh: &TriangleMesh,
        force: impl Fn([f64; 2]) -> [f64; 2],
        boundary: &[Vec<f64>; 2],
    ) -> Mat<f64> {
        let rule = Quadrature::exact_to(5);
        let mut load = Mat::zeros(self.unknowns, 2);
        for (t, cell) in self.cells.iter().enumerate() {
            let corners = mesh.corners(t);
            let area = Geometry::new(corners).area;
            let mut local = [[0.0; 2]; 6];
            for (&lambda, weight) in rule.points.iter().zip(&rule.weights) {
                let x = [0, 1].map(|k| (0..3).map(|i| lambda[i] * corners[i][k]).sum());
                let f = force(x);
                let values = Element::P2.values(lambda);
                for i in 0..6 {
                    for c in 0..2 {
                        local[i][c] += area * weight * values[i] * f[c];
                    }
                }
            }
            for (i, forced) in local.iter().enumerate() {
                let row = self.number[cell.places[i]];
                if row == OUTSIDE {
                    continue;
                }
                for c in 0..2 {
                    // Inside, `boundary` is zero.
                    let known: f64 = (0..6)
                        .map(|j| cell.stiffness[i][j] * boundary[c][cell.places[j]])
                        .sum();
                    load[(row, c)] += forced[c] - known;
                }
            }
        }
        load
    }

    /// $\sum_c B_c u_c$, over all places.
    fn divergence(&self, velocity: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mut result = vec![0.0; self.weights.len()];
        for cell in &self.cells {
            for (c, rows) in cell.divergence.iter().enumerate() {
                let u = cell.places.map(|place| velocity(place, c));
                for (k, row) in rows.iter().enumerate() {
                    result[cell.places[k]] += (0..6).map(|j| row[j] * u[j]).sum::<f64>();
                }
            }
        }
        result
    }

    /// Adds `factor` times $B_c^\top p$ to the columns of `load`.
    fn add_pressure_load(&self, pressure: &[f64], mut load: MatMut<'_, f64>, factor: f64) {
        for cell in &self.cells {
            let p = [0, 1, 2].map(|k| factor * pressure[cell.places[k]]);
            for (j, &place) in cell.places.iter().enumerate() {
                let row = self.number[place];
                if row != OUTSIDE {
                    for (c, rows) in cell.divergence.iter().enumerate() {
                        load[(row, c)] += (0..3).map(|k| rows[k][j] * p[k]).sum::<f64>();
                    }
                }
            }
        }
    }

    /// $\sum_c B_c K^{-1} F_c$; overwrites $F$.
    fn divergence_of_response(&self, mut load: MatMut<'_, f64>) -> Vec<f64> {
        self.stiffness.solve(load.as_mut());
        self.divergence(|place, c| match self.number[place] {
            OUTSIDE => 0.0,
            row => load[(row, c)],
        })
    }

    /// The pressure and the number of steps, by conjugate gradients.
    fn pressure(&self, load: &Mat<f64>, known: &[f64]) -> Result<(Vec<f64>, usize)> {
        let mut work = load.clone();
        let response = self.divergence_of_response(work.as_mut());
        // The parts may cancel (a uniform flow has no pressure): each counts for the scale.
        let scale = [&response[..], known]
            .map(|part| dot(part, &self.precondition(part)).sqrt())
            .iter()
            .sum::<f64>();
        let mut residual: Vec<f64> = response.iter().zip(known).map(|(a, b)| a + b).collect();
        self.remove_constant(&mut residual);
        let mut pressure = vec![0.0; residual.len()];
        let mut direction = self.precondition(&residual);
        let mut energy = dot(&residual, &direction);
        let mut steps = 0;
        while energy.sqrt() > TOLERANCE * scale {
            if steps == MAX_STEPS {
                return Err(Error::Numerical(format!(
                    "the pressure of a Stokes flow with {} unknowns did not converge in {MAX_STEPS} steps: \
                     relative residual {:e}",
                    self.unknowns,
                    energy.sqrt() / scale
                )));
            }
            work.fill(0.0);
            self.add_pressure_load(&direction, work.as_mut(), 1.0);
            let image = self.divergence_of_response(work.as_mut());
            let alpha = energy / dot(&direction, &image);
            add(&mut pressure, alpha, &direction);
            add(&mut residual, -alpha, &image);
            self.remove_constant(&mut residual);
            let next = self.precondition(&residual);
            let next_energy = dot(&residual, &next);
            let beta = next_energy / energy;
            for (d, z) in direction.iter_mut().zip(&next) {
                *d = z + beta * *d;
            }
            energy = next_energy;
            steps += 1;
        }
        let mean = dot(&self.weights, &pressure) / self.weights.iter().sum::<f64>();
        pressure.iter_mut().for_each(|p| *p -= mean);
        Ok((pressure, steps))
    }

    /// $M^{-1} r$, $M$ the mass matrix of the pressure.
    fn precondition(&self, r: &[f64]) -> Vec<f64> {
        let mut z = Mat::from_fn(r.len(), 1, |i, _| r[i]);
        self.mass.solve(z.as_mut());
        z.col(0).iter().copied().collect()
    }

    /// Removes the component that a constant pressure sees, along $M 1$, so that $M^{-1} r$ has mean zero.
    fn remove_constant(&self, r: &mut [f64]) {
        let part = r.iter().sum::<f64>() / self.weights.iter().sum::<f64>();
        add(r, -part, &self.weights);
    }
}

impl Cell {
    fn new(places: [usize; 6], geometry: &Geometry, rule: &Quadrature) -> Cell {
        let mut cell = Cell {
            places,
            stiffness: [[0.0; 6]; 6],
            divergence: [[[0.0; 6]; 3]; 2],
        };
        for (&lambda, weight) in rule.points.iter().zip(&rule.weights) {
            let weight = weight * geometry.area;
            let gradients = Element::P2.gradients(lambda, geometry);
            for (j, g) in gradients.iter().enumerate() {
                for (i, h) in gradients.iter().enumerate() {
                    cell.stiffness[i][j] += weight * (g[0] * h[0] + g[1] * h[1]);
                }
                for (c, rows) in cell.divergence.iter_mut().enumerate() {
                    for (row, psi) in rows.iter_mut().zip(lambda) {
                        row[j] -= weight * psi * g[c];
                    }
                }
            }
        }
        cell
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a += factor * b`.
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

#[cfg(test)]
mod tests;
