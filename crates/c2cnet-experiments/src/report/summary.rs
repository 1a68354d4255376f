//! The paper's two summaries, with what was measured here beside what it prints.

use super::format::{self, error, integer, seconds};
use super::headline::{Line, title};
use super::read::Run;
use super::table::{Cell, Head, label, sortable};
use super::{embed, peers};
use crate::printed::{self, Column, Method, Paper};
use crate::run_files::{Headline, Peer};
use crate::terminal::counted;
use maud::{Markup, html};

/// The readings of the paper's recipe, whose runs are in the paper's columns.
const READINGS: [&str; 2] = ["plain", "scaled"];

/// Methods that no column of the paper holds, such as `auto`, in the order they come.
fn other_methods<'a>(lines: &[Line<'a>]) -> Vec<&'a str> {
    let mut methods: Vec<&str> = Vec::new();
    for line in lines {
        let method = line.row.method.as_str();
        let reading = READINGS.iter().any(|reading| method.starts_with(reading));
        if !reading && !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
}

/// The error of the run that names the cell, in this reading of the paper's recipe, if it was done.
pub fn reproduced(run: &Run, row: &str, column: Column, reading: &str) -> Option<f64> {
    let cell = printed::Cell {
        table: printed::Table::Rl2eSummary,
        row: row.into(),
        column,
    };
    let mut all = run.done().flat_map(|experiment| &experiment.found.cells);
    all.find(|found| found.cell == cell && found.reading == reading)?
        .rl2e
}

/// `tab:rl2e-summary`: ours over the paper's in every cell.
pub fn errors(run: &Run, lines: &[Line<'_>]) -> Markup {
    let paper = Paper::get();
    let others = other_methods(lines);
    let mut heads = vec![Head::text("problem")];
    heads.extend(Column::ALL.map(|column| Head::number(column.title())));
    heads.extend(others.iter().map(|method| Head::number(method)));
    heads.push(Head::number("smallest floor"));
    let known = paper.rl2e.iter().map(|row| row.problem.as_str());
    let mut problems: Vec<&str> = known.collect();
    for line in lines {
        if !problems.contains(&line.row.problem.as_str()) {
            problems.push(&line.row.problem);
        }
    }
    let row = |problem: &str| -> Vec<Cell> {
        let printed = paper.rl2e.iter().find(|row| row.problem == problem);
        let here: Vec<&Line<'_>> = lines.iter().filter(|l| l.row.problem == problem).collect();
        let name = printed
            .map(|row| row.title.as_str())
            .or(here.first().map(|l| title(l.row)))
            .unwrap_or(problem);
        let mut cells = vec![Cell::text(name)];
        for column in Column::ALL {
            let printed = printed.and_then(|row| row.printed(column));
            let printed = printed.filter(|_| !run.is_quick());
            let here = READINGS.map(|reading| reproduced(run, problem, column, reading));
            cells.push(Cell::readings(here, printed, error));
        }
        for method in &others {
            let ours = here.iter().find(|l| l.row.method == *method);
            cells.push(Cell::number(ours.and_then(|l| l.row.rl2e), error));
        }
        let floors = here.iter().filter_map(|l| l.row.floor);
        cells.push(Cell::number(floors.reduce(f64::min), error));
        cells
    };
    let rows: Vec<Vec<Cell>> = problems.iter().map(|problem| row(problem)).collect();
    html! {
        figure.block {
            figcaption { h3 #rl2e-summary { "Errors of all problems" (label(Some("tab:rl2e-summary"))) } }
            (sortable(&heads, &rows))
            p.caption {
                @if run.is_quick() { "Test RL2E of the paper’s recipe, plain and scaled. " }
                @else { "Test RL2E. In each cell: the paper’s recipe here, plain and scaled, and below it in grey what the paper prints. " }
                "A dash: no such experiment."
            }
        }
    }
}

/// `tab:performance-summary`: seconds, parameters and errors of every method that was measured.
pub fn performance(run: &Run, lines: &[Line<'_>]) -> Markup {
    let heads = [
        Head::text("problem"),
        Head::text("method"),
        Head::text("measured"),
        Head::number("seconds"),
        Head::number("parameters"),
        Head::number("RL2E"),
        Head::number("MSE"),
        Head::text("architecture or schedule"),
        Head::text("hardware"),
    ];
    html! {
        figure.block.performance {
            figcaption { h3 #performance-summary { "Errors, seconds and parameters" (label(Some("tab:performance-summary"))) } }
            (sortable(&heads, &performance_rows(run, lines)))
            p.caption {
                "Seconds are the offline cost: encoding of the training set and training. Rows “paper” are as printed there; "
                "the others were measured by this run or by the peers’ programs on the same data files. "
                "± is the standard deviation over seeds."
            }
        }
        @for (file, reason) in &run.damaged_peers {
            p.missing { "The peer’s result " code { (file) } " is not shown: " (reason) "." }
        }
        @for (k, curve) in peers::curves(run, lines).iter().enumerate() {
            (embed::curve(&format!("peers-{k}"), curve))
        }
    }
}

/// Problem by problem, in the paper's order: c2cnet, the peers, and what the paper prints.
fn performance_rows(run: &Run, lines: &[Line<'_>]) -> Vec<Vec<Cell>> {
    let paper = Paper::get();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let groups = peers::groups(&run.peers);
    let mut problems: Vec<&str> = paper.rl2e.iter().map(|r| r.problem.as_str()).collect();
    let more = lines.iter().map(|l| l.row.problem.as_str());
    for problem in more.chain(run.peers.iter().map(|p| p.problem.as_str())) {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    let hardware = match &run.info {
        Ok(info) if info.hardware.cpu.is_some() => super::page::machine(&info.hardware),
        _ => "this machine".into(),
    };
    for problem in problems {
        let known = paper.rl2e.iter().find(|r| r.problem == problem);
        let name = known.map_or(problem, |r| &r.title);
        let here = lines.iter().filter(|l| l.row.problem == problem);
        rows.extend(here.map(|line| measured_row(name, line.row, &hardware)));
        for ((_, peer, how, hardware), group) in groups.iter().filter(|(k, _)| k.0 == problem) {
            rows.push(peer_row(name, peer, how, hardware, group));
        }
        let printed = paper.performance.iter().filter(|p| p.problem == problem);
        rows.extend(printed.flat_map(|p| &p.rows).map(|m| printed_row(name, m)));
    }
    rows
}

fn measured_row(problem: &str, row: &Headline, hardware: &str) -> Vec<Cell> {
    let method = match row.run.as_str() {
        "" => format!("c2cnet {}", row.method),
        run => format!("{run} ({})", row.method),
    };
    vec![
        Cell::text(problem),
        strong(&method),
        Cell::text("here"),
        Cell::number(row.seconds, seconds),
        Cell::number(row.parameters, integer),
        Cell::number(row.rl2e, error),
        Cell::number(row.mse, error),
        Cell::text(row.architecture.as_deref().unwrap_or("")),
        Cell::text(hardware),
    ]
}

fn peer_row(problem: &str, peer: &str, how: &str, hardware: &str, group: &[&Peer]) -> Vec<Cell> {
    let mean = |value: fn(&Peer) -> Option<f64>| peers::mean_and_spread(group, value);
    vec![
        Cell::text(problem),
        Cell::text(peer),
        Cell::text("here"),
        spread_cell(mean(|p| p.train_seconds), seconds),
        spread_cell(mean(|p| p.parameters), integer),
        spread_cell(mean(|p| p.rl2e), error),
        spread_cell(mean(|p| p.mse), error),
        Cell::text(&format!("{how}{}", counted(group.len(), "seed"))),
        Cell::text(hardware),
    ]
}

fn printed_row(problem: &str, method: &Method) -> Vec<Cell> {
    vec![
        Cell::text(problem),
        Cell::text(&method.method),
        Cell {
            shown: html! { span.from-paper { "paper" } },
            order: None,
        },
        Cell::number(Some(method.seconds), seconds),
        Cell::number(Some(method.parameters), integer),
        Cell::number(Some(method.rl2e), error),
        Cell::number(Some(method.mse), error),
        Cell::text(&method.architecture),
        Cell::text("RTX 4090"),
    ]
}

fn strong(text: &str) -> Cell {
    Cell {
        shown: html! { strong { (text) } },
        order: None,
    }
}

fn spread_cell(value: Option<(f64, f64)>, write: fn(f64) -> String) -> Cell {
    let text = match value {
        None => format::MISSING.into(),
        Some((mean, 0.0)) => write(mean),
        Some((mean, spread)) => format!("{} ± {}", write(mean), write(spread)),
    };
    Cell {
        shown: html! { (text) },
        order: value.map(|(mean, _)| mean),
    }
}
