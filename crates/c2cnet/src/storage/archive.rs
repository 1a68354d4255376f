//! Named arrays and one JSON document, made from whatever serde can store.

use super::FORMAT_VERSION;
use super::array::Array;
use super::leaf::Numbers;
use super::record::said;
use crate::{Error, Result};
use ciborium::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value as Json, json};
use std::collections::BTreeMap;

/// Marks in the document: an array by its name, a number that JSON does not have, and an object of one field
/// whose name looks like a mark.
const ARRAY: &str = "$array";
const FLOAT: &str = "$float";
const OBJECT: &str = "$object";

/// Named arrays and one JSON document.
#[derive(Debug, Default, Clone)]
pub struct Archive {
    pub(super) arrays: BTreeMap<String, Array>,
    /// What is not an array.
    pub document: Json,
}

impl Archive {
    /// Takes a part apart. An array is called by its place: `outputs.0.decoder.transforms.0`.
    ///
    /// # Errors
    /// If the part is no struct, or its `Serialize` refuses.
    pub fn of<T: Serialize + ?Sized>(part: &T) -> Result<Self> {
        let value = Value::serialized(&part).map_err(|e| Error::Data(said(e)))?;
        let mut archive = Archive::default();
        let mut document = archive.take(value, "")?;
        let Some(fields) = document.as_object_mut() else {
            return Err(Error::Data("only a struct can be stored in a file".into()));
        };
        fields.insert("format".into(), json!(FORMAT_VERSION));
        fields.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        archive.document = document;
        Ok(archive)
    }

    /// The inverse of [`Archive::of`]; `what` is what messages call it.
    ///
    /// # Errors
    /// If an array or a field is missing, is of another kind, or a part's own checks refuse.
    pub fn restore<T: DeserializeOwned>(mut self, what: &str) -> Result<T> {
        let mut document = std::mem::take(&mut self.document);
        if let Some(fields) = document.as_object_mut() {
            // The file's, not the part's.
            fields.retain(|key, _| key != "format" && key != "version");
        }
        let value = self.give(document)?;
        let unreadable = |e| Error::Data(format!("the {what} cannot be read: {}", said(e)));
        value.deserialized().map_err(unreadable)
    }

    /// Moves the arrays of `value` here, and gives the rest as JSON.
    fn take(&mut self, value: Value, path: &str) -> Result<Json> {
        let below = |key: &str| match path {
            "" => key.to_string(),
            _ => format!("{path}.{key}"),
        };
        Ok(match value {
            Value::Null => Json::Null,
            Value::Bool(v) => v.into(),
            Value::Text(text) => text.into(),
            Value::Integer(n) => match (u64::try_from(n), i64::try_from(n)) {
                (Ok(n), _) => n.into(),
                (_, Ok(n)) => n.into(),
                _ => return Err(Error::Data(format!("{path} has more than 64 bits"))),
            },
            Value::Float(v) => match Number::from_f64(v) {
                Some(number) => Json::Number(number),
                None => json!({ FLOAT: v.to_string() }),
            },
            Value::Array(list) => {
                let entries = list.into_iter().enumerate();
                Json::Array(
                    entries
                        .map(|(i, entry)| self.take(entry, &below(&i.to_string())))
                        .collect::<Result<_>>()?,
                )
            }
            Value::Map(fields) => {
                let mut object = serde_json::Map::new();
                for (key, value) in fields {
                    let Value::Text(key) = key else {
                        return Err(Error::Data(format!("a key of {path} is not text")));
                    };
                    let value = self.take(value, &below(&key))?;
                    object.insert(key, value);
                }
                match mark(&object) {
                    Some(_) => json!({ OBJECT: object }),
                    None => Json::Object(object),
                }
            }
            Value::Bytes(bytes) => {
                let array = Array::from_bytes(&bytes).ok_or_else(|| {
                    Error::Data(format!("{path} holds bytes that are not an array"))
                })?;
                self.arrays.insert(path.to_string(), array);
                json!({ ARRAY: path })
            }
            _ => {
                return Err(Error::Data(format!(
                    "{path} has a type that cannot be stored"
                )));
            }
        })
    }

    /// The inverse of [`Archive::take`]; arrays are moved out.
    fn give(&mut self, json: Json) -> Result<Value> {
        Ok(match json {
            Json::Null => Value::Null,
            Json::Bool(v) => v.into(),
            Json::String(text) => text.into(),
            Json::Number(n) => match (n.as_u64(), n.as_i64(), n.as_f64()) {
                (Some(n), _, _) => n.into(),
                (_, Some(n), _) => n.into(),
                (_, _, n) => n.unwrap_or(f64::NAN).into(),
            },
            Json::Array(list) => {
                let values = list.into_iter().map(|entry| self.give(entry));
                Value::Array(values.collect::<Result<_>>()?)
            }
            Json::Object(object) => match mark(&object) {
                Some((ARRAY, Json::String(name))) => {
                    let found = self.arrays.remove(name);
                    let mut array = found.ok_or_else(|| missing(name))?;
                    array.name = name.clone();
                    Value::Bytes(array.to_bytes())
                }
                Some((FLOAT, Json::String(text))) => match text.parse::<f64>() {
                    Ok(v) => v.into(),
                    Err(_) => return Err(Error::Data(format!("{text:?} is not a number"))),
                },
                Some((OBJECT, Json::Object(fields))) => self.fields(fields.clone())?,
                Some((mark, _)) => {
                    return Err(Error::Data(format!("{mark:?} is an unknown marker")));
                }
                None => self.fields(object)?,
            },
        })
    }

    fn fields(&mut self, object: serde_json::Map<String, Json>) -> Result<Value> {
        let fields = object.into_iter();
        let fields = fields.map(|(key, value)| Ok((key.into(), self.give(value)?)));
        Ok(Value::Map(fields.collect::<Result<_>>()?))
    }

    /// Puts an array in the place of the one called `name`.
    #[doc(hidden)] // for tests of damaged files
    pub fn put(&mut self, name: impl Into<String>, numbers: &impl Numbers) {
        self.arrays.insert(name.into(), numbers.to_array());
    }

    /// Takes the array called `name` out.
    #[doc(hidden)] // for tests of damaged files
    pub fn remove(&mut self, name: &str) {
        self.arrays.remove(name);
    }

    /// Names and shapes of the arrays.
    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        let arrays = self.arrays.iter();
        arrays.map(|(name, a)| (name.as_str(), a.shape.as_slice()))
    }

    /// The array called `name`.
    ///
    /// # Errors
    /// If it is missing.
    pub fn array(&self, name: &str) -> Result<&Array> {
        self.arrays.get(name).ok_or_else(|| missing(name))
    }
}

/// The one field of an object, if its name begins as marks do.
fn mark(object: &serde_json::Map<String, Json>) -> Option<(&str, &Json)> {
    let (key, value) = object.iter().next()?;
    (object.len() == 1 && key.starts_with('$')).then_some((key.as_str(), value))
}

fn missing(name: &str) -> Error {
    Error::Data(format!("there is no array {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Part {
        #[serde(with = "crate::storage::tensor")]
        weights: Mat<f64>,
        loss: f64,
        seed: u64,
        info: Json,
    }

    #[test]
    fn everything_comes_back() {
        let part = Part {
            weights: Mat::from_fn(2, 3, |i, j| (i * 3 + j) as f64),
            loss: f64::INFINITY,
            seed: u64::MAX,
            info: json!({"a": [1, -1, 1.0, null, true], "b": {"$array": "weights"}, "c": {"$x": {}}}),
        };
        let archive = Archive::of(&part).unwrap();
        let shapes: Vec<_> = archive.shapes().collect();
        assert_eq!(shapes, [("weights", &[3, 2][..])]);
        assert_eq!(archive.document["weights"], json!({"$array": "weights"}));
        assert_eq!(archive.restore::<Part>("part").unwrap(), part);
    }

    #[test]
    fn what_is_missing_is_named() {
        let part = Part {
            weights: Mat::zeros(1, 1),
            loss: 0.0,
            seed: 0,
            info: Json::Null,
        };
        let of = |change: fn(&mut Archive)| {
            let mut archive = Archive::of(&part).unwrap();
            change(&mut archive);
            archive.restore::<Part>("part").unwrap_err().to_string()
        };
        for (message, words) in [
            (of(|a| a.remove("weights")), "no array weights"),
            (
                of(|a| a.put("weights", &vec![1.0])),
                "array weights has shape [1], a matrix was expected",
            ),
            (
                of(|a| a.document["weights"] = json!([1.0])),
                "the part cannot be read",
            ),
            (
                of(|a| a.document["loss"] = json!({"$float": "much"})),
                "\"much\" is not a number",
            ),
            (of(|a| a.document["loss"] = json!({"$y": 1})), "\"$y\""),
            (
                of(|a| drop(a.document.as_object_mut().unwrap().remove("seed"))),
                "missing field `seed`",
            ),
        ] {
            assert!(message.contains(words), "{message}");
        }
    }
}
