//! Where to predict, from the columns of a table.

use super::columns::{Outcome, is_value, numbered, place, points_by_name};
use super::read::{Row, header_of, in_words, reader_of};
use c2cnet::data::{Missing, Points};
use c2cnet::internal::read_plain;
use c2cnet::{Error, Result};
use std::path::Path;

/// The points of a table whose first line names its columns: `y0`, `y1`, ... as in data files, else `x`, `y`, `z` or
/// `x0`, `x1`, ...; `None` if it names none, so that numbers count by their position.
pub(crate) fn points(path: &Path) -> Result<Option<Points>> {
    let bytes = read_plain(path)?;
    parse(&bytes).map_err(|reason| Error::format(path, reason))
}

pub(super) fn parse(bytes: &[u8]) -> Outcome<Option<Points>> {
    if std::str::from_utf8(bytes).is_err() {
        return Ok(None);
    }
    let mut reader = reader_of(bytes);
    let header = header_of(&mut reader)?;
    let names: Vec<&str> = header.iter().collect();
    let is_number = |name: &&str| name.is_empty() || name.parse::<f64>().is_ok();
    let in_blanks = matches!(names[..], [name] if name.contains(char::is_whitespace));
    if names.iter().any(is_number) || in_blanks {
        return Ok(None);
    }
    let columns = columns(&names)?;
    let sample = place(&names, "sample");
    let mut sets: Vec<(String, Vec<f64>)> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| in_words(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = Row {
            record: &record,
            header: &header,
            line,
            missing: Missing::Refuse,
        };
        let Some(point) = row.numbers(&columns, "its coordinates")? else {
            continue;
        };
        let of = sample.map_or("", |c| &record[c]);
        match sets.iter_mut().find(|(name, _)| name == of) {
            Some((_, coords)) => coords.extend(point),
            None => sets.push((of.to_string(), point)),
        }
    }
    let Some((_, first)) = sets.first() else {
        return Err("holds no points".into());
    };
    if let Some((other, _)) = sets.iter().find(|(_, coords)| coords != first) {
        return Err(format!(
            "has other points in sample {other} than in sample {}; give the points once",
            sets[0].0
        ));
    }
    let points = Points::new(columns.len(), first.clone()).map_err(|e| e.to_string());
    points.map(Some)
}

/// The columns of the coordinates; columns of data are left out, others refused.
fn columns(names: &[&str]) -> Outcome<Vec<usize>> {
    let inputs = points_by_name(names)?;
    let outputs = numbered(names, "y");
    let of_data = |name: &str| {
        let values = ["f", "u", "p", "q"];
        values.iter().any(|stem| is_value(name, stem))
            || ["sample", "split"]
                .iter()
                .any(|n| name.eq_ignore_ascii_case(n))
    };
    let rest = |c: &usize| !inputs.contains(c) && !outputs.contains(c) && !of_data(names[*c]);
    let rest: Vec<usize> = (0..names.len()).filter(rest).collect();
    match (&rest[..], names.len()) {
        ([], _) if !outputs.is_empty() => Ok(outputs),
        ([], _) if !inputs.is_empty() => Ok(inputs),
        // With one coordinate there is nothing to confuse.
        ([one], 1) => Ok(vec![*one]),
        _ => Err(format!(
            "has the columns {}; those of points are x, y, z or x0, x1, ..., and c2cnet does not guess which \
             is which: rename them, or omit the first line, so that they count by their position",
            names.join(", ")
        )),
    }
}
