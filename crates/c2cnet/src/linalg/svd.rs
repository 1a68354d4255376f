//! Singular values and vectors that were checked.
//!
//! faer reduces a matrix that is nearly square to a bidiagonal one directly. Of a matrix of low rank with equal rows or
//! columns (step functions on a grid, samples that repeat others) the last steps of that reduction divide rounding by
//! rounding, and what comes out may be vectors that have nothing to do with the matrix, without an error. So every
//! decomposition is probed, which costs as much as a few products with vectors, and one that fails is made again from
//! a QR factorisation with pivoted columns, cut at the rank of the matrix.

use super::{Qr, clear_upper_halves, mul, par};
use crate::{Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::{qr, svd};
use faer::prelude::default;
use faer::{Mat, MatRef, Par};

/// A thin singular value decomposition $A = U \operatorname{diag}(\sigma) V^\top$, $\sigma$ descending.
#[derive(Debug)]
pub struct Svd {
    /// Left singular vectors.
    pub u: Mat<f64>,
    /// Singular values.
    pub s: Vec<f64>,
    /// Right singular vectors.
    pub v: Mat<f64>,
}

/// Smaller matrices are reduced by a method that has no such trouble (faer's `recursion_threshold`).
const LARGE: usize = 128;

/// Vectors that probe a decomposition, and the relative error that they may find.
const PROBES: usize = 3;
const TOLERANCE: f64 = 1e-9;

/// The thin singular value decomposition of `a`.
pub fn thin_svd(a: MatRef<'_, f64>) -> Result<Svd> {
    checked(a, [true, true], par())
}

/// [`thin_svd`] on the calling thread.
pub(crate) fn thin_svd_seq(a: MatRef<'_, f64>) -> Result<Svd> {
    checked(a, [true, true], Par::Seq)
}

/// Singular values and left singular vectors of `a`; the right ones are left empty.
pub(crate) fn left_svd(a: MatRef<'_, f64>) -> Result<Svd> {
    checked(a, [true, false], par())
}

/// `vectors`: whether left and right ones are wanted.
fn checked(a: MatRef<'_, f64>, vectors: [bool; 2], par: Par) -> Result<Svd> {
    let (m, n) = a.shape();
    let found = direct(a, vectors, par);
    if m.min(n) < LARGE || found.as_ref().is_some_and(|svd| holds(a, svd, vectors)) {
        return found.ok_or_else(|| did_not_converge(a));
    }
    by_pivoted_qr(a, par)
        .filter(|svd| holds(a, svd, [true, true]))
        .ok_or_else(|| did_not_converge(a))
}

fn did_not_converge(a: MatRef<'_, f64>) -> Error {
    let (m, n) = a.shape();
    Error::Numerical(format!(
        "the singular value decomposition of a {m} x {n} matrix did not converge"
    ))
}

/// What faer finds, unless it finds that it does not converge.
fn direct(a: MatRef<'_, f64>, vectors: [bool; 2], par: Par) -> Option<Svd> {
    let (m, n) = a.shape();
    let size = m.min(n);
    let [mut u, mut v] = [m, n].map(|rows| Mat::zeros(rows, size));
    let mut s = faer::diag::Diag::<f64>::zeros(size);
    let [left, right] = vectors.map(|wanted| match wanted {
        true => svd::ComputeSvdVectors::Thin,
        false => svd::ComputeSvdVectors::No,
    });
    let scratch = svd::svd_scratch::<f64>(m, n, left, right, par, default());
    let outcome = svd::svd(
        a,
        s.as_mut(),
        vectors[0].then(|| u.as_mut()),
        vectors[1].then(|| v.as_mut()),
        par,
        MemStack::new(&mut MemBuffer::new(scratch)),
        default(),
    );
    clear_upper_halves();
    outcome.ok()?;
    let s = s.column_vector().iter().copied().collect();
    Some(Svd { u, s, v })
}

/// Whether, for vectors $x$ of signs, $U^\top Ux = x$ and $A^\top Ux = V\Sigma x$ with $V^\top Vx = x$, or, where $V$
/// is not wanted, $\|A^\top Ux\| = \|\Sigma x\|$ and $\|A^\top U\|_F = \|A\|_F$, as far as $x$ can tell.
fn holds(a: MatRef<'_, f64>, svd: &Svd, vectors: [bool; 2]) -> bool {
    let size = svd.s.len();
    let scale = svd.s.first().copied().unwrap_or(0.0);
    // A norm may skip NaN.
    let descending = svd.s.windows(2).all(|w| w[0] >= w[1]);
    if !descending || svd.s.iter().any(|s| !s.is_finite()) {
        return false;
    }
    let within = |a: &Mat<f64>, b: &Mat<f64>, tolerance: f64| {
        let columns = (0..PROBES).flat_map(|k| a.col(k).iter().zip(b.col(k).iter()));
        columns.into_iter().all(|(a, b)| (a - b).abs() <= tolerance)
    };
    let x = signs(size);
    let ux = mul(svd.u.as_ref(), x.as_ref());
    let image = mul(a.transpose(), ux.as_ref());
    let scaled = Mat::from_fn(size, PROBES, |i, k| svd.s[i] * x[(i, k)]);
    let orthonormal = |q: &Mat<f64>, qx: &Mat<f64>| {
        let back = mul(q.transpose(), qx.as_ref());
        within(&back, &x, TOLERANCE * (size as f64).sqrt())
    };
    let tolerance = TOLERANCE * scale * (size as f64).sqrt();
    orthonormal(&svd.u, &ux)
        && match vectors[1] {
            true => {
                let vx = mul(svd.v.as_ref(), x.as_ref());
                let expected = mul(svd.v.as_ref(), scaled.as_ref());
                orthonormal(&svd.v, &vx) && within(&image, &expected, tolerance)
            }
            false => (0..PROBES).all(|k| {
                let (found, wanted) = (image.col(k).norm_l2(), scaled.col(k).norm_l2());
                (found - wanted).abs() <= tolerance * (size as f64).sqrt()
            }),
        }
}

/// Signs without a pattern, from a counter.
fn signs(rows: usize) -> Mat<f64> {
    Mat::from_fn(rows, PROBES, |i, k| {
        let mixed = (i * PROBES + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        match (mixed ^ (mixed >> 29)).count_ones() % 2 {
            0 => 1.0,
            _ => -1.0,
        }
    })
}

/// $AP = QR$, of $R$ the $r$ rows that are not rounding, their decomposition $U_1\Sigma V_1^\top$, and vectors that
/// complete $QU_1$ and $PV_1$.
fn by_pivoted_qr(a: MatRef<'_, f64>, par: Par) -> Option<Svd> {
    let (m, n) = a.shape();
    let size = m.min(n);
    let (qr, order) = Qr::pivoted(a.to_owned());
    let r = qr.r();
    let noise = f64::EPSILON * m.max(n) as f64 * r[(0, 0)].abs();
    let rank = (0..size).take_while(|&i| r[(i, i)].abs() > noise).count();
    let mut rows = Mat::zeros(rank, n);
    for (j, &to) in order.iter().enumerate() {
        rows.col_mut(to)
            .copy_from(r.as_ref().subrows(0, rank).col(j));
    }
    let small = match rank {
        0 => Svd {
            u: Mat::zeros(0, 0),
            s: Vec::new(),
            v: Mat::zeros(n, 0),
        },
        _ => direct(rows.as_ref(), [true, true], par)?,
    };
    // Q diag(U_1, I).
    let mut left = Mat::identity(size, size);
    left.as_mut()
        .submatrix_mut(0, 0, rank, rank)
        .copy_from(&small.u);
    let mut v = Qr::new(small.v.clone()).q_mul(Mat::<f64>::identity(n, size).as_ref());
    v.as_mut().subcols_mut(0, rank).copy_from(&small.v);
    let mut s = small.s;
    s.resize(size, 0.0);
    Some(Svd {
        u: qr.q_mul(left.as_ref()),
        s,
        v,
    })
}

impl Qr {
    /// Factors `a` with its columns in the order that it returns, on the calling thread: each is the one of which most
    /// is left.
    fn pivoted(mut a: Mat<f64>) -> (Self, Vec<usize>) {
        let (m, n) = a.shape();
        let block = qr::no_pivoting::factor::recommended_block_size::<f64>(m, n);
        let mut coefficients = Mat::zeros(block, m.min(n));
        let (mut order, mut inverse) = (vec![0usize; n], vec![0usize; n]);
        let scratch = qr::col_pivoting::factor::qr_in_place_scratch::<usize, f64>(
            m,
            n,
            block,
            Par::Seq,
            default(),
        );
        qr::col_pivoting::factor::qr_in_place(
            a.as_mut(),
            coefficients.as_mut(),
            &mut order,
            &mut inverse,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            default(),
        );
        clear_upper_halves();
        let qr = Qr {
            factors: a,
            coefficients,
        };
        (qr, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// A matrix of low rank whose rows repeat, each `times`.
    fn repeated(distinct: usize, times: usize, columns: usize, rank: usize) -> Mat<f64> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut random =
            |rows, columns| Mat::from_fn(rows, columns, |_, _| rng.random_range(-1.0..1.0));
        let (left, right) = (random(distinct, rank), random(rank, columns));
        let all = mul(left.as_ref(), right.as_ref());
        Mat::from_fn(distinct * times, columns, |i, j| all[(i / times, j)])
    }

    fn assert_decomposes(a: MatRef<'_, f64>, what: &str) {
        let Svd { u, s, v } = thin_svd(a).unwrap();
        let size = s.len();
        assert!(s.windows(2).all(|w| w[0] >= w[1]), "{what}: order");
        let scaled = Mat::from_fn(u.nrows(), size, |i, j| u[(i, j)] * s[j]);
        let back = mul(scaled.as_ref(), v.transpose());
        let off = (&back - a).norm_l2() / a.norm_l2().max(f64::MIN_POSITIVE);
        assert!(off < 1e-12, "{what}: off by {off}");
        for q in [&u, &v] {
            let gram = mul(q.transpose(), q.as_ref());
            let off = (&gram - Mat::<f64>::identity(size, size)).norm_max();
            assert!(off < 1e-12, "{what}: not orthonormal by {off}");
        }
        let left = left_svd(a).unwrap();
        for (x, y) in left.s.iter().zip(&s) {
            assert!((x - y).abs() <= 1e-11 * s[0], "{what}: {x} {y}");
        }
    }

    /// Steps on a grid and repeated samples: shapes on which what faer finds is wrong, or does not converge.
    #[test]
    fn equal_rows_of_a_matrix_of_low_rank_are_decomposed() {
        for (distinct, times, columns, rank) in [
            (10, 20, 200, 10),
            (10, 40, 336, 10),
            (38, 42, 980, 38),
            (20, 20, 500, 20),
            (13, 50, 980, 7),
            (40, 8, 300, 40),
        ] {
            let a = repeated(distinct, times, columns, rank);
            let what = format!("{} x {columns} of rank {rank}", a.nrows());
            assert_decomposes(a.as_ref(), &what);
            assert_decomposes(a.transpose(), &format!("{what}, transposed"));
        }
        let steps = Mat::from_fn(400, 400, |i, k| f64::from(i / 40 < (k % 10)));
        assert_decomposes(steps.as_ref(), "steps");
    }

    #[test]
    fn matrices_of_any_rank_are_decomposed() {
        assert_decomposes(repeated(200, 1, 180, 180).as_ref(), "full rank");
        assert_decomposes(repeated(200, 1, 500, 7).as_ref(), "low rank");
        assert_decomposes(Mat::<f64>::zeros(150, 140).as_ref(), "zero");
        let one = Mat::from_fn(160, 150, |_, _| 1.0);
        assert_decomposes(one.as_ref(), "ones");
    }
}
