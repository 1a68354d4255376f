//! Functions that shifts along periodic axes turn into each other, and how channel matrices act on them.
//!
//! Along a periodic axis $\cos$ and $\sin$ of one frequency make a pair on which $D(c_0, c_1) = (-c_1, c_0)$ is the
//! derivative but for a factor. The products of the pairs of all periodic axes make a group of $2^p$ functions, and
//! what commutes with shifts acts on its coefficients as
//!
//! $$c \mapsto \sum_t M_t\,D^tc,\qquad t\subseteq\{\text{periodic axes}\},$$
//!
//! with one channel matrix for each set of axes: as many matrices as functions, and for waves on a torus the complex
//! factors of a Fourier neural operator. With a matrix for each function alone a layer could neither shift nor
//! differentiate a periodic field. Functions without partners are groups of their own.

/// Which functions make groups.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    /// Sets of axes, and members of a group.
    terms: usize,
    /// The place of each member among the coefficients, group after group; `None` where there is no such function.
    members: Vec<Option<usize>>,
    /// The member at each place.
    at: Vec<Option<usize>>,
}

/// One product of a channel matrix with coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    pub matrix: usize,
    /// The place of the coefficients.
    pub place: usize,
    /// Whether it is subtracted.
    pub negative: bool,
}

impl Groups {
    /// Of functions at `places` among products of `sizes` functions along the axes, the last running fastest, with the
    /// partner of each function along each axis.
    pub(super) fn new(places: &[usize], sizes: &[usize], partners: &[Vec<Option<usize>>]) -> Self {
        let paired = |axis: &Vec<Option<usize>>| axis.iter().any(Option::is_some);
        let terms = 1 << partners.iter().filter(|axis| paired(axis)).count();
        let mut numbers = std::collections::BTreeMap::new();
        let mut members = Vec::new();
        for &place in places {
            let (group, slot) = group_of(place, sizes, partners);
            let count = numbers.len();
            let number = *numbers.entry(group).or_insert(count);
            members.resize(members.len().max((number + 1) * terms), None);
            members[number * terms + slot] = Some(place);
        }
        let mut at = vec![None; sizes.iter().product()];
        for (member, place) in members.iter().enumerate() {
            if let Some(place) = place {
                at[*place] = Some(member);
            }
        }
        Groups { terms, members, at }
    }

    /// How many channel matrices: one for each member, whether there is such a function or not.
    pub(super) fn matrices(&self) -> usize {
        self.members.len()
    }

    /// Terms of the sum, and members of a group.
    pub(super) fn terms(&self) -> usize {
        self.terms
    }

    /// The place of each member.
    pub(super) fn members(&self) -> &[Option<usize>] {
        &self.members
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.at.len()
    }

    /// The member whose coefficient $D^t$ brings to `member`, and whether its sign changes.
    pub(super) fn partner(&self, member: usize, term: usize) -> (usize, bool) {
        let slot = member % self.terms;
        (member ^ term, odd(term & !slot))
    }

    /// What makes the coefficients at `place`: $\sum_t M_tD^tc$ or, transposed, $\sum_t(D^t)^\top M_t^\top c$.
    pub(super) fn terms_at(&self, place: usize, transposed: bool) -> impl Iterator<Item = Term> {
        let member = self.at[place];
        member.into_iter().flat_map(move |member| {
            (0..self.terms).filter_map(move |term| {
                let (other, negative) = self.partner(member, term);
                let (_, back) = self.partner(other, term);
                Some(Term {
                    matrix: member - member % self.terms + term,
                    place: self.members[other]?,
                    negative: if transposed { back } else { negative },
                })
            })
        })
    }

    /// The products that use `matrix`: the places of what is made and of what it is made from, and whether it is
    /// subtracted.
    pub(super) fn uses(&self, matrix: usize) -> impl Iterator<Item = (usize, usize, bool)> {
        let (group, term) = (matrix - matrix % self.terms, matrix % self.terms);
        (group..group + self.terms).filter_map(move |member| {
            let (other, negative) = self.partner(member, term);
            Some((self.members[member]?, self.members[other]?, negative))
        })
    }
}

/// A number for the group of the function at `place`, and which member it is.
fn group_of(mut place: usize, sizes: &[usize], partners: &[Vec<Option<usize>>]) -> (usize, usize) {
    let (mut group, mut slot, mut stride, mut bit) = (0, 0, 1, 1);
    for (k, &size) in sizes.iter().enumerate().rev() {
        let i = place % size;
        place /= size;
        let partners = partners.get(k).map_or(&[][..], Vec::as_slice);
        let partner = partners.get(i).copied().flatten().unwrap_or(i);
        group += stride * i.min(partner);
        if partners.iter().any(Option::is_some) {
            slot += if i > partner { bit } else { 0 };
            bit *= 2;
        }
        stride *= size;
    }
    (group, slot)
}

fn odd(bits: usize) -> bool {
    bits.count_ones() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A constant and two pairs along each of two axes.
    fn torus() -> Groups {
        let partners = vec![None, Some(2), Some(1), Some(4), Some(3)];
        let all: Vec<usize> = (0..25).collect();
        Groups::new(&all, &[5, 5], &[partners.clone(), partners])
    }

    #[test]
    fn without_partners_every_function_has_its_matrix() {
        let groups = Groups::new(&[4, 0, 3], &[6], &[]);
        assert_eq!(
            (groups.terms(), groups.matrices(), groups.places()),
            (1, 3, 6)
        );
        let terms: Vec<Term> = groups.terms_at(3, true).collect();
        let own = Term {
            matrix: 2,
            place: 3,
            negative: false,
        };
        assert_eq!(terms, [own]);
        assert_eq!(groups.terms_at(1, false).count(), 0);
    }

    #[test]
    fn products_of_pairs_make_groups_of_four() {
        let groups = torus();
        // Nine groups: two pairs and a constant along each axis.
        assert_eq!((groups.terms(), groups.matrices()), (4, 36));
        assert_eq!(groups.members().iter().flatten().count(), 25);
        let count = |place| groups.terms_at(place, false).count();
        assert_eq!((count(0), count(1), count(7)), (1, 2, 4));
    }

    /// The sums of [`Groups::terms_at`] as a matrix, for channel matrices that are numbers.
    fn matrix(groups: &Groups, numbers: &[f64], transposed: bool) -> Vec<Vec<f64>> {
        let n = groups.places();
        let mut all = vec![vec![0.0; n]; n];
        for (place, row) in all.iter_mut().enumerate() {
            for term in groups.terms_at(place, transposed) {
                let sign = if term.negative { -1.0 } else { 1.0 };
                row[term.place] += sign * numbers[term.matrix];
            }
        }
        all
    }

    #[test]
    fn sums_commute_with_shifts_and_have_their_transpose() {
        let groups = torus();
        let numbers: Vec<f64> = (0..36).map(|i| (1.7 * i as f64).sin()).collect();
        let (forth, back) = (
            matrix(&groups, &numbers, false),
            matrix(&groups, &numbers, true),
        );
        // A shift by s along the second axis turns the pair of frequency n by ns.
        let shift = |c: &[f64], s: f64| -> Vec<f64> {
            let mut to = c.to_vec();
            for row in (0..25).step_by(5) {
                for (n, first) in [(1.0, row + 1), (2.0, row + 3)] {
                    let (sin, cos) = f64::sin_cos(n * s);
                    to[first] = cos * c[first] - sin * c[first + 1];
                    to[first + 1] = sin * c[first] + cos * c[first + 1];
                }
            }
            to
        };
        let apply = |m: &[Vec<f64>], c: &[f64]| -> Vec<f64> {
            let row = |row: &Vec<f64>| row.iter().zip(c).map(|(a, b)| a * b).sum();
            m.iter().map(row).collect()
        };
        let c: Vec<f64> = (0..25).map(|i| (0.3 * i as f64).cos()).collect();
        let (a, b) = (
            apply(&forth, &shift(&c, 0.4)),
            shift(&apply(&forth, &c), 0.4),
        );
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
        for i in 0..25 {
            assert!((0..25).all(|j| forth[i][j] == back[j][i]));
        }
        for (matrix, number) in numbers.iter().enumerate() {
            for (to, from, negative) in groups.uses(matrix) {
                let sign = if negative { -1.0 } else { 1.0 };
                assert_eq!(forth[to][from], sign * number);
            }
        }
    }
}
