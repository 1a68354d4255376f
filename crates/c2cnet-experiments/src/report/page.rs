//! The page as a whole.

use super::headline::{self, Line, ratio};
use super::read::Run;
use super::{experiment, format, summary};
use crate::run_files::{Hardware, RunInfo};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("assets/report.css");
const SCRIPT: &str = include_str!("assets/report.js");

/// The page about a run.
pub fn html(run: &Run) -> String {
    let lines = headline::lines(run);
    let body = html! {
        (opening(run, &lines))
        section #headline {
            h2 { "All problems" }
            (headline::section(&lines))
        }
        section #summaries {
            h2 { "The paper’s summaries" }
            (summary::errors(run, &lines))
            (summary::performance(run, &lines))
        }
        @for (name, result) in &run.experiments {
            (experiment::section(&run.folder.join(name), name, result))
        }
        (again(run))
    };
    shell("c2cnet: the paper’s experiments", &contents(run), &body)
}

/// What all pages have in common around their contents and their body.
pub fn shell(title: &str, contents: &Markup, body: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Nothing from elsewhere, whatever a run folder holds.
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "To the content" }
                nav.contents aria-label="Contents" {
                    div.bar {
                        a.home href="#top" { "c2cnet" }
                        button.theme type="button" aria-label="Colours: as the system" title="Colours: as the system" { "◐" }
                    }
                    details open {
                        summary { "Contents" }
                        ol { (contents) }
                    }
                }
                main #content { (body) }
                dialog.zoom aria-label="Enlarged figure" {
                    button type="button" aria-label="Close" { "×" }
                    img alt="";
                }
                noscript { p.missing { "Curves, galleries and sorting need JavaScript; everything else is here." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

fn contents(run: &Run) -> Markup {
    html! {
        li { a href="#headline" { "All problems" } }
        li { a href="#summaries" { "The paper’s summaries" } }
        @for (name, result) in &run.experiments {
            li {
                a href={ "#" (name) } {
                    (experiment::title(name, result))
                    @if result.is_err() { " " span.above title="not shown" { "▲" } }
                }
            }
        }
        li { a href="#again" { "Run it again" } }
    }
}

fn opening(run: &Run, lines: &[Line<'_>]) -> Markup {
    html! {
        header #top {
            h1 { "The paper’s experiments, run with c2cnet" }
            p.lead {
                "Operator learning in prescribed bases: input functions become coefficients of a fixed basis, "
                "only the map between coefficients is learned, and outputs are evaluated anywhere. "
                "Every table and figure of the FB-C2CNet paper, regenerated from scratch, beside what the paper prints."
            }
            @match &run.info {
                Ok(info) => (facts(info)),
                Err(reason) => p.missing { "When and where this was run is not known: " (reason) "." },
            }
            (tiles(run, lines))
        }
    }
}

fn facts(info: &RunInfo) -> Markup {
    html! {
        p.facts {
            @if info.quick { span.badge { "quick run: small sizes, not for comparison with the paper" } }
            @if !info.date.is_empty() { span { (info.date) } }
            @if !machine(&info.hardware).is_empty() { span { (machine(&info.hardware)) } }
            @if !info.hardware.os.is_empty() { span { (info.hardware.os) } }
            @if !info.version.is_empty() { span { "c2cnet " (info.version) } }
        }
    }
}

/// The machine in a few words.
pub fn machine(hardware: &Hardware) -> String {
    let cores = hardware.cores.map(|n| crate::terminal::counted(n, "core"));
    let memory = hardware.memory_gib.map(|n| format!("{n:.0} GiB"));
    let known: Vec<String> = [hardware.gpu.clone(), hardware.cpu.clone(), cores, memory]
        .into_iter()
        .flatten()
        .collect();
    known.join(", ")
}

/// The few numbers to remember.
fn tiles(run: &Run, lines: &[Line<'_>]) -> Markup {
    // Runs of the paper's recipe are there to compare with; the default is what a user gets.
    let default = |l: &&Line<'_>| l.row.method == "auto";
    let has_default = lines.iter().any(|l| default(&l));
    let judged = lines.iter().filter(|l| !has_default || default(l));
    let mut ratios: Vec<f64> = judged.filter_map(|l| ratio(l.row)).collect();
    ratios.sort_by(f64::total_cmp);
    let under = ratios.iter().filter(|r| **r <= 1.0).count();
    let checks: Vec<bool> = run
        .done()
        .flat_map(|e| e.found.checks.iter().map(|c| c.passed))
        .collect();
    let held = checks.iter().filter(|c| **c).count();
    let total: f64 = run.done().filter_map(|e| e.seconds).sum();
    let done = run.done().count();
    html! {
        ul.tiles {
            @if !ratios.is_empty() {
                li { strong { (under) " of " (ratios.len()) } span { @if has_default { "default errors" } @else { "errors" } " at or under the paper’s" } }
                li { strong { (format::number(ratios[ratios.len() / 2])) } span { "median of those over the paper’s" } }
            }
            // Checks are stated for the sizes of the paper.
            @if !checks.is_empty() && !run.is_quick() {
                li { strong { (held) " of " (checks.len()) } span { "checks hold" } }
            }
            li { strong { (done) " of " (run.experiments.len()) } span { "experiments done" } }
            @if total > 0.0 { li { strong { (format::seconds(total)) } span { "for all of them" } } }
        }
    }
}

fn again(run: &Run) -> Markup {
    let command = match &run.info {
        Ok(info) if !info.command.is_empty() => info.command.as_str(),
        _ => "c2cnet reproduce --all",
    };
    html! {
        section #again {
            h2 { "Run it again" }
            pre { code { (command) } }
            p {
                "Finished experiments are not repeated unless their inputs changed. "
                "This page alone, from the run folder:"
            }
            pre { code { "c2cnet report " (run.folder.display()) } }
        }
    }
}
