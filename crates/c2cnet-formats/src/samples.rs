//! From meshes with point data to samples, and back.

use crate::grid::grid_cells;
use crate::{Cells, Mesh, PointData};
use c2cnet::data::{Dataset, Field, Fields, Missing, Points, Scattered};
use c2cnet::{Error, Result};
use faer::Mat;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the arrays of a mesh or the columns of a table are called, where they are not called as the keys of an `.npz`
/// file. A single input or output gets no name in the data set; several keep theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Arrays with input functions.
    pub inputs: Vec<String>,
    /// Arrays with output functions.
    pub outputs: Vec<String>,
    /// Columns of a table with parameters: the entries of one vector.
    pub parameters: Vec<String>,
    /// Columns of a table with quantities that are not functions: the entries of one vector.
    pub quantities: Vec<String>,
    /// The columns of a table with coordinates.
    pub points: Vec<String>,
    /// The column of a table that says which sample a row belongs to.
    pub sample: Option<String>,
    /// Whether outputs are not needed, and messages should not ask for them.
    pub inputs_alone: bool,
}

/// The arrays of one function by the number of the sample.
type Numbered<'a> = BTreeMap<usize, &'a PointData>;

/// The samples of one file.
pub(crate) fn of_mesh(
    path: &Path,
    mesh: &Mesh,
    names: &Names,
    missing: Missing,
) -> Result<Dataset> {
    if names.sample.is_some() {
        return Err(Error::Config(format!(
            "{}: --sample names a column of a table; several samples in a mesh are arrays f[0], f[1], ...",
            path.display()
        )));
    }
    if !names.points.is_empty() {
        return Err(Error::Config(format!(
            "{}: a mesh has its own points; --x is for tables",
            path.display()
        )));
    }
    if !names.parameters.is_empty() || !names.quantities.is_empty() {
        return Err(Error::Config(format!(
            "{}: a mesh holds functions; --p and --q are for tables",
            path.display()
        )));
    }
    let side = |stem: &str, wanted: &[String]| -> Result<Fields> {
        if wanted.is_empty() {
            return by_key(path, mesh, stem, missing);
        }
        let field = |name: &String| {
            let called = if wanted.len() == 1 { "" } else { name.as_str() };
            Ok((called.to_string(), field(path, mesh, name, missing)?))
        };
        wanted.iter().map(field).collect()
    };
    let data = Dataset {
        inputs: side("f", &names.inputs)?,
        outputs: side("u", &names.outputs)?,
        n_train: None,
        split: None,
        triangles: Some(mesh.cells.triangles.clone())
            .filter(|t| !t.is_empty() && mesh.points.dim() == 2),
        tetrahedra: Some(mesh.cells.tetrahedra.clone()).filter(|t| !t.is_empty()),
        meta: Value::Null,
    };
    if data.inputs.is_empty() {
        return Err(Error::format(
            path,
            format!(
                "has no point data called f, f[0], ... or f.NAME; it has {}; say which are {}",
                listed(mesh),
                match names.inputs_alone {
                    true => "inputs: c2cnet convert FILES --f NAME -o data.npz",
                    false =>
                        "inputs and outputs: c2cnet convert FILES --f NAME --u NAME -o data.npz",
                }
            ),
        ));
    }
    data.check()
        .map_err(|e| Error::format(path, e.to_string()))?;
    Ok(data)
}

/// The outputs of a file without inputs.
pub(crate) fn prediction_of_mesh(path: &Path, mesh: &Mesh) -> Result<Dataset> {
    let outputs = by_key(path, mesh, "u", Missing::Refuse)?;
    let inputs = by_key(path, mesh, "f", Missing::Refuse)?;
    let mut counts = outputs.iter().map(|(_, field)| field.samples());
    let first = counts.next();
    if !inputs.is_empty() || first.is_none() || counts.any(|n| Some(n) != first) {
        return Err(Error::format(
            path,
            "is not a prediction file: predictions contain only outputs u, with the same number of samples each",
        ));
    }
    Ok(Dataset {
        inputs,
        outputs,
        n_train: None,
        split: None,
        triangles: Some(mesh.cells.triangles.clone())
            .filter(|t| !t.is_empty() && mesh.points.dim() == 2),
        tetrahedra: Some(mesh.cells.tetrahedra.clone()).filter(|t| !t.is_empty()),
        meta: Value::Null,
    })
}

fn listed(mesh: &Mesh) -> String {
    let mut names: Vec<&str> = mesh.data.iter().map(|a| split_number(&a.name).0).collect();
    names.dedup();
    let mut text = match names.is_empty() {
        true => "none".to_string(),
        false => names.join(", "),
    };
    if !mesh.in_cells.is_empty() {
        text += &format!(
            " (and values in cells, which cannot be used: {}; ParaView's Cell Data to Point Data makes point data \
             of them)",
            mesh.in_cells.join(", ")
        );
    }
    text
}

/// `u[3]` as `("u", 3)`; a name without a number is that of the only sample.
fn split_number(name: &str) -> (&str, usize) {
    let number = || {
        let (stem, rest) = name.strip_suffix(']')?.rsplit_once('[')?;
        Some((stem, rest.parse().ok()?))
    };
    number().unwrap_or((name, 0))
}

/// The fields called `stem` or `stem.NAME`.
fn by_key(path: &Path, mesh: &Mesh, stem: &str, missing: Missing) -> Result<Fields> {
    let mut fields = Fields::default();
    for array in &mesh.data {
        let (base, _) = split_number(&array.name);
        let Some(rest) = base.strip_prefix(stem) else {
            continue;
        };
        let name = match rest.strip_prefix('.') {
            Some(name) if !name.is_empty() => name,
            None if rest.is_empty() => "",
            _ => continue,
        };
        if fields.get(name).is_none() {
            fields.push(name, field(path, mesh, base, missing)?);
        }
    }
    Ok(fields)
}

/// All samples of the arrays called `base`.
fn field(path: &Path, mesh: &Mesh, base: &str, missing: Missing) -> Result<Field> {
    let bad = |reason: String| Error::format(path, reason);
    let mut samples = Numbered::new();
    for array in mesh.data.iter().filter(|a| split_number(&a.name).0 == base) {
        if samples.insert(split_number(&array.name).1, array).is_some() {
            return Err(bad(format!("has the array {:?} twice", array.name)));
        }
    }
    let Some(first) = samples.values().next() else {
        return Err(bad(format!(
            "has no point data called {base:?}; it has {}",
            listed(mesh)
        )));
    };
    let (n, components) = (mesh.points.len(), first.components);
    for (k, (number, array)) in samples.iter().enumerate() {
        if *number != k {
            return Err(bad(format!(
                "has the array {base}[{number}] but not {base}[{k}]"
            )));
        }
        if array.components != components {
            return Err(bad(format!(
                "has {components} components in {:?} and {} in {:?}",
                first.name, array.components, array.name
            )));
        }
    }
    let all: Vec<&PointData> = samples.into_values().collect();
    let component = |c: usize| Mat::from_fn(n, all.len(), |i, k| all[k].values[i * components + c]);
    let values = (0..components).map(component).collect();
    let field = Field::shared_or_missing(mesh.points.clone(), values, missing);
    field.map_err(|e| bad(format!("the array {base:?}: {e}")))
}

/// One data set of many: samples one after the other.
pub(crate) fn joined(paths: &[PathBuf], all: Vec<Dataset>) -> Result<Dataset> {
    let Some(first) = all.first() else {
        return Err(Error::Config("no files are given".into()));
    };
    let side = |of: fn(&Dataset) -> &Fields| -> Result<Fields> {
        let join = |(name, field): &(String, Field)| {
            let mut parts = Vec::new();
            for (path, data) in paths.iter().zip(&all) {
                let found = of(data).get(name).filter(|f| {
                    of(data).len() == of(first).len()
                        && f.components() == field.components()
                        && f.is_vector() == field.is_vector()
                        && f.dim() == field.dim()
                });
                parts.push(found.ok_or_else(|| {
                    Error::format(
                        path,
                        format!(
                            "holds other functions, components or dimensions than {}",
                            paths[0].display()
                        ),
                    )
                })?);
            }
            Ok((name.clone(), one_after_the_other(&parts)?))
        };
        of(first).iter().map(join).collect()
    };
    let mut data = Dataset {
        inputs: side(|d| &d.inputs)?,
        outputs: side(|d| &d.outputs)?,
        n_train: None,
        split: None,
        triangles: first.triangles.clone(),
        tetrahedra: first.tetrahedra.clone(),
        meta: Value::Null,
    };
    let same_cells =
        |d: &Dataset| d.triangles == first.triangles && d.tetrahedra == first.tetrahedra;
    if data.mesh_points().is_none() || !all.iter().all(same_cells) {
        (data.triangles, data.tetrahedra) = (None, None);
    }
    data.check()?;
    Ok(data)
}

fn one_after_the_other(parts: &[&Field]) -> Result<Field> {
    if let Some(first) = parts[0].vectors() {
        let columns: Vec<Mat<f64>> = parts.iter().filter_map(|f| f.vectors()).collect();
        let columns: Vec<&[f64]> = columns
            .iter()
            .flat_map(|m| (0..m.ncols()).map(|k| m.col_as_slice(k)))
            .collect();
        return Field::vector(
            Mat::from_fn(first.nrows(), columns.len(), |i, k| columns[k][i]).as_ref(),
        );
    }
    let samples = parts.iter().flat_map(|field| {
        (0..field.samples()).map(|k| Scattered {
            points: field.points_of(k).clone(),
            values: field.values_of(k),
        })
    });
    field_of(parts[0].components(), samples.collect())
}

/// A field of samples that may or may not share their points.
pub(crate) fn field_of(components: usize, samples: Vec<Scattered>) -> Result<Field> {
    let shared = samples.iter().all(|s| s.points == samples[0].points);
    if !shared || samples.is_empty() {
        return Field::per_sample(components, samples);
    }
    let n = samples[0].points.len();
    let component = |c: usize| Mat::from_fn(n, samples.len(), |i, k| samples[k].values[c * n + i]);
    let values = (0..components).map(component).collect();
    Field::shared(samples[0].points.clone(), values)
}

/// The mesh of a data set or a prediction, with all its functions as point data.
pub(crate) fn mesh_of(data: &Dataset) -> std::result::Result<Mesh, String> {
    let mut points: Option<&Points> = None;
    let mut arrays = Vec::new();
    for (stem, fields) in [("f", &data.inputs), ("u", &data.outputs)] {
        for (name, field) in fields {
            if field.is_vector() {
                return Err(
                    "a mesh holds functions, but the data has vectors without points".into(),
                );
            }
            let own = field.shared_points();
            let own = own.ok_or("a mesh has one set of points, but samples have their own")?;
            if *points.get_or_insert(own) != own {
                return Err(
                    "a mesh has one set of points, but functions lie on different ones".into(),
                );
            }
            let base = match name.as_str() {
                "" => stem.to_string(),
                name => format!("{stem}.{name}"),
            };
            arrays.extend((0..field.samples()).map(|k| array(&base, field, k)));
        }
    }
    let points = points.ok_or("there are no functions to write")?;
    if points.dim() > 3 {
        return Err(format!(
            "a mesh has up to 3 dimensions, but the points have {}",
            points.dim()
        ));
    }
    let given = Cells {
        lines: Vec::new(),
        triangles: data.triangles.clone().unwrap_or_default(),
        tetrahedra: data.tetrahedra.clone().unwrap_or_default(),
    };
    let cells = match given == Cells::default() || given.check(points.len()).is_err() {
        true => grid_cells(points),
        false => given,
    };
    Ok(Mesh {
        cells,
        data: arrays,
        ..Mesh::of_points(points.clone())
    })
}

fn array(base: &str, field: &Field, k: usize) -> PointData {
    let (n, components) = (field.points_of(k).len(), field.components());
    let values = field.values_of(k);
    PointData {
        name: match field.samples() {
            1 => base.to_string(),
            _ => format!("{base}[{k}]"),
        },
        components,
        values: (0..n * components)
            .map(|j| values[j % components * n + j / components])
            .collect(),
    }
}
