//! `c2cnet plot`: a picture of one sample, or of the training history.

use crate::file_kind::FileKind;
use crate::label_args::LabelArgs;
use crate::outputs::{self, Force};
use crate::reading::Reading;
use crate::training;
use c2cnet::Error;
use c2cnet::data::{Bounds, Dataset, Field, Fields, Points};
use c2cnet::internal::open_plain;
use c2cnet_experiments::labels::Labels;
use c2cnet_experiments::output_path;
use c2cnet_experiments::picture::{cells_of, plane, sorted, vectors};
use c2cnet_experiments::terminal::{counted, print_line};
use c2cnet_experiments::view::{Cells, views};
use c2cnet_figure::contour::Segment;
use c2cnet_figure::{ARROW_MARGIN, ColourScale, Figure, Panel, Series};
use std::io::Read;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  c2cnet plot data.npz
  c2cnet plot data.npz --sample 3 -o sample.svg
  c2cnet plot metrics.jsonl -o loss.svg
  c2cnet plot prediction.npz --label 'y=x [m],t [s]' --label 'u=height [m]'

Functions on an interval are drawn as curves, on a grid or mesh of the plane as maps,
at other points as dots; vectors at a sample's own sensors as arrows; in space as slices
through the middle. With more than three coordinates, the first two are shown. The output of
`fit --metrics` is drawn as errors and learning rate over the steps, also during training.";

/// Draw the input and output functions of one sample, or the training history.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The data or a prediction, or the metrics of training (JSON lines).
    data: PathBuf,

    /// The sample, counted from 0 as in the file [default: 0].
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = number)]
    sample: Option<usize>,

    /// Where to write the picture, as .svg or .png [default: NAME.svg in this folder, named after
    /// the file; NAME-K.svg for a sample of data].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    labels: LabelArgs,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    force: Force,
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| match text.starts_with('-') {
        true => "samples count from 0".into(),
        false => "give the number of a sample, counted from 0".into(),
    })
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let stem = stem(&args.data);
    let path = |default: String| args.output.clone().unwrap_or(PathBuf::from(default));
    let check =
        |path: &Path| outputs::check(args.force, [&*args.data], &[(path, FileKind::Figure)]);
    let (path, figure) = if is_json(&args.data)? {
        if args.sample.is_some() {
            let reason = format!(
                "{} holds metrics, which have no samples",
                args.data.display()
            );
            return Err(Error::Config(format!("--sample: {reason}")).into());
        }
        let path = path(format!("{stem}.svg"));
        check(&path)?;
        let records = training::read_metrics(&args.data)?;
        (path, training::figure("Training", &records))
    } else {
        let sample = args.sample.unwrap_or(0);
        let path = path(format!("{stem}-{sample}.svg"));
        check(&path)?;
        let data = read(&args.data, args.reading)?;
        if sample >= data.samples() {
            return Err(Error::Data(format!(
                "{} has no sample {sample}: it has {}, counted from 0",
                args.data.display(),
                counted(data.samples(), "sample")
            ))
            .into());
        }
        let mut fields = data.inputs.iter().chain(&data.outputs);
        if fields.all(|(_, field)| field.is_vector()) {
            return Err(Error::Data(format!(
                "{} holds only vectors, which have no points to be drawn at; c2cnet inspect shows them",
                args.data.display()
            ))
            .into());
        }
        (
            path,
            Drawing::new(&data, sample, args.labels.of(&data)?).figure(&stem),
        )
    };
    output_path::write_figure(&path, &figure.to_svg())?;
    print_line(format_args!("wrote {}", path.display()))?;
    Ok(())
}

/// Data of any format, or a prediction.
fn read(path: &Path, reading: Reading) -> c2cnet::Result<Dataset> {
    match FileKind::of(path)? {
        FileKind::Prediction => c2cnet_formats::read_prediction(path),
        _ => reading.read_any(path),
    }
}

fn stem(data: &Path) -> String {
    let stem = data.file_stem().unwrap_or(data.as_os_str());
    stem.to_string_lossy().into_owned()
}

/// By the first byte, or by the name of a file that has none yet.
fn is_json(path: &Path) -> c2cnet::Result<bool> {
    let io = |e| Error::io(path, e);
    let mut start = Vec::new();
    let (file, _) = open_plain(path)?;
    file.take(1).read_to_end(&mut start).map_err(io)?;
    Ok(match start.first() {
        Some(first) => *first == b'{',
        None => path.extension().is_some_and(|e| e == "jsonl"),
    })
}

/// The number of panels in a row.
const ACROSS: usize = 3;

/// The most entries of a vector in the title.
const MOST_ENTRIES: usize = 8;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Input,
    Output,
}

/// One sample, and what is known about its problem.
struct Drawing<'a> {
    data: &'a Dataset,
    sample: usize,
    problem: &'a str,
    labels: Labels,
    /// The boundary of what the output describes, drawn over everything in the plane.
    boundary: Vec<Segment>,
}

impl<'a> Drawing<'a> {
    fn new(data: &'a Dataset, sample: usize, labels: Labels) -> Self {
        let problem = data.meta["problem"].as_str().unwrap_or_default();
        let mut drawing = Drawing {
            data,
            sample,
            problem,
            labels,
            boundary: Vec::new(),
        };
        if let ("stokes-inverse", Some(field)) = (problem, drawing.plane_output()) {
            let plane = plane(field.points_of(sample), None);
            drawing.boundary = plane.zero_contour(&field.values_of(sample));
        }
        drawing
    }

    /// The first output, if it lives in the plane.
    fn plane_output(&self) -> Option<&'a Field> {
        let (_, field) = self.data.outputs.iter().find(|(_, f)| !f.is_vector())?;
        (field.dim() == 2).then_some(field)
    }

    fn figure(&self, file: &str) -> Figure {
        let name = if self.problem.is_empty() {
            file
        } else {
            self.problem
        };
        let title = format!(
            "{name}, sample {}{}{}",
            self.sample,
            self.set(),
            vectors(self.data, self.sample, MOST_ENTRIES)
        );
        let panels = |kind: Kind, fields: &Fields| -> Vec<Panel> {
            let functions = fields.iter().filter(|(_, field)| !field.is_vector());
            functions
                .flat_map(|(name, field)| self.panels(kind, name, field))
                .collect()
        };
        let mut inputs = panels(Kind::Input, &self.data.inputs);
        let mut outputs = panels(Kind::Output, &self.data.outputs);
        if inputs.len() + outputs.len() <= ACROSS {
            inputs.append(&mut outputs);
        }
        let mut figure = Figure::new(&title);
        for mut panels in [inputs, outputs] {
            while !panels.is_empty() {
                let rest = panels.split_off(panels.len().min(ACROSS));
                figure = figure.row(panels);
                panels = rest;
            }
        }
        figure
    }

    /// The set the sample belongs to, in brackets, if there are sets.
    fn set(&self) -> String {
        match (&self.data.split, self.data.n_train) {
            (Some(split), _) => format!(" ({})", split[self.sample]),
            (None, Some(n)) if self.sample < n => " (train)".into(),
            (None, Some(_)) => " (test)".into(),
            (None, None) => String::new(),
        }
    }

    /// One panel for each component, or one of arrows; of fields in space, one for each slice.
    fn panels(&self, kind: Kind, name: &str, field: &Field) -> Vec<Panel> {
        let points = field.points_of(self.sample);
        let values = field.values_of(self.sample);
        let (role, points_key, values_key) = match kind {
            Kind::Input => ("input", "x", "f"),
            Kind::Output => ("output", "y", "u"),
        };
        let symbols = self.labels.components(values_key, name, field);
        let axes = self.labels.axes(points_key, name, points.dim());
        let sensors = field.shared_points().is_none();
        if sensors && points.dim() == 2 && field.components() == 2 && !field.is_complex() {
            let symbol = self.labels.symbol(values_key, name);
            let title = format!("{role} {symbol} at {}", counted(points.len(), "sensor"));
            return vec![self.arrows(&title, symbol, &axes, (points, &values))];
        }
        let parts = values.chunks_exact(points.len()).zip(&symbols);
        if points.dim() == 1 {
            let curve = |(values, symbol): (&[f64], &String)| {
                let (x, values) = sorted(points.coords(), values);
                let series = match sensors {
                    true => Series::markers("", &x, &values),
                    false => Series::line("", &x, &values),
                };
                let panel = Panel::lines(&axes[0], symbol).title(&format!("{role} {symbol}"));
                panel.series(series).into()
            };
            return parts.map(curve).collect();
        }
        let views = views(points, self.cells(field), &axes);
        parts
            .flat_map(|(values, symbol)| views.iter().map(move |view| (view, values, symbol)))
            .map(|(view, values, symbol)| {
                let part = if view.title.is_empty() { "" } else { ", " };
                let title = format!("{role} {symbol}{part}{}", view.title);
                let scale = ColourScale::field(symbol).covering(values);
                let panel = view.panel(&axes, &title, &view.values(values), scale);
                panel.overlay(&self.boundary)
            })
            .collect()
    }

    fn arrows(
        &self,
        title: &str,
        symbol: &str,
        axes: &[String],
        (points, values): (&Points, &[f64]),
    ) -> Panel {
        let n = points.len();
        let feet: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1]]).collect();
        let vectors: Vec<[f64; 2]> = (0..n).map(|i| [values[i], values[n + i]]).collect();
        let panel = Panel::arrows(&axes[0], &axes[1], &feet, &vectors)
            .colours(ColourScale::field(&format!("|{symbol}|")))
            .title(title)
            .overlay(&self.boundary);
        // Sensors may lie in a part of the domain only: show all of it, and the arrows whole.
        let domain = self.plane_output().map(Field::bounding_box);
        let own = points.bounding_box();
        match domain.zip(own) {
            Some((domain, own)) => {
                let shown: Bounds = domain.union(&own);
                let end = |k: usize| ARROW_MARGIN * shown.width(k);
                panel
                    .x_range(shown.lower(0) - end(0), shown.upper(0) + end(0))
                    .y_range(shown.lower(1) - end(1), shown.upper(1) + end(1))
                    .into()
            }
            None => panel.into(),
        }
    }

    /// The mesh of the first output, for fields on its points.
    fn cells(&self, field: &Field) -> Cells<'a> {
        match (self.data.mesh_points(), field.shared_points()) {
            (Some(nodes), Some(points)) if nodes == points => cells_of(self.data),
            _ => Cells::default(),
        }
    }
}
