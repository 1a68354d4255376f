//! Points, the cells between them, and values at the points.

use crate::Cells;
use c2cnet::data::Points;

/// A mesh with point data.
#[derive(Debug, Clone)]
pub struct Mesh {
    /// The points, without trailing coordinates that are the same for all of them: files of meshes know three
    /// dimensions only.
    pub points: Points,
    /// The cells between them.
    pub cells: Cells,
    /// Values at the points.
    pub data: Vec<PointData>,
    /// Names of arrays with values in cells, which cannot be used.
    pub(crate) in_cells: Vec<String>,
}

/// An array of values at all points.
#[derive(Debug, Clone, PartialEq)]
pub struct PointData {
    /// Its name.
    pub name: String,
    /// How many values there are per point.
    pub components: usize,
    /// Point after point.
    pub values: Vec<f64>,
}

impl Mesh {
    /// Points without cells.
    pub fn of_points(points: Points) -> Mesh {
        Mesh {
            points,
            cells: Cells::default(),
            data: Vec::new(),
            in_cells: Vec::new(),
        }
    }

    /// From points in three dimensions.
    pub(crate) fn in_space(
        coords: &[[f64; 3]],
        cells: Cells,
        data: Vec<PointData>,
    ) -> Result<Mesh, String> {
        let Some(first) = coords.first() else {
            return Err("has no points".into());
        };
        cells.check(coords.len())?;
        let varies = |k: &usize| coords.iter().any(|p| p[*k] != first[*k]);
        let dim = match cells.tetrahedra.is_empty() {
            true => (0..3).rev().find(varies).map_or(1, |k| k + 1),
            false => 3,
        };
        for array in &data {
            if array.values.len() != array.components * coords.len() {
                return Err(format!(
                    "has {} values in the array {:?}, expected {}: {} components at {} points",
                    array.values.len(),
                    array.name,
                    array.components * coords.len(),
                    array.components,
                    coords.len()
                ));
            }
        }
        let coords = coords.iter().flat_map(|p| p[..dim].iter().copied());
        Ok(Mesh {
            points: Points::new(dim, coords.collect()).map_err(|e| e.to_string())?,
            cells,
            data,
            in_cells: Vec::new(),
        })
    }

    /// Points in three dimensions, for files that know no others.
    pub(crate) fn coords_in_space(&self) -> Vec<[f64; 3]> {
        let in_space = |p: &[f64]| {
            let mut q = [0.0; 3];
            q[..p.len()].copy_from_slice(p);
            q
        };
        self.points.iter().map(in_space).collect()
    }
}
