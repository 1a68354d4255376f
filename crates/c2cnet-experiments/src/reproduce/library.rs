//! Where experiments come from, and how their files are resolved.
//!
//! A file is resolved as a table before it is read as an [`Experiment`]:
//! - `quick = {...}`, anywhere, overrides the table that holds it if `--quick` is given, and is
//!   dropped otherwise;
//! - a run or variant with `parts = ["A", "B"]` is `[part.A]`, with `[part.B]` over it and what it says itself over
//!   both: what several runs have in common is written once;
//! - the settings of a fit are, later ones over earlier ones: the `recipe` named by the run
//!   (`experiments/recipe/NAME.toml`), the file's `fit`, the run's own `fit`, and, for networks with the paper's
//!   recipe, the number of `steps` and the size of a `batch` of the run or of the file, which make less work than the
//!   paper's and are left out where its own is wanted;
//! - runs and variants of the column `paper` are two, one for each of its `readings`.

use super::experiment::{Column, Experiment};
use super::{name, readings};
use crate::merge;
use c2cnet::domain::Polygon;
use c2cnet::internal::read_text;
use c2cnet::{Error, Result};
use std::collections::BTreeSet;
use toml::{Table, Value};

macro_rules! embedded {
    ($($kind:literal: [$($name:literal),* $(,)?]),*) => {
        [$(($kind, &[$(($name, include_str!(concat!("../../experiments/", $kind, $name, ".toml")))),*] as &[(&str, &str)])),*]
    };
}

/// The files of `experiments`, in the order in which they run: the paper's tables of errors come first, in case there is
/// no time for all.
const EMBEDDED: [(&str, &[(&str, &str)]); 2] = embedded! {
    "": [
        "methods", "helmholtz", "kdv-burgers", "poisson-holes", "darcy2d", "efficiency", "nonaligned", "elastic-plate",
        "poisson10d", "darcy-lshape", "cutoff", "transfer", "lengths", "inverse-stokes", "meshes",
    ],
    "recipe/": [
        "darcy1d", "darcy2d", "poisson-holes", "elastic-plate", "darcy-lshape", "kdv-burgers", "helmholtz",
        "stokes-inverse",
    ]
};

/// Where experiments come from.
#[derive(Debug, Clone, Default)]
pub struct Library {
    /// A folder, used instead of the built-in ones.
    pub folder: Option<std::path::PathBuf>,
}

/// How an experiment is run.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    pub quick: bool,
    /// Steps of networks with the paper's recipe, in place of the file's.
    pub steps: Option<Steps>,
    pub columns: &'a [Column],
}

/// How many steps networks with the paper's recipe make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// As the paper, and with all samples in every step.
    Full,
    Given(usize),
}

impl Library {
    /// The names of all experiments.
    pub fn names(&self) -> Result<Vec<String>> {
        let Some(folder) = &self.folder else {
            return Ok(EMBEDDED[0]
                .1
                .iter()
                .map(|(n, _)| (*n).to_string())
                .collect());
        };
        let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let toml = path.extension().is_some_and(|e| e == "toml");
                toml.then(|| path.file_stem().map(|s| s.to_string_lossy().into_owned()))?
            })
            .collect();
        names.sort();
        Ok(names)
    }

    fn text(&self, kind: usize, name: &str) -> Result<String> {
        let (prefix, files) = EMBEDDED[kind];
        name::check(name)?;
        if let Some(folder) = &self.folder {
            let path = folder.join(format!("{prefix}{name}.toml"));
            if path.exists() || kind == 0 {
                return read_text(&path);
            }
        }
        let known = files.iter().find(|(n, _)| *n == name);
        known.map(|(_, text)| (*text).to_string()).ok_or_else(|| {
            let names: Vec<&str> = files.iter().map(|(n, _)| *n).collect();
            let what = if kind == 0 { "experiment" } else { "recipe" };
            Error::Config(format!(
                "there is no {what} {name:?}; there are {}",
                names.join(", ")
            ))
        })
    }

    fn table(&self, kind: usize, name: &str) -> Result<Table> {
        let text = self.text(kind, name)?;
        text.parse().map_err(|e: toml::de::Error| {
            let place = format!("{}{name}.toml", EMBEDDED[kind].0);
            Error::Config(format!("{place}: {}", e.to_string().trim_end()))
        })
    }

    /// The experiment `name` and its resolved table.
    ///
    /// # Errors
    /// If there is none, or its file has a mistake.
    pub fn load(&self, name: &str, choice: &Choice<'_>) -> Result<(Experiment, Table)> {
        let mut table = self.table(0, name)?;
        apply_quick(&mut table, choice.quick);
        self.resolve_fits(&mut table, choice)?;
        let read = |table: &Table| -> std::result::Result<Experiment, toml::de::Error> {
            Value::Table(table.clone()).try_into()
        };
        let experiment = read(&table).map_err(|e| {
            let reason = e.to_string().trim().replace('\n', ", ");
            Error::Config(format!("{name}.toml: {reason}"))
        })?;
        experiment.check(name)?;
        Ok((experiment, table))
    }

    /// Gives every run and variant its whole settings, and drops those of other columns.
    fn resolve_fits(&self, table: &mut Table, choice: &Choice<'_>) -> Result<()> {
        let mut taken = |key: &str| match table.remove(key) {
            Some(Value::Table(taken)) => taken,
            _ => Table::new(),
        };
        let (base, parts) = (taken("fit"), taken("part"));
        let short = Short::take(table);
        let resolve = |list: &mut Value| -> Result<BTreeSet<String>> {
            let Value::Array(entries) = list else {
                return Ok(BTreeSet::new());
            };
            for entry in entries.iter_mut().filter_map(Value::as_table_mut) {
                put_together(entry, &parts)?;
            }
            let ids = readings::split(entries);
            let wanted = |entry: &Value| {
                let column = entry.get("column").and_then(Value::as_str);
                column.is_none_or(|c| choice.columns.iter().any(|w| w.name() == c))
            };
            entries.retain(wanted);
            for entry in entries.iter_mut().filter_map(Value::as_table_mut) {
                self.resolve_fit(entry, &base, &short, choice.steps)?;
            }
            Ok(ids)
        };
        if let Some(runs) = table.get_mut("run") {
            let ids = resolve(runs)?;
            readings::name_both(table, &ids);
        }
        for key in ["sweep", "transfer"] {
            let lists = table.get_mut(key).and_then(Value::as_array_mut);
            for entry in lists.into_iter().flatten() {
                if let Some(variants) = entry.get_mut("variant") {
                    resolve(variants)?;
                }
            }
        }
        Ok(())
    }

    fn resolve_fit(
        &self,
        entry: &mut Table,
        base: &Table,
        short: &Short,
        wanted: Option<Steps>,
    ) -> Result<()> {
        let mut fit = match entry.remove("recipe") {
            Some(Value::String(recipe)) => self.table(1, &recipe)?,
            _ => Table::new(),
        };
        merge(&mut fit, base.clone());
        if let Some(Value::Table(own)) = entry.remove("fit") {
            merge(&mut fit, own);
        }
        let own = Short::take(entry);
        let mlp = fit.get_mut("map").and_then(|m| m.get_mut("mlp"));
        if let Some(mlp) = mlp.and_then(Value::as_table_mut)
            && mlp.get("recipe").and_then(Value::as_str) == Some("paper")
        {
            own.or(short).put(mlp, wanted);
        }
        let mut fit = Value::Table(fit);
        name_polygons(&mut fit)?;
        entry.insert("fit".into(), fit);
        Ok(())
    }
}

/// Less work than the paper's for networks with its recipe: fewer steps, and some of the samples in each.
struct Short {
    steps: Option<Value>,
    batch: Option<Value>,
}

impl Short {
    /// Takes what the file or the run says of it.
    fn take(table: &mut Table) -> Self {
        Short {
            steps: table.remove("steps"),
            batch: table.remove("batch"),
        }
    }

    /// What a run says over what its file says.
    fn or(self, file: &Short) -> Self {
        Short {
            steps: self.steps.or_else(|| file.steps.clone()),
            batch: self.batch.or_else(|| file.batch.clone()),
        }
    }

    /// Puts it into the settings of a network, except for what is `wanted` instead.
    fn put(self, mlp: &mut Table, wanted: Option<Steps>) {
        let steps = match wanted {
            Some(Steps::Full) => return,
            Some(Steps::Given(n)) => Some(Value::Integer(n as i64)),
            None => self.steps,
        };
        for (key, value) in [("steps", steps), ("batch", self.batch)] {
            if let Some(value) = value {
                mlp.insert(key.into(), value);
            }
        }
    }
}

/// Puts the parts that a run or variant names under what it says itself.
fn put_together(entry: &mut Table, parts: &Table) -> Result<()> {
    let Some(names) = entry.remove("parts") else {
        return Ok(());
    };
    let names: Vec<String> = names
        .try_into()
        .map_err(|_| Error::Config("`parts` must be a list of names of parts".into()))?;
    let mut whole = Table::new();
    for name in names {
        let Some(Value::Table(part)) = parts.get(&name) else {
            let known: Vec<&str> = parts.keys().map(String::as_str).collect();
            return Err(Error::Config(format!(
                "there is no [part.{name}]; there are {}",
                known.join(", ")
            )));
        };
        merge(&mut whole, part.clone());
    }
    merge(&mut whole, std::mem::take(entry));
    *entry = whole;
    Ok(())
}

/// Puts the domain of a problem where a mesh says `polygon = "PROBLEM"`, or its mirror image where it says
/// `polygon = "PROBLEM mirrored"`.
fn name_polygons(value: &mut Value) -> Result<()> {
    match value {
        Value::Table(table) => {
            if let Some(Value::String(name)) = table.get("polygon") {
                let polygon = polygon(name)?;
                let polygon = Value::try_from(polygon)
                    .map_err(|e| Error::Config(format!("polygon {name:?}: {e}")))?;
                table.insert("polygon".into(), polygon);
            }
            table.iter_mut().try_for_each(|(_, v)| name_polygons(v))
        }
        Value::Array(list) => list.iter_mut().try_for_each(name_polygons),
        _ => Ok(()),
    }
}

fn polygon(name: &str) -> Result<Polygon> {
    let (problem, mirrored) = match name.strip_suffix(" mirrored") {
        Some(problem) => (problem, true),
        None => (name, false),
    };
    let domain = match problem {
        "poisson-holes" => c2cnet_problems::poisson_holes::domain()?,
        "elastic-plate" => c2cnet_problems::elastic_plate::domain(None)?,
        "darcy-lshape" => c2cnet_problems::darcy_lshape::domain(None)?,
        _ => {
            return Err(Error::Config(format!(
                "polygon {name:?}: known are poisson-holes, elastic-plate and darcy-lshape, each also mirrored"
            )));
        }
    };
    if !mirrored {
        return Ok(domain);
    }
    // Left and right change places.
    let mirror = |ring: &[[f64; 2]]| ring.iter().map(|[x, y]| [1.0 - x, *y]).collect();
    let holes = domain.holes().iter().map(|h| mirror(h)).collect();
    Polygon::new(mirror(domain.outer()), holes)
}

/// Merges or drops every `quick` of the table and of the tables within.
fn apply_quick(table: &mut Table, quick: bool) {
    if let Some(Value::Table(over)) = table.remove("quick")
        && quick
    {
        merge(table, over);
    }
    for value in table.iter_mut().map(|(_, v)| v) {
        match value {
            Value::Table(inner) => apply_quick(inner, quick),
            Value::Array(list) => {
                for inner in list.iter_mut().filter_map(Value::as_table_mut) {
                    apply_quick(inner, quick);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::experiment::TableSpec;
    use c2cnet::settings::MapKind;

    fn choice(quick: bool, steps: Option<Steps>) -> Choice<'static> {
        Choice {
            quick,
            steps,
            columns: &Column::ALL,
        }
    }

    #[test]
    fn every_file_can_be_read_either_way() {
        let library = Library::default();
        for name in library.names().unwrap() {
            for quick in [false, true] {
                let (experiment, resolved) = library.load(&name, &choice(quick, None)).unwrap();
                let ids: Vec<&String> = experiment.runs.iter().map(|r| &r.id).collect();
                let mut named: Vec<&String> = Vec::new();
                named.extend(experiment.tables.iter().flat_map(|t| &t.runs));
                named.extend(experiment.figures.iter().flat_map(|f| &f.runs));
                named.extend(experiment.checks.iter().map(|c| &c.run));
                named.extend(experiment.checks.iter().filter_map(|c| c.than.as_ref()));
                named.extend(experiment.obstacles.iter().flat_map(|o| &o.runs));
                for id in named {
                    assert!(ids.contains(&id), "{name} has no run {id:?}");
                }
                // What was resolved resolves to itself.
                assert!(!resolved.to_string().contains("quick"), "{name}");
            }
        }
    }

    #[test]
    fn settings_go_over_the_recipe_and_steps_over_both() {
        let library = Library::default();
        let steps = |choice: &Choice<'_>| {
            let (experiment, _) = library.load("kdv-burgers", choice).unwrap();
            let run = &experiment.runs[0];
            assert_eq!(run.fit.map.kind, MapKind::Mlp);
            assert_eq!(run.fit.map.mlp.hidden(), [300, 300, 300]);
            assert_eq!(run.column, Column::Plain);
            run.fit.map.mlp.steps
        };
        assert_eq!(steps(&choice(false, Some(Steps::Full))), None);
        assert_eq!(steps(&choice(false, Some(Steps::Given(7)))), Some(7));
        assert_eq!(steps(&choice(true, None)), Some(20));
        assert!(steps(&choice(false, None)).unwrap() > 100);
    }

    /// What the paper's recipe is here: local coordinates, a cut as printed, all samples in 30,000 steps, twice.
    #[test]
    fn networks_of_the_paper_are_read_twice_and_in_full_where_asked() {
        let library = Library::default();
        let full = choice(false, Some(Steps::Full));
        for name in library.names().unwrap() {
            let (experiment, resolved) = library.load(&name, &full).unwrap();
            // The kernels of the resolution tests have a cut of their own.
            let relative = resolved.to_string().contains("relative_cut");
            assert!(!relative || name == "transfer", "{name}");
            let of = |column| experiment.runs.iter().filter(move |r| r.column == column);
            let twice = of(Column::Plain).filter(|r| r.id.ends_with("-plain"));
            assert_eq!(twice.count(), of(Column::Scaled).count(), "{name}");
            for run in of(Column::Plain).chain(of(Column::Scaled)) {
                let mlp = &run.fit.map.mlp;
                assert_eq!(
                    mlp.scaled,
                    run.column == Column::Scaled,
                    "{name} {}",
                    run.id
                );
                assert!(
                    mlp.steps.is_none() && mlp.batch.is_none(),
                    "{name} {}",
                    run.id
                );
            }
        }
    }

    #[test]
    fn runs_are_put_together_from_parts() {
        let text = r#"
            [a]
            fit = { withhold = 0.0, input.encoder = { method = "svd", cut = 0.1 } }
            [b]
            seeds = [0, 1]
            fit.input.encoder = { method = "ridge" }
        "#;
        let parts: Table = text.parse().unwrap();
        let put = |run: &str| {
            let mut run: Table = run.parse().unwrap();
            put_together(&mut run, &parts).map(|()| run)
        };
        let run = put("parts = ['a', 'b']\nseeds = [3]").unwrap();
        let whole = "seeds = [3]\nfit = { withhold = 0.0, input.encoder = { method = 'ridge' } }";
        assert_eq!(run, whole.parse().unwrap());
        let error = put("parts = ['c']").unwrap_err().to_string();
        assert!(error.contains("no [part.c]; there are a, b"), "{error}");
        assert!(put("parts = 'a'").is_err());
    }

    #[test]
    fn keys_that_nothing_reads_are_refused() {
        let text = "id = 'a'\ntitle = 'A'\nrun = ['b']";
        let error = toml::from_str::<TableSpec>(text).unwrap_err().to_string();
        assert!(error.contains("unknown field `run`"), "{error}");
        let error = toml::from_str::<TableSpec>("id = '../a'\ntitle = 'A'").unwrap_err();
        assert!(error.to_string().contains("not a valid name"), "{error}");
    }

    #[test]
    fn columns_can_be_left_out() {
        let only = Choice {
            columns: &[Column::Auto],
            ..choice(true, None)
        };
        let (experiment, _) = Library::default().load("helmholtz", &only).unwrap();
        assert!(experiment.runs.iter().all(|r| r.column == Column::Auto));
        assert!(!experiment.runs.is_empty());
    }

    #[test]
    fn domains_are_named_and_mirrored() {
        let plain = polygon("darcy-lshape").unwrap();
        let mirrored = polygon("darcy-lshape mirrored").unwrap();
        assert!(plain.contains([0.25, 0.75]) && !plain.contains([0.75, 0.75]));
        assert!(mirrored.contains([0.75, 0.75]) && !mirrored.contains([0.25, 0.75]));
        assert!(polygon("nowhere").is_err());
    }
}
