//! Arrays of numbers, and their bytes.

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
    pub(crate) fn new(shape: Vec<usize>, values: Vec<f64>) -> Self {
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
        // An empty array needs no memory, but walking along its other axis needs time.
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
