//! The smallest eigenvalues of $Kx = \lambda Mx$ with sparse matrices.
//!
//! Block Lanczos for $(K + sM)^{-1}M$, which is symmetric in the inner product of $M$ and has the eigenvalues
//! $1/(\lambda + s)$: the wanted ones are its largest and converge first. A block of vectors finds eigenvalues of
//! that multiplicity, which symmetric domains have. Sums are taken in an order that does not depend on threads.

use crate::basis::finite_elements::{Entry, Forms};
use crate::{Error, Result, linalg};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::prelude::default;
use faer::sparse::SparseColMat;
use faer::sparse::linalg::cholesky::{
    LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::{Conj, Mat, MatRef, Par, Side};
use rand::{RngExt, SeedableRng};

/// Vectors of a block.
const BLOCK: usize = 8;

/// Residuals of $(K + sM)^{-1}M$, as a part of its largest eigenvalue.
const TOLERANCE: f64 = 1e-12;

/// Up to this many unknowns, or three times the wanted functions, matrices are dense.
const DENSE: usize = 400;

/// The `count` smallest eigenvalues, increasing, and their vectors, orthonormal in the inner product of $M$.
///
/// A vector's sign is such that the first of its entries that is at least half as large as the largest is positive.
pub(super) fn smallest(forms: &Forms, size: usize, count: usize) -> Result<(Vec<f64>, Mat<f64>)> {
    let mass = Symmetric::new(size, &forms.mass)?;
    let stiffness = Symmetric::new(size, &forms.stiffness)?;
    let (values, mut vectors) = match size <= DENSE.max(3 * count) {
        true => dense(&stiffness, &mass, count)?,
        false => lanczos(&Inverse::new(forms, size)?, &mass, count)?,
    };
    for j in 0..count {
        let column = vectors.col_as_slice_mut(j);
        let largest = column.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let first = column.iter().find(|v| v.abs() >= 0.5 * largest);
        if first.is_some_and(|v| *v < 0.0) {
            column.iter_mut().for_each(|v| *v = -*v);
        }
    }
    let values = values.into_iter().map(|v| v.max(0.0)).collect();
    Ok((values, vectors))
}

/// About the size of the first eigenvalues: the mean one grows as the number of elements.
fn shift(forms: &Forms, size: usize) -> f64 {
    let trace = |entries: &[Entry]| -> f64 {
        let diagonal = entries.iter().filter(|e| e.row == e.col);
        diagonal.map(|e| e.val).sum()
    };
    trace(&forms.stiffness) / trace(&forms.mass) / size as f64
}

/// A sparse symmetric matrix, both halves stored.
struct Symmetric(SparseColMat<usize, f64>);

impl Symmetric {
    fn new(size: usize, lower: &[Entry]) -> Result<Self> {
        let upper = lower.iter().filter(|e| e.row != e.col);
        let upper = upper.map(|e| Entry::new(e.col, e.row, e.val));
        let all: Vec<Entry> = lower.iter().copied().chain(upper).collect();
        sparse(size, &all).map(Symmetric)
    }

    fn mul(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(x.nrows(), x.ncols());
        linalg::par_column_chunks(out.as_mut(), 1, |start, mut out| {
            for j in 0..self.0.ncols() {
                let v = x[(j, start)];
                for (i, a) in self.0.row_idx_of_col(j).zip(self.0.val_of_col(j)) {
                    out[(i, 0)] += a * v;
                }
            }
        });
        out
    }
}

fn sparse(size: usize, entries: &[Entry]) -> Result<SparseColMat<usize, f64>> {
    SparseColMat::try_new_from_triplets(size, size, entries)
        .map_err(|e| Error::Numerical(format!("entries of a sparse {size} x {size} matrix: {e:?}")))
}

/// $(K + sM)^{-1}$.
struct Inverse {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    shift: f64,
}

impl Inverse {
    fn new(forms: &Forms, size: usize) -> Result<Self> {
        let shift = shift(forms, size);
        let shifted = forms
            .mass
            .iter()
            .map(|e| Entry::new(e.row, e.col, shift * e.val));
        let entries: Vec<Entry> = forms.stiffness.iter().copied().chain(shifted).collect();
        let lower = sparse(size, &entries)?;
        let refuse = |why: String| {
            Error::Numerical(format!("the Laplacian on a mesh of {size} unknowns: {why}"))
        };
        let order = SymmetricOrdering::Amd;
        let symbolic = factorize_symbolic_cholesky(lower.symbolic(), Side::Lower, order, default())
            .map_err(|e| refuse(format!("{e:?}")))?;
        let mut values = vec![0.0; symbolic.len_val()];
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, default());
        symbolic
            .factorize_numeric_llt(
                &mut values,
                lower.as_ref(),
                Side::Lower,
                default(),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(scratch)),
                default(),
            )
            .map_err(|e| {
                refuse(format!(
                    "not positive definite ({e:?}); are triangles degenerate?"
                ))
            })?;
        Ok(Inverse {
            symbolic,
            values,
            shift,
        })
    }

    fn apply(&self, mut x: Mat<f64>) -> Mat<f64> {
        let scratch = self
            .symbolic
            .solve_in_place_scratch::<f64>(x.ncols(), Par::Seq);
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            x.as_mut(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        linalg::clear_upper_halves();
        x
    }
}

/// All eigenvalues, of which the smallest are kept.
fn dense(stiffness: &Symmetric, mass: &Symmetric, count: usize) -> Result<(Vec<f64>, Mat<f64>)> {
    let size = mass.0.ncols();
    let identity = Mat::<f64>::identity(size, size);
    let [k, mut l] = [stiffness, mass].map(|m| m.mul(identity.as_ref()));
    if !linalg::cholesky_in_place(l.as_mut()) {
        return Err(Error::Numerical(format!(
            "the mass matrix of {size} elements is not positive definite; are triangles degenerate?"
        )));
    }
    let solve = |mut right: Mat<f64>| {
        linalg::solve_lower(l.as_ref(), right.as_mut());
        right
    };
    let half = solve(k);
    let (values, vectors) = linalg::symmetric_eigen(solve(half.transpose().to_owned()).as_ref())?;
    let mut vectors = vectors.as_ref().subcols(0, count).to_owned();
    linalg::solve_upper(l.transpose(), vectors.as_mut());
    Ok((values[..count].to_vec(), vectors))
}

fn lanczos(inverse: &Inverse, mass: &Symmetric, count: usize) -> Result<(Vec<f64>, Mat<f64>)> {
    let size = mass.0.ncols();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
    let start = Mat::from_fn(size, BLOCK, |_, _| rng.random::<f64>() - 0.5);
    let mut space = Krylov::new(inverse.apply(start), mass, size)?;
    let mut wanted = 2 * count + 4 * BLOCK;
    loop {
        while space.filled < wanted.min(size - BLOCK) {
            space.extend(inverse, mass)?;
        }
        let (values, vectors, residual) = space.largest(count)?;
        if residual <= TOLERANCE * values[0] {
            let values = values.iter().map(|v| 1.0 / v - inverse.shift).collect();
            return Ok((values, vectors));
        }
        if wanted >= size - BLOCK {
            return Err(Error::Numerical(format!(
                "{count} eigenfunctions of the Laplacian on a mesh of {size} unknowns did not converge (residual {:.1e}); ask for fewer",
                residual / values[0]
            )));
        }
        wanted += wanted / 2;
    }
}

/// A Krylov space: vectors orthonormal in the inner product of $M$, and the operator on it.
struct Krylov {
    /// One column per vector; those from `filled` on, a block, are next.
    vectors: Mat<f64>,
    /// The same times $M$.
    weighted: Mat<f64>,
    /// $V^\top M(K + sM)^{-1}MV$, and the coupling to the next block below.
    operator: Mat<f64>,
    filled: usize,
}

impl Krylov {
    fn new(start: Mat<f64>, mass: &Symmetric, size: usize) -> Result<Self> {
        let mut space = Krylov {
            vectors: Mat::zeros(size, 0),
            weighted: Mat::zeros(size, 0),
            operator: Mat::zeros(0, 0),
            filled: 0,
        };
        space.append(start, mass)?;
        Ok(space)
    }

    fn extend(&mut self, inverse: &Inverse, mass: &Symmetric) -> Result<()> {
        let last = self.weighted.as_ref().subcols(self.filled, BLOCK);
        let image = inverse.apply(last.to_owned());
        let column = self.filled;
        self.filled += BLOCK;
        let coupling = self.append(image, mass)?;
        let rows = coupling.nrows();
        let mut operator = Mat::zeros(rows, self.filled);
        let (r, c) = self.operator.shape();
        operator
            .as_mut()
            .submatrix_mut(0, 0, r, c)
            .copy_from(&self.operator);
        operator
            .as_mut()
            .submatrix_mut(0, column, rows, BLOCK)
            .copy_from(&coupling);
        self.operator = operator;
        Ok(())
    }

    /// Appends `block` without its parts along the vectors before; returns its coefficients in all of them.
    fn append(&mut self, mut block: Mat<f64>, mass: &Symmetric) -> Result<Mat<f64>> {
        let known = self.vectors.ncols();
        let mut coefficients = Mat::zeros(known + BLOCK, BLOCK);
        let mut triangle = Mat::<f64>::identity(BLOCK, BLOCK);
        // Twice is enough.
        for _ in 0..2 {
            let along = linalg::mul(self.weighted.transpose(), block.as_ref());
            block -= linalg::mul(self.vectors.as_ref(), along.as_ref());
            let mut top = coefficients.as_mut().subrows_mut(0, known);
            top += linalg::mul(along.as_ref(), triangle.as_ref());
            let weighted = mass.mul(block.as_ref());
            let mut gram = linalg::mul(block.transpose(), weighted.as_ref());
            if !linalg::cholesky_in_place(gram.as_mut()) {
                return Err(Error::Numerical(
                    "the Krylov space of a mesh's Laplacian is exhausted; ask for fewer functions"
                        .into(),
                ));
            }
            let mut turned = block.transpose().to_owned();
            linalg::solve_lower(gram.as_ref(), turned.as_mut());
            block = turned.transpose().to_owned();
            let upper = Mat::from_fn(BLOCK, BLOCK, |i, j| if i <= j { gram[(j, i)] } else { 0.0 });
            triangle = linalg::mul(upper.as_ref(), triangle.as_ref());
        }
        coefficients
            .as_mut()
            .subrows_mut(known, BLOCK)
            .copy_from(&triangle);
        let weighted = mass.mul(block.as_ref());
        self.vectors = beside(&self.vectors, &block);
        self.weighted = beside(&self.weighted, &weighted);
        Ok(coefficients)
    }

    /// The largest eigenvalues, decreasing, their vectors, and the largest residual.
    fn largest(&self, count: usize) -> Result<(Vec<f64>, Mat<f64>, f64)> {
        let n = self.filled;
        let projected = self.operator.as_ref().subrows(0, n);
        let symmetric = Mat::from_fn(n, n, |i, j| 0.5 * (projected[(i, j)] + projected[(j, i)]));
        let (values, vectors) = linalg::symmetric_eigen(symmetric.as_ref())?;
        let order: Vec<usize> = (0..n).rev().take(count).collect();
        let chosen = linalg::select_columns(vectors.as_ref(), &order);
        let coupling = self.operator.as_ref().subrows(n, BLOCK);
        let residuals = linalg::mul(coupling, chosen.as_ref());
        let residual = linalg::column_norms_squared(residuals.as_ref());
        let residual = residual.into_iter().fold(0.0, f64::max).sqrt();
        let vectors = linalg::mul(self.vectors.as_ref().subcols(0, n), chosen.as_ref());
        Ok((
            order.iter().map(|&i| values[i]).collect(),
            vectors,
            residual,
        ))
    }
}

fn beside(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(b.nrows(), a.ncols() + b.ncols());
    out.as_mut().subcols_mut(0, a.ncols()).copy_from(a);
    out.as_mut().subcols_mut(a.ncols(), b.ncols()).copy_from(b);
    out
}
