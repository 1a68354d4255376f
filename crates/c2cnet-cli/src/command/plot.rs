//! `c2cnet plot`: a picture of one sample, or of the course of training.

use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::training;
use c2cnet::Error;
use c2cnet::data::{Bounds, Dataset, Field, Fields, Points, npz};
use c2cnet::storage::open_plain;
use c2cnet_experiments::output_path;
use c2cnet_experiments::picture::{PLANE, plane, sorted};
use c2cnet_experiments::terminal::{counted, number, say};
use c2cnet_figure::contour::Segment;
use c2cnet_figure::{ARROW_MARGIN, ColourScale, Figure, Panel, Series};
use std::io::Read;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  c2cnet plot data.npz
  c2cnet plot data.npz --sample 3 -o sample.svg
  c2cnet plot metrics.jsonl -o loss.svg

Functions on an interval are drawn as curves, on a grid or mesh of the plane as maps,
at other points as dots; vectors at a sample's own sensors as arrows. Of more than two
coordinates, the first two are shown. What `fit --metrics` writes is drawn as errors and
learning rate over the steps, also while training goes on.";

/// Draw the input and output functions of one sample, or the course of training.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The data (.npz), or the metrics of training (JSON lines).
    data: PathBuf,

    /// The sample, counted from 0 as in the file [default: 0].
    #[arg(long, value_name = "K")]
    sample: Option<usize>,

    /// Where to write the picture, as .svg or .png [default: here, by the name of the file, for
    /// data with the sample, -K.svg].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let stem = stem(&args.data);
    let path = |default: String| args.output.clone().unwrap_or(PathBuf::from(default));
    let check = |path: &Path| outputs::check(args.force, [&*args.data], &[(path, FileKind::Other)]);
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
        let data = Dataset::read_npz(&args.data)?;
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
                "{} holds vectors alone, which have no points to be drawn at; c2cnet inspect shows them",
                args.data.display()
            ))
            .into());
        }
        (path, Drawing::new(&data, sample).figure(&stem))
    };
    output_path::write_figure(&path, &figure.to_svg())?;
    say(format_args!("wrote {}", path.display()))?;
    Ok(())
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

/// Dots to a panel: more would hide one another.
const MOST_DOTS: usize = 1500;

/// Panels in a row.
const ACROSS: usize = 3;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Input,
    Output,
}

/// One sample, and what is known of its problem.
struct Drawing<'a> {
    data: &'a Dataset,
    sample: usize,
    problem: &'a str,
    /// The boundary of what the output describes, drawn over everything in the plane.
    boundary: Vec<Segment>,
}

impl<'a> Drawing<'a> {
    fn new(data: &'a Dataset, sample: usize) -> Self {
        let problem = data.meta["problem"].as_str().unwrap_or_default();
        let mut drawing = Drawing {
            data,
            sample,
            problem,
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
            self.vectors()
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

    /// What has no points to be drawn at: each vector of the sample, as `, p = (1.000, 0.2500)`.
    fn vectors(&self) -> String {
        let (input_keys, output_keys) = npz::value_keys(self.data);
        let keys = input_keys.iter().chain(&output_keys);
        let fields = self.data.inputs.iter().chain(&self.data.outputs);
        fields
            .zip(keys)
            .filter(|((_, field), _)| field.is_vector())
            .map(|((_, field), key)| {
                let values = field.values_of(self.sample);
                let values: Vec<String> = values.into_iter().map(number).collect();
                format!(", {key} = ({})", values.join(", "))
            })
            .collect()
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

    /// One panel for each component, or one of arrows.
    fn panels(&self, kind: Kind, name: &str, field: &Field) -> Vec<Panel> {
        let points = field.points_of(self.sample);
        let values = field.values_of(self.sample);
        let symbols = self.symbols(kind, name, field.components());
        let role = match kind {
            Kind::Input => "input",
            Kind::Output => "output",
        };
        let sensors = field.shared_points().is_none();
        if sensors && points.dim() == 2 && field.components() == 2 {
            let symbol = self.symbol(kind, name);
            let title = format!("{role} {symbol} at {}", counted(points.len(), "sensor"));
            return vec![self.arrows(&title, &symbol, points, &values)];
        }
        let parts = values.chunks_exact(points.len()).zip(&symbols);
        match points.dim() {
            1 => parts
                .map(|(values, symbol)| {
                    let (x, values) = sorted(points.coords(), values);
                    let series = if sensors {
                        Series::markers("", &x, &values)
                    } else {
                        Series::line("", &x, &values)
                    };
                    Panel::lines(self.coordinate(), symbol)
                        .title(&format!("{role} {symbol}"))
                        .series(series)
                        .into()
                })
                .collect(),
            2 => {
                let plane = plane(points, self.triangles(field));
                parts
                    .map(|(values, symbol)| {
                        let scale = ColourScale::field(symbol);
                        let title = format!("{role} {symbol}");
                        let panel = plane.panel(self.plane(), &title, values, scale);
                        let panel = panel.overlay(&self.boundary);
                        if self.in_time() {
                            panel.free_aspect()
                        } else {
                            panel
                        }
                    })
                    .collect()
            }
            _ => parts
                .map(|(values, symbol)| shadow(&format!("{role} {symbol}"), symbol, points, values))
                .collect(),
        }
    }

    fn arrows(&self, title: &str, symbol: &str, points: &Points, values: &[f64]) -> Panel {
        let n = points.len();
        let feet: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1]]).collect();
        let vectors: Vec<[f64; 2]> = (0..n).map(|i| [values[i], values[n + i]]).collect();
        let [across, up] = self.plane();
        let panel = Panel::arrows(across, up, &feet, &vectors)
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
    fn triangles(&self, field: &Field) -> Option<&'a [[usize; 3]]> {
        let nodes = self.data.mesh_points()?;
        let same = field.shared_points()?.coords() == nodes.coords();
        self.data.triangles.as_deref().filter(|_| same)
    }

    fn in_time(&self) -> bool {
        self.problem == "kdv-burgers"
    }

    fn plane(&self) -> [&'static str; 2] {
        if self.in_time() { ["x", "t"] } else { PLANE }
    }

    fn coordinate(&self) -> &'static str {
        match self.problem {
            // The load acts on an edge of equal first coordinates.
            "elastic-plate" => PLANE[1],
            _ => "x",
        }
    }

    /// What the components are called.
    fn symbols(&self, kind: Kind, name: &str, components: usize) -> Vec<String> {
        let known: &[&str] = match (self.problem, kind) {
            ("darcy-lshape", Kind::Input) => &["k", "f"],
            ("elastic-plate", Kind::Output) => &["u", "v"],
            _ => &[],
        };
        if known.len() == components && name.is_empty() {
            return known.iter().map(|s| (*s).to_string()).collect();
        }
        let symbol = self.symbol(kind, name);
        match components {
            1 => vec![symbol],
            n => (1..=n).map(|c| format!("{symbol}_{{{c}}}")).collect(),
        }
    }

    fn symbol(&self, kind: Kind, name: &str) -> String {
        let symbol = match (self.problem, kind) {
            _ if !name.is_empty() => name,
            ("darcy2d", Kind::Input) => "κ",
            ("stokes-inverse", Kind::Input) => "velocity",
            ("stokes-inverse", Kind::Output) => "signed distance",
            (_, Kind::Input) => "f",
            (_, Kind::Output) => "u",
        };
        symbol.to_string()
    }
}

/// Dots at the first two of many coordinates.
fn shadow(title: &str, symbol: &str, points: &Points, values: &[f64]) -> Panel {
    let chosen = spread(points.len(), MOST_DOTS);
    let column = |k: usize| -> Vec<f64> { chosen.iter().map(|&i| points.point(i)[k]).collect() };
    let shown: Vec<f64> = chosen.iter().map(|&i| values[i]).collect();
    let mut title = format!(
        "{title} against the first 2 of {} coordinates",
        points.dim()
    );
    if chosen.len() < points.len() {
        title += &format!("; {} of {} points", chosen.len(), points.len());
    }
    Panel::scatter(PLANE[0], PLANE[1], &column(0), &column(1), &shown)
        .colours(ColourScale::field(symbol).covering(values))
        .title(&title)
        .equal_aspect()
        .into()
}

/// At most `most` of `n` indices in an order without a pattern: every so-manieth point of a grid
/// would show stripes.
fn spread(n: usize, most: usize) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..n).collect();
    if n > most {
        indices.sort_by_key(|&i| {
            let mixed = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        });
        indices.truncate(most);
        indices.sort_unstable();
    }
    indices
}
