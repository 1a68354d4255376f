//! Third-order interpolation on triangles: a quadratic polynomial at each node, blended between the nodes.
//!
//! At node $i$ the polynomial $q_i$ takes the node's value and fits those of its neighbours, near ones with more weight.
//! In a triangle $u(x) = \sum_i\lambda_i(x)\,q_i(x)$ over its corners: continuous, exact for quadratic polynomials.
//! Outside all triangles the polynomial of the nearest node continues, no farther than its neighbours reach.

use super::interpolant::Stencil;
use crate::data::Points;
use crate::domain::TriangleMesh;
use crate::linalg;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// At most this many neighbours determine a polynomial.
const MOST_NEIGHBOURS: usize = 16;

/// A quadratic polynomial needs five neighbours; more keep it from following noise. Where fewer lie
/// within two edges, as in a corner, those within three are taken.
const FEWEST_NEIGHBOURS: usize = 8;

/// The smallest relative singular value: neighbours on a line or a conic do not determine the polynomial.
const DEPENDENT: f64 = 1e-3;

/// Quadratic polynomials are taken if their error is at most this fraction of that of linear ones: at a jump
/// the two are about level, and only linear ones do not overshoot.
const CLEARLY_BETTER: f64 = 0.5;

/// At most this many nodes and samples are used to choose between linear and quadratic polynomials.
const PROBE_NODES: usize = 256;
const PROBE_SAMPLES: usize = 32;

/// The polynomials of all nodes.
#[derive(Debug)]
pub(super) struct NodalPolynomials {
    nodes: Vec<Local>,
}

/// A polynomial as a function of the neighbours' values.
#[derive(Debug)]
struct Local {
    neighbours: Vec<usize>,
    /// For each neighbour, what a unit difference of its value from the node's adds to each coefficient.
    coefficients: Vec<Vec<f64>>,
    /// The distance of the farthest neighbour, the unit of length.
    reach: f64,
}

impl NodalPolynomials {
    /// For values at the nodes of `mesh`, which are `points`.
    pub(super) fn new(points: &Points, mesh: &TriangleMesh) -> Self {
        let rings = Rings::new(points.len(), mesh);
        let nodes = (0..points.len()).into_par_iter();
        let nodes = nodes.map(|node| {
            let near = rings.nearest(points, node);
            Local::new(points, node, near)
        });
        NodalPolynomials {
            nodes: nodes.collect(),
        }
    }

    /// Adds `share` of the polynomial of `node` at `x` to a stencil.
    pub(super) fn add(
        &self,
        points: &Points,
        node: usize,
        x: &[f64],
        share: f64,
        to: &mut Stencil,
    ) {
        let local = &self.nodes[node];
        let own = points.point(node);
        let [dx, dy] = [x[0] - own[0], x[1] - own[1]];
        let farther = (dx.hypot(dy) / local.reach).max(1.0);
        let monomials = monomials([dx, dy].map(|d| d / (local.reach * farther)));
        let mut rest = 1.0;
        for (&neighbour, coefficients) in local.neighbours.iter().zip(&local.coefficients) {
            let pairs = coefficients.iter().zip(monomials);
            let weight: f64 = pairs.map(|(c, m)| c * m).sum();
            rest -= weight;
            to.push((neighbour, share * weight));
        }
        to.push((node, share * rest));
    }

    /// Two if quadratic polynomials predict the values (one column per sample) at some nodes from their neighbours clearly
    /// better than linear ones, else one.
    pub(super) fn best_degree(
        points: &Points,
        mesh: &TriangleMesh,
        values: MatRef<'_, f64>,
    ) -> usize {
        let rings = Rings::new(points.len(), mesh);
        let samples = values.ncols().min(PROBE_SAMPLES);
        let step = points.len().div_ceil(PROBE_NODES).max(1);
        let mut errors = [0.0, 0.0];
        for node in (0..points.len()).step_by(step) {
            let near = rings.nearest(points, node);
            let weights = [1, 2].map(|degree| left_out_weights(points, node, &near, degree));
            let [Some(first), Some(second)] = weights else {
                continue;
            };
            for s in 0..samples {
                let truth = values[(node, s)];
                for (error, weights) in errors.iter_mut().zip([&first, &second]) {
                    let pairs = near.iter().zip(weights);
                    let found: f64 = pairs.map(|(&j, w)| w * values[(j, s)]).sum();
                    *error += (found - truth).powi(2);
                }
            }
        }
        match errors[1] < CLEARLY_BETTER.powi(2) * errors[0] {
            true => 2,
            false => 1,
        }
    }
}

impl Local {
    /// The quadratic polynomial of `node`, or a linear one if its neighbours do not determine a quadratic one.
    fn new(points: &Points, node: usize, neighbours: Vec<usize>) -> Self {
        let reach = reach(points, node, &neighbours);
        let fit = |count: usize| {
            let row = |&j: &usize| {
                let d = offset(points, node, j).map(|d| d / reach);
                (monomials(d)[..count].to_vec(), 1.0 / d[0].hypot(d[1]))
            };
            least_squares(&neighbours.iter().map(row).collect::<Vec<_>>())
        };
        match fit(5).or_else(|| fit(2)) {
            Some(solution) => Local {
                coefficients: (0..neighbours.len())
                    .map(|j| solution.col(j).iter().copied().collect())
                    .collect(),
                neighbours,
                reach,
            },
            None => Local {
                neighbours: Vec::new(),
                coefficients: Vec::new(),
                reach: 1.0,
            },
        }
    }
}

/// The weights of the values at `near` in the prediction at `node` by the least-squares polynomial of a degree.
fn left_out_weights(
    points: &Points,
    node: usize,
    near: &[usize],
    degree: usize,
) -> Option<Vec<f64>> {
    let count = [2, 5][degree - 1];
    if near.len() < count + 2 {
        return None;
    }
    let reach = reach(points, node, near);
    let row = |&j: &usize| {
        let d = offset(points, node, j).map(|d| d / reach);
        let mut row = vec![1.0];
        row.extend(&monomials(d)[..count]);
        (row, 1.0 / d[0].hypot(d[1]))
    };
    let solution = least_squares(&near.iter().map(row).collect::<Vec<_>>())?;
    Some(solution.row(0).iter().copied().collect())
}

/// $x, y, x^2, xy, y^2$.
fn monomials([x, y]: [f64; 2]) -> [f64; 5] {
    [x, y, x * x, x * y, y * y]
}

fn offset(points: &Points, from: usize, to: usize) -> [f64; 2] {
    let (a, b) = (points.point(from), points.point(to));
    [b[0] - a[0], b[1] - a[1]]
}

fn reach(points: &Points, node: usize, neighbours: &[usize]) -> f64 {
    let distances = neighbours.iter().map(|&j| {
        let [dx, dy] = offset(points, node, j);
        dx.hypot(dy)
    });
    distances.fold(f64::MIN_POSITIVE, f64::max)
}

/// Coefficients of weighted least squares as a function of the right-hand sides, one column for each row of the system;
/// `None` if the rows do not determine them.
pub(super) fn least_squares(rows: &[(Vec<f64>, f64)]) -> Option<Mat<f64>> {
    let count = rows.first()?.0.len();
    if rows.len() < count {
        return None;
    }
    let weighted = Mat::from_fn(rows.len(), count, |i, j| rows[i].1 * rows[i].0[j]);
    let svd = linalg::thin_svd_seq(weighted.as_ref()).ok()?;
    let (first, last) = (svd.s.first()?, svd.s.last()?);
    if *last <= DEPENDENT * first {
        return None;
    }
    Some(Mat::from_fn(count, rows.len(), |c, i| {
        let terms = (0..count).map(|k| svd.v[(c, k)] * svd.u[(i, k)] / svd.s[k]);
        terms.sum::<f64>() * rows[i].1
    }))
}

/// Which nodes share an edge.
struct Rings {
    adjacent: Vec<Vec<usize>>,
}

impl Rings {
    fn new(nodes: usize, mesh: &TriangleMesh) -> Self {
        let mut adjacent = vec![Vec::new(); nodes];
        for &[a, b] in mesh.edges() {
            adjacent[a].push(b);
            adjacent[b].push(a);
        }
        Rings { adjacent }
    }

    /// The nearest nodes within two edges, or within three.
    fn nearest(&self, points: &Points, node: usize) -> Vec<usize> {
        let mut near = self.widened(&self.widened(&[node]));
        if near.len() <= FEWEST_NEIGHBOURS {
            near = self.widened(&near);
        }
        near.retain(|&j| j != node);
        let squared = |j: &usize| {
            let [dx, dy] = offset(points, node, *j);
            dx * dx + dy * dy
        };
        near.sort_by(|a, b| squared(a).total_cmp(&squared(b)));
        near.truncate(MOST_NEIGHBOURS);
        near
    }

    /// These nodes and those that share an edge with them, in order.
    fn widened(&self, nodes: &[usize]) -> Vec<usize> {
        let beside = nodes.iter().flat_map(|&j| &self.adjacent[j]);
        let mut all: Vec<usize> = nodes.iter().chain(beside).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
