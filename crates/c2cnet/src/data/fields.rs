//! The inputs or the outputs of a data set, by name.

use super::Field;
use crate::{Error, Result};
use std::ops::{Deref, DerefMut};

/// Fields by name, in order; a single one may have none (`""`).
///
/// ```
/// # use c2cnet::data::{Field, Fields};
/// # fn example(force: Field, wall: Field) {
/// let single = Fields::from(force.clone());
/// let two = Fields::from([("force", force), ("wall", wall)]);
/// assert!(single.only().is_ok() && two.get("wall").is_some());
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(String, Field)>);

impl Fields {
    /// The field called `name`.
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.iter().find(|(n, _)| n == name).map(|(_, field)| field)
    }

    /// The single field.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn only(&self) -> Result<&Field> {
        match &self.0[..] {
            [(_, field)] => Ok(field),
            fields => {
                let names: Vec<&String> = fields.iter().map(|(name, _)| name).collect();
                Err(Error::Data(format!(
                    "one field is needed, but there are {}: {names:?}",
                    fields.len()
                )))
            }
        }
    }

    /// Adds a field after the others.
    pub fn push(&mut self, name: impl Into<String>, field: Field) {
        self.0.push((name.into(), field));
    }
}

impl From<Field> for Fields {
    fn from(field: Field) -> Self {
        Fields(vec![(String::new(), field)])
    }
}

impl<S: Into<String>, const N: usize> From<[(S, Field); N]> for Fields {
    fn from(fields: [(S, Field); N]) -> Self {
        fields.into_iter().collect()
    }
}

impl<S: Into<String>> FromIterator<(S, Field)> for Fields {
    fn from_iter<I: IntoIterator<Item = (S, Field)>>(fields: I) -> Self {
        Fields(fields.into_iter().map(|(n, f)| (n.into(), f)).collect())
    }
}

impl Deref for Fields {
    type Target = [(String, Field)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Fields {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a> IntoIterator for &'a Fields {
    type Item = &'a (String, Field);
    type IntoIter = std::slice::Iter<'a, (String, Field)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl IntoIterator for Fields {
    type Item = (String, Field);
    type IntoIter = std::vec::IntoIter<(String, Field)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
