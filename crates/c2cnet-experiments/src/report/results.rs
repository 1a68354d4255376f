//! `RESULTS.md`: what the paper prints beside what was found, the headline table, and each experiment's tables.

use super::experiment::title;
use super::format::{self, cell, error, integer, maybe, number, seconds};
use super::headline::{self, Line, ratio};
use super::page::machine;
use super::read::Run;
use super::summary::reproduced;
use crate::printed::{self, Paper};
use crate::run_files::{Check, Column, Experiment, Findings, Kind, Table};
use std::fmt::Write as _;

/// The run as Markdown.
pub fn markdown(run: &Run) -> String {
    let mut text = String::from("# Results\n\n");
    text += &opening(run);
    text += "\n## Printed, plain, scaled, default\n\n";
    text += &readings_table(run);
    text += "\n## All problems\n\n";
    text += &headline_table(&headline::lines(run));
    for (name, result) in &run.experiments {
        let _ = write!(text, "\n## {}\n\n", escape(title(name, result)));
        match result {
            Ok(experiment) => text += &summary(experiment),
            Err(reason) => {
                let _ = writeln!(text, "Not shown: {}.", escape(reason));
            }
        }
    }
    text
}

fn opening(run: &Run) -> String {
    let info = match &run.info {
        Ok(info) => info,
        Err(reason) => {
            return format!(
                "When and where this was run is not known: {}.\n",
                escape(reason)
            );
        }
    };
    let mut text = format!(
        "Written by `c2cnet report RUN --results RESULTS.md` from the folder of a run of\n\
         {} on {}, {} (c2cnet {}).\n",
        code(&info.command),
        escape(&info.date),
        escape(&machine(&info.hardware)),
        escape(&info.version)
    );
    if info.quick {
        text += "\nA quick run: small sizes, not for comparison with the paper.\n";
    }
    text
}

/// The paper's summary of errors, with both readings of its recipe and the default settings.
fn readings_table(run: &Run) -> String {
    let heads = ["problem", "method", "printed", "plain", "scaled", "default"];
    let heads: Vec<(&str, bool)> = heads
        .iter()
        .map(|h| (*h, !["problem", "method"].contains(h)))
        .collect();
    let mut rows = Rows::new(&heads);
    let lines = headline::lines(run);
    for row in &Paper::get().rl2e {
        let ours = |l: &&Line<'_>| l.row.problem == row.problem && l.row.method == "auto";
        let default = lines.iter().find(ours).and_then(|l| l.row.rl2e);
        for column in printed::Column::ALL {
            let Some(printed) = row.printed(column) else {
                continue;
            };
            let here = |reading| reproduced(run, &row.problem, column, reading);
            let errors = [Some(printed), here("plain"), here("scaled"), default];
            let mut cells = vec![row.title.clone(), column.title().to_string()];
            cells.extend(errors.map(|v| maybe(v, error)));
            rows.push(&cells);
        }
    }
    let mut text = rows.0;
    text += "\nMean relative L2 errors on test samples, of `tab:rl2e-summary` and of the networks that it names, in two\n\
             readings of what is not printed. Both take features in local coordinates of their patches and the cut as an\n\
             absolute one; *plain* scales nothing, *scaled* gives the network inputs in principal axes under one scale and\n\
             outputs of unit rms. *Default* is the fit without any setting but the domain, where a section says so. A dash:\n\
             not run. The tables below say how many steps a network took.\n";
    text
}

fn headline_table(lines: &[Line<'_>]) -> String {
    let mut rows = Rows::new(&[
        ("problem", false),
        ("method", false),
        ("RL2E", true),
        ("paper", true),
        ("ratio", true),
        ("floor", true),
        ("withheld", true),
        ("linear", true),
        ("mean", true),
        ("MSE", true),
        ("paper's", true),
        ("rms (paper's)", true),
        ("time", true),
        ("paper's", true),
        ("parameters", true),
        ("paper's", true),
    ]);
    for Line { row, .. } in lines {
        let mut cells = vec![headline::title(row).to_string(), row.method.clone()];
        cells.extend([row.rl2e, row.paper].map(|v| maybe(v, error)));
        cells.push(maybe(ratio(row), number));
        cells.extend([row.floor, row.withheld, row.linear, row.mean].map(|v| maybe(v, error)));
        cells.extend([row.mse, row.paper_mse].map(|v| maybe(v, error)));
        cells.push(format!(
            "{} ({})",
            maybe(row.rms, number),
            maybe(row.paper_rms, number)
        ));
        cells.extend([row.seconds, row.paper_seconds].map(|v| maybe(v, seconds)));
        cells.extend([row.parameters, row.paper_parameters].map(|v| maybe(v, integer)));
        rows.push(&cells);
    }
    let mut text = rows.0;
    text += "\nRL2E is the mean relative L2 error on test samples. The floor is the smallest RL2E that the output\n\
             basis allows, withheld the RL2E at output points that no fit saw, linear and mean the RL2E of a\n\
             linear map and of the training mean. Time is encoding and training; the paper's is on an RTX 4090.\n\
             Parameters are the numbers that the map has learned.\n";
    for Line { row, .. } in lines.iter().filter(|l| !l.row.note.is_empty()) {
        let _ = write!(
            text,
            "\n{} ({}): {}\n",
            escape(headline::title(row)),
            escape(&row.method),
            escape(&row.note)
        );
    }
    text
}

/// An experiment in short: the way to run it, what differs from the paper, its tables and checks.
fn summary(experiment: &Experiment) -> String {
    let mut text = String::new();
    if !experiment.command.is_empty() {
        let time = maybe(experiment.seconds, seconds);
        let place = match machine(&experiment.hardware).as_str() {
            "" => String::new(),
            machine => format!(", {}", escape(machine)),
        };
        let command = code(&experiment.command);
        let _ = writeln!(
            text,
            "{command}, {}{place}, {time}.",
            escape(&experiment.date)
        );
    }
    if !experiment.differs.is_empty() {
        text += "\nWhat differs from the paper:\n";
        for difference in &experiment.differs {
            let _ = writeln!(text, "- {}", escape(difference));
        }
    }
    let Findings {
        tables,
        checks,
        missing,
        ..
    } = &experiment.found;
    for table in tables {
        let _ = write!(text, "\n{}\n", whole_table(table));
    }
    if !missing.is_empty() {
        let _ = write!(text, "\nNot run: {}.\n", escape(&missing.join("; ")));
    }
    if !checks.is_empty() {
        let held = checks.iter().filter(|c| c.passed).count();
        let _ = write!(text, "\nChecks that hold: {held} of {}.\n", checks.len());
    }
    for check in checks.iter().filter(|c| !c.passed) {
        text += &failure(check);
    }
    text
}

fn whole_table(table: &Table) -> String {
    let heads: Vec<(&str, bool)> = table
        .columns
        .iter()
        .map(|c| (c.title.as_str(), c.kind != Kind::Text))
        .collect();
    let mut rows = Rows::new(&heads);
    for values in &table.rows {
        let of_column = |c: &Column| {
            let spread = values.get(&format!("{}_spread", c.key));
            cell(c.kind, values.get(&c.key), spread)
        };
        rows.push(&table.columns.iter().map(of_column).collect::<Vec<_>>());
    }
    let label = table
        .label
        .as_ref()
        .map_or(String::new(), |l| format!(" (`{l}`)"));
    format!("{}{label}\n\n{}", escape(&table.title), rows.0)
        .trim_end()
        .to_string()
}

fn failure(check: &Check) -> String {
    format!(
        "\nDoes not hold: {} ({}, bound {}). {}\n",
        escape(&check.what),
        maybe(check.value, number),
        maybe(check.bound, number),
        escape(&check.detail)
    )
}

/// The lines of a table.
struct Rows(String);

impl Rows {
    fn new(heads: &[(&str, bool)]) -> Self {
        let mut rows = Rows(String::new());
        rows.push(&heads.iter().map(|h| h.0.to_string()).collect::<Vec<_>>());
        let rules = heads.iter().map(|h| if h.1 { "--:|" } else { "---|" });
        let _ = writeln!(rows.0, "|{}", rules.collect::<String>());
        rows
    }

    fn push(&mut self, cells: &[String]) {
        let cells: Vec<String> = cells.iter().map(|c| escape(c)).collect();
        let _ = writeln!(self.0, "| {} |", cells.join(" | "));
    }
}

/// Text that stays text, on one line.
fn escape(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => safe.push(' '),
            '|' | '*' | '_' | '`' | '\\' | '[' | ']' | '<' | '#' => {
                safe.push('\\');
                safe.push(c);
            }
            c => safe.push(c),
        }
    }
    safe
}

/// A command; one that holds backquotes stays as it is.
fn code(command: &str) -> String {
    if command.is_empty() {
        format::MISSING.into()
    } else if command.contains('`') {
        escape(command)
    } else {
        format!("`{command}`")
    }
}
