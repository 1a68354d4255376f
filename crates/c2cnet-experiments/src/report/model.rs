//! The page about one model: what was chosen, how good it is, where it is wrong, what to try next.

use super::embed::{self, Frame};
use super::format::{self, error};
use super::page::shell;
use super::table::{Cell, Head, sortable};
use crate::explanations;
use crate::labels::Labels;
use crate::picture::{self, PickedSample, Shown, cells_of, sorted};
use crate::run_files::{Axis, Curve, Series};
use crate::terminal::counted;
use crate::view::{Cells, views};
use c2cnet::data::{Dataset, Field};
use c2cnet::operator::EvaluationReport;
use c2cnet::report::Choice;
use c2cnet::{C2CNet, Result};
use c2cnet_figure::{ColourScale, Figure, Panel, Series as Line};
use maud::{Markup, html};
use std::path::Path;

mod next;
mod quantities;

/// What the page is about.
pub struct Subject<'a> {
    pub model: &'a C2CNet,
    /// The samples that judge it, all of which have outputs.
    pub data: &'a Dataset,
    /// Their numbers in the data file.
    pub numbers: &'a [usize],
    /// What set they are.
    pub on: &'a str,
    pub report: &'a EvaluationReport,
    pub labels: &'a Labels,
    pub model_file: &'a Path,
    pub data_file: &'a Path,
    /// The flags with which the data was read, for commands to repeat.
    pub reading: &'a str,
    /// Curves of training, where there are any.
    pub training: Vec<Curve>,
}

impl Subject<'_> {
    /// The number of the sample with the largest error.
    fn worst_sample(&self) -> usize {
        self.numbers[self.report.worst_sample]
    }
}

/// How many samples the slider shows.
const SHOWN: usize = 15;

/// The page.
///
/// # Errors
/// If the model cannot predict the samples.
pub fn html(subject: &Subject<'_>) -> Result<String> {
    let functions = errors_of_functions(subject)?;
    let quantities = quantities::section(subject)?;
    let gallery = gallery(subject)?;
    let body = html! {
        (opening(subject))
        section #errors { h2 { "Errors" } (errors(subject)) (by_component(&functions)) (quantities) (histogram(subject)) }
        @if !gallery.is_empty() {
            section #samples {
                h2 { "From the best to the worst sample" }
                figure.block.gallery #gallery { (embed::slider("samples", &gallery)) }
            }
        }
        @if functions.iter().any(|f| f.over_points.is_some()) {
            section #points { h2 { "Error over the points" } (over_points(subject, &functions)) }
        }
        section #choices { h2 { "What was chosen, and why" } (choices(subject)) }
        @if !subject.training.is_empty() {
            section #training {
                h2 { "Training" }
                @for (k, curve) in subject.training.iter().enumerate() { (embed::curve(&format!("training-{k}"), curve)) }
            }
        }
        section #next { h2 { "What to try next" } (next::advice(subject)) }
        (again(subject))
    };
    let contents = html! {
        li { a href="#errors" { "Errors" } }
        @if !gallery.is_empty() { li { a href="#samples" { "From the best to the worst sample" } } }
        @if functions.iter().any(|f| f.over_points.is_some()) { li { a href="#points" { "Error over the points" } } }
        li { a href="#choices" { "What was chosen, and why" } }
        @if !subject.training.is_empty() { li { a href="#training" { "Training" } } }
        li { a href="#next" { "What to try next" } }
        li { a href="#again" { "Make this page again" } }
    };
    let title = format!("c2cnet: {}", name(subject.model_file));
    Ok(shell(&title, &contents, &body))
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn opening(subject: &Subject<'_>) -> Markup {
    let report = subject.report;
    let info = subject.model.info();
    let map = subject.model.summary().map;
    let median = median(&report.relative);
    let gain = report.mean_rl2e / report.rl2e;
    html! {
        header #top {
            h1 { (name(subject.model_file)) }
            p.lead {
                "Errors on " (counted(report.n_samples, "sample")) " (" (subject.on) ") of " code { (name(subject.data_file)) } ". "
                @if subject.on == "train" {
                    strong { "The model was fitted to these samples: on others its errors are larger." }
                } @else if let Some(known) = subject.model.known(&subject.data.inputs) {
                    strong { (known) "." }
                }
            }
            p.facts {
                @if let Some(n) = info["data"]["n_train"].as_u64() { span { "fitted to " (counted(n as usize, "sample")) } }
                span { (map.description) }
                span { (format::integer(map.parameters as f64)) " fitted numbers" }
            }
            ul.tiles {
                li { strong { (error(report.rl2e)) } span { "mean relative error (RL2E)" } }
                li { strong { (error(median)) } span { "of the median sample" } }
                li { strong { (error(report.worst_rl2e)) } span { "of the worst, sample " (subject.worst_sample()) } }
                @if gain.is_finite() { li { strong { (format::times(gain)) "×" } span { "better than the training mean" } } }
            }
        }
    }
}

fn median(all: &[f64]) -> f64 {
    let mut all = all.to_vec();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

fn errors(subject: &Subject<'_>) -> Markup {
    let report = subject.report;
    let at_fit = subject.model.info()["validation"]["withheld_rl2e"].as_f64();
    let rows = [
        ("RL2E", Some(report.rl2e), explanations::RL2E),
        ("floor", Some(report.floor), explanations::FLOOR),
        ("linear map", Some(report.linear_rl2e), explanations::LINEAR),
        ("training mean", Some(report.mean_rl2e), explanations::MEAN),
        (
            "withheld",
            report.withheld_rl2e,
            "RL2E at output points that no fit saw",
        ),
        (
            "withheld at the fit",
            at_fit,
            "RL2E of held-out training samples at output points that no space had seen",
        ),
        ("worst", Some(report.worst_rl2e), explanations::WORST),
        ("MSE", Some(report.mse), "mean squared error"),
        ("rms", Some(report.rms), "root mean square of the outputs"),
    ];
    let heads = [
        Head::text("error"),
        Head::number("value"),
        Head::text("what it is"),
    ];
    let known = rows.into_iter().filter(|(_, value, _)| value.is_some());
    let cells: Vec<Vec<Cell>> = known
        .map(|(name, value, words)| {
            vec![
                Cell::text(name),
                Cell::number(value, if name == "rms" { format::number } else { error }),
                Cell::text(words),
            ]
        })
        .collect();
    html! { figure.block { (sortable(&heads, &cells)) } }
}

/// How well one component of an output function is predicted.
struct ComponentError {
    /// The output's name, and what the component is called.
    output: String,
    component: usize,
    symbol: String,
    /// Mean over the samples.
    rl2e: f64,
    rmse: f64,
    rms: f64,
    /// Root mean square over the samples at each point, where they share them.
    over_points: Option<Vec<f64>>,
}

fn errors_of_functions(subject: &Subject<'_>) -> Result<Vec<ComponentError>> {
    let mut all = Vec::new();
    for output in subject.model.summary().outputs {
        let name = output.name;
        let Some(field) = subject.data.outputs.get(name).filter(|_| !output.vector) else {
            continue;
        };
        let shared = match field.shared_points() {
            Some(points) => Some(subject.model.predict_output(
                name,
                &subject.data.inputs,
                points,
            )?),
            None => None,
        };
        let symbols = subject.labels.components("u", name, field);
        let mut sums = vec![Sums::default(); symbols.len()];
        for k in 0..field.samples() {
            let points = field.points_of(k);
            let own = match &shared {
                Some(_) => None,
                None => {
                    let one = subject.data.select(&[k]);
                    Some(subject.model.predict_output(name, &one.inputs, points)?)
                }
            };
            let values = field.values_of(k);
            for (c, truth) in values.chunks_exact(points.len()).enumerate() {
                let predicted = match (&shared, &own) {
                    (Some(all), _) => all[c].col(k).iter().copied().collect::<Vec<f64>>(),
                    (None, Some(own)) => own[c].col(0).iter().copied().collect(),
                    (None, None) => continue,
                };
                sums[c].add(truth, &predicted);
            }
        }
        for (c, (sums, symbol)) in sums.into_iter().zip(symbols).enumerate() {
            all.push(sums.error(name, c, symbol, field));
        }
    }
    Ok(all)
}

/// Sums over samples and points.
#[derive(Debug, Clone, Default)]
struct Sums {
    samples: f64,
    readings: f64,
    relative: f64,
    squares: f64,
    truth: f64,
    by_point: Vec<f64>,
}

impl Sums {
    fn add(&mut self, truth: &[f64], predicted: &[f64]) {
        let off: Vec<f64> = truth
            .iter()
            .zip(predicted)
            .map(|(t, p)| (p - t).powi(2))
            .collect();
        let (squares, size): (f64, f64) = (off.iter().sum(), truth.iter().map(|t| t * t).sum());
        self.samples += 1.0;
        self.readings += truth.len() as f64;
        self.relative += if size > 0.0 {
            (squares / size).sqrt()
        } else {
            f64::NAN
        };
        self.squares += squares;
        self.truth += size;
        if self.by_point.is_empty() {
            self.by_point = vec![0.0; off.len()];
        }
        for (sum, off) in self.by_point.iter_mut().zip(&off) {
            *sum += off;
        }
    }

    fn error(self, name: &str, component: usize, symbol: String, field: &Field) -> ComponentError {
        let root = |sum: &f64| (sum / self.samples).sqrt();
        ComponentError {
            output: name.into(),
            component,
            symbol,
            rl2e: self.relative / self.samples,
            rmse: (self.squares / self.readings).sqrt(),
            rms: (self.truth / self.readings).sqrt(),
            over_points: field
                .shared_points()
                .map(|_| self.by_point.iter().map(root).collect()),
        }
    }
}

fn by_component(functions: &[ComponentError]) -> Markup {
    let heads = [
        Head::text("component"),
        Head::number("RL2E"),
        Head::number("rms error"),
        Head::number("rms of the truth"),
    ];
    let rows: Vec<Vec<Cell>> = functions
        .iter()
        .map(|f| {
            vec![
                Cell {
                    shown: format::subscripts(&f.symbol),
                    order: None,
                },
                Cell::number(Some(f.rl2e), error),
                Cell::number(Some(f.rmse), error),
                Cell::number(Some(f.rms), format::number),
            ]
        })
        .collect();
    html! {
        @if rows.len() > 1 {
            figure.block {
                figcaption { h4 { "By component" } }
                (sortable(&heads, &rows))
                p.caption { "RL2E of the component alone; a dash where it vanishes in some sample." }
            }
        }
    }
}

/// How many samples have which error, over a logarithmic axis.
fn histogram(subject: &Subject<'_>) -> Markup {
    let logs = subject
        .report
        .relative
        .iter()
        .filter(|e| **e > 0.0 && e.is_finite());
    let logs: Vec<f64> = logs.map(|e| e.log10()).collect();
    let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if logs.len() < 5 || high - low < 1e-9 {
        return html! {};
    }
    let bins = ((logs.len() as f64).sqrt().ceil() as usize).clamp(5, 30);
    let width = (high - low) / bins as f64;
    let mut counts = vec![0.0; bins];
    for log in &logs {
        counts[(((log - low) / width) as usize).min(bins - 1)] += 1.0;
    }
    let (mut x, mut y) = (vec![10f64.powf(low)], vec![0.0]);
    for (k, count) in counts.iter().enumerate() {
        let edge = |k: usize| 10f64.powf(low + k as f64 * width);
        x.extend([edge(k), edge(k + 1), edge(k + 1)]);
        y.extend([*count, *count, 0.0]);
    }
    let curve = Curve {
        title: "How many samples have which error".into(),
        x: Axis::log("RL2E of a sample"),
        y: Axis::linear("samples"),
        series: vec![Series::new(String::new(), x, y)],
        bars: true,
        ..Curve::default()
    };
    embed::curve("histogram", &curve)
}

fn gallery(subject: &Subject<'_>) -> Result<Vec<Frame>> {
    let relative = &subject.report.relative;
    let mut order: Vec<usize> = (0..relative.len()).collect();
    order.sort_by(|&a, &b| relative[a].total_cmp(&relative[b]));
    let outputs = subject.model.summary().outputs;
    if outputs.iter().all(|output| output.vector) {
        return Ok(Vec::new());
    }
    let mut frames = Vec::new();
    for rank in picture::spread(order.len(), SHOWN) {
        let sample = order[rank];
        let number = subject.numbers[sample];
        let picked = PickedSample {
            sample,
            what: format!("sample {number}"),
            rl2e: relative[sample],
        };
        let rows = Shown::rows(subject.model, subject.data, subject.labels, &picked)?;
        let title = format!("sample {number}, rank {} of {}", rank + 1, order.len());
        // Small: the page holds all of them.
        let figure = picture::draw(&title, &rows, subject.data).panel_size(230.0, 175.0);
        frames.push(Frame {
            sample: number,
            rank,
            rl2e: Some(relative[sample]),
            svg: figure.to_svg(),
        });
    }
    Ok(frames)
}

fn over_points(subject: &Subject<'_>, functions: &[ComponentError]) -> Markup {
    let mut figure = Figure::new("");
    for function in functions {
        let (Some(values), Some(field)) = (
            &function.over_points,
            subject.data.outputs.get(&function.output),
        ) else {
            continue;
        };
        let points = field.points_of(0);
        let axes = subject.labels.axes("y", &function.output, points.dim());
        if function.component % 3 == 0 {
            figure = figure.next_row();
        }
        if points.dim() == 1 {
            let (x, values) = sorted(points.coords(), values);
            let panel = Panel::lines(&axes[0], "rms error").title(&function.symbol);
            figure = figure.panel(panel.series(Line::line("", &x, &values)));
            continue;
        }
        let cells = match subject.data.mesh_points() {
            Some(nodes) if nodes == points => cells_of(subject.data),
            _ => Cells::default(),
        };
        for view in views(points, cells, &axes) {
            let title = match view.title.as_str() {
                "" => function.symbol.clone(),
                part => format!("{}, {part}", function.symbol),
            };
            let scale = ColourScale::error("rms error").covering(values);
            figure = figure.panel(view.panel(&axes, &title, &view.values(values), scale));
        }
    }
    html! {
        figure.block {
            (embed::plate("rms error over the points", &figure.to_svg()))
            p.caption { "Root mean square error over the samples, at each output point." }
        }
    }
}

fn choices(subject: &Subject<'_>) -> Markup {
    let all = Choice::of(subject.model);
    let spaces = |kind: &'static str, name: &str, words: String| {
        let label = if name.is_empty() {
            kind.to_string()
        } else {
            format!("{kind} {name}")
        };
        vec![Cell::text(&label), Cell::text(&words)]
    };
    let mut rows = Vec::new();
    let model = subject.model.summary();
    for input in model.inputs {
        let words = match input.vector {
            true => input.encoder,
            false => format!("{}; {}", input.basis, input.encoder),
        };
        rows.push(spaces("input", input.name, words));
    }
    rows.push(spaces("map", "", model.map.description));
    for output in model.outputs {
        rows.push(spaces("output", output.name, output.space));
    }
    html! {
        @if !all.is_empty() {
            ul { @for choice in &all { li { (format::code(&choice.to_string())) } } }
        }
        figure.block { (sortable(&[Head::text("part"), Head::text("what it is")], &rows)) }
    }
}

fn again(subject: &Subject<'_>) -> Markup {
    html! {
        section #again {
            h2 { "Make this page again" }
            pre { code { "c2cnet report " (subject.model_file.display()) " " (subject.data_file.display()) (subject.reading) } }
        }
    }
}
