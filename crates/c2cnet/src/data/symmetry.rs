//! Augmentation of samples by symmetries of an interval or a square.

use super::{Dataset, Field, Fields, Observations, Points};
use crate::{Error, Result, linalg};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How far a point may lie from the image of its partner, relative to the side.
const TOLERANCE: f64 = 1e-7;

/// Symmetries of the domain under which the operator is known to commute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Symmetries {
    /// No augmentation.
    #[default]
    None,
    /// The reflection of an interval: twice the samples.
    Interval,
    /// The eight symmetries of a square: eight times the samples.
    Square,
}

impl Symmetries {
    /// How many images each sample has, including itself.
    pub(crate) fn order(self) -> usize {
        match self {
            Symmetries::None => 1,
            Symmetries::Interval => 2,
            Symmetries::Square => 8,
        }
    }

    /// How many reflections of single axes there are, including the identity. Element
    /// $g = f\cdot$`order`/`reflections` $+ s$ is reflection $f$ followed by element $s$.
    pub(crate) fn reflections(self) -> usize {
        match self {
            Symmetries::None => 1,
            Symmetries::Interval => 2,
            Symmetries::Square => 4,
        }
    }

    /// Where element `g` takes a point in unit coordinates.
    fn moved(self, g: usize, t: &[f64]) -> Vec<f64> {
        let flip = |v: f64, on: bool| if on { 1.0 - v } else { v };
        match self {
            Symmetries::None => t.to_vec(),
            Symmetries::Interval => vec![flip(t[0], g == 1)],
            Symmetries::Square => {
                let (x, y) = (flip(t[0], g & 2 != 0), flip(t[1], g & 4 != 0));
                if g & 1 != 0 { vec![y, x] } else { vec![x, y] }
            }
        }
    }

    /// All images of all samples: first the samples themselves, then one image of each, and so on.
    ///
    /// Fields transform as scalars: the image of $f$ is $f\circ g$.
    ///
    /// # Errors
    /// If points are not shared, are not mapped onto each other, or a field has several components or is a
    /// vector without points (how those transform is not known here).
    pub(crate) fn augment(self, data: &Dataset) -> Result<Dataset> {
        if self == Symmetries::None {
            return Ok(data.clone());
        }
        Ok(Dataset {
            inputs: self.images(&data.inputs)?,
            outputs: self.images(&data.outputs)?,
            n_train: None,
            split: None,
            triangles: data.triangles.clone(),
            tetrahedra: data.tetrahedra.clone(),
            meta: data.meta.clone(),
        })
    }

    /// All images of all samples of `fields`, in the same order.
    ///
    /// # Errors
    /// As [`Symmetries::augment`].
    pub(crate) fn images(self, fields: &Fields) -> Result<Fields> {
        let all: Vec<usize> = (0..self.order()).collect();
        fields
            .iter()
            .map(|(name, field)| Ok((name.clone(), self.images_of(field, &all)?)))
            .collect()
    }

    /// The images of all samples under `elements`, in this order.
    ///
    /// # Errors
    /// As [`Symmetries::augment`].
    pub(crate) fn images_of(self, field: &Field, elements: &[usize]) -> Result<Field> {
        if self == Symmetries::None {
            return Ok(field.clone());
        }
        if field.is_vector() {
            return Err(Error::Data(
                "symmetries say where points go, not how parameters or quantities change; fit with \
                 symmetries = \"none\", or add the images of your samples yourself"
                    .into(),
            ));
        }
        let Observations::Shared { points, values } = field.observations() else {
            return Err(Error::Data(
                "symmetries need points shared by all samples".into(),
            ));
        };
        if values.len() != 1 {
            return Err(Error::Data(format!(
                "symmetries need scalar fields; this one has {} components",
                values.len()
            )));
        }
        let samples = values[0].ncols();
        let mut all = faer::Mat::zeros(points.len(), samples * elements.len());
        for (place, &g) in elements.iter().enumerate() {
            let permutation = self.permutation(g, points)?;
            let to = all.as_mut().subcols_mut(place * samples, samples);
            linalg::select_rows_into(to, values[0].as_ref(), &permutation);
        }
        Field::shared(points.clone(), vec![all])
    }

    /// Which point lies at the image of each point under `g`.
    fn permutation(self, g: usize, points: &Points) -> Result<Vec<usize>> {
        let dim = if self == Symmetries::Square { 2 } else { 1 };
        if points.dim() != dim {
            return Err(Error::Data(format!(
                "the symmetries of {} need {dim}-dimensional points; these have {}",
                if dim == 2 { "a square" } else { "an interval" },
                points.dim()
            )));
        }
        let bounds = points.bounding_box().expect("fields have points");
        let unit = |p: &[f64]| -> Vec<f64> {
            (0..dim)
                .map(|k| (p[k] - bounds.lower(k)) / bounds.width(k).max(f64::MIN_POSITIVE))
                .collect()
        };
        let units: Vec<Vec<f64>> = points.iter().map(unit).collect();
        // Cells as wide as the tolerance: the partner of an image lies in its cell or a neighbouring one.
        let cell =
            |t: &[f64]| -> Vec<i64> { t.iter().map(|v| (v / TOLERANCE).floor() as i64).collect() };
        let mut cells: HashMap<Vec<i64>, Vec<usize>> = HashMap::new();
        for (i, t) in units.iter().enumerate() {
            cells.entry(cell(t)).or_default().push(i);
        }
        let partner = |t: &[f64]| {
            let centre = cell(t);
            let away = |i: usize| {
                let off = units[i].iter().zip(t).map(|(a, b)| (a - b).abs());
                off.fold(0.0, f64::max)
            };
            (0..3usize.pow(dim as u32))
                .flat_map(|m| {
                    let neighbour = (0..dim as u32)
                        .map(|k| centre[k as usize] + (m / 3usize.pow(k) % 3) as i64 - 1);
                    cells
                        .get(&neighbour.collect::<Vec<_>>())
                        .into_iter()
                        .flatten()
                })
                .copied()
                .filter(|&i| away(i) <= TOLERANCE)
                .min_by(|&i, &j| away(i).total_cmp(&away(j)).then(i.cmp(&j)))
        };
        points
            .iter()
            .zip(&units)
            .map(|(p, t)| {
                partner(&self.moved(g, t)).ok_or_else(|| {
                    Error::Data(format!(
                        "point {p:?} has no image among the points under the requested symmetries; \
                         the points must have these symmetries"
                    ))
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bounds;
    use faer::Mat;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    /// Points that the symmetries map onto each other: an orbit around each of `seeds` points.
    fn symmetric_points(symmetries: Symmetries, seeds: usize, bounds: &Bounds, rng: u64) -> Points {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(rng);
        let dim = bounds.dim();
        // The first orbit holds the corners, so that the box of the points is `bounds`.
        let starts: Vec<Vec<f64>> = std::iter::once(vec![0.0; dim])
            .chain((0..seeds).map(|_| (0..dim).map(|_| rng.random::<f64>()).collect()))
            .collect();
        let mut images: Vec<Vec<f64>> = starts
            .iter()
            .flat_map(|t| (0..symmetries.order()).map(move |g| symmetries.moved(g, t)))
            .collect();
        images.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
        images.dedup();
        let place = |t: Vec<f64>| {
            let scaled = (0..dim).map(|k| bounds.lower(k) + bounds.width(k) * t[k]);
            scaled.collect::<Vec<_>>()
        };
        Points::new(dim, images.into_iter().flat_map(place).collect()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Every element has one inverse, products stay in the group, and images keep norms.
        #[test]
        fn symmetries_are_a_group(
            square in any::<bool>(),
            seeds in 1usize..5,
            lower in -3.0f64..3.0,
            width in 0.1f64..5.0,
            seed in any::<u64>(),
        ) {
            let symmetries = if square { Symmetries::Square } else { Symmetries::Interval };
            let dim = if square { 2 } else { 1 };
            let bounds = Bounds::new(vec![[lower, lower + width]; dim]).unwrap();
            let points = symmetric_points(symmetries, seeds, &bounds, seed);
            let order = symmetries.order();
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            let values = Mat::from_fn(points.len(), 2, |_, _| rng.random_range(-1.0..1.0));
            let field = Field::shared(points, vec![values]).unwrap();
            let image = |field: &Field, g: usize| symmetries.images_of(field, &[g]).unwrap();
            let same = |a: &Field, b: &Field| (0..2).all(|k| a.values_of(k) == b.values_of(k));

            prop_assert!(same(&image(&field, 0), &field), "element 0 is the identity");
            let once: Vec<Field> = (0..order).map(|g| image(&field, g)).collect();
            for g in 0..order {
                let undone = (0..order).filter(|&h| same(&image(&once[g], h), &field)).count();
                prop_assert_eq!(undone, 1, "inverses of element {}", g);
                for h in 0..order {
                    let twice = image(&once[g], h);
                    prop_assert!(once.iter().any(|e| same(e, &twice)), "{} after {}", h, g);
                }
                let norms = once[g].norms_squared().into_iter().zip(field.norms_squared());
                for (a, b) in norms {
                    prop_assert!((a - b).abs() <= 1e-12 * b);
                }
            }
        }
    }
}
