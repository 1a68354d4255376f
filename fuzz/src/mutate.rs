//! Small changes that hurt.

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use serde_json::{Value, json};

/// Changes some bytes, or cuts, doubles and inserts some.
pub fn bytes(rng: &mut impl Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.random_range(1..=6) {
        if bytes.is_empty() {
            bytes.push(rng.random());
        }
        let at = rng.random_range(0..bytes.len());
        let end = (at + rng.random_range(1..=16)).min(bytes.len());
        match rng.random_range(0..7) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes[at] = rng.random(),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            5 => {
                let number = number(rng).to_le_bytes();
                let width = [1, 2, 4, 8][rng.random_range(0..4)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number[..width]);
            }
            _ => {
                let part: Vec<u8> = (0..rng.random_range(1..9)).map(|_| rng.random()).collect();
                bytes.splice(at..at, part);
            }
        }
    }
}

/// Numbers at which sums and products go wrong.
pub fn number(rng: &mut impl Rng) -> u64 {
    let known = [
        0,
        1,
        2,
        3,
        7,
        255,
        65535,
        1 << 20,
        1_000_000_000,
        1 << 32,
        1 << 53,
        1 << 62,
        u64::MAX,
    ];
    *known.choose(rng).expect("some numbers")
}

/// Floats at which more goes wrong.
pub fn float(rng: &mut impl Rng) -> f64 {
    let known = [
        0.0, -0.0, 1.0, -1.0, 0.5, 1e-3, 1e3, 1e-165, 1e160, 1e308, 5e-324, -1e300, 1e-308, 3.5,
    ];
    match rng.random_bool(0.5) {
        true => *known.choose(rng).expect("some numbers"),
        false => rng.random_range(-2.0..2.0),
    }
}

/// Changes some values of a JSON document, or takes them out.
pub fn json(rng: &mut impl Rng, document: &mut Value) {
    for _ in 0..rng.random_range(1..=3) {
        let at = pick(rng, document);
        *at = value(rng, at);
    }
}

/// Some value of the document, deep or not.
fn pick<'a>(rng: &mut impl Rng, value: &'a mut Value) -> &'a mut Value {
    let size = match value {
        Value::Object(fields) => fields.len(),
        Value::Array(list) => list.len(),
        _ => 0,
    };
    if size == 0 || rng.random_bool(0.12) {
        return value;
    }
    let k = rng.random_range(0..size);
    let inner = match value {
        Value::Object(fields) => fields.values_mut().nth(k),
        Value::Array(list) => list.get_mut(k),
        _ => None,
    };
    pick(rng, inner.expect("as many as were counted"))
}

fn value(rng: &mut impl Rng, old: &Value) -> Value {
    match (rng.random_range(0..10), old) {
        (0..4, Value::Number(_)) => json!(number(rng)),
        (4..7, Value::Number(_)) => json!(float(rng)),
        (0..3, Value::Array(list)) if !list.is_empty() => {
            let mut list = list.clone();
            match rng.random_range(0..3) {
                0 => drop(list.pop()),
                1 => list.push(list[0].clone()),
                _ => list.resize(list.len() + 50, list[0].clone()),
            }
            Value::Array(list)
        }
        (0..4, Value::Object(fields)) => {
            let keys: Vec<String> = fields.keys().cloned().collect();
            let mut fields = fields.clone();
            match keys.choose(rng) {
                Some(key) if rng.random_bool(0.7) => drop(fields.remove(key)),
                Some(key) => {
                    let other = fields[key].clone();
                    fields.insert(format!("{key}x"), other);
                }
                None => {}
            }
            Value::Object(fields)
        }
        (0, _) => Value::Null,
        (1, _) => json!(true),
        (2, _) => json!("text"),
        (3, _) => json!([]),
        (4, _) => json!({}),
        (5, _) => json!([[0.0, 1.0], [1.0, float(rng)]]),
        (6, _) => json!(float(rng)),
        (7, _) => json!(-1),
        _ => json!(number(rng)),
    }
}
