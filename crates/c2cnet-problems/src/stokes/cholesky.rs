//! The Cholesky factor of a sparse matrix, on the calling thread.

use c2cnet::{Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, MatMut, Par, Side};

/// $A = P^\top L L^\top P$ with a permutation $P$ that keeps $L$ sparse.
///
/// Samples are made in parallel, so one factor uses one thread; then its bytes do not depend on
/// how many there are.
#[derive(Debug)]
pub struct SparseCholesky {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
}

impl SparseCholesky {
    /// Factors the symmetric matrix of `size` rows whose lower half has these entries; those at the
    /// same place are added.
    ///
    /// # Errors
    /// If an index is out of range or the matrix is not numerically positive definite.
    pub fn new(size: usize, lower: &[Triplet<usize, usize, f64>]) -> Result<Self> {
        let failed = |reason: &dyn std::fmt::Debug| {
            Error::Numerical(format!(
                "the Cholesky factor of a sparse {size} x {size} matrix failed: {reason:?}"
            ))
        };
        let matrix =
            SparseColMat::try_new_from_triplets(size, size, lower).map_err(|e| failed(&e))?;
        let symbolic = factorize_symbolic_cholesky(
            matrix.symbolic(),
            Side::Lower,
            SymmetricOrdering::Amd,
            Default::default(),
        )
        .map_err(|e| failed(&e))?;
        let mut values = vec![0.0; symbolic.len_val()];
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        symbolic
            .factorize_numeric_llt(
                &mut values,
                matrix.as_ref(),
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(scratch)),
                Default::default(),
            )
            .map_err(|e| failed(&e))?;
        Ok(SparseCholesky { symbolic, values })
    }

    /// $B \leftarrow A^{-1} B$.
    ///
    /// # Panics
    /// If `rhs` has not as many rows as the matrix.
    pub fn solve_in_place(&self, rhs: MatMut<'_, f64>) {
        let scratch = self
            .symbolic
            .solve_in_place_scratch::<f64>(rhs.ncols(), Par::Seq);
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            rhs,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn solves_a_chain_of_springs() {
        // Second differences: the solution for a constant load is a parabola.
        let n = 50;
        let mut lower = Vec::new();
        for i in 0..n {
            // In two parts, which are added.
            lower.push(Triplet::new(i, i, 1.5));
            lower.push(Triplet::new(i, i, 0.5));
            if i > 0 {
                lower.push(Triplet::new(i, i - 1, -1.0));
            }
        }
        let factor = SparseCholesky::new(n, &lower).unwrap();
        let mut x = Mat::from_fn(n, 2, |_, c| c as f64 + 1.0);
        factor.solve_in_place(x.as_mut());
        for i in 0..n {
            let parabola = 0.5 * ((i + 1) * (n - i)) as f64;
            for c in 0..2 {
                assert!((x[(i, c)] - (c as f64 + 1.0) * parabola).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn indefinite_matrices_are_errors() {
        let lower = [Triplet::new(0, 0, 1.0), Triplet::new(1, 1, -1.0)];
        let message = SparseCholesky::new(2, &lower).unwrap_err().to_string();
        assert!(message.contains("2 x 2"), "{message}");
    }
}
