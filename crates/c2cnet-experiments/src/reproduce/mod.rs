//! The paper's experiments, each from a TOML file to a folder of results.
//!
//! [`library`] reads the files as [`experiment`]s, `data` makes what they ask for, `run` fits and evaluates,
//! what each fit `found` is kept, the files named after a kind of experiment do what is special, `figures` draws,
//! and [`run_files`] is what remains.

mod checks;
mod data;
mod derive;
mod done;
mod effective_dimension;
pub mod experiment;
mod figures;
mod folder;
mod found;
mod geometry;
pub mod library;
mod mirror;
mod name;
mod obstacles;
mod readings;
mod run;
mod side_by_side;
mod sweep;
mod table;
mod transfer;

use crate::run_files;
use crate::terminal::print_line;
use c2cnet::data::Dataset;
use data::Store;
use experiment::Experiment;
use folder::Folder;
use library::{Choice, Library};
pub use run::Effort;
use run::{Bench, Record};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub use folder::{cpu, describe};

/// What to do, and where.
pub struct Order<'a> {
    pub library: &'a Library,
    pub choice: Choice<'a>,
    /// The run folder.
    pub run: &'a Path,
    /// Even if it was run before.
    pub force: bool,
    /// The command line, for the record.
    pub command: &'a str,
    pub effort: Effort,
}

/// What became of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was done before with the same inputs.
    Known,
    /// It was run; this many of its checks failed.
    Done { failed: usize },
}

/// Runs the experiment `name`, unless it was run before.
///
/// # Errors
/// If its file has a mistake, or a fit or a file fails. Results of other experiments stay as they are.
pub fn reproduce(name: &str, order: &Order<'_>) -> c2cnet::Result<Outcome> {
    let (experiment, resolved) = order.library.load(name, &order.choice)?;
    let config = resolved.to_string();
    let fingerprint = done::fingerprint(&experiment, &config)?;
    if !order.force && done::is_done(&order.run.join(name), &fingerprint) {
        print_line(format_args!("{name}: already done; use --force to repeat"))?;
        return Ok(Outcome::Known);
    }
    print_line(format_args!("{name}: {}", experiment.title))?;
    let clock = Instant::now();
    let folder = Folder::fresh(order.run, name)?;
    if order.force {
        for run in &experiment.runs {
            run.seeds
                .iter()
                .try_for_each(|&seed| folder.forget(&run.id, seed))?;
        }
    }
    folder.write_config(&config)?;
    let mut bench = Bench {
        name,
        store: Store::new(Some(order.run), &experiment),
        folder,
        findings: run_files::Findings::default(),
        floors: Vec::new(),
        earlier_seconds: 0.0,
        effort: order.effort,
    };
    let records = work(&mut bench, &experiment)?;
    // Errors of small data and short trainings can be compared with their floors only.
    if !order.choice.quick {
        let asked = experiment.checks.iter();
        let checks = asked.filter_map(|spec| checks::of_runs(spec, &records));
        bench.findings.checks.extend(checks);
    }
    let failed: Vec<_> = bench.findings.checks.iter().filter(|c| !c.passed).collect();
    let number = |v: Option<f64>| crate::terminal::number(v.unwrap_or(f64::NAN));
    for check in &failed {
        print_line(format_args!(
            "  check failed: {} ({} against {}) {}",
            check.what,
            number(check.value),
            number(check.bound),
            check.detail
        ))?;
    }
    let outcome = Outcome::Done {
        failed: failed.len(),
    };
    let seconds = clock.elapsed().as_secs_f64();
    let earlier = bench.earlier_seconds;
    bench.folder.write_result(&run_files::Experiment {
        name: name.into(),
        label: Some(experiment.label.clone()),
        title: experiment.title.clone(),
        about: experiment.about.trim().into(),
        differs: experiment.differs.clone(),
        fingerprint,
        quick: order.choice.quick,
        date: folder::today(),
        seconds: Some(seconds + earlier),
        version: env!("CARGO_PKG_VERSION").into(),
        command: order.command.into(),
        hardware: folder::hardware(order.effort.device),
        found: bench.findings,
    })?;
    print_line(format_args!(
        "{name}: done in {seconds:.0} s{}",
        match earlier {
            0.0 => String::new(),
            _ => format!("; what was kept took {earlier:.0} s"),
        }
    ))?;
    Ok(outcome)
}

/// One data set of an experiment; its description says which.
///
/// # Errors
/// If there is no such experiment or data set, or it cannot be made.
pub fn data_set(experiment: &str, name: &str, quick: bool) -> c2cnet::Result<Dataset> {
    let choice = Choice {
        quick,
        steps: None,
        columns: &[],
    };
    let (loaded, _) = Library::default().load(experiment, &choice)?;
    let data = Store::new(None, &loaded).get(name)?;
    let mut data = Arc::unwrap_or_clone(data);
    data.meta["experiment"] = experiment.into();
    data.meta["set"] = name.into();
    Ok(data)
}

/// Fits, tables and figures; gives the runs.
fn work(bench: &mut Bench<'_>, experiment: &Experiment) -> c2cnet::Result<Vec<Record>> {
    if experiment.method_figures {
        bench.findings.figures = bench.folder.save_method_figures()?;
    }
    let records = bench.records(&experiment.runs)?;
    for record in &records {
        bench.findings.headline.extend(table::headline(record));
        bench.findings.cells.extend(table::cell(record));
    }
    for spec in &experiment.tables {
        let shown = |r: &&Record| spec.runs.is_empty() || spec.runs.contains(&r.spec.id);
        let rows: Vec<&Record> = records.iter().filter(shown).collect();
        if !rows.is_empty() {
            bench.findings.tables.push(table::of_runs(spec, &rows));
        }
    }
    for spec in &experiment.sweeps {
        sweep::run(bench, spec)?;
    }
    for spec in &experiment.transfers {
        transfer::run(bench, spec)?;
    }
    if let Some(spec) = &experiment.obstacles {
        obstacles::run(bench, spec, &records)?;
    }
    for spec in &experiment.figures {
        figures::draw(bench, spec, &records)?;
    }
    let floors = checks::floors(&bench.floors);
    bench.findings.checks.extend(floors);
    Ok(records)
}
