//! What a run found. It is kept beside the model, so that an interrupted experiment goes on where it stopped, and one
//! that gained a run does that run alone.

use super::done;
use super::experiment::RunSpec;
use c2cnet::operator::{EvaluationReport, FitReport};
use serde::{Deserialize, Serialize};

/// All that a run found, but for its model; lists have one entry a seed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// Of the run's inputs.
    pub fingerprint: String,
    /// How long fits and evaluations took.
    pub seconds: f64,
    pub reports: Vec<FitReport>,
    pub trains: Vec<EvaluationReport>,
    #[serde(with = "with_samples")]
    pub tests: Vec<EvaluationReport>,
    /// Errors of the first seed on further sets.
    pub more: Vec<(String, EvaluationReport)>,
}

impl RunSpec {
    /// Of all that decides what the run finds; `data` stands for the data sets of its experiment.
    pub fn fingerprint(&self, data: &str) -> String {
        let settings = serde_json::json!([
            self.data,
            self.test,
            self.set,
            self.more_sets,
            self.seeds,
            self.fit,
        ]);
        done::fingerprint(&settings.to_string(), data)
    }
}

/// Reports together with the errors of single samples, which they leave out of files of their own.
mod with_samples {
    use c2cnet::operator::EvaluationReport;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(tests: &[EvaluationReport], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(tests.iter().map(|test| (test, &test.relative)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<EvaluationReport>, D::Error> {
        let pairs = Vec::<(EvaluationReport, Vec<f64>)>::deserialize(from)?;
        let whole = |(test, relative)| EvaluationReport { relative, ..test };
        Ok(pairs.into_iter().map(whole).collect())
    }
}
