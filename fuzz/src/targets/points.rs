//! Files of points.

use super::{Scratch, Target, corpus};
use crate::{memory, mutate};
use c2cnet::data::read_points;
use rand::RngExt;
use rand::seq::IndexedRandom;

pub fn targets() -> Vec<Target> {
    let mut files = corpus("csv");
    files.extend(corpus("npy"));
    let scratch = Scratch::new("points");
    vec![Target {
        name: "points",
        run: Box::new(move |rng| {
            let mut bytes = files.choose(rng).expect("a file").clone();
            if rng.random_bool(0.9) {
                mutate::bytes(rng, &mut bytes);
            }
            memory::allow(8 * bytes.len());
            match read_points(scratch.put(&bytes)) {
                Ok(points) => {
                    assert!(points.coords().iter().all(|c| c.is_finite()));
                    true
                }
                Err(_) => false,
            }
        }),
    }]
}
