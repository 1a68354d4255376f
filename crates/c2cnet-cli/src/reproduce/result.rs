//! What an experiment found, as `result.json` holds it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The number of this layout.
pub const FORMAT: u32 = 1;

/// `result.json`.
#[derive(Debug, Clone, Serialize)]
pub struct ExperimentResult {
    pub format: u32,
    pub name: String,
    /// The paper's label.
    pub label: String,
    pub title: String,
    /// Paragraphs separated by blank lines.
    pub about: String,
    /// What differs from the paper, and why.
    pub differs: Vec<String>,
    /// Of everything that decides the result.
    pub fingerprint: String,
    pub quick: bool,
    pub date: String,
    pub seconds: f64,
    pub version: String,
    pub command: String,
    #[serde(flatten)]
    pub found: Findings,
}

/// The part that the experiment itself fills in.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Findings {
    pub headline: Vec<Headline>,
    pub tables: Vec<Table>,
    pub figures: Vec<Figure>,
    pub curves: Vec<Curve>,
    pub galleries: Vec<Gallery>,
    pub checks: Vec<Check>,
}

/// A row of the summary over all experiments.
#[derive(Debug, Clone, Serialize)]
pub struct Headline {
    pub problem: String,
    pub title: String,
    /// `auto`, or the paper's recipe.
    pub method: String,
    pub rl2e: f64,
    pub paper: Option<f64>,
    pub floor: f64,
    pub withheld: Option<f64>,
    pub linear: f64,
    pub mean: f64,
    pub rms: f64,
    pub paper_rms: Option<f64>,
    /// Encoding and training, and the search for bases where there was one.
    pub seconds: f64,
    pub paper_seconds: Option<f64>,
    pub note: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Table {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub label: Option<String>,
    pub columns: Vec<Column>,
    /// A value for each column's key; `KEY_spread` is its deviation over seeds.
    pub rows: Vec<Map<String, Value>>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Column {
    pub key: String,
    pub title: String,
    pub kind: Kind,
}

/// How a column's values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Text,
    Error,
    Number,
    Integer,
    Seconds,
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

#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub label: Option<String>,
    #[serde(flatten)]
    pub files: Files,
}

/// A drawing, relative to the experiment's folder.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Files {
    pub svg: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub png: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub label: Option<String>,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    #[serde(flatten)]
    pub files: Files,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    pub title: String,
    #[serde(default)]
    pub log: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct Series {
    pub name: String,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub dashed: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct Gallery {
    pub id: String,
    pub title: String,
    pub caption: String,
    /// From best to worst.
    pub samples: Vec<GallerySample>,
}

#[derive(Debug, Clone, Serialize)]
pub struct GallerySample {
    /// Its number in the data.
    pub sample: usize,
    /// Its place among all test samples, best first.
    pub rank: usize,
    pub rl2e: f64,
    pub svg: String,
}

/// Something that must hold.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    pub what: String,
    pub passed: bool,
    pub value: f64,
    pub bound: f64,
    pub detail: String,
}
