//! The two readings of the paper's recipe.
//!
//! The paper prints sizes, cuts, networks and the schedule of the rates; it is silent on whether inputs and outputs are
//! scaled before training. A run or variant with `column = "paper"` therefore stands for two: `plain`, where nothing
//! is scaled, and `scaled`, with inputs in principal axes under one scale and outputs of unit root mean square. Each
//! has the name of its reading at the end of its `id` or `name`; tables, figures and checks that name the `id` mean
//! both.

use crate::merge;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// The column that stands for both.
const BOTH: &str = "paper";

/// Their names, and whether they scale.
const READINGS: [(&str, bool); 2] = [("plain", false), ("scaled", true)];

/// Puts both readings of every run or variant of the paper's recipe in its place; gives the `id`s that had two.
pub fn split(entries: &mut Vec<Value>) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let whole = std::mem::take(entries);
    for entry in whole {
        let column = entry.get("column").and_then(Value::as_str);
        match entry {
            Value::Table(run) if column == Some(BOTH) => {
                ids.extend(run.get("id").and_then(Value::as_str).map(String::from));
                entries.extend(READINGS.map(|reading| Value::Table(read(run.clone(), reading))));
            }
            other => entries.push(other),
        }
    }
    ids
}

/// One reading of a run or variant.
fn read(mut run: Table, (reading, scaled): (&str, bool)) -> Table {
    run.insert("column".into(), reading.into());
    for (key, between) in [("id", "-"), ("name", ", ")] {
        if let Some(Value::String(name)) = run.get_mut(key) {
            *name += &format!("{between}{reading}");
        }
    }
    let mlp = Table::from_iter([("scaled".into(), Value::Boolean(scaled))]);
    let map = Table::from_iter([("mlp".into(), mlp.into())]);
    let fit = Table::from_iter([("map".into(), map.into())]);
    merge(&mut run, Table::from_iter([("fit".into(), fit.into())]));
    run
}

/// Names both readings wherever a table, figure or check of the experiment names one of `ids`.
pub fn name_both(experiment: &mut Table, ids: &BTreeSet<String>) {
    for key in ["table", "figure"] {
        let lists = experiment.get_mut(key).and_then(Value::as_array_mut);
        for runs in lists
            .into_iter()
            .flatten()
            .filter_map(|l| l.get_mut("runs"))
        {
            name_in(runs, ids);
        }
    }
    let obstacles = experiment.get_mut("obstacles");
    if let Some(runs) = obstacles.and_then(|o| o.get_mut("runs")) {
        name_in(runs, ids);
    }
    if let Some(Value::Array(checks)) = experiment.get_mut("check") {
        *checks = checks.drain(..).flat_map(|c| check(c, ids)).collect();
    }
}

fn name_in(runs: &mut Value, ids: &BTreeSet<String>) {
    let Value::Array(runs) = runs else { return };
    let both = |run: Value| match run.as_str().filter(|id| ids.contains(*id)) {
        Some(id) => READINGS.map(|(r, _)| format!("{id}-{r}").into()).to_vec(),
        None => vec![run],
    };
    *runs = runs.drain(..).flat_map(both).collect();
}

/// A check of runs that have two readings is one check for each.
fn check(check: Value, ids: &BTreeSet<String>) -> Vec<Value> {
    let Value::Table(spec) = check else {
        return vec![check];
    };
    let concerned = ["run", "than"].map(|key| {
        let id = spec.get(key).and_then(Value::as_str);
        id.is_some_and(|id| ids.contains(id)).then_some(key)
    });
    if concerned == [None, None] {
        return vec![Value::Table(spec)];
    }
    let of = |(reading, _): (&str, bool)| {
        let mut spec = spec.clone();
        for (key, between) in [("run", "-"), ("than", "-"), ("what", ", ")] {
            if let Some(Value::String(text)) = spec.get_mut(key)
                && (key == "what" || concerned.contains(&Some(key)))
            {
                *text += &format!("{between}{reading}");
            }
        }
        Value::Table(spec)
    };
    READINGS.map(of).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_the_paper_becomes_two_and_so_does_what_names_it() {
        let text = r#"
            [[run]]
            id = "net"
            column = "paper"
            fit.map.mlp.recipe = "paper"
            [[run]]
            id = "own"
            column = "auto"
            [[table]]
            runs = ["net", "own"]
            [[check]]
            what = "better"
            run = "own"
            than = "net"
            [[check]]
            what = "small"
            run = "own"
        "#;
        let mut table: Table = text.parse().unwrap();
        let runs = table.get_mut("run").and_then(Value::as_array_mut).unwrap();
        let ids = split(runs);
        let named: Vec<_> = runs.iter().map(|r| r["id"].as_str().unwrap()).collect();
        assert_eq!(named, ["net-plain", "net-scaled", "own"]);
        assert_eq!(runs[1]["fit"]["map"]["mlp"]["scaled"].as_bool(), Some(true));
        assert_eq!(
            runs[1]["fit"]["map"]["mlp"]["recipe"].as_str(),
            Some("paper")
        );
        name_both(&mut table, &ids);
        assert_eq!(table["table"][0]["runs"].as_array().unwrap().len(), 3);
        let checks = table["check"].as_array().unwrap();
        assert_eq!(checks.len(), 3);
        assert_eq!(checks[0]["what"].as_str(), Some("better, plain"));
        assert_eq!(checks[1]["than"].as_str(), Some("net-scaled"));
        assert_eq!(checks[1]["run"].as_str(), Some("own"));
        assert_eq!(checks[2]["what"].as_str(), Some("small"));
    }
}
