//! Model files: damaged bytes, and whole files with strange parts, whose digest is right.

use super::{Scratch, Target, corpus};
use crate::{memory, mutate};
use c2cnet::C2CNet;
use c2cnet::data::{Dataset, Points};
use c2cnet::storage::Archive;
use faer::Mat;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use std::path::Path;

pub fn targets() -> Vec<Target> {
    let files = corpus("c2c");
    let archives: Vec<Archive> = files
        .iter()
        .map(|bytes| Archive::from_bytes(bytes, Path::new("corpus")).expect("a model"))
        .collect();
    let data = data_sets();
    vec![
        Target {
            name: "model-bytes",
            run: Box::new(move |rng| {
                let whole = files.choose(rng).expect("a file");
                let mut bytes = whole.clone();
                mutate::bytes(rng, &mut bytes);
                memory::allow(bytes.len());
                let read = C2CNet::from_bytes(&bytes).is_ok();
                assert_eq!(
                    read,
                    bytes == *whole,
                    "a damaged model was read, or a whole one was not"
                );
                read
            }),
        },
        Target {
            name: "model-parts",
            run: Box::new(move |rng| {
                let mut archive = archives.choose(rng).expect("a file").clone();
                let mut document = archive.document.take();
                if rng.random_bool(0.8) {
                    mutate::json(rng, &mut document);
                }
                archive.document = document;
                if rng.random_bool(0.4) {
                    change_array(rng, &mut archive);
                }
                let Ok(bytes) = archive.to_bytes() else {
                    return false;
                };
                memory::allow(bytes.len());
                let Ok(model) = C2CNet::from_bytes(&bytes) else {
                    return false;
                };
                use_model(&model, &data);
                true
            }),
        },
    ]
}

fn data_sets() -> Vec<Dataset> {
    let scratch = Scratch::new("data.npz");
    let read = |bytes: Vec<u8>| Dataset::read_npz(scratch.put(&bytes)).expect("data");
    corpus("npz").into_iter().map(read).collect()
}

fn change_array(rng: &mut ChaCha8Rng, archive: &mut Archive) {
    let names: Vec<String> = archive.shapes().map(|(name, _)| name.to_string()).collect();
    let Some(name) = names.choose(rng) else {
        return;
    };
    let shape = archive.array(name).expect("its name").shape.clone();
    let (rows, columns) = (rng.random_range(0..6), rng.random_range(0..6));
    match rng.random_range(0..4) {
        0 => archive.remove(name),
        1 => archive.put(
            name.as_str(),
            &Mat::from_fn(rows, columns, |_, _| mutate::float(rng)),
        ),
        2 => {
            let values: Vec<f64> = (0..rows).map(|_| mutate::float(rng)).collect();
            archive.put(name.as_str(), &values);
        }
        // The right shape and the wrong numbers.
        _ => match shape[..] {
            [n] => {
                let values: Vec<f64> = (0..n).map(|_| mutate::float(rng)).collect();
                archive.put(name.as_str(), &values);
            }
            [columns, rows] => {
                archive.put(
                    name.as_str(),
                    &Mat::from_fn(rows, columns, |_, _| mutate::float(rng)),
                );
            }
            _ => {}
        },
    }
}

/// Whatever can be done with a model that was accepted.
fn use_model(model: &C2CNet, data: &[Dataset]) {
    let _ = serde_json::to_string(&model.summary());
    for data in data {
        let _ = model.evaluate(data);
        let Ok(coordinates) = model.predict_coordinates(&data.inputs) else {
            continue;
        };
        for output in model.summary().outputs {
            for dim in 1..=3 {
                let middle = Points::new(dim, vec![0.5; 3 * dim]).expect("points");
                let _ = model.decode(coordinates.as_ref(), output.name, &middle);
            }
        }
    }
    let _ = model.to_bytes();
}
