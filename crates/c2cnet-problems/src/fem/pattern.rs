//! Where the entries of a finite-element matrix go, Dirichlet unknowns eliminated.

use super::{Element, Form, LocalMatrix, Space};

/// The entry belongs to an eliminated unknown.
const NOWHERE: u32 = u32::MAX;

/// The lower triangle of the matrix of the free unknowns, by columns, and the place in it of every
/// entry of every element's matrix.
///
/// Unknown $i c + d$ is component $d$ of $c$ at node $i$. Fixed ones are eliminated, so the matrix stays
/// symmetric and positive definite.
#[derive(Debug)]
pub struct Pattern {
    components: usize,
    functions: usize,
    /// The number of each unknown among the free ones.
    free: Vec<Option<usize>>,
    size: usize,
    column_starts: Vec<usize>,
    rows: Vec<usize>,
    /// For each triangle, the places of its lower triangle, row by row.
    slots: Vec<u32>,
}

impl Pattern {
    /// The pattern on `space` with `components` unknowns per node, of which those with `fixed` are eliminated.
    ///
    /// # Panics
    /// If `fixed` does not have one entry per unknown, or there are $2^{32}$ entries.
    pub fn new(space: &Space, components: usize, fixed: &[bool]) -> Self {
        assert_eq!(
            fixed.len(),
            components * space.len(),
            "one entry per unknown"
        );
        let mut size = 0;
        let free: Vec<Option<usize>> = fixed
            .iter()
            .map(|fixed| {
                (!fixed).then(|| {
                    size += 1;
                    size - 1
                })
            })
            .collect();
        let functions = space.element().functions();
        let local = components * functions;
        let number = |t: usize, i: usize| {
            free[space.element_nodes(t)[i / components] * components + i % components]
        };
        // Column and row of an entry; the lower triangle has the larger number as row.
        let place = |t: usize, i: usize, j: usize| {
            let (i, j) = (number(t, i)?, number(t, j)?);
            Some((i.min(j), i.max(j)))
        };
        let mut entries = Vec::new();
        for t in 0..space.triangles() {
            for i in 0..local {
                entries.extend((0..=i).filter_map(|j| place(t, i, j)));
            }
        }
        entries.sort_unstable();
        entries.dedup();
        assert!(entries.len() < NOWHERE as usize, "too many entries");
        let mut column_starts = vec![0; size + 1];
        for &(column, _) in &entries {
            column_starts[column + 1] += 1;
        }
        for j in 0..size {
            column_starts[j + 1] += column_starts[j];
        }
        let rows: Vec<usize> = entries.iter().map(|e| e.1).collect();
        let mut slots = Vec::with_capacity(space.triangles() * local * (local + 1) / 2);
        for t in 0..space.triangles() {
            for i in 0..local {
                slots.extend((0..=i).map(|j| match place(t, i, j) {
                    None => NOWHERE,
                    Some((column, row)) => {
                        let start = column_starts[column];
                        let among = &rows[start..column_starts[column + 1]];
                        let at = among.binary_search(&row).expect("an entry of the pattern");
                        (start + at) as u32
                    }
                }));
            }
        }
        Pattern {
            components,
            functions,
            free,
            size,
            column_starts,
            rows,
            slots,
        }
    }

    /// How many unknowns are free.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of each unknown among the free ones, `None` where it is eliminated.
    pub fn free(&self) -> &[Option<usize>] {
        &self.free
    }

    /// Where each column starts among the entries, and the end.
    pub fn column_starts(&self) -> &[usize] {
        &self.column_starts
    }

    /// The row of each entry.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The entries of the matrix of `form`.
    ///
    /// # Panics
    /// If `form` belongs to another space, or `entries` has another length than [`Pattern::rows`].
    pub fn assemble<F: Form>(&self, form: &F, entries: &mut [f64]) {
        self.check(form);
        assert_eq!(entries.len(), self.rows.len(), "one value per entry");
        entries.fill(0.0);
        let local = self.components * self.functions;
        let mut matrix: LocalMatrix = [[0.0; 2 * Element::MOST]; 2 * Element::MOST];
        for (t, slots) in self.slots.chunks_exact(local * (local + 1) / 2).enumerate() {
            form.local(t, &mut matrix);
            let mut slots = slots.iter();
            for (i, row) in matrix[..local].iter().enumerate() {
                for (value, &slot) in row[..=i].iter().zip(slots.by_ref()) {
                    if slot != NOWHERE {
                        entries[slot as usize] += value;
                    }
                }
            }
        }
    }

    /// Subtracts from the free unknowns' `load` what the eliminated ones contribute when they have the
    /// values `given` (of all unknowns; those of free ones are not read).
    pub fn lift<F: Form>(&self, form: &F, given: &[f64], load: &mut [f64]) {
        self.check(form);
        let c = self.components;
        let local = c * self.functions;
        let mut matrix: LocalMatrix = [[0.0; 2 * Element::MOST]; 2 * Element::MOST];
        for t in 0..form.space().triangles() {
            let nodes = form.space().element_nodes(t);
            let unknown = |i: usize| nodes[i / c] * c + i % c;
            if (0..local).all(|i| self.free[unknown(i)].is_some()) {
                continue;
            }
            form.local(t, &mut matrix);
            for i in 0..local {
                let Some(row) = self.free[unknown(i)] else {
                    continue;
                };
                for j in 0..local {
                    if self.free[unknown(j)].is_none() {
                        load[row] -= matrix[i.max(j)][i.min(j)] * given[unknown(j)];
                    }
                }
            }
        }
    }

    /// The free part of a vector of all unknowns.
    pub fn restrict(&self, all: &[f64], free: &mut [f64]) {
        for (number, value) in self.free.iter().zip(all) {
            if let Some(i) = number {
                free[*i] = *value;
            }
        }
    }

    fn check<F: Form>(&self, form: &F) {
        let space = form.space();
        assert!(
            F::COMPONENTS == self.components
                && space.len() * self.components == self.free.len()
                && space.element().functions() == self.functions,
            "the form belongs to another space than the pattern"
        );
    }
}
