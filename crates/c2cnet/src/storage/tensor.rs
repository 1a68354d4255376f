//! Matrices, vectors and lists of points as leaves of what serde stores.
//!
//! `#[serde(with = "c2cnet::storage::tensor")]` on a field makes it an array of the file, named by the
//! field's place, instead of a list of numbers in the document. An `Option` of
//! such a field works too, and a `Vec` of matrices.

use super::leaf::Field;
use serde::{Deserializer, Serializer};

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

#[cfg(test)]
mod tests {
    use crate::data::Points;
    use crate::storage::{Archive, Array};
    use faer::Mat;
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

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
