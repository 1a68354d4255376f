//! The paper's two summaries, with what was measured here beside what it prints.

use super::format::{self, error, integer, seconds};
use super::headline::{Line, title};
use super::paper::{Errors, Paper};
use super::read::Run;
use super::table::{Cell, Head, label, sortable};
use super::{embed, peers};
use crate::output::counted;
use crate::run_files::Peer;
use maud::{Markup, html};
use serde_json::Value;

/// Columns of `tab:rl2e-summary`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    ScalarFem,
    ScalarRfm,
    VectorFem,
    VectorRfm,
}

const VARIANTS: [(Variant, &str); 4] = [
    (Variant::ScalarFem, "scalar FEM-C2C"),
    (Variant::ScalarRfm, "scalar RFM-C2C"),
    (Variant::VectorFem, "vector FEM-C2C"),
    (Variant::VectorRfm, "vector RFM-C2C"),
];

impl Variant {
    /// The columns that a method may belong to; one that does not say may be scalar or vector-valued.
    fn of(method: &str) -> Vec<Variant> {
        let method = method.to_lowercase();
        if !method.contains("c2c") {
            return Vec::new();
        }
        let mut variants = match (method.contains("fem"), method.contains("rfm")) {
            (true, false) => vec![Variant::ScalarFem, Variant::VectorFem],
            (false, true) => vec![Variant::ScalarRfm, Variant::VectorRfm],
            _ => Vec::new(),
        };
        if method.contains("vector") {
            variants.retain(|v| matches!(v, Variant::VectorFem | Variant::VectorRfm));
        } else if method.contains("scalar") {
            variants.retain(|v| matches!(v, Variant::ScalarFem | Variant::ScalarRfm));
        }
        variants
    }

    fn printed(self, row: &Errors) -> Option<f64> {
        match self {
            Variant::ScalarFem => row.scalar_fem,
            Variant::ScalarRfm => row.scalar_rfm,
            Variant::VectorFem => row.vector_fem,
            Variant::VectorRfm => row.vector_rfm,
        }
    }
}

/// Methods that no column of the paper holds, such as `auto`, in the order they come. Runs of the
/// paper's recipe are in the paper's columns.
fn other_methods<'a>(lines: &[Line<'a>]) -> Vec<&'a str> {
    let mut methods: Vec<&str> = Vec::new();
    for line in lines {
        let method = line.row.method.as_str();
        let known = !Variant::of(method).is_empty() || method.starts_with("paper");
        if !known && !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
}

/// A run that repeats a cell of `tab:rl2e-summary`.
struct Repeated<'a> {
    problem: &'a str,
    variant: Variant,
    rl2e: f64,
}

/// The rows of the experiments' tables that name the error which the paper prints in a cell. Two
/// cells of the paper nearly agree, so an experiment's own problems come first.
fn repeated<'a>(run: &Run, paper: &'a Paper) -> Vec<Repeated<'a>> {
    let mut found = Vec::new();
    for experiment in run.done() {
        let own = |problem: &str| {
            experiment
                .found
                .headline
                .iter()
                .any(|h| h.problem == problem)
        };
        for row in experiment.found.tables.iter().flat_map(|t| &t.rows) {
            let number = |key: &str| row.get(key).and_then(Value::as_f64);
            let method = row.get("method").and_then(Value::as_str);
            let (Some(rl2e), Some(printed)) = (number("rl2e"), number("paper_rl2e")) else {
                continue;
            };
            let variants = Variant::of(method.unwrap_or_default());
            let cells = paper.rl2e.iter().flat_map(|cell| {
                let of = |v: &Variant| Some((cell, *v, (v.printed(cell)? / printed - 1.0).abs()));
                variants.iter().filter_map(of).collect::<Vec<_>>()
            });
            let near = cells.filter(|(_, _, off)| *off < 5e-3);
            let best = near.min_by(|a, b| {
                let foreign = |cell: &Errors| !own(&cell.problem);
                let by_problem = foreign(a.0).cmp(&foreign(b.0));
                by_problem.then(a.2.total_cmp(&b.2))
            });
            if let Some((cell, variant, _)) = best {
                found.push(Repeated {
                    problem: &cell.problem,
                    variant,
                    rl2e,
                });
            }
        }
    }
    found
}

/// `tab:rl2e-summary`: ours over the paper's in every cell.
pub fn errors(run: &Run, lines: &[Line<'_>]) -> Markup {
    let paper = Paper::read();
    let repeated = repeated(run, &paper);
    let others = other_methods(lines);
    let mut heads = vec![Head::text("problem")];
    heads.extend(VARIANTS.iter().map(|(_, title)| Head::number(title)));
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
        for (variant, _) in VARIANTS {
            let is_it = |r: &&Repeated<'_>| r.problem == problem && r.variant == variant;
            let in_tables = repeated.iter().find(is_it).map(|r| r.rl2e);
            let in_headline = || {
                let line = here
                    .iter()
                    .find(|l| Variant::of(&l.row.method).first() == Some(&variant));
                line.and_then(|l| l.row.rl2e)
            };
            let printed = printed.and_then(|row| variant.printed(row));
            cells.push(Cell::pair(in_tables.or_else(in_headline), printed, error));
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
                "Test RL2E. In each cell: here, and below it in grey what the paper prints. A dash: no such experiment."
            }
        }
    }
}

/// `tab:performance-summary`: seconds, parameters and errors of every method that was measured.
pub fn performance(run: &Run, lines: &[Line<'_>]) -> Markup {
    let paper = Paper::read();
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
        for line in lines.iter().filter(|l| l.row.problem == problem) {
            let row = line.row;
            let method = match row.run.as_str() {
                "" => format!("c2cnet {}", row.method),
                run => format!("{run} ({})", row.method),
            };
            rows.push(vec![
                Cell::text(name),
                strong(&method),
                Cell::text("here"),
                Cell::number(row.seconds, seconds),
                Cell::number(row.parameters, integer),
                Cell::number(row.rl2e, error),
                Cell::number(row.mse, error),
                Cell::text(row.architecture.as_deref().unwrap_or("")),
                Cell::text(&hardware),
            ]);
        }
        for ((_, peer, how, hardware), group) in groups.iter().filter(|(k, _)| k.0 == problem) {
            let mean = |value: fn(&Peer) -> Option<f64>| peers::mean_and_spread(group, value);
            rows.push(vec![
                Cell::text(name),
                Cell::text(peer),
                Cell::text("here"),
                spread_cell(mean(|p| p.train_seconds), seconds),
                spread_cell(mean(|p| p.parameters), integer),
                spread_cell(mean(|p| p.rl2e), error),
                spread_cell(mean(|p| p.mse), error),
                Cell::text(&format!("{how}{}", counted(group.len(), "seed"))),
                Cell::text(hardware),
            ]);
        }
        let printed = paper.performance.iter().filter(|p| p.problem == problem);
        for method in printed.flat_map(|p| &p.rows) {
            rows.push(vec![
                Cell::text(name),
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
            ]);
        }
    }
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
            (sortable(&heads, &rows))
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
