//! Output spaces as fitted.

use super::{Targets, Withheld};
use faer::Mat;

/// An output space as fitted: one entry per part of the basis.
#[derive(Default)]
pub(super) struct Space {
    pub transforms: Vec<Mat<f64>>,
    pub cuts: Vec<f64>,
    pub targets: Vec<Targets>,
    /// The points that were in fact not fitted.
    pub withheld: Withheld,
}

/// The cut of part `p` among those given: one for all parts, or one each.
pub(super) fn cut_of(cuts: &[f64], p: usize) -> Option<f64> {
    cuts.get(p).or(cuts.first()).copied()
}
