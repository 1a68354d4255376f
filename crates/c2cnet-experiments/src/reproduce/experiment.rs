//! Experiments as written in TOML files.

use super::derive::Reshape;
use super::name;
use crate::printed::Cell;
use crate::run_files::Axis;
use c2cnet::FitConfig;
use c2cnet::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// One experiment, resolved.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    pub title: String,
    /// The paper's label.
    pub label: String,
    pub about: String,
    #[serde(default)]
    pub differs: Vec<String>,
    /// Whether the figures that explain the method are drawn.
    #[serde(default)]
    pub method_figures: bool,
    /// Data sets by name.
    #[serde(default)]
    pub data: BTreeMap<String, DataSpec>,
    #[serde(default, rename = "run")]
    pub runs: Vec<RunSpec>,
    #[serde(default, rename = "sweep")]
    pub sweeps: Vec<SweepSpec>,
    #[serde(default, rename = "transfer")]
    pub transfers: Vec<TransferSpec>,
    /// Runs whose outputs are signed distances from obstacles.
    pub obstacles: Option<ObstaclesSpec>,
    #[serde(default, rename = "table")]
    pub tables: Vec<TableSpec>,
    #[serde(default, rename = "figure")]
    pub figures: Vec<FigureSpec>,
    #[serde(default, rename = "check")]
    pub checks: Vec<CheckSpec>,
}

/// Data of a problem, or made of another data set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSpec {
    pub problem: Option<String>,
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub settings: Table,
    /// The name of another data set.
    pub from: Option<String>,
    /// Keeps this many training samples.
    pub train: Option<usize>,
    /// Adds the mirror image of each training sample of a flow.
    #[serde(default)]
    pub mirror: bool,
    #[serde(default)]
    pub input: Reshape,
    #[serde(default)]
    pub output: Reshape,
}

/// Which column of the comparison a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Column {
    /// The paper's recipe, nothing scaled; perhaps with fewer steps.
    Plain,
    /// The paper's recipe, inputs and outputs scaled.
    Scaled,
    /// Well-trained networks, to compare inputs.
    Fast,
    /// The default settings.
    Auto,
}

/// A fit and its evaluation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    #[serde(deserialize_with = "name::read")]
    pub id: String,
    /// The method as the paper calls it.
    pub label: String,
    pub column: Column,
    pub data: String,
    /// Whose test samples are used, if not those of `data`.
    pub test: Option<String>,
    #[serde(default)]
    pub fit: FitConfig,
    /// One fit for each.
    #[serde(default = "one_seed")]
    pub seeds: Vec<u64>,
    /// Which samples test: a set of the data's split.
    #[serde(default = "test_set")]
    pub set: String,
    /// Further sets, shown in the same row.
    #[serde(default)]
    pub more_sets: Vec<String>,
    #[serde(default)]
    pub paper: PaperFigures,
    /// The cell of the paper's summary that it reproduces.
    pub cell: Option<Cell>,
    pub headline: Option<HeadlineSpec>,
    #[serde(default)]
    pub note: String,
}

impl RunSpec {
    /// The method and its column.
    pub fn name(&self) -> String {
        format!("{} ({})", self.label, self.column.name())
    }

    /// With the number of training samples in its labels: a quick run has fewer.
    pub fn sized(&self, samples: usize) -> RunSpec {
        let mut spec = self.clone();
        spec.label = sized(&self.label, samples);
        if let Some(headline) = &mut spec.headline {
            headline.title = sized(&headline.title, samples);
        }
        spec
    }
}

/// A text with the number of training samples in place of `{samples}`.
pub fn sized(text: &str, samples: usize) -> String {
    let digits = samples.to_string();
    let mut grouped = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    text.replace("{samples}", &grouped)
}

fn one_seed() -> Vec<u64> {
    vec![0]
}

fn test_set() -> String {
    "test".into()
}

/// What the paper prints.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PaperFigures {
    pub rl2e: Option<f64>,
    pub mse: Option<f64>,
    pub encoding: Option<f64>,
    pub training: Option<f64>,
    pub parameters: Option<usize>,
    pub architecture: String,
    /// RL2E of further sets, by name.
    pub sets: BTreeMap<String, f64>,
}

impl PaperFigures {
    /// The root mean square of the paper's outputs, as its two errors imply it.
    pub fn rms(&self) -> Option<f64> {
        Some(self.mse?.sqrt() / self.rl2e?)
    }

    pub fn seconds(&self) -> Option<f64> {
        match (self.encoding, self.training) {
            (None, None) => None,
            (e, t) => Some(e.unwrap_or(0.0) + t.unwrap_or(0.0)),
        }
    }
}

/// The row of the summary that a run is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadlineSpec {
    pub problem: String,
    pub title: String,
}

/// One setting over several values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepSpec {
    #[serde(flatten)]
    pub heading: Heading,
    pub data: String,
    /// The setting, as in `--set`; or `data`, and the values are names of data sets, drawn over the effective
    /// dimension of their inputs.
    pub key: String,
    pub values: Vec<Value>,
    pub x: Axis,
    /// What the paper prints, as a line.
    pub printed: Option<f64>,
    /// Draw against the number of output functions instead of the value.
    #[serde(default)]
    pub count_functions: bool,
    /// Another curve: the gap between test and training error against the encoder's amplification.
    pub gap: Option<Heading>,
    #[serde(rename = "variant")]
    pub variants: Vec<Variant>,
}

impl SweepSpec {
    /// Whether data change, and settings do not.
    pub fn over_data(&self) -> bool {
        self.key == "data"
    }
}

/// A fit among others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub name: String,
    pub column: Column,
    #[serde(default)]
    pub fit: FitConfig,
    /// Its errors must not depend on the resolution (transfers only).
    #[serde(default)]
    pub flat: bool,
}

/// What a table or a figure is called, in files, on the page and in the paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heading {
    #[serde(deserialize_with = "name::read")]
    pub id: String,
    pub title: String,
    #[serde(default)]
    pub caption: String,
    pub label: Option<String>,
}

/// Fits at one resolution, tests at others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferSpec {
    #[serde(flatten)]
    pub heading: Heading,
    /// At the finest resolution.
    pub data: String,
    /// Every n-th point is used for training.
    pub train_every: usize,
    /// Every n-th point is used for testing, one test per entry.
    pub test_every: Vec<usize>,
    pub sides: Vec<Side>,
    /// The largest relative change of the error of a variant that should be flat.
    #[serde(default = "tenth")]
    pub within: f64,
    #[serde(rename = "variant")]
    pub variants: Vec<Variant>,
}

fn tenth() -> f64 {
    0.1
}

/// Which functions change their resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Input,
    Output,
}

/// What is asked of runs that recover obstacles.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObstaclesSpec {
    /// Runs that are judged.
    pub runs: Vec<String>,
    /// The run whose reconstructions are drawn.
    pub draw: String,
    /// Half the width of the band that is drawn around the recovered boundary.
    pub band: f64,
    /// Tests of one fit with other data.
    #[serde(default)]
    pub robustness: Vec<RobustnessSpec>,
}

/// A fit tested, and fitted again, with other readings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RobustnessSpec {
    pub label: String,
    pub data: String,
    /// Also fits to these data.
    #[serde(default)]
    pub refit: bool,
}

/// A table of runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    #[serde(flatten)]
    pub heading: Heading,
    /// All, unless given.
    #[serde(default)]
    pub runs: Vec<String>,
}

/// A drawing of runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    pub kind: FigureKind,
    #[serde(flatten)]
    pub heading: Heading,
    pub runs: Vec<String>,
    /// Other methods whose predictions are drawn, too, where the run folder has them (predictions only).
    #[serde(default)]
    pub peers: Vec<String>,
}

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// The worst test sample of each run.
    Worst,
    /// Test samples from best to worst.
    Gallery,
    /// Training errors over the steps.
    Training,
    /// Several runs on one test sample of functions on an interval.
    Predictions,
    /// Values along the lower and the upper side of a rectangle, worst sample.
    Traces,
    /// The plane of the third and fourth coordinates, worst sample.
    Slice,
    /// Input and output observations of one sample of functions on an interval.
    Observations,
}

/// Something that must hold between runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSpec {
    pub what: String,
    pub run: String,
    /// The largest RL2E allowed.
    pub at_most: Option<f64>,
    /// The run whose RL2E it must not exceed.
    pub than: Option<String>,
    /// The smallest RL2E expected, where the paper reports a failure.
    pub at_least: Option<f64>,
}

impl Column {
    pub const ALL: [Column; 4] = [Column::Plain, Column::Scaled, Column::Fast, Column::Auto];

    pub fn name(self) -> &'static str {
        match self {
            Column::Plain => "plain",
            Column::Scaled => "scaled",
            Column::Fast => "fast",
            Column::Auto => "auto",
        }
    }
}

impl Experiment {
    /// Checks that everything named exists.
    ///
    /// # Errors
    /// Naming the file and what it lacks.
    pub fn check(&self, name: &str) -> Result<()> {
        let bad = |text: String| Err(Error::Config(format!("{name}.toml: {text}")));
        let mut used: Vec<&String> = Vec::new();
        for (i, run) in self.runs.iter().enumerate() {
            if self.runs[..i].iter().any(|r| r.id == run.id) {
                return bad(format!("there are two runs {:?}", run.id));
            }
            if run.seeds.is_empty() {
                return bad(format!("run {:?} needs at least one seed", run.id));
            }
            if let Some(cell) = &run.cell {
                let same = |r: &RunSpec| r.cell.as_ref() == Some(cell) && r.column == run.column;
                if self.runs[..i].iter().any(same) {
                    return bad(format!("run {:?} names the cell of another run", run.id));
                }
                if let Err(e) = cell.check(run.paper.rl2e) {
                    return bad(format!("run {:?}: {e}", run.id));
                }
            }
            used.push(&run.data);
            used.extend(&run.test);
            run.fit.check()?;
        }
        used.extend(self.sweeps.iter().map(|s| &s.data));
        for sweep in self.sweeps.iter().filter(|s| s.over_data()) {
            for value in &sweep.values {
                match value {
                    Value::String(name) => used.push(name),
                    other => {
                        return bad(format!(
                            "sweep {:?}: {other} names no data",
                            sweep.heading.id
                        ));
                    }
                }
            }
        }
        used.extend(self.transfers.iter().map(|t| &t.data));
        for spec in self.data.values() {
            used.extend(&spec.from);
            if spec.from.is_some() == spec.problem.is_some() {
                return bad("a data set needs either `problem` or `from`".into());
            }
        }
        match used.iter().find(|d| !self.data.contains_key(**d)) {
            Some(data) => bad(format!("there is no data set {data:?}")),
            None => Ok(()),
        }
    }
}
