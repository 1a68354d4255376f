//! Sparse Cholesky factorisations $PAP^\top = LL^\top$ that share their symbolic part.
//!
//! The ordering $P$ (approximate minimum degree) and the pattern of $L$ depend on the pattern of $A$ only.
//! They are found once for a mesh; a coefficient that changes from sample to sample then costs one
//! numeric factorisation in memory that is there already, and a new right-hand side two triangular
//! solves. Everything runs on the calling thread: samples are what runs in parallel, and sums are
//! always taken in the same order.

use super::{Form, Pattern};
use c2cnet::{Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::prelude::default;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// The symbolic factorisation of all matrices of one pattern.
#[derive(Debug)]
pub struct Solver {
    pattern: Pattern,
    symbolic: SymbolicCholesky<usize>,
}

/// A matrix and its factor, and room to work: one a thread.
pub struct Factor {
    entries: Vec<f64>,
    values: Vec<f64>,
    room: MemBuffer,
    columns: usize,
}

impl Factor {
    /// The lower triangle of the matrix, in the pattern's order.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }
}

impl Solver {
    /// Orders the unknowns and finds the pattern of $L$.
    ///
    /// # Errors
    /// [`Error::Numerical`] if memory does not suffice.
    pub fn new(pattern: Pattern) -> Result<Self> {
        let symbolic = factorize_symbolic_cholesky(
            Self::structure(&pattern),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|e| {
            Error::Numerical(format!(
                "ordering a matrix of {} unknowns failed: {e:?}",
                pattern.size()
            ))
        })?;
        Ok(Solver { pattern, symbolic })
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
        self.symbolic.len_val()
    }

    /// Room for a factor, and for solving at most `columns` right-hand sides at once.
    pub fn room(&self, columns: usize) -> Factor {
        let scratch = self
            .symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, default())
            .or(self
                .symbolic
                .solve_in_place_scratch::<f64>(columns, Par::Seq));
        Factor {
            entries: vec![0.0; self.pattern.rows().len()],
            values: vec![0.0; self.symbolic.len_val()],
            room: MemBuffer::new(scratch),
            columns,
        }
    }

    /// Assembles and factors the matrix of `form`.
    ///
    /// # Errors
    /// [`Error::Numerical`] if it is not positive definite.
    pub fn factor<F: Form>(&self, form: &F, factor: &mut Factor) -> Result<()> {
        self.pattern.assemble(form, &mut factor.entries);
        let matrix = SparseColMatRef::new(Self::structure(&self.pattern), &factor.entries[..]);
        let outcome = self.symbolic.factorize_numeric_llt(
            &mut factor.values,
            matrix,
            Side::Lower,
            default(),
            Par::Seq,
            MemStack::new(&mut factor.room),
            default(),
        );
        match outcome {
            Ok(_) => Ok(()),
            Err(e) => Err(Error::Numerical(format!(
                "a finite-element matrix of {} unknowns is not positive definite: {e:?}",
                self.pattern.size()
            ))),
        }
    }

    /// Replaces each column of `right` (free unknowns) by the solution.
    ///
    /// # Panics
    /// If there are more columns than the factor has room for.
    pub fn solve(&self, factor: &mut Factor, right: MatMut<'_, f64>) {
        assert!(right.ncols() <= factor.columns, "room for so many columns");
        LltRef::new(&self.symbolic, &factor.values).solve_in_place_with_conj(
            Conj::No,
            right,
            Par::Seq,
            MemStack::new(&mut factor.room),
        );
    }
}
