//! `c2cnet predict`: outputs of a model, at any points.

use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::reading::Reading;
use c2cnet::C2CNet;
use c2cnet::data::npz::write_npz;
use c2cnet::data::{Dataset, Field, Points, read_output_points, read_points};
use c2cnet::{Error, Result};
use c2cnet_experiments::terminal::{self, Progress, counted, interrupt, say};
use faer::Mat;
use serde_json::json;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
INPUT is an .npz file with x and f, or p, as for `fit`; outputs are not needed. The input points need
not be those of the training data.

The outputs are predicted at
  --at POINTS         an .npy array (n, d), a .csv with one point a line, or y of an .npz file
  else y of INPUT     (also each sample's own points, where INPUT has u there)
  else the points that the model was fitted with
and written as y (n, d) and u (N, n) or (N, n, components); named outputs as y.NAME, u.NAME.
Where the points were given as a grid, y and u have its shape: (k1, k2, 2) and (N, k1, k2); u is complex
where the training outputs were. Quantities have no points and are written as q (N, k), q.NAME.

Examples:
  c2cnet predict model.c2c new.npz -o prediction.npz
  c2cnet predict model.c2c new.npz --at fine.csv -o prediction.npz
  python -c \"import numpy; print(numpy.load('prediction.npz')['u'].shape)\"";

/// Predict output functions for the input functions of a file, at any points.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The model file.
    model: PathBuf,

    /// The input functions.
    input: PathBuf,

    /// Where to predict: .npy, .npz or .csv [default: y of INPUT, else the fitted points].
    #[arg(long, value_name = "POINTS")]
    at: Option<PathBuf>,

    /// Where to write the prediction (.npz).
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    force: Force,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// The points of one output.
enum Target {
    Shared(Points),
    PerSample(Vec<Points>),
    /// None: a vector.
    Vector,
}

/// One predicted output.
struct Prediction {
    name: String,
    target: Target,
    /// Whether components are real and imaginary parts in turn.
    complex: bool,
    /// For shared points, one `n` x `N` matrix a component; else one `n_k` x 1 a component, for
    /// each sample.
    values: Vec<Vec<Mat<f64>>>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let reads = [&*args.model, &*args.input]
        .into_iter()
        .chain(args.at.as_deref());
    outputs::check(args.force, reads, &[(&args.output, FileKind::Prediction)])?;
    let progress = Progress::start("reading the model and the inputs");
    let model = C2CNet::load(&args.model)?;
    let data = args.reading.read(&args.input)?;
    let targets = targets(args, &model, &data)?;
    drop(progress);
    let progress = Progress::start(format!("predicting {}", counted(data.samples(), "sample")));
    let coordinates = model.predict_coordinates(&data.inputs)?;
    let mut predictions = Vec::new();
    for (name, target) in targets {
        let values = match &target {
            Target::Shared(points) => vec![model.decode(coordinates.as_ref(), &name, points)?],
            Target::Vector => {
                vec![model.decode(coordinates.as_ref(), &name, &Points::origin())?]
            }
            Target::PerSample(samples) => samples
                .iter()
                .enumerate()
                .map(|(k, points)| model.decode(coordinates.as_ref().subcols(k, 1), &name, points))
                .collect::<Result<_>>()?,
        };
        let mut outputs = model.outputs().iter();
        predictions.push(Prediction {
            complex: outputs.any(|(n, decoder)| *n == name && decoder.is_complex()),
            name,
            target,
            values,
        });
    }
    interrupt::patiently(|| write(args, &predictions))?;
    drop(progress);
    // Null for a vector, which has none.
    let points: Vec<Option<usize>> = predictions.iter().map(Prediction::points).collect();
    if args.json {
        terminal::say_json(&json!({
            "output": args.output,
            "n_samples": data.samples(),
            "n_points": points,
        }))?;
    } else {
        let points: Vec<String> = points
            .iter()
            .flatten()
            .map(|&n| counted(n, "point"))
            .collect();
        let at = if points.is_empty() { "" } else { " at " };
        say(format_args!(
            "wrote {}: {}{at}{}",
            args.output.display(),
            counted(data.samples(), "sample"),
            points.join(", ")
        ))?;
    }
    Ok(())
}

/// Where each output of the model is to be predicted.
fn targets(args: &Args, model: &C2CNet, data: &Dataset) -> Result<Vec<(String, Target)>> {
    if let Some(path) = &args.at {
        let points = read_points(path)?;
        let all = model.outputs().iter();
        return Ok(all
            .map(|(name, decoder)| {
                let target = match decoder.basis().is_vector() {
                    true => Target::Vector,
                    false => Target::Shared(points.clone()),
                };
                (name.clone(), target)
            })
            .collect());
    }
    // With u in the file, samples may have points of their own.
    let in_file = if data.outputs.is_empty() {
        read_output_points(&args.input)?
    } else {
        Vec::new()
    };
    model
        .outputs()
        .iter()
        .map(|(name, decoder)| {
            let is_known = |(n, field): &&(String, Field)| n == name && !field.is_vector();
            let known = data.outputs.iter().find(is_known);
            let given = in_file.iter().find(|(n, _)| n == name || n.is_empty());
            let target = match (known, given, decoder.points()) {
                _ if decoder.basis().is_vector() => Target::Vector,
                (Some((_, field)), _, _) => match field.shared_points() {
                    Some(points) => Target::Shared(points.clone()),
                    None => Target::PerSample(
                        (0..field.samples())
                            .map(|k| field.points_of(k).clone())
                            .collect(),
                    ),
                },
                (None, Some((_, points)), _) => Target::Shared(points.clone()),
                (None, None, Some(points)) => Target::Shared(points.clone()),
                (None, None, None) => {
                    return Err(Error::Config(format!(
                        "where to predict is not known: {} has no y, and the model was fitted at \
                         points that differ from sample to sample; give --at POINTS",
                        args.input.display()
                    )));
                }
            };
            Ok((name.clone(), target))
        })
        .collect()
}

impl Prediction {
    /// How many points, at most; none for a vector.
    fn points(&self) -> Option<usize> {
        match &self.target {
            Target::Shared(points) => Some(points.len()),
            Target::PerSample(all) => all.iter().map(Points::len).max(),
            Target::Vector => None,
        }
    }

    /// Points, if any, and all components of sample `k`, padded with NaN to `n` points.
    fn sample(&self, k: usize, n: usize) -> Vec<f64> {
        let (fields, column) = match &self.target {
            Target::Shared(_) | Target::Vector => (&self.values[0], k),
            Target::PerSample(_) => (&self.values[k], 0),
        };
        (0..n)
            .flat_map(|i| {
                fields.iter().map(move |field| {
                    if i < field.nrows() {
                        field[(i, column)]
                    } else {
                        f64::NAN
                    }
                })
            })
            .collect()
    }
}

fn write(args: &Args, predictions: &[Prediction]) -> Result<()> {
    let has_function = |p: &Prediction| p.name.is_empty() && !matches!(p.target, Target::Vector);
    let unnamed_function = predictions.iter().any(has_function);
    write_npz(&args.output, |npz| {
        for prediction in predictions {
            let key = |stem: &str| match prediction.name.as_str() {
                "" => stem.to_string(),
                // As in a data file: what is called q beside u has the key q.
                "q" if stem == "q" && unnamed_function => stem.to_string(),
                name => format!("{stem}.{name}"),
            };
            let n = prediction.points().unwrap_or(1);
            let components = prediction.values[0].len();
            let samples = match &prediction.target {
                Target::Shared(points) => {
                    let coords = points.coords().iter().copied();
                    let shape = [points.shape(), vec![points.dim()]].concat();
                    npz.put_f64(&key("y"), &shape, coords)?;
                    prediction.values[0][0].ncols()
                }
                Target::PerSample(all) => {
                    let dim = all[0].dim();
                    let coords = all.iter().flat_map(|p| {
                        let padding = std::iter::repeat_n(f64::NAN, (n - p.len()) * dim);
                        p.coords().iter().copied().chain(padding)
                    });
                    npz.put_f64(&key("y"), &[all.len(), n, dim], coords)?;
                    let counts = all.iter().map(|p| p.len() as i64);
                    npz.put_i64(&key("y_count"), &[all.len()], counts)?;
                    all.len()
                }
                Target::Vector => prediction.values[0][0].ncols(),
            };
            let entries = if prediction.complex {
                components / 2
            } else {
                components
            };
            let (stem, mut shape) = match &prediction.target {
                Target::Vector => ("q", vec![samples, components]),
                Target::Shared(points) => ("u", [vec![samples], points.shape()].concat()),
                Target::PerSample(_) => ("u", vec![samples, n]),
            };
            if stem == "u" && entries > 1 {
                shape.push(entries);
            }
            let values = (0..samples).flat_map(|k| prediction.sample(k, n));
            match prediction.complex {
                true => npz.put_complex(&key(stem), &shape, values)?,
                false => npz.put_f64(&key(stem), &shape, values)?,
            }
        }
        Ok(())
    })
}
