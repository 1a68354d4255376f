//! Output spaces where all samples share their points: orthonormal coordinates by one factorisation.

use super::space::{Space, cut_of};
use super::withheld::norm_at_withheld;
use super::{Targets, Withheld};
use crate::basis::{Design, FieldBasis};
use crate::data::Points;
use crate::encode::{Spectrum, Whole, stack_components};
use crate::metrics::mean_relative;
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Samples whose errors at withheld points choose the cut, at most.
const CUT_SAMPLES: usize = 128;

/// The cut if no point is withheld to choose it by.
const DEFAULT_CUT: f64 = 1e-8;

pub(super) fn fit(
    basis: &FieldBasis,
    points: &Points,
    values: &[Mat<f64>],
    withheld: &Withheld,
    cuts: &[f64],
    cancelled: &dyn Fn() -> bool,
) -> Result<Space> {
    let designs = basis.parts().iter().map(|p| p.evaluate(points));
    let designs = designs.collect::<Result<Vec<_>>>()?;
    let withheld = match needs_all_points(&designs, withheld, points.len()) {
        true => Withheld::none(),
        false => withheld.clone(),
    };
    let mut space = Space::default();
    for (p, ((part, range), design)) in basis.ranges().zip(designs).enumerate() {
        let stacked = stack_components(&values[range.clone()]);
        let skip = mask(&withheld, points.len(), range.len());
        let rows: Vec<usize> = (0..skip.len()).filter(|&i| skip[i]).collect();
        let between = design.dense_rows(&rows);
        let design = design.without_rows(&skip);
        let cut = cut_of(cuts, p);
        let factored = match rows.is_empty() && cut == Some(0.0) {
            true => Whole::of_one_fit(design, cancelled)?,
            false => Whole::Spectrum(Spectrum::of_one_fit(design, cancelled)?),
        };
        let norm_squared = norms_squared(stacked.as_ref(), &skip);
        let spectrum = match factored {
            Whole::Spectrum(spectrum) => spectrum,
            Whole::Triangular(triangular) => {
                let (coordinates, outside_squared) = triangular.split(stacked.as_ref());
                space.cuts.push(0.0);
                space.transforms.push(triangular.into_inverse_transform());
                space.targets.push(Targets {
                    outside_squared,
                    norm_squared,
                    coordinates,
                    withheld_floor: None,
                    readings: None,
                });
                continue;
            }
        };
        if spectrum.rank() == 0 {
            return Err(Error::Data(format!(
                "all {} output functions are zero at the {} output points",
                part.len(),
                points.len()
            )));
        }
        let (rank, cut, withheld_floor) =
            choose_rank(&spectrum, between.as_ref(), stacked.as_ref(), &rows, cut);
        space.cuts.push(cut);
        let spectrum = spectrum.truncated(rank);
        space.transforms.push(spectrum.inverse_transform());
        let coordinates = spectrum.project(stacked.as_ref());
        space.targets.push(Targets {
            outside_squared: spectrum.residuals_squared(
                stacked.as_ref(),
                coordinates.as_ref(),
                Some(&skip),
            ),
            norm_squared,
            coordinates,
            withheld_floor,
            readings: None,
        });
    }
    space.withheld = withheld;
    Ok(space)
}

/// Whether a function is nonzero at withheld points only (a nodal function at its own node). It would be lost; then
/// every point is needed and none is withheld.
fn needs_all_points(designs: &[Design], withheld: &Withheld, points: usize) -> bool {
    designs.iter().any(|design| {
        let skip = mask(withheld, points, design.nrows() / points);
        let none = vec![false; skip.len()];
        design.seen_columns(&skip) != design.seen_columns(&none)
    })
}

/// Which rows of stacked components are withheld.
fn mask(withheld: &Withheld, points: usize, components: usize) -> Vec<bool> {
    let mut skip = vec![false; points];
    withheld.of_sample(0).iter().for_each(|&i| skip[i] = true);
    skip.repeat(components)
}

fn norms_squared(values: MatRef<'_, f64>, skip: &[bool]) -> Vec<f64> {
    (0..values.ncols())
        .into_par_iter()
        .map(|k| {
            let kept = values.col(k).iter().zip(skip).filter(|(_, s)| !**s);
            kept.map(|(v, _)| v * v).sum()
        })
        .collect()
}

/// The rank above `cut`, or else the one whose projection from the fitted points has the smallest error at the
/// withheld `rows` (the smallest within 2% of the best, because small singular values oscillate
/// between points), and its error there.
fn choose_rank(
    spectrum: &Spectrum,
    between: MatRef<'_, f64>,
    values: MatRef<'_, f64>,
    rows: &[usize],
    cut: Option<f64>,
) -> (usize, f64, Option<f64>) {
    let sigma = spectrum.singular_values();
    let rank_at = |cut: f64| spectrum.rank_above(cut * sigma[0]).max(1);
    if rows.is_empty() {
        let cut = cut.unwrap_or(DEFAULT_CUT);
        return (rank_at(cut), cut, None);
    }
    let samples = values.ncols().min(CUT_SAMPLES);
    let values = values.subcols(0, samples);
    let coordinates = spectrum.project(values);
    let at_rows = linalg::mul(between, spectrum.inverse_transform().as_ref());
    let truth = linalg::select_rows(values, rows);
    let share = rows.len() as f64 / values.nrows() as f64;
    let norms: Vec<f64> = (linalg::column_norms_squared(truth.as_ref()).into_iter())
        .zip(linalg::column_norms_squared(values))
        .map(|(at_rows, everywhere)| norm_at_withheld(at_rows, everywhere, share))
        .collect();
    let with_rank = |cut: f64| (rank_at(cut), cut);
    let mut ranks: Vec<(usize, f64)> = match cut {
        Some(cut) => vec![with_rank(cut)],
        None => (2..=13).map(|k| with_rank(10f64.powi(-k))).collect(),
    };
    ranks.dedup_by_key(|(rank, _)| *rank);
    let errors: Vec<f64> = ranks
        .iter()
        .map(|&(r, _)| {
            let fitted = linalg::mul(
                at_rows.as_ref().subcols(0, r),
                coordinates.as_ref().subrows(0, r),
            );
            let off = linalg::column_norms_squared((fitted - &truth).as_ref());
            mean_relative(&off, &norms)
        })
        .collect();
    let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let chosen = errors.iter().position(|&e| e <= 1.02 * best).unwrap_or(0);
    let (rank, cut) = ranks[chosen];
    (rank, cut, Some(errors[chosen]))
}
