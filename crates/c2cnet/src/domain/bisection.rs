//! Refining meshes where it is needed: marked elements are cut in two, neighbours as far as needed.
//!
//! Triangles are cut by newest-vertex bisection. The edge to be cut is the one from the first corner
//! to the second; with $m$ its middle,
//! $$[a, b, c] \to [c, a, m],\ [b, c, m],$$
//! so that the next cut is opposite the newest node. Only four shapes of triangles come from each of
//! the first ones, so angles stay bounded below however often and wherever the mesh is refined.

use super::polygon::cross;
use super::rim::{Place, Rim, ThinnedRim};
use super::triangulation::distance_squared;
use super::{IntervalMesh, Polygon, TriangleMesh};
use crate::Result;

/// A node returns to a curved rim if it is off by at most this part of its edge.
const NEAR: f64 = 0.25;

/// Bending may not make a part smaller than this of the triangle it is a part of; without bending the
/// smallest part is a quarter.
const SMALLEST_PART: f64 = 0.1;

impl IntervalMesh {
    /// The mesh with the elements `marked` cut in the middle; those too short for numbers stay.
    ///
    /// # Panics
    /// If there is no such element.
    pub(crate) fn bisected(&self, marked: &[usize]) -> Result<Self> {
        let mut marked = marked.to_vec();
        marked.sort_unstable();
        marked.dedup();
        let mut nodes = self.nodes().to_vec();
        nodes.extend(marked.into_iter().filter_map(|e| {
            let [a, b] = [self.nodes()[e], self.nodes()[e + 1]];
            let middle = a + 0.5 * (b - a);
            (a < middle && middle < b).then_some(middle)
        }));
        IntervalMesh::new(nodes)
    }
}

/// A triangle mesh that can be refined in places.
#[derive(Debug, Clone, PartialEq)]
pub struct RefinableMesh {
    /// Each triangle is cut next between its first two corners.
    mesh: TriangleMesh,
    /// The boundary that the mesh approximates, where it is not the mesh's own.
    rim: Option<Rim>,
    /// Where nodes lie on the rim.
    places: Vec<Option<Place>>,
    curved: bool,
}

impl RefinableMesh {
    /// Starts from a mesh, whose boundary is kept as it is; longest edges are cut first.
    ///
    /// # Errors
    /// None for a mesh that is one.
    pub fn new(mesh: &TriangleMesh) -> Result<Self> {
        Ok(RefinableMesh {
            mesh: longest_edges_first(mesh)?,
            rim: None,
            places: vec![None; mesh.nodes().len()],
            curved: false,
        })
    }

    /// Starts from a coarse mesh of a polygon, with edges of about `size` or shorter.
    ///
    /// Corners of curved rims are thinned out: eight sides may represent a circle. Nodes added later
    /// on such a side lie on the rim.
    ///
    /// # Errors
    /// As [`TriangleMesh::constrained_delaunay`].
    pub fn of_polygon(polygon: &Polygon, size: f64) -> Result<Self> {
        let thinned = ThinnedRim::new(polygon)?;
        let coarse = TriangleMesh::constrained_delaunay(&thinned.polygon, size)?;
        let mut nodes = coarse.nodes().to_vec();
        let mut places = vec![None; nodes.len()];
        for i in coarse.boundary_nodes() {
            let place = thinned.place_of(nodes[i]);
            places[i] = Some(place);
            nodes[i] = thinned.rim.at(place);
        }
        // Nodes that were added on a thinned side return to the rim if no triangle suffers.
        let keeps_shape = coarse.triangles().iter().enumerate().all(|(t, corners)| {
            let [a, b, c] = coarse.corners(t);
            area(&nodes, *corners) > 0.5 * cross(a, b, c)
        });
        let mesh = if keeps_shape {
            TriangleMesh::new(nodes, coarse.triangles().to_vec())?
        } else {
            coarse
        };
        Ok(RefinableMesh {
            mesh: longest_edges_first(&mesh)?,
            rim: Some(thinned.rim),
            places,
            curved: thinned.curved,
        })
    }

    /// The current mesh.
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// Whether points of the domain may lie a little outside the mesh, beyond a curved rim.
    pub(crate) fn is_curved(&self) -> bool {
        self.curved
    }

    /// The mesh with the triangles `marked` cut in two, and others as far as it takes to leave no
    /// node on the side of a triangle.
    ///
    /// # Errors
    /// If triangles become too small for numbers.
    ///
    /// # Panics
    /// If there is no such triangle.
    pub(crate) fn bisected(&self, marked: &[usize]) -> Result<Self> {
        let cut = self.edges_to_cut(marked);
        match self.cut(&cut, true) {
            Some(cut) => cut,
            None => self
                .cut(&cut, false)
                .expect("straight cuts leave parts of a quarter"),
        }
    }

    /// The edges of the marked triangles that are next, and those that follow from them: a triangle
    /// with an edge to be cut is cut at its own next edge first.
    fn edges_to_cut(&self, marked: &[usize]) -> Vec<bool> {
        let of_triangle = self.mesh.triangle_edges();
        let mut cut = vec![false; self.mesh.edges().len()];
        for &t in marked {
            cut[of_triangle[t][0]] = true;
        }
        loop {
            let mut changed = false;
            for &[next, second, third] in of_triangle {
                if !cut[next] && (cut[second] || cut[third]) {
                    cut[next] = true;
                    changed = true;
                }
            }
            if !changed {
                return cut;
            }
        }
    }

    /// Cuts the edges; `None` if bending them to the rim spoils a triangle.
    fn cut(&self, cut: &[bool], bend: bool) -> Option<Result<Self>> {
        let mut nodes = self.mesh.nodes().to_vec();
        let mut places = self.places.clone();
        let mut on_boundary = vec![false; cut.len()];
        for &e in self.mesh.boundary_edges() {
            on_boundary[e] = true;
        }
        let mut middle = vec![usize::MAX; cut.len()];
        let mut triangles = Vec::new();
        for (&[a, b, c], edges) in self.mesh.triangles().iter().zip(self.mesh.triangle_edges()) {
            for (&e, (from, to)) in edges.iter().zip([(a, b), (b, c), (c, a)]) {
                if cut[e] && middle[e] == usize::MAX {
                    middle[e] = nodes.len();
                    let (node, place) = self.middle(from, to, on_boundary[e], bend);
                    nodes.push(node);
                    places.push(place);
                }
            }
            let first = triangles.len();
            split(
                [a, b, c],
                edges.map(|e| cut[e].then(|| middle[e])),
                &mut triangles,
            );
            let whole = area(&nodes, [a, b, c]);
            let parts = &triangles[first..];
            if bend
                && parts
                    .iter()
                    .any(|&p| area(&nodes, p) < SMALLEST_PART * whole)
            {
                return None;
            }
        }
        Some(
            TriangleMesh::new(nodes, triangles).map(|mesh| RefinableMesh {
                mesh,
                rim: self.rim.clone(),
                places,
                curved: self.curved,
            }),
        )
    }

    /// The middle of the edge that a triangle has from one node to another.
    fn middle(
        &self,
        from: usize,
        to: usize,
        on_boundary: bool,
        bend: bool,
    ) -> ([f64; 2], Option<Place>) {
        let [a, b] = [from, to].map(|i| self.mesh.nodes()[i]);
        let straight = [0, 1].map(|k| 0.5 * (a[k] + b[k]));
        let (Some(rim), true) = (&self.rim, on_boundary) else {
            return (straight, None);
        };
        let ends = self.places[from].zip(self.places[to]);
        let Some(place) = ends.and_then(|(from, to)| rim.between(from, to)) else {
            return (straight, None);
        };
        let bent = rim.at(place);
        let near = distance_squared(bent, straight) <= NEAR * NEAR * distance_squared(a, b);
        (if bend && near { bent } else { straight }, Some(place))
    }
}

/// The parts of a triangle whose edges have these middles; the first edge has one if any has.
fn split([a, b, c]: [usize; 3], [ab, bc, ca]: [Option<usize>; 3], parts: &mut Vec<[usize; 3]>) {
    let Some(m) = ab else {
        parts.push([a, b, c]);
        return;
    };
    match ca {
        Some(n) => parts.extend([[m, c, n], [a, m, n]]),
        None => parts.push([c, a, m]),
    }
    match bc {
        Some(n) => parts.extend([[m, b, n], [c, m, n]]),
        None => parts.push([b, c, m]),
    }
}

fn area(nodes: &[[f64; 2]], [a, b, c]: [usize; 3]) -> f64 {
    cross(nodes[a], nodes[b], nodes[c])
}

/// The same mesh with the longest edge of each triangle between its first two corners.
///
/// Among equal ones the numbers of the nodes decide, so that neighbours agree.
fn longest_edges_first(mesh: &TriangleMesh) -> Result<TriangleMesh> {
    let nodes = mesh.nodes();
    let key = |i: usize, j: usize| (distance_squared(nodes[i], nodes[j]), i.min(j), i.max(j));
    let turned = mesh.triangles().iter().map(|&[a, b, c]| {
        let longest_first = |x: &[usize; 3], y: &[usize; 3]| {
            let (p, q) = (key(x[0], x[1]), key(y[0], y[1]));
            p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2)))
        };
        let turns = [[a, b, c], [b, c, a], [c, a, b]];
        turns.into_iter().max_by(longest_first).unwrap_or([a, b, c])
    });
    TriangleMesh::new(nodes.to_vec(), turned.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bounds;
    use crate::domain::{circle_ring, rectangle_ring};
    use rand::{RngExt, SeedableRng};

    fn l_shape() -> Polygon {
        let corners = [[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]];
        Polygon::new(corners.to_vec(), vec![]).unwrap()
    }

    fn holed() -> Polygon {
        let holes = vec![
            circle_ring([0.3, 0.3], 0.12, 60),
            circle_ring([0.7, 0.6], 0.15, 48),
        ];
        Polygon::new(rectangle_ring(&Bounds::unit(2)).unwrap(), holes).unwrap()
    }

    fn smallest_angle(mesh: &TriangleMesh) -> f64 {
        let angle = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
            let dot = (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1]);
            cross(a, b, c).atan2(dot)
        };
        (0..mesh.triangles().len())
            .map(|t| mesh.corners(t))
            .flat_map(|[a, b, c]| [angle(a, b, c), angle(b, c, a), angle(c, a, b)])
            .fold(f64::INFINITY, f64::min)
    }

    /// Conforming: an edge with one triangle lies on the boundary, which has the length it had.
    fn boundary_length(mesh: &TriangleMesh) -> f64 {
        let length = |&e: &usize| {
            let [i, j] = mesh.edges()[e];
            distance_squared(mesh.nodes()[i], mesh.nodes()[j]).sqrt()
        };
        mesh.boundary_edges().iter().map(length).sum()
    }

    /// Refines towards `point` so often.
    fn refined_at(start: RefinableMesh, point: [f64; 2], times: usize) -> RefinableMesh {
        (0..times).fold(start, |refined, _| {
            let nearest = |&t: &usize| {
                let corners = refined.mesh().corners(t);
                corners.iter().any(|&c| distance_squared(c, point) < 1e-24)
            };
            let all = 0..refined.mesh().triangles().len();
            refined
                .bisected(&all.filter(nearest).collect::<Vec<_>>())
                .unwrap()
        })
    }

    #[test]
    fn local_refinement_conforms_and_keeps_area_and_angles() {
        let polygon = l_shape();
        let start = RefinableMesh::of_polygon(&polygon, 2.0).unwrap();
        let first = smallest_angle(start.mesh());
        let refined = refined_at(start.clone(), [1.0, 1.0], 40);
        let mesh = refined.mesh();
        assert!((mesh.areas().iter().sum::<f64>() - 3.0).abs() < 1e-12);
        assert!((boundary_length(mesh) - 8.0).abs() < 1e-12);
        // Euler without holes.
        assert_eq!(
            mesh.nodes().len() + mesh.triangles().len(),
            mesh.edges().len() + 1
        );
        let smallest = mesh.areas().into_iter().fold(f64::INFINITY, f64::min);
        assert!(smallest < 1e-9, "{smallest}: the corner is resolved");
        assert!(mesh.nodes().len() < 400, "{} nodes", mesh.nodes().len());
        assert!(smallest_angle(mesh) > 0.45 * first);
        assert_eq!(refined, refined_at(start, [1.0, 1.0], 40), "the same again");
    }

    #[test]
    fn random_refinement_conforms_and_keeps_area_and_angles() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let bounds = Bounds::new(vec![[0.0, 3.0], [0.0, 1.0]]).unwrap();
        let box_mesh = TriangleMesh::rectangle(&bounds, 3, 2).unwrap();
        for start in [
            RefinableMesh::new(&box_mesh).unwrap(),
            RefinableMesh::of_polygon(&l_shape(), 0.7).unwrap(),
        ] {
            let first = smallest_angle(start.mesh());
            let (area, rim) = (
                start.mesh().areas().iter().sum::<f64>(),
                boundary_length(start.mesh()),
            );
            let mut refined = start;
            for _ in 0..25 {
                let count = refined.mesh().triangles().len();
                let marked: Vec<_> = (0..8).map(|_| rng.random_range(0..count / 2 + 1)).collect();
                let before = refined.mesh().triangles().len();
                refined = refined.bisected(&marked).unwrap();
                assert!(refined.mesh().triangles().len() > before);
                let mesh = refined.mesh();
                assert!((mesh.areas().iter().sum::<f64>() - area).abs() < 1e-11);
                assert!((boundary_length(mesh) - rim).abs() < 1e-11);
                assert!(smallest_angle(mesh) > 0.45 * first);
            }
        }
    }

    #[test]
    fn a_curved_rim_starts_with_few_corners_and_is_approached() {
        let polygon = holed();
        let start = RefinableMesh::of_polygon(&polygon, 1.0).unwrap();
        assert!(start.is_curved());
        let first = smallest_angle(start.mesh());
        assert!(
            start.mesh().nodes().len() < 80,
            "{}",
            start.mesh().nodes().len()
        );
        let off = |r: &RefinableMesh| (r.mesh().areas().iter().sum::<f64>() - polygon.area()).abs();
        let mut refined = start.clone();
        for _ in 0..6 {
            let all: Vec<_> = (0..refined.mesh().triangles().len()).collect();
            refined = refined.bisected(&all).unwrap();
            let mesh = refined.mesh();
            assert!(smallest_angle(mesh) > 0.4 * first);
            // Euler with two holes.
            assert_eq!(
                mesh.nodes().len() + mesh.triangles().len() + 1,
                mesh.edges().len()
            );
        }
        assert!(
            off(&refined) < 0.05 * off(&start),
            "{} {}",
            off(&refined),
            off(&start)
        );
        assert!(
            !RefinableMesh::of_polygon(&l_shape(), 1.0)
                .unwrap()
                .is_curved()
        );
    }

    #[test]
    fn a_mesh_gives_back_its_polygon() {
        let polygon = holed();
        let mesh = TriangleMesh::constrained_delaunay(&polygon, 0.05).unwrap();
        let found = Polygon::filled_by(&mesh).unwrap();
        assert_eq!(found.holes().len(), 2);
        assert!((found.area() - polygon.area()).abs() < 1e-12);
        let apart = TriangleMesh::new(
            vec![[0., 0.], [1., 0.], [0., 1.], [5., 5.], [6., 5.], [5., 6.]],
            vec![[0, 1, 2], [3, 4, 5]],
        );
        let message = Polygon::filled_by(&apart.unwrap()).unwrap_err().to_string();
        assert!(message.contains("one piece"), "{message}");
        let touching = TriangleMesh::new(
            vec![[0., 0.], [1., 0.], [0., 1.], [-1., 0.], [0., -1.]],
            vec![[0, 1, 2], [0, 3, 4]],
        );
        let message = Polygon::filled_by(&touching.unwrap())
            .unwrap_err()
            .to_string();
        assert!(message.contains("touches itself at node 0"), "{message}");
    }

    #[test]
    fn intervals_are_cut_in_the_middle() {
        let mesh = IntervalMesh::new(vec![0.0, 1.0, 3.0]).unwrap();
        assert_eq!(
            mesh.bisected(&[1, 1]).unwrap().nodes(),
            [0.0, 1.0, 2.0, 3.0]
        );
        let next = f64::from_bits(1f64.to_bits() + 1);
        let short = IntervalMesh::new(vec![1.0, next]).unwrap();
        assert_eq!(short.bisected(&[0]).unwrap(), short);
    }
}
