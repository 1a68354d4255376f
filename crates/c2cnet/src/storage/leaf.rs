//! The types of fields that [`tensor`](super::tensor) stores.

use super::array::Array;
use faer::Mat;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// What can be stored as an array, or as several.
pub trait Field: Sized {
    /// Stores it.
    ///
    /// # Errors
    /// As `serializer`.
    fn store<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// The inverse of [`Field::store`].
    ///
    /// # Errors
    /// If there is no array, or one of another shape.
    fn restore<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// A value stored as one array.
pub trait Numbers: Sized {
    /// What messages call it.
    const WHAT: &'static str;

    /// Its shape, and its numbers with the last axis running fastest.
    fn to_array(&self) -> Array;

    /// The inverse of [`Numbers::to_array`]; none if the array is of another shape or kind.
    fn from_array(array: Array) -> Option<Self>;
}

impl<T: Numbers> Field for T {
    fn store<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_array().to_bytes())
    }

    fn restore<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Array;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of numbers")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Array, E> {
                Array::from_bytes(bytes).ok_or_else(|| E::custom("bytes that are not an array"))
            }
        }
        let array = deserializer.deserialize_bytes(Bytes)?;
        let (name, shape) = (array.name.clone(), array.shape.clone());
        T::from_array(array).ok_or_else(|| {
            D::Error::custom(format!(
                "array {name} has shape {shape:?}, {} was expected",
                T::WHAT
            ))
        })
    }
}

/// A field as a value of its own, where serde wants one.
struct Borrowed<'a, T>(&'a T);

impl<T: Field> Serialize for Borrowed<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.store(serializer)
    }
}

struct Owned<T>(T);

impl<'de, T: Field> Deserialize<'de> for Owned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::restore(deserializer).map(Owned)
    }
}

impl<T: Field> Field for Option<T> {
    fn store<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(Borrowed).serialize(serializer)
    }

    fn restore<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let field = Option::<Owned<T>>::deserialize(deserializer)?;
        Ok(field.map(|f| f.0))
    }
}

/// A list of arrays, entry after entry.
macro_rules! list_of_arrays {
    ($entry:ty) => {
        impl Field for Vec<$entry> {
            fn store<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.iter().map(Borrowed))
            }

            fn restore<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let list = Vec::<Owned<$entry>>::deserialize(deserializer)?;
                Ok(list.into_iter().map(|entry| entry.0).collect())
            }
        }
    };
}

list_of_arrays!(Mat<f64>);
list_of_arrays!(Option<Mat<f64>>);

/// Column-major inside, so the shape on file is transposed: columns by rows.
impl Numbers for Mat<f64> {
    const WHAT: &'static str = "a matrix";

    fn to_array(&self) -> Array {
        let mut values = Vec::with_capacity(self.nrows() * self.ncols());
        for k in 0..self.ncols() {
            values.extend(self.col(k).iter());
        }
        Array::new(vec![self.ncols(), self.nrows()], values)
    }

    fn from_array(array: Array) -> Option<Self> {
        let &[ncols, nrows] = array.shape.as_slice() else {
            return None;
        };
        let values = array.values;
        Some(Mat::from_fn(nrows, ncols, |i, j| values[j * nrows + i]))
    }
}

/// A number that `f64` holds without loss.
pub trait Element: Copy {
    /// As `f64`.
    fn widened(self) -> f64;

    /// The inverse of [`Element::widened`]; none if something would be lost.
    fn narrowed(wide: f64) -> Option<Self>;
}

impl Element for f64 {
    fn widened(self) -> f64 {
        self
    }

    fn narrowed(wide: f64) -> Option<Self> {
        Some(wide)
    }
}

impl Element for f32 {
    fn widened(self) -> f64 {
        self.into()
    }

    fn narrowed(wide: f64) -> Option<Self> {
        (f64::from(wide as f32) == wide).then_some(wide as f32)
    }
}

impl<T: Element> Numbers for Vec<T> {
    const WHAT: &'static str = "a vector";

    fn to_array(&self) -> Array {
        let values = self.iter().map(|v| v.widened()).collect();
        Array::new(vec![self.len()], values)
    }

    fn from_array(array: Array) -> Option<Self> {
        let vector = array.shape.len() == 1;
        vector.then(|| array.values.into_iter().map(T::narrowed).collect())?
    }
}

impl<const N: usize> Numbers for Vec<[f64; N]> {
    const WHAT: &'static str = "a list of points";

    fn to_array(&self) -> Array {
        Array::new(vec![self.len(), N], self.as_flattened().to_vec())
    }

    fn from_array(array: Array) -> Option<Self> {
        let fits = array.shape.len() == 2 && array.shape[1] == N;
        fits.then(|| array.values.as_chunks().0.to_vec())
    }
}

impl<const N: usize> Numbers for Vec<[usize; N]> {
    const WHAT: &'static str = "a list of indices";

    fn to_array(&self) -> Array {
        let values = self.as_flattened().iter().map(|&i| i as f64).collect();
        Array::new(vec![self.len(), N], values)
    }

    fn from_array(array: Array) -> Option<Self> {
        let whole = |v: f64| v >= 0.0 && v < 2f64.powi(53) && v.fract() == 0.0;
        let fits = array.shape.len() == 2 && array.shape[1] == N;
        let all = fits && array.values.iter().all(|&v| whole(v));
        let chunks = array.values.as_chunks().0;
        all.then(|| {
            chunks
                .iter()
                .map(|c: &[f64; N]| c.map(|v| v as usize))
                .collect()
        })
    }
}
