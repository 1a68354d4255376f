//! One output field: its basis and its orthonormal coordinates.

use super::retained::Retained;
use super::{Targets, VectorDecoder, Withheld, own_points, shared_points};
use crate::basis::{FieldBasis, VectorBasis};
use crate::data::{Field, Observations, Points};
use crate::encode::VectorSpec;
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// The decoder of one output field.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct FieldDecoder {
    basis: FieldBasis,
    /// For each part, $T = V\Sigma^{-1}$, or $R^{-1}$ of a QR factorisation: coefficients from orthonormal coordinates.
    #[serde(with = "tensor")]
    transforms: Vec<Mat<f64>>,
    /// The relative cut of the singular values of each part.
    cuts: Vec<f64>,
    /// The points of the data, if all samples share them.
    points: Option<Points>,
    /// Those of them that were not fitted; none in a final model, which is fitted at all points.
    #[serde(skip)]
    withheld: Withheld,
    /// The size by which each component was divided; empty if they were not scaled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<f64>,
    /// Whether components are real and imaginary parts in turn.
    #[serde(default)]
    complex: bool,
    /// Turns the coordinates of a vector without points back into values.
    vector: Option<VectorDecoder>,
}

restore_settled!(FieldDecoder);

impl FieldDecoder {
    /// Fixes the output space on training samples and returns their targets.
    ///
    /// `withheld` points are not fitted; `cuts` is the relative cut of the singular values, one for all
    /// parts or one each, chosen by the error at withheld points where it is not given.
    ///
    /// # Errors
    /// If the data does not fit the basis, or every function of the basis is zero at the points.
    pub(crate) fn fit(
        basis: FieldBasis,
        field: &Field,
        withheld: &Withheld,
        cuts: &[f64],
        seed: u64,
    ) -> Result<(Self, Targets)> {
        Self::fit_unless(basis, field, withheld, cuts, seed, &|| false)
    }

    /// As [`FieldDecoder::fit`]; stops if `cancelled` asks for it while a large basis is factored.
    ///
    /// # Errors
    /// [`Error::Interrupted`], or as [`FieldDecoder::fit`].
    pub(crate) fn fit_unless(
        basis: FieldBasis,
        field: &Field,
        withheld: &Withheld,
        cuts: &[f64],
        seed: u64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(Self, Targets)> {
        if field.components() != basis.components() {
            return Err(Error::shape(
                "output",
                format!("{} components", basis.components()),
                format!("{}", field.components()),
            ));
        }
        let (points, space) = match field.observations() {
            Observations::Shared { points, values } => {
                let space = shared_points::fit(&basis, points, values, withheld, cuts, cancelled)?;
                (Some(points.clone()), space)
            }
            Observations::PerSample(samples) => {
                let space = own_points::fit(&basis, samples, withheld, cuts, seed)?;
                (field.common_points().cloned(), space)
            }
        };
        let decoder = FieldDecoder {
            basis,
            transforms: space.transforms,
            cuts: space.cuts,
            points,
            withheld: space.withheld,
            sizes: Vec::new(),
            complex: false,
            vector: None,
        };
        Ok((decoder, Targets::stack(space.targets)))
    }

    /// Fixes how vectors without points are standardised on training samples and returns their targets.
    ///
    /// # Errors
    /// If `field` is a function, or as [`VectorDecoder::fit`].
    pub(crate) fn fit_vector(spec: &VectorSpec, field: &Field) -> Result<(Self, Targets)> {
        let values = field.vectors().ok_or_else(|| {
            Error::Data("quantities are vectors without points; this output is a function".into())
        })?;
        let vector = VectorDecoder::fit(spec, values.as_ref())?;
        let targets = Targets {
            coordinates: vector.encode(values.as_ref())?,
            outside_squared: vec![0.0; field.samples()],
            norm_squared: vec![vector.size_squared(values.as_ref()); field.samples()],
            withheld_floor: None,
            readings: None,
        };
        let basis = FieldBasis::of_vector(vector.values());
        let decoder = FieldDecoder {
            transforms: vec![Mat::identity(1, 1); basis.len()],
            cuts: vec![0.0; basis.len()],
            basis,
            points: Some(Points::origin()),
            withheld: Withheld::none(),
            sizes: Vec::new(),
            complex: false,
            vector: Some(vector),
        };
        Ok((decoder, targets))
    }

    /// Makes the coordinates of a vector, and `targets` with them, `weight` times as large.
    pub(crate) fn weigh(&mut self, weight: f64, targets: &mut Targets) {
        if let Some(vector) = &mut self.vector {
            vector.weigh(weight);
            targets.coordinates *= faer::Scale(weight);
            let norms = targets.norm_squared.iter_mut();
            norms.for_each(|n| *n *= weight * weight);
        }
    }

    /// The same decoder for `field` in the user's units, before it was divided by these sizes.
    pub(crate) fn for_users(self, field: &Field, sizes: Vec<f64>) -> Self {
        FieldDecoder {
            sizes,
            complex: field.is_complex(),
            ..self
        }
    }

    /// Whether components are real and imaginary parts in turn.
    pub fn is_complex(&self) -> bool {
        self.complex
    }

    /// The size of each component, the unit of its coordinates; empty if they were not scaled.
    pub(crate) fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// The number of coordinates.
    pub fn rank(&self) -> usize {
        self.transforms.iter().map(Mat::ncols).sum()
    }

    /// The basis.
    pub fn basis(&self) -> &FieldBasis {
        &self.basis
    }

    /// The points of the data that the decoder was fitted to, if all samples share them or would if no reading were missing.
    pub fn points(&self) -> Option<&Points> {
        self.points.as_ref()
    }

    /// Those of them that were not fitted.
    pub(crate) fn withheld(&self) -> &Withheld {
        &self.withheld
    }

    /// How coordinates become a vector without points; `None` for a function.
    pub(crate) fn vector(&self) -> Option<&VectorDecoder> {
        self.vector.as_ref()
    }

    /// The space and how much of it is kept, in a few words.
    pub fn describe(&self) -> String {
        match &self.vector {
            Some(vector) => vector.describe(),
            None => format!(
                "{}; {} coordinates kept",
                self.basis.describe(),
                self.rank()
            ),
        }
    }

    /// The relative cut of the singular values of each part, as given or as chosen.
    pub(crate) fn cuts(&self) -> &[f64] {
        &self.cuts
    }

    /// For each part, coefficients from coordinates.
    pub(super) fn transforms(&self) -> &[Mat<f64>] {
        &self.transforms
    }

    /// The output coefficients $b = Tc$ of coordinates, one column per sample.
    pub fn coefficients(&self, coordinates: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.basis.len(), coordinates.ncols());
        let (mut from, mut to) = (0, 0);
        for transform in &self.transforms {
            let c = coordinates.subrows(from, transform.ncols());
            out.as_mut()
                .subrows_mut(to, transform.nrows())
                .copy_from(linalg::mul(transform.as_ref(), c));
            from += transform.ncols();
            to += transform.nrows();
        }
        out
    }

    /// The field at any points: one `n` x `N` matrix for each component.
    ///
    /// # Errors
    /// If the dimension differs or a point lies outside the domain.
    pub(crate) fn decode(
        &self,
        coordinates: MatRef<'_, f64>,
        points: &Points,
    ) -> Result<Vec<Mat<f64>>> {
        let mut components = self.decode_divided(coordinates, points)?;
        self.in_units(&mut components);
        Ok(components)
    }

    /// Gives components, one matrix each, their sizes.
    pub(crate) fn in_units(&self, components: &mut [Mat<f64>]) {
        for (component, size) in components.iter_mut().zip(&self.sizes) {
            *component *= faer::Scale(*size);
        }
    }

    /// The same before components take their sizes.
    pub(crate) fn decode_divided(
        &self,
        coordinates: MatRef<'_, f64>,
        points: &Points,
    ) -> Result<Vec<Mat<f64>>> {
        if let Some(vector) = &self.vector {
            let values = vector.decode(coordinates)?;
            let parts = self.basis.parts().iter().enumerate();
            return parts
                .map(|(i, part)| Ok(part.evaluate(points)?.mul(values.as_ref().subrows(i, 1))))
                .collect();
        }
        let coefficients = self.coefficients(coordinates);
        let n = points.len();
        let mut fields = Vec::new();
        let mut start = 0;
        for (part, range) in self.basis.ranges() {
            let b = coefficients.as_ref().subrows(start, part.len());
            let stacked = part.evaluate(points)?.mul(b);
            fields.extend((0..range.len()).map(|c| stacked.as_ref().subrows(c * n, n).to_owned()));
            start += part.len();
        }
        Ok(fields)
    }

    /// $R$ with $c = Rb$ for coefficients $b$ of the retained space: $\Sigma V^\top$, or the triangle that $T$ inverts, parts
    /// along the diagonal.
    pub(crate) fn factor(&self) -> Mat<f64> {
        let mut factor = Mat::zeros(self.rank(), self.basis.len());
        let (mut row, mut column) = (0, 0);
        for transform in &self.transforms {
            let part = left_inverse(transform);
            factor
                .as_mut()
                .submatrix_mut(row, column, part.nrows(), part.ncols())
                .copy_from(&part);
            row += transform.ncols();
            column += transform.nrows();
        }
        factor
    }

    /// The least-squares problem of a sample with its own points for coordinates (or, if `raw`, coefficients):
    /// the design at its points.
    ///
    /// # Errors
    /// If a point lies outside the domain.
    pub(crate) fn design_at(&self, points: &Points, raw: bool) -> Result<Mat<f64>> {
        let n = points.len();
        let columns = if raw { self.basis.len() } else { self.rank() };
        let mut design = Mat::zeros(n * self.basis.components(), columns);
        let mut column = 0;
        for ((part, range), transform) in self.basis.ranges().zip(&self.transforms) {
            let at = part.evaluate(points)?;
            let block = match raw {
                true => at.to_dense(),
                false => at.mul(transform.as_ref()),
            };
            design
                .as_mut()
                .submatrix_mut(range.start * n, column, block.nrows(), block.ncols())
                .copy_from(&block);
            column += block.ncols();
        }
        Ok(design)
    }

    /// For each part, the retained space at `points`.
    pub(super) fn retained_parts(&self, points: &Points) -> Result<Vec<Retained<'_>>> {
        let parts = self.basis.parts().iter().zip(&self.transforms);
        parts
            .map(|(part, t)| Ok(Retained::new(part.evaluate(points)?, t)))
            .collect()
    }

    /// For each part, the retained space at `points`: $\Psi T$, components stacked.
    pub(crate) fn retained(&self, points: &Points) -> Result<Vec<Mat<f64>>> {
        self.basis
            .parts()
            .iter()
            .zip(&self.transforms)
            .map(|(part, t): (&VectorBasis, _)| Ok(part.evaluate(points)?.mul(t.as_ref())))
            .collect()
    }

    fn settle(&mut self) -> Result<()> {
        let parts = self.basis.parts();
        let fit = |(part, t): (&VectorBasis, &Mat<f64>)| part.len() == t.nrows();
        let vector = match &self.vector {
            Some(vector) => self.basis.is_vector() && vector.is_complete(self.rank()),
            None => !self.basis.is_vector(),
        };
        let fits =
            parts.len() == self.transforms.len() && parts.iter().zip(&self.transforms).all(fit);
        let sizes = self.sizes.is_empty() || self.sizes.len() == self.basis.components();
        match vector && fits && sizes {
            true => Ok(()),
            false => Err(Error::Data(
                "the model's output space disagrees with its basis".into(),
            )),
        }
    }
}

/// $\Sigma V^\top$ of $T = V\Sigma^{-1}$, or $R$ of $T = R^{-1}$.
fn left_inverse(transform: &Mat<f64>) -> Mat<f64> {
    let (rows, columns) = transform.shape();
    let below = |j: usize| transform.col(j).iter().skip(j + 1);
    let above = |j: usize| transform.col(j).iter().take(j);
    let triangular = rows == columns && (0..columns).all(|j| below(j).all(|&v| v == 0.0));
    // The columns of V are orthogonal: those of a triangular one are unit vectors.
    if triangular && (0..columns).any(|j| above(j).any(|&v| v != 0.0)) {
        let mut inverse = Mat::identity(rows, rows);
        linalg::solve_upper(transform.as_ref(), inverse.as_mut());
        return inverse;
    }
    // The columns of T are orthogonal, of norm 1 / sigma.
    let norms = linalg::column_norms_squared(transform.as_ref());
    Mat::from_fn(columns, rows, |j, i| transform[(i, j)] / norms[j])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_of_either_kind_are_inverted() {
        let upper = Mat::from_fn(5, 5, |i, j| match i <= j {
            true => 1.0 + (i + 2 * j) as f64,
            false => 0.0,
        });
        let turned = linalg::Qr::new(Mat::from_fn(5, 3, |i, j| ((i * 3 + j * j) as f64).sin()));
        let columns = turned.q_mul(Mat::<f64>::identity(3, 3).as_ref());
        let scaled = Mat::from_fn(5, 3, |i, j| columns[(i, j)] / (1 + j) as f64);
        for transform in [upper, scaled] {
            let product = linalg::mul(left_inverse(&transform).as_ref(), transform.as_ref());
            let off = product - Mat::<f64>::identity(transform.ncols(), transform.ncols());
            assert!(off.norm_max() < 1e-12, "{:e}", off.norm_max());
        }
    }
}
