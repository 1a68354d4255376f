//! From samples to a table.

use c2cnet::data::{Dataset, Field};
use c2cnet::internal::value_keys;
use c2cnet::{Error, Result};

/// A data set or a prediction as a table.
pub(crate) fn write(data: &Dataset) -> Result<Vec<u8>> {
    let layout = Layout::of(data)?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |e: csv::Error| Error::Data(e.to_string());
    writer.write_record(layout.header()).map_err(failed)?;
    for k in 0..data.samples() {
        for row in layout.rows(k) {
            writer.write_record(row).map_err(failed)?;
        }
    }
    writer.into_inner().map_err(|e| Error::Data(e.to_string()))
}

/// What the columns hold.
struct Layout<'a> {
    /// The set of each sample, if there are sets.
    sets: Option<Vec<String>>,
    /// Whose points are written, by the letter of their columns.
    points: Vec<(&'static str, &'a Field)>,
    /// Functions and vectors by their keys.
    fields: Vec<(String, &'a Field)>,
}

impl<'a> Layout<'a> {
    fn of(data: &'a Dataset) -> Result<Self> {
        let input = points_of(data.inputs.iter().map(|(_, f)| f))?;
        let output = points_of(data.outputs.iter().map(|(_, f)| f))?;
        let points = match (input, output) {
            (Some(a), Some(b)) if !same_points(a, b) => vec![("x", a), ("y", b)],
            (a, b) => a.or(b).map(|field| ("x", field)).into_iter().collect(),
        };
        let (input_keys, output_keys) = value_keys(data);
        let keys = input_keys.into_iter().chain(output_keys);
        let fields = data.inputs.iter().chain(&data.outputs);
        Ok(Layout {
            sets: sets(data),
            points,
            fields: keys.zip(fields.map(|(_, f)| f)).collect(),
        })
    }

    fn header(&self) -> Vec<String> {
        let mut header = vec!["sample".to_string()];
        header.extend(self.sets.as_ref().map(|_| "split".to_string()));
        for (letter, field) in &self.points {
            header.extend((0..field.dim()).map(|k| format!("{letter}{k}")));
        }
        for (key, field) in &self.fields {
            match field.components() {
                1 => header.push(key.clone()),
                n => header.extend((0..n).map(|c| format!("{key}[{c}]"))),
            }
        }
        header
    }

    /// The rows of sample `k`: as many as its longest field has points.
    fn rows(&self, k: usize) -> impl Iterator<Item = Vec<String>> {
        let values: Vec<Vec<f64>> = self.fields.iter().map(|(_, f)| f.values_of(k)).collect();
        let lengths = self.fields.iter().map(|(_, f)| f.points_of(k).len());
        let rows = lengths.max().unwrap_or(0);
        (0..rows).map(move |i| {
            let mut row = vec![k.to_string()];
            row.extend(self.sets.as_ref().map(|sets| sets[k].clone()));
            for (_, field) in &self.points {
                let points = field.points_of(k);
                match i < points.len() {
                    true => row.extend(points.point(i).iter().map(|v| format!("{v:?}"))),
                    false => row.extend(vec![String::new(); points.dim()]),
                }
            }
            for ((_, field), values) in self.fields.iter().zip(&values) {
                let n = field.points_of(k).len();
                let cell = |c: usize| match i < n {
                    true => format!("{:?}", values[c * n + i]),
                    false => String::new(),
                };
                row.extend((0..field.components()).map(cell));
            }
            row
        })
    }
}

/// A function whose points are those of all functions of its side.
fn points_of<'a>(fields: impl Iterator<Item = &'a Field>) -> Result<Option<&'a Field>> {
    let mut functions = fields.filter(|field| !field.is_vector());
    let first = functions.next();
    if first.is_some_and(|first| !functions.all(|other| same_points(first, other))) {
        return Err(Error::Data(
            "functions at different points do not fit into the rows of one table; write .npz"
                .into(),
        ));
    }
    Ok(first)
}

/// The set of each sample, if there are sets.
fn sets(data: &Dataset) -> Option<Vec<String>> {
    let leading = |n: usize| {
        let set = |k: usize| if k < n { "train" } else { "test" };
        (0..data.samples()).map(|k| set(k).to_string()).collect()
    };
    data.split.clone().or_else(|| data.n_train.map(leading))
}

fn same_points(a: &Field, b: &Field) -> bool {
    match (a.shared_points(), b.shared_points()) {
        (Some(a), Some(b)) => a == b,
        _ => (0..a.samples()).all(|k| a.points_of(k) == b.points_of(k)),
    }
}
