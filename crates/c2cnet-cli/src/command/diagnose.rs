//! `c2cnet diagnose`: what bases can and cannot do for a data set.

mod figures;
mod inline;

use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::reading::{Reading, of_file};
use crate::settings::FitFlags;
use c2cnet::diagnose::{Floors, Row, Sweep, floors, sweeps};
use c2cnet::fit;
use c2cnet_experiments::output_path;
use c2cnet_experiments::terminal::{
    self, Progress, Table, counted, error, interrupt, number, print_line,
};
use inline::inline;
use serde_json::json;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Bases and encoders are those of the settings; where none are given, those that a fit would choose.

For each input: the singular values of its design matrix; and, against the regularisation's
strength, how much noise is amplified and what fraction of the input is lost, to regularisation
(shrinkage) and to the basis (unrepresentable).

For each output: the floor (the smallest relative error that a basis allows) against its size,
for several families, at fitted and at withheld points.

Figures go to the folder -o: spectrum.svg, bias.svg, floor.svg.

Examples:
  c2cnet diagnose data.npz
  c2cnet diagnose data.npz -o figures --set search.max_functions=256
  c2cnet diagnose data.npz --input-basis 'family=\"fourier\", functions=64'";

/// Show what bases can and cannot do for the training samples of a data file, and recommend some.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The data file.
    data: PathBuf,

    /// Folder for the figures (created if needed).
    #[arg(short, long, value_name = "DIR", default_value = "diagnose")]
    output: PathBuf,

    #[command(flatten)]
    settings: FitFlags,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    force: Force,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let config = args.settings.resolve()?;
    output_path::folder(&args.output)?;
    let reads = [&*args.data].into_iter().chain(args.settings.file());
    let writes = ["spectrum.svg", "bias.svg", "floor.svg"].map(|name| args.output.join(name));
    let writes = writes
        .each_ref()
        .map(|path| (path.as_path(), FileKind::Other));
    outputs::check(args.force, reads, &writes)?;
    let progress = Progress::start("reading the data");
    let data = args.reading.read_pairs(&args.data)?;
    let (model, _) = interrupt::patiently(|| fit(&data, &config, &progress))
        .map_err(|e| of_file(&args.data, e))?;
    // Spread over the file, which may be sorted, like the samples with which a fit compares bases.
    let all = data.train_indices();
    let count = all.len().min(config.search.samples);
    let some: Vec<usize> = (0..count).map(|i| all[i * all.len() / count]).collect();
    let train = data.select(&some);
    let sweeps = sweeps(&model, &train, &config, &progress)?;
    let floors = floors(&model, &train, &config, &progress)?;
    progress.step("drawing");
    let write = |name: &str, svg: String| output_path::write(&args.output.join(name), &svg);
    write("spectrum.svg", figures::spectrum(&sweeps))?;
    write("bias.svg", figures::bias(&sweeps))?;
    write("floor.svg", figures::floor(&floors))?;
    drop(progress);
    if args.json {
        terminal::print_json(&json!({
            "inputs": sweeps,
            "outputs": floors,
            "figures": args.output,
        }))?;
        return Ok(());
    }
    sweeps.iter().try_for_each(print_sweep)?;
    floors.iter().try_for_each(print_floors)?;
    print_recommendation(args, &sweeps, &floors)?;
    Ok(())
}

fn print_sweep(sweep: &Sweep) -> c2cnet::Result<()> {
    let sigma = &sweep.singular_values;
    print_line(format_args!("{}: {}", sweep.label, sweep.basis))?;
    match (sigma.first(), sigma.last()) {
        (Some(first), Some(last)) => print_line(format_args!(
            "  {} singular values above rounding, from {} to {} (condition {})",
            sigma.len(),
            number(*first),
            number(*last),
            error(first / last)
        ))?,
        _ => {
            print_line("  no singular value above rounding: the functions vanish at these points")?
        }
    }
    let mut table = Table::with_header([
        sweep.parameter,
        "amplification",
        "kept",
        "lost",
        "shrinkage",
        "unrepresentable",
        "",
    ]);
    let mut before: Option<&Row> = None;
    for row in &sweep.rows {
        // Ever weaker strengths without any effect are shown once.
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b;
        if before
            .is_some_and(|b| same(row.lost, b.lost) && same(row.amplification, b.amplification))
            && !row.in_use
        {
            continue;
        }
        before = Some(row);
        table.row([
            error(row.parameter),
            error(row.amplification),
            row.kept.to_string(),
            error(row.lost),
            error(row.shrinkage),
            error(row.unrepresentable),
            if row.in_use { "<- in use" } else { "" }.to_string(),
        ]);
    }
    print_line(table)?;
    print_line("")
}

fn print_floors(floors: &Floors) -> c2cnet::Result<()> {
    print_line(format_args!("{}: {}", floors.label, floors.in_use))?;
    print_line(
        "  floors, the smallest relative errors that bases allow, at fitted and at withheld points:",
    )?;
    let mut table = Table::with_header(["basis", "functions", "rank", "floor", "withheld", ""]);
    for (k, floor) in floors.all.iter().enumerate() {
        let mark = match floors.recommended == k {
            true => "<- recommended",
            false => "",
        };
        table.row([
            floor.family.clone(),
            floor.functions.to_string(),
            floor.rank.to_string(),
            error(floor.fitted),
            floor.withheld.map_or("-".into(), error),
            mark.to_string(),
        ]);
    }
    print_line(table)?;
    print_line("")
}

fn print_recommendation(args: &Args, sweeps: &[Sweep], floors: &[Floors]) -> c2cnet::Result<()> {
    print_line("recommendation")?;
    for sweep in sweeps {
        print_encoding_advice(sweep)?;
    }
    for floors in floors {
        let best = &floors.all[floors.recommended];
        print_line(format_args!(
            "  {}: {}{}: no prediction with {} can be better than {} ({} between the \
             fitted points).",
            floors.label,
            match best.spec {
                Some(_) => format!("{} {}", best.functions, best.family),
                None => format!(
                    "the basis in use, with {}",
                    counted(best.functions, "function")
                ),
            },
            match floors.components {
                1 => String::new(),
                c => format!(" for all {c} components"),
            },
            match best.spec {
                Some(_) => "these functions alone",
                None => "it",
            },
            percent(best.fitted),
            best.withheld.map_or("unknown".into(), percent),
        ))?;
        if let Some(spec) = &best.spec {
            let flag = match floors.name.as_str() {
                "" => format!("--output-basis '{}'", inline(spec)),
                name => format!("--set 'outputs.{name}.basis={{{}}}'", inline(spec)),
            };
            print_line(format_args!(
                "    c2cnet fit {} -o model.c2c {flag}{}",
                args.data.display(),
                args.reading.flags()
            ))?;
        }
    }
    print_line(
        "  A better floor helps a model whose error is near its own floor (see `evaluate`); far \
         above it,\n  the limit is the map or the number of samples.",
    )?;
    print_line(format_args!("figures in {}", shown(&args.output)))
}

/// A fraction of the input whose loss hardly affects any output.
const NEGLIGIBLE: f64 = 1e-3;

fn print_encoding_advice(sweep: &Sweep) -> c2cnet::Result<()> {
    let Some(row) = sweep.rows.iter().find(|row| row.in_use) else {
        return Ok(());
    };
    let advice = if row.lost <= NEGLIGIBLE {
        "the basis is large enough"
    } else if row.unrepresentable > row.shrinkage {
        "mostly to the basis: more functions, or another family, would keep more"
    } else {
        "mostly to regularisation: a weaker one would keep more"
    };
    print_line(format_args!(
        "  {}: {} of it is lost; {advice}.\n    Noise in the observations reaches the coefficients \
         amplified by {} at most.",
        sweep.label,
        percent(row.lost),
        number(row.amplification)
    ))?;
    // Rows run from strong to weak.
    let calmer = sweep.rows.iter().find(|r| r.lost <= NEGLIGIBLE);
    if let Some(calmer) = calmer.filter(|r| r.amplification < 0.1 * row.amplification) {
        print_line(format_args!(
            "    For noisy data, {} = {:.1e} loses {} and amplifies by {}.",
            sweep.parameter,
            calmer.parameter,
            percent(calmer.lost),
            number(calmer.amplification)
        ))?;
    }
    Ok(())
}

fn shown(folder: &Path) -> String {
    format!("{}/", folder.display())
}

fn percent(part: f64) -> String {
    match part <= 1.0 {
        true => format!("{} %", number(100.0 * part)),
        // Larger ones are easier to read as factors.
        false => number(part),
    }
}
