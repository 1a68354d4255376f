//! What axes and values are called in pictures, and which axes share a unit.
//!
//! Names come from what a problem is known for, from `labels` of the data's `meta`, and from the caller who asks for the
//! picture; what comes later wins. A name may end in a unit: `depth [m]`.

use c2cnet::data::{Bounds, Dataset};
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
    /// If it has another form or names something that has no names.
    pub fn parse(&mut self, given: &str) -> Result<()> {
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
        self.set(key, names.split(',').map(|name| name.trim().to_string()));
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
    pub fn components(&self, key: &str, name: &str, count: usize) -> Vec<String> {
        let names = self.0.get(&join(key, name));
        let symbol = match names {
            Some(names) if names.len() == count => return names.clone(),
            Some(names) if names.len() == 1 => names[0].as_str(),
            _ if name.is_empty() => key,
            _ => name,
        };
        match count {
            1 => vec![symbol.to_string()],
            n => (1..=n).map(|c| format!("{symbol}_{{{c}}}")).collect(),
        }
    }

    /// Whether a length is the same along both axes of a plane, so that it is to be drawn so: units that differ say no;
    /// where nothing is known, a domain that is not too long.
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
        let field = || Field::shared(Points::linspace(0.0, 1.0, 2), vec![Mat::zeros(2, 1)]);
        let mut data = Dataset::new(field().unwrap(), field().unwrap()).unwrap();
        data.meta = json!({ "labels": { "y": ["a", "b"], "u": "height [m]" } });
        let mut labels = Labels::of(&data);
        assert_eq!(labels.axes("y", "", 2), ["a", "b"]);
        assert_eq!(labels.axes("y", "", 3)[2], "x_{3}");
        assert_eq!(labels.axes("x", "", 1), ["x"]);
        assert_eq!(labels.components("u", "", 1), ["height [m]"]);
        assert_eq!(labels.components("u", "flux", 2), ["flux_{1}", "flux_{2}"]);
        labels.parse("u.flux=p, q").unwrap();
        assert_eq!(labels.components("u", "flux", 2), ["p", "q"]);
        assert!(labels.parse("height").is_err() && labels.parse("z=1").is_err());
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
