//! Principal directions of the training values (PCA-Net's basis).
//!
//! For training values $V \in \mathbb R^{n \times N}$ at shared points, one column a sample, with
//! mean $\mu$ and the thin SVD $V - \mu 1^\top = U\Sigma W^\top$, PCA writes a sample as $\mu$ plus a
//! combination of the leading columns of $U$. A linear basis has no offset, so $\mu$ becomes a
//! function of its own:
//! $$ Q R = \Bigl[\tfrac{\mu}{\|\mu\|},\ u_1, u_2, \dots, u_{m-1}\Bigr], $$
//! and the functions are the columns of $Q$, orthonormal over the points. The first is dropped if
//! $\mu = 0$ to rounding; a $u_k$ that $\mu$ and the directions before it already give is passed over.
//! Between the points functions interpolate as [`PointValues`](super::PointValues) do.

use super::{Basis, BasisFamily, BuildContext, Design, PointValues};
use crate::data::{Bounds, Points};
use crate::linalg;
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// A part below this, relative to the whole, is rounding.
const ROUNDING: f64 = 1e-10;

/// Settings of a PCA basis.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `functions` | | how many functions, the mean's included | 1 to the rank of the data |
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcaSpec {
    /// How many functions, the mean's included.
    pub functions: usize,
}

impl BasisFamily for PcaSpec {
    const NAME: &'static str = "pca";
    const DEPENDS_ON_VALUES: bool = true;
    type Basis = Pca;

    fn build(&self, context: BuildContext<'_>) -> Result<Pca> {
        Pca::from_context(self, context)
    }
}

/// Principal directions at the training points, interpolated between.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Pca {
    interpolation: PointValues,
    spec: PcaSpec,
    /// $Q$, one column per function.
    #[serde(with = "tensor")]
    directions: Mat<f64>,
}

restore_settled!(Pca);

impl Pca {
    /// The leading directions of `values` (one column a sample) at `points`.
    ///
    /// # Errors
    /// If shapes differ, a value is not finite, points repeat, or the data has fewer independent
    /// directions than `spec` asks for; the error says how many it has.
    pub fn new(
        domain: Bounds,
        points: Points,
        values: MatRef<'_, f64>,
        spec: PcaSpec,
    ) -> Result<Self> {
        let (n, samples) = values.shape();
        if n != points.len() || samples == 0 || spec.functions == 0 {
            return Err(Error::shape(
                format!("values for {} principal directions", spec.functions),
                format!(
                    "({}, N) with N >= 1, for at least 1 direction",
                    points.len()
                ),
                format!("({n}, {samples})"),
            ));
        }
        for k in 0..samples {
            if let Some((i, &value)) = values
                .col(k)
                .iter()
                .enumerate()
                .find(|(_, v)| !v.is_finite())
            {
                return Err(Error::NotFinite {
                    what: "values for principal directions".into(),
                    place: format!("sample {k}, point {i}"),
                    value,
                });
            }
        }
        let interpolation = PointValues::new(domain, points)?;
        let independent = independent_directions(values)?;
        if independent.ncols() < spec.functions {
            return Err(Error::Config(format!(
                "pca: {samples} samples at {n} points have {} independent directions (the mean included), \
                 functions = {} asks for more; lower it or add samples",
                independent.ncols(),
                spec.functions
            )));
        }
        let qr = linalg::Qr::new(independent.subcols(0, spec.functions).to_owned());
        let r = qr.r();
        let mut directions =
            qr.q_mul(Mat::<f64>::identity(spec.functions, spec.functions).as_ref());
        // Householder's Q may turn a direction around; keep those of the mean and of U.
        for j in 0..spec.functions {
            if r[(j, j)] < 0.0 {
                directions.col_mut(j).iter_mut().for_each(|v| *v = -*v);
            }
        }
        Ok(Pca {
            interpolation,
            spec,
            directions,
        })
    }

    pub(super) fn from_context(spec: &PcaSpec, context: BuildContext<'_>) -> Result<Self> {
        let (Some(points), Some(values)) = (context.points, context.values) else {
            return Err(Error::Config(
                "the pca basis needs training values at points shared by all samples; these samples have \
                 points of their own, so choose a basis that does not depend on them, such as random-features"
                    .into(),
            ));
        };
        Self::new(context.domain.clone(), points.clone(), values, spec.clone())
    }

    /// The functions at the training points, one column a function; columns are orthonormal.
    pub fn directions(&self) -> MatRef<'_, f64> {
        self.directions.as_ref()
    }

    fn settle(&mut self) -> Result<()> {
        match self.directions.shape() == (self.interpolation.len(), self.spec.functions) {
            true => Ok(()),
            false => Err(Error::Data(
                "the model's principal directions disagree with their points".into(),
            )),
        }
    }
}

/// $[\mu/\|\mu\|, u_1, \dots, u_r]$ without what is rounding or depends on columns before it.
fn independent_directions(values: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let (n, samples) = values.shape();
    let mean = linalg::column_mean(values);
    let mut centred = values.to_owned();
    linalg::subtract_from_columns(&mut centred, &mean);
    let svd = linalg::thin_svd(centred.as_ref())?;
    let total = linalg::column_norms_squared(values)
        .iter()
        .sum::<f64>()
        .sqrt();
    // Against the uncentred data, so that equal samples leave no direction.
    let rounding = f64::EPSILON * n.max(samples) as f64 * total;
    let rank = svd.s.iter().filter(|&&s| s > rounding).count();

    let norm = mean.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(rank + 1);
    let column = |k: usize| svd.u.col(k).iter().copied().collect::<Vec<f64>>();
    if norm * (samples as f64).sqrt() <= ROUNDING * total {
        columns.extend((0..rank).map(column));
    } else {
        // What the directions so far leave of the mean. Once nothing is left, the direction that
        // took the rest follows from the mean and the others; directions being orthogonal, that
        // happens at most once.
        let mut rest: Vec<f64> = mean.iter().map(|v| v / norm).collect();
        columns.push(rest.clone());
        let mut left = true;
        for k in 0..rank {
            let u = column(k);
            let part: f64 = rest.iter().zip(&u).map(|(a, b)| a * b).sum();
            rest.iter_mut().zip(&u).for_each(|(a, b)| *a -= part * b);
            let remains = rest.iter().map(|v| v * v).sum::<f64>().sqrt() > ROUNDING;
            if remains || !left {
                columns.push(u);
            }
            left = remains;
        }
    }
    Ok(Mat::from_fn(n, columns.len(), |i, j| columns[j][i]))
}

impl Basis for Pca {
    fn family(&self) -> &'static str {
        PcaSpec::NAME
    }

    fn len(&self) -> usize {
        self.spec.functions
    }

    fn domain(&self) -> &Bounds {
        self.interpolation.domain()
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain().check(points, PcaSpec::NAME)?;
        let weights = self.interpolation.evaluate(points)?;
        Ok(Design::Dense(weights.mul(self.directions.as_ref())))
    }

    fn describe(&self) -> String {
        format!(
            "{} principal directions of values at {} points",
            self.len(),
            self.interpolation.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::conformance;

    /// Samples in a space of dimension 4 (with an offset, `shift`) on a grid.
    fn data(shift: f64) -> (Points, Mat<f64>) {
        let points = Points::grid(&Bounds::unit(2), &[9, 8]);
        let values = Mat::from_fn(points.len(), 30, |i, k| {
            let (x, y) = (points.point(i)[0], points.point(i)[1]);
            let k = k as f64;
            shift * (1.0 + x * y)
                + (k.sin() * x.cos() + (2.0 * k).cos() * (3.0 * y).sin())
                + (0.7 * k).sin() * x * x
        });
        (points, values)
    }

    fn reproduces(functions: usize, points: &Points, values: &Mat<f64>) {
        let spec = PcaSpec { functions };
        let basis = Pca::new(Bounds::unit(2), points.clone(), values.as_ref(), spec).unwrap();
        let q = basis.evaluate(points).unwrap().to_dense();
        assert!(q == basis.directions, "exact at its own points");
        let gram = linalg::mul(q.transpose(), q.as_ref());
        for i in 0..functions {
            for j in 0..functions {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((gram[(i, j)] - expected).abs() < 1e-13);
            }
        }
        let coefficients = linalg::mul(q.transpose(), values.as_ref());
        let again = linalg::mul(q.as_ref(), coefficients.as_ref());
        for k in 0..values.ncols() {
            for i in 0..values.nrows() {
                assert!((again[(i, k)] - values[(i, k)]).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn conforms() {
        let (points, values) = data(1.0);
        let spec = PcaSpec { functions: 3 };
        let basis = Pca::new(Bounds::unit(2), points, values.as_ref(), spec).unwrap();
        conformance::check(&basis, <[f64]>::to_vec);
    }

    #[test]
    fn reproduces_its_training_data_when_the_rank_suffices() {
        // The offset is a direction of its own ...
        let (points, values) = data(1.0);
        reproduces(4, &points, &values);
        // ... or lies in the span of the others, and one direction less will do.
        let (points, values) = data(0.0);
        reproduces(3, &points, &values);
        // ... or vanishes.
        let mirrored = Mat::from_fn(values.nrows(), 60, |i, k| {
            let sign = if k < 30 { 1.0 } else { -1.0 };
            sign * values[(i, k % 30)]
        });
        reproduces(3, &points, &mirrored);
    }

    #[test]
    fn the_first_function_is_the_mean() {
        let (points, values) = data(1.0);
        let spec = PcaSpec { functions: 2 };
        let basis = Pca::new(Bounds::unit(2), points, values.as_ref(), spec).unwrap();
        let mean = linalg::column_mean(values.as_ref());
        let norm = mean.iter().map(|v| v * v).sum::<f64>().sqrt();
        for (i, m) in mean.iter().enumerate() {
            assert!((basis.directions[(i, 0)] - m / norm).abs() < 1e-14);
        }
    }

    #[test]
    fn asking_for_too_many_says_how_many_there_are() {
        let (points, values) = data(1.0);
        let build = |functions, values: MatRef<'_, f64>| {
            Pca::new(
                Bounds::unit(2),
                points.clone(),
                values,
                PcaSpec { functions },
            )
        };
        let message = build(5, values.as_ref()).unwrap_err().to_string();
        assert!(message.contains("have 4 independent"), "{message}");
        let equal = Mat::from_fn(points.len(), 7, |i, _| 0.1 + i as f64);
        let message = build(2, equal.as_ref()).unwrap_err().to_string();
        assert!(message.contains("have 1 independent"), "{message}");
        assert!(build(1, Mat::zeros(points.len(), 3).as_ref()).is_err());
        assert!(build(0, values.as_ref()).is_err());
        assert!(build(1, Mat::zeros(5, 3).as_ref()).is_err());
        let nan = Mat::from_fn(points.len(), 2, |_, _| f64::NAN);
        assert!(build(1, nan.as_ref()).is_err());
    }
}
