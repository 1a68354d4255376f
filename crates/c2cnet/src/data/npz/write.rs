//! [`Dataset::write_npz`].

use super::{INPUTS, NpzWriter, OUTPUTS, join_key, write_npz};
use crate::data::{Dataset, Field, Observations, Scattered};
use crate::{Error, Result};
use faer::MatRef;
use serde_json::{Value, json};
use std::io::{self, Seek, Write};
use std::path::Path;

impl Dataset {
    /// Writes a data file (see [`npz`](crate::data::npz)), atomically. The same data set gives
    /// the same bytes.
    ///
    /// Samples of different lengths are padded with NaN, so that a reader that ignores the counts
    /// will notice. The names of a split go into `split_names` of `meta`.
    ///
    /// # Errors
    /// If fields differ in the number of samples, or the data set has a split and a `meta` that is neither
    /// an object nor null, or the file cannot be written.
    pub fn write_npz(&self, path: &Path) -> Result<()> {
        // Only outputs: a prediction.
        self.check_agreement()?;
        let (split, meta) = self.coded_split()?;
        write_npz(path, |npz| {
            for (side, fields) in [(INPUTS, &self.inputs), (OUTPUTS, &self.outputs)] {
                for (name, field) in fields {
                    let values_key = side.key_of(fields, name, field);
                    match field.vectors() {
                        Some(vectors) => put_vectors(npz, &values_key, vectors.as_ref())?,
                        None => put_field(npz, side.points, &values_key, name, field)?,
                    }
                }
            }
            if let Some(n) = self.n_train {
                npz.put_i64("n_train", &[], [n as i64])?;
            }
            if let Some(split) = split {
                npz.put_i64("split", &[split.len()], split)?;
            }
            if let Some(triangles) = &self.triangles {
                put_cells(npz, "triangles", triangles)?;
            }
            if let Some(tetrahedra) = &self.tetrahedra {
                put_cells(npz, "tetrahedra", tetrahedra)?;
            }
            if !meta.is_null() {
                npz.put_str("meta", &meta.to_string())?;
            }
            Ok(())
        })
    }

    /// The split as indices into the names, and `meta` with the names in it.
    fn coded_split(&self) -> Result<(Option<Vec<i64>>, Value)> {
        let mut meta = self.meta.clone();
        let Some(split) = &self.split else {
            return Ok((None, meta));
        };
        let mut names: Vec<&String> = Vec::new();
        let mut codes = Vec::with_capacity(split.len());
        for name in split {
            let code = names.iter().position(|n| *n == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            codes.push(code as i64);
        }
        if !(meta.is_null() || meta.is_object()) {
            return Err(Error::Data(
                "a data set with a split needs a `meta` that is a JSON object, for the names of the sets".into(),
            ));
        }
        meta["split_names"] = json!(names);
        Ok((Some(codes), meta))
    }
}

fn put_cells<W: Write + Seek, const C: usize>(
    npz: &mut NpzWriter<W>,
    key: &str,
    cells: &[[usize; C]],
) -> io::Result<()> {
    let corners = cells.iter().flatten().map(|&i| i as i64);
    npz.put_i64(key, &[cells.len(), C], corners)
}

fn put_vectors<W: Write + Seek>(
    npz: &mut NpzWriter<W>,
    key: &str,
    vectors: MatRef<'_, f64>,
) -> io::Result<()> {
    let (k, samples) = vectors.shape();
    let numbers = (0..samples).flat_map(|sample| vectors.col(sample).iter().copied());
    npz.put_f64(key, &[samples, k], numbers)
}

fn put_field<W: Write + Seek>(
    npz: &mut NpzWriter<W>,
    points_stem: &str,
    values_key: &str,
    name: &str,
    field: &Field,
) -> io::Result<()> {
    let components = field.components();
    let points_key = join_key(points_stem, name);
    let entries = if field.is_complex() {
        components / 2
    } else {
        components
    };
    let values_shape = |points: &[usize]| {
        let mut shape = [&[field.samples()], points].concat();
        shape.extend((entries > 1).then_some(entries));
        shape
    };
    match field.observations() {
        Observations::Shared { points, values } => {
            let n = points.len();
            let at = [points.shape(), vec![points.dim()]].concat();
            npz.put_f64(&points_key, &at, points.coords().iter().copied())?;
            let all = (0..field.samples())
                .flat_map(|k| (0..n).flat_map(move |i| values.iter().map(move |v| v[(i, k)])));
            put_values(npz, values_key, &values_shape(&points.shape()), all, field)
        }
        Observations::PerSample(samples) => {
            let longest = samples.iter().map(|s| s.points.len()).max().unwrap_or(0);
            let dim = field.dim();
            let padded = move |s: &Scattered| longest - s.points.len();
            let coords = samples.iter().flat_map(|s| {
                let coords = s.points.coords().iter().copied();
                coords.chain(std::iter::repeat_n(f64::NAN, padded(s) * dim))
            });
            npz.put_f64(&points_key, &[samples.len(), longest, dim], coords)?;
            let values = samples.iter().flat_map(|s| {
                let n = s.points.len();
                let values =
                    (0..n).flat_map(move |i| (0..components).map(move |c| s.values[c * n + i]));
                values.chain(std::iter::repeat_n(f64::NAN, padded(s) * components))
            });
            put_values(npz, values_key, &values_shape(&[longest]), values, field)?;
            // Counts mark points that could be read as a grid.
            let like_a_grid = dim == 2 && [samples.len(), entries] == [longest; 2];
            if like_a_grid || samples.iter().any(|s| padded(s) > 0) {
                let counts = samples.iter().map(|s| s.points.len() as i64);
                let key = join_key(&format!("{points_stem}_count"), name);
                npz.put_i64(&key, &[samples.len()], counts)?;
            }
            Ok(())
        }
    }
}

fn put_values<W: Write + Seek>(
    npz: &mut NpzWriter<W>,
    key: &str,
    shape: &[usize],
    values: impl IntoIterator<Item = f64>,
    of: &Field,
) -> io::Result<()> {
    match of.is_complex() {
        true => npz.put_complex(key, shape, values),
        false => npz.put_f64(key, shape, values),
    }
}
