//! Inputs whose transform is still open, and the transforms to compare.

use crate::data::Fields;
use crate::encode::Transform;
use crate::plan::InputPlan;

/// An input whose transform may still be open.
#[derive(Debug, Clone)]
pub(super) struct InputDraft {
    /// The plan, without a transform if that is still open.
    pub(super) plan: InputPlan,
    pub(super) transform_open: bool,
    /// Other spaces that came close on the search samples; they are compared again on all samples.
    pub(super) rivals: Vec<InputPlan>,
}

/// Plans of the inputs with these transforms.
pub(super) fn with_transforms(drafts: &[InputDraft], transforms: &[Transform]) -> Vec<InputPlan> {
    let pairs = drafts.iter().zip(transforms);
    pairs
        .map(|(draft, &transform)| InputPlan {
            transform,
            ..draft.plan.clone()
        })
        .collect()
}

/// The transforms to compare: one list (an entry per input) for each candidate.
pub(super) fn transform_candidates(
    fields: &Fields,
    drafts: &[InputDraft],
    raw: bool,
) -> Vec<Vec<Transform>> {
    let plain: Vec<Transform> = drafts.iter().map(|d| d.plan.transform).collect();
    // The paper's network sees raw coefficients.
    if raw {
        return vec![plain];
    }
    let logged: Vec<Transform> = drafts
        .iter()
        .zip(fields)
        .map(|(draft, (_, field))| match draft.transform_open {
            true if field.minimum() > 0.0 => Transform::Log,
            _ => draft.plan.transform,
        })
        .collect();
    match plain == logged {
        true => vec![plain],
        false => vec![plain, logged],
    }
}
