//! One fit and its evaluation, with everything that an error must be judged by.

use super::data::Store;
use super::experiment::RunSpec;
use super::folder::Folder;
use crate::interrupt;
use crate::output::{counted, error, say};
use crate::progress::Progress;
use crate::run_files::Findings;
use c2cnet::Result;
use c2cnet::data::Dataset;
use c2cnet::map::mlp::TrainingReport;
use c2cnet::operator::{C2CNet, EvaluationReport, FitConfig, FitReport, fit};
use std::sync::Arc;

/// Training samples on which the training error is measured, at most.
const JUDGED_TRAINING: usize = 500;

/// What an experiment works with and what it has found so far.
pub struct Bench<'a> {
    pub name: &'a str,
    pub store: Store<'a>,
    pub folder: Folder,
    pub findings: Findings,
    /// What was evaluated, its error and its floor.
    pub floors: Vec<(String, f64, f64)>,
}

/// A fit with its errors.
pub struct Fitted {
    pub model: C2CNet,
    pub report: FitReport,
    pub train: EvaluationReport,
    pub test: EvaluationReport,
}

/// A run: one fit for each seed.
pub struct Record {
    pub spec: RunSpec,
    /// Of the first seed.
    pub model: C2CNet,
    pub reports: Vec<FitReport>,
    pub trains: Vec<EvaluationReport>,
    pub tests: Vec<EvaluationReport>,
    /// Errors of the first seed on further sets.
    pub more: Vec<(String, EvaluationReport)>,
    /// What it was tested with: the data, and which of its samples.
    pub data: Arc<Dataset>,
    pub samples: Vec<usize>,
}

impl Bench<'_> {
    /// Fits to `data`, tests on all samples of `test`.
    ///
    /// # Errors
    /// As [`fit`] and [`C2CNet::evaluate`].
    pub fn fit(
        &mut self,
        what: &str,
        data: &Dataset,
        test: &Dataset,
        config: &FitConfig,
    ) -> Result<Fitted> {
        let progress = Progress::start(format!("{}: {what}", self.name));
        let (model, report) = interrupt::patiently(|| fit(data, config, &progress))?;
        let mut trained = data.train_indices();
        trained.truncate(JUDGED_TRAINING);
        let train = self.evaluate(&format!("{what}, training"), &model, &data.select(&trained))?;
        let test = self.evaluate(what, &model, test)?;
        Ok(Fitted {
            model,
            report,
            train,
            test,
        })
    }

    /// Errors of `model` on all samples of `data`.
    pub fn evaluate(
        &mut self,
        what: &str,
        model: &C2CNet,
        data: &Dataset,
    ) -> Result<EvaluationReport> {
        let report = model.evaluate(data)?;
        self.floors
            .push((what.to_string(), report.rl2e, report.floor));
        Ok(report)
    }

    /// Does the run.
    pub fn record(&mut self, spec: &RunSpec) -> Result<Record> {
        let data = self.store.get(&spec.data)?;
        let tested = match &spec.test {
            Some(name) => self.store.get(name)?,
            None => data.clone(),
        };
        let samples = samples_of(&tested, &spec.set);
        let test = tested.select(&samples);
        let (mut reports, mut trains, mut tests) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = None;
        for &seed in &spec.seeds {
            let mut config = spec.fit.clone();
            config.seed = seed;
            let what = format!("{} ({})", spec.label, spec.column.name());
            let fitted = self.fit(&what, &data, &test, &config)?;
            say(format_args!(
                "  {what}{}: RL2E {}, floor {}, {} s",
                match spec.seeds.len() {
                    1 => String::new(),
                    _ => format!(", seed {seed}"),
                },
                error(fitted.test.rl2e),
                error(fitted.test.floor),
                fitted.report.seconds.total.round()
            ))?;
            reports.push(fitted.report);
            trains.push(fitted.train);
            tests.push(fitted.test);
            first.get_or_insert(fitted.model);
        }
        let model = first.ok_or_else(|| {
            c2cnet::Error::Config(format!("run {:?} needs at least one seed", spec.id))
        })?;
        self.folder.save_model(&spec.id, &model)?;
        let mut more = Vec::new();
        for set in &spec.more_sets {
            let data = tested.select(&samples_of(&tested, set));
            let what = format!("{}, {set}", spec.label);
            more.push((set.clone(), self.evaluate(&what, &model, &data)?));
        }
        Ok(Record {
            spec: spec.clone(),
            model,
            reports,
            trains,
            tests,
            more,
            data: tested,
            samples,
        })
    }
}

/// The samples of the set `name`: of the data's split, or those that test.
fn samples_of(data: &Dataset, name: &str) -> Vec<usize> {
    match name {
        "test" => data.test_indices(),
        name => data.indices_of(name),
    }
}

impl Record {
    /// Mean and deviation over seeds.
    pub fn over_seeds(&self, of: impl Fn(usize) -> f64) -> (f64, Option<f64>) {
        let values: Vec<f64> = (0..self.tests.len()).map(of).collect();
        let mean = c2cnet::metrics::mean(&values);
        let spread = (values.len() > 1).then(|| {
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            (squares / (values.len() - 1) as f64).sqrt()
        });
        (mean, spread)
    }

    pub fn rl2e(&self) -> (f64, Option<f64>) {
        self.over_seeds(|i| self.tests[i].rl2e)
    }

    /// The training of the network that the first seed's map is, if it is one.
    pub fn training(&self) -> Option<&TrainingReport> {
        let network = self.reports[0].network.as_ref()?;
        network.fitted.as_ref().or(network.judged.as_ref())
    }

    /// The recipe in words, with the steps of a network.
    pub fn recipe(&self) -> String {
        match self.training() {
            Some(t) => format!("{}, {}", self.spec.column.name(), counted(t.steps, "step")),
            None => self.spec.column.name().into(),
        }
    }

    /// Widths of a network, or a map in words.
    pub fn architecture(&self) -> String {
        match self.training() {
            Some(training) => widths(&training.widths),
            None => self.model.map().describe(),
        }
    }

    /// Test samples by their error in the first fit, best first: number among the test samples, error.
    pub fn ranked(&self) -> Vec<(usize, f64)> {
        let mut ranked: Vec<(usize, f64)> =
            self.tests[0].relative.iter().copied().enumerate().collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked
    }

    /// The sample with the largest error: its number in the data, and the error.
    pub fn worst(&self) -> (usize, f64) {
        let report = &self.tests[0];
        (self.samples[report.worst_sample], report.worst_rl2e)
    }
}

/// `[128, 400x3, 128]`: equal neighbours are counted.
fn widths(widths: &[usize]) -> String {
    let parts: Vec<String> = widths
        .chunk_by(|a, b| a == b)
        .map(|same| match same.len() {
            1 => same[0].to_string(),
            n => format!("{}x{n}", same[0]),
        })
        .collect();
    format!("[{}]", parts.join(", "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn equal_layers_are_counted() {
        assert_eq!(
            super::widths(&[128, 400, 400, 400, 128]),
            "[128, 400x3, 128]"
        );
    }
}
