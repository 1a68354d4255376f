//! Equations of finite elements, solved: a [`Pattern`] and the [`Elimination`] of its matrices.

use super::{Form, Pattern};
use crate::sparse_cholesky::{self, Elimination};
use c2cnet::Result;
use faer::MatMut;
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};

/// What all matrices of one pattern share: a coefficient that changes from sample to sample costs one
/// numeric factorisation, and a new right-hand side two triangular solves.
#[derive(Debug)]
pub struct Solver {
    pattern: Pattern,
    elimination: Elimination,
}

/// A matrix and its factor: one per thread.
#[derive(Debug)]
pub struct Factor {
    entries: Vec<f64>,
    factor: sparse_cholesky::Factor,
}

impl Factor {
    /// The lower triangle of the matrix, in the pattern's order.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }
}

impl Solver {
    /// Orders the unknowns and finds the pattern of the factor.
    ///
    /// # Errors
    /// [`Error::Numerical`](c2cnet::Error::Numerical) if there is not enough memory.
    pub fn new(pattern: Pattern) -> Result<Self> {
        let elimination = Elimination::new(Self::structure(&pattern))?;
        Ok(Solver {
            pattern,
            elimination,
        })
    }

    fn structure(pattern: &Pattern) -> SymbolicSparseColMatRef<'_, usize> {
        SymbolicSparseColMatRef::new_checked(
            pattern.size(),
            pattern.size(),
            pattern.column_starts(),
            None,
            pattern.rows(),
        )
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// How many numbers the factor holds.
    pub fn factor_len(&self) -> usize {
        self.elimination.factor_len()
    }

    /// Memory for a matrix and its factor.
    pub fn empty_factor(&self) -> Factor {
        Factor {
            entries: vec![0.0; self.pattern.rows().len()],
            factor: self.elimination.empty_factor(),
        }
    }

    /// Assembles and factors the matrix of `form`.
    ///
    /// # Errors
    /// [`Error::Numerical`](c2cnet::Error::Numerical) if it is not positive definite.
    pub fn factor<F: Form>(&self, form: &F, factor: &mut Factor) -> Result<()> {
        self.pattern.assemble(form, &mut factor.entries);
        let matrix = SparseColMatRef::new(Self::structure(&self.pattern), &factor.entries[..]);
        self.elimination.factor(matrix, &mut factor.factor)
    }

    /// Replaces each column of `right` (free unknowns) by the solution.
    pub fn solve(&self, factor: &Factor, right: MatMut<'_, f64>) {
        self.elimination.solve(&factor.factor, right);
    }
}
