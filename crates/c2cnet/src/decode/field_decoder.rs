//! One output field: its basis and its orthonormal coordinates.

use super::{Targets, VectorDecoder, choose_withheld};
use crate::basis::{Design, FieldBasis, VectorBasis};
use crate::data::{Field, Observations, Points, Scattered};
use crate::encode::{
    EncoderSpec, Regularisation, Spectrum, VectorSpec, choose, encode_sample, stack_components,
};
use crate::error::in_order;
use crate::metrics::mean_relative;
use crate::storage::{restore_settled, tensor};
use crate::{Error, Result, linalg};
use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The decoder of one output field.
#[derive(Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct FieldDecoder {
    basis: FieldBasis,
    /// For each part, $T = V\Sigma^{-1}$: coefficients from orthonormal coordinates.
    #[serde(with = "tensor")]
    transforms: Vec<Mat<f64>>,
    /// The relative cut of the singular values of each part.
    cuts: Vec<f64>,
    /// Where the field was fitted, if all samples share their points.
    fitted_points: Option<Points>,
    /// Makes coordinates of a vector without points its values again.
    vector: Option<VectorDecoder>,
}

restore_settled!(FieldDecoder);

/// Samples whose errors at withheld points choose the cut, at most.
const CUT_SAMPLES: usize = 128;

/// The cut if no point is withheld to choose it by.
const DEFAULT_CUT: f64 = 1e-8;

/// The cut of functions at points that differ from sample to sample.
const SCATTERED_CUT: f64 = 1e-6;

impl FieldDecoder {
    /// Fixes the output space on training samples and returns their targets.
    ///
    /// `withhold` is the fraction of points kept out of the fit; `cuts` the relative cut of the
    /// singular values, one for all parts or one each, chosen by the error at withheld points where it is not given.
    ///
    /// # Errors
    /// If the data does not fit the basis, or every function of the basis is zero at the points.
    pub fn fit(
        basis: FieldBasis,
        field: &Field,
        withhold: f64,
        cuts: &[f64],
        seed: u64,
    ) -> Result<(Self, Targets)> {
        if field.components() != basis.components() {
            return Err(Error::shape(
                "output",
                format!("{} components", basis.components()),
                format!("{}", field.components()),
            ));
        }
        match field.observations() {
            Observations::Shared { points, values } => {
                Self::fit_shared(basis, points, values, withhold, cuts, seed)
            }
            Observations::PerSample(samples) => {
                Self::fit_scattered(basis, samples, withhold, cuts, seed)
            }
        }
    }

    /// Fixes how vectors without points are standardised on training samples and returns their targets.
    ///
    /// # Errors
    /// If `field` is a function, or as [`VectorDecoder::fit`].
    pub fn fit_vector(spec: &VectorSpec, field: &Field) -> Result<(Self, Targets)> {
        let values = field.vectors().ok_or_else(|| {
            Error::Data("quantities are vectors without points; this output is a function".into())
        })?;
        let vector = VectorDecoder::fit(spec, values.as_ref())?;
        let targets = Targets {
            coordinates: vector.encode(values.as_ref())?,
            outside_squared: vec![0.0; field.samples()],
            norm_squared: vec![vector.size_squared(values.as_ref()); field.samples()],
            withheld_floor: None,
        };
        let basis = FieldBasis::of_vector(vector.values());
        let decoder = FieldDecoder {
            transforms: vec![Mat::identity(1, 1); basis.len()],
            cuts: vec![0.0; basis.len()],
            basis,
            fitted_points: Some(Points::origin()),
            vector: Some(vector),
        };
        Ok((decoder, targets))
    }

    /// Makes the coordinates of a vector, and `targets` with them, `weight` times as large.
    pub(crate) fn weigh(&mut self, weight: f64, targets: &mut Targets) {
        if let Some(vector) = &mut self.vector {
            vector.weigh(weight);
            targets.coordinates *= faer::Scale(weight);
            let norms = targets.norm_squared.iter_mut();
            norms.for_each(|n| *n *= weight * weight);
        }
    }

    fn fit_shared(
        basis: FieldBasis,
        points: &Points,
        values: &[Mat<f64>],
        withhold: f64,
        cuts: &[f64],
        seed: u64,
    ) -> Result<(Self, Targets)> {
        let n = points.len();
        let mut designs = basis
            .parts()
            .iter()
            .map(|p| p.evaluate(points))
            .collect::<Result<Vec<_>>>()?;
        let mut withheld = choose_withheld(points, withhold, seed);
        let mut skip = vec![false; n];
        withheld.iter().for_each(|&i| skip[i] = true);
        // A function that is nonzero at withheld points only (a nodal function at its own node) would
        // be lost: then every point is needed and none is withheld.
        let needed = designs.iter().any(|design| {
            let repeated = skip.repeat(design.nrows() / n);
            let none = vec![false; repeated.len()];
            design.seen_columns(&repeated) != design.seen_columns(&none)
        });
        if needed {
            withheld.clear();
            skip.fill(false);
        }

        let mut transforms: Vec<Mat<f64>> = Vec::new();
        let mut settled = Vec::new();
        let mut targets = Vec::new();
        for (p, (part, range)) in basis.ranges().enumerate() {
            let design = std::mem::replace(&mut designs[p], Design::Dense(Mat::new()));
            let stacked = stack_components(&values[range.clone()]);
            let skip = skip.repeat(range.len());
            let rows: Vec<usize> = (0..skip.len()).filter(|&i| skip[i]).collect();
            let between = design.dense_rows(&rows);
            let spectrum = Spectrum::new(design.without_rows(&skip))?;
            if spectrum.rank() == 0 {
                return Err(Error::Data(format!(
                    "all {} output functions are zero at the {n} output points",
                    part.len()
                )));
            }
            let given = cut_of(cuts, p);
            let (rank, cut, withheld_floor) =
                choose_rank(&spectrum, between.as_ref(), stacked.as_ref(), &rows, given);
            settled.push(cut);
            let spectrum = spectrum.truncated(rank);
            transforms.push(inverse_transform(&spectrum, part.len()));
            let coordinates = spectrum.project(stacked.as_ref());
            let outside_squared =
                spectrum.residuals_squared(stacked.as_ref(), coordinates.as_ref(), Some(&skip));
            let norm_squared = (0..stacked.as_ref().ncols())
                .into_par_iter()
                .map(|k| {
                    let column = stacked.as_ref().col(k);
                    let kept = column.iter().zip(&skip).filter(|(_, s)| !**s);
                    kept.map(|(v, _)| v * v).sum()
                })
                .collect();
            targets.push(Targets {
                coordinates,
                outside_squared,
                norm_squared,
                withheld_floor,
            });
        }
        let fitted: Vec<usize> = (0..n).filter(|&i| !skip[i]).collect();
        Ok((
            FieldDecoder {
                basis,
                transforms,
                cuts: settled,
                fitted_points: Some(points.select(&fitted)),
                vector: None,
            },
            Targets::stack(targets),
        ))
    }

    /// Per-sample points have no common $U$. Coordinates are orthonormal on a reference set drawn
    /// from all samples' points, scaled to a sample's number of points; each sample's coordinates
    /// come from a ridge fit at its own points, with one strength chosen on several samples.
    fn fit_scattered(
        basis: FieldBasis,
        samples: &[Scattered],
        withhold: f64,
        cuts: &[f64],
        seed: u64,
    ) -> Result<(Self, Targets)> {
        let mean_count =
            samples.iter().map(|s| s.points.len()).sum::<usize>() as f64 / samples.len() as f64;
        let kept: Vec<Vec<usize>> = (0..samples.len())
            .map(|k| fitted_of(samples, k, withhold, seed))
            .collect();
        let mut transforms = Vec::new();
        let mut settled = Vec::new();
        let mut targets = Vec::new();
        for (p, (part, range)) in basis.ranges().enumerate() {
            let cut = cut_of(cuts, p).unwrap_or(SCATTERED_CUT);
            settled.push(cut);
            let reference = reference_points(samples, 8 * part.len().max(250), seed);
            let spectrum = Spectrum::new(part.evaluate(&reference)?)?;
            let Some(&largest) = spectrum.singular_values().first() else {
                return Err(Error::Data(format!(
                    "all {} output functions are zero at the output points of all samples",
                    part.len()
                )));
            };
            let rank = spectrum.rank_above(cut * largest).max(1);
            let spectrum = spectrum.truncated(rank);
            let scale = (reference.len() as f64 / mean_count).sqrt();
            let transform = inverse_transform(&spectrum, part.len()) * faer::Scale(scale);

            let local = |k: usize| -> Result<(Mat<f64>, Vec<f64>)> {
                let s = &samples[k];
                let n = s.points.len();
                let design = part.evaluate(&s.points.select(&kept[k]))?;
                let values = range
                    .clone()
                    .flat_map(|c| kept[k].iter().map(move |&i| s.values[c * n + i]))
                    .collect();
                Ok((design.mul(transform.as_ref()), values))
            };
            let locate = |k: usize, e: Error| Error::Data(format!("output sample {k}: {e}"));
            let group = |k: usize| {
                let (design, values) = local(k).map_err(|e| locate(k, e))?;
                let column = Mat::from_fn(values.len(), 1, |i, _| values[i]);
                Ok((Spectrum::new(Design::Dense(design))?, column))
            };
            let groups = in_order((0..samples.len().min(64)).into_par_iter().map(group))?;
            let (spectra, columns): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
            let groups: Vec<_> = spectra
                .into_iter()
                .zip(columns.iter().map(Mat::as_ref))
                .collect();
            let ridge = choose(&EncoderSpec::default(), &groups)
                .unwrap_or(Regularisation::Ridge { lambda: 1e-10 });
            let fit = |k: usize| -> Result<(Vec<f64>, f64, f64)> {
                let (design, values) = local(k).map_err(|e| locate(k, e))?;
                let c = encode_sample(design.as_ref(), &values, ridge)?;
                let column = Mat::from_fn(c.len(), 1, |i, _| c[i]);
                let fitted = linalg::mul_seq(design.as_ref(), column.as_ref());
                let off = fitted
                    .col(0)
                    .iter()
                    .zip(&values)
                    .map(|(a, b)| (a - b).powi(2))
                    .sum();
                Ok((c, off, values.iter().map(|v| v * v).sum()))
            };
            let fits = in_order((0..samples.len()).into_par_iter().map(fit))?;
            targets.push(Targets {
                coordinates: Mat::from_fn(rank, samples.len(), |i, k| fits[k].0[i]),
                outside_squared: fits.iter().map(|f| f.1).collect(),
                norm_squared: fits.iter().map(|f| f.2).collect(),
                withheld_floor: None,
            });
            transforms.push(transform);
        }
        Ok((
            FieldDecoder {
                basis,
                transforms,
                cuts: settled,
                fitted_points: None,
                vector: None,
            },
            Targets::stack(targets),
        ))
    }

    /// The number of coordinates.
    pub fn rank(&self) -> usize {
        self.transforms.iter().map(Mat::ncols).sum()
    }

    /// The basis.
    pub fn basis(&self) -> &FieldBasis {
        &self.basis
    }

    /// Where the field was fitted, if all samples share their points.
    pub fn fitted_points(&self) -> Option<&Points> {
        self.fitted_points.as_ref()
    }

    /// How coordinates become a vector without points; `None` for a function.
    pub fn vector(&self) -> Option<&VectorDecoder> {
        self.vector.as_ref()
    }

    /// The relative cut of the singular values of each part, as given or as chosen.
    pub fn cuts(&self) -> &[f64] {
        &self.cuts
    }

    /// The output coefficients $b = Tc$ of coordinates, one column per sample.
    pub fn coefficients(&self, coordinates: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.basis.len(), coordinates.ncols());
        let (mut from, mut to) = (0, 0);
        for transform in &self.transforms {
            let c = coordinates.subrows(from, transform.ncols());
            out.as_mut()
                .subrows_mut(to, transform.nrows())
                .copy_from(linalg::mul(transform.as_ref(), c));
            from += transform.ncols();
            to += transform.nrows();
        }
        out
    }

    /// The field at any points: one `n` x `N` matrix for each component.
    ///
    /// # Errors
    /// If the dimension differs or a point lies outside the domain.
    pub fn decode(&self, coordinates: MatRef<'_, f64>, points: &Points) -> Result<Vec<Mat<f64>>> {
        if let Some(vector) = &self.vector {
            let values = vector.decode(coordinates)?;
            let parts = self.basis.parts().iter().enumerate();
            return parts
                .map(|(i, part)| Ok(part.evaluate(points)?.mul(values.as_ref().subrows(i, 1))))
                .collect();
        }
        let coefficients = self.coefficients(coordinates);
        let n = points.len();
        let mut fields = Vec::new();
        let mut start = 0;
        for (part, range) in self.basis.ranges() {
            let b = coefficients.as_ref().subrows(start, part.len());
            let stacked = part.evaluate(points)?.mul(b);
            fields.extend((0..range.len()).map(|c| stacked.as_ref().subrows(c * n, n).to_owned()));
            start += part.len();
        }
        Ok(fields)
    }

    /// $R$ with $c = Rb$ for coefficients $b$ of the retained space: $\Sigma V^\top$, parts along the
    /// diagonal.
    pub fn factor(&self) -> Mat<f64> {
        let mut factor = Mat::zeros(self.rank(), self.basis.len());
        let (mut row, mut column) = (0, 0);
        for transform in &self.transforms {
            // The columns of T are orthogonal, of norm 1 / sigma.
            let norms = linalg::column_norms_squared(transform.as_ref());
            for (j, norm) in norms.iter().enumerate() {
                for i in 0..transform.nrows() {
                    factor[(row + j, column + i)] = transform[(i, j)] / norm;
                }
            }
            row += transform.ncols();
            column += transform.nrows();
        }
        factor
    }

    /// Which of the points of `field` were fitted, if all samples share them.
    pub(crate) fn fitted_indices(&self, field: &Field) -> Option<Vec<usize>> {
        let (fitted, all) = (self.fitted_points.as_ref()?, field.shared_points()?);
        // The fitted points are in the order of all points.
        let mut next = 0;
        let indices: Vec<usize> = (0..all.len())
            .filter(|&i| {
                let is_next = next < fitted.len() && all.point(i) == fitted.point(next);
                next += usize::from(is_next);
                is_next
            })
            .collect();
        (indices.len() == fitted.len()).then_some(indices)
    }

    /// The least-squares problem of a sample with its own points for coordinates (or, if `raw`, coefficients):
    /// the design at its fitted points, and the values there.
    ///
    /// # Errors
    /// If a point lies outside the domain.
    pub(crate) fn local_problem(
        &self,
        samples: &[Scattered],
        k: usize,
        withhold: f64,
        seed: u64,
        raw: bool,
    ) -> Result<(Mat<f64>, Vec<f64>)> {
        let fitted = fitted_of(samples, k, withhold, seed);
        let sample = &samples[k];
        let points = sample.points.select(&fitted);
        let n = sample.points.len();
        let columns = if raw { self.basis.len() } else { self.rank() };
        let components = self.basis.components();
        let mut design = Mat::zeros(fitted.len() * components, columns);
        let mut column = 0;
        for ((part, range), transform) in self.basis.ranges().zip(&self.transforms) {
            let at = part.evaluate(&points)?;
            let block = match raw {
                true => at.mul(Mat::<f64>::identity(part.len(), part.len()).as_ref()),
                false => at.mul(transform.as_ref()),
            };
            design
                .as_mut()
                .submatrix_mut(
                    range.start * fitted.len(),
                    column,
                    block.nrows(),
                    block.ncols(),
                )
                .copy_from(&block);
            column += block.ncols();
        }
        let values = (0..components)
            .flat_map(|c| fitted.iter().map(move |&i| sample.values[c * n + i]))
            .collect();
        Ok((design, values))
    }

    /// For each part, the retained space at `points`: $\Psi T$, components stacked.
    pub(crate) fn retained(&self, points: &Points) -> Result<Vec<Mat<f64>>> {
        self.basis
            .parts()
            .iter()
            .zip(&self.transforms)
            .map(|(part, t): (&VectorBasis, _)| Ok(part.evaluate(points)?.mul(t.as_ref())))
            .collect()
    }

    fn settle(&mut self) -> Result<()> {
        let parts = self.basis.parts();
        let fit = |(part, t): (&VectorBasis, &Mat<f64>)| part.len() == t.nrows();
        let vector = match &self.vector {
            Some(vector) => self.basis.is_vector() && vector.is_complete(self.rank()),
            None => !self.basis.is_vector(),
        };
        let fits =
            parts.len() == self.transforms.len() && parts.iter().zip(&self.transforms).all(fit);
        match vector && fits {
            true => Ok(()),
            false => Err(Error::Data(
                "the model's output space disagrees with its basis".into(),
            )),
        }
    }
}

/// The fitted points of a sample with its own points.
fn fitted_of(samples: &[Scattered], k: usize, withhold: f64, seed: u64) -> Vec<usize> {
    let points = &samples[k].points;
    let withheld = choose_withheld(points, withhold, seed ^ (k as u64 + 1));
    (0..points.len())
        .filter(|i| withheld.binary_search(i).is_err())
        .collect()
}

/// $T = V\Sigma^{-1}$.
fn inverse_transform(spectrum: &Spectrum, functions: usize) -> Mat<f64> {
    let inverse: Vec<f64> = spectrum.singular_values().iter().map(|s| 1.0 / s).collect();
    let identity = Mat::identity(spectrum.rank(), spectrum.rank());
    let transform = spectrum.coefficients(&inverse, identity);
    debug_assert_eq!(transform.nrows(), functions);
    transform
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
    let at_rows = linalg::mul(
        between,
        inverse_transform(spectrum, between.ncols()).as_ref(),
    );
    let truth = linalg::select_rows(values, rows);
    let norms = linalg::column_norms_squared(truth.as_ref());
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

/// The cut of part `p` among those given: one for all parts, or one each.
fn cut_of(cuts: &[f64], p: usize) -> Option<f64> {
    cuts.get(p).or(cuts.first()).copied()
}

/// Up to `count` points drawn from those of all samples.
fn reference_points(samples: &[Scattered], count: usize, seed: u64) -> Points {
    let mut all: Vec<(usize, usize)> = samples
        .iter()
        .enumerate()
        .flat_map(|(k, s)| (0..s.points.len()).map(move |i| (k, i)))
        .collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let (chosen, _) = all.partial_shuffle(&mut rng, count);
    chosen.sort_unstable();
    let coords = chosen
        .iter()
        .flat_map(|&(k, i)| samples[k].points.point(i).iter().copied())
        .collect();
    Points::new(samples[0].points.dim(), coords).expect("points have been checked")
}
