//! Cholesky factorisations by blocks, whose products are cut into parts for all threads.

use super::{clear_upper_halves, par_column_chunks, solve_lower_seq, solve_upper_seq, tiles};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::prelude::{Reborrow, ReborrowMut, default};
use faer::{MatMut, MatRef, Par};

/// Matrices of this size are factored on one thread.
const BLOCK: usize = 192;

/// Right-hand sides that are solved for together.
const RIGHT_HAND_SIDES: usize = 32;

/// Overwrites the lower half of the symmetric `a` by its Cholesky factor $L$, $A = LL^\top$.
///
/// Returns whether `a` was numerically positive definite; if not, `a` is left unusable.
pub fn cholesky_in_place(a: MatMut<'_, f64>) -> bool {
    let size = a.nrows();
    if size <= BLOCK {
        return cholesky_in_place_seq(a);
    }
    // A = [A11, .; A21, A22]: L11, then L21 = A21 L11^-T, then L22 of A22 - L21 L21^T.
    let cut = size.div_ceil(2).next_multiple_of(BLOCK).min(size - 1);
    let (mut first, _, mut below, mut last) = a.split_at_mut(cut, cut);
    if !cholesky_in_place(first.rb_mut()) {
        return false;
    }
    solve_lower(first.rb(), below.rb_mut().transpose_mut());
    tiles::add_gram(last.rb_mut(), below.rb(), -1.0);
    cholesky_in_place(last)
}

/// The same on the calling thread.
pub(crate) fn cholesky_in_place_seq(a: MatMut<'_, f64>) -> bool {
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(a.nrows(), Par::Seq, default());
    let factored = llt::factor::cholesky_in_place(
        a,
        default(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        default(),
    );
    clear_upper_halves();
    factored.is_ok()
}

/// $B \leftarrow (LL^\top)^{-1} B$.
pub fn cholesky_solve_in_place(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    par_column_chunks(b, RIGHT_HAND_SIDES, |_, mut b| {
        solve_lower_seq(l, b.rb_mut());
        solve_upper_seq(l.transpose(), b);
    });
}

/// $B \leftarrow L^{-1}B$.
pub(crate) fn solve_lower(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    par_column_chunks(b, RIGHT_HAND_SIDES, |_, b| {
        solve_lower_seq(l, b);
    });
}

/// $B \leftarrow R^{-1}B$ for an upper triangular $R$.
pub(crate) fn solve_upper(r: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    par_column_chunks(b, RIGHT_HAND_SIDES, |_, b| {
        solve_upper_seq(r, b);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg;
    use faer::Mat;

    /// Positive definite, with eigenvalues between 1 and about the size.
    fn matrix(size: usize) -> Mat<f64> {
        let a = Mat::from_fn(size, size, |i, j| ((i * 7 + j * j) as f64 * 0.37).sin());
        linalg::mul(a.as_ref(), a.transpose()) + Mat::<f64>::identity(size, size)
    }

    #[test]
    fn blocks_solve_the_system() {
        for size in [1, 100, BLOCK + 1, 500, 777] {
            let a = matrix(size);
            let b = Mat::from_fn(size, 70, |i, k| ((i + 3 * k) as f64 * 0.1).cos());
            let (mut l, mut x) = (a.clone(), b.clone());
            assert!(cholesky_in_place(l.as_mut()));
            cholesky_solve_in_place(l.as_ref(), x.as_mut());
            let off = linalg::mul(a.as_ref(), x.as_ref()) - &b;
            assert!(off.norm_max() < 1e-10, "{size}: {:e}", off.norm_max());
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_told() {
        for (size, place) in [(50, 20), (500, 3), (500, 450)] {
            let mut a = matrix(size);
            a[(place, place)] = -1.0;
            assert!(!cholesky_in_place(a.as_mut()));
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| {
                let (mut l, mut x) = (matrix(600), matrix(600));
                assert!(cholesky_in_place(l.as_mut()));
                cholesky_solve_in_place(l.as_ref(), x.as_mut());
                (l, x)
            })
        };
        assert_eq!(on(1), on(7));
    }
}
