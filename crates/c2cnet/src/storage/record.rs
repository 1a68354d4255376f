//! Parts whose type is not known in advance: values tagged by the name of their type.

use crate::{Error, Result};
use ciborium::Value;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What serde makes of a part, before it is written anywhere.
#[derive(Debug)]
pub struct Record(Value);

/// What can be stored: everything that is `Serialize`, also behind a trait object.
pub trait Storable {
    /// What serde makes of it.
    ///
    /// # Errors
    /// If its `Serialize` refuses.
    #[doc(hidden)]
    fn record(&self) -> Result<Record>;
}

impl<T: Serialize> Storable for T {
    fn record(&self) -> Result<Record> {
        Value::serialized(self)
            .map(Record)
            .map_err(|e| Error::Data(said(e)))
    }
}

impl Record {
    /// The part again.
    ///
    /// # Errors
    /// If a field is missing or of another type, or the part's own checks refuse.
    pub(crate) fn restore<T: DeserializeOwned>(self) -> Result<T> {
        self.0.deserialized().map_err(|e| Error::Data(said(e)))
    }
}

/// The words of an error.
pub(super) fn said(error: ciborium::value::Error) -> String {
    let ciborium::value::Error::Custom(words) = error;
    words
}

/// Serialises `part` with the field `tag` = `name` before its own.
///
/// # Errors
/// If the part has no fields, or one called `tag`.
pub(crate) fn serialize_tagged<S: Serializer>(
    part: &(impl Storable + ?Sized),
    tag: &str,
    name: &str,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let Value::Map(fields) = part.record().map_err(S::Error::custom)?.0 else {
        let words = format!("{name}: only a struct with named fields can be stored");
        return Err(S::Error::custom(words));
    };
    if fields.iter().any(|(key, _)| key.as_text() == Some(tag)) {
        let words = format!("{name}: the name `{tag}` is taken; call the field something else");
        return Err(S::Error::custom(words));
    }
    let mut map = serializer.serialize_map(Some(1 + fields.len()))?;
    map.serialize_entry(tag, name)?;
    for (key, value) in &fields {
        map.serialize_entry(&Plain(key), &Plain(value))?;
    }
    map.end()
}

/// The inverse of [`serialize_tagged`]: the name, and the part without it.
///
/// # Errors
/// If there is no field `tag`.
pub(crate) fn split_tag<'de, D: Deserializer<'de>>(
    tag: &'static str,
    deserializer: D,
) -> std::result::Result<(String, Record), D::Error> {
    let Value::Map(mut fields) = Value::deserialize(deserializer)? else {
        return Err(D::Error::missing_field(tag));
    };
    let place = fields
        .iter()
        .position(|(key, _)| key.as_text() == Some(tag));
    let place = place.ok_or_else(|| D::Error::missing_field(tag))?;
    match fields.remove(place).1 {
        Value::Text(name) => Ok((name, Record(Value::Map(fields)))),
        _ => Err(D::Error::custom(format!("`{tag}` must be a name"))),
    }
}

/// A value as it is: `Value` itself would shorten numbers where that loses nothing in CBOR but does in text.
struct Plain<'a>(&'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Float(v) => serializer.serialize_f64(*v),
            Value::Array(list) => {
                let mut to = serializer.serialize_seq(Some(list.len()))?;
                for value in list {
                    to.serialize_element(&Plain(value))?;
                }
                to.end()
            }
            Value::Map(fields) => {
                let mut to = serializer.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    to.serialize_entry(&Plain(key), &Plain(value))?;
                }
                to.end()
            }
            Value::Null => serializer.serialize_none(),
            other => other.serialize(serializer),
        }
    }
}

/// Derived serde for a part with invariants: the type derives both with `#[serde(remote = "Self")]` and has
/// `fn settle(&mut self) -> Result<()>`, called after reading, which refuses what cannot be and brings back
/// what is not stored.
macro_rules! restore_settled {
    ($part:ty) => {
        impl serde::Serialize for $part {
            fn serialize<S: serde::Serializer>(
                &self,
                to: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                <$part>::serialize(self, to)
            }
        }

        impl<'de> serde::Deserialize<'de> for $part {
            fn deserialize<D: serde::Deserializer<'de>>(
                from: D,
            ) -> std::result::Result<Self, D::Error> {
                let mut part = <$part>::deserialize(from)?;
                part.settle().map_err(serde::de::Error::custom)?;
                Ok(part)
            }
        }
    };
}
pub(crate) use restore_settled;
