//! Re-weighting of features by the average gradient outer product of a fitted kernel map.

use super::kernel::{Features, does_not_factor};
use super::{Mirrors, PassSettings};
use crate::compute::{Dense, Effort, Gradients, squared_distances_within, to_kernel_within};
use crate::{Result, linalg};
use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;

/// Gradients are computed along at most this many output directions.
const DIRECTIONS: usize = 60;

/// At most this many samples of the kernel map have their gradients averaged: gradients need less data than
/// predictions, and the kernel matrix must fit.
const SAMPLES: usize = 4000;

/// One pass: $z \leftarrow \Lambda^{1/2}E^\top z$, where
/// $G = \frac1n\sum_j J_j^\top J_j = E\Lambda E^\top$ is scaled to unit largest eigenvalue.
pub(super) fn reweight(
    features: &Features,
    coefficients: MatRef<'_, f64>,
    centred: MatRef<'_, f64>,
    pass: PassSettings,
    (seed, dense): (u64, &dyn Dense),
) -> Result<Features> {
    let mut chosen: Vec<usize> = (0..coefficients.ncols()).collect();
    if chosen.len() > SAMPLES {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        chosen.shuffle(&mut rng);
        chosen.truncate(SAMPLES);
        chosen.sort_unstable();
    }
    let z = features.apply(linalg::select_columns(coefficients, &chosen).as_ref());
    let c = leading_directions(linalg::select_columns(centred, &chosen).as_ref(), dense)?;
    let distances = squared_distances_within(z.as_ref());
    let mut k = distances.clone();
    to_kernel_within(&mut k, pass.kernel, pass.length);
    let alpha = dense.solve(k, pass.nugget, c.transpose())?;
    let alpha = alpha.ok_or_else(|| does_not_factor(pass))?;
    let gradients = Gradients {
        z: z.as_ref(),
        weights: alpha.transpose().to_owned(),
        distances: distances.as_ref(),
        pass,
        seed,
    };
    let effort = Effort::new(alpha.ncols(), z.nrows(), z.ncols());
    let g = dense.outer_product(&gradients, effort)?;
    // Reflections do not mix features of different parity.
    let mut found: Vec<(f64, usize, Vec<f64>)> = Vec::new();
    for (parity, members) in features.mirrors.classes() {
        let part = Mat::from_fn(members.len(), members.len(), |i, j| {
            g[(members[i], members[j])]
        });
        let (values, vectors) = dense.symmetric_eigen(part.as_ref())?;
        for (i, value) in values.iter().enumerate().rev() {
            let mut direction = vec![0.0; g.ncols()];
            for (j, &member) in members.iter().enumerate() {
                direction[member] = vectors[(j, i)];
            }
            found.push((*value, parity, direction));
        }
    }
    found.sort_by(|x, y| y.0.total_cmp(&x.0));
    let largest = found.first().map_or(0.0, |f| f.0).max(f64::MIN_POSITIVE);
    // Directions without effect would only cost time.
    found.retain(|f| f.0 > 1e-14 * largest);
    let m = Mat::from_fn(found.len(), g.ncols(), |i, j| {
        (found[i].0 / largest).sqrt() * found[i].2[j]
    });
    let parity = found.iter().map(|f| f.1).collect();
    let mirrors = Mirrors::new(features.reflections(), parity);
    Ok(features.reweighted(m.as_ref(), mirrors, coefficients))
}

/// The targets along the principal axes in which they vary most.
fn leading_directions(centred: MatRef<'_, f64>, dense: &dyn Dense) -> Result<Mat<f64>> {
    match centred.nrows() <= DIRECTIONS {
        true => Ok(centred.to_owned()),
        false => dense.principal_coordinates(centred, DIRECTIONS),
    }
}
