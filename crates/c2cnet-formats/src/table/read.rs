//! From a table to samples.

use super::SIDES;
use super::columns::{Columns, Outcome, Quantity};
use crate::samples::{Names, field_of};
use c2cnet::data::{Dataset, Field, Fields, Missing, Points, Scattered};
use c2cnet::internal::read_plain;
use c2cnet::{Error, Result};
use faer::Mat;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Reads a table.
///
/// # Errors
/// Names the line or the column.
pub(crate) fn read(path: &Path, names: &Names, missing: Missing) -> Result<Dataset> {
    let bytes = read_plain(path)?;
    let parsed = parse(&bytes, names, missing);
    parsed.map_err(|reason| Error::format(path, no_table(path, &bytes).unwrap_or(reason)))
}

/// A description of text that is not meant to be a table.
fn no_table(path: &Path, bytes: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(START)]);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let what = match start.chars().next() {
        Some('{' | '[') => "holds JSON",
        Some('<') => "holds HTML or XML",
        _ if ["npz", "npy"].iter().any(|e| extension == *e) => "holds text, not arrays",
        _ => return None,
    };
    let first = start.lines().next().unwrap_or_default();
    let shown: String = first.chars().take(30).collect();
    Some(format!(
        "{what} (it begins with {shown}); data is an .npz file, as numpy.savez writes it, a table (.csv) or a mesh \
         (.vtu, .vtk, .msh)"
    ))
}

/// How many bytes show what a text is.
const START: usize = 512;

/// Reads a table of outputs alone.
///
/// # Errors
/// As [`read`], and if there are inputs or no outputs.
pub(crate) fn read_prediction(path: &Path) -> Result<Dataset> {
    let bytes = read_plain(path)?;
    parse_prediction(&bytes).map_err(|reason| Error::format(path, reason))
}

/// The columns that are not read.
///
/// # Errors
/// As [`read`].
pub(crate) fn ignored(path: &Path, names: &Names) -> Result<Vec<String>> {
    let bytes = read_plain(path)?;
    let header = header_of(&mut reader_of(&bytes));
    let header = header.map_err(|reason| Error::format(path, reason))?;
    let repeats = || first_column_repeats(&bytes);
    let columns = Columns::new(&header.iter().collect::<Vec<_>>(), names, &repeats);
    let columns = columns.map_err(|reason| Error::format(path, reason))?;
    let name = |c: &usize| header[*c].to_string();
    Ok(columns.ignored.iter().map(name).collect())
}

/// A reader of the records, with the separator that stands in the first line.
pub(super) fn reader_of(bytes: &[u8]) -> csv::Reader<&[u8]> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = bytes
        .split(|b| *b == b'\n')
        .find(|line| line.first() != Some(&b'#'));
    let first = first.unwrap_or_default();
    let separator = [b',', b';', b'\t'].into_iter().find(|b| first.contains(b));
    csv::ReaderBuilder::new()
        .delimiter(separator.unwrap_or(b','))
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(bytes)
}

pub(super) fn header_of(reader: &mut csv::Reader<&[u8]>) -> Outcome<csv::StringRecord> {
    Ok(reader.headers().map_err(|e| in_words(&e))?.clone())
}

/// Whether most values of the first column occur several times.
fn first_column_repeats(bytes: &[u8]) -> bool {
    let mut reader = reader_of(bytes);
    let records = reader.records().filter_map(std::result::Result::ok);
    let first = records.filter_map(|record| Some(record.get(0)?.to_string()));
    let mut rows = 0;
    let different: HashSet<String> = first.inspect(|_| rows += 1).collect();
    2 * different.len() <= rows
}

/// What the parser found wrong.
pub(super) fn in_words(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            pos: Some(at),
            expected_len,
            len,
        } => format!(
            "line {} has {len} cells, the header {expected_len}; an empty cell stands between two separators",
            at.line()
        ),
        _ => error.to_string(),
    }
}

pub(super) fn parse(bytes: &[u8], names: &Names, missing: Missing) -> Outcome<Dataset> {
    let data = fields(bytes, names, missing)?;
    data.check().map_err(|e| e.to_string())?;
    Ok(data)
}

pub(super) fn parse_prediction(bytes: &[u8]) -> Outcome<Dataset> {
    let data = fields(bytes, &Names::default(), Missing::Refuse)?;
    match data.inputs.is_empty() && !data.outputs.is_empty() {
        true => Ok(data),
        false => Err("is not a prediction file: predictions contain only outputs u or q".into()),
    }
}

/// What the columns hold, which may be outputs alone.
fn fields(bytes: &[u8], names: &Names, missing: Missing) -> Outcome<Dataset> {
    let mut reader = reader_of(bytes);
    let header = header_of(&mut reader)?;
    let repeats = || first_column_repeats(bytes);
    let columns = Columns::new(&header.iter().collect::<Vec<_>>(), names, &repeats)?;
    let mut samples: Vec<Sample> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for record in reader.records() {
        let record = record.map_err(|e| in_words(&e))?;
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
            missing,
        };
        samples[place].take(&columns, &row)?;
    }
    columns.dataset(samples)
}

impl Columns {
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
        Ok(Dataset {
            inputs,
            outputs,
            n_train: None,
            split,
            triangles: None,
            tetrahedra: None,
            meta: Value::Null,
        })
    }
}

/// A row, with what is needed to speak of it.
pub(super) struct Row<'a> {
    pub record: &'a csv::StringRecord,
    pub header: &'a csv::StringRecord,
    pub line: u64,
    pub missing: Missing,
}

impl Row<'_> {
    /// The number in a column; none in an empty cell.
    fn number(&self, column: usize) -> Outcome<Option<f64>> {
        let text = self.record.get(column).unwrap_or_default();
        match text.parse::<f64>() {
            _ if text.is_empty() => Ok(None),
            Ok(v) if v.is_finite() => Ok(Some(v)),
            Ok(v) if v.is_nan() && self.missing == Missing::Nan => Ok(None),
            parsed => Err(format!(
                "line {} holds {text:?} in the column {:?}, {}",
                self.line,
                self.header.get(column).unwrap_or_default(),
                match parsed {
                    Ok(v) if v.is_nan() =>
                        "not a number; leave a cell empty where there is no reading, or say that NaN stands for one \
                         that is missing: `--missing nan`, in Python `missing=\"nan\"`",
                    Ok(_) => "not a finite number; repair or remove that reading",
                    Err(_) if text.replace(',', ".").parse::<f64>().is_ok() =>
                        "not a number; write a decimal point, not a comma",
                    Err(_) => "not a number; leave a cell empty where there is no reading",
                }
            )),
        }
    }

    /// All of the columns, or none of them.
    pub(super) fn numbers(&self, columns: &[usize], what: &str) -> Outcome<Option<Vec<f64>>> {
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
            .ok_or_else(|| format!("line {} has only some of {what}", self.line))
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
                    format!("line {} has {} but no coordinates", row.line, quantity.key)
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
