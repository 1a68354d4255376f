//! Reflections of the samples that only change the sign of coefficients.
//!
//! Fourier and polynomial coefficients are even or odd under a reflection of the domain: the image
//! of a sample has the same coefficients with some signs flipped. Where training samples come with
//! all their images, coefficients of different parity are uncorrelated, and a kernel matrix that
//! respects the reflections splits into one small matrix for each parity. Both save most of
//! the work, and change results by rounding only.

use super::PassSettings;
use crate::Result;
use crate::compute::{Dense, each_column, to_kernel};
use crate::linalg::{self, Svd};
use faer::{Mat, MatRef};

/// Which coefficients change sign under which reflections, for samples that come as full orbits: of $N$
/// columns under $R$ reflections, column $fN/R + k$ is the image under reflection $f$ of column $k$.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Mirrors {
    /// $R$, a power of two: reflections commute and each is its own inverse.
    reflections: usize,
    /// For each coefficient: bit $b$ is set if reflection $2^b$ flips its sign.
    parity: Vec<usize>,
}

impl Mirrors {
    /// The identity only.
    pub(crate) fn none(coefficients: usize) -> Self {
        Mirrors {
            reflections: 1,
            parity: vec![0; coefficients],
        }
    }

    /// `reflections` reflections, and the parity of each coefficient under them.
    ///
    /// # Panics
    /// If the number is not a power of two or a parity names a reflection beyond it.
    pub(crate) fn new(reflections: usize, parity: Vec<usize>) -> Self {
        assert!(reflections.is_power_of_two() && parity.iter().all(|&p| p < reflections));
        Mirrors {
            reflections,
            parity,
        }
    }

    /// The number of reflections, including the identity.
    pub(crate) fn reflections(&self) -> usize {
        self.reflections
    }

    /// $\pm1$: the factor by which `reflection` multiplies coefficients of `parity`.
    pub(crate) fn sign(parity: usize, reflection: usize) -> f64 {
        if (parity & reflection).count_ones() % 2 == 1 {
            -1.0
        } else {
            1.0
        }
    }

    /// The factor by which `reflection` multiplies each coefficient.
    pub(crate) fn signs(&self, reflection: usize) -> Vec<f64> {
        let sign = |&parity: &usize| Self::sign(parity, reflection);
        self.parity.iter().map(sign).collect()
    }

    /// The coefficients of each parity that occurs.
    pub(super) fn classes(&self) -> Vec<(usize, Vec<usize>)> {
        (0..self.reflections)
            .map(|parity| {
                let members = (0..self.parity.len()).filter(|&i| self.parity[i] == parity);
                (parity, members.collect::<Vec<_>>())
            })
            .filter(|(_, members)| !members.is_empty())
            .collect()
    }

    /// The singular value decomposition of coefficients (one column per sample, in full orbits), from
    /// one of each parity.
    ///
    /// # Errors
    /// If one does not converge.
    pub(super) fn svd(&self, a: MatRef<'_, f64>) -> Result<Svd> {
        let classes = self.classes();
        if classes.len() < 2 {
            return linalg::thin_svd(a);
        }
        let parts = classes
            .iter()
            .map(|(_, members)| linalg::thin_svd(linalg::select_rows(a, members).as_ref()))
            .collect::<Result<Vec<_>>>()?;
        let mut order: Vec<(usize, usize)> = (0..parts.len())
            .flat_map(|p| (0..parts[p].s.len()).map(move |i| (p, i)))
            .collect();
        order.sort_by(|x, y| parts[y.0].s[y.1].total_cmp(&parts[x.0].s[x.1]));
        let mut u = Mat::zeros(a.nrows(), order.len());
        let mut v = Mat::zeros(a.ncols(), order.len());
        for (to, &(p, i)) in order.iter().enumerate() {
            for (row, &member) in classes[p].1.iter().enumerate() {
                u[(member, to)] = parts[p].u[(row, i)];
            }
            v.col_mut(to).copy_from(parts[p].v.col(i));
        }
        let s = order.iter().map(|&(p, i)| parts[p].s[i]).collect();
        Ok(Svd { u, s, v })
    }

    /// $(K + \nu I)^{-1}C$ for the kernel matrix of features `z` (one column per sample, in full
    /// orbits), with `c` one column per sample; `None` if it does not factor.
    ///
    /// The kernel between two images depends only on the reflection between them,
    /// $K_{fg} = k_{f\oplus g}$. The Walsh-Hadamard transform over reflections makes that block
    /// diagonal: $\hat K_\chi = \sum_f \chi(f)\,k_f$.
    ///
    /// # Errors
    /// If the device fails.
    pub(super) fn solve(
        &self,
        dense: &dyn Dense,
        z: MatRef<'_, f64>,
        c: MatRef<'_, f64>,
        pass: PassSettings,
    ) -> Result<Option<Mat<f64>>> {
        let r = self.reflections;
        let n = z.ncols() / r;
        let z = z.subcols(0, n);
        let norms = linalg::column_norms_squared(z);
        // Gram matrices of each parity, then squared distances to each image.
        let mut blocks = vec![Mat::zeros(n, n); r];
        for (parity, members) in self.classes() {
            let part = linalg::select_rows(z, &members);
            blocks[parity] = dense.mul(part.transpose(), part.as_ref())?;
        }
        walsh_hadamard(&mut blocks);
        for (f, block) in blocks.iter_mut().enumerate() {
            each_column(block.as_mut(), |j, column| {
                for (v, n) in column.iter_mut().zip(&norms) {
                    *v = (n + norms[j] - 2.0 * *v).max(0.0);
                }
                if f == 0 {
                    column[j] = 0.0;
                }
            });
            to_kernel(block, pass.kernel, pass.length);
        }
        walsh_hadamard(&mut blocks);
        let mut parts: Vec<Mat<f64>> = (0..r).map(|f| c.subcols(f * n, n).to_owned()).collect();
        walsh_hadamard(&mut parts);
        for (part, k) in parts.iter_mut().zip(blocks) {
            let Some(solution) = dense.solve(k, pass.nugget, part.transpose())? else {
                return Ok(None);
            };
            *part = solution;
        }
        walsh_hadamard(&mut parts);
        let mut solution = Mat::zeros(c.nrows(), c.ncols());
        for (f, part) in parts.iter().enumerate() {
            let mut to = solution.as_mut().subcols_mut(f * n, n);
            to.copy_from(part.transpose());
            to *= faer::Scale(1.0 / r as f64);
        }
        Ok(Some(solution))
    }
}

/// In place: $M_f \leftarrow \sum_g (-1)^{|f \wedge g|} M_g$ for a power-of-two number of matrices.
fn walsh_hadamard(matrices: &mut [Mat<f64>]) {
    let half = matrices.len() / 2;
    if half == 0 {
        return;
    }
    let (low, high) = matrices.split_at_mut(half);
    for (a, b) in low.iter_mut().zip(high.iter_mut()) {
        linalg::par_pairs(a.as_mut(), b.as_mut(), &|a, b| {
            (*a, *b) = (*a + *b, *a - *b);
        });
    }
    walsh_hadamard(low);
    walsh_hadamard(high);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{Cpu, squared_distances_within, to_kernel_within};
    use crate::map::KernelFunction;
    use rand::{RngExt, SeedableRng};

    /// Six samples under four reflections.
    fn orbits() -> (Mirrors, Mat<f64>) {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let parity = vec![0, 1, 3, 2, 1, 0, 2];
        let base = Mat::from_fn(parity.len(), 6, |_, _| rng.random_range(-1.0..1.0));
        let a = Mat::from_fn(parity.len(), 24, |i, column| {
            Mirrors::sign(parity[i], column / 6) * base[(i, column % 6)]
        });
        (Mirrors::new(4, parity), a)
    }

    #[test]
    fn parities_have_the_singular_values_of_the_whole() {
        let (mirrors, a) = orbits();
        let (parts, whole) = (
            mirrors.svd(a.as_ref()).unwrap(),
            linalg::thin_svd(a.as_ref()).unwrap(),
        );
        for (p, w) in parts.s.iter().zip(&whole.s) {
            assert!((p - w).abs() < 1e-12, "{p} {w}");
        }
        let s = Mat::from_fn(7, 7, |i, j| if i == j { parts.s[i] } else { 0.0 });
        let again = &parts.u * s * parts.v.transpose();
        assert!((again - &a).norm_max() < 1e-12);
        let gram = parts.v.transpose() * &parts.v;
        assert!((gram - Mat::<f64>::identity(7, 7)).norm_max() < 1e-12);
    }

    #[test]
    fn blocks_solve_what_the_whole_kernel_matrix_solves() {
        let (mirrors, z) = orbits();
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
        let c = Mat::from_fn(5, 24, |_, _| rng.random_range(-1.0..1.0));
        for kernel in [
            KernelFunction::Gaussian,
            KernelFunction::InverseMultiquadric,
            KernelFunction::Matern52,
        ] {
            let pass = PassSettings {
                kernel,
                length: 1.0,
                nugget: 1e-3,
            };
            let mut k = squared_distances_within(z.as_ref());
            to_kernel_within(&mut k, kernel, pass.length);
            let whole = Cpu.solve(k, pass.nugget, c.transpose()).unwrap().unwrap();
            let parts = mirrors.solve(&Cpu, z.as_ref(), c.as_ref(), pass);
            let parts = parts.unwrap().unwrap();
            assert!((parts.transpose() - &whole).norm_max() < 1e-10 * whole.norm_max());
        }
    }
}
