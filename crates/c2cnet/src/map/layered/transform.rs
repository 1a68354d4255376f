//! From values at the latent points to coefficients and back, axis by axis where the points are a grid.

use crate::basis::Separable;
use crate::linalg::{self, matmul};
use crate::map::mlp::objective::cast;
use crate::map::mlp::scalar::Scalar;
use crate::storage::tensor;
use crate::{Error, Result};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Functions whose component orthogonal to those before them is smaller than this are left out.
const DEPENDENT: f64 = 1e-8;

/// $\psi_j$ at the latent points: the mean of $\psi_i\psi_j$ over them is $\delta_{ij}$.
///
/// At the crossings of a grid $\psi_j(x_p) = \prod_k A^k_{p_kj_k}$, the last axis running fastest; elsewhere there is
/// one axis, which is all points.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Functions {
    /// $A^k$, one row per line of the grid.
    #[serde(with = "tensor")]
    axes: Vec<Mat<f64>>,
    /// The position of each function among all products of functions along the axes.
    places: Vec<usize>,
}

impl Functions {
    /// The columns of `basis` made orthonormal in their order, without those that depend on others.
    ///
    /// # Errors
    /// If all of them are zero.
    pub(crate) fn at_points(basis: &Mat<f64>) -> Result<Self> {
        let points = basis.nrows();
        let most = basis.ncols().min(points);
        let qr = linalg::Qr::new(basis.as_ref().subcols(0, most).to_owned());
        let r = qr.r();
        let largest = (0..most).map(|i| r[(i, i)].abs()).fold(0.0, f64::max);
        let kept: Vec<usize> = (0..most)
            .filter(|&i| r[(i, i)].abs() > DEPENDENT * largest)
            .collect();
        if kept.is_empty() {
            return Err(Error::Config(
                "layered: every function of the layers' basis is zero at the latent points; name another basis".into(),
            ));
        }
        let q = qr.q_mul(Mat::<f64>::identity(most, most).as_ref());
        let all = linalg::select_columns(q.as_ref(), &kept) * faer::Scale((points as f64).sqrt());
        Ok(Functions::of_columns(all))
    }

    /// From functions that are orthonormal already.
    pub(super) fn of_columns(columns: Mat<f64>) -> Self {
        Functions {
            places: (0..columns.ncols()).collect(),
            axes: vec![columns],
        }
    }

    /// Products of functions along the axes of a grid, whose points are numbered as its crossings are. `None` if
    /// functions along an axis are dependent.
    ///
    /// A product comes with all products of lower functions, so that orthonormal factors of the axes span the same.
    pub(crate) fn on_grid(design: &Separable) -> Option<Self> {
        let (mut axes, triangles) = design.axis_factors();
        let dependent = |r: &Mat<f64>| {
            let sizes = || (0..r.nrows()).map(|i| r[(i, i)].abs());
            let largest = sizes().fold(0.0, f64::max);
            sizes().any(|size| size <= DEPENDENT * largest)
        };
        if triangles.iter().any(dependent) {
            return None;
        }
        for axis in &mut axes {
            *axis *= faer::Scale((axis.nrows() as f64).sqrt());
        }
        let place = |j: usize| {
            let along = design.index(j).iter().zip(&axes);
            along.fold(0, |place, (&i, axis)| place * axis.ncols() + i as usize)
        };
        Some(Functions {
            places: (0..design.ncols()).map(place).collect(),
            axes,
        })
    }

    /// How many functions.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether what a file claims is consistent for this many points.
    pub(super) fn fits(&self, points: usize) -> bool {
        let product = |size: fn(&Mat<f64>) -> usize| {
            let mut sizes = self.axes.iter().map(size);
            sizes.try_fold(1usize, usize::checked_mul)
        };
        let (lines, functions) = (product(Mat::nrows), product(Mat::ncols));
        let mut seen = self.places.clone();
        seen.sort_unstable();
        seen.dedup();
        let Some(&last) = seen.last() else {
            return false;
        };
        let few = self.axes.iter().all(|a| a.ncols() <= a.nrows());
        few && lines == Some(points)
            && seen.len() == self.places.len()
            && functions.is_some_and(|all| last < all)
    }
}

/// [`Functions`] in the precision of training.
pub(super) struct Transform<T> {
    axes: Vec<Mat<T>>,
    places: Vec<usize>,
    /// The function at each place, if there is one.
    functions: Vec<Option<usize>>,
}

/// Memory between two axes.
#[derive(Default)]
pub(super) struct Scratch<T>(Vec<T>, Vec<T>);

impl<T: Scalar> Transform<T> {
    pub(super) fn new(functions: &Functions) -> Self {
        let axes: Vec<Mat<T>> = functions.axes.iter().map(|a| cast(a.as_ref())).collect();
        let mut at = vec![None; axes.iter().map(Mat::ncols).product()];
        for (j, &place) in functions.places.iter().enumerate() {
            at[place] = Some(j);
        }
        Transform {
            axes,
            places: functions.places.clone(),
            functions: at,
        }
    }

    /// All functions at all points, one column per function.
    pub(super) fn to_dense(&self) -> Mat<T> {
        let points = self.axes.iter().map(Mat::nrows).product();
        Mat::from_fn(points, self.places.len(), |mut p, j| {
            let (mut place, mut value) = (self.places[j], T::from_f64(1.0));
            for axis in self.axes.iter().rev() {
                value *= axis[(p % axis.nrows(), place % axis.ncols())];
                (p, place) = (p / axis.nrows(), place / axis.ncols());
            }
            value
        })
    }

    /// How many coefficients a channel has; positions without a function hold no coefficient.
    pub(super) fn coefficients(&self) -> usize {
        self.functions.len()
    }

    /// The position of function `j` among the coefficients.
    pub(super) fn place(&self, j: usize) -> usize {
        self.places[j]
    }

    /// The function at each place.
    pub(super) fn functions(&self) -> &[Option<usize>] {
        &self.functions
    }

    /// $s\sum_p\psi_j(x_p)v(x_p)$ of `rows` channels and samples.
    pub(super) fn analyse(
        &self,
        (values, rows): (&[T], usize),
        scale: f64,
        to: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let axes = self.axes.iter().enumerate().map(|(k, a)| {
            let inner = self.axes[k + 1..].iter().map(Mat::nrows).product::<usize>();
            let outer = self.axes[..k].iter().map(Mat::ncols).product();
            (a.as_ref(), inner * rows, outer)
        });
        let axes: Vec<Contraction<'_, T>> = axes.collect();
        contract(&axes, values, (to, Accum::Replace), scale, scratch);
    }

    /// Adds $s\sum_j\psi_jd_j$ at the points, of `rows` channels and samples.
    pub(super) fn synthesise(
        &self,
        (coefficients, rows): (&[T], usize),
        scale: f64,
        to: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let axes = self.axes.iter().enumerate().rev().map(|(k, a)| {
            let inner = self.axes[k + 1..].iter().map(Mat::nrows).product::<usize>();
            let outer = self.axes[..k].iter().map(Mat::ncols).product();
            (a.transpose(), inner * rows, outer)
        });
        let axes: Vec<Contraction<'_, T>> = axes.collect();
        contract(&axes, coefficients, (to, Accum::Add), scale, scratch);
    }
}

/// A matrix, and the numbers of entries that run faster and slower than the axis it multiplies.
type Contraction<'a, T> = (MatRef<'a, T>, usize, usize);

/// Multiplies one axis after the other.
fn contract<T: Scalar>(
    axes: &[Contraction<'_, T>],
    from: &[T],
    (to, accum): (&mut [T], Accum),
    scale: f64,
    Scratch(before, after): &mut Scratch<T>,
) {
    let Some((last, first)) = axes.split_last() else {
        return;
    };
    let mut source = from;
    for step in first {
        let (axis, inner, outer) = *step;
        let size = inner * axis.ncols() * outer;
        if after.len() < size {
            after.resize(size, T::default());
        }
        along(*step, source, (after, Accum::Replace), 1.0);
        std::mem::swap(before, after);
        source = before;
    }
    along(*last, source, (to, accum), scale);
}

/// Multiplies one axis: each of `outer` matrices of `inner` rows by the same one.
fn along<T: Scalar>(
    (axis, inner, outer): Contraction<'_, T>,
    from: &[T],
    (to, accum): (&mut [T], Accum),
    scale: f64,
) {
    let (n, m) = axis.shape();
    let scale = T::from_f64(scale);
    let product = |from: &[T], to: &mut [T], par: Par| {
        let from = MatRef::from_column_major_slice(from, inner, n);
        let to = MatMut::from_column_major_slice_mut(to, inner, m);
        matmul(to, accum, from, axis, scale, par);
    };
    let (from, to) = (&from[..inner * n * outer], &mut to[..inner * m * outer]);
    if outer == 1 {
        return product(from, to, linalg::par());
    }
    to.par_chunks_exact_mut(inner * m)
        .zip(from.par_chunks_exact(inner * n))
        .for_each(|(to, from)| product(from, to, Par::Seq));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{BasisSpec, BuildContext, LaplaceMesh, LaplaceSpec};
    use crate::data::{Bounds, Points};

    /// Axis by axis or at once, coefficients and values are the same, and functions are orthonormal.
    #[test]
    fn axes_and_points_agree() {
        let domain = Bounds::unit(2);
        let points = Points::grid(&domain, &[9, 7]);
        let spec = BasisSpec::from(LaplaceSpec::on(LaplaceMesh::Box, 20));
        let basis = spec.build(BuildContext {
            domain: &domain,
            points: Some(&points),
            values: None,
            triangles: None,
        });
        let basis = basis.unwrap();
        let by_axes = Functions::on_grid(&basis.by_axes(&points).unwrap().unwrap()).unwrap();
        let columns = basis.evaluate(&points).unwrap().to_dense();
        let at_once = Functions::at_points(&columns).unwrap();
        assert!(by_axes.fits(63) && at_once.fits(63) && !by_axes.fits(64));
        assert_eq!((by_axes.len(), at_once.len()), (20, 20));
        let rows = 3;
        let values: Vec<f64> = (0..rows * 63).map(|i| (i as f64).sin()).collect();
        // Both span the same space, so analysis and synthesis project alike, whatever the signs.
        let project = |functions: &Functions| {
            let transform = Transform::<f64>::new(functions);
            let mut scratch = Scratch::default();
            let size = rows * transform.coefficients();
            let mut all = vec![0.0; size];
            transform.analyse((&values, rows), 1.0 / 63.0, &mut all, &mut scratch);
            for (place, function) in transform.functions().iter().enumerate() {
                if function.is_none() {
                    all[place * rows..(place + 1) * rows].fill(0.0);
                }
            }
            let mut back = vec![1.0; rows * 63];
            transform.synthesise((&all, rows), 2.0, &mut back, &mut scratch);
            back
        };
        let (a, b) = (project(&by_axes), project(&at_once));
        let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-12);
        let q = &at_once.axes[0];
        let gram = linalg::mul(q.transpose(), q.as_ref());
        assert!((gram[(3, 3)] / 63.0 - 1.0).abs() < 1e-12 && gram[(3, 4)].abs() < 1e-10);
    }
}
