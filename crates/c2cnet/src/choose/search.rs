//! What the searches for spaces share.

use super::few_readings::more_samples;
use super::ranking::{Ranked, Ranking, StopRule};
use super::thinning::{spread_over, thinned};
use super::words::with_count;
use crate::Result;
use crate::basis::{BasisSpec, SingleValueSpec};
use crate::data::{Dataset, Field};
use crate::fit::Context;
use crate::report::{Candidate, Choice, Subject};
use crate::settings::FitConfig;

/// Validation errors this close are a tie on so few samples.
pub(super) const TIE_RATIO: f64 = 1.1;

/// The data from which spaces are chosen.
pub(super) struct Search<'a> {
    pub context: &'a Context<'a>,
    pub config: &'a FitConfig,
    /// Some of the samples, at some of their points.
    pub some: &'a Dataset,
}

impl Search<'_> {
    /// Whether the data has more samples than the search uses.
    pub(super) fn has_more_samples(&self) -> bool {
        self.context.train.samples() > self.some.samples()
    }

    pub(super) fn ranking<'a>(
        &'a self,
        field: &'a Field,
        whole: &'a Field,
        stop: StopRule,
    ) -> Result<Ranking<'a>> {
        let triangles = self.some.triangles.as_deref();
        Ranking::new(field, whole, triangles, self.context, stop)
    }
}

/// The bases that the settings name, or none if they are to be chosen; the values of a vector are their own
/// coefficients.
pub(super) fn named_bases(field: &Field, named: Option<Vec<BasisSpec>>) -> Vec<BasisSpec> {
    match field.is_vector() {
        true => vec![SingleValueSpec {}.into()],
        false => named.unwrap_or_default(),
    }
}

pub(super) fn basis_choice(
    subject: Subject,
    field: &str,
    ranked: &[Ranked],
    chosen: usize,
    why: String,
) -> Choice {
    Choice {
        subject,
        field: field.into(),
        candidates: ranked
            .iter()
            .map(|r| Candidate::new(with_count(r.functions, &r.spec), r.error))
            .collect(),
        chosen: with_count(ranked[chosen].functions, &ranked[chosen].spec),
        why,
    }
}

/// Some of the samples, at some of their points: enough to compare bases.
pub(super) fn search_samples(context: &Context<'_>, config: &FitConfig) -> Result<Dataset> {
    let wanted = config.search.samples * more_samples(context.train);
    let used = context.train.samples().min(wanted);
    let chosen = spread_over(context.train.samples(), used);
    thinned(&context.train.select(&chosen), context.protocol.seed)
}
