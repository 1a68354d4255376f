//! Augmentation of samples by symmetries of an interval or a square.

use super::{Dataset, Field, Observations, Points};
use crate::{Error, Result, linalg};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How far a point may lie from the image of its partner, as a part of the side.
const ROOM: f64 = 1e-7;

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
    /// How many images each sample has, itself included.
    pub fn order(self) -> usize {
        match self {
            Symmetries::None => 1,
            Symmetries::Interval => 2,
            Symmetries::Square => 8,
        }
    }

    /// How many reflections of single axes there are, the identity among them. Element
    /// $g = f\cdot$`order`/`reflections` $+ s$ is reflection $f$ followed by element $s$.
    pub fn reflections(self) -> usize {
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
    /// vector without points (how those turn into each other is not known here).
    pub fn augment(self, data: &Dataset) -> Result<Dataset> {
        if self == Symmetries::None {
            return Ok(data.clone());
        }
        Ok(Dataset {
            inputs: self.images(&data.inputs)?,
            outputs: self.images(&data.outputs)?,
            n_train: None,
            split: None,
            triangles: data.triangles.clone(),
            meta: data.meta.clone(),
        })
    }

    /// All images of all samples of `fields`, in the same order.
    ///
    /// # Errors
    /// As [`Symmetries::augment`].
    pub fn images(self, fields: &[(String, Field)]) -> Result<Vec<(String, Field)>> {
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
    pub fn images_of(self, field: &Field, elements: &[usize]) -> Result<Field> {
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
        // Cells as wide as the room for rounding: the partner of an image lies in its cell or beside.
        let cell =
            |t: &[f64]| -> Vec<i64> { t.iter().map(|v| (v / ROOM).floor() as i64).collect() };
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
                    let beside = (0..dim as u32)
                        .map(|k| centre[k as usize] + (m / 3usize.pow(k) % 3) as i64 - 1);
                    cells.get(&beside.collect::<Vec<_>>()).into_iter().flatten()
                })
                .copied()
                .filter(|&i| away(i) <= ROOM)
                .min_by(|&i, &j| away(i).total_cmp(&away(j)).then(i.cmp(&j)))
        };
        points
            .iter()
            .zip(&units)
            .map(|(p, t)| {
                partner(&self.moved(g, t)).ok_or_else(|| {
                    Error::Data(format!(
                        "point {p:?} has no image among the points under the symmetries asked for; \
                         the points must be symmetric too"
                    ))
                })
            })
            .collect()
    }
}
