//! Bases for fields with several components (the paper's Section 2.4).

use super::{Basis, Design, load, single_value};
use crate::data::Points;
use crate::model_file::Archive;
use crate::{Error, Result};
use std::sync::Arc;

/// Functions with one or several components that share a coefficient,
/// $\boldsymbol\psi_j = (\psi_j^1, \dots, \psi_j^c)$.
#[derive(Debug, Clone)]
pub struct VectorBasis {
    components: Vec<Arc<dyn Basis>>,
}

impl VectorBasis {
    /// Ties the `j`-th functions of all `components` together; one component is a scalar basis.
    ///
    /// # Errors
    /// If there is no component, or they differ in the number of functions or the dimension.
    pub fn new(components: Vec<Arc<dyn Basis>>) -> Result<Self> {
        let Some(first) = components.first() else {
            return Err(Error::Config("a vector basis needs a component".into()));
        };
        for (c, basis) in components.iter().enumerate() {
            if basis.len() != first.len() || basis.domain().dim() != first.domain().dim() {
                return Err(Error::Config(format!(
                    "component {c} of a joint basis has {} functions in {} dimensions, component 0 has {} in {}; \
                     a joint basis needs equal counts",
                    basis.len(),
                    basis.domain().dim(),
                    first.len(),
                    first.domain().dim()
                )));
            }
        }
        Ok(VectorBasis { components })
    }

    /// The scalar bases of the components.
    pub fn components(&self) -> &[Arc<dyn Basis>] {
        &self.components
    }

    /// How many functions.
    pub fn len(&self) -> usize {
        self.components[0].len()
    }

    /// Whether there is no function.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The design matrix: all points of the first component, then all of the next.
    ///
    /// # Errors
    /// As [`Basis::evaluate`].
    pub fn evaluate(&self, points: &Points) -> Result<Design> {
        let parts = self
            .components
            .iter()
            .map(|b| b.evaluate(points))
            .collect::<Result<Vec<_>>>()?;
        Ok(Design::stack(parts))
    }

    /// Whether both are the same scalar basis object, so that one factorisation serves both.
    pub fn shares_with(&self, other: &VectorBasis) -> bool {
        self.components.len() == 1
            && other.components.len() == 1
            && Arc::ptr_eq(&self.components[0], &other.components[0])
    }
}

/// The basis of a whole field: parts that cover its components in order.
///
/// One part for each component encodes them separately and concatenates; a single part with all
/// components encodes them jointly.
#[derive(Debug, Clone)]
pub struct FieldBasis {
    parts: Vec<VectorBasis>,
}

impl FieldBasis {
    /// Each component with a scalar basis of its own, coefficients concatenated.
    ///
    /// # Errors
    /// If there is no component.
    pub fn separate(components: Vec<Arc<dyn Basis>>) -> Result<Self> {
        if components.is_empty() {
            return Err(Error::Config("a field basis needs a component".into()));
        }
        let parts = components
            .into_iter()
            .map(|b| VectorBasis::new(vec![b]))
            .collect::<Result<_>>()?;
        Ok(FieldBasis { parts })
    }

    /// All components with shared coefficients.
    ///
    /// # Errors
    /// As [`VectorBasis::new`].
    pub fn joint(components: Vec<Arc<dyn Basis>>) -> Result<Self> {
        Ok(FieldBasis {
            parts: vec![VectorBasis::new(components)?],
        })
    }

    /// The parts in order.
    pub fn parts(&self) -> &[VectorBasis] {
        &self.parts
    }

    /// How many coefficients.
    pub fn len(&self) -> usize {
        self.parts.iter().map(VectorBasis::len).sum()
    }

    /// Whether there is no coefficient.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many components.
    pub fn components(&self) -> usize {
        self.parts.iter().map(|p| p.components.len()).sum()
    }

    /// Whether the field is a vector without points: every component has a single value.
    pub fn is_vector(&self) -> bool {
        let mut components = self.parts.iter().flat_map(|part| &part.components);
        components.all(|basis| basis.family() == single_value::FAMILY)
    }

    /// The part and the range of components it covers.
    pub fn ranges(&self) -> impl Iterator<Item = (&VectorBasis, std::ops::Range<usize>)> {
        self.parts.iter().scan(0, |start, part| {
            let range = *start..*start + part.components.len();
            *start = range.end;
            Some((part, range))
        })
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        let first = self.parts[0].components[0].describe();
        match (self.parts.len(), self.components()) {
            (1, 1) => first,
            (1, c) => format!("{first}; {c} components jointly"),
            (_, c) => format!("{first}; {c} components separately"),
        }
    }

    /// Saves the bases; a basis used for several components is stored once.
    pub fn save(&self, archive: &mut Archive, name: &str) -> serde_json::Value {
        let mut stored: Vec<&Arc<dyn Basis>> = Vec::new();
        let mut records = Vec::new();
        let parts: Vec<Vec<usize>> = self
            .parts
            .iter()
            .map(|part| {
                part.components
                    .iter()
                    .map(|basis| {
                        let known = stored.iter().position(|s| Arc::ptr_eq(s, basis));
                        known.unwrap_or_else(|| {
                            let index = stored.len();
                            records.push(basis.save(archive, &format!("{name}.{index}")));
                            stored.push(basis);
                            index
                        })
                    })
                    .collect()
            })
            .collect();
        serde_json::json!({ "bases": records, "parts": parts })
    }

    /// The inverse of [`FieldBasis::save`].
    ///
    /// # Errors
    /// If the record is damaged.
    pub fn load(record: &serde_json::Value, archive: &Archive, name: &str) -> Result<Self> {
        let damaged = || Error::Data("the model's record of a field basis is damaged".into());
        let bases = record["bases"]
            .as_array()
            .ok_or_else(damaged)?
            .iter()
            .enumerate()
            .map(|(i, r)| load(r, archive, &format!("{name}.{i}")))
            .collect::<Result<Vec<_>>>()?;
        let parts: Vec<Vec<usize>> =
            serde_json::from_value(record["parts"].clone()).map_err(|_| damaged())?;
        let parts = parts
            .iter()
            .map(|indices| {
                let components = indices
                    .iter()
                    .map(|&i| bases.get(i).cloned().ok_or_else(damaged))
                    .collect::<Result<_>>()?;
                VectorBasis::new(components)
            })
            .collect::<Result<Vec<_>>>()?;
        if parts.is_empty() {
            return Err(damaged());
        }
        Ok(FieldBasis { parts })
    }
}
