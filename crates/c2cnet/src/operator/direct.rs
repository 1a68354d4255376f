//! Outputs of maps that evaluate them at points themselves, and their errors.

use crate::data::{Field, Observations, Points};
use crate::decode::{FieldDecoder, Withheld};
use crate::encode::FieldEncoder;
use crate::map::{CoefficientMap, FieldMap};
use crate::{Result, linalg};
use faer::{Mat, MatRef};

/// Such a map with the spaces around it.
#[derive(Clone, Copy)]
pub(crate) struct Direct<'a> {
    map: &'a dyn FieldMap,
    encoders: &'a [(String, FieldEncoder)],
    decoders: &'a [(String, FieldDecoder)],
}

/// Squared errors at the points of an output, one entry per sample.
pub(super) struct ErrorsAtPoints {
    pub all: Vec<f64>,
    pub components: Vec<Vec<f64>>,
    /// At withheld points.
    pub withheld: Vec<f64>,
}

impl<'a> Direct<'a> {
    /// `None` if the map does not evaluate outputs itself.
    pub(crate) fn new(
        map: &'a dyn CoefficientMap,
        encoders: &'a [(String, FieldEncoder)],
        decoders: &'a [(String, FieldDecoder)],
    ) -> Option<Self> {
        Some(Direct {
            map: map.field_map()?,
            encoders,
            decoders,
        })
    }

    /// The part of all outputs in their space.
    pub(super) fn base(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        self.map.base(coefficients)
    }

    /// Output number `place` at `points`, before its components take their sizes: one `n` x `N` matrix for each of them.
    ///
    /// # Errors
    /// If a point lies outside the domain.
    pub(super) fn values(
        &self,
        coefficients: MatRef<'_, f64>,
        base: MatRef<'_, f64>,
        place: usize,
        points: &Points,
    ) -> Result<Vec<Mat<f64>>> {
        let before = &self.decoders[..place];
        let start: usize = before.iter().map(|(_, d)| d.rank()).sum();
        let components: usize = before.iter().map(|(_, d)| d.basis().components()).sum();
        let decoder = &self.decoders[place].1;
        let base = base.subrows(start, decoder.rank());
        let mut values = decoder.decode_divided(base, points)?;
        let added = self.map.added(coefficients, self.encoders, points)?;
        for (c, values) in values.iter_mut().enumerate() {
            *values += added
                .as_ref()
                .subrows((components + c) * points.len(), points.len());
        }
        Ok(values)
    }

    /// Errors against `field`, whose components were divided by their sizes.
    ///
    /// # Errors
    /// As [`Direct::values`].
    pub(super) fn errors(
        &self,
        coefficients: MatRef<'_, f64>,
        place: usize,
        field: &Field,
        withheld: &Withheld,
    ) -> Result<ErrorsAtPoints> {
        let base = self.base(coefficients);
        let samples = coefficients.ncols();
        let mut errors = ErrorsAtPoints {
            all: vec![0.0; samples],
            components: vec![vec![0.0; samples]; field.components()],
            withheld: vec![0.0; samples],
        };
        match field.observations() {
            Observations::Shared { points, values } => {
                let found = self.values(coefficients, base.as_ref(), place, points)?;
                for (c, (found, truth)) in found.iter().zip(values).enumerate() {
                    let off = found - truth;
                    let rows = withheld.of_sample(0);
                    let at_withheld = linalg::select_rows(off.as_ref(), rows);
                    errors.components[c] = linalg::column_norms_squared(off.as_ref());
                    let at_withheld = linalg::column_norms_squared(at_withheld.as_ref());
                    let sums = errors.withheld.iter_mut().zip(at_withheld);
                    sums.for_each(|(sum, e)| *sum += e);
                }
            }
            Observations::PerSample(all) => {
                for (k, sample) in all.iter().enumerate() {
                    let one = [coefficients, base.as_ref()].map(|m| m.subcols(k, 1));
                    let found = self.values(one[0], one[1], place, &sample.points)?;
                    let truth = sample.values.chunks_exact(sample.points.len());
                    for (c, (found, truth)) in found.iter().zip(truth).enumerate() {
                        let off = found.col(0).iter().zip(truth).map(|(a, b)| (a - b).powi(2));
                        errors.components[c][k] = off.sum();
                    }
                }
            }
        }
        for of_component in &errors.components {
            errors
                .all
                .iter_mut()
                .zip(of_component)
                .for_each(|(sum, e)| *sum += e);
        }
        Ok(errors)
    }
}
