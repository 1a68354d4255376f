//! Polygons with holes.

use crate::data::Bounds;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A polygon: the inside of an outer ring minus the insides of its holes.
///
/// A ring lists its corners once, in either direction; a last corner equal to the first is dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rings", into = "Rings")]
pub struct Polygon {
    outer: Vec<[f64; 2]>,
    holes: Vec<Vec<[f64; 2]>>,
}

/// A polygon as written in settings.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rings {
    outer: Vec<[f64; 2]>,
    #[serde(default)]
    holes: Vec<Vec<[f64; 2]>>,
}

impl Polygon {
    /// Checks the rings.
    ///
    /// # Errors
    /// If a ring has fewer than three corners, a repeated one, no area or a coordinate that is not
    /// finite; if sides touch or cross other than at a common corner; if a hole is not inside the
    /// outer ring or lies inside another hole.
    pub fn new(outer: Vec<[f64; 2]>, holes: Vec<Vec<[f64; 2]>>) -> Result<Self> {
        let mut rings = Vec::with_capacity(1 + holes.len());
        rings.push(check_ring(outer, "the outer ring".into())?);
        for (k, hole) in holes.into_iter().enumerate() {
            rings.push(check_ring(hole, format!("hole {k}"))?);
        }
        check_sides(&rings)?;
        let outer = rings.remove(0);
        // Sides do not touch, so one corner decides for a whole ring.
        for (k, hole) in rings.iter().enumerate() {
            if !ring_contains(&outer, hole[0]) {
                return Err(Error::Config(format!(
                    "hole {k} of the polygon lies outside its outer ring; remove it or move it inside"
                )));
            }
            for (l, other) in rings.iter().enumerate() {
                if k != l && ring_contains(other, hole[0]) {
                    return Err(Error::Config(format!(
                        "hole {k} of the polygon lies inside hole {l}; remove it"
                    )));
                }
            }
        }
        Ok(Polygon {
            outer,
            holes: rings,
        })
    }

    /// A rectangle without holes.
    ///
    /// # Errors
    /// If `bounds` is not two-dimensional or is flat.
    #[doc(hidden)] // for the tests of other crates
    pub fn rectangle(bounds: &Bounds) -> Result<Self> {
        Self::new(rectangle_ring(bounds)?, Vec::new())
    }

    /// The outer ring.
    pub fn outer(&self) -> &[[f64; 2]] {
        &self.outer
    }

    /// The holes.
    pub fn holes(&self) -> &[Vec<[f64; 2]>] {
        &self.holes
    }

    /// The outer ring and the holes.
    #[doc(hidden)] // for c2cnet-problems
    pub fn rings(&self) -> impl Iterator<Item = &[[f64; 2]]> {
        std::iter::once(self.outer.as_slice()).chain(self.holes.iter().map(Vec::as_slice))
    }

    /// The area, without the holes.
    pub fn area(&self) -> f64 {
        let holes: f64 = self.holes.iter().map(|h| signed_area(h).abs()).sum();
        signed_area(&self.outer).abs() - holes
    }

    /// Whether `point` lies inside and in no hole; on a side, rounding decides.
    pub fn contains(&self, point: [f64; 2]) -> bool {
        ring_contains(&self.outer, point) && !self.holes.iter().any(|h| ring_contains(h, point))
    }
}

/// The corners of a rectangle.
///
/// # Errors
/// If `bounds` is not two-dimensional.
pub fn rectangle_ring(bounds: &Bounds) -> Result<Vec<[f64; 2]>> {
    let &[[left, right], [bottom, top]] = bounds.sides() else {
        return Err(Error::Config(format!(
            "a rectangle has two sides, {bounds} has {}",
            bounds.dim()
        )));
    };
    Ok(vec![
        [left, bottom],
        [right, bottom],
        [right, top],
        [left, top],
    ])
}

/// `segments` equally spaced points of a circle.
pub fn circle_ring(centre: [f64; 2], radius: f64, segments: usize) -> Vec<[f64; 2]> {
    (0..segments)
        .map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / segments as f64;
            [
                centre[0] + radius * angle.cos(),
                centre[1] + radius * angle.sin(),
            ]
        })
        .collect()
}

/// Twice the area of the triangle $abc$, positive if counter-clockwise.
pub(super) fn cross(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

pub(super) fn signed_area(ring: &[[f64; 2]]) -> f64 {
    let origin = ring[0];
    let pairs = ring.iter().zip(ring.iter().skip(1));
    0.5 * pairs.map(|(&a, &b)| cross(origin, a, b)).sum::<f64>()
}

/// Even-odd rule: how many sides a ray to the right crosses.
fn ring_contains(ring: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let mut inside = false;
    for (i, a) in ring.iter().enumerate() {
        let b = ring[(i + 1) % ring.len()];
        if (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) {
            inside = !inside;
        }
    }
    inside
}

fn check_ring(mut ring: Vec<[f64; 2]>, name: String) -> Result<Vec<[f64; 2]>> {
    if ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
    if let Some((i, p)) = ring
        .iter()
        .enumerate()
        .find(|(_, p)| !p.iter().all(|c| c.is_finite()))
    {
        return Err(Error::NotFinite {
            what: format!("{name} of the polygon"),
            place: format!("corner {i}"),
            value: if p[0].is_finite() { p[1] } else { p[0] },
            optional: false,
        });
    }
    if ring.len() < 3 {
        return Err(Error::Config(format!(
            "{name} of the polygon has {} different corners; it needs at least 3",
            ring.len()
        )));
    }
    let n = ring.len();
    if let Some(i) = (0..n).find(|&i| ring[i] == ring[(i + 1) % n]) {
        return Err(Error::Config(format!(
            "{name} of the polygon has the corner {:?} twice in a row, at {i}; give it once",
            ring[i]
        )));
    }
    let extent = ring.iter().fold(0.0f64, |e, p| {
        e.max((p[0] - ring[0][0]).abs())
            .max((p[1] - ring[0][1]).abs())
    });
    // Outside this range squares and products of coordinates lose their digits.
    if !(1e-30..=1e30).contains(&extent) {
        return Err(Error::Config(format!(
            "{name} of the polygon has extent {extent:e}; choose units in which it is near 1"
        )));
    }
    let area = signed_area(&ring).abs();
    if area <= 1e-12 * extent * extent {
        return Err(Error::Config(format!(
            "{name} of the polygon has area {area:e} at extent {extent:e}; its corners must not lie on a line"
        )));
    }
    Ok(ring)
}

/// No two sides may touch, except neighbours of a ring at their common corner.
fn check_sides(rings: &[Vec<[f64; 2]>]) -> Result<()> {
    let mut sides = Vec::new();
    for (r, ring) in rings.iter().enumerate() {
        for (i, &a) in ring.iter().enumerate() {
            sides.push((r, i, a, ring[(i + 1) % ring.len()]));
        }
    }
    for (k, &(r, i, a, b)) in sides.iter().enumerate() {
        for &(s, j, c, d) in &sides[k + 1..] {
            let n = rings[r].len();
            let touch = if r == s && j == i + 1 {
                folds_back(a, b, d)
            } else if r == s && i == 0 && j == n - 1 {
                folds_back(c, a, b)
            } else {
                segments_touch(a, b, c, d)
            };
            if touch {
                let name = |ring: usize| match ring {
                    0 => "the outer ring".to_string(),
                    k => format!("hole {}", k - 1),
                };
                return Err(Error::Config(format!(
                    "side {i} of {} and side {j} of {} of the polygon touch or cross; rings must be simple and disjoint",
                    name(r),
                    name(s)
                )));
            }
        }
    }
    Ok(())
}

/// Whether $b \to c$ runs back over $a \to b$.
fn folds_back(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> bool {
    let dot = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]);
    cross(a, b, c) == 0.0 && dot < 0.0
}

fn segments_touch(a: [f64; 2], b: [f64; 2], c: [f64; 2], d: [f64; 2]) -> bool {
    let apart = |k: usize| a[k].max(b[k]) < c[k].min(d[k]) || c[k].max(d[k]) < a[k].min(b[k]);
    if apart(0) || apart(1) {
        return false;
    }
    let same_side = |p: f64, q: f64| (p > 0.0 && q > 0.0) || (p < 0.0 && q < 0.0);
    !same_side(cross(a, b, c), cross(a, b, d)) && !same_side(cross(c, d, a), cross(c, d, b))
}

impl TryFrom<Rings> for Polygon {
    type Error = Error;
    fn try_from(rings: Rings) -> Result<Self> {
        Polygon::new(rings.outer, rings.holes)
    }
}

impl From<Polygon> for Rings {
    fn from(polygon: Polygon) -> Self {
        Rings {
            outer: polygon.outer,
            holes: polygon.holes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(lower: f64, upper: f64) -> Vec<[f64; 2]> {
        rectangle_ring(&Bounds::new(vec![[lower, upper]; 2]).unwrap()).unwrap()
    }

    #[test]
    fn holes_are_outside() {
        let hole = circle_ring([0.5, 0.5], 0.25, 32);
        let polygon = Polygon::new(square(0.0, 1.0), vec![hole]).unwrap();
        assert!(polygon.contains([0.1, 0.1]));
        assert!(!polygon.contains([0.5, 0.5]));
        assert!(!polygon.contains([1.1, 0.5]));
        let circle = 16.0 * 0.0625 * (std::f64::consts::TAU / 32.0).sin();
        assert!((polygon.area() - (1.0 - circle)).abs() < 1e-12);
    }

    #[test]
    fn a_closed_ring_is_the_same_ring() {
        let mut closed = square(0.0, 1.0);
        closed.push(closed[0]);
        assert_eq!(
            Polygon::new(closed, vec![]).unwrap(),
            Polygon::rectangle(&Bounds::unit(2)).unwrap()
        );
    }

    #[test]
    fn impossible_polygons_are_errors() {
        let unit = || square(0.0, 1.0);
        let bow = vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        type Ring = Vec<[f64; 2]>;
        let cases: Vec<(&str, Ring, Vec<Ring>)> = vec![
            ("empty", vec![], vec![]),
            ("two corners", vec![[0.0, 0.0], [1.0, 0.0]], vec![]),
            ("a line", vec![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], vec![]),
            ("crossing", bow, vec![]),
            (
                "a spike",
                vec![[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]],
                vec![],
            ),
            (
                "repeated corner",
                vec![[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
                vec![],
            ),
            (
                "not finite",
                vec![[0.0, f64::NAN], [1.0, 0.0], [0.0, 1.0]],
                vec![],
            ),
            ("hole outside", unit(), vec![square(2.0, 3.0)]),
            ("hole across", unit(), vec![square(0.5, 1.5)]),
            ("hole touching", unit(), vec![square(0.5, 1.0)]),
            (
                "hole in hole",
                unit(),
                vec![square(0.2, 0.8), square(0.4, 0.6)],
            ),
            ("hole around", square(0.4, 0.6), vec![unit()]),
        ];
        for (name, outer, holes) in cases {
            assert!(Polygon::new(outer, holes).is_err(), "{name}");
        }
        assert!(Polygon::rectangle(&Bounds::unit(3)).is_err());
    }
}
