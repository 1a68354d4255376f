//! Tensor products of functions of one variable, and which of them to take.
//!
//! $$\varphi_j(x) = \prod_{k=1}^d g_{i_{jk}}(t_k),\qquad t_k = (x_k - l_k)/(u_k - l_k)\in[0,1],$$
//!
//! with $g_0, g_1, \dots$ one family on $[0,1]$ (trigonometric or polynomial) and $i_j$ the
//! multi-indices of an [`IndexSet`].

use super::{Design, Separable};
use crate::data::{Bounds, Points, TensorGrid};
use crate::{Error, Result, linalg, memory};
use faer::Mat;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

/// More functions than this are taken for a mistake: one sample's coefficients would fill
/// megabytes, and the design matrix of a thousand points eight gigabytes.
pub(super) const MAX_FUNCTIONS: usize = 1_000_000;

/// More entries of all indices together are taken for one too: a thousand axes are no reason for a thousand times the
/// memory.
const MAX_ENTRIES: usize = 1 << 24;

/// Points evaluated together, at most: small tables, and results that do not depend on the threads.
const ROW_CHUNK: usize = 256;

/// Numbers in the tables of points evaluated together, unless one point has more.
const TABLE: usize = 1 << 20;

/// Fewer points are not worth taking apart.
const WORTH_TAKING_APART: usize = 1024;

/// What an axis function costs; it must not decrease.
pub(super) type Cost = fn(u32) -> u64;

/// Multi-indices $i_1, \dots, i_m \in \mathbb N_0^d$, one product of axis functions each.
///
/// They are listed when they are first needed: how many a model file claims is then long compared with its arrays.
#[derive(Debug)]
pub struct IndexSet {
    dim: usize,
    len: usize,
    rule: Rule,
    list: OnceLock<List>,
}

#[derive(Debug)]
enum Rule {
    /// All indices below these counts; the last axis runs fastest.
    Tensor(Vec<usize>),
    /// Those that cost least.
    Smallest(Cost),
    /// Those that cost least where each axis has a cost of its own, times a weight.
    Weighted(Vec<(Cost, f64)>),
}

#[derive(Debug)]
struct List {
    /// Index after index.
    indices: Vec<u32>,
    /// How many functions of each axis are used.
    counts: Vec<usize>,
}

impl IndexSet {
    /// All indices with $i_k <$ `counts[k]`; the last axis runs fastest.
    ///
    /// # Errors
    /// If `counts` does not have one positive entry an axis, or the product is out of reason;
    /// `setting` names it.
    pub(super) fn tensor(dim: usize, counts: &[usize], setting: &str) -> Result<Self> {
        if counts.len() != dim || counts.contains(&0) {
            return Err(Error::Config(format!(
                "{setting} needs one entry for each of {dim} axes, with at least one function each"
            )));
        }
        let total = counts.iter().try_fold(1usize, |a, &b| a.checked_mul(b));
        let total = total.ok_or_else(|| too_many(setting))?;
        Self::new(dim, total, Rule::Tensor(counts.to_vec()), setting)
    }

    /// The `functions` indices of smallest $\sum_k$ `cost`$(i_k)$, in that order; equal sums in
    /// lexicographic order.
    ///
    /// # Errors
    /// If `functions` is zero or out of reason; `setting` names it.
    pub(super) fn smallest(
        dim: usize,
        functions: usize,
        cost: Cost,
        setting: &str,
    ) -> Result<Self> {
        if functions == 0 {
            return Err(Error::Config(format!(
                "{setting}: ask for at least one function"
            )));
        }
        Self::new(dim, functions, Rule::Smallest(cost), setting)
    }

    /// The `functions` indices of smallest $\sum_k w_k$ `cost`$_k(i_k)$, in that order; `axes` holds the cost of
    /// each axis and its weight, which must be positive and finite.
    ///
    /// # Errors
    /// If `functions` is zero or out of reason; `setting` names it.
    pub(super) fn weighted(
        axes: Vec<(Cost, f64)>,
        functions: usize,
        setting: &str,
    ) -> Result<Self> {
        if functions == 0 {
            return Err(Error::Config(format!(
                "{setting}: ask for at least one function"
            )));
        }
        Self::new(axes.len(), functions, Rule::Weighted(axes), setting)
    }

    fn new(dim: usize, len: usize, rule: Rule, setting: &str) -> Result<Self> {
        if len > MAX_FUNCTIONS {
            return Err(too_many(setting));
        }
        if len.saturating_mul(dim) > MAX_ENTRIES {
            return Err(Error::Config(format!(
                "{setting} means {len} functions in {dim} dimensions, more than {MAX_ENTRIES} indices; ask for fewer"
            )));
        }
        Ok(IndexSet {
            dim,
            len,
            rule,
            list: OnceLock::new(),
        })
    }

    fn list(&self) -> &List {
        self.list.get_or_init(|| match &self.rule {
            Rule::Tensor(counts) => tensor_list(self.len, counts),
            Rule::Smallest(cost) => smallest_list(self.dim, self.len, *cost),
            Rule::Weighted(axes) => weighted_list(axes, self.len),
        })
    }

    /// How many products.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The multi-indices in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.list().indices.chunks_exact(self.dim)
    }

    /// The design matrix at points of `domain`; `axis(k, t, values)` fills `values` with
    /// $g_0(t), g_1(t), \dots$ of axis `k`. At the points of a grid it is known by its axes.
    ///
    /// An axis without extent has $t = 0$; points beyond the walls by rounding count as on them.
    ///
    /// # Errors
    /// If the matrix, of a basis of `family`, does not fit into memory.
    pub(super) fn evaluate(
        &self,
        family: &str,
        domain: &Bounds,
        points: &Points,
        axis: impl Fn(usize, f64, &mut [f64]) + Sync,
    ) -> Result<Design> {
        if points.len() >= WORTH_TAKING_APART
            && let Some(design) = self.by_axes(domain, points, &axis)
        {
            return Ok(Design::Separable(design));
        }
        memory::check_allocation(
            &format!("a {family} basis at points"),
            &[points.len(), self.len()],
        )?;
        Ok(Design::Dense(self.at_points(domain, points, axis)))
    }

    /// `None` where the points are not a grid, or an axis has more functions than lines: then its functions are
    /// dependent.
    pub(super) fn by_axes(
        &self,
        domain: &Bounds,
        points: &Points,
        axis: &impl Fn(usize, f64, &mut [f64]),
    ) -> Option<Separable> {
        let grid = TensorGrid::new(points)?;
        let List { indices, counts } = self.list();
        if counts.iter().zip(&grid.axes).any(|(c, a)| *c > a.len()) {
            return None;
        }
        let along = |k: usize| {
            let mut values = Mat::zeros(counts[k], grid.axes[k].len());
            for (i, &x) in grid.axes[k].iter().enumerate() {
                let column = values.col_mut(i).try_as_col_major_mut();
                let column = column.expect("owned matrices have contiguous columns");
                axis(k, unit_coordinate(domain, k, x), column.as_slice_mut());
            }
            values.transpose().to_owned()
        };
        let factors = (0..self.dim).map(along).collect();
        Some(Separable::new(grid, factors, indices))
    }

    fn at_points(
        &self,
        domain: &Bounds,
        points: &Points,
        axis: impl Fn(usize, f64, &mut [f64]) + Sync,
    ) -> Mat<f64> {
        let counts = &self.list().counts;
        let rows = TABLE / counts.iter().sum::<usize>();
        let mut design = Mat::zeros(points.len(), self.len());
        // Chunks of rows are chunks of the transpose's columns.
        let transposed = design.as_mut().transpose_mut();
        linalg::par_column_chunks(transposed, rows.clamp(1, ROW_CHUNK), |start, chunk| {
            let mut out = chunk.transpose_mut();
            let rows = out.nrows();
            let tables: Vec<Vec<f64>> = (0..self.dim)
                .map(|k| {
                    let mut table = vec![0.0; counts[k] * rows];
                    let mut values = vec![0.0; counts[k]];
                    for r in 0..rows {
                        axis(
                            k,
                            unit_coordinate(domain, k, points.point(start + r)[k]),
                            &mut values,
                        );
                        for (i, &value) in values.iter().enumerate() {
                            table[i * rows + r] = value;
                        }
                    }
                    table
                })
                .collect();
            for (j, index) in self.iter().enumerate() {
                let mut column = out.as_mut().col_mut(j);
                column.fill(1.0);
                for (table, &i) in tables.iter().zip(index) {
                    let factors = &table[i as usize * rows..(i as usize + 1) * rows];
                    for (value, factor) in column.as_mut().iter_mut().zip(factors) {
                        *value *= factor;
                    }
                }
            }
        });
        design
    }
}

fn tensor_list(total: usize, counts: &[usize]) -> List {
    let dim = counts.len();
    let mut indices = vec![0; total * dim];
    for (j, index) in indices.chunks_exact_mut(dim).enumerate() {
        let mut rest = j;
        for k in (0..dim).rev() {
            index[k] = (rest % counts[k]) as u32;
            rest /= counts[k];
        }
    }
    List {
        indices,
        counts: counts.to_vec(),
    }
}

/// Every index but 0 has one parent: itself with its last nonzero entry lowered. Parents neither cost more nor come
/// later in the order, so popping the least of what was found so far gives the sorted list. Children with a new last
/// entry 1 cost the same and come in the order of that entry's axis, from the last one down: each is found through the
/// one before it, so that three are found per step, not one per axis.
fn smallest_list(dim: usize, functions: usize, cost: Cost) -> List {
    let mut found = BinaryHeap::from([Reverse((0u64, vec![0u32; dim]))]);
    let mut indices = Vec::with_capacity(functions * dim);
    let raised = |total: u64, index: &[u32], k: usize| {
        let mut index = index.to_vec();
        index[k] += 1;
        Reverse((total + cost(index[k]) - cost(index[k] - 1), index))
    };
    while indices.len() < functions * dim {
        let Some(Reverse((total, mut index))) = found.pop() else {
            break;
        };
        indices.extend_from_slice(&index);
        let last = index.iter().rposition(|&i| i > 0);
        if let Some(last) = last {
            found.push(raised(total, &index, last));
        }
        if last.is_none_or(|last| last + 1 < dim) {
            found.push(raised(total, &index, dim - 1));
        }
        if let Some(last) = last
            && index[last] == 1
            && last > 0
            && index[last - 1] == 0
        {
            index.swap(last - 1, last);
            found.push(Reverse((total, index)));
        }
    }
    List::new(dim, indices)
}

/// As [`smallest_list`] with axes from the cheapest step to the most expensive one: an index with a last entry of 1
/// costs no less than with that entry one axis before, through which it is found.
fn weighted_list(axes: &[(Cost, f64)], functions: usize) -> List {
    let dim = axes.len();
    let step = |k: usize| axes[k].1 * (axes[k].0(1) - axes[k].0(0)) as f64;
    let mut order: Vec<usize> = (0..dim).collect();
    order.sort_by(|&a, &b| step(a).total_cmp(&step(b)).then(b.cmp(&a)));
    let found_at = |index: Vec<u32>| {
        let along = axes.iter().zip(&index);
        let total: f64 = along.map(|((cost, w), &i)| w * cost(i) as f64).sum();
        // Positive numbers are ordered as their bits.
        Reverse((total.to_bits(), index))
    };
    let mut found = BinaryHeap::from([found_at(vec![0; dim])]);
    let mut indices = Vec::with_capacity(functions * dim);
    while indices.len() < functions * dim {
        let Some(Reverse((_, mut index))) = found.pop() else {
            break;
        };
        indices.extend_from_slice(&index);
        let raised = |k: usize| {
            let mut index = index.clone();
            index[k] += 1;
            found_at(index)
        };
        match order.iter().rposition(|&k| index[k] > 0) {
            None => found.push(raised(order[0])),
            Some(last) => {
                found.push(raised(order[last]));
                if last + 1 < dim {
                    found.push(raised(order[last + 1]));
                    if index[order[last]] == 1 {
                        index.swap(order[last], order[last + 1]);
                        found.push(found_at(index));
                    }
                }
            }
        }
    }
    List::new(dim, indices)
}

impl List {
    fn new(dim: usize, indices: Vec<u32>) -> Self {
        let mut counts = vec![1; dim];
        for index in indices.chunks_exact(dim) {
            for (count, &i) in counts.iter_mut().zip(index) {
                *count = (*count).max(i as usize + 1);
            }
        }
        List { indices, counts }
    }
}

fn too_many(setting: &str) -> Error {
    Error::Config(format!(
        "{setting} means more than {MAX_FUNCTIONS} functions; ask for fewer"
    ))
}

/// $t = (x - l_k)/(u_k - l_k)$ in $[0, 1]$, 0 where the side has no length.
fn unit_coordinate(domain: &Bounds, k: usize, x: f64) -> f64 {
    let width = domain.width(k);
    if width > 0.0 {
        ((x - domain.lower(k)) / width).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(set: &IndexSet) -> Vec<Vec<u32>> {
        set.iter().map(<[u32]>::to_vec).collect()
    }

    #[test]
    fn tensor_sets_run_the_last_axis_fastest() {
        let set = IndexSet::tensor(2, &[2, 3], "modes").unwrap();
        assert_eq!(list(&set), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }

    #[test]
    fn smallest_sets_are_sorted_by_cost_then_lexicographically() {
        let set = IndexSet::smallest(2, 6, u64::from, "functions").unwrap();
        assert_eq!(list(&set), [[0, 0], [0, 1], [1, 0], [0, 2], [1, 1], [2, 0]]);
        // Equal costs along one axis, as cosine and sine have, against a sort of everything.
        let cost: Cost = |i| u64::from(i.div_ceil(2)).pow(2);
        for dim in 1..4 {
            let set = IndexSet::smallest(dim, 100, cost, "functions").unwrap();
            let total = |index: &[u32]| index.iter().map(|&i| cost(i)).sum::<u64>();
            let mut expected = list(&IndexSet::tensor(dim, &vec![100; dim], "all").unwrap());
            expected.sort_by_key(|index| (total(index), index.clone()));
            expected.truncate(100);
            assert_eq!(list(&set), expected);
        }
    }

    #[test]
    fn weighted_sets_are_those_of_a_sort_of_everything() {
        let square: Cost = |i| u64::from(i).pow(2);
        let pairs: Cost = |i| u64::from(i.div_ceil(2)).pow(2);
        let shifted: Cost = |i| u64::from(i + 1).pow(2);
        for weights in [[1.0, 1.0, 1.0], [0.3, 5.0, 1.1], [7.0, 2.0, 0.01]] {
            for dim in 1..4 {
                let costs = [square, pairs, shifted];
                let axes: Vec<_> = costs.into_iter().zip(weights).take(dim).collect();
                let total = |index: &[u32]| -> f64 {
                    let along = axes.iter().zip(index);
                    along.map(|((cost, w), &i)| w * cost(i) as f64).sum()
                };
                let mut all = list(&IndexSet::tensor(dim, &vec![80; dim], "all").unwrap());
                all.sort_by(|a, b| total(a).total_cmp(&total(b)).then(a.cmp(b)));
                all.truncate(60);
                let set = IndexSet::weighted(axes.clone(), 60, "functions").unwrap();
                // Equal totals come in any order.
                let totals = |list: &[Vec<u32>]| list.iter().map(|i| total(i)).collect::<Vec<_>>();
                let mut found = list(&set);
                assert_eq!(totals(&found), totals(&all), "{weights:?} {dim}");
                found.sort();
                found.dedup();
                assert_eq!(found.len(), 60, "{weights:?} {dim}");
            }
        }
    }

    #[test]
    fn impossible_sets_are_errors() {
        for counts in [
            &[3][..],
            &[3, 0],
            &[1, 1, 1],
            &[usize::MAX, 2],
            &[2000, 2000],
        ] {
            assert!(IndexSet::tensor(2, counts, "modes").is_err());
        }
        for functions in [0, usize::MAX] {
            assert!(IndexSet::smallest(2, functions, u64::from, "functions").is_err());
        }
    }

    #[test]
    fn thousands_of_dimensions_took_all_memory() {
        let error = IndexSet::smallest(20_000, 1_000_000, u64::from, "functions = 1000000");
        let error = error.unwrap_err().to_string();
        assert!(error.contains("in 20000 dimensions"), "{error}");
        assert!(
            IndexSet::tensor(
                20_000,
                &[[2; 19].as_slice(), &[1; 19_981]].concat(),
                "modes"
            )
            .is_err()
        );
        // Claimed and never used: nothing is listed.
        let claimed = IndexSet::smallest(16, 1_000_000, u64::from, "functions").unwrap();
        assert!(claimed.len() == 1_000_000 && claimed.list.get().is_none());
        // As many axes as functions: the first ones are 0 and 1 along each axis.
        let set = IndexSet::smallest(4000, 4000, u64::from, "functions").unwrap();
        for (j, index) in set.iter().enumerate().skip(1) {
            assert_eq!((index[4000 - j], index.iter().sum::<u32>()), (1, 1));
        }
    }
}
