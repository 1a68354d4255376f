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

/// A part below this, relative to the whole, is rounding.
const ROUNDING: f64 = 1e-10;

/// Matrices with more entries than this have their principal directions taken from Gram matrices.
const LARGE: usize = 4_000_000;

/// Samples of such matrices that are looked at, at most.
const LEARNING_SAMPLES: usize = 1000;

/// Eigenvalues of a Gram matrix below this part of the largest are left to the next one, ...
const GRAM_CUT: f64 = 1e-10;

/// ... of which there are so many: down to 1e-15 of the largest direction.
const GRAM_PASSES: usize = 3;

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

    fn references(&self) -> Vec<Reference> {
        vec![cite::PRINCIPAL_DIRECTIONS]
    }
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
        let mut residuals = values.to_owned();
        let mut prescribed = None;
        if let Some(inner) = &spec.prescribed {
            let basis = inner.build_boxed(context)?;
            let (q, transform) = orthonormal(basis.evaluate(points)?.to_dense(), spec.cut)?;
            // Twice: what rounding leaves of Q after the first time is gone after the second.
            for _ in 0..2 {
                let inside = linalg::mul(q.transpose(), residuals.as_ref());
                linalg::mul_add(residuals.as_mut(), q.as_ref(), inside.as_ref(), -1.0);
            }
            prescribed = Some(Prescribed { basis, transform });
        }
        let functions = prescribed.as_ref().map_or(0, |p| p.transform.ncols());
        let most = points.len() - functions.min(points.len());
        let most = most.min(spec.learned.unwrap_or(MOST_LEARNED));
        let directions = learned_directions(residuals.as_ref(), values, most, spec.tolerance)?;
        if functions + directions.ncols() == 0 {
            return Err(Error::Data(
                "the training values are zero, which leaves nothing to learn a space from".into(),
            ));
        }
        let domain = context.domain.clone();
        Ok(Hybrid {
            prescribed,
            interpolant: Interpolant::new(domain, points, residuals.as_ref(), context.triangles)?,
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
            });
        }
    }
    Ok((points, values))
}

/// $Q$ and $T$ with $Q = \Psi T$ orthonormal: $\Psi = \hat Q R$, $R = \hat U\Sigma V^\top$,
/// $T = V\Sigma^{-1}$, without singular values below `cut` of the largest.
fn orthonormal(psi: Mat<f64>, cut: f64) -> Result<(Mat<f64>, Mat<f64>)> {
    let (n, m) = psi.shape();
    let (q, r) = match n >= m {
        true => {
            let qr = linalg::Qr::new(psi);
            (qr.q_mul(Mat::<f64>::identity(m, m).as_ref()), qr.r())
        }
        false => (Mat::identity(n, n), psi),
    };
    let svd = linalg::thin_svd(r.as_ref())?;
    let largest = svd.s.first().copied().unwrap_or(0.0);
    let rank = svd
        .s
        .iter()
        .filter(|&&s| s > cut * largest && s > 0.0)
        .count();
    let transform = Mat::from_fn(m, rank, |i, j| svd.v[(i, j)] / svd.s[j]);
    let q = linalg::mul(q.as_ref(), svd.u.as_ref().subcols(0, rank));
    Ok((q, transform))
}

/// Principal directions of the residuals of `values`, at most so many, signs as in the data.
fn learned_directions(
    residuals: MatRef<'_, f64>,
    values: MatRef<'_, f64>,
    most: usize,
    tolerance: f64,
) -> Result<Mat<f64>> {
    let scale = linalg::column_norms_squared(values)
        .iter()
        .sum::<f64>()
        .sqrt();
    let independent = independent_directions(residuals, most, scale, tolerance)?;
    let count = independent.ncols().min(most);
    if count == 0 {
        return Ok(Mat::zeros(residuals.nrows(), 0));
    }
    let qr = linalg::Qr::new(independent.subcols(0, count).to_owned());
    let r = qr.r();
    let mut directions = qr.q_mul(Mat::<f64>::identity(count, count).as_ref());
    // Householder's Q may turn a direction around; keep those of the mean and of U.
    for j in 0..count {
        if r[(j, j)] < 0.0 {
            directions.col_mut(j).iter_mut().for_each(|v| *v = -*v);
        }
    }
    Ok(directions)
}

/// How many of the leading singular values leave no more than `allowed`.
fn enough(sigma: &[f64], allowed: f64) -> usize {
    let mut left = 0.0;
    let mut count = sigma.len();
    while count > 0 {
        left += sigma[count - 1] * sigma[count - 1];
        if left > allowed * allowed {
            break;
        }
        count -= 1;
    }
    count
}

/// Singular values and left singular vectors, the leading `most` where only those are needed, until no more than
/// `allowed` is left.
fn left_singular(a: Mat<f64>, most: usize, allowed: f64) -> Result<(Vec<f64>, Mat<f64>)> {
    if a.nrows() * a.ncols() <= LARGE {
        let svd = linalg::thin_svd(a.as_ref())?;
        return Ok((svd.s, svd.u));
    }
    // Some samples show the directions of many.
    let stride = a.ncols().div_ceil(LEARNING_SAMPLES);
    let some: Vec<usize> = (0..a.ncols()).step_by(stride).collect();
    // One Gram matrix sees directions down to the root of rounding; what they leave has one of its own.
    let mut rest = linalg::select_columns(a.as_ref(), &some);
    let (mut sigma, mut u) = from_gram(rest.as_ref(), most)?;
    for _ in 1..GRAM_PASSES {
        let inside = linalg::mul(u.transpose(), rest.as_ref());
        linalg::mul_add(rest.as_mut(), u.as_ref(), inside.as_ref(), -1.0);
        let rounding = f64::EPSILON * sigma.first().copied().unwrap_or(0.0);
        let left = rest.norm_l2() * (stride as f64).sqrt();
        if sigma.len() >= most || left <= rounding.max(allowed) {
            break;
        }
        let (more, directions) = from_gram(rest.as_ref(), most - sigma.len())?;
        let mut all = Mat::zeros(u.nrows(), sigma.len() + more.len());
        let (mut before, mut after) = all.as_mut().split_at_col_mut(sigma.len());
        before.copy_from(&u);
        after.copy_from(&directions);
        u = all;
        sigma.extend(more);
    }
    // As large as those of all samples.
    sigma.iter_mut().for_each(|s| *s *= (stride as f64).sqrt());
    Ok((sigma, u))
}

/// Leading singular values and left singular vectors from the smaller Gram matrix:
/// $A^\top A = W\Sigma^2W^\top$, $U = AW\Sigma^{-1}$, or $AA^\top = U\Sigma^2U^\top$.
fn from_gram(a: MatRef<'_, f64>, most: usize) -> Result<(Vec<f64>, Mat<f64>)> {
    let (n, samples) = a.shape();
    if samples >= n {
        let (eigenvalues, vectors) =
            linalg::symmetric_eigen(linalg::mul(a, a.transpose()).as_ref())?;
        return Ok(leading(&eigenvalues, vectors.as_ref(), most));
    }
    let (eigenvalues, vectors) = linalg::symmetric_eigen(linalg::mul(a.transpose(), a).as_ref())?;
    let (sigma, w) = leading(&eigenvalues, vectors.as_ref(), most);
    let mut u = linalg::mul(a, w.as_ref());
    for (j, s) in sigma.iter().enumerate() {
        u.col_mut(j).iter_mut().for_each(|v| *v /= s);
    }
    Ok((sigma, u))
}

/// The largest eigenvalues' roots that a Gram matrix tells from rounding, descending, and their vectors.
fn leading(eigenvalues: &[f64], vectors: MatRef<'_, f64>, most: usize) -> (Vec<f64>, Mat<f64>) {
    let mut order: Vec<usize> = (0..eigenvalues.len()).collect();
    order.sort_by(|&i, &j| eigenvalues[j].total_cmp(&eigenvalues[i]));
    let largest = order.first().map_or(0.0, |&i| eigenvalues[i]);
    order.retain(|&i| eigenvalues[i] > GRAM_CUT * largest);
    order.truncate(most);
    let sigma = order.iter().map(|&i| eigenvalues[i].sqrt()).collect();
    (sigma, linalg::select_columns(vectors, &order))
}

/// $[\mu/\|\mu\|, u_1, \dots, u_r]$ without what is rounding (of data of size `scale`) or depends on columns before
/// it.
fn independent_directions(
    values: MatRef<'_, f64>,
    most: usize,
    scale: f64,
    tolerance: f64,
) -> Result<Mat<f64>> {
    let (n, samples) = values.shape();
    let mean = linalg::column_mean(values);
    let mut centred = values.to_owned();
    linalg::subtract_from_columns(&mut centred, &mean);
    let (sigma, u) = left_singular(centred, most, tolerance * scale)?;
    let total = linalg::column_norms_squared(values)
        .iter()
        .sum::<f64>()
        .sqrt();
    // Against the uncentred data, so that equal samples leave no direction.
    let rounding = f64::EPSILON * n.max(samples) as f64 * total.max(scale);
    let rank = sigma.iter().filter(|&&s| s > rounding).count();
    let rank = rank.min(enough(&sigma, tolerance * scale));

    let norm = mean.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(rank + 1);
    let column = |k: usize| u.col(k).iter().copied().collect::<Vec<f64>>();
    if norm * (samples as f64).sqrt() <= ROUNDING * total.max(scale) {
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
        let learned = format!(
            "{} learned directions at {} points, {}",
            self.directions.ncols(),
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

    #[test]
    fn gram_and_svd_find_the_same_directions() {
        let (points, values) = data(1.0);
        let n = points.len();
        let repeated = Mat::from_fn(n, 200, |i, k| values[(i, k % 30)] + 1e-3 * (k % 7) as f64);
        let (sigma, u) = from_gram(repeated.as_ref(), 3).unwrap();
        let svd = linalg::thin_svd(repeated.as_ref()).unwrap();
        for (j, s) in sigma.iter().enumerate().take(3) {
            assert!((s / svd.s[j] - 1.0).abs() < 1e-9);
            let cosine: f64 = u
                .col(j)
                .iter()
                .zip(svd.u.col(j).iter())
                .map(|(a, b)| a * b)
                .sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-9);
        }
    }

    /// Directions of a large matrix leave what is allowed, however small they are beside the first.
    #[test]
    fn many_samples_are_deflated() {
        let (n, samples) = (64, LARGE / 64 + 64);
        let size = |j: usize| 10f64.powi(-3 * j as i32);
        let a = Mat::from_fn(n, samples, |i, k| {
            let wave = |j: usize| ((j + 1) as f64 * (i as f64 + 0.5) * 0.049).cos();
            let terms =
                (0..4).map(|j| size(j) * wave(j) * ((j + 2) as f64 * k as f64 * 0.37).sin());
            terms.sum()
        });
        let (sigma, u) = left_singular(a.clone(), 10, 1e-12 * a.norm_l2()).unwrap();
        // Later directions lean on the earlier ones by rounding, which the QR of `learned_directions` takes away.
        let count = u.ncols();
        let q = linalg::Qr::new(u).q_mul(Mat::<f64>::identity(count, count).as_ref());
        let inside = linalg::mul(q.transpose(), a.as_ref());
        let left = (linalg::mul(q.as_ref(), inside.as_ref()) - &a).norm_l2();
        assert!(sigma.len() >= 4 && left < 1e-11 * a.norm_l2(), "{left}");
        assert!((sigma[0] / linalg::thin_svd(a.as_ref()).unwrap().s[0] - 1.0).abs() < 0.05);
    }
}
