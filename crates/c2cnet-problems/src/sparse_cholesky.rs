//! Sparse Cholesky factorisations $PAP^\top = LL^\top$ that share their symbolic part.
//!
//! The order of elimination $P$ and the pattern of $L$ depend on the pattern of $A$ only. They are found once
//! ([`Elimination`]); a matrix whose numbers change from sample to sample then costs one numeric factorisation
//! in memory that is reused ([`Factor`]), and a right-hand side two triangular solves.
//!
//! Everything runs on the calling thread: samples are what runs in parallel, and sums are always taken in
//! the same order.

use c2cnet::{Error, Result, linalg};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::prelude::default;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, SparseColMatRef, SymbolicSparseColMatRef, Triplet};
use faer::{Conj, MatMut, Par, Side};

/// What all symmetric matrices of one pattern share.
#[derive(Debug)]
pub(crate) struct Elimination(SymbolicCholesky<usize>);

/// The factor of one matrix, with memory to refactor: one per thread.
pub(crate) struct Factor {
    values: Vec<f64>,
    scratch: MemBuffer,
}

impl std::fmt::Debug for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Factor({} numbers)", self.values.len())
    }
}

impl Elimination {
    /// For matrices whose lower half has the pattern `lower`, ordered by approximate minimum degree.
    ///
    /// # Errors
    /// [`Error::Numerical`] if there is not enough memory.
    pub fn new(lower: SymbolicSparseColMatRef<'_, usize>) -> Result<Self> {
        Self::ordered(lower, SymmetricOrdering::Amd, default())
    }

    /// As [`Elimination::new`], in the `order` given and always in dense blocks (supernodes).
    ///
    /// # Errors
    /// [`Error::Numerical`] if there is not enough memory.
    pub fn in_blocks(
        lower: SymbolicSparseColMatRef<'_, usize>,
        order: PermRef<'_, usize>,
    ) -> Result<Self> {
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..default()
        };
        Self::ordered(lower, SymmetricOrdering::Custom(order), params)
    }

    fn ordered(
        lower: SymbolicSparseColMatRef<'_, usize>,
        order: SymmetricOrdering<'_, usize>,
        params: CholeskySymbolicParams<'_>,
    ) -> Result<Self> {
        let n = lower.ncols();
        factorize_symbolic_cholesky(lower, Side::Lower, order, params)
            .map(Elimination)
            .map_err(|e| {
                Error::Numerical(format!("ordering a sparse {n} x {n} matrix failed: {e:?}"))
            })
    }

    /// How many numbers the factor holds, zeros inside its blocks included.
    pub fn factor_len(&self) -> usize {
        self.0.len_val()
    }

    /// Memory for a factor.
    pub fn empty_factor(&self) -> Factor {
        let scratch = self
            .0
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, default());
        Factor {
            values: vec![0.0; self.0.len_val()],
            scratch: MemBuffer::new(scratch),
        }
    }

    /// Factors the matrix whose lower half is `lower`.
    ///
    /// # Errors
    /// [`Error::Numerical`] if it is not positive definite.
    pub fn factor(
        &self,
        lower: SparseColMatRef<'_, usize, f64>,
        factor: &mut Factor,
    ) -> Result<()> {
        let n = lower.ncols();
        let factored = self
            .0
            .factorize_numeric_llt(
                &mut factor.values,
                lower,
                Side::Lower,
                default(),
                Par::Seq,
                MemStack::new(&mut factor.scratch),
                default(),
            )
            .map(|_| ())
            .map_err(|e| {
                Error::Numerical(format!(
                    "a sparse {n} x {n} matrix is not positive definite: {e:?}"
                ))
            });
        linalg::clear_upper_halves();
        factored
    }

    /// $B \leftarrow A^{-1} B$.
    ///
    /// # Panics
    /// If `right` does not have as many rows as the matrix.
    pub fn solve(&self, factor: &Factor, right: MatMut<'_, f64>) {
        let scratch = self
            .0
            .solve_in_place_scratch::<f64>(right.ncols(), Par::Seq);
        LltRef::new(&self.0, &factor.values).solve_in_place_with_conj(
            Conj::No,
            right,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        linalg::clear_upper_halves();
    }
}

/// One matrix, factored.
#[derive(Debug)]
pub(crate) struct Factored {
    elimination: Elimination,
    factor: Factor,
}

impl Factored {
    /// Factors the symmetric matrix of `size` rows whose lower half has these entries; those at the
    /// same place are added.
    ///
    /// # Errors
    /// If an index is out of range or the matrix is not numerically positive definite.
    pub fn new(size: usize, lower: &[Triplet<usize, usize, f64>]) -> Result<Self> {
        let matrix = SparseColMat::try_new_from_triplets(size, size, lower).map_err(|e| {
            Error::Numerical(format!("entries of a sparse {size} x {size} matrix: {e:?}"))
        })?;
        let elimination = Elimination::new(matrix.symbolic())?;
        let mut factor = elimination.empty_factor();
        elimination.factor(matrix.as_ref(), &mut factor)?;
        Ok(Factored {
            elimination,
            factor,
        })
    }

    /// $B \leftarrow A^{-1} B$.
    ///
    /// # Panics
    /// If `right` does not have as many rows as the matrix.
    pub fn solve(&self, right: MatMut<'_, f64>) {
        self.elimination.solve(&self.factor, right);
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
        let factor = Factored::new(n, &lower).unwrap();
        let mut x = Mat::from_fn(n, 2, |_, c| c as f64 + 1.0);
        factor.solve(x.as_mut());
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
        let message = Factored::new(2, &lower).unwrap_err().to_string();
        assert!(message.contains("2 x 2"), "{message}");
    }
}
