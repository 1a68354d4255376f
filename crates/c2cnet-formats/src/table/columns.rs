//! Which column of a table is what.

use super::SIDES;
use super::advice::{self, Look, other_names};
use crate::samples::Names;
use c2cnet::suggest::did_you_mean;

/// Or what is wrong with the table.
pub(super) type Outcome<T> = std::result::Result<T, String>;

/// A function or a vector: its name and the columns of its components.
#[derive(Debug)]
pub(super) struct Quantity {
    pub key: String,
    pub name: String,
    pub columns: Vec<usize>,
}

/// Which column is what.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub sample: Option<usize>,
    pub split: Option<usize>,
    /// Coordinates of inputs, and of outputs where they differ.
    pub points: Vec<usize>,
    pub output_points: Vec<usize>,
    /// Functions and vectors, of the inputs and of the outputs.
    pub functions: [Vec<Quantity>; 2],
    pub vectors: [Vec<Quantity>; 2],
    /// Those that are not read.
    pub ignored: Vec<usize>,
}

impl Columns {
    /// `repeats` tells whether the first column does, where advice depends on it.
    pub(super) fn new(header: &[&str], names: &Names, repeats: &dyn Fn() -> bool) -> Outcome<Self> {
        if let Some(reason) = advice::of_numbers(header) {
            return Err(reason);
        }
        let look = Look {
            header,
            repeats,
            inputs_alone: names.inputs_alone,
        };
        let wanted = |name: &String| {
            let place = header.iter().position(|h| h == name);
            place.ok_or_else(|| {
                format!(
                    "has no column {name:?}; its columns are {}{}",
                    header.join(", "),
                    did_you_mean(name, header.iter().copied())
                )
            })
        };
        let sample = names.sample.as_ref().map(wanted).transpose()?;
        let mut columns = Columns {
            sample: sample.or_else(|| place(header, "sample")),
            split: place(header, "split"),
            output_points: numbered(header, "y"),
            points: match &names.points[..] {
                [] => points_by_name(header)?,
                given => given.iter().map(wanted).collect::<Outcome<_>>()?,
            },
            ..Columns::default()
        };
        for (side, given) in [&names.inputs, &names.outputs].into_iter().enumerate() {
            for name in given {
                let called = if given.len() == 1 { "" } else { name.as_str() };
                columns.functions[side].push(Quantity {
                    key: name.clone(),
                    name: called.into(),
                    columns: vec![wanted(name)?],
                });
            }
        }
        let vectors = [("p", &names.parameters), ("q", &names.quantities)];
        for (side, (key, given)) in vectors.into_iter().enumerate() {
            if !given.is_empty() {
                columns.vectors[side].push(Quantity {
                    key: key.into(),
                    name: String::new(),
                    columns: given.iter().map(wanted).collect::<Outcome<_>>()?,
                });
            }
        }
        let mut known: Vec<usize> = columns.points.clone();
        known.extend(&columns.output_points);
        known.extend(columns.sample.into_iter().chain(columns.split));
        let functions = columns.functions.iter().flatten();
        let named = functions.chain(columns.vectors.iter().flatten());
        known.extend(named.flat_map(|q| q.columns.iter().copied()));
        let given = [
            &names.inputs,
            &names.outputs,
            &names.parameters,
            &names.quantities,
        ];
        let keyed = given.iter().all(|names| names.is_empty());
        for c in 0..header.len() {
            match known.contains(&c) {
                true => {}
                false if keyed => columns.quantity(c, &look)?,
                false => columns.ignored.push(c),
            }
        }
        columns.check(&look)?;
        Ok(columns)
    }

    /// Takes the column `f`, `f[0]`, `u.NAME[1]`, `p[2]` and so on.
    fn quantity(&mut self, c: usize, look: &Look<'_>) -> Outcome<()> {
        let column = look.header[c];
        let unknown = || {
            format!(
                "has a column {column:?} that is not known; columns are sample, split, x, y, z (or x0, x1, ...), f, u, p, \
                 q, f[0], f.NAME and so on, and y0, y1, ... for points of outputs; {}",
                other_names(look, &self.points)
            )
        };
        let (key, component) = match column.strip_suffix(']').and_then(|c| c.rsplit_once('[')) {
            Some((key, k)) => (key, k.parse().map_err(|_| unknown())?),
            None => (column, 0usize),
        };
        let (stem, name) = key.split_once('.').unwrap_or((key, ""));
        for (side, (function, vector)) in SIDES.into_iter().enumerate() {
            let all = match stem.to_ascii_lowercase() {
                s if s == function => &mut self.functions[side],
                s if s == vector => &mut self.vectors[side],
                _ => continue,
            };
            let at = all.iter().position(|q| q.key == key).unwrap_or_else(|| {
                all.push(Quantity {
                    key: key.into(),
                    name: name.into(),
                    columns: Vec::new(),
                });
                all.len() - 1
            });
            if all[at].columns.len() != component {
                return Err(format!(
                    "has the column {column:?} where component {} of {key} belongs; number components from 0, in order",
                    all[at].columns.len()
                ));
            }
            all[at].columns.push(c);
            return Ok(());
        }
        Err(unknown())
    }

    fn check(&self, look: &Look<'_>) -> Outcome<()> {
        let listed = look.header.join(", ");
        let functions = self.functions.iter().flatten().next();
        match functions {
            Some(q) if self.points.is_empty() => Err(format!(
                "has values {} without coordinates x, y, z or x0, x1, ...; its columns are {listed}",
                q.key
            )),
            None if self.vectors.iter().all(Vec::is_empty) => Err(format!(
                "has neither functions f, u nor vectors p, q among its columns {listed}; {}",
                other_names(look, &self.points)
            )),
            _ => Ok(()),
        }
    }

    /// The columns of the points of inputs (0) or outputs (1).
    pub(super) fn coordinates(&self, side: usize) -> &[usize] {
        match side == 1 && !self.output_points.is_empty() {
            true => &self.output_points,
            false => &self.points,
        }
    }
}

/// The columns called x, y, z or x0, x1, ...
pub(super) fn points_by_name(header: &[&str]) -> Outcome<Vec<usize>> {
    let axes = numbered(header, "x");
    if !axes.is_empty() {
        return Ok(axes);
    }
    let at = |name| place(header, name);
    if let (Some(x), Some(y), None) = (at("x"), at("y"), at("z"))
        && header[x + 1..y.max(x + 1)].iter().any(|h| is_value(h, "f"))
    {
        return Err(
            "has the columns x, f, y in this order: is y the second coordinate of each point, or where the output \
             was observed? In the first case call them x0 and x1, in the second y0 instead of y"
                .into(),
        );
    }
    Ok(["x", "y", "z"].into_iter().map_while(at).collect())
}

/// The column of this name, in capitals or not; one that is written in the same way comes first.
pub(super) fn place(header: &[&str], name: &str) -> Option<usize> {
    let exact = header.iter().position(|h| *h == name);
    exact.or_else(|| header.iter().position(|h| h.eq_ignore_ascii_case(name)))
}

/// The columns `x0`, `x1`, ...
pub(super) fn numbered(header: &[&str], stem: &str) -> Vec<usize> {
    (0..)
        .map_while(|k| place(header, &format!("{stem}{k}")))
        .collect()
}

/// Whether a column holds values of `stem`: `f`, `f[0]`, `f.NAME`.
pub(super) fn is_value(column: &str, stem: &str) -> bool {
    let before = column.split(['[', '.']).next();
    before.is_some_and(|b| b.eq_ignore_ascii_case(stem))
}
