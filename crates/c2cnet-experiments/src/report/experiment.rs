//! The section of one experiment.

use super::table::label;
use super::{embed, format, table};
use crate::run_files::{Check, Experiment, Readable};
use maud::{Markup, html};
use std::path::Path;

/// What is known of the experiment in `folder`.
pub fn section(folder: &Path, name: &str, experiment: &Readable<Experiment>) -> Markup {
    match experiment {
        Ok(experiment) => done(folder, name, experiment),
        Err(reason) => html! {
            section.experiment.damaged #(name) {
                h2 { (name) }
                p.missing { "This experiment is not shown: " (reason) "." }
                (again(&format!("c2cnet reproduce {name}")))
            }
        },
    }
}

/// What the section is called.
pub fn title<'a>(name: &'a str, experiment: &'a Readable<Experiment>) -> &'a str {
    match experiment {
        Ok(e) if !e.title.is_empty() => &e.title,
        _ => name,
    }
}

fn done(folder: &Path, name: &str, e: &Experiment) -> Markup {
    let id = |kind: &str, k: usize| format!("{name}-{kind}-{k}");
    html! {
        section.experiment #(name) {
            h2 { (if e.title.is_empty() { name } else { &e.title }) (label(e.label.as_deref())) }
            p.facts {
                @if e.quick { span.badge { "quick: small sizes, not for comparison; texts give those of the full experiment" } }
                @if let Some(s) = e.seconds { span { "took " (format::seconds(s)) } }
                @if !e.date.is_empty() { span { (e.date) } }
                @if !e.version.is_empty() { span { "version " (e.version) } }
            }
            @for paragraph in e.about.split("\n\n").filter(|p| !p.trim().is_empty()) {
                p { (paragraph.trim()) }
            }
            @for t in &e.found.tables { (table::of_experiment(t, e.quick)) }
            @for (k, c) in e.found.curves.iter().enumerate() { (embed::curve(&id("curve", k), c)) }
            @for p in &e.found.figures { (embed::picture(folder, p)) }
            @for (k, g) in e.found.galleries.iter().enumerate() { (embed::gallery(folder, &id("gallery", k), g)) }
            (checks(&e.found.checks))
            @if !e.found.missing.is_empty() {
                p.missing { "Not run: " (e.found.missing.join("; ")) "." }
            }
            @if !e.differs.is_empty() {
                h3 { "What differs from the paper, and why" }
                ul { @for d in &e.differs { li { (format::subscripts(d)) } } }
            }
            (again(&e.command))
        }
    }
}

fn checks(checks: &[Check]) -> Markup {
    html! {
        @if !checks.is_empty() {
            h3 { "Checks" }
            ul.checks {
                @for c in checks {
                    li class=(if c.passed { "passed" } else { "failed" }) {
                        span.sign { (if c.passed { "✓" } else { "✗" }) span.words { (if c.passed { " holds: " } else { " does not hold: " }) } }
                        (c.what)
                        @if let Some(value) = c.value {
                            span.measured { " " (format::number(value)) @if let Some(bound) = c.bound { " (bound " (format::number(bound)) ")" } }
                        }
                        @if !c.detail.is_empty() { span.detail { (c.detail) } }
                    }
                }
            }
        }
    }
}

fn again(command: &str) -> Markup {
    html! {
        @if !command.is_empty() {
            h3 { "Run it again" }
            pre { code { (command) } }
        }
    }
}
