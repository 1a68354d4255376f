//! Bases of products of functions of one variable: what the families `fourier`, `polynomial` and `mixed` share.

use super::tensor::IndexSet;
use super::{Basis, BasisFamily, Design, Separable};
use crate::data::{Bounds, Points};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Settings of a family of products: which functions of one variable there are, and which products are taken.
pub trait ProductFamily: BasisFamily {
    /// The products.
    ///
    /// # Errors
    /// If the settings do not fit the domain.
    fn indices(&self, domain: &Bounds) -> Result<IndexSet>;

    /// The values of $g_0, g_1, \dots$ along `axis` at $t\in[0,1]$.
    fn fill(&self, axis: usize, t: f64, values: &mut [f64]);

    /// A human-readable line about the basis, which has `len` functions.
    fn describe(&self, len: usize) -> String;
}

/// Products of functions of one variable on a box.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored<S>")]
#[serde(bound(deserialize = "S: ProductFamily"))]
pub struct Products<S> {
    domain: Bounds,
    spec: S,
    #[serde(skip)]
    indices: IndexSet,
}

#[derive(Deserialize)]
struct Stored<S> {
    domain: Bounds,
    spec: S,
}

impl<S: ProductFamily> TryFrom<Stored<S>> for Products<S> {
    type Error = Error;
    fn try_from(stored: Stored<S>) -> Result<Self> {
        Products::new(stored.domain, stored.spec)
    }
}

impl<S: ProductFamily> Products<S> {
    /// Chooses the products.
    ///
    /// # Errors
    /// If the settings do not fit the domain: see the table of the settings.
    pub fn new(domain: Bounds, spec: S) -> Result<Self> {
        Ok(Products {
            indices: spec.indices(&domain)?,
            domain,
            spec,
        })
    }

    #[cfg(test)]
    pub(super) fn indices(&self) -> &IndexSet {
        &self.indices
    }
}

impl<S: ProductFamily> Basis for Products<S> {
    fn family(&self) -> &'static str {
        S::NAME
    }

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn domain(&self) -> &Bounds {
        &self.domain
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain.check(points, S::NAME)?;
        let fill = |axis, t, values: &mut [f64]| self.spec.fill(axis, t, values);
        self.indices.evaluate(S::NAME, &self.domain, points, fill)
    }

    fn by_axes(&self, points: &Points) -> Result<Option<Separable>> {
        self.domain.check(points, S::NAME)?;
        let fill = |axis, t, values: &mut [f64]| self.spec.fill(axis, t, values);
        Ok(self.indices.by_axes(&self.domain, points, &fill))
    }

    fn describe(&self) -> String {
        self.spec.describe(self.len())
    }
}
