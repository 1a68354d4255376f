//! Where the parameters of a network are in a device's memory: matrices by columns, padded to whole units.

use super::job::Job;
use super::layered;
use super::program::{Buffer, View, padded};

/// Where the padded parameters are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    parts: Vec<Part>,
}

/// A matrix among the parameters, by columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    rows: usize,
    columns: usize,
    /// The number of columns with padding.
    padded: usize,
}

impl Part {
    /// $[W\ \beta\ 0]$.
    pub(super) fn affine(from: usize, to: usize) -> Self {
        Part {
            rows: to,
            columns: from + 1,
            padded: padded(from + 1),
        }
    }

    /// This many numbers, as one column.
    pub(super) fn column(len: usize) -> Self {
        Part {
            rows: len,
            columns: 1,
            padded: 1,
        }
    }

    fn shape(&self) -> (usize, usize) {
        (padded(self.rows), self.padded)
    }
}

impl Layout {
    /// The layout of fully connected layers.
    pub(super) fn new(widths: &[usize]) -> Self {
        Layout::of(widths.windows(2).map(|w| Part::affine(w[0], w[1])))
    }

    pub(super) fn of(parts: impl IntoIterator<Item = Part>) -> Self {
        Layout {
            parts: parts.into_iter().collect(),
        }
    }

    /// The layout of what `job` trains.
    pub(super) fn of_job<T>(job: &Job<'_, T>) -> Self {
        match &job.layers {
            Some(layers) => layered::layout(&layers.sizes),
            None => Layout::new(job.widths),
        }
    }

    pub(super) fn layers(&self) -> usize {
        self.parts.len()
    }

    /// Rows and columns of a part with padding.
    pub(super) fn shape(&self, part: usize) -> (usize, usize) {
        self.parts[part].shape()
    }

    fn offset(&self, part: usize) -> usize {
        let size = |p: &Part| p.shape().0 * p.shape().1;
        self.parts[..part].iter().map(size).sum()
    }

    /// The number of padded parameters.
    pub(super) fn len(&self) -> usize {
        self.offset(self.layers())
    }

    pub(super) fn view(&self, buffer: Buffer, part: usize) -> View {
        View {
            buffer,
            offset: self.offset(part),
            ld: self.shape(part).0,
        }
    }

    /// Calls `copy(from, to, n)` for every column: `n` numbers at `from` of the plain parameters are those at
    /// `to` of the padded ones.
    fn columns(&self, mut copy: impl FnMut(usize, usize, usize)) {
        let mut from = 0;
        for (i, part) in self.parts.iter().enumerate() {
            let (offset, ld) = (self.offset(i), self.shape(i).0);
            for column in 0..part.columns {
                copy(from, offset + column * ld, part.rows);
                from += part.rows;
            }
        }
    }

    pub(super) fn pad<T: Copy + Default>(&self, plain: &[T]) -> Vec<T> {
        let mut all = vec![T::default(); self.len()];
        self.columns(|from, to, n| all[to..to + n].copy_from_slice(&plain[from..from + n]));
        all
    }

    pub(super) fn strip<T: Copy>(&self, padded: &[T]) -> Vec<T> {
        let mut plain = Vec::new();
        self.columns(|_, at, n| plain.extend_from_slice(&padded[at..at + n]));
        plain
    }
}
