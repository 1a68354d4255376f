//! [`Dataset::read_npz`].

use super::array::{OBJECTS, shown};
use super::layout::{Layout, Place, crossings, one_set, split_axis};
use super::sets::{read_n_train, read_split};
use super::{INPUTS, NpzFile, OUTPUTS, Side, join_key, split_key};
use crate::data::{Dataset, Field, Fields, Missing, Points, Scattered, split_quads};
use crate::suggest::nearest;
use crate::{Error, Result};
use faer::{Mat, MatRef};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// Keys that may be followed by a field's name.
const FIELD_KEYS: [&str; 8] = ["x", "f", "y", "u", "x_count", "y_count", "p", "q"];
/// Keys that belong to the whole file.
const FILE_KEYS: [&str; 6] = [
    "n_train",
    "split",
    "triangles",
    "quads",
    "tetrahedra",
    "meta",
];

impl Dataset {
    /// Reads a data file; [`npz`](crate::data::npz) lists its keys.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be opened, else an error that names the file, the key and, where
    /// there is one, the sample: not an archive, an unknown or missing key, arrays of a type or
    /// shape that does not fit, values that are not finite, indices out of range.
    pub fn read_npz(path: &Path) -> Result<Dataset> {
        Dataset::read_npz_with(path, Missing::Refuse)
    }

    /// The same, with NaN treated according to `missing`.
    ///
    /// # Errors
    /// As [`Dataset::read_npz`], or if a sample has no reading at all.
    pub fn read_npz_with(path: &Path, missing: Missing) -> Result<Dataset> {
        Dataset::read_npz_at(path, missing, Vec::new())
    }

    /// The same, with points by name for inputs whose points the file lacks.
    ///
    /// # Errors
    /// As [`Dataset::read_npz_with`].
    #[doc(hidden)] // for the command
    pub fn read_npz_at(
        path: &Path,
        missing: Missing,
        known: Vec<(String, Points)>,
    ) -> Result<Dataset> {
        let mut npz = NpzFile::open(path)?;
        npz.known = known;
        Dataset::read_with_inputs(npz, missing)
    }

    /// The inputs of a file for prediction, with points by name for inputs whose points the file lacks. Outputs only give
    /// their points; their values are zeros, whatever the file holds.
    ///
    /// # Errors
    /// As [`Dataset::read_npz_with`].
    #[doc(hidden)] // for the command
    pub fn read_npz_inputs(
        path: &Path,
        missing: Missing,
        known: Vec<(String, Points)>,
    ) -> Result<Dataset> {
        let mut npz = NpzFile::open(path)?;
        npz.known = known;
        npz.inputs_alone = true;
        Dataset::read_with_inputs(npz, missing)
    }

    fn read_with_inputs(mut npz: NpzFile, missing: Missing) -> Result<Dataset> {
        check_keys(&npz)?;
        let inputs = read_fields(&mut npz, INPUTS, missing)?;
        if inputs.is_empty() {
            return Err(Error::format(
                &npz.path,
                format!(
                    "has no input values `f` and no parameters `p`; its keys are {}",
                    npz.keys.join(", ")
                ),
            ));
        }
        read_rest(npz, inputs, missing)
    }

    /// Reads a file that contains only outputs, such as a prediction: a data set without inputs.
    ///
    /// # Errors
    /// As [`Dataset::read_npz`], and if the file holds no outputs.
    pub fn read_prediction(path: &Path) -> Result<Dataset> {
        let npz = NpzFile::open(path)?;
        check_keys(&npz)?;
        let data = read_rest(npz, Fields::default(), Missing::Refuse)?;
        if data.outputs.is_empty() {
            return Err(Error::format(
                path,
                "has no outputs `u` and no quantities `q`",
            ));
        }
        Ok(data)
    }
}

/// Everything but the inputs.
fn read_rest(mut npz: NpzFile, inputs: Fields, missing: Missing) -> Result<Dataset> {
    let outputs = read_fields(&mut npz, OUTPUTS, missing)?;
    check_samples(&npz, &inputs, &outputs)?;
    let mut dataset = Dataset {
        inputs,
        outputs,
        n_train: None,
        split: None,
        triangles: None,
        tetrahedra: None,
        meta: read_meta(&mut npz)?,
    };
    let samples = dataset.samples();
    dataset.n_train = read_n_train(&mut npz, samples)?;
    dataset.split = read_split(&mut npz, samples, &mut dataset.meta)?;
    dataset.triangles = read_cells(&mut npz, &dataset.outputs, "triangles")?;
    if let Some(quads) = read_cells(&mut npz, &dataset.outputs, "quads")? {
        let halves = split_quads(&quads);
        dataset.triangles.get_or_insert_default().extend(halves);
    }
    dataset.tetrahedra = read_cells(&mut npz, &dataset.outputs, "tetrahedra")?;
    dataset.check_agreement()?;
    Ok(dataset)
}

/// Names that other programs give to inputs and outputs.
const FOREIGN_NAMES: [[&str; 2]; 5] = [
    ["x", "y"],
    ["X", "Y"],
    ["inputs", "outputs"],
    ["x_train", "y_train"],
    ["arr_0", "arr_1"],
];

/// Refuses a file without values whose arrays have names that other programs give to inputs and outputs.
fn check_foreign_names(npz: &NpzFile) -> Result<()> {
    let values = [INPUTS, OUTPUTS].map(|side| [side.values, side.vectors]);
    if npz
        .keys
        .iter()
        .any(|key| values.as_flattened().contains(&split_key(key).0))
    {
        return Ok(());
    }
    let found = FOREIGN_NAMES.into_iter().find(|[input, output]| {
        // A single array without a name is enough to tell.
        npz.has(input) && (npz.has(output) || *input == "arr_0")
    });
    let Some([input, output]) = found else {
        return Ok(());
    };
    let found = match input {
        "x" => "x and y are points".to_string(),
        "arr_0" => "np.savez was called without names".to_string(),
        _ => format!("{input} and {output} are not known"),
    };
    Err(Error::format(
        &npz.path,
        format!(
            "{found}; values are called f (inputs) and u (outputs): save x=points, f=inputs, y=points, u=outputs (or \
             p=inputs, q=outputs where they have no points)"
        ),
    ))
}

/// Refuses keys that would be ignored: unknown ones, and points that no values use.
fn check_keys(npz: &NpzFile) -> Result<()> {
    check_foreign_names(npz)?;
    for key in &npz.keys {
        let (stem, name) = split_key(key);
        let named = key.contains('.');
        let of_field = FIELD_KEYS.contains(&stem) || split_axis(stem).is_some();
        let known =
            (of_field && !(named && name.is_empty())) || (FILE_KEYS.contains(&stem) && !named);
        if !known {
            return Err(Error::format(
                &npz.path,
                format!(
                    "unknown key `{key}` ({}); known are {} (also as x.NAME and so on), x0, x1, ... for the axes of a grid, and {}",
                    match nearest(key, FIELD_KEYS.into_iter().chain(FILE_KEYS)) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => "leave it out, or put it into `meta`, a JSON string".into(),
                    },
                    FIELD_KEYS.join(", "),
                    FILE_KEYS.join(", ")
                ),
            ));
        }
    }
    // After the check above, because a misspelt key of values leaves its points unused.
    for key in &npz.keys {
        let (stem, name) = split_key(key);
        // Output points without output values are where to predict.
        let values = if stem.starts_with('x') { "f" } else { "u" };
        let outputs = [OUTPUTS.values, OUTPUTS.vectors];
        let may_miss = values == "u" && !npz.keys.iter().any(|k| outputs.contains(&split_key(k).0));
        let points =
            matches!(stem, "x" | "y" | "x_count" | "y_count") || split_axis(stem).is_some();
        if points && !may_miss {
            let used = npz.keys.iter().any(|k| {
                let (other, of) = split_key(k);
                let own = npz.has(&join_key(&stem[..1], of))
                    || npz.has(&join_key(&format!("{}0", &stem[..1]), of));
                other == values && (of == name || (name.is_empty() && !own))
            });
            if !used {
                let wanted = join_key(values, name);
                return Err(npz.bad(key, format!("is not used: there are no values `{wanted}`")));
            }
        }
    }
    Ok(())
}

/// Points that were read, by their keys and those of their counts: fields may share them.
type KnownPoints = HashMap<(Place, Option<String>), PointSet>;

#[derive(Clone)]
enum PointSet {
    Shared(Points),
    PerSample(Vec<Points>),
}

fn read_fields(npz: &mut NpzFile, side: Side, missing: Missing) -> Result<Fields> {
    let unnamed_function = npz.has(side.values);
    let mut known = KnownPoints::new();
    let mut fields = Fields::default();
    let mut keys: Vec<String> = Vec::new();
    for key in npz.keys.clone() {
        let (stem, key_name) = split_key(&key);
        let (name, field) = if stem == side.values {
            let field = read_field(npz, side, key_name, missing, &mut known)?;
            (key_name, field)
        } else if stem == side.vectors {
            let name = side.vector_name(key_name, unnamed_function);
            (name, read_vectors(npz, side, &key)?)
        } else {
            continue;
        };
        if let Some(i) = fields.iter().position(|(n, _)| n == name) {
            let other = &keys[i];
            return Err(npz.bad(
                &key,
                format!("and `{other}` would both be called {name:?}; rename one of them"),
            ));
        }
        fields.push(name, field);
        keys.push(key);
    }
    Ok(fields)
}

fn read_vectors(npz: &mut NpzFile, side: Side, key: &str) -> Result<Field> {
    let (shape, mut data) = npz.floats(key)?;
    if npz.inputs_alone && side.values == OUTPUTS.values {
        data.fill(0.0);
    }
    let (samples, k) = match shape[..] {
        [samples] => (samples, 1),
        [samples, k] => (samples, k),
        _ => {
            return Err(npz.bad_shape(
                key,
                format!(
                    "(samples, values), a vector per sample; a function needs points `{}` and values `{}`",
                    side.points, side.values
                ),
                &shape,
            ));
        }
    };
    Field::vector(MatRef::from_column_major_slice(&data, k, samples))
        .map_err(|e| npz.locate(key, e))
}

fn read_field(
    npz: &mut NpzFile,
    side: Side,
    name: &str,
    missing: Missing,
    known: &mut KnownPoints,
) -> Result<Field> {
    let values_key = join_key(side.values, name);
    // Only arrays of the shape that these values need are read, and only once.
    let shape = npz.shape(&values_key, false)?.unwrap_or_default();
    let layout = Layout::of(npz, side, name, &shape)?;
    let (_, mut data, complex) = npz.values(&values_key)?;
    if npz.inputs_alone && side.values == OUTPUTS.values {
        data.fill(0.0);
    }
    let (samples, n) = (layout.samples, layout.points);
    let components = layout.components * if complex { 2 } else { 1 };
    let counts = match &layout.place {
        Place::Listed(key) | Place::PerSample(key) => count_key(npz, side.points, name, key),
        Place::Grid(_) | Place::Axes(_) | Place::Known(_) => None,
    };
    let place = (layout.place, counts);
    let set = match known.get(&place) {
        Some(set) => set.clone(),
        None => {
            let set = read_point_set(npz, &place.0, place.1.as_deref())?;
            known.entry(place).or_insert(set).clone()
        }
    };
    let field = match set {
        PointSet::Shared(points) => {
            let matrices = component_matrices(&data, samples, n, components);
            Field::shared_or_missing(points, matrices, missing)
        }
        PointSet::PerSample(points) => {
            let samples = scatter(points, &data, n, components);
            Field::per_sample_or_missing(components, samples, missing)
        }
    };
    let field = field.map_err(|e| npz.locate(&values_key, e))?;
    Ok(if complex { field.as_complex() } else { field })
}

/// The points at a place, shared or for each sample, in the numbers that `count_key` gives.
fn read_point_set(npz: &mut NpzFile, place: &Place, count_key: Option<&str>) -> Result<PointSet> {
    let key = match place {
        Place::Axes(axes) => return crossings(npz, axes).map(PointSet::Shared),
        Place::Known(name) => {
            let known = npz.known.iter().find(|(n, _)| n == name);
            let (_, points) = known.expect("its shape has been checked");
            return Ok(PointSet::Shared(points.clone()));
        }
        Place::Listed(key) | Place::Grid(key) | Place::PerSample(key) => key,
    };
    let (shape, coords) = npz.floats(key)?;
    let counts = count_key.map(|count_key| read_counts(npz, count_key));
    let counts = counts.transpose()?;
    let (Place::PerSample(_), &[samples, n, dim]) = (place, &shape[..]) else {
        if let Some(count_key) = count_key {
            return Err(npz.bad(
                count_key,
                format!(
                    "counts points of each sample, but `{key}` of shape {} is shared; it needs shape (samples, points, dimensions)",
                    shown(&shape)
                ),
            ));
        }
        let points = one_set(&shape, coords).expect("its shape has been checked");
        return Ok(PointSet::Shared(points.map_err(|e| npz.locate(key, e))?));
    };
    let counts = match (count_key, counts) {
        (Some(count_key), Some(counts)) => checked_counts(npz, count_key, &counts, samples, n)?,
        _ => vec![n; samples],
    };
    let points = counts.iter().enumerate().map(|(k, &count)| {
        let coords = &coords[k * n * dim..(k * n + count) * dim];
        Points::new(dim, coords.to_vec()).map_err(|e| npz.locate(&format!("{key}[{k}]"), e))
    });
    Ok(PointSet::PerSample(points.collect::<Result<_>>()?))
}

/// One $n \times N$ matrix per component from values in the order sample, point, component.
fn component_matrices(data: &[f64], samples: usize, n: usize, components: usize) -> Vec<Mat<f64>> {
    if components == 1 {
        return vec![MatRef::from_column_major_slice(data, n, samples).to_owned()];
    }
    (0..components)
        .map(|c| Mat::from_fn(n, samples, |i, k| data[(k * n + i) * components + c]))
        .collect()
}

/// The values of each sample at its points, component after component; without the padding.
fn scatter(points: Vec<Points>, data: &[f64], n: usize, components: usize) -> Vec<Scattered> {
    let sample = |(k, points): (usize, Points)| {
        let values = &data[k * n * components..(k * n + points.len()) * components];
        let component = |c: usize| values.iter().skip(c).step_by(components).copied();
        Scattered {
            values: (0..components).flat_map(component).collect(),
            points,
        }
    };
    points.into_iter().enumerate().map(sample).collect()
}

/// The key of the counts of a field's points: its own, or those of the points it borrows.
fn count_key(npz: &NpzFile, points: &str, name: &str, points_key: &str) -> Option<String> {
    let stem = format!("{points}_count");
    let own = join_key(&stem, name);
    let key = if npz.has(&own) || points_key != points {
        own
    } else {
        stem
    };
    npz.has(&key).then_some(key)
}

fn read_counts(npz: &mut NpzFile, key: &str) -> Result<Vec<i64>> {
    let (shape, counts) = npz.integers(key)?.unwrap_or_default();
    if shape.len() != 1 {
        return Err(npz.bad_shape(key, "(samples,)", &shape));
    }
    Ok(counts)
}

fn checked_counts(
    npz: &NpzFile,
    key: &str,
    counts: &[i64],
    samples: usize,
    n: usize,
) -> Result<Vec<usize>> {
    if counts.len() != samples {
        return Err(npz.bad_shape(key, format!("({samples},)"), &[counts.len()]));
    }
    let in_range = |(k, &count): (usize, &i64)| match usize::try_from(count) {
        Ok(count) if (1..=n).contains(&count) => Ok(count),
        _ => Err(npz.bad(
            key,
            format!("is {count} for sample {k}; the arrays hold 1 to {n} points per sample"),
        )),
    };
    counts.iter().enumerate().map(in_range).collect()
}

fn check_samples(npz: &NpzFile, inputs: &Fields, outputs: &Fields) -> Result<()> {
    let Some((name, field)) = inputs.first() else {
        return Ok(());
    };
    let first = INPUTS.key_of(inputs, name, field);
    let samples = field.samples();
    for (side, fields) in [(INPUTS, inputs), (OUTPUTS, outputs)] {
        for (name, field) in fields {
            if field.samples() != samples {
                return Err(npz.bad(
                    &side.key_of(fields, name, field),
                    format!(
                        "has {} samples and `{first}` has {samples}; both need the same number",
                        field.samples()
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn read_meta(npz: &mut NpzFile) -> Result<Value> {
    let text = npz.string("meta").map_err(|e| match e {
        Error::Format { reason, .. } if reason.ends_with(OBJECTS) => npz.bad(
            "meta",
            "is a Python object, which NumPy pickles; save it with json.dumps: meta=json.dumps(meta)",
        ),
        other => other,
    });
    match text? {
        None => Ok(Value::Null),
        Some(text) => serde_json::from_str(&text).map_err(|e| {
            npz.bad(
                "meta",
                format!("is not JSON ({e}); save it with json.dumps"),
            )
        }),
    }
}

/// Cells with `C` corners on the output points, such as triangles.
fn read_cells<const C: usize>(
    npz: &mut NpzFile,
    outputs: &Fields,
    key: &str,
) -> Result<Option<Vec<[usize; C]>>> {
    let Some((shape, corners)) = npz.integers(key)? else {
        return Ok(None);
    };
    if shape.len() != 2 || shape[1] != C {
        return Err(npz.bad_shape(key, format!("({key}, {C})"), &shape));
    }
    let points = mesh_points(npz, outputs, key)?;
    let corner = |t: usize, i: i64| match usize::try_from(i) {
        Ok(i) if i < points => Ok(i),
        _ => Err(npz.bad(
            key,
            format!(
                "names point {i} in row {t}; it must lie between 0 and {}",
                points - 1
            ),
        )),
    };
    let (rows, _) = corners.as_chunks::<C>();
    let cells = rows.iter().enumerate().map(|(t, row)| {
        let mut cell = [0; C];
        for (to, &i) in cell.iter_mut().zip(row) {
            *to = corner(t, i)?;
        }
        Ok(cell)
    });
    Ok(Some(cells.collect::<Result<_>>()?))
}

/// How many points the cells `key` may name.
fn mesh_points(npz: &mut NpzFile, outputs: &Fields, key: &str) -> Result<usize> {
    match outputs.iter().find(|(_, field)| !field.is_vector()) {
        Some((name, field)) => match field.shared_points() {
            Some(points) => Ok(points.len()),
            None => {
                let points_key = join_key("y", name);
                Err(npz.bad(
                    key,
                    format!(
                        "needs output points that all samples share, and `{points_key}` has points of each sample"
                    ),
                ))
            }
        },
        None if npz.has("y") => {
            let (shape, _) = npz.floats("y")?;
            let (&[points] | &[points, _]) = &shape[..] else {
                return Err(npz.bad_shape("y", "(n, d) or (n,), one set of points", &shape));
            };
            Ok(points)
        }
        // Without output points, all that can be checked is that no index is negative.
        None => Ok(i64::MAX as usize),
    }
}
