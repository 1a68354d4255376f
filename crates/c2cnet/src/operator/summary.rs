//! What a model consists of.

use super::C2CNet;
use crate::data::{Bounds, Points};
use crate::encode::{FieldEncoder, Regularisation, Transform};
use serde::Serialize;

/// What a model consists of: [`C2CNet::summary`].
#[derive(Debug, Clone, Serialize)]
pub struct Summary<'a> {
    /// The inputs, in the order of their coefficients.
    pub inputs: Vec<InputSummary<'a>>,
    /// The outputs, in the order of their coordinates.
    pub outputs: Vec<OutputSummary<'a>>,
    /// The map between them.
    pub map: MapSummary,
}

/// How an input becomes coefficients.
#[derive(Debug, Clone, Serialize)]
pub struct InputSummary<'a> {
    /// The input's name; empty for a single one.
    pub name: &'a str,
    /// Whether it is a vector without points.
    pub vector: bool,
    /// The basis, in words.
    pub basis: String,
    /// The number of coefficients.
    pub functions: usize,
    /// How many components the field has; of a vector, how many values.
    pub components: usize,
    /// Where the basis is defined.
    pub domain: &'a Bounds,
    /// How observations become coefficients, in words.
    pub encoder: String,
    /// How values and coefficients are transformed.
    pub transform: Transform,
    /// The regularisation of each part; none if a learned prior takes their place.
    #[serde(skip)]
    pub regularisations: &'a [Regularisation],
    /// The points that training samples shared, or would have shared if no reading had been missing.
    #[serde(skip)]
    pub points: Option<&'a Points>,
}

/// How coordinates become an output.
#[derive(Debug, Clone, Serialize)]
pub struct OutputSummary<'a> {
    /// The output's name; empty for a single one.
    pub name: &'a str,
    /// Whether it is a vector without points.
    pub vector: bool,
    /// The basis, in words.
    pub basis: String,
    /// The number of functions.
    pub functions: usize,
    /// How many components the field has.
    pub components: usize,
    /// Where the basis is defined.
    pub domain: &'a Bounds,
    /// The number of coordinates.
    pub rank: usize,
    /// Whether components are real and imaginary parts in turn.
    pub complex: bool,
    /// Whether its nodes move with the inputs.
    pub moving_nodes: bool,
    /// The space and how much of it is kept, in words.
    #[serde(skip)]
    pub space: String,
    /// The points of the fit, if all samples share them or would if no reading were missing.
    #[serde(skip)]
    pub points: Option<&'a Points>,
}

/// The map from coefficients to coordinates.
#[derive(Debug, Clone, Serialize)]
pub struct MapSummary {
    /// Its name in settings and model files.
    pub kind: &'static str,
    /// The map in words.
    pub description: String,
    /// The number of coefficients.
    pub inputs: usize,
    /// The number of coordinates; those of moving nodes have a map of their own.
    pub outputs: usize,
    /// How many numbers were fitted.
    pub parameters: usize,
}

impl C2CNet {
    /// What the model consists of, for reading and as JSON.
    pub fn summary(&self) -> Summary<'_> {
        Summary {
            inputs: self.inputs.iter().map(input).collect(),
            outputs: (0..self.outputs.len()).map(|i| self.output(i)).collect(),
            map: MapSummary {
                kind: self.map.kind(),
                description: self.map.describe(),
                inputs: self.map.inputs(),
                outputs: self.map.outputs(),
                parameters: self.map.parameters(),
            },
        }
    }

    fn output(&self, place: usize) -> OutputSummary<'_> {
        let (name, decoder) = &self.outputs[place];
        let basis = decoder.basis();
        OutputSummary {
            name,
            vector: basis.is_vector(),
            basis: basis.describe(),
            functions: basis.len(),
            components: basis.components(),
            domain: basis.domain(),
            rank: decoder.rank(),
            complex: decoder.is_complex(),
            moving_nodes: self.moves(name),
            space: decoder.describe(),
            points: decoder.points(),
        }
    }
}

fn input((name, encoder): &(String, FieldEncoder)) -> InputSummary<'_> {
    let basis = encoder.basis();
    InputSummary {
        name,
        vector: basis.is_vector(),
        basis: basis.describe(),
        functions: basis.len(),
        components: encoder.components(),
        domain: basis.domain(),
        encoder: encoder.describe(),
        transform: encoder.transform(),
        regularisations: encoder.regularisations(),
        points: encoder.points(),
    }
}
