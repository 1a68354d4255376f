//! The boundary of a polygon by arc length, and polygons with fewer corners that approximate it.
//!
//! A coarse mesh cannot have a node at each of a rim's many corners. It takes a few of them and
//! remembers where along the rim they are, so that nodes added later lie on the rim again.

use super::polygon::signed_area;
use super::triangulation::distance_squared;
use super::{Polygon, TriangleMesh};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// A side turning by more than this (in radians) at a corner is meant to have that corner.
const SHARP: f64 = 0.6;

/// Directions along the part of a rim that one side replaces turn by at most this: eight sides or
/// more represent a circle, and a side is off by at most a tenth of its length.
const MOST_TURNING: f64 = 0.6;

/// Turning by less than this is rounding: the corner lies on a straight side.
const STRAIGHT: f64 = 1e-9;

/// A point of the boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    ring: usize,
    /// Arc length from the ring's first corner.
    along: f64,
}

/// The rings of a polygon, the domain on their left.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rim {
    rings: Vec<Ring>,
}

#[derive(Debug, Clone, PartialEq)]
struct Ring {
    corners: Vec<[f64; 2]>,
    /// Arc length up to each corner, and then of the whole ring.
    along: Vec<f64>,
}

impl Rim {
    pub(super) fn new(polygon: &Polygon) -> Self {
        let rings = polygon.rings().enumerate().map(|(k, ring)| {
            let mut corners = ring.to_vec();
            if (signed_area(&corners) > 0.0) != (k == 0) {
                corners.reverse();
            }
            let mut along = vec![0.0];
            for (i, &a) in corners.iter().enumerate() {
                let b = corners[(i + 1) % corners.len()];
                along.push(along[i] + distance_squared(a, b).sqrt());
            }
            Ring { corners, along }
        });
        Rim {
            rings: rings.collect(),
        }
    }

    /// The coordinates of a place.
    pub(super) fn at(&self, place: Place) -> [f64; 2] {
        let Ring { corners, along } = &self.rings[place.ring];
        let after = along.partition_point(|&s| s <= place.along);
        let i = after.saturating_sub(1).min(corners.len() - 1);
        let t = (place.along - along[i]) / (along[i + 1] - along[i]);
        let [a, b] = [corners[i], corners[(i + 1) % corners.len()]];
        [0, 1].map(|k| a[k] + t * (b[k] - a[k]))
    }

    /// The place half-way from `from` on to `to`; none if they are on different rings.
    pub(super) fn between(&self, from: Place, to: Place) -> Option<Place> {
        let whole = *self.rings[from.ring].along.last()?;
        (from.ring == to.ring).then(|| {
            let way = (to.along - from.along).rem_euclid(whole);
            Place {
                ring: from.ring,
                along: (from.along + 0.5 * way).rem_euclid(whole),
            }
        })
    }

    /// Corners that are enough for a polygon near this one, as numbers of each ring's corners:
    /// `most_turning` radians of the rim become one side.
    fn thinned(&self, most_turning: f64) -> Vec<Vec<usize>> {
        self.rings
            .iter()
            .map(|ring| {
                let n = ring.corners.len();
                let turning: Vec<f64> = (0..n).map(|i| ring.turning(i)).collect();
                let sharpest = (0..n).fold(0, |s, i| if turning[i] > turning[s] { i } else { s });
                let mut kept = vec![sharpest];
                let mut turned = 0.0;
                for i in (sharpest + 1..sharpest + n).map(|i| i % n) {
                    turned += turning[i];
                    if turned > most_turning || turning[i] > SHARP {
                        kept.push(i);
                        turned = 0.0;
                    }
                }
                kept
            })
            .collect()
    }

    fn select(&self, kept: &[Vec<usize>]) -> Result<Polygon> {
        let corners = |(ring, kept): (&Ring, &Vec<usize>)| {
            kept.iter().map(|&i| ring.corners[i]).collect::<Vec<_>>()
        };
        let mut rings: Vec<_> = self.rings.iter().zip(kept).map(corners).collect();
        let outer = rings.remove(0);
        Polygon::new(outer, rings)
    }
}

impl Ring {
    /// By how much the direction changes at a corner.
    fn turning(&self, i: usize) -> f64 {
        let n = self.corners.len();
        let [a, b, c] = [(i + n - 1) % n, i, (i + 1) % n].map(|i| self.corners[i]);
        let [p, q] = [[b[0] - a[0], b[1] - a[1]], [c[0] - b[0], c[1] - b[1]]];
        let (cross, dot) = (p[0] * q[1] - p[1] * q[0], p[0] * q[0] + p[1] * q[1]);
        cross.atan2(dot).abs()
    }
}

/// A rim and the polygon with fewer corners that approximates it.
pub(super) struct ThinnedRim {
    pub(super) rim: Rim,
    pub(super) polygon: Polygon,
    /// Whether the polygon differs from the rim.
    pub(super) curved: bool,
    /// The sides of the polygon: their ends' coordinates and places.
    sides: Vec<([[f64; 2]; 2], [Place; 2])>,
}

impl ThinnedRim {
    pub(super) fn new(polygon: &Polygon) -> Result<Self> {
        let rim = Rim::new(polygon);
        let straight = rim.thinned(STRAIGHT);
        let few = rim.thinned(MOST_TURNING);
        // Rings that come close to each other may cross with fewer corners.
        let (kept, polygon) = match rim.select(&few) {
            Ok(polygon) => (few, polygon),
            Err(_) => (straight.clone(), rim.select(&straight)?),
        };
        let mut sides = Vec::new();
        for (r, (ring, kept)) in rim.rings.iter().zip(&kept).enumerate() {
            for (k, &i) in kept.iter().enumerate() {
                let j = kept[(k + 1) % kept.len()];
                let place = |i: usize| Place {
                    ring: r,
                    along: ring.along[i],
                };
                let ends = [i, j].map(|i| ring.corners[i]);
                sides.push((ends, [i, j].map(place)));
            }
        }
        Ok(ThinnedRim {
            curved: kept != straight,
            rim,
            polygon,
            sides,
        })
    }

    /// The place on the rim of a point on the thinned polygon's boundary.
    pub(super) fn place_of(&self, point: [f64; 2]) -> Place {
        let mut nearest = (f64::INFINITY, self.sides[0].1[0]);
        for &([a, b], [from, to]) in &self.sides {
            let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
            let along = (point[0] - a[0]) * dx + (point[1] - a[1]) * dy;
            let t = (along / (dx * dx + dy * dy)).clamp(0.0, 1.0);
            let distance = distance_squared(point, [a[0] + t * dx, a[1] + t * dy]);
            if distance < nearest.0 {
                let whole =
                    self.rim.rings[from.ring].along[self.rim.rings[from.ring].corners.len()];
                let way = (to.along - from.along).rem_euclid(whole);
                let along = (from.along + t * way).rem_euclid(whole);
                nearest = (distance, Place { along, ..from });
            }
        }
        nearest.1
    }
}

impl Polygon {
    /// The polygon that a mesh fills, with every node of the boundary as a corner.
    ///
    /// # Errors
    /// If the mesh is not in one piece or its boundary touches itself.
    #[doc(hidden)] // for the example of adaptive meshes
    pub fn filled_by(mesh: &TriangleMesh) -> Result<Self> {
        let mut rings = boundary_rings(mesh)?;
        let outer = (0..rings.len())
            .max_by(|&i, &j| signed_area(&rings[i]).total_cmp(&signed_area(&rings[j])))
            .expect("a mesh has a boundary");
        let outer = rings.remove(outer);
        if let Some(piece) = rings.iter().find(|ring| signed_area(ring) > 0.0) {
            return Err(Error::Data(format!(
                "the mesh is not in one piece: another one is near {:?}; fit the pieces on their own",
                piece[0]
            )));
        }
        Polygon::new(outer, rings)
    }
}

/// The boundary's nodes ring by ring, the triangles on the left.
fn boundary_rings(mesh: &TriangleMesh) -> Result<Vec<Vec<[f64; 2]>>> {
    let mut boundary = vec![false; mesh.edges().len()];
    mesh.boundary_edges()
        .iter()
        .for_each(|&e| boundary[e] = true);
    let mut next = BTreeMap::new();
    for (&[a, b, c], edges) in mesh.triangles().iter().zip(mesh.triangle_edges()) {
        for (&e, (from, to)) in edges.iter().zip([(a, b), (b, c), (c, a)]) {
            if boundary[e] && next.insert(from, to).is_some() {
                return Err(Error::Data(format!(
                    "the boundary of the mesh touches itself at node {from}, {:?}; \
                     such a domain has no simple polygon around it",
                    mesh.nodes()[from]
                )));
            }
        }
    }
    let mut rings = Vec::new();
    while let Some((first, mut node)) = next.pop_first() {
        let mut ring = vec![mesh.nodes()[first]];
        while node != first {
            ring.push(mesh.nodes()[node]);
            // Each node of the boundary begins one edge and ends one.
            node = next.remove(&node).expect("the ring continues");
        }
        rings.push(ring);
    }
    Ok(rings)
}
