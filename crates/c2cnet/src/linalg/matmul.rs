//! faer's products, after which scalar code is as fast as before.
//!
//! The kernels behind them end without `vzeroupper`. Until the thread happens to execute one, every scalar instruction
//! without a VEX prefix, which is what portable binaries have, stalls on the unused upper register halves: on an Intel Xeon
//! 4 million logarithms took 20 ms before a product and 676 ms after it (faer 0.24.4, private-gemm-x86 0.1.22).

use faer::linalg::matmul as products;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::linalg::triangular_solve as solves;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};

/// Tells the CPU that the upper halves of the calling thread's registers are free. For use at the end of work that calls
/// faer's products: its factorisations, and tasks on threads that may have run them.
#[inline]
pub fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") {
        // SAFETY: the CPU has AVX, and no calling convention of x86-64 preserves upper halves across calls.
        unsafe { zero_upper() };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn zero_upper() {
    std::arch::x86_64::_mm256_zeroupper();
}

/// $C \leftarrow \alpha AB$ or $C \leftarrow C + \alpha AB$.
pub(crate) fn matmul<T: ComplexField>(
    c: MatMut<'_, T>,
    accum: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
    par: Par,
) {
    products::matmul(c, accum, a, b, alpha, par);
    clear_upper_halves();
}

/// The same for matrices of which only a triangle counts.
pub(crate) fn triangular_matmul<T: ComplexField>(
    (c, c_shape): (MatMut<'_, T>, BlockStructure),
    accum: Accum,
    (a, a_shape): (MatRef<'_, T>, BlockStructure),
    (b, b_shape): (MatRef<'_, T>, BlockStructure),
    alpha: T,
    par: Par,
) {
    products::triangular::matmul(c, c_shape, accum, a, a_shape, b, b_shape, alpha, par);
    clear_upper_halves();
}

/// $B \leftarrow L^{-1}B$ on the calling thread.
pub(crate) fn solve_lower_seq(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    solves::solve_lower_triangular_in_place(l, b, Par::Seq);
    clear_upper_halves();
}

/// $B \leftarrow R^{-1}B$ for an upper triangular $R$, on the calling thread.
pub(crate) fn solve_upper_seq(r: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    solves::solve_upper_triangular_in_place(r, b, Par::Seq);
    clear_upper_halves();
}
