//! Settings from a TOML file and from `key=value` pairs, as one table.

use anyhow::Context;
use c2cnet::settings::{MapKind, explain};
use c2cnet::{Error, FitConfig, Plan, Result};
use c2cnet_experiments::merge;
use clap::{Args, ValueEnum};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Where settings come from, later ones overriding earlier ones: file, then pairs.
#[derive(Debug, Clone, Args)]
pub struct Source {
    /// A TOML file of settings.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// One setting, key and value as in the file; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pairs: Vec<String>,
}

impl Source {
    /// The file to read.
    pub fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The settings as a table.
    pub fn table(&self) -> Result<Table> {
        let mut table = match &self.config {
            None => Table::new(),
            Some(path) => parse_file(path)?,
        };
        for pair in &self.pairs {
            merge(&mut table, parse_pair(pair)?);
        }
        Ok(table)
    }
}

/// Settings of a fit: a file, pairs, and flags for the common ones, which override both.
#[derive(Debug, Clone, Args)]
pub struct FitFlags {
    #[command(flatten)]
    source: Source,

    /// The seed of every random choice [default: 0].
    #[arg(long)]
    seed: Option<u64>,

    /// The coefficient map [default: auto].
    #[arg(long, value_enum)]
    map: Option<MapFlag>,

    /// The defaults of the network, if one is trained [default: fast].
    #[arg(long, value_enum)]
    recipe: Option<RecipeFlag>,

    /// The input's basis as an inline TOML table [default: found by a search].
    #[arg(long, value_name = "TOML")]
    input_basis: Option<String>,

    /// The output's basis as an inline TOML table [default: found by a search].
    #[arg(long, value_name = "TOML")]
    output_basis: Option<String>,

    /// The fraction of the output points withheld while choosing, to judge what lies between points
    /// [default: 0.1].
    #[arg(long, value_name = "PART")]
    withhold: Option<f64>,

    /// Symmetries of the domain that the operator respects; training samples are augmented by
    /// them [default: none].
    #[arg(long, value_enum)]
    symmetries: Option<SymmetriesFlag>,
}

/// The kinds of maps.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum MapFlag {
    /// The best of the others on held-out samples.
    Auto,
    /// Ridge regression.
    Linear,
    /// Kernel regression.
    Kernel,
    /// A neural network.
    Mlp,
    /// Layers in a prescribed basis.
    Layered,
}

impl From<MapFlag> for MapKind {
    fn from(flag: MapFlag) -> Self {
        match flag {
            MapFlag::Auto => MapKind::Auto,
            MapFlag::Linear => MapKind::Linear,
            MapFlag::Kernel => MapKind::Kernel,
            MapFlag::Mlp => MapKind::Mlp,
            MapFlag::Layered => MapKind::Layered,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RecipeFlag {
    /// Principal coordinates, mini-batches, a schedule that ends.
    Fast,
    /// As in the paper: raw coefficients, 30,000 steps with all samples.
    Paper,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SymmetriesFlag {
    None,
    Interval,
    Square,
}

/// The name of a flag's value, which is also its name in settings.
pub fn name(value: impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map(|v| v.get_name().to_string()).unwrap_or_default()
}

/// A plan from its file.
pub fn read_plan(path: &Path) -> Result<Plan> {
    let text = read(path).map_err(|e| match e {
        Error::Io { source, .. } if source.kind() == ErrorKind::InvalidData => {
            Error::Config(format!(
                "{}: not a plan, which is text; `c2cnet plan` writes one",
                path.display()
            ))
        }
        e => e,
    })?;
    toml::from_str(&text).map_err(|e| in_file(path, &e))
}

impl FitFlags {
    /// The flags for what a plan specifies.
    pub const NAMES: [&'static str; 9] = [
        "config",
        "pairs",
        "seed",
        "map",
        "recipe",
        "input_basis",
        "output_basis",
        "withhold",
        "symmetries",
    ];

    /// The file to read.
    pub fn file(&self) -> Option<&Path> {
        self.source.file()
    }

    /// The settings of a fit, checked.
    pub fn resolve(&self) -> anyhow::Result<FitConfig> {
        if let Some(path) = &self.source.config {
            // Parsed on its own first, so that mistakes in the file are shown with their line.
            let text = read(path)?;
            toml::from_str::<FitConfig>(&text).map_err(|e| in_file(path, &e))?;
        }
        let mut table = self.source.table()?;
        let mut set = |key: &str, value: Value| {
            let mut over = value;
            for part in key.rsplit('.') {
                over = Value::Table(Table::from_iter([(part.to_string(), over)]));
            }
            if let Value::Table(over) = over {
                merge(&mut table, over);
            }
        };
        if let Some(seed) = self.seed {
            let seed = i64::try_from(seed)
                .map_err(|_| Error::Config(format!("--seed {seed} must be below 2^63")))?;
            set("seed", Value::Integer(seed));
        }
        if let Some(map) = self.map {
            set("map.kind", Value::String(name(map)));
        }
        if let Some(recipe) = self.recipe {
            set("map.mlp.recipe", Value::String(name(recipe)));
        }
        if let Some(part) = self.withhold {
            set("withhold", Value::Float(part));
        }
        if let Some(symmetries) = self.symmetries {
            set("symmetries", Value::String(name(symmetries)));
        }
        for (flag, side, text) in [
            ("--input-basis", "input", &self.input_basis),
            ("--output-basis", "output", &self.output_basis),
        ] {
            if let Some(text) = text {
                let basis = parse_inline(flag, text)?;
                let side = table
                    .entry(side)
                    .or_insert_with(|| Value::Table(Table::new()));
                if let Value::Table(side) = side {
                    // The whole basis is replaced: no setting of another one may remain.
                    side.remove("bases");
                    side.insert("basis".into(), Value::Table(basis));
                }
            }
        }
        let config: FitConfig = Value::Table(table)
            .try_into()
            .map_err(|e: toml::de::Error| Error::Config(flatten(&e)))
            .context("the settings cannot be used")?;
        config.check()?;
        Ok(config)
    }
}

fn read(path: &Path) -> Result<String> {
    c2cnet::internal::read_text(path)
}

fn in_file(path: &Path, error: &toml::de::Error) -> Error {
    Error::Config(format!(
        "{}: {}",
        path.display(),
        explain(&error.to_string())
    ))
}

/// An error without a place in a text, on one line.
fn flatten(error: &toml::de::Error) -> String {
    explain(&error.to_string().trim().replace('\n', ", "))
}

fn parse_file(path: &Path) -> Result<Table> {
    read(path)?.parse().map_err(|e| in_file(path, &e))
}

/// `a.b=3` as a table; a value that is not TOML is taken as text, so that `kind=sine` needs no
/// quotes.
fn parse_pair(pair: &str) -> Result<Table> {
    let bad = |reason: String| Error::Config(format!("--set {pair:?}: {reason}"));
    let Some((key, value)) = pair.split_once('=') else {
        return Err(bad("give KEY=VALUE, for example seed=3".into()));
    };
    let quoted = Value::String(value.trim().to_string());
    let parse = |value: &dyn std::fmt::Display| format!("{key} = {value}").parse::<Table>();
    parse(&value)
        .or_else(|_| parse(&quoted))
        .map_err(|e| bad(e.message().to_string()))
}

/// A table from its contents, with or without braces.
fn parse_inline(flag: &str, text: &str) -> Result<Table> {
    let inside = text.trim();
    let inside = inside
        .strip_prefix('{')
        .and_then(|t| t.strip_suffix('}'))
        .unwrap_or(inside);
    let wrong = |reason: &str| {
        Error::Config(format!(
            "{flag} {text:?}: {reason}; give an inline TOML table, for example \
             'family=\"fourier\", kind=\"sine\", functions=128'"
        ))
    };
    if !inside.contains('=') {
        return Err(wrong("a basis is named by its settings"));
    }
    let mut table: Table = format!("basis = {{ {inside} }}")
        .parse()
        .map_err(|e: toml::de::Error| wrong(e.message()))?;
    match table.remove("basis") {
        Some(Value::Table(basis)) => Ok(basis),
        _ => Err(wrong("not a table")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(pairs: &[&str]) -> FitFlags {
        FitFlags {
            source: Source {
                config: None,
                pairs: pairs.iter().map(ToString::to_string).collect(),
            },
            seed: None,
            map: None,
            recipe: None,
            input_basis: None,
            output_basis: None,
            withhold: None,
            symmetries: None,
        }
    }

    #[test]
    fn pairs_reach_nested_settings_and_flags_go_over_them() {
        let mut flags = flags(&[
            "input.basis.family=fourier",
            "input.basis.kind=\"sine\"",
            "input.basis.functions=12",
            "seed=3",
            "withhold=0",
        ]);
        flags.seed = Some(4);
        flags.output_basis = Some("{family='polynomial', functions=9}".into());
        let config = flags.resolve().unwrap();
        assert_eq!((config.seed, config.withhold), (4, 0.0));
        assert!(format!("{:?}", config.input.basis).contains("Sine"));
        assert!(format!("{:?}", config.output.basis).contains("Polynomial"));
    }

    #[test]
    fn mistakes_name_the_key() {
        for (pairs, part) in [
            (&["sede=3"][..], "`sede`"),
            (&["map.kind=magic"], "magic"),
            (
                &["input.basis.family=fourier", "input.basis.modus=3"],
                "modus",
            ),
            (&["withhold=2"], "withhold = 2"),
            (&["seed"], "KEY=VALUE"),
        ] {
            let error = flags(pairs).resolve().unwrap_err();
            let message = crate::exit::message(&error);
            assert!(message.contains(part), "{message:?} lacks {part:?}");
            assert_eq!(crate::exit::code(&error), crate::exit::USAGE, "{message}");
        }
    }
}
