//! What a run folder holds: `run.json`, the experiments' `result.json` and the peers' files, as `reproduce` writes
//! and `report` reads them. What `reproduce` keeps of its fits for itself has the same format.
//!
//! Numbers that were not measured, or are not finite, are `null`. What a file does not say is empty, so that files
//! of earlier versions can be read.

use crate::output_path;
use crate::printed::Cell;
use c2cnet::Result;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::{fs, io};

/// The version of all kinds of file.
const FORMAT: u64 = 1;

/// Something read, or the reason why it could not be.
pub type Readable<T> = std::result::Result<T, String>;

/// Writes a file of this format's version.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, content: &impl Serialize) -> Result<()> {
    let mut content = json!(content);
    content["format"] = json!(FORMAT);
    output_path::write(path, &format!("{content:#}\n"))
}

/// Reads a file of this format's version.
pub fn read<T: DeserializeOwned>(path: &Path) -> Readable<T> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = fs::read_to_string(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!("there is no {name}"),
        _ => format!("{name} cannot be read: {e}"),
    })?;
    let value: Value =
        serde_json::from_str(&text).map_err(|e| format!("{name} is damaged: {e}"))?;
    match value.get("format").and_then(Value::as_u64) {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(format!(
                "{name} has format {other}, and this c2cnet reads format {FORMAT}: \
                 use the version that wrote it, or run the experiment again"
            ));
        }
        None => return Err(format!("{name} is damaged: it does not say its format")),
    }
    serde_json::from_value(value).map_err(|e| format!("{name} is damaged: {e}"))
}

/// `run.json`: when, where and how.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    pub version: String,
    pub date: String,
    pub quick: bool,
    pub hardware: Hardware,
    pub command: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Hardware {
    /// Where the system reports it.
    pub cpu: Option<String>,
    /// Where networks were trained, if that is a GPU.
    pub gpu: Option<String>,
    pub cores: Option<usize>,
    pub memory_gib: Option<f64>,
    pub os: String,
}

/// `NAME/result.json`: one experiment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Experiment {
    pub name: String,
    /// The paper's label of the section.
    pub label: Option<String>,
    pub title: String,
    /// Paragraphs with blank lines between them.
    pub about: String,
    /// What differs from the paper, and why.
    pub differs: Vec<String>,
    /// The hash of everything that determines the result.
    pub fingerprint: String,
    pub quick: bool,
    pub date: String,
    pub seconds: Option<f64>,
    pub version: String,
    pub command: String,
    /// Where it was done; of the last part, if it was done in several.
    pub hardware: Hardware,
    #[serde(flatten)]
    pub found: Findings,
}

/// The part that the experiment itself fills in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Findings {
    pub headline: Vec<Headline>,
    /// The paper's cells that runs reproduce.
    pub cells: Vec<Reproduced>,
    pub tables: Vec<Table>,
    pub figures: Vec<Picture>,
    pub curves: Vec<Curve>,
    pub galleries: Vec<Gallery>,
    pub checks: Vec<Check>,
    /// What there was no time for.
    pub missing: Vec<String>,
}

/// A row of the headline table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Headline {
    pub problem: String,
    pub title: String,
    /// The run, as the experiment's tables call it.
    pub run: String,
    /// `auto`, or the paper's recipe.
    pub method: String,
    pub rl2e: Option<f64>,
    pub paper: Option<f64>,
    pub floor: Option<f64>,
    pub withheld: Option<f64>,
    pub linear: Option<f64>,
    pub mean: Option<f64>,
    pub rms: Option<f64>,
    pub paper_rms: Option<f64>,
    pub mse: Option<f64>,
    pub paper_mse: Option<f64>,
    /// Encoding and training, and the search for bases where there was one.
    pub seconds: Option<f64>,
    pub paper_seconds: Option<f64>,
    /// Numbers that the map has learned.
    pub parameters: Option<f64>,
    pub paper_parameters: Option<f64>,
    /// Widths of a network, or a map in words.
    pub architecture: Option<String>,
    pub note: String,
}

/// A cell of the paper, and what was found for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reproduced {
    pub cell: Cell,
    /// `plain` or `scaled`; empty in files of earlier versions.
    #[serde(default)]
    pub reading: String,
    /// The run, as the experiment's tables call it.
    pub run: String,
    pub rl2e: Option<f64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Table {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub label: Option<String>,
    pub columns: Vec<Column>,
    /// Values by the key of their column; `KEY_spread` is a standard deviation.
    pub rows: Vec<Map<String, Value>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Column {
    pub key: String,
    pub title: String,
    pub kind: Kind,
}

impl Column {
    pub fn new(key: &str, title: &str, kind: Kind) -> Self {
        Column {
            key: key.into(),
            title: title.into(),
            kind,
        }
    }
}

/// How the values of a column are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Text,
    Error,
    Number,
    Integer,
    Seconds,
}

/// A figure, by the files that hold it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Picture {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub label: Option<String>,
    #[serde(flatten)]
    pub files: Files,
}

/// A drawing, relative to the experiment's folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Files {
    pub svg: String,
    pub png: Option<String>,
}

impl Files {
    /// Writes the drawing `svg` into the experiment's `folder`, as SVG and as PNG.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn write(folder: &Path, id: &str, svg: &str) -> Result<Files> {
        output_path::folder(&folder.join("figures"))?;
        let name = |ending: &str| format!("figures/{id}.{ending}");
        for ending in ["svg", "png"] {
            output_path::write_figure(&folder.join(name(ending)), svg)?;
        }
        Ok(Files {
            svg: name("svg"),
            png: Some(name("png")),
        })
    }
}

/// Curves that the page draws itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Curve {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub label: Option<String>,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Whether the area below is filled, as in a histogram.
    #[serde(skip)]
    pub bars: bool,
    #[serde(flatten)]
    pub files: Files,
}

/// Also read from the experiments' own files, so a misspelt key is refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    pub title: String,
    #[serde(default)]
    pub log: bool,
}

impl Axis {
    pub fn linear(title: &str) -> Self {
        Axis {
            title: title.into(),
            log: false,
        }
    }

    pub fn log(title: &str) -> Self {
        Axis {
            title: title.into(),
            log: true,
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    pub name: String,
    pub x: Vec<Option<f64>>,
    pub y: Vec<Option<f64>>,
    pub dashed: bool,
}

impl Series {
    pub fn new(name: String, x: Vec<f64>, y: Vec<f64>) -> Self {
        let known = |values: Vec<f64>| values.into_iter().map(Some).collect();
        Series {
            name,
            x: known(x),
            y: known(y),
            dashed: false,
        }
    }

    pub fn dashed(self) -> Self {
        Series {
            dashed: true,
            ..self
        }
    }
}

/// Pictures of samples, from the best to the worst.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Gallery {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub label: Option<String>,
    pub samples: Vec<Sample>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Its number in the data.
    pub sample: usize,
    /// Its place among all test samples, best first.
    pub rank: usize,
    pub rl2e: Option<f64>,
    pub svg: String,
}

/// Something that must hold.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    pub what: String,
    pub passed: bool,
    pub value: Option<f64>,
    pub bound: Option<f64>,
    pub detail: String,
}

/// `peers/*.json`: one training of another method on the same data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Peer {
    pub peer: String,
    pub problem: String,
    /// How many samples trained.
    pub n_train: Option<usize>,
    pub seed: u64,
    pub schedule: String,
    /// Whether samples were rotated and reflected.
    pub symmetry: bool,
    /// What the training was for, where there are several.
    pub label: String,
    pub hardware: String,
    pub parameters: Option<f64>,
    pub train_seconds: Option<f64>,
    pub seconds_per_epoch: Option<f64>,
    pub epochs: Option<f64>,
    pub rl2e: Option<f64>,
    pub mse: Option<f64>,
    /// Seconds, epoch and test error.
    pub curve: Vec<[Option<f64>; 3]>,
    pub peak_memory_mib: Option<f64>,
}

/// `peers/predictions/PEER-EXPERIMENT.json`: what another method predicts for an experiment's test samples.
#[derive(Clone, Debug, Deserialize)]
pub struct PeerPredictions {
    pub peer: String,
    pub rl2e: Option<f64>,
    /// The first component at all output points, for each test sample.
    pub values: Vec<Vec<f64>>,
}

/// `peers/samples/*.json` is a list of these: fits of c2cnet to the first samples of a data file.
#[derive(Clone, Debug, Deserialize)]
pub struct SampleFit {
    pub method: String,
    pub problem: String,
    pub n_train: usize,
    pub rl2e: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        let written = Experiment {
            label: Some("subsec:efficiency".into()),
            found: Findings {
                headline: vec![Headline {
                    rl2e: Some(0.1 + 0.2),
                    floor: Some(f64::NAN),
                    ..Headline::default()
                }],
                ..Findings::default()
            },
            ..Experiment::default()
        };
        write(&path, &written).unwrap();
        let read: Experiment = read(&path).unwrap();
        assert_eq!(read.label, written.label);
        assert_eq!(read.found.headline[0].rl2e, Some(0.1 + 0.2));
        assert_eq!(read.found.headline[0].floor, None);
    }
}
