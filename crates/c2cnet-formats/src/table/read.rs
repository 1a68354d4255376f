//! From a table to samples.

use super::SIDES;
use crate::samples::{Names, field_of};
use c2cnet::data::{Dataset, Field, Fields, Points, Scattered};
use c2cnet::internal::read_plain;
use c2cnet::{Error, Result};
use faer::Mat;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// Or what is wrong with the table.
type Outcome<T> = std::result::Result<T, String>;

/// Reads a table.
///
/// # Errors
/// Names the line or the column.
pub(crate) fn read(path: &Path, names: &Names) -> Result<Dataset> {
    let bytes = read_plain(path)?;
    let bad = |reason: String| Error::format(path, reason);
    parse(&bytes, names).map_err(bad)
}

pub(super) fn parse(bytes: &[u8], names: &Names) -> Outcome<Dataset> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = bytes
        .split(|b| *b == b'\n')
        .find(|line| line.first() != Some(&b'#'));
    let first = first.unwrap_or_default();
    let separator = [b',', b';', b'\t'].into_iter().find(|b| first.contains(b));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator.unwrap_or(b','))
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let header = reader.headers().map_err(|e| e.to_string())?.clone();
    let columns = Columns::new(&header.iter().collect::<Vec<_>>(), names)?;
    let mut samples: Vec<Sample> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let name = match columns.sample {
            Some(c) => record[c].to_string(),
            None if columns.points.is_empty() => line.to_string(),
            None => String::new(),
        };
        let next = places.len();
        let place = *places.entry(name).or_insert(next);
        if place == samples.len() {
            samples.push(Sample::new(&columns));
        }
        let row = Row {
            record: &record,
            header: &header,
            line,
        };
        samples[place].take(&columns, &row)?;
    }
    columns.dataset(samples)
}

/// A function or a vector: its name and the columns of its components.
#[derive(Debug)]
struct Quantity {
    key: String,
    name: String,
    columns: Vec<usize>,
}

/// Which column is what.
#[derive(Debug, Default)]
struct Columns {
    sample: Option<usize>,
    split: Option<usize>,
    /// Coordinates of inputs, and of outputs where they differ.
    points: Vec<usize>,
    output_points: Vec<usize>,
    /// Functions and vectors, of the inputs and of the outputs.
    functions: [Vec<Quantity>; 2],
    vectors: [Vec<Quantity>; 2],
}

impl Columns {
    fn new(header: &[&str], names: &Names) -> Outcome<Self> {
        let place = |name: &str| header.iter().position(|h| *h == name);
        let wanted = |name: &String| {
            place(name).ok_or_else(|| {
                format!(
                    "has no column {name:?}; its columns are {}",
                    header.join(", ")
                )
            })
        };
        let numbered = |stem: &str| -> Vec<usize> {
            (0..).map_while(|k| place(&format!("{stem}{k}"))).collect()
        };
        let points = match &names.points[..] {
            [] if place("x0").is_some() => numbered("x"),
            [] => ["x", "y", "z"].into_iter().map_while(place).collect(),
            given => given.iter().map(wanted).collect::<Outcome<_>>()?,
        };
        let mut columns = Columns {
            sample: place("sample"),
            split: place("split"),
            points,
            output_points: numbered("y"),
            ..Columns::default()
        };
        for (side, given) in [&names.inputs, &names.outputs].into_iter().enumerate() {
            for name in given {
                let called = if given.len() == 1 { "" } else { name.as_str() };
                columns.functions[side].push(Quantity {
                    key: name.clone(),
                    name: called.into(),
                    columns: vec![wanted(name)?],
                });
            }
        }
        let mut known: Vec<usize> = columns.points.clone();
        known.extend(&columns.output_points);
        known.extend(columns.sample.into_iter().chain(columns.split));
        let keyed = names.inputs.is_empty() && names.outputs.is_empty();
        for (c, column) in header
            .iter()
            .enumerate()
            .filter(|(c, _)| keyed && !known.contains(c))
        {
            columns.quantity(c, column)?;
        }
        columns.check(header)?;
        Ok(columns)
    }

    /// Takes the column `f`, `f[0]`, `u.NAME[1]`, `p[2]` and so on.
    fn quantity(&mut self, c: usize, column: &str) -> Outcome<()> {
        let unknown = || {
            format!(
                "has a column {column:?} that is not known; columns are sample, split, x, y, z (or x0, x1, ...), f, u, p, \
                 q, f[0], f.NAME and so on, and y0, y1, ... for points of outputs; other names: c2cnet convert FILES \
                 --x NAME,NAME --f NAME --u NAME -o data.npz"
            )
        };
        let (key, component) = match column.strip_suffix(']').and_then(|c| c.rsplit_once('[')) {
            Some((key, k)) => (key, k.parse().map_err(|_| unknown())?),
            None => (column, 0usize),
        };
        let (stem, name) = key.split_once('.').unwrap_or((key, ""));
        for (side, (function, vector)) in SIDES.into_iter().enumerate() {
            let all = match stem {
                s if s == function => &mut self.functions[side],
                s if s == vector => &mut self.vectors[side],
                _ => continue,
            };
            let at = all.iter().position(|q| q.key == key).unwrap_or_else(|| {
                all.push(Quantity {
                    key: key.into(),
                    name: name.into(),
                    columns: Vec::new(),
                });
                all.len() - 1
            });
            if all[at].columns.len() != component {
                return Err(format!(
                    "has the column {column:?} where component {} of {key} belongs; number components from 0, in order",
                    all[at].columns.len()
                ));
            }
            all[at].columns.push(c);
            return Ok(());
        }
        Err(unknown())
    }

    fn check(&self, header: &[&str]) -> Outcome<()> {
        let listed = header.join(", ");
        let functions = self.functions.iter().flatten().next();
        match functions {
            Some(q) if self.points.is_empty() => Err(format!(
                "has values {} without coordinates x, y, z or x0, x1, ...; its columns are {listed}",
                q.key
            )),
            None if self.vectors.iter().all(Vec::is_empty) => Err(format!(
                "has neither functions f, u nor vectors p, q among its columns {listed}; say what they are: c2cnet \
                     convert FILES --x NAME,NAME --f NAME --u NAME -o data.npz"
            )),
            _ => Ok(()),
        }
    }

    /// The columns of the points of inputs (0) or outputs (1).
    fn coordinates(&self, side: usize) -> &[usize] {
        match side == 1 && !self.output_points.is_empty() {
            true => &self.output_points,
            false => &self.points,
        }
    }

    fn dataset(&self, samples: Vec<Sample>) -> Outcome<Dataset> {
        if samples.is_empty() {
            return Err("has no rows".into());
        }
        let split: Option<Vec<String>> = samples.iter().map(|s| s.split.clone()).collect();
        let mut sides = [Fields::default(), Fields::default()];
        for (side, fields) in sides.iter_mut().enumerate() {
            for (q, quantity) in self.functions[side].iter().enumerate() {
                let readings = samples.iter().map(|s| s.functions[side][q].scattered());
                let field = readings
                    .collect::<Result<_>>()
                    .and_then(|all| field_of(quantity.columns.len(), all));
                let field = field.map_err(|e| format!("{}: {e}", quantity.key))?;
                fields.push(quantity.name.as_str(), field);
            }
            let unnamed = fields.get("").is_some();
            for (q, quantity) in self.vectors[side].iter().enumerate() {
                let k = quantity.columns.len();
                let value = |s: usize, i: usize| samples[s].vectors[side][q][i];
                let missing = |s: &usize| (0..k).any(|i| value(*s, i).is_none());
                if let Some(s) = (0..samples.len()).find(missing) {
                    return Err(format!("has no {} for sample {s}", quantity.key));
                }
                let values = Mat::from_fn(k, samples.len(), |i, s| value(s, i).unwrap_or(f64::NAN));
                let field = Field::vector(values.as_ref());
                let field = field.map_err(|e| format!("{}: {e}", quantity.key))?;
                let name = match quantity.name.as_str() {
                    "" if unnamed => SIDES[side].1,
                    name => name,
                };
                fields.push(name, field);
            }
        }
        let [inputs, outputs] = sides;
        let data = Dataset {
            inputs,
            outputs,
            n_train: None,
            split,
            triangles: None,
            tetrahedra: None,
            meta: Value::Null,
        };
        data.check().map_err(|e| e.to_string())?;
        Ok(data)
    }
}

/// A row, with what is needed to speak of it.
struct Row<'a> {
    record: &'a csv::StringRecord,
    header: &'a csv::StringRecord,
    line: u64,
}

impl Row<'_> {
    /// The number in a column; none in an empty cell.
    fn number(&self, column: usize) -> Outcome<Option<f64>> {
        let text = self.record.get(column).unwrap_or_default();
        match text.parse::<f64>() {
            _ if text.is_empty() => Ok(None),
            Ok(v) if v.is_finite() => Ok(Some(v)),
            _ => Err(format!(
                "line {} holds {text:?} in the column {:?}, not a number; leave a cell empty where there is no reading",
                self.line,
                self.header.get(column).unwrap_or_default()
            )),
        }
    }

    /// All of the columns, or none of them.
    fn numbers(&self, columns: &[usize], what: &str) -> Outcome<Option<Vec<f64>>> {
        let all: Vec<Option<f64>> = columns
            .iter()
            .map(|c| self.number(*c))
            .collect::<Outcome<_>>()?;
        if all.iter().all(Option::is_none) {
            return Ok(None);
        }
        let complete: Option<Vec<f64>> = all.into_iter().collect();
        complete
            .map(Some)
            .ok_or_else(|| format!("line {} has some of {what} and not all", self.line))
    }
}

/// What was read of a function in one sample.
#[derive(Debug, Default)]
struct Readings {
    dim: usize,
    coords: Vec<f64>,
    /// By component.
    values: Vec<Vec<f64>>,
}

impl Readings {
    fn scattered(&self) -> Result<Scattered> {
        Ok(Scattered {
            points: Points::new(self.dim, self.coords.clone())?,
            values: self.values.concat(),
        })
    }
}

/// One sample, row by row.
#[derive(Debug)]
struct Sample {
    split: Option<String>,
    functions: [Vec<Readings>; 2],
    vectors: [Vec<Vec<Option<f64>>>; 2],
}

impl Sample {
    fn new(columns: &Columns) -> Self {
        let readings = |side: usize| {
            let dim = columns.coordinates(side).len();
            let empty = |q: &Quantity| Readings {
                dim,
                coords: Vec::new(),
                values: vec![Vec::new(); q.columns.len()],
            };
            columns.functions[side].iter().map(empty).collect()
        };
        let vectors = |side: usize| {
            let empty = |q: &Quantity| vec![None; q.columns.len()];
            columns.vectors[side].iter().map(empty).collect()
        };
        Sample {
            split: None,
            functions: [readings(0), readings(1)],
            vectors: [vectors(0), vectors(1)],
        }
    }

    fn take(&mut self, columns: &Columns, row: &Row<'_>) -> Outcome<()> {
        for side in 0..2 {
            let at = row.numbers(columns.coordinates(side), "its coordinates")?;
            for (q, quantity) in columns.functions[side].iter().enumerate() {
                let Some(values) = row.numbers(&quantity.columns, &quantity.key)? else {
                    continue;
                };
                let readings = &mut self.functions[side][q];
                let at = at.as_ref().ok_or_else(|| {
                    format!("line {} has {} and no coordinates", row.line, quantity.key)
                })?;
                readings.coords.extend(at);
                for (component, value) in readings.values.iter_mut().zip(values) {
                    component.push(value);
                }
            }
            for (q, quantity) in columns.vectors[side].iter().enumerate() {
                for (known, c) in self.vectors[side][q].iter_mut().zip(&quantity.columns) {
                    let value = row.number(*c)?;
                    if let (Some(known), Some(value)) = (*known, value)
                        && known != value
                    {
                        return Err(format!(
                            "line {} has {value} in {}, which was {known} before in the same sample",
                            row.line, quantity.key
                        ));
                    }
                    *known = known.or(value);
                }
            }
        }
        if let Some(set) = columns
            .split
            .map(|c| &row.record[c])
            .filter(|s| !s.is_empty())
        {
            self.split = Some(set.to_string());
        }
        Ok(())
    }
}
