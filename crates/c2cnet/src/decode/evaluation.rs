//! Errors of predicted coordinates against fields, at the fields' own points.

use super::retained::Retained;
use super::withheld::norm_at_withheld;
use super::{FieldDecoder, VectorDecoder, Withheld};
use crate::data::{Field, Observations, Scattered};
use crate::encode::stack_components;
use crate::error::in_order;
use crate::metrics::mean;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// One output field, ready to be compared with any number of predictions.
///
/// At the field's points the retained space is $\Psi T = QR$; then
/// $\|u - \Psi T\hat c\|^2 = \|u - QQ^\top u\|^2 + \|Q^\top u - R\hat c\|^2$, and the first term is
/// the floor at these points: no prediction in the space can have a smaller error.
#[derive(Debug)]
pub struct Evaluation {
    /// For each group of samples with common points: the samples, and each part of the basis at their points.
    groups: Vec<Group>,
    /// $\|u - QQ^\top u\|^2$ of each sample.
    pub floor_squared: Vec<f64>,
    /// Squared errors at withheld points of the best approximation at the others, if points were withheld.
    pub withheld_floor_squared: Option<Vec<f64>>,
    /// How many points of each sample are judged as withheld ones.
    pub(crate) withheld_points: usize,
    /// $\|u\|^2$ of each sample; of a vector without points, which may pass through zero, its mean over all.
    pub norm_squared: Vec<f64>,
    /// As above, for each component.
    pub(crate) component_norms_squared: Vec<Vec<f64>>,
    /// How many values each sample has.
    pub counts: Vec<usize>,
    /// The decoder and the truth, if the field is a vector without points.
    vector: Option<(VectorDecoder, Mat<f64>)>,
}

#[derive(Debug)]
struct Group {
    samples: std::ops::Range<usize>,
    parts: Vec<Part>,
    /// $\Psi T$ and the truth at withheld points.
    withheld: Vec<(Mat<f64>, Mat<f64>)>,
}

/// One part of the basis.
#[derive(Debug)]
struct Part {
    /// $R$ and $Q^\top u$.
    factor: Mat<f64>,
    truth: Mat<f64>,
    /// The squared norm of each sample's part outside the space.
    outside: Vec<f64>,
    /// $\Psi T$ and the truth of each component, where several share coordinates.
    components: Vec<(Mat<f64>, Mat<f64>)>,
}

impl Part {
    /// $\|Q^\top u - R\hat c\|^2$ of each sample.
    fn errors_inside(&self, predicted: MatRef<'_, f64>) -> Vec<f64> {
        let off = linalg::mul(self.factor.as_ref(), predicted) - &self.truth;
        linalg::column_norms_squared(off.as_ref())
    }

    /// Squared errors of each component, one entry per sample.
    fn component_errors(&self, predicted: MatRef<'_, f64>) -> Vec<Vec<f64>> {
        if self.components.is_empty() {
            let inside = self.errors_inside(predicted);
            let both = inside.iter().zip(&self.outside);
            return vec![both.map(|(a, b)| a + b).collect()];
        }
        let of = |(space, truth): &(Mat<f64>, Mat<f64>)| {
            let off = linalg::mul(space.as_ref(), predicted) - truth;
            linalg::column_norms_squared(off.as_ref())
        };
        self.components.iter().map(of).collect()
    }
}

impl Evaluation {
    /// Prepares the comparison of predictions by `decoder` with `field`, with the `withheld` ones among shared points
    /// also judged separately. (Where each sample has its own points, every point is new to a map fitted without the
    /// sample.)
    ///
    /// # Errors
    /// If the number of components differs, or its points do not fit the decoder's basis.
    pub fn new(decoder: &FieldDecoder, field: &Field, withheld: &Withheld) -> Result<Self> {
        let divided =
            (decoder.sizes().len() == field.components()).then(|| field.divided(decoder.sizes()));
        let field = divided.as_ref().unwrap_or(field);
        if field.components() != decoder.basis().components() {
            return Err(Error::shape(
                "output",
                format!("{} components", decoder.basis().components()),
                format!("{}", field.components()),
            ));
        }
        if let Some(vector) = decoder.vector() {
            return Self::of_vector(vector, field);
        }
        let mut withheld_floor_squared = None;
        let mut withheld_points = 0;
        let (groups, floors): (Vec<Group>, Vec<Vec<f64>>) = match field.observations() {
            Observations::Shared { points, values } => {
                let retained = decoder.retained_parts(points)?;
                let stacked: Vec<_> = decoder
                    .basis()
                    .ranges()
                    .map(|(_, range)| stack_components(&values[range]))
                    .collect();
                let stacked: Vec<_> = stacked.iter().map(|s| s.as_ref()).collect();
                let rows = withheld.of_sample(0);
                if !rows.is_empty() {
                    let floor = withheld_floor(&retained, &stacked, rows, points.len());
                    withheld_floor_squared = Some(floor);
                    withheld_points = rows.len();
                }
                let samples = 0..field.samples();
                vec![group(samples, retained, &stacked, rows, points.len())]
            }
            Observations::PerSample(samples) => {
                let samples = samples.par_iter().enumerate();
                in_order(samples.map(|(k, sample)| one_sample(decoder, k, sample)))?
            }
        }
        .into_iter()
        .unzip();
        Ok(Evaluation {
            groups,
            floor_squared: floors.concat(),
            withheld_floor_squared,
            withheld_points,
            norm_squared: field.norms_squared(),
            component_norms_squared: (0..field.components())
                .map(|c| component_norms(field, c))
                .collect(),
            counts: (0..field.samples())
                .map(|k| field.points_of(k).len() * field.components())
                .collect(),
            vector: None,
        })
    }

    fn of_vector(decoder: &VectorDecoder, field: &Field) -> Result<Self> {
        let truth = field.vectors().ok_or_else(|| {
            Error::Data("quantities are vectors without points; this output is a function".into())
        })?;
        let samples = field.samples();
        let mean_square = mean(&field.norms_squared());
        Ok(Evaluation {
            groups: Vec::new(),
            floor_squared: vec![0.0; samples],
            withheld_floor_squared: None,
            withheld_points: 0,
            norm_squared: vec![mean_square; samples],
            component_norms_squared: (0..field.components())
                .map(|c| vec![mean(&component_norms(field, c)); samples])
                .collect(),
            counts: vec![truth.nrows(); samples],
            vector: Some((decoder.clone(), truth)),
        })
    }

    /// Whether the field is a vector without points.
    pub(crate) fn is_vector(&self) -> bool {
        self.vector.is_some()
    }

    /// Predicted minus true values of a vector without points; `None` for a function.
    fn vector_errors(&self, predicted: MatRef<'_, f64>) -> Option<Mat<f64>> {
        let (decoder, truth) = self.vector.as_ref()?;
        let values = decoder
            .decode(predicted)
            .expect("a coordinate for each value");
        Some(values - truth)
    }

    /// Of each entry of a vector without points, the root mean square error and the standard deviation of the
    /// truth, which is the error of predicting its mean; empty for a function.
    pub(crate) fn entry_errors(&self, predicted: MatRef<'_, f64>) -> Vec<(f64, f64)> {
        let (Some(off), Some((_, truth))) = (self.vector_errors(predicted), &self.vector) else {
            return Vec::new();
        };
        let samples = truth.ncols() as f64;
        let mean_square = |i: usize, m: &Mat<f64>, centre: f64| {
            let squares = m.row(i).iter().map(|v| (v - centre).powi(2));
            squares.sum::<f64>() / samples
        };
        (0..truth.nrows())
            .map(|i| {
                let centre = truth.row(i).iter().sum::<f64>() / samples;
                let deviation = mean_square(i, truth, centre).sqrt();
                (mean_square(i, &off, 0.0).sqrt(), deviation)
            })
            .collect()
    }

    /// $\|u - \hat u\|^2$ of each sample, for predicted coordinates (one column per sample).
    pub fn errors_squared(&self, predicted: MatRef<'_, f64>) -> Vec<f64> {
        if let Some(off) = self.vector_errors(predicted) {
            return linalg::column_norms_squared(off.as_ref());
        }
        let mut errors = self.floor_squared.clone();
        for group in &self.groups {
            let predicted = predicted.subcols(group.samples.start, group.samples.len());
            let mut start = 0;
            for part in &group.parts {
                let c = predicted.subrows(start, part.factor.ncols());
                for (k, e) in part.errors_inside(c).iter().enumerate() {
                    errors[group.samples.start + k] += e;
                }
                start += part.factor.ncols();
            }
        }
        errors
    }

    /// The same for each component separately.
    pub(crate) fn component_errors_squared(&self, predicted: MatRef<'_, f64>) -> Vec<Vec<f64>> {
        if let Some(off) = self.vector_errors(predicted) {
            let squares = |i: usize| off.row(i).iter().map(|v| v * v).collect();
            return (0..off.nrows()).map(squares).collect();
        }
        let samples = self.counts.len();
        let mut errors = vec![vec![0.0; samples]; self.component_norms_squared.len()];
        for group in &self.groups {
            let predicted = predicted.subcols(group.samples.start, group.samples.len());
            let (mut start, mut component) = (0, 0);
            for part in &group.parts {
                let c = predicted.subrows(start, part.factor.ncols());
                for found in part.component_errors(c) {
                    errors[component][group.samples.clone()].copy_from_slice(&found);
                    component += 1;
                }
                start += part.factor.ncols();
            }
        }
        errors
    }

    /// The same at withheld points: squared errors and the squared norms to divide them by ([`norm_at_withheld`]);
    /// `None` if there are none.
    pub(crate) fn withheld_errors_squared(
        &self,
        predicted: MatRef<'_, f64>,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let samples = self.counts.len();
        let (mut errors, mut norms) = (vec![0.0; samples], vec![0.0; samples]);
        let mut any = false;
        for group in &self.groups {
            let rows: usize = group.withheld.iter().map(|(_, truth)| truth.nrows()).sum();
            let predicted = predicted.subcols(group.samples.start, group.samples.len());
            let mut start = 0;
            for (space, truth) in &group.withheld {
                any |= space.nrows() > 0;
                let c = predicted.subrows(start, space.ncols());
                let off = linalg::mul(space.as_ref(), c) - truth;
                let off = linalg::column_norms_squared(off.as_ref());
                let norm = linalg::column_norms_squared(truth.as_ref());
                for k in 0..group.samples.len() {
                    errors[group.samples.start + k] += off[k];
                    norms[group.samples.start + k] += norm[k];
                }
                start += space.ncols();
            }
            for k in group.samples.clone() {
                let share = rows as f64 / self.counts[k] as f64;
                norms[k] = norm_at_withheld(norms[k], self.norm_squared[k], share);
            }
        }
        any.then_some((errors, norms))
    }
}

fn component_norms(field: &Field, c: usize) -> Vec<f64> {
    let squares = |k: usize| field.component_of(k, c).iter().map(|v| v * v).sum();
    (0..field.samples()).map(squares).collect()
}

/// A sample with its own points.
fn one_sample(decoder: &FieldDecoder, k: usize, sample: &Scattered) -> Result<(Group, Vec<f64>)> {
    let n = sample.points.len();
    let retained = decoder
        .retained_parts(&sample.points)
        .map_err(|e| e.of_sample("output", k))?;
    let stacked = decoder.basis().ranges().map(|(_, range)| {
        Mat::from_fn(n * range.len(), 1, |i, _| {
            sample.values[range.start * n + i]
        })
    });
    let stacked: Vec<Mat<f64>> = stacked.collect();
    let stacked: Vec<_> = stacked.iter().map(Mat::as_ref).collect();
    Ok(group(k..k + 1, retained, &stacked, &[], n))
}

/// The retained space is orthonormal at the fitted points, so coordinates there are one product.
fn withheld_floor(
    retained: &[Retained<'_>],
    values: &[MatRef<'_, f64>],
    withheld: &[usize],
    n: usize,
) -> Vec<f64> {
    let mut floor = vec![0.0; values[0].ncols()];
    for (space, values) in retained.iter().zip(values) {
        let mut is_withheld = vec![false; space.nrows()];
        for c in 0..space.nrows() / n {
            withheld.iter().for_each(|&i| is_withheld[c * n + i] = true);
        }
        let withheld: Vec<usize> = (0..space.nrows()).filter(|&i| is_withheld[i]).collect();
        let coordinates = space.transpose_mul(*values, &is_withheld);
        let fitted = linalg::mul(space.rows(&withheld).as_ref(), coordinates.as_ref());
        let off = fitted - linalg::select_rows(*values, &withheld);
        for (f, e) in floor
            .iter_mut()
            .zip(linalg::column_norms_squared(off.as_ref()))
        {
            *f += e;
        }
    }
    floor
}

fn group(
    samples: std::ops::Range<usize>,
    retained: Vec<Retained<'_>>,
    values: &[MatRef<'_, f64>],
    withheld: &[usize],
    n: usize,
) -> (Group, Vec<f64>) {
    let mut floor = vec![0.0; samples.len()];
    let mut parts = Vec::new();
    let mut withheld_parts = Vec::new();
    for (space, values) in retained.into_iter().zip(values) {
        let components = space.nrows() / n;
        let rows: Vec<usize> = (0..components)
            .flat_map(|c| withheld.iter().map(move |&i| c * n + i))
            .collect();
        withheld_parts.push((space.rows(&rows), linalg::select_rows(*values, &rows)));
        let of_component = |c: usize| {
            let rows: Vec<usize> = (c * n..(c + 1) * n).collect();
            (space.rows(&rows), values.subrows(c * n, n).to_owned())
        };
        let components = match components {
            1 => Vec::new(),
            several => (0..several).map(of_component).collect(),
        };
        let parted = space.split(*values);
        let outside = parted.outside_squared;
        floor.iter_mut().zip(&outside).for_each(|(f, e)| *f += e);
        parts.push(Part {
            factor: parted.r,
            truth: parted.inside,
            outside,
            components,
        });
    }
    let group = Group {
        samples,
        parts,
        withheld: withheld_parts,
    };
    (group, floor)
}
