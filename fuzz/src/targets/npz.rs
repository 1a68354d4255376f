//! Data files: damaged bytes, and whole archives of strange arrays.

use super::{Scratch, Target, corpus};
use crate::{memory, mutate};
use c2cnet::data::Dataset;
use c2cnet::internal::{array_shapes, read_output_points};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use std::io::{Cursor, Write};
use std::path::Path;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub fn targets() -> Vec<Target> {
    let files = corpus("npz");
    let (damaged, strange) = (Scratch::new("data.npz"), Scratch::new("data.npz"));
    vec![
        Target {
            name: "npz-bytes",
            run: Box::new(move |rng| {
                let mut bytes = files.choose(rng).expect("a file").clone();
                mutate::bytes(rng, &mut bytes);
                read(damaged.put(&bytes), bytes.len())
            }),
        },
        Target {
            name: "npz-arrays",
            run: Box::new(move |rng| {
                let (bytes, unpacked) = archive(rng);
                read(strange.put(&bytes), unpacked)
            }),
        },
    ]
}

fn read(path: &Path, size: usize) -> bool {
    // Numbers of any width are held as eight bytes.
    memory::allow(8 * size);
    let _ = array_shapes(path);
    let _ = read_output_points(path);
    let Ok(data) = Dataset::read_npz(path) else {
        return false;
    };
    data.check().expect("what was read is whole");
    data.fingerprint();
    true
}

/// An archive of arrays that are nearly those of a data set, and how many bytes they have.
fn archive(rng: &mut ChaCha8Rng) -> (Vec<u8>, usize) {
    let keys = [
        "x",
        "f",
        "y",
        "u",
        "p",
        "q",
        "x.a",
        "f.a",
        "u.a",
        "y.a",
        "x_count",
        "y_count",
        "n_train",
        "split",
        "triangles",
        "meta",
        "x_count.a",
        "p.a",
    ];
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let (mut unpacked, mut used) = (0, Vec::new());
    let (samples, n) = (rng.random_range(1..4), rng.random_range(1..5));
    for i in 0..rng.random_range(2..8) {
        // Mostly what a data set needs.
        let key = match i {
            0 if rng.random_bool(0.9) => "x",
            1 if rng.random_bool(0.9) => "f",
            _ => keys.choose(rng).expect("a key"),
        };
        if used.contains(&key) {
            continue;
        }
        used.push(key);
        let entry = array(rng, key, samples, n);
        unpacked += entry.len();
        let options = SimpleFileOptions::DEFAULT;
        zip.start_file(format!("{key}.npy"), options)
            .expect("a name");
        zip.write_all(&entry).expect("memory");
    }
    let bytes = zip.finish().expect("an archive").into_inner();
    (bytes, unpacked)
}

/// An array that fits its key more or less.
fn array(rng: &mut ChaCha8Rng, key: &str, samples: usize, n: usize) -> Vec<u8> {
    let fitting: Vec<u64> = match key.split('.').next().unwrap_or(key) {
        "x" | "y" => vec![n as u64, 1],
        "f" | "u" => vec![samples as u64, n as u64],
        "p" | "q" => vec![samples as u64, 2],
        "x_count" | "y_count" | "split" => vec![samples as u64],
        "triangles" => vec![1, 3],
        _ => vec![],
    };
    let mut shape = fitting;
    if rng.random_bool(0.2) {
        let axes = rng.random_range(0..4);
        shape = (0..axes).map(|_| rng.random_range(0..6)).collect();
    }
    if rng.random_bool(0.1) {
        let k = rng.random_range(0..=shape.len());
        shape.insert(k, mutate::number(rng));
    }
    let usual = match key.split('.').next().unwrap_or(key) {
        "x_count" | "y_count" | "n_train" | "triangles" => "<i8",
        "split" | "meta" => "<U4",
        _ => "<f8",
    };
    let strange = [
        "<U0", "|S0", "|S3", ">f8", "<f4", "|i1", ">u2", "<u8", "<f2", "|O", "<c16", "|b1", "<U1",
        ">U2",
    ];
    let dtype = match rng.random_bool(0.8) {
        true => usual,
        false => strange.choose(rng).expect("a type"),
    };
    let width = match dtype {
        "<f8" | ">f8" | "<i8" | "<u8" => 8,
        "<U4" | "<c16" => 16,
        "<f4" | "<U1" => 4,
        "<U0" | "|S0" => 0,
        "|S3" => 3,
        _ => 1,
    };
    let count = shape
        .iter()
        .try_fold(1u64, |a, &b| a.checked_mul(b))
        .unwrap_or(0);
    let count = match rng.random_bool(0.9) {
        true => count.min(64),
        false => rng.random_range(0..20),
    };
    let mut body = Vec::new();
    for _ in 0..count {
        body.extend(entry(rng, dtype, width));
    }
    if key == "meta" && rng.random_bool(0.7) {
        body = r#"{"split_names":["train","test"],"a":[1]}"#.chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        return npy(
            &format!("<U{}", body.len() / 4),
            rng.random_bool(0.1),
            "()",
            &body,
        );
    }
    let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let shape = match shape.len() {
        1 => format!("({},)", shape[0]),
        _ => format!("({})", shape.join(", ")),
    };
    let mut bytes = npy(dtype, rng.random_bool(0.2), &shape, &body);
    if rng.random_bool(0.05) {
        mutate::bytes(rng, &mut bytes);
    }
    bytes
}

fn entry(rng: &mut ChaCha8Rng, dtype: &str, width: usize) -> Vec<u8> {
    let bytes = match dtype {
        "<f8" => match rng.random_bool(0.03) {
            true => f64::NAN.to_le_bytes().to_vec(),
            false => mutate::float(rng).to_le_bytes().to_vec(),
        },
        "<i8" | "<u8" => rng.random_range(0..4u64).to_le_bytes().to_vec(),
        "<U4" => ['t', 'e', 's', 't']
            .iter()
            .flat_map(|c| (*c as u32).to_le_bytes())
            .collect(),
        _ => (0..width).map(|_| rng.random()).collect(),
    };
    bytes
        .into_iter()
        .take(width.max(usize::from(width > 0)))
        .collect()
}

fn npy(dtype: &str, fortran: bool, shape: &str, body: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(body);
    bytes
}
