//! What is in a file, without reading it as data.

use super::{INPUTS, NpzFile, OUTPUTS, Side};
use crate::Result;
use crate::data::{Dataset, Field, Fields};
use std::path::Path;

/// The names of the arrays of any `.npz` file, in file order.
///
/// # Errors
/// If it cannot be read or is not an archive.
pub fn array_names(path: &Path) -> Result<Vec<String>> {
    NpzFile::open(path).map(|npz| npz.keys)
}

/// Names and shapes of the arrays of any `.npz` file, in file order.
///
/// # Errors
/// If it cannot be read, is damaged, or holds something that is not an array of numbers or text.
pub fn array_shapes(path: &Path) -> Result<Vec<(String, Vec<usize>)>> {
    let mut npz = NpzFile::open(path)?;
    let mut shapes = Vec::new();
    for key in npz.keys.clone() {
        if let Some(shape) = npz.shape(&key, true)? {
            shapes.push((key, shape));
        }
    }
    Ok(shapes)
}

/// How many numbers the arrays of a `.npz` file hold, according to their headers: no array is read.
///
/// # Errors
/// If it cannot be read, is damaged, or holds something that is not an array of numbers or text.
pub fn count_values(path: &Path) -> Result<usize> {
    let mut npz = NpzFile::open(path)?;
    let mut count = 0usize;
    for key in npz.keys.clone() {
        if let Some(shape) = npz.shape(&key, false)? {
            let values = shape
                .iter()
                .fold(1usize, |n, extent| n.saturating_mul(*extent));
            count = count.saturating_add(values);
        }
    }
    Ok(count)
}

/// The keys under which a data file holds the fields of a data set: of the inputs, then of the outputs.
pub fn value_keys(data: &Dataset) -> (Vec<String>, Vec<String>) {
    let keys = |side: Side, fields: &Fields| {
        let key = |(name, field): &(String, Field)| side.key_of(fields, name, field);
        fields.iter().map(key).collect()
    };
    (keys(INPUTS, &data.inputs), keys(OUTPUTS, &data.outputs))
}

/// What the components of `symbol` are called: itself where there is one, real and imaginary parts where they are those
/// of complex values, else as `numbered` says.
pub fn component_names(
    symbol: &str,
    count: usize,
    complex: bool,
    numbered: impl Fn(&str, usize) -> String,
) -> Vec<String> {
    match (count, complex) {
        (1, _) => vec![symbol.to_string()],
        (count, true) => {
            let values = component_names(symbol, count / 2, false, numbered);
            let parts = |value: String| [format!("Re {value}"), format!("Im {value}")];
            values.into_iter().flat_map(parts).collect()
        }
        (count, false) => (0..count).map(|c| numbered(symbol, c)).collect(),
    }
}
