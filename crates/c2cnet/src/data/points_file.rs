//! Points from a file: where to predict.

use super::Points;
use super::npz::{Array, Header, NpzFile, axis_keys, crossings, one_set};
use crate::storage::{open_plain, read_plain};
use crate::{Error, Result};
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Reads points from a `.npy` array of shape $(n, d)$ or $(n,)$, or of a grid, $(n_1, \dots, n_d, d)$; from `y` (or
/// else `x`), or the axes of a grid `y0`, `y1`, ..., of an `.npz` file; or from text with one point per line.
///
/// The format is recognised by the first bytes, not by the name. In text, numbers are separated by
/// commas or blanks; empty lines and anything after `#` are skipped, and so is a first line
/// without any number (a header).
///
/// # Errors
/// If the file cannot be read, the shape does not fit, or a line or a number is wrong; errors in text
/// name the line.
pub fn read_points(path: &Path) -> Result<Points> {
    let io = |e| Error::io(path, e);
    let mut start = Vec::new();
    let (mut file, size) = open_plain(path)?;
    (&file).take(6).read_to_end(&mut start).map_err(io)?;
    if start.starts_with(b"PK") {
        let mut npz = NpzFile::open(path)?;
        for stem in ["y", "x"] {
            let axes = axis_keys(&npz, stem, "")?;
            if !axes.is_empty() && !npz.has(stem) {
                return crossings(&mut npz, &axes);
            }
        }
        let Some(key) = ["y", "x"].into_iter().find(|key| npz.has(key)) else {
            let keys = npz.keys.join(", ");
            return Err(Error::format(
                path,
                format!("has points neither as `y` nor as `x`; its keys are {keys}"),
            ));
        };
        return read_set(&mut npz, key);
    }
    if start.starts_with(b"\x93NUMPY") {
        file.rewind().map_err(io)?;
        let mut file = BufReader::new(file);
        let bad = |reason: String| Error::format(path, format!("the array {reason}"));
        let header = Header::read(&mut file, size).map_err(bad)?;
        header.check_numbers().map_err(bad)?;
        let array = Array::read(&mut file, header).map_err(bad)?;
        let shape = array.shape.clone();
        let coords = array.into_floats().map_err(bad)?;
        let empty = coords.is_empty();
        let points = one_set(&shape, coords).filter(|_| !empty).ok_or_else(|| {
            Error::shape(
                path.display().to_string(),
                "(n, d), (n,) or a grid (n1, ..., nd, d), not empty",
                format!("{shape:?}"),
            )
        })?;
        return points.map_err(|e| Error::format(path, e.to_string()));
    }
    let text = read_plain(path)?;
    let text = String::from_utf8(text).map_err(|_| {
        Error::format(
            path,
            "neither a NumPy file nor text; give points as .npy, .npz or .csv",
        )
    })?;
    parse_points(&text).map_err(|reason| Error::format(path, reason))
}

/// The output points `y` and `y.NAME` of a data file, by output name; none if it has none.
///
/// # Errors
/// If the file cannot be read or is damaged, or points are not of shape $(n, d)$ or $(n,)$.
pub fn read_output_points(path: &Path) -> Result<Vec<(String, Points)>> {
    let mut npz = NpzFile::open(path)?;
    let keys: Vec<(String, String)> = npz
        .keys
        .iter()
        .filter_map(|key| {
            let rest = key.strip_prefix('y')?;
            let rest = rest.strip_prefix('0').unwrap_or(rest);
            let name = rest.strip_prefix('.').or(rest.is_empty().then_some(""))?;
            Some((key.clone(), name.to_string()))
        })
        .collect();
    keys.into_iter()
        .map(|(key, name)| {
            let points = match key.starts_with("y0") {
                true => {
                    let axes = axis_keys(&npz, "y", &name)?;
                    crossings(&mut npz, &axes)?
                }
                false => read_set(&mut npz, &key)?,
            };
            Ok((name, points))
        })
        .collect()
}

fn read_set(npz: &mut NpzFile, key: &str) -> Result<Points> {
    let (shape, coords) = npz.floats(key)?;
    let points = one_set(&shape, coords).ok_or_else(|| {
        let expected = "(n, d), (n,) or a grid (n1, ..., nd, d), one set of points";
        npz.bad_shape(key, expected, &shape)
    })?;
    points.map_err(|e| npz.locate(key, e))
}

fn parse_points(text: &str) -> std::result::Result<Points, String> {
    let mut dim = None;
    let mut coords = Vec::new();
    let mut first = true;
    // Spreadsheets put a byte order mark in front.
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let fields: Vec<&str> = if line.contains(',') {
            line.split(',').map(str::trim).collect()
        } else {
            line.split_whitespace().collect()
        };
        let is_header = first && fields.iter().all(|f| f.parse::<f64>().is_err());
        first = false;
        if is_header {
            continue;
        }
        let number = index + 1;
        let expected = *dim.get_or_insert(fields.len());
        if fields.len() != expected {
            return Err(format!(
                "line {number} has {} numbers, earlier lines have {expected}",
                fields.len()
            ));
        }
        for field in fields {
            match field.parse::<f64>() {
                Ok(value) if value.is_finite() => coords.push(value),
                Ok(value) => return Err(format!("line {number} holds {value}")),
                Err(_) => return Err(format!("line {number} holds {field:?}, not a number")),
            }
        }
    }
    let Some(dim) = dim else {
        return Err("holds no points; give one per line, such as 0.25, 0.5".into());
    };
    Points::new(dim, coords).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::npz::write_npz;

    fn parsed(text: &str) -> std::result::Result<(usize, Vec<f64>), String> {
        parse_points(text).map(|p| (p.dim(), p.coords().to_vec()))
    }

    #[test]
    fn text_with_commas_blanks_header_and_comments() {
        let expected = Ok((2, vec![0.0, 1.0, 0.5, -2e-3]));
        assert_eq!(parsed("0,1\n0.5,-2e-3\n"), expected);
        assert_eq!(parsed("\u{feff}x, y\r\n0, 1\r\n\r\n0.5, -2e-3"), expected);
        assert_eq!(
            parsed("# made by hand\n0 1 # corner\n 0.5\t-2e-3"),
            expected
        );
        assert_eq!(parsed("0\n1\n"), Ok((1, vec![0.0, 1.0])));
    }

    #[test]
    fn wrong_text_is_cited_by_line() {
        for (text, part) in [
            ("0,1\n2\n", "line 2 has 1 numbers"),
            ("x,y\n0,1\n\n0,oops\n", "line 4 holds \"oops\""),
            ("0,oops\n", "line 1 holds \"oops\""),
            ("0,,1\n", "line 1 holds \"\""),
            ("0,nan\n", "line 1 holds NaN"),
            ("x,y\n", "no points"),
            ("", "no points"),
        ] {
            let error = parsed(text).expect_err(text);
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn npz_gives_y_before_x_and_npy_is_known_by_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.npz");
        write_npz(&path, |npz| {
            npz.put_f64("x", &[2], [0.0, 1.0])?;
            npz.put_f64("y", &[1, 2], [3.0, 4.0])
        })
        .unwrap();
        let points = read_points(&path).unwrap();
        assert_eq!((points.dim(), points.coords()), (2, &[3.0, 4.0][..]));

        // The one entry of an archive, stored as it is, is a .npy file.
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}\n";
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend([0, 7, 255, 255]);
        let path = folder.path().join("points.dat");
        std::fs::write(&path, bytes).unwrap();
        let points = read_points(&path).unwrap();
        assert_eq!((points.dim(), points.coords()), (1, &[7.0, -1.0][..]));
    }

    #[test]
    fn wrong_files_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.npz");
        write_npz(&path, |npz| npz.put_f64("y", &[1, 1, 3], [3.0, 4.0, 5.0])).unwrap();
        let error = read_points(&path).unwrap_err().to_string();
        assert!(
            error.contains("`y`") && error.contains("(1, 1, 3)"),
            "{error}"
        );
        write_npz(&path, |npz| npz.put_f64("z", &[1], [3.0])).unwrap();
        let error = read_points(&path).unwrap_err().to_string();
        assert!(error.contains("its keys are z"), "{error}");
        std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
        let error = read_points(&path).unwrap_err().to_string();
        assert!(error.contains("neither"), "{error}");
    }
}
