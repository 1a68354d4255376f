//! Experiment files.

use super::{Scratch, Target, corpus};
use crate::mutate;
use c2cnet_experiments::reproduce::experiment::Column;
use c2cnet_experiments::reproduce::library::{Choice, Library};
use rand::RngExt;
use rand::seq::IndexedRandom;

pub fn targets() -> Vec<Target> {
    let files = corpus("toml");
    let scratch = Scratch::new("e.toml");
    let library = Library {
        folder: scratch.path.parent().map(Into::into),
    };
    vec![Target {
        name: "experiments",
        run: Box::new(move |rng| {
            let mut bytes = files.choose(rng).expect("a file").clone();
            if rng.random_bool(0.3) {
                mutate::bytes(rng, &mut bytes);
            } else if let Some(changed) = parsed(&bytes).and_then(|mut table| {
                mutate::json(rng, &mut table);
                toml::to_string(&table).ok()
            }) {
                bytes = changed.into_bytes();
            }
            scratch.put(&bytes);
            let choice = Choice {
                quick: rng.random(),
                steps: None,
                columns: &[Column::Plain, Column::Scaled, Column::Fast, Column::Auto],
            };
            let Ok((experiment, _)) = library.load("e", &choice) else {
                return false;
            };
            for run in &experiment.runs {
                assert!(
                    !run.id.contains(['/', '\\']) && !run.id.starts_with('.'),
                    "{}",
                    run.id
                );
            }
            true
        }),
    }]
}

fn parsed(bytes: &[u8]) -> Option<serde_json::Value> {
    toml::from_str(std::str::from_utf8(bytes).ok()?).ok()
}
