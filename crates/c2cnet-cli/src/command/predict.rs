//! `c2cnet predict`: outputs of a model, at any points.

use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::reading::{Reading, of_file};
use crate::shards::{self, ShardFlags, Shards, Skipped, Source};
use c2cnet::C2CNet;
use c2cnet::data::{Dataset, Field, Fields, Points, Scattered};
use c2cnet::internal::{read_output_points, value_keys};
use c2cnet::{Error, Result};
use c2cnet_experiments::output_path;
use c2cnet_experiments::terminal::{self, Progress, counted, interrupt, print_line};
use c2cnet_formats::{Format, Mesh};
use faer::Mat;
use serde_json::json;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
INPUT is a file with x and f, or p, as for `fit`; outputs are not needed. The input points need not be
those of the training data; an .npz file without x uses these. Columns of a table of POINTS are
named after coordinates, x, y, z or x0, x1, ...; without a header line their order counts.

The outputs are predicted at
  --at POINTS         an .npy array (n, d), a .csv with one point per line, y of an .npz file, or
                      the points of a mesh (.vtu, .vtk, .msh)
  else y of INPUT     (also each sample's own points, where INPUT has u there)
  else the points that the model was fitted with, or their new places if they move with the inputs
and written as y (n, d) and u (N, n) or (N, n, components); named outputs as y.NAME, u.NAME.
If the points were given as a grid, y and u have its shape: (k1, k2, 2) and (N, k1, k2); u is complex
if the training outputs were. Quantities have no points and are written as q (N, k), q.NAME.

OUT may also be a table (.csv: a row per sample and point) or a mesh for ParaView and gmsh (.vtu,
.vtk, .msh: u, or u[0], u[1], ... for several samples), with the cells of POINTS or INPUT, or of the
grid that the points form.

If INPUT is several files, a folder of .npz files or a quoted pattern, these are shards, read and predicted one by one;
OUT is then a folder, and predictions have the names of their shards.

Examples:
  c2cnet predict model.c2c new.npz -o prediction.npz
  c2cnet predict model.c2c 'shards/*.npz' -o predictions
  c2cnet predict model.c2c new.npz --at fine.csv -o prediction.npz
  c2cnet predict model.c2c new.npz --at mesh.msh -o prediction.vtu
  python -c \"import numpy; print(numpy.load('prediction.npz')['u'].shape)\"";

/// Predict output functions for the input functions of a file, at any points.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The model file.
    model: PathBuf,

    /// The input functions: a file, or shards (files, a folder, a pattern).
    #[arg(required = true)]
    input: Vec<PathBuf>,

    /// Where to predict: .npy, .npz, .csv or a mesh [default: y of INPUT, else the fitted points].
    #[arg(long, value_name = "POINTS")]
    at: Option<PathBuf>,

    /// Where to write the prediction: .npz, .csv, .vtu, .vtk or .msh; for shards, a folder.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    shards: ShardFlags,

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

pub fn run(args: &Args) -> anyhow::Result<()> {
    match Source::of(&args.input)? {
        Source::File(path) => predict_file(args, path),
        Source::Shards(shards) => predict_shards(args, &shards),
    }
}

fn predict_file(args: &Args, input: &Path) -> anyhow::Result<()> {
    let reads = [&*args.model, input].into_iter().chain(args.at.as_deref());
    outputs::check(args.force, reads, &[(&args.output, FileKind::Prediction)])?;
    let progress = Progress::start("reading the model and the inputs");
    let predictor = Predictor::new(args)?;
    let data = args.reading.read_for(&predictor.model, input)?;
    for warning in predictor.model.warnings(&data.inputs) {
        progress.note(warning);
    }
    progress.step(format!("predicting {}", counted(data.samples(), "sample")));
    let prediction = predictor.predict(input, &data).map_err(|e| {
        // Where outputs are predicted may be said by another file.
        let places = match &e {
            Error::OutsideDomain { field, .. } if field.starts_with("output") => args.at.as_ref(),
            _ => None,
        };
        of_file(places.map_or(input, PathBuf::as_path), e)
    })?;
    interrupt::patiently(|| c2cnet_formats::write(&args.output, &prediction))?;
    drop(progress);
    // Null for a vector, which has none.
    let points: Vec<Option<usize>> = prediction.outputs.iter().map(|(_, f)| points(f)).collect();
    if args.json {
        terminal::print_json(&json!({
            "output": args.output,
            "n_samples": data.samples(),
            "n_points": points,
        }))?;
    } else {
        print_line(format_args!(
            "wrote {}: {}{}",
            args.output.display(),
            counted(data.samples(), "sample"),
            places_in_words(&prediction)
        ))?;
    }
    Ok(())
}

/// Predicts shards one by one, each into a file of the same name.
fn predict_shards(args: &Args, shards: &Shards) -> anyhow::Result<()> {
    let targets = predictions_of(args, shards)?;
    let progress = Progress::start("reading the model");
    let predictor = Predictor::new(args)?;
    let mut skipped = Skipped::default();
    let (mut samples, mut bytes) = (0, 0);
    for (i, ((path, size), target)) in shards.files().iter().zip(&targets).enumerate() {
        let words = format!(
            "shard {} of {}: {samples} samples done",
            i + 1,
            shards.len()
        );
        progress.amount(&words, bytes, shards.bytes());
        bytes += size;
        let read = args.reading.read_for(&predictor.model, path);
        let predicted = read.and_then(|data| {
            let prediction = predictor.predict(path, &data)?;
            Ok((data.samples(), prediction))
        });
        match predicted {
            Ok((count, prediction)) => {
                interrupt::patiently(|| prediction.write_npz(target))?;
                samples += count;
            }
            Err(e) => skipped.keep(shards::about(path, e), args.shards)?,
        }
    }
    drop(progress);
    if args.json {
        terminal::print_json(&json!({
            "output": args.output,
            "n_samples": samples,
            "skipped": skipped.list(),
        }))?;
        return Ok(());
    }
    if let Some(skipped) = skipped.summary(shards.len()) {
        print_line(skipped)?;
    }
    Ok(print_line(format_args!(
        "wrote {}: {} in {}",
        args.output.display(),
        counted(samples, "sample"),
        counted(shards.len() - skipped.list().len(), "file")
    ))?)
}

/// Where the prediction of each shard goes: checked before any is made.
fn predictions_of(args: &Args, shards: &Shards) -> Result<Vec<PathBuf>> {
    output_path::folder(&args.output)?;
    let names = shards.paths().map(|path| {
        let name = path.file_name().unwrap_or_default();
        args.output.join(name).with_extension("npz")
    });
    let targets: Vec<PathBuf> = names.collect();
    let writes = targets
        .iter()
        .map(|path| (path.as_path(), FileKind::Prediction));
    let reads = [&*args.model].into_iter().chain(shards.paths());
    outputs::check(
        args.force,
        reads.chain(args.at.as_deref()),
        &writes.collect::<Vec<_>>(),
    )?;
    Ok(targets)
}

/// A model and where it is to be evaluated.
struct Predictor {
    model: C2CNet,
    places: Option<Mesh>,
}

impl Predictor {
    fn new(args: &Args) -> Result<Self> {
        let model = C2CNet::load(&args.model)?;
        let places = match &args.at {
            None => None,
            Some(path) => {
                check_is_file_of_points(path)?;
                let places = c2cnet_formats::read_places(path)?;
                let outputs = model.summary().outputs;
                if outputs.iter().all(|output| output.vector) {
                    return Err(Error::Config(
                        "--at: the model predicts quantities, which have no points; omit it".into(),
                    ));
                }
                for output in outputs {
                    let dim = output.domain.dim();
                    if !output.vector && places.points.dim() != dim {
                        return Err(of_file(path, Error::dimension(dim, &places.points)));
                    }
                }
                Some(places)
            }
        };
        Ok(Predictor { model, places })
    }

    /// The outputs for the inputs of the file `input`.
    fn predict(&self, input: &Path, data: &Dataset) -> Result<Dataset> {
        let model = &self.model;
        let targets = targets(input, self.places.as_ref(), model, data)?;
        let prediction = model.prediction(&data.inputs)?;
        let mut outputs = Fields::default();
        for (name, target) in targets {
            let target = match target {
                Some(target) => target,
                None => {
                    let nodes = model.nodes(prediction.coordinates(), &name)?;
                    Target::PerSample(nodes.unwrap_or_default())
                }
            };
            let values = match &target {
                Target::Shared(points) => vec![prediction.at(&name, points)?],
                Target::Vector => vec![prediction.at(&name, &Points::origin())?],
                Target::PerSample(samples) => samples
                    .iter()
                    .enumerate()
                    .map(|(k, points)| prediction.of_sample(k, &name, points))
                    .collect::<Result<_>>()?,
            };
            let mut all = model.summary().outputs.into_iter();
            let complex = all.any(|output| output.name == name && output.complex);
            let field = field(target, values)?;
            outputs.push(
                name,
                match complex {
                    true => field.as_complex(),
                    false => field,
                },
            );
        }
        Ok(with_cells(outputs, self.places.as_ref(), data))
    }
}

/// Refuses coordinates in place of a file.
fn check_is_file_of_points(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let mut numbers = text.split([',', ' ', ';']).filter(|part| !part.is_empty());
    if path.exists() || !numbers.all(|number| number.parse::<f64>().is_ok()) {
        return Ok(());
    }
    Err(Error::Config(format!(
        "--at {text}: --at takes a file of points, one per line; make one: echo '{text}' > points.csv, and give --at \
         points.csv"
    )))
}

/// The outputs, with the cells between their points if these are known.
fn with_cells(outputs: Fields, places: Option<&Mesh>, data: &Dataset) -> Dataset {
    let mut prediction = Dataset {
        inputs: Fields::default(),
        outputs,
        n_train: None,
        split: None,
        triangles: None,
        tetrahedra: None,
        meta: serde_json::Value::Null,
    };
    match places {
        Some(Mesh { points, cells, .. }) => {
            let some = |known: bool| known && prediction.mesh_points() == Some(points);
            let flat = some(!cells.triangles.is_empty() && points.dim() == 2);
            let solid = some(!cells.tetrahedra.is_empty());
            prediction.triangles = flat.then(|| cells.triangles.clone());
            prediction.tetrahedra = solid.then(|| cells.tetrahedra.clone());
        }
        None if prediction
            .mesh_points()
            .is_some_and(|p| Some(p) == data.mesh_points()) =>
        {
            prediction.triangles.clone_from(&data.triangles);
            prediction.tetrahedra.clone_from(&data.tetrahedra);
        }
        None => {}
    }
    prediction
}

/// Where each output of the model is to be predicted; `None`: where the model says that its nodes are.
fn targets(
    input: &Path,
    places: Option<&Mesh>,
    model: &C2CNet,
    data: &Dataset,
) -> Result<Vec<(String, Option<Target>)>> {
    if let Some(Mesh { points, .. }) = places {
        let all = model.summary().outputs.into_iter();
        return Ok(all
            .map(|output| {
                let target = match output.vector {
                    true => Target::Vector,
                    false => Target::Shared(points.clone()),
                };
                (output.name.to_string(), Some(target))
            })
            .collect());
    }
    // With u in the file, samples may have points of their own.
    let in_file = match Format::of(input)? {
        Format::Npz if data.outputs.is_empty() => read_output_points(input)?,
        _ => Vec::new(),
    };
    model
        .summary()
        .outputs
        .into_iter()
        .map(|output| {
            let name = output.name;
            let is_known = |(n, field): &&(String, Field)| n == name && !field.is_vector();
            let known = data.outputs.iter().find(is_known);
            let given = in_file.iter().find(|(n, _)| n == name || n.is_empty());
            let target = match (known, given, output.points) {
                _ if output.vector => Target::Vector,
                (Some((_, field)), _, _) => match field.common_points() {
                    Some(points) => Target::Shared(points.clone()),
                    None => Target::PerSample(
                        (0..field.samples())
                            .map(|k| field.points_of(k).clone())
                            .collect(),
                    ),
                },
                (None, None, _) if output.moving_nodes => return Ok((name.to_string(), None)),
                (None, Some((_, points)), _) => Target::Shared(points.clone()),
                (None, None, Some(points)) => Target::Shared(points.clone()),
                (None, None, None) => {
                    return Err(Error::Config(format!(
                        "where to predict is not known: {} has no y, and the model was fitted at \
                         points that differ from sample to sample; give --at POINTS",
                        input.display()
                    )));
                }
            };
            Ok((name.to_string(), Some(target)))
        })
        .collect()
}

/// The prediction of one output, whose values at shared points are one `n` x `N` matrix per component, and else one
/// `n_k` x 1 per component for each sample.
fn field(target: Target, mut values: Vec<Vec<Mat<f64>>>) -> Result<Field> {
    match target {
        Target::Shared(points) => Field::shared(points, values.swap_remove(0)),
        Target::Vector => {
            let rows = &values[0];
            let vectors = Mat::from_fn(rows.len(), rows[0].ncols(), |i, k| rows[i][(0, k)]);
            Field::vector(vectors.as_ref())
        }
        Target::PerSample(points) => {
            let components = values[0].len();
            let samples = points.into_iter().zip(values);
            let samples = samples.map(|(points, values)| Scattered {
                points,
                values: values
                    .iter()
                    .flat_map(|v| v.col_as_slice(0))
                    .copied()
                    .collect(),
            });
            Field::per_sample(components, samples.collect())
        }
    }
}

/// At how many points outputs are predicted, by name where there are several.
fn places_in_words(prediction: &Dataset) -> String {
    let (_, keys) = value_keys(prediction);
    let functions = prediction.outputs.iter().zip(keys);
    let functions = functions.filter_map(|((_, field), key)| Some((key, points(field)?)));
    match &functions.collect::<Vec<_>>()[..] {
        [] => String::new(),
        [(_, n)] => format!(" at {}", counted(*n, "point")),
        all => {
            let each = all.iter();
            let each = each.map(|(key, n)| format!("{key} at {}", counted(*n, "point")));
            format!(", {}", each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// How many points, at most; none for a vector.
fn points(field: &Field) -> Option<usize> {
    let counts = (0..field.samples()).map(|k| field.points_of(k).len());
    counts.max().filter(|_| !field.is_vector())
}
