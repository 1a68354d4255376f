//! Kernel regression on chosen centres, for more samples than a dense kernel matrix can hold.
//!
//! $$\min_\beta \|K_{NM}\beta - C^\top\|^2 + \nu\,\beta^\top K_{MM}\beta$$
//! is solved in the features $B = K_{NM}L^{-\top}$, $K_{MM} + \epsilon I = LL^\top$, by
//! $(B^\top B + \nu I)\gamma = B^\top C^\top$, $\beta = L^{-\top}\gamma$. Both products are sums over samples: they can be
//! computed over parts of the samples, anywhere, and added.

use super::kernel::{Features, RAISES, does_not_factor};
use super::{KernelMap, KernelSettings, PassSettings};
use crate::compute::{squared_distances, squared_distances_within, to_kernel, to_kernel_within};
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Keeps $K_{MM}$ positive definite to rounding.
pub(super) const JITTER: f64 = 1e-12;

/// Samples whose features are kept in memory at the same time.
const BLOCK: usize = 2048;

/// A kernel map with fixed features and centres, whose weights are computed from sums over samples.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(crate) struct Landmarks {
    features: Features,
    /// Features of the centres, one column each.
    #[serde(with = "tensor")]
    centres: Mat<f64>,
    /// The shift that is subtracted from coordinates.
    #[serde(with = "tensor")]
    output_mean: Vec<f64>,
    settings: KernelSettings,
    /// $L$.
    #[serde(skip, default = "Mat::new")]
    factor: Mat<f64>,
}

restore_settled!(Landmarks);

/// $B^\top B$ (its lower half) and $B^\top C^\top$ of some samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KernelSums {
    #[serde(with = "tensor")]
    gram: Mat<f64>,
    #[serde(with = "tensor")]
    right: Mat<f64>,
}

impl Landmarks {
    /// A seeded random choice of at most `count` among the columns of `candidates` as centres.
    ///
    /// # Errors
    /// If the kernel matrix of the centres does not factor.
    pub(super) fn choose(
        features: Features,
        candidates: MatRef<'_, f64>,
        output_mean: Vec<f64>,
        settings: KernelSettings,
        seed: u64,
    ) -> Result<Self> {
        let mut chosen: Vec<usize> = (0..candidates.ncols()).collect();
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        chosen.shuffle(&mut rng);
        chosen.truncate(settings.max_centres);
        chosen.sort_unstable();
        let mut landmarks = Landmarks {
            features,
            centres: linalg::select_columns(candidates, &chosen),
            output_mean,
            settings,
            factor: Mat::new(),
        };
        landmarks.factor()?;
        Ok(landmarks)
    }

    /// Takes at most `count` centres of a map that was fitted to few samples.
    ///
    /// # Errors
    /// As [`Landmarks::choose`].
    pub(crate) fn among(map: KernelMap, count: usize, seed: u64) -> Result<Self> {
        let KernelMap {
            features,
            centres,
            output_mean,
            mut settings,
            ..
        } = map;
        settings.max_centres = count;
        Self::choose(features, centres.as_ref(), output_mean, settings, seed)
    }

    /// The number of centres.
    pub(crate) fn count(&self) -> usize {
        self.centres.ncols()
    }

    /// The sums over samples with these coefficients and coordinates.
    pub(crate) fn sums(&self, coefficients: MatRef<'_, f64>, c: MatRef<'_, f64>) -> KernelSums {
        let (pass, m, n) = (self.pass(), self.count(), coefficients.ncols());
        let mut gram = Mat::zeros(m, m);
        let mut right = Mat::zeros(m, c.nrows());
        for start in (0..n).step_by(BLOCK) {
            let take = BLOCK.min(n - start);
            let z = self.features.apply(coefficients.subcols(start, take));
            // Columns of `b` are samples: b = L^{-1} K_{MN}.
            let mut b = squared_distances(self.centres.as_ref(), z.as_ref());
            to_kernel(&mut b, pass.kernel, pass.length);
            linalg::solve_lower(self.factor.as_ref(), b.as_mut());
            linalg::add_gram(gram.as_mut(), b.as_ref());
            let mut targets = c.subcols(start, take).to_owned();
            linalg::subtract_from_columns(&mut targets, &self.output_mean);
            linalg::mul_add(right.as_mut(), b.as_ref(), targets.transpose(), 1.0);
        }
        KernelSums { gram, right }
    }

    /// The map fitted from these sums with the nugget, which is raised if the matrix does not factor.
    ///
    /// # Errors
    /// If the matrix does not factor with a much larger nugget either.
    pub(crate) fn solve(&self, sums: &KernelSums, nugget: f64) -> Result<KernelMap> {
        let mut settings = self.settings.clone();
        if let Some(last) = settings.passes.last_mut() {
            last.nugget = nugget;
        }
        let factor = raised(&sums.gram, nugget).ok_or_else(|| does_not_factor(self.pass()))?;
        let mut right = sums.right.clone();
        linalg::cholesky_solve_in_place(factor.as_ref(), right.as_mut());
        linalg::solve_upper(self.factor.transpose(), right.as_mut());
        Ok(KernelMap {
            features: self.features.clone(),
            centres: self.centres.clone(),
            weights: right.transpose().to_owned(),
            output_mean: self.output_mean.clone(),
            settings,
        })
    }

    fn pass(&self) -> PassSettings {
        *self.settings.passes.last().expect("at least one pass")
    }

    /// Computes $L$.
    fn factor(&mut self) -> Result<()> {
        let pass = self.pass();
        let mut kernel = squared_distances_within(self.centres.as_ref());
        to_kernel_within(&mut kernel, pass.kernel, pass.length);
        self.factor = raised(&kernel, JITTER).ok_or_else(|| does_not_factor(pass))?;
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let fits = self.features.settle(self.centres.nrows()) && !self.settings.passes.is_empty();
        match fits && self.count() > 0 {
            true => self.factor(),
            false => Err(Error::Data(
                "the centres of the kernel map are damaged".into(),
            )),
        }
    }
}

impl KernelSums {
    /// Adds the sums of other samples.
    pub(crate) fn add(&mut self, other: &KernelSums) {
        self.gram += &other.gram;
        self.right += &other.right;
    }

    /// Whether the sums of `other` can be added to these.
    pub(crate) fn is_like(&self, other: &KernelSums) -> bool {
        self.gram.shape() == other.gram.shape() && self.right.shape() == other.right.shape()
    }

    /// Whether these are sums over features of `landmarks`.
    pub(crate) fn fit(&self, landmarks: &Landmarks) -> bool {
        let m = landmarks.count();
        self.gram.shape() == (m, m) && self.right.shape() == (m, landmarks.output_mean.len())
    }
}

/// The Cholesky factor of `a` with `diagonal` added to its diagonal, or ten times that if it is too little.
fn raised(a: &Mat<f64>, diagonal: f64) -> Option<Mat<f64>> {
    (0..=RAISES).find_map(|raise| {
        let mut l = a.clone();
        for i in 0..l.nrows() {
            l[(i, i)] += diagonal * 10f64.powi(raise);
        }
        linalg::cholesky_in_place(l.as_mut()).then_some(l)
    })
}
