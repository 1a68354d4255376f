//! Matrices, vectors and lists of points as leaves of what serde stores.
//!
//! `#[serde(with = "c2cnet::storage::tensor")]` on a field makes it an array of the file, named by the
//! field's place, instead of a list of numbers in the document. An `Option` of
//! such a field works too, and a `Vec` of matrices.

use faer::Mat;
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Stores a field as an array.
///
/// # Errors
/// As `serializer`.
pub fn serialize<T: Field, S: Serializer>(field: &T, serializer: S) -> Result<S::Ok, S::Error> {
    field.store(serializer)
}

/// The inverse of [`serialize`].
///
/// # Errors
/// If there is no array, or one of another shape.
pub fn deserialize<'de, T: Field, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::restore(deserializer)
}

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

/// What is one array of numbers.
pub trait Numbers: Sized {
    /// What messages call it.
    const WHAT: &'static str;

    /// Its shape, and its numbers with the last axis running fastest.
    fn to_array(&self) -> Array;

    /// The inverse of [`Numbers::to_array`]; none if the array is of another shape or kind.
    fn from_array(array: Array) -> Option<Self>;
}

/// An array of numbers with its name in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Array {
    pub(super) name: String,
    /// Its extents.
    pub shape: Vec<usize>,
    /// Its numbers, the last axis running fastest.
    pub values: Vec<f64>,
}

impl Array {
    /// An array that has no name yet.
    pub fn new(shape: Vec<usize>, values: Vec<f64>) -> Self {
        Array {
            name: String::new(),
            shape,
            values,
        }
    }

    /// In serde's data model a leaf is bytes: how long the name is, the name, how many axes, their
    /// extents, the numbers; all integers with 8 bytes, the lowest first.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            Vec::with_capacity(8 * (2 + self.shape.len() + self.values.len()) + self.name.len());
        let count = |bytes: &mut Vec<u8>, n: usize| bytes.extend((n as u64).to_le_bytes());
        count(&mut bytes, self.name.len());
        bytes.extend(self.name.as_bytes());
        count(&mut bytes, self.shape.len());
        for &extent in &self.shape {
            count(&mut bytes, extent);
        }
        bytes.extend(self.values.iter().flat_map(|v| v.to_le_bytes()));
        bytes
    }

    /// The inverse of [`Array::to_bytes`].
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        fn count(bytes: &mut &[u8]) -> Option<usize> {
            let (head, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            usize::try_from(u64::from_le_bytes(*head)).ok()
        }
        let length = count(&mut bytes)?;
        let (name, mut bytes) = bytes.split_at_checked(length)?;
        let axes = count(&mut bytes)?;
        let shape = (0..axes)
            .map(|_| count(&mut bytes))
            .collect::<Option<Vec<usize>>>()?;
        let size = shape.iter().try_fold(8usize, |a, &b| a.checked_mul(b))?;
        // An empty array needs no memory, but whoever walks along its other axis needs time.
        if bytes.len() != size || shape.iter().any(|&extent| extent > size.max(1 << 24)) {
            return None;
        }
        let numbers = bytes.as_chunks().0;
        Some(Array {
            name: String::from_utf8(name.to_vec()).ok()?,
            shape,
            values: numbers.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        })
    }
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
                Array::from_bytes(bytes).ok_or_else(|| E::custom("an array that is no array"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::storage::Archive;
    use proptest::prelude::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Parts {
        #[serde(with = "super")]
        matrix: Mat<f64>,
        #[serde(with = "super")]
        vector: Vec<f64>,
        #[serde(with = "super")]
        single: Vec<f32>,
        #[serde(with = "super")]
        triangles: Vec<[usize; 3]>,
        #[serde(with = "super")]
        several: Vec<Option<Mat<f64>>>,
        points: Option<Points>,
        number: f64,
    }

    fn finite() -> impl Strategy<Value = f64> {
        any::<f64>().prop_filter("finite", |v| v.is_finite())
    }

    fn matrix() -> impl Strategy<Value = Mat<f64>> {
        (0usize..5, 0usize..5).prop_flat_map(|(rows, cols)| {
            prop::collection::vec(finite(), rows * cols)
                .prop_map(move |v| Mat::from_fn(rows, cols, |i, j| v[j * rows + i]))
        })
    }

    fn parts() -> impl Strategy<Value = Parts> {
        (
            (matrix(), prop::collection::vec(finite(), 0..6)),
            prop::collection::vec(any::<f32>().prop_filter("finite", |v| v.is_finite()), 0..6),
            prop::collection::vec(any::<[u32; 3]>().prop_map(|t| t.map(|i| i as usize)), 0..4),
            prop::collection::vec(prop::option::of(matrix()), 0..3),
            prop::option::of(prop::collection::vec(finite(), 0..4)),
            any::<f64>().prop_filter("a number equals itself", |v| !v.is_nan()),
        )
            .prop_map(
                |((matrix, vector), single, triangles, several, points, number)| Parts {
                    matrix,
                    vector,
                    single,
                    triangles,
                    several,
                    points: points.map(|c| Points::new(1, c).unwrap()),
                    number,
                },
            )
    }

    proptest! {
        #[test]
        fn parts_are_the_same_bits_after_a_file(parts in parts()) {
            let bytes = Archive::of(&parts).unwrap().to_bytes().unwrap();
            let archive = Archive::from_bytes(&bytes, "parts".as_ref()).unwrap();
            let again: Parts = archive.restore("part").unwrap();
            prop_assert_eq!(&again, &parts);
            prop_assert_eq!(again.number.to_bits(), parts.number.to_bits());
            prop_assert_eq!(Archive::of(&again).unwrap().to_bytes().unwrap(), bytes);
        }

        #[test]
        fn bytes_that_are_no_array_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(array) = Array::from_bytes(&bytes) {
                prop_assert_eq!(array.to_bytes(), bytes);
            }
        }
    }
}
