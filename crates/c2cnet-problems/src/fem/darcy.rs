//! $-\nabla\cdot(k\nabla u) = f$, $u = 0$ on the boundary, for many $k$ and $f$.

use super::{Diffusion, Element, Factor, Pattern, Sampling, Solver, Space};
use c2cnet::Result;
use c2cnet::domain::TriangleMesh;
use faer::Mat;
use std::sync::Mutex;

/// The equation in quadratic elements: the order of elimination is found once, every $k$ has its own factorisation.
#[derive(Debug)]
pub struct Darcy {
    space: Space,
    solver: Solver,
    sampling: Sampling,
    /// Memory of earlier solves, reused by later ones: as many as there are threads.
    spare: Mutex<Vec<Workspace>>,
}

/// The memory of one solve.
#[derive(Debug)]
struct Workspace {
    factor: Factor,
    k: Vec<f64>,
    f: Vec<f64>,
    load: Vec<f64>,
    right: Mat<f64>,
}

impl Darcy {
    /// The equation on `mesh`, whose solutions are wanted at `outputs`.
    ///
    /// # Errors
    /// If an output lies outside the mesh, or there is not enough memory.
    pub fn new(mesh: TriangleMesh, outputs: &[[f64; 2]]) -> Result<Self> {
        let space = Space::new(mesh, Element::P2);
        Ok(Darcy {
            sampling: space.sampling(outputs)?,
            solver: Solver::new(Pattern::new(&space, 1, space.on_boundary()))?,
            space,
            spare: Mutex::new(Vec::new()),
        })
    }

    /// The nodes, where $k$ and $f$ are given.
    pub fn nodes(&self) -> &[[f64; 2]] {
        self.space.nodes()
    }

    /// $u$ at the outputs from $k$ and $f$ at the nodes, on the calling thread.
    ///
    /// # Errors
    /// If $k$ makes the matrix indefinite.
    pub fn solve(&self, k: impl Fn(usize) -> f64, f: impl Fn(usize) -> f64) -> Result<Vec<f64>> {
        let kept = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        let mut work = kept.unwrap_or_else(|| self.workspace());
        for i in 0..self.space.len() {
            work.k[i] = k(i);
            work.f[i] = f(i);
        }
        let u = self.solve_with(&mut work)?;
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(work);
        }
        Ok(u)
    }

    /// Solves for the $k$ and $f$ that the workspace has.
    fn solve_with(&self, work: &mut Workspace) -> Result<Vec<f64>> {
        let form = Diffusion::at_nodes(&self.space, &work.k);
        self.solver.factor(&form, &mut work.factor)?;
        self.space.load_from_nodes(&work.f, &mut work.load);
        let numbers = self.solver.pattern().free();
        for (number, value) in numbers.iter().zip(&work.load) {
            if let Some(i) = number {
                work.right[(*i, 0)] = *value;
            }
        }
        self.solver.solve(&work.factor, work.right.as_mut());
        let at_node = |node: usize| numbers[node].map_or(0.0, |i| work.right[(i, 0)]);
        Ok((0..self.sampling.len())
            .map(|i| self.sampling.value(i, at_node))
            .collect())
    }

    fn workspace(&self) -> Workspace {
        let n = self.space.len();
        Workspace {
            factor: self.solver.empty_factor(),
            k: vec![0.0; n],
            f: vec![0.0; n],
            load: vec![0.0; n],
            right: Mat::zeros(self.solver.pattern().size(), 1),
        }
    }
}
