//! Fills matrices with samples, block by block, in parallel; can be watched and stopped.

use crate::Watcher;
use c2cnet::{Error, Result};
use faer::{Mat, MatMut};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fills all `matrices`, with one column per sample, by `fill(first, columns)` on blocks of at most `width`
/// samples that start at sample `first`; `columns` are the block's columns of each matrix. Returns the
/// results of `fill` in the order of the blocks.
///
/// No sample is stored twice.
///
/// # Errors
/// The first error of `fill`, or [`Error::Interrupted`] if the watcher asks to stop.
///
/// # Panics
/// If matrices differ in the number of columns, or `width` is zero.
pub fn fill_blocks<const N: usize, T: Send>(
    matrices: [&mut Mat<f64>; N],
    width: usize,
    watcher: &dyn Watcher,
    fill: impl Fn(usize, [MatMut<'_, f64>; N]) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    fill_blocks_of(matrices.into(), width, watcher, |first, columns| {
        let columns = <[MatMut<'_, f64>; N]>::try_from(columns);
        fill(first, columns.expect("as many as there are matrices"))
    })
}

/// As [`fill_blocks`], for any number of matrices.
pub(crate) fn fill_blocks_of<T: Send>(
    matrices: Vec<&mut Mat<f64>>,
    width: usize,
    watcher: &dyn Watcher,
    fill: impl Fn(usize, Vec<MatMut<'_, f64>>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    assert!(width > 0, "a block has at least one sample");
    let mut rest: Vec<_> = matrices.into_iter().map(Mat::as_mut).collect();
    let count = rest.first().map_or(0, |m| m.ncols());
    assert!(rest.iter().all(|m| m.ncols() == count), "samples agree");
    let mut blocks = Vec::with_capacity(count.div_ceil(width));
    for first in (0..count).step_by(width) {
        let take = width.min(count - first);
        let split = rest.into_iter().map(|m| m.split_at_col_mut(take));
        let (heads, tails): (Vec<_>, Vec<_>) = split.unzip();
        rest = tails;
        blocks.push((first, take, heads));
    }
    let done = AtomicUsize::new(0);
    let fill = |(first, take, heads)| {
        if watcher.cancelled() {
            return Err(Error::Interrupted);
        }
        let outcome = fill(first, heads)?;
        watcher.done(done.fetch_add(take, Ordering::Relaxed) + take, count);
        Ok(outcome)
    };
    blocks.into_par_iter().map(fill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;

    #[test]
    fn every_column_is_filled_once() {
        for (count, width) in [(1, 3), (6, 3), (7, 3), (2, 5)] {
            let (mut a, mut b) = (Mat::zeros(2, count), Mat::zeros(1, count));
            let firsts = fill_blocks(
                [&mut a, &mut b],
                width,
                &Unwatched,
                |first, [mut a, mut b]| {
                    for j in 0..a.ncols() {
                        a[(1, j)] += (first + j) as f64;
                        b[(0, j)] -= (first + j) as f64;
                    }
                    Ok(first)
                },
            )
            .unwrap();
            assert!(firsts.into_iter().eq((0..count).step_by(width)));
            for k in 0..count {
                assert_eq!(
                    (a[(0, k)], a[(1, k)], b[(0, k)]),
                    (0.0, k as f64, -(k as f64))
                );
            }
        }
    }

    #[test]
    fn it_stops_on_request_and_on_errors() {
        struct Stop;
        impl Watcher for Stop {
            fn done(&self, _: usize, _: usize) {}
            fn cancelled(&self) -> bool {
                true
            }
        }
        let mut a = Mat::zeros(1, 4);
        let outcome = fill_blocks([&mut a], 2, &Stop, |_, _| Ok(()));
        assert!(matches!(outcome, Err(Error::Interrupted)));
        let outcome = fill_blocks([&mut a], 2, &Unwatched, |first, _| match first {
            2 => Err(Error::Numerical("stuck".into())),
            _ => Ok(()),
        });
        assert_eq!(outcome.unwrap_err().to_string(), "stuck");
    }
}
