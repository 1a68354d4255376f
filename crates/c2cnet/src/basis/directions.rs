//! Principal directions of training values, the learned part of a hybrid space.

use crate::{Result, linalg};
use faer::{Mat, MatMut, MatRef};

/// A part below this, relative to the whole, is rounding.
const ROUNDING: f64 = 1e-10;

/// Matrices with more entries than this have their principal directions taken from Gram matrices.
const LARGE: usize = 4_000_000;

/// Samples of such matrices that are looked at, at most.
const LEARNING_SAMPLES: usize = 1000;

/// Eigenvalues of a Gram matrix below this part of the largest are left to the next one.
const GRAM_CUT: f64 = 1e-10;

/// How many Gram matrices there are: down to 1e-15 of the largest direction.
const GRAM_PASSES: usize = 3;

/// Which of `samples` samples with this many values directions are learned from: some show the directions of many.
/// `None`: all of them, as it is with a selection that was made.
pub(crate) fn learning_samples(values: usize, samples: usize) -> Option<Vec<usize>> {
    if values * samples <= LARGE || samples <= LEARNING_SAMPLES {
        return None;
    }
    let count = LEARNING_SAMPLES;
    Some((0..count).map(|i| i * samples / count).collect())
}

/// $A \leftarrow A - QQ^\top A$.
pub(super) fn without(a: MatMut<'_, f64>, q: MatRef<'_, f64>) {
    if q.ncols() == 0 {
        return;
    }
    let inside = linalg::mul(q.transpose(), a.as_ref());
    linalg::mul_add(a, q, inside.as_ref(), -1.0);
}

/// Principal directions of residuals outside the columns of `q`, at most `most`, signs as in the data; `scale` is the
/// norm of the values that left them.
pub(super) fn learned_directions(
    residuals: MatRef<'_, f64>,
    scale: f64,
    most: usize,
    tolerance: f64,
    q: MatRef<'_, f64>,
) -> Result<Mat<f64>> {
    let mut independent = independent_directions(residuals, most, scale, tolerance)?;
    // What rounding left of Q in residuals that are small.
    without(independent.as_mut(), q);
    let count = independent.ncols().min(most);
    if count == 0 {
        return Ok(Mat::zeros(residuals.nrows(), 0));
    }
    independent.truncate(independent.nrows(), count);
    let qr = linalg::Qr::new(independent);
    let r = qr.r();
    let mut directions = qr.q_mul(Mat::<f64>::identity(count, count).as_ref());
    // Householder's Q may turn a direction around; keep those of the mean and of U.
    for j in 0..count {
        if r[(j, j)] < 0.0 {
            directions.col_mut(j).iter_mut().for_each(|v| *v = -*v);
        }
    }
    Ok(directions)
}

/// How many of the leading singular values leave no more than `allowed`.
fn enough(sigma: &[f64], allowed: f64) -> usize {
    let mut left = 0.0;
    let mut count = sigma.len();
    while count > 0 {
        left += sigma[count - 1] * sigma[count - 1];
        if left > allowed * allowed {
            break;
        }
        count -= 1;
    }
    count
}

/// Singular values and left singular vectors of columns whose mean is zero, the leading `most` where only those are
/// needed, until no more than `allowed` is left.
fn left_singular(a: Mat<f64>, most: usize, allowed: f64) -> Result<(Vec<f64>, Mat<f64>)> {
    if a.nrows() * a.ncols() <= LARGE {
        let svd = linalg::thin_svd(a.as_ref())?;
        return Ok((svd.s, svd.u));
    }
    // One Gram matrix sees directions down to the root of rounding; what they leave has one of its own.
    let mut rest = a;
    // Of columns that add up to zero one follows from the others.
    let most = most.min(rest.ncols() - 1);
    let (mut sigma, mut u) = from_gram(rest.as_ref(), most)?;
    for _ in 1..GRAM_PASSES {
        if sigma.len() >= most {
            break;
        }
        without(rest.as_mut(), u.as_ref());
        let rounding = f64::EPSILON * sigma.first().copied().unwrap_or(0.0);
        if rest.norm_l2() <= rounding.max(allowed) {
            break;
        }
        let (more, directions) = from_gram(rest.as_ref(), most - sigma.len())?;
        let mut all = Mat::zeros(u.nrows(), sigma.len() + more.len());
        let (mut before, mut after) = all.as_mut().split_at_col_mut(sigma.len());
        before.copy_from(&u);
        after.copy_from(&directions);
        u = all;
        sigma.extend(more);
    }
    Ok((sigma, u))
}

/// Leading singular values and left singular vectors from the smaller Gram matrix:
/// $A^\top A = W\Sigma^2W^\top$, $U = AW\Sigma^{-1}$, or $AA^\top = U\Sigma^2U^\top$.
fn from_gram(a: MatRef<'_, f64>, most: usize) -> Result<(Vec<f64>, Mat<f64>)> {
    let (n, samples) = a.shape();
    if samples >= n {
        let (eigenvalues, vectors) = linalg::symmetric_eigen(linalg::lower_gram(a).as_ref())?;
        return Ok(leading(&eigenvalues, vectors.as_ref(), most));
    }
    let (eigenvalues, vectors) =
        linalg::symmetric_eigen(linalg::lower_gram(a.transpose()).as_ref())?;
    let (sigma, w) = leading(&eigenvalues, vectors.as_ref(), most);
    let mut u = linalg::mul(a, w.as_ref());
    for (j, s) in sigma.iter().enumerate() {
        u.col_mut(j).iter_mut().for_each(|v| *v /= s);
    }
    Ok((sigma, u))
}

/// The largest eigenvalues' roots that a Gram matrix resolves above rounding, descending, and their vectors.
fn leading(eigenvalues: &[f64], vectors: MatRef<'_, f64>, most: usize) -> (Vec<f64>, Mat<f64>) {
    let mut order: Vec<usize> = (0..eigenvalues.len()).collect();
    order.sort_by(|&i, &j| eigenvalues[j].total_cmp(&eigenvalues[i]));
    let largest = order.first().map_or(0.0, |&i| eigenvalues[i]);
    order.retain(|&i| eigenvalues[i] > GRAM_CUT * largest);
    order.truncate(most);
    let sigma = order.iter().map(|&i| eigenvalues[i].sqrt()).collect();
    (sigma, linalg::select_columns(vectors, &order))
}

/// $[\mu/\|\mu\|, u_1, \dots, u_r]$ without what is rounding (of data of size `scale`) or depends on columns before
/// it.
fn independent_directions(
    values: MatRef<'_, f64>,
    most: usize,
    scale: f64,
    tolerance: f64,
) -> Result<Mat<f64>> {
    let (n, samples) = values.shape();
    let mean = linalg::column_mean(values);
    let mut centred = values.to_owned();
    linalg::subtract_from_columns(&mut centred, &mean);
    let (sigma, u) = left_singular(centred, most, tolerance * scale)?;
    let total = linalg::column_norms_squared(values)
        .iter()
        .sum::<f64>()
        .sqrt();
    // Against the uncentred data, so that equal samples leave no direction.
    let rounding = f64::EPSILON * n.max(samples) as f64 * total.max(scale);
    let rank = sigma.iter().filter(|&&s| s > rounding).count();
    let rank = rank.min(enough(&sigma, tolerance * scale));

    let norm = mean.iter().map(|v| v * v).sum::<f64>().sqrt();
    // Whether the mean is a column, and which directions are.
    let mut with_mean = false;
    let mut kept: Vec<usize> = Vec::with_capacity(rank);
    if norm * (samples as f64).sqrt() <= ROUNDING * total.max(scale) {
        kept.extend(0..rank);
    } else {
        // What the directions so far leave of the mean. A direction that takes all of the rest follows from the mean
        // and the others; directions being orthogonal, there is at most one. Where the rest dwindles instead, each
        // direction adds something.
        let mut rest: Vec<f64> = mean.iter().map(|v| v / norm).collect();
        with_mean = true;
        let mut left = Some(1.0);
        for k in 0..rank {
            let u = u.col_as_slice(k);
            let part: f64 = rest.iter().zip(u).map(|(a, b)| a * b).sum();
            rest.iter_mut().zip(u).for_each(|(a, b)| *a -= part * b);
            let remains = rest.iter().map(|v| v * v).sum::<f64>().sqrt();
            if left.is_some_and(|before| remains <= ROUNDING * before) {
                left = None;
                continue;
            }
            kept.push(k);
            left = left.map(|_| remains);
        }
    }
    let first = usize::from(with_mean);
    Ok(Mat::from_fn(n, first + kept.len(), |i, j| {
        match j < first {
            true => mean[i] / norm,
            false => u[(i, kept[j - first])],
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_direction_is_lost_where_the_rest_of_the_mean_dwindles() {
        // Entry i of sample k is 10^-i times a factor of its own: so is that of the mean.
        let values = Mat::from_fn(15, 40, |i, k| {
            0.1f64.powi(i as i32) * (1.0 + ((3 * i + 1) * (k + 1)) as f64).sin()
        });
        let outside = Mat::zeros(15, 0);
        let scale = values.norm_l2();
        let found = learned_directions(values.as_ref(), scale, 15, 1e-16, outside.as_ref());
        let directions = found.unwrap();
        let mut left = values.clone();
        without(left.as_mut(), directions.as_ref());
        assert!(left.norm_l2() < 1e-14 * scale, "{:e}", left.norm_l2());
    }

    #[test]
    fn gram_and_svd_find_the_same_directions() {
        let repeated = Mat::from_fn(72, 200, |i, k| {
            let (x, k) = (i as f64 / 72.0, (k % 30) as f64 + 1e-3 * (k % 7) as f64);
            1.0 + k.sin() * x.cos() + (2.0 * k).cos() * (3.0 * x).sin() + (0.7 * k).sin() * x * x
        });
        let (sigma, u) = from_gram(repeated.as_ref(), 3).unwrap();
        let svd = linalg::thin_svd(repeated.as_ref()).unwrap();
        for (j, s) in sigma.iter().enumerate().take(3) {
            assert!((s / svd.s[j] - 1.0).abs() < 1e-9);
            let cosine: f64 = u
                .col(j)
                .iter()
                .zip(svd.u.col(j).iter())
                .map(|(a, b)| a * b)
                .sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-9);
        }
    }

    /// Directions of a large matrix leave what is allowed, however small they are beside the first.
    #[test]
    fn many_samples_are_deflated() {
        let (n, samples) = (64, LARGE / 64 + 64);
        let size = |j: usize| 10f64.powi(-3 * j as i32);
        let a = Mat::from_fn(n, samples, |i, k| {
            let wave = |j: usize| ((j + 1) as f64 * (i as f64 + 0.5) * 0.049).cos();
            let terms =
                (0..4).map(|j| size(j) * wave(j) * ((j + 2) as f64 * k as f64 * 0.37).sin());
            terms.sum()
        });
        let (sigma, u) = left_singular(a.clone(), 10, 1e-12 * a.norm_l2()).unwrap();
        // Later directions lean on the earlier ones by rounding, which the QR of `learned_directions` takes away.
        let count = u.ncols();
        let q = linalg::Qr::new(u).q_mul(Mat::<f64>::identity(count, count).as_ref());
        let inside = linalg::mul(q.transpose(), a.as_ref());
        let left = (linalg::mul(q.as_ref(), inside.as_ref()) - &a).norm_l2();
        assert!(sigma.len() >= 4 && left < 1e-11 * a.norm_l2(), "{left}");
        assert!((sigma[0] / linalg::thin_svd(a.as_ref()).unwrap().s[0] - 1.0).abs() < 0.05);
    }
}
