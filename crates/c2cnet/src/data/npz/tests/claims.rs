//! Small files that claim much: refused before anything is allocated for it.

use super::{archive, assert_says, f8, npy, raw_archive, read_bytes, read_with};
use crate::Result;
use crate::data::Dataset;
use crate::data::npz::NpzFile;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A data set with one entry in place of, or beside, those that it needs.
fn with(key: &str, entry: Vec<u8>) -> Result<Dataset> {
    let mut entries = vec![
        ("x.npy", npy("'<f8'", "False", "(2,)", &f8(&[0.0, 1.0]))),
        ("f.npy", npy("'<f8'", "False", "(1, 2)", &f8(&[0.0, 1.0]))),
    ];
    let name = format!("{key}.npy");
    entries.retain(|(known, _)| *known != name);
    entries.push((&name, entry));
    read_bytes(&raw_archive(&entries))
}

#[test]
fn texts_of_no_width_took_all_memory() {
    for key in ["split", "f", "x", "meta", "n_train", "triangles"] {
        for descr in ["'<U0'", "'|S0'", "'>U0'"] {
            let entry = npy(descr, "False", "(99999999999,)", &[]);
            assert_says(with(key, entry), &[&format!("`{key}`"), "0", "99999999999"]);
        }
    }
}

#[test]
fn shapes_that_the_file_does_not_hold_are_refused_by_their_size() {
    for descr in ["'<f8'", "'|i1'", "'<U1'"] {
        let entry = npy(descr, "False", "(99999999999, 2)", &[0; 64]);
        assert_says(with("f", entry), &["`f` is cut short", "of 199999999998"]);
    }
    // The widest text of the widest shape: the product must not wrap.
    let entry = npy("'<U4611686018427387904'", "False", "(99999999,)", &[]);
    assert!(with("split", entry).is_err());
}

#[test]
fn a_split_that_unpacks_to_many_texts_is_refused_by_its_shape() {
    // A few KB on disk; as texts, a hundred times the array.
    let entry = npy("'<U1'", "False", "(1000000,)", &vec![0; 4_000_000]);
    assert_says(with("split", entry), &["`split`", "(1,)", "(1000000,)"]);
    let entry = npy("'<U1'", "False", "(1000000,)", &vec![0; 4_000_000]);
    assert_says(with("meta", entry), &["`meta` must be one string"]);
    let entry = npy("'<U1'", "False", "(1000000, 1)", &vec![0; 4_000_000]);
    assert_says(with("f", entry), &["`x`", "to fit `f`", "(1000000, 1)"]);
}

#[test]
fn an_archive_whose_directory_lies_about_sizes_is_damaged() {
    let entry = npy("'<f8'", "False", "(12500000000,)", &[0; 16]);
    let length = entry.len() as u32;
    let mut bytes = raw_archive(&[("x.npy", entry)]);
    // The size of the entry as such, in its own header and in the directory, made as large as 32 bits allow.
    let found: Vec<usize> = (0..bytes.len() - 4)
        .filter(|&i| bytes[i..i + 4] == length.to_le_bytes())
        .collect();
    assert!(!found.is_empty());
    for i in found {
        bytes[i..i + 4].copy_from_slice(&0xffff_fffeu32.to_le_bytes());
    }
    let (_folder, path) = super::file(&bytes);
    let x = NpzFile::open(&path).and_then(|mut npz| npz.floats("x"));
    assert_says(x, &["data.npz", "claims"]);
}

#[test]
fn more_arrays_than_any_data_set_has_are_refused() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for i in 0..5000 {
        let options = SimpleFileOptions::DEFAULT;
        zip.start_file(format!("f.{i}.npy"), options).unwrap();
        zip.write_all(b"").unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    assert_says(read_bytes(&bytes), &["holds 5000 arrays, more than 4096"]);
}

#[test]
fn fields_on_the_same_points_share_them() {
    for shape in [&[3, 500][..], &[1, 3, 500]] {
        let bytes = archive(&|npz| {
            npz.put_f64("x", shape, vec![0.5; 1500])?;
            (0..20).try_for_each(|i| npz.put_f64(&format!("f.{i}"), &[1, 3], [1.0; 3]))
        });
        let data = read_bytes(&bytes).unwrap();
        let first = data.inputs[0].1.points_of(0).coords().as_ptr();
        for (name, field) in &data.inputs {
            assert_eq!(field.points_of(0).coords().as_ptr(), first, "{name}");
        }
    }
}

#[test]
fn output_points_of_no_dimension_with_triangles_panicked() {
    assert_says(
        read_with(&|npz| {
            npz.put_f64("y", &[], [0.0])?;
            npz.put_i64("triangles", &[1, 3], [0, 0, 0])
        }),
        &["`y`", "()", "(n, d)"],
    );
    assert_says(
        read_with(&|npz| npz.put_i64("triangles", &[], [0])),
        &["`triangles`", "(triangles, 3)", "()"],
    );
}
