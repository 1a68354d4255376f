//! Point sets in $\mathbb R^d$ and the boxes that hold them.

use crate::error::counted;
use crate::storage::Array;
use crate::storage::leaf::{Field as _, Numbers};
use crate::{Error, Result, memory};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::sync::Arc;

/// `n` points in $\mathbb R^d$, stored one after another. Clones share them: many fields may live on the same points.
///
/// Points that were given as a grid remember its shape, so that predictions there can be returned in it; in all other
/// respects they are the same as points listed one by one, and compare equal to them.
#[derive(Debug, Clone)]
pub struct Points {
    dim: usize,
    coords: Arc<Vec<f64>>,
    /// The number of points along each axis, if they were given as a grid; the last axis varies fastest.
    shape: Option<Arc<[usize]>>,
}

impl PartialEq for Points {
    fn eq(&self, other: &Self) -> bool {
        self.dim == other.dim && self.coords == other.coords
    }
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
                optional: false,
            });
        }
        Ok(Points {
            dim,
            coords: coords.into(),
            shape: None,
        })
    }

    /// All crossings of lines at the given coordinates `along` each axis; the last axis varies fastest.
    ///
    /// # Errors
    /// If there is no axis, an axis has no coordinate, or one is not finite.
    pub fn tensor(along: &[Vec<f64>]) -> Result<Self> {
        let counts: Vec<usize> = along.iter().map(Vec::len).collect();
        let total = counts.iter().try_fold(1usize, |a, &b| a.checked_mul(b));
        let total = total
            .filter(|&n| n > 0 && !along.is_empty())
            .ok_or_else(|| {
                Error::shape(
                    "axes of a grid",
                    "at least one point along each",
                    format!("{counts:?}"),
                )
            })?;
        memory::check_allocation("the points of a grid", &[total, along.len()])?;
        let mut coords = Vec::with_capacity(total * along.len());
        for index in 0..total {
            let mut stride = total;
            for axis in along {
                stride /= axis.len();
                coords.push(axis[index / stride % axis.len()]);
            }
        }
        Points::new(along.len(), coords)?.with_shape(counts)
    }

    /// The same points as a grid of this shape, the last axis varying fastest.
    ///
    /// # Errors
    /// If the shape does not match the number of points.
    #[doc(hidden)] // for the Python package
    pub fn with_shape(mut self, shape: Vec<usize>) -> Result<Self> {
        if shape.iter().product::<usize>() != self.len() {
            return Err(Error::shape(
                "the shape of a grid",
                format!("one of {} points", self.len()),
                format!("{shape:?}"),
            ));
        }
        self.shape = (shape.len() > 1).then(|| shape.into());
        Ok(self)
    }

    /// The number of points along each axis, if they were given as a grid; otherwise just their number.
    pub fn shape(&self) -> Vec<usize> {
        match &self.shape {
            Some(shape) => shape.to_vec(),
            None => vec![self.len()],
        }
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
            shape: None,
        }
    }

    /// The point 0 in one dimension, where vectors without points are kept.
    pub fn origin() -> Self {
        Points {
            dim: 1,
            coords: vec![0.0].into(),
            shape: None,
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
            shape: None,
        }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.coords.len() / self.dim
    }

    /// Whether there are no points.
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
            shape: None,
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
        Some(Bounds::walled(sides))
    }
}

/// A closed box $\prod_k [l_k, u_k]$. Opposite walls of periodic sides are identified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Side>", into = "Vec<Side>")]
pub struct Bounds {
    sides: Vec<[f64; 2]>,
    periodic: Vec<bool>,
}

/// A side as written in settings and files: `[0, 1]`, or `{ periodic = [0, 1] }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Side {
    Walls([f64; 2]),
    Periodic { periodic: [f64; 2] },
}

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
        Ok(Bounds::walled(sides))
    }

    fn walled(sides: Vec<[f64; 2]>) -> Self {
        Bounds {
            periodic: vec![false; sides.len()],
            sides,
        }
    }

    /// The same box, periodic along the axes that are marked.
    ///
    /// # Errors
    /// If the number of marks is not the number of axes, or a periodic side has no length.
    pub(crate) fn with_periods(mut self, periodic: &[bool]) -> Result<Self> {
        if periodic.len() != self.dim() {
            return Err(Error::Config(format!(
                "periodic = {periodic:?} has length {}, the points have {}; give true or false for each",
                periodic.len(),
                counted(self.dim(), "dimension")
            )));
        }
        if let Some(k) = (0..self.dim()).find(|&k| periodic[k] && self.width(k) <= 0.0) {
            return Err(Error::Config(format!(
                "side {k} of the domain is periodic and has no length; give the domain from the beginning of a \
                 period to its end"
            )));
        }
        self.periodic = periodic.to_vec();
        Ok(self)
    }

    /// Whether the box is periodic along axis `k`.
    pub(crate) fn is_periodic(&self, k: usize) -> bool {
        self.periodic[k]
    }

    /// Whether it is periodic along any axis.
    pub(crate) fn has_period(&self) -> bool {
        self.periodic.contains(&true)
    }

    /// The same points, moved into the box along periodic axes.
    pub(crate) fn wrapped<'a>(&self, points: &'a Points) -> Cow<'a, Points> {
        let beyond =
            |k: usize, x: f64| self.periodic[k] && !(self.lower(k)..self.upper(k)).contains(&x);
        let strays = |p: &[f64]| p.iter().enumerate().any(|(k, &x)| beyond(k, x));
        if points.dim() != self.dim() || !self.has_period() || !points.iter().any(strays) {
            return Cow::Borrowed(points);
        }
        let inside = |(i, &x): (usize, &f64)| {
            let k = i % self.dim();
            match beyond(k, x) {
                true => self.lower(k) + (x - self.lower(k)).rem_euclid(self.width(k)),
                false => x,
            }
        };
        Cow::Owned(Points {
            coords: Arc::new(points.coords().iter().enumerate().map(inside).collect()),
            ..points.clone()
        })
    }

    /// The unit box $[0, 1]^d$.
    pub fn unit(dim: usize) -> Self {
        Bounds::walled(vec![[0.0, 1.0]; dim])
    }

    /// The dimension $d$.
    pub fn dim(&self) -> usize {
        self.sides.len()
    }

    /// The sides `[lower, upper]`.
    pub(crate) fn sides(&self) -> &[[f64; 2]] {
        &self.sides
    }

    /// The lower bound along axis `k`.
    pub fn lower(&self, k: usize) -> f64 {
        self.sides[k][0]
    }

    /// The upper bound along axis `k`.
    pub fn upper(&self, k: usize) -> f64 {
        self.sides[k][1]
    }

    /// The length of side `k`.
    pub fn width(&self, k: usize) -> f64 {
        self.sides[k][1] - self.sides[k][0]
    }

    /// The box with each side extended by `fraction` of its length at both ends.
    pub(crate) fn widened(&self, fraction: f64) -> Bounds {
        let widen = |&[lower, upper]: &[f64; 2]| {
            let margin = fraction * (upper - lower);
            [lower - margin, upper + margin]
        };
        Bounds {
            sides: self.sides.iter().map(widen).collect(),
            periodic: self.periodic.clone(),
        }
    }

    /// The smallest box that holds both.
    #[doc(hidden)] // for the command
    pub fn union(&self, other: &Bounds) -> Bounds {
        let both = self.sides.iter().zip(&other.sides);
        Bounds {
            sides: both
                .map(|(a, b)| [a[0].min(b[0]), a[1].max(b[1])])
                .collect(),
            periodic: self.periodic.clone(),
        }
    }

    /// Whether `point` lies inside, with a tolerance for rounding (1e-9 of each side).
    pub fn contains(&self, point: &[f64]) -> bool {
        self.sides.iter().zip(point).all(|([lower, upper], &x)| {
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
            return Err(Error::dimension(self.dim(), points));
        }
        match points.iter().position(|p| !self.contains(p)) {
            None => Ok(()),
            Some(index) => Err(self.outside(points, index, basis)),
        }
    }

    /// The error about the point `index` that is not where a basis of the family `basis` is defined.
    pub(crate) fn outside(&self, points: &Points, index: usize, basis: &'static str) -> Error {
        let wider = points.bounding_box().map(|all| self.union(&all));
        Error::OutsideDomain {
            index,
            point: points.point(index).to_vec(),
            domain: self.sides.clone(),
            wider: wider.unwrap_or_else(|| self.clone()).sides,
            basis,
            field: String::new(),
        }
    }
}

impl std::fmt::Display for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (k, [lower, upper]) in self.sides.iter().enumerate() {
            if k > 0 {
                write!(f, " x ")?;
            }
            write!(f, "[{lower}, {upper}]")?;
            if self.periodic[k] {
                write!(f, " (periodic)")?;
            }
        }
        Ok(())
    }
}

impl TryFrom<Vec<Side>> for Bounds {
    type Error = Error;
    fn try_from(sides: Vec<Side>) -> Result<Self> {
        let of = |side: &Side| match *side {
            Side::Walls(side) => (side, false),
            Side::Periodic { periodic } => (periodic, true),
        };
        let (sides, periodic): (Vec<_>, Vec<_>) = sides.iter().map(of).unzip();
        Bounds::new(sides)?.with_periods(&periodic)
    }
}

impl From<Bounds> for Vec<Side> {
    fn from(bounds: Bounds) -> Self {
        let side = |(&side, &periodic): (&[f64; 2], &bool)| match periodic {
            true => Side::Periodic { periodic: side },
            false => Side::Walls(side),
        };
        bounds
            .sides
            .iter()
            .zip(&bounds.periodic)
            .map(side)
            .collect()
    }
}

impl Numbers for Points {
    const WHAT: &'static str = "points of shape (n, d) or of a grid (n1, n2, ..., d), d >= 1,";

    fn to_array(&self) -> Array {
        let shape = [self.shape(), vec![self.dim()]].concat();
        Array::new(shape, self.coords().to_vec())
    }

    fn from_array(array: Array) -> Option<Self> {
        let (&dim, grid) = array.shape.split_last()?;
        let points = Points::new(dim, array.values).ok()?;
        (!grid.is_empty())
            .then(|| points.with_shape(grid.to_vec()).ok())
            .flatten()
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

impl Error {
    /// Points with another number of coordinates than the `dim` that are needed.
    #[doc(hidden)] // for the command
    pub fn dimension(dim: usize, points: &Points) -> Self {
        let advice = match points.len() == dim && points.dim() > 1 {
            true => "; transpose them, `.T`",
            false => "",
        };
        Error::shape(
            "points",
            format!("(n, {dim}), a row for each point{advice}"),
            format!("({}, {})", points.len(), points.dim()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_listed_with_the_last_axis_fastest_and_remember_their_shape() {
        let grid = Points::tensor(&[vec![0.0, 1.0], vec![5.0, 6.0, 7.0]]).unwrap();
        assert_eq!(grid.shape(), [2, 3]);
        assert_eq!(grid.point(1), [0.0, 6.0]);
        assert_eq!(grid.point(3), [1.0, 5.0]);
        let listed = Points::new(2, grid.coords().to_vec()).unwrap();
        assert!(listed == grid && listed.shape() == [6]);
        assert_eq!(Points::from_array(grid.to_array()).unwrap().shape(), [2, 3]);
        assert!(Points::tensor(&[vec![0.0], vec![]]).is_err());
        assert!(listed.with_shape(vec![4, 2]).is_err());
    }

    #[test]
    fn periodic_sides_take_points_back_inside() {
        let sides = Bounds::new(vec![[1.0, 3.0], [0.0, 1.0]]).unwrap();
        let domain = sides.with_periods(&[true, false]).unwrap();
        let points = Points::new(2, vec![3.0, 0.5, 0.5, 0.5, 2.5, 1.0]).unwrap();
        let wrapped = domain.wrapped(&points);
        assert_eq!(wrapped.coords(), [1.0, 0.5, 2.5, 0.5, 2.5, 1.0]);
        assert!(matches!(domain.wrapped(&wrapped), Cow::Borrowed(_)));
        let text = serde_json::to_string(&domain).unwrap();
        assert_eq!(text, r#"[{"periodic":[1.0,3.0]},[0.0,1.0]]"#);
        assert_eq!(serde_json::from_str::<Bounds>(&text).unwrap(), domain);
        let error = domain.with_periods(&[true]).unwrap_err().to_string();
        assert!(error.contains("the points have 2 dimensions"), "{error}");
        let flat = Bounds::new(vec![[1.0, 1.0]]).unwrap().with_periods(&[true]);
        assert!(flat.unwrap_err().to_string().contains("has no length"));
    }
}
