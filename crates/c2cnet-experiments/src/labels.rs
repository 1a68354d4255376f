//! What axes and values are called in pictures, and which axes share a unit.
//!
//! Names come from what a problem is known for, from `labels` of the data's `meta`, and from the caller who asks for the
//! picture; what comes later wins. A name may end in a unit: `depth [m]`.

use c2cnet::data::{Bounds, Dataset, Field};
use c2cnet::internal::{component_names, counted};
use c2cnet::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// Names by the keys of a data file: `x`, `y` for axes, `f`, `u` and `u.NAME` for components.
#[derive(Debug, Clone, Default)]
pub struct Labels(BTreeMap<String, Vec<String>>);

/// A width beyond this many heights, or the opposite, is drawn to fill the panel.
const LONGEST: f64 = 4.0;

impl Labels {
    /// The names in the data itself.
    pub fn of(data: &Dataset) -> Labels {
        let mut labels = Labels::default();
        for (key, names) in known(data.meta["problem"].as_str().unwrap_or_default()) {
            labels.set(key, names.iter().map(ToString::to_string));
        }
        if let Value::Object(given) = &data.meta["labels"] {
            for (key, names) in given {
                let one = names.as_str().map(|name| vec![name.to_string()]);
                let many = || serde_json::from_value::<Vec<String>>(names.clone()).ok();
                labels.set(key, one.or_else(many).unwrap_or_default());
            }
        }
        labels
    }

    /// Names of one key.
    pub fn set(&mut self, key: &str, names: impl IntoIterator<Item = String>) {
        self.0.insert(key.into(), names.into_iter().collect());
    }

    /// Adds `x=lon [deg],lat [deg]`, as it is given on a command line.
    ///
    /// # Errors
    /// If it has another form, or names something that the data does not have, or not so many of it.
    pub fn parse(&mut self, given: &str, data: &Dataset) -> Result<()> {
        let bad = || {
            Error::Config(format!(
                "--label {given:?}: give KEY=NAME,NAME with a KEY among x, y, f, u (also u.NAME), such as \
                 \"y=x [m],t [s]\" or \"u=temperature [K]\""
            ))
        };
        let (key, names) = given.split_once('=').ok_or_else(bad)?;
        if !matches!(key.split('.').next(), Some("x" | "y" | "f" | "u")) {
            return Err(bad());
        }
        let names: Vec<String> = names.split(',').map(|name| name.trim().into()).collect();
        let check = check_count(key, names.len(), data);
        check.map_err(|reason| Error::Config(format!("--label {given:?}: {reason}")))?;
        self.set(key, names);
        Ok(())
    }

    fn get(&self, key: &str, name: &str) -> Option<&Vec<String>> {
        let own = self.0.get(&format!("{key}.{name}"));
        own.or_else(|| self.0.get(key))
    }

    /// The axes of the function called `name`, at points with the key `x` or `y`.
    pub fn axes(&self, key: &str, name: &str, dim: usize) -> Vec<String> {
        match self.get(key, name) {
            Some(names) if names.len() == dim => names.clone(),
            _ if dim == 1 => vec![key.to_string()],
            _ => (1..=dim).map(|k| format!("x_{{{k}}}")).collect(),
        }
    }

    /// The components of the function called `name`, with the key `f` or `u`.
    pub fn components(&self, key: &str, name: &str, field: &Field) -> Vec<String> {
        let (count, complex) = (field.components(), field.is_complex());
        let values = if complex { count / 2 } else { count };
        match self.0.get(&join(key, name)) {
            Some(names) if names.len() == count => names.clone(),
            Some(names) if names.len() == values => {
                let parts = |name: &String| component_names(name, 2, true, numbered);
                names.iter().flat_map(parts).collect()
            }
            _ => component_names(self.symbol(key, name), count, complex, numbered),
        }
    }

    /// The function called `name` as a whole, with the key `f` or `u`.
    pub fn symbol<'a>(&'a self, key: &'a str, name: &'a str) -> &'a str {
        match self.0.get(&join(key, name)).map(Vec::as_slice) {
            Some([symbol]) => symbol,
            _ if name.is_empty() => key,
            _ => name,
        }
    }

    /// Whether both axes of a plane should have the same scale: not if their units differ, if only one
    /// is a time, or if the domain is too long to be readable.
    pub fn is_equal([across, up]: [&str; 2], extent: &Bounds) -> bool {
        let ratio = extent.width(0) / extent.width(1);
        let readable = ratio.is_finite() && (1.0 / LONGEST..=LONGEST).contains(&ratio);
        let unit = |name: &str| {
            let (_, unit) = name.strip_suffix(']')?.rsplit_once('[')?;
            Some(unit.trim().to_string())
        };
        let time = |name: &str| name == "t" || name.starts_with("t ") || name.starts_with("time");
        readable && unit(across) == unit(up) && time(across) == time(up)
    }
}

/// One of several components, counted from 1.
fn numbered(symbol: &str, c: usize) -> String {
    format!("{symbol}_{{{}}}", c + 1)
}

/// Refuses a number of names that differs from the number of axes or components.
fn check_count(key: &str, count: usize, data: &Dataset) -> std::result::Result<(), String> {
    let (stem, name) = key.split_once('.').unwrap_or((key, ""));
    let (fields, kind) = match stem {
        "x" | "f" => (&data.inputs, "input"),
        _ => (&data.outputs, "output"),
    };
    let axes = matches!(stem, "x" | "y");
    // Names of axes without one of a field are for all.
    let meant = |n: &str| n == name || (axes && name.is_empty());
    let functions = fields
        .iter()
        .filter(|(n, field)| meant(n) && !field.is_vector());
    let mut found = false;
    for (_, field) in functions {
        found = true;
        let (has, thing) = match axes {
            true => (field.dim(), "axis, axes"),
            false => (field.components(), "component, components"),
        };
        let parts = field.is_complex() && 2 * count == has;
        if count != has && (axes || !(count == 1 || parts)) {
            let (one, many) = thing.split_once(", ").unwrap_or_default();
            return Err(format!(
                "{} for {has} {}; give one for each",
                counted(count, "name"),
                if has == 1 { one } else { many }
            ));
        }
    }
    match found {
        true => Ok(()),
        false => Err(format!("the data has no {kind} function {key:?}")),
    }
}

fn join(key: &str, name: &str) -> String {
    match name {
        "" => key.to_string(),
        name => format!("{key}.{name}"),
    }
}

/// What the problems that this project generates are written with.
fn known(problem: &str) -> &'static [(&'static str, &'static [&'static str])] {
    match problem {
        "darcy2d" => &[("f", &["κ"])],
        "darcy-lshape" => &[("f", &["k", "f"])],
        "kdv-burgers" => &[("y", &["x", "t"])],
        // The load acts on an edge of equal first coordinates.
        "elastic-plate" => &[("x", &["x_{2}"]), ("u", &["u", "v"])],
        "stokes-inverse" => &[("f", &["velocity"]), ("u", &["signed distance"])],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use c2cnet::data::{Field, Points};
    use faer::Mat;
    use serde_json::json;

    #[test]
    fn names_come_from_meta_and_from_flags() {
        let field = |components: usize| {
            let values = vec![Mat::zeros(2, 1); components];
            Field::shared(Points::linspace(0.0, 1.0, 2), values).unwrap()
        };
        let mut data = Dataset::new(field(1), field(1)).unwrap();
        data.outputs.push("flux", field(2));
        data.meta = json!({ "labels": { "y": ["a", "b"], "u": "height [m]" } });
        let mut labels = Labels::of(&data);
        assert_eq!(labels.axes("y", "", 2), ["a", "b"]);
        assert_eq!(labels.axes("y", "", 3)[2], "x_{3}");
        assert_eq!(labels.axes("x", "", 1), ["x"]);
        assert_eq!(labels.components("u", "", &field(1)), ["height [m]"]);
        let flux = |labels: &Labels| labels.components("u", "flux", &field(2));
        assert_eq!(flux(&labels), ["flux_{1}", "flux_{2}"]);
        labels.parse("u.flux=p, q", &data).unwrap();
        assert_eq!(flux(&labels), ["p", "q"]);
        labels.parse("u.flux=q", &data).unwrap();
        assert_eq!(flux(&labels), ["q_{1}", "q_{2}"]);
        let mut refused = |given: &str, reason: &str| {
            let error = labels.parse(given, &data).unwrap_err().to_string();
            assert!(error.contains(reason), "{given}: {error}");
        };
        refused("height", "give KEY=NAME");
        refused("z=1", "give KEY=NAME");
        refused("y=a,b", "2 names for 1 axis; give one for each");
        refused("u.flux=a,b,c", "3 names for 2 components");
        refused("u.flow=a", "no output function \"u.flow\"");
    }

    #[test]
    fn complex_values_have_real_and_imaginary_parts() {
        let parts = |components: usize| {
            let values = vec![Mat::zeros(2, 1); components];
            let points = Points::linspace(0.0, 1.0, 2);
            Field::shared(points, values).unwrap().as_complex()
        };
        let mut labels = Labels::default();
        assert_eq!(labels.components("u", "", &parts(2)), ["Re u", "Im u"]);
        let four = labels.components("u", "", &parts(4));
        assert_eq!(four, ["Re u_{1}", "Im u_{1}", "Re u_{2}", "Im u_{2}"]);
        labels.set("u", ["p".to_string()]);
        assert_eq!(labels.components("u", "", &parts(2)), ["Re p", "Im p"]);
    }

    #[test]
    fn axes_with_different_units_are_not_drawn_alike() {
        let square = Bounds::unit(2);
        assert!(Labels::is_equal(["x [m]", "y [m]"], &square));
        assert!(!Labels::is_equal(["x [m]", "y [s]"], &square));
        assert!(!Labels::is_equal(["x", "t"], &square));
        let long = Bounds::new(vec![[0.0, 1.0], [0.0, 100.0]]).unwrap();
        assert!(!Labels::is_equal(["x_{1}", "x_{2}"], &long));
    }
}
