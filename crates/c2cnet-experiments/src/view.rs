//! Points in two and more dimensions as they are seen in the plane: all of them, slices, or a shadow.

use crate::labels::Labels;
use crate::terminal::number;
use c2cnet::data::{Bounds, Points};
use c2cnet_figure::{ColourScale, Panel, Plane};

/// Dots to a panel: more would hide one another.
const MOST_DOTS: usize = 1500;

/// Cells between points, where they are known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cells<'a> {
    /// In the plane.
    pub triangles: Option<&'a [[usize; 3]]>,
    /// In space.
    pub tetrahedra: Option<&'a [[usize; 4]]>,
}

/// A plane picture of values at points.
#[derive(Debug)]
pub struct View {
    /// Which part is seen: empty where it is all.
    pub title: String,
    /// Which coordinates the axes show.
    across: usize,
    up: usize,
    plane: Plane,
    extent: Bounds,
    picks: Vec<Pick>,
}

/// A value between those at two points: a part of the way from the first to the second.
type Pick = (usize, usize, f64);

/// How values at `points` are seen: a picture in the plane, three slices in space, a shadow on the first two coordinates
/// beyond it.
pub fn views(points: &Points, cells: Cells<'_>, axes: &[String]) -> Vec<View> {
    match (points.dim(), cells.tetrahedra) {
        (0 | 1, _) => Vec::new(),
        (2, _) => {
            let all: Vec<usize> = (0..points.len()).collect();
            view(points, [0, 1], &all, cells.triangles)
                .into_iter()
                .collect()
        }
        (3, Some(tetrahedra)) => [2, 1, 0]
            .into_iter()
            .filter_map(|k| cut(points, tetrahedra, k, axes))
            .collect(),
        (3, None) => [2, 1, 0]
            .into_iter()
            .filter_map(|k| slice(points, k, axes))
            .collect(),
        (dim, _) => {
            let chosen = spread(points.len(), MOST_DOTS);
            let mut title = format!("the first 2 of {dim} coordinates");
            if chosen.len() < points.len() {
                title += &format!(", {} of {} points", chosen.len(), points.len());
            }
            let shadow = view(points, [0, 1], &chosen, None);
            shadow
                .map(|view| View { title, ..view })
                .into_iter()
                .collect()
        }
    }
}

impl View {
    /// The values that this view shows, of those at all points.
    pub fn values(&self, values: &[f64]) -> Vec<f64> {
        let between = |&(a, b, t): &Pick| (1.0 - t) * values[a] + t * values[b];
        self.picks.iter().map(between).collect()
    }

    /// The values of [`View::values`] in colours.
    pub fn panel(&self, axes: &[String], title: &str, values: &[f64], scale: ColourScale) -> Panel {
        let names = [axes[self.across].as_str(), axes[self.up].as_str()];
        let panel = self.plane.panel(names, title, values, scale);
        match Labels::is_equal(names, &self.extent) {
            true => panel,
            false => panel.free_aspect(),
        }
    }

    /// Where the values vanish, on a grid.
    pub fn plane(&self) -> &Plane {
        &self.plane
    }
}

/// The points `chosen`, seen along all axes but two.
fn view(
    points: &Points,
    [across, up]: [usize; 2],
    chosen: &[usize],
    triangles: Option<&[[usize; 3]]>,
) -> Option<View> {
    let at = |&i: &usize| [points.point(i)[across], points.point(i)[up]];
    let nodes: Vec<[f64; 2]> = chosen.iter().map(at).collect();
    Some(View {
        title: String::new(),
        across,
        up,
        extent: extent(&nodes)?,
        plane: Plane::new(&nodes, triangles),
        picks: chosen.iter().map(|&i| (i, i, 0.0)).collect(),
    })
}

fn extent(nodes: &[[f64; 2]]) -> Option<Bounds> {
    let points = Points::new(2, nodes.concat()).ok()?;
    points.bounding_box()
}

/// The axes of a slice across axis `k`.
fn others(k: usize) -> [usize; 2] {
    match k {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// The middle layer of a grid, or the points nearest to the middle of anything else.
fn slice(points: &Points, k: usize, axes: &[String]) -> Option<View> {
    let bounds = points.bounding_box()?;
    let middle = 0.5 * (bounds.lower(k) + bounds.upper(k));
    let away = |i: usize| (points.point(i)[k] - middle).abs();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| away(a).total_cmp(&away(b)).then(a.cmp(&b)));
    let level = points.point(*order.first()?)[k];
    let on_level = |i: &usize| (points.point(*i)[k] - level).abs() <= 1e-9 * bounds.width(k);
    let mut layer: Vec<usize> = order.iter().copied().filter(on_level).collect();
    let few = (points.len() as f64).powf(2.0 / 3.0).ceil() as usize;
    let name = &axes[k];
    // A layer of a grid has about as many points as a square of its cube.
    let title = match 4 * layer.len() > few {
        true => format!("{name} = {}", number(level)),
        false => {
            layer = order[..few.clamp(1, points.len())].to_vec();
            format!("{} points near {name} = {}", layer.len(), number(middle))
        }
    };
    layer.sort_unstable();
    Some(View {
        title,
        ..view(points, others(k), &layer, None)?
    })
}

/// The plane through the middle of the mesh, with the values of linear functions on its tetrahedra.
fn cut(points: &Points, tetrahedra: &[[usize; 4]], k: usize, axes: &[String]) -> Option<View> {
    let bounds = points.bounding_box()?;
    // Beside the exact middle, where a layer of nodes may lie.
    let level = bounds.lower(k) + (0.5 + 1e-6) * bounds.width(k);
    let height = |i: usize| points.point(i)[k] - level;
    let [across, up] = others(k);
    let (mut nodes, mut triangles, mut picks) = (Vec::new(), Vec::new(), Vec::new());
    for cell in tetrahedra {
        let (above, below): (Vec<usize>, Vec<usize>) = cell.iter().partition(|&&i| height(i) > 0.0);
        let corners: Vec<(usize, usize)> = match (&above[..], &below[..]) {
            ([a], [b, c, d]) | ([b, c, d], [a]) => vec![(*a, *b), (*a, *c), (*a, *d)],
            // Around the quadrilateral.
            ([a, b], [c, d]) => vec![(*a, *c), (*a, *d), (*b, *d), (*b, *c)],
            _ => continue,
        };
        let first = nodes.len();
        for &(a, b) in &corners {
            let t = height(a) / (height(a) - height(b));
            let (p, q) = (points.point(a), points.point(b));
            let at = |k: usize| (1.0 - t) * p[k] + t * q[k];
            nodes.push([at(across), at(up)]);
            picks.push((a, b, t));
        }
        triangles.extend((2..corners.len()).map(|j| [first, first + j - 1, first + j]));
    }
    Some(View {
        title: format!("{} = {}", axes[k], number(level)),
        across,
        up,
        extent: extent(&nodes)?,
        plane: Plane::new(&nodes, Some(&triangles)),
        picks,
    })
}

/// At most `most` of `n` indices in an order without a pattern: taking every k-th point of a grid
/// would show stripes.
fn spread(n: usize, most: usize) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..n).collect();
    if n > most {
        indices.sort_by_key(|&i| {
            let mixed = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        });
        indices.truncate(most);
        indices.sort_unstable();
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(dim: usize) -> Vec<String> {
        Labels::default().axes("y", "", dim)
    }

    #[test]
    fn a_cube_of_points_is_seen_in_three_layers() {
        let points = Points::grid(&Bounds::unit(3), &[5, 7, 9]);
        let seen = views(&points, Cells::default(), &axes(3));
        let sizes: Vec<usize> = seen.iter().map(|view| view.picks.len()).collect();
        assert_eq!(sizes, [5 * 7, 5 * 9, 7 * 9]);
        assert!(
            seen.iter()
                .all(|view| matches!(view.plane, Plane::Grid { .. }))
        );
        assert_eq!(seen[0].title, "x_{3} = 0.5000");
        let third: Vec<f64> = points.iter().map(|p| p[2]).collect();
        assert!(seen[0].values(&third).iter().all(|v| *v == 0.5));
    }

    #[test]
    fn a_mesh_is_cut_where_its_functions_are_linear() {
        let corners = vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let points = Points::new(3, corners).unwrap();
        let cells = Cells {
            tetrahedra: Some(&[[0, 1, 2, 3]]),
            ..Cells::default()
        };
        let seen = views(&points, cells, &axes(3));
        assert_eq!(seen.len(), 3);
        let sum: Vec<f64> = points
            .iter()
            .map(|p| p[0] + 2.0 * p[1] + 4.0 * p[2])
            .collect();
        let Plane::Mesh(nodes, triangles) = seen[0].plane() else {
            panic!("a cut is a mesh");
        };
        assert_eq!(triangles.len(), 1);
        for (value, node) in seen[0].values(&sum).iter().zip(nodes) {
            assert!((value - (node[0] + 2.0 * node[1] + 2.0)).abs() < 1e-5);
        }
    }

    #[test]
    fn scattered_points_and_many_dimensions_are_seen_in_part() {
        let scattered = Points::grid(&Bounds::unit(1), &[3000]);
        let coords: Vec<f64> = (0..1000)
            .flat_map(|i| [7, 11, 13].map(|m| (f64::from(i * m) * 0.618_033_988_7).fract()))
            .collect();
        let cloud = Points::new(3, coords).unwrap();
        let seen = views(&cloud, Cells::default(), &axes(3));
        assert_eq!(seen[0].picks.len(), 100);
        assert!(seen[0].title.starts_with("100 points near"));
        let many = Points::new(5, scattered.coords().repeat(5)).unwrap();
        let seen = views(&many, Cells::default(), &axes(5));
        assert_eq!(seen[0].picks.len(), MOST_DOTS);
    }
}
