//! What a run folder holds: `run.json`, the experiments' `result.json` and the peers' files.
//!
//! Numbers that were not measured, or are not finite, are `null`.

use crate::output_path;
use c2cnet::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;

/// The version of all three kinds of file.
pub const FORMAT: u64 = 1;

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
    pub cpu: String,
    pub cores: Option<u64>,
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
    pub quick: bool,
    pub date: String,
    pub seconds: Option<f64>,
    pub version: String,
    pub command: String,
    pub headline: Vec<Headline>,
    pub tables: Vec<Table>,
    pub figures: Vec<Picture>,
    pub curves: Vec<Curve>,
    pub galleries: Vec<Gallery>,
    pub checks: Vec<Check>,
}

/// A row of the headline table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Headline {
    pub problem: String,
    pub title: String,
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
    pub seconds: Option<f64>,
    pub paper_seconds: Option<f64>,
    pub parameters: Option<f64>,
    pub architecture: Option<String>,
    pub note: String,
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
    pub svg: String,
    pub png: Option<String>,
}

impl Picture {
    /// Writes the drawing `svg` into the experiment's `folder`, as SVG and as PNG.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn write(mut self, folder: &Path, svg: &str) -> Result<Picture> {
        output_path::folder(&folder.join("figures"))?;
        self.svg = format!("figures/{}.svg", self.id);
        let png = format!("figures/{}.png", self.id);
        output_path::write_figure(&folder.join(&self.svg), svg)?;
        output_path::write_figure(&folder.join(&png), svg)?;
        self.png = Some(png);
        Ok(self)
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
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Axis {
    pub title: String,
    pub log: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    pub name: String,
    pub x: Vec<Option<f64>>,
    pub y: Vec<Option<f64>>,
    pub dashed: bool,
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
    pub sample: u64,
    pub rank: u64,
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
    /// Whether samples were turned and mirrored.
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
