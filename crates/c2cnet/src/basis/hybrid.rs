//! Hybrid spaces: prescribed functions, and the directions that the data adds to them.
//!
//! At shared points, prescribed functions $\Psi = QR$ leave residuals $r_k = u_k - QQ^\top u_k$ of the training
//! values. Their principal directions $e_j$ are orthonormal and orthogonal to $Q$, so that $(Q^\top u, E^\top u)$ are
//! orthonormal coordinates together, and everything that holds for a prescribed basis at its points holds for
//! $[Q, E]$. Off the points $Q$ is evaluated and $E$ interpolated on the points. The prescribed part carries what is
//! smooth; the learned part is small where that part is good, and exact at the points where it is not.
//!
//! Without prescribed functions the space is that of PCA-Net: for values $V$ with mean $\mu$ and
//! $V - \mu 1^\top = U\Sigma W^\top$ the functions are $Q$ of
//! $$ Q R = \Bigl[\tfrac{\mu}{\|\mu\|},\ u_1, u_2, \dots, u_{m-1}\Bigr]. $$
//! A linear basis has no offset, so $\mu$ becomes a function of its own; it is dropped if $\mu = 0$ to rounding, and
//! a $u_k$ that $\mu$ and the directions before it already give is passed over.

use super::directions::{learned_directions, learning_samples, without};
use super::interpolant::Interpolant;
use super::{Basis, BasisFamily, BasisSpec, BuildContext, Design};
use crate::cite::{self, Reference};
use crate::data::{Bounds, Points};
use crate::linalg;
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result};
use documented::Documented;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Learned directions, at most, where the settings do not say.
const MOST_LEARNED: usize = 1024;

/// Settings of a hybrid space.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `prescribed` | none | the prescribed functions | any other basis |
/// | `cut` | 1e-10 | their singular values kept, relative to the largest | 0 to 1 |
/// | `learned` | 1024 | how many directions of the residuals, at most | at least 1 without prescribed functions |
/// | `tolerance` | 1e-10 | no more directions than leave this part of the training values | 0 to 1 |
#[derive(Debug, Clone, PartialEq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HybridSpec {
    /// The prescribed functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prescribed: Option<BasisSpec>,
    /// The relative cut of their singular values.
    pub cut: f64,
    /// The most learned directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<usize>,
    /// The part of the training values that may be left.
    pub tolerance: f64,
}

impl Default for HybridSpec {
    fn default() -> Self {
        HybridSpec {
            prescribed: None,
            cut: 1e-10,
            learned: None,
            tolerance: 1e-10,
        }
    }
}

impl HybridSpec {
    /// Prescribed functions and as many learned directions as the data needs beside them.
    pub fn beside(prescribed: impl Into<BasisSpec>) -> Self {
        HybridSpec {
            prescribed: Some(prescribed.into()),
            ..HybridSpec::default()
        }
    }
}

impl BasisFamily for HybridSpec {
    const NAME: &'static str = "hybrid";
    const DOCUMENTATION: &'static str = Self::DOCS;
    type Basis = Hybrid;

    fn depends_on_values(&self) -> bool {
        true
    }

    fn build(&self, context: BuildContext<'_>) -> Result<Hybrid> {
        if !(0.0..1.0).contains(&self.cut) || !(0.0..1.0).contains(&self.tolerance) {
            return Err(Error::Config(format!(
                "hybrid: cut = {} and tolerance = {} must lie between 0 and 1",
                self.cut, self.tolerance
            )));
        }
        Hybrid::new(self, context)
    }

    fn noun(&self) -> String {
        "learned direction".into()
    }

    fn references(&self) -> Vec<Reference> {
        let prescribed = self.prescribed.iter().flat_map(BasisSpec::references);
        prescribed.chain([cite::PRINCIPAL_DIRECTIONS]).collect()
    }
}

/// Settings of a PCA basis: a hybrid space without prescribed functions, and a given number of directions.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `functions` | | how many functions, the mean's included | 1 to the rank of the data |
#[derive(Debug, Clone, PartialEq, Eq, Documented, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcaSpec {
    /// How many functions, the mean's included.
    pub functions: usize,
}

impl BasisFamily for PcaSpec {
    const NAME: &'static str = "pca";
    const DOCUMENTATION: &'static str = Self::DOCS;
    type Basis = Hybrid;

    fn depends_on_values(&self) -> bool {
        true
    }

    fn build(&self, context: BuildContext<'_>) -> Result<Hybrid> {
        let spec = HybridSpec {
            learned: Some(self.functions),
            ..HybridSpec::default()
        };
        let basis = Hybrid::new(&spec, context)?;
        if basis.len() < self.functions {
            return Err(Error::Config(format!(
                "pca: {} samples at {} points have {} independent directions (the mean included), \
                 functions = {} asks for more; lower it or add samples",
                context.values.map_or(0, |v| v.ncols()),
                basis.interpolant.points().len(),
                basis.len(),
                self.functions
            )));
        }
        Ok(basis)
    }

    fn noun(&self) -> String {
        "learned direction".into()
    }

    fn references(&self) -> Vec<Reference> {
        vec![cite::PRINCIPAL_DIRECTIONS]
    }
}

/// Whether a basis looks at no more training values than those that [`learning_samples`] names.
pub(crate) fn learns_from_some(spec: &BasisSpec) -> bool {
    let of_values = |h: &HybridSpec| {
        h.prescribed
            .as_ref()
            .is_some_and(BasisSpec::depends_on_values)
    };
    let hybrid = spec.settings::<HybridSpec>();
    spec.settings::<PcaSpec>().is_some() || hybrid.is_some_and(|h| !of_values(h))
}

/// Prescribed functions, orthonormal at the data's points, and learned directions.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Hybrid {
    prescribed: Option<Prescribed>,
    interpolant: Interpolant,
    /// $E$, one column per direction.
    #[serde(with = "tensor")]
    directions: Mat<f64>,
}

restore_settled!(Hybrid);

#[derive(Debug, Serialize, Deserialize)]
struct Prescribed {
    basis: Box<dyn Basis>,
    /// $T$ with $\Psi T$ orthonormal at the points.
    #[serde(with = "tensor")]
    transform: Mat<f64>,
}

impl Hybrid {
    fn new(spec: &HybridSpec, context: BuildContext<'_>) -> Result<Self> {
        let (points, values) = checked(spec, &context)?;
        // Without prescribed functions the values are what they leave, and need no copy.
        let mut copy = match learning_samples(values.nrows(), values.ncols()) {
            Some(some) => Some(linalg::select_columns(values, &some)),
            None => spec.prescribed.as_ref().map(|_| values.to_owned()),
        };
        let scale = copy.as_ref().map_or(values, Mat::as_ref).norm_l2();
        let mut prescribed = None;
        let mut q = Mat::zeros(points.len(), 0);
        if let Some(inner) = &spec.prescribed {
            let basis = inner.build_boxed(context)?;
            let (columns, transform) = orthonormal(basis.evaluate(points)?.to_dense(), spec.cut)?;
            q = columns;
            if let Some(residuals) = &mut copy {
                without(residuals.as_mut(), q.as_ref());
            }
            prescribed = Some(Prescribed { basis, transform });
        }
        let residuals = copy.as_ref().map_or(values, Mat::as_ref);
        let functions = q.ncols();
        let most = points.len() - functions.min(points.len());
        let most = most.min(spec.learned.unwrap_or(MOST_LEARNED));
        let directions = learned_directions(residuals, scale, most, spec.tolerance, q.as_ref())?;
        if functions + directions.ncols() == 0 {
            return Err(Error::Data(
                "the training values are zero, which leaves nothing to learn a space from".into(),
            ));
        }
        let domain = context.domain.clone();
        Ok(Hybrid {
            prescribed,
            interpolant: Interpolant::new(domain, points, residuals, context.triangles)?,
            directions,
        })
    }

    /// The learned functions at the training points, one column each; columns are orthonormal.
    pub fn directions(&self) -> MatRef<'_, f64> {
        self.directions.as_ref()
    }

    fn prescribed_functions(&self) -> usize {
        self.prescribed.as_ref().map_or(0, |p| p.transform.ncols())
    }

    fn settle(&mut self) -> Result<()> {
        let transforms = self.prescribed.as_ref();
        let fits = transforms.is_none_or(|p| p.transform.nrows() == p.basis.len());
        match fits && self.directions.nrows() == self.interpolant.points().len() {
            true => Ok(()),
            false => Err(Error::Data(
                "the model's hybrid space disagrees with its points or its prescribed functions"
                    .into(),
            )),
        }
    }
}

/// Points and values that a space can be learned from.
fn checked<'a>(
    spec: &HybridSpec,
    context: &BuildContext<'a>,
) -> Result<(&'a Points, MatRef<'a, f64>)> {
    let (Some(points), Some(values)) = (context.points, context.values) else {
        return Err(Error::Config(
            "learned functions (hybrid and pca) need training values at points shared by all samples; these \
             samples have points of their own, so choose a basis that does not depend on them, such as \
             random-features"
                .into(),
        ));
    };
    let (n, samples) = values.shape();
    let asked = spec.learned.unwrap_or(usize::MAX);
    if n != points.len() || samples == 0 || (asked == 0 && spec.prescribed.is_none()) {
        return Err(Error::shape(
            "values for learned functions",
            format!("({}, N) with N >= 1, for at least 1 function", points.len()),
            format!("({n}, {samples}) for {asked}"),
        ));
    }
    for k in 0..samples {
        let mut column = values.col(k).iter().enumerate();
        if let Some((i, &value)) = column.find(|(_, v)| !v.is_finite()) {
            return Err(Error::NotFinite {
                what: "values for learned functions".into(),
                place: format!("sample {k}, point {i}"),
                value,
                optional: false,
            });
        }
    }
    Ok((points, values))
}

/// $Q$ and $T$ with $Q = \Psi T$ orthonormal: $\Psi = \hat Q R$, $R = \hat U\Sigma V^\top$,
/// $T = V\Sigma^{-1}$, without singular values below `cut` of the largest.
fn orthonormal(psi: Mat<f64>, cut: f64) -> Result<(Mat<f64>, Mat<f64>)> {
    let (n, m) = psi.shape();
    let (qr, r) = match n >= m {
        true => {
            let qr = linalg::Qr::new(psi);
            let r = qr.r();
            (Some(qr), r)
        }
        false => (None, psi),
    };
    let svd = linalg::thin_svd(r.as_ref())?;
    let largest = svd.s.first().copied().unwrap_or(0.0);
    let rank = svd
        .s
        .iter()
        .filter(|&&s| s > cut * largest && s > 0.0)
        .count();
    let transform = Mat::from_fn(m, rank, |i, j| svd.v[(i, j)] / svd.s[j]);
    let u = svd.u.as_ref().subcols(0, rank);
    let q = match qr {
        Some(qr) => qr.q_mul(u),
        None => u.to_owned(),
    };
    Ok((q, transform))
}

impl Basis for Hybrid {
    fn family(&self) -> &'static str {
        HybridSpec::NAME
    }

    fn len(&self) -> usize {
        self.prescribed_functions() + self.directions.ncols()
    }

    fn domain(&self) -> &Bounds {
        self.interpolant.domain()
    }

    fn evaluate(&self, points: &Points) -> Result<Design> {
        self.domain().check(points, HybridSpec::NAME)?;
        let learned = self
            .interpolant
            .evaluate(self.directions.as_ref(), points)?;
        let Some(Prescribed { basis, transform }) = &self.prescribed else {
            return Ok(Design::Dense(learned));
        };
        let mut all = Mat::zeros(points.len(), self.len());
        let (mut left, mut right) = all.as_mut().split_at_col_mut(transform.ncols());
        left.copy_from(basis.evaluate(points)?.mul(transform.as_ref()));
        right.copy_from(learned);
        Ok(Design::Dense(all))
    }

    fn describe(&self) -> String {
        let count = self.directions.ncols();
        let learned = format!(
            "{count} learned direction{} at {} points, {}",
            if count == 1 { "" } else { "s" },
            self.interpolant.points().len(),
            self.interpolant.describe()
        );
        match &self.prescribed {
            None => learned,
            Some(p) if self.directions.ncols() == 0 => p.basis.describe(),
            Some(p) => format!("{}; and {learned}", p.basis.describe()),
        }
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

    fn pca(points: &Points, values: MatRef<'_, f64>, spec: PcaSpec) -> Result<Hybrid> {
        let domain = Bounds::unit(2);
        BasisFamily::build(
            &spec,
            BuildContext {
                points: Some(points),
                values: Some(values),
                ..BuildContext::on(&domain)
            },
        )
    }

    fn reproduces(functions: usize, points: &Points, values: &Mat<f64>) {
        let spec = PcaSpec { functions };
        let basis = pca(points, values.as_ref(), spec).unwrap();
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
        let basis = pca(&points, values.as_ref(), spec).unwrap();
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
        let basis = pca(&points, values.as_ref(), spec).unwrap();
        let mean = linalg::column_mean(values.as_ref());
        let norm = mean.iter().map(|v| v * v).sum::<f64>().sqrt();
        for (i, m) in mean.iter().enumerate() {
            assert!((basis.directions[(i, 0)] - m / norm).abs() < 1e-14);
        }
    }

    #[test]
    fn asking_for_too_many_says_how_many_there_are() {
        let (points, values) = data(1.0);
        let build =
            |functions, values: MatRef<'_, f64>| pca(&points, values, PcaSpec { functions });
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

    #[test]
    fn prescribed_and_learned_functions_are_orthonormal_together() {
        let (points, values) = data(1.0);
        for prescribed in [
            serde_json::json!({"family": "fourier", "kind": "cosine", "functions": 9}),
            serde_json::json!({"family": "polynomial", "functions": 6}),
            serde_json::json!({"family": "random-features", "functions": 24, "partitions": [1, 1]}),
        ] {
            let spec = serde_json::json!({"prescribed": prescribed, "cut": 1e-8});
            let spec: HybridSpec = serde_json::from_value(spec).unwrap();
            let domain = Bounds::unit(2);
            let context = BuildContext {
                points: Some(&points),
                values: Some(values.as_ref()),
                ..BuildContext::on(&domain)
            };
            let basis = BasisFamily::build(&spec, context).unwrap();
            let q = basis.evaluate(&points).unwrap().to_dense();
            let gram = linalg::mul(q.transpose(), q.as_ref());
            let off = (gram - Mat::<f64>::identity(basis.len(), basis.len())).norm_max();
            assert!(off < 1e-7, "{off}");
            // Together they reproduce the data at the points, whatever the prescribed part leaves.
            let coordinates = linalg::mul(q.transpose(), values.as_ref());
            let again = linalg::mul(q.as_ref(), coordinates.as_ref());
            assert!((again - &values).norm_l2() < 1e-7 * values.norm_l2());
            conformance::check(&basis, <[f64]>::to_vec);
        }
    }
}
