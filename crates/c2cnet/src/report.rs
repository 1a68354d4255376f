//! What a fit reports when it is done, as data.

use crate::map::KernelReport;
use crate::map::mlp::TrainingReport;
use crate::operator::{C2CNet, EvaluationReport};
use serde::{Deserialize, Deserializer, Serialize};

/// How a fit went.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FitReport {
    /// Errors on held-out training samples of the same map fitted without them. Bases, encoder and
    /// output space were settled on all training samples, so a test error may be a little larger.
    ///
    /// Where the recipe of a network trains on all samples ([`FitReport::held_out`] is false), these
    /// are errors on samples that trained.
    pub validation: EvaluationReport,
    /// Whether the map that was judged had not seen the samples that judged it.
    pub held_out: bool,
    /// What was chosen and why.
    pub choices: Vec<Choice>,
    /// What looks like a mistake in the data.
    pub warnings: Vec<String>,
    /// The maps that were compared.
    pub candidates: Vec<Candidate>,
    /// The choice of the kernel map, where one was tried.
    pub kernel: Option<KernelReport>,
    /// The training of the network, where one was chosen.
    pub network: Option<NetworkReport>,
    /// How many samples trained, with augmentation.
    pub n_train: usize,
    /// Time spent.
    pub seconds: Seconds,
}

/// One decision of a fit. Its [`Display`](std::fmt::Display) form is the human-readable sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// What was decided.
    pub subject: Subject,
    /// The name of the field that it concerns; a single one, and the map, have none.
    pub field: String,
    /// What was compared; empty where settings or data left nothing to compare.
    pub candidates: Vec<Candidate>,
    /// What was chosen, in words.
    pub chosen: String,
    /// Why, in words.
    pub why: String,
}

impl Choice {
    /// The choices of the fit of a model; none where its file has none.
    pub fn of(model: &C2CNet) -> Vec<Choice> {
        Vec::deserialize(&model.info()["choices"]).unwrap_or_default()
    }
}

/// What a [`Choice`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The basis of an output.
    OutputBasis,
    /// The basis of an input.
    InputBasis,
    /// Whether functions of an input are prescribed or learned.
    InputSpace,
    /// How an input's coefficients are determined.
    InputEncoder,
    /// An output space as it was fitted.
    Output,
    /// An input encoder as it was fitted.
    Input,
    /// The coefficient map.
    Map,
    /// Where an input lives.
    InputDomain,
    /// Where an output lives.
    OutputDomain,
    /// Where all inputs and outputs live.
    Domain,
    /// Whether inputs are scaled to one size.
    InputScale,
    /// How much outputs and their components count.
    OutputWeights,
    /// Whether an output's nodes move with the inputs.
    OutputNodes,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (before, after) = match self.subject {
            Subject::OutputBasis => ("output", " basis"),
            Subject::InputBasis => ("input", " basis"),
            Subject::InputSpace => ("input", " space"),
            Subject::InputEncoder => ("input", " encoder"),
            Subject::Output => ("output", ""),
            Subject::Input => ("input", ""),
            Subject::Map => ("map", ""),
            Subject::InputDomain => ("input", " domain"),
            Subject::OutputDomain => ("output", " domain"),
            Subject::Domain => ("input and output", " domain"),
            Subject::InputScale => ("input", " scale"),
            Subject::OutputWeights => ("output", " weights"),
            Subject::OutputNodes => ("output", " nodes"),
        };
        write!(f, "{before}")?;
        if !self.field.is_empty() {
            write!(f, " {:?}", self.field)?;
        }
        let separator = match self.subject {
            Subject::Output | Subject::Input => ";",
            _ => ",",
        };
        write!(f, "{after}: {}{separator} {}", self.chosen, self.why)
    }
}

/// One of several things that were compared.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Candidate {
    /// What it is.
    pub name: String,
    /// The error it was judged by, on held-out training samples or at withheld points.
    #[serde(deserialize_with = "maybe_infinite")]
    pub error: f64,
    /// Which closed-form map it is, if it is one; unknown once it has been in a file.
    #[serde(skip)]
    pub(crate) closed_form: Option<ClosedFormKind>,
}

/// The closed-form maps that a fit compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClosedFormKind {
    Linear,
    Kernel,
}

impl Candidate {
    pub(crate) fn new(name: impl Into<String>, error: f64) -> Self {
        Candidate {
            name: name.into(),
            error,
            closed_form: None,
        }
    }

    pub(crate) fn of_map(kind: ClosedFormKind, name: impl Into<String>, error: f64) -> Self {
        Candidate {
            closed_form: Some(kind),
            ..Candidate::new(name, error)
        }
    }
}

/// By what a file has of them.
impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.error == other.error
    }
}

/// JSON writes an infinite number as null.
fn maybe_infinite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// The training of a network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NetworkReport {
    /// Without the held-out samples, which judged it; `None` where the recipe wants all.
    pub judged: Option<TrainingReport>,
    /// With all samples; `None` where the one that was judged is the one of the model.
    pub fitted: Option<TrainingReport>,
}

/// Wall-clock seconds of the parts of a fit.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Seconds {
    /// The search for bases.
    pub search: f64,
    /// Basis evaluation, factorisation and coefficients of the training samples.
    pub encoding: f64,
    /// The coefficient map alone.
    pub training: f64,
    /// Everything.
    pub total: f64,
}
