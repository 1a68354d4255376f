//! Eigenfunctions on a box: products of sines and cosines.
//!
//! Along a side of length $L$, with $t = (x - l)/L$ and the frequencies $k$ of [`FourierKind`]:
//!
//! | side | functions | eigenvalue |
//! |---|---|---|
//! | Neumann | $\sqrt{1/L}$, $\sqrt{2/L}\cos\pi kt$ | $(\pi k/L)^2$ |
//! | Dirichlet | $\sqrt{2/L}\sin\pi kt$ | $(\pi k/L)^2$ |
//! | periodic | $\sqrt{1/L}$, $\sqrt{2/L}\cos 2\pi kt$, $\sqrt{2/L}\sin 2\pi kt$ | $(2\pi k/L)^2$ |

use super::{Condition, LaplaceSpec};
use crate::basis::tensor::IndexSet;
use crate::basis::{BasisFamily, Design, FourierKind, Separable};
use crate::data::{Bounds, Points};
use crate::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Eigenfunctions of a box.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(super) struct OnBox {
    pub(super) domain: Bounds,
    condition: Condition,
    functions: usize,
    #[serde(skip)]
    indices: IndexSet,
}

#[derive(Deserialize)]
struct Stored {
    domain: Bounds,
    condition: Condition,
    functions: usize,
}

impl TryFrom<Stored> for OnBox {
    type Error = Error;
    fn try_from(stored: Stored) -> Result<Self> {
        OnBox::new(stored.domain, stored.condition, stored.functions)
    }
}

impl OnBox {
    pub(super) fn new(domain: Bounds, condition: Condition, functions: usize) -> Result<Self> {
        if (0..domain.dim()).any(|k| domain.width(k) <= 0.0) {
            return Err(Error::Config(format!(
                "laplace: the domain {domain} is flat; its Laplacian has no eigenfunctions"
            )));
        }
        let axis = |k: usize| {
            let kind = kind(&domain, condition, k);
            (kind.cost(), rate(&domain, kind, k).powi(2))
        };
        let axes = (0..domain.dim()).map(axis).collect();
        let setting = format!("laplace: functions = {functions}");
        let indices = IndexSet::weighted(axes, functions, &setting)?;
        Ok(OnBox {
            domain,
            condition,
            functions,
            indices,
        })
    }

    fn kind(&self, k: usize) -> FourierKind {
        kind(&self.domain, self.condition, k)
    }

    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    pub(super) fn eigenvalues(&self) -> Vec<f64> {
        let along = |(k, &i): (usize, &u32)| {
            let kind = self.kind(k);
            (rate(&self.domain, kind, k) * f64::from(kind.frequency(i))).powi(2)
        };
        let of = |index: &[u32]| index.iter().enumerate().map(along).sum();
        self.indices.iter().map(of).collect()
    }

    pub(super) fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, LaplaceSpec::NAME)?;
        let axis = |k: usize, t: f64, values: &mut [f64]| self.fill(k, t, values);
        self.indices
            .evaluate(LaplaceSpec::NAME, &self.domain, points, axis)
    }

    pub(super) fn by_axes(&self, points: &Points) -> Result<Option<Separable>> {
        self.domain.check(points, LaplaceSpec::NAME)?;
        let axis = |k: usize, t: f64, values: &mut [f64]| self.fill(k, t, values);
        Ok(self.indices.by_axes(&self.domain, points, &axis))
    }

    /// The derivative along axis `along`.
    pub(super) fn derivative(&self, points: &Points, along: usize) -> Result<Mat<f64>> {
        self.domain.check(points, LaplaceSpec::NAME)?;
        let axis = |k: usize, t: f64, values: &mut [f64]| match k == along {
            true => self.fill_derivative(k, t, values),
            false => self.fill(k, t, values),
        };
        let design = self
            .indices
            .evaluate(LaplaceSpec::NAME, &self.domain, points, axis)?;
        Ok(design.to_dense())
    }

    fn fill(&self, k: usize, t: f64, values: &mut [f64]) {
        let kind = self.kind(k);
        kind.fill(t, values);
        self.normalise(k, values);
    }

    fn fill_derivative(&self, k: usize, t: f64, values: &mut [f64]) {
        let kind = self.kind(k);
        let rate = rate(&self.domain, kind, k);
        for (i, value) in (0u32..).zip(values.iter_mut()) {
            let frequency = f64::from(kind.frequency(i));
            let angle = rate * frequency * self.domain.width(k) * t;
            let sine = kind == FourierKind::Sine || (kind == FourierKind::Periodic && i % 2 == 0);
            let slope = if sine { angle.cos() } else { -angle.sin() };
            *value = rate * frequency * slope;
        }
        self.normalise(k, values);
    }

    fn normalise(&self, k: usize, values: &mut [f64]) {
        let (kind, width) = (self.kind(k), self.domain.width(k));
        for (i, value) in (0u32..).zip(values) {
            let constant = kind.frequency(i) == 0;
            *value *= (if constant { 1.0 / width } else { 2.0 / width }).sqrt();
        }
    }
}

fn kind(domain: &Bounds, condition: Condition, k: usize) -> FourierKind {
    match condition {
        _ if domain.is_periodic(k) => FourierKind::Periodic,
        Condition::Neumann => FourierKind::Cosine,
        Condition::Dirichlet => FourierKind::Sine,
    }
}

/// The wave number of frequency 1 along axis `k`.
fn rate(domain: &Bounds, kind: FourierKind, k: usize) -> f64 {
    let waves = if kind == FourierKind::Periodic {
        2.0
    } else {
        1.0
    };
    waves * PI / domain.width(k)
}
