//! From values at the latent points to coefficients and back, axis by axis where the points are a grid.

use super::groups::Groups;
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

/// How far what a shift makes of a function may lie from the plane of the function and its partner.
const OFF_PLANE: f64 = 1e-8;

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
    /// Along each axis, the function into which a shift turns each one, if there is one.
    #[serde(default)]
    partners: Vec<Vec<Option<usize>>>,
}

impl Functions {
    /// The columns of `basis` made orthonormal in their order, without those that depend on others.
    ///
    /// # Errors
    /// If all of them are zero.
    pub(crate) fn at_points(basis: &Mat<f64>) -> Result<Self> {
        let points = basis.nrows();
        let kept = independent(basis);
        if kept.is_empty() {
            return Err(Error::Config(
                "layered: every function of the layers' basis is zero at the latent points; name another basis".into(),
            ));
        }
        let qr = linalg::Qr::new(linalg::select_columns(basis.as_ref(), &kept));
        let q = qr.q_mul(Mat::<f64>::identity(kept.len(), kept.len()).as_ref());
        Ok(Functions::of_columns(
            q * faer::Scale((points as f64).sqrt()),
        ))
    }

    /// From functions that are orthonormal already.
    pub(super) fn of_columns(columns: Mat<f64>) -> Self {
        Functions {
            places: (0..columns.ncols()).collect(),
            partners: vec![vec![None; columns.ncols()]],
            axes: vec![columns],
        }
    }

    /// The first `count` products of waves on a torus with these numbers of lines and functions along each axis.
    #[cfg(test)]
    pub(super) fn waves(sizes: &[(usize, usize)], count: usize) -> Self {
        let axis = |&(lines, functions): &(usize, usize)| {
            Mat::from_fn(lines, functions, |i, j| {
                let turn = std::f64::consts::TAU * (i * j.div_ceil(2)) as f64 / lines as f64;
                match j {
                    0 => 1.0,
                    _ if j % 2 == 1 => std::f64::consts::SQRT_2 * turn.cos(),
                    _ => std::f64::consts::SQRT_2 * turn.sin(),
                }
            })
        };
        let axes: Vec<Mat<f64>> = sizes.iter().map(axis).collect();
        Functions {
            places: (0..count).collect(),
            partners: axes.iter().map(partners).collect(),
            axes,
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
            partners: axes.iter().map(partners).collect(),
            axes,
        })
    }

    /// $\psi_j$ at the points, one column per function.
    pub(super) fn to_dense(&self) -> Mat<f64> {
        let points = self.axes.iter().map(Mat::nrows).product();
        Mat::from_fn(points, self.len(), |mut p, j| {
            let (mut place, mut value) = (self.places[j], 1.0);
            for axis in self.axes.iter().rev() {
                value *= axis[(p % axis.nrows(), place % axis.ncols())];
                (p, place) = (p / axis.nrows(), place / axis.ncols());
            }
            value
        })
    }

    /// The place of each function among the coefficients.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// $T$ with $\psi = \varphi T$, from the basis $\varphi$ at the points: what makes it orthonormal there, and is the
    /// same at every other point.
    ///
    /// # Errors
    /// If the factorisation fails.
    pub(super) fn change_of_basis(&self, basis: &Mat<f64>) -> Result<Mat<f64>> {
        let kept = match self.len() == basis.ncols() {
            true => (0..self.len()).collect(),
            false => independent(basis),
        };
        let found = linalg::select_columns(basis.as_ref(), &kept);
        let mean = faer::Scale(1.0 / basis.nrows() as f64);
        let of_basis = linalg::mul(self.to_dense().transpose(), found.as_ref()) * mean;
        let svd = linalg::thin_svd(of_basis.as_ref())?;
        let mut v = svd.v;
        for (j, s) in svd.s.iter().enumerate() {
            v.col_mut(j).iter_mut().for_each(|x| *x /= s);
        }
        let inverse = linalg::mul(v.as_ref(), svd.u.transpose());
        let mut all = Mat::zeros(basis.ncols(), self.len());
        for (row, &k) in kept.iter().enumerate() {
            all.row_mut(k).copy_from(inverse.row(row));
        }
        Ok(all)
    }

    /// Which functions make groups.
    pub(super) fn groups(&self) -> Groups {
        let sizes: Vec<usize> = self.axes.iter().map(Mat::ncols).collect();
        Groups::new(&self.places, &sizes, &self.partners)
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
        let mutual = |of: &Vec<Option<usize>>, functions: usize| {
            let back = |(i, j): (usize, &Option<usize>)| {
                j.is_none_or(|j| j != i && of.get(j) == Some(&Some(i)))
            };
            of.len() == functions && of.iter().enumerate().all(back)
        };
        let mut pairs = self.partners.iter().zip(&self.axes);
        let partners = self.partners.is_empty()
            || self.partners.len() == self.axes.len() && pairs.all(|(p, a)| mutual(p, a.ncols()));
        few && partners
            && lines == Some(points)
            && seen.len() == self.places.len()
            && functions.is_some_and(|all| last < all)
    }
}

/// The columns that do not depend on those before them.
fn independent(basis: &Mat<f64>) -> Vec<usize> {
    let most = basis.ncols().min(basis.nrows());
    let r = linalg::Qr::new(basis.as_ref().subcols(0, most).to_owned()).r();
    let largest = (0..most).map(|i| r[(i, i)].abs()).fold(0.0, f64::max);
    (0..most)
        .filter(|&i| r[(i, i)].abs() > DEPENDENT * largest)
        .collect()
}

/// The partner of each function along an axis: a shift by one line, the last following the first, turns both into
/// combinations of each other. Found by what such a shift does, so that any waves on a periodic grid have partners and
/// nothing else has.
fn partners(axis: &Mat<f64>) -> Vec<Option<usize>> {
    let (lines, functions) = axis.shape();
    let shifted = Mat::from_fn(lines, functions, |i, j| axis[((i + 1) % lines, j)]);
    let turned = linalg::mul(axis.transpose(), shifted.as_ref()) * faer::Scale(1.0 / lines as f64);
    let partner = |i: usize| {
        let others = (0..functions).filter(|&j| j != i);
        let j = others.max_by(|&a, &b| turned[(a, i)].abs().total_cmp(&turned[(b, i)].abs()))?;
        let left = 1.0 - turned[(i, i)].powi(2) - turned[(j, i)].powi(2);
        (left.abs() < OFF_PLANE && turned[(j, i)].abs() > OFF_PLANE.sqrt()).then_some(j)
    };
    let all: Vec<Option<usize>> = (0..functions).map(partner).collect();
    let mutual = |i: usize| all[i].filter(|&j| all[j] == Some(i));
    (0..functions).map(mutual).collect()
}

/// [`Functions`] in the precision of training.
pub(super) struct Transform<T> {
    axes: Vec<Mat<T>>,
    groups: Groups,
}

/// Memory between two axes.
#[derive(Default)]
pub(super) struct Scratch<T>(Vec<T>, Vec<T>);

impl<T: Scalar> Transform<T> {
    pub(super) fn new(functions: &Functions) -> Self {
        let axes: Vec<Mat<T>> = functions.axes.iter().map(|a| cast(a.as_ref())).collect();
        Transform {
            axes,
            groups: functions.groups(),
        }
    }

    /// All functions at all points, one column for each member of each group, which is zero where there is no such
    /// function; for each term the column that $D^t$ brings to the member.
    pub(super) fn to_dense(&self, term: usize) -> Mat<T> {
        let points = self.axes.iter().map(Mat::nrows).product();
        Mat::from_fn(points, self.groups.matrices(), |mut p, member| {
            let (other, negative) = self.groups.partner(member, term);
            let Some(mut place) = self.groups.members()[other] else {
                return T::default();
            };
            let mut value = T::from_f64(if negative { -1.0 } else { 1.0 });
            for axis in self.axes.iter().rev() {
                value *= axis[(p % axis.nrows(), place % axis.ncols())];
                (p, place) = (p / axis.nrows(), place / axis.ncols());
            }
            value
        })
    }

    /// How many coefficients a channel has; positions without a function hold no coefficient.
    pub(super) fn coefficients(&self) -> usize {
        self.groups.places()
    }

    /// How coefficients are mixed.
    pub(super) fn groups(&self) -> &Groups {
        &self.groups
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
    use crate::basis::{
        BasisSpec, BuildContext, FourierKind, FourierSpec, LaplaceMesh, LaplaceSpec,
    };
    use crate::data::{Bounds, Points};

    fn on_grid(spec: &BasisSpec, domain: &Bounds, points: &Points) -> Functions {
        let context = BuildContext {
            domain,
            points: Some(points),
            values: None,
            triangles: None,
        };
        let design = spec.build(context).unwrap().by_axes(points).unwrap();
        Functions::on_grid(&design.unwrap()).unwrap()
    }

    #[test]
    fn waves_on_periodic_grids_have_partners_and_nothing_else_has() {
        let ring = Bounds::unit(2).with_periods(&[true, true]).unwrap();
        let lines = |n: usize| (0..n).map(move |i| i as f64 / n as f64);
        let coords = lines(9).flat_map(|x| lines(8).flat_map(move |y| [x, y]));
        let torus = Points::new(2, coords.collect()).unwrap();
        for spec in [
            BasisSpec::from(FourierSpec::new(FourierKind::Periodic, 25)),
            BasisSpec::from(LaplaceSpec::on(LaplaceMesh::Box, 25)),
        ] {
            let functions = on_grid(&spec, &ring, &torus);
            let alone = |axis: &Vec<Option<usize>>| axis.iter().filter(|p| p.is_none()).count();
            let alone: Vec<usize> = functions.partners.iter().map(alone).collect();
            assert_eq!(alone, [1, 1], "the constants, of {:?}", spec);
            assert_eq!(functions.groups().terms(), 4);
            assert!(functions.fits(72));
        }
        let square = Bounds::unit(2);
        let points = Points::grid(&square, &[9, 8]);
        let spec = BasisSpec::from(LaplaceSpec::on(LaplaceMesh::Box, 25));
        let cosines = on_grid(&spec, &square, &points);
        assert!(cosines.partners.iter().flatten().all(Option::is_none));
        assert_eq!(cosines.groups().terms(), 1);
    }

    #[test]
    fn partners_that_are_not_mutual_are_refused() {
        let mut functions = Functions::waves(&[(8, 5)], 5);
        assert_eq!(
            functions.partners[0],
            [None, Some(2), Some(1), Some(4), Some(3)]
        );
        assert!(functions.fits(8));
        functions.partners[0][1] = Some(4);
        assert!(!functions.fits(8));
        functions.partners[0][1] = Some(7);
        assert!(!functions.fits(8));
    }

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
            for place in 0..transform.coefficients() {
                if transform.groups().terms_at(place, false).next().is_some() {
                    continue;
                }
                all[place * rows..(place + 1) * rows].fill(0.0);
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
