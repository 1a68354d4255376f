//! Every setting as data: the tables in the documentation of the settings' types, read back.

use super::{FitConfig, InputConfig, MapConfig, OutputConfig, SearchConfig};
use crate::basis::{self, BasisSpec};
use crate::encode::EncoderSpec;
use crate::map::mlp::{Loss, Optimiser, StageSpec};
use crate::map::{KernelSpec, LayeredSpec, MlpSpec};
use documented::Documented;
use serde::Serialize;

/// Settings that belong together in a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingGroup {
    /// Where they are, such as `map.mlp`; empty for the outermost ones.
    pub path: &'static str,
    /// The basis family that has them, where they describe a basis.
    pub family: Option<&'static str>,
    /// What they are about, in Markdown.
    pub about: String,
    /// The settings.
    pub settings: Vec<Setting>,
}

/// One setting. Texts are Markdown; what does not apply is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its whole name, such as `map.mlp.rate`.
    pub name: String,
    /// What holds if it is not given.
    pub default: String,
    /// What it is for.
    pub purpose: String,
    /// Which values it may have.
    pub range: String,
}

/// A type whose documentation has a table of settings.
struct Documentation {
    path: &'static str,
    type_name: &'static str,
    family: Option<&'static str>,
    text: &'static str,
}

impl Documentation {
    fn of<T: Documented>(path: &'static str) -> Self {
        Documentation {
            path,
            type_name: short_name::<T>(),
            family: None,
            text: T::DOCS,
        }
    }
}

fn short_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

/// Where the basis of a field is set. The output's, and those of named fields, have the same settings.
const BASIS: &str = "input.basis";

/// Every setting of a fit with its default, purpose and range, from the documentation of the settings' types; the
/// families of bases as they were registered.
pub fn groups() -> Vec<SettingGroup> {
    let mut types = vec![
        Documentation::of::<FitConfig>(""),
        Documentation::of::<InputConfig>("input"),
        Documentation::of::<EncoderSpec>("input.encoder"),
        Documentation::of::<OutputConfig>("output"),
        Documentation::of::<MapConfig>("map"),
        Documentation::of::<KernelSpec>("map.kernel"),
        Documentation::of::<MlpSpec>("map.mlp"),
        Documentation::of::<Loss>("map.mlp.loss"),
        Documentation::of::<Optimiser>("map.mlp.optimiser"),
        Documentation::of::<StageSpec>("map.mlp.stages"),
        Documentation::of::<LayeredSpec>("map.layered"),
        Documentation::of::<SearchConfig>("search"),
    ];
    let families = basis::family_documentation().into_iter();
    types.extend(families.map(|(name, text)| Documentation {
        path: BASIS,
        type_name: short_name::<BasisSpec>(),
        family: Some(name),
        text,
    }));
    let listed = types.iter().filter(|t| !t.text.is_empty());
    listed.map(|t| group(t, &types)).collect()
}

fn group(of: &Documentation, types: &[Documentation]) -> SettingGroup {
    let rows = of.text.lines().filter(|line| line.starts_with('|'));
    // The header and the rule below it.
    let settings = rows.skip(2).flat_map(|row| settings(row, of.path, types));
    let about = of.text.lines().take_while(|line| !line.is_empty());
    SettingGroup {
        path: of.path,
        family: of.family,
        about: about.collect::<Vec<_>>().join(" "),
        settings: settings.collect(),
    }
}

/// The settings of one row, which may name several: `` `inside`, `outside` | 20, 1 ``.
fn settings(row: &str, path: &str, types: &[Documentation]) -> Vec<Setting> {
    let cells: Vec<String> = row
        .trim_matches('|')
        .split('|')
        .map(|cell| resolve_links(cell.trim(), types))
        .collect();
    let [names, defaults, purpose, range] = &cells[..] else {
        return Vec::new();
    };
    let names: Vec<&str> = names.split(", ").map(|n| n.trim_matches('`')).collect();
    let each: Vec<&str> = defaults.split(", ").collect();
    let default = |i: usize| match each.len() == names.len() {
        true => each[i],
        false => defaults,
    };
    let setting = |(i, name): (usize, &&str)| Setting {
        name: match path {
            "" => name.to_string(),
            _ => format!("{path}.{name}"),
        },
        default: default(i).to_string(),
        purpose: purpose.clone(),
        range: range.clone(),
    };
    names.iter().enumerate().map(setting).collect()
}

/// Links to types become the places of their settings. Links to types without a table, which are in parentheses, go.
fn resolve_links(cell: &str, types: &[Documentation]) -> String {
    let mut text = cell.to_string();
    for t in types {
        let place = format!("`{}.*`", t.path);
        text = text.replace(&format!("[`{}`]", t.type_name), &place);
    }
    match text.find(" ([`") {
        Some(link) => text[..link].to_string(),
        None => text,
    }
}
