//! Cells between points, split into triangles and tetrahedra.

/// Lines, triangles and tetrahedra, by the indices of their corners.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells {
    /// Line segments.
    pub lines: Vec<[usize; 2]>,
    /// Triangles.
    pub triangles: Vec<[usize; 3]>,
    /// Tetrahedra.
    pub tetrahedra: Vec<[usize; 4]>,
}

/// What files hold, numbered as VTK does.
pub(crate) mod kind {
    pub const VERTEX: u8 = 1;
    pub const LINE: u8 = 3;
    pub const TRIANGLE: u8 = 5;
    pub const QUAD: u8 = 9;
    pub const TETRAHEDRON: u8 = 10;
    pub const HEXAHEDRON: u8 = 12;
    pub const WEDGE: u8 = 13;
    pub const PYRAMID: u8 = 14;
    pub const QUADRATIC_LINE: u8 = 21;
    pub const QUADRATIC_TRIANGLE: u8 = 22;
    pub const QUADRATIC_TETRAHEDRON: u8 = 24;
}

/// Parts of a cell by the places of their corners in it.
enum Parts {
    Nothing,
    Lines(&'static [[usize; 2]]),
    Triangles(&'static [[usize; 3]]),
    Tetrahedra(&'static [[usize; 4]]),
}

/// How many corners a kind of cell has, and its parts.
fn parts(kind: u8) -> Option<(usize, Parts)> {
    use Parts::{Lines, Nothing, Tetrahedra, Triangles};
    Some(match kind {
        kind::VERTEX | 2 => (0, Nothing),
        kind::LINE => (2, Lines(&[[0, 1]])),
        kind::TRIANGLE => (3, Triangles(&[[0, 1, 2]])),
        // A pixel counts its corners row by row.
        8 => (4, Triangles(&[[0, 1, 3], [0, 3, 2]])),
        kind::QUAD => (4, Triangles(&[[0, 1, 2], [0, 2, 3]])),
        kind::TETRAHEDRON => (4, Tetrahedra(&[[0, 1, 2, 3]])),
        kind::HEXAHEDRON => (8, Tetrahedra(&HEXAHEDRON)),
        kind::WEDGE => (6, Tetrahedra(&[[0, 1, 2, 5], [0, 1, 5, 4], [0, 4, 5, 3]])),
        kind::PYRAMID => (5, Tetrahedra(&[[0, 1, 2, 4], [0, 2, 3, 4]])),
        kind::QUADRATIC_LINE => (3, Lines(&[[0, 2], [2, 1]])),
        kind::QUADRATIC_TRIANGLE => (6, Triangles(&[[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])),
        kind::QUADRATIC_TETRAHEDRON => (10, Tetrahedra(&QUADRATIC_TETRAHEDRON)),
        _ => return None,
    })
}

/// Around the diagonal from corner 0 to corner 6.
const HEXAHEDRON: [[usize; 4]; 6] = [
    [0, 1, 2, 6],
    [0, 2, 3, 6],
    [0, 3, 7, 6],
    [0, 7, 4, 6],
    [0, 4, 5, 6],
    [0, 5, 1, 6],
];

/// One at each corner, and the octahedron between them around the diagonal from 4 to 9. VTK counts the edges
/// 01, 12, 20, 03, 13, 23 from 4 on.
const QUADRATIC_TETRAHEDRON: [[usize; 4]; 8] = [
    [0, 4, 6, 7],
    [4, 1, 5, 8],
    [6, 5, 2, 9],
    [7, 8, 9, 3],
    [4, 5, 6, 9],
    [4, 6, 7, 9],
    [4, 7, 8, 9],
    [4, 8, 5, 9],
];

impl Cells {
    /// Adds a cell of the kind with this VTK number, split into triangles or tetrahedra.
    pub(crate) fn add(&mut self, kind: u8, corners: &[usize]) -> Result<(), String> {
        let Some((count, parts)) = parts(kind) else {
            return Err(format!(
                "has a cell of VTK's kind {kind}, which cannot be split into triangles or tetrahedra here; triangulate \
                 it first (ParaView: Triangulate, or Tetrahedralize)"
            ));
        };
        if corners.len() < count {
            return Err(format!(
                "has a cell with {} corners; its kind needs {count}",
                corners.len()
            ));
        }
        match parts {
            Parts::Nothing => {}
            Parts::Lines(all) => self.lines.extend(all.iter().map(|p| p.map(|i| corners[i]))),
            Parts::Triangles(all) => {
                let cells = all.iter().map(|p| p.map(|i| corners[i]));
                self.triangles.extend(cells);
            }
            Parts::Tetrahedra(all) => {
                let cells = all.iter().map(|p| p.map(|i| corners[i]));
                self.tetrahedra.extend(cells);
            }
        }
        Ok(())
    }

    /// Whether all corners are among this many points.
    pub(crate) fn check(&self, points: usize) -> Result<(), String> {
        let corners = self.lines.iter().flatten();
        let corners = corners.chain(self.triangles.iter().flatten());
        let mut corners = corners.chain(self.tetrahedra.iter().flatten());
        match corners.find(|i| **i >= points) {
            Some(i) => Err(format!(
                "has a cell that refers to point {i}, but its points are 0 to {}",
                points.saturating_sub(1)
            )),
            None => Ok(()),
        }
    }

    /// Kind and corners of every cell of the highest dimension; a vertex at each of `points` points where there is none.
    pub(crate) fn highest(&self, points: usize) -> Vec<(u8, Vec<usize>)> {
        fn all<const C: usize>(kind: u8, cells: &[[usize; C]]) -> Vec<(u8, Vec<usize>)> {
            cells.iter().map(|c| (kind, c.to_vec())).collect()
        }
        match self {
            _ if !self.tetrahedra.is_empty() => all(kind::TETRAHEDRON, &self.tetrahedra),
            _ if !self.triangles.is_empty() => all(kind::TRIANGLE, &self.triangles),
            _ if !self.lines.is_empty() => all(kind::LINE, &self.lines),
            _ => (0..points).map(|i| (kind::VERTEX, vec![i])).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume.
    fn volume(p: [[f64; 3]; 4]) -> f64 {
        let [a, b, c] = [1, 2, 3].map(|i| [0, 1, 2].map(|k| p[i][k] - p[0][k]));
        a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    }

    #[test]
    fn parts_fill_their_cell_and_point_one_way() {
        let cube = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
            [0.0, 1.0, 1.0],
        ];
        let at = |i: usize| cube[i];
        let corners = [0, 1, 3, 4].map(at);
        let middle = |a: usize, b: usize| {
            let (p, q) = (corners[a], corners[b]);
            [0, 1, 2].map(|k| 0.5 * (p[k] + q[k]))
        };
        let edges = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)];
        let mut ten = corners.to_vec();
        ten.extend(edges.map(|(a, b)| middle(a, b)));
        // VTK's wedge has its second triangle where the normal of the first, 0 2 1, points to.
        let cases = [
            (kind::HEXAHEDRON, cube.to_vec(), 6.0),
            (kind::WEDGE, [0, 1, 3, 4, 5, 7].map(at).to_vec(), 3.0),
            (kind::PYRAMID, [0, 1, 2, 3, 4].map(at).to_vec(), 2.0),
            (kind::QUADRATIC_TETRAHEDRON, ten, 1.0),
        ];
        for (kind, points, whole) in cases {
            let mut cells = Cells::default();
            let corners: Vec<usize> = (0..points.len()).collect();
            cells.add(kind, &corners).unwrap();
            let all = cells
                .tetrahedra
                .iter()
                .map(|t| volume(t.map(|i| points[i])));
            let all: Vec<f64> = all.collect();
            assert!(
                (all.iter().sum::<f64>() - whole).abs() < 1e-12,
                "{kind}: {all:?}"
            );
            assert!(all.iter().all(|v| *v > 1e-12), "{kind}: {all:?}");
        }
    }

    #[test]
    fn unknown_and_short_cells_are_refused() {
        let mut cells = Cells::default();
        assert!(cells.add(42, &[0, 1, 2]).unwrap_err().contains("kind 42"));
        assert!(
            cells
                .add(kind::QUAD, &[0, 1, 2])
                .unwrap_err()
                .contains("needs 4")
        );
        cells.add(kind::QUAD, &[0, 1, 2, 7]).unwrap();
        assert!(cells.check(4).unwrap_err().contains("point 7"));
    }
}
