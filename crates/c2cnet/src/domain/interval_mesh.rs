//! An interval cut into elements: $x_0 < x_1 < \dots < x_n$.

use crate::storage::{restore_settled, tensor};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Tolerance for rounding at the two ends, relative to the interval's size.
const ROUNDING: f64 = 1e-9;

/// Nodes of an interval, strictly increasing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct IntervalMesh {
    #[serde(with = "tensor")]
    nodes: Vec<f64>,
}

restore_settled!(IntervalMesh);

impl IntervalMesh {
    /// A mesh with these nodes, in any order.
    ///
    /// # Errors
    /// If there are fewer than two, one is not finite, or two are equal.
    pub fn new(mut nodes: Vec<f64>) -> Result<Self> {
        if nodes.len() < 2 {
            return Err(Error::Data(format!(
                "an interval mesh needs at least 2 nodes, not {}",
                nodes.len()
            )));
        }
        if let Some(i) = nodes.iter().position(|x| !x.is_finite()) {
            return Err(Error::NotFinite {
                what: "interval mesh".into(),
                place: format!("node {i}"),
                value: nodes[i],
                optional: false,
            });
        }
        nodes.sort_by(f64::total_cmp);
        if let Some(pair) = nodes.windows(2).find(|w| w[0] >= w[1]) {
            return Err(Error::Data(format!(
                "an interval mesh has the node {} twice; give each node once",
                pair[0]
            )));
        }
        Ok(IntervalMesh { nodes })
    }

    /// `elements` equal elements on `[lower, upper]`.
    ///
    /// # Errors
    /// If there is no element or the interval has no length.
    pub fn uniform(lower: f64, upper: f64, elements: usize) -> Result<Self> {
        if elements == 0 || !(lower < upper && lower.is_finite() && upper.is_finite()) {
            return Err(Error::Config(format!(
                "[{lower}, {upper}] cannot be cut into {elements} elements; it needs lower < upper and at least one"
            )));
        }
        let step = (upper - lower) / elements as f64;
        let mut nodes: Vec<f64> = (0..=elements).map(|i| lower + step * i as f64).collect();
        nodes[elements] = upper;
        Self::new(nodes)
    }

    fn settle(&mut self) -> Result<()> {
        *self = Self::new(std::mem::take(&mut self.nodes))?;
        Ok(())
    }

    /// The nodes, increasing.
    pub fn nodes(&self) -> &[f64] {
        &self.nodes
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The lower end.
    pub fn lower(&self) -> f64 {
        self.nodes[0]
    }

    /// The upper end.
    pub fn upper(&self) -> f64 {
        self.nodes[self.nodes.len() - 1]
    }

    /// The element of `x` and $t = (x - x_e)/(x_{e+1} - x_e)$; `None` outside, with a tolerance for
    /// rounding (1e-9 of the interval's size).
    ///
    /// A node belongs to the element on its right, the last one to the last element.
    pub fn locate(&self, x: f64) -> Option<(usize, f64)> {
        let (lower, upper) = (self.lower(), self.upper());
        let tolerance = ROUNDING * (upper - lower).max(lower.abs()).max(upper.abs());
        if !(x >= lower - tolerance && x <= upper + tolerance) {
            return None;
        }
        let after = self.nodes.partition_point(|&node| node <= x);
        let element = after.saturating_sub(1).min(self.elements() - 1);
        let [a, b] = [self.nodes[element], self.nodes[element + 1]];
        Some((element, (x - a) / (b - a)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_element() {
        let mesh = IntervalMesh::new(vec![3.0, 0.0, 1.0]).unwrap();
        assert_eq!(mesh.locate(0.25), Some((0, 0.25)));
        assert_eq!(mesh.locate(1.0), Some((1, 0.0)));
        assert_eq!(mesh.locate(3.0), Some((1, 1.0)));
        assert!(mesh.locate(-1e-12).is_some());
        assert_eq!(mesh.locate(-1e-3), None);
        assert_eq!(mesh.locate(f64::NAN), None);
    }

    #[test]
    fn impossible_meshes_are_errors() {
        for bad in [vec![], vec![1.0], vec![0.0, f64::NAN], vec![0.0, 1.0, 0.0]] {
            assert!(IntervalMesh::new(bad).is_err());
        }
        assert!(IntervalMesh::uniform(0.0, 0.0, 3).is_err());
        assert!(IntervalMesh::uniform(0.0, 1.0, 0).is_err());
    }
}
