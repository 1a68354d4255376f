//! Bases for fields with several components (the paper's Section 2.4).

use super::{Basis, BasisFamily, Design, SingleValue, SingleValueSpec};
use crate::data::{Bounds, Points};
use crate::{Error, Result};
use serde::{Deserialize, Serialize, Serializer};
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
    pub(crate) fn new(components: Vec<Arc<dyn Basis>>) -> Result<Self> {
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
    pub(crate) fn len(&self) -> usize {
        self.components[0].len()
    }

    /// The design matrix: all points of the first component, then all of the next. Along periodic sides of the
    /// domain points may lie anywhere.
    ///
    /// # Errors
    /// As [`Basis::evaluate`].
    pub fn evaluate(&self, points: &Points) -> Result<Design> {
        let parts = self
            .components
            .iter()
            .map(|b| b.evaluate(&b.domain().wrapped(points)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Design::stack(parts))
    }

    /// Whether both are the same scalar basis object, so that one factorisation serves both.
    pub(crate) fn shares_with(&self, other: &VectorBasis) -> bool {
        self.components.len() == 1
            && other.components.len() == 1
            && Arc::ptr_eq(&self.components[0], &other.components[0])
    }
}

/// The basis of a whole field: parts that cover its components in order.
///
/// One part for each component encodes them separately and concatenates; a single part with all
/// components encodes them jointly.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Stored<Box<dyn Basis>>")]
pub struct FieldBasis {
    parts: Vec<VectorBasis>,
}

/// A basis used for several components is stored once, and is one basis again after loading.
#[derive(Serialize, Deserialize)]
struct Stored<B> {
    bases: Vec<B>,
    /// The bases of the components of each part.
    parts: Vec<Vec<usize>>,
}

impl Serialize for FieldBasis {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut bases: Vec<&Arc<dyn Basis>> = Vec::new();
        let mut place = |basis| {
            let known = bases.iter().position(|b| Arc::ptr_eq(b, basis));
            known.unwrap_or_else(|| {
                bases.push(basis);
                bases.len() - 1
            })
        };
        let parts = self.parts.iter();
        let parts = parts.map(|part| part.components.iter().map(&mut place).collect());
        let parts = parts.collect();
        let bases = bases.into_iter().map(AsRef::as_ref).collect();
        Stored::<&dyn Basis> { bases, parts }.serialize(serializer)
    }
}

impl TryFrom<Stored<Box<dyn Basis>>> for FieldBasis {
    type Error = Error;
    fn try_from(stored: Stored<Box<dyn Basis>>) -> Result<Self> {
        let damaged = || Error::Data("the model's record of a field basis is damaged".into());
        let bases: Vec<Arc<dyn Basis>> = stored.bases.into_iter().map(Arc::from).collect();
        let basis = |&i: &usize| bases.get(i).cloned().ok_or_else(damaged);
        let part = |part: &Vec<usize>| {
            let components = part.iter().map(basis).collect::<Result<_>>()?;
            VectorBasis::new(components)
        };
        let parts = stored.parts.iter().map(part).collect::<Result<Vec<_>>>()?;
        match parts.is_empty() {
            true => Err(damaged()),
            false => Ok(FieldBasis { parts }),
        }
    }
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
    pub(crate) fn joint(components: Vec<Arc<dyn Basis>>) -> Result<Self> {
        Ok(FieldBasis {
            parts: vec![VectorBasis::new(components)?],
        })
    }

    /// `count` numbers without points, each its own coefficient.
    ///
    /// # Panics
    /// If `count` is 0.
    pub(crate) fn of_vector(count: usize) -> Self {
        let one: Arc<dyn Basis> = Arc::new(SingleValue::new());
        Self::separate(vec![one; count]).expect("a vector has values")
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

    /// The domain of the first component.
    pub fn domain(&self) -> &Bounds {
        self.parts[0].components[0].domain()
    }

    /// Whether the field is a vector without points: every component has a single value.
    pub fn is_vector(&self) -> bool {
        let mut components = self.parts.iter().flat_map(|part| &part.components);
        components.all(|basis| basis.family() == SingleValueSpec::NAME)
    }

    /// The part and the range of components it covers.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (&VectorBasis, std::ops::Range<usize>)> {
        self.parts.iter().scan(0, |start, part| {
            let range = *start..*start + part.components.len();
            *start = range.end;
            Some((part, range))
        })
    }

    /// A human-readable line.
    pub fn describe(&self) -> String {
        if self.is_vector() {
            return "vector without points".into();
        }
        let first = self.parts[0].components[0].describe();
        match (self.parts.len(), self.components()) {
            (1, 1) => first,
            (1, c) => format!("{first}; {c} components jointly"),
            (_, c) => format!("{first}; {c} components separately"),
        }
    }
}
