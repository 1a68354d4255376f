//! Builds a data set from samples made one by one.

use crate::{Watcher, fill_blocks};
use c2cnet::Result;
use c2cnet::data::{Dataset, Field, Points};
use faer::{Mat, MatRef};

/// The data set of `count` pairs of input and output values at shared `points`; `make(k)` is pair `k`.
///
/// A pair is stored in its place as soon as it is made, so the data are held only once: they may fill half the memory.
pub(crate) fn dataset(
    points: [Points; 2],
    count: usize,
    watcher: &dyn Watcher,
    make: impl Fn(usize) -> Result<[Vec<f64>; 2]> + Sync,
) -> Result<Dataset> {
    let [mut f, mut u] = points.each_ref().map(|p| Mat::zeros(p.len(), count));
    fill_blocks([&mut f, &mut u], 1, watcher, |k, columns| {
        for (mut column, values) in columns.into_iter().zip(make(k)?) {
            column.copy_from(MatRef::from_column_major_slice(&values, values.len(), 1));
        }
        Ok(())
    })?;
    let [input_points, output_points] = points;
    let input = Field::shared(input_points, vec![f])?;
    let output = Field::shared(output_points, vec![u])?;
    Dataset::new(input, output)
}
