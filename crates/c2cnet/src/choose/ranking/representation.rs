//! How well one basis represents a field.

use super::Ranking;
use crate::basis::BasisSpec;
use crate::choose::few_readings::FewReadings;
use crate::data::Bounds;
use crate::decode::{Evaluation, FieldDecoder, Withheld};
use crate::encode::Transform;
use crate::fit::{FieldSpace, LearnFrom};
use crate::metrics::mean_relative;
use crate::plan::Components;
use crate::{Error, Result};
use faer::Mat;

/// A field in a basis: errors at withheld points and at fitted ones.
pub(super) struct Represented {
    pub decoder: FieldDecoder,
    pub coordinates: Mat<f64>,
    pub withheld: f64,
    pub fitted: f64,
}

impl Ranking<'_> {
    /// The best approximation at some points, judged at the others.
    pub(super) fn represent(&self, spec: &BasisSpec, domain: &Bounds) -> Result<Represented> {
        let space = FieldSpace {
            bases: std::slice::from_ref(spec),
            components: Components::Separate,
            domain,
            transform: Transform::None,
        };
        if let Some(few) = &self.few_readings {
            return few.represent(&space);
        }
        let field = &self.few;
        let (withhold, seed) = (self.context.protocol.withhold, self.context.protocol.seed);
        let withheld = Withheld::to_rank_bases(field, withhold, seed);
        let learn_from = LearnFrom {
            samples: None,
            withheld: &withheld,
        };
        let basis = space.build(field, self.triangles, &learn_from)?;
        let (decoder, targets) = FieldDecoder::fit(basis, field, &withheld, &[], seed)?;
        let (at_withheld, fitted) = match targets.withheld_floor {
            Some(error) => (error, targets.floor()),
            // Per-sample points: coordinates fitted at some of a sample's points, judged at all.
            None if field.shared_points().is_none() => {
                let evaluation = Evaluation::new(&decoder, field, &withheld)?;
                let errors = evaluation.errors_squared(targets.coordinates.as_ref());
                let error = mean_relative(&errors, &evaluation.norm_squared);
                (error, error)
            }
            None => return Err(Error::Data("no points could be withheld".into())),
        };
        Ok(Represented {
            decoder,
            coordinates: targets.coordinates,
            withheld: at_withheld,
            fitted,
        })
    }
}

impl FewReadings {
    fn represent(&self, space: &FieldSpace<'_>) -> Result<Represented> {
        let learn_from = LearnFrom {
            samples: None,
            withheld: &Withheld::none(),
        };
        let basis = space.build(self.field(), None, &learn_from)?;
        let judged = self.judge(basis)?;
        Ok(Represented {
            decoder: judged.decoder,
            coordinates: judged.coordinates,
            withheld: judged.error,
            fitted: judged.error,
        })
    }
}
