//! `c2cnet settings`: every setting of a fit, from the documentation of the library's types.

use c2cnet::internal::{Setting, SettingGroup, groups};
use c2cnet::suggest::did_you_mean;
use c2cnet::{Error, Result};
use c2cnet_experiments::terminal::{print_json, print_line};
use serde_json::json;

const AFTER_HELP: &str = "\
Settings go into a TOML file (--config), after --set, or into the dictionary `settings` in Python.

Examples:
  c2cnet settings
  c2cnet settings map.mlp
  c2cnet settings fourier
  c2cnet settings search.samples
  c2cnet fit data.npz -o model.c2c --set search.samples=800";

/// List the settings of a fit with their defaults, purposes and ranges.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Only settings whose name contains this, or those of this basis family.
    name: Option<String>,

    /// Print the page docs/settings.md of the documentation.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let groups = match &args.name {
        None => groups(),
        Some(name) => named(name)?,
    };
    if args.json {
        print_json(&json!({ "groups": groups }))?;
    } else if args.markdown {
        print_line(markdown(&groups).trim_end())?;
    } else {
        print_line(text(&groups).trim_end())?;
    }
    Ok(())
}

/// The groups with only those settings whose names begin with `name`, or that belong to the family `name`; if there are
/// none, those that have it in their name.
fn named(name: &str) -> Result<Vec<SettingGroup>> {
    let of_family = |g: &SettingGroup| g.family == Some(name);
    let begins = |s: &Setting| begins(&s.name, name);
    let holds = |s: &Setting| s.name.contains(name);
    for wanted in [&begins as &dyn Fn(&Setting) -> bool, &holds] {
        let mut found = groups();
        for group in found.iter_mut().filter(|g| !of_family(g)) {
            group.settings.retain(wanted);
        }
        found.retain(|g| !g.settings.is_empty() || of_family(g));
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let all = groups();
    let families: Vec<&str> = all.iter().filter_map(|g| g.family).collect();
    let names = all.iter().flat_map(|g| &g.settings);
    let names = names.map(|s| s.name.rsplit('.').next().unwrap_or(&s.name));
    let meant = did_you_mean(name, names.chain(families.iter().copied()));
    Err(Error::Config(format!(
        "there is no setting {name:?}{meant}; `c2cnet settings` lists all of them, and bases have the families {}",
        families.join(", ")
    )))
}

/// Whether `name` is `start` or lies below it: `map.mlp.rate` below `map.mlp`.
fn begins(name: &str, start: &str) -> bool {
    let rest = name.strip_prefix(start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn text(groups: &[SettingGroup]) -> String {
    let mut text = String::new();
    for group in groups {
        for line in wrapped(&plain(&group.about), 0) {
            text += &format!("{line}\n");
        }
        if let Some(family) = group.family {
            text += &format!(
                "  {}.family = \"{family}\", and likewise output.basis\n",
                group.path
            );
        }
        let width = group.settings.iter().map(|s| s.name.len()).max();
        for setting in &group.settings {
            let width = width.unwrap_or(0);
            let mut name = setting.name.as_str();
            let lines = wrapped(&plain(&setting.purpose), width);
            for line in lines.into_iter().chain(wrapped(&values(setting), width)) {
                text += &format!("  {name:width$}  {line}\n");
                name = "";
            }
        }
        text += "\n";
    }
    text
}

/// The widest line of text.
const WIDTH: usize = 100;

/// The words of a text on lines that fit behind names of this width.
fn wrapped(text: &str, names: usize) -> Vec<String> {
    let most = WIDTH.saturating_sub(names + 4).max(40);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Default and range on one line.
fn values(setting: &Setting) -> String {
    let parts = [("default", &setting.default), ("values", &setting.range)];
    let given = parts.iter().filter(|(_, value)| !value.is_empty());
    let given = given.map(|(what, value)| format!("{what}: {}", plain(value)));
    given.collect::<Vec<_>>().join("; ")
}

/// Markdown without its marks, formulas without theirs.
fn plain(markdown: &str) -> String {
    markdown.replace(['`', '$', '\\'], "")
}

fn markdown(groups: &[SettingGroup]) -> String {
    let mut page = String::from(
        "# Settings\n\n\
         Every setting of a fit. This page is the output of `c2cnet settings --markdown`, made from the documentation\n\
         of the library's types; `c2cnet settings NAME` shows a part of it.\n\n\
         Settings go into a TOML file (`c2cnet fit --config fit.toml`), after `--set` as `NAME=VALUE`, into the fields of\n\
         `c2cnet::FitConfig` in Rust, and in Python into `C2CNet(settings={\"search\": {\"max_functions\": 256}})`; the\n\
         common ones are separate arguments there (`seed`, `input`, `output`, `encoder`, `map`, ...).\n\
         What is not given is chosen from the training data. The settings of `input.basis` are also those of\n\
         `output.basis` and of the bases of named fields.\n",
    );
    for group in groups {
        let heading = match (group.family, group.path) {
            (Some(family), path) => format!("`{path}` with `family = \"{family}\"`"),
            (None, "") => "The fit".to_string(),
            (None, path) => format!("`{path}`"),
        };
        page += &format!("\n## {heading}\n\n{}\n", group.about);
        if group.settings.is_empty() {
            continue;
        }
        page += "\n| Name | Default | Purpose | Range |\n|---|---|---|---|\n";
        for s in &group.settings {
            let (name, default, purpose, range) = (&s.name, &s.default, &s.purpose, &s.range);
            page += &format!("| `{name}` | {default} | {purpose} | {range} |\n");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_documentation_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
        let page = std::fs::read_to_string(path).unwrap();
        assert!(
            page == markdown(&groups()),
            "docs/settings.md is not what the code says: c2cnet settings --markdown > docs/settings.md"
        );
    }

    #[test]
    fn a_name_selects_what_stands_below_it() {
        let names = |name: &str| -> Vec<String> {
            let found = named(name).unwrap().into_iter();
            found.flat_map(|g| g.settings).map(|s| s.name).collect()
        };
        assert_eq!(names("search.samples"), ["search.samples"]);
        assert!(names("map.mlp").contains(&"map.mlp.loss.kind".to_string()));
        assert!(names("fourier").contains(&"input.basis.modes".to_string()));
        assert!(!names("map").iter().any(|n| n.starts_with("input")));
        assert!(names("mlp").contains(&"map.mlp.rate".to_string()));
        assert_eq!(names("weights"), ["output.weights"]);
        assert!(text(&groups()).lines().all(|l| l.chars().count() <= WIDTH));
        let error = named("serach").unwrap_err().to_string();
        assert!(
            error.contains("serach") && error.contains("fourier"),
            "{error}"
        );
    }
}
