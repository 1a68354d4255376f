//! The five-point scheme for $-\nabla\cdot(\kappa\nabla u) = f$ on the unit square, $u = 0$ on the boundary.
//!
//! On nodes $(ih, jh)$, $h = 1/n$,
//!
//! $$\frac1{h^2}\sum_{q \sim p} \frac{\kappa_p + \kappa_q}2\,(u_p - u_q) = f_p,$$
//!
//! the sum over the four neighbours $q$ of the inner node $p$. The matrix is symmetric and positive
//! definite, and only its numbers change from one $\kappa$ to the next. So the order of elimination and
//! the pattern of the Cholesky factor are found once, and a solve is one numeric factorisation and two
//! triangular solves, on the calling thread.
//!
//! Nodes are eliminated by nested dissection: the middle line of a rectangle of nodes goes last, after
//! both halves, and each half likewise. The factorisation works in dense blocks (supernodes), always: left
//! to choose, faer works entry by entry for some orders, which is three to four times slower here.
//!
//! CPU time for 64 samples on 140 x 140 intervals, one thread, field included: nested dissection
//! 0.59 s (0.59 to 0.69 with undivided rectangles of 1 to 64 nodes, no trend), approximate minimum degree
//! 0.70 s, although its factor is smaller (0.59 against 0.82 million numbers).

use crate::sparse_cholesky::{Elimination, Factor};
use c2cnet::{Error, Result};
use faer::MatMut;
use faer::perm::Perm;
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use std::sync::Mutex;

/// The scheme on a grid, ready for any $\kappa$.
#[derive(Debug)]
pub struct FivePoint {
    intervals: usize,
    pattern: SymbolicSparseColMat<usize>,
    elimination: Elimination,
    /// Memory of earlier solves, reused by later ones.
    spare: Mutex<Vec<Workspace>>,
}

/// The memory of one solve.
#[derive(Debug)]
struct Workspace {
    matrix: Vec<f64>,
    factor: Factor,
}

impl FivePoint {
    /// The scheme with `intervals` intervals along each side.
    ///
    /// # Errors
    /// If there are fewer than two intervals, or not enough memory.
    pub fn new(intervals: usize) -> Result<Self> {
        if intervals < 2 {
            return Err(Error::Config(format!(
                "the five-point scheme needs at least 2 intervals per side, not {intervals}"
            )));
        }
        // The lower triangle: the diagonal, the next node along y, the next along x.
        let side = intervals - 1;
        let size = side * side;
        let mut starts = vec![0];
        let mut rows = Vec::with_capacity(3 * size);
        for p in 0..size {
            rows.push(p);
            if p % side + 1 < side {
                rows.push(p + 1);
            }
            if p + side < size {
                rows.push(p + side);
            }
            starts.push(rows.len());
        }
        let pattern = SymbolicSparseColMat::new_checked(size, size, starts, None, rows);
        let mut order = Vec::with_capacity(size);
        dissect([0, side], [0, side], side, &mut order);
        let mut inverse = vec![0; size];
        for (place, &p) in order.iter().enumerate() {
            inverse[p] = place;
        }
        let order = Perm::new_checked(order.into(), inverse.into(), size);
        let elimination = Elimination::in_blocks(pattern.as_ref(), order.as_ref())?;
        Ok(FivePoint {
            intervals,
            pattern,
            elimination,
            spare: Mutex::new(Vec::new()),
        })
    }

    /// Intervals along each side.
    pub fn intervals(&self) -> usize {
        self.intervals
    }

    /// The numbers that the Cholesky factor takes, zeros inside its blocks included.
    pub fn fill(&self) -> usize {
        self.elimination.factor_len()
    }

    /// $u$ at all nodes, boundary included, from $\kappa$ and $f$ there; the last axis varies fastest.
    ///
    /// # Errors
    /// If the numbers do not fit the grid, or some $\kappa$ is not positive.
    pub fn solve(&self, kappa: &[f64], f: &[f64]) -> Result<Vec<f64>> {
        let nodes = self.intervals + 1;
        for (name, values) in [("kappa", kappa), ("f", f)] {
            if values.len() != nodes * nodes {
                return Err(Error::shape(
                    name,
                    format!("{nodes} x {nodes} numbers"),
                    format!("{}", values.len()),
                ));
            }
        }
        if let Some(p) = kappa.iter().position(|k| !(*k > 0.0 && k.is_finite())) {
            return Err(Error::Numerical(format!(
                "kappa must be positive; it is {} at node {p}",
                kappa[p]
            )));
        }
        let mut u = vec![0.0; nodes * nodes];
        let taken = self.spare.lock().ok().and_then(|mut all| all.pop());
        let mut workspace = taken.unwrap_or_else(|| Workspace {
            matrix: vec![0.0; self.pattern.compute_nnz()],
            factor: self.elimination.empty_factor(),
        });
        let solved = self.solve_inner(kappa, f, &mut workspace)?;
        let side = self.intervals - 1;
        for (i, row) in solved.chunks_exact(side).enumerate() {
            let start = (i + 1) * nodes + 1;
            u[start..start + side].copy_from_slice(row);
        }
        if let Ok(mut all) = self.spare.lock() {
            all.push(workspace);
        }
        Ok(u)
    }

    fn solve_inner(&self, kappa: &[f64], f: &[f64], workspace: &mut Workspace) -> Result<Vec<f64>> {
        let Workspace { matrix, factor } = workspace;
        let (nodes, side) = (self.intervals + 1, self.intervals - 1);
        // h^2 goes to the right-hand side.
        let squared_step = (self.intervals as f64).powi(-2);
        let mut right = Vec::with_capacity(side * side);
        let mut at = 0;
        for i in 1..=side {
            for j in 1..=side {
                let p = i * nodes + j;
                let (here, next, below) = (kappa[p], kappa[p + 1], kappa[p + nodes]);
                let neighbours = next + below + kappa[p - 1] + kappa[p - nodes];
                matrix[at] = 2.0 * here + 0.5 * neighbours;
                at += 1;
                if j < side {
                    matrix[at] = -0.5 * (here + next);
                    at += 1;
                }
                if i < side {
                    matrix[at] = -0.5 * (here + below);
                    at += 1;
                }
                right.push(squared_step * f[p]);
            }
        }
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), matrix.as_slice());
        self.elimination.factor(matrix, factor)?;
        let x = MatMut::from_column_major_slice_mut(&mut right, side * side, 1);
        self.elimination.solve(factor, x);
        Ok(right)
    }
}

/// Appends the nodes of the rectangle `rows` x `columns` in the order of their elimination.
fn dissect(rows: [usize; 2], columns: [usize; 2], side: usize, order: &mut Vec<usize>) {
    let (height, width) = (rows[1] - rows[0], columns[1] - columns[0]);
    let all = |rows: [usize; 2], columns: [usize; 2], order: &mut Vec<usize>| {
        for i in rows[0]..rows[1] {
            order.extend((columns[0]..columns[1]).map(|j| i * side + j));
        }
    };
    if height * width <= SMALL {
        all(rows, columns, order);
    } else if height >= width {
        let middle = rows[0] + height / 2;
        dissect([rows[0], middle], columns, side, order);
        dissect([middle + 1, rows[1]], columns, side, order);
        all([middle, middle + 1], columns, order);
    } else {
        let middle = columns[0] + width / 2;
        dissect(rows, [columns[0], middle], side, order);
        dissect(rows, [middle + 1, columns[1]], side, order);
        all(rows, [middle, middle + 1], order);
    }
}

/// Rectangles of at most this many nodes are not divided further.
const SMALL: usize = 4;

#[cfg(test)]
mod tests;
