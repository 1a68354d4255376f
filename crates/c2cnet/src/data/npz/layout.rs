//! The meaning of the axes of arrays: points, a grid, or components.

use super::array::shown;
use super::{NpzFile, Side, join_key};
use crate::data::Points;
use crate::{Error, Result};

/// Where the points of a field are in a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Listed, $(n, d)$ or $(n,)$.
    Listed(String),
    /// For each sample, $(N, n, d)$.
    PerSample(String),
    /// In the shape of a grid, $(n_1, \dots, n_d, d)$.
    Grid(String),
    /// By the coordinates along each axis of a grid.
    Axes(Vec<String>),
    /// Not in the file: the known points of the input with this name.
    Known(String),
}

/// How the values of a field are laid out.
#[derive(Debug)]
pub(super) struct Layout {
    pub place: Place,
    pub samples: usize,
    pub points: usize,
    pub components: usize,
}

/// Splits `x1` into `("x", 1)`: the coordinates of a grid along one axis.
pub(super) fn split_axis(stem: &str) -> Option<(&str, usize)> {
    let (side, axis) = stem.split_at_checked(1)?;
    let plain = axis == "0" || !axis.starts_with('0');
    (matches!(side, "x" | "y") && plain).then(|| axis.parse().ok().map(|axis| (side, axis)))?
}

/// The keys of the axes of a grid, in order; empty if the file has none.
pub(in crate::data) fn axis_keys(npz: &NpzFile, stem: &str, name: &str) -> Result<Vec<String>> {
    let key = |k: usize| join_key(&format!("{stem}{k}"), name);
    let keys: Vec<String> = (0..).map(key).take_while(|key| npz.has(key)).collect();
    let stray = npz.keys.iter().find(|k| {
        let (of, of_name) = super::split_key(k);
        let axis = split_axis(of).filter(|(side, _)| *side == stem && of_name == name);
        axis.is_some_and(|(_, axis)| axis >= keys.len())
    });
    match stray {
        Some(stray) => Err(npz.bad(
            stray,
            format!(
                "is an axis of a grid, whose axes are counted from `{}`",
                key(0)
            ),
        )),
        None => Ok(keys),
    }
}

impl Layout {
    /// The layout of the values `key` of this shape, by the shapes of their points in the file.
    pub(super) fn of(npz: &mut NpzFile, side: Side, name: &str, shape: &[usize]) -> Result<Self> {
        let values = join_key(side.values, name);
        let owners: &[&str] = if name.is_empty() { &[""] } else { &[name, ""] };
        for owner in owners {
            let key = join_key(side.points, owner);
            let axes = axis_keys(npz, side.points, owner)?;
            match (npz.has(&key), axes.is_empty()) {
                (true, true) => return Self::by_points(npz, key, &values, shape),
                (false, false) => return Self::by_axes(npz, axes, &values, shape),
                (true, false) => {
                    return Err(npz.bad(
                        &key,
                        format!("and `{}` both give the points; give one of them", axes[0]),
                    ));
                }
                (false, true) => {}
            }
        }
        let points = side.points;
        if let Some((_, known)) = npz.known.iter().find(|(n, _)| points == "x" && n == name) {
            let place = || Place::Known(name.to_string());
            let listed = grid_layout(place(), &[known.len()], shape);
            let natural = || grid_layout(place(), &known.shape(), shape);
            let expected = || grid_shapes(&known.shape());
            return listed.or_else(natural).ok_or_else(|| {
                let grid = known.shape();
                let of_one = match shape == [known.len()] {
                    true => single(&values, shape, shape),
                    false => single(&values, &grid, shape),
                };
                let expected = format!("{} at the model's points{of_one}", expected());
                npz.bad_shape(&values, expected, shape)
            });
        }
        // Points of inputs are never silently used for outputs.
        let inputs: Vec<String> = match points {
            "y" => axis_keys(npz, "x", "")?,
            _ => Vec::new(),
        };
        let same = match inputs.is_empty() {
            false => {
                let same = inputs
                    .iter()
                    .map(|x| format!("{}={x}", x.replacen('x', "y", 1)));
                format!(
                    "; if they are those of the inputs, save {}",
                    same.collect::<Vec<_>>().join(", ")
                )
            }
            true if points == "y" && npz.has("x") => {
                "; if they are those of the inputs, save y=x".into()
            }
            true => String::new(),
        };
        Err(npz.bad(
            &values,
            format!(
                "needs its points `{points}` (or the axes of a grid, `{points}0`, `{points}1`, ...), which the file \
                 lacks{same}; a vector without points is called `{}`",
                join_key(side.vectors, name)
            ),
        ))
    }

    fn by_axes(
        npz: &mut NpzFile,
        axes: Vec<String>,
        values: &str,
        shape: &[usize],
    ) -> Result<Self> {
        let mut counts = Vec::new();
        for key in &axes {
            let along = npz.shape(key, false)?.unwrap_or_default();
            let &[n] = &along[..] else {
                let expected = "(n,), the coordinates of a grid along one axis";
                return Err(npz.bad_shape(key, expected, &along));
            };
            counts.push(n);
        }
        match grid_layout(Place::Axes(axes.clone()), &counts, shape) {
            Some(layout) => Ok(layout),
            None => {
                let slip = grid_slip(values, &counts, shape, &axes);
                Err(npz.bad_shape(
                    values,
                    format!(
                        "{} to fit the axes `{}`{}",
                        grid_shapes(&counts),
                        axes.join("`, `"),
                        slip.map_or_else(String::new, |slip| format!(": {slip}"))
                    ),
                    shape,
                ))
            }
        }
    }

    fn by_points(npz: &mut NpzFile, key: String, values: &str, shape: &[usize]) -> Result<Self> {
        let at = npz.shape(&key, false)?.unwrap_or_default();
        let listed = |place: Place, n: usize| {
            match *shape {
                [samples, m] if m == n => Some((samples, 1)),
                [samples, m, components] if m == n => Some((samples, components)),
                _ => None,
            }
            .map(|(samples, components)| Layout {
                place,
                samples,
                points: n,
                components,
            })
        };
        let found = match at[..] {
            [n] | [n, _] => listed(Place::Listed(key.clone()), n),
            [.., d] => {
                let own = match at[..] {
                    [samples, n, _] if shape.first() == Some(&samples) => {
                        listed(Place::PerSample(key.clone()), n)
                    }
                    _ => None,
                };
                let counts = &at[..at.len() - 1];
                let grid = match counts.len() == d {
                    true => grid_layout(Place::Grid(key.clone()), counts, shape),
                    false => None,
                };
                let counts_key =
                    join_key(&format!("{}_count", &key[..1]), super::split_key(&key).1);
                if own.is_some() && grid.is_some() && !npz.has(&counts_key) {
                    let axis = key.replacen(['x', 'y'], &format!("{}0", &key[..1]), 1);
                    return Err(npz.bad(
                        &key,
                        format!(
                            "of shape {} may be a grid or points of each sample; give a grid by its axes, `{axis}` and \
                             so on, or give the number of points of each sample as `{counts_key}`",
                            shown(&at)
                        ),
                    ));
                }
                own.or(grid)
            }
            [] => None,
        };
        found.ok_or_else(|| unfitting(npz, &key, &at, values, shape))
    }
}

/// Values of shape $(N, n_1, \dots, n_d)$ or with components after that.
fn grid_layout(place: Place, counts: &[usize], shape: &[usize]) -> Option<Layout> {
    let (&samples, rest) = shape.split_first()?;
    let components = match rest.strip_prefix(counts)? {
        [] => 1,
        [components] => *components,
        _ => return None,
    };
    Some(Layout {
        place,
        samples,
        points: counts.iter().product(),
        components,
    })
}

/// A last axis that is longer than this is rather one of samples than one of components.
const MOST_COMPONENTS: usize = 8;

/// What to save instead of the values of one sample on a grid.
fn single(values: &str, counts: &[usize], shape: &[usize]) -> String {
    match shape.strip_prefix(counts) {
        Some([samples]) if counts.len() == 1 && *samples > MOST_COMPONENTS => {
            format!(": {values} looks transposed, save {values}.T")
        }
        Some([] | [_]) => format!(": for a single sample save {values}[None]"),
        _ => String::new(),
    }
}

fn grid_shapes(counts: &[usize]) -> String {
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    let counts = counts.join(", ");
    format!("(samples, {counts}) or (samples, {counts}, components)")
}

/// A shape that would fit, and how to get it.
fn unfitting(npz: &mut NpzFile, key: &str, at: &[usize], values: &str, shape: &[usize]) -> Error {
    if let Some(error) = axes_as_points(npz, key, values, shape) {
        return error;
    }
    if let Some((expected, save)) = mesh_slip(key, at, shape) {
        let expected = format!(
            "{} to fit `{values}` of shape {}: {save}",
            shown(&expected),
            shown(shape)
        );
        return npz.bad_shape(key, expected, at);
    }
    let expected = values_on_grid(key, at, values, shape);
    match expected.or_else(|| values_at_list(key, at, values, shape)) {
        Some(expected) => npz.bad_shape(values, expected, shape),
        None => npz.bad_shape(key, points_of(key, at, values, shape), at),
    }
}

/// The values that fit points in the shape of a grid, if these are such.
fn values_on_grid(key: &str, at: &[usize], values: &str, shape: &[usize]) -> Option<String> {
    let [counts @ .., d] = at else { return None };
    if counts.len() != *d || *d < 2 {
        return None;
    }
    let expected = grid_shapes(counts);
    if let Some(slip) = grid_slip(values, counts, shape, &[]) {
        return Some(format!(
            "{expected} to fit the points `{key}` of shape {}: {slip}",
            shown(at)
        ));
    }
    shape.strip_prefix(counts).filter(|rest| rest.len() < 2)?;
    let of_one = single(values, counts, shape);
    Some(format!("{expected} to fit `{key}`{of_one}"))
}

/// The values that fit listed points, unless these can be values of other points.
fn values_at_list(key: &str, at: &[usize], values: &str, shape: &[usize]) -> Option<String> {
    if let Some(slip) = slip(key, at, values, shape) {
        return Some(format!(
            "(samples, points) or (samples, points, components) at the points `{key}` of shape {}, {slip}",
            shown(at)
        ));
    }
    let n = match at {
        [n] | [n, _] => *n,
        _ => 0,
    };
    let beyond: usize = shape.iter().skip(1).product();
    if shape.len() == 2 || shape.len() == 3 && (n == 0 || n != beyond) {
        return None;
    }
    let flatten = match n == beyond {
        true => format!(
            ": save it as {values}.reshape(len({values}), -1), if `{key}` lists the points in that order"
        ),
        false => String::new(),
    };
    let axis = format!("{}0", &key[..1]);
    Some(format!(
        "(samples, points) or (samples, points, components){flatten}; or give the axes of the grid, `{axis}` \
         and so on, or its points in the shape of the grid",
    ))
}

/// The points that fit values of a shape.
fn points_of(key: &str, at: &[usize], values: &str, shape: &[usize]) -> String {
    let (samples, n) = (shape[0], shape[1]);
    let expected = format!(
        "({n},), ({n}, dimensions) or ({samples}, {n}, dimensions) to fit `{values}` of shape {}",
        shown(shape)
    );
    if at != [samples, n] {
        return expected;
    }
    format!(
        "{expected} (one-dimensional points of each sample need a third axis of length 1: save {key}[..., None])"
    )
}

/// The axes of a grid that were saved as if they were the points of inputs and of outputs.
fn axes_as_points(npz: &mut NpzFile, key: &str, values: &str, shape: &[usize]) -> Option<Error> {
    let &[_, a, b, ..] = shape else { return None };
    let mut along = |key: &str| match npz.shape(key, false).ok()??[..] {
        [n] => Some(n),
        _ => None,
    };
    let sizes = [along("x")?, along("y")?];
    let axes = match sizes {
        _ if !matches!(key, "x" | "y") || shape.len() > 4 => return None,
        _ if sizes == [a, b] => ["x", "y"],
        _ if sizes == [b, a] => ["y", "x"],
        _ => return None,
    };
    let [first, second] = axes;
    Some(npz.bad(
        values,
        format!(
            "of shape {} is a grid whose axes are `{first}` and `{second}`: save the axes as x0 and x1 for inputs and as y0 \
             and y1 for outputs (x0={first}, x1={second}, y0={first}, y1={second})",
            shown(shape)
        ),
    ))
}

/// Points in the shape of a grid that is not the one of the values: which shape they should have, and what to save.
fn mesh_slip(key: &str, at: &[usize], shape: &[usize]) -> Option<(Vec<usize>, String)> {
    let d = at.len().checked_sub(1).filter(|d| *d > 1)?;
    let grid = shape.get(1..=d).filter(|_| shape.len() <= d + 2)?;
    // As `np.meshgrid` does by default.
    let mut turned = grid.to_vec();
    turned.swap(0, 1);
    let (last, first) = (&at[..d], &at[1..]);
    let unless = "np.meshgrid swaps the first two axes unless it is given indexing=\"ij\"";
    let save = match () {
        () if at[d] == d && last == turned => format!("{unless}; save {key}.swapaxes(0, 1)"),
        () if at[0] == d && first == grid => {
            format!("the coordinates belong last; save np.moveaxis({key}, 0, -1)")
        }
        () if at[0] == d && first == turned => format!(
            "the coordinates belong last, and {unless}; save np.moveaxis({key}, 0, -1).swapaxes(0, 1)"
        ),
        () => return None,
    };
    Some(([grid, &[d]].concat(), save))
}

/// What is probably wrong with values of a shape on a grid of `counts` points along its axes, by their keys where it has
/// such, and what to save instead.
fn grid_slip(values: &str, counts: &[usize], shape: &[usize], axes: &[String]) -> Option<String> {
    let d = counts.len();
    if let [samples, n] = *shape
        && Some(n)
            == counts
                .iter()
                .try_fold(1, |all: usize, n| all.checked_mul(*n))
    {
        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        return Some(format!(
            "save {values}.reshape({samples}, {})",
            counts.join(", ")
        ));
    }
    if shape == counts {
        return Some(format!("for a single sample save {values}[None]"));
    }
    if shape.len() == d + 2 && shape[2..] == *counts {
        return Some(format!(
            "components come last, save np.moveaxis({values}, 1, -1)"
        ));
    }
    if shape.len() == d + 1 && shape[..d] == *counts {
        return Some(format!(
            "samples come first, save np.moveaxis({values}, -1, 0)"
        ));
    }
    // The axis of each count, if no two are equal.
    let grid = shape.get(1..=d).filter(|_| shape.len() <= d + 2)?;
    let place = |n: &usize| counts.iter().position(|count| count == n);
    let places: Vec<usize> = grid.iter().map(place).collect::<Option<_>>()?;
    if !(0..d).all(|k| places.contains(&k)) {
        return None;
    }
    if axes.is_empty() {
        let order: Vec<String> = (0..d)
            .filter_map(|k| places.iter().position(|p| *p == k))
            .map(|k| (k + 1).to_string())
            .collect();
        let rest = if shape.len() == d + 2 {
            format!(", {}", d + 1)
        } else {
            String::new()
        };
        return Some(format!(
            "the axes look swapped, save {values}.transpose(0, {}{rest})",
            order.join(", ")
        ));
    }
    let renamed: Vec<String> = places
        .iter()
        .enumerate()
        .filter(|(k, p)| k != *p)
        .map(|(k, &p)| format!("{} as {}", axes[p], axes[k]))
        .collect();
    Some(format!(
        "the axes look swapped, save {}",
        renamed.join(" and ")
    ))
}

/// What is probably wrong with values of a shape at points `at` of another, and what to save instead.
fn slip(key: &str, at: &[usize], values: &str, shape: &[usize]) -> Option<String> {
    let listed = match *at {
        [n] | [n, _] => n,
        _ => return None,
    };
    Some(match *shape {
        [n] | [n, 1] if matches!(*at, [_, m] if m == n && m > 1) => {
            format!("which has a row for each sample: are {key} and {values} swapped?")
        }
        [_] => format!("with the samples first: for a single sample save {values}[None]"),
        [n, _] if n == listed && at != shape => {
            format!("with a row for each sample: {values} looks transposed, save {values}.T")
        }
        [_, n] | [_, n, _] if *at == [1, n] => {
            format!("which is one point of {n} coordinates: save {key}.ravel() for {n} points")
        }
        [_, _, n] if n == listed => {
            format!("components last: save np.moveaxis({values}, 1, -1)")
        }
        _ => return None,
    })
}

/// One set of points: listed, $(n, d)$ or $(n,)$, or in the shape of a grid, $(n_1, \dots, n_d, d)$.
pub(in crate::data) fn one_set(shape: &[usize], coords: Vec<f64>) -> Option<Result<Points>> {
    match *shape {
        [_] => Some(Points::new(1, coords)),
        [_, d] => Some(Points::new(d, coords)),
        [ref counts @ .., d] if counts.len() == d => {
            let points = Points::new(d, coords);
            Some(points.and_then(|p| p.with_shape(counts.to_vec())))
        }
        _ => None,
    }
}

/// The crossings of a grid with these axes.
pub(in crate::data) fn crossings(npz: &mut NpzFile, axes: &[String]) -> Result<Points> {
    let along = axes.iter().map(|key| Ok(npz.floats(key)?.1));
    let along = along.collect::<Result<Vec<_>>>()?;
    Points::tensor(&along).map_err(|e| npz.locate(&axes[0], e))
}
