//! Dense linear algebra with a fixed split of the work.
//!
//! Products and Cholesky factors are cut into tiles by their shapes (`tiles`, `cholesky`), which any idle thread
//! takes. QR, singular values and eigenvalues are faer's, which splits them by the number that is handed to it; `par` is a
//! constant. Either way the order of additions, and so every bit, is the same on any number of threads.

mod cholesky;
mod matmul;
mod svd;
mod tiles;

pub use cholesky::{cholesky_in_place, cholesky_solve_in_place};
pub(crate) use cholesky::{cholesky_in_place_seq, solve_lower, solve_upper};
pub use matmul::clear_upper_halves;
pub(crate) use matmul::{matmul, solve_lower_seq, solve_upper_seq, triangular_matmul};
pub use svd::{Svd, thin_svd};
pub(crate) use svd::{left_svd, thin_svd_seq};

use crate::{Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{evd, householder, qr::no_pivoting::factor};
use faer::prelude::{ReborrowMut, default};
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Into how many parts large products and factorisations are split.
const SPLIT: usize = 4;

/// Steps of a power iteration, at most, and the least relative gain for which another one is made.
const POWER_STEPS: usize = 100;
const POWER_PROGRESS: f64 = 1e-6;

/// How many columns are copied at a time, in parallel.
const COPY_CHUNK: usize = 64;

/// Rows fewer than all by this factor are read where they are.
const FEW_ROWS: usize = 4;

/// The split as faer takes it.
pub(crate) fn par() -> Par {
    Par::rayon(SPLIT)
}

/// $AB$.
pub fn mul(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut c = Mat::zeros(a.nrows(), b.ncols());
    tiles::product(c.as_mut(), Accum::Replace, a, b, 1.0);
    c
}

/// $AB$ on the calling thread, for many small products that run beside each other.
pub fn mul_seq(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut c = Mat::zeros(a.nrows(), b.ncols());
    matmul(c.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    c
}

/// $C \leftarrow C + \alpha AB$.
pub(crate) fn mul_add(c: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>, alpha: f64) {
    tiles::product(c, Accum::Add, a, b, alpha);
}

/// The lower half of $C \leftarrow C + AA^\top$; the upper half is left alone.
pub(crate) fn add_gram(c: MatMut<'_, f64>, a: MatRef<'_, f64>) {
    tiles::add_gram(c, a, 1.0);
}

/// The lower half of $AA^\top$; the upper half means nothing.
pub(crate) fn lower_gram(a: MatRef<'_, f64>) -> Mat<f64> {
    let mut gram = Mat::zeros(a.nrows(), a.nrows());
    add_gram(gram.as_mut(), a);
    gram
}

/// Runs `work(first_column, columns)` on consecutive chunks of at most `width` columns, in parallel.
pub fn par_column_chunks(
    matrix: MatMut<'_, f64>,
    width: usize,
    work: impl Fn(usize, MatMut<'_, f64>) + Sync,
) {
    par_column_chunks_with(matrix, width, || (), |(), start, chunk| work(start, chunk));
}

/// [`par_column_chunks`] with scratch memory for `work` that successive chunks share; what `work`
/// finds there is of no meaning.
pub(crate) fn par_column_chunks_with<R>(
    matrix: MatMut<'_, f64>,
    width: usize,
    scratch: impl Fn() -> R + Send + Sync,
    work: impl Fn(&mut R, usize, MatMut<'_, f64>) + Sync,
) {
    if matrix.ncols() <= width {
        return work(&mut scratch(), 0, matrix);
    }
    let mut rest = matrix;
    let mut chunks = Vec::new();
    let mut start = 0;
    while rest.ncols() > 0 {
        let take = rest.ncols().min(width);
        let (head, tail) = rest.split_at_col_mut(take);
        chunks.push((start, head));
        start += take;
        rest = tail;
    }
    chunks
        .into_par_iter()
        .for_each_init(scratch, |scratch, (start, chunk)| {
            // The thread may have had a part of one of faer's factorisations before.
            clear_upper_halves();
            work(scratch, start, chunk)
        });
}

/// Runs `work` on every pair of entries of two matrices of one shape, in parallel.
pub(crate) fn par_pairs(
    a: MatMut<'_, f64>,
    b: MatMut<'_, f64>,
    work: &(impl Fn(&mut f64, &mut f64) + Sync),
) {
    if a.ncols() > COPY_CHUNK {
        let middle = a.ncols() / 2;
        let (a, a_rest) = a.split_at_col_mut(middle);
        let (b, b_rest) = b.split_at_col_mut(middle);
        rayon::join(|| par_pairs(a, b, work), || par_pairs(a_rest, b_rest, work));
        return;
    }
    faer::zip!(a, b).for_each(|faer::unzip!(a, b)| work(a, b));
}

/// `to` becomes `from`, in parallel.
pub(crate) fn copy(to: MatMut<'_, f64>, from: MatRef<'_, f64>) {
    par_column_chunks(to, COPY_CHUNK, |start, mut to| {
        to.copy_from(from.subcols(start, to.ncols()));
    });
}

/// Row `i` of `to` becomes row `order[i]` of `from`.
pub(crate) fn gather_rows(mut to: MatMut<'_, f64>, from: MatRef<'_, f64>, order: &[usize]) {
    if FEW_ROWS * order.len() < from.nrows() {
        for k in 0..from.ncols() {
            let (column, from) = (to.rb_mut().col_mut(k).iter_mut(), from.col(k));
            column.zip(order).for_each(|(v, &i)| *v = from[i]);
        }
        return;
    }
    // Memory is read in order, a column at a time, and out of order from the copy: it is near.
    let mut near = vec![0.0; from.nrows()];
    for k in 0..from.ncols() {
        near.iter_mut()
            .zip(from.col(k).iter())
            .for_each(|(n, v)| *n = *v);
        let column = to.rb_mut().col_mut(k).iter_mut();
        column.zip(order).for_each(|(v, &i)| *v = near[i]);
    }
}

/// Row `order[i]` of `to` becomes row `i` of `from`.
pub(crate) fn scatter_rows(mut to: MatMut<'_, f64>, from: MatRef<'_, f64>, order: &[usize]) {
    for k in 0..from.ncols() {
        let column = from.col(k).iter().zip(order);
        match to.rb_mut().col_mut(k).try_as_col_major_mut() {
            Some(to) => {
                let to = to.as_slice_mut();
                column.for_each(|(v, &i)| to[i] = *v);
            }
            None => column.for_each(|(v, &i)| to[(i, k)] = *v),
        }
    }
}

/// A thin QR factorisation $A = QR$, kept as Householder reflectors.
#[derive(Debug)]
pub struct Qr {
    factors: Mat<f64>,
    coefficients: Mat<f64>,
}

impl Qr {
    /// Factors `a`, split for the whole machine.
    pub fn new(a: Mat<f64>) -> Self {
        Self::with(a, par())
    }

    /// Factors `a` on the calling thread.
    pub(crate) fn new_seq(a: Mat<f64>) -> Self {
        Self::with(a, Par::Seq)
    }

    fn with(mut a: Mat<f64>, par: Par) -> Self {
        let (m, n) = a.shape();
        let block = factor::recommended_block_size::<f64>(m, n);
        let mut coefficients = Mat::zeros(block, m.min(n));
        factor::qr_in_place(
            a.as_mut(),
            coefficients.as_mut(),
            par,
            MemStack::new(&mut MemBuffer::new(factor::qr_in_place_scratch::<f64>(
                m,
                n,
                block,
                par,
                default(),
            ))),
            default(),
        );
        clear_upper_halves();
        Qr {
            factors: a,
            coefficients,
        }
    }

    /// The number of rows of $A$.
    pub(crate) fn nrows(&self) -> usize {
        self.factors.nrows()
    }

    /// The upper triangular (or trapezoidal) $R$.
    pub fn r(&self) -> Mat<f64> {
        let size = self.factors.nrows().min(self.factors.ncols());
        Mat::from_fn(size, self.factors.ncols(), |i, j| {
            if i <= j { self.factors[(i, j)] } else { 0.0 }
        })
    }

    /// $Q B$ for `b` with as many rows as $R$.
    pub(crate) fn q_mul(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let (m, k) = (self.factors.nrows(), b.ncols());
        let mut out = Mat::zeros(m, k);
        out.as_mut().subrows_mut(0, b.nrows()).copy_from(b);
        self.apply(out.as_mut(), false, par());
        out
    }

    /// The thin $Q$, on the calling thread.
    pub(crate) fn thin_q_seq(&self) -> Mat<f64> {
        let size = self.coefficients.ncols();
        let mut q = Mat::identity(self.factors.nrows(), size);
        self.apply(q.as_mut(), false, Par::Seq);
        q
    }

    /// $Q_{\rm full}^\top B$.
    pub(crate) fn qt_mul(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = b.to_owned();
        self.apply(out.as_mut(), true, par());
        out
    }

    /// $B \leftarrow Q_{\rm full}^\top B$ on the calling thread.
    pub(crate) fn qt_mul_in_place_seq(&self, b: MatMut<'_, f64>) {
        self.apply(b, true, Par::Seq);
    }

    fn apply(&self, b: MatMut<'_, f64>, transpose: bool, par: Par) {
        let (m, k) = (self.factors.nrows(), b.ncols());
        let block = self.coefficients.nrows();
        let basis = self.factors.as_ref().subcols(0, self.coefficients.ncols());
        if transpose {
            let scratch = householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<f64>(m, block, k);
            householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
                basis,
                self.coefficients.as_ref(),
                Conj::No,
                b,
                par,
                MemStack::new(&mut MemBuffer::new(scratch)),
            );
        } else {
            let scratch =
                householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
                    m, block, k,
                );
            householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                basis,
                self.coefficients.as_ref(),
                Conj::No,
                b,
                par,
                MemStack::new(&mut MemBuffer::new(scratch)),
            );
        }
        clear_upper_halves();
    }
}

/// The largest singular value of `a`, by power iteration to a few digits.
///
/// $\|A^\top Au\|/\|Au\|$ rises towards it from the column of `a` with the largest norm, which cannot be
/// orthogonal to all of what is large.
pub(crate) fn largest_singular_value(a: MatRef<'_, f64>) -> f64 {
    let norms = column_norms_squared(a);
    let first = (0..norms.len()).max_by(|&i, &j| norms[i].total_cmp(&norms[j]));
    let Some(first) = first.filter(|&j| norms[j] > 0.0) else {
        return 0.0;
    };
    let mut left = a.subcols(first, 1).to_owned();
    let mut found = 0.0;
    for _ in 0..POWER_STEPS {
        left *= faer::Scale(1.0 / left.norm_l2());
        let right = mul(a.transpose(), left.as_ref());
        let next = right.norm_l2();
        if next <= found * (1.0 + POWER_PROGRESS) {
            return next;
        }
        found = next;
        left = mul(a, right.as_ref());
    }
    found
}

/// Eigenvalues (ascending) and eigenvectors of the symmetric matrix whose lower half is `a`.
pub(crate) fn symmetric_eigen(a: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let n = a.nrows();
    let mut vectors = Mat::zeros(n, n);
    let mut values = faer::diag::Diag::<f64>::zeros(n);
    let scratch =
        evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, par(), default());
    evd::self_adjoint_evd(
        a,
        values.as_mut(),
        Some(vectors.as_mut()),
        par(),
        MemStack::new(&mut MemBuffer::new(scratch)),
        default(),
    )
    .map_err(|_| {
        Error::Numerical(format!(
            "the eigendecomposition of a {n} x {n} matrix did not converge"
        ))
    })?;
    clear_upper_halves();
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// Squared Euclidean norms of the columns.
pub fn column_norms_squared(a: MatRef<'_, f64>) -> Vec<f64> {
    (0..a.ncols())
        .into_par_iter()
        .map(|k| a.col(k).iter().map(|v| v * v).sum())
        .collect()
}

/// The mean of the columns.
pub fn column_mean(a: MatRef<'_, f64>) -> Vec<f64> {
    let mut mean = vec![0.0; a.nrows()];
    for k in 0..a.ncols() {
        for (m, v) in mean.iter_mut().zip(a.col(k).iter()) {
            *m += v;
        }
    }
    mean.iter_mut().for_each(|m| *m /= a.ncols() as f64);
    mean
}

/// Subtracts `shift` from every column.
pub fn subtract_from_columns(a: &mut Mat<f64>, shift: &[f64]) {
    par_column_chunks(a.as_mut(), COPY_CHUNK, |_, mut chunk| {
        for k in 0..chunk.ncols() {
            for (v, s) in chunk.rb_mut().col_mut(k).iter_mut().zip(shift) {
                *v -= s;
            }
        }
    });
}

/// The columns at `indices`, in that order.
pub fn select_columns(a: MatRef<'_, f64>, indices: &[usize]) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), indices.len());
    par_column_chunks(out.as_mut(), COPY_CHUNK, |start, mut chunk| {
        for (k, &i) in indices[start..start + chunk.ncols()].iter().enumerate() {
            chunk.rb_mut().col_mut(k).copy_from(a.col(i));
        }
    });
    out
}

/// The rows of `a` at `indices`, in that order, into `to`.
pub(crate) fn select_rows_into(to: MatMut<'_, f64>, a: MatRef<'_, f64>, indices: &[usize]) {
    par_column_chunks(to, COPY_CHUNK, |start, chunk| {
        let width = chunk.ncols();
        gather_rows(chunk, a.subcols(start, width), indices);
    });
}

/// The entries at `rows` and `columns`, in that order.
pub(crate) fn select(a: MatRef<'_, f64>, rows: &[usize], columns: &[usize]) -> Mat<f64> {
    let mut out = Mat::zeros(rows.len(), columns.len());
    par_column_chunks(out.as_mut(), COPY_CHUNK, |start, mut chunk| {
        for k in 0..chunk.ncols() {
            let from = a.subcols(columns[start + k], 1);
            gather_rows(chunk.rb_mut().subcols_mut(k, 1), from, rows);
        }
    });
    out
}

/// The rows at `indices`, in that order.
pub fn select_rows(a: MatRef<'_, f64>, indices: &[usize]) -> Mat<f64> {
    let mut out = Mat::zeros(indices.len(), a.ncols());
    select_rows_into(out.as_mut(), a, indices);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_iteration_finds_the_largest_singular_value() {
        for (rows, columns) in [(30, 70), (70, 30), (1, 5)] {
            let a = Mat::from_fn(rows, columns, |i, j| {
                ((i * 7 + j * j) as f64 * 0.37).sin() / (1 + j) as f64
            });
            let exact = thin_svd(a.as_ref()).unwrap().s[0];
            let found = largest_singular_value(a.as_ref());
            assert!((found / exact - 1.0).abs() < 1e-3, "{found} {exact}");
        }
        assert_eq!(largest_singular_value(Mat::zeros(3, 4).as_ref()), 0.0);
        assert_eq!(largest_singular_value(Mat::zeros(0, 0).as_ref()), 0.0);
    }
}
