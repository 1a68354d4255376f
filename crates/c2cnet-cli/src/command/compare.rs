//! `c2cnet compare`: error against time, for c2cnet and for other methods on the same data.

mod figure;
mod peers;

use crate::device::DeviceFlag;
use crate::file_kind::FileKind;
use crate::outputs::{self, Force};
use crate::reading::Reading;
use crate::settings::{MapFlag, name};
use c2cnet::data::Dataset;
use c2cnet::{Error, Result};
use c2cnet::{FitConfig, fit};
use c2cnet_experiments::output_path;
use c2cnet_experiments::reproduce::cpu;
use c2cnet_experiments::run_files::Peer as PeerResult;
use c2cnet_experiments::terminal::{
    self, Progress, Table, counted, error, interrupt, number, print_line,
};
use c2cnet_formats::Format;
use peers::{Environment, Peer, Training};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Each method learns from the training samples of DATA and is judged on its test samples. c2cnet takes
the time it needs; each peer trains for the budget, with a learning rate that ends with it.
Everything uses the same threads; with --device cuda, all networks, including the peers', train on a GPU.

Peers are PyTorch programs in the folder peers/ of the repository: run this command there, or in a
folder below. Their Python environment is made once by
  peers/run.sh peers.run --help
and found automatically; --python or C2CNET_PEERS_PYTHON names another Python that has PyTorch.

Peers that were trained earlier, perhaps on another machine, can be shown alongside (--results).

Examples:
  c2cnet compare data.npz --peers fno,deeponet --budget 120
  c2cnet compare data.npz --methods auto --peers fno -o compare.png
  c2cnet compare data.npz --methods auto --results peers/results/fno-data.json
  c2cnet compare data.npz --peers fno --json | jq '.methods[].rl2e'";

/// Compare c2cnet with other methods on the same data: error against time.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The data file.
    data: PathBuf,

    /// Other methods to train, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    peers: Vec<Peer>,

    /// Coefficient maps of c2cnet, separated by commas.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "NAMES",
        default_value = "auto,kernel,mlp"
    )]
    methods: Vec<MapFlag>,

    /// Seconds of training for each peer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    budget: f64,

    #[command(flatten)]
    device: DeviceFlag,

    /// The seed of every random choice.
    #[arg(long, default_value_t = 0)]
    seed: u32,

    /// Results of peers that were trained earlier, to show in the same table.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    results: Vec<PathBuf>,

    /// The Python of the peers [default: the one that peers/run.sh makes].
    #[arg(long, value_name = "PATH", env = "C2CNET_PEERS_PYTHON")]
    python: Option<PathBuf>,

    /// Where to draw the errors over the seconds (.svg or .png).
    #[arg(short, long, value_name = "FILE", default_value = "compare.svg")]
    output: PathBuf,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    force: Force,

    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(v) if (0.1..=3.2e7).contains(&v) => Ok(v),
        _ => Err("give seconds, 0.1 or more".into()),
    }
}

/// One row of the table, one point or curve of the picture.
struct Entry {
    method: String,
    rl2e: f64,
    mse: Option<f64>,
    /// What only c2cnet knows about itself.
    references: Option<References>,
    seconds: f64,
    parameters: Option<f64>,
    hardware: String,
    /// Seconds and errors while it trained; empty for c2cnet, which has no model before the end.
    curve: Vec<(f64, f64)>,
}

/// Errors by which RL2E is judged.
struct References {
    floor: f64,
    linear: f64,
    mean: f64,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let reads = args.results.iter().chain([&args.data]);
    let writes = [(args.output.as_path(), FileKind::Figure)];
    outputs::check(args.force, reads.map(PathBuf::as_path), &writes)?;
    args.device.check()?;
    let progress = Progress::start("reading the data").on(args.device.device);
    if !args.peers.is_empty() && Format::of(&args.data)? != Format::Npz {
        return Err(Error::Config(format!(
            "{}: peers read .npz files; make one: c2cnet convert {} -o data.npz",
            args.data.display(),
            args.data.display()
        ))
        .into());
    }
    let data = args.reading.read_pairs(&args.data)?;
    let test = data.test_indices();
    check_test(args, &data)?;
    // Anything that may be missing is checked before the first fit.
    let mut problem = ["experiment", "problem"].iter();
    let problem = problem.find_map(|key| data.meta[key].as_str());
    let problem = problem.unwrap_or_default();
    let earlier = (args.results.iter())
        .map(|path| from_file(path, problem, data.train_indices().len()))
        .collect::<Result<Vec<Entry>>>()?;
    let environment = match args.peers.is_empty() {
        true => None,
        false => {
            progress.step("looking for the peers");
            Some(Environment::find(args.python.as_deref())?)
        }
    };
    let mut entries = Vec::new();
    for method in &args.methods {
        entries.push(own(args, &data, *method, &progress)?);
    }
    if let Some(environment) = &environment {
        for peer in &args.peers {
            let result = train_peer(args, environment, *peer, &progress)?;
            entries.push(from_result(result, data.train_indices().len()));
        }
    }
    entries.extend(earlier);
    let title = match problem {
        "" => args.data.display().to_string(),
        problem => problem.to_string(),
    };
    output_path::write_figure(&args.output, &figure::draw(&title, &entries).to_svg())?;
    drop(progress);
    if args.json {
        let methods: Vec<Value> = entries.iter().map(Entry::object).collect();
        terminal::print_json(&json!({
            "data": args.data,
            "n_train": data.train_indices().len(),
            "n_test": test.len(),
            "budget": args.budget,
            "methods": methods,
            "figure": args.output,
        }))?;
        return Ok(());
    }
    print_line(format_args!(
        "errors on {} after training with {}",
        counted(test.len(), "test sample"),
        data.train_indices().len()
    ))?;
    print_line(table(&entries))?;
    print_line(
        "\nfloor, linear, mean: RL2E of a perfect map in the output basis, of a linear map, of the \
         mean training output",
    )?;
    print_line(format_args!("wrote {}", args.output.display()))?;
    Ok(())
}

fn train_peer(
    args: &Args,
    environment: &Environment,
    peer: Peer,
    progress: &Progress,
) -> Result<PeerResult> {
    progress.step(format!(
        "training {} for {}",
        name(peer),
        counted(args.budget.round() as usize, "second")
    ));
    environment.train(&Training {
        peer,
        data: &args.data,
        budget: args.budget,
        device: args.device.of_peers(),
        seed: args.seed,
    })
}

/// Checks that some samples are not used for training.
fn check_test(args: &Args, data: &Dataset) -> Result<()> {
    let test = data.test_indices();
    if test.is_empty() || data.train_indices().len() + test.len() > data.samples() {
        return Err(Error::Data(format!(
            "{} has no separate test samples; give it n_train, so that methods are judged by \
             samples they have not seen",
            args.data.display()
        )));
    }
    Ok(())
}

/// A fit of c2cnet, judged.
fn own(args: &Args, data: &Dataset, method: MapFlag, progress: &Progress) -> Result<Entry> {
    let mut config = FitConfig {
        seed: args.seed.into(),
        ..FitConfig::default()
    };
    config.map.kind = method.into();
    let (model, report) = interrupt::patiently(|| fit(data, &config, progress))?;
    progress.step("predicting");
    let errors = model.evaluate(&data.select(&data.test_indices()))?;
    let threads = rayon::current_num_threads();
    Ok(Entry {
        method: format!("c2cnet {}", name(method)),
        rl2e: errors.rl2e,
        mse: Some(errors.mse),
        references: Some(References {
            floor: errors.floor,
            linear: errors.linear_rl2e,
            mean: errors.mean_rl2e,
        }),
        seconds: report.seconds.total,
        parameters: Some(model.summary().map.parameters as f64),
        hardware: format!(
            "{}, {}",
            cpu().unwrap_or_else(|| std::env::consts::ARCH.into()),
            counted(threads, "thread")
        ),
        curve: Vec::new(),
    })
}

/// A result of a peer that was written earlier.
fn from_file(path: &Path, problem: &str, n_train: usize) -> Result<Entry> {
    let result = peers::read(path)?;
    if result.problem != problem {
        return Err(Error::Data(format!(
            "{} is a result for the problem {:?}, but the data is from {problem:?}: their errors cannot \
             be compared",
            path.display(),
            result.problem
        )));
    }
    Ok(from_result(result, n_train))
}

fn from_result(result: PeerResult, n_train: usize) -> Entry {
    let mut method = result.peer;
    if result.symmetry {
        method += " with symmetry";
    }
    for detail in [&result.label, &result.schedule] {
        if !detail.is_empty() && detail != "one-cycle" {
            method += &format!(", {detail}");
        }
    }
    if let Some(n) = result.n_train.filter(|n| *n != n_train) {
        method += &format!(", {}", counted(n, "sample"));
    }
    let pairs = result.curve.iter();
    Entry {
        method,
        rl2e: result.rl2e.unwrap_or(f64::NAN),
        mse: result.mse,
        references: None,
        seconds: result.train_seconds.unwrap_or(f64::NAN),
        parameters: result.parameters,
        hardware: result.hardware,
        curve: pairs.filter_map(|[s, _, e]| s.zip(*e)).collect(),
    }
}

impl Entry {
    fn object(&self) -> Value {
        let reference = |of: fn(&References) -> f64| self.references.as_ref().map(of);
        json!({
            "method": self.method,
            "rl2e": self.rl2e,
            "mse": self.mse,
            "floor": reference(|r| r.floor),
            "linear_rl2e": reference(|r| r.linear),
            "mean_rl2e": reference(|r| r.mean),
            "seconds": self.seconds,
            "parameters": self.parameters,
            "hardware": self.hardware,
            "curve": self.curve,
        })
    }
}

fn table(entries: &[Entry]) -> Table {
    let mut table = Table::with_header([
        "method",
        "RL2E",
        "floor",
        "linear",
        "mean",
        "offline s",
        "parameters",
        "hardware",
    ]);
    let shown = |v: Option<f64>| v.map_or("-".into(), error);
    for entry in entries {
        let references = entry.references.as_ref();
        table.row([
            entry.method.clone(),
            error(entry.rl2e),
            shown(references.map(|r| r.floor)),
            shown(references.map(|r| r.linear)),
            shown(references.map(|r| r.mean)),
            number(entry.seconds),
            entry.parameters.map_or("-".into(), |p| format!("{p:.0}")),
            entry.hardware.clone(),
        ]);
    }
    table
}
