//! Outputs on a mesh that moves with the inputs: a body of varying shape, a hole at varying places.
//!
//! Node $i$ of one sample is node $i$ of every other. The output is then a function on one *reference* mesh, which
//! a model learns as any other, and the nodes themselves, $z_i = X_i + d_i(a)$, are a second thing to learn from
//! the inputs $a$. To predict at a point $y$ of a sample is to find where $y$ lies between its nodes, and to ask at
//! the same place between the reference nodes $X_i$.

use super::C2CNet;
use crate::basis::{Basis, PointValues};
use crate::data::{Dataset, Field, Fields, Points, Scattered};
use crate::{Error, Result};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Points may lie this part of the nodes' box outside it.
const MARGIN: f64 = 0.02;

/// The nodes of one output, as a model predicts them.
#[derive(Debug)]
pub struct MovingNodes {
    pub(super) output: String,
    pub(super) reference: Points,
    /// From the inputs to how far each node is from its place in the reference, one component per dimension.
    pub(super) displacements: Box<C2CNet>,
}

impl MovingNodes {
    /// # Errors
    /// If `displacements` does not predict them at the reference nodes.
    pub(crate) fn new(output: &str, reference: Points, displacements: C2CNet) -> Result<Self> {
        let fits = match displacements.outputs() {
            [(_, decoder)] => {
                decoder.vector().is_none()
                    && displacements.moving().is_empty()
                    && decoder.basis().components() == reference.dim()
                    && decoder.points() == Some(&reference)
            }
            _ => false,
        };
        match fits {
            true => Ok(MovingNodes {
                output: output.to_string(),
                reference,
                displacements: Box::new(displacements),
            }),
            false => Err(Error::Data(format!(
                "the nodes of output {output:?} disagree with what predicts them"
            ))),
        }
    }

    /// The mean over samples of each point, if samples have their own points, equally many in each.
    pub(crate) fn mean_places(field: &Field) -> Option<Points> {
        let (n, dim) = (field.points_of(0).len(), field.dim());
        let samples = field.samples();
        let own = !field.is_vector() && field.shared_points().is_none();
        if !own || n < 3 || (0..samples).any(|k| field.points_of(k).len() != n) {
            return None;
        }
        let mut mean = vec![0.0; n * dim];
        for k in 0..samples {
            let coords = field.points_of(k).coords();
            mean.iter_mut().zip(coords).for_each(|(m, x)| *m += x);
        }
        mean.iter_mut().for_each(|m| *m /= samples as f64);
        Points::new(dim, mean).ok()
    }

    /// What [`MovingNodes::new`] needs a model of: inputs, and how far each node of `output` is from its place.
    ///
    /// # Errors
    /// If a sample has another number of nodes.
    pub(crate) fn data(inputs: &Fields, output: &Field, reference: &Points) -> Result<Dataset> {
        let (n, dim) = (reference.len(), reference.dim());
        let mut components = vec![Mat::zeros(n, output.samples()); dim];
        for k in 0..output.samples() {
            let nodes = output.points_of(k);
            if nodes.len() != n {
                return Err(Error::Data(format!(
                    "sample {k} has {} nodes, others have {n}: moving nodes need the same number of nodes in \
                     every sample",
                    nodes.len()
                )));
            }
            for (i, (node, place)) in nodes.iter().zip(reference.iter()).enumerate() {
                for (c, component) in components.iter_mut().enumerate() {
                    component[(i, k)] = node[c] - place[c];
                }
            }
        }
        let displacements = Field::shared(reference.clone(), components)?;
        Ok(Dataset {
            inputs: inputs.clone(),
            outputs: displacements.into(),
            n_train: None,
            split: None,
            triangles: None,
            tetrahedra: None,
            meta: serde_json::Value::Null,
        })
    }

    /// The output whose nodes these are.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// The number of coordinates of the displacements.
    pub(super) fn rank(&self) -> usize {
        self.displacements.coefficient_map().outputs()
    }

    /// The nodes of each sample, from coordinates of the displacements.
    pub(super) fn nodes(&self, coordinates: MatRef<'_, f64>) -> Result<Vec<Points>> {
        let (_, decoder) = &self.displacements.outputs()[0];
        let displacements = decoder.decode(coordinates, &self.reference)?;
        let nodes = |k: usize| {
            let moved = self.reference.iter().enumerate().flat_map(|(i, place)| {
                let displaced = place.iter().zip(&displacements);
                displaced.map(move |(x, d)| x + d[(i, k)])
            });
            Points::new(self.reference.dim(), moved.collect())
        };
        (0..coordinates.ncols()).map(nodes).collect()
    }

    /// Where in the reference the places of `points` between a sample's `nodes` are.
    pub(super) fn pull_back(&self, nodes: &Points, points: &Points) -> Result<Points> {
        let (Some(around), Some(within)) = (nodes.bounding_box(), self.reference.bounding_box())
        else {
            return Err(Error::Data("a mesh without nodes".into()));
        };
        let between = PointValues::new(around.widened(MARGIN), nodes.clone())?.evaluate(points)?;
        let places = Mat::from_fn(self.reference.len(), self.reference.dim(), |i, c| {
            self.reference.point(i)[c]
        });
        let found = between.mul(places.as_ref());
        // Sums of weights that are one up to rounding.
        let inside = |i: usize, c: usize| found[(i, c)].clamp(within.lower(c), within.upper(c));
        let coords = (0..points.len()).flat_map(|i| (0..points.dim()).map(move |c| inside(i, c)));
        Points::new(points.dim(), coords.collect())
    }

    /// The output as a function on the reference, from coordinates of the displacements.
    pub(super) fn on_reference(
        &self,
        coordinates: MatRef<'_, f64>,
        field: &Field,
    ) -> Result<Field> {
        let nodes = self.nodes(coordinates)?;
        let samples = (0..field.samples())
            .into_par_iter()
            .map(|k| {
                Ok(Scattered {
                    points: self.pull_back(&nodes[k], field.points_of(k))?,
                    values: field.values_of(k),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let pulled = Field::per_sample(field.components(), samples)?;
        Ok(match field.is_complex() {
            true => pulled.as_complex(),
            false => pulled,
        })
    }
}
