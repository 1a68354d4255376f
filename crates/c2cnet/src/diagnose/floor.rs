//! The smallest error that bases of several families and sizes allow for an output.

use crate::Result;
use crate::basis::{BasisSpec, FieldBasis};
use crate::choose::{OutputRanking, rank_output};
use crate::data::{Field, Observations};
use crate::decode::{Evaluation, FieldDecoder};
use crate::fit::Context;
use crate::metrics::{mean, relative};
use crate::settings::FitConfig;
use faer::Mat;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// All bases compared for one output, by the ranking that a fit uses.
#[derive(Debug)]
pub struct Floors {
    /// The output's name.
    pub name: String,
    /// The output, in words.
    pub label: String,
    /// How many components.
    pub components: usize,
    /// The basis in use, in words.
    pub in_use: String,
    /// One entry per basis; the last is the one in use.
    pub all: Vec<Floor>,
    /// The entry that a fit would take, or the basis in use where its learned functions make it far better.
    pub recommended: usize,
}

/// One basis.
#[derive(Debug, Serialize)]
pub struct Floor {
    /// The family, in words.
    pub family: String,
    /// `None` for the basis in use, which the settings name already.
    #[serde(rename = "basis")]
    pub spec: Option<BasisSpec>,
    /// Of all components together.
    pub functions: usize,
    /// How many coordinates are kept.
    pub rank: usize,
    /// At the fitted points.
    #[serde(rename = "floor")]
    pub fitted: f64,
    /// At withheld points; unknown where samples have points of their own.
    #[serde(rename = "withheld_floor")]
    pub withheld: Option<f64>,
}

/// The basis in use is recommended where its floor is below this part of the best one compared.
const FAR_LESS: f64 = 0.5;

/// What the basis in use is called among the families.
pub const IN_USE: &str = "in use";

impl Serialize for Floors {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Floors", 4)?;
        fields.serialize_field("output", &self.label)?;
        fields.serialize_field("in_use", &self.in_use)?;
        fields.serialize_field("floors", &self.all)?;
        fields.serialize_field("recommended", &self.all[self.recommended])?;
        fields.end()
    }
}

/// Compares families and sizes, and the basis in use, for the output `name`.
///
/// # Errors
/// If the work is interrupted, no basis can be fitted, or the basis in use fails.
pub(super) fn compare(
    name: &str,
    field: &Field,
    in_use: &FieldDecoder,
    context: &Context<'_>,
    config: &FitConfig,
) -> Result<Floors> {
    let OutputRanking { ranked, chosen, .. } = rank_output(context, config, name)?;
    let shared = field.shared_points().is_some();
    let mut all: Vec<Floor> = ranked
        .into_iter()
        .map(|r| Floor {
            family: r.family_name(),
            functions: r.functions * field.components(),
            rank: r.rank,
            fitted: r.fitted,
            withheld: shared.then_some(r.withheld),
            spec: Some(r.spec),
        })
        .collect();
    all.push(measure(
        in_use.basis().clone(),
        field,
        context,
        config,
        name,
    )?);
    let recommended = match far_better(&all[all.len() - 1], &all[chosen]) {
        true => all.len() - 1,
        false => chosen,
    };
    Ok(Floors {
        name: name.to_string(),
        components: field.components(),
        label: format!("output {name}").trim_end().to_string(),
        in_use: in_use.basis().describe(),
        all,
        recommended,
    })
}

/// Whether the basis in use, which may have learned functions, loses far less than the best of those compared.
fn far_better(in_use: &Floor, best: &Floor) -> bool {
    in_use.fitted < FAR_LESS * best.fitted && in_use.withheld <= best.withheld
}

/// The floor of the basis in use.
fn measure(
    basis: FieldBasis,
    field: &Field,
    context: &Context<'_>,
    config: &FitConfig,
    name: &str,
) -> Result<Floor> {
    let functions = basis.len();
    let cuts: Vec<f64> = config.output_named(name).cut.into_iter().collect();
    let (withheld, seed) = (context.withheld_of(name), context.protocol.seed);
    let (decoder, targets) = FieldDecoder::fit(basis, field, &withheld, &cuts, seed)?;
    Ok(Floor {
        family: IN_USE.to_string(),
        spec: None,
        functions,
        rank: decoder.rank(),
        fitted: targets.floor(),
        withheld: withheld_floor(&decoder, field)?,
    })
}

/// The mean relative error at withheld points of the best approximation at the fitted ones.
fn withheld_floor(decoder: &FieldDecoder, field: &Field) -> Result<Option<f64>> {
    if matches!(field.observations(), Observations::PerSample(_)) {
        return Ok(None);
    }
    let evaluation = Evaluation::new(decoder, field, decoder.withheld())?;
    let nothing = Mat::<f64>::zeros(decoder.rank(), field.samples());
    // The error of predicting nothing is the norm of the truth.
    let norms = evaluation.withheld_errors_squared(nothing.as_ref());
    Ok(match (&evaluation.withheld_floor_squared, norms) {
        (Some(floor), Some((_, norms))) => {
            let each = floor.iter().zip(&norms).map(|(&e, &n)| relative(e, n));
            Some(mean(&each.collect::<Vec<_>>()))
        }
        _ => None,
    })
}
