//! `c2cnet convert`: data from one format to another, or many files into one.

use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::reading::Reading;
use c2cnet::Error;
use c2cnet_experiments::terminal::{Progress, counted, interrupt, print_line};
use c2cnet_formats::Names;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Formats, by the first bytes of FILES and the name of OUT:
  .npz         arrays x, f, y, u and so on: c2cnet fit --help
  .csv         a row per reading: columns sample, x, y, z (or x0, x1, ...), f, u; p and q; split;
               y0, y1, ... for output points other than those of the inputs; empty: no reading
  .vtu, .vtk   a mesh of VTK with point data f and u, or f[0], f[1], ... for several samples
  .msh         a mesh of gmsh (2.2 or 4.1, as text) with such point data

Several FILES are one sample each, in the order given. HDF5, MATLAB, NetCDF and everything that
meshio reads: python -m c2cnet convert --help

Examples:
  c2cnet convert run_*.vtu --f conductivity --u temperature -o data.npz
  c2cnet convert sensors.csv --sample run --x lon,lat --f wind --u wave -o d.npz
  c2cnet convert runs.csv --p radius,modulus --q drag -o data.npz
  c2cnet convert data.npz -o data.csv";

/// Convert data between formats, or collect files with one sample each.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// What to convert.
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Where to write the data: .npz, .csv, .vtu, .vtk or .msh.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// The array or column of the input; several are several inputs [default: f, f.NAME].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    f: Vec<String>,

    /// The array or column of the output [default: u, u.NAME].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    u: Vec<String>,

    /// The columns of a table with parameters (not functions) [default: p, p[0], p[1], ...].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    p: Vec<String>,

    /// The columns of a table with quantities to predict (not functions) [default: q, q[0], ...].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    q: Vec<String>,

    /// The columns of a table with coordinates [default: x, y, z or x0, x1, ...].
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    x: Vec<String>,

    /// The column of a table that says which sample a row belongs to [default: sample].
    #[arg(long, value_name = "NAME")]
    sample: Option<String>,

    #[command(flatten)]
    reading: Reading,

    /// How many leading samples are for training; the rest are for testing.
    #[arg(long, value_name = "N")]
    n_train: Option<usize>,

    #[command(flatten)]
    force: Force,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let reads = args.files.iter().map(PathBuf::as_path);
    outputs::check(args.force, reads, &[(&args.output, FileKind::Data)])?;
    let names = Names {
        inputs: args.f.clone(),
        outputs: args.u.clone(),
        parameters: args.p.clone(),
        quantities: args.q.clone(),
        points: args.x.clone(),
        sample: args.sample.clone(),
        inputs_alone: false,
    };
    let progress = Progress::start(format!("reading {}", counted(args.files.len(), "file")));
    let mut data = args.reading.collect(&args.files, &names)?;
    let ignored = c2cnet_formats::ignored(&args.files[0], &names)?;
    if !ignored.is_empty() {
        progress.note(format_args!(
            "columns that are not read: {}",
            ignored.join(", ")
        ));
    }
    if args.n_train.is_some() {
        if data.split.is_some() {
            return Err(Error::Config(
                "--n-train: the data already has a split; omit one of them".into(),
            )
            .into());
        }
        data.n_train = args.n_train;
        data.check()?;
    }
    for warning in data.warnings() {
        progress.note(warning);
    }
    interrupt::patiently(|| c2cnet_formats::write(&args.output, &data))?;
    drop(progress);
    print_line(format_args!(
        "wrote {}: {}",
        args.output.display(),
        counted(data.samples(), "sample")
    ))?;
    Ok(())
}
