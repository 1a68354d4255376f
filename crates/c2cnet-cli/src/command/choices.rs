//! The choices of a fit as JSON.

use c2cnet::report::Choice;
use serde_json::{Value, json};

/// Each choice with its sentence, under `text`.
pub fn objects(choices: &[Choice]) -> Vec<Value> {
    let object = |choice: &Choice| {
        let mut object = json!(choice);
        object["text"] = choice.to_string().into();
        object
    };
    choices.iter().map(object).collect()
}
