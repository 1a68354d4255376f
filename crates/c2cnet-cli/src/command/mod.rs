//! The subcommands, one file each.

mod choices;
mod cite;
mod compare;
mod completions;
mod convert;
mod demo;
mod diagnose;
mod errors;
mod evaluate;
mod fit;
mod generate;
mod inspect;
mod man;
mod plan;
mod plot;
mod predict;
mod report;
mod reproduce;
mod settings;

use clap::Subcommand;

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(demo::Args),
    Generate(generate::Args),
    Convert(convert::Args),
    Plot(plot::Args),
    Plan(plan::Args),
    Fit(fit::Args),
    Evaluate(evaluate::Args),
    Predict(predict::Args),
    Inspect(inspect::Args),
    Diagnose(diagnose::Args),
    Compare(compare::Args),
    Reproduce(reproduce::Args),
    Report(report::Args),
    Settings(settings::Args),
    Cite(cite::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// Runs the subcommand.
    pub fn run(self) -> anyhow::Result<()> {
        match self {
            Command::Demo(args) => demo::run(&args),
            Command::Generate(args) => generate::run(&args),
            Command::Convert(args) => convert::run(&args),
            Command::Plot(args) => plot::run(&args),
            Command::Plan(args) => plan::run(&args),
            Command::Fit(args) => fit::run(&args),
            Command::Evaluate(args) => evaluate::run(&args),
            Command::Predict(args) => predict::run(&args),
            Command::Inspect(args) => inspect::run(&args),
            Command::Diagnose(args) => diagnose::run(&args),
            Command::Compare(args) => compare::run(&args),
            Command::Report(args) => report::run(&args),
            Command::Reproduce(args) => reproduce::run(&args),
            Command::Settings(args) => settings::run(&args),
            Command::Cite(args) => cite::run(&args),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}
