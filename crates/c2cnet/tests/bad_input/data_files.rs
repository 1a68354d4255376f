//! Data files that cannot be read.

use super::toy::line_data;
use super::{check, said};
use c2cnet::data::{Dataset, read_points};
use c2cnet::internal::write_npz;

#[test]
fn data_files_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let line = line_data(6, 1);
    line.write_npz(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let raw = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        said(Dataset::read_npz(&path))
    };
    let arrays = |all: &[(&str, &[usize], &[f64])]| {
        write_npz(&path, |npz| {
            for (name, shape, values) in all {
                npz.put_f64(name, shape, values.iter().copied())?;
            }
            Ok(())
        })
        .unwrap();
        said(Dataset::read_npz(&path))
    };
    let (x, f): (&[f64], &[f64]) = (&[0.0, 0.5, 1.0], &[1.0; 6]);
    let counted = |counts: &[i64]| {
        write_npz(&path, |npz| {
            npz.put_f64("x", &[2, 3, 1], [0.0, 0.5, 1.0, 0.0, 0.5, 1.0])?;
            npz.put_f64("f", &[2, 3], [1.0; 6])?;
            npz.put_i64("x_count", &[counts.len()], counts.iter().copied())
        })
        .unwrap();
        said(Dataset::read_npz(&path))
    };
    let points = |text: &str| {
        std::fs::write(&path, text).unwrap();
        said(read_points(&path))
    };
    check(&[
        (
            "truncated",
            raw(&bytes[..bytes.len() / 2]),
            &["data.npz", "truncated"],
        ),
        ("empty", raw(b""), &["the file is empty"]),
        ("text", raw(b"x,f\n0,1\n"), &["not an npz file"]),
        (
            "typo",
            arrays(&[("x", &[3], x), ("ff", &[2, 3], f)]),
            &["unknown key `ff`", "known are"],
        ),
        (
            "no values",
            arrays(&[("y", &[3], x)]),
            &["no input values `f`"],
        ),
        (
            "no points",
            arrays(&[("f", &[2, 3], f)]),
            &["`f`", "points `x`"],
        ),
        (
            "other count",
            arrays(&[("x", &[3], x), ("f", &[3, 2], f)]),
            &["`x`", "(3, 2)"],
        ),
        (
            "one axis",
            arrays(&[("x", &[3], x), ("f", &[6], f)]),
            &["`f`", "(samples, points)"],
        ),
        (
            "NaN",
            arrays(&[("x", &[3], x), ("f", &[1, 3], &[0.0, f64::NAN, 0.0])]),
            &["`f`", "NaN", "sample 0, point 1"],
        ),
        (
            "other samples",
            arrays(&[
                ("x", &[3], x),
                ("f", &[2, 3], f),
                ("y", &[3], x),
                ("u", &[1, 3], x),
            ]),
            &["`u`", "1 samples", "`f` has 2"],
        ),
        ("ragged counts", counted(&[2]), &["x_count", "(2,)"]),
        (
            "counts beyond",
            counted(&[2, 4]),
            &["x_count", "4 for sample 1"],
        ),
        (
            "counts of zero",
            counted(&[0, 3]),
            &["x_count", "0 for sample 0"],
        ),
        (
            "ragged points",
            points("0,1\n2\n"),
            &["line 2 has 1 numbers"],
        ),
        (
            "points that are not numbers",
            points("0\nx\n"),
            &["line 2", "\"x\""],
        ),
    ]);
}
