//! Peers beside c2cnet: runs that belong together, errors over time and over the number of samples.

use super::headline::{Line, title};
use super::read::Run;
use crate::run_files::{Axis, Curve, Peer, SampleFit, Series};
use crate::terminal::counted;
use std::collections::{BTreeMap, BTreeSet};

/// What curves call a fit with default settings.
const AUTO: &str = "c2cnet auto";

/// Runs that differ by their seed alone, by problem, peer, training and hardware.
pub type Groups<'a> = BTreeMap<(&'a str, &'a str, String, &'a str), Vec<&'a Peer>>;

pub fn groups(peers: &[Peer]) -> Groups<'_> {
    let mut groups = Groups::new();
    for p in peers {
        let key = (&*p.problem, &*p.peer, how(p), &*p.hardware);
        groups.entry(key).or_default().push(p);
    }
    groups
}

/// How a peer was trained, except for the seed: parts that each end in a comma.
fn how(p: &Peer) -> String {
    let mut parts = vec![p.schedule.clone(), p.label.clone()];
    if p.symmetry {
        parts.push("with symmetry".into());
    }
    parts.extend(p.n_train.map(|n| counted(n, "sample")));
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.map(|part| format!("{part}, ")).collect()
}

pub fn mean_and_spread(peers: &[&Peer], value: fn(&Peer) -> Option<f64>) -> Option<(f64, f64)> {
    let values: Vec<f64> = peers.iter().filter_map(|p| value(p)).collect();
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    Some((mean, variance.sqrt()))
}

/// Test errors over seconds and over the number of training samples.
pub fn curves(run: &Run, lines: &[Line<'_>]) -> Vec<Curve> {
    let mut all = over_time(&run.peers, lines);
    // A small run cannot be compared with fits to all samples.
    let quick = run.info.as_ref().is_ok_and(|info| info.quick);
    let lines_of_all = if quick { &[] } else { lines };
    all.extend(over_samples(&run.peers, &run.sample_fits, lines_of_all));
    all
}

/// Test error over seconds of the peers, and where c2cnet ends, for each problem they share. Trainings
/// with some of the samples have a curve of their own.
fn over_time(peers: &[Peer], lines: &[Line<'_>]) -> Vec<Curve> {
    let mut most: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for p in peers {
        let most = most.entry(&p.problem).or_default();
        *most = (*most).max(p.n_train);
    }
    let mut curves: BTreeMap<&str, Vec<Series>> = BTreeMap::new();
    let full = |p: &&Peer| p.n_train.is_none() || p.n_train == most[&*p.problem];
    for p in peers.iter().filter(full).filter(|p| !p.curve.is_empty()) {
        curves.entry(&p.problem).or_default().push(Series {
            name: format!("{}, {}seed {}", p.peer, how(p), p.seed),
            x: p.curve.iter().map(|c| c[0]).collect(),
            y: p.curve.iter().map(|c| c[2]).collect(),
            dashed: false,
        });
    }
    let with_ours = |(problem, mut series): (&str, Vec<Series>)| {
        for line in lines.iter().filter(|l| l.row.problem == problem) {
            series.push(Series {
                name: format!("c2cnet {}", line.row.method),
                x: vec![line.row.seconds],
                y: vec![line.row.rl2e],
                dashed: false,
            });
        }
        Curve {
            title: format!("{}: test error over training time", name(problem, lines)),
            caption: "A dot is where c2cnet ends: encoding and training together.".into(),
            x: Axis::log("seconds"),
            y: Axis::log("test RL2E"),
            series,
            ..Curve::default()
        }
    };
    curves.into_iter().map(with_ours).collect()
}

/// Test error over the number of training samples, for each problem where that was varied.
fn over_samples(peers: &[Peer], fits: &[SampleFit], lines: &[Line<'_>]) -> Vec<Curve> {
    // Errors by problem, method and number of samples; several seeds have their mean.
    let mut found: BTreeMap<&str, BTreeMap<&str, BTreeMap<usize, Vec<f64>>>> = BTreeMap::new();
    let mut put = |problem, method, samples, rl2e| {
        let methods = found.entry(problem).or_default();
        let sizes = methods.entry(method).or_default();
        sizes.entry(samples).or_default().push(rl2e);
    };
    for fit in fits {
        let method = match fit.method.as_str() {
            "auto" => AUTO,
            "pca-net" => "PCA-Net",
            other => other,
        };
        if let Some(rl2e) = fit.rl2e {
            put(&fit.problem, method, fit.n_train, rl2e);
        }
    }
    for p in peers {
        let usual = p.schedule == "one-cycle" && !p.symmetry && p.label.is_empty();
        if let (true, Some(samples), Some(rl2e)) = (usual, p.n_train, p.rl2e) {
            put(&p.problem, &p.peer, samples, rl2e);
        }
    }
    let curve = |(problem, mut methods): (&str, BTreeMap<&str, BTreeMap<usize, Vec<f64>>>)| {
        let sizes: BTreeSet<usize> = methods.values().flat_map(|m| m.keys().copied()).collect();
        // The run itself has the fit to all samples.
        let ours = lines.iter().map(|l| l.row);
        let ours = ours.filter(|row| row.problem == problem && row.method == "auto");
        let ours = ours.filter_map(|row| row.rl2e).next();
        if let (Some(all), Some(rl2e), Some(auto)) = (sizes.last(), ours, methods.get_mut(AUTO)) {
            auto.entry(*all).or_insert_with(|| vec![rl2e]);
        }
        methods.retain(|_, sizes| sizes.len() > 1);
        let mean = |errors: &Vec<f64>| errors.iter().sum::<f64>() / errors.len() as f64;
        let series = |(method, sizes): (&str, BTreeMap<usize, Vec<f64>>)| Series {
            name: method.into(),
            x: sizes.keys().map(|&n| Some(n as f64)).collect(),
            y: sizes.values().map(|errors| Some(mean(errors))).collect(),
            dashed: false,
        };
        (!methods.is_empty()).then(|| Curve {
            title: format!(
                "{}: test error over the number of training samples",
                name(problem, lines)
            ),
            caption: "Each method trained with the first samples of the same data. PCA-Net has principal components \
                      as bases, at most 64, and the map of c2cnet’s default settings."
                .into(),
            x: Axis::log("training samples"),
            y: Axis::log("test RL2E"),
            series: methods.into_iter().map(series).collect(),
            ..Curve::default()
        })
    };
    found.into_iter().filter_map(curve).collect()
}

/// What the report calls a problem.
fn name<'a>(problem: &'a str, lines: &'a [Line<'_>]) -> &'a str {
    let known = lines.iter().find(|l| l.row.problem == problem);
    known.map_or(problem, |l| title(l.row))
}
