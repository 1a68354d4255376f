//! Settings of fits, and plans.

use super::{Target, corpus};
use crate::mutate;
use c2cnet::{FitConfig, Plan};
use rand::seq::IndexedRandom;
use serde_json::Value;

pub fn targets() -> Vec<Target> {
    let parse = |bytes: Vec<u8>| serde_json::from_slice(&bytes).expect("JSON");
    let documents: Vec<Value> = corpus("json").into_iter().map(parse).collect();
    vec![Target {
        name: "settings",
        run: Box::new(move |rng| {
            let mut document = documents.choose(rng).expect("a file").clone();
            mutate::json(rng, &mut document);
            let plan = serde_json::from_value::<Plan>(document.clone()).is_ok();
            let config = serde_json::from_value::<FitConfig>(document);
            plan || config.is_ok_and(|config| config.check().is_ok())
        }),
    }]
}
