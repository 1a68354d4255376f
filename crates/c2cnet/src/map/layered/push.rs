//! Layers at any points: the coefficients $c(v_l)$ are those of the latent points, and a point is pushed through the
//! layers with the functions, the inputs and its coordinates there.

use super::LayeredMap;
use super::elsewhere::Entering;
use super::network::{Frozen, Inputs, Workspace, activate, affine, product, view, view_mut};
use crate::data::Points;
use crate::encode::FieldEncoder;
use crate::map::{CoefficientMap, FieldMap};
use crate::{Error, Result};
use faer::{Accum, Mat, MatRef};

/// Samples pushed at a time.
const SAMPLES: usize = 16;

/// Points pushed at a time.
const POINTS: usize = 512;

impl FieldMap for LayeredMap {
    fn base(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        self.base.predict(coefficients)
    }

    fn added(
        &self,
        coefficients: MatRef<'_, f64>,
        encoders: &[(String, FieldEncoder)],
        points: &Points,
    ) -> Result<Mat<f64>> {
        let Some(elsewhere) = self.latent.elsewhere() else {
            return Err(Error::Data(
                "the model's layers have no functions away from their points".into(),
            ));
        };
        let entering = elsewhere.entering(self.latent.fields(), points, encoders, coefficients)?;
        let samples: Vec<usize> = (0..coefficients.ncols()).collect();
        let mut out = Mat::zeros(self.shape.outputs * points.len(), samples.len());
        let mut pushing = Pushing::new(self, coefficients, entering);
        for chosen in samples.chunks(SAMPLES) {
            let mixed = pushing.mixed(chosen);
            for first in (0..points.len()).step_by(POINTS) {
                let count = POINTS.min(points.len() - first);
                pushing.push(chosen, &mixed, (first, count), &mut out);
            }
        }
        Ok(out * faer::Scale(self.scale))
    }
}

/// Some samples on their way through the layers.
struct Pushing<'a> {
    map: &'a LayeredMap,
    frozen: Frozen<f64>,
    inputs: Inputs<f64>,
    constants: Mat<f64>,
    work: Workspace<f64>,
    entering: Entering,
}

impl<'a> Pushing<'a> {
    fn new(map: &'a LayeredMap, coefficients: MatRef<'_, f64>, entering: Entering) -> Self {
        let frozen = Frozen::new(map.shape, &map.latent, map.latent.projection());
        Pushing {
            inputs: Inputs::new(&map.latent, coefficients),
            constants: map.latent.constant_values(coefficients),
            work: Workspace::new(&frozen, SAMPLES.min(coefficients.ncols()), false),
            map,
            frozen,
            entering,
        }
    }

    /// What each layer adds to the coefficients of all channels and samples, one column per function.
    fn mixed(&mut self, chosen: &[usize]) -> Vec<Mat<f64>> {
        let parameters = &self.map.parameters;
        let (frozen, work) = (&self.frozen, &mut self.work);
        frozen.forward(parameters, &self.inputs, chosen, work);
        let rows = self.map.shape.channels * chosen.len();
        let places = self.map.latent.functions().places();
        let of_layer = |l: usize| {
            let all = frozen.mixed(l, parameters, chosen.len(), work);
            Mat::from_fn(rows, places.len(), |i, j| all[places[j] * rows + i])
        };
        (0..self.map.shape.layers).map(of_layer).collect()
    }

    /// The values of the network for the samples `chosen` at `count` points from the one numbered `first`.
    fn push(
        &self,
        chosen: &[usize],
        mixed: &[Mat<f64>],
        (first, count): (usize, usize),
        out: &mut Mat<f64>,
    ) {
        let (shape, parameters) = (&self.map.shape, &self.map.parameters);
        let (batch, n) = (chosen.len(), chosen.len() * count);
        let functions = self.entering.functions.as_ref().subrows(first, count);
        let places = shape.places();
        let mut before = vec![0.0; shape.channels * n];
        let mut after = before.clone();
        affine(
            &places.lift,
            parameters,
            &self.enter(chosen, (first, count)),
            &mut before,
            n,
        );
        for (l, ((local, _), mixed)) in places.layers.iter().zip(mixed).enumerate() {
            affine(local, parameters, &before, &mut after, n);
            let to = view_mut(&mut after, shape.channels * batch, count);
            product(to, Accum::Add, mixed.as_ref(), functions.transpose(), 1.0);
            match l + 1 == shape.layers {
                true => std::mem::swap(&mut before, &mut after),
                false => activate(shape.activation, &mut after, &mut before),
            }
        }
        let mut hidden = vec![0.0; shape.hidden * n];
        let mut values = hidden.clone();
        affine(&places.inner, parameters, &before, &mut hidden, n);
        activate(shape.activation, &mut hidden, &mut values);
        let mut leaving = vec![0.0; shape.outputs * n];
        affine(&places.outer, parameters, &values, &mut leaving, n);
        let leaving = view(&leaving, shape.outputs, n);
        let points = out.nrows() / shape.outputs;
        for component in 0..shape.outputs {
            for (k, &sample) in chosen.iter().enumerate() {
                for p in 0..count {
                    out[(component * points + first + p, sample)] =
                        leaving[(component, p * batch + k)];
                }
            }
        }
    }

    /// Fields, constants and coordinates, as they enter at the latent points.
    fn enter(&self, chosen: &[usize], (first, count): (usize, usize)) -> Vec<f64> {
        let Entering {
            fields,
            coordinates,
            functions,
        } = &self.entering;
        let points = functions.nrows();
        let mut all = Vec::with_capacity(self.map.shape.inputs * chosen.len() * count);
        for p in first..first + count {
            for &k in chosen {
                let of_sample = fields.col_as_slice(k);
                all.extend((0..fields.nrows() / points).map(|f| of_sample[f * points + p]));
                all.extend(self.constants.col_as_slice(k));
                all.extend(coordinates.col_as_slice(p));
            }
        }
        all
    }
}
