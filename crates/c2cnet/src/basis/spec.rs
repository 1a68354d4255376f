//! Bases as users write them, and what is needed to build them.

use super::*;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A basis as it stands in settings: a family and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case")]
pub enum BasisSpec {
    /// Random features with a partition of unity.
    RandomFeatures(RandomFeaturesSpec),
    /// Radial functions.
    Radial(RadialSpec),
    /// Trigonometric functions.
    Fourier(FourierSpec),
    /// Polynomials.
    Polynomial(PolynomialSpec),
    /// Finite elements on an interval or a triangle mesh.
    FiniteElements(FiniteElementsSpec),
    /// One function for each of the data's points.
    PointValues(PointValuesSpec),
    /// Principal directions of the training values.
    Pca(PcaSpec),
}

/// What a basis may be built from.
#[derive(Debug, Clone, Copy)]
pub struct BuildContext<'a> {
    /// The box on which the basis is needed.
    pub domain: &'a Bounds,
    /// Points shared by all training samples, where there are such.
    pub points: Option<&'a Points>,
    /// Training values at those points, one column a sample.
    pub values: Option<MatRef<'a, f64>>,
    /// Triangles of a mesh on those points.
    pub triangles: Option<&'a [[usize; 3]]>,
}

impl<'a> BuildContext<'a> {
    /// A box and nothing else, which is enough for most bases.
    pub fn on(domain: &'a Bounds) -> Self {
        BuildContext {
            domain,
            points: None,
            values: None,
            triangles: None,
        }
    }
}

impl BasisSpec {
    /// Whether the basis is made from training values, so that each component has its own.
    pub fn depends_on_values(&self) -> bool {
        match self {
            BasisSpec::Pca(_) => true,
            BasisSpec::FiniteElements(spec) => spec.depends_on_values(),
            _ => false,
        }
    }

    /// The specification for component `c` of a joint basis: random draws differ between
    /// components, because equal functions could not tell them apart.
    pub fn for_component(&self, c: usize) -> BasisSpec {
        let mut spec = self.clone();
        match &mut spec {
            BasisSpec::RandomFeatures(s) => s.seed = s.seed.wrapping_add(c as u64),
            BasisSpec::Radial(s) => s.seed = s.seed.wrapping_add(c as u64),
            _ => {}
        }
        spec
    }

    /// Builds the basis.
    ///
    /// # Errors
    /// If the settings do not fit the domain or the data.
    pub fn build(&self, context: BuildContext<'_>) -> Result<Arc<dyn Basis>> {
        let domain = context.domain.clone();
        Ok(match self {
            BasisSpec::RandomFeatures(spec) => Arc::new(RandomFeatures::new(domain, spec.clone())?),
            BasisSpec::Radial(spec) => Arc::new(Radial::new(domain, spec.clone(), context.points)?),
            BasisSpec::Fourier(spec) => Arc::new(Fourier::new(domain, spec.clone())?),
            BasisSpec::Polynomial(spec) => Arc::new(Polynomial::new(domain, spec.clone())?),
            BasisSpec::FiniteElements(spec) => Arc::new(FiniteElements::new(spec, context)?),
            BasisSpec::PointValues(_) => Arc::new(PointValues::from_context(context)?),
            BasisSpec::Pca(spec) => Arc::new(Pca::from_context(spec, context)?),
        })
    }
}

/// Rebuilds a basis from what [`Basis::save`] wrote.
///
/// # Errors
/// If the record names an unknown family or misses a part.
pub fn load(record: &serde_json::Value, archive: &Archive, name: &str) -> Result<Arc<dyn Basis>> {
    let family = record["family"].as_str().unwrap_or_default();
    Ok(match family {
        "random-features" => Arc::new(RandomFeatures::load(record, archive, name)?),
        "radial" => Arc::new(Radial::load(record, archive, name)?),
        "fourier" => Arc::new(Fourier::load(record)?),
        "polynomial" => Arc::new(Polynomial::load(record)?),
        "finite-elements" => Arc::new(FiniteElements::load(record, archive, name)?),
        "point-values" => Arc::new(PointValues::load(record, archive, name)?),
        "pca" => Arc::new(Pca::load(record, archive, name)?),
        _ => {
            return Err(Error::Data(format!(
                "the model uses the basis family {family:?}, unknown to this version"
            )));
        }
    })
}

/// The common record of a basis: family, domain and settings.
pub(super) fn write_record(
    family: &str,
    domain: &Bounds,
    spec: &impl Serialize,
) -> serde_json::Value {
    serde_json::json!({ "family": family, "domain": domain, "settings": spec })
}

/// The inverse of [`write_record`].
pub(super) fn read_record<S: serde::de::DeserializeOwned>(
    record: &serde_json::Value,
) -> Result<(Bounds, S)> {
    let damaged = |e| Error::Data(format!("the model's basis record is damaged: {e}"));
    Ok((
        serde_json::from_value(record["domain"].clone()).map_err(damaged)?,
        serde_json::from_value(record["settings"].clone()).map_err(damaged)?,
    ))
}

/// Stores triangles as `{name}.triangles`, three numbers a column.
pub(super) fn write_triangles(archive: &mut Archive, name: &str, triangles: &[[usize; 3]]) {
    let matrix = Mat::from_fn(3, triangles.len(), |k, t| triangles[t][k] as f64);
    archive.put_matrix(format!("{name}.triangles"), matrix.as_ref());
}

/// The inverse of [`write_triangles`].
pub(super) fn read_triangles(archive: &Archive, name: &str) -> Result<Vec<[usize; 3]>> {
    let matrix = archive.matrix(&format!("{name}.triangles"))?;
    let whole = |v: f64| v >= 0.0 && v < 2f64.powi(53) && v.fract() == 0.0;
    if matrix.nrows() != 3 || !(0..matrix.ncols()).all(|t| matrix.col(t).iter().all(|&v| whole(v)))
    {
        return Err(Error::Data(format!(
            "array {name}.triangles of the model does not hold triangles"
        )));
    }
    let column = |t| [0, 1, 2].map(|k| matrix[(k, t)] as usize);
    Ok((0..matrix.ncols()).map(column).collect())
}
