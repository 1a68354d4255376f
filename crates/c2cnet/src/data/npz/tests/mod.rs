//! Files that are read back as they were written, or as NumPy writes them.

mod claims;
mod natural;
mod properties;
mod refusals;

use super::NpzWriter;
use crate::Result;
use crate::data::{Dataset, Field, Fields, Observations, Points, Scattered};
use faer::Mat;
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::path::PathBuf;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

type Put<'a> = &'a dyn Fn(&mut NpzWriter<&mut Cursor<Vec<u8>>>) -> std::io::Result<()>;

/// A file with the given bytes, and the folder that keeps it alive.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn archive(put: Put) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let mut npz = NpzWriter::new(&mut out);
    put(&mut npz).unwrap();
    npz.finish().unwrap();
    out.into_inner()
}

fn read_bytes(bytes: &[u8]) -> Result<Dataset> {
    let (_folder, path) = file(bytes);
    Dataset::read_npz(&path)
}

/// Three samples at two shared points, and whatever `put` adds.
fn read_with(put: Put) -> Result<Dataset> {
    read_bytes(&archive(&|npz| {
        npz.put_f64("x", &[2, 1], [0.0, 1.0])?;
        npz.put_f64("f", &[3, 2], (0..6).map(f64::from))?;
        put(npz)
    }))
}

/// An entry with a custom header.
fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// An archive of raw entries, deflated (the default of the options).
fn raw_archive(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(name, SimpleFileOptions::DEFAULT).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn f8(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// `f` in the given form at two points.
fn read_raw_f(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Result<Dataset> {
    read_bytes(&raw_archive(&[
        ("x.npy", npy("'<f8'", "False", "(2,)", &f8(&[0.0, 1.0]))),
        ("f.npy", npy(descr, fortran, shape, data)),
    ]))
}

#[track_caller]
fn assert_says<T: std::fmt::Debug>(result: Result<T>, parts: &[&str]) {
    let message = result.expect_err("this must fail").to_string();
    for part in parts {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

fn ramp(n: usize, samples: usize, shift: f64) -> Mat<f64> {
    Mat::from_fn(n, samples, |i, k| shift + i as f64 + 0.1 * k as f64)
}

fn scattered(counts: &[usize], dim: usize, components: usize) -> Field {
    let samples = counts
        .iter()
        .enumerate()
        .map(|(k, &n)| Scattered {
            points: Points::new(dim, (0..n * dim).map(|i| (i + k) as f64).collect()).unwrap(),
            values: (0..n * components).map(|i| (10 * k + i) as f64).collect(),
        })
        .collect();
    Field::per_sample(components, samples).unwrap()
}

#[track_caller]
fn assert_same_field(a: &Field, b: &Field) {
    assert_eq!((a.samples(), a.components()), (b.samples(), b.components()));
    assert_eq!(a.is_vector(), b.is_vector());
    let shared = |f: &Field| matches!(f.observations(), Observations::Shared { .. });
    assert_eq!(shared(a), shared(b));
    for k in 0..a.samples() {
        assert_eq!(a.points_of(k), b.points_of(k));
        assert_eq!(a.values_of(k), b.values_of(k));
    }
}

fn assert_round_trip(data: &Dataset) {
    let (_folder, path) = file(b"old");
    data.write_npz(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let back = Dataset::read_npz(&path).unwrap();
    for (a, b) in [(&data.inputs, &back.inputs), (&data.outputs, &back.outputs)] {
        assert_eq!(a.len(), b.len());
        for ((name, field), (other, again)) in a.iter().zip(b) {
            assert_eq!(name, other);
            assert_same_field(field, again);
        }
    }
    assert_eq!(data.n_train, back.n_train);
    assert_eq!(data.split, back.split);
    assert_eq!(data.triangles, back.triangles);
    assert_eq!(data.tetrahedra, back.tetrahedra);
    assert_eq!(data.meta, back.meta);
    back.write_npz(&path).unwrap();
    assert!(bytes == std::fs::read(&path).unwrap(), "other bytes");
}

#[test]
fn round_trip_of_shared_points_components_triangles_and_meta() {
    let x = Points::linspace(0.0, 1.0, 5);
    let y = Points::new(2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
    let f = Field::shared(x, vec![ramp(5, 4, 0.0)]).unwrap();
    let u = Field::shared(y, vec![ramp(3, 4, 1.0), ramp(3, 4, -7.0)]).unwrap();
    let mut data = Dataset::new(f, u).unwrap();
    data.n_train = Some(3);
    data.triangles = Some(vec![[0, 1, 2]]);
    data.meta = json!({"problem": "Gauß", "seed": 7});
    assert_round_trip(&data);
    data.outputs = Default::default();
    data.triangles = None;
    assert_round_trip(&data);
}

#[test]
fn round_trip_of_ragged_and_named_fields_and_a_split() {
    let shared = Field::shared(Points::linspace(0.0, 1.0, 4), vec![ramp(4, 3, 0.0)]).unwrap();
    let data = Dataset {
        inputs: Fields::from([
            ("", scattered(&[2, 5, 1], 2, 1)),
            ("wall", scattered(&[3, 1, 2], 1, 2)),
            ("source", shared.clone()),
        ]),
        outputs: Fields::from([("p", scattered(&[2, 2, 2], 2, 3)), ("q", shared)]),
        n_train: None,
        split: Some(vec!["train".into(), "far".into(), "train".into()]),
        triangles: None,
        tetrahedra: None,
        meta: Value::Null,
    };
    assert_round_trip(&data);
}

#[test]
fn round_trip_of_vectors_alone_beside_functions_and_by_name() {
    let vector = |k: usize| Field::vector(ramp(k, 3, k as f64).as_ref()).unwrap();
    let function = Field::shared(Points::linspace(0.0, 1.0, 4), vec![ramp(4, 3, 0.0)]).unwrap();
    assert_round_trip(&Dataset::new(vector(2), function.clone()).unwrap());
    assert_round_trip(&Dataset::new(function.clone(), vector(1)).unwrap());
    assert_round_trip(&Dataset::new(vector(3), vector(2)).unwrap());
    let mut data = Dataset::new(function.clone(), function.clone()).unwrap();
    data.inputs.push("p", vector(2));
    data.inputs.push("material", vector(1));
    data.outputs = [("q", vector(2)), ("", function.clone())].into();
    data.triangles = Some(vec![[0, 1, 3]]);
    assert_round_trip(&data);
    assert_eq!(data.mesh_points(), function.shared_points());
    // `p` and `q` are also names like others.
    data.inputs = [("p", vector(2)), ("q", function.clone())].into();
    data.outputs = [("p", function), ("q", vector(1))].into();
    assert_round_trip(&data);
}

#[test]
fn vectors_are_called_after_what_stands_beside_them() {
    let names = |fields: &Fields| -> Vec<(String, bool)> {
        let one = |(name, field): &(String, Field)| (name.clone(), field.is_vector());
        fields.iter().map(one).collect()
    };
    let data = read_bytes(&archive(&|npz| {
        npz.put_f64("p", &[3, 2], (0..6).map(f64::from))?;
        npz.put_i64("p.shape", &[3], [7, 8, 9])?;
        npz.put_f64("q", &[3], [1.0, 2.0, 3.0])
    }))
    .unwrap();
    let expected = [("".into(), true), ("shape".into(), true)];
    assert_eq!(names(&data.inputs), expected);
    assert_eq!(names(&data.outputs), expected[..1]);
    assert_eq!(data.inputs[0].1.values_of(1), [2.0, 3.0]);
    assert_eq!(data.inputs[1].1.values_of(2), [9.0]);
    assert_eq!(data.outputs[0].1.components(), 1);
    let data = read_with(&|npz| npz.put_f64("p", &[3, 1], [1.0, 2.0, 3.0])).unwrap();
    let expected = [("".into(), false), ("p".into(), true)];
    assert_eq!(names(&data.inputs), expected);
}

#[test]
fn a_named_field_borrows_the_shared_points_and_y_alone_is_allowed() {
    let data = read_bytes(&archive(&|npz| {
        npz.put_f64("x", &[2], [0.0, 1.0])?;
        npz.put_f64("f.a", &[1, 2], [1.0, 2.0])?;
        npz.put_f64("f.b", &[1, 2, 1], [3.0, 4.0])?;
        npz.put_f64("y", &[1, 2], [0.5, 0.5])?;
        npz.put_i64("triangles", &[0, 3], [])
    }))
    .unwrap();
    assert_eq!(data.inputs[1].0, "b");
    assert_eq!(data.inputs[1].1.points_of(0).coords(), [0.0, 1.0]);
    assert_eq!(data.inputs[1].1.values_of(0), [3.0, 4.0]);
    assert!(data.outputs.is_empty());
}

#[test]
fn every_number_type_byte_order_and_axis_order() {
    let c_order = [1.0, 2.0, 3.0, 4.0];
    let little = f8(&c_order);
    let big: Vec<u8> = c_order.iter().flat_map(|v| v.to_be_bytes()).collect();
    let single: Vec<u8> = c_order
        .iter()
        .flat_map(|&v| (v as f32).to_be_bytes())
        .collect();
    let fortran = f8(&[1.0, 3.0, 2.0, 4.0]);
    for (descr, order, data) in [
        ("'<f8'", "False", &little[..]),
        ("'>f8'", "False", &big),
        ("'>f4'", "False", &single),
        ("'<f8'", "True", &fortran),
        ("'|u1'", "False", &[1, 2, 3, 4]),
        ("'|i1'", "True", &[1, 3, 2, 4]),
        ("'>i2'", "False", &[0, 1, 0, 2, 0, 3, 0, 4]),
        (
            "'<u4'",
            "False",
            &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0],
        ),
    ] {
        let data = read_raw_f(descr, order, "(2, 2)", data).unwrap();
        let f = &data.inputs[0].1;
        assert_eq!(
            [f.values_of(0), f.values_of(1)].concat(),
            c_order,
            "{descr} {order}"
        );
    }
    // Three axes in Fortran order: (sample, point, component).
    let fortran = f8(&[0.0, 4.0, 2.0, 6.0, 1.0, 5.0, 3.0, 7.0]);
    let data = read_raw_f("'<f8'", "True", "(2, 2, 2)", &fortran).unwrap();
    assert_eq!(data.inputs[0].1.values_of(1), [4.0, 6.0, 5.0, 7.0]);
}

#[test]
fn text_as_bytes_or_unicode_of_either_order() {
    let names = |order: fn(u32) -> [u8; 4]| -> Vec<u8> {
        let padded = ["test\0", "train", "é\0\0\0\0"].concat();
        padded.chars().flat_map(|c| order(c as u32)).collect()
    };
    for (descr, split) in [
        ("'<U5'", names(u32::to_le_bytes)),
        ("'>U5'", names(u32::to_be_bytes)),
        ("'|S5'", b"test\0train\xc3\xa9\0\0\0".to_vec()),
    ] {
        let data = read_bytes(&raw_archive(&[
            ("x.npy", npy("'<f8'", "False", "(1,)", &f8(&[0.0]))),
            (
                "f.npy",
                npy("'<f8'", "False", "(3, 1)", &f8(&[0.0, 1.0, 2.0])),
            ),
            ("split.npy", npy(descr, "False", "(3,)", &split)),
            ("meta.npy", npy("'|S9'", "False", "()", b"{\"a\": 1}\0")),
        ]))
        .unwrap();
        assert_eq!(data.split.unwrap(), ["test", "train", "é"]);
        assert_eq!(data.meta, json!({"a": 1}));
    }
}

#[test]
fn padding_may_be_anything_but_what_counts_may_not() {
    let read = |counts: [i64; 2]| {
        read_bytes(&archive(&|npz| {
            npz.put_f64("x", &[2, 2, 1], [0.0, f64::NAN, 0.0, 1.0])?;
            npz.put_f64("f", &[2, 2], [1.0, f64::NAN, 2.0, f64::INFINITY])?;
            npz.put_i64("x_count", &[2], counts)
        }))
    };
    let data = read([1, 1]).unwrap();
    assert_eq!(data.inputs[0].1.values_of(1), [2.0]);
    assert_says(read([1, 2]), &["`f`", "sample 1, point 1", "inf"]);
    assert_says(read([2, 1]), &["`x[0]`", "point 1, coordinate 0", "NaN"]);
    assert_says(read([1, 3]), &["`x_count`", "3 for sample 1", "1 to 2"]);
    assert_says(read([0, 1]), &["`x_count`", "0 for sample 0"]);
}
