//! Samples of one function: values at points that all samples share, or at each sample's own. A vector
//! without points (parameters, quantities) is a function on one single point.

use super::{Bounds, Points};
use crate::error::counted;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// The number of samples whose logarithms one thread computes at a time.
const LOG_CHUNK: usize = 16;

/// Takes the logarithm of every value.
pub(crate) fn logarithm(values: &mut Mat<f64>) {
    linalg::par_column_chunks(values.as_mut(), LOG_CHUNK, |_, chunk| {
        for column in chunk.col_iter_mut() {
            column.iter_mut().for_each(|v| *v = v.ln());
        }
    });
}

/// `N` samples of a function with one or several components.
#[derive(Debug, Clone)]
pub struct Field {
    components: usize,
    samples: usize,
    vector: bool,
    complex: bool,
    observations: Observations,
    /// The points that all samples would share if no reading were missing.
    whole: Option<Points>,
}

/// Where and what was observed.
#[derive(Debug, Clone)]
pub enum Observations {
    /// All samples at the same points; one `n` x `N` matrix for each component.
    Shared {
        /// The points.
        points: Points,
        /// One matrix per component, one column per sample.
        values: Vec<Mat<f64>>,
    },
    /// Each sample at its own points, any number of them.
    PerSample(Vec<Scattered>),
}

/// One sample at its own points.
#[derive(Debug, Clone)]
pub struct Scattered {
    /// The points.
    pub points: Points,
    /// Values component after component: `values[c * n + i]` at point `i`.
    pub values: Vec<f64>,
}

impl Field {
    /// Samples at shared points; `values[c]` holds component `c`, one column per sample.
    ///
    /// # Errors
    /// If there is no point, component or sample, shapes differ, or a value is not finite.
    pub fn shared(points: Points, values: Vec<Mat<f64>>) -> Result<Self> {
        let samples = values.first().map_or(0, Mat::ncols);
        if points.is_empty() || values.is_empty() || samples == 0 {
            return Err(Error::Data(format!(
                "a field needs points, components and samples; there are {} points, {} components, {samples} samples",
                points.len(),
                values.len(),
            )));
        }
        for (c, v) in values.iter().enumerate() {
            if v.shape() != (points.len(), samples) {
                return Err(Error::shape(
                    format!("values of component {c}"),
                    format!("({samples} samples, {} points)", points.len()),
                    format!("({} samples, {} points)", v.ncols(), v.nrows()),
                ));
            }
            for k in 0..samples {
                check_finite(v.col_as_slice(k), |i| {
                    format!("sample {k}, point {i}, component {c}")
                })?;
            }
        }
        Ok(Field {
            components: values.len(),
            samples,
            vector: false,
            complex: false,
            observations: Observations::Shared { points, values },
            whole: None,
        })
    }

    /// A vector in $\mathbb R^k$ for each sample, without points: $k$ x $N$ `values`, one column per sample.
    /// It is kept as $k$ components at [`Points::origin`], so that everything that works on functions works on it.
    ///
    /// # Errors
    /// If there is no value or no sample, or a value is not finite.
    pub fn vector(values: MatRef<'_, f64>) -> Result<Self> {
        let (k, samples) = values.shape();
        if k == 0 || samples == 0 {
            return Err(Error::Data(format!(
                "a vector needs values and samples; there are {k} values per sample, {samples} samples"
            )));
        }
        for sample in 0..samples {
            let column = values.col(sample);
            if let Some(i) = column.iter().position(|v| !v.is_finite()) {
                return Err(Error::NotFinite {
                    what: "the data".into(),
                    place: format!("sample {sample}, column {i}"),
                    value: column[i],
                    optional: false,
                });
            }
        }
        let rows = (0..k).map(|i| values.subrows(i, 1).to_owned()).collect();
        Ok(Field {
            components: k,
            samples,
            vector: true,
            complex: false,
            observations: Observations::Shared {
                points: Points::origin(),
                values: rows,
            },
            whole: None,
        })
    }

    /// Samples at their own points, with `components` values per point.
    ///
    /// # Errors
    /// If there is no sample, a sample has no point, counts or dimensions differ, or a value is not finite.
    pub fn per_sample(components: usize, samples: Vec<Scattered>) -> Result<Self> {
        let Some(first) = samples.first() else {
            return Err(Error::Data("a field needs at least one sample".into()));
        };
        let dim = first.points.dim();
        for (k, sample) in samples.iter().enumerate() {
            let n = sample.points.len();
            if n == 0 {
                return Err(Error::Data(format!("sample {k} has no points")));
            }
            if sample.points.dim() != dim || sample.values.len() != n * components {
                return Err(Error::shape(
                    format!("sample {k}"),
                    format!(
                        "{} in {} with {}",
                        counted(n, "point"),
                        counted(dim, "dimension"),
                        counted(components, "component")
                    ),
                    format!(
                        "points in {}, {}",
                        counted(sample.points.dim(), "dimension"),
                        counted(sample.values.len(), "value")
                    ),
                ));
            }
            check_finite(&sample.values, |i| {
                format!("sample {k}, point {}, component {}", i % n, i / n)
            })?;
        }
        Ok(Field {
            components,
            samples: samples.len(),
            vector: false,
            complex: false,
            observations: Observations::PerSample(samples),
            whole: None,
        })
    }

    /// The same field, which lacks readings at points that all samples would share.
    pub(super) fn lacking_some_of(mut self, whole: Points) -> Self {
        self.whole = Some(whole);
        self
    }

    /// The points that all samples share, or would share if no reading were missing.
    #[doc(hidden)] // for the command
    pub fn common_points(&self) -> Option<&Points> {
        self.shared_points().or(self.whole.as_ref())
    }

    /// The number of components.
    pub fn components(&self) -> usize {
        self.components
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Whether these are vectors without points, as [`Field::vector`] makes them.
    pub fn is_vector(&self) -> bool {
        self.vector
    }

    /// The same field, whose components are alternating real and imaginary parts.
    ///
    /// # Panics
    /// If their number is odd.
    #[must_use]
    pub fn as_complex(mut self) -> Self {
        assert!(self.components.is_multiple_of(2));
        self.complex = true;
        self
    }

    /// Whether components are alternating real and imaginary parts, see [`Field::as_complex`].
    pub fn is_complex(&self) -> bool {
        self.complex
    }

    /// The vectors, $k$ x $N$, one column per sample; `None` for a function.
    pub fn vectors(&self) -> Option<Mat<f64>> {
        match &self.observations {
            Observations::Shared { values, .. } if self.vector => {
                Some(Mat::from_fn(self.components, self.samples, |i, k| {
                    values[i][(0, k)]
                }))
            }
            _ => None,
        }
    }

    /// Components that have the same value everywhere in every sample: as inputs they carry no information.
    pub(crate) fn constant_components(&self) -> Vec<usize> {
        let is_constant = |c: &usize| {
            let first = self.values_of(0)[c * self.points_of(0).len()];
            (0..self.samples).all(|k| match &self.observations {
                Observations::Shared { values, .. } => {
                    values[*c].col(k).iter().all(|&v| v == first)
                }
                Observations::PerSample(samples) => {
                    let n = samples[k].points.len();
                    let values = &samples[k].values[c * n..(c + 1) * n];
                    values.iter().all(|&v| v == first)
                }
            })
        };
        (0..self.components).filter(is_constant).collect()
    }

    /// Where and what was observed.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// The dimension of the points.
    pub fn dim(&self) -> usize {
        match &self.observations {
            Observations::Shared { points, .. } => points.dim(),
            Observations::PerSample(samples) => samples[0].points.dim(),
        }
    }

    /// The points shared by all samples, if they share them.
    pub fn shared_points(&self) -> Option<&Points> {
        match &self.observations {
            Observations::Shared { points, .. } => Some(points),
            Observations::PerSample(_) => None,
        }
    }

    /// The points of sample `k`.
    pub fn points_of(&self, k: usize) -> &Points {
        match &self.observations {
            Observations::Shared { points, .. } => points,
            Observations::PerSample(samples) => &samples[k].points,
        }
    }

    /// The values of sample `k`, component after component.
    pub fn values_of(&self, k: usize) -> Vec<f64> {
        match &self.observations {
            Observations::Shared { values, .. } => values
                .iter()
                .flat_map(|v| v.col(k).iter().copied())
                .collect(),
            Observations::PerSample(samples) => samples[k].values.clone(),
        }
    }

    /// The squared norm of each sample over all its points and components.
    #[doc(hidden)] // for the tests of other crates
    pub fn norms_squared(&self) -> Vec<f64> {
        match &self.observations {
            Observations::Shared { values, .. } => {
                let mut total = vec![0.0; self.samples];
                for v in values {
                    for (t, n) in total
                        .iter_mut()
                        .zip(linalg::column_norms_squared(v.as_ref()))
                    {
                        *t += n;
                    }
                }
                total
            }
            Observations::PerSample(samples) => samples
                .iter()
                .map(|s| s.values.iter().map(|v| v * v).sum())
                .collect(),
        }
    }

    /// Whether every value is exact in single precision, as in data that was written in it.
    pub(crate) fn is_single_precision(&self) -> bool {
        let single = |v: &f64| f64::from(*v as f32) == *v;
        match &self.observations {
            Observations::Shared { values, .. } => values
                .iter()
                .all(|v| v.col_iter().all(|column| column.iter().all(single))),
            Observations::PerSample(samples) => samples
                .iter()
                .all(|sample| sample.values.iter().all(single)),
        }
    }

    /// The smallest value of all samples.
    #[doc(hidden)] // for the tests of other crates
    pub fn minimum(&self) -> f64 {
        let mut least = f64::INFINITY;
        for k in 0..self.samples {
            match &self.observations {
                Observations::Shared { values, .. } => {
                    for v in values {
                        least = v.col(k).iter().copied().fold(least, f64::min);
                    }
                }
                Observations::PerSample(samples) => {
                    least = samples[k].values.iter().copied().fold(least, f64::min);
                }
            }
        }
        least
    }

    /// The logarithm of every value.
    ///
    /// # Errors
    /// Names the first value that is not positive.
    pub(crate) fn logarithm(&self) -> Result<Field> {
        self.clone().into_logarithm()
    }

    /// [`Field::logarithm`] without a copy.
    pub(crate) fn into_logarithm(mut self) -> Result<Field> {
        self.check_positive()?;
        match &mut self.observations {
            Observations::Shared { values, .. } => {
                values.iter_mut().for_each(logarithm);
            }
            Observations::PerSample(samples) => samples.par_iter_mut().for_each(|sample| {
                sample.values.iter_mut().for_each(|v| *v = v.ln());
            }),
        }
        Ok(self)
    }

    /// Checks that every value has a logarithm.
    ///
    /// # Errors
    /// Names the first value that is not positive.
    pub(crate) fn check_positive(&self) -> Result<()> {
        if self.minimum() > 0.0 {
            return Ok(());
        }
        let refuse = |v: f64, k: usize, i: usize| {
            Err(Error::Data(format!(
                "the log transform needs positive values; sample {k} has {v} {} {i}; \
                 fit with transform = \"none\"",
                if self.is_vector() {
                    "in column"
                } else {
                    "at point"
                }
            )))
        };
        let first = |mut values: std::slice::Iter<'_, f64>| values.position(|v| *v <= 0.0);
        for k in 0..self.samples {
            match &self.observations {
                Observations::Shared { values, .. } => {
                    for component in values {
                        let column = component.col_as_slice(k);
                        if let Some(i) = first(column.iter()) {
                            return refuse(column[i], k, i);
                        }
                    }
                }
                Observations::PerSample(samples) => {
                    let Scattered { points, values } = &samples[k];
                    if let Some(i) = first(values.iter()) {
                        return refuse(values[i], k, i % points.len());
                    }
                }
            }
        }
        Ok(())
    }

    /// Every value divided by the size of its component; without sizes, the field itself.
    ///
    /// # Panics
    /// If there are sizes, but not one for each component.
    pub(crate) fn divided(&self, sizes: &[f64]) -> Field {
        let mut field = self.clone();
        if sizes.is_empty() {
            return field;
        }
        assert_eq!(sizes.len(), self.components);
        match &mut field.observations {
            Observations::Shared { values, .. } => {
                for (component, size) in values.iter_mut().zip(sizes) {
                    for k in 0..component.ncols() {
                        component.col_mut(k).iter_mut().for_each(|v| *v /= size);
                    }
                }
            }
            Observations::PerSample(samples) => {
                for sample in samples {
                    let components = sample.values.chunks_exact_mut(sample.points.len());
                    for (component, size) in components.zip(sizes) {
                        component.iter_mut().for_each(|v| *v /= size);
                    }
                }
            }
        }
        field
    }

    /// The values of component `c` of sample `k`.
    pub(crate) fn component_of(&self, k: usize, c: usize) -> std::borrow::Cow<'_, [f64]> {
        match &self.observations {
            Observations::Shared { values, .. } => values[c].col_as_slice(k).into(),
            Observations::PerSample(samples) => {
                let n = samples[k].points.len();
                samples[k].values[c * n..(c + 1) * n].into()
            }
        }
    }

    /// The smallest box that holds the points of every sample.
    pub fn bounding_box(&self) -> Bounds {
        let of = |points: &Points| points.bounding_box().expect("fields have points");
        match &self.observations {
            Observations::Shared { points, .. } => of(points),
            Observations::PerSample(samples) => samples[1..]
                .iter()
                .fold(of(&samples[0].points), |all, s| all.union(&of(&s.points))),
        }
    }

    /// The same values at `points`, one for one: those of all samples.
    ///
    /// # Errors
    /// If a sample has another number of points.
    pub(crate) fn on_shared(&self, points: &Points) -> Result<Field> {
        let mut components = vec![Mat::zeros(points.len(), self.samples); self.components];
        for k in 0..self.samples {
            for (c, component) in components.iter_mut().enumerate() {
                let values = self.component_of(k, c);
                if values.len() != points.len() {
                    return Err(Error::shape(
                        format!("sample {k}"),
                        format!("{} points", points.len()),
                        format!("{}", values.len()),
                    ));
                }
                component.col_as_slice_mut(k).copy_from_slice(&values);
            }
        }
        let field = Field::shared(points.clone(), components)?;
        Ok(match self.complex {
            true => field.as_complex(),
            false => field,
        })
    }

    /// Drops all samples but the first `samples`.
    ///
    /// # Panics
    /// If there are none, or fewer.
    pub(super) fn keep_first(&mut self, samples: usize) {
        assert!(samples > 0 && samples <= self.samples);
        self.samples = samples;
        match &mut self.observations {
            Observations::Shared { values, .. } => {
                for component in values {
                    component.truncate(component.nrows(), samples);
                }
            }
            Observations::PerSample(all) => all.truncate(samples),
        }
    }

    /// Adds the samples of `other` after these.
    ///
    /// # Errors
    /// If they are of another kind, have other components, or do not share the points that these share; nothing is added.
    pub(super) fn append(&mut self, other: Field) -> Result<()> {
        let kind = |f: &Field| (f.components, f.vector, f.complex, f.dim());
        if kind(self) != kind(&other) {
            return Err(Error::Data(format!(
                "{} in {}, earlier samples have {} in {}",
                counted(other.components, "component"),
                counted(other.dim(), "dimension"),
                self.components,
                self.dim()
            )));
        }
        let added = other.samples;
        match (&mut self.observations, other.observations) {
            (
                Observations::Shared { points, values },
                Observations::Shared {
                    points: others,
                    values: more,
                },
            ) if *points == others => {
                for (values, more) in values.iter_mut().zip(&more) {
                    let (rows, columns) = values.shape();
                    values.resize_with(rows, columns + added, |i, k| more[(i, k - columns)]);
                }
            }
            (Observations::PerSample(samples), Observations::PerSample(more)) => {
                samples.extend(more);
            }
            _ => {
                return Err(Error::Data(
                    "the points differ from those of earlier samples".into(),
                ));
            }
        }
        self.samples += added;
        Ok(())
    }

    /// The samples at `indices`, in that order.
    ///
    /// # Panics
    /// If there is no index or one is out of range.
    pub fn select(&self, indices: &[usize]) -> Field {
        assert!(!indices.is_empty());
        let observations = match &self.observations {
            Observations::Shared { points, values } => Observations::Shared {
                points: points.clone(),
                values: values
                    .iter()
                    .map(|v| linalg::select_columns(v.as_ref(), indices))
                    .collect(),
            },
            Observations::PerSample(samples) => {
                Observations::PerSample(indices.iter().map(|&k| samples[k].clone()).collect())
            }
        };
        Field {
            components: self.components,
            samples: indices.len(),
            vector: self.vector,
            complex: self.complex,
            observations,
            whole: self.whole.clone(),
        }
    }
}

fn check_finite(values: &[f64], place: impl Fn(usize) -> String) -> Result<()> {
    // Checking all of them, vectorised, is faster than stopping at the first bad one.
    if values.iter().fold(true, |fine, v| fine & v.is_finite()) {
        return Ok(());
    }
    let wrong = values.iter().enumerate().find(|(_, v)| !v.is_finite());
    let (i, &value) = wrong.expect("one is not finite");
    Err(Error::NotFinite {
        what: "the data".into(),
        place: place(i),
        value,
        optional: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_a_field_on_one_point_and_stays_one() {
        let values = Mat::from_fn(2, 3, |i, k| (10 * i + k) as f64 + 1.0);
        let field = Field::vector(values.as_ref()).unwrap();
        assert!(field.is_vector());
        assert_eq!((field.components(), field.samples()), (2, 3));
        assert_eq!(field.shared_points(), Some(&Points::origin()));
        assert_eq!(field.values_of(1), [2.0, 12.0]);
        assert!(field.vectors().unwrap() == values);
        let some = field.select(&[2, 0]);
        assert_eq!(some.vectors().unwrap().col_as_slice(0), [3.0, 13.0]);
        let logs = field.logarithm().unwrap();
        assert_eq!(logs.vectors().unwrap()[(1, 2)], 13f64.ln());
        let function = Field::shared(Points::origin(), vec![Mat::zeros(1, 3)]).unwrap();
        assert!(!function.is_vector() && function.vectors().is_none());
    }

    #[test]
    fn vectors_that_cannot_be_are_named() {
        let mut values = Mat::from_fn(2, 3, |i, k| (i + k) as f64);
        values[(1, 2)] = f64::NAN;
        let error = Field::vector(values.as_ref()).unwrap_err().to_string();
        assert!(error.contains("NaN at sample 2, column 1"), "{error}");
        let error = Field::vector(Mat::zeros(0, 3).as_ref()).unwrap_err();
        assert!(error.to_string().contains("0 values per sample"), "{error}");
    }

    #[test]
    fn constant_components_are_found_in_every_kind_of_field() {
        let values = Mat::from_fn(3, 4, |i, k| if i == 1 { 7.0 } else { (i + k) as f64 });
        let field = Field::vector(values.as_ref()).unwrap();
        assert_eq!(field.constant_components(), [1]);
        assert_eq!(field.select(&[2]).constant_components(), [0, 1, 2]);
        let own = |n: usize, v: f64| Scattered {
            points: Points::linspace(0.0, 1.0, n),
            values: [vec![2.0; n], vec![v; n]].concat(),
        };
        let field = Field::per_sample(2, vec![own(2, 1.0), own(3, 1.5)]).unwrap();
        assert_eq!(field.constant_components(), [0]);
    }
}
