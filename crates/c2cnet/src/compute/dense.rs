//! Dense algebra in double precision where maps in closed form spend their time, on the CPU or on a GPU.

use super::kernel_function::{
    squared_distances, squared_distances_within, to_kernel, to_kernel_within,
};
use super::{Device, Effort, Gradients, PassSettings};
use crate::{Result, linalg};
use faer::{Mat, MatRef};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One factorisation on the CPU keeps this many threads busy.
const THREADS_PER_FACTOR: usize = 2;

/// The device for dense algebra. A GPU that trains networks but lacks what dense algebra needs leaves it to the
/// CPU, with a warning ([`super::take_warnings`]).
///
/// # Errors
/// [`crate::Error::Device`] if a GPU was asked for and cannot be used.
pub(crate) fn dense(device: Device) -> Result<Arc<dyn Dense>> {
    let Some(gpu) = device.gpu()? else {
        return Ok(Arc::new(Cpu));
    };
    match super::cuda::dense(&gpu) {
        Ok(dense) => Ok(dense),
        Err(why) => {
            gpu.warn(format!("closed-form maps stayed on the CPU: {why}"));
            Ok(Arc::new(Cpu))
        }
    }
}

/// What maps in closed form ask of a device. Results of two devices agree to rounding; one device gives the same bits
/// again.
///
/// # Errors
/// All of them: if the device fails.
pub(crate) trait Dense: Send + Sync {
    /// $AB$.
    fn mul(&self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// $AA^\top$, its lower half at least.
    fn gram(&self, a: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// Eigenvalues (ascending) and eigenvectors of the symmetric matrix whose lower half is `a`.
    fn symmetric_eigen(&self, a: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)>;

    /// $(A + \nu I)^{-1}B$ for the symmetric matrix whose lower half is `a`; `None` if it is not positive definite to
    /// rounding.
    fn solve(&self, a: Mat<f64>, nugget: f64, b: MatRef<'_, f64>) -> Result<Option<Mat<f64>>>;

    /// Kernel regressions from features `z` to `c`, which predict at the features `held`; one column per sample.
    fn sweep<'a>(
        &'a self,
        z: MatRef<'_, f64>,
        held: MatRef<'_, f64>,
        c: MatRef<'a, f64>,
    ) -> Result<Box<dyn Sweep + 'a>>;

    /// How many regressions of a sweep are worth computing at once.
    fn side_by_side(&self) -> usize {
        1
    }

    /// $\frac1n\sum_j J_j^\top J_j$ over points and combinations of output directions as `effort` says.
    fn outer_product(&self, gradients: &Gradients<'_>, effort: Effort) -> Result<Mat<f64>>;

    /// $U^\top A$ for the leading `count` left singular vectors, from the smaller Gram matrix: directions below the square
    /// root of rounding are not resolved.
    fn principal_coordinates(&self, a: MatRef<'_, f64>, count: usize) -> Result<Mat<f64>> {
        let (rows, columns) = a.shape();
        let wide = rows <= columns;
        let turned = if wide { a } else { a.transpose() };
        let (values, vectors) = self.symmetric_eigen(self.gram(turned)?.as_ref())?;
        let leading: Vec<usize> = (0..values.len()).rev().take(count).collect();
        let vectors = linalg::select_columns(vectors.as_ref(), &leading);
        match wide {
            true => self.mul(vectors.transpose(), a),
            // Rows of $\Sigma W^\top$.
            false => Ok(Mat::from_fn(leading.len(), columns, |i, k| {
                values[leading[i]].max(0.0).sqrt() * vectors[(k, i)]
            })),
        }
    }
}

/// Kernel regressions on the same samples with many settings.
pub(crate) trait Sweep: Send + Sync {
    /// $C(K + \nu I)^{-1}K_{\rm held}$; `None` if $K + \nu I$ does not factor.
    ///
    /// # Errors
    /// If the device fails.
    fn predictions(&self, pass: PassSettings) -> Result<Option<Mat<f64>>>;
}

/// The CPU.
pub(crate) struct Cpu;

impl Dense for Cpu {
    fn mul(&self, a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(linalg::mul(a, b))
    }

    fn gram(&self, a: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(linalg::lower_gram(a))
    }

    fn symmetric_eigen(&self, a: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
        linalg::symmetric_eigen(a)
    }

    fn solve(&self, a: Mat<f64>, nugget: f64, b: MatRef<'_, f64>) -> Result<Option<Mat<f64>>> {
        Ok(solve(a, nugget, b))
    }

    fn sweep<'a>(
        &'a self,
        z: MatRef<'_, f64>,
        held: MatRef<'_, f64>,
        c: MatRef<'a, f64>,
    ) -> Result<Box<dyn Sweep + 'a>> {
        Ok(Box::new(CpuSweep {
            within: squared_distances_within(z),
            across: squared_distances(z, held),
            c,
            matrices: Mutex::default(),
            spare: Mutex::default(),
        }))
    }

    fn side_by_side(&self) -> usize {
        (rayon::current_num_threads() / THREADS_PER_FACTOR).max(1)
    }

    fn outer_product(&self, gradients: &Gradients<'_>, effort: Effort) -> Result<Mat<f64>> {
        Ok(gradients.outer_product(effort))
    }
}

fn solve(mut a: Mat<f64>, nugget: f64, b: MatRef<'_, f64>) -> Option<Mat<f64>> {
    solve_in(&mut a, nugget, b)
}

/// [`solve`], which leaves the factor in `a`.
fn solve_in(a: &mut Mat<f64>, nugget: f64, b: MatRef<'_, f64>) -> Option<Mat<f64>> {
    for i in 0..a.nrows() {
        a[(i, i)] += nugget;
    }
    if !linalg::cholesky_in_place(a.as_mut()) {
        return None;
    }
    let mut solution = b.to_owned();
    linalg::cholesky_solve_in_place(a.as_ref(), solution.as_mut());
    Some(solution)
}

struct CpuSweep<'a> {
    /// Squared distances.
    within: Mat<f64>,
    across: Mat<f64>,
    c: MatRef<'a, f64>,
    /// For the last kernel and length: steps along the nugget reuse them.
    matrices: Mutex<Option<Arc<KernelMatrices>>>,
    /// Memory to reuse: fresh pages cost as much as computing the kernels.
    spare: Mutex<Vec<Mat<f64>>>,
}

/// Kernels of one length.
struct KernelMatrices {
    of: PassSettings,
    within: Mat<f64>,
    across: Mat<f64>,
}

impl Sweep for CpuSweep<'_> {
    fn predictions(&self, pass: PassSettings) -> Result<Option<Mat<f64>>> {
        let matrices = self.matrices(pass);
        let across = matrices.across.as_ref();
        let mut factor = self.copy(&matrices.within);
        // (K + nu I)^{-1} applied to whichever has fewer columns: targets or held-out samples.
        let predicted = match self.c.nrows() < across.ncols() {
            true => solve_in(&mut factor, pass.nugget, self.c.transpose())
                .map(|alpha| linalg::mul(alpha.transpose(), across)),
            false => solve_in(&mut factor, pass.nugget, across)
                .map(|weights| linalg::mul(self.c, weights.as_ref())),
        };
        lock(&self.spare).push(factor);
        Ok(predicted)
    }
}

impl CpuSweep<'_> {
    fn matrices(&self, pass: PassSettings) -> Arc<KernelMatrices> {
        let same = |m: &PassSettings| (m.kernel, m.length) == (pass.kernel, pass.length);
        let last = lock(&self.matrices).clone();
        if let Some(known) = last.filter(|m| same(&m.of)) {
            return known;
        }
        let (mut within, mut across) = (self.copy(&self.within), self.across.clone());
        to_kernel_within(&mut within, pass.kernel, pass.length);
        to_kernel(&mut across, pass.kernel, pass.length);
        let made = Arc::new(KernelMatrices {
            of: pass,
            within,
            across,
        });
        let before = lock(&self.matrices).replace(made.clone());
        if let Some(before) = before.and_then(Arc::into_inner) {
            lock(&self.spare).push(before.within);
        }
        made
    }

    /// A copy, in reused memory if there is any.
    fn copy(&self, of: &Mat<f64>) -> Mat<f64> {
        let spare = lock(&self.spare).pop();
        match spare {
            Some(mut spare) => {
                linalg::copy(spare.as_mut(), of.as_ref());
                spare
            }
            None => of.clone(),
        }
    }
}

/// Whatever a panicked thread left behind is safe to overwrite.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Any device must agree with the CPU to 1e-10, and with itself to the bit.
#[cfg(test)]
pub(super) mod conformance {
    use super::*;
    use crate::compute::KernelFunction;
    use rand::{RngExt, SeedableRng};

    fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        Mat::from_fn(rows, columns, |_, _| rng.random_range(-1.0..1.0))
    }

    /// `make` twice on the device, once on the CPU.
    fn compare(dense: &dyn Dense, what: &str, make: impl Fn(&dyn Dense) -> Mat<f64>) {
        let (first, again, here) = (make(dense), make(dense), make(&Cpu));
        assert_eq!(first, again, "{what}: other bits");
        assert_eq!(first.shape(), here.shape(), "{what}");
        let off = (&first - &here).norm_max() / here.norm_max();
        println!("{what}: {off:.1e}");
        assert!(off < 1e-10, "{what}: {off}");
    }

    /// Large enough for a GPU to be worth its while.
    const SAMPLES: usize = 700;

    pub(in crate::compute) fn check(dense: &dyn Dense) {
        let a = random(650, SAMPLES, 1);
        compare(dense, "mul", |d| d.mul(a.transpose(), a.as_ref()).unwrap());
        let lower = |mut gram: Mat<f64>| {
            for j in 0..gram.ncols() {
                (0..j).for_each(|i| gram[(i, j)] = 0.0);
            }
            gram
        };
        compare(dense, "gram", |d| lower(d.gram(a.as_ref()).unwrap()));
        let gram = Cpu.gram(a.as_ref()).unwrap();
        compare(dense, "eigenvalues", |d| {
            let (values, _) = d.symmetric_eigen(gram.as_ref()).unwrap();
            Mat::from_fn(values.len(), 1, |i, _| values[i])
        });
        let b = random(650, 9, 2);
        compare(dense, "solve", |d| {
            d.solve(gram.clone(), 1.0, b.as_ref()).unwrap().unwrap()
        });
        let indefinite = dense.solve(gram.clone(), -1e4, b.as_ref()).unwrap();
        assert!(indefinite.is_none(), "what does not factor has no solution");
        compare(dense, "principal coordinates", |d| {
            let c = d.principal_coordinates(a.as_ref(), 30).unwrap();
            // Signs of directions are arbitrary.
            Mat::from_fn(c.nrows(), c.ncols(), |i, k| c[(i, k)].abs())
        });
        regressions(dense);
        gradients(dense);
    }

    fn settings() -> impl Iterator<Item = PassSettings> {
        use KernelFunction::{Gaussian, InverseMultiquadric, Matern52};
        let pass = |kernel| PassSettings {
            kernel,
            length: 1.3,
            nugget: 1e-4,
        };
        [Matern52, InverseMultiquadric, Gaussian]
            .into_iter()
            .map(pass)
    }

    /// With fewer targets than held-out samples, and with more.
    fn regressions(dense: &dyn Dense) {
        let (z, held) = (random(6, SAMPLES, 3), random(6, 40, 4));
        for targets in [5, 90] {
            let c = random(targets, SAMPLES, 5);
            for pass in settings() {
                let what = format!("{:?} with {targets} targets", pass.kernel);
                compare(dense, &what, |d| {
                    let sweep = d.sweep(z.as_ref(), held.as_ref(), c.as_ref()).unwrap();
                    // An earlier regression leaves no trace.
                    let before = PassSettings {
                        nugget: 1e-2,
                        ..pass
                    };
                    sweep.predictions(before).unwrap().unwrap();
                    sweep.predictions(pass).unwrap().unwrap()
                });
            }
        }
    }

    /// Of all directions, and of random combinations of them.
    fn gradients(dense: &dyn Dense) {
        let z = random(7, SAMPLES, 6);
        let distances = squared_distances_within(z.as_ref());
        for pass in settings() {
            let gradients = Gradients {
                z: z.as_ref(),
                weights: random(12, SAMPLES, 7),
                distances: distances.as_ref(),
                pass,
                seed: 8,
            };
            for rows in [12, 5] {
                let effort = Effort { points: 300, rows };
                let what = format!("gradients of {:?}, {rows} of 12", pass.kernel);
                compare(dense, &what, |d| {
                    d.outer_product(&gradients, effort).unwrap()
                });
            }
        }
    }

    #[test]
    fn the_processor_keeps_what_any_device_must() {
        check(&Cpu);
    }
}
