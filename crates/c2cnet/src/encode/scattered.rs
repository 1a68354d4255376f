//! Encoding one sample at its own points.

use super::Regularisation;
use crate::{Result, linalg};
use faer::MatRef;

/// Coefficients of one sample: `design` at its points, `values` there; several components that
/// share the design follow one another, in `values` and in the result.
///
/// Ridge goes through the QR factorisation of $\binom{\Phi}{\sqrt{n\lambda}\,I}$, cut-offs through
/// the SVD; both on the calling thread, because samples run in parallel.
///
/// # Errors
/// If the singular value decomposition does not converge.
pub fn encode_sample(
    design: MatRef<'_, f64>,
    values: &[f64],
    regularisation: Regularisation,
) -> Result<Vec<f64>> {
    SampleEncoder::default().encode(design, values, regularisation)
}

/// [`encode_sample`] for many samples in turn, reusing its memory.
#[derive(Debug, Default)]
pub struct SampleEncoder {
    stacked: Vec<f64>,
    reflectors: Vec<f64>,
}

impl SampleEncoder {
    /// See [`encode_sample`].
    ///
    /// # Errors
    /// If the singular value decomposition does not converge.
    ///
    /// # Panics
    /// If the number of values is not a multiple of the number of points.
    pub fn encode(
        &mut self,
        design: MatRef<'_, f64>,
        values: &[f64],
        regularisation: Regularisation,
    ) -> Result<Vec<f64>> {
        assert!(values.len().is_multiple_of(design.nrows()));
        match regularisation {
            Regularisation::Ridge { lambda } if lambda > 0.0 => {
                let root = (design.nrows() as f64 * lambda).sqrt();
                Ok(self.ridge(design, values, root))
            }
            _ => filtered(design, values, regularisation),
        }
    }

    /// Solves $\min\|\Phi c - f\|^2 + \rho^2\|c\|^2$ by reflecting $\binom{\Phi\ f}{\rho I\ 0}$ to
    /// triangular form.
    ///
    /// Row $i$ of $\rho I$ is zero up to column $i$, so reflector $j$ acts on rows $j$ to $n + j$:
    /// always $n + 1$ consecutive rows. On one core of an EPYC (Zen 4), with two right-hand
    /// sides, against faer's QR of the dense stack:
    ///
    /// | points x functions | here | faer |
    /// |---|---|---|
    /// | 100 x 64 | 0.039 ms | 0.104 ms |
    /// | 200 x 200 | 0.58 ms | 1.03 ms |
    /// | 400 x 256 | 1.8 ms | 2.4 ms |
    /// | 700 x 256 | 3.3 ms | 3.5 ms |
    /// | 1000 x 256 | 5.6 ms | 4.7 ms |
    ///
    /// Stacks above [`LARGE`] entries therefore go to faer.
    fn ridge(&mut self, design: MatRef<'_, f64>, values: &[f64], root: f64) -> Vec<f64> {
        let (n, m) = design.shape();
        let height = n + m;
        let width = m + values.len() / n;
        self.stacked.clear();
        self.stacked.resize(height * width, 0.0);
        for (j, column) in self.stacked.chunks_exact_mut(height).enumerate() {
            if j < m {
                for (to, v) in column.iter_mut().zip(design.col(j).iter()) {
                    *to = *v;
                }
                column[n + j] = root;
            } else {
                column[..n].copy_from_slice(&values[(j - m) * n..(j - m + 1) * n]);
            }
        }
        if self.stacked.len() > LARGE {
            triangularise_by_blocks(&mut self.stacked, height);
        } else {
            pulp::Arch::new().dispatch(Triangularise {
                stacked: &mut self.stacked,
                reflectors: &mut self.reflectors,
                points: n,
                functions: m,
            });
        }
        let (triangle, right) = self.stacked.split_at(height * m);
        right
            .chunks_exact(height)
            .flat_map(|column| back_substitute(triangle, height, column[..m].to_vec()))
            .collect()
    }
}

/// Above this many entries (2 MiB, more than a core's cache) blocks of reflectors pay off.
const LARGE: usize = 1 << 18;

/// Replaces the columns of `stacked`, `height` apart, by those of their triangular factor.
fn triangularise_by_blocks(stacked: &mut [f64], height: usize) {
    let width = stacked.len() / height;
    let dense = MatRef::from_column_major_slice(stacked, height, width);
    let r = linalg::Qr::new_seq(dense.to_owned()).r();
    for (j, column) in stacked.chunks_exact_mut(height).enumerate() {
        for (to, v) in column.iter_mut().zip(r.col(j).iter()) {
            *to = *v;
        }
    }
}

/// Reflectors applied to a column together, so that it is read only once.
const PANEL: usize = 4;

/// Householder reflectors, panel after panel; see [`SampleEncoder::ridge`].
struct Triangularise<'a> {
    stacked: &'a mut [f64],
    reflectors: &'a mut Vec<f64>,
    points: usize,
    functions: usize,
}

impl pulp::WithSimd for Triangularise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let (n, m) = (self.points, self.functions);
        let height = n + m;
        for first in (0..m).step_by(PANEL) {
            let wide = PANEL.min(m - first);
            let rows = first..first + n + wide;
            let (done, rest) = self.stacked.split_at_mut((first + wide) * height);
            self.reflectors.clear();
            self.reflectors.resize(PANEL * rows.len(), 0.0);
            let mut panel = Panel::new(simd, self.reflectors);
            for (p, column) in done[first * height..].chunks_exact_mut(height).enumerate() {
                let column = &mut column[rows.clone()];
                panel.apply(column);
                panel.push(p, &mut column[p..p + n + 1]);
            }
            for column in rest.chunks_exact_mut(height) {
                panel.apply(&mut column[rows.clone()]);
            }
        }
    }
}

/// Reflections $I - v_p^{} v_p^\top/s_p$, to be applied in order.
struct Panel<'a, S> {
    simd: S,
    /// Zero where a reflector does not act, and where there is none yet.
    v: [&'a mut [f64]; PANEL],
    /// $1/s_p$
    inverse: [f64; PANEL],
    /// $v_p\cdot v_q$
    gram: [[f64; PANEL]; PANEL],
}

impl<'a, S: pulp::Simd> Panel<'a, S> {
    #[inline(always)]
    fn new(simd: S, zeros: &'a mut [f64]) -> Self {
        let mut parts = zeros.chunks_exact_mut(zeros.len() / PANEL);
        Panel {
            simd,
            v: std::array::from_fn(|_| parts.next().expect("a part for each reflector")),
            inverse: [0.0; PANEL],
            gram: [[0.0; PANEL]; PANEL],
        }
    }

    /// Adds the reflector `p` that maps `x` onto its first entry, and maps `x`.
    #[inline(always)]
    fn push(&mut self, p: usize, x: &mut [f64]) {
        let norm = products(self.simd, [x; PANEL], x)[0].sqrt();
        // v = x -+ |x| e_1 with the sign that does not cancel; v'v / 2 = |x| (|x| + |x_1|).
        let scale = norm * (norm + x[0].abs());
        // A column of zeros, or so small that its square underflows.
        if scale < f64::MIN_POSITIVE {
            x[0] = 0.0;
            return;
        }
        let diagonal = -norm.copysign(x[0]);
        self.v[p][p..p + x.len()].copy_from_slice(x);
        self.v[p][p] -= diagonal;
        self.inverse[p] = 1.0 / scale;
        let [a, b, c, d] = [&*self.v[0], &*self.v[1], &*self.v[2], &*self.v[3]];
        self.gram[p] = products(self.simd, [a, b, c, d], self.v[p]);
        x[0] = diagonal;
    }

    /// $x \leftarrow x - \sum_p w_p v_p$ with $w_p = (v_p\cdot x - \sum_{q<p} w_q\,v_p\cdot v_q)/s_p$.
    #[inline(always)]
    fn apply(&self, x: &mut [f64]) {
        let simd = self.simd;
        let [a, b, c, d] = [&*self.v[0], &*self.v[1], &*self.v[2], &*self.v[3]];
        let mut w = products(simd, [a, b, c, d], x);
        for p in 0..PANEL {
            for q in 0..p {
                w[p] -= w[q] * self.gram[p][q];
            }
            w[p] *= self.inverse[p];
        }
        let [wa, wb] = [simd.splat_f64s(-w[0]), simd.splat_f64s(-w[1])];
        let [wc, wd] = [simd.splat_f64s(-w[2]), simd.splat_f64s(-w[3])];
        let ((a, a_rest), (b, b_rest)) = (S::as_simd_f64s(a), S::as_simd_f64s(b));
        let ((c, c_rest), (d, d_rest)) = (S::as_simd_f64s(c), S::as_simd_f64s(d));
        let (x, x_rest) = S::as_mut_simd_f64s(x);
        for ((((x, &a), &b), &c), &d) in x.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let half = simd.mul_add_e_f64s(wb, b, simd.mul_add_e_f64s(wa, a, *x));
            *x = simd.mul_add_e_f64s(wd, d, simd.mul_add_e_f64s(wc, c, half));
        }
        for (i, x) in x_rest.iter_mut().enumerate() {
            *x -= w[0] * a_rest[i] + w[1] * b_rest[i] + w[2] * c_rest[i] + w[3] * d_rest[i];
        }
    }
}

/// $v_p\cdot x$ for each $p$. No closures here and above: they would not be compiled for the
/// machine's vector instructions.
#[inline(always)]
fn products<S: pulp::Simd>(simd: S, v: [&[f64]; PANEL], x: &[f64]) -> [f64; PANEL] {
    let mut sums = [simd.splat_f64s(0.0); PANEL];
    let ((a, a_rest), (b, b_rest)) = (S::as_simd_f64s(v[0]), S::as_simd_f64s(v[1]));
    let ((c, c_rest), (d, d_rest)) = (S::as_simd_f64s(v[2]), S::as_simd_f64s(v[3]));
    let (x, x_rest) = S::as_simd_f64s(x);
    for ((((&x, &a), &b), &c), &d) in x.iter().zip(a).zip(b).zip(c).zip(d) {
        sums[0] = simd.mul_add_e_f64s(a, x, sums[0]);
        sums[1] = simd.mul_add_e_f64s(b, x, sums[1]);
        sums[2] = simd.mul_add_e_f64s(c, x, sums[2]);
        sums[3] = simd.mul_add_e_f64s(d, x, sums[3]);
    }
    let mut out = [0.0; PANEL];
    for p in 0..PANEL {
        out[p] = simd.reduce_sum_f64s(sums[p]);
    }
    for (i, x) in x_rest.iter().enumerate() {
        out[0] += a_rest[i] * x;
        out[1] += b_rest[i] * x;
        out[2] += c_rest[i] * x;
        out[3] += d_rest[i] * x;
    }
    out
}

/// Solves $Rc = y$, the columns of $R$ `height` apart.
fn back_substitute(triangle: &[f64], height: usize, mut y: Vec<f64>) -> Vec<f64> {
    for j in (0..y.len()).rev() {
        let column = &triangle[j * height..j * height + j + 1];
        // A function that is zero at all points keeps a zero coefficient.
        let s = if column[j] == 0.0 {
            0.0
        } else {
            y[j] / column[j]
        };
        y[j] = s;
        for (v, r) in y.iter_mut().zip(&column[..j]) {
            *v -= s * r;
        }
    }
    y
}

/// $V\,\mathrm{diag}(g)\,U^\top f$.
fn filtered(
    design: MatRef<'_, f64>,
    values: &[f64],
    regularisation: Regularisation,
) -> Result<Vec<f64>> {
    let (n, m) = design.shape();
    let svd = linalg::thin_svd_seq(design)?;
    let filter = regularisation.filter(&svd.s, n);
    let noise = f64::EPSILON * n.max(m) as f64 * svd.s.first().copied().unwrap_or(0.0);
    let rank = svd.s.iter().take_while(|&&s| s > noise).count();
    let mut coefficients = vec![0.0; m * (values.len() / n)];
    for (values, coefficients) in values.chunks_exact(n).zip(coefficients.chunks_exact_mut(m)) {
        for (j, g) in filter[..rank].iter().enumerate() {
            let u = svd.u.col(j);
            let weight = g * u.iter().zip(values).map(|(u, v)| u * v).sum::<f64>();
            for (c, v) in coefficients.iter_mut().zip(svd.v.col(j).iter()) {
                *c += weight * v;
            }
        }
    }
    Ok(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn wave(i: usize, j: usize) -> f64 {
        ((1 + i) as f64 * 0.37 + (j * j) as f64 * 0.11).sin()
    }

    /// $(\Phi^\top\Phi + n\lambda I)c = \Phi^\top f$, with more or fewer points than functions.
    #[test]
    fn ridge_solves_its_normal_equations_for_each_component() {
        // The last is LARGE.
        for (n, m) in [(40, 7), (9, 9), (5, 12), (1, 3), (33, 1), (900, 260)] {
            let design = Mat::from_fn(n, m, wave);
            let values: Vec<f64> = (0..3 * n).map(|i| wave(i, 5)).collect();
            let lambda = 1e-3;
            let ridge = Regularisation::Ridge { lambda };
            let together = encode_sample(design.as_ref(), &values, ridge).unwrap();
            for k in 0..3 {
                let f = &values[k * n..(k + 1) * n];
                let c = &together[k * m..(k + 1) * m];
                let alone = encode_sample(design.as_ref(), f, ridge).unwrap();
                assert!(c.iter().zip(&alone).all(|(a, b)| (a - b).abs() < 1e-13));
                for j in 0..m {
                    let gradient: f64 = (0..n)
                        .map(|i| {
                            let fitted: f64 = (0..m).map(|l| design[(i, l)] * c[l]).sum();
                            design[(i, j)] * (fitted - f[i])
                        })
                        .sum();
                    let off = gradient + n as f64 * lambda * c[j];
                    assert!(off.abs() < 1e-12 * n as f64, "{n} x {m}: {off}");
                }
            }
        }
    }

    #[test]
    fn a_function_that_no_point_sees_gets_zero() {
        let design = Mat::from_fn(6, 3, |i, j| if j == 1 { 0.0 } else { wave(i, j) });
        let values: Vec<f64> = (0..6).map(|i| wave(i, 2)).collect();
        for regularisation in [
            Regularisation::Ridge { lambda: 1e-6 },
            Regularisation::Ridge { lambda: 1e-320 },
            Regularisation::CutRelative { cut: 1e-8 },
        ] {
            let c = encode_sample(design.as_ref(), &values, regularisation).unwrap();
            assert!(c[1].abs() < 1e-12, "{c:?}");
            assert!((c[2] - 1.0).abs() < 1e-4, "{c:?}");
        }
    }
}
