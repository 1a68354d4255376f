//! Drawings of runs.

mod curve;
mod functions;
pub mod obstacles;
mod samples;

pub use curve::draw as draw_curve;

use super::experiment::{FigureKind, FigureSpec, sized};
use super::run::{Bench, Record};
use crate::run_files::{PeerPredictions, Picture};
use c2cnet::Result;

/// Draws what `spec` asks for of the runs that were made, and notes it.
pub fn draw(bench: &mut Bench<'_>, spec: &FigureSpec, records: &[Record]) -> Result<()> {
    let named = |id: &String| records.iter().find(|r| r.spec.id == *id);
    // Curves of training and observations need no model.
    let bare = matches!(spec.kind, FigureKind::Training | FigureKind::Observations);
    let drawable = |r: &&Record| bare || r.has_model();
    let chosen: Vec<&Record> = spec.runs.iter().filter_map(named).collect();
    let chosen: Vec<&Record> = chosen.into_iter().filter(drawable).collect();
    let Some(first) = chosen.first() else {
        return Ok(());
    };
    let mut spec = spec.clone();
    spec.heading.title = sized(&spec.heading.title, first.n_train);
    let title = &spec.heading.title;
    let peers = peers(bench, &spec);
    let figure = match spec.kind {
        FigureKind::Gallery => return samples::gallery(bench, &spec, first),
        FigureKind::Training => return curve::training(bench, &spec, &chosen),
        FigureKind::Worst => samples::worst(title, &chosen)?,
        FigureKind::Predictions => functions::predictions(title, &chosen, &peers)?,
        FigureKind::Observations => functions::observations(title, first),
        FigureKind::Traces => functions::traces(title, &chosen)?,
        FigureKind::Slice => functions::slice(title, &chosen)?,
    };
    let files = bench
        .folder
        .save_figure(&spec.heading.id, &figure.to_svg())?;
    bench.findings.figures.push(Picture {
        id: spec.heading.id.clone(),
        title: spec.heading.title.clone(),
        caption: spec.heading.caption.clone(),
        label: spec.heading.label.clone(),
        files,
    });
    Ok(())
}

/// What other methods predict; those that are not in the run folder are noted as missing.
fn peers(bench: &mut Bench<'_>, spec: &FigureSpec) -> Vec<PeerPredictions> {
    let mut found = Vec::new();
    for peer in &spec.peers {
        match bench.folder.peer_predictions(peer) {
            Ok(predictions) => found.push(predictions),
            Err(why) => {
                let what = format!("{}: {peer} ({why})", spec.heading.title);
                bench.findings.missing.push(what);
            }
        }
    }
    found
}
