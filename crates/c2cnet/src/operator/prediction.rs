//! What a model predicts for some inputs, ready to be evaluated anywhere.

use super::C2CNet;
use super::direct::Direct;
use crate::Result;
use crate::data::{Fields, Points};
use faer::{Mat, MatRef};

/// Outputs of some samples.
#[derive(Debug)]
pub struct Prediction<'a> {
    model: &'a C2CNet,
    /// Coordinates of all outputs, those of moving nodes below the others.
    coordinates: Mat<f64>,
    /// Input coefficients, and the coordinates of the part in the output space, of a map that evaluates outputs itself.
    direct: Option<(Mat<f64>, Mat<f64>)>,
}

impl C2CNet {
    /// What it predicts for `inputs`.
    ///
    /// # Errors
    /// As [`C2CNet::predict_coordinates`].
    pub fn prediction(&self, inputs: &Fields) -> Result<Prediction<'_>> {
        let coefficients = self.encode(inputs)?;
        let coordinates = self.coordinates(inputs, coefficients.as_ref())?;
        let base = |map: &dyn crate::map::FieldMap| map.base(coefficients.as_ref());
        let base = self.map.field_map().map(base);
        Ok(Prediction {
            model: self,
            coordinates,
            direct: base.map(|base| (coefficients, base)),
        })
    }
}

impl Prediction<'_> {
    /// Coordinates of all outputs, one column per sample; those of moving nodes come below the others.
    pub fn coordinates(&self) -> MatRef<'_, f64> {
        self.coordinates.as_ref()
    }

    /// How many samples.
    pub fn samples(&self) -> usize {
        self.coordinates.ncols()
    }

    /// The output called `output` at `points`: one `n` x `N` matrix for each component.
    ///
    /// # Errors
    /// If there is no such output, or a point lies outside its domain.
    pub fn at(&self, output: &str, points: &Points) -> Result<Vec<Mat<f64>>> {
        self.part(0, self.samples(), output, points)
    }

    /// The same for sample `k` alone.
    ///
    /// # Errors
    /// As [`Prediction::at`].
    pub fn of_sample(&self, k: usize, output: &str, points: &Points) -> Result<Vec<Mat<f64>>> {
        self.part(k, 1, output, points)
    }

    fn part(
        &self,
        first: usize,
        count: usize,
        output: &str,
        points: &Points,
    ) -> Result<Vec<Mat<f64>>> {
        let model = self.model;
        let direct = Direct::new(model.map.as_ref(), &model.inputs, &model.outputs);
        let place = model.outputs.iter().position(|(name, _)| name == output);
        let (Some(direct), Some((coefficients, base)), Some(place)) = (direct, &self.direct, place)
        else {
            return model.decode(
                self.coordinates.as_ref().subcols(first, count),
                output,
                points,
            );
        };
        // Vectors have no points, and nodes that move are known in the output space alone.
        let (_, decoder) = &model.outputs[place];
        if decoder.vector().is_some() || model.moves(output) {
            return model.decode(
                self.coordinates.as_ref().subcols(first, count),
                output,
                points,
            );
        }
        let [coefficients, base] = [coefficients, base].map(|m| m.as_ref().subcols(first, count));
        let values = direct.values(coefficients, base, place, points);
        let mut values = values.map_err(|e| e.at_points_of("output", output))?;
        decoder.in_units(&mut values);
        Ok(values)
    }
}
