//! Point sets in $\mathbb R^d$ and the boxes that hold them.

use crate::storage::tensor::{Array, Field as _, Numbers};
use crate::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// `n` points in $\mathbb R^d$, stored one after another. Clones share them: many fields may live on the same points.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    dim: usize,
    coords: Arc<Vec<f64>>,
}

impl Points {
    /// Takes `coords` as rows of `dim` coordinates.
    ///
    /// # Errors
    /// If `dim` is zero, the count is not a multiple of it, or a coordinate is not finite.
    pub fn new(dim: usize, coords: Vec<f64>) -> Result<Self> {
        if dim == 0 || !coords.len().is_multiple_of(dim) {
            return Err(Error::shape(
                "points",
                "(n, d) with d >= 1",
                format!("{} numbers for d = {dim}", coords.len()),
            ));
        }
        if let Some(i) = coords.iter().position(|c| !c.is_finite()) {
            return Err(Error::NotFinite {
                what: "points".into(),
                place: format!("point {}, coordinate {}", i / dim, i % dim),
                value: coords[i],
            });
        }
        Ok(Points {
            dim,
            coords: coords.into(),
        })
    }

    /// `n` equally spaced points of `[a, b]`, both ends included.
    pub fn linspace(a: f64, b: f64, n: usize) -> Self {
        let step = if n > 1 { (b - a) / (n - 1) as f64 } else { 0.0 };
        let mut coords: Vec<f64> = (0..n).map(|i| a + step * i as f64).collect();
        if n > 1 {
            coords[n - 1] = b;
        }
        Points {
            dim: 1,
            coords: coords.into(),
        }
    }

    /// The point 0 in one dimension, where vectors without points are kept.
    pub fn origin() -> Self {
        Points {
            dim: 1,
            coords: vec![0.0].into(),
        }
    }

    /// The tensor grid of `counts[k]` equally spaced points along axis `k`; the last axis varies fastest.
    ///
    /// # Panics
    /// If `counts` and `bounds` differ in length.
    pub fn grid(bounds: &Bounds, counts: &[usize]) -> Self {
        assert_eq!(bounds.dim(), counts.len());
        let axes: Vec<Points> = (0..counts.len())
            .map(|k| Points::linspace(bounds.lower(k), bounds.upper(k), counts[k]))
            .collect();
        let total: usize = counts.iter().product();
        let mut coords = Vec::with_capacity(total * counts.len());
        for index in 0..total {
            let mut rest = index;
            let start = coords.len();
            coords.resize(start + counts.len(), 0.0);
            for k in (0..counts.len()).rev() {
                coords[start + k] = axes[k].coords[rest % counts[k]];
                rest /= counts[k];
            }
        }
        Points {
            dim: counts.len(),
            coords: coords.into(),
        }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.coords.len() / self.dim
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.coords.is_empty()
    }

    /// The dimension $d$.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Point `i`.
    pub fn point(&self, i: usize) -> &[f64] {
        &self.coords[i * self.dim..(i + 1) * self.dim]
    }

    /// All coordinates, point after point.
    pub fn coords(&self) -> &[f64] {
        &self.coords
    }

    /// The points in order.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.coords.chunks_exact(self.dim)
    }

    /// The points at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Points {
        Points {
            dim: self.dim,
            coords: Arc::new(
                indices
                    .iter()
                    .flat_map(|&i| self.point(i).iter().copied())
                    .collect(),
            ),
        }
    }

    /// The smallest box that holds all points; `None` if there is none.
    pub fn bounding_box(&self) -> Option<Bounds> {
        if self.is_empty() {
            return None;
        }
        let mut sides = vec![[f64::INFINITY, f64::NEG_INFINITY]; self.dim];
        for point in self.iter() {
            for (side, &x) in sides.iter_mut().zip(point) {
                side[0] = side[0].min(x);
                side[1] = side[1].max(x);
            }
        }
        Some(Bounds(sides))
    }
}

/// A closed box $\prod_k [l_k, u_k]$.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<[f64; 2]>", into = "Vec<[f64; 2]>")]
pub struct Bounds(Vec<[f64; 2]>);

impl Bounds {
    /// A box from its sides `[lower, upper]`.
    ///
    /// # Errors
    /// If there is no side, a bound is not finite, or a lower bound exceeds its upper bound.
    pub fn new(sides: Vec<[f64; 2]>) -> Result<Self> {
        if sides.is_empty() {
            return Err(Error::Config("a domain needs at least one side".into()));
        }
        for (k, [lower, upper]) in sides.iter().enumerate() {
            if !(lower.is_finite() && upper.is_finite() && lower <= upper) {
                return Err(Error::Config(format!(
                    "side {k} of the domain is [{lower}, {upper}]; it needs finite lower <= upper"
                )));
            }
        }
        Ok(Bounds(sides))
    }

    /// The unit box $[0, 1]^d$.
    pub fn unit(dim: usize) -> Self {
        Bounds(vec![[0.0, 1.0]; dim])
    }

    /// The dimension $d$.
    pub fn dim(&self) -> usize {
        self.0.len()
    }

    /// The sides `[lower, upper]`.
    pub fn sides(&self) -> &[[f64; 2]] {
        &self.0
    }

    /// The lower bound along axis `k`.
    pub fn lower(&self, k: usize) -> f64 {
        self.0[k][0]
    }

    /// The upper bound along axis `k`.
    pub fn upper(&self, k: usize) -> f64 {
        self.0[k][1]
    }

    /// The length of side `k`.
    pub fn width(&self, k: usize) -> f64 {
        self.0[k][1] - self.0[k][0]
    }

    /// The box with each side extended by `fraction` of its length at both ends.
    pub(crate) fn widened(&self, fraction: f64) -> Bounds {
        let widen = |&[lower, upper]: &[f64; 2]| {
            let margin = fraction * (upper - lower);
            [lower - margin, upper + margin]
        };
        Bounds(self.0.iter().map(widen).collect())
    }

    /// The smallest box that holds both.
    pub fn union(&self, other: &Bounds) -> Bounds {
        Bounds(
            self.0
                .iter()
                .zip(&other.0)
                .map(|(a, b)| [a[0].min(b[0]), a[1].max(b[1])])
                .collect(),
        )
    }

    /// Whether `point` lies inside, with a tolerance for rounding (1e-9 of each side).
    pub fn contains(&self, point: &[f64]) -> bool {
        self.0.iter().zip(point).all(|([lower, upper], &x)| {
            let tolerance = 1e-9 * (upper - lower).max(lower.abs()).max(upper.abs());
            x >= lower - tolerance && x <= upper + tolerance
        })
    }

    /// Checks the dimension of `points` and that all lie inside, for the basis family `basis`.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::OutsideDomain`], naming the first point at fault.
    pub fn check(&self, points: &Points, basis: &'static str) -> Result<()> {
        if points.dim() != self.dim() {
            return Err(Error::shape(
                format!("points for the {basis} basis"),
                format!("(n, {})", self.dim()),
                format!("({}, {})", points.len(), points.dim()),
            ));
        }
        match points.iter().position(|p| !self.contains(p)) {
            None => Ok(()),
            Some(index) => Err(Error::OutsideDomain {
                index,
                point: points.point(index).to_vec(),
                domain: self.to_string(),
                basis,
            }),
        }
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (k, [lower, upper]) in self.0.iter().enumerate() {
            if k > 0 {
                write!(f, " x ")?;
            }
            write!(f, "[{lower}, {upper}]")?;
        }
        Ok(())
    }
}

impl TryFrom<Vec<[f64; 2]>> for Bounds {
    type Error = Error;
    fn try_from(sides: Vec<[f64; 2]>) -> Result<Self> {
        Bounds::new(sides)
    }
}

impl From<Bounds> for Vec<[f64; 2]> {
    fn from(bounds: Bounds) -> Self {
        bounds.0
    }
}
impl Numbers for Points {
    const WHAT: &'static str = "points of shape (n, d), d >= 1,";

    fn to_array(&self) -> Array {
        Array::new(vec![self.len(), self.dim()], self.coords().to_vec())
    }

    fn from_array(array: Array) -> Option<Self> {
        let &[_, dim] = array.shape.as_slice() else {
            return None;
        };
        Points::new(dim, array.values).ok()
    }
}

impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.store(serializer)
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Points::restore(deserializer)
    }
}
