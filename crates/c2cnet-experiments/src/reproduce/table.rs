//! Runs as rows of tables and of the summary.

use super::experiment::{Column, TableSpec};
use super::found::Found;
use super::run::Record;
use crate::run_files::{Column as TableColumn, Headline, Kind, Reproduced, Table};
use serde_json::{Map, Value, json};

/// The table of these runs.
pub fn of_runs(spec: &TableSpec, records: &[&Record]) -> Table {
    let column = TableColumn::new;
    let mut columns = vec![
        column("method", "Method", Kind::Text),
        column("recipe", "Recipe", Kind::Text),
        column("rl2e", "test RL2E", Kind::Error),
        column("paper_rl2e", "paper's", Kind::Error),
    ];
    let mut sets: Vec<&String> = Vec::new();
    for (set, _) in records.iter().flat_map(|r| &r.found[0].more) {
        if !sets.contains(&set) {
            sets.push(set);
            columns.push(column(
                &format!("rl2e_{set}"),
                &format!("RL2E, {set}"),
                Kind::Error,
            ));
            columns.push(column(&format!("paper_rl2e_{set}"), "paper's", Kind::Error));
        }
    }
    columns.extend([
        column("mse", "test MSE", Kind::Error),
        column("paper_mse", "paper's", Kind::Error),
        column("train", "training RL2E", Kind::Error),
        column("floor", "floor", Kind::Error),
        column("withheld", "withheld", Kind::Error),
        column("linear", "linear map", Kind::Error),
        column("mean", "training mean", Kind::Error),
        column("rms", "rms of u", Kind::Number),
        column("search", "search", Kind::Seconds),
        column("encoding", "encoding", Kind::Seconds),
        column("paper_encoding", "paper's", Kind::Seconds),
        column("training", "training", Kind::Seconds),
        column("paper_training", "paper's", Kind::Seconds),
        column("parameters", "parameters", Kind::Integer),
        column("paper_parameters", "paper's", Kind::Integer),
        column("architecture", "map", Kind::Text),
        column("paper_architecture", "paper's", Kind::Text),
        column("note", "Note", Kind::Text),
    ]);
    let rows: Vec<_> = records.iter().map(|r| row(r)).collect();
    // An empty column says nothing.
    let filled = |c: &TableColumn| {
        let empty = |v: Option<&Value>| v.is_none_or(|v| v.is_null() || v == "");
        rows.iter().any(|row: &Map<_, _>| !empty(row.get(&c.key)))
    };
    columns.retain(filled);
    Table {
        id: spec.heading.id.clone(),
        title: spec.heading.title.clone(),
        caption: spec.heading.caption.clone(),
        label: spec.heading.label.clone(),
        columns,
        rows,
    }
}

fn row(record: &Record) -> Map<String, Value> {
    let mut row = Map::new();
    let paper = &record.spec.paper;
    let mut put = |key: &str, value: Value| row.insert(key.to_string(), value);
    put("method", json!(record.spec.label));
    put("recipe", json!(record.recipe()));
    type Of = fn(&Found) -> f64;
    let averaged: [(&str, Of); 10] = [
        ("rl2e", |f| f.test.rl2e),
        ("mse", |f| f.test.mse),
        ("train", |f| f.train.rl2e),
        ("floor", |f| f.test.floor),
        ("linear", |f| f.test.linear_rl2e),
        ("mean", |f| f.test.mean_rl2e),
        ("rms", |f| f.test.rms),
        ("search", |f| f.report.seconds.search),
        ("encoding", |f| f.report.seconds.encoding),
        ("training", |f| f.report.seconds.training),
    ];
    for (key, of) in averaged {
        let (mean, spread) = record.over_seeds(of);
        put(key, json!(mean));
        if let (Some(spread), "rl2e" | "train") = (spread, key) {
            put(&format!("{key}_spread"), json!(spread));
        }
    }
    put("withheld", json!(record.found[0].withheld_rl2e()));
    put("parameters", json!(record.parameters()));
    put("architecture", json!(record.architecture()));
    put("paper_rl2e", json!(paper.rl2e));
    put("paper_mse", json!(paper.mse));
    put("paper_encoding", json!(paper.encoding));
    put("paper_training", json!(paper.training));
    put("paper_parameters", json!(paper.parameters));
    put("paper_architecture", json!(paper.architecture));
    put("note", json!(record.spec.note));
    for (set, report) in &record.found[0].more {
        put(&format!("rl2e_{set}"), json!(report.rl2e));
        put(&format!("paper_rl2e_{set}"), json!(paper.sets.get(set)));
    }
    row
}

/// The cell of the paper that the run reproduces, if it names one.
pub fn cell(record: &Record) -> Option<Reproduced> {
    let (rl2e, _) = record.rl2e();
    Some(Reproduced {
        cell: record.spec.cell.clone()?,
        reading: record.spec.column.name().into(),
        run: record.spec.label.clone(),
        rl2e: Some(rl2e),
    })
}

/// The row of the summary, if the run is one.
pub fn headline(record: &Record) -> Option<Headline> {
    let spec = record.spec.headline.as_ref()?;
    let test = &record.found[0].test;
    let paper = &record.spec.paper;
    let (seconds, _) = record.over_seeds(|f| {
        let s = &f.report.seconds;
        s.search + s.encoding + s.training
    });
    let (rl2e, _) = record.rl2e();
    let (mse, _) = record.over_seeds(|f| f.test.mse);
    Some(Headline {
        problem: spec.problem.clone(),
        title: spec.title.clone(),
        run: record.spec.label.clone(),
        method: match record.spec.column {
            Column::Auto => "auto".into(),
            Column::Plain | Column::Scaled | Column::Fast => record.recipe(),
        },
        rl2e: Some(rl2e),
        paper: paper.rl2e,
        floor: Some(test.floor),
        withheld: record.found[0].withheld_rl2e(),
        linear: Some(test.linear_rl2e),
        mean: Some(test.mean_rl2e),
        rms: Some(test.rms),
        paper_rms: paper.rms(),
        mse: Some(mse),
        paper_mse: paper.mse,
        seconds: Some(seconds),
        paper_seconds: paper.seconds(),
        parameters: record.parameters().map(|n| n as f64),
        paper_parameters: paper.parameters.map(|n| n as f64),
        architecture: record.architecture(),
        note: record.spec.note.clone(),
    })
}
