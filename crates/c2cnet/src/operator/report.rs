//! What fits and evaluations tell, as data.

use crate::map::KernelReport;
use crate::map::mlp::{TrainingObserver, TrainingReport};
use serde::{Deserialize, Serialize};

/// Watches a fit and may stop it; networks that are trained on the way tell more.
pub trait Observer: TrainingObserver {
    /// A step begins.
    fn step(&self, text: &str);
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl TrainingObserver for Silent {}

impl Observer for Silent {
    fn step(&self, _: &str) {}
}

/// Errors of a model on samples with known outputs, beside what they must be judged by.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Mean relative L2 error at all output points.
    pub rl2e: f64,
    /// Mean squared error.
    pub mse: f64,
    /// The smallest RL2E that the output space allows at these points.
    pub floor: f64,
    /// The relative error of the worst sample.
    pub worst_rl2e: f64,
    /// Which sample that is.
    pub worst_sample: usize,
    /// RL2E of predicting the mean of the training outputs.
    pub mean_rl2e: f64,
    /// RL2E of the linear map.
    pub linear_rl2e: f64,
    /// RL2E at output points that no fit saw; `None` if there is none.
    pub withheld_rl2e: Option<f64>,
    /// The error there of the best approximation at the fitted points: what the decoder does
    /// between its points even with perfect coordinates.
    pub withheld_floor: Option<f64>,
    /// Root mean square of the outputs, to tell how large they are.
    pub rms: f64,
    /// How many samples.
    pub n_samples: usize,
    /// The relative error of each sample.
    #[serde(skip)]
    pub relative: Vec<f64>,
}

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
    /// What was chosen and why, one sentence each.
    pub choices: Vec<String>,
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

/// The training of a network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NetworkReport {
    /// Without the held-out samples, which judged it; `None` where the recipe wants all.
    pub judged: Option<TrainingReport>,
    /// With all samples; `None` where the held-out ones decided when training ends.
    pub fitted: Option<TrainingReport>,
}

/// One map that was compared with others.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Candidate {
    /// What it is.
    pub name: String,
    /// Its error on held-out training samples.
    pub validation_rl2e: f64,
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
